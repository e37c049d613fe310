//! Statuses that a test compared, where the text that rules read does not show that
//! they are some; and numbers that only look like them.

use super::clues;
use super::facts::{Facts, FailureSource};
use super::field::RuleSide;
use super::rule::Rule;
use super::tables::{any_of, built, table};
use jelly_base::text::LazyPattern;
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
    given: Vec<String>,
}

/// Those five, in their order.
static SHOWN: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    let ShownStatuses {
        shown,
        bare,
        names,
        told,
        given,
    } = table(built!("statuses"));
    [shown, bare, names, told, given].map(|patterns| any_of("m", &patterns))
});

/// The rules that take two bare numbers for statuses.
const OF_STATUSES: [&str; 2] = [
    "http/status-compared",
    "http/request-refused-where-none-was",
];

/// What pytest says a compared number came of: `+  where 300 = open_rows(3)`.
static WHERE: LazyPattern = LazyPattern::ascii(
    r"(?m)\bassert ([1-5]\d\d) [^\n]*\n(?:E )? *\+ +where ([1-5]\d\d) = ([^\n]+)",
);

/// The rule for a compared status, in place of one that takes the two for any values; or the
/// rule for any values, in place of one that takes them for statuses, though pytest says that
/// they came of something else.
pub(super) fn status_rule(rule: &Rule, facts: &Facts<'_>) -> Option<&'static str> {
    let compared = rule.root_cause == "assertion_mismatch" && rule.side == RuleSide::Code;
    let read = compared && facts.source == FailureSource::Report;
    let texts = [&facts.failure.text, &facts.failure.message];
    let mut told = texts.into_iter().flatten();
    let [shown, bare, of_http, said, given] = &*SHOWN;
    let names = [&facts.failure.name, &facts.failure.classname];
    let is_of_http = || {
        names
            .into_iter()
            .flatten()
            .any(|name| of_http.is_match(name))
    };
    if facts.source == FailureSource::Report && OF_STATUSES.contains(&rule.id.as_str()) {
        let is_value = |text: &String| {
            let came = WHERE.captures(text);
            // Nobody counts to these as often as they are answered, but by counting.
            let is_answer = |number: &str| ["429", "502", "503", "504"].contains(&number);
            let is_counted = |call: &str| {
                ["len(", "sum(", "max("]
                    .iter()
                    .any(|own| call.starts_with(own))
            };
            came.is_some_and(|came| {
                let is_open = is_answer(&came[1]) && !is_counted(&came[3]);
                came[1] == came[2] && !is_open && !given.is_match(&came[3])
            })
        };
        let is_value = told.any(is_value) && !is_of_http();
        return is_value.then_some("pytest/assertion");
    }
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
