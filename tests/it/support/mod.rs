//! What the tests stand on: a project folder, a call of jelly in it that can't
//! hang, what it left behind, and the servers it can talk to.

#[cfg(feature = "serve")]
pub mod agent;
pub mod auth;
mod call;
pub mod client;
pub mod doctor;
pub mod http;
#[cfg(feature = "serve")]
pub mod listening;
mod ports;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod procs;
mod project;
mod run;
pub mod schemas;
mod servers;
pub mod talker;

pub use call::{Call, Ended, Running};
pub use jelly_base::testing::slice;
pub use ports::HeldPort;
pub use project::{Project, run};
pub use run::{Iteration, Run};
pub use servers::{fixtures, python, python_program, real, started};
