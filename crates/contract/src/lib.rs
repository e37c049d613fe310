//! What servers promise their clients, and what a change of it breaks.
//!
//! Pure: inventories in, changes out. [`Lock`] is what sessions showed of servers,
//! as it is kept in a file, [`compare`] makes [`Change`]s of two locks, [`lint`] looks
//! at one server alone, [`lint_seen`] at what its calls did besides. What a change means stands in `rules.yaml`.
//!
//! Must not know how a server is started, nor where a lock is kept.

mod canonical;
mod change;
mod compare;
mod coverage;
mod direction;
mod items;
mod lint;
mod lock;
#[cfg(test)]
mod mutation_tests;
mod rules;
mod schema;
mod seen;

pub use canonical::{canonical, digest};
pub use change::{Change, ChangeKind, Changes, SchemaChange};
pub use compare::{compare, counts};
pub use coverage::{CoverageKey, exercised, is_covered, listed_items};
pub use direction::Direction;
pub use lint::{LintFinding, LintLevel, LintReport, LintTotals, TOKEN_BYTES, lint};
pub use lock::{EraLock, Items, LOCK_VERSION, Lock, LockError, LockedItem, ServerLock};
pub use rules::Rules;
pub use schema::compare_schemas;
pub use seen::{SeenRequest, lint_seen};
