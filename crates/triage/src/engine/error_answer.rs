//! An answer that fails an expectation and is an error as a whole: it is read
//! as if the tool had said so, before anything is compared.
//!
//! What it tells of the server's surroundings decides; what it tells of the
//! server's code is evidence for a mismatch; any other error proves nothing
//! by itself, since the plan may ask for what is not there.

use super::answer::stated_error;
use super::clues;
use super::diagnose::Engine;
use super::facts::{ErrorAnswer, Facts, Promise};
use super::field::Strength;
use super::fingerprint::Algorithm;
use super::rule::Audience;
use super::tables::{any_of, built, table};
use jelly_base::model::{
    Diagnosis, ErrorCategory, Failure, Outcome, Phase, Side, ToolResult, Wanted,
};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// How a failure with such an answer is read.
pub(super) enum Reading {
    /// As this failure, which is one of the surroundings.
    Surroundings(Box<Failure>),
    /// As this failure, which is about a path that the plan may have wrong.
    Path(Box<Failure>),
    /// As the mismatch that it is, with what the answer shows.
    Mismatch { shows: ErrorAnswer, says: String },
}

/// `tables/error_answers.yaml`, which says what each list is.
#[derive(Deserialize)]
struct ErrorAnswerWords {
    of_what_was_asked: Vec<String>,
    keeps_from_starting: Vec<String>,
    asks_for_no_text: Vec<String>,
    generic: Vec<String>,
    rights: Vec<String>,
    paths: Vec<String>,
    internal: Vec<String>,
    complaints: Vec<String>,
}

static WORDS: LazyLock<ErrorAnswerWords> = LazyLock::new(|| table(built!("error_answers")));

/// The root cause that may be a right of the user at a service or one at a path.
const DENIED: &str = "permission_denied";

/// Values that are looked at for whether they ask for an error.
const VALUES: usize = 32;
/// Bytes of such a value; what is longer asks for more than an error.
const VALUE: usize = 2000;

impl Engine {
    /// How a failed expectation is to be read whose answer is an error;
    /// nothing where it is an ordinary one.
    pub(super) fn reading_of(&self, facts: &Facts<'_>) -> Option<Reading> {
        let failure = facts.failure;
        let promise = facts.promise?;
        if let Some(instead) = as_start(failure) {
            return self.keeps_from_starting(failure, instead);
        }
        let Some((instead, declared)) = as_error(failure) else {
            let result = failure.tool_result.as_ref()?;
            let says = complaint(failure, result).filter(|_| promise != Promise::OutputSchema)?;
            return Some(Reading::Mismatch {
                shows: ErrorAnswer::Other,
                says,
            });
        };
        let diagnosis = self
            .diagnose_facts(&Facts::new(&instead), Audience::Plan, Algorithm::Second)
            .0;
        let kind = self.kind(&diagnosis, &instead);
        let wants_error = failure.wanted.as_ref().is_some_and(|wanted| wanted.error)
            || failure.assertion.as_ref().is_some_and(|assertion| {
                use jelly_base::model::AssertionTarget::{Error, IsError};
                assertion.target == Some(Error)
                    || assertion.target == Some(IsError) && assertion.expected == Value::Bool(true)
            });
        if kind == AnswerKind::Surroundings {
            let asked = || self.asked_for(failure, &diagnosis);
            return (!asked()).then(|| Reading::Surroundings(Box::new(instead)));
        }
        // A wrong error, and a schema that is broken, are what they are.
        if declared || wants_error || promise == Promise::OutputSchema {
            return None;
        }
        let says = |instead: &Failure| {
            let result = instead.tool_result.as_ref();
            result.map(|result| result.text.clone()).unwrap_or_default()
        };
        Some(match kind {
            AnswerKind::Shows(shows) => Reading::Mismatch {
                shows,
                says: says(&instead),
            },
            AnswerKind::Path | AnswerKind::Surroundings => Reading::Path(Box::new(instead)),
        })
    }

    /// A server was to refuse to start, and exited otherwise than it should: that
    /// may be for what is wrong around it, and not for what it is to refuse.
    fn keeps_from_starting(&self, failure: &Failure, instead: Failure) -> Option<Reading> {
        let diagnosis = self
            .diagnose_facts(&Facts::new(&instead), Audience::Plan, Algorithm::Second)
            .0;
        let rule = self.rules().find(|rule| rule.id == diagnosis.rule);
        let keeps = rule.is_some_and(|rule| rule.strength != Strength::Fallback)
            && diagnosis.side == Side::Test
            && WORDS.keeps_from_starting.contains(&diagnosis.root_cause);
        (keeps && !self.asked_for(failure, &diagnosis))
            .then(|| Reading::Surroundings(Box::new(instead)))
    }

    fn kind(&self, diagnosis: &Diagnosis, instead: &Failure) -> AnswerKind {
        let of_surroundings = diagnosis.side == Side::Test
            && !diagnosis.ambiguous
            && matches!(
                diagnosis.error_category,
                Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
            );
        if of_surroundings {
            let cause = &diagnosis.root_cause;
            let said = diagnosis
                .evidence
                .as_ref()
                .map(|evidence| evidence.text.as_str());
            let of_a_path = WORDS.of_what_was_asked.contains(cause)
                || *cause == DENIED && !said.is_some_and(speaks_of_rights);
            return if of_a_path {
                AnswerKind::Path
            } else {
                AnswerKind::Surroundings
            };
        }
        let rule = self.rules().find(|rule| rule.id == diagnosis.rule);
        let proves = rule.is_some_and(|rule| rule.strength != Strength::Fallback);
        let text = instead
            .tool_result
            .as_ref()
            .map(|result| result.text.as_str());
        // An error that names no cause has it in the log, if anywhere.
        let raised = || {
            instead
                .stderr
                .as_deref()
                .and_then(clues::trace_line)
                .is_some()
        };
        if diagnosis.side == Side::Code && proves
            || text.is_some_and(says_internal)
            || !proves && raised()
        {
            AnswerKind::Shows(ErrorAnswer::Internal)
        } else {
            AnswerKind::Shows(ErrorAnswer::Other)
        }
    }

    /// Whether the step asks for the very error of the surroundings that came.
    fn asked_for(&self, failure: &Failure, diagnosis: &Diagnosis) -> bool {
        let matched = self.matched(diagnosis);
        wanted_texts(failure).iter().any(|text| {
            let lower = text.to_ascii_lowercase();
            let is_of_signature = matched
                .iter()
                .any(|matched| matched.contains(&lower) || lower.contains(matched.as_str()));
            is_of_signature || {
                let other = Failure {
                    stderr: None,
                    ..as_told(failure, text.clone())
                };
                let meant = self
                    .diagnose_facts(&Facts::new(&other), Audience::Plan, Algorithm::Second)
                    .0;
                meant.root_cause == diagnosis.root_cause
            }
        })
    }

    /// What the rule's patterns matched of the evidence, in lower case.
    fn matched(&self, diagnosis: &Diagnosis) -> Vec<String> {
        let Some(evidence) = &diagnosis.evidence else {
            return Vec::new();
        };
        let patterns = self.matcher.patterns.iter().filter(|pattern| {
            !pattern.veto && self.matcher.rules[pattern.rule].rule.id == diagnosis.rule
        });
        patterns
            .filter_map(|pattern| pattern.regex()?.find(evidence.text.as_bytes()))
            .map(|found| {
                String::from_utf8_lossy(found.as_bytes())
                    .trim()
                    .to_ascii_lowercase()
            })
            .filter(|text| text.len() > 2)
            .collect()
    }
}

/// What an answer tells that is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    Surroundings,
    Path,
    /// Nothing of the surroundings.
    Shows(ErrorAnswer),
}

/// The failure as it would be if the error had been told as one, and whether
/// it was; nothing where the answer is no error.
fn as_error(failure: &Failure) -> Option<(Failure, bool)> {
    if failure.rpc_error.is_some() {
        let mut instead = unexpected(failure);
        instead.outcome = Some(Outcome::Error);
        return Some((instead, true));
    }
    let result = failure.tool_result.as_ref()?;
    if result.is_error {
        let mut instead = unexpected(failure);
        instead.tool_result = Some(result.clone());
        return Some((instead, true));
    }
    Some((as_told(failure, stated_error(result)?), false))
}

/// A short text in which something is wrong, of a tool that does not say so in any form of an
/// error: nothing where the plan wants to hear of the same.
fn complaint(failure: &Failure, result: &ToolResult) -> Option<String> {
    const LONGEST: usize = 500;
    const LINES: usize = 6;
    static COMPLAINS: LazyLock<Regex> = LazyLock::new(|| any_of("i", &WORDS.complaints));
    let text = result.text.trim();
    let complains = &*COMPLAINS;
    let is_short = text.len() <= LONGEST && text.lines().count() <= LINES;
    let is_data = result.structured_content.is_some() || text.starts_with(['{', '[', '<', '|']);
    let is_wanted = || {
        wanted_texts(failure)
            .iter()
            .any(|text| complains.is_match(text))
    };
    (is_short && !is_data && complains.is_match(text) && !is_wanted()).then(|| text.to_owned())
}

fn as_told(failure: &Failure, text: String) -> Failure {
    let mut instead = unexpected(failure);
    instead.rpc_error = None;
    instead.tool_result = Some(ToolResult {
        is_error: true,
        text,
        structured_content: None,
    });
    instead
}

/// The failure as it would be if the server had been meant to start; nothing where
/// it did, or did not exit.
fn as_start(failure: &Failure) -> Option<Failure> {
    failure.exit.as_ref()?;
    Some(Failure {
        phase: Some(Phase::Handshake),
        outcome: Some(Outcome::Eof),
        ..unexpected(failure)
    })
}

/// Without what was expected, and with nothing that the server said of other
/// requests.
fn unexpected(failure: &Failure) -> Failure {
    Failure {
        phase: Some(Phase::Call),
        outcome: Some(Outcome::Result),
        assertion: None,
        wanted: None,
        message: None,
        tool_result: None,
        stdout: None,
        stdout_noise: Vec::new(),
        stderr: failure.stderr.clone().filter(|_| !failure.stderr_is_older),
        ..failure.clone()
    }
}

/// The texts for which a step asks, as an answer would say them.
fn wanted_texts(failure: &Failure) -> Vec<String> {
    let mut texts = Vec::new();
    let mut add = |value: &Value| match value {
        Value::String(text) if text.len() <= VALUE => texts.push(text.trim().to_owned()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
    };
    let mut add_all = |value: &Value| match value {
        Value::Array(items) => items.iter().for_each(&mut add),
        other => add(other),
    };
    match (&failure.wanted, &failure.assertion) {
        (Some(Wanted { error: _, values }), _) => values.iter().take(VALUES).for_each(add_all),
        (None, Some(assertion)) if !WORDS.asks_for_no_text.contains(&assertion.kind) => {
            add_all(&assertion.expected);
        }
        (None, Some(_) | None) => {}
    }
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        all.extend(alternatives(&text));
        all.push(text);
    }
    for index in 0..all.len() {
        if all[index].len() == 3 && all[index].bytes().all(|b| b.is_ascii_digit()) {
            let status = format!("status {}", all[index]);
            all.push(status);
        }
    }
    all.retain(|text| text.len() > 2 && !is_generic(text));
    all.truncate(2 * VALUES);
    all
}

/// A word that any error has.
fn is_generic(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric());
    let mut generic = WORDS.generic.iter();
    word.is_empty() || generic.any(|generic| word.eq_ignore_ascii_case(generic))
}

/// What a regular expression matches, so far as it can be said in words.
fn alternatives(pattern: &str) -> Vec<String> {
    if !pattern.contains(['|', '\\', '^', '$', '*', '(', '[']) {
        return Vec::new();
    }
    let plain = pattern
        .replace("(?i)", "")
        .replace("(?:", "(")
        .replace("\\b", "")
        .replace("\\s+", " ")
        .replace("\\s*", " ")
        .replace("\\s", " ")
        .replace("\\.", ".")
        .replace(".*?", "|")
        .replace(".*", "|")
        .replace(".+", "|");
    plain
        .split(['|', '(', ')'])
        .map(|part| {
            let kept = |c: &char| !matches!(c, '^' | '$' | '\\' | '?' | '*' | '+');
            part.chars()
                .filter(kept)
                .collect::<String>()
                .trim()
                .to_owned()
        })
        .collect()
}

/// A right at a service that the user of the server lacks, and not one at a
/// path.
fn speaks_of_rights(text: &str) -> bool {
    static RIGHTS: LazyLock<Regex> = LazyLock::new(|| any_of("i", &WORDS.rights));
    static PATHS: LazyLock<Regex> = LazyLock::new(|| any_of("i", &WORDS.paths));
    RIGHTS.is_match(text) && !PATHS.is_match(text)
}

/// Whether a server says of itself that it failed inside.
fn says_internal(text: &str) -> bool {
    static INTERNAL: LazyLock<Regex> = LazyLock::new(|| any_of("im", &WORDS.internal));
    INTERNAL.is_match(text)
}

#[cfg(test)]
#[path = "error_answer_tests.rs"]
mod tests;
