//! A list of plans over several runners, and their results merged: what one
//! call says, or an error that names the shard.

use crate::support::{Ended, Project};
use regex::Regex;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A plan whose one step wants `wanted` of a server that says `hello`.
fn plan(name: &str, wanted: &str) -> String {
    format!(
        "version: 1\nname: {name}\nservers: {{ m: {{ command: jelly, args: [mock, --tool, 'say=hello'] }} }}\n\
         steps:\n  - {{ id: say, server: m, tool: say, expect: {{ text: {{ equals: {wanted} }} }} }}\n"
    )
}

/// A project with so many plans, of which every 20th gets another answer than
/// it wants.
fn plans(count: usize) -> Project {
    let project = Project::empty();
    for at in 0..count {
        let name = format!("p{at:04}");
        let wanted = if at % 20 == 7 { "bye" } else { "hello" };
        project.write(&format!("plans/{name}.yaml"), plan(&name, wanted));
    }
    project
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr))
}

/// Runs a shard; its folder of reports, and what it printed.
fn shard(project: &Project, shard: &str, more: &[&str]) -> (String, Value) {
    let args = ["run", "--shard", shard, "--seed", "1", "--format", "json"];
    let ended = project.jelly(&args).args(more).output();
    let results = json_of(&ended);
    assert_eq!(results["exit_code"], ended.code.unwrap(), "{results:#}");
    assert!(results["plans"].is_array(), "{results:#}");
    let folder = format!("reports/{}", results["run_id"].as_str().unwrap());
    let written: Value =
        serde_json::from_str(&project.read(&format!("{folder}/results.json"))).unwrap();
    assert_eq!(written, results, "what is printed is what is written");
    (folder, results)
}

fn merge(project: &Project, folders: &[&str], more: &[&str]) -> Ended {
    let args = [&["merge", "--reports-dir", "merged"], folders, more].concat();
    project.jelly(&args).output()
}

/// What is said once for a job holds for its merge too.
#[test]
fn the_settings_of_a_run_hold_for_its_merge() {
    let project = Project::with(
        "version: 1\nservers: { m: { command: jelly, args: [mock] } }\nsteps:\n  - { id: a, tool: \
         echo, args: { message: hi }, expect: { text: { equals: ho } } }\n",
    );
    let run = ["run", "plan.yaml", "--shard", "1/1", "--ci", "none"];
    project.jelly(&run).output();
    let merged = |ci: &str| {
        let call = project.jelly(&["merge", "reports", "--reports-dir", "merged"]);
        let call = call.env("GITHUB_ACTIONS", "true").env("JELLY_CI", ci);
        let ended = call.env("JELLY_REPORT", "md=all.md").output();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        ended.stdout
    };
    assert!(merged("auto").contains("::error "));
    assert!(project.exists("all.md"));
    assert!(!merged("none").contains("::error "));
}

/// Without what may differ between two runs of the same.
fn stable(results: &Value) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for name in jelly_base::model::VOLATILE_FIELDS {
                    map.shift_remove(*name);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut results = results.clone();
    strip(&mut results);
    for name in ["shard", "shards"] {
        results.as_object_mut().unwrap().shift_remove(name);
    }
    let text = serde_json::to_string_pretty(&results).unwrap();
    let run_id = Regex::new(r"\d{8}-\d{6}-[0-9a-f]{4}(-\d+)?").unwrap();
    run_id.replace_all(&text, "RUN").into_owned()
}

/// Runs all of it in one call and in shards, and holds the one against the
/// others; the folders of the shards.
fn simulate(project: &Project, shards: usize) -> Vec<String> {
    let one = project
        .jelly(&["run", "--seed", "1", "--format", "json"])
        .limit(Duration::from_secs(600))
        .output();
    let results: Vec<(String, Value)> = (1..=shards)
        .map(|index| shard(project, &format!("{index}/{shards}"), &[]))
        .collect();
    let folders: Vec<String> = results.into_iter().map(|(folder, _)| folder).collect();
    let mut named: Vec<&str> = folders.iter().map(String::as_str).collect();
    // In whatever order they come.
    named.reverse();
    let merged = merge(project, &named, &["--format", "json"]);
    assert_eq!(merged.code, one.code, "{}", merged.stderr);
    let (merged, one) = (json_of(&merged), json_of(&one));
    assert_same(&stable(&merged), &stable(&one));
    assert_eq!(merged["shards"].as_array().unwrap().len(), shards);
    folders
}

#[track_caller]
fn assert_same(merged: &str, one: &str) {
    let differs = merged.lines().zip(one.lines()).find(|(a, b)| a != b);
    assert!(merged == one, "merged and one call differ: {differs:?}");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_hundred_plans_in_ten_shards_come_to_what_one_call_comes_to() {
    let project = plans(100);
    let folders = simulate(&project, 10);
    let named: Vec<&str> = folders.iter().map(String::as_str).collect();

    let merged = json_of(&merge(&project, &named, &["--format", "json"]));
    assert_eq!(merged["verdict"], "code_failure");
    assert_eq!(merged["exit_code"], 1);
    assert_eq!(merged["totals"]["total"], 100);
    assert_eq!(merged["totals"]["failed"], 5);
    let clusters = merged["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), 1, "{clusters:#?}");
    assert_eq!(clusters[0]["count"], 5);
    assert_eq!(clusters[0]["plans"].as_array().unwrap().len(), 5);
    let junit = project.read("merged/latest/junit.xml");
    assert!(junit.contains(r#"tests="100""#), "{}", &junit[..300]);
    assert!(project.exists("merged/latest/test_results.md"));

    // Every format, by name.
    let formats = [
        "junit",
        "junit-strict",
        "ctrf",
        "sarif",
        "gitlab-codequality",
        "html",
        "md",
        "json",
        "jsonl",
    ];
    let reports: Vec<String> = formats
        .iter()
        .flat_map(|name| ["--report".to_owned(), format!("{name}=out/{name}")])
        .collect();
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    assert_eq!(merge(&project, &named, &reports).code, Some(1));
    for name in formats {
        let text = project.read(&format!("out/{name}"));
        assert!(text.contains("p0007"), "{name} says nothing of a failure");
    }

    one_killed_doubled_cut_and_rerun(&project, &named);
}

/// What is not whole is refused by its number, and leaves nothing that could
/// be taken for a result.
fn one_killed_doubled_cut_and_rerun(project: &Project, folders: &[&str]) {
    let refused = |folders: &[&str], told: &str| {
        let _ = fs::remove_dir_all(project.path("merged"));
        let reports = ["--report", "junit=out/junit", "--format", "json"];
        let ended = merge(project, folders, &reports);
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
        assert!(!project.exists("merged"));
    };
    // Missing.
    refused(&folders[..9], "shard 10/10 is missing");
    // Doubled: the same folder, and another run of the same.
    let twice = [folders, &folders[3..4]].concat();
    refused(&twice, "shard 4/10 has two results of attempt 1");
    let (again, _) = shard(project, "4/10", &[]);
    refused(
        &[folders, &[again.as_str()]].concat(),
        "shard 4/10 has two results of attempt 1",
    );
    // Cut: by a disk that was full.
    let whole = project.read(&format!("{}/results.json", folders[4]));
    project.write("cut/results.json", &whole[..whole.len() * 2 / 3]);
    let mut with_cut = folders.to_vec();
    with_cut[4] = "cut";
    refused(&with_cut, "shard 5/10, attempt 1, is truncated");
    refused(&with_cut, "shard 5/10 is missing");
    // Killed: what was written when it began.
    let mut begun: Value = serde_json::from_str(&whole).unwrap();
    begun["in_progress"] = json!(true);
    begun["plans"] = json!([]);
    project.write("cut/results.json", begun.to_string());
    refused(
        &with_cut,
        "cut: shard 5/10, attempt 1, is truncated: its call did not end",
    );
    // Less of it than it was assigned.
    let mut fewer: Value = serde_json::from_str(&whole).unwrap();
    fewer["plans"].as_array_mut().unwrap().pop();
    project.write("cut/results.json", fewer.to_string());
    refused(&with_cut, "it holds 0 results where there should be 1");
    // Of another run: a plan is another one.
    let changed = project.read("plans/p0001.yaml");
    project.write("plans/p0001.yaml", format!("{changed}# later\n"));
    let (foreign, _) = shard(project, "5/10", &[]);
    project.write("plans/p0001.yaml", changed);
    with_cut[4] = &foreign;
    refused(&with_cut, "shard 5/10 is of another run");
    refused(&with_cut, "shard 5/10 is missing");
    // No shard at all.
    project.write("none/results.json", r#"{"schema_version":1,"plans":[]}"#);
    with_cut[4] = "none";
    refused(
        &with_cut,
        "none/results.json: not a result of `jelly run --shard`",
    );
}

#[test]
#[ignore = "minutes; .ci/full runs it"]
fn a_thousand_plans_in_a_hundred_shards_come_to_what_one_call_comes_to() {
    let project = plans(1000);
    simulate(&project, 100);
}

/// A project with two plans of which one fails until a file is there.
fn mended_later() -> Project {
    let project = Project::empty();
    project.write(
        "answer.yaml",
        "tools:\n  - { name: say, responses: [{ text: wrong }] }\n",
    );
    let server = "{ command: jelly, args: [mock, --script, '${workspace}/../answer.yaml'] }";
    for name in ["a", "b"] {
        project.write(
            &format!("plans/{name}.yaml"),
            plan(name, "hello").replace(
                "{ command: jelly, args: [mock, --tool, 'say=hello'] }",
                if name == "a" {
                    server
                } else {
                    "{ command: jelly, args: [mock, --tool, 'say=hello'] }"
                },
            ),
        );
    }
    project
}

#[test]
fn a_shard_that_is_run_again_counts_once_and_what_went_away_is_flaky() {
    let project = mended_later();
    let keyed = ["--run-key", "build 7", "--no-confirm"];
    // By durations, so that each has a plan.
    project.write(
        "times.json",
        r#"{"schema_version":1,"plans":[{"path":"plans/a.yaml","duration_ms":9},{"path":"plans/b.yaml","duration_ms":5}]}"#,
    );
    let timed = [&keyed[..], &["--shard-times", "times.json"]].concat();
    let (first, results) = shard(&project, "1/2", &timed);
    assert_eq!(results["exit_code"], 3, "{results:#}");
    assert_eq!(results["plans"][0]["plan"]["path"], "plans/a.yaml");
    assert_eq!(results["shard"]["run_key"], "build 7");
    assert_eq!(results["shard"]["attempt"], 1);
    assert_eq!(results["shard"]["plans"][1]["shard"], 2);
    let (other, results) = shard(&project, "2/2", &timed);
    assert_eq!(results["verdict"], "passed");
    assert_eq!(merge(&project, &[&first, &other], &[]).code, Some(3));

    project.write(
        "answer.yaml",
        "tools:\n  - { name: say, responses: [{ text: hello }] }\n",
    );
    let again = [&timed[..], &["--run-attempt", "2"]].concat();
    let (second, _) = shard(&project, "1/2", &again);
    let folders = [first.as_str(), &other, &second];
    let merged = merge(&project, &folders, &["--format", "json"]);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    assert!(
        merged.stderr.contains("shard 1/2: attempt 2 counts") && merged.stderr.contains(&first),
        "{}",
        merged.stderr
    );
    let merged = json_of(&merged);
    assert_eq!(merged["verdict"], "passed_after_retry");
    assert_eq!(merged["plans"][1]["verdict"], "passed");
    let steps = &merged["plans"][0]["iterations"][1]["steps"];
    assert_eq!(steps[0]["flaky"], true, "{steps:#}");
    assert_eq!(merged["shards"][0]["superseded"][0]["attempt"], 1);
    let junit = project.read("merged/latest/junit.xml");
    assert!(junit.contains("<flakyFailure"), "{junit}");

    // A shard without --shard-times is of another run.
    let (foreign, _) = shard(&project, "2/2", &keyed);
    let ended = merge(&project, &[&second, &first, &foreign], &[]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("shard 2/2 is of another run"),
        "{}",
        ended.stderr
    );
}

#[test]
fn under_strict_a_rerun_is_not_green_enough() {
    let project = mended_later();
    let strict = ["--strict", "--no-confirm"];
    let (first, _) = shard(&project, "1/1", &strict);
    project.write(
        "answer.yaml",
        "tools:\n  - { name: say, responses: [{ text: hello }] }\n",
    );
    let (second, _) = shard(
        &project,
        "1/1",
        &[&strict[..], &["--run-attempt", "2"]].concat(),
    );
    let merged = merge(&project, &[&first, &second], &["--format", "json"]);
    assert_eq!(merged.code, Some(4), "{}", merged.stderr);
    assert_eq!(json_of(&merged)["plans"][0]["unaccepted"], "strict");
}

#[test]
fn a_shard_without_a_plan_says_so_and_is_green_only_where_there_are_plans() {
    let project = plans(1);
    let shards: Vec<(String, Value)> = (1..=3)
        .map(|index| shard(&project, &format!("{index}/3"), &[]))
        .collect();
    let empty: Vec<&Value> = shards
        .iter()
        .map(|(_, results)| results)
        .filter(|results| results["verdict"] == "nothing_assigned")
        .collect();
    assert_eq!(empty.len(), 2);
    assert_eq!(empty[0]["exit_code"], 0);
    assert_eq!(empty[0]["plans"], json!([]));
    let folders: Vec<&str> = shards.iter().map(|(folder, _)| folder.as_str()).collect();
    assert_eq!(merge(&project, &folders, &[]).code, Some(0));
    let human = project.jelly(&["run", "--shard", "1/3"]).output();
    assert!(
        human.stdout.contains("shard 1/3 of 1 plan"),
        "{}",
        human.stdout
    );

    let none = Project::empty().jelly(&["run", "--shard", "1/3"]).output();
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    // What nothing matches in any shard is a slip, and not a share of nothing.
    let slip = ["run", "--shard", "1/3", "--only", "step:nobody"];
    assert_eq!(project.jelly(&slip).output().code, Some(2));
}

#[test]
fn the_ci_says_which_shard_it_is_or_the_call_is_refused() {
    let project = plans(1);
    let auto = |shard: &str, env: &[(&str, &str)]| {
        let call = project.jelly(&["run", "--shard", shard, "--format", "json"]);
        let call = env
            .iter()
            .fold(call, |call, (name, value)| call.env(name, value));
        call.output()
    };
    let gitlab = [
        ("CI_NODE_INDEX", "2"),
        ("CI_NODE_TOTAL", "2"),
        ("CI_PROJECT_ID", "5"),
        ("CI_PIPELINE_ID", "77"),
        ("CI_JOB_ID", "1234"),
    ];
    let told = json_of(&auto("auto", &gitlab));
    assert_eq!(told["shard"]["index"], 2);
    assert_eq!(told["shard"]["run_key"], "gitlab/5/77");
    assert_eq!(told["shard"]["attempt"], 1234);
    let kubernetes = [("JOB_COMPLETION_INDEX", "0")];
    assert_eq!(json_of(&auto("auto/4", &kubernetes))["shard"]["index"], 1);
    for (shard, env, named) in [
        ("auto", &[][..], "CIRCLE_NODE_INDEX"),
        ("auto", &kubernetes[..], "--shard auto/N"),
        ("auto", &gitlab[..1], "CI_NODE_TOTAL is not set"),
        ("3/2", &[][..], "from 1 to 2"),
    ] {
        let ended = auto(shard, env);
        assert_eq!(ended.code, Some(2), "{shard} {env:?}");
        assert!(ended.stderr.contains(named), "{named}: {}", ended.stderr);
        assert!(!project.path("reports/latest").join("x").exists());
    }
    for args in [
        &["--shard", "1/2", "--shard-times", "gone.json"][..],
        &["--run-key", "k"],
    ] {
        let ended = project.jelly(&["run"]).args(args).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
    }
    // One plan in two spellings is one of the list.
    let twice = ["../project/plans/p0000.yaml", "plans/p0000.yaml"];
    let args = ["run", "--shard", "1/1", "--format", "json"];
    let told = json_of(&project.jelly(&args).args(&twice).output());
    assert_eq!(told["shard"]["plans"].as_array().unwrap().len(), 1);
}

#[test]
fn a_shard_that_is_killed_leaves_a_result_that_says_so() {
    let project = Project::empty();
    project.write(
        "plans/slow.yaml",
        plan("slow", "hello").replace("tool: say,", "tool: sleep, args: { ms: 30000 },"),
    );
    let running = project.jelly(&["run", "--shard", "1/1"]).start();
    let file = project.path("reports/latest/results.json");
    let begun = Instant::now();
    while !file.exists() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::yield_now();
    }
    running.signal(rustix::process::Signal::KILL);
    running.wait();
    let left: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left["in_progress"], true, "{left:#}");
    assert_eq!(left["exit_code"], 3);
    let ended = merge(&project, &["reports"], &[]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("shard 1/1, attempt 1, is truncated"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_history_tells_how_long_plans_take() {
    let project = plans(3);
    fs::create_dir(project.path(".jelly")).unwrap();
    assert_eq!(project.jelly(&["run"]).output().code, Some(0));
    let ended = project
        .jelly(&["history", "export", "--durations"])
        .output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let times = json_of(&ended);
    let paths: Vec<&str> = times["plans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["plans/p0000.yaml", "plans/p0001.yaml", "plans/p0002.yaml"]
    );
    assert!(times["plans"][0]["duration_ms"].as_u64().unwrap() > 0);
    project.write("times.json", &ended.stdout);
    // One each, the longest first.
    let mut seen: Vec<String> = Vec::new();
    for index in 1..=3 {
        let (_, results) = shard(
            &project,
            &format!("{index}/3"),
            &["--shard-times", "times.json"],
        );
        assert_eq!(results["plans"].as_array().unwrap().len(), 1);
        seen.push(results["plans"][0]["plan"]["path"].to_string());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 3);
    assert!(Path::new(&project.path(".jelly/history.jsonl")).exists());
}

#[test]
fn shards_of_other_filters_are_of_other_runs() {
    let project = plans(4);
    let (first, _) = shard(&project, "1/2", &["--skip-missing"]);
    let (second, _) = shard(&project, "2/2", &[]);
    let merged = merge(&project, &[&first, &second], &[]);
    assert_eq!(merged.code, Some(2), "{}", merged.stdout);
    assert!(
        merged.stderr.contains("--skip-missing"),
        "{}",
        merged.stderr
    );
}

/// What a plan includes is part of it: a shard that had another one is foreign.
#[test]
fn a_shard_with_another_included_file_is_of_another_run() {
    let project = mended_later();
    let server =
        "version: 1\nservers: { m: { command: jelly, args: [mock, --tool, 'say=hello'] } }\n";
    project.write("plans/shared/server.yaml", server);
    let plan =
        "version: 1\ninclude: shared/server.yaml\nsteps: [{ id: a, server: m, tool: say }]\n";
    project.write("plans/a.yaml", plan);
    project.write("plans/b.yaml", plan);
    let (first, _) = shard(&project, "1/2", &["--run-key", "k"]);
    project.write("plans/shared/server.yaml", server.replace("hello", "bye"));
    let (second, _) = shard(&project, "2/2", &["--run-key", "k"]);
    let ended = merge(&project, &[&first, &second], &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("is of another run"),
        "{}",
        ended.stderr
    );
}
