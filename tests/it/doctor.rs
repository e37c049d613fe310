//! `jelly doctor`: configurations as people have them, with servers that are
//! broken in the ways in which servers break.

use crate::support::procs::{marked, none_within};
use crate::support::{Ended, Project};
use serde_json::{Value, json};
use std::time::Duration;

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// A mock with these arguments.
fn mock(args: &[&str]) -> Value {
    let args: Vec<&str> = std::iter::once(&"mock").chain(args).copied().collect();
    json!({ "command": JELLY, "args": args })
}

/// A server that says this on stderr and exits with code 1.
fn dies(words: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", "printf '%s\\n' \"$1\" >&2; exit 1", "server", words] })
}

fn with(servers: &Value) -> Project {
    let project = Project::empty();
    let text = serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap();
    project.write("mcp.json", text);
    project
}

/// The report as JSON, and how the call ended.
fn examined(project: &Project, args: &[&str]) -> (Value, Ended) {
    let ended = project
        .jelly(&["doctor", "mcp.json", "--format", "json"])
        .args(args)
        .output();
    let report = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", ended.stdout, ended.stderr));
    (report, ended)
}

#[track_caller]
fn server<'r>(report: &'r Value, name: &str) -> &'r Value {
    let servers = report["servers"].as_array().unwrap();
    servers
        .iter()
        .find(|server| server["name"] == name)
        .unwrap_or_else(|| panic!("{name} is in {report:#}"))
}

fn fixes(server: &Value) -> String {
    server["diagnosis"]["advice"]["fix"].to_string()
}

#[test]
fn healthy_servers_are_told_with_what_they_have() {
    let project = with(&json!({ "a": mock(&[]), "b": mock(&["--era", "legacy"]) }));
    let (report, ended) = examined(&project, &[]);
    assert_eq!(ended.code, Some(0), "{report:#}");
    let a = server(&report, "a");
    assert_eq!(a["state"], "healthy");
    assert_eq!((&a["era"], &a["tools"]), (&json!("modern"), &json!(8)));
    assert!(a["startup_ms"].is_u64() && a["server_info"]["name"] == "jelly-mock");
    assert_eq!(server(&report, "b")["era"], "legacy");
    assert_eq!(report["counts"]["healthy"], 2);
}

#[test]
fn ten_ways_of_being_broken_have_ten_diagnoses() {
    let servers = json!({
        "no-command": { "command": "no-such-command-here" },
        "no-package": dies("npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/@x%2fno - Not found"),
        "no-arguments": dies("Usage: mcp-server-filesystem <allowed-directory> [additional-directories...]"),
        "no-folder": mock(&["--fault", "require_dir=/nowhere/data"]),
        "no-key": mock(&["--fault", "require_env=BRAVE_API_KEY"]),
        "old-node": dies("npm error code EBADENGINE\nnpm error engine Unsupported engine\nnpm error notsup Required: {\"node\":\">=20\"}\nnpm error notsup Actual: {\"node\":\"v16.20.2\"}"),
        "port": dies("Error: listen EADDRINUSE: address already in use :::3000"),
        "mismatch": dies("ImportError: cannot import name 'y' from 'mcp' (/x/site-packages/mcp/__init__.py)"),
        "junk": mock(&["--fault", "banner=Welcome"]),
        "never": mock(&["--fault", "hang@spawn"]),
        "healthy": mock(&[]),
    });
    let project = with(&servers);
    let (report, ended) = examined(&project, &["--timeout", "3s"]);
    assert_eq!(ended.code, Some(3));
    for (name, cause, fix) in [
        (
            "no-command",
            "command_not_found",
            "command -v no-such-command-here",
        ),
        ("no-package", "package_not_found", "name and version"),
        ("no-arguments", "missing_argument", "usage"),
        ("no-folder", "missing_directory", "mkdir -p /nowhere/data"),
        ("no-key", "missing_env_var", "BRAVE_API_KEY"),
        ("old-node", "runtime_version_mismatch", "engines"),
        ("port", "port_in_use", "3000"),
        ("mismatch", "dependency_version_mismatch", "version"),
        ("junk", "stdout_pollution", "stderr"),
        ("never", "startup_timeout", "--timeout"),
    ] {
        let broken = server(&report, name);
        let state = if name == "junk" { "unwell" } else { "broken" };
        assert_eq!(broken["state"], state, "{name}");
        assert_eq!(broken["diagnosis"]["root_cause"], cause, "{broken:#}");
        assert!(fixes(broken).contains(fix), "{name}: {}", fixes(broken));
        assert!(
            !fixes(broken).contains("the plan"),
            "{name}: {}",
            fixes(broken)
        );
    }
    assert_eq!(
        server(&report, "junk")["stdout_noise_sample"],
        json!(["Welcome"])
    );
    assert_eq!(report["counts"]["broken"], 9);
    assert_eq!(server(&report, "healthy")["state"], "healthy");
}

#[test]
fn the_command_that_shows_why_a_server_never_answers_can_be_pasted() {
    let project = Project::empty();
    // Reads its first line, writes it down, and says nothing.
    let script = project.script(
        "it's mute",
        "#!/bin/sh\nread line; echo \"$line $A\" > seen; exec sleep 60\n",
    );
    let config = json!({ "mcpServers": { "s": {
        "command": script, "env": { "A": "b c", "API_TOKEN": "swordfish-1" },
    } } });
    project.write("mcp.json", config.to_string());
    let (report, ended) = examined(&project, &["--timeout", "1s"]);
    assert_eq!(ended.code, Some(3));
    let line = server(&report, "s")["by_hand"].as_str().unwrap();
    assert!(line.contains("API_TOKEN=\"$API_TOKEN\""), "{line}");
    std::fs::remove_file(project.path("seen")).unwrap();
    // Without the waiting.
    let line = line.replace("sleep 20", "true");
    project.script(
        "it's mute",
        "#!/bin/sh\nread line; echo \"$line $A\" > seen\n",
    );
    let pasted = std::process::Command::new("sh")
        .args(["-c", &line])
        .status();
    assert!(pasted.unwrap().success(), "{line}");
    let seen = project.read("seen");
    assert!(seen.contains("\"method\":\"initialize\""), "{seen}");
    assert!(seen.ends_with("b c\n"), "{seen}");
}

#[test]
fn the_four_classic_errors_say_what_to_do_and_where() {
    let project = with(&json!({
        "log": dies("Traceback (most recent call last):\n  File \"/srv/server.py\", line 12, in <module>\nFileNotFoundError: [Errno 2] No such file or directory: '/nowhere/log/server.log'"),
        "file": dies("Traceback (most recent call last):\n  File \"/srv/server.py\", line 12, in <module>\nPermissionError: [Errno 13] Permission denied: '/nowhere/server.log'"),
        "yaml": dies("yaml.scanner.ScannerError: mapping values are not allowed here\n  in \"config.yaml\", line 15, column 9"),
        "upstream": dies("Error: spawn uvx ENOENT\n    at ChildProcess._handle.onexit (node:internal/child_process:286:19)"),
    }));
    let (report, _) = examined(&project, &[]);
    for (name, told) in [
        (
            "log",
            &[
                "The folder /nowhere/log does not exist: create it, or name another one",
                "$ mkdir -p /nowhere/log",
            ][..],
        ),
        (
            "file",
            &[
                "/nowhere/server.log can't be opened or written: check its permissions",
                "$ ls -ld /nowhere/server.log",
            ],
        ),
        ("yaml", &["Look at config.yaml:15", "quotes, indentation"]),
        ("upstream", &["Install `uvx`", "PATH", "$ command -v uvx"]),
    ] {
        let fixes = fixes(server(&report, name));
        for told in told {
            assert!(fixes.contains(told), "{name}: {fixes}");
        }
    }
}

/// Each server waits until all have started, so that none becomes ready unless
/// they start side by side.
#[test]
fn all_servers_start_at_the_same_time() {
    let project = Project::empty();
    let script = format!(
        "#!/bin/sh\n: > \"at-$1\"\nuntil [ \"$(ls at-* | wc -l)\" -ge 12 ]; do sleep 0.02; done\nexec {JELLY} mock\n"
    );
    let script = project.script("server", &script);
    let servers: serde_json::Map<String, Value> = (0..12)
        .map(|n| {
            (
                n.to_string(),
                json!({ "command": script, "args": [n.to_string()] }),
            )
        })
        .collect();
    project.write("mcp.json", json!({ "mcpServers": servers }).to_string());
    let (report, ended) = examined(&project, &[]);
    assert_eq!(ended.code, Some(0), "{report:#}");
    assert_eq!(report["counts"]["healthy"], 12);
}

#[test]
fn what_can_be_seen_without_starting_is_seen_without_starting() {
    let project = Project::empty();
    let script = project.script("server", "#!/bin/sh\n: > started\n");
    let config = json!({ "mcpServers": {
        "s": { "command": script, "args": ["./data"], "env": { "EMPTY": "" } },
        "gone": { "command": "no-such-command-here" },
        "blank": { "command": script, "args": ["${env:NOT_SET_ANYWHERE}"] },
        "off": { "command": script, "disabled": true },
    } });
    project.write("mcp.json", config.to_string());
    let (report, ended) = examined(&project, &["--dry-run"]);
    assert_eq!(ended.code, Some(3));
    assert!(!project.exists("started"));
    let state = |name| server(&report, name)["state"].clone();
    assert_eq!(state("s"), "unchecked");
    assert_eq!(state("gone"), "broken");
    assert_eq!(state("blank"), "broken");
    assert_eq!(state("off"), "disabled");
    assert_eq!(
        server(&report, "gone")["diagnosis"]["root_cause"],
        "command_not_found"
    );
    let lints: Vec<&Value> = server(&report, "s")["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| &finding["lint"])
        .collect();
    assert_eq!(lints, ["relative_path", "empty_env"]);
}

#[test]
fn warnings_alone_are_no_failure_unless_that_is_asked_for() {
    let project = Project::empty();
    let config = json!({ "mcpServers": { "s": { "command": "sh", "env": { "EMPTY": "" } } } });
    project.write("mcp.json", config.to_string());
    assert_eq!(examined(&project, &["--dry-run"]).1.code, Some(0));
    assert_eq!(
        examined(&project, &["--dry-run", "--strict"]).1.code,
        Some(3)
    );
}

#[test]
fn a_configuration_for_windows_is_only_looked_at() {
    let project = Project::empty();
    let config = json!({ "mcpServers": { "s": { "command": "npx", "args": ["x@1.2.3"] } } });
    project.write("mcp.json", config.to_string());
    let (report, ended) = examined(&project, &["--platform", "windows"]);
    assert_eq!(ended.code, Some(3));
    let s = server(&report, "s");
    assert_eq!(
        (&s["state"], &s["findings"][0]["lint"]),
        (&json!("unchecked"), &json!("windows_npx"))
    );
}

#[test]
fn a_configuration_that_cant_be_read_is_told_by_line_and_column() {
    let project = Project::empty();
    project.write("bad.json", "{\n  \"mcpServers\": {\n    \"a\": ]\n");
    project.write(
        "good.json",
        json!({ "mcpServers": { "s": { "command": "sh" } } }).to_string(),
    );
    let ended = project
        .jelly(&["doctor", "bad.json", "good.json", "none.json", "--dry-run"])
        .output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("error: bad.json:3:10: invalid JSON"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("error: none.json: it can't be read"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stdout.contains("s "),
        "the others are looked at: {}",
        ended.stdout
    );
}

#[test]
fn no_secret_is_printed_in_any_format() {
    let project = Project::empty();
    let server = |fault: &str| {
        json!({
            "command": JELLY,
            "args": ["mock", "--fault", fault, "--fault", "stderr=swordfish-2 swordfish-7"],
            "env": {
                "API_TOKEN": "swordfish-1", "PASS_KEY": "swordfish-2", "OTHER_KEY": "${HELD_TOO}", "FROM_ENV_TOKEN": "${env:HELD}",
                "DB": "postgres://me:swordfish-4@db/x",
            },
        })
    };
    let config = json!({ "mcpServers": {
        "dies": server("exit@spawn=1"), "mute": server("hang@spawn"), "well": server("echo_env=HELD"),
        "web": { "url": "http://127.0.0.1:9/mcp?api_key=swordfish-5", "headers": { "Authorization": "Bearer swordfish-6" } },
    } });
    project.write("mcp.json", config.to_string());
    for format in ["human", "json", "md"] {
        let ended = project
            .jelly(&["doctor", "mcp.json", "--timeout", "1s", "--format", format])
            .env("HELD", "swordfish-3")
            .env("HELD_TOO", "swordfish-7")
            .output();
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        for n in 1..=7 {
            let secret = format!("swordfish-{n}");
            assert!(
                !ended.stdout.contains(&secret),
                "{format}: {}",
                ended.stdout
            );
            assert!(
                !ended.stderr.contains(&secret),
                "{format}: {}",
                ended.stderr
            );
        }
        assert!(ended.stdout.contains("plain_secret"), "{}", ended.stdout);
    }
}

#[test]
fn configurations_are_found_where_the_clients_keep_them() {
    let project = Project::empty();
    let home = project.path("../home");
    let config = |name: &str| json!({ "mcpServers": { name: { "command": "sh" } } }).to_string();
    project.write(".mcp.json", config("project"));
    project.write("../home/.cursor/mcp.json", config("cursor"));
    project.write(
        "../home/.codeium/windsurf/mcp_config.json",
        config("windsurf"),
    );
    project.write("../home/.config/zed/settings.json", "{\"theme\": \"One\"}");
    let call = |args: &[&str]| {
        project
            .jelly(&["doctor", "--dry-run", "--format", "json"])
            .args(args)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .output()
    };
    let ended = call(&[]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let clients: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["client"].as_str().unwrap())
        .collect();
    assert_eq!(clients, ["Claude Code", "Cursor", "Windsurf"]);
    let empty = Project::empty();
    let ended = empty
        .jelly(&["doctor"])
        .env("HOME", empty.dir())
        .env("XDG_CONFIG_HOME", empty.dir())
        .output();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("looked for"), "{}", ended.stderr);
}

/// A folder whose own configuration starts what leaves a trace, and a home
/// without any.
fn brought_along() -> Project {
    let project = Project::empty();
    let script = project.script("server", "#!/bin/sh\n: > started\nexit 1\n");
    let config = json!({ "mcpServers": { "s": { "command": script, "args": ["--x"] } } });
    project.write(".mcp.json", config.to_string());
    project
}

#[test]
fn what_a_repository_names_is_started_only_by_whoever_names_its_file() {
    let project = brought_along();
    let ended = project
        .jelly(&["doctor"])
        .env("HOME", project.dir())
        .output();
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    assert!(!project.exists("started"), "{}", ended.stdout);
    assert!(ended.stdout.contains("not started"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("jelly doctor .mcp.json"),
        "{}",
        ended.stdout
    );
    let ended = project.jelly(&["doctor", ".mcp.json"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    assert!(project.exists("started"), "{}", ended.stdout);
}

#[test]
fn a_person_at_a_terminal_is_asked_before_what_a_repository_names_is_started() {
    for (answer, starts) in [("yes", true), ("no", false), ("", false)] {
        let project = brought_along();
        let ended = project.at_a_terminal(&[("what is named there?", answer)], &["doctor"]);
        assert!(ended.stdout.contains("server --x"), "{}", ended.stdout);
        assert_eq!(project.exists("started"), starts, "{}", ended.stdout);
    }
}

#[test]
fn an_input_of_vs_code_comes_from_the_environment_or_its_default() {
    let project = Project::empty();
    let config = json!({
        "inputs": [
            { "id": "api-key", "type": "promptString", "password": true },
            { "id": "kind", "type": "pickString", "options": ["a", "b"], "default": "b" },
        ],
        "servers": { "s": {
            "command": JELLY, "args": ["mock", "--fault", "require_env=KEY"],
            "env": { "KEY": "${input:api-key}", "KIND": "${input:kind}" },
        } },
    });
    project.write("mcp.json", config.to_string());
    let (report, ended) = examined(&project, &[]);
    assert_eq!(ended.code, Some(3));
    let finding = &server(&report, "s")["findings"][0];
    assert_eq!(finding["lint"], "unfilled");
    assert!(
        finding["fix"].as_str().unwrap().contains("API_KEY"),
        "{finding}"
    );
    let ended = project
        .jelly(&["doctor", "mcp.json"])
        .env("API_KEY", "swordfish-1")
        .output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn no_server_is_left_behind_by_an_interrupted_doctor() {
    let project = Project::empty();
    let script = project.script("server", "#!/bin/sh\n: > started\nsleep 100 &\nsleep 100\n");
    project.write(
        "mcp.json",
        json!({ "mcpServers": { "s": { "command": script } } }).to_string(),
    );
    let running = marked(&project, project.jelly(&["doctor", "mcp.json"])).start();
    while !project.exists("started") {
        std::thread::yield_now();
    }
    running.signal(rustix::process::Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    none_within(&project, Duration::from_secs(10));
}

#[test]
fn the_table_and_what_follows_it_read_well() {
    let mut servers = json!({
        "well": mock(&[]),
        "gone": { "command": "no-such-command-here" },
        "folder": mock(&["--fault", "require_dir=/nowhere/data"]),
        "junk": mock(&["--fault", "banner=Welcome"]),
        "off": { "command": "x", "disabled": true },
        "typo": { "comand": "x" },
    });
    servers["well"]["env"] = json!({ "API_KEY": "swordfish-1" });
    let project = with(&servers);
    let ended = project.jelly(&["doctor", "mcp.json"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex::escape(JELLY), "[JELLY]");
    settings.add_filter(r" +<?\d+(\.\d+)? m?s\b", "  TIME");
    settings.bind(|| insta::assert_snapshot!(ended.stdout));
}

/// Plays a person at a terminal: runs a command there, types each line when its
/// question is seen, and prints what the terminal showed.
const PERSON: &str = r#"
import os, pty, sys
command, answers = sys.argv[1:4], sys.argv[4:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown = b""
while True:
    try: read = os.read(terminal, 4096)
    except OSError: break
    if not read: break
    shown += read
    while answers and shown.count(answers[0].encode()) > 0:
        question, answer, answers = answers[0], answers[1], answers[2:]
        shown = shown.replace(question.encode(), question.encode().upper(), 1)
        os.write(terminal, answer.encode() + b"\n")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn a_person_at_a_terminal_is_asked_and_a_secret_is_not_shown() {
    let project = Project::empty();
    let config = json!({
        "inputs": [
            { "id": "key", "type": "promptString", "description": "the key", "password": true },
            { "id": "kind", "type": "pickString", "description": "the kind", "options": ["a", "b"] },
        ],
        "servers": { "s": {
            "command": JELLY, "args": ["mock", "--fault", "require_env=KEY"],
            "env": { "KEY": "${input:key}", "KIND": "${input:kind}" },
        } },
    });
    project.write("mcp.json", config.to_string());
    let person = project.write("person.py", PERSON);
    let mut call = std::process::Command::new("python3");
    call.arg(person).args([JELLY, "doctor", "mcp.json"]);
    // Blanks and what is not offered are asked again.
    call.args(["the key: ", "", "the key: ", "swordfish-1"]);
    call.args(["the kind (a, b): ", "c", "the kind (a, b): ", "b"]);
    let told = call
        .current_dir(project.dir())
        .env_remove("CI")
        .env_remove("GITHUB_ACTIONS")
        .env("TERM", "xterm")
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&told.stdout);
    assert_eq!(told.status.code(), Some(0), "{shown}");
    assert_eq!(shown.matches("THE KEY: ").count(), 2, "{shown}");
    assert_eq!(shown.matches("THE KIND (A, B): ").count(), 2, "{shown}");
    assert!(!shown.contains("swordfish"), "{shown}");
    assert!(shown.contains("healthy"), "{shown}");
}

#[test]
fn each_clients_own_file_is_read_in_an_empty_home() {
    const CASES: [(&str, &str, &str, &str); 7] = [
        (
            "Claude Desktop",
            ".config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {"s": {"command": "sh", "args": ["-c", "exit"]}}}"#,
            "sh -c exit",
        ),
        (
            "Codex",
            ".codex/config.toml",
            "model = \"gpt-5\"\n\n[mcp_servers.s]\ncommand = \"sh\"\nargs = [\"-c\", \"exit\"]\n",
            "sh -c exit",
        ),
        (
            "opencode",
            ".config/opencode/opencode.json",
            r#"{"mcp": {"s": {"type": "local", "command": ["sh", "-c", "exit"], "enabled": true}}}"#,
            "sh -c exit",
        ),
        (
            "Goose",
            ".config/goose/config.yaml",
            "extensions:\n  s:\n    enabled: true\n    type: stdio\n    cmd: sh\n    args: [-c, exit]\n",
            "sh -c exit",
        ),
        (
            "Gemini CLI",
            ".gemini/settings.json",
            "{\n  // mine\n  \"mcpServers\": {\"s\": {\"command\": \"sh\", \"args\": [\"-c\", \"exit\"]}}}",
            "sh -c exit",
        ),
        (
            "Copilot CLI",
            ".copilot/mcp-config.json",
            r#"{"mcpServers": {"s": {"type": "local", "command": "sh", "args": ["-c", "exit"], "tools": ["*"]}}}"#,
            "sh -c exit",
        ),
        (
            "VS Code",
            ".config/Code/User/mcp.json",
            r#"{"servers": {"s": {"command": "sh", "args": ["-c", "exit"]}}}"#,
            "sh -c exit",
        ),
    ];
    for (client, file, text, command) in CASES {
        let project = Project::empty();
        project.write(&format!("../home/{file}"), text);
        let home = project.path("../home");
        let ended = project
            .jelly(&["doctor", "--dry-run", "--format", "json"])
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(report["files"][0]["client"], client, "{}", ended.stdout);
        assert_eq!(report["servers"][0]["name"], "s", "{}", ended.stdout);
        let shown = report["servers"][0].to_string();
        assert!(
            command.split(' ').all(|word| shown.contains(word)),
            "{shown}"
        );
        assert_eq!(ended.code, Some(0), "{client}: {}", ended.stdout);
    }
}

#[test]
fn what_is_to_be_written_is_in_the_clients_own_words() {
    for (file, text, wanted) in [
        (
            ".codex/config.toml",
            "[mcp_servers.s]\ncommand = \"pyhton3\"\nargs = [\"-m\", \"x\"]\n",
            "command = \"python3\"",
        ),
        (
            "opencode.json",
            r#"{"mcp": {"s": {"type": "local", "command": ["pyhton3", "-m", "x"]}}}"#,
            r#""command": ["python3", "-m", "x"]"#,
        ),
        (
            "goose/config.yaml",
            "extensions:\n  s:\n    type: stdio\n    cmd: pyhton3\n    args: [-m, x]\n",
            "cmd: \"python3\"",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.s]\ncommand = \"python3 -m x\"\n",
            "command = \"python3\"\nargs = [\"-m\", \"x\"]",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  s:\n    type: streamable_http\n    uri: ftp://none\n",
            "uri: \"https://<host>/mcp\"",
        ),
    ] {
        let project = Project::empty();
        project.write(file, text);
        let ended = project
            .jelly(&["doctor", "--format", "json", file])
            .output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let fix = &report["servers"][0]["diagnosis"]["advice"]["fix"];
        let lines = fix.as_array().into_iter().flatten();
        assert!(
            lines.clone().any(|line| line == wanted),
            "{file}: {wanted} is not in {fix}"
        );
        let shown = project.jelly(&["doctor", file]).output().stdout;
        for line in wanted.lines() {
            assert!(shown.contains(&format!("\n    {line}\n")), "{shown}");
        }
    }
}

#[test]
fn a_file_that_its_client_cant_read_is_said_with_its_place() {
    for (file, text, code, said) in [
        (
            ".codex/config.toml",
            "[mcp_servers.s\n",
            2,
            "config.toml:1:15",
        ),
        (
            ".codex/config.toml",
            "model = \"x\"\nmcp_servers = 1\n",
            2,
            "config.toml:2:15",
        ),
        (
            ".gemini/settings.json",
            "{\"mcpServers\": [\n]}",
            2,
            "settings.json:1:16",
        ),
        ("opencode.json", "{\"mcp\": {]\n", 2, "opencode.json:1:10"),
        (
            "goose/config.yaml",
            "extensions:\n  s: [a\nt: b\n",
            2,
            "config.yaml:3:2",
        ),
        (
            "claude_desktop_config.json",
            "{\"mcpServers\": {\n  // mine\n  \"s\": {\"command\": \"sh\"}}}",
            3,
            "claude_desktop_config.json:2:3",
        ),
    ] {
        let project = Project::empty();
        project.write(file, text);
        let ended = project.jelly(&["doctor", "--dry-run", file]).output();
        assert_eq!(ended.code, Some(code), "{file}: {}", ended.stderr);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(all.contains(said), "{file}: {all}");
    }
}
