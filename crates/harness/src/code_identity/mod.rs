//! Which code a server runs, where that is proved: a commit that its files are
//! at, a published version, an image. [`Checkouts`] finds it out for a command;
//! where anything is in doubt, nothing is proved.
//!
//! Must not know plans, steps or what follows from it.

mod checkout;
mod checkouts;
mod ignored;
mod started;
mod types;

pub use checkouts::Checkouts;
pub use types::{CodeIdentity, ServerCode};
