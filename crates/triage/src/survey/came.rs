//! What came in place of a wanted value, where it tells of an error: a document with the
//! message of an exception, a page that shows it, the line that a program printed.

use super::lacks::{Subject, SubjectKind};
use super::shifted::compared;
use super::wanted::{COMPARES, without_wanted};
use jelly_base::model::{Failure, TriagedFailure};
use jelly_base::text::LazyPattern;
use regex::Captures;

/// Bytes of what came that are kept.
const KEPT: usize = 300;
/// Lines of a difference that are read.
const LINES: usize = 200;
/// Root causes of comparisons whose values are whole documents, or calls.
const DOCUMENTS: [&str; 2] = ["snapshot_mismatch", "mock_expectation"];

/// The lines of a difference that tell what came, on one line: an error and its address
/// are members of one document.
pub(super) fn came_lines(text: &str) -> String {
    let mut came = Vec::new();
    // Vitest shows two documents that differ as a whole one below the other.
    let mut is_whole = false;
    // Mocha marks what came as removed.
    let mark = match text.contains("+ expected - actual") {
        true => "-",
        false => "+ ",
    };
    for line in text.lines().take(LINES).map(str::trim) {
        match line.strip_prefix(mark) {
            Some("Received:") => is_whole = true,
            Some(head) if head.starts_with("Received") || head.starts_with("actual ") => {}
            // Where pytest has a value from.
            Some(whence) if whence.trim_start().starts_with("where ") => {}
            Some(whence) if whence.trim_start().starts_with("and ") => {}
            Some(line) => came.push(line.trim()),
            None if line.is_empty() => is_whole = false,
            None if is_whole => came.push(line),
            None => {}
        }
    }
    came.join(" ")
}

/// Root causes of failures that tell what somebody answered.
pub(super) const TELLERS: [&str; 2] = ["internal_error", "upstream_error"];

/// What came of a failed comparison, as far as it tells of an error.
pub(super) fn came(failure: &Failure, triaged: &TriagedFailure) -> Option<Subject> {
    let root_cause = triaged.diagnosis.root_cause.as_str();
    let compares = COMPARES.contains(&root_cause) && !DOCUMENTS.contains(&root_cause);
    let wants_none = || root_cause == "code_exception" && wants_no_exception(failure);
    if !compares && !TELLERS.contains(&root_cause) && !wants_none() {
        return None;
    }
    let message = failure.message.as_deref().filter(|said| !said.is_empty());
    let text = failure.text.as_deref().unwrap_or_default();
    let lines = came_lines(&without_margin(text));
    let told = [message, Some(text)];
    let value = || {
        let values = told.into_iter().flatten();
        let mut values = values
            .filter_map(|told| labelled(told).or_else(|| compared(told).map(|(_, came)| came)));
        values.next()
    };
    let rest = || {
        let evidence = triaged.diagnosis.evidence.as_ref();
        let evidence = evidence.map(|evidence| evidence.text.as_str());
        // Some say no more than that it failed.
        let message = message.filter(|said| said.contains(' '));
        let head = message.or(evidence).or_else(|| text.lines().next())?;
        // Behind it pytest shows what it compared.
        let head = head.split("\nassert ").next().unwrap_or(head);
        let rest = without_wanted(head);
        Some(rest.trim().to_owned()).filter(|rest| rest.len() <= 2 * KEPT)
    };
    let all = [Some(lines), value(), rest()].into_iter().flatten();
    let mut all = all.map(|came| plain(&came));
    let came = all.find(|came| tells_of_error(came))?;
    let end = came.floor_char_boundary(KEPT.min(came.len()));
    Some(Subject::new(SubjectKind::Came, &came[..end]))
}

/// Whether an assertion wants that nothing is thrown, and tells what was; or a test in Go tells an
/// error in words of its own.
fn wants_no_exception(failure: &Failure) -> bool {
    static WANTS: LazyPattern = LazyPattern::new(
        r"\.not\.toThrow\w*\(|\bto not throw\b|\bdoesn't throw an exception\b|\bUnexpected exception thrown:|\bnot to throw\b|\A\s*\S+_test\.go:\d+: ",
    );
    let texts = [&failure.message, &failure.text].into_iter().flatten();
    let mut texts = texts.map(|text| &text[..text.floor_char_boundary(KEPT.min(text.len()))]);
    texts.any(|text| WANTS.is_match(text) && !text.contains("panic: "))
}

/// The value behind the word of a framework for what came, up to the end of its line.
pub(super) fn labelled(told: &str) -> Option<String> {
    static LABEL: LazyPattern = LazyPattern::new(
        r#"(?x)(?:^|\s)(?:Received(?:\ (?:string|message|value))?|Actual|Input|got):\s*["'](?P<a>[^\n]+)["']
              | \bbut\ (?:was|found):?\ [\[<](?P<b>[^\n]+)[\]>]
              | \bexpected\ "(?P<c>[^"\n]+)"\ to\ (?:start|end)\ with
              | \n\+['"](?P<d>[^\n]+)['"]
              | \bReceived:\s+(?P<e>[\[{][^\n]+)
              | \bError\ message:\s+"(?P<f>[^\n]+)"
              | \bbut\ ['"](?P<g>[^\n]+)['"]\ was\ thrown
              | \bit\ throws\ [^\n"]*\bwith\ description\ "(?P<h>[^\n]+)"
              | \bUnexpected\ exception\ thrown:\ (?P<i>[^\n]+)"#,
    );
    let found = LABEL.captures(told)?;
    let part = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
        .iter()
        .find_map(|name| found.name(name));
    Some(part?.as_str().to_owned())
}

/// A text of pytest without the letter before each line of what it says.
fn without_margin(text: &str) -> String {
    let bare = |line: &str| match line.strip_prefix("E  ") {
        Some(line) => line.trim_start().to_owned(),
        None => line.to_owned(),
    };
    let lines: Vec<String> = text.lines().map(bare).collect();
    lines.join("\n")
}

/// A text as it is said, wherever it is quoted: without escapes, queries and the layout of its
/// lines.
pub(super) fn plain(text: &str) -> String {
    static OBJECT: LazyPattern = LazyPattern::new(r"#<(?:struct )?([A-Z]\w*(?:::[A-Z]\w*)*)[^\n]*");
    static QUERY: LazyPattern = LazyPattern::new(r"\?[\w.%+-]+=[^\s:;,)\x22']*");
    let text = text.trim();
    let text = text
        .replace("\\\"", "\"")
        .replace("\\'", "'")
        .replace("\\n", " ");
    // At the end of an address that is all there is, it may be what tells.
    let text = QUERY.replace_all(&text, |found: &Captures<'_>| {
        let is_last = found.get(0).is_some_and(|query| query.end() == text.len());
        if is_last {
            found[0].to_owned()
        } else {
            String::new()
        }
    });
    // Of an object its class tells, and not where it lies in the memory.
    let text = OBJECT.replace_all(&text, "#<$1");
    let words: Vec<&str> = text.split_whitespace().collect();
    classed(words.join(" "))
}

/// A document with the class of its error put before the message, as it is said elsewhere.
fn classed(text: String) -> String {
    static CLASS: LazyPattern = LazyPattern::new(
        r#""(?:kind|type|exception|class|error_type|name)": ?"([A-Z]\w*(?:Error|Exception))""#,
    );
    static MESSAGE: LazyPattern =
        LazyPattern::new(r#""(?:error|message|detail|reason)": ?"([^"]+)""#);
    if !text.contains("\": ") && !text.contains("\":\"") {
        return text;
    }
    match (CLASS.captures(&text), MESSAGE.captures(&text)) {
        (Some(class), Some(said)) => format!("{}: {} {text}", &class[1], &said[1]),
        _ => text,
    }
}

/// Whether a value is about something that went wrong.
pub(super) fn tells_of_error(came: &str) -> bool {
    const WORDS: [&str; 38] = [
        "abort",
        "bad ",
        "cannot",
        "can't",
        "conflict",
        "corrupt",
        "could not",
        "couldn't",
        "denied",
        "does not",
        "doesn't",
        "error",
        "exceed",
        "exception",
        "expired",
        "fail",
        "forbidden",
        "invalid",
        "is not",
        "is null",
        "malformed",
        "missing",
        "no such",
        "not ",
        "null",
        "out of",
        "quota",
        "refused",
        "rejected",
        "timed out",
        "timeout",
        "unable",
        "sorry",
        "unauthorized",
        "unavailable",
        "undefined",
        "unknown",
        "went wrong",
    ];
    let small = came.to_lowercase();
    WORDS.iter().any(|word| small.contains(word))
}

#[cfg(test)]
mod tests {
    use super::came;
    use crate::engine::Engine;
    use jelly_base::model::{Diagnosis, Failure, FailureStatus, TriagedFailure};

    fn triaged(diagnosis: Diagnosis) -> TriagedFailure {
        TriagedFailure {
            report: String::new(),
            suite: String::new(),
            classname: String::new(),
            name: String::new(),
            file: None,
            line: None,
            status: FailureStatus::Failure,
            message: None,
            pre_existing: None,
            diagnosis,
            history: None,
        }
    }

    #[test]
    fn an_error_that_came_is_told_as_it_is_said() {
        for (message, text, told) in [
            (
                "",
                "Error: expect(received).toEqual(expected) // deep equality\n\n- Expected  - 2\n+ Received  + 1\n\n  Object {\n-   \"lat\": Any<Number>,\n+   \"error\": \"geocoder GET /geocode?q=Berlin: HTTP 429 daily quota exceeded\",\n  }",
                Some("\"error\": \"geocoder GET /geocode: HTTP 429 daily quota exceeded\","),
            ),
            (
                "assert \"Error: TypeE...t: 'Loader'\\n\" == '1 entries\\n'",
                ">       assert out == 1\nE         - 1 entries\nE         + Error: TypeError: load() missing 1 required positional argument: 'Loader'",
                Some("Error: TypeError: load() missing 1 required positional argument: 'Loader'"),
            ),
            (
                "expect(locator).toHaveText(expected) failed",
                "Expected: \"No hits\"\nReceived: \"Search is off (index tasks-v2 not found)\"\n",
                Some("Search is off (index tasks-v2 not found)"),
            ),
            ("assert 3 == 4", "", None),
            ("expected: <open> but was: <closed>", "", None),
        ] {
            let failure = Failure {
                message: Some(message.into()),
                text: Some(text.into()),
                ..Failure::default()
            };
            let diagnosis = Diagnosis {
                root_cause: "assertion_mismatch".into(),
                ..Engine::builtin().diagnose(&failure)
            };
            let found = came(&failure, &triaged(diagnosis));
            let found = found.map(|subject| subject.name.into_string());
            assert_eq!(found.as_deref(), told, "{text}");
        }
    }
}
