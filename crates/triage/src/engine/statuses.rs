//! Statuses that a test compared, where the text that rules read does not show that
//! they are some.

use super::clues;
use super::facts::{Facts, FailureSource};
use super::field::RuleSide;
use super::rule::Rule;
use super::tables::{any_of, built, table};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// `tables/statuses.yaml`, which says what it is.
#[derive(Deserialize)]
struct ShownStatuses {
    shown: Vec<String>,
    bare: Vec<String>,
    names: Vec<String>,
    told: Vec<String>,
}

/// Those four, in their order.
static SHOWN: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    let ShownStatuses {
        shown,
        bare,
        names,
        told,
    } = table(built!("statuses"));
    [shown, bare, names, told].map(|patterns| any_of("m", &patterns))
});

/// The rule for a compared status, in place of one that takes the two for any values.
pub(super) fn status_rule(rule: &Rule, facts: &Facts<'_>) -> Option<&'static str> {
    let compared = rule.root_cause == "assertion_mismatch" && rule.side == RuleSide::Code;
    let read = compared && facts.source == FailureSource::Report;
    let texts = [&facts.failure.text, &facts.failure.message];
    let mut told = texts.into_iter().flatten();
    let [shown, bare, of_http, said] = &*SHOWN;
    let names = [&facts.failure.name, &facts.failure.classname];
    let is_of_http = || {
        names
            .into_iter()
            .flatten()
            .any(|name| of_http.is_match(name))
    };
    let is_said = |text: &str| {
        said.find(text)
            .is_some_and(|said| !clues::compares(said.as_str()))
    };
    let is_shown = |text: &str| shown.is_match(text) || bare.is_match(text) && is_of_http();
    let shown = read && told.any(|text| is_shown(text) || is_said(text));
    shown.then_some("http/status-compared")
}

#[cfg(test)]
#[path = "statuses_tests.rs"]
mod tests;
