use super::super::{Config, Platform, Surroundings, duplicate_names, lint, read};
use jelly_base::model::{Finding, FindingLevel, Lint};
use std::collections::BTreeMap;
use std::path::Path;

fn config(name: &str, text: &str) -> Config {
    read(Path::new(name), text, Path::new("/work/app")).unwrap()
}

/// The findings of a file with this one server.
fn findings_of(name: &str, server: &str, platform: Platform) -> Vec<Finding> {
    let config = config(name, &format!("{{\"mcpServers\": {{\"s\": {server}}}}}"));
    let env = BTreeMap::from([("SET".to_owned(), "v".to_owned())]);
    let around = Surroundings {
        env: &env,
        inputs: &BTreeMap::new(),
        project: Path::new("/work/app"),
        home: None,
    };
    lint(&config, &config.entries[0], platform, &around)
}

fn lints(server: &str) -> Vec<Lint> {
    findings_of("x.json", server, Platform::Linux)
        .into_iter()
        .map(|finding| finding.lint)
        .collect()
}

#[test]
fn a_server_as_it_should_be_has_no_findings() {
    for server in [
        r#"{"command": "npx", "args": ["-y", "@a/b@1.2.3", "/srv/data"], "env": {"A": "b", "T_KEY": "${SET}"}}"#,
        r#"{"command": "node", "args": ["dist/index.js"], "cwd": "/srv/app"}"#,
        r#"{"command": "/usr/bin/x", "args": ["${workspaceFolder}/a.json"]}"#,
        r#"{"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${SET}"}}"#,
        r#"{"command": "/opt/My App/server", "args": ["--level=info"]}"#,
    ] {
        assert_eq!(lints(server), [], "{server}");
    }
}

#[test]
fn each_thing_that_is_wrong_is_found_by_its_name() {
    for (server, wanted) in [
        (
            r#"{"command": "npx", "args": ["-y", "@a/b"]}"#,
            Lint::UnpinnedVersion,
        ),
        (
            r#"{"command": "uvx", "args": ["b@latest"]}"#,
            Lint::UnpinnedVersion,
        ),
        (
            r#"{"command": "x", "env": {"API_KEY": "abcdefgh"}}"#,
            Lint::PlainSecret,
        ),
        (
            r#"{"command": "x", "args": ["--token=abcdefgh"]}"#,
            Lint::PlainSecret,
        ),
        (
            r#"{"command": "node", "args": ["dist/index.js"]}"#,
            Lint::RelativePath,
        ),
        (r#"{"command": "./x"}"#, Lint::RelativePath),
        (
            r#"{"command": "x", "args": ["--config=../c"]}"#,
            Lint::RelativePath,
        ),
        (r#"{"command": "x", "cwd": "sub"}"#, Lint::RelativePath),
        (r#"{"command": "x", "args": ["~/data"]}"#, Lint::ShellPath),
        (r#"{"command": "x", "env": {"A": ""}}"#, Lint::EmptyEnv),
        (
            r#"{"command": "x", "env": {"API_KEY": "<YOUR_KEY>"}}"#,
            Lint::Unfilled,
        ),
        (
            r#"{"command": "x", "args": ["${env:NOT_SET}"]}"#,
            Lint::Unfilled,
        ),
        (
            r#"{"command": "x", "args": ["${input:none}"]}"#,
            Lint::Unfilled,
        ),
        (
            r#"{"command": "npx -y b@1.2.3"}"#,
            Lint::CommandWithArguments,
        ),
        (r#"{"args": []}"#, Lint::Malformed),
    ] {
        assert_eq!(lints(server), [wanted], "{server}");
    }
}

#[test]
fn npx_is_a_batch_file_on_windows_only() {
    let server = r#"{"command": "npx", "args": ["b@1.2.3"]}"#;
    assert_eq!(findings_of("x.json", server, Platform::Macos), []);
    let found = findings_of("x.json", server, Platform::Windows);
    assert_eq!(found[0].lint, Lint::WindowsNpx);
    assert_eq!(found[0].level, FindingLevel::Error);
    let wrapped = r#"{"command": "cmd", "args": ["/c", "npx", "b@1.2.3"]}"#;
    assert_eq!(findings_of("x.json", wrapped, Platform::Windows), []);
}

#[test]
fn claude_desktop_is_known_to_fill_no_blanks() {
    let server = r#"{"command": "x", "env": {"T_KEY": "${SET}"}}"#;
    let found = findings_of("claude_desktop_config.json", server, Platform::Linux);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].lint, Lint::Unfilled);
    assert_eq!(findings_of(".mcp.json", server, Platform::Linux), []);
}

#[test]
fn no_finding_shows_a_secret() {
    let server = r#"{"command": "npx -y x --token swordfish1",
        "args": ["--api-key", "swordfish2", "swordfish3.py"],
        "env": {"TOKEN": "swordfish4", "URL": "https://me:swordfish5@h"}}"#;
    for finding in findings_of("x.json", server, Platform::Windows) {
        let text = format!("{} {}", finding.what, finding.fix);
        for number in [1, 2, 4, 5] {
            assert!(!text.contains(&format!("swordfish{number}")), "{text}");
        }
    }
}

#[test]
fn findings_say_where_and_what_to_do_in_the_clients_own_way() {
    let server = r#"{"command": "x",
 "env": {"API_KEY": "abcdefgh"}}"#;
    let found = findings_of("/p/.cursor/mcp.json", server, Platform::Linux);
    assert_eq!(found[0].at, "/p/.cursor/mcp.json:2:21");
    assert!(found[0].fix.contains("${env:NAME}"), "{}", found[0].fix);
}

#[test]
fn a_name_is_a_duplicate_only_within_one_client() {
    let text = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}"#;
    let one = config("/p/.cursor/mcp.json", text);
    let other = config("/home/me/.cursor/mcp.json", text);
    let else_ones = config("claude_desktop_config.json", text);
    let found = duplicate_names(&[one, else_ones, other]);
    let places: Vec<(usize, usize)> = found.iter().map(|(f, e, _)| (*f, *e)).collect();
    assert_eq!(places, [(2, 0), (2, 1)]);
    assert!(found[0].2.what.contains("/p/.cursor/mcp.json:1:17"));
}
