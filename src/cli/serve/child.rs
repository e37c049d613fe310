//! A command of jelly as a process of its own: whatever becomes of it, the
//! server goes on, and it is gone when nobody waits for it any more.
//!
//! Main types: [`Jelly`], which starts it, and [`JellyCommand`], one of them.

use super::fault::ToolFault;
use crate::cli::announce::Announcement;
use crate::report::ci::CI_SYSTEMS;
use jelly_base::text::redact::Redactor;
use jelly_process::{Capture, CommandSpec, ExitBoundReader, Process, spawn};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// More is not read of what a command prints.
const MOST_OUTPUT: u64 = 64 << 20;

/// So long a command may take to end in order when it is told to: a run stops
/// its servers and writes its reports.
const GRACE: Duration = Duration::from_secs(15);

/// How long a thing said on stderr may be to be looked at.
const LONGEST_LINE: usize = 16 << 10;

/// This program, ready to be started.
#[derive(Debug, Clone)]
pub struct Jelly {
    pub program: PathBuf,
    pub cwd: PathBuf,
    /// Variables that no command of ours may see.
    pub hidden: Vec<String>,
}

/// What a command came to.
#[derive(Debug)]
pub struct JellyEnd {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    /// It printed more than is read.
    pub cut: bool,
}

/// One that was started.
pub struct JellyCommand {
    process: Process,
}

impl Jelly {
    /// Starts it; what it announces goes to `told`.
    ///
    /// # Errors
    /// The system refuses.
    pub async fn start(
        &self,
        args: Vec<String>,
        told: Option<mpsc::UnboundedSender<Announcement>>,
    ) -> Result<JellyCommand, ToolFault> {
        let mut argv = vec![self.program.display().to_string()];
        argv.extend(args);
        // Nothing is said to a CI in the name of whoever asked.
        let quiet = CI_SYSTEMS.iter().map(|row| row.variable);
        let quiet = quiet.chain(["GITHUB_STEP_SUMMARY"]);
        let hidden = self.hidden.iter().map(String::as_str).chain(quiet);
        let spec = CommandSpec {
            argv,
            cwd: self.cwd.clone(),
            env: hidden
                .map(|name| (name.to_owned(), String::new()))
                .collect(),
        };
        let sink = told.map(|told| {
            let lines = AnnouncedLines {
                line: Vec::new(),
                told,
            };
            Box::new(lines) as Box<dyn Write + Send>
        });
        let capture = Capture {
            redactor: Redactor::none(),
            head: 4 << 10,
            tail: 8 << 10,
            sink,
            pass_on: None,
        };
        let process = spawn(&spec, capture).await.map_err(|error| {
            let why = error
                .text
                .unwrap_or_else(|| "the system refuses".to_owned());
            let next = "see to it that the machine has room for one more process";
            ToolFault::new("internal", format!("jelly can't be started: {why}"), next)
        })?;
        Ok(JellyCommand { process })
    }
}

impl JellyCommand {
    /// Hands it its input and waits for its end.
    pub async fn finish(&mut self, input: &[u8]) -> JellyEnd {
        let exit = self.process.exit_watch();
        let stdout = self.process.stdout.take();
        let stdin = self.process.stdin.take();
        let feed = async {
            if let Some(mut stdin) = stdin {
                // It may have seen enough before the end.
                let _ = stdin.write_all(input).await;
            }
            self.process.close_stdin();
        };
        let read = async {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                let reader = ExitBoundReader::new(stdout, &exit);
                let _ = reader.take(MOST_OUTPUT + 1).read_to_end(&mut bytes).await;
            }
            bytes
        };
        let ((), stdout) = tokio::join!(feed, read);
        let cut = stdout.len() as u64 > MOST_OUTPUT;
        if cut {
            self.stop().await;
        }
        let ended = exit.wait().await;
        let stderr = self.process.stderr();
        stderr.settled().await;
        JellyEnd {
            code: ended.code,
            stdout,
            stderr: said(&stderr.tail()),
            cut,
        }
    }

    /// Ends it, in order if it can.
    pub async fn stop(&mut self) {
        self.process.terminate(GRACE).await;
    }

    /// As [`JellyCommand::finish`], but no longer than this.
    ///
    /// # Errors
    /// The time is over; it is gone then.
    pub async fn finish_within(
        mut self,
        input: &[u8],
        limit: Duration,
    ) -> Result<JellyEnd, ToolFault> {
        if let Ok(end) = timeout(limit, self.finish(input)).await {
            return Ok(end);
        }
        self.stop().await;
        let what = format!("it took more than {} s and was stopped", limit.as_secs());
        let next = "ask for less at once, or use the command line, which waits longer";
        Err(ToolFault::new("timeout", what, next))
    }
}

/// What was said for people.
fn said(stderr: &str) -> String {
    let lines = stderr
        .lines()
        .filter(|line| Announcement::read(line).is_none());
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads announcements out of what is written to it.
struct AnnouncedLines {
    line: Vec<u8>,
    told: mpsc::UnboundedSender<Announcement>,
}

impl Write for AnnouncedLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if *byte != b'\n' {
                if self.line.len() < LONGEST_LINE {
                    self.line.push(*byte);
                }
                continue;
            }
            let line = std::str::from_utf8(&self.line).ok();
            if let Some(said) = line.and_then(Announcement::read) {
                // Nobody may be interested any more.
                let _ = self.told.send(said);
            }
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
