//! Signs of a comparison that tell how what came differs from what was wanted, and whether
//! a function was called too often.

use super::lacks::{Subject, SubjectKind};
use super::shifted::{BY_CHANCE, apart, each_apart, edit, is_negated, odd_value, ratio};
use super::signs::suite_of;
use jelly_base::model::Failure;
use jelly_base::text::LazyPattern;

/// How a value differs, in one suite or as an edit that hardly comes twice by chance. `said`
/// are the message and the evidence.
pub(super) fn compared_signs(failure: &Failure, said: &[Option<&str>], text: &str) -> Vec<Subject> {
    let suite = suite_of(failure).unwrap_or_default();
    let all = || said.iter().copied().flatten().chain([text]);
    let mut found = Vec::new();
    found.extend(all().find_map(odd_value).map(|odd| of_suite(suite, &odd)));
    found.extend(all().find_map(apart).map(|apart| of_suite(suite, &apart)));
    found.extend(all().find_map(ratio).map(|times| of_suite(suite, &times)));
    if all().any(is_negated) {
        found.push(of_suite(suite, "signs are turned"));
    }
    found.extend(
        all()
            .find_map(each_apart)
            .map(|each| of_suite(suite, &each)),
    );
    // Of a source the lines of a test would be compared.
    let edit = said.iter().copied().flatten().find_map(edit);
    found.extend(edit.map(|edit| Subject::new(SubjectKind::WrongValue, &edit)));
    found
}

/// Whether a mock was called too often or too seldom, in one block of tests.
pub(super) fn called_signs(
    failure: &Failure,
    said: &[Option<&str>],
    text: &str,
) -> Option<Subject> {
    let told = said.iter().copied().flatten().chain([text]);
    let told: Vec<String> = told.filter_map(calls).collect();
    // The text shows the line, and the message may not.
    let calls = told
        .iter()
        .find(|calls| !calls.starts_with(' '))
        .or(told.first())?;
    let block = block_of(failure)?;
    Some(Subject::new(
        SubjectKind::Tested,
        &format!("{block} {calls}"),
    ))
}

/// What a test calls two numbers that differ, for tests of its suite: `Flow in l/min`.
pub(super) fn labelled<'t>(
    failure: &Failure,
    said: impl Iterator<Item = &'t str>,
) -> Option<Subject> {
    static LABEL: LazyPattern =
        LazyPattern::new(r"\A(?:AssertionError: )?([A-Z][^:=\n]{8,60}): -?[\d.]+ != -?[\d.]+");
    // With what it was asked for, as in `locker for 9 x 38: none != S`.
    static ASKED: LazyPattern = LazyPattern::new(
        r"\A(?:AssertionError: )?([A-Za-z][a-z]{2,}(?: [a-z]+)* [^:=\n]{0,40}\d[^:=\n]{0,40}): \S{1,24} != \S{1,24}\z",
    );
    let mut said = said;
    let label = said.find_map(|said| {
        let found = LABEL
            .captures(said)
            .or_else(|| ASKED.captures(said.trim()))?;
        Some(found.get(1)?.as_str())
    })?;
    let counts = [
        "number", "count", "length", "total", "size", "row", "item", "line", "case", "step",
    ];
    let small = label.to_ascii_lowercase();
    if counts.iter().any(|word| small.starts_with(word)) {
        return None;
    }
    let label: String = label.chars().filter(|c| !c.is_ascii_digit()).collect();
    let suite = failure.classname.as_deref().unwrap_or_default();
    let name = format!("{suite} {label}");
    Some(Subject::new(SubjectKind::WrongValue, &name))
}

/// A sign that tells in one suite only, and one of chance only where three share it.
fn of_suite(suite: &str, sign: &str) -> Subject {
    let name = match sign.strip_prefix(BY_CHANCE) {
        Some(sign) => format!("{BY_CHANCE}{suite} {sign}"),
        None => format!("{suite} {sign}"),
    };
    Subject::new(SubjectKind::Tested, &name)
}

/// The block of tests that a failure is in, by the titles around its own.
fn block_of(failure: &Failure) -> Option<String> {
    let name = failure.name.as_deref()?;
    let (block, _) = [" > ", " › "]
        .iter()
        .find_map(|mark| name.rsplit_once(mark))?;
    Some(format!("{} {block}", suite_of(failure)?))
}

/// Whether a function was called too often or too seldom, as Vitest and Jest tell it, and
/// which it was where they tell that.
fn calls(said: &str) -> Option<String> {
    static CALLS: LazyPattern = LazyPattern::new(
        r"(?x)\bto\ be\ called\ (?P<w1>\d+)\ times?,\ but\ got\ (?P<c1>\d+)\ times?
              | \bExpected\ number\ of\ calls:\ (?P<w2>\d+)\s+Received\ number\ of\ calls:\ (?P<c2>\d+)
              | \bto\ not\ be\ called\ at\ all,\ but\ actually\ been\ called\ (?P<c3>\d+)\ times?",
    );
    static MOCK: LazyPattern = LazyPattern::new(
        r"(?m)^>? *\d+ ?\| *[^\n]*\bexpect\(([\w.]+)\)\.(?:not\.)?toHaveBeenCalled",
    );
    if !said.contains("call") {
        return None;
    }
    let found = CALLS.captures(said)?;
    let number = |names: &[&str]| {
        let told = names.iter().find_map(|name| found.name(name))?;
        told.as_str().parse::<u64>().ok()
    };
    let (wanted, came) = (
        number(&["w1", "w2"]).unwrap_or(0),
        number(&["c1", "c2", "c3"])?,
    );
    let mock = MOCK
        .captures(said)
        .map_or("", |mock| mock.extract::<1>().1[0]);
    let way = if came > wanted { "often" } else { "seldom" };
    Some(format!("{mock} called too {way}"))
}
