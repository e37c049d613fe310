//! The terminal, for a worker that asks a person something.
//!
//! Main type: [`Terminal`].

use rustix::process::{Pid, getpgid, getpgrp, getppid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use std::io;

/// The terminal of stdin, as long as this lives, in the hands of this
/// process's own group: only the group in front may read from it, and that is
/// the supervisor's.
#[derive(Debug)]
pub struct Terminal {
    before: Pid,
}

impl Terminal {
    /// Takes it from the supervisor. None where that is not needed, or where
    /// jelly itself is not in front.
    #[must_use]
    pub fn take() -> Option<Self> {
        let before = tcgetpgrp(io::stdin()).ok()?;
        let supervisors = getpgid(getppid()).ok()?;
        if before == getpgrp() || before != supervisors {
            return None;
        }
        hand_to(getpgrp()).ok()?;
        Some(Self { before })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone belongs to nobody.
        let _ = hand_to(self.before);
    }
}

fn hand_to(group: Pid) -> io::Result<()> {
    // SAFETY: only the disposition of one signal is changed, and changed back.
    // Who is not in front is stopped by it for what follows.
    let before = unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
    let handed = tcsetpgrp(io::stdin(), group);
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGTTOU, before) };
    Ok(handed?)
}
