//! The commands that a user hangs into the loop.

use crate::model::{Exit, HookReport, Track};
use crate::process::{Capture, CommandSpec, ExitBoundReader, Process, spawn};
use crate::text::redact::Redactor;
use crate::text::{human_duration, truncate_middle};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

/// How much of a hook's stdout and of its stderr a report keeps, in bytes.
const KEPT: usize = 16 * 1024;
/// How much of its stdout is held in memory at most.
const HELD: usize = 1024 * 1024;
/// What a hook that ran out of time is given to end, twice.
const GRACE: Duration = Duration::from_millis(500);

/// Which hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hook {
    FixTests,
    RefineCode,
}

impl Hook {
    /// The name as plans write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FixTests => "fix_tests",
            Self::RefineCode => "refine_code",
        }
    }

    #[must_use]
    pub fn track(self) -> Track {
        match self {
            Self::FixTests => Track::TestFixes,
            Self::RefineCode => Track::CodeRefines,
        }
    }
}

/// One call of a hook.
#[derive(Debug, Clone)]
pub struct HookCall<'a> {
    pub hook: Hook,
    pub argv: &'a [String],
    /// The triage bundle, redacted, for the hook's stdin.
    pub bundle: &'a [u8],
    /// When the hook's time is over, and the limit that this comes from.
    pub until: Instant,
    pub limit: Duration,
}

/// How the loop reaches hooks.
#[expect(
    async_fn_in_trait,
    reason = "implemented and called inside this package, on one thread"
)]
pub trait HookRunner {
    /// Runs it to its end. A hook succeeded exactly when its exit code is 0
    /// and the report names no error. Must leave nothing behind when dropped.
    async fn run(&mut self, call: &HookCall<'_>) -> HookReport;
}

/// Whether a hook says that something changed.
#[must_use]
pub fn succeeded(report: &HookReport) -> bool {
    report.error.is_none() && report.exit.as_ref().is_some_and(|e| e.code == Some(0))
}

/// Runs hooks as commands in the project folder; no shell.
#[derive(Debug, Clone)]
pub struct CommandHooks {
    pub project_dir: PathBuf,
    pub redactor: Redactor,
}

impl HookRunner for CommandHooks {
    async fn run(&mut self, call: &HookCall<'_>) -> HookReport {
        let started = Instant::now();
        let mut report = HookReport {
            hook: call.hook.name().to_owned(),
            argv: call
                .argv
                .iter()
                .map(|arg| self.redactor.redact(arg).into_owned())
                .collect(),
            exit: None,
            error: None,
            stdout: String::new(),
            stderr: String::new(),
            elapsed_ms: 0,
        };
        let spec = CommandSpec {
            argv: call.argv.to_vec(),
            cwd: self.project_dir.clone(),
            env: Vec::new(),
        };
        let capture = Capture {
            redactor: self.redactor.clone(),
            head: KEPT / 2,
            tail: KEPT / 2,
            ..Capture::default()
        };
        match spawn(&spec, capture).await {
            Err(error) => {
                report.error = Some(format!(
                    "could not be started: {}",
                    error.text.or(error.name).unwrap_or_default()
                ));
            }
            Ok(mut process) => self.attend(&mut process, call, &mut report).await,
        }
        report.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        report
    }
}

impl CommandHooks {
    /// Feeds the bundle, drains the output, and ends the tree in the end.
    async fn attend(&self, process: &mut Process, call: &HookCall<'_>, report: &mut HookReport) {
        let watch = process.exit_watch();
        let stdin = process.stdin.take();
        // The process keeps a second end of the pipe; without closing it, a
        // hook that reads to the end of its input would never see that end.
        process.close_stdin();
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A hook need not read its input.
                let _ = stdin.write_all(call.bundle).await;
                let _ = stdin.shutdown().await;
            }
        };
        let mut output = Output::default();
        let drain = async {
            if let Some(stdout) = process.stdout.take() {
                output.drain(ExitBoundReader::new(stdout, &watch)).await;
            }
        };
        let ended = {
            let work = async {
                tokio::join!(
                    async {
                        // Who exits without reading everything ends the
                        // feeding too.
                        tokio::select! {
                            () = feed => {}
                            _ = watch.wait() => {}
                        }
                    },
                    drain,
                );
                watch.wait().await
            };
            tokio::time::timeout_at(call.until, work).await
        };
        match ended {
            Ok(exit) => {
                if exit.code != Some(0) {
                    report.error = Some(ended_with(&exit));
                }
                report.exit = Some(exit);
            }
            Err(_) => {
                report.error = Some(format!(
                    "ran longer than {} and was stopped",
                    human_duration(call.limit)
                ));
            }
        }
        let end = process.shutdown(GRACE).await;
        report.exit = report.exit.take().or(end.exit);
        let stderr = process.stderr();
        stderr.settled().await;
        report.stderr = truncate_middle(&stderr.tail(), KEPT).into_owned();
        let stdout = String::from_utf8_lossy(&output.bytes).into_owned();
        report.stdout = truncate_middle(&self.redactor.redact(&stdout), KEPT).into_owned();
    }
}

fn ended_with(exit: &Exit) -> String {
    match (&exit.code, &exit.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by {signal}"),
        (None, None) => "ended without an exit code".to_owned(),
    }
}

/// What a hook prints, up to a bound.
#[derive(Debug, Default)]
struct Output {
    bytes: Vec<u8>,
}

impl Output {
    async fn drain(&mut self, mut from: impl tokio::io::AsyncRead + Unpin) {
        let mut chunk = [0_u8; 8192];
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            let room = HELD.saturating_sub(self.bytes.len()).min(n);
            self.bytes.extend_from_slice(&chunk[..room]);
        }
    }
}
