//! Steps of which more than one expectation does not hold: every mismatch is
//! told, and what the step is does not hang on which comes first.

use crate::support::{Iteration, Project, Run, python};
use serde_json::{Value, json};
use std::time::Duration;

/// A server whose tool `work` answers by this; `now()` is never the same
/// twice, and `tell(method, …)` sends a notification.
fn working(call: &str) -> String {
    let call = call.replace('\n', "\n    ");
    python(&format!(
        "
def now():
    return time.time_ns()
def tell(method, **params):
    send({{'jsonrpc': '2.0', 'method': method, 'params': params}})
def call(message):
    {call}
serve(call)
"
    ))
}

fn project(call: &str, expect: &str) -> Project {
    Project::with(&format!(
        "version: 1
servers: {{ s: {} }}
hooks: {{ refine_code: [./refine.sh] }}
steps:
  - id: sum
    tool: work
    expect:
{expect}
",
        working(call)
    ))
}

fn run(call: &str, expect: &str) -> Run {
    project(call, expect).run(&[])
}

/// The failures of the step, which say that they are all of them.
#[track_caller]
fn mismatches<'r>(iteration: &Iteration<'r>) -> Vec<&'r Value> {
    let all = iteration.failures();
    for (at, failure) in all.iter().enumerate() {
        assert_eq!(failure["step"], "sum", "{failure:#}");
        let place = json!({ "index": at + 1, "of": all.len() });
        assert_eq!(failure["mismatch"], place, "{failure:#}");
    }
    assert_eq!(iteration.total("failed"), 1, "totals count steps");
    all
}

fn targets<'r>(failures: &[&'r Value]) -> Vec<&'r str> {
    let target = |failure: &&'r Value| failure["assertion"]["target"].as_str().unwrap();
    failures.iter().map(target).collect()
}

fn sides<'r>(failures: &[&'r Value]) -> Vec<&'r str> {
    let side = |failure: &&'r Value| failure["diagnosis"]["side"].as_str().unwrap();
    failures.iter().map(side).collect()
}

/// A request's number that varies, beside a total that is always wrong.
const VARIES_AND_SAME: &str = "answer(message, {'content': [{'type': 'text', 'text': \
                               f'request {now()}'}], 'structuredContent': {'total': 4}})";
const TWO: &str = "
      text: { equals: request 7 }
      json: [{ path: $.structuredContent.total, equals: 5 }]";

#[test]
fn a_value_that_varies_hides_no_bug_behind_it() {
    let run = run(VARIES_AND_SAME, TWO);
    run.ends(1, "code_failure");
    assert_eq!(run.actions(), ["confirm", "stop"]);
    assert_eq!(sides(&mismatches(&run.iteration(1))), ["test", "test"]);
    let last = run.last();
    let both = mismatches(&last);
    assert_eq!(targets(&both), ["text", "json"]);
    assert_eq!(sides(&both), ["test", "code"]);
    assert_eq!(both[0]["diagnosis"]["flaky"], true, "{:#}", both[0]);
    assert_eq!(both[1]["diagnosis"]["standing"], "never_passed");
    assert_ne!(
        both[0]["diagnosis"]["test_fingerprint"],
        both[1]["diagnosis"]["test_fingerprint"]
    );
    // One step, one side: nothing test-side stands beside it.
    assert_eq!(run.results["needs_user_help"], false);
    let problems = &run.results["help_summary"]["problems"];
    assert_eq!(problems.as_array().unwrap().len(), 1, "{problems:#}");
    let evidence = problems[0]["evidence"].as_str().unwrap();
    assert!(
        evidence.contains("$.structuredContent.total 5, got 4"),
        "{evidence}"
    );
    assert!(evidence.contains("request 7"), "{evidence}");
    assert!(evidence.contains("another value each time"), "{evidence}");
    // The terminal and the report for people say what is flaky, and what is not.
    assert!(
        run.stdout.contains("s/sum (mismatch 1 of 2)"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("(and 1 more mismatch)"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("flaky"), "{}", run.stdout);
    assert!(
        run.markdown.contains("(mismatch 2 of 2)"),
        "{}",
        run.markdown
    );
    assert!(run.markdown.contains("· flaky"), "{}", run.markdown);
}

#[test]
fn what_varies_comes_last_or_first_it_is_the_same_step() {
    let run = run(
        VARIES_AND_SAME,
        "
      json:
        - { path: $.structuredContent.total, equals: 5 }
        - { path: '$.content[0].text', equals: request 7 }",
    );
    run.ends(1, "code_failure");
    assert_eq!(sides(&mismatches(&run.last())), ["code", "test"]);
}

#[test]
fn the_hook_that_refines_code_runs_though_a_flaky_mismatch_stands_beside() {
    let project = project(VARIES_AND_SAME, TWO);
    project.script("refine.sh", "#!/bin/sh\ncat > bundle.json\nexit 1\n");
    let run = project.run(&["--trust-plan"]);
    run.ends(1, "code_failure");
    assert_eq!(run.actions(), ["confirm", "refine_code"]);
    let bundle: Value = serde_json::from_str(&project.read("bundle.json")).unwrap();
    let failures = bundle["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 2, "the hook reads all of them");
    assert_eq!(failures[1]["diagnosis"]["side"], "code");
}

#[test]
fn mismatches_that_all_vary_are_flaky() {
    let run = run(
        "answer(message, {'content': [{'type': 'text', 'text': f'request {now()}'}], \
         'structuredContent': {'total': now()}})",
        TWO,
    );
    run.ends(3, "needs_user_help");
    let last = run.last();
    let both = mismatches(&last);
    assert_eq!(sides(&both), ["test", "test"]);
    for failure in both {
        assert_eq!(failure["diagnosis"]["flaky"], true, "{failure:#}");
    }
}

#[test]
fn time_neither_makes_a_step_code_nor_saves_one() {
    let slow = "
      duration: { lt: 1ms }
      text: { equals: '5' }";
    let same = run("time.sleep(0.05)\nanswer(message, text('4'))", slow);
    same.ends(1, "code_failure");
    let last = same.last();
    let both = mismatches(&last);
    assert_eq!(targets(&both), ["text", "duration"], "time comes last");
    assert_eq!(sides(&both), ["code", "test"]);
    assert_eq!(both[1]["diagnosis"]["excused"], "duration");
    assert_eq!(same.results["needs_user_help"], false);

    let varies = run("time.sleep(0.05)\nanswer(message, text(str(now())))", slow);
    varies.ends(3, "needs_user_help");
    assert_eq!(sides(&mismatches(&varies.last())), ["test", "test"]);
}

const REFUSED: &str =
    "answer(message, text('Error 111 connecting to 127.0.0.1: Connection refused'))";

#[test]
fn an_answer_that_the_environment_explains_makes_no_mismatch_of_it_code() {
    let run = run(
        REFUSED,
        "
      text: { contains: Ada, not_contains: Error }",
    );
    run.ends(3, "needs_user_help");
    let last = run.last();
    let both = mismatches(&last);
    assert_eq!(sides(&both), ["test", "test"]);
    let causes = both.iter().map(|f| f["diagnosis"]["root_cause"].as_str());
    assert!(
        causes.clone().any(|c| c == Some("connection_refused")),
        "{both:#?}"
    );
    // What decides is the environment, for the step and for its case.
    let case = run.junit.split("<testcase").nth(1).unwrap();
    assert!(
        case.contains("name=\"jelly.root_cause\" value=\"connection_refused\""),
        "{case}"
    );
}

const EVERYTHING: &str = "sys.stderr.write('low on disk\\\\n')
sys.stderr.flush()
tell('notifications/message', level='info', data='half')
answer(message, {'content': [{'type': 'text', 'text': 'four'}], 'structuredContent': {'total': 4}})";
const FOUR: &str = "
      text: { equals: five }
      json: [{ path: $.structuredContent.total, equals: 5 }]
      stderr: { not_contains: low on disk }
      notifications: [{ method: notifications/progress, within: 300ms }]";

#[test]
fn every_mismatch_stands_in_every_report() {
    let project = project(EVERYTHING, FOUR);
    let run = project.run(&[]);
    run.ends(1, "code_failure");
    let last = run.last();
    let all = mismatches(&last);
    assert_eq!(targets(&all), ["text", "json", "stderr", "notification"]);
    assert_eq!(sides(&all), ["code"; 4]);
    let prints = all
        .iter()
        .map(|f| f["diagnosis"]["test_fingerprint"].to_string());
    assert_eq!(prints.collect::<std::collections::BTreeSet<_>>().len(), 4);
    let said = [
        "\"five\"",
        "$.structuredContent.total",
        "low on disk",
        "notifications/progress",
    ];
    for (name, report) in [
        ("terminal", &run.stdout),
        ("test_results.md", &run.markdown),
        ("junit.xml", &run.junit.replace("&quot;", "\"")),
        ("help", &run.help().replace("\\\"", "\"")),
    ] {
        for word in said {
            assert!(report.contains(word), "{word} in {name}: {report}");
        }
    }
    // The terminal's last lines show them, too.
    let (_, closing) = run.stdout.rsplit_once("help:").unwrap();
    for word in said {
        assert!(closing.contains(word), "{word}: {closing}");
    }
}

#[test]
fn junit_has_one_failure_for_a_step_and_triage_reads_the_same_side_from_it() {
    let one = run(
        VARIES_AND_SAME,
        "
      json: [{ path: $.structuredContent.total, equals: 5 }]",
    );
    let project = project(VARIES_AND_SAME, TWO);
    let two = project.run(&[]);
    assert_eq!(two.junit.matches("<failure ").count(), 1, "{}", two.junit);
    assert!(
        two.junit.contains("tests=\"1\" failures=\"1\""),
        "{}",
        two.junit
    );
    let (_, failure) = two.junit.split_once("<failure ").unwrap();
    let (head, body) = failure.split_once('>').unwrap();
    assert!(
        head.contains("$.structuredContent.total"),
        "what decides: {head}"
    );
    assert!(head.contains("(and 1 more mismatch)"), "{head}");
    assert!(
        body.contains("request 7") && body.contains("mismatch 1 of 2"),
        "{body}"
    );
    assert!(two.junit.contains("name=\"jelly.side\" value=\"code\""));

    let side = |junit: &str| {
        project.write("report.xml", junit);
        let args = ["triage", "report.xml", "--format", "json", "--no-history"];
        let ended = project.jelly(&args).output();
        let triaged: Value = serde_json::from_str(&ended.stdout).unwrap();
        let failures = triaged["failures"].as_array().unwrap().clone();
        assert_eq!(failures.len(), 1, "{failures:#?}");
        let diagnosis = &failures[0]["diagnosis"];
        ["side", "ambiguous", "root_cause", "error_category"].map(|key| diagnosis[key].clone())
    };
    assert_eq!(side(&two.junit), side(&one.junit));
}

#[test]
fn the_history_has_one_entry_for_a_step() {
    let project = project(VARIES_AND_SAME, TWO);
    let run = project.run(&["--history", "h.jsonl"]);
    run.ends(1, "code_failure");
    let line: Value = serde_json::from_str(project.read("h.jsonl").trim()).unwrap();
    let failures = line["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{line:#}");
    let last = run.last();
    let decides = &mismatches(&last)[1]["diagnosis"];
    assert_eq!(failures[0]["test_fingerprint"], decides["test_fingerprint"]);
    // Each of them can be explained by its own fingerprint all the same.
    for failure in mismatches(&last) {
        let print = failure["diagnosis"]["fingerprint"].as_str().unwrap();
        let explained = project.jelly(&["explain", print]).output();
        assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    }
}

#[test]
fn of_very_many_mismatches_some_are_kept_and_all_are_counted() {
    let wanted: String = (0..80)
        .map(|n| format!("\n        - {{ path: $.x{n}, equals: {n} }}"))
        .collect();
    let run = run(
        "answer(message, text('four'))",
        &format!("      json:{wanted}"),
    );
    run.ends(1, "code_failure");
    let last = run.last();
    assert_eq!(last.failures().len(), 50);
    for failure in last.failures() {
        assert_eq!(failure["mismatch"]["of"], 80);
    }
    assert_eq!(last.total("failed"), 1);
    for report in [&run.stdout, &run.markdown, &run.junit] {
        assert!(
            report.contains("30 more mismatches of this step"),
            "{report}"
        );
    }
    assert!(run.help().contains("more mismatches"), "{}", run.help());
}

#[test]
fn each_snapshot_that_differs_says_how_it_is_accepted() {
    let project = project(
        EVERYTHING,
        "
      text: { snapshot: greeting }
      json: [{ path: $.structuredContent, snapshot: numbers }]",
    );
    project.write("snapshots/plan/greeting.snap", "five\n");
    project.write("snapshots/plan/numbers.snap", "{}\n");
    let run = project.run(&[]);
    run.ends(1, "code_failure");
    let last = run.last();
    for (failure, name) in mismatches(&last).iter().zip(["greeting", "numbers"]) {
        let message = failure["message"].as_str().unwrap();
        let accept = format!("jelly snapshot accept {name} ");
        assert_eq!(
            message.matches("jelly snapshot accept").count(),
            1,
            "{message}"
        );
        assert!(message.contains(&accept), "{message}");
        assert!(run.help().contains(&accept), "{}", run.help());
    }
    let accepted = project.jelly(&["snapshot", "accept"]).output();
    assert!(
        accepted.stdout.contains("2 accepted"),
        "{}",
        accepted.stdout
    );
    project.run(&[]).ends(0, "passed");
}

#[test]
fn where_a_path_finds_nothing_the_answer_and_the_nearest_path_are_shown() {
    let expected = "expect:
      json:
        - { path: $.total, equals: 4 }
        - { path: '$.content[1].text', exists: true }";
    let captured = "capture:
      kept: $.structuredContent.totl
      there: $.structuredContent.total
      other: $.content.text";
    let total = "$.structuredContent.total";
    let text = "$.content[0].text";
    for (step, kinds, nearest) in [
        (expected, ["equals", "exists"], [total, text]),
        (captured, ["capture", "capture"], [total, text]),
    ] {
        let run = Project::with(&format!(
            "version: 1
servers: {{ s: {} }}
steps:
  - id: sum
    tool: work
    {step}
",
            working(EVERYTHING)
        ))
        .run(&[]);
        run.ends(1, "code_failure");
        let last = run.last();
        let both = mismatches(&last);
        assert_eq!(both.len(), 2);
        for ((failure, kind), nearest) in both.iter().zip(kinds).zip(nearest) {
            assert_eq!(failure["assertion"]["kind"], kind);
            assert_eq!(failure["assertion"]["nearest"], nearest);
            let message = failure["message"].as_str().unwrap();
            let answer = "\"text\":\"four\"";
            assert!(message.contains(answer), "the answer: {message}");
            let told = format!("nearest: {nearest}");
            assert!(message.ends_with(&told), "{message}");
            for report in [&run.help(), &run.stdout] {
                assert!(report.contains(&told), "{report}");
            }
        }
    }
}

#[test]
fn of_a_wrong_answer_no_value_is_missed_that_the_plan_would_keep() {
    let run = Project::with(&format!(
        "version: 1
servers: {{ s: {} }}
steps:
  - {{ id: sum, tool: work, expect: {{ text: {{ equals: request 7 }} }}, capture: {{ id: $.id }} }}
",
        working(VARIES_AND_SAME)
    ))
    .run(&[]);
    run.ends(3, "needs_user_help");
    assert_eq!(targets(&mismatches(&run.last())), ["text"]);
}

#[test]
fn a_wrong_answer_is_not_waited_for_longer_than_its_notifications_may_take() {
    let run = run(EVERYTHING, FOUR);
    assert!(run.elapsed < Duration::from_secs(30), "{:?}", run.elapsed);
}

#[test]
fn the_matrix_compares_what_decides() {
    let project = Project::with(&format!(
        "version: 1
servers: {{ s: {} }}
matrix: {{ protocol: ['2025-06-18', '2025-03-26'] }}
budgets: {{ retries: 0 }}
steps:
  - {{ id: sum, tool: work, expect: {{ text: {{ not_contains: Error, contains: Ada }} }} }}
",
        working(REFUSED)
    ));
    let ended = project
        .jelly(&["run", "plan.yaml", "--format", "json"])
        .output();
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    let steps = value["matrix"][0]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1);
    for cell in steps[0]["cells"].as_array().unwrap() {
        assert_eq!(cell["root_cause"], "connection_refused", "{cell:#}");
    }
}

/// `equals_path`, through the binary: what holds, what differs, and which path
/// finds nothing.
#[test]
fn two_paths_of_one_answer_are_compared() {
    let call = "answer(message, {'content': [], 'structuredContent': \
                {'sum': 6.0, 'total': 6, 'parts': [1, 2], 'key': 'sk-hunter2hunter2', 'own': 'other'}})";
    let at = |name: &str| format!("$.structuredContent.{name}");
    let line = |one: &str, other: &str| {
        format!(
            "        - {{ path: '{}', equals_path: '{}' }}\n",
            at(one),
            at(other)
        )
    };
    let good = run(call, &format!("      json:\n{}", line("sum", "total")));
    assert_eq!(good.code, Some(0), "{}", good.stdout);

    let lines = [
        line("sum", "parts"),
        line("sum", "totl"),
        line("smu", "total"),
        line("smu", "nope"),
        line("key", "own"),
        line("parts", "parts[*]"),
    ];
    let project = project(call, &format!("      json:\n{}", lines.concat()));
    let run = project.run(&["--no-confirm"]);
    let failures = run.iterations().last().unwrap().failures();
    let said: Vec<&str> = failures
        .iter()
        .map(|f| f["message"].as_str().unwrap())
        .collect();
    assert_eq!(said.len(), 5, "{said:#?}");
    for (message, says) in said.iter().zip([
        &["expected $.structuredContent.sum to equal what stands at $.structuredContent.parts, [1,2], got 6.0"][..],
        &["what stands at $.structuredContent.totl, and nothing stands there", "nearest: $.structuredContent.total"],
        &["to equal what stands at $.structuredContent.total, 6, got nothing", "nearest: $.structuredContent.sum"],
        &["and nothing stands there, nor at $.structuredContent.smu"],
        &["to equal what stands at $.structuredContent.own, \"other\""],
    ]) {
        for part in says {
            assert!(message.contains(part), "{part} in {message}");
        }
    }
    assert_eq!(failures[0]["assertion"]["expected"], json!([1, 2]));

    let wrong = "version: 1\nservers: { m: { command: x } }\nsteps:\n  - tool: t\n    expect:\n      \
                 text: { equals_path: $.a }\n      json:\n        - { path: $.a, equals_path: \
                 \"$['a']\" }\n        - { path: $.a, exists: true, equals_path: $.a }\n        \
                 - { path: $.a, equals_path: b }\n        - { path: $.a, equals_path: \"$['${b}']\" }\n";
    let project = Project::with(wrong);
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    for says in [
        "plan.yaml:6:15",
        "does not apply to `text`",
        "plan.yaml:8:37",
        "a path is compared with itself, so this tests nothing",
        "plan.yaml:9:51",
        "plan.yaml:10:37",
        "no JSONPath",
        "plan.yaml:11:37",
        "a path can't contain variables",
    ] {
        assert!(ended.stderr.contains(says), "{says} in\n{}", ended.stderr);
    }
}
