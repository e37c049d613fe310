//! What jelly prints, held against the schemas that it publishes: every JSON
//! output of every test here is.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The published copies; a test of the documents holds them against what
/// `jelly schema` prints.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas")
}

static VALIDATORS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let mut validators = HashMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let schema: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        validators.insert(name, jsonschema::validator_for(&schema).unwrap());
    }
    validators
});

/// What of the schema of this name the value breaks.
pub fn breaches(name: &str, value: &Value) -> Vec<String> {
    let validator = VALIDATORS.get(name);
    let validator = validator.unwrap_or_else(|| panic!("there is no schema {name}"));
    let errors = validator.iter_errors(value);
    errors
        .map(|error| {
            // Of a choice, the values that none of its sides takes can be long.
            let text: String = error.to_string().chars().take(500).collect();
            format!("{}: {text}", error.instance_path())
        })
        .collect()
}

#[track_caller]
pub fn fits(name: &str, value: &Value) {
    let breaches = breaches(name, value);
    assert!(
        breaches.is_empty(),
        "what does not fit the schema {name}: {breaches:#?}"
    );
}

/// Holds what a call printed against the schema of its kind.
#[track_caller]
pub fn output_fits(args: &[String], stdout: &str) {
    let value_of = |names: [&str; 2]| {
        let at = args.iter().position(|arg| names.contains(&arg.as_str()))?;
        args.get(at + 1).map(String::as_str)
    };
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let format = value_of(["--format", "-f"]);
    let mode = value_of(["--mode", "--mode"]);
    if words.contains(&"--emit") || words.contains(&"--help") {
        return;
    }
    let one = match (words.as_slice(), format, mode) {
        (["run", ..], Some("json"), _) => "results",
        (["merge", ..], Some("json"), _) => "results",
        (["check", ..], Some("json"), _) => "check",
        (["config", ..], Some("json"), _) => "config",
        (["doctor", ..], Some("json"), _) => "doctor",
        (["history", "export", "--durations", ..], None, _) => "plan-times",
        (["history", "flaky", ..], Some("json"), _) => "history-flaky",
        (["history", "new", ..], Some("json"), _) => "history-new",
        (["history", "cause", ..], Some("json"), _) => "history-cause",
        (["history", "slow", ..], Some("json"), _) => "history-slow",
        (["history", "export", ..], None | Some("jsonl"), _) => {
            for line in stdout.lines() {
                fits("history-result", &serde_json::from_str(line).unwrap());
            }
            return;
        }
        (["history", ..], Some("json"), _) => "history",
        (["explain", ..], Some("json"), _) => "explain",
        (["rules", "list", ..], Some("json"), _) => "rules",
        (["rules", "show", ..], Some("json"), _) => "rule",
        (["rules", "explain", ..], Some("json"), _) => "rules-explain",
        (["triage", ..], Some("json"), None | Some("rca")) => "triage",
        (["triage", ..], Some("json"), Some("failures")) => "triage-failures",
        (["triage", ..], Some("json"), Some("locate")) => "triage-paths",
        (["triage", ..], Some("ctrf"), _) => "ctrf",
        (["triage", ..], Some("jsonl"), mode) => {
            for line in stdout.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                let name = match mode {
                    Some("failures") => "triage-failures-line",
                    Some("locate") => "triage-paths-line",
                    _ if line.get("report").is_some() => "triage-line",
                    _ => "diagnosis-line",
                };
                fits(name, &line);
            }
            return;
        }
        _ => return,
    };
    // What was refused prints nothing there.
    if !stdout.trim().is_empty() {
        let value = serde_json::from_str(stdout);
        let value = value.unwrap_or_else(|error| panic!("{args:?}: {error}\n{stdout}"));
        fits(one, &value);
    }
}
