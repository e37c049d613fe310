//! What `jelly doctor` says of servers that are reached by a URL: only what was
//! seen there, or may mend it.

use crate::support::Project;
use crate::support::doctor::first_examined as examined;
use crate::support::http::{Http, respond};
use serde_json::{Value, json};

#[test]
fn a_redirect_is_mended_by_the_address_that_it_led_to_alone() {
    for (status, to, wanted) in [
        (301, "/mcp/", "/mcp/"),
        (302, "/elsewhere", "/elsewhere"),
        (307, "http://127.0.0.1:1/mcp", "http://127.0.0.1:1/mcp"),
        (308, "http://127.0.0.1:1/mcp/", "http://127.0.0.1:1/mcp/"),
    ] {
        let server = Http::serve(move |_, out| {
            respond(out, status, &[&format!("location: {to}")], "");
        });
        let url = format!("http://127.0.0.1:{}/old", server.port);
        let servers = json!({ "mcpServers": { "s": { "url": url } } });
        let (server_report, _) = examined("servers.json", &servers.to_string());
        let wanted = match wanted.starts_with('/') {
            true => format!("http://127.0.0.1:{}{wanted}", server.port),
            false => wanted.to_owned(),
        };
        let fix = server_report["diagnosis"]["advice"]["fix"]
            .as_array()
            .unwrap();
        let texts: Vec<&str> = fix.iter().filter_map(Value::as_str).collect();
        assert_eq!(texts.len(), 2, "{status}: {texts:?}");
        assert_eq!(texts[1], format!("\"url\": \"{wanted}\""), "{status}");
    }
}

#[test]
fn what_a_proxy_may_have_answered_is_not_held_against_the_server() {
    let not_found = Http::serve(|_, out| respond(out, 404, &[], "<html>Not found</html>"));
    let broken = Http::serve(|_, out| respond(out, 500, &[], "<html>Oops</html>"));
    let wants = Http::serve(|_, out| respond(out, 407, &["proxy-authenticate: Basic"], ""));
    for (port, said) in [
        (1, "asked through the proxy http://127.0.0.1:1,"),
        (not_found.port, "may be the proxy's own"),
        (broken.port, "may be the proxy's own"),
        (wants.port, "wants to know who asks"),
    ] {
        let project = Project::empty();
        let servers = json!({ "mcpServers": { "s": { "url": "http://mcp.example.com/mcp" } } });
        project.write("servers.json", servers.to_string());
        let proxy = format!("http://127.0.0.1:{port}");
        let ended = project
            .jelly(&["doctor", "--format", "json", "servers.json"])
            .env("http_proxy", &proxy)
            .output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let diagnosis = &report["servers"][0]["diagnosis"];
        let advice = diagnosis["advice"].to_string();
        assert!(
            advice.contains(said) && advice.contains(&proxy) | (port == broken.port),
            "{advice}"
        );
        for wrong in [
            "Nothing answers at",
            "There is no MCP endpoint",
            "\"member\"",
            "/sse",
        ] {
            assert!(
                !advice.replace("`/sse`", "").contains(wrong),
                "{port}: {wrong}: {advice}"
            );
        }
        let message = report["servers"][0]["message"].as_str().unwrap();
        assert!(message.contains(&proxy), "{message}");
    }
}

#[test]
fn an_entry_of_sse_is_not_healthy_where_streamable_http_alone_answers() {
    let initialized = json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "serverInfo": { "name": "s", "version": "1" }
    }});
    let server = Http::serve(move |request, out| {
        let asked = &request.message;
        match (request.verb.as_str(), asked["method"].as_str()) {
            ("POST", Some("initialize")) => {
                let mut answer = initialized.clone();
                answer["id"] = asked["id"].clone();
                respond(
                    out,
                    200,
                    &["content-type: application/json"],
                    answer.to_string(),
                );
            }
            ("POST", _) if asked["id"].is_null() => respond(out, 202, &[], ""),
            ("POST", _) => {
                let answer = json!({ "jsonrpc": "2.0", "id": asked["id"],
                    "error": { "code": -32601, "message": "unknown" } });
                respond(
                    out,
                    200,
                    &["content-type: application/json"],
                    answer.to_string(),
                );
            }
            _ => respond(out, 405, &[], ""),
        }
    });
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    for (file, kind, state, fix) in [
        (
            ".mcp.json",
            "sse",
            "unwell",
            Some("Write `\"type\": \"http\"`."),
        ),
        (
            ".cursor/mcp.json",
            "sse",
            "healthy",
            Some("Write `\"type\": \"http\"`."),
        ),
        (".mcp.json", "http", "healthy", None),
    ] {
        let servers = json!({ "mcpServers": { "s": { "type": kind, "url": url } } });
        let (server, _) = examined(file, &servers.to_string());
        assert_eq!(server["state"], state, "{file}: {server:#}");
        let findings = server["findings"].as_array().unwrap();
        let found = findings.iter().find(|it| it["lint"] == "type_mismatch");
        assert_eq!(
            found.and_then(|it| it["fix"].as_str()),
            fix,
            "{file}: {server:#}"
        );
    }
}

#[test]
fn a_refusal_that_no_token_and_no_step_mends_is_told_without_them() {
    for (status, wrong) in [(407, "Authorization"), (413, "`args`")] {
        let server = Http::serve(move |_, out| respond(out, status, &[], ""));
        let url = format!("http://127.0.0.1:{}/mcp", server.port);
        let servers = json!({ "mcpServers": { "s": { "type": "http", "url": url } } });
        let (server, _) = examined("servers.json", &servers.to_string());
        let advice = server["diagnosis"]["advice"].to_string();
        assert!(advice.contains(&format!("HTTP {status}")), "{advice}");
        assert!(!advice.contains(wrong), "{advice}");
    }
}
