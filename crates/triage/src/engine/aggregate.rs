//! A failure of a report that holds several: a block that goes on after its
//! first failure, or a group of exceptions.
//!
//! A comparison that does not hold is the code's. One beside an error of the
//! machine proves less: what the one could not fetch, the other may have
//! missed.

use super::diagnose::Engine;
use super::facts::{Facts, FailureSource};
use super::fingerprint::Algorithm;
use super::rule::{Audience, unknown};
use super::tables::{any_of, built, table};
use jelly_base::model::{Diagnosis, ErrorCategory, Failure, Side};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// Parts of one failure that are looked at.
const PARTS: usize = 16;
/// Bytes of a part that are read; what matters of an error stands at its begin.
const PART: usize = 4000;

/// `tables/aggregates.yaml`, which says what each list is.
#[derive(Deserialize)]
struct AggregateWords {
    heads: Vec<String>,
    carries: Vec<String>,
    parts: Vec<String>,
    blocks: Vec<String>,
}

struct AggregateSigns {
    head: Regex,
    carries: Regex,
    part: Regex,
    block: Regex,
}

static SIGNS: LazyLock<AggregateSigns> = LazyLock::new(|| {
    let words: AggregateWords = table(built!("aggregates"));
    AggregateSigns {
        head: any_of("m", &words.heads),
        carries: any_of("m", &words.carries),
        part: any_of("m", &anchored(&words.parts)),
        block: any_of("m", &anchored(&words.blocks)),
    }
});

fn anchored(parts: &[String]) -> Vec<String> {
    parts.iter().map(|part| format!("^{part}")).collect()
}

impl Engine {
    /// The part of an aggregate that is an error of the machine, as a failure
    /// of its own, where `diagnosis` blames the code for another part, or knows nothing.
    pub(super) fn part_of_surroundings(
        &self,
        facts: &Facts<'_>,
        diagnosis: &Diagnosis,
    ) -> Option<Failure> {
        let failure = facts.failure;
        if facts.source != FailureSource::Report
            || diagnosis.side != Side::Code && diagnosis.rule != unknown().id
            || self.matcher.is_asked_first(&diagnosis.rule)
        {
            return None;
        }
        let texts = [failure.text.as_deref(), failure.message.as_deref()];
        texts
            .into_iter()
            .flatten()
            .map(parts)
            .find(|parts| parts.len() > 1)?
            .into_iter()
            .map(|part| alone(failure, part))
            .find(|part| {
                let facts = Facts::new(part);
                let of = self.diagnose_facts(&facts, Audience::Plan, Algorithm::Second);
                is_of_surroundings(&of.0)
            })
    }
}

impl Engine {
    /// The product's own error that an assertion on its answer carries along, as
    /// a failure of its own, with what it means.
    pub(super) fn carried(
        &self,
        facts: &Facts<'_>,
        diagnosis: &Diagnosis,
    ) -> Option<(Failure, Diagnosis)> {
        let failure = facts.failure;
        let asserts = diagnosis.error_category == Some(ErrorCategory::Assertion);
        if facts.source != FailureSource::Report
            || !asserts
            || self.matcher.is_asked_first(&diagnosis.rule)
        {
            return None;
        }
        let texts = [failure.text.as_deref(), failure.message.as_deref()];
        let part = texts.into_iter().flatten().find_map(|text| {
            let head = SIGNS.carries.find(text)?;
            let rest = &text[head.end()..];
            Some(&rest[..rest.floor_char_boundary(PART)])
        })?;
        let part = alone(failure, part);
        let of = self.diagnose_facts(&Facts::new(&part), Audience::Plan, Algorithm::Second);
        Some((part, of.0))
    }
}

pub(super) fn is_of_surroundings(diagnosis: &Diagnosis) -> bool {
    let machine = matches!(
        diagnosis.error_category,
        Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
    );
    machine && diagnosis.side == Side::Test && !diagnosis.ambiguous
}

/// What the failures are that `text` announces, or of which it holds a block each as testify
/// writes them; empty where it does neither.
/// A stack of the JVM is none of theirs: it follows on the last and is of all.
fn parts(text: &str) -> Vec<&str> {
    let signs = &*SIGNS;
    let (rest, begins) = match signs.head.find(text) {
        Some(head) => (&text[head.start()..], &signs.part),
        None if text.matches("Error Trace:").count() > 1 => (text, &signs.block),
        None => return Vec::new(),
    };
    let mut begins: Vec<usize> = begins.find_iter(rest).map(|at| at.start()).collect();
    begins.truncate(PARTS + 1);
    let ends = begins.iter().skip(1).copied().chain([rest.len()]);
    begins
        .iter()
        .zip(ends)
        .take(PARTS)
        .map(|(&begin, end)| &rest[begin..end])
        .map(|part| part.split("\n\tat ").next().unwrap_or(part))
        .map(|part| &part[..part.floor_char_boundary(PART)])
        .collect()
}

/// `failure` as if `part` were all that was said of it.
pub(super) fn alone(failure: &Failure, part: &str) -> Failure {
    Failure {
        message: None,
        type_: None,
        text: Some(part.to_owned()),
        system_out: None,
        system_err: None,
        ..failure.clone()
    }
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;
