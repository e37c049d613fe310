//! `jelly check --live`: what a plan names, held against what its servers list.

use crate::support::Project;
use serde_json::Value;

/// A legacy server with lists of several pages, that notes whatever it is called
/// for.
const DESK: &str = r#"
import json, sys
if "--broken" in sys.argv:
    sys.exit("ModuleNotFoundError: No module named 'desk'")
CAPABILITIES = {"tools": {}, "prompts": {}, "resources": {}}
if "--no-tools" in sys.argv:
    del CAPABILITIES["tools"]
def tool(name, required, properties):
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "inputSchema": schema}
TOOLS = [tool("first", [], {}), tool("greet", ["name"], {
    "name": {"type": "string"}, "times": {"type": "integer"},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}}})]
LISTS = {
    "tools": TOOLS,
    "prompts": [{"name": "other"}, {"name": "review", "arguments": [
        {"name": "code", "required": True}, {"name": "style"}]}],
    "resources": [{"name": "r", "uri": "note://readme"}],
    "resourceTemplates": [{"name": "t", "uriTemplate": "note://page/{id}"}],
}
METHODS = {"tools/list": "tools", "prompts/list": "prompts",
           "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params") or {}
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": CAPABILITIES,
                            "serverInfo": {"name": "desk", "version": "1"}}
    elif method in METHODS:
        key = METHODS[method]
        at = int(params.get("cursor") or 0)
        answer["result"] = {key: LISTS[key][at:at + 1]}
        if at + 1 < len(LISTS[key]):
            answer["result"]["nextCursor"] = str(at + 1)
    else:
        if not method.startswith("server/"):
            open("called", "a").write(method + "\n")
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

const SERVERS: &str = "version: 1
vars: { who: Ann }
servers:
  desk: { command: python3, args: [desk.py] }
  modern: { command: jelly, args: [mock, --era, modern, --tool, 'ask=x', --page-size, '1'] }
  spare: { command: no-such-program }
steps:
";

fn project(steps: &str) -> Project {
    let project = Project::with(&format!("{SERVERS}{steps}"));
    project.write("desk.py", DESK);
    project
}

#[test]
fn a_plan_whose_names_are_all_listed_is_good_and_nothing_is_called() {
    let project = project(
        "  - { id: a, server: desk, tool: greet, args: { name: '${who}', times: 2, tags: [a] } }
  - { server: desk, prompt: review, args: { code: x } }
  - { server: desk, read: 'note://readme' }
  - { server: desk, read: 'note://page/7' }
  - { server: desk, complete: { prompt: review, argument: style, value: '' } }
  - { server: desk, tool: gone, expect: { error: { code: { equals: -32602 } } } }
  - { id: c, server: modern, tool: ask, capture: { n: '$.content[0].text' } }
  - { server: desk, tool: greet, args: { name: '${n}', times: '${n}' } }
  - { server: modern, tool: gone, if: { vars: { who: Bob } } }
",
    );
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let says = "(3 servers, 9 steps; checked against the lists of `desk`, `modern`)";
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
    assert!(!project.exists("called"), "{}", project.read("called"));
    let args = ["check", "plan.yaml", "--live", "--format", "json"];
    let ended = project.jelly(&args).output();
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["plans"][0]["held_against"][1], "modern");
    // Without the flag nothing is held against anything.
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert!(ended.stdout.ends_with("(3 servers, 9 steps)\n"));
}

#[test]
fn a_plan_that_needs_a_variable_is_checked_with_it() {
    let project = project("  - { server: desk, tool: greet, args: { name: x, times: '${n}' } }\n");
    for (var, code, says) in [
        ("n=2", 0, "checked against the lists of `desk`"),
        ("n=two", 2, "takes integer at /times"),
        ("n=2 number=2", 2, "has no variable `number`"),
    ] {
        let vars = var.split(' ').flat_map(|var| ["--var", var]);
        let args: Vec<&str> = ["check", "plan.yaml", "--live"]
            .into_iter()
            .chain(vars)
            .collect();
        let ended = project.jelly(&args).output();
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(code), "{var}: {told}");
        assert!(told.contains(says), "{var}: {told}");
    }
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
}

#[test]
fn what_no_list_has_is_told_at_its_place_with_what_was_meant() {
    let project = project(
        "  - { server: desk, tool: gret, args: { name: x } }
  - server: desk
    tool: greet
    args:
      nam: x
      times: two
      tags: [a, c]
  - { server: desk, tool: greet }
  - { server: desk, prompt: reviews }
  - { server: desk, prompt: review, args: { cod: x, other: y } }
  - { server: desk, read: 'note://redme' }
  - { server: desk, complete: { prompt: review, argument: stil, value: '' } }
  - server: desk
    tool: '${t}'
    cases: [{ t: first }, { t: frist }]
  - { server: modern, tool: aks }
  - { server: modern, prompt: any }
",
    );
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    for says in [
        "plan.yaml:8:27",
        "steps[0].tool: the server `desk` lists no tool `gret`",
        "did you mean `greet`?",
        "plan.yaml:12:7",
        "steps[1].args.nam: the tool `greet` knows no argument `nam`",
        "did you mean `name`?",
        "plan.yaml:13:14",
        "takes integer at /times, and the plan gives string",
        "plan.yaml:14:17",
        "steps[1].args.tags[1]: the tool `greet` refuses these arguments at /tags/1",
        "plan.yaml:15:21",
        "the tool `greet` requires the argument `name`",
        "lists no prompt `reviews`",
        "did you mean `review`?",
        "the prompt `review` knows no argument `cod`",
        "did you mean `code`?",
        "the prompt `review` knows no argument `other`",
        "it has 2 arguments: code, style",
        "lists no resource `note://redme`",
        "did you mean `note://readme`?",
        "knows no argument `stil`",
        "plan.yaml:21:11",
        "lists no tool `frist`",
        "the server `modern` lists no tool `aks`",
        "did you mean `ask`?",
        "the server `modern` has no prompts, and so no `any`",
        "13 problems in 1 plan",
    ] {
        assert!(ended.stderr.contains(says), "{says} in\n{}", ended.stderr);
    }
    // The misspelt argument was meant, and is not missing besides.
    let missing = ended.stderr.matches("requires the argument").count();
    assert_eq!(missing, 1, "{}", ended.stderr);
    assert!(!project.exists("called"));
}

#[test]
fn a_server_that_does_not_start_is_diagnosed_and_the_others_are_checked() {
    let project = project("  - { server: desk, tool: greet, args: { name: x } }\n");
    let plan = project.read("plan.yaml");
    let plan = plan.replace("[desk.py]", "[desk.py, --broken]");
    project.write("plan.yaml", &plan);
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for says in [
        "error: the server `desk` could not be started (missing_module)",
        "plan.yaml:4:3",
        "1 server could not be started",
    ] {
        assert!(ended.stderr.contains(says), "{says} in\n{}", ended.stderr);
    }
    assert_eq!(ended.stdout, "");
    let args = ["check", "plan.yaml", "--live", "--format", "json"];
    let ended = project.jelly(&args).output();
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let plan_found = &document["plans"][0];
    assert_eq!((ended.code, &document["exit_code"]), (Some(3), &3.into()));
    assert_eq!(plan_found["ok"], false);
    let cause = &plan_found["not_started"][0]["diagnosis"]["root_cause"];
    assert_eq!(cause, "missing_module", "{plan_found}");
    // What the plan has wrong counts for more.
    project.write(
        "plan.yaml",
        format!("{plan}  - {{ server: modern, tool: aks }}\n"),
    );
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("did you mean `ask`?"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("`desk` could not be started"));
    // Nor is what has no value.
    let unset = plan.replace("--broken", "'${env:NO_SUCH}'");
    project.write("plan.yaml", unset);
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("NO_SUCH is not set"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_server_without_tools_and_one_of_a_matrix_are_held_against_what_they_have() {
    let plan = "version: 1
matrix: { servers: { any: [desk, bare] } }
servers:
  desk: { command: python3, args: [desk.py] }
  bare: { command: python3, args: [desk.py, --no-tools] }
steps:
  - { server: any, tool: greet, args: { name: x } }
";
    let project = project("");
    project.write("plan.yaml", plan);
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    let says = "the server `bare` has no tools, and so no `greet`";
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
    project.write("plan.yaml", plan.replace(", --no-tools", ""));
    let ended = project.jelly(&["check", "plan.yaml", "--live"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("`desk`, `bare`"), "{}", ended.stdout);
}
