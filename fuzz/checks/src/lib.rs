//! What a fuzz target holds, for each place where bytes of others come in: the
//! targets call it with what they make up, the tests with `fuzz/seeds/`.
//!
//! Each function panics where something does not hold.

pub mod configuration;
pub mod exchange;
pub mod junit;
pub mod machine;
pub mod package;
pub mod plan;
pub mod redaction;
pub mod schema;
pub mod sse;
pub mod triage;
pub mod wire;
