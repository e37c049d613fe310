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
    assert!(extension.is_built_in && !extension.disabled && extension.flaws.is_empty());
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
fn what_another_notation_allows_is_told_how_json_has_it() {
    for (text, help) in [
        (
            r#"{"mcpServers": {"a": {"command": "C:\Users\me"}}}"#,
            r"`\\`",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "c:\users\me"}}}"#,
            r"`\\`",
        ),
        ("{'mcpServers': {}}", "double quotes"),
    ] {
        let error = read(Path::new("x.json"), text, Path::new("/")).unwrap_err();
        let told = error.help.unwrap_or_default();
        assert!(told.contains(help), "{text}: {told}");
    }
}

#[test]
fn a_list_of_servers_is_said_to_be_continues() {
    let listed = "name: x\nmcpServers:\n  - name: a\n    command: python3\n";
    let error = read(Path::new("config.yaml"), listed, Path::new("/")).unwrap_err();
    assert_eq!(error.at(), "config.yaml:3:3");
    assert!(error.what.contains("Continue"), "{}", error.what);
    let help = error.help.unwrap_or_default();
    assert!(help.contains("`jelly list -- COMMAND ARGS`"), "{help}");
}

#[test]
fn a_malformed_entry_is_its_own_flaw_and_the_others_go_on() {
    let config = config(
        "x.json",
        r#"{"mcpServers": {
  "number": 1,
  "args": {"command": "x", "args": "a b"},
  "key": {"command": "x", "args": "s.js --api-key hunter2xyzQ9"},
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
            ("key", 1),
            ("typo", 1),
            ("both", 1),
            ("env", 1),
            ("good", 0)
        ]
    );
    assert_eq!(config.entries[1].flaws[0].at, "x.json:3:36");
    assert_eq!(
        config.entries[1].flaws[0].fix,
        r#"Write `"args": ["a","b"]`."#
    );
    assert!(config.entries[1].reached.is_none(), "started without them");
    let fix = &config.entries[2].flaws[0].fix;
    assert!(
        !fix.contains("hunter2xyzQ9") && fix.contains("--api-key"),
        "{fix}"
    );
    assert!(
        config.entries[3].flaws[0]
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

/// Environment of a command, or headers of a URL.
fn pairs(entry: &Entry) -> Vec<(&str, &str)> {
    let pairs = match &entry.reached {
        Some(Reached::Command { env, .. }) => env,
        Some(Reached::Url { headers, .. }) => headers,
        None => return Vec::new(),
    };
    pairs.iter().map(|(n, v)| (&**n, &*v.text)).collect()
}

#[test]
fn codex_keeps_servers_in_tables_of_toml() {
    let config = config(
        "/home/me/.codex/config.toml",
        r#"model = "gpt-5"  # and more

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp@1.2.0"]
cwd = "/work"
startup_timeout_sec = 20

[mcp_servers.docs.env]
API_KEY = "k"

[mcp_servers.remote]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "EXAMPLE_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "EXAMPLE_KEY" }
enabled = false

[mcp_servers.wrong]
command = 7
"#,
    );
    assert_eq!(config.client, Client::Codex);
    assert_eq!(names(&config), ["docs", "remote", "wrong"]);
    let [docs, remote, wrong] = config.entries.as_slice() else {
        panic!("three servers");
    };
    assert_eq!(argv(docs), ["npx", "-y", "docs-mcp@1.2.0"]);
    assert_eq!(pairs(docs), [("API_KEY", "k")]);
    assert_eq!(docs.place.line, 3);
    let Some(Reached::Command { args, .. }) = &docs.reached else {
        panic!("a command");
    };
    assert_eq!(
        args[1].place,
        Place {
            line: 5,
            column: 15
        }
    );
    assert!(remote.disabled && !docs.disabled);
    assert_eq!(
        pairs(remote),
        [
            ("X-Region", "eu"),
            ("X-Key", "${env:EXAMPLE_KEY}"),
            ("Authorization", "Bearer ${env:EXAMPLE_TOKEN}")
        ]
    );
    assert!(
        wrong.flaws[0].at.ends_with("config.toml:20:11"),
        "{}",
        wrong.flaws[0].at
    );
    assert!(wrong.flaws[0].fix.contains("[mcp_servers.NAME]"));
}

#[test]
fn opencode_keeps_the_program_and_its_arguments_in_one_list() {
    let text = r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // started here
    "files": {"type": "local", "command": ["npx", "-y", "pkg"], "environment": {"K": "{env:KEY}"}, "enabled": true},
    "off": {"type": "local", "command": ["x"], "enabled": false},
    "far": {"type": "remote", "url": "https://h/mcp", "headers": {"Authorization": "Bearer {env:T}"}},
    "none": {"type": "local", "command": []},
  },
}"#;
    for name in ["/p/opencode.json", "copy.json"] {
        let config = config(name, text);
        assert_eq!(config.client, Client::OpenCode);
        assert_eq!(names(&config), ["files", "off", "far", "none"]);
        assert_eq!(argv(&config.entries[0]), ["npx", "-y", "pkg"]);
        assert_eq!(pairs(&config.entries[0]), [("K", "${env:KEY}")]);
        assert!(config.entries[1].disabled);
        assert_eq!(
            pairs(&config.entries[2]),
            [("Authorization", "Bearer ${env:T}")]
        );
        assert_eq!(config.entries[3].flaws.len(), 1);
    }
}

#[test]
fn goose_keeps_extensions_in_yaml_and_some_are_its_own() {
    let config = config(
        "/home/me/.config/goose/config.yaml",
        "GOOSE_PROVIDER: openai\n\
         extensions:\n  \
           developer:\n    bundled: true\n    enabled: true\n    type: builtin\n    name: developer\n  \
           files:\n    enabled: true\n    type: stdio\n    cmd: npx\n    args: [-y, pkg]\n    \
             envs: {A: b, N: 1}\n    env_keys: [API_KEY]\n    timeout: 300\n  \
           far:\n    enabled: false\n    type: streamable_http\n    uri: https://h/mcp\n  \
           old:\n    enabled: true\n    config: {type: stdio, cmd: uvx, args: [srv]}\n",
    );
    assert_eq!(config.client, Client::Goose);
    assert_eq!(names(&config), ["developer", "files", "far", "old"]);
    let [developer, files, far, old] = config.entries.as_slice() else {
        panic!("four servers");
    };
    assert!(developer.is_built_in && !developer.disabled && developer.flaws.is_empty());
    assert_eq!(argv(files), ["npx", "-y", "pkg"]);
    assert_eq!(pairs(files), [("A", "b"), ("N", "1")]);
    assert!(files.notes[0].contains("API_KEY"));
    assert_eq!(files.place, Place { line: 8, column: 3 });
    assert!(far.disabled);
    assert_eq!(argv(far), ["https://h/mcp"]);
    assert_eq!(argv(old), ["uvx", "srv"]);
}

#[test]
fn gemini_cli_and_copilot_cli_follow_claude_desktop() {
    let gemini = config(
        "/home/me/.gemini/settings.json",
        r#"{"mcpServers": {
            "a": {"command": "x", "env": {"K": "$KEY"}, "cwd": "./server", "timeout": 15000, "trust": true},
            "b": {"httpUrl": "https://h/mcp", "headers": {"Authorization": "Bearer ${T}"}}}}"#,
    );
    assert_eq!(gemini.client, Client::GeminiCli);
    assert_eq!(pairs(&gemini.entries[0]), [("K", "${KEY}")]);
    assert_eq!(argv(&gemini.entries[1]), ["https://h/mcp"]);
    let copilot = config(
        "/home/me/.copilot/mcp-config.json",
        r#"{"mcpServers": {"a": {"type": "local", "command": "x", "args": [], "tools": ["*"]},
            "b": {"type": "http", "url": "https://h/mcp", "tools": ["*"]}}}"#,
    );
    assert_eq!(copilot.client, Client::CopilotCli);
    assert_eq!(argv(&copilot.entries[1]), ["https://h/mcp"]);
    assert!(copilot.entries.iter().all(|entry| entry.flaws.is_empty()));
}

#[test]
fn what_a_strict_client_refuses_is_said_where_it_stands() {
    let text = "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n  // mine\n  \"b\": {\"command\": \"y\",}\n}}";
    let flaws = |name: &str| -> Vec<String> {
        let entries = config(name, text).entries.into_iter();
        entries
            .flat_map(|entry| entry.flaws)
            .map(|flaw| flaw.at)
            .collect()
    };
    assert_eq!(
        flaws("claude_desktop_config.json"),
        // None of its servers is read.
        ["claude_desktop_config.json:3:3"; 2]
    );
    assert_eq!(
        flaws(".gemini/settings.json"),
        [".gemini/settings.json:4:23"; 2]
    );
    assert!(flaws(".cursor/mcp.json").is_empty());
    assert_eq!(flaws(".mcp.json"), [".mcp.json:3:3"; 2]);
    let marked = "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}";
    let flaws_of = |name: &str| config(name, marked).entries[0].flaws.len();
    assert_eq!(flaws_of("claude_desktop_config.json"), 1);
    assert_eq!(flaws_of(".mcp.json"), 0);
    let error = read(
        Path::new("claude_desktop_config.json"),
        "{\n// nothing yet\n}",
        Path::new("/"),
    );
    assert_eq!(error.unwrap_err().at(), "claude_desktop_config.json:2:1");
}

#[test]
fn broken_toml_and_yaml_are_said_with_line_and_column() {
    for (name, text, at) in [
        (
            ".codex/config.toml",
            "a = 1\n[mcp_servers.x\n",
            ".codex/config.toml:2:15",
        ),
        (
            ".codex/config.toml",
            "mcp_servers = 1\n",
            ".codex/config.toml:1:15",
        ),
        (
            ".codex/config.toml",
            "a = 1\na = 2\n",
            ".codex/config.toml:2:1",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  a: [b\nc: d\n",
            "goose/config.yaml:3:2",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  - a\n",
            "goose/config.yaml:2:3",
        ),
        ("goose/config.yaml", "- a\n", "goose/config.yaml:1:1"),
    ] {
        let error = read(Path::new(name), text, Path::new("/")).unwrap_err();
        assert_eq!(error.at(), at, "{text}: {}", error.what);
        assert!(error.help.is_some(), "{text}");
    }
}

#[test]
fn files_with_names_of_their_own_are_no_configurations() {
    for (name, text, expected) in [
        (
            "server.json",
            r#"{"name": "io.github.a/b", "packages": []}"#,
            "it is a `server.json` of the registry",
        ),
        (
            "b.json",
            r#"{"$schema": "https://static.modelcontextprotocol.io/schemas/2025-07-09/server.schema.json"}"#,
            "it is a `server.json` of the registry",
        ),
        (
            "package.json",
            r#"{"name": "depot", "bin": "x.js"}"#,
            "it is the `package.json`",
        ),
        (
            "jelly.yaml",
            "color: auto\n",
            "it holds the settings of jelly",
        ),
    ] {
        let error = read(Path::new(name), text, Path::new("/")).unwrap_err();
        assert!(error.what.starts_with(expected), "{}", error.what);
        assert!(error.help.is_some(), "{name}");
    }
}

#[test]
fn servers_of_clients_without_a_row_are_found() {
    for (name, text) in [
        (
            "crush.json",
            r#"{"mcp": {"a": {"type": "stdio", "command": "x"}, "b": {"type": "http", "url": "https://h"}}}"#,
        ),
        (
            "settings.json",
            r#"{"amp.mcpServers": {"a": {"command": "x"}, "b": {"url": "https://h"}}, "amp.url": "u"}"#,
        ),
    ] {
        let config = config(name, text);
        assert_eq!(config.client, Client::Unknown, "{name}");
        assert_eq!(names(&config), ["a", "b"], "{name}");
    }
    let settings = config("s.json", r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#);
    assert_eq!(settings.client, Client::VsCode);
    assert_eq!(names(&settings), ["a"]);
    let toml = config("x.toml", "[mcpServers.a]\ncommand = \"x\"\n");
    assert_eq!(names(&toml), ["a"]);
    assert_eq!(toml.entries[0].flaws[0].lint, Lint::WrongKey);
}

#[test]
fn a_plan_and_a_compose_file_are_no_configurations() {
    for (text, expected) in [
        (
            "version: 1\nservers:\n  s: {command: x}\nsteps: []\n",
            "it is a plan of jelly",
        ),
        ("services:\n  web: {image: nginx}\n", "it is a Compose file"),
    ] {
        let error = read(Path::new("any.yaml"), text, Path::new("/")).unwrap_err();
        assert!(error.what.starts_with(expected), "{}", error.what);
    }
}
