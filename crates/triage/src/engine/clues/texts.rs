//! The one list of texts, wherever the failure was seen.

use super::live::live;
use super::reported::report;
use super::slice::{List, Text};
use crate::engine::facts::{Facts, FailureSource};

/// The texts to read, most telling first.
pub(in crate::engine) fn texts<'a>(facts: &Facts<'a>) -> Vec<Text<'a>> {
    let mut list = List::default();
    match facts.source {
        FailureSource::Report => report(&mut list, facts.failure),
        FailureSource::Live => live(&mut list, facts),
    }
    list.texts.sort_by_key(|text| (text.reserve, text.rank));
    list.texts
}
