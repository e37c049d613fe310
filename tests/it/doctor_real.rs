//! `jelly doctor` on real servers from npm and PyPI: five that are healthy,
//! ten that are broken in ten ways, and what mends each, pasted as it is
//! printed with its blanks filled.
//!
//! Three things are not as they were published: the registry is one of our own
//! that knows no package, so that no test needs a network; Node 16 is a script
//! that prints what Node 16.20.2 printed of `mcp-remote` 0.15.1, since the
//! whole Node would be the largest part of all downloads; and the server on the
//! wrong `mcp` is of a few lines. docs/doctor.md shows the same by hand.

use crate::support::doctor::{examined, fixes, of};
use crate::support::{HeldPort, Project, fixtures, real};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

const OLD_NODE: &str = r#"#!/bin/sh
cat >&2 <<'END'
file:///srv/node_modules/eventsource-parser/dist/stream.js:3
class EventSourceParserStream extends TransformStream {
                                      ^

ReferenceError: TransformStream is not defined
    at file:///srv/node_modules/eventsource-parser/dist/stream.js:3:39
    at ModuleJob.run (node:internal/modules/esm/module_job:193:25)
    at async Promise.all (index 0)
    at async ESMLoader.import (node:internal/modules/esm/loader:530:24)
    at async loadESM (node:internal/process/esm_loader:91:5)
    at async handleMainPromise (node:internal/modules/run_main:65:12)
END
exit 1
"#;

const FASTMCP: &str = r#"
from mcp.server.fastmcp import FastMCP

server = FastMCP("notes")


@server.tool()
def count() -> int:
    """Counts the notes."""
    return 0


server.run()
"#;

/// A registry that has no package; its URL.
fn empty_registry() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = r#"{"error":"Not found"}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

fn npm(package: &str) -> String {
    real(&format!(
        "npm/node_modules/@modelcontextprotocol/{package}/dist/index.js"
    ))
}

fn node(package: &str, args: &[&str]) -> Value {
    let mut words = vec![npm(package)];
    words.extend(args.iter().map(|arg| (*arg).to_owned()));
    json!({ "command": "node", "args": words })
}

/// The fifteen.
fn servers(project: &Project, taken: u16, silent: &HeldPort, registry: &str) -> Map<String, Value> {
    std::fs::create_dir(project.path("data")).unwrap();
    let data = project.path("data").display().to_string();
    let projects = project.path("projects").display().to_string();
    let old_node = project.script("old/node", OLD_NODE);
    let notes = project.write("notes.py", FASTMCP);
    let package = json!({ "name": "notes", "version": "1.0.0",
        "scripts": { "start": format!("node {}", npm("server-memory")) } });
    project.write("notes/package.json", package.to_string());
    let Value::Object(servers) = json!({
        "everything": node("server-everything", &[]),
        "files": node("server-filesystem", &[&data]),
        "memory": node("server-memory", &[]),
        "shell": { "command": real("pypi/.venv/shell/bin/mcp-shell-server"),
                   "env": { "ALLOW_COMMANDS": "ls" } },
        "echo": { "command": real("pypi/.venv/mcp-1.0.0/bin/python"),
                  "args": [real("pypi/echo_server.py")] },

        "no-command": { "command": "mcp-server-echo", "args": [real("pypi/echo_server.py")] },
        "no-package": { "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesytem", data],
            "cwd": fixtures().join("npm"),
            "env": { "npm_config_registry": registry,
                     "npm_config_cache": project.path("npm-cache") } },
        "no-arguments": node("server-postgres", &[]),
        "no-folder": node("server-filesystem", &[&projects]),
        "no-key": node("server-brave-search", &[]),
        "old-node": { "command": old_node, "args": [npm("server-memory")] },
        "port": { "command": "node", "args": [npm("server-everything"), "streamableHttp"],
                  "env": { "PORT": taken.to_string() } },
        "mismatch": { "command": real("pypi/.venv/mcp-1.0.0/bin/python"), "args": [notes] },
        "junk": { "command": "npm", "args": ["start"], "cwd": project.path("notes") },
        "mute": { "command": "node", "args": [npm("server-everything"), "streamableHttp"],
                  "env": { "PORT": silent.number().to_string() } },
    }) else {
        unreachable!("an object is one");
    };
    servers
}

/// Pastes the first member of this name and with these blanks that a fix
/// writes, the blanks filled.
#[track_caller]
fn paste(entry: &mut Value, server: &Value, member: &str, blanks: &[(&str, &str)]) {
    let fixes = fixes(server);
    let start = format!("\"{member}\": ");
    let line = fixes
        .iter()
        .find(|fix| fix.starts_with(&start) && blanks.iter().all(|(blank, _)| fix.contains(blank)));
    let mut line = (*line.unwrap_or_else(|| panic!("{member}: {fixes:#?}"))).to_owned();
    for (blank, value) in blanks {
        line = line.replace(blank, value);
    }
    assert!(!line.contains('<'), "no blank is left: {line}");
    let members: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).unwrap();
    for (name, value) in members {
        entry[name] = value;
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn fifteen_servers_are_told_what_ails_them_and_mended_by_what_is_printed() {
    let project = Project::empty();
    let taken = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let silent = HeldPort::new();
    let mut servers = servers(&project, port, &silent, &empty_registry());
    let report = examined(&project, &servers, "20s");
    assert_eq!(report["exit_code"], 3);
    for name in ["everything", "files", "memory", "shell", "echo"] {
        let server = of(&report, name);
        assert_eq!(server["state"], "healthy", "{server:#}");
    }
    for (name, cause) in [
        ("no-command", "command_not_found"),
        ("no-package", "package_not_found"),
        ("no-arguments", "missing_argument"),
        ("no-folder", "missing_directory"),
        ("no-key", "missing_env_var"),
        ("old-node", "runtime_version_mismatch"),
        ("port", "port_in_use"),
        ("mismatch", "dependency_version_mismatch"),
        ("junk", "stdout_pollution"),
        ("mute", "transport_mismatch"),
    ] {
        let server = of(&report, name);
        assert_eq!(server["diagnosis"]["root_cause"], cause, "{server:#}");
        let state = if name == "junk" { "unwell" } else { "broken" };
        assert_eq!(server["state"], state, "{server:#}");
    }

    let mut mend = |name: &str, member: &str, blanks: &[(&str, &str)]| {
        paste(&mut servers[name], of(&report, name), member, blanks);
    };
    let python = real("pypi/.venv/mcp-1.0.0/bin/python");
    mend(
        "no-command",
        "command",
        &[("<full path of mcp-server-echo>", &python)],
    );
    mend("no-package", "args", &[]);
    mend(
        "no-arguments",
        "args",
        &[("<database URL>", "postgresql://127.0.0.1:1/db")],
    );
    mend("no-key", "env", &[("<value of BRAVE_API_KEY>", "any")]);
    mend(
        "old-node",
        "command",
        &[("<path of the newer node>", "node")],
    );
    mend("port", "args", &[]);
    mend("junk", "args", &[]);
    mend("mute", "args", &[]);
    let mkdir = fixes(of(&report, "no-folder"))
        .into_iter()
        .find_map(|fix| fix.strip_prefix("$ mkdir"))
        .unwrap();
    let made = Command::new("sh")
        .args(["-c", &format!("mkdir{mkdir}")])
        .status();
    assert!(made.unwrap().success());
    // Without a network nothing can be installed; another environment has it.
    let install = format!("$ {python} -m pip install 'mcp>1.0.0,<2'");
    let mismatch = fixes(of(&report, "mismatch"));
    assert!(mismatch.contains(&install.as_str()), "{mismatch:#?}");
    servers["mismatch"]["command"] = json!(real("pypi/.venv/shell/bin/python"));

    let report = examined(&project, &servers, "60s");
    for server in report["servers"].as_array().unwrap() {
        if server["name"] == "no-arguments" {
            // It starts now, and says so of the database that there is not.
            let cause = &server["diagnosis"]["root_cause"];
            assert_eq!(
                (&server["tools"], cause),
                (&json!(1), &json!("connection_refused"))
            );
        } else {
            assert_eq!(server["state"], "healthy", "{server:#}");
        }
    }
    drop(taken);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_command_for_a_mute_server_shows_what_it_does_instead() {
    let project = Project::empty();
    let mut servers = Map::new();
    let silent = HeldPort::new();
    let server = json!({ "command": "node", "args": [npm("server-everything"), "streamableHttp"],
                         "env": { "PORT": silent.number().to_string() } });
    servers.insert("mute".to_owned(), server);
    let report = examined(&project, &servers, "4s");
    let line = of(&report, "mute")["by_hand"].as_str().unwrap();
    let mut shown = Command::new("sh")
        .args(["-c", &format!("{{ {line}; }} 2>&1")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let told = BufReader::new(shown.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("listening on port"));
    let group = rustix::process::Pid::from_child(&shown);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    shown.wait().unwrap();
    assert!(told, "{line}");
}

/// What each of the four says, by `jelly doctor` and by `jelly run`, of the
/// very words of real programs.
#[test]
fn the_four_classic_errors_are_told_by_both_commands() {
    let project = Project::empty();
    let log = project.path("logs/server.log").display().to_string();
    let write = |name: &str, text: &str| project.write(name, text).display().to_string();
    let py = write(
        "log.py",
        &format!("import logging\n\nlogging.basicConfig(filename={log:?})\n"),
    );
    let js = write(
        "log.js",
        &format!("const fs = require('node:fs')\n\nfs.appendFileSync({log:?}, 'x')\n"),
    );
    let upstream = write(
        "bridge.py",
        "import subprocess\n\nsubprocess.Popen(['no-such-upstream'])\n",
    );
    let bridge = write(
        "bridge.js",
        "require('node:child_process').spawn('no-such-upstream')\n",
    );
    let says = |words: &str| json!({ "command": "sh", "args": ["-c", "printf '%s\\n' \"$1\" >&2; exit 1", "server", words] });
    let lines = "\n".repeat(14);
    let broken = write("settings.json", &format!("{{{lines}\"a\": 1 \"b\": 2 }}\n"));
    let json_py = write(
        "settings.py",
        &format!("import json\n\njson.load(open({broken:?}))\n"),
    );
    let mut servers = Map::new();
    let mut cases: Vec<(String, &str, Vec<String>)> = Vec::new();
    let mut add = |name: &str, server: Value, cause: &'static str, told: &[&str]| {
        servers.insert(name.to_owned(), server);
        let told = told.iter().map(|told| (*told).to_owned()).collect();
        cases.push((name.to_owned(), cause, told));
    };
    let folder = project.path("logs").display().to_string();
    let create = format!("The folder {folder} does not exist: create it, or name another one");
    let mkdir = format!("$ mkdir -p {folder}");
    for (name, command, file) in [("log-py", "python3", &py), ("log-js", "node", &js)] {
        let line = format!("{file}:3");
        add(
            name,
            json!({ "command": command, "args": [file] }),
            "missing_directory",
            &[&create, &mkdir, &line],
        );
    }
    // Nobody may write it, root included.
    let kept = "/proc/sys/kernel/ostype";
    if std::path::Path::new(kept).exists() {
        let file = write("write.py", &format!("import sys\n\nopen({kept:?}, 'w')\n"));
        let line = format!("{file}:3");
        let told = format!("{kept} can't be opened or written: check its permissions");
        add(
            "file",
            json!({ "command": "python3", "args": [file] }),
            "permission_denied",
            &[&told, &line],
        );
    }
    for (name, words, place) in [
        (
            "pyyaml",
            "Traceback (most recent call last):\n  File \"/srv/server.py\", line 7, in <module>\nyaml.scanner.ScannerError: mapping values are not allowed here\n  in \"/srv/app.yaml\", line 15, column 9",
            "Invalid YAML at /srv/app.yaml:15",
        ),
        (
            "js-yaml",
            "YAMLException: bad indentation of a mapping entry (15:4)\n\n 14 | a: 1\n 15 |   b: 2\n---------^\n    at generateError (/srv/node_modules/js-yaml/lib/loader.js:183:10)",
            "Invalid YAML at line 15",
        ),
        (
            "go",
            "2026/11/22 10:00:00 yaml: line 15: did not find expected key",
            "Invalid YAML at line 15",
        ),
        (
            "serde_yaml",
            "Error: Error(\"mapping values are not allowed in this context at line 15 column 9\") while parsing YAML",
            "Invalid YAML at line 15",
        ),
    ] {
        let at = place.trim_start_matches("Invalid YAML at ");
        let look = format!("Look at {at}, and at the line before it: at quotes, indentation");
        add(name, says(words), "invalid_config", &[place, &look]);
    }
    add(
        "json",
        json!({ "command": "python3", "args": [json_py] }),
        "invalid_config",
        &["Invalid JSON at line 15", "Look at line 15"],
    );
    for (name, command, file) in [("py", "python3", &upstream), ("js", "node", &bridge)] {
        add(
            &format!("upstream-{name}"),
            json!({ "command": command, "args": [file] }),
            "command_not_found",
            &[
                "Install `no-such-upstream` where the server runs, or check its path",
                "$ command -v no-such-upstream",
            ],
        );
    }

    let report = examined(&project, &servers, "20s");
    let plan = json!({ "version": 1, "budgets": { "max_iterations": 1 },
        "servers": servers,
        "steps": servers.keys().map(|name| json!({ "id": name, "server": name, "list": "tools" })).collect::<Vec<_>>() });
    project.write("plan.json", plan.to_string());
    let ended = project
        .jelly(&["run", "plan.json", "--format", "json"])
        .output();
    let run: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr));
    let failures = run["iterations"][0]["failures"].as_array().unwrap();
    for (name, cause, told) in &cases {
        let by_run = failures.iter().find(|f| f["server"] == name.as_str());
        let by_run = &by_run.unwrap_or_else(|| panic!("{name}: {failures:#?}"))["diagnosis"];
        for diagnosis in [&of(&report, name)["diagnosis"], by_run] {
            assert_eq!(diagnosis["root_cause"], *cause, "{name}: {diagnosis:#}");
            let advice = serde_json::to_string(&diagnosis["advice"]).unwrap();
            for told in told {
                assert!(
                    advice.contains(told.as_str()),
                    "{name}: {told}\n{diagnosis:#}"
                );
            }
        }
    }
}
