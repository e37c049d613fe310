//! What failed assertions show of the fault behind them: the wrong value, the function,
//! the code of an error, what lies over the page. Who shows the same fails of the same.

use super::changes::changes;
use super::compared_signs::{called_signs, compared_signs, labelled};
use super::error_codes::{cloud_code, codes, fatal_code, variant};
use super::lacks::{Subject, SubjectKind};
use super::members::missing_member;
use super::names::{is_frame, own_lines};
use super::pages::{
    cover, element_state, missing, pixels, redirected, refused, screenshot, sent_to, unhandled,
};
use super::party::party;
use super::raised::initializer;
use super::refusals::{arguments_refused, lacks_methods};
use super::renamed::renamed;
use super::rendered::CASES;
use super::replaced::{replaced, stands_in};
use super::shifted::{is_rare, shift, swapped};
use super::suite_exceptions::{raised_in_suite, thrown_in_suite};
use super::tested::{asked_function, raised_in, tested};
use super::titles::suite_of_failure;
use super::wanted::{COMPARES, without_wanted};
use jelly_base::model::{Failure, TriagedFailure};
use jelly_base::text::{LazyPattern, address};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Signs that are kept of one failure.
const OF_ONE: usize = 16;
/// Bytes of a text that are read for signs.
const READ: usize = 4 << 10;

/// Changed lines of one fault.
const LINES: usize = 8;
/// How the head of a difference begins, which is none of its lines.
const HEADS: [&str; 5] = ["- Snapshot", "- Expected", "+ Received", "---", "+++"];

/// What of a failure is read for signs.
struct Shown<'f> {
    failure: &'f Failure,
    triaged: &'f TriagedFailure,
    message: Option<&'f str>,
    evidence: Option<&'f str>,
    /// The begin of its text.
    text: &'f str,
    suite: Option<&'f str>,
}

impl<'f> Shown<'f> {
    fn of(failure: &'f Failure, triaged: &'f TriagedFailure) -> Self {
        let evidence = triaged.diagnosis.evidence.as_ref();
        let text = failure.text.as_deref().unwrap_or_default();
        Self {
            failure,
            triaged,
            message: triaged.message.as_deref(),
            evidence: evidence.map(|evidence| evidence.text.as_str()),
            text: &text[..text.floor_char_boundary(READ.min(text.len()))],
            suite: suite_of_failure(failure),
        }
    }

    fn root_cause(&self) -> &'f str {
        &self.triaged.diagnosis.root_cause
    }

    /// The message and the evidence.
    fn said(&self) -> impl Iterator<Item = &'f str> + Clone {
        [self.message, self.evidence].into_iter().flatten()
    }

    /// The same, and the text.
    fn told(&self) -> impl Iterator<Item = &'f str> + Clone {
        self.said().chain([self.text])
    }
}

/// The signs in what a failure says.
pub(super) fn signs(failure: &Failure, triaged: &TriagedFailure) -> BTreeSet<Subject> {
    let shown = Shown::of(failure, triaged);
    let mut found = BTreeSet::new();
    found.extend(missing_member(failure, triaged));
    found.extend(raised_in_suite(failure, triaged));
    found.extend(thrown_in_suite(failure, shown.text));
    values_shown(&shown, &mut found);
    changes_shown(&shown, &mut found);
    functions_shown(&shown, &mut found);
    pages_shown(&shown, &mut found);
    refusals_shown(&shown, &mut found);
    errors_shown(&shown, &mut found);
    found.into_iter().take(OF_ONE).collect()
}

fn wrong_value(value: impl AsRef<str>) -> Subject {
    Subject::new(SubjectKind::WrongValue, value.as_ref())
}

fn change(of: impl AsRef<str>) -> Subject {
    Subject::new(SubjectKind::Change, of.as_ref())
}

fn error(code: impl AsRef<str>) -> Subject {
    Subject::new(SubjectKind::ErrorCode, code.as_ref())
}

fn element(named: impl AsRef<str>) -> Subject {
    Subject::new(SubjectKind::Cover, named.as_ref())
}

/// The values that came, and how they differ from those that were wanted.
fn values_shown(shown: &Shown<'_>, found: &mut BTreeSet<Subject>) {
    let Shown { failure, text, .. } = *shown;
    let suite = shown.suite.unwrap_or_default();
    if is_wrong_value(shown.root_cause()) {
        found.extend(shown.said().flat_map(values).map(wrong_value));
        found.extend(labelled(failure, shown.said()));
        if let Some(shift) = shown.said().find_map(shift) {
            if shift.by_chance {
                let class = failure.classname.as_deref().unwrap_or_default();
                // Two functions may each give half of one too little.
                let asked = asked_function(text).filter(|_| shift.is_amount);
                let told = format!("{} {}", asked.unwrap_or_default(), shift.told);
                found.insert(Subject::new(SubjectKind::Tested, &told).within(class));
            }
            // Many functions write in small letters what others write in capitals.
            if !CASES.contains(&shift.told.as_str()) {
                found.insert(shift.anywhere());
            }
        }
        found.extend(tested(failure, shown.said(), text));
        let said = [shown.message, shown.evidence];
        found.extend(compared_signs(failure, &said, text));
    }
    if shown.root_cause() == "mock_expectation" {
        let said = [shown.message, shown.evidence];
        found.extend(called_signs(failure, &said, text));
    }
    if is_wrong_value(shown.root_cause()) || shown.root_cause() == "expected_error" {
        if let Some(suite) = shown.suite
            && let Some(pair) = replaced(shown.said(), text)
        {
            found.insert(Subject::new(SubjectKind::Tested, &pair).within(suite));
        }
        if let Some(words) = stands_in(shown.said()) {
            let gives = format!("gives {words}");
            found.insert(Subject::new(SubjectKind::Tested, &gives).within(suite));
            found.insert(wrong_value(gives).by_chance());
        }
    }
    found.extend(shown.told().filter_map(pixels).map(wrong_value));
}

/// What changed in a text: lines of a snapshot, names of fields.
fn changes_shown(shown: &Shown<'_>, found: &mut BTreeSet<Subject>) {
    let text = shown.text;
    let root_cause = shown.root_cause();
    if is_wrong_value(root_cause) {
        found.extend(golden(text).map(change));
    }
    found.extend(changes(root_cause, text).into_iter().map(change));
    if root_cause == "snapshot_mismatch" {
        // What flips without a value of its own flips in any component.
        let lines = changed(text, |line| line.contains('"') && !line.contains("aria-"));
        found.extend(lines.map(change));
        found.extend(attribute(text).map(change));
        found.extend(screenshot(text).map(wrong_value));
    }
    if COMPARES.contains(&root_cause) {
        found.extend(shown.told().filter_map(renamed).map(change));
        let outputs = [Some(text), shown.failure.system_err.as_deref()];
        let swapped = outputs.into_iter().flatten().filter_map(swapped);
        found.extend(swapped.map(wrong_value));
    }
}

/// Functions that are named, and those that raised or never ended.
fn functions_shown(shown: &Shown<'_>, found: &mut BTreeSet<Subject>) {
    let root_cause = shown.root_cause();
    // What hangs in one suite hangs in whoever waits for it.
    let waits = ["test_timeout", "wait_timeout"].contains(&root_cause)
        && !shown.triaged.diagnosis.rule.starts_with("browser/");
    if let Some(suite) = shown.suite.filter(|_| waits) {
        // Two of whom it waits for may be away for reasons of their own.
        let said = shown.evidence.or(shown.message).unwrap_or_default();
        let whom = party(said).unwrap_or_default();
        let waits = Subject::new(SubjectKind::Tested, &format!("waits in vain {whom}"));
        found.insert(waits.within(suite).by_chance());
    }
    if root_cause == "code_exception" {
        found.extend(shown.evidence.and_then(|said| raised_in(shown.text, said)));
        let whole = shown.failure.text.as_deref();
        found.extend(initializer(whole.unwrap_or_default()));
    }
    if names_functions(root_cause) {
        // A test calls many functions before the one that it asks.
        let lines = shown.said().flat_map(str::lines);
        let lines = lines.chain(own_lines(shown.text).filter(|line| !line.starts_with('>')));
        for line in lines.filter(|line| !is_source(line)) {
            let names = functions(line);
            found.extend(names.map(|name| Subject::new(SubjectKind::NamedFunction, name)));
        }
    }
}

/// Elements of a page that are missing, covered or in another state.
fn pages_shown(shown: &Shown<'_>, found: &mut BTreeSet<Subject>) {
    found.extend(element_state(shown.text).map(element));
    if shown.root_cause() == "locator_not_found"
        && let Some(suite) = shown.suite
    {
        let missing = missing(shown.text).map(element);
        found.extend(missing.map(|missing| missing.within(suite)));
    }
    found.extend(shown.told().filter_map(cover).map(element));
}

/// Who is refused, and what he asked for.
fn refusals_shown(shown: &Shown<'_>, found: &mut BTreeSet<Subject>) {
    let root_cause = shown.root_cause();
    if let Some(suite) = shown.suite {
        let lacks = shown.told().find_map(lacks_methods);
        let has_expired = root_cause == "auth_failed" && shown.told().any(is_expired_token);
        let has_expired = has_expired.then(|| "expired token".to_owned());
        let refused = shown.told().find_map(not_let_in);
        let of_suite = lacks.into_iter().chain(has_expired).chain(refused);
        found.extend(of_suite.map(|sign| error(sign).within(suite)));
    }
    found.extend(shown.told().find_map(arguments_refused).map(error));
    found.extend(shown.told().find_map(unhandled).map(error));
    if root_cause == "tls_error" {
        found.extend(shown.told().filter_map(untrusted).map(error));
    }
    let whole = match shown.text.is_empty() {
        true => shown.failure.message.as_deref(),
        false => Some(shown.text),
    };
    found.extend(whole.and_then(refused).map(error));
}

/// Codes and sentences by which services and programs tell errors.
fn errors_shown(shown: &Shown<'_>, found: &mut BTreeSet<Subject>) {
    for told in shown.told() {
        found.extend(described(told).map(error));
        found.extend(answered(told).map(error));
        found.extend(unknown_value(told).map(error));
        found.extend(signed_out(told, shown.root_cause()).map(error));
        found.extend(noted(told).map(error));
        found.extend(cloud_code(told).map(error));
        found.extend(redirected(told).map(error));
        found.extend(codes(told).into_iter().map(error));
        found.extend(variant(told).map(error));
    }
    let Failure {
        system_out,
        system_err,
        ..
    } = shown.failure;
    let printed = [system_out, system_err].into_iter().flatten();
    let all = shown.told().chain(printed.map(String::as_str));
    found.extend(all.filter_map(fatal_code).map(error));
}

/// What is wrong with the TLS of a server, with the server.
fn untrusted(told: &str) -> Option<String> {
    const FLAWS: [&str; 12] = [
        "expired",
        "self-signed",
        "self signed",
        "unknown authority",
        "local issuer",
        "doesn't match",
        "does not match",
        "not valid for",
        "certificate required",
        "wrong version",
        "unsupported protocol",
        "handshake failure",
    ];
    let lower = told.to_ascii_lowercase();
    let flaw = FLAWS.iter().find(|flaw| lower.contains(**flaw))?;
    Some(format!("{} {flaw}", address(told)?))
}

/// Whether a failure of this kind says by which function it got what it did not want.
pub(super) fn names_functions(root_cause: &str) -> bool {
    is_wrong_value(root_cause) || root_cause == "locator_not_found"
}

/// The changed lines behind a file of wanted output that a test compares with.
fn golden(text: &str) -> Option<String> {
    let names = ["golden", "-update", "snapshot"];
    let has = text
        .lines()
        .take(LINES)
        .any(|line| names.iter().any(|name| line.contains(name)));
    has.then(|| changed(text, |_| true))?
}

/// The changed lines of a snapshot, which are few.
pub(super) fn changed(text: &str, is_value: impl Fn(&str) -> bool) -> Option<String> {
    const LETTERS: usize = 20;
    let lines = text.lines().map(str::trim_start);
    // A line of nothing but dashes parts what stands around it.
    let lines = lines.filter(|line| {
        line.starts_with(['-', '+']) && (line.len() < 2 || !line.trim_matches('-').is_empty())
    });
    let lines = lines.filter(|line| !HEADS.iter().any(|head| line.starts_with(head)));
    let lines: Vec<&str> = lines.take(LINES + 1).collect();
    let has_value = lines.iter().any(|line| is_value(line));
    // How far a line is indented is no change.
    let bare = lines.iter().map(|line| {
        let (mark, value) = line.split_at(1);
        format!("{mark}{}", value.trim())
    });
    let bare: Vec<String> = bare.collect();
    let letters: usize = bare.iter().map(String::len).sum();
    let is_telling = (1..=LINES).contains(&bare.len()) && letters >= LETTERS && has_value;
    is_telling.then(|| bare.join("\n"))
}

pub(super) fn is_wrong_value(root_cause: &str) -> bool {
    root_cause == "assertion_mismatch"
}

/// Numbers that came and were not wanted, each of which hardly comes twice by chance:
/// `6549.6`, `10.4.0.0`, `-340`, but no `2.0`, no status and no year.
fn values(said: &str) -> Vec<String> {
    static NUMBER: LazyPattern =
        LazyPattern::new(r#"(?:^|[\s(\[<>'"=])\+?(-?\d+(?:\.\d+)*)(?:$|[\s)\],;>'"])"#);
    let came = without_wanted(said);
    let numbers = NUMBER.captures_iter(&came);
    let numbers = numbers.filter_map(|found| Some(found.get(1)?.as_str()));
    let rare = numbers.filter(|number| is_rare(number));
    // How many decimals are written says nothing.
    let bare = |number: &str| match number.split('.').count() {
        2 => number.trim_end_matches('0').to_owned(),
        _ => number.to_owned(),
    };
    rare.map(bare).collect()
}

/// Functions that a line calls, names with what they are of, or by a name of several words
/// in one, as only functions and fields have it.
fn functions(line: &str) -> impl Iterator<Item = &str> {
    static FUNCTION: LazyPattern = LazyPattern::new(
        r"\b(?:[A-Za-z_]\w*(?:::|->|#|\.))*[A-Z]\w*(?:#|::|\.)[A-Za-z_]\w+|\b(?:[A-Za-z_]\w*(?:::|\.|->))*[A-Za-z_]\w{2,}\(|\b[a-z_]\w*::[a-z_]\w+\b|\b[a-z]{2,}(?:[A-Z][a-z0-9]+)+\b|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+ (?:gave|gives|returned|returns)\b",
    );
    let found = FUNCTION.find_iter(line);
    let found = found.map(|found| found.as_str());
    found.map(|name| {
        let name = name.split(' ').next().unwrap_or(name);
        name.trim_end_matches('(')
    })
}

/// What the document of an error says for people, at whatever time.
fn described(text: &str) -> Option<Cow<'_, str>> {
    static SAID: LazyPattern = LazyPattern::new(
        r#"\\?"(?:error|error_description|message|detail|reason)\\?": ?\\?"([^"\\\n]{20,200})\\?""#,
    );
    static TIME: LazyPattern =
        LazyPattern::ascii(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?");
    if !text.contains("\":") {
        return None;
    }
    let said = SAID.captures(text)?.get(1)?.as_str();
    let said = TIME.replace_all(said, "…");
    // What tells why a right has ended is of whoever has it.
    let is_of_token = said.contains("token") && said.contains("expired");
    (is_of_token || names_something(&said)).then_some(said)
}

/// Whether a sentence names something: what does not may be said of any.
fn names_something(said: &str) -> bool {
    const WORDS: usize = 4;
    const NAMES: [char; 6] = ['-', '_', '@', '.', '/', '\''];
    let is_name = |word: &str| {
        let inner = word.trim_matches(['.', '-', ':', ',']);
        inner.contains(NAMES) || inner.contains(|c: char| c.is_ascii_digit())
    };
    said.split_whitespace().count() >= WORDS && said.split_whitespace().any(is_name)
}

/// What one request was answered with, as the clients of Python and of Robot Framework tell
/// it: the address without its query, and the status.
fn answered(text: &str) -> Option<String> {
    static ANSWERED: LazyPattern = LazyPattern::new(
        r"(?x)\b(?P<s1>[45]\d\d)\ (?:Client|Server)\ Error:\ [^\n]{0,80}?\ for\ url:\ (?P<u1>https?://[^\s?\#]+)
            | \bUrl:\ (?P<u2>https?://[^\s?\#]+)\S*\ Expected\ status:\ (?P<s2>[45]\d\d)\ !=\ \d{3}\b",
    );
    if !text.contains("rl: http") {
        return None;
    }
    let found = ANSWERED.captures(text)?;
    let part = |names: [&str; 2]| names.iter().find_map(|name| found.name(name));
    let (url, status) = (part(["u1", "u2"])?, part(["s1", "s2"])?);
    // Which of its records was asked for is data.
    let url = url.as_str().trim_end_matches('/');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let bare = match url.rsplit_once('/') {
        Some((rest, last)) if is_number(last) && !rest.ends_with('/') => rest,
        Some(_) | None => url,
    };
    Some(format!("{bare} answers {}", status.as_str()))
}

/// The value that an enumeration of the JVM does not have, by whoever looked for it.
fn unknown_value(text: &str) -> Option<String> {
    static UNKNOWN: LazyPattern = LazyPattern::new(
        r#"(?x)\bNo\ enum\ constant\ (?P<c1>[\w$.]+)\.(?P<v1>\w+)
            | \bCannot\ deserialize\ value\ of\ type\ `(?P<c2>[\w$.]+)`\ from\ String\ "(?P<v2>\w+)":\ not\ one\ of\ the\ values\ accepted"#,
    );
    if !text.contains("No enum constant") && !text.contains("Cannot deserialize value") {
        return None;
    }
    let found = UNKNOWN.captures(text)?;
    let part = |names: [&str; 2]| names.iter().find_map(|name| found.name(name));
    let (class, value) = (part(["c1", "c2"])?, part(["v1", "v2"])?);
    let class = class.as_str().replace('$', ".");
    Some(format!("{class} has no {}", value.as_str()))
}

/// The server at which a test is not signed in any more: a page of it sent a browser to sign
/// in, or it answered that it does not know who asks.
fn signed_out(text: &str, root_cause: &str) -> Option<String> {
    static REFUSED: LazyPattern = LazyPattern::ascii(r"\b401\b[^\n]{0,12}\bUnauthorized\b");
    let server = match sent_to(text).filter(|to| to.starts_with("http")) {
        Some(to) => address(to)?,
        None if root_cause == "auth_failed" && REFUSED.is_match(text) => address(text)?,
        None => return None,
    };
    Some(format!("signed out of {server}"))
}

/// What an assertion of GoogleTest says of what came: `Actual: false (jpeg: SOF2 not supported)`.
fn noted(text: &str) -> Option<&str> {
    static NOTED: LazyPattern =
        LazyPattern::new(r"(?m)^\s*Actual: (?:true|false) \(([^()\n]{12,200})\)$");
    if !text.contains("Actual: ") {
        return None;
    }
    let said = NOTED.captures(text)?.get(1)?.as_str();
    names_something(said).then_some(said)
}

/// The one attribute with a value that a component got or lost.
fn attribute(text: &str) -> Option<String> {
    static ATTRIBUTE: LazyPattern = LazyPattern::new(r#"\A[-+]\s*[A-Za-z][\w:]*="[^"\n]{2,}"\z"#);
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| {
        line.starts_with(['-', '+']) && !HEADS.iter().any(|head| line.starts_with(head))
    });
    let only = lines.next().filter(|_| lines.next().is_none())?;
    let (mark, told) = only.split_at(1);
    ATTRIBUTE
        .is_match(only)
        .then(|| format!("attribute {mark}{}", told.trim()))
}

/// Whether a text tells of a token that has expired.
fn is_expired_token(text: &str) -> bool {
    static EXPIRED: LazyPattern = LazyPattern::ascii(
        r"(?i)\bexpired (?:jwt|(?:access )?token)\b|\b(?:jwt|token) (?:has |is )?expired\b",
    );
    (text.contains("xpired")) && EXPIRED.is_match(text)
}

/// The part of an interface that answers whoever asks it that he may not: one right is
/// lacking for all of it. What all of its addresses begin with, such as `/api/v2`, is no part.
fn not_let_in(text: &str) -> Option<String> {
    static REFUSED: LazyPattern = LazyPattern::ascii(
        r#"\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) ((?:https?://[^/\s]+)?(?:/api|/rest|/v\d{1,3})*/[A-Za-z][\w-]*(?:/[A-Za-z][\w-]*)?)(?:[/?][^\s]*)?(?: [^\n]{0,80}?)?\b(?:but was|but found|got|found|answered|returned|was):? ?[\[<"']?(401|403)\b"#,
    );
    if !text.contains("401") && !text.contains("403") {
        return None;
    }
    let found = REFUSED.captures(text)?;
    Some(format!("{} answers {}", &found[1], &found[2]))
}

/// Whether a line shows a place or the source of a test, and not what was said.
fn is_source(line: &str) -> bool {
    let line = line.trim_start();
    let is_frame = is_frame(line);
    let numbered = line.split_once('|').is_some_and(|(number, _)| {
        let number = number.trim_matches([' ', '>']);
        number.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_frame || numbered || line.starts_with(['>', '❯'])
}
