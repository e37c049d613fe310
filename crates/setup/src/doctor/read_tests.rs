use super::super::{Client, Config, Entry, Place, Reached, read};
use jelly_base::model::Lint;
use std::path::Path;

fn config(name: &str, text: &str) -> Config {
    read(Path::new(name), text, Path::new("/work/app")).unwrap()
}

fn names(config: &Config) -> Vec<&str> {
    config.entries.iter().map(|e| e.name.as_str()).collect()
}

/// Command and arguments.
fn argv(entry: &Entry) -> Vec<&str> {
    match &entry.reached {
        Some(Reached::Command { command, args, .. }) => std::iter::once(command)
            .chain(args)
            .map(|spot| spot.text.as_str())
            .collect(),
        Some(Reached::Url { url, .. }) => vec![&url.text],
        None => Vec::new(),
    }
}

#[test]
fn claude_desktop_keeps_commands_with_arguments_and_environment() {
    let config = config(
        "claude_desktop_config.json",
        r#"{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "pkg"], "env": {"A": "b", "N": 1}}}, "theme": "x"}"#,
    );
    assert_eq!(config.client, Client::ClaudeDesktop);
    assert_eq!(argv(&config.entries[0]), ["npx", "-y", "pkg"]);
    let Some(Reached::Command { env, .. }) = &config.entries[0].reached else {
        panic!("a command");
    };
    let env: Vec<(&str, &str)> = env.iter().map(|(n, v)| (&**n, &*v.text)).collect();
    assert_eq!(env, [("A", "b"), ("N", "1")]);
}

#[test]
fn claude_code_keeps_urls_and_the_servers_of_a_project() {
    let config = config(
        "/home/me/.claude.json",
        r#"{"mcpServers": {"a": {"type": "http", "url": "https://h/mcp", "headers": {"X": "y"}}},
            "projects": {"/work/app": {"mcpServers": {"b": {"type": "stdio", "command": "x"}}},
                         "/elsewhere": {"mcpServers": {"c": {"command": "x"}}}}}"#,
    );
    assert_eq!(config.client, Client::ClaudeCode);
    assert_eq!(names(&config), ["a", "b"]);
    assert_eq!(argv(&config.entries[0]), ["https://h/mcp"]);
}

#[test]
fn vs_code_keeps_servers_and_inputs_with_comments_and_trailing_commas() {
    let config = config(
        "/p/.vscode/mcp.json",
        "\u{feff}{\n  // what is asked for\n  \"inputs\": [{\"type\": \"promptString\", \"id\": \"k\", \
         \"password\": true, \"description\": \"d\",},],\n  /* and */ \"servers\": {\n    \"s\": \
         {\"command\": \"x\", \"args\": [\"${input:k}\",], \"envFile\": \"e\"},\n  },\n}",
    );
    assert_eq!(config.client, Client::VsCode);
    assert_eq!(config.entries[0].place, Place { line: 5, column: 5 });
    assert_eq!(config.inputs[0].id, "k");
    assert!(config.inputs[0].password);
}

#[test]
fn vs_code_may_keep_them_in_its_settings() {
    let config = config(
        "x.json",
        r#"{"mcp": {"servers": {"s": {"url": "http://h"}}}}"#,
    );
    assert_eq!((config.client, names(&config)), (Client::VsCode, vec!["s"]));
}

#[test]
fn cursor_and_a_bare_file_look_the_same() {
    let text = r#"{"mcpServers": {"s": {"command": "x"}}}"#;
    assert_eq!(config("/p/.cursor/mcp.json", text).client, Client::Cursor);
    assert_eq!(config("x.json", text).client, Client::Unknown);
}

#[test]
fn windsurf_and_cline_disable_servers_and_name_urls_their_way() {
    let windsurf = config(
        "mcp_config.json",
        r#"{"mcpServers": {"s": {"serverUrl": "https://h"}, "off": {"command": "x", "disabled": true}}}"#,
    );
    assert_eq!(windsurf.client, Client::Windsurf);
    assert_eq!(argv(&windsurf.entries[0]), ["https://h"]);
    assert!(windsurf.entries[1].disabled && !windsurf.entries[0].disabled);
    let cline = config("cline_mcp_settings.json", r#"{"mcpServers": {}}"#);
    assert_eq!((cline.client, cline.has_servers_key), (Client::Cline, true));
}

#[test]
fn zed_keeps_them_in_its_settings_in_two_forms() {
    let config = config(
        "settings.json",
        r#"{"theme": "One", "context_servers": {
            "new": {"source": "custom", "command": "x", "args": ["a"], "enabled": false},
            "old": {"command": {"path": "y", "args": ["b"], "env": {"A": "b"}}},
            "extension": {"settings": {}}}}"#,
    );
    assert_eq!(config.client, Client::Zed);
    assert_eq!(argv(&config.entries[0]), ["x", "a"]);
    assert_eq!(argv(&config.entries[1]), ["y", "b"]);
    assert!(config.entries[0].disabled);
    let extension = &config.entries[2];
    assert!(extension.disabled && extension.flaws.is_empty());
    assert_eq!(extension.notes.len(), 1);
}

#[test]
fn the_map_alone_is_a_configuration() {
    let config = config(
        "x.json",
        r#"{"s": {"command": "x"}, "t": {"url": "http://h"}}"#,
    );
    assert_eq!(names(&config), ["s", "t"]);
}

#[test]
fn a_file_of_a_client_without_servers_has_none() {
    let config = config("settings.json", r#"{"theme": "One", "editor": {"tab": 2}}"#);
    assert!(!config.has_servers_key && config.entries.is_empty());
}

#[test]
fn what_is_no_configuration_is_said_with_line_and_column() {
    for (text, at, what) in [
        (
            "{\n  \"mcpServers\": {\n    \"a\": {]\n",
            "x.json:3:11",
            "invalid json",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\" \"args\": []}}}",
            "x.json:1:37",
            "comma",
        ),
        ("{\"mcpServers\": [\n]}", "x.json:1:16", "is an array"),
        ("[1]", "x.json:1:1", "an array"),
        ("", "x.json", "empty"),
        ("{'a': 1}", "x.json:1:2", "single-quoted"),
    ] {
        let error = read(Path::new("x.json"), text, Path::new("/")).unwrap_err();
        assert!(
            error.what.to_lowercase().contains(what),
            "{text}: {}",
            error.what
        );
        assert_eq!(error.at(), at, "{text}: {}", error.what);
        assert!(error.help.is_some(), "{text}");
    }
}

#[test]
fn a_malformed_entry_is_its_own_flaw_and_the_others_go_on() {
    let config = config(
        "x.json",
        r#"{"mcpServers": {
  "number": 1,
  "args": {"command": "x", "args": "a b"},
  "typo": {"comand": "x"},
  "both": {"command": "x", "url": "http://h"},
  "env": {"command": "x", "env": {"A": ["b"]}},
  "good": {"command": "x"}
}}"#,
    );
    let flaws: Vec<(&str, usize)> = config
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.flaws.len()))
        .collect();
    assert_eq!(
        flaws,
        [
            ("number", 1),
            ("args", 1),
            ("typo", 1),
            ("both", 1),
            ("env", 1),
            ("good", 0)
        ]
    );
    assert_eq!(config.entries[1].flaws[0].at, "x.json:3:36");
    assert!(
        config.entries[2].flaws[0]
            .what
            .contains("meant to be `command`")
    );
    assert!(
        config
            .entries
            .iter()
            .flat_map(|e| &e.flaws)
            .all(|f| f.lint == Lint::Malformed)
    );
}

#[test]
fn of_two_servers_of_one_name_the_last_is_used() {
    let config = config(
        "x.json",
        "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
    );
    assert_eq!(config.entries.len(), 1);
    assert_eq!(argv(&config.entries[0]), ["y"]);
    let flaw = &config.entries[0].flaws[0];
    assert_eq!(flaw.lint, Lint::DuplicateName);
    assert!(flaw.what.contains("line 2"), "{}", flaw.what);
}

#[test]
fn a_file_nested_without_end_is_refused() {
    let text = "{\"a\":".repeat(100_000);
    assert!(read(Path::new("x.json"), &text, Path::new("/")).is_err());
}
