//! Has the program linked for a fixed address.
//!
//! Where it may be loaded anywhere, the loader corrects its pointers at each start,
//! which takes a third of that; see docs/decisions/0030-fixed-address.md.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let targets = |key: &str, value: &str| env::var(key).as_deref() == Ok(value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    // What holds its own C library is linked in another way, and crashes with this flag.
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    // Other systems refuse such programs.
    let is_linux = targets("CARGO_CFG_TARGET_OS", "linux");
    if is_linux && targets("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
