//! Calls of tools that nobody wrote down, made from input schemas, and what their
//! answers say of a server.
//!
//! Pure: schemas in, calls out; answers in, sightings out. [`Target`] is a tool with
//! its cases, [`CaseSequence`] puts those of all tools into one order that depends on
//! nothing but a seed, [`judge`] looks at an answer, [`simpler`] proposes smaller calls
//! that may fail alike, [`Feed`] keeps what answers gave for later arguments, and
//! [`plan_text`] writes findings as a plan.
//!
//! Must not know how a server is started or called.

mod case;
mod cause;
mod fault_texts;
mod feed;
mod inside;
mod judge;
mod observe;
mod plan_text;
mod report;
mod schema;
mod shrink;
mod strings;
mod target;
mod values;
mod variants;

pub use case::{Act, BY_CHANCE, Case, CaseSequence, Input, Way};
pub use cause::fingerprint;
pub use feed::Feed;
pub use inside::one_step_inside;
pub use judge::{Sighting, judge, judge_bound, judge_pair};
pub use observe::{Answer, Observation, WireSlip};
pub use plan_text::{ServerEntry, is_own_plan, plan_text};
pub use report::{
    FindingKind, FindingStatus, FuzzCall, FuzzEnd, FuzzFinding, FuzzNotice, FuzzProbe, FuzzReport,
    FuzzTotals, FuzzedTool, LeftOutTool, shown_arguments,
};
pub use shrink::{long_text, simpler, with_length};
pub use target::{Target, TargetError};
