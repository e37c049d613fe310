//! `jelly proxy` and the headers of MCP, on the way to a server behind a URL.

use crate::support::http::{self, Http, Request};
use crate::support::listening::Listening;
use crate::support::{Project, procs};
use serde_json::{Value, json};
use std::net::TcpStream;

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "it", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A server that wants the region as a header, which its list of tools says.
fn strict() -> Http {
    let tools = json!([{ "name": "work", "inputSchema": { "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" } } } }]);
    Http::serve(move |request: &Request, out: &mut TcpStream| {
        http::modern(request, out, &tools, |request, out| {
            if request.header("mcp-param-region") == "eu" {
                let done = json!({ "content": [], "resultType": "complete" });
                return http::json_answer(out, &[], &http::result(request, done));
            }
            let error = json!({ "jsonrpc": "2.0", "id": request.message["id"],
                "error": { "code": -32020, "message": "Header mismatch: Mcp-Param-Region" } });
            let kind = ["content-type: application/json"];
            http::respond(out, 400, &kind, error.to_string());
        });
    })
}

fn call(region: &str) -> Value {
    json!({ "name": "work", "arguments": { "region": region }, "_meta": meta() })
}

#[test]
fn headers_that_a_client_at_pipes_knows_nothing_of_are_learnt_when_they_are_missed() {
    let project = Project::empty();
    let server = strict();
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let jelly = project.jelly(&["proxy", "--url", &url]);
    let mut client = procs::marked(&project, jelly).client();
    client.ask("server/discover", json!({ "_meta": meta() }));
    // It has listed no tools.
    let done = client.ask("tools/call", call("eu"));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    // What is refused for good is told, and not asked for ever.
    let refused = client.ask("tools/call", call("us"));
    assert_eq!(refused["error"]["code"], -32020, "{refused}");
    client.close();
    let heard: Vec<String> = server
        .heard()
        .iter()
        .map(|r| r.method().to_owned())
        .collect();
    let wanted = [
        "server/discover",
        "tools/call",
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/list",
    ];
    assert_eq!(heard, wanted);
}

#[test]
fn headers_that_the_proxy_does_not_know_are_passed_on() {
    let project = Project::empty();
    let server = strict();
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let args = ["--listen", "127.0.0.1:0", "--url", &url];
    let listening = Listening::of(&project, "proxy", &args, &[]);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("eu") });
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "work"),
        ("Mcp-Param-Region", "eu"),
        ("Mcp-Param-Of-Tomorrow", "=?base64?w6Q=?="),
        ("Mcp-Session-Id", "of-nobody"),
        ("X-Other", "stays"),
    ];
    let (status, answer) = listening.ask(&headers, &body.to_string());
    assert_eq!(status, 200, "{answer}");
    let heard = server.heard();
    let [call] = heard.as_slice() else {
        panic!(
            "one request, and no look at the tools: {:?}",
            server.heard_in_short()
        );
    };
    for (name, value) in [
        ("mcp-param-region", "eu"),
        ("mcp-param-of-tomorrow", "=?base64?w6Q=?="),
        ("mcp-session-id", ""),
        ("x-other", ""),
    ] {
        assert_eq!(call.header(name), value, "{name}");
    }
}
