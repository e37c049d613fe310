//! `jelly proxy --otlp`: a span of each request, and traffic that does not wait
//! for it.

use crate::proxy::{proxy, python_server};
use crate::support::Project;
use crate::support::http::{self, Http};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TOOLS: &str = r#"
tool = (message.get("params") or {}).get("name")
def text(words, error=False): answer(message, {"content": [{"type": "text", "text": words}], "isError": error})
if method == "initialize": opened(message)
elif method == "tools/list": answer(message, {"tools": [{"name": "weigh", "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}]})
elif tool == "weigh": text('{"n": 1}')
elif tool == "fails": text("no such file", True)
elif tool == "refused": refuse(message, -32602, "no such tool")
elif tool == "dies": sys.exit(3)
elif method == "tools/call": text("done")"#;

/// Names and attributes of all spans that came.
fn spans(collector: &Http) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut spans = BTreeMap::new();
    for request in collector.heard() {
        assert_eq!(
            (request.verb.as_str(), request.path.as_str()),
            ("POST", "/v1/traces")
        );
        let sent = request.message["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
        for span in sent.as_array().unwrap() {
            let (trace, id) = (
                span["traceId"].as_str().unwrap(),
                span["spanId"].as_str().unwrap(),
            );
            assert_eq!((trace.len(), id.len()), (32, 16), "{span}");
            let nanos = |key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
            assert!(
                nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"),
                "{span}"
            );
            let attributes = span["attributes"].as_array().unwrap().iter();
            let mut told: BTreeMap<String, String> = attributes
                .map(|it| {
                    let value = it["value"]["stringValue"].as_str().unwrap();
                    (it["key"].as_str().unwrap().to_owned(), value.to_owned())
                })
                .collect();
            told.insert("status".to_owned(), span["status"]["code"].to_string());
            told.insert("trace".to_owned(), trace.to_owned());
            let parent = span["parentSpanId"].as_str();
            told.extend(parent.map(|parent| ("parent".to_owned(), parent.to_owned())));
            spans.insert(span["name"].as_str().unwrap().to_owned(), told);
        }
    }
    spans
}

#[test]
fn each_request_is_a_span_with_its_outcome_its_cause_and_its_rung() {
    let project = Project::empty();
    let collector = Http::serve(|_, out| http::respond(out, 200, &[], "{}"));
    let server = python_server(&project, "tools.py", TOOLS);
    let otlp = format!("http://127.0.0.1:{}", collector.port);
    let flags = ["--otlp", &otlp, "--name", "it"];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    client.ask("tools/list", json!({}));
    for tool in ["weigh", "fails", "refused", "dies"] {
        client.call(tool, json!({}));
    }
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = json!({ "traceparent": traceparent });
    client.ask("tools/call", json!({ "name": "work", "_meta": meta }));
    let ended = client.close();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // The rung stands in the log, too.
    let logged = "outputs of `weigh` are read by json_text now";
    assert!(ended.stderr.contains(logged), "{}", ended.stderr);
    let spans = spans(&collector);
    let names: Vec<&str> = spans.keys().map(String::as_str).collect();
    let all = [
        "initialize",
        "tools/call dies",
        "tools/call fails",
        "tools/call refused",
        "tools/call weigh",
        "tools/call work",
        "tools/list",
    ];
    assert_eq!(names, all);
    for (name, key, value) in [
        ("initialize", "jelly.outcome", "ok"),
        ("tools/call weigh", "jelly.adapter", "json_text"),
        ("tools/call weigh", "jelly.outcome", "ok"),
        ("tools/call weigh", "mcp.tool", "weigh"),
        ("tools/call weigh", "rpc.method", "tools/call"),
        ("tools/call weigh", "mcp.server", "it"),
        ("tools/call weigh", "status", "1"),
        ("tools/call fails", "jelly.outcome", "tool_error"),
        ("tools/call fails", "status", "2"),
        ("tools/call refused", "jelly.outcome", "error"),
        ("tools/call dies", "jelly.outcome", "unavailable"),
        ("tools/call dies", "status", "2"),
        // It goes on with the client's trace.
        (
            "tools/call work",
            "trace",
            "0af7651916cd43dd8448eb211c80319c",
        ),
        ("tools/call work", "parent", "b7ad6b7169203331"),
    ] {
        assert_eq!(
            spans[name].get(key).map(String::as_str),
            Some(value),
            "{name} {key}"
        );
    }
    let cause = &spans["tools/call dies"]["jelly.root_cause"];
    assert!(!cause.is_empty());
    assert!(!spans["tools/call work"].contains_key("jelly.adapter"));
    assert!(!spans["tools/call weigh"].contains_key("parent"));
    let traces: std::collections::BTreeSet<_> = spans.values().map(|span| &span["trace"]).collect();
    assert_eq!(traces.len(), spans.len());
}

#[test]
fn a_collector_that_is_not_there_or_never_answers_delays_nothing() {
    let project = Project::empty();
    let server = python_server(&project, "tools.py", TOOLS);
    let mute = Http::serve(|_, out| http::hold(out));
    let refusing = Http::serve(|_, out| http::respond(out, 500, &[], ""));
    let gone = "http://127.0.0.1:1".to_owned();
    let at = |port: u16| format!("http://127.0.0.1:{port}");
    for (otlp, says) in [
        (gone, "spans can't be sent"),
        (at(refusing.port), "HTTP 500"),
        (at(mute.port), ""),
    ] {
        let mut client = proxy(&project, &["--otlp", &otlp], &["python3", &server]);
        client.open();
        for _ in 0..200 {
            let done: Value = client.call("work", json!({}));
            assert_eq!(done["result"]["content"][0]["text"], "done");
        }
        let ended = client.close();
        assert_eq!(ended.code, Some(0));
        assert!(ended.elapsed.as_secs() < 10, "{:?}", ended.elapsed);
        assert!(ended.stderr.contains(says), "{otlp}: {}", ended.stderr);
        assert!(ended.stderr.matches("spans can't be sent").count() <= 1);
    }
    let args = ["proxy", "--otlp", "ftp://h", "--", "true"];
    let refused = project.jelly(&args).output();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("OTLP"), "{}", refused.stderr);
}
