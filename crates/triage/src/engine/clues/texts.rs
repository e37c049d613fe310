//! The one list of texts, wherever the failure was seen.

use super::identifiers::hide_names;
use super::live::live;
use super::reported::report;
use super::slice::{List, Text};
use crate::engine::facts::{Facts, FailureSource};
use std::borrow::Cow;

/// The texts to read, most telling first.
pub(in crate::engine) fn texts<'a>(facts: &Facts<'a>) -> Vec<Text<'a>> {
    let mut list = List::default();
    match facts.source {
        FailureSource::Report => report(&mut list, facts.failure),
        FailureSource::Live => live(&mut list, facts),
    }
    for text in &mut list.texts {
        if let Some(hidden) = hide_names(&text.text) {
            text.as_written = Some(std::mem::replace(&mut text.text, Cow::Owned(hidden)));
        }
    }
    list.texts.sort_by_key(|text| (text.reserve, text.rank));
    list.texts
}
