//! `include`: servers and steps that plans share.

use crate::support::{Project, python};

fn shared() -> String {
    let server = python(
        "
def call(message):
    args = message['params']['arguments']
    answer(message, text(args.get('text', '')))
serve(call)
",
    );
    format!(
        "servers: {{ s: {server} }}
setup:
  - {{ id: up, tool: work, args: {{ text: up }}, capture: {{ word: '$.content[0].text' }} }}
steps:
  - {{ id: shared, tool: work, args: {{ text: '${{greeting}}' }}, expect: {{ text: {{ equals: hello }} }} }}
"
    )
}

const PLAN: &str = "version: 1
vars: { greeting: hello }
include: ../shared/servers.yaml
steps:
  - { id: own, tool: work, needs: [shared], args: { text: '${word}' }, expect: { text: { equals: up } } }
";

fn project() -> Project {
    let project = Project::empty();
    project.write("shared/servers.yaml", shared());
    project.write("plans/p.yaml", PLAN);
    project
}

#[test]
fn servers_and_steps_of_an_included_file_are_the_plans() {
    let project = project();
    let args = ["run", "plans/p.yaml", "--project-dir", "."];
    let run = crate::support::Run::of(&project, project.jelly(&args).output());
    run.ends(0, "passed");
    let last = run.last();
    let ids: Vec<&str> = last.0["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["up", "shared", "own"]);
    let at = last.server("s")["at"].as_str().unwrap();
    assert!(at.starts_with("plans/../shared/servers.yaml:1:"), "{at}");

    // What fails there is told with that file's line, and no repair goes there.
    let wrong = shared().replace(
        "tool: work, args: { text: '${greeting}'",
        "tool: wrk, args: { text: '${greeting}'",
    );
    project.write("shared/servers.yaml", &wrong);
    let run = crate::support::Run::of(&project, project.jelly(&args).output());
    assert!(
        run.actions()
            .iter()
            .all(|action| *action != "repair_mcp_plan"),
        "{:?}",
        run.actions()
    );
    assert_eq!(run.last().state("shared"), "quarantined");
    assert_eq!(project.read("shared/servers.yaml"), wrong);
    let help = run.help();
    for told in [
        "the plan at plans/../shared/servers.yaml:",
        "the repair rename_tool of steps.shared was passed over: failed to change \
         plans/../shared/servers.yaml",
    ] {
        assert!(help.contains(told), "{told} in {help}");
    }
    // There is none that could be written.
    let written = project.jelly(&[&args[..], &["--write-repairs"]].concat());
    let told = written.output().stdout;
    assert!(!told.contains("no repair was written"), "{told}");
}

/// Everything that is wrong with an included file, with its place.
#[test]
fn what_is_wrong_with_an_included_file_is_said_there() {
    let project = project();
    let check = |plan: &str| {
        project.write("plans/p.yaml", plan);
        let checked = project
            .jelly(&["check", "plans/p.yaml", "--project-dir", "."])
            .output();
        (checked.code, checked.stderr)
    };
    assert_eq!(check(PLAN).0, Some(0));
    project.write("plans/loop.yaml", "include: p.yaml\n");
    project.write("plans/two.yaml", "include: [a.yaml, b.yaml]\n");
    project.write("plans/a.yaml", "servers: { a: { command: x } }\n");
    project.write(
        "plans/b.yaml",
        "include: a.yaml\nsteps: [{ id: own, server: a, tool: t, tool2: x }]\nvars: {}\n",
    );
    project.write("outside.yaml", "{}");
    std::os::unix::fs::symlink("/etc/hostname", project.dir().join("plans/link.yaml")).unwrap();
    for (include, told) in [
        (
            "gone.yaml",
            vec!["plans/p.yaml:3:10", "`gone.yaml` can't be included"],
        ),
        (
            "/etc/hostname",
            vec!["plans/p.yaml:3:10", "lies outside of the project"],
        ),
        ("link.yaml", vec!["lies outside of the project"]),
        ("../shared", vec!["is no regular file"]),
        ("'${greeting}.yaml'", vec!["can't be named by variables"]),
        ("[]", vec!["nothing is included"]),
        ("{}", vec!["expected the path of a file, found a map"]),
        (
            "loop.yaml",
            vec!["plans/loop.yaml:1:10", "it includes itself"],
        ),
        (
            "two.yaml",
            vec![
                "plans/b.yaml:1:10",
                "`a.yaml` is included twice",
                "plans/b.yaml:2:",
                "unknown key `tool2`",
                "plans/b.yaml:3:1",
                "define it in the plan that includes the file",
            ],
        ),
    ] {
        let (code, stderr) = check(&PLAN.replace("../shared/servers.yaml", include));
        assert_eq!(code, Some(2), "{include}: {stderr}");
        for told in told {
            assert!(stderr.contains(told), "{include}: {told} in {stderr}");
        }
        // What the file would have is not said to be missing.
        let follows = [
            "`servers` is missing",
            "needs a `server`",
            "no step has",
            "nothing is called",
        ];
        for follows in follows.iter().filter(|_| include != "two.yaml") {
            assert!(!stderr.contains(follows), "{include}: {stderr}");
        }
    }
    // The first of two steps with one id stands in another file.
    let (_, stderr) = check(&PLAN.replace("id: own", "id: shared"));
    let told = "the first one is at plans/../shared/servers.yaml:5:";
    assert!(stderr.contains(told), "{stderr}");
    // Without the project folder, the plan's own is it.
    project.write("plans/p.yaml", PLAN);
    let checked = project.jelly(&["check", "plans/p.yaml"]).output();
    assert_eq!(checked.code, Some(2), "{}", checked.stderr);
    assert!(
        checked.stderr.contains("`--project-dir DIR`"),
        "{}",
        checked.stderr
    );
}

/// The code is measured by all that the plan includes.
#[test]
fn a_hook_that_refines_code_must_not_change_what_is_included() {
    let project = project();
    let hooked = PLAN
        .replace("vars:", "hooks: { refine_code: [./refine.sh] }\nvars:")
        .replace("equals: up", "equals: down");
    project.write("plans/p.yaml", hooked);
    project.script(
        "refine.sh",
        "#!/bin/sh\necho '# changed' >> shared/servers.yaml\n",
    );
    let args = ["run", "plans/p.yaml", "--project-dir", ".", "--trust-plan"];
    let run = crate::support::Run::of(&project, project.jelly(&args).output());
    run.ends(3, "needs_user_help");
    assert!(
        run.ended
            .stdout
            .contains("the included file plans/../shared/servers.yaml"),
        "{}",
        run.ended.stdout
    );
}

/// What one includes is no plan of its own, wherever plans are looked for.
#[test]
fn an_included_file_among_the_plans_is_passed_over() {
    let project = Project::empty();
    project.write("plans/servers.yaml", shared());
    let plan = PLAN.replace("../shared/servers.yaml", "servers.yaml");
    project.write("plans/p.yaml", plan);
    for args in [
        &["check"][..],
        &["check", "plans"],
        &["run"],
        &["run", "plans"],
        &["run", "--list"],
    ] {
        let ended = project.jelly(args).output();
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(0), "{args:?}: {said}");
        assert!(!said.contains("servers.yaml:"), "{args:?}: {said}");
    }
    // By its own name it is what it is.
    let ended = project.jelly(&["check", "plans/servers.yaml"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
}

#[test]
fn parts_that_include_each_other_are_passed_over_by_nobody() {
    let project = Project::empty();
    project.write(
        "plans/good.yaml",
        PLAN.replace(
            "include: ../shared/servers.yaml\n",
            "servers: { s: { command: jelly, args: [mock] } }\n",
        ),
    );
    for (file, other) in [("a", "b"), ("b", "a")] {
        let text = format!("include: {other}.yaml\nsteps: []\n");
        project.write(&format!("plans/{file}.yaml"), text);
    }
    let checked = project.jelly(&["check", "plans"]).output();
    assert_eq!(
        checked.code,
        Some(2),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    assert!(
        checked.stderr.contains("plans/a.yaml"),
        "{}",
        checked.stderr
    );
}
