//! A client at the standard streams of a call: it asks, and waits for answers,
//! each under a hard limit.

use super::{Call, Ended};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Generous: only a hang should reach it.
const LIMIT: Duration = Duration::from_secs(30);

/// See the module.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: JoinHandle<String>,
    started: Instant,
    /// Notifications and requests that came while an answer was waited for.
    pub heard: Vec<Value>,
    /// All that came, as it came.
    pub raw: Vec<String>,
    next_id: u64,
}

impl Client {
    pub fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = child.stdout.take().expect("piped");
        let (tell, lines) = channel();
        thread::spawn(move || {
            // Not by `lines`, which takes carriage returns away.
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8(line).expect("text");
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = child.stderr.take().expect("piped");
        Self {
            stdin: child.stdin.take(),
            lines,
            stderr: super::call::read(stderr),
            child,
            started: Instant::now(),
            heard: Vec::new(),
            raw: Vec::new(),
            next_id: 0,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line as it is.
    pub fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        let sent = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
        sent.expect("the call reads");
    }

    /// The next line, whatever it is.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let line = self.lines.recv_timeout(LIMIT);
        let line = line.unwrap_or_else(|why| panic!("no line ({why}); before: {:#?}", self.raw));
        self.raw.push(line.clone());
        line
    }

    /// Sends a request, and gives its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&message.to_string());
        id
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.say(&message.to_string());
    }

    /// The answer to the request with this id.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.line();
            let message: Value = serde_json::from_str(&line).expect("a message");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Opens the connection in the legacy era.
    #[track_caller]
    pub fn open(&mut self) -> Value {
        let answer = self.ask("initialize", opening());
        self.notify("notifications/initialized", json!({}));
        answer
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Reads until a message of the server with this method came.
    #[track_caller]
    pub fn until_told(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self
                .heard
                .iter()
                .position(|heard| heard["method"] == method)
            {
                return self.heard.remove(at);
            }
            let line = self.line();
            self.heard
                .push(serde_json::from_str(&line).expect("a message"));
        }
    }

    /// Closes its end, and waits for the end of the call.
    #[track_caller]
    pub fn close(mut self) -> Ended {
        self.stdin = None;
        while let Ok(line) = self.lines.recv_timeout(LIMIT) {
            self.raw.push(line);
        }
        let status = self.child.wait().expect("it ends");
        Ended {
            code: status.code(),
            signal: None,
            stdout: self.raw.join("\n"),
            stderr: self.stderr.join().expect("stderr was read"),
            elapsed: self.started.elapsed(),
        }
    }
}

/// The params of `initialize`.
pub fn opening() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

impl Call {
    /// Starts it with a client at its streams.
    pub fn client(self) -> Client {
        Client::of(self.into_command())
    }
}
