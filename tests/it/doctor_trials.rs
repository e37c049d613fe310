//! Servers that were started as ones of HTTP: `jelly doctor` finds out what
//! makes them speak stdio, and prints what answered.

use crate::support::Project;
use crate::support::doctor::{examined, fixes, of};
use serde_json::{Map, Value, json};
use std::net::TcpListener;

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// A server that speaks stdio only where its arguments or variables make this
/// shell condition true; else it listens, and needs its port for that.
fn server(project: &Project, name: &str, speaks_stdio: &str) -> String {
    let script = format!(
        r#"#!/usr/bin/env python3
import os, socket, sys, time

args, env = sys.argv[1:], os.environ
if {speaks_stdio}:
    os.execv({JELLY:?}, ["jelly", "mock"])
listener = socket.socket()
port = int(env.get("OWN_PORT", "0"))
try:
    listener.bind(("127.0.0.1", port))
except OSError:
    sys.exit(f"Error: listen EADDRINUSE: address already in use 127.0.0.1:{{port}}")
listener.listen()
print("MCP server listening on http://127.0.0.1:%d/mcp" % listener.getsockname()[1], file=sys.stderr, flush=True)
time.sleep(60)
"#
    );
    project.write(name, script).display().to_string()
}

/// The first member to be pasted, written into the entry.
fn pasted(servers: &Value, report: &Value, name: &str) -> Value {
    let fixes = fixes(of(report, name));
    let line = fixes.iter().find(|line| line.starts_with('"'));
    let line = line.unwrap_or_else(|| panic!("{name}: {fixes:#?}"));
    let members: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).unwrap();
    let mut entry = servers[name].clone();
    for (member, value) in members {
        entry[member] = value;
    }
    entry
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn what_makes_a_server_of_http_speak_stdio_is_found_out() {
    let project = Project::empty();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().port().to_string();
    let python = |script: &str, args: &[&str]| {
        let args: Vec<&str> = std::iter::once(&script).chain(args).copied().collect();
        json!({ "command": "python3", "args": args })
    };
    let flag = server(&project, "flag.py", r#""--stdio" in args"#);
    let word = server(&project, "word.py", r#"args == ["stdio", "--db", "a"]"#);
    let variable = server(
        &project,
        "variable.py",
        r#"env.get("MCP_TRANSPORT") == "stdio""#,
    );
    let never = server(&project, "never.py", "False");
    let mut servers = json!({
        "flag": python(&flag, &[]),
        "word": python(&word, &["streamable-http", "--port", "39888", "--db", "a"]),
        "variable": python(&variable, &[]),
        "taken": python(&flag, &[]),
        "never": python(&never, &[]),
    });
    servers["variable"]["env"] = json!({ "MCP_TRANSPORT": "sse" });
    servers["taken"]["env"] = json!({ "OWN_PORT": taken });
    let report = examined(&project, &servers, "4s");
    let tried = |name: &str| {
        let fixes = fixes(of(&report, name));
        fixes
            .iter()
            .any(|line| line.contains("it was tried, and answers"))
    };
    for (name, args) in [
        ("flag", json!([flag, "--stdio"])),
        ("word", json!([word, "stdio", "--db", "a"])),
        ("variable", json!([variable])),
        ("taken", json!([flag, "--stdio"])),
    ] {
        assert!(tried(name), "{name}: {:#}", of(&report, name));
        let entry = pasted(&servers, &report, name);
        assert_eq!(entry["args"], args, "{name}");
        servers[name] = entry;
    }
    // Where nothing was seen to mend it, no argument is guessed.
    assert!(!tried("never"));
    let never = fixes(of(&report, "never"));
    let first = never.iter().find(|line| line.starts_with('"')).unwrap();
    assert!(
        first.starts_with("\"url\": \"http://127.0.0.1:"),
        "{never:#?}"
    );
    servers.as_object_mut().unwrap().remove("never");
    let report = examined(&project, &servers, "60s");
    assert_eq!(report["counts"]["healthy"], 4, "{report:#}");
}

#[test]
fn a_port_that_is_free_once_a_server_is_alone_is_told_so() {
    let project = Project::empty();
    // As one beside another of its kind: refused at first, and then not.
    let script = project.write(
        "bridge.py",
        format!(
            r#"
import os, sys

if not os.path.exists("refused"):
    open("refused", "w").close()
    sys.exit("Error: listen EADDRINUSE: address already in use 127.0.0.1:39889")
os.execv({JELLY:?}, ["jelly", "mock"])
"#
        ),
    );
    let servers = json!({ "bridge": { "command": "python3", "args": [script] } });
    let report = examined(&project, &servers, "60s");
    let bridge = of(&report, "bridge");
    assert_eq!(bridge["diagnosis"]["root_cause"], "port_in_use");
    let notes = bridge["notes"].to_string();
    assert!(
        notes.contains("it fought with another server"),
        "{bridge:#}"
    );
    // Nothing was tried, for its answer would prove nothing.
    assert!(!bridge.to_string().contains("was tried"), "{bridge:#}");
}
