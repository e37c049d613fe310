//! What `jelly doctor` says of servers that answer jelly, and are of no use to
//! the client whose configuration they stand in.

use crate::support::Project;
use crate::support::doctor::first_examined as examined;
use crate::support::listening::Listening;
use serde_json::{Value, json};

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

#[test]
fn a_server_that_answers_jelly_is_not_healthy_where_its_client_does_not_get_so_far() {
    let mock = json!({ "command": JELLY, "args": ["mock"] });
    let of = |key: &str, server: &Value| json!({ key: { "s": server } }).to_string();
    let with = |name: &str, value: Value| {
        let mut server = mock.clone();
        server[name] = value;
        server
    };
    let slow = |own: &str| {
        format!(
            "[mcp_servers.s]\ncommand = {JELLY:?}\nargs = [\"mock\", \"--fault\", \
             \"slow@handshake=600ms\"]\n{own}"
        )
    };
    for (file, text, lint, said) in [
        (
            ".codex/config.toml",
            slow("startup_timeout_sec = 0.2\n"),
            "slow_start",
            "`startup_timeout_sec = 5`",
        ),
        (
            ".vscode/mcp.json",
            of("mcpServers", &mock),
            "wrong_key",
            "Rename `mcpServers` to `servers`",
        ),
        (
            ".vscode/mcp.json",
            of("servers", &with("type", "http".into())),
            "type_mismatch",
            "`\"type\": \"stdio\"`",
        ),
        (
            "claude_desktop_config.json",
            of("mcpServers", &with("env", json!({ "PORT": 3000 }))),
            "malformed",
            "Put the value of `PORT` into quotes.",
        ),
    ] {
        let (server, code) = examined(file, &text);
        let finding = &server["findings"][0];
        assert_eq!(server["state"], "unwell", "{server:#}");
        assert!(server["tools"].is_u64(), "{server:#}");
        assert_eq!(
            (&finding["lint"], &finding["level"]),
            (&json!(lint), &json!("error"))
        );
        let fix = finding["fix"].as_str().unwrap();
        assert!(fix.contains(said), "{fix}");
        assert_eq!(code, Some(3));
    }
    // Within the limit.
    let (server, code) = examined(".codex/config.toml", &slow("startup_timeout_sec = 300\n"));
    assert_eq!(
        (&server["state"], code),
        (&json!("healthy"), Some(0)),
        "{server:#}"
    );
}

/// Each of them answers jelly.
#[test]
fn a_url_without_what_its_client_wants_beside_it_is_not_healthy() {
    let serving = Project::empty();
    let listening = Listening::start(&serving, &["--listen", "127.0.0.1:0"], &[]);
    let url = listening.url();
    for (file, text, level, said) in [
        (
            ".mcp.json",
            json!({ "mcpServers": { "s": { "url": url } } }).to_string(),
            "error",
            "`\"type\": \"http\"`",
        ),
        (
            "claude_desktop_config.json",
            json!({ "mcpServers": { "s": { "url": url } } }).to_string(),
            "error",
            "jelly proxy wrap claude_desktop_config.json s",
        ),
        (
            ".mcp.json",
            json!({ "mcpServers": { "s": { "type": "streamableHttp", "url": url } } }).to_string(),
            "error",
            "`\"type\": \"http\"`",
        ),
        (
            "goose/config.yaml",
            format!("extensions:\n  s: {{ uri: {url:?} }}\n"),
            "error",
            "`type: \"streamable_http\"`",
        ),
        (
            "goose/config.yaml",
            format!("extensions:\n  s: {{ type: sse, uri: {url:?} }}\n"),
            "error",
            "`type: \"streamable_http\"`",
        ),
        (
            "cline_mcp_settings.json",
            json!({ "mcpServers": { "s": { "url": url } } }).to_string(),
            "warning",
            "`\"type\": \"streamableHttp\"`",
        ),
    ] {
        let (server, _) = examined(file, &text);
        let findings = server["findings"].as_array().unwrap();
        let finding = findings.iter().find(|it| it["level"] == level);
        let finding = finding.unwrap_or_else(|| panic!("{file}: {server:#}"));
        assert!(
            finding["fix"].as_str().unwrap().contains(said),
            "{finding:#}"
        );
        let state = if level == "error" {
            "unwell"
        } else {
            "healthy"
        };
        assert_eq!(server["state"], state, "{server:#}");
    }
}

#[test]
fn a_client_that_fills_no_blanks_is_tested_as_it_starts_the_server() {
    let script = "import os, sys\nsys.exit(f'got {os.environ[\"WHO\"]}')\n";
    for (file, text, fix) in [
        (
            "claude_desktop_config.json",
            json!({ "mcpServers": { "s": {
                "command": "python3", "args": ["-c", script], "env": { "WHO": "${GREETED}" }
            } } })
            .to_string(),
            "Write the value itself",
        ),
        (
            ".codex/config.toml",
            format!(
                "[mcp_servers.s]\ncommand = \"python3\"\nargs = [\"-c\", {}]\nenv = {{ WHO = \
                 \"${{GREETED}}\" }}\n",
                json!(script)
            ),
            "list `WHO` in `env_vars`",
        ),
    ] {
        for value in [None, Some("the world")] {
            let project = Project::empty();
            project.write(file, &text);
            let mut jelly = project.jelly(&["doctor", "--format", "json", file]);
            if let Some(value) = value {
                jelly = jelly.env("GREETED", value);
            }
            let report: Value = serde_json::from_str(&jelly.output().stdout).unwrap();
            let server = &report["servers"][0];
            let stderr = server["stderr_tail"].as_str().unwrap();
            assert_eq!(stderr.trim(), "got ${GREETED}", "{file}: {server:#}");
            let findings = server["findings"].as_array().unwrap();
            let found = findings.iter().find(|it| it["lint"] == "unfilled").unwrap();
            assert_eq!(found["level"], "warning");
            assert!(found["fix"].as_str().unwrap().contains(fix), "{found:#}");
        }
    }
}

#[test]
fn what_a_client_cant_read_of_its_file_holds_for_all_of_its_servers() {
    let text = json!({ "mcpServers": {
        "a": { "command": JELLY, "args": ["mock"] },
        "b": { "command": JELLY, "args": ["mock"] },
        "c": { "command": JELLY, "args": ["mock"] },
    } });
    let text = format!("{text:#}").replace("\"b\"", "// mine\n\"b\"");
    let project = Project::empty();
    project.write("claude_desktop_config.json", &text);
    let ended = project
        .jelly(&["doctor", "--format", "json", "claude_desktop_config.json"])
        .output();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let servers = report["servers"].as_array().unwrap();
    let states: Vec<&str> = servers
        .iter()
        .filter_map(|it| it["state"].as_str())
        .collect();
    assert_eq!(states, ["unwell"; 3], "{report:#}");
    let whole = servers.iter().filter(|it| {
        it["findings"]
            .to_string()
            .contains("comments are not allowed")
    });
    assert_eq!(whole.count(), 1, "{report:#}");
}

#[test]
fn entries_of_opencode_are_told_in_its_own_form() {
    let list = json!([JELLY, "mock"]);
    let write = format!("Write `\"command\": [{JELLY:?}, \"mock\"]`.");
    for (server, wanted) in [
        (json!({ "type": "local", "command": list }), vec![]),
        (
            json!({ "command": list }),
            vec!["Write `\"type\": \"local\"`."],
        ),
        (
            json!({ "type": "stdio", "command": list }),
            vec!["Write `\"type\": \"local\"`."],
        ),
        (
            json!({ "type": "local", "command": JELLY, "args": ["mock"] }),
            vec![write.as_str()],
        ),
        (
            json!({ "type": "local", "command": format!("{JELLY} mock") }),
            vec![write.as_str()],
        ),
        (
            json!({ "type": "local", "command": list, "env": { "A": "b" } }),
            vec!["Rename `env` to `environment`."],
        ),
        (
            json!({ "url": "http://127.0.0.1:1/mcp" }),
            vec!["Write `\"type\": \"remote\"`."],
        ),
    ] {
        let text = json!({ "mcp": { "s": server } }).to_string();
        let (report, _) = examined("opencode.json", &text);
        let findings = report["findings"].as_array().unwrap();
        let fixes: Vec<&str> = findings
            .iter()
            .filter_map(|it| it["fix"].as_str())
            .collect();
        assert_eq!(fixes, wanted, "{text}: {report:#}");
    }
}

#[test]
fn servers_under_another_key_move_into_the_one_that_is_there() {
    let mock = json!({ "command": JELLY, "args": ["mock"] });
    for (file, own, text) in [
        (
            "opencode.json",
            "mcp",
            json!({ "mcp": {}, "mcpServers": { "s": mock } }),
        ),
        (
            ".vscode/mcp.json",
            "servers",
            json!({ "servers": { "t": mock }, "mcpServers": { "s": mock } }),
        ),
    ] {
        let project = Project::empty();
        project.write(file, text.to_string());
        let ended = project
            .jelly(&["doctor", "--format", "json", file])
            .output();
        let wanted = format!("Move the entries of `mcpServers` into the `{own}` that is there");
        assert!(ended.stdout.contains(&wanted), "{}", ended.stdout);
        assert!(!ended.stdout.contains("Rename"), "{}", ended.stdout);
    }
}

#[test]
fn what_a_client_does_not_heed_is_not_to_be_mended() {
    let project = Project::empty();
    let server = json!({ "command": "python3", "args": ["-V"], "cwd": "/nowhere/at/all" });
    for (file, text) in [
        (".mcp.json", "Take `cwd` out"),
        (".cursor/mcp.json", "\"cwd\": "),
    ] {
        project.write(file, json!({ "mcpServers": { "s": server } }).to_string());
        let ended = project
            .jelly(&["doctor", "--format", "json", file])
            .output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let fixes = report["servers"][0]["diagnosis"]["advice"]["fix"].to_string();
        let is_told = fixes.contains(&text.replace('"', "\\\""));
        assert!(is_told, "{file}: {fixes}");
        assert_eq!(fixes.contains("mkdir"), file != ".mcp.json", "{fixes}");
    }
}
