//! An error of the machine that came where a test expects one of the product's: that a
//! database refuses says nothing of what the product throws for an order that is not
//! there.

use super::aggregate::{alone, is_of_surroundings};
use super::diagnose::Engine;
use super::facts::{Facts, FailureSource};
use super::fingerprint::Algorithm;
use super::rule::Audience;
use super::tables::{any_of, built, table};
use heck::ToSnakeCase as _;
use jelly_base::model::{Diagnosis, Failure, Side};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// Bytes that are read of what came, and of what was wanted.
const PART: usize = 4000;
const WANTED: usize = 200;

/// `tables/instead.yaml`, which says what each is.
#[derive(Deserialize)]
struct InsteadWords {
    between: Vec<String>,
    of_machines: Vec<String>,
    of_services: Vec<String>,
    of_data: Vec<String>,
    of_peers: Vec<String>,
}

struct InsteadSigns {
    between: Regex,
    of_machines: Regex,
    of_services: Regex,
    of_data: Regex,
    of_peers: Regex,
}

static SIGNS: LazyLock<InsteadSigns> = LazyLock::new(|| {
    let words: InsteadWords = table(built!("instead"));
    InsteadSigns {
        between: any_of("m", &words.between),
        of_machines: any_of("", &words.of_machines),
        of_services: any_of("", &words.of_services),
        of_data: any_of("", &words.of_data),
        of_peers: any_of("", &words.of_peers),
    }
});

/// Whether how the product fails where a machine or service does is what a test expects,
/// as `wanted` tells it.
pub(super) fn speaks_of_machines(wanted: &str) -> bool {
    // Which package it is of tells nothing.
    let name = match wanted.contains(char::is_whitespace) {
        true => wanted,
        false => wanted.rsplit(['.', ':', '\\']).next().unwrap_or(wanted),
    };
    let words = name.to_snake_case();
    let services = || SIGNS.of_services.is_match(&words) && !SIGNS.of_data.is_match(&words);
    SIGNS.of_machines.is_match(&words) || services()
}

/// Whether what came tells of somebody whom a product talks to.
pub(super) fn tells_of_peers(came: &str) -> bool {
    SIGNS.of_peers.is_match(came)
}

impl Engine {
    /// The machine's error that came instead of an expected one, as a failure of its
    /// own; none where what is expected speaks of machines itself.
    pub(super) fn came_instead(&self, facts: &Facts<'_>, diagnosis: &Diagnosis) -> Option<Failure> {
        let failure = facts.failure;
        if facts.source != FailureSource::Report
            || diagnosis.root_cause != "expected_error"
            || self.matcher.is_asked_first(&diagnosis.rule)
        {
            return None;
        }
        let signs = &*SIGNS;
        let texts = [failure.text.as_deref(), failure.message.as_deref()];
        // The first that tells both decides.
        let mut told = texts.into_iter().flatten();
        let (text, between) = told.find_map(|text| Some((text, signs.between.find(text)?)))?;
        if speaks_of_machines(wanted(&text[..between.start()])) {
            return None;
        }
        let came = text[between.end()..].trim_start_matches(['<', '#', '\'', '"', '[']);
        let nothing = ["undefined", "None", "nil", "null"];
        if nothing
            .iter()
            .any(|word| came.trim_start().starts_with(word))
        {
            return None;
        }
        // Its causes stand behind all of its frames.
        let frames = |line: &&str| !line.trim_start().starts_with("at ");
        let mut told = came
            .lines()
            .take(1)
            .chain(came.lines().skip(1).filter(frames));
        let came = match came.contains("\nCaused by: ") {
            true => told.by_ref().collect::<Vec<_>>().join("\n"),
            false => came.to_owned(),
        };
        let came = came.as_str();
        let mut part = alone(failure, &came[..came.floor_char_boundary(PART)]);
        part.type_ = class_of(came).map(str::to_owned);
        let of = self.diagnose_facts(&Facts::new(&part), Audience::Plan, Algorithm::Second);
        is_of_surroundings(&of.0).then_some(part)
    }

    /// What the log of the program under test tells that it raised as it answered 500, as a
    /// failure of its own with its diagnosis, unless that is the program's fault: whoever
    /// lacks a variable, a table or a peer answers so, too.
    pub(super) fn raised_in_log(
        &self,
        facts: &Facts<'_>,
        diagnosis: &Diagnosis,
    ) -> Option<(Failure, Diagnosis)> {
        if diagnosis.rule != OWN_PROGRAM_FAILED {
            return None;
        }
        let failure = facts.failure;
        let logs = [&failure.system_out, &failure.system_err];
        let raised = logs.into_iter().flatten().find_map(|log| raised_in(log))?;
        let part = alone(failure, &raised[..raised.floor_char_boundary(PART)]);
        let of = self.diagnose_facts(&Facts::new(&part), Audience::Plan, Algorithm::Second);
        (of.0.side != Side::Code).then_some((part, of.0))
    }
}

/// The rule of a program under test that answered 500 and showed the stack.
const OWN_PROGRAM_FAILED: &str = "http/own-program-failed";

/// What a log tells from its first exception with a stack on, as Python and JavaScript
/// write it.
fn raised_in(log: &str) -> Option<&str> {
    let of_javascript = || {
        let stack = log.find("\n    at ")?;
        Some(log[..stack].rfind('\n').map_or(0, |end| end + 1))
    };
    let begin = log
        .find("Traceback (most recent call last)")
        .or_else(of_javascript)?;
    Some(&log[begin..])
}

/// The end of what stands before the error that came: the line that tells the expected
/// one, from its last `expected` on.
fn wanted(before: &str) -> &str {
    let before = before.trim_end();
    let line = before.rsplit('\n').next().unwrap_or(before);
    let line = &line[line.floor_char_boundary(line.len().saturating_sub(WANTED))..];
    let expected = ["expected", "Expected", "EXPECTED"];
    let of_name = |at: usize| line[..at].ends_with(|c: char| c.is_alphanumeric());
    let from = expected
        .iter()
        .flat_map(|word| line.match_indices(word))
        .map(|(at, word)| (at, at + word.len()))
        .filter(|(at, _)| !of_name(*at))
        .map(|(_, end)| end)
        .max();
    from.map_or(line, |from| &line[from..])
}

/// The class of an exception that a text begins with.
fn class_of(text: &str) -> Option<&str> {
    let in_class = |c: char| c.is_alphanumeric() || "._:$\\".contains(c);
    let class = text[..text.find(|c| !in_class(c)).unwrap_or(text.len())].trim_end_matches(':');
    (class.ends_with("Error") || class.ends_with("Exception")).then_some(class)
}

#[cfg(test)]
#[path = "instead_tests.rs"]
mod tests;
