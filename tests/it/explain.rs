//! What a fingerprint stands for, told from reports and from the history.

use crate::support::{Ended, Project};
use serde_json::{Value, json};
use std::fs;

const REPORT: &str = r#"<?xml version="1.0"?>
<testsuites>
  <testsuite name="shop" tests="4" failures="3">
    <testcase classname="shop.CartTest" name="total" time="0.01">
      <failure message="connect ECONNREFUSED 127.0.0.1:40123">Error: connect ECONNREFUSED 127.0.0.1:40123
    at TCPConnectWrap.afterConnect (node:net:1555:16)</failure>
    </testcase>
    <testcase classname="shop.UserTest" name="login" time="0.01">
      <failure message="connect ECONNREFUSED 127.0.0.1:51999">Error: connect ECONNREFUSED 127.0.0.1:51999
    at TCPConnectWrap.afterConnect (node:net:1555:16)</failure>
    </testcase>
    <testcase classname="shop.CartTest" name="vat" time="0.01">
      <failure message="expected 24 to equal 28">AssertionError: expected 24 to equal 28
    at Context.vat (test/cart.js:9:3)</failure>
    </testcase>
    <testcase classname="shop.CartTest" name="discount" time="0.01">
      <failure message="expected 24 to equal 30">AssertionError: expected 24 to equal 30
    at Context.discount (test/cart.js:19:3)</failure>
    </testcase>
  </testsuite>
</testsuites>
"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("junit.xml", REPORT);
    project
}

#[track_caller]
fn good(ended: Ended) -> String {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

/// Fingerprints by test, from jelly itself.
fn fingerprints(project: &Project) -> Vec<(String, String)> {
    let args = ["triage", "junit.xml", "--no-history", "--format", "json"];
    let report: Value = serde_json::from_str(&project.jelly(&args).output().stdout).unwrap();
    let failures = report["failures"].as_array().unwrap();
    failures
        .iter()
        .map(|failure| {
            let print = &failure["diagnosis"]["fingerprint"];
            (
                failure["name"].as_str().unwrap().to_owned(),
                print.as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

fn print_of<'a>(all: &'a [(String, String)], test: &str) -> &'a str {
    let found = all.iter().find(|(name, _)| name == test);
    &found.unwrap().1
}

#[test]
fn a_fingerprint_is_explained_from_a_report() {
    let project = project();
    let all = fingerprints(&project);
    let total = print_of(&all, "total");
    assert_eq!(total, print_of(&all, "login"), "one cause, two tests");
    assert_ne!(print_of(&all, "vat"), print_of(&all, "discount"));
    let text = good(
        project
            .jelly(&["explain", total, "--in", "junit.xml"])
            .output(),
    );
    insta::assert_snapshot!("explain_report", text);
}

#[test]
fn two_fingerprints_are_compared_part_by_part() {
    let project = project();
    let all = fingerprints(&project);
    let diff = |one: &str, other: &str| {
        let (one, other) = (print_of(&all, one), print_of(&all, other));
        let args = ["explain", "--diff", one, other, "--in", "junit.xml"];
        good(project.jelly(&args).output())
    };
    insta::assert_snapshot!("explain_diff", diff("vat", "discount"));
    assert!(diff("total", "login").contains("The same cause"));
    assert!(diff("total", "vat").contains("they differ in root_cause"));
}

#[test]
fn a_run_and_its_history_explain_a_fingerprint() {
    let project = Project::with(
        "version: 1\nname: filesystem smoke\nservers: { files: { command: no-such-command-here } }\nsteps: [ { id: a, list: tools } ]\n",
    );
    fs::create_dir(project.path(".jelly")).unwrap();
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    let diagnosis = &run.last().failure("files")["diagnosis"];
    let print = diagnosis["fingerprint"].as_str().unwrap();
    let text = good(project.jelly(&["explain", print]).output());
    insta::assert_snapshot!("explain_run", mask(&text));
    // A test's fingerprint leads to its cause, and so does how one begins.
    for asked in [
        diagnosis["test_fingerprint"].as_str().unwrap(),
        &print[..10],
        &print[3..12],
    ] {
        assert_eq!(good(project.jelly(&["explain", asked]).output()), text);
    }
    fs::remove_dir_all(project.path("reports")).unwrap();
    let remembered = good(project.jelly(&["explain", print]).output());
    assert!(
        remembered.contains("seen in 1 of 1 remembered run"),
        "{remembered}"
    );
}

#[test]
fn a_run_s_results_alone_tell_what_a_fingerprint_was_made_of() {
    let plan = "version: 1\nservers: { s: { command: jelly, args: [mock] }, \
                gone: { command: no-such-command-here } }\n\
                steps:\n  - { id: sum, server: s, tool: add, args: { a: 1, b: 2 }, \
                expect: { text: { equals: \"4\" } } }\n  - { id: a, server: gone, list: tools }\n";
    let project = Project::with(plan);
    let run = project.run(&[]);
    let explained = |failure: &Value| {
        let print = failure["diagnosis"]["fingerprint"].as_str().unwrap();
        good(project.jelly(&["explain", print]).output())
    };
    let sum = explained(run.last().failure("sum"));
    for part in ["expectation", "expected", "actual"] {
        assert!(sum.contains(part), "{sum}");
    }
    let gone = explained(run.last().failure("gone"));
    assert!(!gone.contains("not kept"), "{gone}");
    // What was changed since gives another fingerprint: nothing is claimed.
    let results = project.read("reports/latest/results.json");
    let other = results.replace("\"actual\": \"3\"", "\"actual\": \"5\"");
    assert_ne!(other, results);
    project.write("reports/latest/results.json", other);
    let sum = explained(run.last().failure("sum"));
    assert!(sum.contains("not kept"), "{sum}");
}

#[test]
fn what_is_said_of_a_cause_is_what_the_run_came_to() {
    let plan = "version: 1\nservers: { s: { command: jelly, args: [mock] } }\nsteps:\n  \
                - { id: sum, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"4\" } } }\n";
    let project = Project::with(plan);
    let run = project.run(&["--no-history"]);
    run.ends(1, "code_failure");
    let diagnosis = run.last().failure("sum")["diagnosis"].clone();
    assert_eq!(
        run.iteration(1).failure("sum")["diagnosis"]["ambiguous"],
        true
    );
    let print = diagnosis["fingerprint"].as_str().unwrap();
    let args = ["explain", "--no-history", "--format", "json", print];
    let known: Value = serde_json::from_str(&good(project.jelly(&args).output())).unwrap();
    let known = &known["fingerprint"];
    for key in ["side", "root_cause", "rule", "evidence", "advice"] {
        assert_eq!(known[key], diagnosis[key], "{key}: {known:#}");
    }
    assert_eq!(known["side"], "code", "{known:#}");
    assert_eq!(known["ambiguous"], Value::Null, "{known:#}");
    let text = good(project.jelly(&["explain", "--no-history", print]).output());
    assert!(text.contains("the code under test"), "{text}");
}

/// Without the times, which differ from run to run.
fn mask(text: &str) -> String {
    regex::Regex::new(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
        .unwrap()
        .replace_all(text, "[time]")
        .into_owned()
}

#[test]
fn what_is_not_known_is_said_with_where_it_was_looked_for() {
    let project = project();
    let ended = project
        .jelly(&["explain", "j2:0123", "--in", "junit.xml"])
        .output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("looked in junit.xml"),
        "{}",
        ended.stderr
    );
    let ended = project
        .jelly(&["explain", "j2:", "--in", "junit.xml"])
        .output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("several fingerprints begin with"),
        "{}",
        ended.stderr
    );
    let ended = project
        .jelly(&["explain", "j2:0", "--in", "no.xml"])
        .output();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("no.xml"), "{}", ended.stderr);
    let ended = project.jelly(&["explain"]).output();
    assert_eq!(ended.code, Some(2));
}

/// A run as the history has it: tests that failed of one cause, each with whether it was
/// flaky, and whom that concerned.
fn remembered(at: &str, cause: &Value, failed: &[(&str, &str)]) -> String {
    let failures: Vec<Value> = failed
        .iter()
        .map(|(step, status)| {
            json!({
                "report": 0, "suite": "p", "classname": "m", "name": step, "status": status,
                "fingerprint": "j2:00000000000000ff",
                "test_fingerprint": format!("j2:000000000000000{step}"),
            })
        })
        .collect();
    let run = json!({
        "schema_version": 1, "kind": "run", "at": at,
        "reports": [{ "path": "p.yaml", "digest": at }],
        "causes": { "j2:00000000000000ff": cause },
        "failures": failures,
    });
    format!("{run}\n")
}

#[test]
fn a_cause_that_is_proved_in_one_test_and_open_in_another_is_told_by_test() {
    let project = Project::empty();
    let cause = |side: &str| {
        json!({
            "side": side, "ambiguous": side == "test", "error_category": "ASSERTION",
            "retryable": false, "root_cause": "assertion_mismatch", "rule": "assertion/mismatch",
        })
    };
    let both = [("a", "failure"), ("b", "flaky")];
    let mut first: Value =
        serde_json::from_str(&remembered("2026-11-27T00:00:00Z", &cause("code"), &both)).unwrap();
    first["labels"] = json!({ "j2:000000000000000b": { "side": "test", "ambiguous": true } });
    let last = remembered("2026-11-28T00:00:00Z", &cause("test"), &both[1..]);
    project.write(".jelly/history.jsonl", format!("{first}\n{last}"));

    let explain = |more: &[&str]| {
        let args = [&["explain", "j2:00000000000000ff"], more].concat();
        project.jelly(&args).output()
    };
    let told = explain(&[]).stdout;
    let whom = "in p > m > a the code under test; in p > m > b unclear, held against nobody";
    assert!(told.contains(whom), "{told}");
    let told: Value = serde_json::from_str(&explain(&["--format", "json"]).stdout).unwrap();
    let labels = &told["fingerprint"]["labels"];
    assert_eq!(labels[0]["name"], "a", "{labels}");
    assert_eq!(labels[0]["side"], "code", "{labels}");
    assert_eq!(labels[1]["side"], "test", "{labels}");
    assert_eq!(labels[1]["ambiguous"], true, "{labels}");

    let history = |args: &[&str]| {
        let args = [&["history"], args, &["--format", "json"]].concat();
        let ended = project.jelly(&args).output();
        serde_json::from_str::<Value>(&ended.stdout).unwrap()
    };
    let causes = history(&["cause", "j2:00000000000000ff"]);
    let tests = &causes["causes"][0]["tests"];
    assert_eq!(tests[0]["name"], "b", "{tests}");
    assert_eq!(tests[0]["side"], "test", "{tests}");
    assert_eq!(tests[1]["side"], "code", "{tests}");
    let shown = project
        .jelly(&["history", "cause", "j2:00000000000000ff"])
        .output();
    assert!(shown.stdout.contains("undecided, code"), "{}", shown.stdout);

    // What both tables call the rate is one number.
    let all = history(&[]);
    let flaky = history(&["flaky"]);
    let rate = |list: &Value| {
        let list = list.as_array().unwrap();
        let b = list.iter().find(|test| test["name"] == "b");
        b.unwrap()["flaky_rate"].as_f64()
    };
    assert_eq!(rate(&all["tests"]), rate(&flaky["flaky"]));
    let shown = project.jelly(&["history"]).output().stdout;
    assert!(
        shown.contains(" rate ") && !shown.contains("changes"),
        "{shown}"
    );
}
