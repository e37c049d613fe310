//! The ways to be green without looking, by axis: none of them ends with 0.

use crate::support::{Project, procs, python};
use rustix::process::Signal;

/// A plan on the mock with these steps, which stand in YAML.
fn plan(steps: &str) -> String {
    format!("version: 1\nservers: {{ s: {{ command: jelly, args: [mock] }} }}\n{steps}")
}

const GOOD: &str = "{ id: good, tool: echo, args: { message: hi } }";
const WRONG: &str =
    "{ id: wrong, tool: echo, args: { message: hi }, expect: { text: { equals: ho } } }";

/// How `jelly run plan.yaml` ends with these words, in a project with these
/// other files; a name that ends with `.sh` is one that can be run.
#[track_caller]
fn ends(axis: &str, text: &str, files: &[(&str, &str)], args: &[&str], code: i32) {
    let project = Project::with(text);
    for (name, content) in files {
        match name.strip_suffix(".sh") {
            Some(_) => project.script(name, content),
            None => project.write(name, content),
        };
    }
    let ended = project.call(args).env("EMPTY", "").output();
    assert_eq!(
        ended.code,
        Some(code),
        "{axis}: {text}\n{args:?}\n{}\n{}",
        ended.stdout,
        ended.stderr
    );
}

fn expects(expect: &str) -> String {
    plan(&format!(
        "steps:\n  - {{ id: e, tool: echo, args: {{ message: hi }}, expect: {expect} }}\n"
    ))
}

#[test]
fn selection() {
    let two = plan(&format!(
        "setup:\n  - {{ id: up, tool: echo, args: {{ message: x }} }}\nsteps:\n  - {GOOD}\n  - {WRONG}\n"
    ));
    let axis = "selection";
    ends(axis, &two, &[], &["--only", "up"], 2);
    ends(axis, &two, &[], &["--skip", "good,wrong"], 2);
    ends(axis, &two, &[], &["--only", "good", "--skip", "s"], 2);
    ends(axis, &two, &[], &["--only", "god"], 2);
    ends(axis, &two, &[], &["--only", "wrong"], 3);
    ends(axis, &two, &[], &["--skip", "up", "--only", "wrong"], 3);
    let project = Project::empty();
    assert_eq!(project.jelly(&["run"]).output().code, Some(2));
}

#[test]
fn a_hook() {
    let axis = "hook";
    let text = |hook: &str| {
        plan(&format!(
            "hooks: {{ {hook}: [./hook.sh] }}\nsteps:\n  - {GOOD}\n  - {{ id: gone, tool: no_such_tool }}\n"
        ))
    };
    let fix = text("fix_tests");
    let without_the_step = "#!/bin/sh\nsed -i '/gone/d' plan.yaml\n";
    ends(
        axis,
        &fix,
        &[("hook.sh", without_the_step)],
        &["--no-repair"],
        3,
    );
    let expects_the_error =
        "#!/bin/sh\nsed -i 's/tool: no_such_tool/&, expect: { is_error: true }/' plan.yaml\n";
    ends(
        axis,
        &fix,
        &[("hook.sh", expects_the_error)],
        &["--no-repair"],
        3,
    );
    let another_server =
        "#!/bin/sh\nsed -i 's/command: jelly, args: .mock./command: true/' plan.yaml\n";
    ends(
        axis,
        &fix,
        &[("hook.sh", another_server)],
        &["--no-repair"],
        3,
    );
    let nothing_left = "#!/bin/sh\nprintf 'version: 1\\nservers: {}\\nsteps: []\\n' > plan.yaml\n";
    ends(
        axis,
        &fix,
        &[("hook.sh", nothing_left)],
        &["--no-repair"],
        3,
    );

    let weak = plan(&format!(
        "hooks: {{ refine_code: [./hook.sh] }}\nsteps:\n  - {WRONG}\n"
    ));
    let rewrites = "#!/bin/sh\nsed -i 's/equals: ho/contains: h/' plan.yaml\n";
    ends(axis, &weak, &[("hook.sh", rewrites)], &["--trust-plan"], 3);
}

#[test]
fn a_snapshot() {
    let axis = "snapshot";
    let stored = |text: &'static str| [("snapshots/plan/a.snap", text)];
    ends(axis, &expects("{ text: { snapshot: a } }"), &[], &[], 3);
    ends(
        axis,
        &expects("{ text: { snapshot: a } }"),
        &stored(""),
        &[],
        1,
    );
    ends(
        axis,
        &expects("{ text: { snapshot: a } }"),
        &stored("ho"),
        &[],
        1,
    );
    for redact in [
        "{ pattern: '(?s).+' }",
        "{ pattern: '(?s).*' }",
        "{ path: $ }",
    ] {
        let expect = format!("{{ text: {{ snapshot: a, redact: [{redact}] }} }}");
        ends(axis, &expects(&expect), &stored("[redacted]"), &[], 2);
    }
    // What a run proposes it does not take.
    let project = Project::with(&expects("{ text: { snapshot: a } }"));
    for _ in 0..2 {
        assert_eq!(project.call(&[]).output().code, Some(3));
    }
}

#[test]
fn an_empty_list() {
    let axis = "empty list";
    ends(axis, &plan("steps: []\n"), &[], &[], 2);
    ends(axis, &plan("name: x\n"), &[], &[], 2);
    ends(
        axis,
        &plan(&format!("setup:\n  - {GOOD}\nsteps: []\n")),
        &[],
        &[],
        2,
    );
    ends(
        axis,
        &plan(&format!("teardown:\n  - {GOOD}\nsteps: []\n")),
        &[],
        &[],
        2,
    );
    for expect in [
        "{ json: [] }",
        "{ notifications: [] }",
        "{ text: {} }",
        "{ text: { one_of: [] } }",
    ] {
        ends(axis, &expects(expect), &[], &[], 2);
    }
    // What stands nowhere is not other than something.
    let nothing_listed = python(
        r#"
def call(request):
    answer(request, text("hi"))
serve(call, tools=())
"#,
    );
    for operator in ["not_equals: x", "not_contains: x", "type: array"] {
        let text = format!(
            "version: 1\nservers: {{ s: {nothing_listed} }}\nsteps:\n  - {{ id: l, list: tools, expect: {{ json: [{{ path: '$.tools[*].name', {operator} }}] }} }}\n"
        );
        ends(axis, &text, &[], &[], 1);
    }
    let project = Project::empty();
    for (report, content) in [
        ("empty.xml", ""),
        ("none.xml", "<testsuites/>"),
        ("suite.xml", "<testsuite name='a' tests='0'/>"),
    ] {
        project.write(report, content);
        let ended = project.jelly(&["triage", report]).output();
        assert_eq!(ended.code, Some(2), "{report}: {}", ended.stdout);
    }
}

#[test]
fn a_vacuous_operator() {
    let axis = "vacuous operator";
    for expect in [
        "{ text: { contains: '' } }",
        "{ text: { starts_with: '' } }",
        "{ text: { ends_with: '' } }",
        "{ text: { matches: '' } }",
        "{ text: { matches: '^' } }",
        "{ text: { matches: '$' } }",
        "{ text: { matches: '[^q]*' } }",
        "{ text: { matches: '\\w*' } }",
        "{ text: { matches: '(?s)^.*$' } }",
        "{}",
        "{ structured: { schema: { $ref: '#' } } }",
        "{ structured: { schema: { allOf: [{ $ref: '#' }] } } }",
        "{ structured: { schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } } } }",
        "{ json: [{ path: $.content, length: { ge: 0 } }] }",
        "{ structured: { length: { ge: 0 } } }",
        "{ structured: { schema: { minLenght: 3 } } }",
        "{ structured: { schema: { type: object, requried: [a] } } }",
        "{ structured: { schema: { properties: { a: { type: string, maxlength: 3 } } } } }",
        "{ structured: { schema: { anyOf: [{ typ: string }, { type: array }] } } }",
        "{ json: [{ path: $.a, lt: '5' }] }",
        "{ text: { lt: 5 } }",
        "{ text: { matches: '(?s).*' } }",
        "{ text: { matches: 'a|' } }",
        "{ text: { length: { ge: 0 } } }",
        "{ text: { exists: true } }",
        "{ text: { type: string } }",
        "{ json: [{ path: $, exists: true }] }",
        "{ json: [{ path: $, type: object }] }",
        "{ json: [{ path: '$.content[0]', schema: true }] }",
        "{ structured: { schema: {} } }",
        "{ structured: { schema: { title: x } } }",
        "{ structured: { schema: { minProperties: 0 } } }",
        "{ structured: { schema: { anyOf: [true, { type: string }] } } }",
        "{ structured: { schema: { type: [string, number, 'null', object, array, boolean] } } }",
        "{ duration: { ge: 0 } }",
        "{ notifications: [{ method: notifications/message, count: { ge: 0 } }] }",
        "{ error: { message: { contains: '' } } }",
    ] {
        ends(axis, &expects(expect), &[], &[], 2);
    }
    // What only a variable makes so is known when it is due.
    for (value, expect) in [
        ("''", "{ text: { contains: '${w}' } }"),
        ("'.*'", "{ text: { matches: '${w}' } }"),
        ("{}", "{ structured: { schema: '${w}' } }"),
        ("0", "{ text: { length: { ge: '${w}' } } }"),
        ("'${env:EMPTY}'", "{ text: { starts_with: '${w}' } }"),
    ] {
        let text = expects(expect).replace("steps:", &format!("vars: {{ w: {value} }}\nsteps:"));
        ends(axis, &text, &[], &[], 3);
    }
}

/// Whatever brings the schema: what the plan spells out is refused before
/// anything starts, and what is known later when it is due.
#[test]
fn a_misspelt_keyword_in_a_schema_that_a_variable_brings() {
    let axis = "misspelt keyword by a variable";
    let whole = expects("{ json: [{ path: $, schema: '${w}' }] }");
    for (brings, code) in [
        ("vars: { w: { minLenght: 3 } }", 2),
        (
            "vars: { w: { type: object, properties: { a: { maxlength: 3 } } } }",
            2,
        ),
        (
            "vars: { w: { allOf: [{ x-note: 1 }, { typ: object }] } }",
            2,
        ),
        ("vars: { v: { minLenght: 3 }, w: '${v}' }", 3),
        (
            "vars: { w: { type: object, x-note: 1, required: [content] } }",
            0,
        ),
    ] {
        let text = whole.replace("steps:", &format!("{brings}\nsteps:"));
        ends(axis, &text, &[], &[], code);
    }
    let part = "{ json: [{ path: $, schema: { properties: { content: '${w}' } } }] }";
    let text = expects(part).replace("steps:", "vars: { w: { minItem: 1 } }\nsteps:");
    ends(axis, &text, &[], &[], 3);
    let text = whole.replace("steps:", "vars: { w: { type: object } }\nsteps:");
    ends(axis, &text, &[], &["--var", "w={\"minLenght\":3}"], 2);
    let captured = plan(
        "steps:\n  - { id: one, tool: echo, args: { message: '{\"minLenght\": 3}' }, capture: { w: '$.content[0]' } }\n  - { id: two, tool: echo, args: { message: hi }, expect: { json: [{ path: $, schema: '${w}' }] } }\n",
    );
    ends(axis, &captured, &[], &[], 3);
    let check = Project::with(&text.replace("type: object", "minLenght: 3"));
    let ended = check.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for told in [
        "`minLenght`",
        "in `${w}` at `/minLenght`",
        "did you mean `minLength`?",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}

/// What is refused says what was meant.
#[test]
fn a_refusal_names_what_was_meant() {
    for (expect, told) in [
        ("{}", "leave `expect` out"),
        ("{ text: { matches: '^' } }", "`length: { ge: 1 }`"),
        (
            "{ json: [{ path: $.a, length: { ge: 0 } }] }",
            "`exists: true`",
        ),
        (
            "{ structured: { schema: { minLenght: 3 } } }",
            "did you mean `minLength`?",
        ),
        (
            "{ structured: { schema: { properties: { a: { itmes: {} } } } } }",
            "did you mean `items`?",
        ),
        (
            "{ structured: { schema: { name: { type: string } } } }",
            "below `properties`",
        ),
        ("{ json: [{ path: $.a, lt: '5' }] }", "without quotes: `5`"),
        ("{ json: [{ path: $.a, lt: 'v5' }] }", "`one_of`"),
        ("{ text: { lt: 5 } }", "`length`"),
        ("{ duration: { lt: 40s } }", "a longer `timeout`"),
        ("{ structured: { contains: {} } }", "`type: object`"),
        (
            "{ json: [{ path: $.content, exists: true }] }",
            "$.content[0]",
        ),
        (
            "{ json: [{ path: $.content, schema: { required: [text] } }] }",
            "under `items`",
        ),
    ] {
        let project = Project::with(&expects(expect));
        let ended = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(ended.code, Some(2), "{expect}");
        assert!(ended.stderr.contains(told), "{expect}: {}", ended.stderr);
    }
    // Extensions and notes are no slips.
    let fine = "{ json: [{ path: $, schema: { type: object, x-note: 1, required: [content] } }] }";
    ends("vacuous operator", &expects(fine), &[], &[], 0);
}

/// Which members an answer has is known when it comes: then it is said.
#[test]
fn a_schema_of_properties_that_the_answer_has_not() {
    let said = |schema: &str| {
        let ended = Project::with(&expects(schema))
            .jelly(&["run", "plan.yaml"])
            .output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    let schema = "{ json: [{ path: $, schema: { properties: { contnet: { maxItems: 0 } } } }] }";
    let told = said(schema);
    assert!(told.contains("has no `contnet`"), "{told}");
    let told = said(&schema.replace("contnet: { maxItems: 0 }", "content: { maxItems: 9 }"));
    assert!(!told.contains("has no"), "{told}");
}

#[test]
fn an_unused_server() {
    let text = "version: 1
servers:
  s: { command: jelly, args: [mock, '${port:needed}'] }
  needed: { command: jelly, args: [mock, '${port}'] }
  other: { command: jelly, args: [mock] }
steps:
  - { id: a, server: s, tool: echo, args: { message: hi } }
";
    let text = text.replace("mock, '${port:needed}'", "mock, --stderr, '${port:needed}'");
    let project = Project::with(&text.replace("mock, '${port}'", "mock, --stderr, '${port}'"));
    for args in [&["check", "plan.yaml"][..], &["run", "plan.yaml"]] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(told.contains("no step uses the server `other`"), "{told}");
        assert!(!told.contains("the server `needed`"), "{told}");
    }
}

#[test]
fn a_capture() {
    let axis = "capture";
    let nothing =
        plan("steps:\n  - { id: a, tool: echo, args: { message: hi }, capture: { it: $.nope } }\n");
    ends(axis, &nothing, &[], &[], 1);
    let filtered =
        plan("steps:\n  - { id: a, list: tools, capture: { it: \"$.tools[?@.name == 'zz']\" } }\n");
    ends(axis, &filtered, &[], &[], 1);
    let empty = plan(
        "steps:
  - { id: a, tool: echo, args: { message: '' }, capture: { it: '$.content[0].text' } }
  - { id: b, tool: echo, args: { message: hi }, expect: { text: { contains: '${it}' } } }
",
    );
    ends(axis, &empty, &[], &[], 3);
}

#[test]
fn a_matrix() {
    let axis = "matrix";
    let of = |matrix: &str| plan(&format!("matrix: {matrix}\nsteps:\n  - {GOOD}\n"));
    ends(axis, &of("{}"), &[], &[], 2);
    ends(axis, &of("{ protocol: [] }"), &[], &[], 2);
    ends(
        axis,
        &of("{ protocol: ['1999-01-01', '2025-06-18'] }"),
        &[],
        &[],
        2,
    );
    ends(axis, &of("{ servers: { s: [] } }"), &[], &[], 2);
    ends(axis, &of("{ servers: { t: [s, u] } }"), &[], &[], 2);
    let one_is_dead = "version: 1
servers:
  s: { command: jelly, args: [mock] }
  dead: { command: no-such-command-of-any-kind }
matrix: { servers: { it: [s, dead] } }
steps:
  - { id: good, server: it, tool: echo, args: { message: hi } }
";
    ends(axis, one_is_dead, &[], &[], 3);
}

#[test]
fn a_teardown() {
    let axis = "teardown";
    let with = |teardown: &str| plan(&format!("steps:\n  - {GOOD}\nteardown:\n  - {teardown}\n"));
    ends(axis, &with(WRONG), &[], &[], 1);
    ends(axis, &with("{ id: d, tool: no_such_tool }"), &[], &[], 3);
    ends(
        axis,
        &with("{ id: d, server: nobody, tool: echo }"),
        &[],
        &[],
        3,
    );
    let hangs = with("{ id: d, tool: sleep, args: { ms: 60000 }, timeout: 300ms }");
    ends(axis, &hangs, &[], &["--retries", "0"], 3);
}

#[test]
fn a_kill() {
    let killed = |script: &str| {
        plan(&format!("steps:\n  - {GOOD}\n")).replace("[mock]", &format!("[mock, {script}]"))
    };
    for fault in [
        "--fault, 'exit@spawn=0'",
        "--fault, 'exit@tool:echo=0'",
        "--fault, 'exit@list=0'",
        "--fault, 'kill@tool:echo'",
    ] {
        let project = Project::with(&killed(fault));
        let ended = project.call(&["--retries", "0"]).output();
        assert!(
            ended.code.is_some_and(|code| code == 1 || code == 3),
            "{fault}: {:?}\n{}\n{}",
            ended.code,
            ended.stdout,
            ended.stderr
        );
    }
    let waits = python(
        r#"
def call(request):
    open("asked", "w").close()
    time.sleep(60)
serve(call)
"#,
    );
    for (signal, code) in [
        (Signal::TERM, Some(143)),
        (Signal::INT, Some(130)),
        (Signal::KILL, None),
    ] {
        let project = Project::with(&format!(
            "version: 1\nservers: {{ s: {waits} }}\nsteps:\n  - {{ id: a, tool: work, timeout: 50s }}\n"
        ));
        let running = project.call(&[]).start();
        procs::until("a call", || project.exists("asked").then_some(()));
        running.signal(signal);
        assert_eq!(running.wait().code, code);
    }
}

#[test]
fn an_output_format() {
    let wrong = plan(&format!("steps:\n  - {WRONG}\n"));
    for args in [
        &["--format", "json"][..],
        &["--quiet"],
        &["--color", "always"],
    ] {
        ends("output format", &wrong, &[], args, 1);
        // Nobody reads, or nobody can.
        for (out, code) in [("| :", 1), ("> /dev/full", 1), (">&-", 1)] {
            let project = Project::with(&wrong);
            let line = format!("set -o pipefail; \"$0\" \"$@\" {out}; exit ${{PIPESTATUS[0]:-$?}}");
            let mut words = vec!["run", "plan.yaml", "--seed", "1"];
            words.extend(args);
            let ended = project
                .wrapped("bash", &["-c", &line])
                .args(&words)
                .output();
            assert_eq!(ended.code, Some(code), "{args:?} {out}: {}", ended.stderr);
        }
    }
    // A result that nobody could be told is no pass.
    let good = plan(&format!("steps:\n  - {GOOD}\n"));
    let project = Project::with(&good);
    let ended = project
        .wrapped("bash", &["-c", "\"$0\" \"$@\" > /dev/full"])
        .args(&["run", "plan.yaml", "--format", "json"])
        .output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
}
