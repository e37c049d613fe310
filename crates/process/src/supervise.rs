//! The promise that no orphan survives jelly, whatever kills it.
//!
//! [`supervise()`] splits jelly in two: a thin supervisor, which the caller
//! sees, and a worker, which does everything else. Each of them is a child
//! subreaper, watches the other, and kills every descendant when the other
//! dies. So it takes two SIGKILLs at the same moment to leave anything behind,
//! and even then the servers themselves die with the worker.

use super::platform;
use rustix::process::Pid;
use std::time::Duration;

/// The process that a package manager's launcher is, by which it asks to be
/// survived by nothing.
const LAUNCHER: &str = "JELLY_LAUNCHER_PID";

/// Where this process was started by a launcher that said so, a SIGKILL of that
/// one is a SIGTERM for this one. To be called once, at the start of `main`.
///
/// A no-op for whoever only inherits the variable, and beyond Linux.
pub fn end_with_launcher() {
    let launcher = std::env::var(LAUNCHER)
        .ok()
        .and_then(|pid| pid.parse().ok());
    let launcher = launcher.and_then(Pid::from_raw);
    if let Some(launcher) = launcher {
        platform::end_with_launcher(launcher);
    }
}

/// What a worker that is asked twice to end may take to write what it knows. Whoever
/// asks more often does not shorten it.
pub const LAST_WORDS_TAKE: Duration = Duration::from_secs(3);

/// Who the caller has become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Go on with the command. Everything that is started from now on dies
    /// when this process or the supervisor does.
    ///
    /// The worker has a process group of its own, so that a signal to the
    /// group of the caller does not take it before it could clean up, and so
    /// that a Ctrl-C reaches it once, passed on by the supervisor. It may
    /// write to the terminal; to read from it takes a [`Terminal`].
    ///
    /// [`Terminal`]: super::Terminal
    Worker,
    /// The worker has ended, its descendants are gone; pass its end on.
    Supervisor(WorkerEnd),
    /// The worker that this process became can't go on, for this reason: say so
    /// and end.
    Stranded { reason: String },
    /// There is no supervision here, for this reason. Go on with the command:
    /// guards and process groups still work, only a SIGKILL of jelly leaves
    /// servers behind.
    Alone { reason: String },
}

/// How the worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    /// To be passed on as it is.
    Exited(u8),
    /// A signal killed it, so it could not say anything itself.
    Killed {
        /// As in `SIGSEGV`.
        signal: String,
        /// That of the signal, or of the first that the supervisor was sent,
        /// where it had passed this one on; of SIGTERM for SIGHUP.
        number: u8,
        /// The supervisor had been sent the same signal and passed it on: no
        /// fault, but the wish of whoever sent it.
        asked_for: bool,
    },
}

/// Becomes two processes. To be called once, at the start of `main`, before
/// there is any thread or runtime, and only by commands that start servers.
///
/// In the supervisor it returns when the worker has ended.
#[must_use]
pub fn supervise() -> Role {
    platform::supervise()
}
