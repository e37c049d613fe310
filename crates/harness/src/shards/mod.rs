//! A list of plans over several runners: who runs which plan, and what the
//! results of all of them come to together.
//!
//! Everything here is pure. The module must not know where results lie, nor
//! which CI system runs the shards.

mod assign;
mod combine;

pub use assign::{PlanTime, PlanTimes, assign, list_digest, text_digest};
pub use combine::{Combined, MergeProblem, ShardResult, combine};
