//! What Linux offers beyond the process group: pidfds, a view of the process
//! tree, a parent-death signal, and the child subreaper.

mod guard;
mod tree;

pub(super) use guard::{spawn_gate, supervise};
pub(super) use tree::{Proc, all_gone, family, kill_all, kill_own_children, reap};

use super::exit::ExitNews;
use super::unix;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Tells of a child's exit from a task of the runtime. False where there are
/// no pidfds, as in some sandboxes.
pub(super) fn watch_by_pidfd(pid: Pid, news: ExitNews) -> bool {
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    let Some(pidfd) = awaitable(pidfd) else {
        return false;
    };
    tokio::spawn(async move {
        while let Ok(mut ready) = pidfd.readable().await {
            if let Some(exit) = unix::peek_exit(pid) {
                news.tell(exit);
                break;
            }
            // A guard that killed and reaped the child tells the news itself.
            if is_dead(pidfd.get_ref()) {
                break;
            }
            ready.clear_ready();
        }
    });
    true
}

/// A descriptor that a task can wait for.
fn awaitable(pidfd: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by the value it is moved into, and is
    // neither closed nor exchanged while that lives.
    unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }.ok()
}

/// Blocks until a child is dead, or the time is over.
pub(super) fn block_until_dead(pid: Pid, limit: Duration) {
    let until = Instant::now() + limit;
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        // Somebody else has reaped it.
        Err(Errno::SRCH) => return,
        Err(_) => return unix::ask_until_dead(pid, until),
    };
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match poll_pidfd(&pidfd, left) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

fn is_dead(pidfd: &OwnedFd) -> bool {
    poll_pidfd(pidfd, Duration::ZERO).unwrap_or(true)
}

/// Whether the process is dead, after at most `limit`.
fn poll_pidfd(pidfd: &OwnedFd, limit: Duration) -> io::Result<bool> {
    let mut entry = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let millis = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one initialised entry, and its number is given as one.
    match unsafe { libc::poll(&raw mut entry, 1, millis) } {
        -1 => Err(io::Error::last_os_error()),
        ready => Ok(ready > 0),
    }
}

pub(super) fn is_subreaper() -> bool {
    rustix::process::child_subreaper().is_ok_and(|set| set.is_some())
}

/// The parent-death signal is sent when the *thread* that forked ends; only
/// the main thread is sure to live as long as the process.
pub(super) fn may_die_with_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// In a child before exec: be killed when the parent dies. Async-signal-safe.
pub(super) fn die_with_parent(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() == Some(parent) {
        Ok(())
    } else {
        // It died before it could be told about us.
        Err(Errno::SRCH.into())
    }
}

/// Has this process told to end when its parent is gone, as the parent asked
/// for. It is ended at once where that is so already.
pub(super) fn end_with_launcher(launcher: Pid) {
    if rustix::process::getppid() == Some(launcher) {
        // Where it is refused, only a SIGKILL of the launcher goes unnoticed.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    }
    // It may have ended before.
    if rustix::process::test_kill_process(launcher) == Err(Errno::SRCH) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::TERM);
    }
}
