//! Work in need of more stack than the main thread may have.

use rustix::process::{Resource, getrlimit};
use std::{io, panic, thread};

/// What the main thread has where nobody set a limit, and what is enough for all of
/// jelly.
const STACK: usize = 8 << 20;
/// Less than this is not enough.
const LEAST: u64 = 1 << 20;

/// Does the work in the main thread where that has the stack for it, and else in one of
/// its own: the limit holds for the main thread alone.
///
/// # Errors
/// There is no room for a thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let limit = getrlimit(Resource::Stack).current;
    if limit.is_none_or(|limit| limit >= LEAST) {
        return Ok(work());
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("main".into()).stack_size(STACK);
        let thread = builder.spawn_scoped(scope, work)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    })
}
