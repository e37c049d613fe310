//! Results that look alike and are not: none of them is lost, merged into
//! another one, or taken for what is known.

use crate::support::{Ended, Project};
use serde_json::Value;

/// A report without any time, whose one test ended so.
fn timeless(ending: &str) -> String {
    format!(
        "<testsuite name='s' tests='1'><testcase classname='C' name='t'>{ending}</testcase>\
         </testsuite>"
    )
}

const WRONG: &str = "<failure message='AssertionError: expected 3 got 4'/>";
const REFUSED: &str =
    "<failure message='ConnectionRefusedError: [Errno 111] Connection refused 10.0.0.7:5432'/>";

/// Triages a report in a run of GitHub, of which there is one for each number.
fn triage(project: &Project, report: &str, (run, branch): (&str, &str), more: &[&str]) -> Ended {
    let args = [&["triage", report, "--history", "h.jsonl"], more].concat();
    project
        .jelly(&args)
        .env("GITHUB_REPOSITORY", "acme/shop")
        .env("GITHUB_REF_NAME", branch)
        .env("GITHUB_SHA", format!("{run}123456789abcdef"))
        .env("GITHUB_RUN_ID", run)
        .env("GITHUB_JOB", "test")
        .env("GITHUB_RUN_ATTEMPT", "1")
        .output()
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr))
}

fn lines(project: &Project) -> usize {
    project.read("h.jsonl").lines().count()
}

#[test]
fn the_same_report_of_another_run_is_another_report() {
    let project = Project::empty();
    project.write("wrong.xml", timeless(WRONG));
    project.write("green.xml", timeless(""));
    project.write("refused.xml", timeless(REFUSED));
    let state = |report: &str, run: &str| {
        let ended = triage(&project, report, (run, "main"), &["--format", "json"]);
        json_of(&ended)["failures"][0]["history"]["state"].clone()
    };
    assert_eq!(state("wrong.xml", "1"), Value::Null);
    assert_eq!(state("green.xml", "2"), Value::Null);
    assert_eq!(state("wrong.xml", "3"), "regressed");
    // Of the same names, outcome and time, and another cause.
    assert_eq!(state("refused.xml", "3"), "new");
    assert_eq!(lines(&project), 4);
    // Asked about again, it is the same.
    assert_eq!(state("wrong.xml", "3"), "regressed");
    assert_eq!(lines(&project), 4);

    // Without a CI, what was written again is another run.
    let here = |report: &str| {
        let args = ["triage", report, "--history", "here.jsonl"];
        project.jelly(&args).output();
        project.read("here.jsonl").lines().count()
    };
    assert_eq!(here("wrong.xml"), 1);
    assert_eq!(here("wrong.xml"), 1);
    project.write("again.xml", timeless(WRONG));
    assert_eq!(here("again.xml"), 2);
}

/// It was known, since it had failed on the branch that brought it.
#[test]
fn what_a_merge_breaks_is_not_known_by_its_branch() {
    let project = Project::empty();
    project.write("wrong.xml", timeless(WRONG));
    project.write("green.xml", timeless(""));
    let run = |report: &str, run, branch| {
        let more = ["--format", "json", "--fail-on", "new"];
        triage(&project, report, (run, branch), &more)
    };
    run("wrong.xml", "1", "main");
    run("green.xml", "2", "main");
    run("wrong.xml", "3", "feature");
    let merged = run("wrong.xml", "4", "main");
    assert_eq!(merged.code, Some(1), "{}", merged.stdout);
    let merged = json_of(&merged);
    assert_eq!(merged["failures"][0]["history"]["state"], "regressed");
    assert_eq!(merged["failures"][0]["pre_existing"], false);
    // Elsewhere it is known from main.
    let other = json_of(&run("wrong.xml", "5", "other"));
    assert_eq!(other["failures"][0]["pre_existing"], true);
}

/// A plan whose one step wants `wanted` of a server that says `hello`.
fn plan(wanted: &str) -> String {
    format!(
        "version: 1\nservers: {{ m: {{ command: jelly, args: [mock, --tool, 'say=hello'] }} }}\n\
         steps:\n  - {{ id: say, server: m, tool: say, expect: {{ text: {{ equals: {wanted} }} }} }}\n"
    )
}

#[test]
fn every_sharded_run_is_recorded_whatever_its_key() {
    let project = Project::empty();
    project.write("plans/a.yaml", plan("hello"));
    for more in [&[][..], &[], &["--run-key", "k"], &["--run-key", "k"]] {
        let args = ["run", "-q", "--shard", "1/1", "--history", "h.jsonl"];
        let ended = project.jelly(&args).args(more).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    assert_eq!(lines(&project), 4);
    let pushed = ["history", "push", "h.jsonl", "--history", "all.jsonl"];
    for wanted in ["4 runs delivered", "0 runs delivered"] {
        let ended = project.jelly(&pushed).output();
        assert!(ended.stdout.contains(wanted), "{}", ended.stdout);
    }
}

/// The number of any job passed for an attempt of any other.
#[test]
fn another_job_of_a_pipeline_is_no_later_attempt() {
    let project = Project::empty();
    let run = |job: &str, number: &str, wanted: &str| {
        project.write(
            "plans/a.yaml",
            plan("'${wanted}'").replace(
                "version: 1\n",
                "version: 1\nvars: { wanted: '${env:WANTED}' }\n",
            ),
        );
        let folder = format!("{job}-{number}");
        let args = [
            "run",
            "-q",
            "--shard",
            "auto",
            "--no-confirm",
            "--reports-dir",
            &folder,
        ];
        project
            .jelly(&args)
            .env("WANTED", wanted)
            .env("CI_PROJECT_ID", "1")
            .env("CI_PIPELINE_ID", "2")
            .env("CI_JOB_ID", number)
            .env("CI_JOB_NAME", format!("{job} 1/1"))
            .env("CI_NODE_INDEX", "1")
            .env("CI_NODE_TOTAL", "1")
            .output();
        folder
    };
    let (linux, mac) = (run("linux", "101", "bye"), run("mac", "201", "hello"));
    let merged = project.jelly(&["merge", &linux, &mac]).output();
    assert_eq!(merged.code, Some(2), "{}{}", merged.stdout, merged.stderr);
    assert!(merged.stderr.contains("another run"), "{}", merged.stderr);
    let again = run("linux", "102", "hello");
    let merged = project.jelly(&["merge", &linux, &again]).output();
    assert_eq!(merged.code, Some(0), "{}{}", merged.stdout, merged.stderr);
}

#[test]
fn a_known_failure_of_one_plan_is_not_that_of_another_of_its_name() {
    let project = Project::empty();
    project.write("plans/a/smoke.yaml", plan("bye"));
    project.write("plans/b/smoke.yaml", plan("bye"));
    let run = |test: &str, plans: &[&str]| {
        let list = format!("version: 1\nknown:\n  - {{ test: '{test}', reason: x }}\n");
        project.write("known-failures.yaml", list);
        let args = [
            "run",
            "-q",
            "--no-confirm",
            "--format",
            "json",
            "--history",
            "h.jsonl",
        ];
        project.jelly(&args).args(plans).output()
    };
    let both = ["plans/a/smoke.yaml", "plans/b/smoke.yaml"];
    let ended = run("smoke > m > say", &both);
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("have the same name"),
        "{}",
        ended.stderr
    );
    let ended = run("plans/a/smoke.yaml > m > say", &both);
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    let results = json_of(&ended);
    assert_eq!(results["plans"][0]["verdict"], "passed_with_known");
    assert_eq!(results["plans"][1]["verdict"], "needs_user_help");
    // Alone, too, it is meant by its path.
    let ended = run("plans/a/smoke.yaml > m > say", &both[..1]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    // And the name alone, which both have, means neither, in calls of their own as well.
    let ended = run("smoke > m > say", &both[..1]);
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    // In the history they are two.
    let kept = project.read("h.jsonl");
    assert!(!kept.contains("\"suite\":\"smoke\""), "{kept}");
    assert!(kept.contains("\"suite\":\"plans/a/smoke.yaml\""), "{kept}");
    assert!(kept.contains("\"suite\":\"plans/b/smoke.yaml\""), "{kept}");
}

#[test]
fn what_is_nearly_a_database_is_no_file_and_a_list_is_of_its_shard() {
    let project = Project::empty();
    for name in ["a", "b"] {
        project.write(&format!("plans/{name}.yaml"), plan("hello"));
    }
    for near in [
        "mysql://x@localhost/t",
        "postgres:/u:hunter2@localhost/t",
        "host=h password=hunter2",
    ] {
        let ended = project.jelly(&["run", "-q", "--history", near]).output();
        assert_eq!(ended.code, Some(2), "{near}: {}", ended.stderr);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
    }
    let list = |shard: &str| project.jelly(&["run", "--list", "--shard", shard]).output();
    let all: Vec<String> = ["1/3", "2/3", "3/3"]
        .iter()
        .map(|shard| {
            let ended = list(shard);
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            ended.stdout
        })
        .collect();
    let plans = all.concat().matches(".yaml: ").count();
    assert_eq!(plans, 2, "{all:?}");
    assert_eq!(list("auto").code, Some(2));
}
