//! Answers that say `isError: false` and are an error as a whole: through the
//! binary, with the second run that confirms or does not.

use crate::support::{Project, Run, python};
use serde_json::{Value, json};
use std::fs;

const REFUSED: &str = "Error: connect ECONNREFUSED 127.0.0.1:5432";
const DNS: &str = "getaddrinfo ENOTFOUND api.example.com";

/// A plan in which each step has a server of its own, so that none stands
/// behind another's failure: `(id, what its tool answers, what is expected)`.
fn project(steps: &[(&str, Value, Value)]) -> Project {
    let project = Project::empty();
    let mut servers = serde_json::Map::new();
    let mut plan = Vec::new();
    for (id, response, expect) in steps {
        let mut tool = json!({
            "name": "look",
            "inputSchema": { "type": "object" },
            "response": response,
        });
        if let Some(schema) = tool["response"].as_object_mut().unwrap().remove("declares") {
            tool["outputSchema"] = schema;
        }
        let mut script = json!({ "tools": [tool] });
        if let Some(faults) = script["tools"][0]["response"]
            .as_object_mut()
            .unwrap()
            .remove("logs")
        {
            script["faults"] = json!([format!("stderr@tool:look={}", faults.as_str().unwrap())]);
        }
        let name = format!("{id}.json");
        project.write(&name, script.to_string());
        servers.insert(
            (*id).to_owned(),
            json!({ "command": "jelly", "args": ["mock", "--script", project.at(&name)] }),
        );
        let mut step = json!({
            "id": id, "server": id, "tool": "look", "args": { "what": "Ada" },
        });
        let mut expect = expect.clone();
        if let Some(capture) = expect.as_object_mut().unwrap().remove("capture") {
            step["capture"] = capture;
        }
        if expect != json!({}) {
            step["expect"] = expect;
        }
        plan.push(step);
    }
    let plan = json!({
        "version": 1,
        "budgets": { "retries": 0, "mcp_repairs": 0 },
        "servers": servers,
        "steps": plan,
    });
    project.write("plan.yaml", plan.to_string());
    project
}

fn text(text: &str) -> Value {
    json!({ "text": text, "isError": false })
}

fn diagnosis<'r>(run: &'r Run, step: &str) -> &'r Value {
    &run.last().failure(step)["diagnosis"]
}

#[test]
fn an_error_of_the_surroundings_is_test_side_in_every_form_of_mismatch() {
    let wanted = json!({ "text": { "contains": "Ada" } });
    let steps = [
        ("text", text(REFUSED), wanted.clone()),
        (
            "json",
            text(REFUSED),
            json!({ "json": [{ "path": "$.content[1].text", "exists": true }] }),
        ),
        (
            "structured",
            json!({ "structured": { "error": REFUSED }, "isError": false }),
            json!({ "structured": { "equals": { "name": "Ada" } } }),
        ),
        (
            "not_contains",
            text(REFUSED),
            json!({ "text": { "not_contains": "Error" } }),
        ),
        (
            "not_equals",
            text(REFUSED),
            json!({ "text": { "not_equals": REFUSED } }),
        ),
        (
            "error",
            text(DNS),
            json!({ "error": { "message": { "contains": "not found" } } }),
        ),
        ("is_error", text(DNS), json!({ "is_error": true })),
        (
            "capture",
            text(REFUSED),
            json!({ "capture": { "name": "$.structuredContent.name" } }),
        ),
        (
            "tool_error",
            json!({ "text": DNS, "isError": true }),
            json!({ "error": { "message": { "contains": "not found" } } }),
        ),
        (
            "rpc_error",
            json!({ "error": { "code": -32000, "message": DNS } }),
            json!({ "error": { "code": { "equals": -32002 } } }),
        ),
        (
            "schema",
            json!({
                "text": REFUSED,
                "isError": false,
                "declares": { "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] },
            }),
            json!({}),
        ),
        (
            "envelope",
            text(r#"{"error": {"code": 503, "message": "The service is unavailable"}}"#),
            wanted.clone(),
        ),
        (
            "command",
            text(
                "Exit status: 7\nSTDOUT:\n\nSTDERR:\ncurl: (7) Failed to connect to localhost port 80: Connection refused",
            ),
            wanted.clone(),
        ),
        ("limited", text("❌ 429 Too Many Requests"), wanted.clone()),
        (
            "unset",
            text("Missing required environment variable: GITHUB_TOKEN"),
            wanted,
        ),
    ];
    let run = project(&steps).run(&[]);
    run.ends(3, "needs_user_help");
    for (step, _, _) in &steps {
        let diagnosis = diagnosis(&run, step);
        assert_eq!(diagnosis["side"], "test", "{step}: {diagnosis:#}");
        assert_eq!(diagnosis["ambiguous"], false, "{step}: {diagnosis:#}");
        let category = &diagnosis["error_category"];
        assert_eq!(category, "INFRASTRUCTURE", "{step}: {diagnosis:#}");
    }
    assert!(run.help().contains("ECONNREFUSED"));
    // Nothing of it needs a second look.
    assert_eq!(run.iterations().len(), 1, "{:?}", run.actions());
}

#[test]
fn any_other_error_is_ambiguous_while_the_step_never_passed() {
    let wanted = json!({ "text": { "contains": "Ada" } });
    let steps = [
        ("missing", text("User 5 does not exist"), wanted.clone()),
        (
            "denied",
            text("cat: /etc/shadow: Permission denied"),
            wanted.clone(),
        ),
        (
            "envelope",
            text(r#"{"ok": false, "error": "channel_not_found"}"#),
            wanted.clone(),
        ),
        ("command", text("Command failed with exit code 2"), wanted),
        (
            "not_contains",
            text("Error: no entry"),
            json!({ "text": { "not_contains": "Error" } }),
        ),
        (
            "capture",
            text("Error: no entry"),
            json!({ "capture": { "name": "$.structuredContent.name" } }),
        ),
    ];
    let run = project(&steps).run(&["--trust-plan"]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.actions(), ["confirm", "stop"]);
    for (step, _, _) in &steps {
        let diagnosis = diagnosis(&run, step);
        assert_eq!(diagnosis["side"], "test", "{step}: {diagnosis:#}");
        assert_eq!(diagnosis["ambiguous"], true, "{step}: {diagnosis:#}");
        assert_eq!(diagnosis["error_answer"], true, "{step}: {diagnosis:#}");
        assert_eq!(
            diagnosis["excused"], "error_answer",
            "{step}: {diagnosis:#}"
        );
        assert_eq!(diagnosis["repeated"]["count"], 2, "{step}");
    }
    assert!(
        run.help().contains("the answer is an error as a whole"),
        "{}",
        run.help()
    );
}

#[test]
fn an_ordinary_answer_and_an_internal_error_are_the_codes_when_they_come_again() {
    let wanted = json!({ "text": { "contains": "Ada" } });
    let raised = "Traceback (most recent call last):\n  File \"/srv/shop.py\", line 3, in total\nKeyError: 'price'";
    let steps = [
        (
            "empty",
            text(r#"{"errors": [], "total": 41}"#),
            wanted.clone(),
        ),
        ("rate", text("The error rate is 3 %"), wanted.clone()),
        (
            "found",
            text("Found 0 results for 'Ada'"),
            json!({ "text": { "starts_with": "Found 1" } }),
        ),
        (
            "jobs",
            text(r#"{"status": "failed", "count": 1, "jobs": [{"error": "connection refused"}]}"#),
            wanted.clone(),
        ),
        ("raised", text(raised), wanted.clone()),
        (
            "internal",
            text(r#"{"error": {"code": -32603, "message": "Internal error"}}"#),
            wanted.clone(),
        ),
        // What is logged beside an ordinary answer proves nothing for it.
        (
            "logs",
            json!({ "text": "Bob", "logs": "ERROR connect ECONNREFUSED 127.0.0.1:1" }),
            wanted,
        ),
        // It asks for that error, and gets it as an answer.
        (
            "asked",
            text(DNS),
            json!({ "error": { "message": { "contains": "ENOTFOUND" } } }),
        ),
        (
            "silent",
            text("Error: user 5 does not exist"),
            json!({ "is_error": true }),
        ),
        (
            "another",
            json!({ "error": { "code": -32601, "message": "Method not found" } }),
            json!({ "error": { "code": { "equals": -32002 } } }),
        ),
    ];
    let run = project(&steps).run(&[]);
    run.ends(1, "code_failure");
    assert_eq!(run.actions(), ["confirm", "stop"]);
    for (step, _, _) in &steps {
        let diagnosis = diagnosis(&run, step);
        assert_eq!(diagnosis["side"], "code", "{step}: {diagnosis:#}");
        assert_eq!(
            diagnosis["standing"], "never_passed",
            "{step}: {diagnosis:#}"
        );
        assert_eq!(diagnosis["root_cause"], "assertion_mismatch", "{step}");
    }
    let error = &run.last().failure("another")["rpc_error"];
    assert_eq!(error["code"], -32601, "what came is in the report");
}

#[test]
fn what_is_logged_during_the_call_tells_the_cause_of_an_error_without_one() {
    let log = "ERROR db: connect ECONNREFUSED 127.0.0.1:5432";
    let wanted = json!({ "text": { "contains": "Ada" } });
    let steps = [
        (
            "bare",
            json!({ "text": "Something went wrong", "logs": log }),
            wanted.clone(),
        ),
        (
            "named",
            json!({ "text": "User 5 does not exist", "logs": log }),
            wanted,
        ),
    ];
    let run = project(&steps).run(&[]);
    run.ends(3, "needs_user_help");
    let bare = diagnosis(&run, "bare");
    assert_eq!(bare["root_cause"], "connection_refused", "{bare:#}");
    assert_eq!(bare["ambiguous"], false);
    assert_eq!(bare["evidence"]["field"], "stderr");
    let named = diagnosis(&run, "named");
    assert_eq!(named["root_cause"], "assertion_mismatch", "{named:#}");
    assert_eq!(named["ambiguous"], true);
}

#[test]
fn what_was_logged_before_the_call_is_no_cause_of_it() {
    let server = python(
        r#"
import sys
print("ERROR db: connect ECONNREFUSED 127.0.0.1:5432", file=sys.stderr, flush=True)
def call(request):
    answer(request, {"content": [{"type": "text", "text": "Something went wrong"}]})
serve(call)
"#,
    );
    let run = crate::support::run(&format!(
        "version: 1
servers: {{ s: {server} }}
steps: [{{ id: look, tool: work, args: {{}}, expect: {{ text: {{ contains: Ada }} }} }}]
"
    ));
    run.ends(3, "needs_user_help");
    let diagnosis = diagnosis(&run, "look");
    assert_eq!(
        diagnosis["root_cause"], "assertion_mismatch",
        "{diagnosis:#}"
    );
    assert_eq!(diagnosis["excused"], "error_answer");
}

/// One step whose server answers what `answer.txt` holds, so that code changes
/// without the plan; what it answered before is remembered.
fn remembering() -> Project {
    let server = python(
        r#"
def call(request):
    answer(request, {"content": [{"type": "text", "text": open("answer.txt").read()}]})
serve(call)
"#,
    );
    let project = Project::with(&format!(
        "version: 1
budgets: {{ retries: 0 }}
servers: {{ s: {server} }}
steps: [{{ id: look, tool: work, args: {{}}, expect: {{ text: {{ contains: Ada }} }} }}]
"
    ));
    fs::create_dir(project.path(".jelly")).unwrap();
    project
}

#[test]
fn an_error_is_the_codes_where_the_step_passed_before() {
    for (answer, code, standing) in [
        ("User 5 does not exist", 1, json!("passed_before")),
        (
            r#"{"ok": false, "error": "no_such_user"}"#,
            1,
            json!("passed_before"),
        ),
        (
            "open /data/users: permission denied",
            1,
            json!("passed_before"),
        ),
        (REFUSED, 3, Value::Null),
    ] {
        let project = remembering();
        project.write("answer.txt", "Ada");
        project.run(&[]).ends(0, "passed");
        project.write("answer.txt", answer);
        let run = project.run(&[]);
        let verdict = if code == 1 {
            "code_failure"
        } else {
            "needs_user_help"
        };
        run.ends(code, verdict);
        let diagnosis = diagnosis(&run, "look");
        assert_eq!(diagnosis["standing"], standing, "{answer}: {diagnosis:#}");
    }
}
