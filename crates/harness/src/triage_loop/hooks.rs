//! The commands that a user hangs into the loop.

use super::work_tree::WorkTree;
use jelly_base::model::{Exit, HookReport, Track};
use jelly_base::text::redact::{Redactor, StreamRedactor, show_argv};
use jelly_base::text::{human_duration, truncate_middle};
use jelly_process::{Capture, CommandSpec, ExitBoundReader, Process, spawn};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

/// How much of a hook's stdout and of its stderr a report keeps, in bytes.
const KEPT: usize = 16 * 1024;
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

    /// The work tree that hooks change files of; none where there is none, or
    /// where nothing can be said of it in time.
    async fn work_tree(&mut self) -> Option<WorkTree> {
        None
    }

    /// The files of the work tree that were changed since.
    async fn changed_since(&mut self, _before: &WorkTree) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Whether a hook says that something changed.
#[must_use]
pub fn succeeded(report: &HookReport) -> bool {
    report.error.is_none() && report.exit.as_ref().is_some_and(|e| e.code == Some(0))
}

/// A hook's argv as reports may show it.
pub(super) fn shown(argv: &[String], redactor: &Redactor) -> Vec<String> {
    let argv = show_argv(argv);
    argv.iter()
        .map(|arg| redactor.redact(arg).into_owned())
        .collect()
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
            argv: shown(call.argv, &self.redactor),
            ..HookReport::default()
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

    async fn work_tree(&mut self) -> Option<WorkTree> {
        WorkTree::look(&self.project_dir).await
    }

    async fn changed_since(&mut self, before: &WorkTree) -> Vec<PathBuf> {
        before.changed(&self.project_dir).await
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
        let mut output = Output::new(&self.redactor);
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
        report.stdout = output.text();
    }
}

fn ended_with(exit: &Exit) -> String {
    match (&exit.code, &exit.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by {signal}"),
        (None, None) => "ended without an exit code".to_owned(),
    }
}

/// The head and the tail of what a hook prints, redacted as it comes, so that
/// no cut can part a secret from what gives it away.
struct Output {
    redactor: StreamRedactor,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Output {
    fn new(redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.stream(),
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out: 0,
        }
    }

    async fn drain(&mut self, mut from: impl tokio::io::AsyncRead + Unpin) {
        let mut chunk = [0_u8; 8192];
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            let clean = self.redactor.push(&chunk[..n]);
            self.keep(&clean);
        }
        let rest = self.redactor.finish();
        self.keep(&rest);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (KEPT / 2).saturating_sub(self.head.len()).min(bytes.len());
        let (head, tail) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let excess = self.tail.len().saturating_sub(KEPT / 2);
        self.tail.drain(..excess);
        self.left_out += excess;
    }

    fn text(&self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let tail = String::from_utf8_lossy(&tail);
        match self.left_out {
            0 => format!("{head}{tail}"),
            n => format!("{head}\n[{n} bytes left out]\n{tail}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandHooks, Hook, HookCall, HookRunner, succeeded};
    use jelly_base::model::HookReport;
    use jelly_base::text::redact::Redactor;
    use std::path::Path;
    use std::time::Duration;
    use tokio::time::Instant;

    fn call(dir: &Path, script: &str, bundle: &[u8], limit: Duration) -> HookReport {
        call_argv(dir, &["sh", "-c", script], bundle, limit)
    }

    fn call_argv(dir: &Path, argv: &[&str], bundle: &[u8], limit: Duration) -> HookReport {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let mut hooks = CommandHooks {
            project_dir: dir.to_owned(),
            redactor: Redactor::new([("TOKEN", "s3cr3t-value")]),
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let call = HookCall {
                hook: Hook::FixTests,
                argv: &argv,
                bundle,
                until: Instant::now() + limit,
                limit,
            };
            hooks.run(&call).await
        })
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_hook_reads_the_bundle_in_the_project_folder() {
        let dir = tempfile::tempdir().unwrap();
        let report = call(
            dir.path(),
            "cat > got; echo out; echo s3cr3t-value >&2",
            b"{\"a\":1}\n",
            LONG,
        );
        assert!(succeeded(&report), "{report:?}");
        let got = std::fs::read_to_string(dir.path().join("got")).unwrap();
        assert_eq!(got, "{\"a\":1}\n");
        assert_eq!(report.stdout, "out\n");
        assert!(!report.stderr.is_empty() && !report.stderr.contains("s3cr3t"));
        assert_eq!(report.hook, "fix_tests");
    }

    #[test]
    fn a_hook_that_reads_nothing_of_a_large_bundle_is_none_the_worse() {
        let dir = tempfile::tempdir().unwrap();
        let report = call(dir.path(), "exit 0", &vec![b'x'; 4 << 20], LONG);
        assert!(succeeded(&report), "{report:?}");
    }

    #[test]
    fn a_large_output_is_kept_in_part() {
        let dir = tempfile::tempdir().unwrap();
        let report = call(
            dir.path(),
            "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last",
            b"",
            LONG,
        );
        assert!(succeeded(&report), "{report:?}");
        assert!(report.stdout.starts_with("first") && report.stdout.ends_with("last\n"));
        assert!(report.stdout.len() < 20_000);
    }

    #[test]
    fn another_exit_code_is_no_success_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        for (script, error) in [
            ("exit 3", "ended with exit code 3"),
            ("kill -9 $$", "was ended by SIGKILL"),
        ] {
            let report = call(dir.path(), script, b"", LONG);
            assert!(!succeeded(&report));
            assert_eq!(report.error.as_deref(), Some(error));
        }
    }

    #[test]
    fn a_hook_that_takes_too_long_is_stopped_with_all_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let began = std::time::Instant::now();
        let report = call(
            dir.path(),
            "sleep 300 & echo $! > pid; wait",
            b"",
            Duration::from_millis(300),
        );
        assert!(!succeeded(&report));
        assert!(report.error.unwrap().contains("ran longer than"));
        assert!(began.elapsed() < Duration::from_secs(20));
        let pid = std::fs::read_to_string(dir.path().join("pid")).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        // Gone, or dead and waiting to be reaped by whoever adopted it.
        assert!(stat.map_or(true, |s| s.contains(") Z ")));
    }

    #[test]
    fn a_hook_that_can_not_be_started_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let report = call_argv(dir.path(), &["./no-such-hook"], b"", LONG);
        assert!(!succeeded(&report));
        assert!(report.error.unwrap().starts_with("could not be started"));
        assert_eq!(report.exit, None);
    }
}
