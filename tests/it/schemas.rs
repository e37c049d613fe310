//! The published schemas against what is there: plans, and the output of every
//! command. Those of all other tests are held against them too, where they
//! are made (`support::schemas`).

use crate::support::schemas::{breaches, fits};
use crate::support::{Project, Run, fixtures};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A document of YAML as a value.
fn yaml(text: &str) -> Value {
    // As editors read it: `y` is a text.
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["node_modules", ".venv", "schemas"].contains(&name) {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Blocks of a page that begin with this fence.
fn blocks(page: &str, info: &str) -> Vec<String> {
    let fence = format!("```{info}\n");
    let parts = page.split(fence.as_str()).skip(1);
    let block = |part: &str| part.split("\n```").next().unwrap().to_owned() + "\n";
    parts.map(block).collect()
}

#[test]
fn every_plan_of_the_repository_fits_the_schema() {
    let mut checked = 0;
    for path in files(&root().join("plans"), "yaml") {
        fits("plan", &yaml(&fs::read_to_string(path).unwrap()));
        checked += 1;
    }
    assert!(checked > 5, "{checked}");
    let mut shown = 0;
    let mut pages = files(&root().join("docs"), "md");
    pages.push(root().join("README.md"));
    for path in pages {
        let page = fs::read_to_string(&path).unwrap();
        for block in blocks(&page, "yaml") {
            fits("plan", &yaml(&block));
            shown += 1;
        }
        for block in blocks(&page, "yaml jelly.yaml") {
            fits("settings", &yaml(&block));
        }
        for block in blocks(&page, "yaml rules") {
            fits("rules-file", &yaml(&block));
        }
    }
    assert!(shown > 0, "the README shows a plan");
}

#[test]
fn the_built_in_rules_fit_the_schema_of_rules() {
    let rules = files(&root().join("crates/triage/src/engine/rules"), "yaml");
    assert!(rules.len() > 10);
    for path in rules {
        fits("rules-file", &yaml(&fs::read_to_string(path).unwrap()));
    }
}

#[test]
fn the_labelled_failures_fit_the_schema_of_the_input() {
    let mut lines = 0;
    for path in files(&fixtures().join("corpus"), "jsonl") {
        for line in fs::read_to_string(path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line.get("failure").is_some() {
                fits("failure", &line);
                lines += 1;
            }
        }
    }
    assert!(lines > 20, "{lines}");
}

#[test]
fn what_is_no_plan_does_not_fit() {
    let good = yaml(
        "version: 1\nservers: { s: { command: x } }\nsteps: [{ tool: t, expect: { text: { contains: a } } }]",
    );
    fits("plan", &good);
    for (at, wrong) in [
        ("/version", json!(2)),
        ("/servers", json!({})),
        ("/servers/s", json!({})),
        ("/servers/s/command", json!(["x"])),
        ("/steps", json!([])),
        ("/steps/0", json!({ "tool": "t", "list": "tools" })),
        ("/steps/0/tool", json!("${x}")),
        ("/steps/0/expect", json!({ "is_error": null })),
        ("/steps/0/expect/text", json!({ "contain": "a" })),
        ("/steps/0/expect/text", json!({ "lt": 1 })),
        ("/steps/0/expect/text/contains", json!(1)),
    ] {
        let mut plan = good.clone();
        *plan.pointer_mut(at).unwrap() = wrong.clone();
        assert!(!breaches("plan", &plan).is_empty(), "{wrong} at {at}");
    }
}

#[test]
fn where_something_else_is_tested_no_step_needs_to_be() {
    for others in [
        "servers: { s: { command: x, startup: { refuses: {} } } }",
        "servers: { a: { command: x }, s: { command: x, startup: { refuses: {} } } }",
        "servers: { s: { command: x } }\ninclude: steps.yaml",
    ] {
        fits("plan", &yaml(&format!("version: 1\n{others}\nsteps: []")));
    }
}

#[test]
fn the_names_are_listed_and_a_wrong_one_is_told_the_right_one() {
    let project = Project::empty();
    let listed = project.jelly(&["schema"]).output();
    assert_eq!(listed.code, Some(0));
    for path in files(&root().join("docs").join("schemas"), "json") {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            listed.stdout.lines().any(|line| line.starts_with(&name)),
            "{name} in {}",
            listed.stdout
        );
    }
    let wrong = project.jelly(&["schema", "plans"]).output();
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(
        wrong.stderr.contains("did you mean `plan`?"),
        "{}",
        wrong.stderr
    );
    let refused = project
        .jelly(&["schema", "--write", "/dev/null/x"])
        .output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("/dev/null/x"), "{}", refused.stderr);
    // The disk takes so much of a file: none of them appears.
    let limited = r#"ulimit -f 4; exec "$0" "$@""#;
    let full = project
        .wrapped("bash", &["-c", limited])
        .args(&["schema", "--write", "schemas"])
        .output();
    assert_eq!(full.code, Some(3), "{}", full.stderr);
    assert!(full.stderr.contains("failed to write"), "{}", full.stderr);
    assert!(files(&project.path("schemas"), "json").is_empty());
}

#[test]
fn a_schema_says_which_one_it_is_and_describes_itself() {
    let project = Project::empty();
    let printed = project.jelly(&["schema", "plan"]).output();
    let schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(schema["$id"], "urn:jelly:schema:plan:1");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!(["version"]));
    let timeout = &schema["$defs"]["Server"]["properties"]["startup_timeout"];
    assert!(timeout["description"].as_str().unwrap().contains("30s"));
}

/// A run with failures of every kind and with a hook that keeps what it read.
#[test]
fn what_a_run_leaves_fits() {
    let project = Project::with(
        r#"version: 1
servers:
  good: { command: jelly, args: [mock] }
  dead: { command: jelly, args: [mock, --fault, "stderr=Error: Cannot find module 'left-pad'", --fault, "exit=7"] }
  gone: { command: /no/such/command }
hooks: { fix_tests: [sh, -c, "cat > bundle.json; exit 1"] }
steps:
  - { id: fine, server: good, tool: echo, args: { message: hi } }
  - { id: wrong, server: good, tool: add, args: { a: 1, b: 1 }, expect: { structured: { equals: { sum: 3 } } } }
  - { id: typo, server: good, tool: ech, args: { message: hi } }
  - { id: dies, server: dead, tool: echo, args: { message: hi } }
  - { id: none, server: gone, tool: echo }
"#,
    );
    fs::create_dir(project.path(".jelly")).unwrap();
    let run = project.run(&["--record", "--wire-check"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.last().failures().len() >= 3);
    fits(
        "hook",
        &serde_json::from_str(&project.read("bundle.json")).unwrap(),
    );
    let lines = |name: &str, schema: &str| {
        let text = project.read(name);
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(!lines.is_empty(), "{name}");
        lines.iter().for_each(|line| fits(schema, line));
    };
    lines("reports/latest/wire.jsonl", "wire-line");
    lines(".jelly/history.jsonl", "history-line");

    for args in [
        &["history", "--format", "json"][..],
        &["history", "--cause", "--format", "json"],
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        fits("history", &serde_json::from_str(&ended.stdout).unwrap());
    }
    let prints: Vec<&str> = run
        .last()
        .failures()
        .iter()
        .map(|failure| failure["diagnosis"]["fingerprint"].as_str().unwrap())
        .collect();
    for args in [
        &["explain", prints[0], "--format", "json"][..],
        &[
            "explain", "--diff", prints[0], prints[1], "--format", "json",
        ],
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        fits("explain", &serde_json::from_str(&ended.stdout).unwrap());
    }
}

#[test]
fn runs_of_several_plans_and_of_a_matrix_fit() {
    let plan = "version: 1\nservers: { s: { command: jelly, args: [mock] } }\nsteps: [{ tool: echo, args: { message: hi } }]\n";
    let project = Project::with(plan);
    project.write("bad.yaml", "version: 2\n");
    project.write(
        "matrix.yaml",
        "version: 1\nmatrix: { servers: { it: [a, b] } }\nservers:\n  a: { command: jelly, args: [mock] }\n  b: { command: jelly, args: [mock, --era, legacy] }\nsteps: [{ server: it, tool: echo, args: { message: hi } }, { server: it, list: tools }]\n",
    );
    for (plans, code) in [
        (&["plan.yaml"][..], 0),
        (&["bad.yaml"], 2),
        (&["plan.yaml", "bad.yaml"], 2),
        (&["matrix.yaml"], 0),
    ] {
        let args = [&["run", "--format", "json"], plans].concat();
        let ended = project.jelly(&args).output();
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        fits("results", &serde_json::from_str(&ended.stdout).unwrap());
    }
    let run = Run::of(&project, project.jelly(&["run", "matrix.yaml"]).output());
    assert!(run.results["matrix"].is_array());
    let args = [
        "check",
        "plan.yaml",
        "bad.yaml",
        "none.yaml",
        "--format",
        "json",
    ];
    let checked = project.jelly(&args).output();
    fits("check", &serde_json::from_str(&checked.stdout).unwrap());
}

#[test]
fn what_triage_prints_fits_in_every_form() {
    let project = Project::empty();
    let reports = fixtures().join("reports");
    let reports = reports.to_str().unwrap();
    let printed = |args: &[&str]| {
        let args = [&["triage", reports], args].concat();
        let ended = project.jelly(&args).output();
        assert!(ended.stdout.len() > 10, "{args:?}: {}", ended.stderr);
        ended.stdout
    };
    let value = |args: &[&str]| serde_json::from_str::<Value>(&printed(args)).unwrap();
    fits("triage", &value(&["--format", "json"]));
    fits(
        "triage-failures",
        &value(&["--mode", "failures", "--format", "json"]),
    );
    fits(
        "triage-paths",
        &value(&["--mode", "locate", "--format", "json"]),
    );
    fits("ctrf", &value(&["--format", "ctrf"]));
    for (args, schema) in [
        (&["--format", "jsonl"][..], "triage-line"),
        (
            &["--mode", "failures", "--format", "jsonl"],
            "triage-failures-line",
        ),
        (
            &["--mode", "locate", "--format", "jsonl"],
            "triage-paths-line",
        ),
    ] {
        for line in printed(args).lines() {
            fits(schema, &serde_json::from_str(line).unwrap());
        }
    }
    let line = r#"{"id": 7, "failure": {"phase": "spawn", "spawn_error": {"errno": 2, "name": "ENOENT"}}}"#;
    fits("failure", &serde_json::from_str(line).unwrap());
    project.write("failures.jsonl", line);
    let ended = project.jelly(&["triage", "failures.jsonl"]).output();
    fits(
        "diagnosis-line",
        &serde_json::from_str(ended.stdout.trim()).unwrap(),
    );
}

#[test]
fn what_doctor_and_rules_print_fits() {
    let project = Project::empty();
    let servers = json!({
        "good": { "command": JELLY, "args": ["mock"] },
        "gone": { "command": "/no/such/command", "env": { "API_TOKEN": "sk-1234567890abcdef" } },
    });
    project.write("mcp.json", json!({ "mcpServers": servers }).to_string());
    for args in [
        &["doctor", "mcp.json", "--format", "json"][..],
        &["doctor", "mcp.json", "--dry-run", "--format", "json"],
    ] {
        let ended = project.jelly(args).output();
        fits("doctor", &serde_json::from_str(&ended.stdout).unwrap());
    }
    for (args, schema) in [
        (&["rules", "list", "--format", "json"][..], "rules"),
        (
            &["rules", "show", "network/refused", "--format", "json"],
            "rule",
        ),
        (
            &[
                "rules",
                "explain",
                "connect ECONNREFUSED 127.0.0.1:1",
                "--format",
                "json",
            ],
            "rules-explain",
        ),
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        fits(schema, &serde_json::from_str(&ended.stdout).unwrap());
    }
}
