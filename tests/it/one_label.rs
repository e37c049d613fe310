//! The same failure has one label wherever it is shown: in the run, in triage
//! of the run's report, with and without the properties that it has there, in
//! the hook's bundle, in the history and in doctor.

use crate::support::doctor::{examined, fixes, of};
use crate::support::{Project, Run, slice};
use jelly_base::testing::all_cases;
use jelly_mock::{CATALOGUE, Fault, FaultEntry};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A client knows no other.
const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// What a fault needs for its value, where it can't do without.
fn value_of(fault: &FaultEntry) -> Option<&'static str> {
    if fault.value.is_empty() || fault.value.starts_with('[') {
        return None;
    }
    Some(match fault.name {
        "stderr" => "Error: no luck today",
        "echo_env" => "HOME",
        "notify" => "notifications/unheard/of",
        "grandchild" => "child.pid",
        "require_env" => "SERVICE_TOKEN",
        "require_dir" => "/no/such/folder",
        other => panic!("the fault {other} is new: give it a value"),
    })
}

/// Every fault of the mock wherever it makes a difference, by the name of its
/// server.
fn faults() -> BTreeMap<String, String> {
    let mut all: Vec<(Fault, String)> = Vec::new();
    for fault in CATALOGUE {
        let value = value_of(fault);
        for at in [
            None,
            Some("spawn"),
            Some("handshake"),
            Some("list"),
            Some("call"),
        ] {
            // A fault that can't act there.
            let Ok(read) = Fault::new(fault.name, at, value) else {
                continue;
            };
            let at = at.map_or_else(String::new, |at| format!("@{at}"));
            let value = value.map_or_else(String::new, |value| format!("={value}"));
            if !all.iter().any(|(known, _)| *known == read) {
                all.push((read, format!("{}{at}{value}", fault.name)));
            }
        }
    }
    let named = |(index, (_, fault))| (format!("f{index}"), fault);
    all.into_iter().enumerate().map(named).collect()
}

/// What one sees of a diagnosis.
fn label(diagnosis: &Value) -> Value {
    assert!(diagnosis.is_object(), "{diagnosis}");
    json!([
        diagnosis["side"],
        diagnosis["ambiguous"].as_bool().unwrap_or_default(),
        diagnosis["error_category"],
        diagnosis["root_cause"],
        diagnosis["retryable"],
        diagnosis["fingerprint"],
    ])
}

type Labels = BTreeSet<(String, String)>;

/// The failures of the last iteration, each by its server: of several of one
/// step the one that decides.
fn labels_of_run(run: &Run) -> Labels {
    let failures = run.last().failures();
    let of_server = |failure: &&Value| {
        let server = failure["server"].as_str().unwrap().to_owned();
        (server, label(&failure["diagnosis"]).to_string())
    };
    failures.iter().map(of_server).collect()
}

/// What triage says of the failures that stand in a report.
fn triaged(project: &Project, report: &str) -> Vec<Value> {
    let ended = project
        .jelly(&["triage", report, "--format", "json"])
        .output();
    let told: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr));
    let failures = told["failures"].as_array().unwrap().iter();
    let stands = |failure: &&Value| failure["status"] != "flaky";
    failures.filter(stands).cloned().collect()
}

fn labels_of_report(project: &Project, report: &str) -> Labels {
    let failures = triaged(project, report);
    let of_server = |failure: &Value| {
        // CTRF has suites only.
        let names = [&failure["classname"], &failure["suite"]];
        let mut names = names.into_iter().filter_map(Value::as_str);
        let class = names.find(|name| !name.is_empty()).unwrap();
        let server = class.rsplit(['.', ' ']).next().unwrap().to_owned();
        (server, label(&failure["diagnosis"]).to_string())
    };
    failures.iter().map(of_server).collect()
}

/// A report without the properties that many tools drop.
fn without_properties(junit: &str) -> String {
    let mut out = String::new();
    let mut rest = junit;
    while let Some((before, after)) = rest.split_once("<properties>") {
        out.push_str(before);
        rest = after.split_once("</properties>").unwrap().1;
    }
    out.push_str(rest);
    assert!(!out.contains("jelly."), "{out}");
    out
}

/// The same without the texts of failures: some readers keep messages only.
fn without_texts(junit: &str) -> String {
    let mut out = junit.to_owned();
    for element in ["failure", "error"] {
        let (begin, end) = (format!("<{element} "), format!("</{element}>"));
        let mut kept = String::new();
        let mut rest = out.as_str();
        while let Some((before, after)) = rest.split_once(&begin) {
            let (attributes, after) = after.split_once('>').unwrap();
            kept.push_str(&format!("{before}{begin}{attributes}>"));
            rest = after;
            if !attributes.ends_with('/') {
                rest = &after[after.find(&end).unwrap()..];
            }
        }
        kept.push_str(rest);
        out = kept;
    }
    out
}

#[track_caller]
fn same(one: &Labels, other: &Labels, names: &BTreeMap<String, String>) {
    let told = |(server, label): &(String, String)| {
        format!(
            "{} ({server}): {label}",
            names.get(server).unwrap_or(server)
        )
    };
    let only_one: Vec<String> = one.difference(other).map(told).collect();
    let only_other: Vec<String> = other.difference(one).map(told).collect();
    assert!(
        only_one.is_empty() && only_other.is_empty(),
        "{only_one:#?} became {only_other:#?}"
    );
}

#[test]
fn every_fault_has_one_label_in_run_report_and_history() {
    let faults: BTreeMap<String, String> = slice(4, faults()).into_iter().collect();
    let servers: Map<String, Value> = faults
        .iter()
        .map(|(name, fault)| {
            let entry = json!({
                "command": "jelly",
                "args": ["mock", "--fault", fault],
                "startup_timeout": "3s",
                "request_timeout": "2s",
                "shutdown_timeout": "500ms",
            });
            (name.clone(), entry)
        })
        .collect();
    let steps: Vec<Value> = faults
        .keys()
        .map(|name| {
            json!({
                "id": format!("add-{name}"), "server": name, "tool": "add",
                "args": {"a": 1, "b": 2}, "expect": {"text": {"contains": "3"}},
            })
        })
        .collect();
    let plan = json!({
        "version": 1,
        "name": "faults",
        "budgets": {"max_iterations": 2, "retries": 0, "mcp_repairs": 0},
        "servers": servers,
        "steps": steps,
    });
    let project = Project::with(&plan.to_string());
    std::fs::create_dir(project.path(".jelly")).unwrap();
    let run = project.run(&["--report", "ctrf=ctrf.json"]);
    let labels = labels_of_run(&run);
    let least = if all_cases() { 60 } else { 14 };
    assert!(labels.len() > least, "{} failures only", labels.len());

    same(
        &labels,
        &labels_of_report(&project, "reports/latest/junit.xml"),
        &faults,
    );
    same(&labels, &labels_of_report(&project, "ctrf.json"), &faults);
    project.write("bare.xml", without_properties(&run.junit));
    same(&labels, &labels_of_report(&project, "bare.xml"), &faults);
    // A message that is all there is says whom nobody can blame.
    project.write(
        "messages.xml",
        without_texts(&without_properties(&run.junit)),
    );
    let in_doubt = |labels: &Labels| -> Labels {
        let ambiguous = |(_, label): &&(String, String)| label.starts_with("[\"test\",true,");
        labels.iter().filter(ambiguous).cloned().collect()
    };
    let of_messages = labels_of_report(&project, "messages.xml");
    assert!(!in_doubt(&labels).is_empty());
    assert!(
        in_doubt(&labels).is_subset(&of_messages),
        "{:#?}",
        in_doubt(&labels).difference(&of_messages)
    );

    let history = project.read(".jelly/history.jsonl");
    // What its reports say without its words is remembered behind it.
    let past: Value = serde_json::from_str(history.lines().next().unwrap()).unwrap();
    let causes = past["causes"].as_object().unwrap();
    // On a busy machine a fault may show otherwise in another iteration.
    let known: BTreeSet<String> = (1..=run.iterations().len())
        .flat_map(|index| run.iteration(index).failures())
        .map(|failure| label(&failure["diagnosis"]).to_string())
        .collect();
    assert!(!causes.is_empty());
    for (fingerprint, cause) in causes {
        let mut cause = cause.clone();
        cause["fingerprint"] = json!(fingerprint);
        let told = label(&cause).to_string();
        assert!(known.contains(&told), "{told}: {known:#?}");
    }
}

#[test]
fn what_a_run_tells_apart_the_triage_of_its_report_tells_apart() {
    let project = Project::empty();
    let steps = json!([
        {"id": "lacks", "server": "a", "tool": "fail", "args": {"message": "No module named 'pandas'"}},
        {"id": "differs", "server": "a", "tool": "echo", "args": {"message": "hi"},
            "expect": {"text": {"equals": "No module named 'pandas'"}}},
        {"id": "unknown", "server": "a", "tool": "nonexist", "expect": {"is_error": true, "text": {"contains": "y"}}},
    ]);
    // What the server says at its start stands beside each of them.
    let said = "stderr=ModuleNotFoundError: No module named 'pandas'";
    let plan = json!({
        "version": 1,
        "servers": {"a": {"command": JELLY, "args": ["mock", "--fault", said]}},
        "steps": steps,
    });
    project.write("plan.yaml", plan.to_string());
    let run = project.run(&[]);
    assert_eq!(run.last().failures().len(), 3);
    let args = ["triage", "reports/latest/junit.xml", "-f", "json"];
    let ended = project.jelly(&args).output();
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    let causes = told["clusters"].as_array().unwrap();
    let roots: BTreeSet<&str> = causes
        .iter()
        .map(|cause| cause["root_cause"].as_str().unwrap())
        .collect();
    let wanted = ["missing_module", "assertion_mismatch", "expected_error"];
    assert_eq!(roots, BTreeSet::from(wanted), "{told}");
    assert!(causes.iter().all(|cause| cause["count"] == 1), "{told}");
}

#[test]
fn doctor_and_run_give_a_server_that_does_not_start_one_label() {
    let project = Project::empty();
    project.write("script.js", "const x = 1;\nrequire('./gone');\n");
    project.write("script.py", "import os\nprint(os.nothing)\n");
    project.write("needs.py", "import no_such_module_anywhere\n");
    project.write("plain.sh", "#!/bin/sh\n");
    project.script("lost.py", "#!/no/such/venv/bin/python3\n");
    project.write(
        "old/package.json",
        r#"{"name": "old", "version": "1.0.0", "engines": {"node": ">=99"}}"#,
    );
    project.write("old/index.js", "process.exit(1)\n");
    let mut servers: BTreeMap<String, Value> = [
        ("nothing", json!({"command": "no-such-command-here"})),
        ("folder", json!({"command": JELLY, "args": ["mock"], "cwd": "/no/such/folder"})),
        ("module", json!({"command": "python3", "args": ["-m", "no_such_module_anywhere"]})),
        ("needs", json!({"command": "python3", "args": ["needs.py"]})),
        ("gone", json!({"command": "node", "args": ["gone.js"]})),
        ("gone_py", json!({"command": "python3", "args": ["gone.py"]})),
        ("raises", json!({"command": "python3", "args": ["script.py"]})),
        ("plain", json!({"command": "./plain.sh"})),
        ("lost", json!({"command": "./lost.py"})),
        ("js_by_python", json!({"command": "python3", "args": ["script.js"]})),
        ("py_by_node", json!({"command": "node", "args": ["script.py"]})),
        ("debugged", json!({"command": "node", "args": ["--inspect-brk=0", "script.js"]})),
        ("at_a_prompt", json!({"command": "python3", "args": ["-m", "pdb", "script.py"]})),
        ("old_node", json!({"command": "node", "args": ["old/index.js"]})),
        ("one_word", json!({"command": "node script.js"})),
        ("false", json!({"command": "false"})),
        ("variable", json!({
            "command": JELLY,
            "args": ["mock", "--fault", "stderr=Error: DATA_DIR is required", "--fault", "exit"],
            "env": {"DATA_DIR": "/no/such/place"},
        })),
    ]
    .into_iter()
    .map(|(name, server)| (name.to_owned(), server))
    .collect();
    for (name, fault) in slice(4, faults()) {
        let at_start = ["@spawn", "@handshake", "require_", "exit", "http_banner"];
        if at_start.iter().any(|place| fault.contains(place)) && !fault.starts_with("slow") {
            let entry = json!({"command": JELLY, "args": ["mock", "--fault", fault]});
            servers.insert(name, entry);
        }
    }
    let report = examined(&project, &servers, "10s");
    let mut plan =
        json!({"version": 1, "budgets": {"max_iterations": 1}, "servers": {}, "steps": []});
    for (index, (name, server)) in servers.iter().enumerate() {
        let mut server = server.clone();
        server["startup_timeout"] = json!("10s");
        plan["servers"][name] = server;
        let step = json!({"id": format!("s{index}"), "server": name, "list": "tools"});
        plan["steps"].as_array_mut().unwrap().push(step);
    }
    project.write("plan.yaml", plan.to_string());
    let run = project.run(&[]);
    let mut compared = 0;
    for failure in run.last().failures() {
        let phase = failure["phase"].as_str().unwrap();
        if ["config", "spawn", "handshake"].contains(&phase) {
            let name = failure["server"].as_str().unwrap();
            let diagnosis = &of(&report, name)["diagnosis"];
            assert_eq!(label(&failure["diagnosis"]), label(diagnosis), "{name}");
            assert_eq!(failure["diagnosis"]["rule"], diagnosis["rule"], "{name}");
            compared += 1;
        }
    }
    let least = if all_cases() { 30 } else { 16 };
    assert!(compared > least, "{compared}");
}

#[test]
fn a_hook_gets_the_labels_of_the_run() {
    for (fault, hook) in [
        ("exit@spawn", "fix_tests"),
        ("hang", "fix_tests"),
        ("error=-32602:Invalid params", "fix_tests"),
        ("null_result", "refine_code"),
        ("panic=python", "refine_code"),
    ] {
        let project = Project::with(&format!(
            "version: 1
budgets: {{ max_iterations: 2, retries: 0, mcp_repairs: 0, test_fixes: 1, code_refines: 1 }}
hooks: {{ {hook}: [./hook.sh] }}
servers: {{ s: {{ command: jelly, args: [mock, --fault, {fault:?}], request_timeout: 1s }} }}
steps: [ {{ id: add, tool: add, args: {{ a: 1, b: 2 }} }} ]
"
        ));
        project.script("hook.sh", "#!/bin/sh\ncat > bundle.json\nexit 1\n");
        let run = project.run(&[]);
        let bundle: Value = serde_json::from_str(&project.read("bundle.json")).unwrap();
        let of = |failures: &[Value]| -> Vec<Value> {
            failures.iter().map(|f| label(&f["diagnosis"])).collect()
        };
        let told = of(bundle["failures"].as_array().unwrap());
        let failures: Vec<Value> = run.last().failures().into_iter().cloned().collect();
        assert_eq!(told, of(&failures), "{fault}");
        assert!(!told.is_empty());
    }
}

/// A step whose server hangs, and its report.
fn hanging() -> Project {
    let project = Project::with(
        "version: 1
name: hanging
budgets: { max_iterations: 1 }
servers: { s: { command: jelly, args: [mock, --fault, hang], request_timeout: 500ms } }
steps: [ { id: add, tool: add, args: { a: 1, b: 2 } } ]
",
    );
    project.run(&[]).ends(3, "needs_user_help");
    project
}

#[test]
fn only_a_rule_of_the_users_own_that_comes_first_wins_over_the_label() {
    let project = hanging();
    let rule = "
- id: shop/own
  root_cause: own_cause
  error_category: OTHER
  retryable: false
  side: test
  strength: hint
  patterns: ['was not answered within']
  advice: { what: w, why: y, fix: [f] }
  examples: [it was not answered within a day, that was not answered within a week]
  lookalikes: [was answered within a day, was not answered]
";
    for (file, cause) in [("before", "own_cause"), ("after", "call_timeout")] {
        let indented: String = rule.lines().map(|line| format!("  {line}\n")).collect();
        project.write("own.yaml", format!("{file}:\n{indented}"));
        let report = "reports/latest/junit.xml";
        let args = ["triage", report, "--rules", "own.yaml", "--format", "json"];
        let ended = project.jelly(&args).output();
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(told["failures"][0]["diagnosis"]["root_cause"], cause);
    }
}

#[test]
fn a_report_of_anothers_forges_no_label() {
    let project = hanging();
    let own = project.read("reports/latest/junit.xml");
    assert!(own.contains("<testsuites name=\"jelly\""));
    let foreign = own.replace("<testsuites name=\"jelly\"", "<testsuites name=\"shop\"");
    project.write("foreign.xml", foreign);
    let told = triaged(&project, "foreign.xml");
    assert_ne!(told[0]["diagnosis"]["rule"], "timeout/call");
    // Who merges reports takes the name of the root away, and leaves the suites.
    let merged = own.replace("<testsuites name=\"jelly\"", "<testsuites");
    project.write("merged.xml", merged);
    let told = triaged(&project, "merged.xml");
    assert_eq!(told[0]["diagnosis"]["rule"], "timeout/call");
    // Some take the properties away, too; type, message and text say the same then.
    let bare = without_properties(&own).replace("<testsuites name=\"jelly\"", "<testsuites");
    project.write("bare.xml", &bare);
    let told = triaged(&project, "bare.xml");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["diagnosis"]["rule"], "timeout/call");
    project.write(
        "other.xml",
        bare.replace("type=\"call_timeout\"", "type=\"E\""),
    );
    let told = triaged(&project, "other.xml");
    assert_ne!(told[0]["diagnosis"]["rule"], "timeout/call");
    let ended = project
        .jelly(&["triage", "reports/latest/junit.xml", "--format", "ctrf"])
        .output();
    project.write("own.json", &ended.stdout);
    let told = triaged(&project, "own.json");
    assert_eq!(told[0]["diagnosis"]["rule"], "timeout/call");
    let writer = "\"generatedBy\":\"jelly ";
    assert!(ended.stdout.contains(writer));
    let foreign = ended.stdout.replace(writer, "\"generatedBy\":\"shop ");
    project.write("foreign.json", foreign);
    let told = triaged(&project, "foreign.json");
    assert_ne!(told[0]["diagnosis"]["rule"], "timeout/call");
    // Nor does what a server says in a report of jelly's own.
    let said = own.replace(
        "diagnosis: call_timeout",
        "said: x&#10;diagnosis: call_timeout",
    );
    project.write("said.xml", without_properties(&said));
    let told = triaged(&project, "said.xml");
    assert_ne!(told[0]["diagnosis"]["rule"], "timeout/call");
}

#[test]
fn triage_says_again_what_the_run_advised() {
    let project = hanging();
    let run = Run::of(&project, project.jelly(&["--version"]).output());
    let advice = &run.last().failure("add")["diagnosis"]["advice"];
    let told = triaged(&project, "reports/latest/junit.xml");
    assert_eq!(&told[0]["diagnosis"]["advice"], advice);
    assert_eq!(
        told[0]["diagnosis"]["evidence"],
        run.last().failure("add")["diagnosis"]["evidence"]
    );
}

/// Mistakes in how a server is launched, with what is said of each by doctor
/// and by the run of a plan.
#[test]
fn mistakes_of_the_launch_are_named_by_doctor_and_by_run() {
    let project = Project::empty();
    project.write("x.js", "setTimeout(() => {}, 9);\n");
    project.write("x.py", "import json\njson.dumps({})\n");
    project.write("shadow/json.py", "nothing = 1\n");
    project.write("shadow/x.py", "import json\njson.dumps({})\n");
    project.write("moved.py", "from collections import Mapping\n");
    project.write("old.py", "print \"hello\"\n");
    project.write("esm/package.json", r#"{"type": "module"}"#);
    project.write("esm/x.js", "const fs = require('fs');\n");
    project.write("reads.js", "const key = process.env.GATE_KEY.trim();\n");
    project.script("crlf.sh", "#!/bin/sh\r\nexit\r\n");
    project.script("crlf", "#!/usr/bin/env python3\r\npass\r\n");
    project.write("asserts.py", "import os\nassert os.getenv('GATE_CODE')\n");
    project.write(
        "guards.js",
        "if (!process.env.GATE_KEY) {\n  throw new Error('bad');\n}\n",
    );
    project.write("address.js", "1;\nnew URL(process.env.GATE_URL);\n");
    project.script("crlf.py", "#!/usr/bin/env python3\r\npass\r\n");
    project.script("bom.sh", "\u{feff}#!/bin/sh\nexit\n");
    project.script("env", "#!/usr/bin/env python3 -u\npass\n");
    project.script("bare.py", "import sys\n");
    project.script("empty", "");
    project.script(
        "page",
        "<!DOCTYPE html>\n<html><body>Not Found</body></html>\n",
    );
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 9\n";
    project.script("pointer", pointer);
    project.script("pe.exe", "MZ\0\0\0\0\0\0");
    let mut program = std::fs::read("/bin/true").unwrap();
    program[18] = if program[18] == 0xb7 { 0x3e } else { 0xb7 };
    let other = project.write("other", &program);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(other, mode).unwrap();
    let quoted = "\"x.js\"";
    let cases: [(&str, Value, &str, &str); 40] = [
        (
            "flag",
            json!({"command": "node", "args": ["--no-warnings x.js"]}),
            "doctor/words-not-split",
            "[\"--no-warnings\", \"x.js\"]",
        ),
        (
            "module",
            json!({"command": "python3", "args": ["-m srv"]}),
            "doctor/words-not-split",
            "[\"-m\", \"srv\"]",
        ),
        (
            "script",
            json!({"command": "python3", "args": ["x.py --stdio"]}),
            "doctor/words-not-split",
            "[\"x.py\", \"--stdio\"]",
        ),
        (
            "tab",
            json!({"command": "node", "args": ["gone.js\t--port 3"]}),
            "doctor/words-not-split",
            "[\"gone.js\", \"--port\", \"3\"]",
        ),
        (
            "blank_in_quotes",
            json!({"command": "node", "args": ["gone.js --dir '/tmp/a b'"]}),
            "doctor/words-not-split",
            "[\"gone.js\", \"--dir\", \"/tmp/a b\"]",
        ),
        (
            "quoted_code",
            json!({"command": "python3", "args": ["-c 'print(1)'"]}),
            "doctor/words-not-split",
            "[\"-c\", \"print(1)\"]",
        ),
        (
            "lost_line",
            json!({"command": "./gone.sh --x"}),
            "doctor/whole-line-in-command",
            "[\"--x\"]",
        ),
        (
            "quotes",
            json!({"command": "node", "args": [quoted]}),
            "doctor/quotes-in-argument",
            "[\"x.js\"]",
        ),
        (
            "cd",
            json!({"command": "cd esm && node x.js"}),
            "doctor/shell-line",
            "\"esm\"",
        ),
        (
            "apart",
            json!({"command": "cd", "args": ["esm", "&&", "node", "x.js"]}),
            "doctor/shell-line",
            "\"esm\"",
        ),
        (
            "no_c",
            json!({"command": "bash", "args": ["cd esm && node x.js"]}),
            "doctor/shell-line",
            "\"esm\"",
        ),
        (
            "line",
            json!({"command": "python3 -m srv"}),
            "doctor/whole-line-in-command",
            "[\"-m\", \"srv\"]",
        ),
        (
            "redirected",
            json!({"command": "python3", "args": ["x.py > log 2>&1"]}),
            "doctor/words-not-split",
            "[\"x.py\"]",
        ),
        (
            "quiet",
            json!({"command": "python3 x.py 2>/dev/null"}),
            "doctor/shell-line",
            "[\"x.py\"]",
        ),
        (
            "piped",
            json!({"command": "python3", "args": ["x.py --x | tee log"]}),
            "doctor/words-not-split",
            "[\"-c\", \"python3 x.py --x | tee log\"]",
        ),
        (
            "activated",
            json!({"command": "source .venv/bin/activate && python3 x.py"}),
            "doctor/shell-line",
            "/.venv/bin/python3\"",
        ),
        (
            "sourced",
            json!({"command": "source .env && ./x"}),
            "doctor/shell-line",
            "\"bash\"",
        ),
        (
            "with_c",
            json!({"command": "bash", "args": ["-c python3 x.py"]}),
            "doctor/words-not-split",
            "[\"-c\", \"python3 x.py\"]",
        ),
        (
            "subcommand",
            json!({"command": "git", "args": ["status --x"]}),
            "doctor/words-not-split",
            "[\"status\", \"--x\"]",
        ),
        (
            "quoted",
            json!({"command": "\"python3\"", "args": ["x.py"]}),
            "doctor/quotes-in-command",
            "\"python3\"",
        ),
        (
            "typographic",
            json!({"command": "python3", "args": ["“x.py”"]}),
            "doctor/quotes-in-argument",
            "[\"x.py\"]",
        ),
        (
            "empty",
            json!({"command": "./empty"}),
            "doctor/no-program",
            "is empty",
        ),
        (
            "page",
            json!({"command": "./page"}),
            "doctor/no-program",
            "is a web page",
        ),
        (
            "pointer",
            json!({"command": "./pointer"}),
            "doctor/no-program",
            "git lfs pull",
        ),
        (
            "pe",
            json!({"command": "./pe.exe"}),
            "doctor/other-architecture",
            "for Windows",
        ),
        (
            "crlf_sh",
            json!({"command": "./crlf.sh"}),
            "doctor/windows-line-ends",
            "crlf.sh:1",
        ),
        (
            "crlf_env",
            json!({"command": "./crlf"}),
            "doctor/windows-line-ends",
            "crlf:1",
        ),
        (
            "crlf_py",
            json!({"command": "./crlf.py"}),
            "doctor/windows-line-ends",
            "`*.py text eol=lf`",
        ),
        (
            "bom",
            json!({"command": "./bom.sh"}),
            "doctor/byte-order-mark",
            "bom.sh:1",
        ),
        (
            "env",
            json!({"command": "./env"}),
            "doctor/env-takes-one-word",
            "env -S python3 -u",
        ),
        (
            "bare",
            json!({"command": "./bare.py"}),
            "doctor/no-interpreter-line",
            "\"python3\"",
        ),
        (
            "other",
            json!({"command": "./other"}),
            "doctor/other-architecture",
            "machines with",
        ),
        (
            "shadow",
            json!({"command": "python3", "args": ["shadow/x.py"]}),
            "doctor/shadowed-module",
            "shadow/json.py",
        ),
        (
            "old",
            json!({"command": "python3", "args": ["old.py"]}),
            "python/python-2",
            "old.py:1",
        ),
        (
            "moved",
            json!({"command": "python3", "args": ["moved.py"]}),
            "python/collections-moved",
            "from collections.abc import Mapping",
        ),
        (
            "esm",
            json!({"command": "node", "args": ["esm/x.js"]}),
            "node/module-system",
            "`.cjs`",
        ),
        (
            "reads",
            json!({"command": "node", "args": ["reads.js"]}),
            "config/variable-read-in-vain",
            "GATE_KEY",
        ),
        (
            "asserts",
            json!({"command": "python3", "args": ["asserts.py"]}),
            "config/variable-read-in-vain",
            "GATE_CODE",
        ),
        (
            "guards",
            json!({"command": "node", "args": ["guards.js"]}),
            "doctor/variable-in-the-failing-line",
            "GATE_KEY",
        ),
        (
            "address",
            json!({"command": "node", "args": ["address.js"]}),
            "doctor/variable-in-the-failing-line",
            "GATE_URL",
        ),
    ];
    let servers: BTreeMap<&str, &Value> = cases
        .iter()
        .map(|(name, server, ..)| (*name, server))
        .collect();
    let report = examined(&project, &servers, "20s");
    let steps: Vec<Value> = cases
        .iter()
        .map(|(name, ..)| json!({"id": format!("s-{name}"), "server": name, "list": "tools"}))
        .collect();
    let plan = json!({
        "version": 1, "budgets": {"max_iterations": 1}, "servers": servers, "steps": steps,
    });
    project.write("plan.yaml", plan.to_string());
    let run = project.run(&[]);
    for (name, _, rule, told) in &cases {
        let of_doctor = &of(&report, name)["diagnosis"];
        let of_run = &run.last().failure(name)["diagnosis"];
        for diagnosis in [of_doctor, of_run] {
            assert_eq!(diagnosis["rule"], *rule, "{name}: {diagnosis:#}");
            let advice = diagnosis["advice"].to_string().replace("\\\"", "\"");
            assert!(advice.contains(told), "{name}: {advice}");
        }
        assert_eq!(label(of_doctor), label(of_run), "{name}");
    }
}

#[test]
fn a_path_that_only_a_shell_understands_is_named_with_the_whole_one() {
    let project = Project::empty();
    let whole = project.write("home/srv.py", "pass\n");
    let servers = json!({
        "tilde": {"command": "python3", "args": ["~/srv.py"]},
        "variable": {"command": "python3", "args": ["$HOME/srv.py"]},
        "program": {"command": "~/srv.py"},
    });
    project.write("mcp.json", json!({ "mcpServers": servers }).to_string());
    let names = ["tilde", "variable", "program"];
    let steps =
        names.map(|name| json!({"id": format!("s-{name}"), "server": name, "list": "tools"}));
    let plan = json!({
        "version": 1, "budgets": {"max_iterations": 1}, "servers": servers, "steps": steps,
    });
    project.write("plan.yaml", plan.to_string());
    let home = project.at("home");
    let doctor = ["doctor", "mcp.json", "--format", "json"];
    let ended = project.jelly(&doctor).env("HOME", &home).output();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let run = Run::of(&project, project.call(&[]).env("HOME", &home).output());
    for name in names {
        for told in [of(&report, name), run.last().failure(name)] {
            assert_eq!(told["diagnosis"]["rule"], "doctor/shell-path", "{told:#}");
            let fixes = fixes(told).join("\n");
            assert!(fixes.contains(&*whole.to_string_lossy()), "{name}: {fixes}");
        }
        // Once is enough.
        assert_eq!(of(&report, name)["findings"], json!([]), "{report:#}");
    }
}

#[test]
fn doctor_says_once_how_a_launch_is_put_right() {
    let project = Project::empty();
    project.write("x.py", "pass\n");
    project.script("orphan", "#!/no/such/python3\npass\n");
    let servers = json!({
        "folder": {"command": "cd /tmp && python3 x.py"},
        "words": {"command": "python3 -u x.py"},
        "orphan": {"command": project.path("orphan")},
    });
    let report = examined(&project, &servers, "20s");
    for name in ["folder", "words", "orphan"] {
        let told = of(&report, name);
        assert_eq!(told["findings"], json!([]), "{told:#}");
    }
    let fixes = fixes(of(&report, "orphan")).join("\n");
    assert!(!fixes.contains("Start it by its interpreter"), "{fixes}");
}

/// What is to be installed or built, and where, as both print it.
#[test]
fn what_a_server_lacks_is_installed_by_the_same_command_in_doctor_and_run() {
    let project = Project::empty();
    let python = |folder: &str, import: &str| {
        project.write(&format!("{folder}/server.py"), format!("{import}\n"));
        // Without what happens to be installed here.
        json!({"command": "python3", "args": ["-S", project.path(&format!("{folder}/server.py"))]})
    };
    project.write("listed/requirements.txt", "requests\n");
    let node = |folder: &str, package: Value, script: &str| {
        project.write(&format!("{folder}/package.json"), package.to_string());
        project.write(&format!("{folder}/index.js"), "import 'left-out';\n");
        json!({"command": "node", "args": [script], "cwd": project.path(folder)})
    };
    let package = |manager: &str| {
        json!({
            "name": "x", "type": "module", "packageManager": manager,
            "scripts": {"build": "tsc"}, "dependencies": {"left-out": "1"},
        })
    };
    let in_folder = |folder: &str, words: &str| format!("$ cd {} && {words}", project.at(folder));
    let cases: [(&str, Value, Option<String>); 8] = [
        (
            "jwt",
            python("jwt", "import jwt"),
            Some(" PyJWT".to_owned()),
        ),
        (
            "fitz",
            python("fitz", "import fitz"),
            Some(" pymupdf".to_owned()),
        ),
        (
            "cloud",
            python("cloud", "import google.cloud.storage"),
            Some(" google-cloud-storage".to_owned()),
        ),
        ("unknown", python("unknown", "import requests_nope_x"), None),
        (
            "listed",
            python("listed", "import requests_nope_x"),
            Some(format!(" -r {}", project.at("listed/requirements.txt"))),
        ),
        (
            "pnpm",
            node("pnpm", package("pnpm@9.0.0"), "index.js"),
            Some(in_folder("pnpm", "pnpm install")),
        ),
        (
            "yarn",
            node("yarn", package("yarn@4.0.0"), "index.js"),
            Some(in_folder("yarn", "yarn install")),
        ),
        (
            "unbuilt",
            node("unbuilt", package("bun@1.1.0"), "dist/index.js"),
            Some(in_folder("unbuilt", "bun install && bun run build")),
        ),
    ];
    let servers: BTreeMap<&str, &Value> = cases
        .iter()
        .map(|(name, server, _)| (*name, server))
        .collect();
    let report = examined(&project, &servers, "20s");
    let steps: Vec<Value> = cases
        .iter()
        .map(|(name, ..)| json!({"id": format!("s-{name}"), "server": name, "list": "tools"}))
        .collect();
    let plan = json!({
        "version": 1, "budgets": {"max_iterations": 1}, "servers": servers, "steps": steps,
    });
    project.write("plan.yaml", plan.to_string());
    let run = project.run(&[]);
    for (name, _, command) in &cases {
        for told in [of(&report, name), run.last().failure(name)] {
            let installs: Vec<&str> = fixes(told)
                .into_iter()
                .filter(|fix| fix.starts_with("$ ") && fix.contains(" install"))
                .collect();
            match command {
                Some(end) => assert!(
                    installs.iter().any(|line| line.ends_with(end)),
                    "{name}: {told:#}"
                ),
                None => assert!(installs.is_empty(), "{name}: {told:#}"),
            }
        }
    }
}

#[test]
fn what_a_server_says_of_its_error_and_logs_is_evidence_and_help() {
    let refused = "connect ECONNREFUSED 127.0.0.1:5432";
    let project = Project::with(&format!(
        "version: 1
budgets: {{ max_iterations: 1 }}
servers:
  s: {{ command: jelly, args: [mock, --fault, {:?}, --fault, error], request_timeout: 5s }}
steps: [ {{ id: add, tool: add, args: {{ a: 1, b: 2 }} }} ]
",
        format!("log={refused}")
    ));
    let run = project.run(&[]);
    let diagnosis = &run.last().failure("add")["diagnosis"];
    assert_eq!(
        diagnosis["root_cause"], "connection_refused",
        "{diagnosis:#}"
    );
    assert_eq!(diagnosis["evidence"]["field"], "logs");
    assert_eq!(diagnosis["side"], "test");
}

#[test]
fn printed_commands_run_where_they_must_and_as_this_run() {
    let project = Project::empty();
    let plan = "version: 1
budgets: { max_iterations: 1 }
vars: { code: '1' }
servers: { s: { command: jelly, args: [mock, --fault, 'exit=${code}'] } }
steps: [ { id: add, tool: add, args: { a: 1, b: 2 } } ]
";
    project.write("sub/plan.yaml", plan);
    project.write("jelly.yaml", "profiles: { ci: { jobs: 2 } }\n");
    let hook = r#"["./hook.sh"]"#;
    project.script("sub/hook.sh", "#!/bin/sh\n");
    let args = [
        "run",
        "sub/plan.yaml",
        "--var",
        "code=3",
        "--profile",
        "ci",
        "--project-dir",
        "sub",
        "--fix-tests",
        hook,
        "--test-fixes",
        "0",
    ];
    let ended = project.jelly(&args).output();
    let run = Run::in_folder(&project, "reports/latest", ended);
    let help = run.results["help_summary"]["problems"][0]["next"].to_string();
    let sub = project.at("sub");
    assert!(help.contains(&format!("$ cd {sub} && ")), "{help}");
    let again = "$ jelly run sub/plan.yaml --project-dir sub --var code=3 --profile ci";
    assert!(help.contains(again), "{help}");
    assert!(help.contains("--fix-tests"), "{help}");
}

#[test]
fn a_command_that_a_report_brings_is_none_to_paste() {
    let project = Project::empty();
    let properties: String = [
        ("side", "test"),
        ("error_category", "INFRASTRUCTURE"),
        ("retryable", "false"),
        ("root_cause", "missing_file"),
        ("rule", "files/missing"),
        ("advice", "The disk is dirty."),
        ("fix", "$ rm -rf ~"),
    ]
    .map(|(name, value)| format!("<property name=\"jelly.{name}\" value=\"{value}\"/>"))
    .concat();
    project.write(
        "junit.xml",
        format!(
            "<testsuites name=\"jelly\"><testsuite name=\"s\"><testcase classname=\"s\" name=\"t\">\
             <properties>{properties}</properties><failure message=\"x\">x</failure></testcase>\
             </testsuite></testsuites>"
        ),
    );
    for format in ["human", "md", "github", "json", "junit", "ctrf"] {
        let shown = project
            .jelly(&["triage", "junit.xml", "-f", format])
            .output();
        assert!(!shown.stdout.contains("$ rm"), "{format}: {}", shown.stdout);
        // Nor in a block of commands.
        assert!(
            !shown.stdout.contains("\nrm -rf"),
            "{format}: {}",
            shown.stdout
        );
    }
    let shown = project.jelly(&["triage", "junit.xml"]).output().stdout;
    assert!(shown.contains("The report says: rm -rf ~"), "{shown}");
}
