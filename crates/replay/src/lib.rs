//! Recorded traffic with a server: what was asked and answered, and a server
//! that gives the same answers again.
//!
//! The core ([`Replay`]) is a state machine from lines to lines; whoever runs
//! it reads and writes. It must know nothing of plans or runs: to the rest of
//! jelly it is one more server.

mod alike;
mod exchange;
mod server;

pub use alike::difference;
pub use exchange::{Exchange, Exchanges, Reaction, exchanges, main_session};
pub use server::{Order, Replay};
