//! One call of the binary, in a clean environment, under a hard time limit.

use super::{Project, schemas};
use std::ffi::OsStr;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const JELLY: &str = env!("CARGO_BIN_EXE_jelly");

/// Generous: the machine may be busy, and only a hang should reach it.
const LIMIT: Duration = Duration::from_secs(60);

/// What would make a call of jelly depend on where the tests run.
const SCRUBBED: &[&str] = &["JELLY_", "GITHUB_"];
const SCRUBBED_NAMES: &[&str] = &["CI", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"];

/// A call of jelly that is yet to be made.
pub struct Call {
    command: Command,
    stdin: Stdio,
    limit: Duration,
}

impl Call {
    pub fn new(project: &Project) -> Self {
        Self::of(project, Command::new(JELLY))
    }

    /// A call of jelly by another program, whose arguments these are.
    pub fn by(project: &Project, program: &str, args: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(args).arg(JELLY);
        Self::of(project, command)
    }

    fn of(project: &Project, mut command: Command) -> Self {
        command.current_dir(project.dir());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if SCRUBBED.iter().any(|prefix| text.starts_with(prefix))
                || SCRUBBED_NAMES.contains(&&*text)
            {
                command.env_remove(name);
            }
        }
        Self {
            command,
            stdin: Stdio::null(),
            limit: LIMIT,
        }
    }

    pub fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Where it reads its stdin from.
    pub fn reads(mut self, stdin: impl Into<Stdio>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// What it reads on stdin.
    pub fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(text.as_ref()).expect("room for it");
        file.rewind().expect("a file has a beginning");
        self.stdin = Stdio::from(file);
        self
    }

    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts it in a process group of its own.
    pub fn start(mut self) -> Running {
        let args = self.command.get_args();
        let args = args.map(|arg| arg.to_string_lossy().into_owned());
        let args = args.collect();
        let mut child = self
            .command
            .stdin(self.stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("the binary starts");
        let stdout = read(child.stdout.take().expect("piped"));
        let stderr = read(child.stderr.take().expect("piped"));
        Running {
            args,
            pid: child.id(),
            started: Instant::now(),
            limit: self.limit,
            status: wait(child),
            stdout,
            stderr,
        }
    }

    /// The command, for who talks to it.
    pub fn into_command(self) -> Command {
        self.command
    }

    /// Runs it to its end.
    pub fn output(self) -> Ended {
        self.start().wait()
    }
}

/// A call that was started.
pub struct Running {
    args: Vec<String>,
    pid: u32,
    started: Instant,
    limit: Duration,
    status: mpsc::Receiver<ExitStatus>,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Running {
    /// Also its process group.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .expect("a child has a pid");
        rustix::process::kill_process(pid, signal).expect("it can be signalled");
    }

    /// Waits for its end. A call that outlasts its limit is killed, and the
    /// test fails.
    pub fn wait(self) -> Ended {
        let left = self.limit.saturating_sub(self.started.elapsed());
        let Ok(status) = self.status.recv_timeout(left) else {
            let group = i32::try_from(self.pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
                .expect("a child has a pid");
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            panic!(
                "jelly hangs: no end within {:?}\nstdout:\n{}\nstderr:\n{}",
                self.limit,
                self.stdout.join().unwrap_or_default(),
                self.stderr.join().unwrap_or_default(),
            );
        };
        let elapsed = self.started.elapsed();
        let stdout = self.stdout.join().expect("stdout was read");
        schemas::output_fits(&self.args, &stdout);
        Ended {
            code: status.code(),
            signal: status.signal(),
            stdout,
            stderr: self.stderr.join().expect("stderr was read"),
            elapsed,
        }
    }
}

/// How a call ended and what it printed.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
}

fn wait(mut child: Child) -> mpsc::Receiver<ExitStatus> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        if let Ok(status) = child.wait() {
            // Nobody may be listening any more.
            let _ = tell.send(status);
        }
    });
    told
}

pub(super) fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is what there is.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
