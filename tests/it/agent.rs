//! A program that reads fields and no text decides rightly.

use crate::support::{Project, fixtures};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn example(name: &str) -> PathBuf {
    fixtures()
        .with_file_name("examples")
        .join("agent")
        .join(name)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What a careful reader's label asks for.
fn wanted(label: &Value) -> &'static str {
    match (
        &label["error_category"],
        label["retryable"].as_bool(),
        label["side"].as_str(),
    ) {
        (Value::Null, _, _) | (_, None, _) => "stop",
        (_, Some(true), _) => "retry",
        (_, Some(false), Some("test")) => "repair",
        (_, Some(false), _) => "stop",
    }
}

#[test]
fn thirty_labelled_failures_are_retried_repaired_or_handed_over_as_their_labels_ask() {
    let decisions = lines(&std::fs::read_to_string(example("decisions.jsonl")).unwrap());
    assert_eq!(decisions.len(), 30);
    let mut corpus: BTreeMap<(String, String), Value> = BTreeMap::new();
    for from in ["mcp", "junit"] {
        let file = fixtures().join("corpus").join(from).join("failures.jsonl");
        for row in lines(&std::fs::read_to_string(file).unwrap()) {
            let id = row["id"].as_str().unwrap().to_owned();
            corpus.insert((from.to_owned(), id), row);
        }
    }
    let project = Project::empty();
    let mut failures = String::new();
    for decision in &decisions {
        let of = |key: &str| decision[key].as_str().unwrap().to_owned();
        let row = &corpus[&(of("from"), of("id"))];
        assert_eq!(decision["decision"], wanted(&row["label"]), "{decision}");
        failures.push_str(&format!(
            "{}\n",
            json!({"id": row["id"], "failure": row["failure"]})
        ));
    }
    project.write("failures.jsonl", failures);
    let args = [
        "triage",
        "--input",
        "failures",
        "failures.jsonl",
        "--format",
        "jsonl",
    ];
    let triaged = project.jelly(&args).output();
    project.write("diagnoses.jsonl", &triaged.stdout);
    let script = r#"exec python3 "$1" < diagnoses.jsonl"#;
    let agent = example("agent.py").display().to_string();
    let decided = project
        .wrapped("sh", &["-c", script, "sh", &agent])
        .output();
    assert_eq!(decided.code, Some(0), "{}", decided.stderr);
    let decided = lines(&decided.stdout);
    assert_eq!(decided.len(), decisions.len());
    for (decided, right) in decided.iter().zip(&decisions) {
        assert_eq!(
            (&decided["id"], &decided["decision"]),
            (&right["id"], &right["decision"])
        );
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_agents_format_says_verdict_and_labels_on_one_short_line() {
    let many: String = (0..300)
        .map(|at| format!("  - {{ id: s{at}, server: good, tool: echo, args: {{ message: hi }}, expect: {{ text: {{ equals: no }} }} }}\n"))
        .collect();
    let plan = format!(
        "version: 1\nname: p\nservers:\n  good: {{ command: jelly, args: [mock] }}\n  bad: {{ command: nobody-has-this-command }}\nsteps:\n  - {{ id: dead, server: bad, list: tools }}\n{many}"
    );
    let project = Project::with(&plan);
    let run = project.call(&["--format", "agent"]).output();
    assert!(run.stdout.len() <= 8192, "{}", run.stdout.len());
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["exit_code"], run.code.unwrap());
    let plan = &told["plans"][0];
    let results: Value =
        serde_json::from_str(&project.read("reports/latest/results.json")).unwrap();
    assert_eq!(plan["verdict"], results["verdict"]);
    let last = results["iterations"].as_array().unwrap().last().unwrap();
    let failures = plan["failures"].as_array().unwrap();
    assert_eq!(failures[0]["count"], 300, "{told}");
    for failure in failures {
        let all = last["failures"].as_array().unwrap();
        let same = all
            .iter()
            .find(|f| f["diagnosis"]["fingerprint"] == failure["fingerprint"]);
        let diagnosis = &same.unwrap()["diagnosis"];
        for field in ["error_category", "retryable", "root_cause", "side"] {
            assert_eq!(failure.get(field), diagnosis.get(field), "{field}");
        }
    }
    assert!(
        failures
            .iter()
            .any(|f| f["root_cause"] == "command_not_found"),
        "{told}"
    );
    assert!(
        told["left_out"]["entries"].as_u64().unwrap() >= 200,
        "{told}"
    );
    let short = project
        .call(&["--format", "agent", "--max-bytes", "1024"])
        .output();
    assert!(short.stdout.len() <= 1024, "{}", short.stdout);
    let refused = project
        .call(&["--format", "agent", "--max-bytes", "10"])
        .output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}
