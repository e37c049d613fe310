//! What is wrong with a run is one thing, of one label and with its reason, in
//! every report that it writes and in the triage of each that triage reads.

use crate::support::{Ended, Project, Run, procs, python};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Side, doubt, category, root cause, retryability and fingerprint.
fn label(diagnosis: &Value) -> String {
    let names = [
        "side",
        "error_category",
        "root_cause",
        "retryable",
        "fingerprint",
    ];
    let told = names.map(|name| diagnosis[name].clone());
    let ambiguous = diagnosis["ambiguous"].as_bool().unwrap_or_default();
    json!([told, ambiguous]).to_string()
}

fn json_of(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const REPORTS: [&str; 12] = [
    "--report",
    "junit-strict=o/strict.xml",
    "--report",
    "ctrf=o/ctrf.json",
    "--report",
    "sarif=o/o.sarif",
    "--report",
    "gitlab-codequality=o/q.json",
    "--report",
    "jsonl=o/o.jsonl",
    "--report",
    "junit=o/junit.xml",
];

/// The diagnoses that every report of a run tells, after it was seen that they are
/// the same in each.
#[track_caller]
fn told_alike(project: &Project) -> Vec<Value> {
    let jsonl = project.read("o/o.jsonl");
    let lines: Vec<Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let wanted: Vec<String> = lines.iter().map(|line| label(&line["diagnosis"])).collect();
    for line in &lines {
        let diagnosis = &line["diagnosis"];
        assert_ne!(diagnosis["root_cause"], "unknown", "{diagnosis:#}");
        for print in ["fingerprint", "test_fingerprint"] {
            assert!(
                diagnosis[print].as_str().unwrap().len() > 8,
                "{diagnosis:#}"
            );
        }
    }
    let sarif = json_of(project, "o/o.sarif");
    let results = sarif["runs"][0]["results"].as_array().unwrap().iter();
    let of_sarif: Vec<String> = results
        .map(|result| label(&result["properties"]["jelly"]))
        .collect();
    assert_eq!(of_sarif, wanted);
    let quality = json_of(project, "o/q.json");
    let names = |all: &[Value], name: &str| -> Vec<String> {
        all.iter().map(|one| one[name].to_string()).collect()
    };
    let causes: Vec<Value> = lines.iter().map(|line| line["diagnosis"].clone()).collect();
    assert_eq!(
        names(quality.as_array().unwrap(), "check_name"),
        names(&causes, "root_cause")
    );
    let all: BTreeSet<String> = wanted.iter().cloned().collect();
    for report in [
        "reports/latest/junit.xml",
        "o/junit.xml",
        "o/strict.xml",
        "o/ctrf.json",
    ] {
        if !project.path(report).exists() {
            continue;
        }
        let args = ["triage", report, "--format", "json", "--no-history"];
        let ended = project.jelly(&args).output();
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        let failures = told["failures"].as_array().unwrap();
        let labels: Vec<String> = failures
            .iter()
            .map(|one| label(&one["diagnosis"]))
            .collect();
        assert_eq!(labels.len(), wanted.len(), "{report}: {failures:#?}");
        let labels: BTreeSet<String> = labels.into_iter().collect();
        assert_eq!(labels, all, "{report}");
    }
    causes
}

#[track_caller]
fn one<'d>(told: &'d [Value], root_cause: &str) -> &'d Value {
    let [told] = told else {
        panic!("one is wrong, not {told:#?}");
    };
    assert_eq!(told["root_cause"], root_cause, "{told:#}");
    assert_eq!(told["side"], "test");
    assert_eq!(told["ambiguous"], false);
    let advice = &told["advice"];
    assert!(!advice["fix"].as_array().unwrap().is_empty(), "{told:#}");
    told
}

fn ended(project: &Project, args: &[&str]) -> Ended {
    let args: Vec<&str> = ["run", "plan.yaml"]
        .into_iter()
        .chain(REPORTS)
        .chain(args.iter().copied())
        .collect();
    project.jelly(&args).output()
}

fn run(project: &Project, args: &[&str]) -> Run {
    Run::of(project, ended(project, args))
}

const TWO: &str = "version: 1
name: two
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: a, tool: add, args: { a: 1, b: 2 } }
  - { id: b, tool: add, args: { a: 1, b: 2 } }
";

#[test]
fn a_mismatch_that_differs_each_time_is_one_failure_of_one_label_everywhere() {
    let server = python(
        r#"
def call(request):
    answer(request, text(str(time.time_ns())))
serve(call, tools=("work",))
"#,
    );
    let project = Project::with(&format!(
        "version: 1\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: r, tool: work, expect: {{ text: \
         {{ equals: hi }} }} }}\n"
    ));
    let run = run(&project, &["--history", "h.jsonl"]);
    run.ends(3, "needs_user_help");
    assert!(run.iterations().len() > 1);
    let told = told_alike(&project);
    let [told] = &told[..] else {
        panic!("{told:#?}");
    };
    assert_eq!(told["flaky"], true, "{told:#}");
    assert_eq!(label(told), label(&run.last().failure("r")["diagnosis"]));
    let past: Value =
        serde_json::from_str(project.read("h.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(past["failures"].as_array().unwrap().len(), 1);
}

#[test]
fn what_passed_on_a_rerun_is_a_note_in_every_list_of_what_is_wrong() {
    let server = python(
        r#"
def call(request):
    first = not os.path.exists("seen")
    open("seen", "w").close()
    answer(request, text("oops" if first else "hi"))
serve(call, tools=("work",))
"#,
    );
    let project = Project::with(&format!(
        "version: 1\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: a, tool: work, expect: {{ text: \
         {{ equals: hi }} }} }}\n"
    ));
    run(&project, &[]).ends(0, "passed_after_retry");
    let told = told_alike(&project);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["flaky"], true);
    let sarif = json_of(&project, "o/o.sarif");
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "note");
    assert_eq!(json_of(&project, "o/q.json")[0]["severity"], "info");
    // The triage of the run's report says so, too.
    let args = ["triage", "o/junit.xml", "--report", "sarif=again.sarif"];
    assert_eq!(project.jelly(&args).output().code, Some(0));
    let again = json_of(&project, "again.sarif");
    assert_eq!(again["runs"][0]["results"][0]["level"], "note");
    assert_eq!(again["runs"][0]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_deadline_is_named_wherever_the_run_is_told() {
    let plan = TWO.replace("[mock]", "[mock, --fault, 'slow@call=3s']");
    let project = Project::with(&plan);
    let run = run(&project, &["--deadline", "2s"]);
    run.ends(3, "needs_user_help");
    let told = told_alike(&project);
    let deadlines = told.iter().filter(|one| one["root_cause"] == "deadline");
    let deadlines: Vec<&Value> = deadlines.collect();
    let [deadline] = deadlines[..] else {
        panic!("{told:#?}");
    };
    assert_eq!(deadline["error_category"], "TIMEOUT");
    let advice = deadline["advice"].to_string();
    assert!(advice.contains("The deadline of 2"), "{advice}");
    assert!(advice.contains("--deadline"), "{advice}");
}

#[test]
fn a_coverage_that_is_too_low_is_named_wherever_the_run_is_told() {
    let project = Project::with(TWO);
    let args = ["--min-coverage", "tools=100", "--format", "agent"];
    let ended = ended(&project, &args);
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    let told = told_alike(&project);
    let told = one(&told, "coverage_too_low");
    let what = told["advice"]["what"].as_str().unwrap();
    assert!(what.contains("of the tools are covered"), "{what}");
    let agent: Value = serde_json::from_str(&ended.stdout).unwrap();
    let problem = &agent["plans"][0]["problems"][0];
    assert_eq!(problem["root_cause"], "coverage_too_low", "{agent:#}");
}

#[test]
fn an_interruption_is_named_wherever_the_run_is_told() {
    let server = python(
        r#"
def call(request):
    open("called", "w").close()
    time.sleep(60)
serve(call, tools=("add",))
"#,
    );
    let plan = TWO.replace("{ command: jelly, args: [mock] }", &server);
    let project = Project::with(&plan);
    let args: Vec<&str> = ["run", "plan.yaml"].into_iter().chain(REPORTS).collect();
    let running = project.jelly(&args).start();
    procs::until("the call", || project.exists("called").then_some(()));
    running.signal(rustix::process::Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{}{}", ended.stdout, ended.stderr);
    let told = told_alike(&project);
    let told = one(&told, "interrupted");
    assert!(told["advice"]["what"].as_str().unwrap().contains("SIGINT"));
}

#[test]
fn a_hook_that_may_not_count_is_named_wherever_the_run_is_told() {
    let wrong = "version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: a, tool: add, args: { a: 1, b: 2 }, expect: { text: { contains: '4' } } }
  - { id: b, tool: add, args: { a: 1, b: 2 } }
";
    let project = Project::with(wrong);
    project.script(
        "hook.sh",
        "#!/bin/sh\ncat > /dev/null\nsed -i \"s/'4'/'3'/\" plan.yaml\n",
    );
    let args = ["--refine-code", "[\"./hook.sh\"]", "--trust-plan"];
    run(&project, &args).ends(3, "needs_user_help");
    let told = told_alike(&project);
    let of_hook = told
        .iter()
        .find(|one| one["root_cause"] == "hook_changed_plan");
    let advice = of_hook.unwrap_or_else(|| panic!("{told:#?}"))["advice"].to_string();
    assert!(
        advice.contains("refine_code changed what the plan expects"),
        "{advice}"
    );
}

#[test]
fn a_run_that_is_green_and_not_accepted_says_why_in_every_report() {
    let repaired = TWO.replace("id: b, tool: add", "id: b, tool: ad");
    let project = Project::with(&repaired);
    let run = run(&project, &[]);
    run.ends(4, "passed_after_repair");
    let told = told_alike(&project);
    let told = one(&told, "repair_not_accepted");
    let what = told["advice"]["what"].as_str().unwrap();
    for part in ["--accept-repairs", "rename_tool on steps.b: called add"] {
        assert!(what.contains(part), "{what}");
    }
    assert!(run.results["help_summary"].is_null());
    assert_eq!(run.results["unaccepted"], "contract");
    let agent = ended(&project, &["--format", "agent"]);
    let agent: Value = serde_json::from_str(&agent.stdout).unwrap();
    let plan = &agent["plans"][0];
    assert_eq!(plan["problems"][0]["root_cause"], "repair_not_accepted");
    let next = plan["next"][0].as_str().unwrap();
    assert!(next.starts_with("$ jelly apply "), "{next}");
}

#[test]
fn a_run_that_is_green_at_a_second_attempt_only_says_so_to_programs_too() {
    let server = "{ command: jelly, args: [mock, --state, starts, --faulty-starts, \"1\", \
                  --fault, \"stderr=Error: connect ECONNREFUSED 127.0.0.1:5432\", \
                  --fault, exit] }";
    let project = Project::with(&TWO.replace("{ command: jelly, args: [mock] }", server));
    let ended = ended(&project, &["--strict", "--format", "agent"]);
    assert_eq!(ended.code, Some(4), "{}{}", ended.stdout, ended.stderr);
    let junit = project.read("reports/latest/junit.xml");
    assert!(junit.contains("type=\"retry_not_accepted\""), "{junit}");
    let agent: Value = serde_json::from_str(&ended.stdout).unwrap();
    let problems = agent["plans"][0]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{agent:#}");
    assert_eq!(problems[0]["root_cause"], "retry_not_accepted");
}

#[test]
fn an_invalid_plan_has_one_label_in_every_report() {
    let project = Project::with("version: 1\nservers: { s: { comand: jelly } }\nsteps: []\n");
    assert_eq!(ended(&project, &[]).code, Some(2));
    let told = told_alike(&project);
    assert!(!told.is_empty());
    assert!(
        told.iter().all(|one| one["root_cause"] == "invalid_plan"),
        "{told:#?}"
    );
}

#[test]
fn a_step_that_is_taken_out_is_one_standing_failure_in_every_report() {
    let plan = TWO.replace("id: a, tool: add", "id: a, tool: zzzzzz");
    let project = Project::with(&(plan + "  - { id: c, tool: echo, args: { mm: x } }\n"));
    let run = run(&project, &["--history", "h.jsonl"]);
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("a"), "quarantined");
    let failure = last.failure("a");
    assert_eq!(failure["diagnosis"]["root_cause"], "unknown_tool");
    assert_eq!(failure, run.iteration(1).failure("a"));
    let steps = last["steps"].as_array().unwrap();
    assert_eq!(steps[0]["error_category"], "LOCATOR");
    let problems = run.results["help_summary"]["problems"].as_array().unwrap();
    let told = told_alike(&project);
    assert_eq!(told.len(), problems.len());
    assert_eq!(told.len(), last.failures().len());
    // A case for each step, and no other.
    assert_eq!(run.junit.matches("<testcase ").count(), 3, "{}", run.junit);
    assert!(!run.junit.contains("<skipped"), "{}", run.junit);
    let past: Value =
        serde_json::from_str(project.read("h.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(past["failures"].as_array().unwrap().len(), told.len());
    let agent = project
        .jelly(&["run", "plan.yaml", "--format", "agent", "--only", "a,b"])
        .output();
    let agent: Value = serde_json::from_str(&agent.stdout).unwrap();
    let failures = agent["plans"][0]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{agent:#}");
    assert_eq!(failures[0]["root_cause"], "unknown_tool");
}
