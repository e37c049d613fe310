//! `jelly tools`: what servers promise, locked, compared and checked.

use crate::support::{Project, python};
use serde_json::Value;

const OLD: &str = "\
name: desk
tools:
  - name: greet
    description: Greets
    inputSchema: { type: object, properties: { name: { type: string, description: Who } } }
    response: { text: Hello }
  - name: gone
    description: Goes
    inputSchema: { type: object }
    response: { text: bye }
";

const NEW: &str = "\
name: desk
tools:
  - name: greet
    description: Greets somebody
    inputSchema: { type: object, properties: { name: { type: string, maxLength: 5, description: Who }, loud: { type: boolean, description: How } } }
    response: { text: Hello }
";

fn project() -> Project {
    let project = Project::empty();
    project.write("old.yaml", OLD);
    project.write("new.yaml", NEW);
    let plan = "version: 1\nservers:\n  desk: { command: jelly, args: [mock, --script, old.yaml] }\n\
                steps:\n  - { id: greet, tool: greet, expect: { text: { equals: Hello } } }\n";
    project.write("plan.yaml", plan);
    project
}

/// `SERVER item kind rule` of each change.
fn changes(stdout: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(stdout).unwrap();
    let changes = report["changes"].as_array().unwrap();
    let word = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    changes
        .iter()
        .map(|it| ["item", "kind", "rule"].map(|key| word(it, key)).join(" "))
        .collect()
}

#[test]
fn a_lock_tells_what_a_new_release_breaks() {
    let project = project();
    let locked = project
        .jelly(&["tools", "lock", "--plan", "plan.yaml"])
        .output();
    assert_eq!(locked.code, Some(0), "{}", locked.stderr);
    let nowhere = [
        "tools",
        "lock",
        "--plan",
        "plan.yaml",
        "--output",
        "new/it.lock",
    ];
    let refused = project.jelly(&nowhere).output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("there is no folder"),
        "{}",
        refused.stderr
    );
    assert!(!project.exists("new"));
    assert!(
        locked
            .stdout
            .contains("1 server, 2 tools (legacy and modern)"),
        "{}",
        locked.stdout
    );
    let text = project.read("jelly.lock");
    let again = project
        .jelly(&["tools", "lock", "--plan", "plan.yaml"])
        .output();
    assert!(again.stdout.contains("no changes"), "{}", again.stdout);
    assert_eq!(project.read("jelly.lock"), text);

    let new = ["--", "jelly", "mock", "--script", "new.yaml"];
    let diff = |args: &[&str]| {
        let mut all = vec!["tools", "diff", "jelly.lock"];
        all.extend(args);
        project.jelly(&all).output()
    };
    let mut args = vec!["--format", "json"];
    args.extend(new);
    let told = diff(&args);
    assert_eq!(told.code, Some(1), "{}", told.stderr);
    assert_eq!(
        changes(&told.stdout),
        [
            "tools/gone breaking tool-removed",
            "tools/greet breaking schema/length",
            "tools/greet text tool-text",
            "tools/greet compatible schema/property-added",
        ]
    );
    let mut args = vec!["--fail-on", "never"];
    args.extend(new);
    let told = diff(&args);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    for said in [
        "- Greets\n",
        "+ Greets somebody",
        "2 breaking, 1 text, 1 compatible",
    ] {
        assert!(told.stdout.contains(said), "{}", told.stdout);
    }
    let same = diff(&["plan.yaml", "--fail-on", "text"]);
    assert_eq!(
        (same.code, same.stdout.trim()),
        (Some(0), "no changes"),
        "{}",
        same.stderr
    );

    // A recording of one session in one era says nothing of the other.
    let recorded = project
        .jelly(&[
            "run",
            "plan.yaml",
            "--record",
            "--wire-check",
            "--reports-dir",
            "r",
        ])
        .output();
    assert_eq!(
        recorded.code,
        Some(0),
        "{}{}",
        recorded.stdout,
        recorded.stderr
    );
    let same = diff(&["r/latest/wire.jsonl"]);
    assert_eq!(
        (same.code, same.stdout.trim()),
        (Some(0), "no changes"),
        "{}",
        same.stderr
    );
}

/// Under a lock, a breaking change is test-side, unless the plan promises its
/// contract; a text is told.
#[test]
fn a_run_is_held_to_its_lock() {
    let project = project();
    let run = |plan: &str| {
        let ended = project
            .jelly(&["run", plan, "--locked", "--format", "json", "--no-history"])
            .output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        (ended, report)
    };
    let (missing, _) = run("plan.yaml");
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
    assert!(missing.stderr.contains("jelly.lock"), "{}", missing.stderr);

    project
        .jelly(&["tools", "lock", "--plan", "plan.yaml"])
        .output();
    let (same, _) = run("plan.yaml");
    assert_eq!(same.code, Some(0), "{}{}", same.stdout, same.stderr);

    let plan = project.read("plan.yaml");
    project.write("new-plan.yaml", plan.replace("old.yaml", "new.yaml"));
    let (broken, report) = run("new-plan.yaml");
    assert_eq!(broken.code, Some(3), "{}", broken.stderr);
    let last = report["iterations"].as_array().unwrap().last().unwrap();
    let failures = last["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 2, "{failures:?}");
    for failure in failures {
        let diagnosis = &failure["diagnosis"];
        assert_eq!(
            diagnosis["root_cause"], "tool_definition_changed",
            "{failure}"
        );
        assert_eq!(
            (&diagnosis["side"], &diagnosis["ambiguous"]),
            (&"test".into(), &false.into())
        );
    }
    // The step passed all the same.
    assert_eq!(last["totals"]["passed"], 1, "{report}");
    let notes = last["servers"][0]["notes"].to_string();
    assert!(notes.contains("- Greets + Greets somebody"), "{notes}");

    let promised = project
        .read("new-plan.yaml")
        .replace("version: 1", "version: 1\ncontract: promised");
    project.write("promised.yaml", promised);
    let (code, report) = run("promised.yaml");
    assert_eq!(code.code, Some(1), "{}", code.stderr);
    assert_eq!(
        report["iterations"][0]["failures"][0]["diagnosis"]["side"], "code",
        "{report}"
    );

    let other = plan.replace("desk:", "another:");
    project.write("other.yaml", other);
    let (unknown, _) = run("other.yaml");
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert!(
        unknown.stdout.contains("--server another"),
        "{}",
        unknown.stdout
    );

    let opening = concat!(
        r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"#,
        r#""protocolVersion":"2025-11-25","capabilities":{},"#,
        r#""clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
    );
    let proxy = |script: &str, more: &[&str]| {
        let server = ["--", "jelly", "mock", "--script", script];
        let args = [&["proxy", "--lock", "jelly.lock"], more, &server].concat();
        let ended = project.jelly(&args).stdin(opening).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let answer = ended.stdout.lines().next().unwrap_or_default();
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["id"], "a", "{answer}");
        (ended.stderr, answer)
    };
    let (stderr, refused) = proxy("new.yaml", &[]);
    assert!(stderr.contains("tools/gone"), "{stderr}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("tools/gone"), "{message}");
    assert!(
        message.contains("renew the lock by `jelly tools lock`"),
        "{message}"
    );
    let data = &refused["error"]["data"];
    assert_eq!(data["error_type"], "definition_changed", "{data}");
    assert_eq!(data["root_cause"], "tool_definition_changed", "{data}");
    let (_, shown) = proxy("new.yaml", &["--on-failure", "tool"]);
    assert!(shown["result"]["instructions"].is_string(), "{shown}");
    let (_, taken) = proxy("old.yaml", &[]);
    assert!(taken["result"]["serverInfo"].is_object(), "{taken}");
}

#[test]
fn what_can_not_be_compared_is_refused() {
    let project = project();
    project.write("a.lock", "{\n  \"schema_version\": 1,\n  oops\n}\n");
    project.write("keep.txt", "mine\n");
    let lock = ["tools", "lock", "-o", "named.lock", "--plan", "plan.yaml"];
    let locked = project.jelly(&lock).output();
    assert_eq!(locked.code, Some(0), "{}", locked.stderr);
    project.write(
        "other.yaml",
        "version: 1\nservers: { stranger: { command: jelly, args: [mock] } }\nsteps: [{ list: tools }]\n",
    );
    for (args, code, says) in [
        (
            &["tools", "diff", "a.lock"][..],
            2,
            "there is nothing to compare it with",
        ),
        (&["tools", "diff", "a.lock", "a.lock"], 2, "a.lock:3:3"),
        (&["tools", "diff", "no.lock", "a.lock"], 2, "no.lock"),
        (
            &["tools", "diff", "named.lock", "--plan", "other.yaml"],
            2,
            "named.lock has no server `stranger`",
        ),
        (
            &["tools", "lock", "-o", "keep.txt", "--plan", "plan.yaml"],
            2,
            "keep.txt:1:",
        ),
        (
            &["tools", "lock", "-o", "keep.txt", "--plan", "plan.yaml"],
            2,
            "help: what is there is kept; name another file by --output",
        ),
        (
            &["tools", "lock", "--", "no-such-command-of-jelly"],
            3,
            "(command_not_found)",
        ),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
    assert_eq!(project.read("keep.txt"), "mine\n");
}

#[test]
fn the_linter_ends_with_1_for_errors_and_over_its_ceiling() {
    let project = project();
    let lint = |args: &[&str]| {
        let mut all = vec!["tools", "lint", "--format", "json"];
        all.extend(args);
        let ended = project.jelly(&all).output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        (ended.code, report)
    };
    let (code, report) = lint(&["--plan", "plan.yaml"]);
    assert_eq!(
        (code, &report["findings"]),
        (Some(0), &serde_json::json!([]))
    );
    let tokens = report["totals"]["tokens"].as_u64().unwrap();
    let (code, report) = lint(&["--plan", "plan.yaml", "--max-tokens", "10"]);
    assert!(tokens > 10 && code == Some(1), "{report}");
    assert_eq!(report["findings"][0]["rule"], "too-many-tokens");
    project.write(
        "bad.yaml",
        "name: bad\ntools:\n  - name: 'a b'\n    inputSchema: { type: object }\n    response: { text: x }\n",
    );
    let (code, report) = lint(&["--", "jelly", "mock", "--script", "bad.yaml"]);
    assert_eq!(
        (code, &report["findings"][0]["rule"]),
        (Some(1), &"name-refused".into())
    );
    assert_eq!(report["findings"][0]["server"], "bad", "{report}");
}

/// What a recording shows beside what the tools declare.
#[test]
fn the_linter_holds_what_a_recording_shows_against_annotations() {
    let project = Project::with(&format!(
        "version: 1\nservers:\n  s: {}\nsteps:\n  - {{ id: before, list: resources }}\n  - {{ tool: \
         peek }}\n  - {{ id: after, list: resources }}\n  - {{ id: one, tool: set }}\n  - {{ id: two, \
         tool: set, expect: {{ is_error: true }} }}\n  - {{ tool: area, expect: {{ text: {{ \
         equals: \"9\" }} }} }}\n",
        python(
            "
hits = []
tools = [
  {'name': 'peek', 'description': 'Peeks', 'inputSchema': {'type': 'object'}, 'annotations': {'readOnlyHint': True}},
  {'name': 'set', 'description': 'Sets', 'inputSchema': {'type': 'object'}, 'annotations': {'idempotentHint': True}},
  {'name': 'area', 'description': 'Measures', 'inputSchema': {'type': 'object'}, 'outputSchema': {'type': 'object'}},
]
while (message := read()) is not None:
    method = message.get('method')
    if 'id' not in message:
        continue
    if method == 'initialize':
        answer(message, {**hello(message), 'capabilities': {'tools': {}, 'resources': {}}})
    elif method == 'tools/list':
        answer(message, {'tools': tools})
    elif method == 'resources/list':
        all = range(1 + len(hits))
        answer(message, {'resources': [{'uri': f'a://{n}', 'name': 'a', 'description': 'A'} for n in all]})
    elif method == 'tools/call':
        hits.append(message['params']['name'])
        again = hits[-1] == 'set' and hits.count('set') > 1
        answer(message, text('exists' if again else '9', again))
    else:
        refuse(message)
"
        )
    ));
    let run = project.run(&["--record", "--no-confirm", "--no-repair"]);
    assert_eq!(run.last().state("after"), "passed", "{}", run.stdout);
    let record = "reports/latest/wire.jsonl";
    let lint = ["tools", "lint", "--recording", record];
    let ended = project
        .jelly(&[&lint[..], &["--format", "json"]].concat())
        .output();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let found = report["findings"].as_array().unwrap().iter();
    let found =
        found.map(|it| format!("{} {} {}", it["level"], it["rule"], it["item"]).replace('"', ""));
    let found: Vec<String> = found.collect();
    assert_eq!(
        found,
        [
            "notice read-only-changed tools/peek",
            "notice idempotent-differs tools/set",
            "error output-not-structured tools/area",
        ],
        "{report:#}"
    );
    let told = project.jelly(&lint).output().stdout;
    assert!(told.contains("1 error, 0 warnings, 2 notices;"), "{told}");
    for (args, says) in [
        (&["--server", "t"][..], "has no server `t`"),
        (&["--url", "http://h/"], "--recording"),
    ] {
        let ended = project.jelly(&[&lint[..], args].concat()).output();
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
}
