//! `jelly rules`, and rules of users in every command that triages.

use crate::support::{Ended, Project};
use insta::assert_snapshot;
use serde_json::Value;

/// A rule that knows "no stock left", with something put into it.
fn rule(id: &str, more: &str) -> String {
    format!(
        "- id: {id}\n\
         \x20 root_cause: data_setup\n\
         \x20 error_category: OTHER\n\
         \x20 retryable: false\n\
         \x20 side: test\n\
         \x20 strength: signature\n\
         \x20 patterns:\n\
         \x20   - 'no stock left'\n\
         \x20 advice: {{ what: \"The shop is empty: {{evidence}}\", why: y, fix: [Fill it.] }}\n\
         \x20 examples: [no stock left, 'sku 7: no stock left']\n\
         \x20 lookalikes: [stock, left]\n{more}"
    )
}

fn rules(project: &Project, args: &[&str]) -> Ended {
    let mut all = vec!["rules"];
    all.extend(args);
    project.jelly(&all).output()
}

#[track_caller]
fn stdout(ended: &Ended, code: i32) -> &str {
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.stdout, ended.stderr);
    &ended.stdout
}

#[track_caller]
fn refused(ended: &Ended) -> &str {
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, "");
    &ended.stderr
}

#[test]
fn a_domain_is_listed_in_the_order_of_asking() {
    let project = Project::empty();
    assert_snapshot!(stdout(
        &rules(&project, &["list", "--domain", "container"]),
        0
    ));
    let unknown = rules(&project, &["list", "--domain", "browsr"]);
    assert!(refused(&unknown).contains("did you mean `browser`?"));
}

#[test]
fn the_list_as_data_holds_rules_causes_and_buckets() {
    let project = Project::empty();
    let list = rules(&project, &["list", "--format", "json"]);
    let list: Value = serde_json::from_str(stdout(&list, 0)).unwrap();
    let found = list["rules"].as_array().unwrap();
    assert!(found.len() > 100);
    assert!(found.iter().all(|rule| {
        let least = |key: &str| rule[key].as_array().is_some_and(|list| list.len() >= 2);
        least("examples") && least("lookalikes") && rule["asked"] == "builtin"
    }));
    assert_eq!(list["provar"].as_array().map(Vec::len), Some(17));
    assert!(list["root_causes"][0]["meaning"].is_string());
}

#[test]
fn a_rule_is_shown_whole() {
    let project = Project::empty();
    assert_snapshot!(stdout(&rules(&project, &["show", "database/refused"]), 0));
    let unknown = rules(&project, &["show", "databse/refused"]);
    assert!(refused(&unknown).contains("did you mean `database/refused`?"));
    let json = rules(&project, &["show", "ci/license", "--format", "json"]);
    let json: Value = serde_json::from_str(stdout(&json, 0)).unwrap();
    assert_eq!(json["when"]["source"], "report");
}

#[test]
fn an_explanation_tells_who_won_and_why_the_others_did_not() {
    let project = Project::empty();
    assert_snapshot!(stdout(
        &rules(
            &project,
            &["explain", "WebDriverException: chrome not reachable"]
        ),
        0
    ));
}

#[test]
fn an_explanation_tells_exceptions_and_conditions() {
    let project = Project::empty();
    let text = "FATAL: password authentication failed; the database system is starting up";
    let explained = rules(&project, &["explain", text, "--format", "json"]);
    let explained: Value = serde_json::from_str(stdout(&explained, 0)).unwrap();
    assert_eq!(explained["vetoed"][0]["rule"], "database/refused");
    let text = "HTTP 404: Not Found";
    let live = ["explain", text, "--field", "message", "--phase", "call"];
    let told = rules(&project, &live);
    assert!(
        stdout(&told, 0).ends_with(
            "  network/wrong-endpoint: message matches (?i)\\bHTTP 40[45]\\b\n     \
             but it wants phase: handshake or list\n"
        ),
        "{}",
        told.stdout
    );
}

#[test]
fn a_text_is_explained_as_what_it_is() {
    let project = Project::empty();
    let decided = |args: &[&str]| {
        let mut all = vec!["explain", "--format", "json"];
        all.extend(args);
        let json: Value = serde_json::from_str(stdout(&rules(&project, &all), 0)).unwrap();
        json["diagnosis"]["rule"].as_str().unwrap().to_owned()
    };
    let text = "ENOSPC: no space left on device, write";
    assert_eq!(decided(&[text]), "ci/no-space");
    assert_eq!(decided(&[text, "--live"]), "files/disk-full");
    assert_eq!(
        decided(&[text, "--field", "stderr", "--phase", "handshake"]),
        "files/disk-full"
    );
    assert_eq!(decided(&["lorem ipsum"]), "unknown/no-rule");
    let wrong = rules(&project, &["explain", text, "--live", "--field", "report"]);
    assert!(refused(&wrong).contains("fields of a test report"));
}

#[test]
fn a_text_may_come_from_stdin() {
    let project = Project::empty();
    let piped = project
        .wrapped(
            "sh",
            &["-c", "echo 'chrome not reachable' | \"$0\" rules explain -"],
        )
        .output();
    assert!(stdout(&piped, 0).starts_with("browser/session-gone: "));
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_built_in_rules_pass_their_own_trial() {
    let project = Project::empty();
    let trial = rules(&project, &["test"]);
    assert!(stdout(&trial, 0).ends_with("examples and look-alikes: all hold\n"));
}

#[test]
fn a_rule_that_is_wrong_about_itself_fails_its_trial() {
    let project = Project::empty();
    project.write(
        "rules.yaml",
        rule("shop/no-stock", "")
            .replace("[stock, left]", "['the page says: no stock left', 'left']")
            + &rule(
                "shop/never",
                "  when: { source: live, phase: [teardown] }\n",
            ),
    );
    assert_snapshot!(stdout(&rules(&project, &["test", "rules.yaml"]), 1));
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_trial_tells_what_an_own_rule_takes_from_others() {
    let project = Project::empty();
    project.write(
        "rules.yaml",
        rule("shop/refused", "")
            .replace("no stock left", "connection refused")
            .replace("'sku 7: ", "'sku: "),
    );
    let trial = rules(&project, &["test", "--rules", "rules.yaml"]);
    let note = "note: shop/refused decides 1 example of network/refused\n";
    assert!(stdout(&trial, 0).contains(note), "{}", trial.stdout);
}

const REPORT: &str = r#"<testsuite name="s"><testcase classname="c" name="t"><failure message="sku 7: no stock left; connect ECONNREFUSED 127.0.0.1:1"/></testcase></testsuite>"#;

fn triaged(project: &Project, args: &[&str]) -> String {
    let mut all = vec!["triage", "junit.xml", "--format", "json"];
    all.extend(args);
    let ended = project.jelly(&all).output();
    let json: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr));
    json["failures"][0]["diagnosis"]["rule"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn own_rules_before_win_and_own_rules_after_fill_in() {
    let project = Project::empty();
    project.write("junit.xml", REPORT);
    assert_eq!(triaged(&project, &[]), "network/refused");
    let indented: String = rule("shop/no-stock", "")
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    project.write("jelly.yaml", format!("rules:\n  after:\n{indented}"));
    assert_eq!(triaged(&project, &[]), "network/refused");
    project.write("jelly.yaml", format!("rules:\n  before:\n{indented}"));
    assert_eq!(triaged(&project, &[]), "shop/no-stock");
    project.write("jelly.yaml", "rules: { before: [more/shop.yaml] }\n");
    project.write("more/shop.yaml", rule("shop/from-file", ""));
    assert_eq!(triaged(&project, &[]), "shop/from-file");
    project.write("flag.yaml", rule("shop/from-flag", ""));
    assert_eq!(
        triaged(&project, &["--rules", "flag.yaml"]),
        "shop/from-flag"
    );
    project.write(
        "junit.xml",
        REPORT.replace("; connect ECONNREFUSED 127.0.0.1:1", ""),
    );
    project.write("jelly.yaml", format!("rules:\n  after:\n{indented}"));
    assert_eq!(triaged(&project, &[]), "shop/no-stock");
}

/// A report of jelly quotes what the server said before, which is not of this failure alone.
#[test]
fn an_own_rule_decides_a_failure_that_jelly_labelled_by_the_failures_own_words() {
    let project = Project::with(
        "version: 1\nservers:\n  m:\n    command: sh\n    args: [-c, 'echo no stock left >&2; exec weigh-goods']\nsteps:\n  - tool: t\n",
    );
    let run = project.run(&["--no-repair", "--retries", "0"]);
    let labelled = run.last().failures()[0]["diagnosis"].clone();
    assert!(run.junit.contains("no stock left"), "{}", run.junit);
    project.write("junit.xml", &run.junit);
    let before = triaged(&project, &[]);
    assert_eq!(labelled["rule"], before);
    let evidence = labelled["evidence"]["text"].as_str().unwrap();
    assert!(!evidence.contains("no stock left"), "{evidence}");
    project.write("own.yaml", rule("shop/no-stock", ""));
    assert_eq!(triaged(&project, &["--rules", "own.yaml"]), before);
    let own = rule("shop/scale", "").replace("no stock left", "weigh-goods: not found");
    project.write("own.yaml", own);
    assert_eq!(triaged(&project, &["--rules", "own.yaml"]), "shop/scale");
}

#[test]
fn an_own_rule_may_have_letters_beyond_ascii_in_either_case() {
    let project = Project::empty();
    let depot = rule("shop/no-depot", "")
        .replace("no stock left", "(?i)kein lager (?:für|mit) [äöü]\\w+")
        .replace(
            "sku 7: (?i)kein lager (?:für|mit) [äöü]\\w+",
            "KEIN LAGER MIT ÖL",
        )
        .replace(
            "[(?i)kein lager (?:für|mit) [äöü]\\w+",
            "[kein Lager für Äpfel",
        );
    project.write("rules.yaml", &depot);
    let tried = rules(&project, &["test", "rules.yaml"]);
    assert_eq!(
        tried.code,
        Some(0),
        "{depot}{}{}",
        tried.stdout,
        tried.stderr
    );
}

#[test]
fn the_loop_knows_own_rules_too() {
    let project = Project::with(
        "version: 1\nservers:\n  m:\n    command: sh\n    args: [-c, 'echo no stock left >&2; exit 1']\nsteps:\n  - tool: t\n",
    );
    let rules = project.write("rules.yaml", rule("shop/no-stock", ""));
    let rules = rules.display().to_string();
    let run = project.run(&["--rules", &rules, "--no-repair", "--retries", "0"]);
    run.ends(3, "needs_user_help");
    let diagnosis = &run.last().failures()[0]["diagnosis"];
    assert_eq!(diagnosis["rule"], "shop/no-stock");
    assert_eq!(
        diagnosis["advice"]["what"],
        "The shop is empty: no stock left"
    );
}

#[test]
fn a_bad_file_of_rules_says_where_and_what_would_help() {
    let project = Project::empty();
    project.write(
        "rules.yaml",
        rule("Shop", "")
            .replace("'no stock left'\n", "'no (stock left'\n")
            .replace("[stock, left]", "[stock]"),
    );
    assert_snapshot!(refused(&rules(
        &project,
        &["list", "--rules", "rules.yaml"]
    )));
}

#[test]
fn a_misspelt_key_is_answered_with_the_right_one() {
    let project = Project::empty();
    project.write("jelly.yaml", "ruels:\n  before: []\n");
    assert_snapshot!(refused(&rules(&project, &["list"])));
    project.write("jelly.yaml", "rules: { before: [none.yaml] }\n");
    assert_snapshot!(refused(&rules(&project, &["list"])));
}

#[test]
fn no_command_goes_on_without_rules_that_it_was_given() {
    let project = Project::with("version: 1\nservers:\n  m: { command: x }\nsteps:\n  - tool: t\n");
    project.write("junit.xml", REPORT);
    project.write("bad.yaml", "- {id: own/x}\n");
    for args in [
        ["run", "plan.yaml", "--rules", "bad.yaml"],
        ["triage", "junit.xml", "--rules", "bad.yaml"],
        ["rules", "test", "bad.yaml", "--rules"],
    ] {
        let args = args.map(|arg| {
            if arg == "--rules" && args[0] == "rules" {
                "--color=never"
            } else {
                arg
            }
        });
        let ended = project.jelly(&args).output();
        assert!(refused(&ended).contains("bad.yaml:1:"), "{}", ended.stderr);
    }
    let missing = rules(&project, &["list", "--rules", "none.yaml"]);
    assert!(refused(&missing).contains("none.yaml: there is no such file"));
}

#[test]
fn a_fingerprint_of_an_own_rule_is_explained_by_it() {
    let project = Project::empty();
    project.write("junit.xml", REPORT);
    project.write("own.yaml", rule("shop/no-stock", ""));
    let triage = [
        "triage",
        "junit.xml",
        "--format",
        "json",
        "--rules",
        "own.yaml",
    ];
    let ended = project.jelly(&triage).output();
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    let diagnosis = &json["failures"][0]["diagnosis"];
    let fingerprint = diagnosis["fingerprint"].as_str().unwrap();
    let explain = [
        "explain",
        fingerprint,
        "--in",
        "junit.xml",
        "--rules",
        "own.yaml",
    ];
    let told = project.jelly(&explain).output();
    assert!(
        stdout(&told, 0).contains("shop/no-stock"),
        "{}",
        told.stdout
    );
}
