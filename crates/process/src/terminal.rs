//! The terminal, for a worker that asks a person something.
//!
//! Main type: [`Terminal`].

use rustix::process::{Pid, getpgid, getpgrp, getppid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use std::io;

/// The terminal of stdin, as long as this lives, in the hands of this
/// process's own group: only the group in front may read from it, and that is
/// the supervisor's.
///
/// Ctrl-Z does nothing meanwhile: it would stop this process alone, and the
/// shell, which waits for the supervisor, would not take the terminal back.
#[derive(Debug)]
pub struct Terminal {
    before: Pid,
    /// What Ctrl-Z did.
    suspension: libc::sighandler_t,
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
        // SAFETY: only the disposition of one signal is changed; it is changed
        // back when this is dropped.
        let suspension = unsafe { libc::signal(libc::SIGTSTP, libc::SIG_IGN) };
        // From here on it is changed back, whatever comes.
        let terminal = Self { before, suspension };
        hand_to(getpgrp()).ok()?;
        Some(terminal)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone belongs to nobody.
        let _ = hand_to(self.before);
        // SAFETY: sets a disposition that was in force before.
        unsafe { libc::signal(libc::SIGTSTP, self.suspension) };
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
