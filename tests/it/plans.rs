//! The plans that come with the program: green against the real servers, and
//! not by looking away.

use crate::support::{Ended, Project, Run, fixtures, real, slice};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SERVERS: &str = "npm/node_modules/@modelcontextprotocol";

/// The plan of this name, once its server is known to be there.
#[track_caller]
fn plan(name: &str) -> PathBuf {
    real(&match name {
        "shell" => "pypi/.venv/shell/bin/mcp-shell-server".to_owned(),
        "everything-http" | "everything-features" => {
            format!("{SERVERS}/server-everything/dist/index.js")
        }
        "modern-http" | "modern-features" => format!("{SERVERS}/node/package.json"),
        npm => format!("{SERVERS}/server-{npm}/dist/index.js"),
    });
    folder().join(format!("{name}.yaml"))
}

fn folder() -> PathBuf {
    fixtures().with_file_name("plans")
}

#[track_caller]
fn is_green(name: &str) {
    let project = Project::empty();
    let path = plan(name);
    let call = project.jelly(&["run", &path.display().to_string()]);
    let run = Run::of(&project, call.output());
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!(last.total("passed"), last.total("total"));
    assert_eq!(run.iterations().len(), 1);

    let looking = steps(&load(&path))
        .into_iter()
        .filter(|(_, step)| !operands(&step["expect"]).is_empty())
        .filter(|(_, step)| last.state(step["id"].as_str().unwrap()) == "passed")
        .count();
    assert!(looking >= 8, "{looking} steps look at values");
}

#[test]
fn the_plan_for_server_everything_is_green() {
    is_green("everything");
}

#[test]
fn the_plan_for_server_everything_over_http_is_green() {
    is_green("everything-http");
}

#[test]
fn the_plan_for_a_modern_server_over_http_is_green() {
    is_green("modern-http");
}

/// The same plan, word for word but for how its server is reached.
#[test]
fn the_plan_for_a_modern_server_is_green_by_pipes_too() {
    let text = std::fs::read_to_string(plan("modern-http")).unwrap();
    let by_pipes = text
        .replace("    url: \"http://127.0.0.1:${port}/mcp\"\n", "")
        .replace("    env: { PORT: \"${port}\" }\n", "")
        .replace(
            "${workspace}/../fixtures",
            &fixtures().display().to_string(),
        );
    assert!(!by_pipes.contains("${port}"), "{by_pipes}");
    let run = Project::with(&by_pipes).run(&[]);
    run.ends(0, "passed");
    let last = run.last();
    assert_eq!(last.total("passed"), last.total("total"));
    assert_eq!(last.server("modern")["protocol_version"], "2026-07-28");
}

#[test]
fn the_plan_for_what_server_everything_asks_and_tells_is_green() {
    is_green("everything-features");
}

#[test]
fn the_plan_for_what_a_modern_server_asks_and_tells_is_green() {
    is_green("modern-features");
}

#[test]
fn one_plan_for_server_everything_is_green_over_each_transport() {
    is_green_over_each_transport("everything");
}

#[test]
fn what_server_everything_asks_and_tells_is_the_same_over_each_transport() {
    is_green_over_each_transport("everything-features");
}

/// The same plan, word for word but for how its server is reached.
#[track_caller]
fn is_green_over_each_transport(name: &str) {
    let text = std::fs::read_to_string(plan(name)).unwrap();
    let text = text.replace(
        "${workspace}/../fixtures",
        &fixtures().display().to_string(),
    );
    for (kind, path, version) in [
        ("streamableHttp", "mcp", "2025-11-25"),
        ("sse", "sse", "2025-11-25"),
    ] {
        let over_http = text
            .replace(
                "dist/index.js\"]",
                &format!(
                    "dist/index.js\", {kind}]\n    url: \"http://127.0.0.1:${{port}}/{path}\""
                ),
            )
            .replace("env: { ", "env: { PORT: \"${port}\", ");
        let project = Project::with(&over_http);
        let run = project.run(&[]);
        run.ends(0, "passed");
        let last = run.last();
        assert!(last.total("passed") >= 13, "{kind}");
        assert_eq!(last.total("passed"), last.total("total"), "{kind}");
        assert_eq!(last.server("everything")["protocol_version"], version);
    }
}

#[test]
fn the_plan_for_server_filesystem_is_green() {
    is_green("filesystem");
}

#[test]
fn the_plan_for_server_memory_is_green() {
    is_green("memory");
}

#[test]
fn the_plan_for_mcp_shell_server_is_green() {
    is_green("shell");
}

#[test]
fn the_quick_start_shows_a_failure_its_diagnosis_a_repair_and_a_green_rerun() {
    let project = Project::empty();
    let text = std::fs::read(folder().join("quickstart.yaml")).unwrap();
    project.write("plan.yaml", text);
    for _ in 0..2 {
        let run = project.run(&[]);
        run.ends(0, "passed_after_repair");
        assert_eq!(run.actions(), ["repair_mcp_plan", "stop"]);
        let failure = run.iteration(1).failure("notes");
        assert_eq!(failure["diagnosis"]["root_cause"], "missing_directory");
        assert_eq!(
            run.iteration(1)["action"]["repairs"][0]["id"],
            "create_directory"
        );
        assert_eq!(run.last().total("passed"), run.last().total("total"));
        for word in ["missing_directory", "create_directory"] {
            assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
        }
        // It cleans up, so that the next run shows the same again.
        assert!(!project.exists("quickstart-notes"));
    }
}

fn load(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_yaml::from_str(&text).unwrap()
}

/// All steps of a plan with their places in it.
fn steps(plan: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for section in ["setup", "steps", "teardown"] {
        for (index, step) in plan[section].as_array().into_iter().flatten().enumerate() {
            found.push((format!("/{section}/{index}"), step));
        }
    }
    found
}

/// What an expectation compares with: where it stands below `expect`, and
/// what to put there so that it does not hold.
fn operands(expect: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (target, body) in expect.as_object().into_iter().flatten() {
        let at = format!("/{target}");
        match target.as_str() {
            // Beside a wanted error, the plan itself refuses its contrary.
            "is_error" if expect["error"].is_object() => {}
            "is_error" => found.push((at, json!(body != true))),
            "json" => {
                for (index, entry) in body.as_array().unwrap().iter().enumerate() {
                    predicates(entry, &format!("{at}/{index}"), &mut found);
                }
            }
            "error" => {
                for field in ["code", "message"] {
                    predicates(&body[field], &format!("{at}/{field}"), &mut found);
                }
            }
            _ => predicates(body, &at, &mut found),
        }
    }
    found
}

fn predicates(map: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    for (operator, operand) in map.as_object().into_iter().flatten() {
        let is_time = at == "/duration";
        let wrong = match operator.as_str() {
            "path" => continue,
            "equals" | "contains" if operand.is_string() => json!("no such text"),
            "equals" | "contains" => json!({ "no such": "value" }),
            // Every text contains the empty one.
            "not_contains" => json!(""),
            "matches" => json!("^no such text$"),
            "starts_with" | "ends_with" => json!("no such text"),
            "one_of" => json!(["no such text"]),
            "gt" | "ge" if is_time => json!("1h"),
            "lt" | "le" if is_time => json!("1ms"),
            "gt" | "ge" => json!(1e9),
            "lt" | "le" => json!(-1e9),
            "length" => json!(999),
            "type" if operand == "array" => json!("object"),
            "type" => json!("array"),
            "schema" => json!({ "type": "array" }),
            "exists" => json!(operand != true),
            other => panic!("what makes `{other}` wrong?"),
        };
        found.push((format!("{at}/{operator}"), wrong));
    }
}

/// An expected value that is changed.
struct Change {
    /// The place of its step in the plan.
    place: String,
    step: String,
    /// Below the step's `expect`.
    at: String,
    wrong: Value,
}

/// Each expected value of a plan, in sets of those that are changed together:
/// one in each step that no other one builds on, or one in one of the others.
fn changes(original: &Value) -> Vec<Vec<Change>> {
    let (mut together, mut alone): (Vec<Vec<Change>>, Vec<Vec<Change>>) = Default::default();
    for (place, step) in steps(original) {
        let is_built_on = step["capture"].is_object() || !place.starts_with("/steps");
        for (turn, (at, wrong)) in operands(&step["expect"]).into_iter().enumerate() {
            let step = step["id"].as_str().unwrap().to_owned();
            let place = place.clone();
            let change = Change {
                place,
                step,
                at,
                wrong,
            };
            if is_built_on {
                alone.push(vec![change]);
                continue;
            }
            if together.len() == turn {
                together.push(Vec::new());
            }
            together[turn].push(change);
        }
    }
    together.append(&mut alone);
    together
}

/// Changes each expected value of the plan and runs it: just the steps with a
/// changed value fail, since it is what they expect.
#[track_caller]
fn every_expected_value_counts(name: &str) {
    let project = Project::empty();
    let original = load(&plan(name));
    let changes = changes(&original);
    assert!(changes.iter().map(Vec::len).sum::<usize>() >= 8);
    let changes = slice(8, changes);
    let mut files = Vec::new();
    for (number, set) in changes.iter().enumerate() {
        let mut changed = original.clone();
        for Change {
            place, at, wrong, ..
        } in set
        {
            let operand = changed.pointer_mut(&format!("{place}/expect{at}")).unwrap();
            assert_ne!(operand, wrong);
            *operand = wrong.clone();
        }
        let file = format!("{name}-{number}.json");
        project.write(&file, changed.to_string());
        files.push(file);
    }
    let named: Vec<&str> = files.iter().map(String::as_str).collect();
    let folder = folder().display().to_string();
    // One call for all of them; each has budgets and a report of its own.
    let ended: Ended = project
        .jelly(&["run", "--format", "json", "--project-dir", &folder])
        .args(&named)
        .limit(Duration::from_secs(300))
        .output();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let all: Value = serde_json::from_str(&ended.stdout).unwrap();
    // A single plan's report stands by itself.
    let reports = all["plans"]
        .as_array()
        .map_or(std::slice::from_ref(&all), Vec::as_slice);
    assert_eq!(reports.len(), changes.len());
    for ((set, file), report) in changes.iter().zip(&files).zip(reports) {
        assert_eq!(report["plan"]["path"], file.as_str());
        let last = report["iterations"].as_array().unwrap().last().unwrap();
        let failures = last["failures"].as_array().unwrap();
        let told = || {
            let places: Vec<String> = set.iter().map(|c| format!("{}{}", c.step, c.at)).collect();
            format!("{places:?} of {name}: {failures:#?}")
        };
        // Steps that build on the one that is changed alone were blocked or
        // skipped, and what they should have done is missing later on.
        let totals = &last["totals"];
        let is_built_on = totals["blocked"] != 0 || totals["skipped"] != 0;
        assert!(failures.len() == set.len() || is_built_on, "{}", told());
        let mut is_code = false;
        for (change, failure) in set.iter().zip(failures) {
            assert_eq!(failure["step"], change.step.as_str(), "{}", told());
            assert_eq!(failure["phase"], "assert", "{}", told());
            // A slow answer is never held against the code, nor is one that is
            // an error as a whole, unless the step passed before.
            let is_error = failure["diagnosis"]["error_answer"] == true;
            is_code |= !change.at.starts_with("/duration") && !is_error;
        }
        assert_eq!(
            report["exit_code"],
            if is_code { 1 } else { 3 },
            "{}",
            told()
        );
    }
}

#[test]
fn every_expected_value_of_the_plan_for_server_everything_counts() {
    every_expected_value_counts("everything");
}

#[test]
fn every_expected_value_of_the_plan_for_a_modern_server_over_http_counts() {
    every_expected_value_counts("modern-http");
}

#[test]
fn every_expected_value_of_the_plan_for_server_filesystem_counts() {
    every_expected_value_counts("filesystem");
}

#[test]
fn every_expected_value_of_the_plan_for_server_memory_counts() {
    every_expected_value_counts("memory");
}

#[test]
fn every_expected_value_of_the_plan_for_mcp_shell_server_counts() {
    every_expected_value_counts("shell");
}

/// Places below a step that look at what the server asked or told, with what
/// to put there so that it does not hold.
fn beside(step: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for (index, answer) in list(&step["answers"]).iter().enumerate() {
        for (at, expect) in list(&answer["expect"]).iter().enumerate() {
            predicates(expect, &format!("/answers/{index}/expect/{at}"), &mut found);
        }
    }
    for (index, heard) in list(&step["expect"]["notifications"]).iter().enumerate() {
        let place = format!("/expect/notifications/{index}");
        if heard["absent"] == true {
            continue;
        }
        found.push((format!("{place}/method"), json!("notifications/never")));
        for (at, json) in list(&heard["json"]).iter().enumerate() {
            predicates(json, &format!("{place}/json/{at}"), &mut found);
        }
        match &heard["count"] {
            Value::Null => {}
            Value::Number(_) => found.push((format!("{place}/count"), json!(999))),
            operators => predicates(operators, &format!("{place}/count"), &mut found),
        }
    }
    found
}

/// Changes each thing that is expected of what the server asks and tells, and
/// runs that step alone, with those that subscribe before it.
#[track_caller]
fn what_is_asked_and_told_counts(name: &str, least: usize) {
    let project = Project::empty();
    let original = load(&plan(name));
    let all = original["steps"].as_array().unwrap();
    let mut mutants = Vec::new();
    for (index, step) in all.iter().enumerate() {
        for (at, wrong) in beside(step) {
            let mut changed = step.clone();
            *changed.pointer_mut(&at).unwrap() = wrong;
            if let Some(Value::Array(heard)) = changed.pointer_mut("/expect/notifications") {
                heard
                    .iter_mut()
                    .for_each(|one| one["within"] = json!("500ms"));
            }
            let before = all[..index]
                .iter()
                .filter(|s| s["subscribe"] != Value::Null);
            let mut steps: Vec<Value> = before.cloned().collect();
            steps.push(changed);
            let mut mutant = original.clone();
            mutant["steps"] = json!(steps);
            let file = format!("{}.json", mutants.len());
            project.write(&file, mutant.to_string());
            mutants.push((step["id"].as_str().unwrap().to_owned(), at, file));
        }
    }
    assert!(mutants.len() >= least, "{} places", mutants.len());
    let files: Vec<&str> = mutants.iter().map(|(_, _, file)| file.as_str()).collect();
    let folder = folder().display().to_string();
    let ended: Ended = project
        .jelly(&["run", "--format", "json", "--project-dir", &folder])
        .args(&files)
        .limit(Duration::from_secs(300))
        .output();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    for ((step, at, _), report) in mutants.iter().zip(report["plans"].as_array().unwrap()) {
        let last = report["iterations"].as_array().unwrap().last().unwrap();
        let failures = last["failures"].as_array().unwrap();
        assert_eq!(failures.len(), 1, "{step}{at}: {failures:#?}");
        assert_eq!(failures[0]["step"], step.as_str(), "{step}{at}");
        let target = if at.starts_with("/answers") {
            "asked"
        } else {
            "notification"
        };
        assert_eq!(failures[0]["assertion"]["target"], target, "{step}{at}");
        assert_eq!(report["exit_code"], 1, "{step}{at}");
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn what_server_everything_asks_and_tells_counts() {
    what_is_asked_and_told_counts("everything-features", 10);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn what_a_modern_server_asks_and_tells_counts() {
    what_is_asked_and_told_counts("modern-features", 8);
}
