//! A client's configuration goes through jelly, and back.

use crate::support::{Project, fixtures, python, run};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const CONFIG: &str = r#"{
  // mine
  "mcpServers": {
    "mock": {
      "command": "JELLY",
      "args": ["mock"],
      "env": { "API_KEY": "k3y-0f-n0b0dy-at-all" }
    },
    "web": { "url": "http://127.0.0.1:9/mcp" }
  }
}
"#;

fn project() -> Project {
    let project = Project::empty();
    project.write(".cursor/mcp.json", config());
    project
}

fn config() -> String {
    CONFIG.replace("JELLY", env!("CARGO_BIN_EXE_jelly"))
}

const FILE: &str = ".cursor/mcp.json";

#[test]
fn a_configuration_is_wrapped_where_somebody_says_so_and_unwrapped_byte_by_byte() {
    let project = project();
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(project.path(FILE), mode).unwrap();
    for (args, code) in [(vec!["--dry-run"], 0), (vec![], 2)] {
        let ended = project.jelly(&["proxy", "wrap", FILE]).args(&args).output();
        assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
        assert_eq!(project.read(FILE), config(), "{args:?}");
        assert!(ended.stdout.contains("--wrapped"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("k3y-0f"), "{}", ended.stdout);
        assert!(ended.stdout.contains("web: goes through jelly"));
    }
    let ended = project.jelly(&["proxy", "wrap", FILE, "-y"]).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let wrapped = project.read(FILE);
    assert!(wrapped.contains("k3y-0f-n0b0dy-at-all") && wrapped.contains("// mine"));
    let mode = std::fs::metadata(project.path(FILE))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = project.jelly(&["proxy", "wrap", FILE, "-y"]).output();
    assert!(
        again.stdout.contains("nothing to change"),
        "{}",
        again.stdout
    );
    assert_eq!(project.read(FILE), wrapped);
    // What stands there now is started as it is.
    let doctor = project
        .jelly(&["doctor", FILE, "--format", "json"])
        .output();
    let report: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let mock = &report["servers"][0];
    assert_eq!(
        (&mock["name"], &mock["state"]),
        (&json!("mock"), &json!("healthy")),
        "{mock}"
    );
    let ended = project.jelly(&["proxy", "unwrap", FILE, "--yes"]).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(project.read(FILE), config());
}

#[test]
fn a_client_that_writes_its_file_meanwhile_gets_its_servers_back() {
    let project = Project::empty();
    let config = json!({"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"command": "uvx"}}});
    project.write(FILE, config.to_string());
    let ended = project.jelly(&["proxy", "wrap", FILE, "-y"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut wrapped: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    wrapped["mcpServers"]["c"] = json!({"command": "node", "args": ["c.js"]});
    project.write(FILE, serde_json::to_string_pretty(&wrapped).unwrap());
    let ended = project.jelly(&["proxy", "unwrap", FILE, "-y"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut wanted = config;
    wanted["mcpServers"]["c"] = json!({"command": "node", "args": ["c.js"]});
    let back: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!(back, wanted);
}

#[test]
fn what_a_client_does_by_itself_for_a_url_is_not_lost_without_a_word() {
    let project = Project::empty();
    let config = json!({"mcpServers": {
        "own": {"url": "https://h/mcp", "oauth": {"clientId": "x"}},
        "odd": {"url": "https://h/mcp", "flavour": "x"},
    }});
    project.write(FILE, config.to_string());
    let ended = project.jelly(&["proxy", "wrap", FILE, "-y"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for said in [
        "own: is left as it is: its client logs in to the URL by itself (`oauth`)",
        "odd: goes through jelly; `flavour` stays as it is",
    ] {
        assert!(ended.stdout.contains(said), "{}", ended.stdout);
    }
    let now: Value = serde_json::from_str(&project.read(FILE)).unwrap();
    assert_eq!(now["mcpServers"]["own"], config["mcpServers"]["own"]);
}

#[test]
fn what_is_no_configuration_or_has_no_such_server_is_refused() {
    let project = project();
    project.write("broken.json", "{\n  \"mcpServers\": {,}\n}");
    project.write("none.json", "{}");
    for (args, said) in [
        (vec!["missing.json"], "missing.json"),
        (vec!["broken.json"], "broken.json:2:18"),
        (vec!["none.json"], "has no servers"),
        (vec![FILE, "mok"], "did you mean `mock`?"),
    ] {
        for way in ["wrap", "unwrap"] {
            let ended = project.jelly(&["proxy", way]).args(&args).output();
            assert_eq!(ended.code, Some(2), "{way} {args:?}: {}", ended.stderr);
            assert!(
                ended.stderr.contains(said),
                "{way} {args:?}: {}",
                ended.stderr
            );
        }
    }
}

#[test]
fn a_server_that_is_dead_behind_a_proxy_is_dead_with_its_own_diagnosis() {
    for how in ["error", "tool"] {
        let project = Project::empty();
        let jelly = env!("CARGO_BIN_EXE_jelly");
        let behind = json!([
            "proxy",
            "--on-failure",
            how,
            "--",
            "nobody-has-this-command"
        ]);
        let config = json!({"mcpServers": {
            "bare": {"command": "nobody-has-this-command"},
            "behind": {"command": jelly, "args": behind},
        }});
        project.write("mcp.json", config.to_string());
        let doctor = project
            .jelly(&["doctor", "mcp.json", "--format", "json"])
            .output();
        assert_eq!(doctor.code, Some(3), "{}{}", doctor.stdout, doctor.stderr);
        let report: Value = serde_json::from_str(&doctor.stdout).unwrap();
        let of = |name: &str| {
            let servers = report["servers"].as_array().unwrap();
            servers
                .iter()
                .find(|server| server["name"] == name)
                .unwrap()
        };
        for field in ["root_cause", "error_category", "retryable", "side"] {
            let of = |name| &of(name)["diagnosis"][field];
            assert_eq!(of("behind"), of("bare"), "{how} {field}: {report}");
        }
        assert_eq!(of("behind")["diagnosis"]["root_cause"], "command_not_found");
        let plan = json!({"version": 1,
            "servers": {"s": {"command": "jelly", "args": behind}},
            "steps": [{"id": "a", "list": "tools"}]});
        project.write("plan.yaml", plan.to_string());
        let run = project.run(&[]);
        run.ends(3, "needs_user_help");
        assert_eq!(run.last().state("a"), "blocked");
        let failure = &run.last().failure("s")["diagnosis"];
        assert_eq!(failure["root_cause"], "command_not_found", "{failure}");
        let init = project
            .jelly(&["init", "--", jelly])
            .args(&["proxy", "--on-failure", how]);
        let init = init.args(&["--", "nobody-has-this-command"]).output();
        assert_eq!(init.code, Some(3), "{}", init.stderr);
        assert!(
            init.stderr.contains("nobody-has-this-command"),
            "{}",
            init.stderr
        );
        assert!(!project.exists("plans"));
    }
}

#[test]
fn a_tool_of_anybody_is_no_stand_in_of_the_proxy() {
    let server = python(
        "
trouble = {'error_type': 'startup_failed', 'root_cause': 'command_not_found', 'error_category': None, 'retryable': None, 'details': 'x', 'evidence': None, 'fix_instructions': [], 'error_context': {'command': 'x', 'args': [], 'cwd': None, 'exit': None}}
tool = {'name': 'why_this_server_is_unavailable', 'inputSchema': {'type': 'object'}, '_meta': {'jelly.upstream_trouble': trouble}}
serve(None, listed=lambda m: {'tools': [tool]})
",
    );
    let plan =
        format!("version: 1\nservers:\n  s: {server}\nsteps:\n  - {{ id: a, list: tools }}\n");
    run(&plan).ends(0, "passed");
}

#[test]
fn every_command_of_the_clients_page_does_what_it_says() {
    let page = std::fs::read_to_string(fixtures().with_file_name("docs/proxy-clients.md")).unwrap();
    let rows: Vec<&str> = page
        .lines()
        .filter_map(|line| {
            line.rsplit_once("`jelly proxy wrap ")?
                .1
                .strip_suffix("` |")
        })
        .collect();
    assert_eq!(rows.len(), 7, "{rows:?}");
    let project = Project::empty();
    let home = project.at("");
    for row in rows {
        let file = row.replace("~/", "");
        let jelly = env!("CARGO_BIN_EXE_jelly");
        let before = match file.rsplit('.').next().unwrap() {
            "toml" => format!("[mcp_servers.a]\ncommand = \"{jelly}\" # mine\nargs = [\"mock\"]\n"),
            "yaml" => {
                format!("extensions:\n  a:\n    type: stdio\n    cmd: {jelly}\n    args: [mock]\n")
            }
            _ if file.contains(".vscode") => {
                json!({"servers": {"a": {"command": jelly, "args": ["mock"]}}}).to_string()
            }
            _ => json!({"mcpServers": {"a": {"command": jelly, "args": ["mock"]}}}).to_string(),
        };
        project.write(&file, &before);
        let at = row.replace("~/", &home);
        let call = |way: &str| {
            let ended = project
                .jelly(&["proxy", way, &at, "-y"])
                .env("HOME", &home)
                .output();
            assert_eq!(ended.code, Some(0), "{way} {row}: {}", ended.stderr);
        };
        call("wrap");
        let doctor = project.jelly(&["doctor", &at, "--format", "json"]).output();
        let report: Value = serde_json::from_str(&doctor.stdout).unwrap();
        assert_eq!(report["servers"][0]["state"], "healthy", "{row}: {report}");
        assert!(
            report["servers"][0]["argv"]
                .to_string()
                .contains("--wrapped"),
            "{report}"
        );
        call("unwrap");
        assert_eq!(project.read(&file), before, "{row}");
    }
}
