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
use super::rule::Audience;
use jelly_base::model::{
    Diagnosis, ErrorCategory, Failure, Outcome, Phase, Side, ToolResult, Wanted,
};
use regex::Regex;
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

/// Root causes that lie in what was asked for as often as in the machine: the
/// rules hold them for infrastructure, and an answer that fails an expectation
/// does not prove that.
const OF_WHAT_WAS_ASKED: [&str; 9] = [
    "missing_file",
    "missing_directory",
    "path_not_allowed",
    "not_executable",
    "invalid_argument",
    "missing_argument",
    "invalid_params",
    "response_too_large",
    "unknown_resource",
];
/// The one among them that may be a right of the user at a service, too.
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
        let (instead, declared) = as_error(failure)?;
        let diagnosis = self.diagnose_facts(&Facts::new(&instead), Audience::Plan).0;
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
        let says = || {
            let result = instead.tool_result.as_ref();
            result.map(|result| result.text.clone()).unwrap_or_default()
        };
        Some(match kind {
            AnswerKind::Path => Reading::Path(Box::new(instead)),
            AnswerKind::Internal => Reading::Mismatch {
                shows: ErrorAnswer::Internal,
                says: says(),
            },
            AnswerKind::Surroundings | AnswerKind::Other => Reading::Mismatch {
                shows: ErrorAnswer::Other,
                says: says(),
            },
        })
    }

    fn kind(&self, diagnosis: &Diagnosis, instead: &Failure) -> AnswerKind {
        let of_surroundings = diagnosis.side == Side::Test
            && !diagnosis.ambiguous
            && matches!(
                diagnosis.error_category,
                Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
            );
        if of_surroundings {
            let cause = diagnosis.root_cause.as_str();
            let said = diagnosis
                .evidence
                .as_ref()
                .map(|evidence| evidence.text.as_str());
            let of_a_path = OF_WHAT_WAS_ASKED.contains(&cause)
                || cause == DENIED && !said.is_some_and(speaks_of_rights);
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
            AnswerKind::Internal
        } else {
            AnswerKind::Other
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
                let meant = self.diagnose_facts(&Facts::new(&other), Audience::Plan).0;
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
    Internal,
    Other,
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
        (None, Some(assertion)) if asks(&assertion.kind) => add_all(&assertion.expected),
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

/// Operators that say what an answer is to hold, and not what it must not.
fn asks(kind: &str) -> bool {
    !matches!(
        kind,
        "not_equals"
            | "not_contains"
            | "exists"
            | "type"
            | "length"
            | "schema"
            | "capture"
            | "output_schema"
            | "gt"
            | "ge"
            | "lt"
            | "le"
    )
}

/// A word that any error has.
fn is_generic(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphanumeric());
    [
        "error",
        "errors",
        "failed",
        "failure",
        "fail",
        "exception",
        "true",
        "false",
        "message",
    ]
    .iter()
    .any(|generic| word.eq_ignore_ascii_case(generic))
        || word.is_empty()
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
    static RIGHTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:table|relation|schema|database|view|sequence|function|tablespace|role|grant|privileges?|caller|scopes?|token|iam|arn|polic(?:y|ies)|organi[sz]ation|repositor(?:y|ies)|project|account|principal|user|tenant|api|resource|403|forbidden|readonly database|read-only transaction|authori[sz]ed|accessdenied\w*|permission_denied|insufficient|permissions?\s+to|cannot (?:list|get|create|delete|watch|update|patch))\b",
        )
        .ok()
    });
    static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:EACCES|EPERM|EROFS|PermissionError|UnauthorizedAccessException|java\.nio)\b|\[Errno 1?3\]|os error 1?3\b|(?:^|[\s'\x22`(:=])(?:/|~/|\./|[A-Z]:\\)[\w.-]").ok()
    });
    let is = |table: &LazyLock<Option<Regex>>| table.as_ref().is_some_and(|r| r.is_match(text));
    is(&RIGHTS) && !is(&PATH)
}

/// Whether a server says of itself that it failed inside.
fn says_internal(text: &str) -> bool {
    static INTERNAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?im)\binternal (?:(?:application|program|processing|tool|compiler|logic|runtime|consistency|parser|assertion) )?(?:error|exception|failure|fault)\b|(?:^|\W)-32603\b|\b(?:internal_error|InternalError)\b|\bbug in\b|\bassertion failed\b|\b(?:core dumped|segmentation fault)\b").ok()
    });
    INTERNAL
        .as_ref()
        .is_some_and(|internal| internal.is_match(text))
}

#[cfg(test)]
#[path = "error_answer_tests.rs"]
mod tests;
