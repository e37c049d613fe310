//! The process tree, as `/proc` shows it, and killing parts of it.
//!
//! A process is known by its pid and its start time, and signalled through a
//! pidfd, so that a pid that was given to somebody else is never hit.

use super::super::unix;
use super::{awaitable, block_until_dead, is_subreaper};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::HashSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long a sweep goes on killing what keeps coming.
const SWEEP_TAKES: Duration = Duration::from_secs(1);

/// Rounds of looking for children of children before a kill; each finds what
/// was forked since the last one.
const ROUNDS: usize = 4;

/// How many looks in a row must find nobody: the kernel's list may miss one
/// while another leaves it.
const CALM_LOOKS: u32 = 2;

/// One process, told apart from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Proc {
    pid: Pid,
    /// In clock ticks since boot.
    start: u64,
}

impl Proc {
    /// Whether it runs; a zombie does not.
    pub(in super::super) fn is_alive(&self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.start == self.start && !stat.dead)
    }

    /// A handle that can't come to mean another process. `Ok(None)` when the
    /// process is gone.
    fn pidfd(&self) -> rustix::io::Result<Option<OwnedFd>> {
        match pidfd_open(self.pid, PidfdFlags::empty()) {
            // Checked after the handle was taken: if it is alive now, the
            // handle is on it and not on a later one.
            Ok(fd) => Ok(self.is_alive().then_some(fd)),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn kill(&self) {
        match self.pidfd() {
            // An error means that it died meanwhile, or belongs to another
            // user; neither can be helped.
            Ok(Some(fd)) => {
                let _ = pidfd_send_signal(fd, Signal::KILL);
            }
            Ok(None) => {}
            Err(_) if self.is_alive() => {
                let _ = rustix::process::kill_process(self.pid, Signal::KILL);
            }
            Err(_) => {}
        }
    }
}

/// What is looked at of `/proc/PID/stat`.
struct Stat {
    dead: bool,
    parent: i32,
    group: i32,
    start: u64,
}

impl Stat {
    fn read(pid: Pid) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// The second field is the name in parentheses, and may hold anything,
    /// parentheses and spaces included; see proc_pid_stat(5).
    fn parse(text: &str) -> Option<Self> {
        let (_, after_name) = text.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        // The state is that of the first thread, which may be gone while
        // others live and still have children.
        let threads: u32 = fields.get(17)?.parse().ok()?;
        Some(Self {
            dead: matches!(*fields.first()?, "Z" | "X" | "x") && threads <= 1,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// All living descendants of the leader and of the known processes, the known
/// ones included; where orphans come to us, also those of the leader's group.
pub(in super::super) fn family(leader: Pid, known: &[Proc]) -> Vec<Proc> {
    let mut found: Vec<Proc> = known.iter().filter(|p| p.is_alive()).copied().collect();
    let mut open: Vec<Pid> = found.iter().map(|proc| proc.pid).collect();
    open.push(leader);
    if is_subreaper() {
        let orphans = children_of(rustix::process::getpid());
        open.extend(orphans.into_iter().filter(|pid| {
            *pid != leader
                && Stat::read(*pid).is_some_and(|stat| stat.group == leader.as_raw_nonzero().get())
        }));
    }

    let mut seen = HashSet::new();
    while let Some(pid) = open.pop() {
        if !seen.insert(pid) {
            continue;
        }
        if pid != leader
            && let Some(stat) = Stat::read(pid).filter(|stat| !stat.dead)
        {
            let proc = Proc {
                pid,
                start: stat.start,
            };
            if !found.contains(&proc) {
                found.push(proc);
            }
        }
        open.extend(children_of(pid));
    }
    found
}

/// The children of all threads of a process; empty when it is gone.
fn children_of(pid: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut children = Vec::new();
    let mut listed = true;
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(text) => children.extend(
                text.split_ascii_whitespace()
                    .filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw)),
            ),
            Err(_) => listed = false,
        }
    }
    if listed {
        return children;
    }
    // The thread has just ended, or the kernel was built without the lists.
    children_by_scan(pid)
}

fn children_by_scan(parent: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter(|pid| {
            Stat::read(*pid).is_some_and(|stat| stat.parent == parent.as_raw_nonzero().get())
        })
        .collect()
}

/// Kills the processes and whatever descends from them by now.
pub(in super::super) fn kill_all(procs: &[Proc]) {
    let Some(first) = procs.first() else {
        return;
    };
    let mut all = procs.to_vec();
    for _ in 0..ROUNDS {
        let more = family(first.pid, &all);
        let grown = more.iter().any(|proc| !all.contains(proc));
        all.extend(more);
        if !grown {
            break;
        }
    }
    for proc in &all {
        proc.kill();
    }
}

/// Waits until all the processes are dead.
pub(in super::super) async fn all_gone(procs: &[Proc]) {
    for proc in procs {
        let Ok(Some(pidfd)) = proc.pidfd() else {
            continue;
        };
        if let Some(pidfd) = awaitable(pidfd) {
            // An error means that there is no runtime to wait with.
            let _ = pidfd.readable().await;
        }
    }
}

/// Reaps those that are our children by now.
pub(in super::super) fn reap(procs: &[Proc]) {
    for proc in procs {
        reap_unguarded(proc.pid);
    }
}

/// Reaps a dead child, unless its guard will.
fn reap_unguarded(pid: Pid) {
    if !unix::registered().contains(&pid) {
        unix::reap(pid);
    }
}

/// Kills and reaps all children of this process but those in `keep`, and,
/// where they come to us as the subreaper, their children in turn. Returns how
/// many were alive. Bounded, should one of them hang in the kernel.
pub(in super::super) fn kill_own_children(keep: &[u32]) -> usize {
    let until = Instant::now() + SWEEP_TAKES;
    let mut killed: Vec<Proc> = Vec::new();
    let mut calm = 0;
    // Mostly there is nobody, and that is asked first: what a process reads of itself
    // in `/proc` makes its end slower.
    while calm < CALM_LOOKS && unix::has_children() && Instant::now() < until {
        let alive = living_children(keep);
        calm = if alive.is_empty() { calm + 1 } else { 0 };
        for proc in &alive {
            proc.kill();
        }
        for proc in &alive {
            block_until_dead(proc.pid, until.saturating_duration_since(Instant::now()));
            reap_unguarded(proc.pid);
        }
        let new = alive.into_iter().filter(|proc| !killed.contains(proc));
        killed.extend(new.collect::<Vec<_>>());
    }
    killed.len()
}

/// The children of this process that run; those that do not are reaped.
fn living_children(keep: &[u32]) -> Vec<Proc> {
    let us = rustix::process::getpid();
    let mut alive = Vec::new();
    for pid in children_of(us) {
        if keep.contains(&pid.as_raw_nonzero().get().unsigned_abs()) {
            continue;
        }
        // Another thread of ours may have reaped it since it was listed.
        let Some(stat) = Stat::read(pid).filter(|stat| stat.parent == us.as_raw_nonzero().get())
        else {
            continue;
        };
        if stat.dead {
            reap_unguarded(pid);
        } else {
            alive.push(Proc {
                pid,
                start: stat.start,
            });
        }
    }
    alive
}

#[cfg(test)]
mod tests {
    use super::{Proc, Stat, children_by_scan, children_of};
    use rustix::process::{Pid, getpid};

    #[test]
    fn a_process_name_can_not_confuse_the_reader() {
        let text = "42 (a) Z (b) 1 2) S 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 12345 6 7";
        let stat = Stat::parse(text).expect("it is whole");
        assert_eq!(
            (stat.dead, stat.parent, stat.group, stat.start),
            (false, 7, 8, 12345)
        );
        assert!(Stat::parse("42 (cut").is_none());
        assert!(Stat::parse("42 (cut) S 7 8").is_none());
    }

    #[test]
    fn a_process_lives_as_long_as_any_of_its_threads() {
        let stat = |threads: u32| {
            let text = format!("42 (a) Z 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 20 0 {threads} 0 12345 6 7");
            Stat::parse(&text).expect("it is whole")
        };
        assert!(stat(1).dead);
        assert!(!stat(2).dead);
    }

    #[test]
    fn a_pid_that_was_given_to_another_process_is_not_killed() {
        let mut child = std::process::Command::new("sleep")
            .arg("20")
            .spawn()
            .expect("it starts");
        let pid = Pid::from_child(&child);
        let start = Stat::read(pid).expect("it runs").start;
        let earlier = Proc {
            pid,
            start: start - 1,
        };
        assert!(!earlier.is_alive());
        earlier.kill();
        assert!(child.try_wait().expect("it is ours").is_none());

        Proc { pid, start }.kill();
        let status = child.wait().expect("it is ours");
        assert_eq!(status.code(), None);
    }

    #[test]
    fn children_are_found_with_and_without_the_kernels_lists() {
        let mut child = std::process::Command::new("sleep")
            .arg("20")
            .spawn()
            .expect("it starts");
        let pid = Pid::from_child(&child);
        assert!(children_of(getpid()).contains(&pid));
        assert!(children_by_scan(getpid()).contains(&pid));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }
}
