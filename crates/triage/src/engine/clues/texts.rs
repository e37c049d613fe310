//! The one list of texts, wherever the failure was seen.

use super::identifiers::hide_names;
use super::live::live;
use super::misleading::Misleading;
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
    let misleading = Misleading::of(facts);
    for text in &mut list.texts {
        let hidden = misleading.hide(&text.text);
        let names = hide_names(hidden.as_deref().unwrap_or(&text.text));
        if let Some(hidden) = names.or(hidden) {
            text.as_written = Some(std::mem::replace(&mut text.text, Cow::Owned(hidden)));
        }
    }
    list.texts.sort_by_key(|text| (text.reserve, text.rank));
    list.texts
}
