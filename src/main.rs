//! The program; everything lives in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    jelly::main_impl()
}
