//! What is remembered from run to run, and what becomes of the file in which
//! it is.

use crate::support::{Project, Run, python};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const HISTORY: &str = ".jelly/history.jsonl";

/// One step whose server answers what `answer.txt` holds, so that code changes
/// without the plan.
fn plan(expected: &str) -> String {
    let server = python(
        r#"
def call(request):
    text = open("answer.txt").read()
    answer(request, {"content": [{"type": "text", "text": text}], "isError": text.startswith("Error")})
serve(call)
"#,
    );
    format!(
        "version: 1
name: sums
servers: {{ s: {server} }}
steps:
  - {{ id: sum, server: s, tool: work, args: {{}}, expect: {{ text: {{ equals: \"{expected}\" }} }} }}
"
    )
}

fn project(answer: &str) -> Project {
    let project = Project::with(&plan("3"));
    project.write("answer.txt", answer);
    project
}

/// The same, with the folder that asks for a history.
fn remembering(answer: &str) -> Project {
    let project = project(answer);
    fs::create_dir(project.path(".jelly")).unwrap();
    project
}

fn lines(project: &Project) -> Vec<Value> {
    project
        .read(HISTORY)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn standing(run: &Run) -> &Value {
    &run.last().failure("sum")["diagnosis"]["standing"]
}

/// A recorded run of the kind that `jelly triage` records, in the given
/// second of a day.
fn recorded(second: usize, failed: &[&str], passed: &[&str]) -> String {
    let failures: Vec<Value> = failed
        .iter()
        .map(|name| {
            serde_json::json!({
                "suite": "shop", "classname": "CartTest", "name": name, "status": "failure",
                "fingerprint": "j1:00000000000000aa", "test_fingerprint": format!("j1:{name}"),
            })
        })
        .collect();
    let passes: Vec<Value> = passed
        .iter()
        .map(|name| serde_json::json!({ "suite": "shop", "classname": "CartTest", "name": name }))
        .collect();
    let mut run = serde_json::json!({
        "schema_version": 1,
        "at": format!("2026-03-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60),
        "reports": [{ "path": "junit.xml", "digest": format!("d{second}") }],
        "failures": failures,
        "passed": passes,
    });
    if !failed.is_empty() {
        run["causes"]["j1:00000000000000aa"] = serde_json::json!({
            "side": "test", "error_category": "INFRASTRUCTURE", "retryable": true,
            "root_cause": "connection_refused", "rule": "network/refused",
            "evidence": { "field": "message", "text": "connect ECONNREFUSED 127.0.0.1:5432" },
            "template": { "root_cause": "connection_refused", "says": "connect ECONNREFUSED" },
        });
    }
    run.to_string() + "\n"
}

#[test]
fn nothing_is_remembered_where_nobody_asked_for_it() {
    let project = project("3");
    project.run(&[]).ends(0, "passed");
    assert!(!project.exists(".jelly"));
    project
        .run(&["--history", "kept/h.jsonl"])
        .ends(0, "passed");
    assert_eq!(project.read("kept/h.jsonl").lines().count(), 1);

    let remembering = remembering("3");
    remembering.run(&["--no-history"]).ends(0, "passed");
    assert!(!remembering.exists(HISTORY));
    remembering.run(&[]).ends(0, "passed");
    assert_eq!(lines(&remembering).len(), 1);
}

#[test]
fn a_step_that_passed_in_an_earlier_run_stands_as_such() {
    let project = remembering("3");
    project.run(&[]).ends(0, "passed");
    project.write("answer.txt", "4");
    let regressed = project.run(&[]);
    regressed.ends(1, "code_failure");
    assert_eq!(standing(&regressed), "passed_before");

    // The expectation of today never held.
    project.write("plan.yaml", plan("5"));
    let changed = project.run(&[]);
    changed.ends(1, "code_failure");
    assert_eq!(standing(&changed), "never_passed");
    assert_eq!(lines(&project).len(), 3);
}

#[test]
fn the_same_history_gives_the_same_standing_again() {
    let project = remembering("3");
    project.run(&[]).ends(0, "passed");
    let history = project.read(HISTORY);
    project.write("answer.txt", "4");
    for _ in 0..2 {
        project.write(HISTORY, &history);
        assert_eq!(standing(&project.run(&[])), "passed_before");
    }
}

#[test]
fn what_failed_and_passed_on_a_second_try_is_remembered_as_flaky() {
    let server = python(
        r#"
def call(request):
    first = not os.path.exists("tried")
    open("tried", "w").close()
    text = "Error: connect ECONNREFUSED 127.0.0.1:5432" if first else "3"
    answer(request, {"content": [{"type": "text", "text": text}], "isError": first})
serve(call)
"#,
    );
    let project = Project::with(&format!(
        "version: 1\nname: sums\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: sum, server: s, tool: work, args: {{}} }}\n"
    ));
    fs::create_dir(project.path(".jelly")).unwrap();
    project.run(&[]).ends(0, "passed_after_retry");
    let line = &lines(&project)[0];
    assert_eq!(line["failures"][0]["status"], "flaky");
    assert_eq!(line["failures"][0]["name"], "sum");
    assert_eq!(line["passed"], Value::Null);
    let listed = project.jelly(&["history"]).output();
    assert!(
        listed.stdout.contains("connection_refused"),
        "{}",
        listed.stdout
    );
}

#[test]
fn runs_that_end_at_the_same_time_are_all_remembered() {
    let project = remembering("4");
    let running: Vec<_> = (0..6)
        .map(|_| project.call(&["--max-iterations", "1"]).start())
        .collect();
    for run in running {
        assert_eq!(run.wait().code, Some(3));
    }
    let lines = lines(&project);
    assert_eq!(lines.len(), 6);
    for line in &lines {
        assert_eq!(line["failures"][0]["name"], "sum", "{line:#}");
    }
}

#[test]
fn a_torn_line_costs_one_run_and_is_said() {
    let project = remembering("4");
    project.run(&[]).ends(1, "code_failure");
    let whole = project.read(HISTORY);
    project.write(HISTORY, format!("{whole}{}", &whole[..whole.len() / 2]));
    let run = project.run(&[]);
    run.ends(1, "code_failure");
    assert!(
        run.stderr
            .contains("history.jsonl:2: this line of the history is passed over"),
        "{}",
        run.stderr
    );
    let listed = project.jelly(&["history"]).output();
    assert_eq!(listed.code, Some(0));
    assert!(
        listed.stdout.starts_with("2 remembered runs\n"),
        "{}",
        listed.stdout
    );
}

#[test]
fn a_history_that_was_asked_for_and_cannot_be_used_stops_the_run_before_it_starts() {
    let project = project("3");
    let run = project.run(&["--history", "."]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr
            .contains("error: failed to write the history .: "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("--no-history"), "{}", run.stderr);
    assert!(!project.exists("reports"));
}

/// Asked for by name it ends the run, by default it is gone without.
#[track_caller]
fn is_told_from_one_that_is_not_there(project: &Project, why: &str) {
    let asked = project.run(&["--history", HISTORY]);
    assert_eq!(asked.code, Some(2));
    assert!(asked.stderr.contains(why), "{}", asked.stderr);
    let unasked = project.run(&[]);
    unasked.ends(0, "passed");
    for words in ["nothing is remembered", why] {
        assert!(unasked.stderr.contains(words), "{}", unasked.stderr);
    }
}

#[test]
fn a_history_that_nobody_can_write_is_told_from_one_that_is_not_there() {
    let project = remembering("3");
    // Whoever runs the tests, the superuser included, appends to no folder.
    fs::create_dir_all(project.path(HISTORY)).unwrap();
    is_told_from_one_that_is_not_there(&project, "s a directory");
}

#[test]
fn a_read_only_history_is_told_from_one_that_is_not_there() {
    let project = remembering("3");
    let path = project.write(HISTORY, "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    // Permissions stop everybody but the superuser, for whom it is no
    // read-only history at all.
    if fs::OpenOptions::new().append(true).open(&path).is_ok() {
        project.run(&["--history", HISTORY]).ends(0, "passed");
        assert_eq!(lines(&project).len(), 1);
        return;
    }
    is_told_from_one_that_is_not_there(&project, "ermission denied");
}

#[test]
fn what_a_later_version_wrote_is_kept_and_does_not_count() {
    let project = remembering("4");
    let later = "{\"schema_version\": 99, \"of\": \"tomorrow\"}\n";
    project.write(HISTORY, later);
    let run = project.run(&[]);
    run.ends(1, "code_failure");
    assert!(run.stderr.contains("later version"), "{}", run.stderr);
    assert!(project.read(HISTORY).starts_with(later));
    let listed = project.jelly(&["history", "--format", "json"]).output();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["runs"], 1);
}

#[test]
fn a_full_history_starts_anew_and_is_still_remembered() {
    let project = remembering("4");
    let full: String = (0..500).map(|n| recorded(n, &["total"], &[])).collect();
    project.write(HISTORY, full);
    project.run(&[]).ends(1, "code_failure");
    assert_eq!(lines(&project).len(), 1);
    assert!(project.exists(".jelly/history.1.jsonl"));
    let listed = project.jelly(&["history"]).output();
    assert!(
        listed.stdout.starts_with("501 remembered runs\n"),
        "{}",
        listed.stdout
    );
}

#[test]
fn a_secret_is_not_remembered() {
    let project = remembering("Error: token tops3cretvalue was refused");
    let run = Run::of(
        &project,
        project
            .call(&[])
            .env("MY_API_TOKEN", "tops3cretvalue")
            .output(),
    );
    assert_ne!(run.code, Some(0));
    let history = project.read(HISTORY);
    assert!(history.contains("was refused"), "{history}");
    assert!(!history.contains("tops3cretvalue"), "{history}");
}

/// A report of tests that failed of one cause, and of tests that passed.
fn report(project: &Project, name: &str, failed: &[&str], passed: &[&str]) {
    let failed = failed.iter().map(|test| {
        format!(
            "<testcase classname=\"shop.CartTest\" name=\"{test}\" time=\"0.1\"><failure \
             message=\"connect ECONNREFUSED 127.0.0.1:5432\">Error: connect ECONNREFUSED \
             127.0.0.1:5432</failure></testcase>"
        )
    });
    let passed = passed.iter().map(|test| {
        format!("<testcase classname=\"shop.CartTest\" name=\"{test}\" time=\"0.1\"/>")
    });
    // Else two runs with the same results would be one report.
    let time = name.len();
    let cases: String = failed.chain(passed).collect();
    project.write(
        name,
        format!(
            "<testsuite name=\"shop\" time=\"{time}\">{cases}<testcase classname=\"x\" \
             name=\"x\" time=\"{time}\"/></testsuite>"
        ),
    );
}

fn triage(project: &Project, args: &[&str]) -> Value {
    let call = project.jelly(&["triage", "--format", "json"]).args(args);
    let ended = call.output();
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", ended.stdout, ended.stderr))
}

/// The state of each failure, by name.
fn states(report: &Value) -> Vec<(&str, &str)> {
    let failures = report["failures"].as_array().unwrap();
    failures
        .iter()
        .map(|f| {
            let state = &f["history"]["state"];
            (f["name"].as_str().unwrap(), state.as_str().unwrap_or("-"))
        })
        .collect()
}

fn fixed(report: &Value) -> Vec<&str> {
    let fixed = report["fixed"].as_array();
    fixed
        .into_iter()
        .flatten()
        .map(|test| test["name"].as_str().unwrap())
        .collect()
}

#[test]
fn triage_tells_the_new_from_the_known_and_what_came_back_or_went() {
    let project = Project::empty();
    fs::create_dir(project.path(".jelly")).unwrap();
    report(&project, "1.xml", &["a", "b"], &["c"]);
    report(&project, "22.xml", &["a", "c"], &["b"]);
    report(&project, "333.xml", &["b"], &["a", "c"]);
    let first = triage(&project, &["1.xml"]);
    assert_eq!(states(&first), [("a", "-"), ("b", "-")], "no past yet");
    let second = triage(&project, &["22.xml"]);
    assert_eq!(states(&second), [("a", "known"), ("c", "new")]);
    assert_eq!(fixed(&second), ["b"]);
    let third = triage(&project, &["333.xml"]);
    assert_eq!(states(&third), [("b", "regressed")]);
    assert_eq!(fixed(&third), ["a", "c"]);
    let known = &second["failures"][0];
    assert_eq!(known["pre_existing"], true);
    assert_eq!(known["history"]["earlier_side"], "test");
    assert_eq!(known["history"]["rate"], 1.0);
    assert_eq!(third["failures"][0]["pre_existing"], false);
    assert_eq!(lines(&project).len(), 3);

    // Asked again, each has the past that it had, and is not recorded again.
    assert_eq!(triage(&project, &["22.xml"]), second);
    assert_eq!(lines(&project).len(), 3);

    // What is remembered of a test is remembered with how long it took.
    let slow = ["history", "slow", "--format", "json"];
    let slow: Value = serde_json::from_str(&project.jelly(&slow).output().stdout).unwrap();
    let took = slow["slow"].as_array().unwrap().iter().map(|test| {
        let name = test["name"].as_str().unwrap();
        (name, test["median_ms"].as_u64(), test["results"].as_u64())
    });
    let wanted = [("a", 3), ("b", 3), ("c", 2)].map(|(name, n)| (name, Some(100), Some(n)));
    assert_eq!(took.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_baseline_answers_like_a_history() {
    let project = Project::empty();
    report(&project, "build/9/r.xml", &["a", "b"], &["c"]);
    report(&project, "build/17/r.xml", &["a", "c"], &["b"]);
    report(&project, "now.xml", &["b", "d"], &["a", "c"]);
    let told = triage(&project, &["now.xml", "--baseline", "build"]);
    assert_eq!(states(&told), [("b", "regressed"), ("d", "new")]);
    assert_eq!(fixed(&told), ["a", "c"]);
    assert!(!project.exists(".jelly"));
}

#[test]
fn triages_that_end_at_the_same_time_are_all_remembered_and_each_report_once() {
    let project = Project::empty();
    fs::create_dir(project.path(".jelly")).unwrap();
    let names: Vec<String> = (1..5).map(|n| format!("{}.xml", "1".repeat(n))).collect();
    for name in &names {
        report(&project, name, &["a"], &[]);
    }
    let running: Vec<_> = names
        .iter()
        .chain(&names)
        .map(|name| project.jelly(&["triage", name]).start())
        .collect();
    for call in running {
        assert_eq!(call.wait().code, Some(3));
    }
    assert_eq!(lines(&project).len(), names.len());
}

#[test]
fn what_was_remembered_by_the_first_algorithm_is_known() {
    let project = Project::empty();
    let report = "<testsuite tests='1'><testcase classname='tests.test_cart' name='test_total'>\
         <failure message='AssertionError: assert 3 == 4'>def test_total():\n\
         &gt;       assert total() == 4\nE       AssertionError: assert 3 == 4\n\n\
         tests/test_cart.py:4: AssertionError</failure></testcase></testsuite>";
    project.write("junit.xml", report);
    let run = serde_json::json!({
        "schema_version": 1, "at": "2026-03-01T00:00:00Z",
        "reports": [{ "path": "junit.xml", "digest": "d1" }],
        "failures": [{
            "suite": "", "classname": "tests.test_cart", "name": "test_total", "status": "failure",
            "fingerprint": "j1:dfebbc769b011c12", "test_fingerprint": "j1:f0791d9c1c04e21b",
        }],
    });
    project.write("h.jsonl", format!("{run}\n"));
    let told = triage(&project, &["junit.xml", "--history", "h.jsonl"]);
    assert_eq!(states(&told), [("test_total", "known")]);
    let kept = project.read("h.jsonl");
    let last = kept.lines().last().unwrap();
    assert!(last.contains("\"j2:") && !last.contains("j1:"), "{last}");
    // What is remembered by the second needs the first no more.
    let told = triage(&project, &["junit.xml", "--history", "h.jsonl"]);
    assert_eq!(told["failures"][0]["history"]["failed"], 1);
}

fn with_a_past() -> Project {
    let project = Project::empty();
    let past = [
        recorded(1, &["total", "refund"], &[]),
        recorded(2, &["total"], &["refund"]),
        recorded(3, &["total", "refund"], &[]),
        recorded(4, &[], &["total", "refund"]),
        recorded(5, &["late"], &["total"]),
    ];
    project.write(HISTORY, past.concat());
    project
}

#[test]
fn the_worst_offenders_are_listed() {
    let project = with_a_past();
    let list = |args: &[&str]| {
        let ended = project.jelly(&["history"]).args(args).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    insta::assert_snapshot!("history_tests", list(&[]));
    insta::assert_snapshot!("history_flaky", list(&["--by", "flaky", "--limit", "1"]));
    insta::assert_snapshot!("history_causes", list(&["--cause"]));
    insta::assert_snapshot!(
        "history_json",
        list(&["--test", "total", "--format", "json"])
    );
    assert!(list(&["--cause", "tls_error"]).contains("no such cause"));
    assert!(list(&["--cause", "connection_refused"]).contains("ECONNREFUSED"));
    assert!(list(&["--test", "nothing"]).contains("no test failed"));
}

#[test]
fn no_history_is_said_with_what_to_do() {
    let ended = Project::empty().jelly(&["history"]).output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("no folder .jelly"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("--history"), "{}", ended.stderr);
}

/// A slip in its name would read as "nothing ever failed".
#[test]
fn a_history_that_was_named_and_is_not_there_is_an_error() {
    let project = with_a_past();
    for question in [
        &["history"][..],
        &["history", "--cause"],
        &["history", "--format", "json"],
        &["history", "flaky"],
        &["history", "new", "--since", "30d"],
        &["history", "cause", "x"],
        &["history", "slow"],
        &["history", "export"],
        &["history", "page", "--output", "page.html"],
    ] {
        let args = [question, &["--history", "typo.jsonl"]].concat();
        let ended = project.jelly(&args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stdout);
        let told = "there is no history typo.jsonl";
        assert!(ended.stderr.contains(told), "{args:?}: {}", ended.stderr);
        assert!(!project.exists("typo.jsonl") && !project.exists("page.html"));
    }
    // The first run of all has no durations yet.
    let args = [
        "history",
        "export",
        "--durations",
        "--history",
        "typo.jsonl",
    ];
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("no history typo.jsonl yet"));
    // The default one comes with the first run.
    let project = Project::empty();
    fs::create_dir(project.path(".jelly")).unwrap();
    let ended = project.jelly(&["history"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn the_hint_of_a_history_names_the_history() {
    let project = with_a_past();
    project.write("own h.jsonl", project.read(HISTORY));
    let args = ["history", "cause", "nothing", "--history", "own h.jsonl"];
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    let hint = "`jelly history new --since 365d --history 'own h.jsonl'`";
    assert!(ended.stderr.contains(hint), "{}", ended.stderr);
}

/// The step of [`plan`], whose answer is held against something that does not
/// stand in the plan.
fn expecting(text: &str) -> Project {
    let own = r#"equals: "3""#;
    let project = Project::with(&plan("3").replace(own, text));
    project.write("answer.txt", "3");
    fs::create_dir(project.path(".jelly")).unwrap();
    project
}

#[test]
fn another_stored_snapshot_is_another_expectation() {
    let project = expecting("snapshot: sum");
    project.write("snapshots/plan/sum.snap", "3\n");
    project.run(&[]).ends(0, "passed");
    project.write("answer.txt", "4");
    assert_eq!(standing(&project.run(&[])), "passed_before");
    // Now the server answers as it did, and another text is stored.
    project.write("answer.txt", "3");
    project.write("snapshots/plan/sum.snap", "5\n");
    assert_eq!(standing(&project.run(&[])), "never_passed");
}

#[test]
fn another_value_of_a_variable_that_is_expected_is_another_expectation() {
    let project = expecting(r#"equals: "${env:WANT}""#);
    let run = |want: &str| Run::of(&project, project.call(&[]).env("WANT", want).output());
    run("3").ends(0, "passed");
    assert_eq!(standing(&run("4")), "never_passed");
}
