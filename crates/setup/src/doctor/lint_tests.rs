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
fn a_folder_that_the_client_does_not_heed_makes_no_path_whole() {
    let server = r#"{"command": "node", "args": ["dist/index.js"], "cwd": "/srv/app"}"#;
    let findings = findings_of(".mcp.json", server, Platform::Linux);
    assert_eq!(findings[0].lint, Lint::RelativePath);
    assert_eq!(
        findings[0].what,
        "`dist/index.js` depends on the folder in which the client starts the server, and Claude \
         Code was seen not to heed `cwd`."
    );
    assert_eq!(findings_of("mcp_config.json", server, Platform::Linux), []);
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

/// The findings that can't work of a file with one server, as `what fix`.
fn errors_of(file: &str, text: &str) -> Vec<(Lint, String, String)> {
    let config = config(file, text);
    let env = BTreeMap::new();
    let around = Surroundings {
        env: &env,
        inputs: &BTreeMap::new(),
        project: Path::new("/work/app"),
        home: None,
    };
    lint(&config, &config.entries[0], Platform::Linux, &around)
        .into_iter()
        .filter(|finding| finding.level == FindingLevel::Error)
        .map(|it| (it.lint, it.at.clone(), format!("{} {}", it.what, it.fix)))
        .collect()
}

#[test]
fn a_key_of_servers_that_stands_twice_hides_the_first() {
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"/x\"}},\n \"mcpServers\": {\"b\": \
                {\"command\": \"/y\"}}}";
    let config = read(Path::new("/p/.mcp.json"), text, Path::new("/")).unwrap();
    let flaws: Vec<_> = config.entries.iter().flat_map(|it| &it.flaws).collect();
    let [flaw] = flaws.as_slice() else {
        panic!("{flaws:?}");
    };
    assert_eq!(flaw.lint, Lint::DuplicateName);
    assert!(
        flaw.at.ends_with(":2:2") && flaw.what.contains("line 1"),
        "{flaw:?}"
    );
}

#[test]
fn servers_under_a_key_of_another_client_are_not_read() {
    let server = r#"{"a": {"command": "/x"}}"#;
    for (file, key, at, fix) in [
        (
            "/p/.vscode/mcp.json",
            "mcpServers",
            "1:2",
            "Rename `mcpServers` to `servers`",
        ),
        (
            "/p/.cursor/mcp.json",
            "servers",
            "1:2",
            "Rename `servers` to `mcpServers`",
        ),
        (
            "claude_desktop_config.json",
            "servers",
            "1:2",
            "to `mcpServers`",
        ),
        (
            "claude_desktop_config.json",
            "mcp_servers",
            "1:2",
            "to `mcpServers`",
        ),
        ("/p/.mcp.json", "servers", "1:2", "to `mcpServers`"),
        (
            "/p/.gemini/settings.json",
            "servers",
            "1:2",
            "to `mcpServers`",
        ),
        (
            "/p/.zed/settings.json",
            "mcpServers",
            "1:2",
            "to `context_servers`",
        ),
        ("opencode.json", "mcpServers", "1:2", "to `mcp`"),
    ] {
        let server = match file {
            "opencode.json" => r#"{"a": {"type": "local", "command": ["/x"]}}"#,
            _ => server,
        };
        let found = errors_of(file, &format!("{{\"{key}\": {server}}}"));
        let [(lint, place, said)] = found.as_slice() else {
            panic!("{file} {key}: {found:?}");
        };
        assert_eq!(*lint, Lint::WrongKey);
        assert!(place.ends_with(at) && said.contains(fix), "{found:?}");
    }
    for (file, text) in [
        (
            "/h/.codex/config.toml",
            "[mcpServers.a]\ncommand = \"/x\"\n",
        ),
        (
            "/h/goose/config.yaml",
            "mcpServers:\n  a: {type: stdio, cmd: /x}\n",
        ),
        ("/p/.cursor/mcp.json", server),
        (
            "/p/.cursor/mcp.json",
            r#"{"mcp": {"servers": {"a": {"command": "/x"}}}}"#,
        ),
    ] {
        let found = errors_of(file, text);
        assert!(
            matches!(found.as_slice(), [(Lint::WrongKey, ..)]),
            "{file} {found:?}"
        );
    }
    // Whose file it is is a guess, a plugin has no key, or it is no server's.
    for (file, text) in [
        ("x.json", r#"{"servers": {"a": {"command": "/x"}}}"#),
        ("/p/.mcp.json", server),
        (
            "/h/.config/Code/User/settings.json",
            r#"{"mcp": {"servers": {"a": {"command": "/x"}}}}"#,
        ),
    ] {
        assert_eq!(errors_of(file, text), [], "{file}");
    }
    let other = r#"{"mcpServers": {"a": {"command": "/x"}}, "servers": {"b": {"port": 1}}}"#;
    assert_eq!(config("/p/.cursor/mcp.json", other).entries.len(), 1);
    // One file for two clients.
    let both = r#"{"mcpServers": {"a": {"command": "/x"}}, "servers": {"b": {"command": "/x"}}}"#;
    let flaws = &config("/p/.cursor/mcp.json", both).entries[1].flaws;
    assert_eq!(
        (flaws[0].lint, flaws[0].level),
        (Lint::WrongKey, FindingLevel::Warning)
    );
}

#[test]
fn a_type_is_held_against_what_else_the_entry_has() {
    let (vs_code, claude_code) = ("/p/.vscode/mcp.json", "/p/.mcp.json");
    for (file, key, server, fix) in [
        (
            vs_code,
            "servers",
            r#"{"type": "http", "command": "/x"}"#,
            r#"`"type": "stdio"`, or `url` in place of `command`"#,
        ),
        (
            vs_code,
            "servers",
            r#"{"type": "stdio", "url": "http://h/mcp"}"#,
            r#"`"type": "http"`, or `command` in place of `url`"#,
        ),
        (
            claude_code,
            "mcpServers",
            r#"{"type": "sse", "command": "/x"}"#,
            r#""type": "stdio""#,
        ),
        (
            "cline_mcp_settings.json",
            "mcpServers",
            r#"{"type": "stdio", "url": "http://h/mcp"}"#,
            r#""type": "streamableHttp""#,
        ),
        (
            claude_code,
            "mcpServers",
            r#"{"type": "stdio", "httpUrl": "http://h/mcp"}"#,
            "`command` in place of `httpUrl`",
        ),
        (
            "opencode.json",
            "mcp",
            r#"{"type": "remote", "command": ["/x"]}"#,
            r#""type": "local""#,
        ),
        (
            "opencode.json",
            "mcp",
            r#"{"type": "stdio", "url": "http://h/mcp"}"#,
            r#""type": "remote""#,
        ),
    ] {
        let found = errors_of(file, &format!("{{\"{key}\": {{\"a\": {server}}}}}"));
        assert!(
            matches!(found.as_slice(), [(Lint::TypeMismatch, _, said)] if said.contains(fix)),
            "{file} {server}: {found:?}"
        );
    }
    // Cursor goes by the members that are there.
    let found = findings_of(
        "/p/.cursor/mcp.json",
        r#"{"type": "http", "command": "/x"}"#,
        Platform::Linux,
    );
    assert_eq!(
        (found[0].lint, found[0].level),
        (Lint::TypeMismatch, FindingLevel::Warning)
    );
    for server in [
        r#"{"type": "stdio", "command": "/x"}"#,
        r#"{"type": "http", "url": "http://h/mcp"}"#,
        r#"{"type": "custom", "command": "/x"}"#,
    ] {
        assert_eq!(
            findings_of(claude_code, server, Platform::Linux),
            [],
            "{server}"
        );
    }
}

#[test]
fn values_that_are_no_strings_are_errors_where_the_client_wants_strings() {
    let env = r#"{"command": "/x", "env": {"PORT": 3000, "DEBUG": true, "A": "b"}}"#;
    for file in [
        "claude_desktop_config.json",
        "/p/.mcp.json",
        "mcp_config.json",
    ] {
        let found = errors_of(file, &format!("{{\"mcpServers\": {{\"a\": {env}}}}}"));
        assert_eq!(found.len(), 2, "{file}: {found:?}");
        assert!(found[0].2.contains("`env.PORT` is a number"), "{found:?}");
        assert!(found[0].2.contains("quotes") && !found[0].2.contains("3000"));
    }
    let codex = "[mcp_servers.a]\ncommand = \"/x\"\nenv = { PORT = 3000 }\n";
    assert_eq!(errors_of("/h/.codex/config.toml", codex).len(), 1);
    let vs_code = format!("{{\"servers\": {{\"a\": {env}}}}}");
    assert_eq!(errors_of("/p/.vscode/mcp.json", &vs_code), []);
}

#[test]
fn a_line_of_a_shell_is_not_to_be_cut_into_words() {
    for (command, wanted, never) in [
        (
            "cd /srv/app && python3 y.py",
            r#""command": "sh", "args": ["-c", "…"]"#,
            r#""command": "cd""#,
        ),
        (
            "python3 y.py | tee log",
            r#""command": "sh""#,
            "each of the other words",
        ),
        (
            "A_B=1 C=2 python3 y.py",
            r#"Move `A_B`, `C` to `env`. Write `"command": "python3"`"#,
            r#""command": "A_B"#,
        ),
        (
            "A='x y' python3 y.py",
            r#"Move `A` to `env`. Write `"command": "python3"`"#,
            "y'",
        ),
        (
            "A=1 B=2",
            "Move `A`, `B` to `env`. `command` is the program alone.",
            "Write",
        ),
        ("npx -y b@1.2.3", r#"Write `"command": "npx"`"#, "env"),
    ] {
        let server = serde_json::json!({"command": command}).to_string();
        let found = findings_of("x.json", &server, Platform::Linux);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].lint, Lint::CommandWithArguments);
        let said = format!("{} {}", found[0].what, found[0].fix);
        assert!(said.contains(wanted) && !said.contains(never), "{said}");
    }
}
