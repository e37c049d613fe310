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
    told: Vec<String>,
}

/// Those three, in their order.
static SHOWN: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    let statuses: ShownStatuses = table(built!("statuses"));
    [statuses.shown, statuses.bare, statuses.told].map(|patterns| any_of("m", &patterns))
});

/// Words of tests that are about answers over HTTP.
const OF_HTTP: [&str; 8] = [
    "status", "http", "request", "respon", "endpoint", "route", "fetch", "api",
];

/// The rule for a compared status, in place of one that takes the two for any values.
pub(super) fn status_rule(rule: &Rule, facts: &Facts<'_>) -> Option<&'static str> {
    let compared = rule.root_cause == "assertion_mismatch" && rule.side == RuleSide::Code;
    let read = compared && facts.source == FailureSource::Report;
    let texts = [&facts.failure.text, &facts.failure.message];
    let mut told = texts.into_iter().flatten();
    let [shown, bare, said] = &*SHOWN;
    let names = [&facts.failure.name, &facts.failure.classname];
    let is_of_http = || {
        names.into_iter().flatten().any(|name| {
            let name = name.to_lowercase();
            OF_HTTP.iter().any(|word| name.contains(word))
        })
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
