//! A server over HTTP that does what a test says, byte by byte.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

/// One request as it came.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub verb: String,
    pub path: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    /// Null where there is none.
    pub message: Value,
    pub body: String,
}

impl Request {
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// `POST tools/list`, `GET`: for a list of what was heard.
    pub fn in_short(&self) -> String {
        format!("{} {}", self.verb, self.method()).trim().to_owned()
    }
}

/// A listener on a free port, for as long as the test runs.
pub struct Http {
    pub port: u16,
    heard: Arc<Mutex<Vec<Request>>>,
}

impl Http {
    /// A healthy server behind TLS: each call is answered with `done`.
    pub fn secure(config: rustls::ServerConfig) -> Self {
        type Secure = rustls::StreamOwned<rustls::ServerConnection, TcpStream>;
        let config = Arc::new(config);
        Self::wrapped(
            move |stream| {
                let connection = rustls::ServerConnection::new(config.clone()).ok()?;
                Some(Secure::new(connection, stream))
            },
            |request, out: &mut Secure| {
                legacy(request, out, |request, out| {
                    json_answer(out, &[], &result(request, text("done")));
                });
                out.conn.send_close_notify();
            },
        )
    }

    /// Each request is a connection of its own, which ends when `answer`
    /// returns.
    pub fn serve(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::wrapped(Some, answer)
    }

    /// One that speaks HTTP+SSE of 2024-11-05 alone: what `answer` says comes by
    /// the stream, and its end ends the stream.
    pub fn old(answer: impl Fn(&Request) -> Vec<Value> + Send + Sync + 'static) -> Self {
        let (said, to_say) = channel();
        let (said, to_say) = (Mutex::new(said), Mutex::new(to_say));
        Self::serve(
            move |request, out| match (request.verb.as_str(), request.path.as_str()) {
                ("GET", "/mcp") => {
                    stream_head(out);
                    let _ = out.write_all(b"event: endpoint\ndata: /messages?s=1\n\n");
                    let to_say = to_say.lock().unwrap();
                    while let Ok(message) = to_say.recv() {
                        if message == Value::Null {
                            return;
                        }
                        event(out, &message);
                    }
                }
                ("POST", "/messages?s=1") => {
                    respond(out, 202, &[], "Accepted");
                    for message in answer(request) {
                        said.lock().unwrap().send(message).unwrap();
                    }
                }
                _ => respond(out, 404, &["content-type: text/html"], "Cannot POST"),
            },
        )
    }

    /// The same over what `wrap` makes of a connection, as of TLS.
    pub fn wrapped<S: Read + Write + 'static>(
        wrap: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
        answer: impl Fn(&Request, &mut S) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (log, wrap, answer) = (Arc::clone(&heard), Arc::new(wrap), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, wrap, answer) =
                    (Arc::clone(&log), Arc::clone(&wrap), Arc::clone(&answer));
                thread::spawn(move || {
                    let Ok(raw) = stream.try_clone() else { return };
                    let Some(mut stream) = wrap(stream) else {
                        return;
                    };
                    if let Some(request) = read(&mut stream) {
                        log.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                        let _ = stream.flush();
                    }
                    let _ = raw.shutdown(Shutdown::Write);
                });
            }
        });
        Self { port, heard }
    }

    /// `servers.NAME` of a plan, in flow style, with more keys.
    pub fn entry(&self, more: &str) -> String {
        format!("{{ url: \"http://127.0.0.1:{}/mcp\"{more} }}", self.port)
    }

    pub fn heard(&self) -> Vec<Request> {
        self.heard.lock().unwrap().clone()
    }

    pub fn heard_in_short(&self) -> Vec<String> {
        self.heard().iter().map(Request::in_short).collect()
    }
}

fn read(stream: &mut impl Read) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let mut request = Request {
        verb: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..Request::default()
    };
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        request.headers.insert(name, value);
    }
    let length = request.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.message = serde_json::from_slice(&body).unwrap_or_default();
    request.body = String::from_utf8_lossy(&body).into_owned();
    Some(request)
}

/// A whole answer. `headers` are lines without their ends.
pub fn respond(out: &mut impl Write, status: u16, headers: &[&str], body: impl AsRef<[u8]>) {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status} Whatever\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    // A client that went away is the test's to notice.
    let _ = out.write_all(head.as_bytes());
    let _ = out.write_all(body);
    let _ = out.flush();
}

pub fn json_answer(out: &mut impl Write, headers: &[&str], body: &Value) {
    let mut all = vec!["content-type: application/json"];
    all.extend(headers);
    respond(out, 200, &all, body.to_string());
}

/// The head of a stream of events that ends with the connection.
pub fn stream_head(out: &mut impl Write) {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
    let _ = out.write_all(head.as_bytes());
    let _ = out.flush();
}

pub fn event(out: &mut impl Write, message: &Value) {
    let _ = write!(out, "event: message\ndata: {message}\n\n");
    let _ = out.flush();
}

/// Stays until the client has gone.
pub fn hold(out: &mut impl Read) {
    let mut rest = [0; 64];
    while matches!(out.read(&mut rest), Ok(n) if n > 0) {}
}

pub fn result(request: &Request, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request.message["id"], "result": result })
}

pub fn text(words: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": words }], "isError": false })
}

/// A healthy legacy server with a session, but for what `call` does when it
/// is asked for a tool.
pub fn legacy<S: Read + Write>(
    request: &Request,
    out: &mut S,
    call: impl FnOnce(&Request, &mut S),
) {
    let tools = json!({ "tools": [{ "name": "work", "inputSchema": { "type": "object" } }] });
    match (request.verb.as_str(), request.method()) {
        ("POST", "initialize") => json_answer(
            out,
            &["mcp-session-id: session-1"],
            &result(
                request,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "scripted", "version": "1" },
                }),
            ),
        ),
        ("POST", "server/discover") => {
            let error = json!({ "jsonrpc": "2.0", "id": null,
                "error": { "code": -32000, "message": "Bad Request: Server not initialized" } });
            let kind = ["content-type: application/json"];
            respond(out, 400, &kind, error.to_string());
        }
        ("POST", "tools/list") => json_answer(out, &[], &result(request, tools)),
        ("POST", "tools/call") => call(request, out),
        ("POST", "ping") => json_answer(out, &[], &result(request, json!({}))),
        ("POST", _) => respond(out, 202, &[], ""),
        ("DELETE", _) => respond(out, 200, &[], ""),
        _ => respond(out, 405, &["allow: POST, DELETE"], ""),
    }
}

/// The same of the modern era, whose tools are `tools`.
pub fn modern<S: Read + Write>(
    request: &Request,
    out: &mut S,
    tools: &Value,
    call: impl FnOnce(&Request, &mut S),
) {
    let complete = |mut value: Value| {
        value["resultType"] = json!("complete");
        result(request, value)
    };
    match request.method() {
        "server/discover" => json_answer(
            out,
            &[],
            &complete(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
            })),
        ),
        "tools/list" => json_answer(out, &[], &complete(json!({ "tools": tools }))),
        "tools/call" => call(request, out),
        other => {
            let error = json!({ "jsonrpc": "2.0", "id": request.message["id"],
                "error": { "code": -32601, "message": format!("no {other}") } });
            respond(
                out,
                404,
                &["content-type: application/json"],
                error.to_string(),
            );
        }
    }
}
