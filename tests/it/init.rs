//! `jelly init`: plans of real servers and of scripted ones, that pass as they
//! are, and fail when their server changes.

use crate::support::http::{Http, json_answer, legacy, respond, result, text};
use crate::support::{Project, real, slice};
use serde_json::{Value, json};

/// The servers of npm, in a project that has them beside it.
fn with_servers() -> Project {
    let project = Project::empty();
    let servers = real("npm/node_modules");
    let here = project.path("node_modules");
    std::os::unix::fs::symlink(servers, here).unwrap();
    project
}

fn server(name: &str) -> String {
    format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js")
}

/// `jelly init` with these arguments, then `check` and `run` of its plan; the
/// plan.
#[track_caller]
fn made(project: &Project, args: &[&str], plan: &str) -> String {
    let ended = project.jelly(&["init"]).args(args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let checked = project.jelly(&["check", plan]).output();
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let run = project.jelly(&["run", plan]).output();
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    project.read(plan)
}

/// How many steps call a tool.
fn calls(plan: &str) -> usize {
    plan.lines().filter(|l| l.starts_with("    tool: ")).count()
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_plan_of_a_filesystem_server_reads_what_it_was_given() {
    let project = with_servers();
    project.write("data/a.txt", "hello");
    let args = ["--", "node", &server("filesystem"), "data"];
    let plan = made(&project, &args, "plans/filesystem.yaml");
    assert_eq!(calls(&plan), 10, "{plan}");
    insta::assert_snapshot!(plan);
}

#[test]
fn the_plan_of_a_memory_server_changes_nothing() {
    let project = with_servers();
    let args = ["--", "node", &server("memory")];
    let plan = made(&project, &args, "plans/memory.yaml");
    assert_eq!(calls(&plan), 3, "{plan}");
    insta::assert_snapshot!(plan);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_plan_of_the_reference_server_is_the_one_of_the_documents() {
    let project = with_servers();
    let args = ["--", "node", &server("everything")];
    let plan = made(&project, &args, "plans/everything.yaml");
    assert_eq!(calls(&plan), 11, "{plan}");
    let typed = format!("    command: node\n    args: [{}]\n", server("everything"));
    let shown =
        "    command: npx\n    args: [\"-y\", \"@modelcontextprotocol/server-everything\"]\n";
    assert!(plan.contains(&typed), "{plan}");
    let plan = plan.replace(&typed, shown);
    let page = include_str!("../../docs/init.md");
    assert!(
        page.contains(&plan),
        "docs/init.md shows another plan than this:\n{plan}"
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn plans_of_servers_from_pypi_pass() {
    let project = Project::empty();
    let shell = real("pypi/.venv/shell/bin/mcp-shell-server");
    let plan = made(&project, &["--", &shell], "plans/shell.yaml");
    assert!(plan.contains("  # - id: shell_execute"), "{plan}");
    let python = real("pypi/.venv/mcp-1.0.0/bin/python");
    let echo = real("pypi/echo_server.py");
    let plan = made(
        &project,
        &["--name", "echo", "--", &python, &echo],
        "plans/echo.yaml",
    );
    assert!(plan.contains("  #   args: { message: hello }"), "{plan}");
}

/// A server of the tools and answers that `spec.json` says; what it is called
/// with goes to `calls.log`.
const SCRIPTED: &str = r#"
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
spec = json.load(open(os.path.join(here, "spec.json")))
def send(id, result): print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    method, params = m.get("method"), m.get("params", {})
    if "id" not in m: continue
    if method == "initialize":
        send(m["id"], {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                       "serverInfo": {"name": "scripted", "version": "1"}})
    elif method == "tools/list": send(m["id"], {"tools": spec["tools"]})
    elif method == "tools/call":
        with open(os.path.join(here, "calls.log"), "a") as log: log.write(params["name"] + "\n")
        name = params["name"]
        if name == "dies": os._exit(1)
        if name == "hangs": continue
        text = spec.get("answers", {}).get(name, "fine")
        send(m["id"], {"content": [{"type": "text", "text": text}], "isError": name == "refuses"})
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"#;

fn scripted(spec: &Value) -> Project {
    let project = Project::empty();
    project.write("server.py", SCRIPTED);
    project.write("spec.json", spec.to_string());
    project
}

/// The server of the arguments, with a program before it that changes what it
/// says as `change.py` says: `m` is a message, and `list` the tools that it
/// lists by their names, where it does.
const CHANGED: &str = r#"
import json, os, subprocess, sys, threading
here = os.path.dirname(os.path.abspath(__file__))
file = os.path.join(here, "change.py")
change = open(file).read() if os.path.exists(file) else ""
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def forward():
    for line in sys.stdin:
        server.stdin.write(line); server.stdin.flush()
    server.stdin.close()
threading.Thread(target=forward, daemon=True).start()
for line in server.stdout:
    m = json.loads(line)
    result = m.get("result") or {}
    listed = {tool["name"]: tool for tool in result.get("tools", [])}
    exec(change, {"m": m, "result": result, "listed": listed})
    print(json.dumps(m), flush=True)
"#;

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_server_that_breaks_its_contract_fails_its_plan() {
    let project = with_servers();
    project.write("changed.py", CHANGED);
    let server = server("memory");
    let args = [
        "--name",
        "memory",
        "--",
        "python3",
        "changed.py",
        "node",
        &server,
    ];
    made(&project, &args, "plans/memory.yaml");
    let breach =
        "if 'structuredContent' in result: result['structuredContent'].pop('relations', 0)";
    let both = "
if 'read_graph' in listed:
    schema = listed['read_graph']['outputSchema']
    schema['properties']['edges'] = schema['properties'].pop('relations')
    schema['required'] = ['entities', 'edges']
if 'structuredContent' in result:
    result['structuredContent']['edges'] = result['structuredContent'].pop('relations', [])";
    let uncalled = "
if listed: listed['create_entities']['outputSchema']['properties']['entities'] = {'type': 'object'}";
    for (what, change, step) in slice(
        2,
        [
            (
                "a called tool has another name",
                "if listed: listed['read_graph']['name'] = 'read_graph2'",
                "tools",
            ),
            (
                "a tool that is not called has another name",
                "if listed: listed['delete_relations']['name'] = 'x'",
                "tools",
            ),
            ("an output breaks its schema", breach, "read_graph"),
            ("schema and output change together", both, "read_graph"),
            (
                "a schema is no more declared",
                "if listed: del listed['read_graph']['outputSchema']",
                "tools",
            ),
            (
                "the schema of a tool that is not called changes",
                uncalled,
                "tools",
            ),
        ],
    ) {
        project.write("change.py", change);
        let run = project
            .jelly(&["run", "plans/memory.yaml", "--seed", "1"])
            .output();
        assert_eq!(run.code, Some(1), "{what}: {}{}", run.stdout, run.stderr);
        let named = format!("FAIL     memory/{step} ");
        assert!(run.stdout.contains(&named), "{what}: {}", run.stdout);
    }
}

#[test]
fn what_may_destroy_something_is_never_called_unless_it_is_asked_for() {
    let hints = |hints: Value| json!({"inputSchema": {"type": "object"}, "annotations": hints});
    let tools: Vec<Value> = [
        ("look", hints(json!({"readOnlyHint": true}))),
        ("tidy", hints(json!({"destructiveHint": false}))),
        ("get_time", hints(json!({}))),
        (
            "wipe",
            hints(json!({"readOnlyHint": false, "destructiveHint": true})),
        ),
        ("reset", hints(json!({}))),
        ("go", hints(json!({"readOnlyHint": false}))),
        (
            "mail",
            hints(json!({"destructiveHint": false, "openWorldHint": true})),
        ),
    ]
    .into_iter()
    .map(|(name, mut tool)| {
        tool["name"] = json!(name);
        tool
    })
    .collect();
    let project = scripted(&json!({ "tools": tools }));
    let plan = made(
        &project,
        &["--", "python3", "server.py"],
        "plans/scripted.yaml",
    );
    let called = |project: &Project| {
        let mut names: Vec<String> = project
            .read("calls.log")
            .lines()
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    assert_eq!(called(&project), ["get_time", "look", "tidy"]);
    for name in ["wipe", "reset", "go", "mail"] {
        assert!(plan.contains(&format!("  # - id: {name}\n")), "{plan}");
    }
    // One that is named is called besides, and the plan expects something of it.
    let one = ["--call", "wipe", "--force", "--", "python3", "server.py"];
    let plan = made(&project, &one, "plans/scripted.yaml");
    assert!(plan.contains("\n  - id: wipe\n    tool: wipe\n"), "{plan}");
    assert!(plan.contains("  # - id: reset\n"), "{plan}");
    assert_eq!(called(&project), ["get_time", "look", "tidy", "wipe"]);
    let slip = [
        "init",
        "--call",
        "wpie",
        "--force",
        "--",
        "python3",
        "server.py",
    ];
    let ended = project.jelly(&slip).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("did you mean `wipe`?"),
        "{}",
        ended.stderr
    );
    let all = ["--call-all", "--force", "--", "python3", "server.py"];
    made(&project, &all, "plans/scripted.yaml");
    assert_eq!(called(&project).len(), 7);
}

#[test]
fn what_fails_hangs_or_kills_the_server_is_left_out_with_the_reason() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let names = ["refuses", "fine", "hangs", "dies", "last"];
    let tools: Vec<Value> = names.into_iter().map(tool).collect();
    let answers = json!({"refuses": "not\ntoday: # ever"});
    let project = scripted(&json!({ "tools": tools, "answers": answers }));
    let args = ["--call-timeout", "500ms", "--", "python3", "server.py"];
    let plan = made(&project, &args, "plans/scripted.yaml");
    assert_eq!(calls(&plan), 2, "{plan}");
    assert!(plan.contains("not today: # ever"), "{plan}");
    for name in ["refuses", "hangs", "dies"] {
        assert!(plan.contains(&format!("  # - id: {name}\n")), "{plan}");
    }
}

#[test]
fn a_server_that_does_not_start_leaves_its_diagnosis_and_no_file() {
    let project = Project::empty();
    let ended = project.jelly(&["init", "--", "no-such-server"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for said in [
        "command_not_found",
        "command not found: no-such-server",
        "command -v no-such-server",
    ] {
        assert!(ended.stderr.contains(said), "{said} in\n{}", ended.stderr);
    }
    assert!(!project.exists("plans"));
    let dies = ["init", "--", "python3", "-c", "raise SystemExit('no key')"];
    let ended = project.jelly(&dies).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("no key"), "{}", ended.stderr);
    assert!(!project.exists("plans"));
}

#[test]
fn a_plan_that_is_there_stays_unless_force_is_given() {
    let project = scripted(&json!({ "tools": [] }));
    project.write("plans/scripted.yaml", "mine");
    project.write("own.yaml", "mine");
    let server = ["--", "python3", "server.py"];
    for args in [&[][..], &["-o", "own.yaml"], &["-o", "plans"]] {
        let ended = project.jelly(&["init"]).args(args).args(&server).output();
        assert_eq!(ended.code, Some(2), "{args:?} {}", ended.stderr);
        assert!(ended.stderr.contains("help: "), "{}", ended.stderr);
    }
    assert_eq!(project.read("plans/scripted.yaml"), "mine");
    assert_eq!(project.read("own.yaml"), "mine");
    let ended = project
        .jelly(&["init", "-o", "own.yaml", "--force"])
        .args(&server)
        .output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(project.read("own.yaml").contains("version: 1"));
    let printed = project.jelly(&["init", "-o", "-"]).args(&server).output();
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(
        printed.stdout.starts_with("# yaml-language-server: "),
        "{}",
        printed.stdout
    );
    assert!(printed.stderr.contains("next: "), "{}", printed.stderr);
}

#[test]
fn what_can_not_be_meant_is_said() {
    let project = Project::empty();
    project.write(
        "mcp.json",
        r#"{"mcpServers": {"files": {"command": "x"}, "off": {"command": "y", "disabled": true}}}"#,
    );
    project.write("bad.json", "{");
    project.write(
        "server.json",
        r#"{"name": "a/x", "description": "d", "version": "1.0.0", "packages":
            [{"registryType": "npm", "identifier": "x", "version": "1.0.0", "transport": {"type": "stdio"}}]}"#,
    );
    for (args, said) in [
        (&[][..], "no server was named"),
        (&["npx"], "is not a URL"),
        (&["--config", "mcp.json", "file"], "did you mean `files`?"),
        (&["--config", "none.json"], "can't be read"),
        (&["--config", "bad.json"], "invalid JSON"),
        (&["--name", "a/b", "--", "x"], "can't be called"),
        (&["--arg", "x=1", "--", "y"], "nothing has this name"),
        (&["--header", "x", "http://127.0.0.1:9/mcp"], "NAME: VALUE"),
        (&["none.json"], "can't be read"),
        (&["bad.json"], "invalid JSON"),
        (&["npx", "x y"], "jelly init -- npx 'x y'"),
        (&["mcp.json"], "help: jelly init --config mcp.json"),
        (&["--", "mcp.json"], "help: jelly init --config mcp.json"),
        (&["--config", "server.json"], "jelly init server.json"),
        (
            &["--header", "A: b", "--", "x"],
            "error: --header does not fit",
        ),
        (
            &["--header", "A: b", "--config", "mcp.json"],
            "error: --header does not fit",
        ),
        (
            &["--env", "A=b", "http://127.0.0.1:9/mcp"],
            "error: --env does not fit",
        ),
        (
            &["--env", "A=b", "--config", "mcp.json"],
            "error: --env does not fit",
        ),
        (
            &["--env", "A=b", "server.json"],
            "error: --env does not fit",
        ),
        (
            &["--registry", "npm", "http://127.0.0.1:9/mcp"],
            "error: --registry does not fit",
        ),
        (&["--registry", "pypi", "server.json"], "it has: npm x"),
    ] {
        let ended = project.jelly(&["init"]).args(args).output();
        assert_eq!(
            ended.code,
            Some(2),
            "{args:?} {}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(ended.stderr.contains(said), "{args:?} {}", ended.stderr);
        assert!(!project.exists("plans"));
    }
}

const SECRET: &str = "sk-0123456789abcdef-sw0rdfish";

#[test]
fn secrets_of_a_configuration_stay_out_of_the_plan() {
    let project = scripted(&json!({ "tools": [] }));
    let entry = json!({"command": "python3", "args": ["server.py", "--token", SECRET, "${REGION:-eu}"],
        "env": {"API_KEY": "pl41n-secret-value", "LEVEL": "debug"}});
    project.write(
        ".mcp.json",
        json!({"mcpServers": {"mine": entry}}).to_string(),
    );
    let ended = project.jelly(&["init", "--config", ".mcp.json"]).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.ends_with(
            "next: set API_KEY, TOKEN in the environment, then: jelly run plans/mine.yaml\n"
        ),
        "{}",
        ended.stdout
    );
    let plan = project.read("plans/mine.yaml");
    for text in [&plan, &ended.stdout, &ended.stderr] {
        assert!(
            !text.contains("sw0rdfish") && !text.contains("pl41n"),
            "{text}"
        );
    }
    assert!(
        plan.contains(r#"args: [server.py, "--token", "${secret:TOKEN}", eu]"#),
        "{plan}"
    );
    assert!(
        plan.contains(r#"API_KEY: "${secret:API_KEY}", LEVEL: debug"#),
        "{plan}"
    );
    assert!(
        plan.contains("TODO: set API_KEY, TOKEN in the environment"),
        "{plan}"
    );
    let call = project.jelly(&["run", "plans/mine.yaml"]);
    let run = call
        .env("API_KEY", "x-y-z-w")
        .env("TOKEN", "x-y-z-v")
        .output();
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

const INPUTS: &str = r#"{
  "inputs": [
    { "id": "region", "type": "pickString", "description": "Which region?", "options": ["eu", "us"], "default": "eu" },
    { "id": "api-key", "type": "promptString", "description": "The key of the API", "password": true }
  ],
  "servers": {
    "asking": { "command": "python3", "args": ["server.py", "${input:region}", "${env:PLACE_NAME}"],
                "env": { "API_KEY": "${input:api-key}" } }
  }
}"#;

#[test]
fn what_no_input_declares_is_told_and_a_url_with_a_password_is_one_secret() {
    let project = scripted(&json!({ "tools": [] }));
    let entry = json!({"command": "python3", "args": ["server.py"], "env": {
        "PASSWORD": "${input:pw}", "DB_URL": "postgres://u:s3cr3tpw99@h/db"}});
    project.write("mcp.json", json!({"mcpServers": {"a": entry}}).to_string());
    let init = ["init", "--config", "mcp.json", "--arg", "pw=longpassw0rd"];
    let ended = project.jelly(&init).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("plans/a.yaml");
    assert!(
        !plan.contains("s3cr3tpw99") && !plan.contains("longpassw0rd"),
        "{plan}"
    );
    // Whoever sets it will set the whole of it.
    let url = plan.lines().find(|line| line.contains("DB_URL: ")).unwrap();
    assert!(
        url.contains("${secret:DB_URL}") && !url.contains("postgres"),
        "{plan}"
    );
    assert!(
        plan.contains("TODO: set DB_URL, PW in the environment"),
        "{plan}"
    );
}

#[test]
fn without_a_terminal_all_that_is_missing_is_said_at_once() {
    let project = scripted(&json!({ "tools": [] }));
    project.write("mcp.json", INPUTS);
    let ended = project.jelly(&["init", "--config", "mcp.json"]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    for said in ["--arg api-key=VALUE", "--arg PLACE_NAME=VALUE"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    assert!(!project.exists("plans"));
    let key = format!("api-key={SECRET}");
    let args = [
        "init",
        "--config",
        "mcp.json",
        "--arg",
        &key,
        "--arg",
        "PLACE_NAME=Bonn",
    ];
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("plans/asking.yaml");
    assert!(plan.contains("args: [server.py, eu, Bonn]"), "{plan}");
}

#[test]
fn on_a_terminal_it_asks_for_what_is_open_and_shows_no_secret() {
    let project = scripted(&json!({ "tools": [] }));
    project.write("mcp.json", INPUTS);
    let ended = project.at_a_terminal(
        &[
            ("Which region? (eu, us) [eu]: ", "mars"),
            ("Which region? (eu, us) [eu]: ", "us"),
            ("The key of the API: ", ""),
            ("The key of the API: ", SECRET),
            ("PLACE_NAME: ", "Bonn"),
        ],
        &["init", "--config", "mcp.json"],
    );
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("sw0rdfish"), "{}", ended.stdout);
    let plan = project.read("plans/asking.yaml");
    assert!(!plan.contains("sw0rdfish"), "{plan}");
    assert!(plan.contains("args: [server.py, us, Bonn]"), "{plan}");
    assert!(plan.contains(r#"API_KEY: "${secret:API_KEY}""#), "{plan}");
    let run = project
        .jelly(&["run", "plans/asking.yaml"])
        .env("API_KEY", SECRET)
        .output();
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[test]
fn a_server_json_is_launched_as_the_registry_says() {
    let project = scripted(&json!({ "tools": [] }));
    let npx = project.script(
        "bin/npx",
        "#!/bin/sh\necho \"$@\" > npx.log\nexec python3 server.py\n",
    );
    let definition = json!({
        "name": "io.example/weather-mcp", "description": "d", "version": "1.0.0",
        "packages": [{
            "registryType": "npm", "identifier": "@example/weather", "version": "1.2.3",
            "transport": {"type": "stdio"},
            "packageArguments": [
                {"type": "named", "name": "--units", "isRequired": true, "choices": ["C", "F"]},
                {"type": "positional", "valueHint": "city", "default": "Bonn"},
            ],
            "environmentVariables": [{"name": "WEATHER_KEY", "isRequired": true, "isSecret": true}],
        }],
    });
    project.write("server.json", definition.to_string());
    let bin = npx.parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let init = |args: &[&str]| {
        project
            .jelly(&["init", "server.json"])
            .args(args)
            .env("PATH", &path)
    };
    let ended = init(&[]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    for said in [
        "--arg --units=VALUE",
        "WEATHER_KEY=VALUE in the environment",
    ] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    let ended = init(&["--arg", "--units=C"])
        .env("WEATHER_KEY", SECRET)
        .output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("plans/weather.yaml");
    assert!(!plan.contains("sw0rdfish"), "{plan}");
    assert!(plan.contains("    package:\n"), "{plan}");
    assert!(plan.contains(r#"package_args: { "--units": C }"#), "{plan}");
    assert!(
        project
            .read("npx.log")
            .contains("@example/weather@1.2.3 --units C Bonn"),
        "{plan}"
    );
}

#[test]
fn the_projects_folder_of_the_settings_is_that_of_the_plan() {
    let project = with_servers();
    project.write("data/a.txt", "hello");
    project.write("jelly.yaml", "project_dir: .\n");
    let args = ["--", "node", &server("filesystem"), "data"];
    let plan = made(&project, &args, "plans/filesystem.yaml");
    assert!(!plan.contains("${workspace}/.."), "{plan}");
    assert!(!project.exists("plans/data"), "nothing was repaired");
}

#[test]
fn a_name_that_looks_like_a_variable_is_called_and_missed() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let project = scripted(&json!({ "tools": [tool("say ${it}"), tool("other")] }));
    let args = ["--", "python3", "server.py"];
    let plan = made(&project, &args, "plans/scripted.yaml");
    assert!(plan.contains("    tool: say $${it}\n"), "{plan}");
    assert!(project.read("calls.log").contains("say ${it}\n"));
    let spec = json!({ "tools": [tool("say ${it} loudly"), tool("other")] });
    project.write("spec.json", spec.to_string());
    let run = project
        .jelly(&["run", "--quiet", "plans/scripted.yaml"])
        .output();
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    let said = "The answer of `tools/list` is not what the plan expects at `$.tools[?@.name == 'say ${it}']`";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn a_secret_that_the_server_echoes_is_in_no_plan() {
    let tool = json!({"name": "look", "description": format!("uses {SECRET}"), "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"url": {"type": "string", "default": format!("https://u:{SECRET}@h/")}}}});
    let project = scripted(&json!({ "tools": [tool] }));
    let args = ["init", "--env", "API_KEY", "--", "python3", "server.py"];
    let ended = project.jelly(&args).env("API_KEY", SECRET).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("plans/scripted.yaml");
    assert!(!plan.contains("sw0rdfish"), "{plan}");
    assert!(plan.contains("    tool: look\n"), "{plan}");
}

#[test]
fn of_a_line_for_a_shell_only_the_secrets_are_left_out() {
    let tool = json!({"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let project = scripted(&json!({ "tools": [tool] }));
    let line = "API_TOKEN=hunter2v99 python3 server.py";
    let args = [
        "init",
        "-o",
        "p.yaml",
        "--name",
        "demo",
        "--env",
        "PASSWORD=/hunter2",
        "--env",
        "DB_PASS=p$w",
        "--",
        "sh",
        "-c",
        line,
    ];
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("p.yaml");
    assert!(
        plan.contains("API_TOKEN=${secret:API_TOKEN} python3 server.py"),
        "{plan}"
    );
    assert!(!plan.contains("hunter2") && !plan.contains("p$w"), "{plan}");
}

#[test]
fn a_secret_in_the_quotes_of_a_shell_comes_to_it_whole() {
    let tool = json!({"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    for line in [
        "A_TOKEN='hunter2 value99' python3 server.py",
        r#"A_TOKEN="hunter2 value99" python3 server.py"#,
        "python3 server.py --token 'hunter2 value99'",
    ] {
        let project = scripted(&json!({ "tools": [tool] }));
        let init = [
            "init", "-o", "p.yaml", "--name", "demo", "--", "sh", "-c", line,
        ];
        let ended = project.jelly(&init).output();
        assert_eq!(
            ended.code,
            Some(0),
            "{line}: {}{}",
            ended.stdout,
            ended.stderr
        );
        let plan = project.read("p.yaml");
        assert!(
            !plan.contains("hunter2") && !plan.contains("value99"),
            "{line}: {plan}"
        );
        let run = project.jelly(&["run", "p.yaml"]);
        let (a, b) = ("hunter2 value99", "hunter2 value99");
        let ended = run.env("A_TOKEN", a).env("TOKEN", b).output();
        assert_eq!(
            ended.code,
            Some(0),
            "{line}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("value99"));
    }
}

#[test]
fn a_word_that_names_a_secret_among_arguments_is_none() {
    let tool = json!({"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let project = scripted(&json!({ "tools": [tool] }));
    let args = [
        "init",
        "-o",
        "p.yaml",
        "--",
        "python3",
        "server.py",
        "token",
        "S3cr3tV4lue9x",
    ];
    let ended = project.jelly(&args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("p.yaml");
    assert!(
        plan.contains("token") && !plan.contains("S3cr3tV4lue9x"),
        "{plan}"
    );
    let password = [
        "init",
        "-o",
        "r.yaml",
        "--env",
        "DB_PASSWORD=x${y}z9k",
        "--",
        "python3",
        "server.py",
    ];
    let ended = project.jelly(&password).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(!project.read("r.yaml").contains("z9k"));
}

#[test]
fn a_tool_with_an_output_schema_is_called_twice_before_it_is_kept() {
    let tool = json!({"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
        "outputSchema": {"type": "object"}});
    let project = scripted(&json!({ "tools": [tool], "answers": {"look": "{}"} }));
    made(
        &project,
        &["--", "python3", "server.py"],
        "plans/scripted.yaml",
    );
    // Twice by `init`, once by `run`.
    assert_eq!(project.read("calls.log").lines().count(), 3);
}

#[test]
fn two_servers_of_one_file_name_do_not_overwrite_each_other() {
    let project = scripted(&json!({ "tools": [] }));
    let entry = json!({"command": "python3", "args": ["server.py"]});
    let config = json!({"mcpServers": {"a b": entry, "a-b": entry, "off": {"command": "x", "disabled": true}}});
    project.write(".mcp.json", config.to_string());
    let ended = project
        .jelly(&["init", "--force", "--config", ".mcp.json"])
        .output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    for said in [
        "the plan of another of these servers",
        "left out unless they are named: off",
    ] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    assert!(project.read("plans/a-b.yaml").contains("name: a b\n"));
}

#[test]
fn what_a_client_starts_itself_is_left_out() {
    let project = scripted(&json!({ "tools": [] }));
    project.write(
        "goose.yaml",
        "extensions:\n  developer: { type: builtin, enabled: true }\n  mine: { type: stdio, \
         enabled: true, cmd: python3, args: [server.py] }\n",
    );
    let init = ["init", "--config", "goose.yaml"];
    let ended = project.jelly(&init).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let said = "its client starts them itself: developer";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    assert!(project.read("plans/mine.yaml").contains("name: mine\n"));
    let ended = project.jelly(&init).args(&["developer"]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("is a part of its client"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_remote_is_reached_with_what_was_told_and_the_secret_unwritten() {
    let site = Http::serve(|request, out| {
        if request.header("x-api-key") != SECRET || request.path != "/acme/mcp" {
            return respond(out, 401, &[], "");
        }
        legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("fine")));
        });
    });
    let project = Project::empty();
    let definition = json!({"name": "a/far", "description": "d", "version": "1", "remotes": [{
        "type": "streamable-http", "url": format!("http://127.0.0.1:{}/{{path}}/mcp", site.port),
        "variables": {"path": {"isRequired": true, "description": "whose"}},
        "headers": [{"name": "X-API-Key", "isRequired": true, "isSecret": true}]}]});
    project.write("server.json", definition.to_string());
    let ended = project.jelly(&["init", "server.json"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for said in [
        // Every shell sets PATH, which is meant for nobody elsewhere.
        "`path` is (whose)",
        "--arg X-API-Key=VALUE, or X_API_KEY=VALUE in the environment",
    ] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    let init = ["init", "server.json", "--arg", "path=acme"];
    let wrong = project
        .jelly(&init)
        .env("X_API_KEY", "wrong-key-value")
        .output();
    assert_eq!(wrong.code, Some(3), "{}", wrong.stderr);
    for said in [
        "$ jelly login http",
        "$ jelly init --login http",
        "${secret:TOKEN}",
    ] {
        assert!(wrong.stderr.contains(said), "{}", wrong.stderr);
    }
    let ended = project.jelly(&init).env("X_API_KEY", SECRET).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let plan = project.read("plans/far.yaml");
    assert!(
        plan.contains(r#"X-API-Key: "${secret:X_API_KEY}""#),
        "{plan}"
    );
    assert!(plan.contains("/acme/mcp"), "{plan}");
}

#[test]
fn a_command_to_paste_keeps_what_was_typed() {
    let project = Project::empty();
    for (args, wanted) in [
        (
            &[
                "-o",
                "out/a.yaml",
                "--name",
                "demo",
                "-e",
                "MODE=dev",
                "--timeout",
                "5s",
                "--force",
                "--project-dir",
                ".",
                "--",
                "python3 tok.py --token=x",
            ][..],
            "$ jelly init --name demo --output out/a.yaml --force --timeout 5s --project-dir . \
             --env MODE=dev -- python3 tok.py '--token=<value of token>'",
        ),
        (
            &[
                "--url",
                "http://127.0.0.1:9/mcp",
                "--header",
                "X-Tenant: t1",
                "-o",
                "out/b.yaml",
                "--name",
                "demo",
            ],
            "$ jelly init --name demo --output out/b.yaml --header 'X-Tenant: <value of X-Tenant>' \
             --url 'http://127.0.0.1:<port>/mcp'",
        ),
    ] {
        let ended = project.jelly(&[&["init"], args].concat()).output();
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        assert!(ended.stderr.contains(wanted), "{wanted}: {}", ended.stderr);
    }
}
