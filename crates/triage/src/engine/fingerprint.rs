//! Fingerprints: one for the cause, equal across tests, and one for the cause
//! in this step or test.

use super::beside;
use super::clues;
use super::decisive::decisive;
use super::facts::{Facts, FailureSource, Promise};
use super::field::word;
use super::first;
use super::live;
use super::statement;
use super::tables::{any_of, built, table};
use super::template::{template, without_stamps};
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use jelly_base::model::{Evidence, Failure, Template};
use jelly_base::text::{address, stable_name, truncate};
use regex::Regex;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::LazyLock;

/// How fingerprints are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// That of releases before 0.3, so that what they remembered is found.
    /// Goes, with [`first`], in the release after that.
    First,
    Second,
}

impl Algorithm {
    /// The first part of every fingerprint; raised when the same failure would
    /// get another value.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::First => "j1",
            Self::Second => "j2",
        }
    }

    fn template(self, text: &str) -> String {
        match self {
            Self::First => first::template(text),
            Self::Second => template(text),
        }
    }

    fn without_stamps(self, value: &mut serde_json::Value) {
        match self {
            Self::First => first::without_stamps(value),
            Self::Second => without_stamps(value),
        }
    }
}

/// Bytes that are kept of what a report says. It is cut after its volatile
/// parts were replaced: before, their lengths would decide where.
const SAYS: usize = 2000;

/// The two fingerprints of a failure, each `j1:` and 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprints {
    /// Equal for the same cause in different tests.
    pub cause: String,
    /// The cause together with the identity of the step or test.
    pub test: String,
    /// What `cause` is the hash of.
    pub template: Template,
}

/// The fingerprints of `failure`, whose cause is `root_cause` as shown by
/// `evidence`.
#[must_use]
pub fn fingerprints(
    failure: &Failure,
    root_cause: &str,
    evidence: Option<&Evidence>,
) -> Fingerprints {
    let facts = Facts::new(failure);
    let prints = of_facts(&facts, root_cause, evidence, Algorithm::Second);
    Fingerprints {
        cause: prints.cause,
        test: prints.test,
        template: prints.parts.template(),
    }
}

/// [`Fingerprints`] with their parts, of which few callers want a template.
pub(super) struct Prints {
    pub(super) cause: String,
    pub(super) test: String,
    pub(super) parts: FingerprintParts,
}

/// Named texts in their order.
#[derive(Default)]
pub(super) struct FingerprintParts(Vec<(&'static str, String)>);

impl FingerprintParts {
    /// Adds a part; none is added twice.
    fn push(&mut self, name: &'static str, text: impl Into<String>) {
        self.0.push((name, text.into()));
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_str())
    }

    pub(super) fn template(self) -> Template {
        let mut template = Template::default();
        for (name, text) in self.0 {
            template.push(name, text);
        }
        template
    }
}

pub(super) fn of_facts(
    facts: &Facts<'_>,
    root_cause: &str,
    evidence: Option<&Evidence>,
    algorithm: Algorithm,
) -> Prints {
    let f = facts.failure;
    let mut parts = FingerprintParts::default();
    parts.push("root_cause", root_cause);
    match (&f.assertion, facts.promise) {
        // Values are kept as they are, but for the time of day that an answer
        // tells by the way: "wrong differently" must show.
        (Some(assertion), Some(Promise::Expectation | Promise::OutputSchema))
            if matches!(root_cause, "assertion_mismatch" | "schema_mismatch") =>
        {
            parts.push("expectation", assertion.kind.clone());
            let target = assertion.target.as_ref().map(word);
            parts.push("target", target.unwrap_or_default());
            parts.push("path", assertion.path.clone().unwrap_or_default());
            if let Some(pointer) = &assertion.pointer {
                parts.push("pointer", pointer.clone());
            }
            parts.push("expected", canonical(&assertion.expected));
            match &facts.error_answer {
                // An error may name its request, which no two share.
                Some((_, says)) => parts.push("says", truncate(&algorithm.template(says), SAYS)),
                None => {
                    let mut actual = match algorithm {
                        Algorithm::First => assertion.actual.clone(),
                        Algorithm::Second => decisive(assertion),
                    };
                    algorithm.without_stamps(&mut actual);
                    parts.push("actual", canonical(&actual));
                }
            }
        }
        (Some(_) | None, Some(_) | None) => match facts.source {
            FailureSource::Live => {
                push_evidence(&mut parts, evidence, algorithm);
                // Its last words may be what it says of each call.
                if root_cause == "crashed_during_call"
                    && matches!(algorithm, Algorithm::Second)
                    && let Some(exit) = f.exit.as_ref().and_then(live::exit_in_words)
                {
                    parts.push("exit", exit);
                }
                // Servers say "Method not found" of each that they lack.
                if root_cause == "method_not_found"
                    && matches!(algorithm, Algorithm::Second)
                    && let Some(request) = &f.request
                {
                    parts.push("method", request.method.clone());
                }
            }
            FailureSource::Report => push_statement(&mut parts, facts, evidence, algorithm),
        },
    }
    let mut sha = Sha256::new();
    parts.0.iter().for_each(|(_, text)| add(&mut sha, text));
    let print = |sha: Sha256| print(sha, algorithm);
    let cause = print(sha.clone());
    identity(f).iter().for_each(|text| add(&mut sha, text));
    Prints {
        cause,
        test: print(sha),
        parts,
    }
}

fn push_evidence(parts: &mut FingerprintParts, evidence: Option<&Evidence>, algorithm: Algorithm) {
    if let Some(evidence) = evidence {
        parts.push("evidence", algorithm.template(&evidence.text));
    }
}

/// What the report says, whichever line of it the rule quotes; the quote
/// itself only where it comes from the logs, since then the report said
/// nothing that would tell one cause from another.
fn push_statement(
    parts: &mut FingerprintParts,
    facts: &Facts<'_>,
    evidence: Option<&Evidence>,
    algorithm: Algorithm,
) {
    let statement = facts.statement();
    if let Some(class) = &facts.failure.type_
        && !statement.innermost
    {
        parts.push("class", algorithm.template(class));
    }
    // A bare type is the same for every cause, so it is told by where it was
    // thrown, and where no stack says that, by its test.
    // What the machine ran out of needs no place.
    let root_cause = parts.get("root_cause").unwrap_or_default().to_owned();
    let root_cause = root_cause.as_str();
    let of_program = matches!(
        root_cause,
        "assertion_mismatch" | "code_exception" | "unknown"
    );
    let said = match (&facts.failure.type_, evidence) {
        (None, Some(evidence)) if statement.text.is_empty() => &evidence.text,
        (Some(_), _) | (None, Some(_) | None) => &statement.text,
    };
    let second = algorithm == Algorithm::Second;
    // behave and others write their word for a status, and nothing else.
    let class = facts.failure.type_.as_deref().unwrap_or_default();
    let silent = statement.text.is_empty() || statement.text == class;
    let logs = second && silent;
    let logged = logs.then(|| statement::logged(facts.failure)).flatten();
    let logged = logged.or_else(|| {
        let unknown = logs && root_cause == "unknown" && evidence.is_none();
        unknown
            .then(|| statement::last_printed(facts.failure))
            .flatten()
    });
    let bare = is_bare(said, facts.failure.type_.as_deref()) && logged.is_none();
    // Two functions that throw the same are two causes.
    let thrown = second && matches!(root_cause, "code_exception" | "process_crashed");
    let waited = second && bare && root_cause.ends_with("timeout");
    if of_program && bare || thrown || waited {
        let frame = match second {
            true => clues::product_function(facts.failure),
            false => clues::product_frame(facts.failure),
        };
        match frame {
            Some(frame) => parts.push("frame", algorithm.template(&frame)),
            None if bare => parts.push("test", identity(facts.failure).join("\n")),
            None => {}
        }
    }
    if second
        && root_cause == "expected_error"
        && let Some(wanted) = clues::expected_error(facts.failure)
    {
        parts.push("expected", wanted);
    }
    if !statement.text.is_empty() {
        let says = algorithm.template(&statement.text);
        parts.push("says", truncate(&says, SAYS));
    }
    if second && root_cause == "assertion_mismatch" && says_cut(&statement.text) {
        let drawn = beside::drawn_difference(facts.failure);
        if let Some(drawn) = drawn {
            parts.push("differs", truncate(&algorithm.template(&drawn), SAYS));
        }
    }
    let of_network = matches!(
        root_cause,
        "connection_refused" | "connection_reset" | "network_dns" | "network_timeout"
    );
    if second
        && of_network
        && let Some(peer) = beside::asked_peer(facts.failure).or_else(|| {
            // The innermost of a chain need not say who was asked.
            let message = facts.failure.message.as_deref();
            let is_told = !statement.innermost || address(&statement.text).is_some();
            message.filter(|_| !is_told).and_then(address)
        })
    {
        parts.push("peer", algorithm.template(&peer));
    }
    if second && let Some(code) = beside::code_of_node(facts.failure) {
        parts.push("code", code);
    }
    if let Some(logged) = &logged {
        parts.push("logged", truncate(&algorithm.template(logged), SAYS));
    }
    let quoted = evidence.is_some_and(|e| matches!(e.field.as_str(), "system_out" | "system_err"));
    if quoted || statement.text.is_empty() {
        push_evidence(parts, evidence, algorithm);
    }
}

/// `tables/bare.yaml`, which says what it is.
#[derive(Deserialize)]
struct BareStatements {
    says: Vec<String>,
}

static BARE: LazyLock<Regex> = LazyLock::new(|| {
    let bare: BareStatements = table(built!("bare"));
    let whole: Vec<String> = bare
        .says
        .iter()
        .map(|says| format!("\\A(?:{says})\\z"))
        .collect();
    any_of("", &whole)
});

/// Whether chai cut the objects that a statement compares.
fn says_cut(said: &str) -> bool {
    ["{...}", "{…}", "{ Object (", "[ Array("]
        .iter()
        .any(|cut| said.contains(cut))
}

/// Whether a statement says no more than that something was thrown, or that
/// something is false.
fn is_bare(said: &str, class: Option<&str>) -> bool {
    let said = said.trim().trim_end_matches(':');
    let is_class = |text: &str| {
        !text.contains(char::is_whitespace)
            && ["Error", "Exception", "Failure"]
                .iter()
                .any(|ending| text.ends_with(ending))
    };
    let (head, rest) = said.split_once(": ").unwrap_or_default();
    let told = if is_class(head) { rest } else { said };
    BARE.is_match(told.trim()) || is_class(said) || said.is_empty() && class.is_some_and(is_class)
}

/// JSON with sorted keys: the order of a map's keys means nothing.
fn canonical(value: &serde_json::Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    value.to_string()
}

/// What tells one step or test from another, wherever and whenever it runs.
fn identity(f: &Failure) -> [Cow<'_, str>; 5] {
    let [server, step, suite, classname, name] =
        [&f.server, &f.step, &f.suite, &f.classname, &f.name]
            .map(|part| part.as_deref().unwrap_or(""));
    let by_first = |writer: &String| is_odd(writer, Oddity::SuitesNamedByFirst);
    // The path of a file is no block of it.
    let is_block = !suite.contains(['/', '\\']) && f.dialect.as_ref().is_some_and(by_first);
    let suite = if is_block { "" } else { suite };
    let stable_suite = stable_name(suite);
    // Many writers name a suite by its class.
    let stable_class = if classname == suite {
        stable_suite.clone()
    } else {
        stable_name(classname)
    };
    [
        Cow::Borrowed(server),
        Cow::Borrowed(step),
        stable_suite,
        stable_class,
        Cow::Borrowed(name),
    ]
}

fn add(sha: &mut Sha256, part: &str) {
    // Lengths keep two different lists of parts from reading the same.
    sha.update(part.len().to_le_bytes());
    sha.update(part.as_bytes());
}

fn print(sha: Sha256, algorithm: Algorithm) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = sha.finalize();
    let mut text = String::with_capacity("j2:".len() + 16);
    text.push_str(algorithm.version());
    text.push(':');
    for byte in digest.iter().take(8) {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fingerprint_report_tests.rs"]
mod report_tests;
