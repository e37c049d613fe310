//! The first algorithm of fingerprints (`j1:`), so that what earlier releases
//! remembered is found. To be removed in the release after the one that brings
//! `j2:`, with `Algorithm::First`.

mod template;

pub(super) use template::{template, without_stamps};
