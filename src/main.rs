//! The door: everything lives in the library.

use std::process::ExitCode;

/// Reports are made of small texts that come and go by the million: with the
/// allocator of glibc, an eighth of the time goes into them, and with that of
/// musl far more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    jelly::main_impl()
}
