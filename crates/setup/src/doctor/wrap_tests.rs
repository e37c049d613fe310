use super::super::clients::{CLIENTS, Client, ClientFormat, Syntax};
use super::super::document::{Data, Node, parse};
use super::super::secrets::secrets_of;
use super::{Rewrapped, Turn, WrapPlace, config_of, unwrap, wrap, wrapped_words};
use serde_json::{Value, json};
use std::path::Path;

const JELLY: &str = "/opt/bin/jelly";

fn place(path: &str) -> WrapPlace<'_> {
    WrapPlace {
        path: Path::new(path),
        project: Path::new("/p"),
        jelly: JELLY,
    }
}

fn wrapped(path: &str, text: &str) -> Rewrapped {
    wrap(place(path), text, &|_| true).unwrap()
}

/// A configuration of each client: path, text, and how many servers can be
/// wrapped.
const CONFIGS: &[(&str, &str, usize)] = &[
    (
        "claude_desktop_config.json",
        "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"@modelcontextprotocol/server-filesystem\"\n      ],\n      \"env\": { \"API_KEY\": \"k\" }\n    },\n    \"bare\": { \"command\" : \"uvx\" },\n    \"empty\": {\"args\": [ ], \"command\": \"a\\\"b\"}\n  }\n}\n",
        3,
    ),
    (
        ".cursor/mcp.json",
        "\u{feff}// mine\r\n{\r\n\t\"mcpServers\": {\r\n\t\t// the files\r\n\t\t\"files\": { \"command\": \"npx\", // starts it\r\n\t\t\t\"args\": [ /* yes */ \"-y\", \"x\", ], },\r\n\t},\r\n}\r\n",
        1,
    ),
    (
        ".vscode/mcp.json",
        "{\"servers\":{\"a\":{\"type\":\"stdio\",\"command\":\"node\",\"args\":[\"${workspaceFolder}/s.js\"]},\"web\":{\"type\":\"http\",\"url\":\"https://h/mcp\",\"headers\":{\"X-Key\":\"${input:k}\"}}},\"inputs\":[]}",
        2,
    ),
    (
        ".zed/settings.json",
        "{ \"context_servers\": { \"old\": { \"command\": { \"path\": \"srv\", \"args\": [\"-x\"], \"env\": {} } }, \"new\": { \"command\": \"srv\" } } }",
        2,
    ),
    (
        "opencode.json",
        "{ \"mcp\": { \"a\": { \"type\": \"local\", \"command\": [\"npx\", \"-y\", \"x\"], \"enabled\": true }, \"far\": { \"type\": \"remote\", \"url\": \"https://h/\", \"headers\": { \"Authorization\": \"Bearer {env:T}\" } } } }",
        2,
    ),
    (
        ".codex/config.toml",
        "model = \"o\"\n\n[mcp_servers.files]\ncommand = \"npx\" # starts it\nargs = [\"-y\",\n  'x'] # these\n\n[mcp_servers.bare]\ncommand = 'uvx' # bare\nenv = { A = \"b\" }\n\n[mcp_servers]\ninline = { command = \"c\" }\n",
        3,
    ),
    (
        "goose/config.yaml",
        "GOOSE_MODEL: x\nextensions:\n  files:\n    type: stdio\n    cmd: npx   # starts it\n    args:\n      - -y   # yes\n      - \"x y\"\n    envs: { A: b }\n  flow: { type: stdio, cmd: uvx, args: ['a', b] }\n  bare:\n    cmd: 'it''s'\n    enabled: true\n  same:\n    cmd: x\n    args:\n    - a\n",
        4,
    ),
    (
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"far\": {\n      \"headers\": {\n        \"Authorization\": \"Bearer t\\u006bn\",\n        \"X-Team\" : \"red\"\n      },\n      \"type\" : \"http\",\n      \"url\" :  \"https:\\/\\/h/mcp\",\n      \"alwaysAllow\": [\"a\"]\n    },\n    \"plain\": { \"serverUrl\": \"https://h/sse\" }\n  }\n}\n",
        2,
    ),
    (
        ".gemini/settings.json",
        "{\n  \"mcpServers\": {\n    \"s\": {\n      \"command\": \"python3\",\n      \"args\": [\"s.py\"], \"timeout\": 10000\n    },\n    \"far\": { \"httpUrl\": \"https://h/mcp\" }\n  }\n}",
        2,
    ),
];

fn changed(done: &Rewrapped) -> usize {
    done.entries
        .iter()
        .filter(|(_, turn)| *turn == Turn::Changed)
        .count()
}

#[test]
fn every_format_is_wrapped_once_and_restored_byte_by_byte() {
    for (path, text, servers) in CONFIGS {
        let once = wrapped(path, text);
        assert_eq!(changed(&once), *servers, "{path}: {once:?}");
        assert!(once.text.contains(JELLY) && once.text.contains("--wrapped"));
        let twice = wrapped(path, &once.text);
        assert_eq!((&twice.text, changed(&twice)), (&once.text, 0), "{path}");
        let back = unwrap(place(path), &once.text, &|_| true).unwrap();
        assert_eq!(back.text, *text, "{path}: {}", once.text);
        assert_eq!(changed(&back), *servers);
        // What was never wrapped is left alone.
        let never = unwrap(place(path), text, &|_| true).unwrap();
        assert_eq!((never.text.as_str(), changed(&never)), (*text, 0));
    }
}

#[test]
fn what_a_client_writes_meanwhile_stays_and_its_servers_are_the_original_ones() {
    for (path, text, _) in CONFIGS.iter().filter(|(path, ..)| path.ends_with("json")) {
        let once = wrapped(path, text).text;
        let read = |text: &str| -> serde_json::Value {
            let text = jsonc(text);
            serde_json::from_str(&text).unwrap()
        };
        // Formatted anew, in another order of keys, with another member.
        let mut rewritten = reversed(&read(&once));
        let servers = rewritten.as_object_mut().unwrap();
        servers.insert("added".to_owned(), serde_json::json!({"by": "the client"}));
        let mut wanted = read(text);
        let members = wanted.as_object_mut().unwrap();
        members.insert("added".to_owned(), serde_json::json!({"by": "the client"}));
        for rewritten in [
            serde_json::to_string_pretty(&rewritten).unwrap(),
            rewritten.to_string(),
        ] {
            let back = unwrap(place(path), &rewritten, &|_| true).unwrap();
            assert_eq!(read(&back.text), wanted, "{path}: {}", back.text);
        }
    }
}

/// Without comments and trailing commas, which the texts above have once.
fn jsonc(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let text = text.replace("// mine", "").replace("// the files", "");
    let text = text.replace("// starts it", "").replace("/* yes */", "");
    text.replace(", ],", " ]")
        .replace("},\r\n\t}", "}\r\n\t}")
        .replace("},\r\n}", "}\r\n}")
        .replace(" ] },", " ] }")
}

fn reversed(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(members) => {
            let members = members.iter().rev();
            members
                .map(|(name, value)| (name.clone(), reversed(value)))
                .collect()
        }
        other => other.clone(),
    }
}

#[test]
fn toml_and_yaml_that_were_written_anew_are_restored_too() {
    let toml = "[mcp_servers.a]\nargs = [\n  \"proxy\",\n  \"--wrapped=bare\",\n  \"--\",\n  \"uvx\",\n]\ncommand = \"/x/jelly\"\n";
    let back = unwrap(place(".codex/config.toml"), toml, &|_| true).unwrap();
    assert_eq!(back.text, "[mcp_servers.a]\ncommand = \"uvx\"\n");
    let yaml = "extensions:\n  a:\n    args:\n      - proxy\n      - --wrapped\n      - --\n      - npx\n      - -y\n    cmd: /x/jelly\n  b:\n    args: [proxy, --wrapped, --, uvx]\n    cmd: /x/jelly\n";
    let back = unwrap(place("goose/config.yaml"), yaml, &|_| true).unwrap();
    // With a comma behind the last item, as formatters write it.
    for (path, text, bare) in [
        (
            ".codex/config.toml",
            "[mcp_servers.q]\ncommand = \"/x/jelly\"\nargs = [\"proxy\",\"--wrapped\",\"--name\",\"q\",\"--\",\"node\",]\n",
            "[mcp_servers.q]\ncommand = \"node\"\nargs = []\n",
        ),
        (
            ".vscode/mcp.json",
            "{\"servers\":{\"q\":{\"command\":\"/x/jelly\",\"args\":[\"proxy\",\"--wrapped\",\"--\",\"node\" , ]}}}",
            "{\"servers\":{\"q\":{\"command\":\"node\",\"args\":[ ]}}}",
        ),
    ] {
        assert_eq!(unwrap(place(path), text, &|_| true).unwrap().text, bare);
    }
    let wanted = "extensions:\n  a:\n    args:\n      - -y\n    cmd: npx\n  b:\n    args: []\n    cmd: uvx\n";
    assert_eq!(back.text, wanted);
}

#[test]
fn only_the_servers_that_are_named_change() {
    let (path, text, _) = CONFIGS[0];
    let one = wrap(place(path), text, &|name| name == "bare").unwrap();
    assert_eq!(one.entries, [("bare".to_owned(), Turn::Changed)]);
    assert_eq!(one.text.matches(JELLY).count(), 1);
}

#[test]
fn what_can_t_be_wrapped_says_why() {
    let text = r#"{"mcpServers": {"web": {"url": "https://h/", "headers": {"A": "b"}, "env": {"C": "d"}}, "none": {}, "own": {"command": "/x/jelly", "args": ["proxy", "--config", "f", "--server", "own"]}}}"#;
    let done = wrapped(".mcp.json", text);
    assert_eq!(done.text, text);
    let whys: Vec<&str> = done
        .entries
        .iter()
        .map(|(_, turn)| match turn {
            Turn::Left(why) => why.as_str(),
            Turn::Changed | Turn::ChangedWith(_) | Turn::Already => panic!("{done:?}"),
        })
        .collect();
    assert!(
        whys[0].contains("URL") && whys[1].contains("no command"),
        "{whys:?}"
    );
    assert!(whys[2].contains("a proxy of jelly's already"), "{whys:?}");
}

#[test]
fn the_proxy_answers_before_the_client_gives_up() {
    for (path, text, wanted) in [
        (
            ".mcp.json",
            r#"{"mcpServers":{"a":{"command":"x"}}}"#,
            "24s",
        ),
        (
            ".cursor/mcp.json",
            r#"{"mcpServers":{"a":{"command":"x"}}}"#,
            "48s",
        ),
        (
            "opencode.json",
            r#"{"mcp":{"a":{"type":"local","command":["x"]}}}"#,
            "4s",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.a]\ncommand = \"x\"\nstartup_timeout_sec = 20\n",
            "16s",
        ),
        (
            ".zed/settings.json",
            r#"{"context_servers":{"a":{"command":"x","timeout":30}}}"#,
            "24s",
        ),
        (
            "cline_mcp_settings.json",
            r#"{"mcpServers":{"a":{"command":"x"}}}"#,
            "24s",
        ),
        (
            // The member is about calls alone.
            ".copilot/mcp-config.json",
            r#"{"mcpServers":{"a":{"command":"x","timeout":600000}}}"#,
            "48s",
        ),
        (
            ".gemini/settings.json",
            r#"{"mcpServers":{"a":{"command":"x"}}}"#,
            "50s",
        ),
    ] {
        let done = wrapped(path, text).text;
        assert!(done.contains(&format!("\"{wanted}\"")), "{path}: {done}");
    }
}

#[test]
fn what_is_behind_a_proxy_is_known_by_the_mark_alone() {
    let words = |argv: &'static [&'static str]| wrapped_words(argv).map(<[&str]>::to_vec);
    assert_eq!(
        words(&["/x/jelly", "proxy", "--wrapped", "--", "npx", "--", "y"]),
        Some(vec!["npx", "--", "y"])
    );
    assert_eq!(
        words(&["/x/jelly", "proxy", "--", "npx", "--wrapped"]),
        None
    );
    assert_eq!(
        words(&["/x/other", "proxy", "--wrapped", "--", "npx"]),
        None
    );
    assert_eq!(words(&["/x/jelly", "proxy", "--wrapped", "--"]), None);
}

#[test]
fn a_url_goes_through_jelly_with_its_headers_in_the_environment() {
    let text = r#"{"mcpServers": {"far": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer tkn", "X-Team": "red"}}}}"#;
    let done = wrapped(".mcp.json", text).text;
    let read: serde_json::Value = serde_json::from_str(&done).unwrap();
    let entry = &read["mcpServers"]["far"];
    assert_eq!(entry["command"], JELLY);
    assert_eq!(entry["type"], "stdio");
    assert_eq!(
        entry["args"],
        serde_json::json!([
            "proxy",
            "--wrapped=url:url:http",
            "--name",
            "far",
            "--startup-timeout",
            "24s",
            "--header-env",
            "Authorization=JELLY_HEADER_1_AUTHORIZATION",
            "--header-env",
            "X-Team=JELLY_HEADER_2_X_TEAM",
            "--url",
            "https://h/mcp"
        ])
    );
    assert_eq!(entry["env"]["JELLY_HEADER_1_AUTHORIZATION"], "Bearer tkn");
    assert_eq!(entry["env"]["JELLY_HEADER_2_X_TEAM"], "red");
    // The names of variables are no secrets, what they hold is.
    let text = text.replace("tkn", "tkn-0123456789abcdef");
    let done_with_secret = wrapped(".mcp.json", &text).text;
    let config = config_of(place(".mcp.json"), &done_with_secret).unwrap();
    let secrets = secrets_of(&config.entries[0]);
    let values: Vec<&str> = secrets.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["tkn-0123456789abcdef"]);
    // What somebody has added to it since stays, and what was left out is again there.
    let text = r#"{"mcpServers": {"far": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer tkn", "X-Team": "red"}}}}"#;
    for (from, to, wanted) in [
        (
            "\"env\": {",
            "\"env\": {\"MORE\": \"1\", \"AND\": \"2\", ",
            text.replace(
                "\"headers\"",
                r#""env": { "MORE": "1", "AND": "2" }, "headers""#,
            ),
        ),
        ("\"type\": \"stdio\", ", "", text.to_owned()),
        (
            "\"https://h/mcp\"]",
            "\"https://h/mcp\", \"--no-adapt\"]",
            text.to_owned(),
        ),
        (
            ", \"JELLY_HEADER_2_X_TEAM\": \"red\"",
            "",
            text.replace(", \"X-Team\": \"red\"", ""),
        ),
    ] {
        assert!(done.contains(from), "{from}: {done}");
        let meanwhile = done.replace(from, to);
        let back = unwrap(place(".mcp.json"), &meanwhile, &|_| true).unwrap();
        assert_eq!(back.text, wanted, "{meanwhile}: {back:?}");
        assert_eq!(back.entries[0].1, Turn::Changed);
    }
    // Two of a kind can't be told apart.
    let headers = done.replace("\"env\": {", "\"headers\": {\"X\": \"1\"}, \"env\": {");
    let back = unwrap(place(".mcp.json"), &headers, &|_| true).unwrap();
    assert_eq!(back.text, headers);
    assert!(
        matches!(&back.entries[0].1, Turn::Left(why) if why.contains("headers of its own")),
        "{back:?}"
    );
}

#[test]
fn what_a_client_does_with_a_url_alone_is_not_lost_without_a_word() {
    let far = |member: &str| {
        format!(r#"{{"mcpServers": {{"far": {{"url": "https://h/mcp", {member}}}}}}}"#)
    };
    for (member, said) in [
        (r#""oauth": {"clientId": "x"}"#, "(`oauth`)"),
        (r#""auth": {"CLIENT_ID": "x"}"#, "jelly login https://h/mcp"),
        (r#""authProviderType": "google_credentials""#, "logs in"),
        (r#""scopes": ["a"]"#, "(`scopes`)"),
        (r#""tlsCaFile": "x.pem""#, "in a way of its own"),
    ] {
        let text = far(member);
        let done = wrapped(".mcp.json", &text);
        assert_eq!(done.text, text);
        assert!(
            matches!(&done.entries[0].1, Turn::Left(why) if why.contains(said)),
            "{done:?}"
        );
    }
    for member in [
        r#""oauth": false"#,
        r#""scopes": []"#,
        r#""timeout": 5000, "autoApprove": ["a"]"#,
    ] {
        let done = wrapped(".mcp.json", &far(member));
        assert_eq!(done.entries[0].1, Turn::Changed, "{member}");
    }
    let done = wrapped(".mcp.json", &far(r#""flavour": "x""#));
    assert!(done.text.contains(r#""flavour": "x""#), "{done:?}");
    assert!(
        matches!(&done.entries[0].1, Turn::ChangedWith(note) if note.contains("`flavour` stays")),
        "{done:?}"
    );
}

#[test]
fn servers_of_one_name_in_several_projects_are_told_apart() {
    let entry = |args: &str| {
        format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"npx\",\n\"args\": [{args}]}}}}}}")
    };
    let text = format!(
        "{{\"projects\": {{\"/p\": {},\n\"/q\": {}}},\n\"mcpServers\": {{\"a\": {{\"command\": \"uvx\"}}}}}}",
        entry("\"one\""),
        entry("\"two\"")
    );
    let once = wrapped(".claude.json", &text);
    assert!(changed(&once) >= 1, "{once:?}");
    let back = unwrap(place(".claude.json"), &once.text, &|_| true).unwrap();
    assert_eq!(back.text, text, "{}", once.text);
    assert_eq!(changed(&back), changed(&once), "{back:?}");
}

#[test]
fn codex_gets_no_member_with_a_url_that_it_refuses_there() {
    let text = "[mcp_servers.a]\nurl = \"https://h/\"\nbearer_token_env_var = \"T\"\n\n[mcp_servers.a.http_headers]\nX-Team = \"red\"\n";
    let done = wrapped(".codex/config.toml", text).text;
    let meanwhile = done
        .replace(
            "env_vars = [\"T\"]",
            "env_vars = [\"U\", \"T\"]\ncwd = \"/tmp\"",
        )
        .replace(".env]\n", ".env]\nRUST_LOG = \"debug\"\n");
    assert_ne!(meanwhile, done);
    let back = unwrap(place(".codex/config.toml"), &meanwhile, &|_| true).unwrap();
    assert_eq!(back.text, text, "{meanwhile}");
    assert!(
        matches!(&back.entries[0].1, Turn::ChangedWith(note) if note.contains("RUST_LOG") && note.contains("`cwd`")),
        "{back:?}"
    );
    let text = "[mcp_servers.a]\nurl = \"https://h/\"\n";
    let meanwhile = wrapped(".codex/config.toml", text).text + "env = { A = \"b\" }\n";
    let back = unwrap(place(".codex/config.toml"), &meanwhile, &|_| true).unwrap();
    assert!(
        matches!(&back.entries[0].1, Turn::Left(why) if why.contains("take `env` out")),
        "{back:?}"
    );
}

#[test]
fn a_url_in_toml_or_yaml_goes_through_jelly_and_comes_back_byte_by_byte() {
    for (path, text) in [
        (
            ".codex/config.toml",
            "[mcp_servers.a]\nurl = \"https://h/\" # far\nstartup_timeout_sec = 20\n",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.a]\r\n  url = 'https://h/'\r\n  bearer_token_env_var = \"T\"\r\n\r\n[mcp_servers.a.http_headers]\r\nX-Team = \"red\" # ours\r\n\"X Y\" = 'b'\r\n",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers]\na = { url = \"https://h/\", http_headers = { \"X-Team\" = \"red\" } }\n",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  a:\n    type: streamable_http # far\n    uri: https://h/   # there\n    envs: {}\n    headers:\n      Authorization: Bearer tkn\n      'X-Team': red\n    env_keys: []\n",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  a: { type: sse, uri: \"https://h/\", headers: { X-Team: red } }\n",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  a:\n    headers: {}\n    envs: {}\n    uri: 'https://h/'",
        ),
    ] {
        let once = wrapped(path, text);
        assert_eq!(changed(&once), 1, "{text}: {once:?}");
        let back = unwrap(place(path), &once.text, &|_| true).unwrap();
        assert_eq!(back.text, text, "{}", once.text);
    }
}

#[test]
fn headers_that_would_be_lost_on_the_way_are_left_and_it_is_said() {
    for (path, text, said) in [
        (
            ".codex/config.toml",
            "[mcp_servers.a]\nurl = \"https://h/\"\nenv_http_headers = { \"X-Key\" = \"KEY\" }\n",
            "the client's variables",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.a]\nurl = \"https://h/\"\nhttp_headers = {}\n",
            "empty",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  a:\n    uri: https://h/\n    headers: { A: 'Bearer ${T}' }\n    env_keys: [T]\n",
            "Goose fills in",
        ),
        (
            "goose/config.yaml",
            "extensions:\n  a:\n    uri: >-\n      https://h/\n",
            "restored later",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers]\na.url = \"https://h/\"\n",
            "restored later",
        ),
    ] {
        let done = wrapped(path, text);
        assert_eq!(done.text, text);
        assert!(
            matches!(&done.entries[0].1, Turn::Left(why) if why.contains(said)),
            "{done:?}"
        );
    }
}

/// Servers of each kind, as a client's configuration has them.
fn servers_of(format: &ClientFormat) -> Value {
    let names = format.members;
    let (command, url) = (names.command[0], names.url[0]);
    let mut started = json!({command: "npx", "args": ["-y", "x y"], names.env: {"API_KEY": "k"}});
    let mut bare = json!({command: "uvx"});
    let mut far = json!({url: "https://h/mcp", names.headers: {"X-Team": "red", "X-Key": "k"}});
    let plain = json!({url: "https://h/sse"});
    match format.client {
        Client::OpenCode => {
            started = json!({"type": "local", command: ["npx", "-y", "x y"], "enabled": true});
            bare = json!({"type": "local", command: ["uvx"]});
            far["type"] = "remote".into();
        }
        Client::Codex => far["bearer_token_env_var"] = "T".into(),
        Client::Goose => {
            far["type"] = "streamable_http".into();
            far["envs"] = json!({});
            far["env_keys"] = json!([]);
        }
        Client::VsCode => far["type"] = "http".into(),
        _ => {}
    }
    json!({format.servers[0]: {"files": started, "bare": bare, "far": far, "plain": plain}})
}

/// As a client writes its file; in another layout where there are two.
fn written(syntax: Syntax, value: &Value, other: bool) -> String {
    match (syntax, other) {
        (Syntax::Toml, _) => {
            let mut text = String::new();
            toml_tables(value, "", other, &mut text);
            text
        }
        (Syntax::Yaml, false) => serde_yaml::to_string(value).unwrap(),
        // JSON is YAML, and a client may write it so.
        (_, true) => value.to_string(),
        (_, false) => serde_json::to_string_pretty(value).unwrap(),
    }
}

/// Tables with their texts first, as TOML wants it; small ones in a line.
fn toml_tables(value: &Value, path: &str, in_line: bool, text: &mut String) {
    let members = value.as_object().unwrap();
    let is_table = |value: &Value| {
        let of_texts = || value.as_object().unwrap().values().all(|v| !v.is_object());
        value.is_object() && !(in_line && path.contains('.') && of_texts())
    };
    let toml = |value: &Value| match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, v)| format!("\"{name}\" = {v}"));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    };
    for (name, value) in members.iter().filter(|(_, value)| !is_table(value)) {
        text.push_str(&format!("{name} = {}\n", toml(value)));
    }
    for (name, value) in members.iter().filter(|(_, value)| is_table(value)) {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        text.push_str(&format!("\n[{path}]\n"));
        toml_tables(value, &path, in_line, text);
    }
}

fn value_of(node: &Node) -> Value {
    match &node.data {
        Data::Null => Value::Null,
        Data::Bool(value) => json!(value),
        Data::Number(number) => serde_json::from_str(number).unwrap(),
        Data::Text(text) => json!(text),
        Data::List(elements) => elements.iter().map(value_of).collect(),
        Data::Map(members) => {
            let members = members.iter();
            members
                .map(|member| (member.name.clone(), value_of(&member.value)))
                .collect()
        }
    }
}

#[test]
fn each_client_gets_its_servers_back_whatever_it_wrote_meanwhile() {
    for format in CLIENTS {
        let path = format.places[0].path;
        let servers = servers_of(format);
        for (layout, other) in [(false, true), (true, false), (false, false), (true, true)] {
            let text = written(format.syntax, &servers, layout);
            let case = |text: &str| format!("{} ({layout}, {other}):\n{text}", format.name);
            let once = wrapped(path, &text);
            assert_eq!(changed(&once), 4, "{}{once:?}", case(&text));
            let again = wrapped(path, &once.text);
            assert_eq!((again.text.as_str(), changed(&again)), (&*once.text, 0));
            let back = unwrap(place(path), &once.text, &|_| true).unwrap();
            assert_eq!(back.text, text, "{}", case(&once.text));
            // The client adds a server, in its own order and layout.
            let read = |text: &str| value_of(&parse(text, format.syntax).unwrap().unwrap());
            let added = json!({format.members.command[0]: "mine"});
            let (mut meanwhile, mut wanted) = (reversed(&read(&once.text)), servers.clone());
            for value in [&mut meanwhile, &mut wanted] {
                value[format.servers[0]]["added"] = added.clone();
            }
            // And a variable to each that is there.
            let env = format.members.env;
            for (name, value) in [("MORE", "1"), ("AND", "2")] {
                for server in ["files", "bare", "far", "plain"] {
                    let is_url = ["far", "plain"].contains(&server);
                    if is_url && format.client == Client::Codex {
                        continue;
                    }
                    for config in [&mut meanwhile, &mut wanted] {
                        config[format.servers[0]][server][env][name] = value.into();
                    }
                }
            }
            let meanwhile = written(format.syntax, &meanwhile, other);
            let back = unwrap(place(path), &meanwhile, &|_| true).unwrap();
            assert_eq!(changed(&back), 4, "{}{back:?}", case(&meanwhile));
            assert_eq!(read(&back.text), wanted, "{}", case(&meanwhile));
        }
    }
}
