//! `jelly proxy` and what tools answer: text that is an output becomes one.

use crate::proxy::{proxy, python_server};
use crate::support::client::Client;
use crate::support::{Project, procs};
use serde_json::{Value, json};

/// Tools that answer with the text that they are given.
fn texts(project: &Project) -> String {
    python_server(
        project,
        "texts.py",
        r#"
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [
    {"name": "report", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
    {"name": "plain", "inputSchema": {"type": "object"}}]})
elif method == "tools/call":
    given = message["params"]["arguments"]
    answer(message, {"content": [{"type": "text", "text": given["text"]}], **given.get("more", {})})"#,
    )
}

fn output(client: &mut Client, tool: &str, arguments: Value) -> Value {
    client.call(tool, arguments)["result"]["structuredContent"].clone()
}

#[test]
fn text_that_fits_what_a_tool_declares_is_structured_and_nothing_else_is() {
    let project = Project::empty();
    let server = texts(&project);
    let well = json!({ "text": "{\"n\": 7}" });
    let mut client = proxy(&project, &[], &["python3", &server]);
    client.open();
    // Before the tools were listed, nothing is known of them.
    assert_eq!(output(&mut client, "report", well.clone()), Value::Null);
    client.ask("tools/list", json!({}));
    assert_eq!(
        output(&mut client, "report", well.clone()),
        json!({ "n": 7 })
    );
    let own = json!({ "text": "x", "more": { "structuredContent": { "n": 1 } } });
    assert_eq!(output(&mut client, "report", own), json!({ "n": 1 }));
    let error = json!({ "text": "{\"n\": 7}", "more": { "isError": true } });
    for (tool, arguments) in [
        ("report", json!({ "text": "words" })),
        ("report", json!({ "text": "{\"n\": \"seven\"}" })),
        ("report", error),
        ("plain", well.clone()),
    ] {
        let found = output(&mut client, tool, arguments.clone());
        assert_eq!(found, Value::Null, "{tool} {arguments}");
    }
    client.close();

    let mut client = proxy(&project, &["--no-adapt"], &["python3", &server]);
    client.open();
    client.ask("tools/list", json!({}));
    assert_eq!(output(&mut client, "report", well), Value::Null);
    client.close();
}

#[test]
fn what_is_learnt_is_kept_shown_and_told() {
    let project = Project::empty();
    let server = texts(&project);
    let flags = ["--schema-store", "schemas.json", "--name", "small"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    client.ask("tools/list", json!({}));
    let words = json!({ "text": "words" });
    assert_eq!(output(&mut client, "plain", words.clone()), Value::Null);
    client.until_told("notifications/tools/list_changed");
    let tools = client.ask("tools/list", json!({}));
    let generic = &tools["result"]["tools"][1]["outputSchema"];
    assert_eq!(generic["required"], json!(["result"]), "{tools}");
    assert_eq!(
        output(&mut client, "plain", words),
        json!({ "result": "words" })
    );
    let store = || -> Value { serde_json::from_str(&project.read("schemas.json")).unwrap() };
    procs::until("the second sighting", || {
        let kept = &store()["servers"]["small"]["tools"]["plain"];
        (kept["last_adapter"] == "generic" && kept["consecutive_generic_count"] == 2).then_some(())
    });

    // What a person sets is shown as well, while the proxy runs.
    let mut edited = store();
    let own = json!({ "type": "object", "properties": { "said": { "type": "string" } }, "required": ["said"] });
    edited["servers"]["small"]["tools"]["plain"]["outputSchema"] = own.clone();
    project.write("schemas.json", edited.to_string());
    client.until_told("notifications/tools/list_changed");
    let tools = client.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"][1]["outputSchema"], own);
    let said = output(&mut client, "plain", json!({ "text": "hm" }));
    assert_eq!(said, json!({ "said": "hm" }));
    let ended = client.close();
    assert!(
        ended.stderr.contains("list its tools anew"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_is_learnt_last_is_kept_and_nothing_is_told_where_no_list_changes() {
    let project = Project::empty();
    let server = texts(&project);
    let flags = ["--schema-store", "schemas.json", "--name", "small"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    // Nobody has listed it, so that nothing is learnt of it.
    client.call("plain", json!({ "text": "words" }));
    client.ask("tools/list", json!({}));
    let n = output(&mut client, "report", json!({ "text": "{\"n\": 7}" }));
    assert_eq!(n, json!({ "n": 7 }));
    let ended = client.close();
    let store: Value = serde_json::from_str(&project.read("schemas.json")).unwrap();
    let tools = &store["servers"]["small"]["tools"];
    assert_eq!(tools["report"]["last_adapter"], "json_text", "{store}");
    assert_eq!(tools["plain"], Value::Null, "{store}");
    assert!(!ended.stdout.contains("list_changed"), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("does not exist yet"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("anew"), "{}", ended.stderr);
}

#[test]
fn a_corrupt_store_warns_and_hides_no_tool() {
    let project = Project::empty();
    let server = texts(&project);
    project.write("schemas.json", "{oops");
    let flags = ["--schema-store", "schemas.json"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    let tools = client.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(
        output(&mut client, "plain", json!({ "text": "x" })),
        Value::Null
    );
    let ended = client.close();
    assert!(
        ended
            .stderr
            .contains("warning: the schema store is not used"),
        "{}",
        ended.stderr
    );
    assert_eq!(project.read("schemas.json"), "{oops");
}
