//! Unixes that offer neither a subreaper nor a view of the process tree: the
//! process group is all that can be killed, and nobody survives jelly's own
//! SIGKILL to do even that.

use super::exit::ExitNews;
use super::supervise::Role;
use super::unix;
use rustix::process::Pid;
use std::io;
use std::time::{Duration, Instant};

/// A descendant; none is ever seen here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proc {}

impl Proc {
    pub(super) fn is_alive(&self) -> bool {
        match *self {}
    }
}

pub(super) fn watch_by_pidfd(_pid: Pid, _news: ExitNews) -> bool {
    false
}

pub(super) fn block_until_dead(pid: Pid, limit: Duration) {
    unix::ask_until_dead(pid, Instant::now() + limit);
}

pub(super) fn family(_leader: Pid, _known: &[Proc]) -> Vec<Proc> {
    Vec::new()
}

pub(super) fn kill_all(_procs: &[Proc]) {}

pub(super) async fn all_gone(_procs: &[Proc]) {}

pub(super) fn reap(_procs: &[Proc]) {}

pub(super) fn is_subreaper() -> bool {
    false
}

pub(super) fn kill_own_children(_keep: &[u32]) -> usize {
    0
}

/// Nothing forbids a spawn here.
pub(super) fn spawn_gate() {}

pub(super) fn may_die_with_thread() -> bool {
    false
}

pub(super) fn die_with_parent(_parent: Pid) -> io::Result<()> {
    Ok(())
}

pub(super) fn supervise() -> Role {
    Role::Alone {
        reason: "this system has no child subreaper".into(),
    }
}

/// Nobody tells of a parent's death here.
pub(super) fn end_with_launcher(_launcher: Pid) {}
