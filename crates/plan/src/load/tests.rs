//! Plans, good and bad; the texts of errors are snapshots.

use super::{check, load, load_with};
use crate::{Command, Operator, Plan, PlanError, PlanSource, Request};
use indexmap::IndexMap;
use jelly_base::mcp::{Era, ListKind};
use jelly_base::model::Section;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

fn source(text: &str) -> PlanSource {
    PlanSource {
        path: "plan.yaml".into(),
        text: text.into(),
        variant: None,
    }
}

#[track_caller]
fn good(text: &str) -> Plan {
    load(source(text)).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn bad(text: &str) -> PlanError {
    load(source(text)).expect_err("the plan should not load")
}

const HEAD: &str = "version: 1\nservers:\n  m: { command: x }\n";

/// A plan with one step, whose lines are these.
fn step(lines: &str) -> String {
    let lines = lines.replace('\n', "\n    ");
    format!("{HEAD}steps:\n  - {lines}\n")
}

/// A plan with one step that expects this.
fn expect(lines: &str) -> String {
    let lines = lines.replace('\n', "\n  ");
    step(&format!("tool: t\nexpect:\n  {lines}"))
}

const FULL: &str = r#"version: 1
name: filesystem smoke
vars: { greeting: hello, count: 2, twice: "${greeting} ${greeting}" }
budgets: { max_iterations: 5, retries: 2, mcp_repairs: 3, test_fixes: 2, code_refines: 0, deadline: 15m }
hooks: { refine_code: [./refine.sh], fix_tests: [./fix.sh, 1] }   # argv
servers:
  files:
    command: npx                      # argv only, never a shell
    args: ["-y", "@modelcontextprotocol/server-filesystem", "${workspace}/data", 8080]
    env: { API_KEY: "${secret:API_KEY}", DEBUG: true, PORT: "${port}", ID: 007 }
    cwd: .
    startup_timeout: 1m 30s
    request_timeout: 500ms
    era: legacy
  remote:
    url: "http://127.0.0.1:${port:files}/mcp"
    headers: { Authorization: "Bearer ${secret:TOKEN}", X-User: "${env:USER}" }
setup:
  - { server: files, list: tools }
steps:
  - id: write
    server: files
    tool: write_file
    args: { path: "${workspace}/data/a.txt", content: "${greeting}", n: "${count}" }
    expect:
      is_error: false
      text: { contains: "Successfully", not_contains: ["x"] }
    tags: [smoke, 1]
    timeout: 5s
  - id: read
    name: reads it back
    server: files
    read: "file://${workspace}/a.txt"
    expect:
      json:
        - { path: "$.content[0].text", equals: hello, length: { ge: 1 } }
        - { path: "$.x", type: [string, "null"], exists: false }
      duration: { lt: 500ms, ge: 1 }
    capture: { body: "$.content[0].text" }
  - server: files
    tool: echo
    args: { text: "${body}" }
    expect: { structured: { schema: { type: object } }, stderr: [ { matches: "^a" }, { one_of: [a, b] } ] }
  - { server: files, tool: echo, expect: { error: { code: -32602, message: { contains: "${body}" } } } }
teardown:
  - { server: remote, request: logging/setLevel, args: { level: debug } }
"#;

#[test]
fn a_plan_with_everything_is_read() {
    let plan = good(&FULL.replace("not_contains: [\"x\"]", "not_contains: x"));
    assert_eq!(plan.name, "filesystem smoke");
    assert_eq!(plan.vars["twice"], json!("${greeting} ${greeting}"));
    assert_eq!(plan.budgets.code_refines, Some(0));
    assert_eq!(plan.budgets.confirms, None);
    assert_eq!(plan.budgets.deadline, Some(Duration::from_secs(900)));
    assert_eq!(plan.hooks.fix_tests.as_deref().unwrap(), ["./fix.sh", "1"]);

    let files = &plan.servers["files"];
    assert_eq!(files.startup_timeout, Duration::from_secs(90));
    assert_eq!(files.request_timeout, Duration::from_millis(500));
    assert_eq!(files.shutdown_timeout, Duration::from_secs(2));
    assert_eq!(files.era, Some(Era::Legacy));
    assert_eq!((files.at.line, files.at.column), (7, 3));
    let Command { args, env, .. } = files.command().expect("files is a command");
    assert_eq!(args[3].raw, "8080");
    assert_eq!(
        (env["DEBUG"].raw.as_str(), env["ID"].raw.as_str()),
        ("true", "007")
    );

    let ids: Vec<_> = plan.all_steps().map(|step| step.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "list-tools",
            "write",
            "read",
            "echo",
            "echo-2",
            "logging-setLevel"
        ]
    );
    assert_eq!(plan.setup[0].request, Request::List(ListKind::Tools));
    assert_eq!(plan.setup[0].section, Section::Setup);
    assert_eq!(plan.steps[0].tags, ["smoke", "1"]);
    assert_eq!(plan.steps[0].timeout, Some(Duration::from_secs(5)));
    assert_eq!(plan.steps[0].args["n"], json!("${count}"));
    assert_eq!(plan.steps[1].name, "reads it back");
    assert_eq!(plan.steps[1].path.to_string(), "steps[1]");
    assert_eq!(plan.steps[1].expect.json[0].predicates.len(), 2);
    let duration = &plan.steps[1].expect.duration;
    assert_eq!(
        (duration[0].operator, &duration[0].operand),
        (Operator::Lt, &json!(500))
    );
    assert_eq!(plan.steps[1].needs, Vec::<String>::new());
    assert_eq!(plan.steps[2].needs, ["read"]);
    assert_eq!(plan.steps[3].needs, ["read"]);
    assert!(plan.steps[3].expects_error());
    assert_eq!(plan.steps[2].expect.stderr.len(), 2);

    assert_eq!(plan.secret_names(), ["API_KEY", "TOKEN"]);
    assert_eq!(plan.env_names(), ["USER"]);
    assert_eq!(plan.ports(), ["files"]);
    assert!(
        plan.all_steps()
            .all(|step| plan.servers.contains_key(&step.server))
    );
}

#[test]
fn the_only_server_need_not_be_named_and_the_file_names_the_plan() {
    let plan = good(&step("tool: t"));
    assert_eq!(
        (plan.name.as_str(), plan.steps[0].server.as_str()),
        ("plan", "m")
    );
}

#[test]
fn generated_ids_keep_clear_of_given_ones() {
    let text = format!(
        "{HEAD}steps:\n  - tool: t\n  - {{ id: t, tool: x }}\n  - tool: t\n  - {{ id: t-2, tool: x }}\n"
    );
    let plan = good(&text);
    let ids: Vec<_> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["t-3", "t", "t-4", "t-2"]);
}

#[test]
fn an_undefined_server_loads_but_does_not_pass_a_check() {
    let text = step("tool: t\nserver: n").replace("  m: {", "  mm: {");
    assert_eq!(good(&text).steps[0].server, "n");
    assert_eq!(check(source(&text)).unwrap_err().problems().len(), 1);
}

#[test]
fn no_steps_load_but_do_not_pass_a_check() {
    let text = format!("{HEAD}steps: []\n");
    assert!(good(&text).steps.is_empty());
    assert_eq!(check(source(&text)).unwrap_err().problems().len(), 1);
}

#[test]
fn what_may_be_missing_or_otherwise_is_an_expectation() {
    let startup = |lines: &str| {
        HEAD.replace("command: x", &format!("command: x, startup: {{ {lines} }}")) + "steps: []\n"
    };
    // A process that a signal ends has no code.
    good(&startup("refuses: { exit: { ge: 0 } }"));
    good(&startup("server_info: [{ path: $, exists: true }]"));
    bad(&startup("capabilities: [{ path: $, exists: true }]"));
    // In the list of contents, what refers to the root asks for an object.
    let schema = "{ type: object, properties: { content: { $ref: '#' } } }";
    good(&expect(&format!("json: [{{ path: $, schema: {schema} }}]")));
    let open = "{ properties: { content: { $ref: '#' } } }";
    bad(&expect(&format!("json: [{{ path: $, schema: {open} }}]")));
}

#[test]
fn variables_from_outside_win_and_may_be_new() {
    let text = step("tool: t\nargs: { a: \"${x}\", b: \"${y}\" }")
        .replace("servers:", "vars: { y: 1 }\nservers:");
    assert_eq!(bad(&text).problems().len(), 1);
    let given = IndexMap::from([("x".to_owned(), json!("X")), ("y".to_owned(), json!(2))]);
    let plan = load_with(source(&text), &given).unwrap();
    assert_eq!((&plan.vars["x"], &plan.vars["y"]), (&json!("X"), &json!(2)));
}

#[test]
fn operands_with_variables_wait_for_their_values() {
    good(
        &expect(
            "text: { matches: \"${p}(\", length: \"${n}\" }\nis_error: true\nduration: { lt: 1s }",
        )
        .replace("servers:", "vars: { p: x, n: 1 }\nservers:"),
    );
    good(&expect("text: { equals: \"$${x}\" }"));
}

#[test]
fn anchors_and_merge_keys_serve_plans() {
    let plan = good(
        "version: 1\nservers:\n  a: &base { command: x, startup_timeout: 5s }\n  b: { <<: *base, cwd: y }\nsteps:\n  - { server: a, tool: t, args: &args { k: 1 } }\n  - { server: b, tool: t, args: *args }\n",
    );
    assert_eq!(plan.servers["b"].startup_timeout, Duration::from_secs(5));
    assert_eq!(plan.steps[1].args, json!({"k": 1}));
}

#[test]
fn a_problem_that_aliases_repeat_is_said_once() {
    let text = format!(
        "{HEAD}steps:\n  - {{ tool: t, expect: &e {{ text: {{ contians: x }} }} }}\n  - {{ tool: t, expect: *e }}\n"
    );
    assert_eq!(bad(&text).problems().len(), 1);
}

#[test]
fn json_plans_are_plans() {
    let plan = load(PlanSource {
        path: "p.json".into(),
        text: r#"{"version": 1, "servers": {"m": {"command": "x"}}, "steps": [{"tool": "t", "args": {"a": "\ud83d\ude00\/"}}]}"#.into(), variant: None,
    })
    .unwrap();
    assert_eq!(plan.steps[0].args, json!({"a": "😀/"}));
}

#[test]
fn twenty_thousand_steps_are_read() {
    let steps: String = (0..20_000)
        .map(|n| format!("  - {{ tool: echo, args: {{ n: {n} }}, expect: {{ text: {{ contains: \"{n}\" }} }} }}\n"))
        .collect();
    let plan = good(&format!("{HEAD}steps:\n{steps}"));
    assert_eq!(plan.steps.len(), 20_000);
    assert_eq!(plan.steps[19_999].id, "echo-20000");
}

/// Every text that a user may see for a typical mistake.
#[test]
fn mistakes_are_explained() {
    let mistakes = [
        ("empty", String::new()),
        ("not a map", "- a\n".into()),
        ("no version, servers or steps", "name: x\n".into()),
        ("wrong version", HEAD.replace('1', "2") + "steps: []\n"),
        (
            "misspelt key of the plan",
            format!("{HEAD}step: []\nsteps: []\n"),
        ),
        ("misspelt key of a step", step("tool: t\nexpct: {}")),
        ("a key of another tool", step("tool: t\narguments: {}")),
        ("misspelt operator", expect("text: { contians: x }")),
        ("operator by another name", expect("text: { regex: x }")),
        ("text without operator", expect("text: hello")),
        (
            "number where text is compared",
            expect("text: { equals: 5 }"),
        ),
        (
            "operator over is_error",
            expect("is_error: { contains: x }"),
        ),
        (
            "operator that does not fit",
            expect("duration: { contains: x }"),
        ),
        (
            "broken regular expression",
            expect("text: { matches: \"a(b\" }"),
        ),
        ("look-around", expect("text: { matches: \"a(?!b)\" }")),
        (
            "broken schema",
            expect("structured: { schema: { type: objekt } }"),
        ),
        (
            "broken JSON path",
            expect("json: [ { path: \"$.a[\", exists: true } ]"),
        ),
        (
            "path without dollar",
            expect("json: [ { path: content, exists: true } ]"),
        ),
        ("path without operator", expect("json:\n  - path: $.a")),
        (
            "json without list",
            expect("json: { path: $.a, exists: true }"),
        ),
        ("error as boolean", expect("error: true")),
        ("error and no error", expect("error: {}\nis_error: false")),
        ("unknown type", expect("structured: { type: str }")),
        ("expect of nothing", step("tool: t\nexpect:")),
        ("duration without unit", step("tool: t\ntimeout: 30")),
        ("no duration", step("tool: t\ntimeout: soon")),
        ("two kinds", step("tool: t\nread: u")),
        ("no kind", step("name: x")),
        ("unknown list", step("list: tool")),
        (
            "unknown variable",
            step("tool: t\nargs: { a: \"x ${greting}\" }")
                .replace("servers:", "vars: { greeting: x }\nservers:"),
        ),
        (
            "environment variable",
            step("tool: t\nargs: { a: \"${HOME}\" }"),
        ),
        ("unclosed reference", step("tool: t\nargs: { a: \"${x\" }")),
        (
            "unknown prefix",
            step("tool: t\nargs: { a: \"${scret:KEY}\" }"),
        ),
        (
            "port of an unknown server",
            step("tool: t\nargs: { a: \"${port:n}\" }"),
        ),
        (
            "capture used too early",
            format!(
                "{HEAD}steps:\n  - {{ tool: t, args: {{ a: \"${{x}}\" }} }}\n  - {{ tool: u, capture: {{ x: $.a }} }}\n"
            ),
        ),
        (
            "capture twice",
            format!(
                "{HEAD}steps:\n  - {{ tool: t, capture: {{ x: $.a }} }}\n  - {{ tool: u, capture: {{ x: $.a }} }}\n"
            ),
        ),
        (
            "same id twice",
            format!("{HEAD}steps:\n  - {{ id: a, tool: t }}\n  - {{ id: a, tool: u }}\n"),
        ),
        (
            "undefined server",
            step("tool: t\nserver: mm").replace("  m: {", "  mn: {"),
        ),
        (
            "server missing",
            step("tool: t").replace("  m: {", "  a: { command: y }\n  m: {"),
        ),
        (
            "command as list",
            step("tool: t").replace("command: x", "command: [npx, -y]"),
        ),
        (
            "headers without a url",
            step("tool: t").replace("command: x", "command: x, headers: { A: b }"),
        ),
        (
            "server timeout",
            step("tool: t").replace("command: x", "command: x, timeout: 3s"),
        ),
        (
            "no iteration",
            step("tool: t").replace("servers:", "budgets: { max_iterations: 0 }\nservers:"),
        ),
        (
            "hook as string",
            step("tool: t").replace("servers:", "hooks: { fix_tests: ./fix.sh }\nservers:"),
        ),
        (
            "unknown redaction",
            step("tool: t\nexpect: { text: { snapshot: a, redact: [timestamps] } }"),
        ),
        (
            "redaction without a path",
            step("tool: t\nexpect: { text: { snapshot: a, redact: [{ with: x }] } }"),
        ),
        (
            "redaction of no snapshot",
            step("tool: t\nexpect: { text: { equals: a, redact: [uuid] } }"),
        ),
        ("duplicate key", step("tool: t\nname: a\nname: b")),
        (
            "bad indentation",
            format!("{HEAD}steps:\n  - tool: t\n     name: x\n"),
        ),
        ("tab", format!("{HEAD}steps:\n\t- tool: t\n")),
        ("unclosed quote", step("tool: \"t")),
        ("unclosed bracket", step("tool: t\ntags: [a")),
        ("colon in a value", step("tool: t\nname: a: b")),
    ];
    let mut text = String::new();
    for (title, plan) in mistakes {
        let error = check(source(&plan)).expect_err(title);
        text.push_str(&format!("# {title}\n\n{}\n", error.render(false)));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn everything_wrong_is_said_in_the_order_of_the_file() {
    let text = FULL
        .replace("name: f", "nam: f")
        .replace("deadline: 15m", "deadline: 15")
        .replace("era: legacy", "era: legasy")
        .replace("tool: write_file", "tol: write_file")
        .replace("timeout: 5s", "timeout: 5x");
    let error = bad(&text);
    let lines: Vec<usize> = error.problems().iter().map(|p| p.location.line).collect();
    assert_eq!(lines.len(), 7, "{error}");
    assert!(lines.is_sorted());
    assert_eq!(error.problems()[1].field.to_string(), "budgets.deadline");
}

#[test]
fn colour_is_only_there_when_it_is_asked_for() {
    let error = bad("version: 2\n");
    assert!(!error.render(false).contains('\u{1b}'));
    assert!(error.render(true).contains('\u{1b}'));
    assert_eq!(
        jelly_base::text::strip_ansi(&error.render(true)),
        error.render(false)
    );
}

proptest! {
    #[test]
    fn loading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80), json in any::<bool>()) {
        let text = String::from_utf8_lossy(&bytes);
        let path = if json { "p.json" } else { "p.yaml" };
        let source = PlanSource { path: path.into(), text: text.as_ref().into(), variant: None, };
        if let Err(error) = load(source) {
            prop_assert!(!error.problems().is_empty());
            prop_assert!(!error.render(false).is_empty());
        }
    }

    #[test]
    fn a_damaged_plan_never_panics(at in any::<prop::sample::Index>(), length in 0_usize..30, new in ".{0,4}") {
        let start = FULL.floor_char_boundary(at.index(FULL.len()));
        let end = FULL.floor_char_boundary((start + length).min(FULL.len()));
        let text = format!("{}{new}{}", &FULL[..start], &FULL[end..]);
        if let Err(error) = check(source(&text)) {
            prop_assert!(!error.problems().is_empty());
            prop_assert!(!error.render(true).is_empty());
        }
    }
}
