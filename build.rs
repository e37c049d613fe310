//! Has the program linked to run at the address that it was linked for.
//!
//! Where it may be loaded anywhere, the loader corrects a third of a million pointers
//! at each start, which takes as long as a run of one call; see
//! docs/decisions/0030-fixed-address.md.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let targets = |key: &str, value: &str| env::var(key).as_deref() == Ok(value);
    // Other systems refuse such programs, or are linked in another way.
    if targets("CARGO_CFG_TARGET_OS", "linux") && targets("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
