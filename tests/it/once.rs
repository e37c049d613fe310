//! A tool call takes effect once: for each way in which a request could be
//! sent again, how often the tool did its work, by what it says of itself.

use crate::support::http::{
    Http, Request, hold, json_answer, legacy, modern, respond, result, stream_head, text,
};
use crate::support::{Project, Run, python, slice, started};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a tool may say of itself, and whether it may be called again then.
fn hints() -> [(Value, bool); 4] {
    [
        (json!({}), false),
        (
            json!({ "readOnlyHint": false, "idempotentHint": false }),
            false,
        ),
        (json!({ "readOnlyHint": true }), true),
        (json!({ "idempotentHint": true }), true),
    ]
}

fn plan(server: &str, step: &str) -> Project {
    Project::with(&format!(
        "version: 1\nservers:\n  s: {server}\nsteps:\n  - {{ id: one, tool: work{step} }}\n  - {{ id: two, request: tools/list }}\n"
    ))
}

fn tools(annotations: &Value) -> Value {
    json!([{ "name": "work", "inputSchema": { "type": "object" }, "annotations": annotations }])
}

/// What the server does when it is called: how often before, and whether the
/// tool does its work.
type Call = fn(&Request, &mut TcpStream, &Work);

#[derive(Default)]
struct Work {
    calls: AtomicUsize,
    effects: AtomicUsize,
}

impl Work {
    /// The number of this call, from 1.
    fn called(&self) -> usize {
        self.calls.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn took_effect(&self) {
        self.effects.fetch_add(1, Ordering::SeqCst);
    }

    /// Does what a tool is for.
    fn done(&self, request: &Request, out: &mut TcpStream) {
        self.took_effect();
        json_answer(out, &[], &result(request, text("done")));
    }

    fn counts(&self) -> (usize, usize) {
        (
            self.calls.load(Ordering::SeqCst),
            self.effects.load(Ordering::SeqCst),
        )
    }
}

/// One iteration on a legacy server with a session. The run, and how often the
/// tool was called and took effect.
fn once(annotations: &Value, call: Call) -> (Run, (usize, usize)) {
    let work = Arc::new(Work::default());
    let (seen, annotations) = (Arc::clone(&work), annotations.clone());
    let server = Http::serve(move |request, out| match request.method() {
        "tools/list" => {
            let tools = json!({ "tools": tools(&annotations) });
            json_answer(out, &[], &result(request, tools));
        }
        _ => legacy(request, out, |request, out| call(request, out, &work)),
    });
    let entry = server.entry(", request_timeout: 2s");
    let run = plan(&entry, "").run(&["--max-iterations", "1"]);
    (run, seen.counts())
}

#[track_caller]
fn takes_effect_once(way: &str, call: Call) {
    for (annotations, _) in slice(2, hints()) {
        let (run, (calls, effects)) = once(&annotations, call);
        assert_eq!(
            (calls, effects),
            (1, 1),
            "{way}, {annotations}: {}",
            run.stdout
        );
        assert_eq!(run.last().state("one"), "failed", "{way}: {}", run.stdout);
    }
}

fn rpc_error(code: i64, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } })
        .to_string()
}

const JSON: [&str; 1] = ["content-type: application/json"];

#[test]
fn a_refusal_that_only_speaks_of_a_session_repeats_nothing_that_may_have_taken_effect() {
    fn call(_: &Request, out: &mut TcpStream, work: &Work) {
        work.called();
        work.took_effect();
        let body = "{\"message\":\"the checkout session is closed: the order was placed\"}";
        respond(out, 400, &JSON, body);
    }
    for (annotations, may_repeat) in hints() {
        let (run, (_, effects)) = once(&annotations, call);
        let most = if may_repeat { 2 } else { 1 };
        assert_eq!(effects, most, "{annotations}: {}", run.stdout);
        // The refusal is the answer of the step, and its server goes on.
        let first = run.iteration(1);
        assert_eq!(first.state("one"), "failed", "{}", run.stdout);
        assert_eq!(first.state("two"), "passed", "{}", run.stdout);
        assert_eq!(first.failure("one")["http"]["status"], 400);
    }
}

#[test]
fn a_session_that_is_surely_over_gets_the_call_once_more_and_its_effect_once() {
    fn lost(status: u16, body: &str, request: &Request, out: &mut TcpStream, work: &Work) {
        if work.called() == 1 {
            respond(out, status, &[], body);
        } else {
            work.done(request, out);
        }
    }
    let ways: [Call; 5] = [
        |request, out, work| lost(404, "", request, out, work),
        |request, out, work| {
            let body = rpc_error(-32000, "Bad Request: No valid session ID provided");
            lost(400, &body, request, out, work);
        },
        |request, out, work| {
            let body = rpc_error(-32000, "No valid session ID provided");
            lost(400, &body, request, out, work);
        },
        |request, out, work| {
            let body = "Bad Request: No valid session ID provided";
            lost(400, body, request, out, work);
        },
        |request, out, work| lost(401, "Unauthorized: Session not found", request, out, work),
    ];
    for (annotations, _) in slice(2, hints()) {
        for (way, call) in ways.iter().enumerate() {
            let (run, counts) = once(&annotations, *call);
            assert_eq!(counts, (2, 1), "way {way}, {annotations}: {}", run.stdout);
            let first = run.iteration(1);
            assert_eq!(first.state("one"), "passed", "way {way}: {}", run.stdout);
            let cause = &first.failure("s")["diagnosis"]["root_cause"];
            assert_eq!(cause, "session_expired", "way {way}");
        }
    }
}

#[test]
fn no_status_has_a_call_sent_again_within_an_iteration() {
    fn refuse(status: u16, headers: &[&str], out: &mut TcpStream, work: &Work) {
        work.called();
        work.took_effect();
        respond(out, status, headers, "{\"message\":\"no\"}");
    }
    takes_effect_once("400", |_, out, work| refuse(400, &[], out, work));
    takes_effect_once("401", |_, out, work| refuse(401, &[], out, work));
    takes_effect_once("403", |_, out, work| refuse(403, &[], out, work));
    takes_effect_once("408", |_, out, work| refuse(408, &[], out, work));
    takes_effect_once("409", |_, out, work| refuse(409, &[], out, work));
    takes_effect_once("421", |_, out, work| refuse(421, &[], out, work));
    takes_effect_once("425", |_, out, work| refuse(425, &[], out, work));
    takes_effect_once("429", |_, out, work| {
        refuse(429, &["retry-after: 0"], out, work);
    });
    takes_effect_once("500", |_, out, work| refuse(500, &[], out, work));
    takes_effect_once("502", |_, out, work| refuse(502, &[], out, work));
    takes_effect_once("503", |_, out, work| {
        refuse(503, &["retry-after: 0"], out, work);
    });
    takes_effect_once("504", |_, out, work| refuse(504, &[], out, work));
}

#[test]
fn no_broken_connection_has_a_call_sent_again_within_an_iteration() {
    takes_effect_once("closed without an answer", |_, _, work| {
        work.called();
        work.took_effect();
    });
    takes_effect_once("a body that is cut", |_, out, work| {
        work.called();
        work.took_effect();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{";
        let _ = out.write_all(head.as_bytes());
    });
    takes_effect_once("a stream that is cut", |_, out, work| {
        work.called();
        work.took_effect();
        stream_head(out);
        let _ = out.write_all(b": working\n\n");
    });
    takes_effect_once("no answer in time", |_, out, work| {
        work.called();
        work.took_effect();
        hold(out);
    });
}

#[test]
fn a_stream_is_taken_up_by_asking_for_its_rest_and_not_by_calling_again() {
    for (annotations, _) in hints() {
        let work = Arc::new(Work::default());
        let seen = Arc::clone(&work);
        let server = Http::serve(move |request, out| match request.method() {
            "tools/list" => {
                let tools = json!({ "tools": tools(&annotations) });
                json_answer(out, &[], &result(request, tools));
            }
            _ if request.header("last-event-id") == "7" => {
                stream_head(out);
                let answer = json!({ "jsonrpc": "2.0", "id": 4, "result": text("done") });
                let _ = write!(out, "data: {answer}\n\n");
            }
            _ => legacy(request, out, |_, out| {
                work.called();
                work.took_effect();
                stream_head(out);
                let _ = out.write_all(b"retry: 10\nid: 7\ndata:\n\n");
            }),
        });
        let run = plan(&server.entry(", request_timeout: 5s"), "").run(&["--max-iterations", "1"]);
        assert_eq!(seen.counts(), (1, 1), "{}", run.stdout);
        let call = server
            .heard()
            .into_iter()
            .find(|r| r.method() == "tools/call");
        if call.is_some_and(|call| call.message["id"] == 4) {
            run.ends(0, "passed");
        }
    }
}

#[test]
fn a_redirect_hands_the_call_on_and_a_loop_of_them_ends() {
    for (annotations, _) in hints() {
        let work = Arc::new(Work::default());
        let seen = Arc::clone(&work);
        let server =
            Http::serve(
                move |request, out| match (request.path.as_str(), request.method()) {
                    (_, "tools/list") => {
                        let tools = json!({ "tools": tools(&annotations) });
                        json_answer(out, &[], &result(request, tools));
                    }
                    ("/mcp", "tools/call") => respond(out, 307, &["location: /other"], ""),
                    _ => legacy(request, out, |request, out| {
                        work.called();
                        work.done(request, out);
                    }),
                },
            );
        let run = plan(&server.entry(""), "").run(&["--max-iterations", "1"]);
        run.ends(0, "passed");
        assert_eq!(seen.counts(), (1, 1));
    }
}

#[test]
fn a_header_mismatch_has_the_call_sent_again_and_takes_effect_once() {
    for (annotations, _) in hints() {
        let work = Arc::new(Work::default());
        let (seen, lists) = (Arc::clone(&work), AtomicUsize::new(0));
        let server = Http::serve(move |request, out| {
            let mut listed = tools(&annotations);
            if request.method() == "tools/list" && lists.fetch_add(1, Ordering::SeqCst) > 0 {
                listed[0]["inputSchema"] = json!({ "type": "object",
                    "properties": { "to": { "type": "string", "x-mcp-header": "To" } } });
            }
            modern(request, out, &listed, |request, out| {
                if work.called() == 1 {
                    let error = json!({ "jsonrpc": "2.0", "id": request.message["id"],
                        "error": { "code": -32020, "message": "Header mismatch" } });
                    return respond(out, 400, &JSON, error.to_string());
                }
                work.took_effect();
                let mut done = text("done");
                done["resultType"] = json!("complete");
                json_answer(out, &[], &result(request, done));
            });
        });
        let run = plan(&server.entry(""), ", args: { to: a }").run(&["--max-iterations", "1"]);
        run.ends(0, "passed");
        assert_eq!(seen.counts(), (2, 1));
    }
}

/// The number of lines that the tool left behind.
fn marks(project: &Project) -> usize {
    let marks = std::fs::read_to_string(project.path("marks")).unwrap_or_default();
    marks.lines().count()
}

const MARK: &str = "
def mark():
    with open('marks', 'a') as marks: marks.write('x\\n')
";

#[test]
fn a_connection_that_is_closed_instead_of_being_used_again_repeats_nothing() {
    // The connection is one that has carried other requests: the client can't
    // tell whether the server closed it before or after it had read the call.
    for (annotations, _) in hints() {
        let body = format!(
            "{MARK}
def call(handler, m, ok):
    mark()
    handler.close_connection = True
    handler.connection.close()
HINTS = json.loads({:?})
listed = Handler.do_POST
listen()",
            annotations.to_string()
        );
        let entry = started(&body, "").replace(
            "\\\"inputSchema\\\": {\\\"type\\\": \\\"object\\\"}}",
            "\\\"inputSchema\\\": {\\\"type\\\": \\\"object\\\"}, \\\"annotations\\\": HINTS}",
        );
        assert!(entry.contains("HINTS}"), "{entry}");
        let project = plan(&entry, "");
        let run = project.run(&["--max-iterations", "1"]);
        assert_eq!(run.last().state("one"), "failed", "{}", run.stdout);
        assert_eq!(marks(&project), 1, "{annotations}: {}", run.stdout);
    }
}

/// A server by pipes whose tool is called `work` and marks each call.
fn by_pipes(annotations: &Value, call: &str) -> Project {
    let call = call.replace('\n', "\n    ");
    let entry = python(&format!(
        "{MARK}
def listed(message):
    return {{'tools': [{{'name': 'work', 'inputSchema': {{'type': 'object'}}, 'annotations': json.loads({:?})}}]}}
def call(message):
    {call}
serve(call, listed=listed)",
        annotations.to_string()
    ));
    plan(&entry.replacen('{', "{ request_timeout: 1s,", 1), "")
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_server_by_pipes_that_dies_or_hangs_in_a_call_is_not_called_again_in_the_iteration() {
    for (annotations, _) in slice(2, hints()) {
        for call in [
            "mark()\nos._exit(3)",
            "mark()\nos.kill(os.getpid(), signal.SIGKILL)",
            "mark()\nsys.stdout.close()\nos.close(1)\ntime.sleep(60)",
            "mark()\ntime.sleep(60)",
            "mark()\nrefuse(message, -32603, 'Session not found')",
        ] {
            let project = by_pipes(&annotations, call);
            let run = project.run(&["--max-iterations", "1"]);
            assert_eq!(run.last().state("one"), "failed", "{call}: {}", run.stdout);
            assert_eq!(marks(&project), 1, "{call}, {annotations}: {}", run.stdout);
        }
    }
}

#[test]
fn a_server_by_pipes_that_died_before_it_read_the_call_gets_it_after_its_restart() {
    // It dies right after its list, before the call can have been read.
    let entry = python(&format!(
        "{MARK}
def listed(message):
    first = not os.path.exists('started')
    open('started', 'w').close()
    if first:
        answer(message, named(['work']))
        os._exit(0)
    return named(['work'])
def call(message):
    mark()
    answer(message, text('done'))
serve(call, listed=listed)"
    ));
    let project = plan(&entry, "");
    let run = project.run(&["--max-iterations", "1"]);
    assert_eq!(run.last().state("one"), "passed", "{}", run.stdout);
    assert_eq!(marks(&project), 1, "{}", run.stdout);
}

#[test]
fn a_new_iteration_calls_again() {
    let project = by_pipes(
        &json!({}),
        "mark()\nif os.path.getsize('marks') < 3: os._exit(3)\nanswer(message, text('done'))",
    );
    let run = project.run(&["--max-iterations", "2"]);
    assert_eq!(run.iterations().len(), marks(&project), "{}", run.stdout);
}
