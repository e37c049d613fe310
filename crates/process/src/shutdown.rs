//! Ending a process and everything it started.
//!
//! [`Process::shutdown`] asks, then insists, then kills, and tells which of
//! them it took. Every wait is a race against the exit, none is a sleep.

use super::exit::ExitNews;
use super::platform::{self, Proc};
use super::spawn::Leader;
use super::{Process, unix};
use jelly_base::model::Exit;
use rustix::process::{Pid, Signal};
use std::time::Duration;
use tokio::time::timeout;

/// What SIGKILL is given to take effect; longer only for a process that hangs
/// in the kernel, which nobody can end.
const KILL_TAKES: Duration = Duration::from_secs(2);

/// What descendants that outlived the leader are given to end by themselves:
/// the end of input or SIGTERM may have reached them only just now.
const LEFTOVERS_TAKE: Duration = Duration::from_millis(100);

/// What a dropped process is given to die before it is left to be reaped
/// later.
const DROP_TAKES: Duration = Duration::from_millis(100);

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum How {
    /// It was dead before anybody asked.
    AlreadyExited,
    /// It ended when its stdin was closed.
    Graceful,
    /// It took a SIGTERM.
    Terminated,
    /// It took a SIGKILL.
    Killed,
}

/// What a shutdown saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shutdown {
    /// Absent when not even SIGKILL ended it in time.
    pub exit: Option<Exit>,
    pub how: How,
    /// How many other processes of its tree were alive after it, and had to
    /// be killed. On Linux those that left the group are counted too; on
    /// other systems none are, though the group is killed there as well.
    pub leftovers: usize,
}

impl Process {
    /// Closes stdin, waits up to `grace`; sends SIGTERM to the group, waits up
    /// to `grace`; sends SIGKILL. What is left of the tree is killed in any
    /// case. A second call returns at once.
    ///
    /// Who took [`Process::stdin`] has to drop it before, else the process
    /// can't see that its input has ended. When the future is dropped half
    /// way, the process goes on to live until it is dropped itself.
    pub async fn shutdown(&mut self, grace: Duration) -> Shutdown {
        self.end(grace, true).await
    }

    /// The same without waiting for the end of stdin to be heeded: for a
    /// process that does not serve by its pipes.
    pub async fn terminate(&mut self, grace: Duration) -> Shutdown {
        self.end(grace, false).await
    }

    async fn end(&mut self, grace: Duration, heeds_stdin: bool) -> Shutdown {
        self.leader.note_descendants();
        self.close_stdin();
        let how = self.end_leader(grace, heeds_stdin).await;
        let leftovers = self.leader.end_leftovers(how).await;
        Shutdown {
            exit: self.exit.now(),
            how,
            leftovers,
        }
    }

    async fn end_leader(&mut self, grace: Duration, heeds_stdin: bool) -> How {
        if self.exit.has_exited() {
            return How::AlreadyExited;
        }
        if heeds_stdin && timeout(grace, self.exit.wait()).await.is_ok() {
            return How::Graceful;
        }
        if self.exit.has_exited() {
            return How::AlreadyExited;
        }
        self.leader.note_descendants();
        self.leader.signal_group(Signal::TERM);
        if timeout(grace, self.exit.wait()).await.is_ok() {
            return How::Terminated;
        }
        self.leader.note_descendants();
        self.leader.signal_group(Signal::KILL);
        // On failure the exit stays unknown, and the report says so.
        let _ = timeout(KILL_TAKES, self.exit.wait()).await;
        How::Killed
    }
}

impl Leader {
    pub(super) fn new(pid: Pid, news: ExitNews) -> Self {
        unix::register(pid);
        Self {
            pid,
            news,
            known: Vec::new(),
            reaped: false,
        }
    }

    /// Looks who descends from the leader now. Once it is dead they can't be
    /// told from strangers any more.
    fn note_descendants(&mut self) {
        if self.reaped {
            return;
        }
        for proc in platform::family(self.pid, &self.known) {
            if !self.known.contains(&proc) {
                self.known.push(proc);
            }
        }
    }

    fn signal_group(&self, signal: Signal) {
        if !self.reaped {
            unix::signal_group(self.pid, signal);
        }
    }

    /// Ends all that outlived the leader; how many there were.
    async fn end_leftovers(&mut self, how: How) -> usize {
        if self.reaped {
            return 0;
        }
        self.note_descendants();
        self.known.retain(Proc::is_alive);
        if how == How::Graceful || how == How::Terminated {
            // A pidfd tells at once when they are gone, so this is no sleep.
            let _ = timeout(LEFTOVERS_TAKE, platform::all_gone(&self.known)).await;
            self.note_descendants();
            self.known.retain(Proc::is_alive);
        }
        let leftovers = self.known.len();
        self.signal_group(Signal::KILL);
        platform::kill_all(&self.known);
        let _ = timeout(KILL_TAKES, platform::all_gone(&self.known)).await;
        self.release();
        leftovers
    }

    /// The same at once, for drops.
    pub(super) fn kill(&mut self) {
        if self.reaped {
            return;
        }
        self.note_descendants();
        self.signal_group(Signal::KILL);
        platform::kill_all(&self.known);
        if let Some(exit) = unix::await_exit_for(self.pid, DROP_TAKES) {
            self.news.tell(exit);
        }
        self.release();
    }

    /// Gives the pids back to the system, and them up.
    fn release(&mut self) {
        self.reaped = true;
        unix::release(self.pid);
        platform::reap(&self.known);
        self.known.clear();
    }
}

/// Kills and reaps every process that was left behind and came to us as the
/// subreaper ([`super::supervise()`]), but for those in `keep` and what
/// descends from them; how many there were. For the end of an iteration.
///
/// Does nothing where we are no subreaper, and while a [`Process`] that is not
/// in `keep` is alive, such as another plan's server: an orphan does not tell
/// whose it is. The last one to sweep finds them all.
pub fn sweep_orphans(keep: &[u32]) -> usize {
    unix::reap_stragglers();
    let all_kept = unix::registered()
        .into_iter()
        .all(|pid| keep.contains(&pid.as_raw_nonzero().get().unsigned_abs()));
    if !all_kept || !platform::is_subreaper() {
        return 0;
    }
    platform::kill_own_children(keep)
}
