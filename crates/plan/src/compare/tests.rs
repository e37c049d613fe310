//! Plans that lost, changed or gained something, and what is said of it.

use super::compare;
use crate::{Plan, PlanSource, load_with};
use indexmap::IndexMap;
use jelly_base::model::{PlanChange, PlanChangeKind as Kind};
use std::collections::BTreeMap;
use std::sync::Arc;

const PLAN: &str = r#"version: 1
name: smoke
vars: { want: hello, number: 80, script: server.js }
budgets: { retries: 1 }
servers:
  s:
    command: node
    args: ["${script}", --level, low]
    env: { MODE: test, NODE_OPTIONS: --x }
    cwd: app
    wire: strict
    answers: [{ method: roots/list, expect: [{ path: $.a, equals: 1 }], result: { roots: [] } }]
    request_timeout: 10s
  t: { url: "http://127.0.0.1:${number}/mcp", headers: { A: b } }
  p: { command: npx, args: [-y, "@scope/server", /data] }
setup:
  - { id: first, server: s, tool: prepare }
steps:
  - id: read
    server: s
    tool: read
    args: { path: a.txt }
    tags: [smoke]
    timeout: 5s
    expect:
      is_error: false
      text: { contains: "${want}", matches: "h.*o" }
      json:
        - { path: "$.content[0].text", equals: hello, length: { ge: 2 } }
      structured: { schema: { type: object, required: [a] } }
      duration: { lt: 2s }
      stderr: { not_contains: error }
      notifications:
        - { method: n/one, json: [{ path: $.x, equals: 1 }], count: { ge: 2 }, within: 3s }
        - { method: n/none, absent: true, within: 1s }
    capture: { body: "$.content[0].text" }
  - { id: echo, server: t, tool: echo, args: { m: x }, expect: { text: { snapshot: said, redact: [uuid] } } }
  - { id: refused, server: t, tool: echo, expect: { error: { code: -32602, message: { contains: bad } } } }
  - { id: wrong, server: p, tool: fail, expect: { is_error: true, text: { ends_with: no } } }
  - { id: list, server: p, list: tools }
  - { id: stop, server: p, tool: slow, cancel_after: 1s }
teardown:
  - { id: last, server: s, tool: clean }
"#;

fn plan(text: &str) -> Plan {
    plan_in(text, None)
}

fn plan_in(text: &str, variant: Option<crate::Variant>) -> Plan {
    let source = PlanSource {
        path: "plan.yaml".into(),
        text: text.into(),
        variant: variant.map(Arc::new),
    };
    match load_with(source, &IndexMap::new()) {
        Ok(plan) => plan,
        Err(error) => panic!("{}", error.render(false)),
    }
}

fn env() -> BTreeMap<String, String> {
    BTreeMap::from([("NOTHING".to_owned(), String::new())])
}

fn changes(text: &str) -> Vec<PlanChange> {
    compare(&plan(PLAN), &plan(text), &env())
}

#[track_caller]
fn edited(from: &str, to: &str) -> Vec<PlanChange> {
    assert_eq!(PLAN.matches(from).count(), 1, "{from}");
    changes(&PLAN.replace(from, to))
}

/// The strongest thing that is said of an edit, with all its words.
#[track_caller]
fn said(from: &str, to: &str) -> (Option<Kind>, String) {
    let changes = edited(from, to);
    let words: Vec<&str> = changes.iter().map(|change| change.what.as_str()).collect();
    (
        changes.iter().map(|change| change.kind).min(),
        words.join("; "),
    )
}

#[test]
fn a_plan_is_no_other_than_itself() {
    assert_eq!(changes(PLAN), []);
}

#[test]
fn what_is_nobodys_expectation_may_change() {
    let mut wrong: Vec<String> = Vec::new();
    for (from, to) in [
        ("name: smoke", "name: other"),
        ("retries: 1", "retries: 0"),
        ("tags: [smoke]", "tags: [slow]"),
        (
            "  - id: read\n",
            "  # a comment\n  - id: read\n    name: Reads\n",
        ),
        ("contains: \"${want}\"", "contains: hello"),
        ("{ want: hello,", "{ unused: 1, want: hello,"),
        (
            "env: { MODE: test, NODE_OPTIONS: --x }",
            "env: { NODE_OPTIONS: --x, MODE: test }",
        ),
        ("matches: \"h.*o\"", "matches: \"h.*o\", starts_with: h"),
        (
            "expect: { is_error: true, text",
            "expect: { is_error: true, stderr: { contains: x }, text",
        ),
        (
            "  - { id: list,",
            "  - { id: more, server: p, tool: x }\n  - { id: list,",
        ),
        ("  p: {", "  q: { command: x }\n  p: {"),
        (
            "capture: { body: \"$.content[0].text\" }",
            "capture: { body: \"$.content[0].text\", b: $.b }",
        ),
        ("version: 1", "version: 1\nhooks: { fix_tests: [./fix] }"),
        (
            "{ path: $.x, equals: 1 }]",
            "{ path: $.x, equals: 1 }, { path: $.y, equals: 2 }]",
        ),
    ] {
        let told = edited(from, to);
        wrong.extend((!told.is_empty()).then(|| format!("{from} -> {to}: {told:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_gone_is_named() {
    let mut wrong: Vec<String> = Vec::new();
    for (from, to, told) in [
        (
            "  - { id: list, server: p, list: tools }\n",
            "",
            "step `list` is gone",
        ),
        ("id: list,", "id: lists,", "`lists` asks the same"),
        (
            ", matches: \"h.*o\"",
            "",
            "no longer expects `text` `matches`",
        ),
        (
            "equals: hello, ",
            "",
            "no longer expects `json` `$.content[0].text` `equals`",
        ),
        (
            "$.content[0].text\", equals",
            "$.content[0]\", equals",
            "`$.content[0].text` `equals`",
        ),
        ("equals: hello", "contains: hello", "`equals`"),
        ("      duration: { lt: 2s }\n", "", "`duration` `lt`"),
        ("      stderr: { not_contains: error }\n", "", "`stderr`"),
        (
            "      is_error: false\n",
            "      is_error: true\n",
            "fails on `isError: true`",
        ),
        (
            "      is_error: false\n",
            "      error: {}\n",
            "fails on a protocol error",
        ),
        ("is_error: true, text", "text", "expects `isError: true`"),
        ("code: -32602, ", "", "`error.code`"),
        (
            "expect: { error: { code: -32602, message: { contains: bad } } }",
            "expect: { is_error: false }",
            "an error",
        ),
        (
            "list: tools",
            "request: tools/list",
            "request of the kind `list`",
        ),
        ("list: tools", "raw: x", "request of the kind `list`"),
        ("tool: slow, cancel_after: 1s", "tool: slow", "cancelled"),
        (
            "tool: prepare",
            "tool: prepare, cancel_after: 1s",
            "request of the kind `tool`",
        ),
        (
            "    capture: { body: \"$.content[0].text\" }\n",
            "",
            "captures `body`",
        ),
        ("    wire: strict\n", "", "every word"),
        (
            "expect: [{ path: $.a, equals: 1 }], ",
            "",
            "`answers` `roots/list $.a` `equals`",
        ),
        (", count: { ge: 2 }", "", "`count ge`"),
        (
            " json: [{ path: $.x, equals: 1 }],",
            "",
            "`n/one $.x` `equals`",
        ),
        ("absent: true", "count: { le: 3 }", "`n/none` `absent`"),
        (
            "absent: true",
            "json: [{ path: $.never, equals: 1 }], absent: true",
            "`n/none` `absent`",
        ),
    ] {
        let (kind, words) = said(from, to);
        let good = kind == Some(Kind::Gone) && words.contains(told);
        wrong.extend((!good).then(|| format!("{from} -> {to}: {words}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_holds_of_anything_now_is_named() {
    let mut wrong: Vec<String> = Vec::new();
    for (from, to) in [
        ("contains: \"${want}\"", "contains: \"\""),
        ("want: hello", "want: \"\""),
        ("contains: \"${want}\"", "contains: \"${env:NOTHING}\""),
        ("matches: \"h.*o\"", "matches: \".*\""),
        ("matches: \"h.*o\"", "matches: \"^.+$\""),
        ("matches: \"h.*o\"", "matches: \"(?s).\""),
        ("length: { ge: 2 }", "length: { ge: 0 }"),
        ("schema: { type: object, required: [a] }", "schema: {}"),
        ("schema: { type: object, required: [a] }", "schema: true"),
        (
            "schema: { type: object, required: [a] }",
            "schema: { properties: { a: {} } }",
        ),
        ("duration: { lt: 2s }", "duration: { lt: 5s }"),
        ("duration: { lt: 2s }", "duration: { lt: 24h }"),
        ("redact: [uuid]", "redact: [{ path: $, with: x }]"),
        ("redact: [uuid]", "redact: [{ pattern: \".+\", with: x }]"),
        ("ends_with: no", "ends_with: \"\""),
        ("message: { contains: bad }", "message: { contains: \"\" }"),
    ] {
        // The loader refuses some of them by itself, where nothing else is
        // expected of the same.
        let text = PLAN.replace(from, to);
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.into(),
            variant: None,
        };
        if load_with(source, &IndexMap::new()).is_err() {
            continue;
        }
        let (kind, words) = said(from, to);
        let good = kind == Some(Kind::HoldsOfAnything);
        wrong.extend((!good).then(|| format!("{from} -> {to}: {words}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_runs_under_fewer_conditions_is_named() {
    let (kind, words) = said("args: { m: x }", "args: { m: \"${body}\" }");
    assert_eq!(kind, Some(Kind::FewerConditions), "{words}");
    assert!(
        words.contains("`echo` runs only where `read` passed"),
        "{words}"
    );
    let (kind, words) = said("id: list,", "id: list, needs: [echo],");
    assert_eq!(kind, Some(Kind::FewerConditions), "{words}");
    let (kind, words) = said("id: list,", "id: list, if: { platform: linux },");
    assert_eq!(kind, Some(Kind::FewerConditions), "{words}");
    assert!(words.contains("only where its new `if` holds"), "{words}");
    let (kind, words) = said(
        "teardown:\n  - { id: last, server: s, tool: clean }\n",
        "  - { id: last, server: s, tool: clean }\n",
    );
    assert_eq!(kind, Some(Kind::FewerConditions), "{words}");
    assert!(words.contains("from `teardown` to `steps`"), "{words}");
}

/// What a condition asks of a variable counts as what that holds, and what is
/// waited for as what is expected.
#[test]
fn conditions_cases_and_what_is_waited_for_are_compared() {
    let text = "version: 1
vars: { mode: full }
servers: { s: { command: x } }
steps:
  - { id: a, tool: t, if: { platform: linux, vars: { mode: full } } }
  - { id: b, tool: t, args: { x: '${x}' }, cases: [{ name: one, x: 1 }, { name: two, x: 2 }] }
  - { id: c, tool: t, until: { expect: { text: { equals: done } }, for: 5s } }
";
    let before = plan(text);
    for (from, to, kind, told) in [
        (
            "linux, vars",
            "macos, vars",
            Kind::FewerConditions,
            "another `if`",
        ),
        (
            "vars: { mode: full }\n",
            "vars: { mode: less }\n",
            Kind::FewerConditions,
            "another `if`",
        ),
        (
            ", if: { platform: linux, vars: { mode: full } }",
            "",
            Kind::Contract,
            "no `if`",
        ),
        (", { name: two, x: 2 }", "", Kind::Gone, "`b[two]` is gone"),
        (
            "x: 2",
            "x: 3",
            Kind::Contract,
            "`b[two]` has other arguments",
        ),
        (
            "equals: done",
            "contains: done",
            Kind::Gone,
            "`text` `equals`",
        ),
        (
            "equals: done",
            "equals: do",
            Kind::Operand,
            "`text` `equals`",
        ),
        ("for: 5s", "for: 9s", Kind::Contract, "another `until`"),
        (
            ", until: { expect: { text: { equals: done } }, for: 5s }",
            "",
            Kind::Gone,
            "`text` `equals`",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let found = compare(&before, &plan(&text.replace(from, to)), &env());
        let said: Vec<String> = found
            .iter()
            .map(|c| format!("{:?} {}", c.kind, c.what))
            .collect();
        assert!(
            found
                .iter()
                .any(|c| c.kind == kind && c.what.contains(told)),
            "{from} -> {to}: {said:?}"
        );
    }
}

#[test]
fn a_combination_of_the_matrix_is_not_left_out() {
    let text = "version: 1
matrix: { protocol: [\"2025-03-26\", \"2025-06-18\", \"2025-11-25\"] }
servers: { s: { command: x } }
steps: [{ id: a, tool: t }]
";
    let before = plan(text);
    let after = plan(&text.replace(", \"2025-11-25\"", ""));
    let told = compare(&before, &after, &env());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].kind, Kind::FewerConditions);
    assert!(told[0].what.contains("2025-11-25"));
}

#[test]
fn another_program_is_named() {
    for (from, to, key) in [
        ("command: node", "command: deno", "command"),
        ("script: server.js", "script: other.js", "command"),
        ("args: [\"${script}\"", "args: [other.js", "command"),
        ("cwd: app", "cwd: other", "cwd"),
        ("NODE_OPTIONS: --x", "NODE_OPTIONS: --require=./y.js", "env"),
        ("number: 80", "number: 81", "url"),
        ("127.0.0.1", "localhost", "url"),
        ("\"@scope/server\"", "\"@scope/mock\"", "command"),
        (
            "command: npx, args: [-y, \"@scope/server\", /data]",
            "url: \"http://x/mcp\"",
            "url",
        ),
    ] {
        let (kind, words) = said(from, to);
        assert_eq!(kind, Some(Kind::OtherServer), "{from} -> {to}: {words}");
        assert!(
            words.contains(&format!("another `{key}`")),
            "{from} -> {to}: {words}"
        );
    }
    let (kind, words) = said("id: list, server: p", "id: list, server: t");
    assert_eq!(kind, Some(Kind::OtherServer), "{words}");
}

#[test]
fn another_contract_is_a_change_and_no_loss() {
    for (from, to, kind) in [
        ("equals: hello", "equals: hallo", Kind::Operand),
        ("want: hello", "want: hallo", Kind::Operand),
        ("matches: \"h.*o\"", "matches: \"h.*\"", Kind::Operand),
        ("lt: 2s", "lt: 3s", Kind::Operand),
        ("code: -32602", "code: -32603", Kind::Operand),
        ("redact: [uuid]", "redact: [uuid, timestamp]", Kind::Operand),
        ("snapshot: said", "snapshot: other", Kind::Operand),
        (
            "body: \"$.content[0].text\"",
            "body: \"$.content[1].text\"",
            Kind::Operand,
        ),
        ("within: 1s", "within: 100ms", Kind::Operand),
        ("    tool: read\n", "    tool: read_file\n", Kind::Contract),
        ("path: a.txt", "path: b.txt", Kind::Contract),
        ("timeout: 5s", "timeout: 6s", Kind::Contract),
        (
            "request_timeout: 10s",
            "request_timeout: 20s",
            Kind::Contract,
        ),
        ("--level, low", "--level, high", Kind::Contract),
        ("/data]", "/other]", Kind::Contract),
        ("MODE: test", "MODE: other", Kind::Contract),
        ("headers: { A: b }", "headers: { A: c }", Kind::Contract),
        (
            "result: { roots: [] }",
            "result: { roots: [{ uri: \"file:///a\" }] }",
            Kind::Contract,
        ),
        ("list: tools", "list: prompts", Kind::Contract),
        (
            "tool: slow, cancel_after: 1s",
            "tool: slow, cancel_after: 2s",
            Kind::Contract,
        ),
        (
            "    wire: strict\n",
            "    wire: strict\n    adapt: false\n",
            Kind::Contract,
        ),
        (
            "    wire: strict\n",
            "    wire: strict\n    era: legacy\n",
            Kind::Contract,
        ),
    ] {
        let (told, words) = said(from, to);
        assert_eq!(told, Some(kind), "{from} -> {to}: {words}");
    }
    let echo = "  - { id: list, server: p, list: tools }\n";
    let stop = "  - { id: stop, server: p, tool: slow, cancel_after: 1s }\n";
    let turned = PLAN.replace(&format!("{echo}{stop}"), &format!("{stop}{echo}"));
    let told = changes(&turned);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].kind, Kind::Contract);
    assert!(told[0].what.contains("a different order"));
}

#[test]
fn another_name_for_the_same_server_is_a_change_and_no_loss() {
    let renamed = PLAN
        .replace("  t: {", "  remote: {")
        .replace("server: t", "server: remote");
    let told = changes(&renamed);
    assert!(!told.is_empty());
    assert!(
        told.iter().all(|change| change.kind == Kind::Contract),
        "{told:?}"
    );
    // A server that was never defined is no program that could be lost.
    let before = PLAN.replace("id: list, server: p", "id: list, server: pp");
    let told = compare(&plan(&before), &plan(PLAN), &env());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].kind, Kind::Contract);
}

#[test]
fn of_several_operators_of_one_kind_each_counts() {
    let two = "text: [{ contains: a }, { contains: b }]";
    let text = |expect: &str| {
        plan(&format!(
            "version: 1\nservers: {{ s: {{ command: x }} }}\nsteps: [{{ id: a, tool: t, expect: {{ {expect} }} }}]\n"
        ))
    };
    let kinds = |after: &str| -> Vec<Kind> {
        let told = compare(&text(two), &text(after), &env());
        told.iter().map(|change| change.kind).collect()
    };
    assert_eq!(kinds("text: [{ contains: b }, { contains: a }]"), []);
    assert_eq!(kinds("text: { contains: a }"), [Kind::Gone]);
    assert_eq!(
        kinds("text: [{ contains: a }, { contains: a }]"),
        [Kind::Operand]
    );
    assert_eq!(kinds("text: { contains: c }"), [Kind::Operand, Kind::Gone]);
}

#[test]
fn no_value_stands_in_what_is_said() {
    let told = edited("equals: hello", "equals: s3cr3t-value");
    assert!(!format!("{told:?}").contains("s3cr3t"), "{told:?}");
}

/// Every line of every plan that the repository shows, taken out: where it is
/// still a plan, and what it asks is another thing, something is said.
#[test]
fn a_line_that_is_taken_out_of_any_plan_is_never_overlooked() {
    for (name, text) in crate::witness::documents() {
        let read = |text: &str| {
            let source = PlanSource {
                path: "plan.yaml".into(),
                text: text.into(),
                variant: None,
            };
            load_with(source, &IndexMap::new()).ok()
        };
        let Some(before) = read(&text) else {
            continue;
        };
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > 300 {
            continue;
        }
        for at in jelly_base::testing::slice(7, 0..lines.len()) {
            let mut left = lines.clone();
            left.remove(at);
            let Some(after) = read(&(left.join("\n") + "\n")) else {
                continue;
            };
            let told = compare(&before, &after, &env());
            let said = told.iter().any(|change| change.kind.weakens());
            let expected = |plan: &Plan| -> usize {
                let steps = plan.all_steps();
                steps.map(|step| 1 + step.expect.predicates().count()).sum()
            };
            assert!(
                said || expected(&after) >= expected(&before),
                "{name}:{}: {}",
                at + 1,
                lines[at]
            );
        }
    }
}

/// One expectation of a plan taken away, or made to hold of anything.
type Loss = (String, Kind, Box<dyn Fn(&mut Plan)>);

fn step_of<'p>(plan: &'p mut Plan, id: &str) -> &'p mut crate::Step {
    let steps = plan.setup.iter_mut().chain(&mut plan.steps);
    let mut steps = steps.chain(&mut plan.teardown);
    steps.find(|step| step.id == id).unwrap()
}

/// The lists of predicates of a step, in a fixed order.
fn lists(expect: &mut crate::Expect) -> Vec<&mut Vec<crate::Predicate>> {
    let mut lists = vec![
        &mut expect.text,
        &mut expect.structured,
        &mut expect.duration,
        &mut expect.stderr,
    ];
    lists.extend(expect.json.iter_mut().map(|json| &mut json.predicates));
    if let Some(error) = &mut expect.error {
        lists.extend([&mut error.code, &mut error.message]);
    }
    if let Some(startup) = &mut expect.startup {
        let json = startup.server_info.iter_mut();
        let json = json.chain(&mut startup.capabilities);
        lists.extend(json.map(|json| &mut json.predicates));
        lists.extend(startup.refuses.iter_mut().map(|refusal| &mut refusal.exit));
    }
    lists
}

fn losses(plan: &Plan) -> Vec<Loss> {
    let mut all: Vec<Loss> = Vec::new();
    let mut add = |told: String, kind, loss: Box<dyn Fn(&mut Plan)>| all.push((told, kind, loss));
    for step in plan.all_steps() {
        let id = step.id.clone();
        let own = id.clone();
        add(
            format!("{id} is gone"),
            Kind::Gone,
            Box::new(move |plan| {
                plan.setup.retain(|step| step.id != own);
                plan.steps.retain(|step| step.id != own);
                plan.teardown.retain(|step| step.id != own);
            }),
        );
        let is_answered = step.cancel.is_none()
            && !matches!(
                step.request,
                crate::Request::Startup | crate::Request::Http(_)
            );
        if !step.expects_error() && is_answered {
            let own = id.clone();
            add(
                format!("{id} wants an error"),
                Kind::Gone,
                Box::new(move |plan| {
                    let at = crate::Location::default();
                    step_of(plan, &own).expect.is_error = Some(crate::Flag { value: true, at });
                }),
            );
        }
        let mut expect = step.expect.clone();
        let counts: Vec<usize> = lists(&mut expect).iter().map(|list| list.len()).collect();
        for (list, count) in counts.into_iter().enumerate() {
            for at in 0..count {
                let own = id.clone();
                add(
                    format!("{id} lacks {list}.{at}"),
                    Kind::Gone,
                    Box::new(move |plan| {
                        lists(&mut step_of(plan, &own).expect)[list].remove(at);
                    }),
                );
            }
        }
        for (at, predicate) in step.expect.text.iter().enumerate() {
            let nothing = match predicate.operator {
                crate::Operator::Contains => "",
                crate::Operator::Matches => "(?s).*",
                _ => continue,
            };
            let own = id.clone();
            add(
                format!("{id} takes any text by {at}"),
                Kind::HoldsOfAnything,
                Box::new(move |plan| {
                    step_of(plan, &own).expect.text[at].operand = nothing.into();
                }),
            );
        }
        for name in step.capture.keys() {
            let (own, name) = (id.clone(), name.clone());
            add(
                format!("{id} captures no {name}"),
                Kind::Gone,
                Box::new(move |plan| {
                    step_of(plan, &own).capture.shift_remove(&name);
                }),
            );
        }
    }
    for name in plan.servers.keys() {
        let own = name.clone();
        add(
            format!("{name} is another program"),
            Kind::OtherServer,
            Box::new(move |plan| {
                let server = &mut plan.servers[&own];
                let other = crate::Template::literal("another-program");
                match &mut server.transport {
                    crate::Transport::Stdio(command) => command.command = Some(other),
                    crate::Transport::Http { url, .. } => *url = other,
                }
            }),
        );
    }
    all
}

/// The property of the fence: whatever a plan loses is said, and said to be a
/// loss.
#[test]
fn whatever_is_taken_from_any_plan_is_a_loss() {
    let mut seen = 0;
    let shown = crate::witness::documents();
    let texts = shown.into_iter().map(|(_, text)| text);
    for text in texts.chain([PLAN.to_owned()]) {
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.into(),
            variant: None,
        };
        let Ok(before) = load_with(source, &IndexMap::new()) else {
            continue;
        };
        for (told, kind, lose) in losses(&before) {
            let mut after = before.clone();
            lose(&mut after);
            let changes = compare(&before, &after, &env());
            let said = changes.iter().any(|change| change.kind == kind);
            assert!(said, "{told}: {changes:?}");
            assert!(kind.weakens());
            // What is added is no loss, but for an error that is wanted no
            // more and another program.
            let back = compare(&after, &before, &env());
            let is_added = kind == Kind::Gone && !told.ends_with("an error");
            assert!(
                !is_added || back.iter().all(|change| !change.kind.weakens()),
                "{told}, back: {back:?}"
            );
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn a_start_that_is_looked_at_less_is_told() {
    let starts = |startup: &str| {
        plan(&format!(
            "version: 1\nservers: {{ s: {{ command: x, startup: {startup} }} }}\nsteps: []\n"
        ))
    };
    let before = starts("{ stderr: { contains: a }, server_info: [{ path: $.name, equals: n }] }");
    let kinds = |before: &Plan, after: &Plan| -> Vec<Kind> {
        let changes = compare(before, after, &env());
        changes.iter().map(|change| change.kind).collect()
    };
    assert_eq!(kinds(&before, &before), []);
    let less = starts("{ stderr: { contains: a } }");
    assert_eq!(kinds(&before, &less), [Kind::Gone]);
    let other = starts("{ stderr: { contains: b }, server_info: [{ path: $.name, equals: n }] }");
    assert_eq!(kinds(&before, &other), [Kind::Operand]);
    let refuses = starts("{ refuses: { exit: 2 } }");
    let any = starts("{ refuses: {} }");
    assert_eq!(kinds(&refuses, &any), [Kind::Gone]);
    let none = plan("version: 1\nservers: { s: { command: x } }\nsteps: [{ tool: t }]\n");
    assert_eq!(kinds(&refuses, &none), [Kind::Gone]);
    let only_linux = starts("{ refuses: { exit: 2 }, if: { platform: linux } }");
    assert_eq!(kinds(&refuses, &only_linux), [Kind::FewerConditions]);
}
