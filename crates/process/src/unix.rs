//! The system calls that every unix has, in safe clothes.
//!
//! All `unsafe` of starting and waiting stands here (that of the supervisor in
//! `linux/`). Knows pids and descriptors, nothing of what they are for.

use super::platform;
use jelly_base::model::Exit;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus};
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// The processes that a guard answers for, and those whose guard is gone
/// before they were dead enough to be reaped.
struct Children {
    guarded: Vec<Pid>,
    stragglers: Vec<Pid>,
}

static CHILDREN: Mutex<Children> = Mutex::new(Children {
    guarded: Vec::new(),
    stragglers: Vec::new(),
});

fn children() -> MutexGuard<'static, Children> {
    // Both lists are whole between any two of their changes.
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn register(pid: Pid) {
    children().guarded.push(pid);
}

pub(super) fn registered() -> Vec<Pid> {
    children().guarded.clone()
}

/// Ends the guard over a process and reaps it, now or later.
pub(super) fn release(pid: Pid) {
    let mut children = children();
    children.guarded.retain(|other| *other != pid);
    if !reap(pid) {
        children.stragglers.push(pid);
    }
}

pub(super) fn reap_stragglers() {
    let Children {
        guarded,
        stragglers,
    } = &mut *children();
    // One that was reaped elsewhere may have left its pid to a guarded one.
    stragglers.retain(|pid| !guarded.contains(pid) && !reap(*pid));
}

/// Reaps a child if it is dead; false while it is not. True as well for what
/// is no child of ours.
pub(super) fn reap(pid: Pid) -> bool {
    match wait_for(pid, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
        Ok(None) => false,
        Ok(Some(_)) | Err(_) => true,
    }
}

/// Whether any thread of ours has a child, dead or alive: the system's own word,
/// where a list of them may miss one.
pub(super) fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        rustix::process::waitid(WaitId::All, options),
        Err(Errno::CHILD)
    )
}

/// How a child ended, if it did. Leaves it unreaped.
pub(super) fn peek_exit(pid: Pid) -> Option<Exit> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    wait_for(pid, options).ok().flatten().map(exit_of)
}

/// Blocks until a child ends. Leaves it unreaped. `None` if it is no child of
/// ours.
pub(super) fn await_exit(pid: Pid) -> Option<Exit> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    wait_for(pid, options).ok().flatten().map(exit_of)
}

/// Blocks until a child ends, or the time is over. Leaves it unreaped.
pub(super) fn await_exit_for(pid: Pid, limit: Duration) -> Option<Exit> {
    peek_exit(pid).or_else(|| {
        platform::block_until_dead(pid, limit);
        peek_exit(pid)
    })
}

/// Blocks until a child is dead, or the time is over. For want of a wait with
/// a time limit, it is asked again and again.
pub(super) fn ask_until_dead(pid: Pid, until: Instant) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while matches!(wait_for(pid, options), Ok(None)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn wait_for(pid: Pid, options: WaitIdOptions) -> rustix::io::Result<Option<WaitIdStatus>> {
    loop {
        match rustix::process::waitid(WaitId::Pid(pid), options) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

fn exit_of(status: WaitIdStatus) -> Exit {
    Exit {
        code: status.exit_status(),
        signal: status.terminating_signal().map(signal_name),
    }
}

/// As in `SIGKILL`.
pub(super) fn signal_name(number: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGVTALRM, "SIGVTALRM"),
        (libc::SIGPROF, "SIGPROF"),
        (libc::SIGIO, "SIGIO"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    NAMES
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}

/// Sends a signal to a whole process group. The caller makes sure that the
/// group is still the one that is meant, by not having reaped its leader.
pub(super) fn signal_group(leader: Pid, signal: Signal) {
    // An error says that nobody is left in the group: as wished.
    let _ = rustix::process::kill_process_group(leader, signal);
}

/// For a child that nobody watches yet.
pub(super) fn kill_group_and_reap(leader: Pid) {
    signal_group(leader, Signal::KILL);
    await_exit(leader);
    release(leader);
}

/// How many bytes wait in a pipe; either end will do on Linux.
pub(super) fn bytes_in_pipe(end: &OwnedFd) -> Option<usize> {
    rustix::io::ioctl_fionread(end)
        .ok()
        .and_then(|bytes| usize::try_from(bytes).ok())
}

pub(super) fn duplicate(fd: &impl AsFd) -> io::Result<OwnedFd> {
    fd.as_fd().try_clone_to_owned()
}

pub(super) fn is_text_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ETXTBSY)
}

pub(super) fn pid_of(child: &Child) -> io::Result<Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("the system gave a pid that is none"))
}

/// Our ends of a child's standard streams.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

pub(super) fn pipes_of(child: &mut Child) -> io::Result<Pipes> {
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("a standard stream is not piped"));
    };
    Ok(Pipes {
        stdin: ChildStdin::from_std(stdin)?,
        stdout: ChildStdout::from_std(stdout)?,
        stderr: ChildStderr::from_std(stderr)?,
    })
}

/// What `execve` needs, allocated before the fork.
pub(super) struct Image {
    path: CString,
    argv: CStrings,
    env: CStrings,
}

/// Texts and the null-terminated list of pointers to them.
struct CStrings {
    pointers: Vec<*const libc::c_char>,
    /// What the pointers point to; the heap blocks of the texts do not move
    /// when this value does.
    _texts: Vec<CString>,
}

// SAFETY: the pointers are read-only, and point into heap blocks that the same
// value owns and never changes, so they go with it to any thread.
unsafe impl Send for CStrings {}
// SAFETY: as above; nothing is mutable behind a shared reference.
unsafe impl Sync for CStrings {}

impl CStrings {
    fn new(texts: Vec<CString>) -> Self {
        let pointers = texts
            .iter()
            .map(|text| text.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self {
            pointers,
            _texts: texts,
        }
    }
}

impl Image {
    /// # Errors
    /// When a text holds a NUL byte.
    pub(super) fn new(
        path: &Path,
        argv: &[String],
        env: &[(OsString, OsString)],
    ) -> io::Result<Self> {
        let argv: Result<Vec<_>, _> = argv.iter().map(|arg| CString::new(arg.as_str())).collect();
        let env: Result<Vec<_>, _> = env
            .iter()
            .map(|(name, value)| {
                let mut text = name.clone().into_vec();
                text.push(b'=');
                text.extend_from_slice(value.as_bytes());
                CString::new(text)
            })
            .collect();
        Ok(Self {
            path: CString::new(path.as_os_str().as_bytes())?,
            argv: CStrings::new(argv?),
            env: CStrings::new(env?),
        })
    }

    /// Turns the calling process into the image; returns only on failure.
    fn execute(&self) -> io::Error {
        // SAFETY: the path is a C string; both lists are null-terminated and
        // point to C strings that live as long as `self`.
        unsafe {
            libc::execve(
                self.path.as_ptr(),
                self.argv.pointers.as_ptr(),
                self.env.pointers.as_ptr(),
            );
        }
        io::Error::last_os_error()
    }
}

/// Makes the command execute just this image, with clean signals.
///
/// The standard library would call `execvp`, which hands a file that is no
/// program to `/bin/sh`: a shell that nobody asked for, and an ENOEXEC that
/// nobody sees.
pub(super) fn execute_image(command: &mut Command, image: Image) {
    let parent = rustix::process::getpid();
    let guard = platform::may_die_with_thread();
    let in_child = move || {
        reset_signals()?;
        if guard {
            platform::die_with_parent(parent)?;
        }
        Err(image.execute())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are made:
    // sigaction, sigprocmask, prctl, getppid and execve, on memory that was
    // allocated before the fork.
    unsafe {
        command.pre_exec(in_child);
    }
}

/// Lets the child start with no signal blocked and none ignored, whatever
/// jelly itself was started with: a server with SIGCHLD ignored, for one,
/// can't wait for its own children. The C library keeps the two signals that
/// it uses itself out of reach.
fn reset_signals() -> io::Result<()> {
    // SAFETY: plain system calls on initialised values of this stack frame.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        for signal in 1..=64 {
            let mut action: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            if known && action.sa_sigaction == libc::SIG_IGN {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
