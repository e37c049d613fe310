//! A raw client of `jelly serve` over stdio.

use super::Project;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Generous: only a hang should reach it.
const LIMIT: Duration = Duration::from_secs(60);

/// A server with its client.
pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// Notifications that came while something else was waited for.
    pub notes: Vec<Value>,
}

impl Agent {
    /// Starts `jelly serve` in the project, and greets it.
    pub fn start(project: &Project, args: &[&str]) -> Self {
        let mut agent = Self::silent(project, args);
        let hello = agent.request(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}),
        );
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    /// Starts it, and says nothing.
    pub fn silent(project: &Project, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jelly"));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("JELLY_") || text.starts_with("GITHUB_") || text == "CI" {
                command.env_remove(&name);
            }
        }
        let mut child = command
            .arg("serve")
            .args(args)
            .current_dir(project.dir())
            .env(super::procs::MARK, project.dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            next: 0,
            notes: Vec::new(),
        }
    }

    pub fn write(&mut self, message: &Value) {
        self.write_raw(format!("{message}\n").as_bytes());
    }

    pub fn write_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and does not wait for its answer.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        let until = Instant::now() + LIMIT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).expect("an answer in time");
            if message["id"] == id {
                return message;
            }
            self.notes.push(message);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The result of a tool that did what it was asked for.
    #[track_caller]
    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert_ne!(result["isError"], true, "{name}: {result}");
        result["structuredContent"].clone()
    }

    /// What a tool refused with.
    #[track_caller]
    pub fn refusal(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        let error = result["structuredContent"]["error"].clone();
        for key in ["kind", "what", "next"] {
            assert!(error[key].is_string(), "{name}: {error}");
        }
        error
    }

    /// A result of at most what was asked for, with the same in text.
    #[track_caller]
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let most = arguments["max_bytes"].as_u64().unwrap_or(8192);
        let answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        let result = answer["result"].clone();
        assert!(result.is_object(), "{name}: {answer}");
        let size = result.to_string().len() as u64;
        assert!(size <= most, "{name}: {size} bytes of {most}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let text: Value = serde_json::from_str(text).unwrap();
        assert_eq!(text, result["structuredContent"], "{name}");
        result
    }

    /// Closes its stdin and waits for its end.
    pub fn close(&mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.end()
    }

    pub fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "jelly serve does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal, and leaves its stdin open.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
