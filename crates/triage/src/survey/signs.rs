//! What failed assertions show of the fault behind them: the wrong value, the function,
//! the code of an error, what lies over the page. Who shows the same fails of the same.

use super::lacks::{Subject, SubjectKind};
use super::wanted::without_wanted;
use jelly_base::model::{Failure, TriagedFailure};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Signs that are kept of one failure.
const OF_ONE: usize = 8;
/// Bytes of a text that are read for signs.
const READ: usize = 4 << 10;

/// The signs in what a failure says.
pub(super) fn signs(failure: &Failure, triaged: &TriagedFailure) -> BTreeSet<Subject> {
    let evidence = triaged.diagnosis.evidence.as_ref();
    let evidence = evidence.map(|evidence| evidence.text.as_str());
    let said = [triaged.message.as_deref(), evidence];
    let text = failure.text.as_deref().unwrap_or_default();
    let text = &text[..text.floor_char_boundary(READ.min(text.len()))];
    let mut found = BTreeSet::new();
    if is_wrong_value(&triaged.diagnosis.root_cause) {
        for said in said.into_iter().flatten() {
            let values = values(said).into_iter();
            found.extend(values.map(|value| Subject::new(SubjectKind::WrongValue, &value)));
        }
        found.extend(labelled(failure, said.into_iter().flatten()));
    }
    if names_functions(&triaged.diagnosis.root_cause) {
        let lines = text.lines().filter(|line| !is_frame(line));
        for line in said.into_iter().flatten().chain(lines) {
            let names = functions(line);
            found.extend(names.map(|name| Subject::new(SubjectKind::NamedFunction, name)));
        }
    }
    if triaged.diagnosis.root_cause == "snapshot_mismatch" {
        found.extend(changed(text).map(|lines| Subject::new(SubjectKind::WrongValue, &lines)));
    }
    for told in said.into_iter().flatten().chain([text]) {
        let codes = codes(told).map(|code| Subject::new(SubjectKind::ErrorCode, &code));
        found.extend(codes);
        found.extend(cover(told).map(|cover| Subject::new(SubjectKind::Cover, cover)));
    }
    found.into_iter().take(OF_ONE).collect()
}

/// Whether a failure of this kind says by which function it got what it did not want.
pub(super) fn names_functions(root_cause: &str) -> bool {
    is_wrong_value(root_cause) || root_cause == "locator_not_found"
}

/// What a test calls two numbers that differ, for tests of its suite: `Flow in l/min`.
fn labelled<'t>(failure: &Failure, said: impl Iterator<Item = &'t str>) -> Option<Subject> {
    static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\A(?:AssertionError: )?([A-Z][^:=\n]{8,60}): -?[\d.]+ != -?[\d.]+").ok()
    });
    let mut said = said;
    let label = said.find_map(|said| Some(LABEL.as_ref()?.captures(said)?.get(1)?.as_str()))?;
    let suite = failure.classname.as_deref().unwrap_or_default();
    let name = format!("{suite} {label}");
    Some(Subject::new(SubjectKind::WrongValue, &name))
}

/// The changed lines of a snapshot, which are few.
fn changed(text: &str) -> Option<String> {
    const LINES: usize = 8;
    const LETTERS: usize = 8;
    const HEADS: [&str; 4] = ["- Snapshot", "+ Received", "---", "+++"];
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter(|line| line.starts_with(['-', '+']));
    let lines = lines.filter(|line| !HEADS.iter().any(|head| line.starts_with(head)));
    let lines: Vec<&str> = lines.take(LINES + 1).collect();
    let letters: usize = lines.iter().map(|line| line.len()).sum();
    let is_telling = (1..=LINES).contains(&lines.len()) && letters >= LETTERS;
    is_telling.then(|| lines.join("\n"))
}

pub(super) fn is_wrong_value(root_cause: &str) -> bool {
    root_cause == "assertion_mismatch"
}

/// Numbers that came and were not wanted, each of which hardly comes twice by chance:
/// `6549.6`, `10.4.0.0`, `-340`, but no `2.0`, no status and no year.
fn values(said: &str) -> Vec<String> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:^|[\s(\[<>'"=])(-?\d+(?:\.\d+)*)(?:$|[\s)\],;>'"])"#).ok()
    });
    let came = without_wanted(said);
    let numbers = NUMBER.as_ref().map(|number| number.captures_iter(&came));
    let numbers = numbers.into_iter().flatten();
    let numbers = numbers.filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    numbers.filter(|number| is_rare(number)).collect()
}

fn is_rare(number: &str) -> bool {
    // Zeros at the end say how exactly it is written, or that it is round.
    let bare = match number.contains('.') {
        true => number.trim_end_matches(['0', '.']),
        false => number.trim_end_matches('0'),
    };
    let bare = bare.trim_start_matches(['-', '0', '.']);
    let telling = bare.bytes().filter(u8::is_ascii_digit).count();
    match number.parse::<i64>() {
        Ok(1900..=2099) => false,
        Ok(whole) => whole < -99 || whole > 599 && telling > 2,
        Err(_) => telling > 2,
    }
}

/// Functions that a line names with what they are of, or calls.
fn functions(line: &str) -> impl Iterator<Item = &str> {
    static FUNCTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(?:[A-Za-z_]\w*(?:::|->|#|\.))*[A-Z]\w*(?:#|::|\.)[A-Za-z_]\w+|\b(?:[A-Za-z_]\w*(?:::|\.|->))*[A-Za-z_]\w{2,}\(|\b[a-z_]\w*::[a-z_]\w+\b",
        )
        .ok()
    });
    let found = FUNCTION.as_ref().map(|function| function.find_iter(line));
    let found = found.into_iter().flatten().map(|found| found.as_str());
    found.map(|name| name.trim_end_matches('('))
}

/// The codes by which services say why they refuse: `TOKEN_EXPIRED`.
fn codes(text: &str) -> impl Iterator<Item = String> {
    static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?i)['"=]([a-z]+(?:_[a-z]+)*_(?:expired|revoked|exceeded|disabled|suspended|locked|exhausted|unverified))\b"#,
        )
        .ok()
    });
    let found = CODE.as_ref().map(|code| code.captures_iter(text));
    let found = found.into_iter().flatten();
    let found = found.filter_map(|found| Some(found.get(1)?.as_str().to_ascii_lowercase()));
    found.chain(refused_by(text))
}

/// The host that did not take who asked: one account is refused by all that it asks.
fn refused_by(text: &str) -> Option<String> {
    static REFUSED: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
        let status = Regex::new(r"(?:!= |\b(?i:error|status|code|failed)\b:? |^)401\b").ok()?;
        let host = Regex::new(r"https?://([A-Za-z][\w.-]*)").ok()?;
        Some([status, host])
    });
    let [status, host] = REFUSED.as_ref()?;
    let host = host.captures(text).filter(|_| status.is_match(text))?;
    Some(format!("401 {}", host.get(1)?.as_str()))
}

/// What lies over the element that a test wants to click, as Playwright tells it.
fn cover(text: &str) -> Option<&str> {
    let end = text.find(" intercepts pointer events")?;
    let begin = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let line = text[begins_tag(text, begin, end)?..end].trim();
    // One without a name may be any.
    (line.contains(" id=") || line.contains(" class=")).then_some(line)
}

fn begins_tag(text: &str, begin: usize, end: usize) -> Option<usize> {
    text[begin..end].find('<').map(|at| begin + at)
}

fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("at ") || line.starts_with("❯ ") || line.starts_with("File \"")
}
