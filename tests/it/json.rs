//! What machines read: `--format json`, `results.json` and `junit.xml`.

use crate::support::{Project, Run};
use jelly_base::model::VOLATILE_FIELDS;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Fails in every way that a report tells of: a server that is dead, a wrong
/// value, a crash in a call, a wrong name, and what depends on them.
const TROUBLE: &str = r#"version: 1
name: trouble
servers:
  good: { command: jelly, args: [mock] }
  frail: { command: jelly, args: [mock, --fault, "stderr@tool:echo=thread 'main' panicked at src/lib.rs:7:9: index out of bounds", --fault, "exit@tool:echo=101"] }
  dead: { command: jelly, args: [mock, --fault, "stderr=Error: Cannot find module 'left-pad'", --fault, "exit=7"] }
  idle: { command: jelly, args: [mock] }
steps:
  - { id: fine, server: good, tool: echo, args: { message: hi }, tags: [one], expect: { text: { equals: hi } } }
  - { id: wrong, name: "a <wrong> & \"odd\" value", server: good, tool: add, args: { a: 1, b: 1 }, expect: { structured: { equals: { sum: 3 } } }, capture: { sum: "$.structuredContent.sum" } }
  - { id: follows, server: good, tool: echo, args: { message: "${sum}" } }
  - { id: crash, server: frail, tool: echo, args: { message: hi } }
  - { id: gone, server: dead, tool: echo, args: { message: hi } }
  - { id: typo, server: good, tool: nothing_like_it_at_all, args: {} }
  - { id: unused, server: idle, tool: echo, args: { message: hi }, tags: [out] }
"#;

fn trouble() -> Run {
    Project::with(TROUBLE).run(&["--skip", "tag:out"])
}

/// Whether a value has the shape: a JSON of type names, `?` at the end of a key
/// that may be absent, `|null` at the end of a type that may be null.
fn fits(value: &Value, shape: &Value, at: &str) {
    match shape {
        Value::String(kinds) => {
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "bool",
                Value::Number(number) if number.is_f64() => "float",
                Value::Number(_) => "int",
                Value::String(_) => "text",
                Value::Array(_) => "list",
                Value::Object(_) => "map",
            };
            let wanted: Vec<&str> = kinds.split('|').collect();
            let float = kind == "int" && wanted.contains(&"float");
            assert!(
                kinds == "any" || wanted.contains(&kind) || float,
                "{at} is {value}, not {kinds}"
            );
        }
        Value::Array(item) => {
            let list = value.as_array().unwrap_or_else(|| panic!("{at}: {value}"));
            for (i, entry) in list.iter().enumerate() {
                fits(entry, &item[0], &format!("{at}[{i}]"));
            }
        }
        Value::Object(keys) => {
            let map = value.as_object().unwrap_or_else(|| panic!("{at}: {value}"));
            for (key, shape) in keys {
                let (name, optional) = match key.strip_suffix('?') {
                    Some(name) => (name, true),
                    None => (key.as_str(), false),
                };
                match map.get(name) {
                    Some(value) => fits(value, shape, &format!("{at}.{name}")),
                    None => assert!(optional, "{at} has no {name}: {value}"),
                }
            }
        }
        other => panic!("{other} is no shape"),
    }
}

/// The contract with other programs, name by name.
fn contract() -> Value {
    let budgets = serde_json::json!({
        "iterations": "int", "retries": "int", "confirms": "int",
        "mcp_repairs": "int", "test_fixes": "int", "code_refines": "int",
    });
    let diagnosis = serde_json::json!({
        "side": "text", "ambiguous": "bool", "error_category?": "text", "root_cause": "text",
        "retryable?": "bool", "rule": "text",
        "evidence?": { "field": "text", "text": "text" },
        "fingerprint": "text", "test_fingerprint": "text",
        "repeated?": { "first_iteration": "int", "count": "int" },
        "standing?": "text", "flaky": "bool", "suspect?": "text", "repair?": "text",
        "advice": { "what": "text", "why": "text", "fix": ["text"] },
    });
    serde_json::json!({
        "schema_version": "int", "run_id": "text", "verdict": "text", "exit_code": "int",
        "needs_user_help": "bool",
        "help_summary": "map|null",
        "iterations": [{
            "index": "int",
            "totals": {
                "total": "int", "passed": "int", "failed": "int",
                "blocked": "int", "quarantined": "int", "skipped": "int",
            },
            "servers": [{
                "name": "text", "state": "text", "era": "text|null",
                "protocol_version": "text|null", "startup_ms": "int|null",
                "exit": "map|null", "stderr_tail": "text",
            }],
            "steps": [{
                "id": "text", "name": "text", "server": "text", "state": "text",
                "because?": "text|map", "attempts": "int", "duration_ms": "float|null",
                "adapter": "text|null", "error_category?": "text", "retryable?": "bool",
            }],
            "failures": [{
                "server": "text|null", "step": "text|null", "phase": "text", "message": "text",
                "exit?": { "code": "int|null", "signal": "text|null" },
                "argv": ["text"], "stderr_tail": "text", "request?": "map",
                "diagnosis": diagnosis,
            }],
            "action": {
                "kind": "text", "reason": "text",
                "repairs": [{
                    "id": "text", "target": "text", "explanation": "text", "diff": "text",
                }],
            },
            "budgets": { "before": budgets, "after": budgets },
        }],
    })
}

const HELP: &str = r#"{ "title": "text", "problems": [{
    "server": "text|null", "step": "text|null", "what": "text", "evidence": "text",
    "tried": ["text"], "next": ["text"] }] }"#;

#[test]
fn results_have_every_name_of_the_contract_and_totals_add_up() {
    let run = trouble();
    run.ends(1, "code_failure");
    fits(&run.results, &contract(), "results");
    let help = &run.results["help_summary"];
    fits(help, &serde_json::from_str(HELP).unwrap(), "help_summary");
    assert_eq!(run.results["schema_version"], 1);
    assert_eq!(run.results["needs_user_help"], true);

    let first = run.iteration(1);
    assert_eq!(first.total("total"), 7);
    assert_eq!(first.state("fine"), "passed");
    assert_eq!(first.state("wrong"), "failed");
    assert_eq!(first.state("crash"), "failed");
    assert_eq!(first.state("gone"), "blocked");
    assert_eq!(first.step("gone")["because"]["server"], "dead");
    assert_eq!(first.state("follows"), "skipped");
    assert_eq!(first.step("follows")["because"]["step"], "wrong");
    assert_eq!(first.state("unused"), "skipped");
    assert_eq!(first.step("unused")["because"], "not_selected");
    assert_eq!(first.server("idle")["state"], "not_started");
    assert_eq!(first.server("dead")["exit"]["code"], 7);
}

#[test]
fn a_green_run_has_the_same_names_and_no_help() {
    let run = Project::with(TROUBLE).run(&["--only", "fine"]);
    run.ends(0, "passed");
    fits(&run.results, &contract(), "results");
    assert!(run.results["help_summary"].is_null());
    assert_eq!(run.results["needs_user_help"], false);
}

#[test]
fn format_json_prints_what_results_json_holds_and_nothing_else() {
    let project = Project::with(TROUBLE);
    let run = project.run(&["--skip", "tag:out", "--format", "json"]);
    assert_eq!(run.stdout, project.read("reports/latest/results.json"));
    assert_eq!(run.stderr, "");
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(printed["exit_code"], 1);
}

#[test]
fn several_plans_are_wrapped_and_the_exit_code_is_the_gravest() {
    let project = Project::with(TROUBLE);
    project.write(
        "green.yaml",
        "version: 1\nname: green\nservers:\n  s: { command: jelly, args: [mock] }\nsteps:\n  - { id: a, tool: echo, args: { message: hi } }\n",
    );
    let ended = project
        .jelly(&["run", "green.yaml", "plan.yaml", "--format", "json"])
        .output();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let all: Value = serde_json::from_str(&ended.stdout).unwrap();
    let mut names: Vec<&String> = all.as_object().unwrap().keys().collect();
    names.sort();
    let known = [
        "clusters",
        "exit_code",
        "plans",
        "run_id",
        "schema_version",
        "totals",
        "verdict",
    ];
    assert_eq!(names, known);
    assert_eq!(all["verdict"], "code_failure");
    assert_eq!(all["exit_code"], 1);
    let plans = all["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 2);
    for plan in plans {
        fits(plan, &contract(), "plans[]");
    }
    assert_eq!(plans[0]["verdict"], "passed");
    assert_eq!(plans[1]["verdict"], "code_failure");
    for name in ["green", "plan"] {
        let own = project.read(&format!("reports/latest/{name}/results.json"));
        let own: Value = serde_json::from_str(&own).unwrap();
        assert!(plans.contains(&own), "{name}");
    }
}

/// The value without the fields that are declared to vary.
fn lasting(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(key, _)| !VOLATILE_FIELDS.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), lasting(value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => items.iter().map(lasting).collect(),
        other => other.clone(),
    }
}

/// Runs the plan twice in its folder, each time with `between` before it, and
/// compares the results line by line.
#[track_caller]
fn twice_the_same(plan: &str, args: &[&str], code: i32, before: impl Fn(&Project)) -> Run {
    let project = Project::with(plan);
    let runs = [(); 2].map(|()| {
        before(&project);
        project.run(args)
    });
    for run in &runs {
        assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
    }
    let [one, other] = runs
        .each_ref()
        .map(|run| serde_json::to_string_pretty(&lasting(&run.results)).unwrap());
    let mut differences = String::new();
    for (left, right) in one.lines().zip(other.lines()).filter(|(l, r)| l != r) {
        writeln!(differences, "- {left}\n+ {right}").unwrap();
    }
    assert!(one == other, "two runs differ:\n{differences}");
    let [run, _] = runs;
    assert_ne!(run.results, Value::Null);
    run
}

#[test]
fn the_same_run_reports_the_same_when_green() {
    let plan = "version: 1\nservers:\n  a: { command: jelly, args: [mock] }\n  b: { command: jelly, args: [mock] }\nsteps:\n  - { id: x, server: a, tool: echo, args: { message: hi }, capture: { said: \"$.content[0].text\" } }\n  - { id: y, server: b, tool: echo, args: { message: \"${said}\" } }\n  - { id: z, server: a, list: tools }\n";
    twice_the_same(plan, &[], 0, |_| {}).ends(0, "passed");
}

#[test]
fn the_same_run_reports_the_same_in_trouble() {
    twice_the_same(TROUBLE, &[], 1, |_| {});
}

#[test]
fn the_same_run_reports_the_same_when_repaired() {
    let plan = "version: 1\nservers:\n  a: { command: jelly, args: [mock, --files, \"${workspace}/data\"] }\nsteps:\n  - { id: x, tool: writ_file, args: { path: \"${workspace}/data/a\", content: hi } }\n";
    let run = twice_the_same(plan, &["--accept-repairs"], 0, |project| {
        // As the first run found it.
        drop(std::fs::remove_dir_all(project.path("data")));
    });
    run.ends(0, "passed_after_repair");
    assert!(run.results["repair_diff"].as_str().unwrap().contains("+"));
}

#[test]
fn the_same_run_reports_the_same_whatever_its_folder_and_ports() {
    let plan = "version: 1\nservers:\n  a:\n    command: jelly\n    args: [mock, --state, \"${tmp}/state\", --stderr, \"listening on port ${port}, localhost:${port}, state in ${tmp}/state\", --fault, \"exit@tool:add=9\"]\nsteps:\n  - { id: wrong, tool: echo, args: { message: \"${port} is the port, ${tmp} the folder\" }, expect: { text: { equals: hi } } }\n  - { id: crash, tool: add, args: { a: 1, b: 2 } }\n";
    let run = twice_the_same(plan, &["--retries", "1"], 1, |_| {});
    // What differs between iterations by its port alone is no flake.
    assert_eq!(run.last().failure("wrong")["diagnosis"]["flaky"], false);
    assert_eq!(run.last().failure("wrong")["diagnosis"]["side"], "code");
}

#[test]
fn the_same_run_reports_the_same_when_a_server_is_dead_and_retried() {
    let plan = "version: 1\nservers:\n  a: { command: jelly, args: [mock] }\n  b: { command: jelly, args: [mock, --fault, \"stderr=Error: connect ECONNREFUSED 127.0.0.1:5432\", --fault, exit] }\nsteps:\n  - { id: x, server: a, tool: echo, args: { message: hi } }\n  - { id: y, server: b, tool: echo, args: { message: hi } }\n  - { id: z, server: a, tool: counter, expect: { structured: { equals: { count: 1 } } } }\n";
    twice_the_same(plan, &[], 3, |_| {});
}

const FLAKY: &str = "version: 1\nservers:\n  a: { command: jelly, args: [mock, --state, \"${workspace}/starts\", --faulty-starts, \"1\", --fault, wrong_value] }\nsteps:\n  - { id: x, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }\n";

#[test]
fn the_same_run_reports_the_same_when_flaky() {
    let run = twice_the_same(FLAKY, &[], 0, |project| {
        drop(std::fs::remove_file(project.path("starts")));
    });
    run.ends(0, "passed_after_retry");
}

/// One element of `junit.xml` with its attributes, its children and its text.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    fn get(&self, attribute: &str) -> &str {
        let found = self.attributes.iter().find(|(name, _)| name == attribute);
        found.map_or("", |(_, value)| value)
    }

    fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    fn all<'e>(&'e self, name: &str, into: &mut Vec<&'e Element>) {
        for child in &self.children {
            if child.name == name {
                into.push(child);
            }
            child.all(name, into);
        }
    }

    #[track_caller]
    fn case(&self, name: &str) -> &Element {
        let mut cases = Vec::new();
        self.all("testcase", &mut cases);
        let found: Vec<_> = cases
            .iter()
            .filter(|case| case.get("name") == name)
            .collect();
        assert_eq!(found.len(), 1, "cases named {name}");
        found[0]
    }
}

/// Reads it strictly: every tag is closed, every attribute whole.
#[track_caller]
fn parse(xml: &str) -> Element {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut open = vec![Element::default()];
    loop {
        let event = reader
            .read_event()
            .unwrap_or_else(|error| panic!("{error} in {xml}"));
        let element = |start: &quick_xml::events::BytesStart<'_>| Element {
            name: start.name().as_ref().to_owned(),
            attributes: start
                .attributes()
                .map(|attribute| {
                    let attribute = attribute.unwrap();
                    let raw = &attribute.value;
                    (
                        attribute.key.as_ref().to_owned(),
                        quick_xml::escape::unescape(raw).unwrap().into_owned(),
                    )
                })
                .collect(),
            ..Element::default()
        };
        match event {
            Event::Start(start) => open.push(element(&start)),
            Event::Empty(start) => open.last_mut().unwrap().children.push(element(&start)),
            Event::End(_) => {
                let done = open.pop().unwrap();
                open.last_mut().unwrap().children.push(done);
            }
            Event::Text(text) => {
                open.last_mut().unwrap().text.push_str(&text);
            }
            Event::GeneralRef(entity) => {
                let entity = format!("&{};", &*entity);
                let text = quick_xml::escape::unescape(&entity).unwrap().into_owned();
                open.last_mut().unwrap().text.push_str(&text);
            }
            Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    assert_eq!(open.len(), 1, "a tag stays open");
    let mut root = open.pop().unwrap();
    assert_eq!(root.children.len(), 1);
    root.children.remove(0)
}

#[test]
fn junit_is_well_formed_and_its_counts_are_those_of_its_cases() {
    for run in [trouble(), Project::with(FLAKY).run(&[])] {
        let suites = parse(&run.junit);
        assert_eq!(suites.name, "testsuites");
        let mut counted = vec![&suites];
        suites.all("testsuite", &mut counted);
        for suite in counted {
            let mut cases = Vec::new();
            suite.all("testcase", &mut cases);
            let with = |kind: &str| cases.iter().filter(|c| c.child(kind).is_some()).count();
            assert_eq!(suite.get("tests"), cases.len().to_string());
            assert_eq!(suite.get("failures"), with("failure").to_string());
            assert_eq!(suite.get("errors"), with("error").to_string());
            assert_eq!(suite.get("skipped"), with("skipped").to_string());
        }
    }
}

#[test]
fn junit_has_one_error_for_a_dead_server_and_its_steps_are_skipped_beside_it() {
    let suites = parse(&trouble().junit);
    let start = suites.case("(start dead)");
    let error = start.child("error").expect("an error");
    assert!(error.text.contains("exit code 7"), "{}", error.text);
    assert!(
        error.text.contains("Cannot find module 'left-pad'"),
        "{}",
        error.text
    );
    let log = start.child("system-err").expect("its stderr");
    assert!(log.text.contains("left-pad"), "{}", log.text);

    let gone = suites.case("gone").child("skipped").expect("skipped");
    assert!(gone.get("message").starts_with("blocked"), "{gone:?}");
    let mut all = Vec::new();
    suites.all("testsuite", &mut all);
    let suite = all
        .iter()
        .find(|suite| suite.children.iter().any(|c| c.get("name") == "gone"))
        .unwrap();
    assert!(
        suite
            .children
            .iter()
            .any(|c| c.get("name") == "(start dead)")
    );
}

#[test]
fn junit_tells_exit_status_and_the_telling_line_of_a_crash_in_a_call() {
    let suites = parse(&trouble().junit);
    let case = suites.case("crash");
    let trouble = case
        .child("failure")
        .or(case.child("error"))
        .expect("a failure");
    assert!(trouble.text.contains("101"), "{}", trouble.text);
    assert!(
        trouble.text.contains("panicked at src/lib.rs"),
        "{}",
        trouble.text
    );
    assert!(trouble.get("message").contains("101"), "{trouble:?}");

    let run = Project::with(
        "version: 1\nservers:\n  s: { command: jelly, args: [mock, --fault, \"stderr@call=heap is full\", --fault, \"kill@call=SIGSEGV\"] }\nsteps:\n  - { id: x, tool: echo, args: { message: hi } }\n",
    )
    .run(&[]);
    let suites = parse(&run.junit);
    let case = suites.case("x");
    let trouble = case
        .child("failure")
        .or(case.child("error"))
        .expect("a failure");
    assert!(trouble.text.contains("SIGSEGV"), "{}", trouble.text);
    assert!(trouble.text.contains("heap is full"), "{}", trouble.text);
}

#[test]
fn junit_tells_a_wrong_value_as_a_failure_with_both_values() {
    let suites = parse(&trouble().junit);
    let failure = suites
        .case("wrong")
        .child("failure")
        .or_else(|| suites.case("a <wrong> & \"odd\" value").child("failure"));
    let failure = failure.expect("a failure");
    assert!(failure.text.contains("{\"sum\":3}"), "{}", failure.text);
    assert!(failure.text.contains("{\"sum\":2}"), "{}", failure.text);
}

#[test]
fn junit_shows_a_quarantined_step_as_one_that_failed() {
    let run = Project::with(TROUBLE).run(&["--only", "typo,fine"]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().state("typo"), "quarantined");
    let suites = parse(&run.junit);
    let case = suites.case("typo");
    let error = case.child("error").expect("an error");
    assert!(error.text.contains("quarantined: "), "{error:?}");
    assert!(case.child("skipped").is_none(), "{case:?}");
}

#[test]
fn junit_shows_what_passed_at_last_as_flaky_and_what_never_did_as_rerun() {
    let run = Project::with(FLAKY).run(&[]);
    run.ends(0, "passed_after_retry");
    let suites = parse(&run.junit);
    let case = suites.case("x");
    assert!(case.child("failure").is_none());
    let mut flaky = Vec::new();
    case.all("flakyFailure", &mut flaky);
    assert_eq!(flaky.len(), 1, "{case:?}");

    let suites = parse(&trouble().junit);
    let mut again = Vec::new();
    suites.all("rerunFailure", &mut again);
    suites.all("rerunError", &mut again);
    assert!(!again.is_empty(), "a failure that was confirmed");
}

#[test]
fn junit_survives_what_xml_can_not_hold() {
    let run = Project::with(
        "version: 1\nservers:\n  s: { command: jelly, args: [mock, --stderr, \"\\u001b[31mred\\u001b[0m \\u0001 ]]> <&>\", --fault, \"exit=3\"] }\nsteps:\n  - { id: \"x\", name: \"<&> ]]> \\u0007\", tool: echo, args: { message: hi } }\n",
    )
    .run(&[]);
    run.ends(3, "needs_user_help");
    let suites = parse(&run.junit);
    let error = suites.case("(start s)").child("error").expect("an error");
    assert!(error.text.contains("]]> <&>"), "{}", error.text);
    assert!(!run.junit.contains('\u{1b}') && !run.junit.contains('\u{1}'));
}
