//! Triage: what a failure means, whom it concerns, and what to do about it.
//!
//! The main type is [`Engine`]: `Failure → Diagnosis`, pure, without I/O and
//! without a clock. What it knows stands in `rules/*.yaml`, one file a domain;
//! the code only asks which rules hold and which of them has the better
//! evidence.
//!
//! The module must not know plans, executions or budgets: what repetition
//! proves is the loop's to say, and what a repair may change is `repair`'s.

mod advice;
mod answer;
mod clues;
mod engine;
mod evidence;
mod facts;
mod fingerprint;
mod live;
mod load;
mod rule;
mod statement;
mod template;

pub use engine::Engine;
pub use fingerprint::{Fingerprints, fingerprints};
pub use load::{RuleError, parse_rules};
pub use rule::{AdviceText, Example, Field, Rule, RuleSide, Strength};
