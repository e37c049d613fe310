//! `jelly serve` and the clients of others; and what agents are given to find
//! it by.

use crate::support::{Project, fixtures};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The official SDK's client checks structured content against the output
/// schemas that it was listed.
#[test]
fn the_official_typescript_client_gets_structured_content_that_it_checks() {
    let project = Project::with(
        "version: 1\nname: p\nservers:\n  m: { command: JELLY, args: [mock] }\nsteps:\n  - { id: a, server: m, list: tools }\n",
    );
    let plan = project
        .read("plan.yaml")
        .replace("JELLY", env!("CARGO_BIN_EXE_jelly"));
    project.write("plan.yaml", plan);
    let sdk = fixtures().join("npm/node_modules/@modelcontextprotocol/sdk/dist/esm/client");
    let script = format!(
        r#"import {{ Client }} from "file://{sdk}/index.js";
import {{ StdioClientTransport }} from "file://{sdk}/stdio.js";
const client = new Client({{ name: "it", version: "1" }});
await client.connect(new StdioClientTransport({{ command: process.argv[2], args: ["serve", "--allow-run"] }}));
const {{ tools }} = await client.listTools();
const said = {{ tools: tools.length, progress: 0 }};
const run = await client.callTool({{ name: "run_plan", arguments: {{ path: "plan.yaml" }} }}, undefined,
  {{ onprogress: () => said.progress++ }});
said.verdict = run.structuredContent.verdict;
const checked = await client.callTool({{ name: "check_plan", arguments: {{ path: "plan.yaml" }} }});
said.check = checked.structuredContent.exit_code;
const refused = await client.callTool({{ name: "check_plan", arguments: {{ path: "../x" }} }});
said.refused = refused.isError;
const {{ resources }} = await client.listResources();
const read = await client.readResource({{ uri: resources[0].uri }});
said.read = read.contents[0].text.length > 100;
console.log(JSON.stringify(said));
await client.close();
"#,
        sdk = sdk.display()
    );
    let script = project.write("client.mjs", script);
    let output = Command::new("node")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_jelly"))
        .current_dir(project.dir())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["tools"], 9);
    assert_eq!(said["verdict"], "passed");
    assert_eq!(said["check"], 0);
    assert_eq!(said["refused"], true);
    assert_eq!(said["read"], true);
    assert!(said["progress"].as_u64().unwrap() > 0, "{said}");
}

/// So does this one's.
#[test]
fn the_official_python_client_gets_structured_content_that_it_checks() {
    let project = Project::empty();
    project.write("plan.yaml", "version: 1\nname: p\nsteps: nonsense\n");
    project.write(
        "r.xml",
        r#"<testsuite><testcase classname="a" name="b"><failure message="connect ECONNREFUSED 127.0.0.1:5432"/></testcase></testsuite>"#,
    );
    let script = r#"
import asyncio, json, sys
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["serve"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        checked = await session.call_tool("check_plan", {"path": "plan.yaml"})
        triage = await session.call_tool("triage_report", {"paths": ["r.xml"]})
        refused = await session.call_tool("check_plan", {"path": "../x"})
        runs = await session.call_tool("list_runs", {})
        failure = triage.structuredContent["failures"][0]
        print(json.dumps({"tools": len(tools), "check": checked.structuredContent["exit_code"],
            "category": failure["error_category"], "retryable": failure["retryable"],
            "refused": refused.isError, "runs": runs.structuredContent["runs"]}))

asyncio.run(main())
"#;
    let output = Command::new(fixtures().join("pypi/.venv/shell/bin/python"))
        .args(["-c", script, env!("CARGO_BIN_EXE_jelly")])
        .current_dir(project.dir())
        .output()
        .expect("run ./fixtures/setup first");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["tools"], 9);
    assert_eq!(said["check"], 2);
    assert_eq!(said["category"], "INFRASTRUCTURE");
    assert_eq!(said["retryable"], true);
    assert_eq!(said["refused"], true);
    assert_eq!(said["runs"], serde_json::json!([]));
}

fn agents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations/agents")
}

fn json_of(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(agents().join(name)).unwrap()).unwrap()
}

#[test]
fn the_server_json_is_one_that_jelly_itself_would_take() {
    let text = fs::read_to_string(agents().join("server.json")).unwrap();
    let server = jelly_package::read(&text).unwrap();
    assert!(server.warnings.is_empty(), "{:?}", server.warnings);
    assert_eq!(server.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(server.packages.len(), 1);
}

/// Of `fixtures/schemas`, where its source stands.
fn published(name: &str) -> Value {
    let text = fs::read_to_string(fixtures().join("schemas").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn keeps_to(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn what_agents_are_given_keeps_to_the_published_schemas() {
    let registry = published("server.schema.json");
    let server = json_of("server.json");
    assert_eq!(server["$schema"], registry["$id"]);
    keeps_to(&registry, &server);
    let manifest = published("claude-code-plugin-manifest.json");
    keeps_to(
        &manifest,
        &json_of("claude-code/.claude-plugin/plugin.json"),
    );
    // A file of servers has what a manifest may have in their place.
    let servers = manifest["properties"]["mcpServers"]["anyOf"]
        .as_array()
        .unwrap();
    let servers = servers.iter().find(|one| one["type"] == "object").unwrap();
    keeps_to(servers, &json_of(".mcp.json")["mcpServers"]);
    // They are no schemas that all keep to.
    let validator = jsonschema::validator_for(&registry).unwrap();
    assert!(!validator.is_valid(&serde_json::json!({"name": "jelly"})));
    let validator = jsonschema::validator_for(servers).unwrap();
    assert!(!validator.is_valid(&serde_json::json!({"jelly": {"command": ""}})));
}

#[test]
fn the_plugin_names_what_is_there() {
    let manifest = json_of("claude-code/.claude-plugin/plugin.json");
    assert_eq!(manifest["name"], "jelly");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json_of(".mcp.json"), json_of("claude-code/.mcp.json"));
    for file in ["skills/triage/SKILL.md", "commands/triage.md"] {
        let text = fs::read_to_string(agents().join("claude-code").join(file)).unwrap();
        let head = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"));
        let head: Value = serde_yaml::from_str(head.unwrap().0).unwrap();
        assert!(head["description"].as_str().unwrap().len() > 20, "{file}");
    }
}

/// Everything but the plain commands starts from this file.
#[test]
fn the_configuration_for_agents_is_one_that_doctor_finds_nothing_wrong_with() {
    let project = Project::empty();
    let mut config = json_of(".mcp.json");
    config["mcpServers"]["jelly"]["command"] = env!("CARGO_BIN_EXE_jelly").into();
    project.write(".mcp.json", config.to_string());
    let ended = project.jelly(&["doctor", ".mcp.json"]).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}
