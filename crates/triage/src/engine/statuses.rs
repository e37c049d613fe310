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
    told: Vec<String>,
}

/// Those two, in their order.
static SHOWN: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    let statuses: ShownStatuses = table(built!("statuses"));
    [statuses.shown, statuses.told].map(|patterns| any_of("m", &patterns))
});

/// The rule for a compared status, in place of one that takes the two for any values.
pub(super) fn status_rule(rule: &Rule, facts: &Facts<'_>) -> Option<&'static str> {
    let compared = rule.root_cause == "assertion_mismatch" && rule.side == RuleSide::Code;
    let read = compared && facts.source == FailureSource::Report;
    let texts = [&facts.failure.text, &facts.failure.message];
    let mut told = texts.into_iter().flatten();
    let [shown, said] = &*SHOWN;
    let is_said = |text: &str| {
        said.find(text)
            .is_some_and(|said| !clues::compares(said.as_str()))
    };
    let shown = read && told.any(|text| shown.is_match(text) || is_said(text));
    shown.then_some("http/status-compared")
}

#[cfg(test)]
#[path = "statuses_tests.rs"]
mod tests;
