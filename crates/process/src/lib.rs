//! Child processes that can be trusted to be gone afterwards: spawn in an own
//! process group, capture, escalate, kill the whole tree.
//!
//! The main type is [`Process`]: a server with its pipes, its bounded stderr
//! and its exit, which anybody may watch. [`supervise()`] keeps the promise
//! that no orphan survives even a jelly that is killed with SIGKILL.
//!
//! Must not know what is said over the pipes (`wire`), nor why a process was
//! started (`exec`, `harness`). What differs between Linux and other unixes
//! stands in `linux/` and `other.rs`, chosen here and nowhere else.
//!
//! Beside it: [`Scratch`], a temporary folder that is gone as surely, and
//! [`lock_beside`], at which processes that are nobody's children wait
//! for each other, and [`replace_locked`] for what they write there.

mod drain;
mod elf;
mod exit;
mod lock;
mod lookup;
mod replace;
mod room;
mod scratch;
mod shutdown;
mod spawn;
mod stack;
mod stderr;
mod supervise;
mod terminal;
mod unix;
mod version;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod platform;

#[cfg(test)]
mod tests;

pub use drain::{DRAIN_MAX, DRAIN_QUIET, ExitBoundReader};
pub use exit::ExitWatch;
pub use lock::{Held, LockError, lock_beside};
pub use lookup::{check, program_of};
pub use replace::replace_locked;
pub use room::{Shortage, check_room, let_large_writes_fail};
pub use scratch::{Scratch, clear_scratch};
pub use shutdown::{How, Shutdown, sweep_orphans};
pub use spawn::{Capture, CommandSpec, Process, StdinGauge, spawn};
pub use stack::on_large_stack;
pub use stderr::{Mark, Said, StderrHandle};
pub use supervise::{LAST_WORDS_TAKE, Role, WorkerEnd, end_with_launcher, supervise};
pub use terminal::Terminal;
pub use version::version_of;
