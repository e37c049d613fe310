//! One plan, executed once: supervises servers, runs steps, judges
//! expectations, emits events, returns an [`IterationRecord`].
//!
//! Must know nothing of rules, repairs, the loop or reports: it gathers facts
//! and leaves it to others to say what they mean.
//!
//! [`IterationRecord`]: crate::model::IterationRecord

mod board;
mod judge;
mod keep;
mod lane;
mod launch;
mod operators;
mod output;
mod preflight;
mod run;
mod select;
mod settings;
mod step;

pub use run::{Executed, Iteration, execute};
pub use select::{NoSuchFilter, Selection};
pub use settings::{ExecSettings, StderrLog};
