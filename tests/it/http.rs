//! Servers that are reached by a URL: what is said to them, and what becomes of
//! what they say. What can go wrong is in `http_faults`.

use crate::support::http::{
    Http, Request, event, hold, json_answer, legacy, modern, respond, result, stream_head, text,
};
use crate::support::{HeldPort, Project, Run, run, started};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

fn plan(server: &str, steps: &str) -> String {
    format!("version: 1\nservers:\n  s: {server}\nsteps:\n{steps}")
}

const WORK: &str = "  - { id: one, tool: work, expect: { text: { equals: done } } }\n";

fn done(request: &Request, out: &mut TcpStream) {
    json_answer(out, &[], &result(request, text("done")));
}

#[track_caller]
fn passes(run: &Run) {
    run.ends(0, "passed");
}

// ── legacy ───────────────────────────────────────────────────────────────

#[test]
fn a_session_is_opened_carried_along_and_ended() {
    let server = Http::serve(|request, out| legacy(request, out, done));
    let entry =
        server.entry(", headers: { Authorization: \"Bearer ${secret:TOKEN}\", X-Own: \"1\" }");
    let project = Project::with(&plan(&entry, WORK));
    let ended = project.call(&[]).env("TOKEN", "swordfish-9").output();
    passes(&Run::of(&project, ended));
    let heard = server.heard();
    // The stream for what the server says by itself is asked for beside the
    // rest.
    let posted: Vec<String> = server
        .heard_in_short()
        .into_iter()
        .filter(|r| r != "GET")
        .collect();
    assert_eq!(
        posted,
        [
            "POST server/discover",
            "POST initialize",
            "POST notifications/initialized",
            "POST tools/list",
            "POST tools/call",
            "DELETE",
        ]
    );
    assert!(heard.iter().any(|request| request.verb == "GET"));
    for request in &heard {
        assert_eq!(request.header("authorization"), "Bearer swordfish-9");
        assert_eq!(
            (request.path.as_str(), request.header("x-own")),
            ("/mcp", "1")
        );
        let opening = matches!(request.method(), "server/discover" | "initialize");
        let session = if opening { "" } else { "session-1" };
        assert_eq!(request.header("mcp-session-id"), session, "{request:?}");
        let version = match request.method() {
            "server/discover" => "2026-07-28",
            "initialize" => "",
            _ => "2025-11-25",
        };
        assert_eq!(
            request.header("mcp-protocol-version"),
            version,
            "{request:?}"
        );
        let accept = match request.verb.as_str() {
            "POST" => "application/json, text/event-stream",
            "GET" => "text/event-stream",
            _ => "*/*",
        };
        assert_eq!(request.header("accept"), accept);
        assert_eq!(request.header("accept-encoding"), "identity");
    }
}

#[test]
fn every_revision_is_spoken_over_http() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = Http::serve(move |request, out| match request.method() {
            "initialize" => {
                let greeting = json!({ "protocolVersion": revision, "capabilities": { "tools": {} },
                    "serverInfo": { "name": "scripted", "version": "1" } });
                json_answer(out, &[], &result(request, greeting));
            }
            _ => legacy(request, out, done),
        });
        let pin = format!(", protocol: {revision}");
        passes(&run(&plan(&server.entry(&pin), WORK)));
        let heard = server.heard();
        assert_eq!(heard[0].message["params"]["protocolVersion"], revision);
        let call = heard
            .iter()
            .find(|request| request.method() == "tools/call");
        assert_eq!(call.unwrap().header("mcp-protocol-version"), revision);
    }
}

#[test]
fn an_answer_may_come_in_a_stream_after_other_messages() {
    let server = Http::serve(|request, out| {
        legacy(request, out, |request, out| {
            stream_head(out);
            event(
                out,
                &json!({"jsonrpc": "2.0", "method": "notifications/message",
                               "params": {"level": "info", "data": "working"}}),
            );
            let _ = std::io::Write::write_all(out, b": keep-alive\r\nid: 7\r\ndata:\r\n\r\n");
            event(out, &result(request, text("done")));
            // The stream stays open, as the specification does not forbid.
            hold(out);
        });
    });
    passes(&run(&plan(&server.entry(""), WORK)));
}

#[test]
fn a_server_that_asks_back_is_answered_by_a_request_of_its_own() {
    let server = Http::serve(|request, out| {
        legacy(request, out, |request, out| {
            stream_head(out);
            event(
                out,
                &json!({"jsonrpc": "2.0", "id": "p1", "method": "ping"}),
            );
            event(
                out,
                &json!({"jsonrpc": "2.0", "id": "p2", "method": "sampling/createMessage"}),
            );
            event(out, &result(request, text("done")));
        });
    });
    passes(&run(&plan(&server.entry(""), WORK)));
    let answers: Vec<Value> = server
        .heard()
        .into_iter()
        .map(|request| request.message)
        .filter(|message| message["id"].is_string())
        .collect();
    let of = |id: &str| answers.iter().find(|answer| answer["id"] == id).cloned();
    assert_eq!(of("p1").unwrap()["result"], json!({}));
    assert_eq!(of("p2").unwrap()["error"]["code"], -32601);
}

#[test]
fn a_server_that_waits_for_an_answer_within_a_call_gets_it_while_the_call_goes_on() {
    let answered = Arc::new((Mutex::new(false), Condvar::new()));
    let server = Http::serve(move |request, out| {
        let (told, bell) = &*answered;
        if request.message["id"] == "asked" {
            *told.lock().unwrap() = true;
            bell.notify_all();
            return respond(out, 202, &[], "");
        }
        legacy(request, out, |request, out| {
            stream_head(out);
            event(
                out,
                &json!({"jsonrpc": "2.0", "id": "asked", "method": "ping"}),
            );
            let soon = Duration::from_secs(10);
            let waiting = told.lock().unwrap();
            let (told, _) = bell
                .wait_timeout_while(waiting, soon, |told| !*told)
                .unwrap();
            if *told {
                event(out, &result(request, text("done")));
            }
        });
    });
    passes(&run(&plan(&server.entry(""), WORK)));
}

#[test]
fn what_a_server_says_by_itself_is_heard() {
    let server = Http::serve(|request, out| match request.verb.as_str() {
        "GET" => {
            stream_head(out);
            event(
                out,
                &json!({"jsonrpc": "2.0", "id": "by-itself", "method": "ping"}),
            );
            hold(out);
        }
        _ => legacy(request, out, |request, out| {
            // Whoever answers the ping has heard it; the test waits for that
            // below by the order of the steps.
            done(request, out);
        }),
    });
    let steps = "  - { id: one, tool: work }\n".to_owned()
        + &(2..40)
            .map(|n| format!("  - {{ id: s{n}, tool: work }}\n"))
            .collect::<String>();
    passes(&run(&plan(&server.entry(""), &steps)));
    let answered = |request: &Request| request.message["id"] == "by-itself";
    assert!(
        server.heard().iter().any(answered),
        "{:?}",
        server.heard_in_short()
    );
}

#[test]
fn a_stream_that_breaks_off_is_taken_up_where_it_did() {
    let server = Http::serve(|request, out| match request.verb.as_str() {
        "GET" if request.header("last-event-id") == "e-1" => {
            assert_eq!(request.header("mcp-session-id"), "session-1");
            stream_head(out);
            let answer = json!({"jsonrpc": "2.0", "id": CALL, "result": text("done")});
            event(out, &answer);
        }
        _ => legacy(request, out, |request, out| {
            assert_eq!(request.message["id"], CALL);
            stream_head(out);
            let _ = std::io::Write::write_all(out, b"id: e-1\nretry: 10\ndata:\n\n");
        }),
    });
    passes(&run(&plan(&server.entry(""), WORK)));
}

/// The id of the first call: the probe, `initialize` and a list come before.
const CALL: u64 = 4;

#[test]
fn a_call_that_takes_too_long_is_cancelled() {
    let server = Http::serve(|request, out| legacy(request, out, |_, out| hold(out)));
    let steps = "  - { id: one, tool: work, timeout: 300ms }\n";
    let entry = server.entry("");
    let project = Project::with(&plan(&entry, steps));
    let run = project.run(&["--retries", "0", "--no-confirm", "--max-iterations", "1"]);
    let failure = run.last().failure("one");
    assert_eq!(
        failure["diagnosis"]["root_cause"], "call_timeout",
        "{failure:#}"
    );
    let cancelled = server
        .heard()
        .into_iter()
        .find(|r| r.method() == "notifications/cancelled");
    assert_eq!(cancelled.unwrap().message["params"]["requestId"], CALL);
}

#[test]
fn the_deprecated_transport_is_the_last_fallback() {
    let server = Http::old(|request| {
        let answer = match request.method() {
            "initialize" => json!({ "protocolVersion": "2024-11-05",
                "capabilities": { "tools": {} }, "serverInfo": { "name": "old" } }),
            "tools/list" => json!({ "tools": [{ "name": "work", "inputSchema": {} }] }),
            "tools/call" => text("done"),
            _ => return Vec::new(),
        };
        vec![result(request, answer)]
    });
    let steps = format!("{WORK}  - {{ id: two, tool: work }}\n");
    let run = run(&plan(&server.entry(""), &steps));
    passes(&run);
    assert_eq!(run.last().server("s")["protocol_version"], "2024-11-05");
}

// ── modern ───────────────────────────────────────────────────────────────

fn modern_done(request: &Request, out: &mut TcpStream) {
    let mut answer = text("done");
    answer["resultType"] = json!("complete");
    json_answer(
        out,
        &["mcp-session-id: not-for-us"],
        &result(request, answer),
    );
}

#[test]
fn modern_requests_carry_their_headers_and_no_session() {
    let tools = json!([{ "name": "wörk", "inputSchema": { "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "count": { "type": "integer", "x-mcp-header": "Count" },
        "bad": { "type": "string" },
    } } }, { "name": "odd", "inputSchema": { "type": "object", "properties": {
        "list": { "type": "array", "x-mcp-header": "List" },
    } } }]);
    let server = Http::serve(move |request, out| modern(request, out, &tools, modern_done));
    let steps = "  - { id: one, tool: wörk, args: { region: \" eu\", count: 7 } }\n";
    let run = run(&plan(&server.entry(""), steps));
    passes(&run);
    assert_eq!(
        server.heard_in_short(),
        ["POST server/discover", "POST tools/list", "POST tools/call"]
    );
    let heard = server.heard();
    for request in &heard {
        assert_eq!(request.header("mcp-protocol-version"), "2026-07-28");
        assert_eq!(request.header("mcp-method"), request.method());
        assert_eq!(request.header("mcp-session-id"), "");
    }
    assert_eq!(heard[2].header("mcp-name"), "=?base64?d8O2cms=?=");
    assert_eq!(heard[2].header("mcp-param-region"), "=?base64?IGV1?=");
    assert_eq!(heard[2].header("mcp-param-count"), "7");
    let notes = run.last().server("s")["notes"].to_string();
    assert!(notes.contains("x-mcp-header `List`"), "{notes}");
}

/// A modern server whose tool has an annotated argument, and which wants to
/// see it in a header from the second list on, or ever.
fn demanding(changes: bool) -> Http {
    let lists = AtomicUsize::new(0);
    Http::serve(move |request, out| {
        if request.method() == "tools/list" {
            lists.fetch_add(1, Ordering::Relaxed);
        }
        let annotated = changes && lists.load(Ordering::Relaxed) > 1;
        let property = match annotated {
            true => json!({ "type": "string", "x-mcp-header": "Region" }),
            false => json!({ "type": "string" }),
        };
        let tools = json!([{ "name": "work", "inputSchema":
            { "type": "object", "properties": { "region": property } } }]);
        modern(request, out, &tools, |request, out| {
            if request.header("mcp-param-region") == "eu" {
                return modern_done(request, out);
            }
            let error = json!({ "jsonrpc": "2.0", "id": request.message["id"], "error":
                { "code": -32020, "message": "Header mismatch: Mcp-Param-Region is missing" } });
            let kind = "content-type: application/json";
            respond(out, 400, &[kind], error.to_string());
        });
    })
}

#[test]
fn headers_that_do_not_fit_any_more_are_learnt_anew_and_the_call_is_made_again() {
    let server = demanding(true);
    let steps = "
  - { id: one, tool: work, args: { region: eu } }
  - { id: two, tool: work, args: { region: eu } }
";
    let run = run(&plan(&server.entry(""), steps));
    passes(&run);
    assert_eq!(run.last().step("one")["attempts"], 1);
    let heard = server.heard_in_short();
    assert_eq!(
        heard[1..5],
        [
            "POST tools/list",
            "POST tools/call",
            "POST tools/list",
            "POST tools/call"
        ]
    );
    let refused = heard.iter().filter(|one| *one == "POST tools/call").count();
    assert_eq!(refused, 3, "{heard:?}");
}

#[test]
fn a_mismatch_that_no_list_explains_is_the_servers_answer() {
    let server = demanding(false);
    let project = Project::with(&plan(
        &server.entry(""),
        "  - { id: one, tool: work, args: { region: eu } }\n",
    ));
    let run = project.run(&["--max-iterations", "1"]);
    let failure = run.last().failures()[0];
    assert_eq!(failure["rpc_error"]["code"], -32020, "{failure:#}");
    assert_eq!(failure["diagnosis"]["rule"], "mcp/header-mismatch");
    let heard = server.heard_in_short();
    assert_eq!(
        heard[1..],
        ["POST tools/list", "POST tools/call", "POST tools/list"]
    );
}

#[test]
fn a_modern_refusal_of_the_probe_is_not_answered_with_initialize() {
    let server = Http::serve(|request, out| {
        let error = json!({ "jsonrpc": "2.0", "id": request.message["id"],
            "error": { "code": -32022, "message": "Unsupported protocol version",
                       "data": { "supported": ["2031-01-01"] } } });
        respond(
            out,
            400,
            &["content-type: application/json"],
            error.to_string(),
        );
    });
    let run = run(&plan(&server.entry(""), WORK));
    run.ends(3, "needs_user_help");
    let failure = run.last().failure("s");
    assert_eq!(
        failure["diagnosis"]["root_cause"], "protocol_version_mismatch",
        "{failure:#}"
    );
    assert!(
        !server
            .heard_in_short()
            .contains(&"POST initialize".to_owned())
    );
}

#[test]
fn a_modern_error_with_its_status_is_the_error_that_a_step_may_expect() {
    let tools = json!([{ "name": "work", "inputSchema": {} }]);
    let server = Http::serve(move |request, out| modern(request, out, &tools, modern_done));
    let steps = "  - { id: one, request: no/such, expect: { error: { code: { equals: -32601 } } } }\n\
                 \x20 - { id: two, request: no/such }\n";
    let project = Project::with(&plan(&server.entry(""), steps));
    let run = project.run(&["--max-iterations", "1"]);
    assert_eq!(run.last().state("one"), "passed");
    let failure = run.last().failure("two");
    assert_eq!(failure["rpc_error"]["code"], -32601);
    assert_eq!(failure["http"]["status"], 404);
}

#[test]
fn closing_the_stream_cancels_a_modern_request() {
    let tools = json!([{ "name": "work", "inputSchema": {} }]);
    let (gone, was_gone) = std::sync::mpsc::channel();
    let gone = std::sync::Mutex::new(gone);
    let server = Http::serve(move |request, out| {
        modern(request, out, &tools, |_, out| {
            stream_head(out);
            hold(out);
            let _ = gone.lock().unwrap().send(());
        });
    });
    let steps = "  - { id: one, tool: work, timeout: 300ms }\n";
    let project = Project::with(&plan(&server.entry(""), steps));
    project.run(&["--retries", "0", "--max-iterations", "1"]);
    assert_eq!(was_gone.try_recv(), Ok(()), "its stream was never closed");
    let methods = server.heard_in_short();
    assert!(
        !methods.iter().any(|m| m.contains("cancelled")),
        "{methods:?}"
    );
}

// ── a server that jelly starts and then reaches ──────────────────────────

#[test]
fn a_started_server_is_asked_until_it_answers_and_stopped_with_the_run() {
    let entry = started("print('starting up'); time.sleep(0.4); listen()", "");
    let run = run(&plan(&entry, WORK));
    passes(&run);
    let server = run.last().server("s").clone();
    assert_eq!(
        (&server["state"], &server["notes"]),
        (&json!("ready"), &Value::Null)
    );
    assert_eq!(server["exit"]["signal"], "SIGTERM");
}

#[test]
fn the_exit_of_a_started_server_is_the_failure_and_not_the_refused_connection() {
    let entry = started(
        "print('Error: listen EADDRINUSE: address already in use', file=sys.stderr); sys.exit(1)",
        "",
    );
    let project = Project::with(&plan(&entry, WORK));
    let run = project.run(&["--max-iterations", "1"]);
    let failure = run.last().failure("s");
    assert_eq!(failure["exit"]["code"], 1, "{failure:#}");
    assert_eq!(
        failure["diagnosis"]["root_cause"], "port_in_use",
        "{failure:#}"
    );
    assert!(
        failure["message"]
            .to_string()
            .contains("exited during startup")
    );
}

#[test]
fn a_started_server_that_never_listens_times_out_with_what_stood_in_the_way() {
    let entry = started("print('busy'); time.sleep(60)", "")
        .replace("startup_timeout: 20s", "startup_timeout: 3s");
    let project = Project::with(&plan(&entry, WORK));
    let run = project.run(&["--max-iterations", "1"]);
    let failure = run.last().failure("s");
    assert_eq!(
        failure["diagnosis"]["root_cause"], "startup_timeout",
        "{failure:#}"
    );
    let evidence = &failure["diagnosis"]["evidence"];
    assert_eq!(evidence["field"], "http.text", "{failure:#}");
    let text = evidence["text"].to_string();
    assert!(text.contains("Connection refused"), "{text}");
    assert_eq!(failure["http"]["error"], "connection_refused");
    assert_eq!(failure["outcome"], "timeout");
    assert!(
        failure["stdout_tail"].to_string().contains("busy"),
        "{failure:#}"
    );
}

#[test]
fn a_started_server_that_listens_at_another_port_is_told_so() {
    let entry = started(
        "print('Uvicorn running on http://127.0.0.1:4999 (Press CTRL+C to quit)', file=sys.stderr, flush=True); time.sleep(60)",
        "",
    )
    .replace("startup_timeout: 20s", "startup_timeout: 3s");
    // Of a port that jelly chose, nobody wrote another one.
    let silent = HeldPort::new();
    let entry = entry.replace("${port}", &silent.number().to_string());
    let project = Project::with(&plan(&entry, WORK));
    let run = project.run(&["--max-iterations", "1"]);
    let failure = run.last().failure("s");
    let diagnosis = &failure["diagnosis"];
    assert_eq!(diagnosis["rule"], "mcp/listens-elsewhere", "{failure:#}");
    assert_eq!(diagnosis["evidence"]["field"], "stderr", "{failure:#}");
}

#[test]
fn a_crash_in_a_call_over_http_is_told_by_exit_and_stderr() {
    let entry = started(
        "def call(handler, m, ok):\n    print('Traceback: boom', file=sys.stderr, flush=True); os._exit(3)\nlisten()",
        "",
    );
    let project = Project::with(&plan(&entry, WORK));
    let run = project.run(&["--max-iterations", "1"]);
    let failure = run.last().failure("one");
    assert_eq!(failure["exit"]["code"], 3, "{failure:#}");
    assert!(
        failure["stderr_tail"].to_string().contains("boom"),
        "{failure:#}"
    );
    assert_eq!(failure["diagnosis"]["side"], "code");
}

/// The head of a stream has come by then, and the connection goes before the process.
#[test]
fn a_crash_in_a_call_that_is_answered_by_a_stream_is_of_that_call() {
    let entry = started(
        "import socket
def call(handler, m, ok):
    handler.send_response(200)
    handler.send_header('Content-Type', 'text/event-stream')
    handler.send_header('Transfer-Encoding', 'chunked')
    handler.end_headers()
    handler.wfile.flush()
    print('Traceback: boom', file=sys.stderr, flush=True)
    handler.connection.shutdown(socket.SHUT_RDWR)
    time.sleep(0.3)
    os._exit(3)
listen()",
        "",
    );
    let project = Project::with(&plan(&entry, WORK));
    let run = project.run(&["--max-iterations", "1"]);
    let failure = run.last().failure("one");
    assert_eq!(failure["exit"]["code"], 3, "{failure:#}");
    assert_eq!(
        failure["diagnosis"]["root_cause"], "crashed_during_call",
        "{failure:#}"
    );
}

#[test]
fn a_session_that_expires_in_mid_run_is_told_and_the_step_gets_a_new_one() {
    let calls = AtomicUsize::new(0);
    let server = Http::serve(move |request, out| {
        legacy(request, out, |request, out| {
            if calls.fetch_add(1, Ordering::SeqCst) == 1 {
                respond(out, 404, &[], "");
            } else {
                done(request, out);
            }
        });
    });
    let steps = format!("{WORK}{}", WORK.replace("id: one", "id: two"));
    let run = run(&plan(&server.entry(""), &steps));
    run.ends(0, "passed_after_retry");
    let first = run.iteration(1);
    assert_eq!(
        (first.state("one"), first.state("two")),
        ("passed", "passed")
    );
    let failure = first.failure("s");
    assert_eq!(
        failure["diagnosis"]["root_cause"], "session_expired",
        "{failure:#}"
    );
    assert_eq!(failure["http"]["status"], 404);
}

#[test]
fn a_retry_waits_as_long_as_the_server_asks_and_never_past_the_deadline() {
    let calls = AtomicUsize::new(0);
    let server = Http::serve(move |request, out| {
        legacy(request, out, |request, out| {
            if calls.fetch_add(1, Ordering::SeqCst) == 0 {
                respond(out, 429, &["retry-after: 1"], "slow down");
            } else {
                done(request, out);
            }
        });
    });
    let waited = run(&plan(&server.entry(""), WORK));
    waited.ends(0, "passed_after_retry");
    assert_eq!(waited.iteration(1)["action"]["backoff_ms"], 1000);

    let server = Http::serve(|request, out| {
        legacy(request, out, |_, out| {
            respond(out, 429, &["retry-after: 3600"], "slow down");
        });
    });
    let run = run(&plan(&server.entry(""), WORK));
    run.ends(3, "needs_user_help");
    assert_eq!(run.iterations().len(), 1);
    assert!(run.elapsed < std::time::Duration::from_secs(20));
}

/// More answers than these are never under way at a time.
const ANSWERS_AT_ONCE: usize = 64;

#[test]
fn a_server_that_asks_and_takes_no_answer_does_not_cost_a_socket_for_each() {
    let answers = Arc::new((Mutex::new(0), Condvar::new()));
    let seen = Arc::clone(&answers);
    let server = Http::serve(move |request, out| {
        let (count, came) = &*answers;
        if request.message.get("method").is_none() && request.message.get("result").is_some() {
            *count.lock().unwrap() += 1;
            came.notify_all();
            // It is never taken.
            return hold(out);
        }
        legacy(request, out, |request, out| {
            stream_head(out);
            for ping in 0..500 {
                let id = format!("p{ping}");
                event(out, &json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
            }
            let all = |count: &mut usize| *count < ANSWERS_AT_ONCE;
            drop(came.wait_while(count.lock().unwrap(), all).unwrap());
            event(out, &result(request, text("done")));
        });
    });
    let more = "  - { id: two, tool: work, expect: { text: { equals: done } } }\n";
    passes(&run(&plan(&server.entry(""), &format!("{WORK}{more}"))));
    assert_eq!(*seen.0.lock().unwrap(), ANSWERS_AT_ONCE);
}
