//! One plan, executed once: supervises servers, runs steps, judges
//! expectations, emits events, returns an [`IterationRecord`].
//!
//! Must know nothing of rules, repairs, the loop or reports: it gathers facts
//! and leaves it to others to say what they mean.
//!
//! [`IterationRecord`]: crate::model::IterationRecord

mod judge;
mod operators;
mod output;
mod preflight;

pub use judge::{Judgement, Mismatch, Observed, judge};
