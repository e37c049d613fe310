//! What `jelly doctor` says of servers in a configuration.

use super::Project;
use serde::Serialize;
use serde_json::{Value, json};

/// The report of doctor on these servers, each of which may take this long.
#[track_caller]
pub fn examined(project: &Project, servers: &impl Serialize, timeout: &str) -> Value {
    let text = serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap();
    project.write("mcp.json", text);
    let ended = project
        .jelly(&["doctor", "mcp.json", "--format", "json"])
        .args(&["--timeout", timeout, "--jobs", "4"])
        .output();
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", ended.stdout, ended.stderr))
}

/// What the report says of one.
#[track_caller]
pub fn of<'r>(report: &'r Value, name: &str) -> &'r Value {
    let servers = report["servers"].as_array().unwrap();
    servers.iter().find(|s| s["name"] == name).unwrap()
}

/// The lines that mend it, of which a healthy one has none.
#[track_caller]
pub fn fixes(server: &Value) -> Vec<&str> {
    let fixes = server["diagnosis"]["advice"]["fix"].as_array();
    fixes
        .into_iter()
        .flatten()
        .map(|fix| fix.as_str().unwrap())
        .collect()
}

/// The first server of the report on this file.
#[track_caller]
pub fn first_examined(file: &str, text: &str) -> (Value, Option<i32>) {
    let project = Project::empty();
    project.write(file, text);
    let ended = project
        .jelly(&["doctor", "--format", "json", file])
        .output();
    let report: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", ended.stdout, ended.stderr));
    (report["servers"][0].clone(), ended.code)
}
