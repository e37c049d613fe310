//! What clients of others show of a server that dies behind `jelly proxy`. A
//! slice: `fixtures/clients/table.py` has all ways to die, and more clients.

use crate::proxy_deaths::{Death, deaths};
use crate::support::listening::Listening;
use crate::support::{Project, fixtures};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// At start, in a call, and late.
const SLICE: [&str; 4] = [
    "invalid YAML",
    "command not found",
    "exception in a call",
    "a slow start",
];

#[test]
fn the_official_typescript_client_shows_cause_and_fix() {
    shows_cause_and_fix("node", "typescript_client.mjs", "1");
}

#[test]
fn the_typescript_client_that_probes_for_the_era_shows_cause_and_fix() {
    shows_cause_and_fix("node", "typescript_client.mjs", "auto");
}

#[test]
fn the_official_python_client_shows_cause_and_fix() {
    let python = fixtures().join("pypi/.venv/shell/bin/python");
    shows_cause_and_fix(&python.display().to_string(), "python_client.py", "session");
}

/// Over HTTP, each behind a proxy of its own.
#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn clients_over_http_show_cause_and_fix() {
    let project = Project::empty();
    let deaths = deaths();
    let chosen = slice(&deaths);
    let listening: Vec<Listening> = chosen
        .iter()
        .map(|death| {
            let mut args = vec!["--listen", "127.0.0.1:0"];
            args.extend(death.flags.iter().map(String::as_str));
            args.push("--");
            args.extend(death.command.iter().map(String::as_str));
            Listening::of(&project, "proxy", &args, &[])
        })
        .collect();
    let servers: Vec<Value> = chosen
        .iter()
        .zip(&listening)
        .map(|(death, proxy)| {
            json!({ "name": death.name, "in_use": death.in_use, "command": [], "url": proxy.url() })
        })
        .collect();
    let python = fixtures().join("pypi/.venv/shell/bin/python");
    for (program, client, mode) in [
        ("node", "typescript_client.mjs", "1"),
        ("node", "typescript_client.mjs", "auto"),
        (
            &*python.display().to_string(),
            "python_client.py",
            "session",
        ),
    ] {
        shown_by((program, client, mode), &chosen, &servers);
    }
}

fn slice(deaths: &[Death]) -> Vec<&Death> {
    let chosen: Vec<&Death> = deaths
        .iter()
        .filter(|death| SLICE.contains(&death.name.as_str()))
        .collect();
    assert_eq!(chosen.len(), SLICE.len());
    chosen
}

#[track_caller]
fn shows_cause_and_fix(program: &str, client: &str, mode: &str) {
    let deaths = deaths();
    let chosen = slice(&deaths);
    let servers: Vec<Value> = chosen
        .iter()
        .map(|death| {
            let command: Vec<&str> = [JELLY, "proxy"]
                .into_iter()
                .chain(death.flags.iter().map(String::as_str))
                .chain(["--"])
                .chain(death.command.iter().map(String::as_str))
                .collect();
            json!({ "name": death.name, "in_use": death.in_use, "command": command })
        })
        .collect();
    shown_by((program, client, mode), &chosen, &servers);
}

/// Has a client ask the servers, and looks at what it shows.
#[track_caller]
fn shown_by((program, client, mode): (&str, &str, &str), chosen: &[&Death], servers: &[Value]) {
    let mut child = Command::new(program)
        .arg(fixtures().join("clients").join(client))
        .arg(mode)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}; run ./fixtures/setup first"));
    let told = json!(servers).to_string();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(told.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let shown: BTreeMap<String, String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            (text("name"), text("shown"))
        })
        .collect();
    for death in chosen {
        let shown = shown.get(&death.name);
        let shown = shown.unwrap_or_else(|| panic!("{}: nothing: {stderr}", death.name));
        assert!(shown.contains(&death.says), "{}: {shown}", death.name);
        assert!(shown.contains("Fix: "), "{}: {shown}", death.name);
    }
}
