//! The report that a person opens in a browser: one file, with nothing to fetch.
//!
//! Main functions: [`run_html`], for runs; the page of `jelly triage` is made of
//! the same parts beside its other formats. All of it can be read without a
//! script and without a style, since a CI that serves it may block both: see
//! [`page`]. A page has a bound, and what has no room in it is counted and
//! linked to: see [`room`]. Foreign words come through [`parts`].

mod causes;
mod compared;
mod failure;
mod fleet;
mod iterations;
pub(super) mod links;
mod matrix;
pub(super) mod page;
pub(super) mod parts;
pub(super) mod room;
mod run;
pub(super) mod spark;
mod timeline;

#[cfg(test)]
mod tests;

pub use fleet::{FleetAnswers, fleet_html};
pub(super) use links::PageLinks;
pub(super) use run::run_html;
pub use spark::{PastEnds, TestEnd};
