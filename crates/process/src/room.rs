//! Whether there is room to work at all, asked before anything depends on it.
//!
//! A process, a thread or a descriptor may be refused at any moment; where the
//! first few are refused already, a command ends in a sentence that names what
//! ran out, before a library meets it in a place that can't say so.

use std::fs::File;
use std::io;
use std::thread;

/// What jelly itself opens beside its servers: the runtime, signals, pipes of
/// the supervisor.
const DESCRIPTORS: usize = 16;
/// For signals, and for what waits for a name of the network.
const THREADS: usize = 2;

/// Something that jelly can't go on without, and that the system refuses.
#[derive(Debug, thiserror::Error)]
pub enum Shortage {
    #[error("start a thread: {0}; raise `ulimit -u`, or the process limit of this container")]
    Threads(io::Error),
    #[error("open the files that it needs: {0}; raise `ulimit -n`")]
    Descriptors(io::Error),
    #[error("open /dev/null, which servers are started with: {0}; give this container its /dev")]
    NullDevice(io::Error),
}

/// Tries what every command that starts servers needs, and gives it back.
///
/// # Errors
/// The first thing that is refused.
pub fn check_room() -> Result<(), Shortage> {
    let started: Result<Vec<_>, _> = (0..THREADS)
        .map(|_| {
            thread::Builder::new()
                .stack_size(64 * 1024)
                .spawn(thread::park)
        })
        .collect();
    let threads = started.map_err(Shortage::Threads)?;
    for thread in threads {
        thread.thread().unpark();
        // It does nothing that could panic.
        let _ = thread.join();
    }
    let opened: io::Result<Vec<File>> = (0..DESCRIPTORS).map(|_| File::open("/dev/null")).collect();
    opened.map(drop).map_err(Shortage::of_opening)
}

impl Shortage {
    fn of_opening(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::Descriptors(error),
            Some(_) | None => Self::NullDevice(error),
        }
    }
}

/// Lets a write past the limit of a file's size fail like any other, instead of
/// ending the process. Programs that are started do not inherit it.
pub fn let_large_writes_fail() {
    extern "C" fn go_on(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = go_on;
    // SAFETY: the handler does nothing, so it may run at any time.
    unsafe {
        libc::signal(libc::SIGXFSZ, handler as libc::sighandler_t);
    }
}

#[cfg(test)]
mod tests {
    use super::Shortage;
    use std::io;

    #[test]
    fn what_can_not_be_opened_is_told_from_what_there_are_too_many_of() {
        for (code, told) in [
            (libc::EMFILE, "ulimit -n"),
            (libc::ENFILE, "ulimit -n"),
            (libc::ENOENT, "/dev/null"),
            (libc::EACCES, "/dev/null"),
        ] {
            let text = Shortage::of_opening(io::Error::from_raw_os_error(code)).to_string();
            assert!(text.contains(told), "{text}");
            assert_eq!(text.contains("ulimit"), told.contains("ulimit"), "{text}");
        }
    }
}
