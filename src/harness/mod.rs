//! The loop: run → classify → repair or retry under budgets → rerun → pass,
//! fail, or stop and ask.
//!
//! [`LoopState`] is the loop as a pure state machine; round it stands a thin
//! driver that reaches execution through [`Executor`]. Must not know how a
//! plan is executed, nor how a report is shown.

mod ask;
mod backoff;
mod decide;
mod executor;
mod judge;
mod memory;
mod purse;
mod reason;
mod seen;
mod standing;
mod verdict;

pub use decide::{Action, Decision, LoopState};
pub use executor::{Executor, IterationContext};
pub use judge::Judged;
pub use memory::{Revision, Tried};
pub use seen::{Observation, Policy, Seen, StepFacts};
pub use standing::Standings;
pub use verdict::{Course, Ending, Taint, conclude};
