//! Supervisor and worker: two processes that watch each other.
//!
//! The supervisor learns of the worker's death by SIGCHLD; the worker learns
//! of the supervisor's by the end of a pipe that nobody writes to, the
//! lifeline. A thread that does nothing but read it acts even while the
//! runtime is busy. A parent-death signal would not do: SIGKILL leaves no
//! chance to clean up.

use super::super::room::Shortage;
use super::super::scratch::{self, clear_scratch};
use super::super::supervise::{LAST_WORDS_TAKE, Role, WorkerEnd};
use super::super::unix;
use super::tree;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::ffi::CStr;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// As a shell would report it: the worker dies of what its supervisor died of.
const DIED_WITH_SUPERVISOR: i32 = 128 + libc::SIGKILL;

/// Not the name of the program: see where it is used.
const WORKER_NAME: &CStr = c"mcp-run-worker";

/// The worker's end of the pipe to the supervisor; open as long as it runs.
static LIFELINE: AtomicI32 = AtomicI32::new(-1);

/// Held during every spawn, and for ever by the thread that ends the worker,
/// so that no child is born after the last look for children.
static SPAWN_GATE: Mutex<()> = Mutex::new(());

pub(in super::super) fn spawn_gate() -> MutexGuard<'static, ()> {
    SPAWN_GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(in super::super) fn supervise() -> Role {
    split().unwrap_or_else(|error| Role::Alone {
        reason: error.to_string(),
    })
}

fn split() -> io::Result<Role> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("there are threads already"));
    }
    let (lifeline, held) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::process::set_child_subreaper(Some(Pid::INIT))?;
    // Both must know it.
    scratch::home();
    let signals = Signals::take_over()?;

    // SAFETY: there is no other thread, so that the child may go on as if
    // nothing had happened.
    match unsafe { libc::fork() } {
        -1 => {
            let error = io::Error::last_os_error();
            signals.give_back();
            rustix::process::set_child_subreaper(None)?;
            Err(error)
        }
        0 => {
            drop(held);
            Ok(become_worker(lifeline, &signals).unwrap_or_else(|error| {
                // Nobody reads it, so that the end must not wait for it.
                LIFELINE.store(-1, Ordering::Relaxed);
                signals.give_back();
                // A shortage says what was refused; the system's words alone
                // say nothing of what it was for.
                let names_it = error.get_ref().is_some_and(|inner| inner.is::<Shortage>());
                Role::Stranded {
                    reason: match names_it {
                        true => error.to_string(),
                        false => format!("set up the process that does the work: {error}"),
                    },
                }
            }))
        }
        pid => {
            drop(lifeline);
            let worker = Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave no pid"))?;
            let role = Role::Supervisor(stand_by(worker, &signals));
            drop(held);
            Ok(role)
        }
    }
}

/// After how many requests for its end a worker is no longer waited for.
const LAST_WARNING: usize = 3;

/// How long a worker may take that has heard the last of them: longer than it gives
/// itself. It may have heard fewer, since those that wait for it at the same moment
/// count as one.
const LAST_MOMENTS: Duration = LAST_WORDS_TAKE.saturating_add(Duration::from_secs(1));

/// The signals that the supervisor waits for.
struct Signals {
    waited_for: libc::sigset_t,
    original: libc::sigset_t,
}

impl Signals {
    /// Blocks the signals, so that none is lost between here and the wait.
    fn take_over() -> io::Result<Self> {
        let mut passed_on = vec![libc::SIGINT, libc::SIGTERM, libc::SIGQUIT];
        // A caller that has SIGHUP ignored, as nohup has, means it.
        if !is_ignored(libc::SIGHUP) {
            passed_on.push(libc::SIGHUP);
        }
        // SAFETY: plain system calls on initialised values of this stack
        // frame. SIGCHLD must not be ignored, or children could not be waited
        // for.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let mut waited_for: libc::sigset_t = std::mem::zeroed();
            let mut original: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut waited_for);
            for signal in passed_on.into_iter().chain([libc::SIGCHLD, libc::SIGTSTP]) {
                libc::sigaddset(&raw mut waited_for, signal);
            }
            let blocked =
                libc::sigprocmask(libc::SIG_BLOCK, &raw const waited_for, &raw mut original);
            if blocked != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                waited_for,
                original,
            })
        }
    }

    fn give_back(&self) {
        // SAFETY: sets a mask that was in force before.
        unsafe {
            libc::sigprocmask(libc::SIG_SETMASK, &raw const self.original, ptr::null_mut());
        }
    }

    /// The next signal; `None` when the wait was interrupted, or took as long
    /// as `limit` allows.
    fn next(&self, limit: Option<Duration>) -> Option<i32> {
        let limit = limit.map(|limit| libc::timespec {
            tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(limit.subsec_nanos()),
        });
        let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the set and the limit are initialised, or the limit is null,
        // which means none; no details are asked for.
        let signal =
            unsafe { libc::sigtimedwait(&raw const self.waited_for, ptr::null_mut(), limit) };
        (signal > 0).then_some(signal)
    }
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: only asks, into an initialised value of this stack frame.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

fn become_worker(lifeline: OwnedFd, signals: &Signals) -> io::Result<Role> {
    // The supervisor does the same; who comes first does not matter.
    rustix::process::setpgid(None, None)?;
    rustix::process::set_child_subreaper(Some(Pid::INIT))?;
    // SAFETY: sets a disposition. As a background group of the terminal the
    // worker would be stopped by `stty tostop` when it writes.
    unsafe {
        libc::signal(libc::SIGTTOU, libc::SIG_IGN);
    }
    // A signal by name, as from killall, is for the supervisor, who passes it
    // on; it would come twice if the worker had the same name.
    LIFELINE.store(lifeline.as_raw_fd(), Ordering::Relaxed);
    // SAFETY: the name is a C string; the function takes nothing and may be
    // called from any thread at any time.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, WORKER_NAME.as_ptr());
        libc::atexit(wait_if_ending);
    }
    // The thread inherits a mask in which the signals are blocked: they are
    // for the main thread.
    std::thread::Builder::new()
        .name("lifeline".into())
        .stack_size(64 * 1024)
        .spawn(move || end_with_supervisor(lifeline))
        .map_err(|error| io::Error::other(Shortage::Threads(error)))?;
    signals.give_back();
    Ok(Role::Worker)
}

/// Reads until the supervisor is gone, then ends everything.
fn end_with_supervisor(lifeline: OwnedFd) {
    let mut lifeline = fs::File::from(lifeline);
    loop {
        match lifeline.read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(1..) => {}
            Ok(0) | Err(_) => break,
        }
    }
    // Who holds the gate lets go of it at the latest when the child that it
    // is just starting is killed.
    let closed = SPAWN_GATE.try_lock();
    tree::kill_own_children(&[]);
    let _closed = closed.unwrap_or_else(|_| spawn_gate());
    tree::kill_own_children(&[]);
    clear_scratch();
    // SAFETY: ends the process; nothing of it is used after.
    unsafe { libc::_exit(DIED_WITH_SUPERVISOR) }
}

/// Runs when the worker exits by itself. It may do so just because a server
/// of its was killed by the thread above, which must not be cut short then.
extern "C" fn wait_if_ending() {
    tree::kill_own_children(&[]);
    let mut lifeline = libc::pollfd {
        fd: LIFELINE.load(Ordering::Relaxed),
        events: 0,
        revents: 0,
    };
    // SAFETY: one initialised entry, and its number is given as one; POLLHUP
    // is told without being asked for. No thread-locals are used, which may be
    // gone by now.
    unsafe {
        if libc::poll(&raw mut lifeline, 1, 0) > 0 {
            loop {
                libc::pause();
            }
        }
    }
}

/// What the supervisor does: pass signals on, reap, and clean up at the end.
/// The signals stay blocked afterwards, lest a late one change the exit code.
fn stand_by(worker: Pid, signals: &Signals) -> WorkerEnd {
    // Fails only when the worker has done it, or is gone already.
    let _ = rustix::process::setpgid(Some(worker), Some(worker));
    let mut passed_on = Vec::new();
    let mut ends_by: Option<Instant> = None;
    let mut cut_off = false;
    let status = loop {
        let left = ends_by.map(|end| end.saturating_duration_since(Instant::now()));
        match signals.next(left) {
            None if left.is_some_and(|left| left.is_zero()) => {
                send(worker, libc::SIGKILL);
                (ends_by, cut_off) = (None, true);
            }
            None => {}
            Some(libc::SIGCHLD) => {
                if let Some(status) = reap_all(worker) {
                    break status;
                }
            }
            Some(libc::SIGTSTP) => suspend(worker),
            Some(signal) => {
                passed_on.push(signal);
                send(worker, as_the_first(&passed_on, signal));
                let asked = passed_on.iter().filter(|signal| asks_for_end(**signal));
                if asked.count() == LAST_WARNING && !cut_off {
                    ends_by = Some(Instant::now() + LAST_MOMENTS);
                }
            }
        }
    };
    tree::kill_own_children(&[]);
    clear_scratch();
    let killed_by = match status.terminating_signal() {
        // Our own hand, for whoever asked first.
        Some(libc::SIGKILL) if cut_off => passed_on.iter().copied().find(|s| asks_for_end(*s)),
        other => other,
    };
    match (status.exit_status(), killed_by) {
        (_, Some(signal)) => {
            let asked_for = passed_on.contains(&signal);
            // Of several that waited for the worker, the kernel chose one; who
            // asked first decides, and a hang-up asks for the end as SIGTERM does.
            let meant = match passed_on.first() {
                Some(&libc::SIGHUP) if asked_for => libc::SIGTERM,
                Some(&first) if asked_for => first,
                Some(_) | None => signal,
            };
            WorkerEnd::Killed {
                signal: unix::signal_name(signal),
                number: to_byte(meant),
                asked_for,
            }
        }
        (code, None) => WorkerEnd::Exited(to_byte(code.unwrap_or(0))),
    }
}

/// What is passed on for a signal that asks for the end: the first that did. A
/// worker that is slow to hear of several hears of them in any order, and the
/// first decides. Two that come at once may count as one there.
fn as_the_first(passed_on: &[i32], signal: i32) -> i32 {
    let first = passed_on.iter().copied().find(|s| asks_for_end(*s));
    first.filter(|_| asks_for_end(signal)).unwrap_or(signal)
}

fn asks_for_end(signal: i32) -> bool {
    matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGHUP)
}

/// Exit codes and signals fit by their nature.
fn to_byte(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Reaps whoever is dead; the worker's status if it was among them.
fn reap_all(worker: Pid) -> Option<WaitStatus> {
    let mut end = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == worker {
            end = Some(status);
        }
    }
    end
}

fn send(worker: Pid, signal: i32) {
    // SAFETY: plain system call; the worker is a child that was not reaped
    // yet, so the pid is its own.
    unsafe {
        libc::kill(worker.as_raw_nonzero().get(), signal);
    }
}

/// Ctrl-Z: stops the worker and then ourselves, as the terminal's user wants;
/// goes on when the shell continues us.
fn suspend(worker: Pid) {
    let _ = rustix::process::kill_process(worker, Signal::STOP);
    // SAFETY: plain system calls on initialised values of this stack frame.
    // The signal is raised anew and unblocked, rather than SIGSTOP sent, since
    // the kernel then knows the cases in which nobody could continue us.
    unsafe {
        let mut stop: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut stop);
        libc::sigaddset(&raw mut stop, libc::SIGTSTP);
        libc::raise(libc::SIGTSTP);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const stop, ptr::null_mut());
        libc::sigprocmask(libc::SIG_BLOCK, &raw const stop, ptr::null_mut());
    }
    let _ = rustix::process::kill_process(worker, Signal::CONT);
}
