//! `${file:PATH}` and `${base64:PATH}`: files as arguments.

use crate::support::{Project, Run, python};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;

/// A server whose tool `keep` notes its arguments, and answers what
/// `answer.txt` says.
fn server() -> String {
    python(
        r#"
def call(message):
    with open("kept.jsonl", "a") as kept:
        kept.write(json.dumps(message["params"]["arguments"]) + "\n")
    answer(message, text(open("answer.txt").read()))
def listed(message):
    return {"tools": [{"name": "keep", "inputSchema": {"type": "object", "properties": {
        "doc": {"type": "string", "maxLength": 100000000}, "short": {"type": "string", "maxLength": 3}}}}]}
serve(call, tools=("keep",), listed=listed)
"#,
    )
}

fn project(args: &str) -> Project {
    let project = Project::with(&format!(
        "version: 1
servers: {{ s: {} }}
steps:
  - id: send
    tool: keep
    args: {args}
    expect: {{ text: {{ equals: fine }} }}
",
        server()
    ));
    project.write("answer.txt", "fine");
    project.write("docs/note.txt", "the content of the note\n");
    project.write("docs/picture.bin", [0, 159, 146, 150]);
    project
}

#[test]
fn files_are_sent_and_shown_by_path_and_size() {
    let project = project(
        "{ doc: '${file:docs/note.txt}', more: { list: ['a ${file:docs/note.txt}b', \
         '${base64:docs/picture.bin}'] } }",
    );
    let run = project.run(&[]);
    run.ends(0, "passed");
    let kept: Value = serde_json::from_str(project.read("kept.jsonl").trim()).unwrap();
    assert_eq!(kept["doc"], "the content of the note\n");
    assert_eq!(kept["more"]["list"][0], "a the content of the note\nb");
    assert_eq!(kept["more"]["list"][1], "AJ+Slg==");

    // A request that is shown has neither text.
    project.write("answer.txt", "other");
    let run = project.run(&["--no-confirm"]);
    let last = run.last();
    let shown = &last.failure("send")["request"]["params"]["arguments"];
    assert_eq!(shown["doc"], "${file:docs/note.txt} (24 bytes)", "{shown}");
    let list = &shown["more"]["list"];
    assert_eq!(list[0], "a ${file:docs/note.txt} (24 bytes)b");
    assert_eq!(list[1], "${base64:docs/picture.bin} (4 bytes)");
    let reports = project.path("reports/latest");
    let mut told = vec![run.stdout.clone()];
    for name in ["results.json", "test_results.md", "junit.xml"] {
        told.push(fs::read_to_string(reports.join(name)).unwrap());
    }
    for text in told {
        assert!(!text.contains("the content of the note"), "{text}");
        assert!(!text.contains("AJ+Slg=="), "{text}");
    }

    // Nor has what is refused before it is sent.
    let text = project.read("plan.yaml").replace("{ doc:", "{ short:");
    project.write("plan.yaml", text);
    let run = project.run(&[]);
    let message = run.last().failure("send")["message"].to_string();
    assert!(message.contains("at /short"), "{message}");
    assert!(!run.stdout.contains("the content"), "{}", run.stdout);
    let live = project.jelly(&["check", "--live", "plan.yaml"]).output();
    assert_eq!(live.code, Some(2), "{}", live.stderr);
    assert!(live.stderr.contains("at /short") && !live.stderr.contains("the content"));
}

#[test]
fn what_can_not_be_sent_is_refused_at_its_line() {
    let project = project("{ doc: x }");
    project.write("../outside.txt", "secret");
    symlink(project.path("../outside.txt"), project.path("link.txt")).unwrap();
    symlink("docs/note.txt", project.path("inner.txt")).unwrap();
    let long = fs::File::create(project.path("long.txt")).unwrap();
    long.set_len((16 << 20) + 1).unwrap();
    let head = "version: 1\nservers: { s: { command: x } }\nsteps:\n";
    let step = |args: &str| format!("{head}  - tool: keep\n    args: {{ doc: '{args}' }}\n");
    let good = step("${file:inner.txt}${base64:docs/picture.bin}");
    project.write("plan.yaml", good);
    assert_eq!(
        project.jelly(&["check", "plan.yaml"]).output().code,
        Some(0)
    );
    for (plan, place, says) in [
        (step("${file:none.txt}"), "5:19", "`none.txt` can't be read"),
        (
            step("x ${file:link.txt}"),
            "5:21",
            "lies outside of the project",
        ),
        (
            step("${file:../outside.txt}"),
            "5:19",
            "lies outside of the project",
        ),
        (step("${file:docs}"), "5:19", "`docs` is no regular file"),
        (step("${file:long.txt}"), "5:19", "is longer than 16 MiB"),
        (
            step("${file:docs/picture.bin}"),
            "5:19",
            "`docs/picture.bin` is not UTF-8 text",
        ),
        (
            step("${file:docs/picture.bin}"),
            "5:19",
            "`${base64:PATH}` sends bytes",
        ),
        (
            step("${fil:docs/note.txt}"),
            "5:19",
            "did you mean `file:`?",
        ),
        (
            format!(
                "{head}  - {{ tool: keep, expect: {{ text: {{ equals: '${{file:docs/note.txt}}' }} }} }}\n"
            ),
            "4:46",
            "a file stands only in the `args` of a step",
        ),
        (
            step("x").replace(
                "version: 1\n",
                "version: 1\nvars: { a: '${file:docs/note.txt}' }\n",
            ),
            "2:13",
            "a variable holds no file",
        ),
        (
            step("x").replace(
                "command: x",
                "command: x, env: { A: '${file:docs/note.txt}' }",
            ),
            "2:40",
            "a server is given no file",
        ),
    ] {
        project.write("plan.yaml", &plan);
        for call in ["check", "run"] {
            let ended = project.jelly(&[call, "plan.yaml"]).output();
            assert_eq!(
                ended.code,
                Some(2),
                "{plan}: {}{}",
                ended.stdout,
                ended.stderr
            );
            let place = format!("plan.yaml:{place}");
            assert!(ended.stderr.contains(&place), "{place} in {}", ended.stderr);
            assert!(ended.stderr.contains(says), "{says} in {}", ended.stderr);
        }
    }
}

/// A mismatch is the code's only where the file is the one of the pass before.
#[test]
fn a_step_rests_on_what_is_in_its_file() {
    let project = project("{ doc: '${file:docs/note.txt}' }");
    fs::create_dir(project.path(".jelly")).unwrap();
    project.run(&[]).ends(0, "passed");
    project.write("answer.txt", "other");
    let standing = |run: &Run| run.last().failure("send")["diagnosis"]["standing"].clone();
    assert_eq!(standing(&project.run(&[])), "passed_before");
    project.write("docs/note.txt", "another note\n");
    assert_eq!(standing(&project.run(&[])), "never_passed");
}
