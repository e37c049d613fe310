//! Starting a command, and the guard that ends it.
//!
//! [`spawn`] never uses a shell, gives the child a process group of its own
//! and clean signals, and says exactly why a command could not be started. A
//! dropped [`Process`] is dead, with all of its tree that is known.

use super::platform::{self, Proc};
use super::{ExitWatch, StderrHandle, exit, lookup, stderr, unix};
use jelly_base::model::SpawnError;
use jelly_base::text::redact::Redactor;
use rustix::process::Pid;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};

/// A program file that somebody still holds open for writing can't be
/// executed; with scripts that were just written this passes by itself.
const BUSY_TRIES: u32 = 5;
const BUSY_WAIT: Duration = Duration::from_millis(10);

/// What to start, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandSpec {
    /// The command and its arguments, never seen by a shell. A command
    /// without a slash is looked up in the `PATH` that the child will have.
    pub argv: Vec<String>,
    /// The working directory; a relative command is relative to it.
    pub cwd: PathBuf,
    /// Added to the inherited environment; replaces what has the same name.
    pub env: Vec<(String, String)>,
}

/// What to do with stderr.
pub struct Capture {
    /// Applied to everything before it is kept, to the sink's copy too.
    pub redactor: Redactor,
    /// How many of the first bytes are kept in memory.
    pub head: usize,
    /// How many of the last bytes are kept in memory.
    pub tail: usize,
    /// Gets all of it, as it comes. Written to on the runtime's thread, so it
    /// should be a file. An error ends the copy and is kept for
    /// [`StderrHandle::sink_error`].
    pub sink: Option<Box<dyn Write + Send>>,
    /// Gets all of it as it is, unredacted: what is the caller's own to pass
    /// on, and to nobody else. It must never wait; its errors are its own.
    pub pass_on: Option<Box<dyn Write + Send>>,
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            redactor: Redactor::none(),
            head: 32 * 1024,
            tail: 64 * 1024,
            sink: None,
            pass_on: None,
        }
    }
}

/// A child process in its own process group.
///
/// The ends of its pipes are free to be taken. On drop its group and its known
/// descendants are killed at once.
pub struct Process {
    /// Closing the pipe takes more than a drop of this handle, since the
    /// process keeps one to look at it: [`Process::close_stdin`].
    pub stdin: Option<ChildStdin>,
    /// To be read through an [`super::ExitBoundReader`], since a grandchild
    /// may hold the pipe open.
    pub stdout: Option<ChildStdout>,
    pub(super) leader: Leader,
    pub(super) exit: ExitWatch,
    pub(super) stderr: StderrHandle,
    stdin_gauge: Option<OwnedFd>,
}

/// The first process of the group.
///
/// It is not reaped when it exits: as long as it is a zombie, neither its pid
/// nor the id of its group can belong to anybody else.
pub(super) struct Leader {
    pub(super) pid: Pid,
    pub(super) news: exit::ExitNews,
    /// Descendants seen so far; those that left the group are found by this.
    pub(super) known: Vec<Proc>,
    pub(super) reaped: bool,
}

/// Starts a command with all three standard streams piped.
///
/// # Errors
/// With the errno, its name, and a text that tells what is missing: the
/// command, the working directory, or the interpreter that a script names.
/// The text is redacted.
pub async fn spawn(spec: &CommandSpec, capture: Capture) -> Result<Process, SpawnError> {
    start(spec, capture).await.map_err(|(mut error, redactor)| {
        error.text = error.text.map(|text| redactor.redact(&text).into_owned());
        error
    })
}

async fn start(spec: &CommandSpec, capture: Capture) -> Result<Process, (SpawnError, Redactor)> {
    let redactor = capture.redactor.clone();
    let refuse = |error| (error, redactor.clone());
    unix::reap_stragglers();

    let target = lookup::resolve(spec).map_err(refuse)?;
    let image = unix::Image::new(&target.path, &spec.argv, &target.env)
        .map_err(|error| refuse(lookup::explain(&error, spec, &target.path)))?;

    let mut command = Command::new(&target.path);
    command
        .current_dir(&spec.cwd)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    unix::execute_image(&mut command, image);

    let mut tries = 1;
    let mut child = loop {
        let started = {
            let _gate = platform::spawn_gate();
            command.spawn()
        };
        match started {
            Ok(child) => break child,
            Err(error) if unix::is_text_busy(&error) && tries < BUSY_TRIES => {
                tries += 1;
                tokio::time::sleep(BUSY_WAIT).await;
            }
            Err(error) => return Err(refuse(lookup::explain(&error, spec, &target.path))),
        }
    };

    let other = |error: io::Error| refuse(lookup::explain_other(&error));
    let pid = unix::pid_of(&child).map_err(other)?;
    let (news, exit) = exit::watch_child(pid)
        .inspect_err(|_| unix::kill_group_and_reap(pid))
        .map_err(other)?;
    // From here on the guard kills the child, whatever fails.
    let leader = Leader::new(pid, news);
    let pipes = unix::pipes_of(&mut child).map_err(other)?;
    let stdin_gauge = unix::duplicate(&pipes.stdin).ok();
    Ok(Process {
        leader,
        stderr: stderr::capture(pipes.stderr, &exit, capture),
        exit,
        stdin: Some(pipes.stdin),
        stdout: Some(pipes.stdout),
        stdin_gauge,
    })
}

/// Tells how much of its stdin a process has not read.
#[derive(Debug)]
pub struct StdinGauge(OwnedFd);

impl StdinGauge {
    /// Like [`Process::unread_stdin_bytes`].
    #[must_use]
    pub fn unread_bytes(&self) -> Option<usize> {
        unix::bytes_in_pipe(&self.0)
    }
}

impl Process {
    /// The process id, which is also the id of its process group. It stays
    /// taken until this value is dropped or shut down.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.leader.pid.as_raw_nonzero().get().unsigned_abs()
    }

    #[must_use]
    pub fn exit_watch(&self) -> ExitWatch {
        self.exit.clone()
    }

    #[must_use]
    pub fn stderr(&self) -> StderrHandle {
        self.stderr.clone()
    }

    /// How much of what was written to stdin the process has not read yet,
    /// also after its death: tells whether it ever looked at a request.
    /// `None` once stdin is closed, and where the system can't tell.
    #[must_use]
    pub fn unread_stdin_bytes(&self) -> Option<usize> {
        self.stdin_gauge.as_ref().and_then(unix::bytes_in_pipe)
    }

    /// A way to ask the same from elsewhere. While it is there, the process
    /// does not see the end of its stdin.
    #[must_use]
    pub fn stdin_gauge(&self) -> Option<StdinGauge> {
        let gauge = self.stdin_gauge.as_ref()?;
        unix::duplicate(gauge).ok().map(StdinGauge)
    }

    /// Drains stdout as stderr is drained, for a process that says nothing of
    /// interest there. Nothing comes of it where stdout was taken already.
    pub fn capture_stdout(&mut self, capture: Capture) -> StderrHandle {
        match self.stdout.take() {
            Some(stdout) => stderr::capture(stdout, &self.exit, capture),
            None => StderrHandle::none(),
        }
    }

    /// Closes our ends of stdin. Who took [`Process::stdin`] has to drop it as
    /// well before the process sees the end of its input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
        self.stdin_gauge = None;
    }

    /// Kills the group and all known descendants at once, and reaps them.
    ///
    /// Waits for the death of the leader, yet never for long: what does not
    /// die within some milliseconds is reaped later.
    pub fn kill(&mut self) {
        self.close_stdin();
        self.leader.kill();
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.kill();
    }
}
