//! `jelly serve --listen`: who may ask, and what becomes of those who leave.

use crate::conformance::suite::Suite;
use crate::support::listening::Listening;
use crate::support::{Project, procs};
use serde_json::{Value, json};
use std::io::Read;
use std::net::Shutdown;
use std::time::Duration;

fn hello() -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

/// A request of the modern era, with its headers.
fn modern(tool: &str, arguments: &Value) -> (String, Vec<(&'static str, String)>) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let headers = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", "tools/call".to_owned()),
        ("Mcp-Name", tool.to_owned()),
    ];
    (body.to_string(), headers)
}

#[test]
fn a_page_in_a_browser_can_not_call_it() {
    let project = Project::empty();
    let server = Listening::start(&project, &["--listen", "127.0.0.1:0"], &[]);
    let here = format!("localhost:{}", server.port);
    let cases: [(&[(&str, &str)], u16); 6] = [
        (&[("Origin", "http://localhost:6274")], 200),
        (&[("Host", &here)], 200),
        (&[("Host", "evil.example")], 403),
        (&[("Host", "localhost:1")], 403),
        (&[("Origin", "http://evil.example")], 403),
        (&[("Origin", "null")], 403),
    ];
    for (headers, status) in cases {
        let (given, said) = server.ask_briefly(headers, &hello());
        assert_eq!(given, status, "{headers:?}: {said}");
    }
}

#[test]
fn a_body_that_is_too_long_or_breaks_off_is_refused() {
    let project = Project::empty();
    let server = Listening::start(&project, &["--listen", "127.0.0.1:0"], &[]);
    for (length, status) in [("5000000000", "413"), ("50", "400")] {
        let mut stream = server.open(&[("Content-Length", length)], "{");
        stream.shutdown(Shutdown::Write).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert_eq!(said.split(' ').nth(1), Some(status), "{length}: {said}");
    }
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    let project = Project::empty();
    for args in [
        &["serve", "--listen", "0.0.0.0:0"][..],
        &[
            "serve",
            "--listen",
            "0.0.0.0:0",
            "--token-env",
            "IT_NOT_SET",
        ],
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("token"), "{}", ended.stderr);
        assert!(ended.stderr.contains("help: "), "{}", ended.stderr);
    }
    let args = ["--listen", "0.0.0.0:0", "--token-env", "IT_TOKEN"];
    let server = Listening::start(&project, &args, &[("IT_TOKEN", "5ecret")]);
    let cases = [
        (None, 401),
        (Some("Bearer 5ecre"), 401),
        (Some("Basic 5ecret"), 401),
        (Some("Bearer 5ecret"), 200),
    ];
    for (sent, status) in cases {
        let header = sent.map(|sent| ("Authorization", sent));
        let (given, said) = server.ask_briefly(header.as_slice(), &hello());
        assert_eq!(given, status, "{sent:?}: {said}");
        assert!(!said.contains("5ecret"));
    }
}

#[test]
fn a_client_that_hangs_up_has_its_run_stopped() {
    let project = Project::with(
        "version: 1\nname: slow\nservers:\n  mute: { command: sleep, args: [\"300\"], startup_timeout: 100s }\nsteps:\n  - { id: a, server: mute, list: tools }\n",
    );
    let server = Listening::start(&project, &["--allow-run", "--listen", "127.0.0.1:0"], &[]);
    let (body, headers) = modern("run_plan", &json!({"path": "plan.yaml"}));
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let stream = server.open(&headers, &body);
    procs::until("the run with its server", || {
        (procs::alive(&project).len() >= 5).then_some(())
    });
    drop(stream);
    procs::until("the end of the run", || {
        (procs::alive(&project).len() <= 2).then_some(())
    });
    let (body, headers) = modern("list_runs", &json!({}));
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    // Its report is written, and then its end is known.
    procs::until("its end in the list", || {
        let (status, said) = server.ask(&headers, &body);
        assert_eq!(status, 200);
        said.contains("interrupted").then_some(())
    });
    drop(server);
    procs::none_within(&project, Duration::from_secs(20));
}

/// What is required of servers and concerns this one: what it does not offer
/// (prompts, completion, logging, subscriptions, input from the client) and
/// what the suite's own test tools must do is left out, which is all else.
const APPLY: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "server-initialize",
            "ping",
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "sep-2164-resource-not-found",
            "dns-rebinding-protection",
            "input-required-result-missing-input-response",
            "input-required-result-unsupported-methods",
            "input-required-result-ignore-extra-params",
            "input-required-result-validate-input",
        ],
    ),
];

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn it_passes_the_server_scenarios_of_the_official_suite_that_apply() {
    let suite = Suite::find();
    let project = Project::empty();
    let server = Listening::start(&project, &["--listen", "127.0.0.1:0"], &[]);
    for (revision, scenarios) in APPLY {
        let required = suite.of_servers(revision);
        for scenario in scenarios {
            assert!(required.iter().any(|known| known == scenario), "{scenario}");
            let judged = suite.judge_server(revision, scenario, &server.url());
            assert!(
                judged.is_ok(),
                "{revision} {scenario}: {}",
                judged.unwrap_err()
            );
        }
    }
}
