//! `jelly serve --listen` or `jelly proxy --listen`, for as long as a test needs
//! it.

use super::Project;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub struct Listening {
    child: Child,
    pub port: u16,
}

impl Listening {
    pub fn start(project: &Project, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::of(project, "serve", args, env)
    }

    pub fn of(project: &Project, command: &str, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jelly"))
            .arg(command)
            .args(args)
            .current_dir(project.dir())
            .env(super::procs::MARK, project.dir())
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        // A warning may come before it.
        let port = loop {
            let before = said.len();
            let read = stderr.read_line(&mut said).unwrap();
            let line = said[before..].trim().strip_suffix("/mcp");
            let port = line.and_then(|at| at.rsplit(':').next()?.parse().ok());
            if port.is_some() || read == 0 {
                break port;
            }
        };
        Self {
            child,
            port: port.unwrap_or_else(|| panic!("it says where it listens: {said}")),
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Opens a request of these headers, with the right ones where none are
    /// given.
    pub fn open(&self, headers: &[(&str, &str)], body: &str) -> TcpStream {
        self.request("POST", headers, body)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The same by any verb.
    pub fn request(&self, verb: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        let length = body.len().to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Length", &length),
            ("Connection", "close"),
        ];
        let mut head = format!("{verb} /mcp HTTP/1.1\r\n");
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        for (name, value) in usual
            .iter()
            .filter(|(name, _)| !is_given(name))
            .chain(headers)
        {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        stream
    }

    /// The status and the beginning of the answer, whose stream may stay open.
    pub fn ask_briefly(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = self.open(headers, body);
        let mut bytes = vec![0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        parse(&bytes[..read])
    }

    /// The status and the rest of the answer, as far as it comes.
    pub fn ask(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = self.open(headers, body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        parse(&bytes)
    }
}

fn parse(bytes: &[u8]) -> (u16, String) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let status = text
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), text)
}

impl Drop for Listening {
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let _ = rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}
