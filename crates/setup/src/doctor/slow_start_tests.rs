use super::super::clients::CLIENTS;
use super::super::read;
use super::slow_start;
use jelly_base::model::{Finding, FindingLevel, Lint};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What is said of the only server of a file that took so long.
fn said(file: &str, text: &str, millis: u64, env: &[(&str, &str)]) -> Option<Finding> {
    let config = read(Path::new(file), text, Path::new("/work/app")).unwrap();
    let env: BTreeMap<String, String> = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let startup = Duration::from_millis(millis);
    slow_start(&config, &config.entries[0], startup, &env)
}

#[test]
fn a_start_that_its_client_does_not_wait_for_is_an_error_with_what_to_write() {
    let plain = r#"{"mcpServers": {"s": {"command": "x"}}}"#;
    for (file, text, millis, at, fix) in [
        (
            "/h/.codex/config.toml",
            "[mcp_servers.s]\ncommand = \"x\"\nstartup_timeout_sec = 1\n",
            3300,
            "3:23",
            "`startup_timeout_sec = 10`",
        ),
        (
            "/h/.codex/config.toml",
            "[mcp_servers.s]\ncommand = \"x\"\n",
            12_000,
            "1:",
            "`startup_timeout_sec = 25`",
        ),
        (
            "opencode.json",
            r#"{"mcp": {"s": {"type": "local", "command": ["x"]}}}"#,
            7400,
            "1:10",
            r#"`"timeout": 15000`"#,
        ),
        (".mcp.json", plain, 31_000, "1:17", "`MCP_TIMEOUT=65000`"),
        (
            "claude_desktop_config.json",
            plain,
            61_000,
            "1:17",
            "no setting",
        ),
    ] {
        let found = said(file, text, millis, &[]).unwrap_or_else(|| panic!("{file}: nothing"));
        assert_eq!(
            (found.lint, found.level),
            (Lint::SlowStart, FindingLevel::Error)
        );
        assert!(found.at.contains(&format!("{file}:{at}")), "{found:?}");
        assert!(found.fix.contains(fix), "{found:?}");
    }
}

#[test]
fn what_a_client_waits_for_is_no_matter() {
    let plain = r#"{"mcpServers": {"s": {"command": "x"}}}"#;
    let long = r#"{"mcp": {"s": {"type": "local", "command": ["x"], "timeout": 15000}}}"#;
    assert_eq!(said("opencode.json", long, 7400, &[]), None);
    let more = [("MCP_TIMEOUT", "60000")];
    assert_eq!(said(".mcp.json", plain, 31_000, &more), None);
    // How long they wait is not known.
    assert_eq!(said("/p/.cursor/mcp.json", plain, 90_000, &[]), None);
    let servers = r#"{"servers": {"s": {"command": "x"}}}"#;
    assert_eq!(said("/p/.vscode/mcp.json", servers, 90_000, &[]), None);
    // Nor is a member that the client does not read.
    let unread = r#"{"mcpServers": {"s": {"command": "x", "timeout": 1}}}"#;
    assert_eq!(said(".mcp.json", unread, 5000, &[]), None);
}

#[test]
fn the_page_about_the_proxy_names_the_limits_of_the_table() {
    let page = include_str!("../../../../docs/proxy-clients.md");
    for format in CLIENTS.iter().filter(|it| it.startup_limit.seconds != 60) {
        let listed = page
            .split_once("that the client waits for a server (")
            .unwrap()
            .1;
        let listed = listed.split_once(')').unwrap().0;
        let seconds = format!("{} s", format.startup_limit.seconds);
        let mut parts = listed.split(", ");
        assert!(
            parts.any(|part| part.contains(format.name) && part.ends_with(&seconds)),
            "{}: {listed}",
            format.name
        );
    }
}
