//! Which texts of a failure are read for a cause, and in which order: the
//! line that names the root cause first, talk last.

use super::answer;
use super::facts::{Facts, Promise, Source};
use super::rule::Field;
use crate::model::{Failure, Phase};
use crate::text::{strip_ansi, truncate_middle};
use std::borrow::Cow;

/// Bytes of one text that are read, head and tail together.
const READ: usize = 128 * 1024;

/// A text with where it comes from.
pub(super) struct Text<'a> {
    pub(super) field: Field,
    /// The field as evidence names it.
    pub(super) name: &'static str,
    pub(super) text: Cow<'a, str>,
    /// 0 is the most telling.
    pub(super) rank: u8,
    /// Read only when the others say nothing.
    pub(super) reserve: bool,
}

/// The texts to read, most telling first.
pub(super) fn texts<'a>(facts: &Facts<'a>) -> Vec<Text<'a>> {
    let mut list = List::default();
    let f = facts.failure;
    match facts.source {
        Source::Report => report(&mut list, f),
        Source::Live => live(&mut list, facts),
    }
    list.texts.sort_by_key(|text| (text.reserve, text.rank));
    list.texts
}

#[derive(Default)]
struct List<'a> {
    texts: Vec<Text<'a>>,
}

impl<'a> List<'a> {
    fn whole(&mut self, field: Field, name: &'static str, text: Cow<'a, str>, rank: u8) {
        if !text.trim().is_empty() {
            self.texts.push(Text {
                field,
                name,
                text,
                rank,
                reserve: false,
            });
        }
    }

    /// The text, and before it those of its lines that name a cause.
    fn with_roots(&mut self, field: Field, name: &'static str, text: &'a str, rank: u8) {
        let text = readable(text);
        for root in root_lines(&text) {
            self.whole(field, name, Cow::Owned(root), 0);
        }
        self.whole(field, name, text, rank);
    }
}

fn readable(text: &str) -> Cow<'_, str> {
    match truncate_middle(text, READ) {
        Cow::Borrowed(text) => strip_ansi(text),
        Cow::Owned(text) => Cow::Owned(strip_ansi(&text).into_owned()),
    }
}

fn live<'a>(list: &mut List<'a>, facts: &Facts<'a>) {
    let f = facts.failure;
    if facts.promise == Some(Promise::Expectation) {
        // What an assertion compares is no evidence, but a tool whose whole
        // answer is an error of its surroundings has not been tested at all.
        if let Some(statement) = answer::infrastructure_statement(f) {
            list.whole(
                Field::Answer,
                "tool_result.text",
                Cow::Borrowed(statement),
                0,
            );
        }
        return;
    }
    if let Some(text) = f.spawn_error.as_ref().and_then(|e| e.text.as_deref()) {
        list.whole(Field::Spawn, "spawn_error.text", Cow::Borrowed(text), 1);
    }
    if let Some(error) = &f.rpc_error {
        list.with_roots(Field::Answer, "rpc_error.message", &error.message, 1);
        if let Some(data) = &error.data {
            let data = match data.as_str() {
                Some(text) => text.to_owned(),
                None => data.to_string(),
            };
            list.whole(Field::Answer, "rpc_error.data", Cow::Owned(data), 2);
        }
    }
    if let Some(result) = &f.tool_result {
        list.with_roots(Field::Answer, "tool_result.text", &result.text, 1);
    }
    if let Some(http) = &f.http {
        if let Some(text) = &http.text {
            list.whole(Field::Answer, "http.text", Cow::Borrowed(text), 1);
        }
        if let Some(error) = &http.error {
            list.whole(Field::Answer, "http.error", Cow::Borrowed(error), 1);
        }
        if let Some(body) = &http.body {
            list.whole(Field::Answer, "http.body", readable(body), 1);
        }
    }
    let start = list.texts.len();
    if let Some(stderr) = &f.stderr {
        list.with_roots(Field::Stderr, "stderr", stderr, 2);
    }
    if let Some(stdout) = &f.stdout {
        list.with_roots(Field::Stdout, "stdout", stdout, 3);
    }
    // After an answer, stderr is the story of other requests too.
    if facts.answered && !matches!(f.phase, Some(Phase::Handshake)) {
        for text in &mut list.texts[start..] {
            text.reserve = true;
        }
    }
    if !f.stdout_noise.is_empty() {
        let noise = f.stdout_noise.join("\n");
        list.whole(
            Field::Stdout,
            "stdout_noise",
            Cow::Owned(readable(&noise).into_owned()),
            3,
        );
    }
    if let Some(breach) = &f.protocol_breach {
        list.whole(Field::Message, "protocol_breach", Cow::Borrowed(breach), 3);
    }
    if let Some(message) = &f.message {
        list.whole(Field::Message, "message", readable(message), 4);
    }
}

fn report<'a>(list: &mut List<'a>, f: &'a Failure) {
    // Robot Framework types everything `AssertionError`.
    let typed = f.dialect.as_deref() != Some("robot");
    if let Some(type_) = f.type_.as_ref().filter(|_| typed) {
        list.whole(Field::Report, "type", Cow::Borrowed(type_), 0);
    }
    if let Some(message) = &f.message {
        list.with_roots(Field::Report, "message", message, 1);
    }
    if let Some(text) = &f.text {
        match pytest_says(text) {
            Some(said) => {
                for root in root_lines(&said) {
                    list.whole(Field::Report, "text", Cow::Owned(root), 0);
                }
                list.whole(Field::Report, "text", Cow::Owned(said), 2);
            }
            None => list.with_roots(Field::Report, "text", text, 2),
        }
    }
    let start = list.texts.len();
    if let Some(text) = &f.system_err {
        list.with_roots(Field::Log, "system_err", text, 3);
    }
    if let Some(text) = &f.system_out {
        list.with_roots(Field::Log, "system_out", text, 4);
    }
    for text in &mut list.texts[start..] {
        text.reserve = true;
    }
}

/// What pytest itself says in its report of a failure: the lines marked with
/// `E`. The others quote source code, of libraries too, which is full of words
/// that mean something elsewhere.
fn pytest_says(text: &str) -> Option<String> {
    let said: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("E  "))
        .map(str::trim)
        .collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// What kind of line names a cause; the order is how much it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    /// Innermost cause of a chain.
    Cause,
    /// The end of a traceback, a panic, an error above a stack.
    Trace,
    /// A line that calls itself an error.
    Error,
}

/// The lines of `text` that name a root cause, most telling first, at most
/// four of them.
pub(super) fn root_lines(text: &str) -> Vec<String> {
    let mut roots = find_roots(text);
    roots.sort_by_key(|(kind, _)| *kind);
    let mut lines: Vec<String> = Vec::new();
    for (_, line) in roots {
        if !lines.contains(&line) && lines.len() < 4 {
            lines.push(line);
        }
    }
    lines
}

/// The line in which a program in any language says that it crashed by its
/// own doing: a panic, or the last line of a traceback.
pub(super) fn trace_line(text: &str) -> Option<String> {
    let text = readable(text);
    find_roots(&text)
        .into_iter()
        .filter(|(kind, _)| *kind == Root::Trace)
        .map(|(_, line)| line)
        .next_back()
}

/// The line of a server's last words that says most.
pub(super) fn telling_line(text: &str) -> Option<String> {
    let text = readable(text);
    root_lines(&text).into_iter().next().or_else(|| {
        text.lines()
            .map(str::trim)
            .rfind(|line| line.chars().any(char::is_alphanumeric))
            .map(str::to_owned)
    })
}

fn find_roots(text: &str) -> Vec<(Root, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut roots: Vec<(Root, String)> = Vec::new();
    let mut error_lines = 0;
    let mut in_traceback = false;
    for (i, raw) in lines.iter().enumerate() {
        let line = raw.trim();
        let next = lines.get(i + 1).map_or("", |l| l.trim());
        if let Some(cause) = line
            .strip_prefix("Caused by: ")
            .or_else(|| line.strip_prefix("[cause]: "))
        {
            // The last one is the innermost.
            roots.retain(|(kind, _)| *kind != Root::Cause);
            roots.push((Root::Cause, cause.trim_end_matches(" {").to_owned()));
        } else if line.starts_with("Traceback (most recent call last)") {
            in_traceback = true;
        } else if in_traceback && !line.is_empty() && !raw.starts_with([' ', '\t', '|']) {
            in_traceback = false;
            roots.retain(|(kind, _)| *kind != Root::Trace);
            roots.push((Root::Trace, line.to_owned()));
        } else if let Some(panic) = rust_panic(line) {
            roots.push((Root::Trace, join(panic, next)));
        } else if line.starts_with("panic: ")
            || line.starts_with("fatal error: ")
            || line.starts_with("fatal runtime error: ")
            || line.starts_with("FATAL ERROR: ")
        {
            roots.push((Root::Trace, line.to_owned()));
        } else if names_error(line) && is_frame(next) {
            roots.push((Root::Trace, line.trim_end_matches(" {").to_owned()));
        } else if calls_itself_error(line) && error_lines < 3 {
            error_lines += 1;
            roots.push((Root::Error, line.to_owned()));
        }
    }
    roots
}

/// `thread 'main' (123) panicked at src/main.rs:1:2:`, the number being the
/// thread's id since Rust 1.92; older ones carry the message in the line.
fn rust_panic(line: &str) -> Option<&str> {
    (line.starts_with("thread '") && line.contains(" panicked at ")).then_some(line)
}

fn join(head: &str, next: &str) -> String {
    if head.ends_with(':') && !next.is_empty() {
        format!("{head} {next}")
    } else {
        head.to_owned()
    }
}

/// A frame of a Node or Java stack.
fn is_frame(line: &str) -> bool {
    line.starts_with("at ") || line.starts_with("... ")
}

/// `TypeError: …`, `java.lang.IllegalStateException: …`, `Error [CODE]: …`.
fn names_error(line: &str) -> bool {
    line.match_indices("Error")
        .chain(line.match_indices("Exception"))
        .any(|(at, word)| {
            let rest = &line[at + word.len()..];
            rest.is_empty() || rest.starts_with(": ") || rest.starts_with(" [") || rest == ":"
        })
}

fn calls_itself_error(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let bytes = line.as_bytes();
    let starts = |word: &str| {
        bytes
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    };
    starts("error:")
        || starts("error ")
        || starts("error[")
        || starts("fatal")
        || starts("failed")
        || starts("failure:")
        || starts("npm error")
        || starts("npm err!")
        || starts("critical")
        || line.contains(": error: ")
        || names_error(line)
}

#[cfg(test)]
mod tests {
    use super::{pytest_says, root_lines, telling_line, trace_line};

    #[test]
    fn the_innermost_cause_comes_first() {
        let text = "java.lang.RuntimeException: outer\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: middle\n\tat x\nCaused by: java.net.ConnectException: Connection refused\n\tat y";
        assert_eq!(
            root_lines(text)[0],
            "java.net.ConnectException: Connection refused"
        );
    }

    #[test]
    fn a_traceback_is_told_by_its_last_line() {
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    x()\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 2, in y\nValueError: no b\nbye";
        assert_eq!(trace_line(text).as_deref(), Some("ValueError: no b"));
    }

    #[test]
    fn a_rust_panic_is_told_with_its_message() {
        let text =
            "log\nthread 'main' (7) panicked at src/main.rs:6:93:\nindex out of bounds\nnote: run";
        assert_eq!(
            telling_line(text).as_deref(),
            Some("thread 'main' (7) panicked at src/main.rs:6:93: index out of bounds")
        );
    }

    #[test]
    fn node_names_its_error_above_the_stack_and_its_cause_below() {
        let text = "/a/b.js:2\nconst x = y.z;\n            ^\n\nTypeError: Cannot read properties of undefined\n    at Object.<anonymous> (/a/b.js:2:25)\n";
        assert_eq!(
            telling_line(text).as_deref(),
            Some("TypeError: Cannot read properties of undefined")
        );
        let chained = format!("{text}  [cause]: Error: connect ECONNREFUSED 127.0.0.1:1\n");
        assert_eq!(
            telling_line(&chained).as_deref(),
            Some("Error: connect ECONNREFUSED 127.0.0.1:1")
        );
    }

    #[test]
    fn source_code_in_a_pytest_report_is_not_read() {
        let text =
            ">       if err != ECONNREFUSED:\nE       ValueError: no b\n\nx.py:1: ValueError";
        assert_eq!(pytest_says(text).as_deref(), Some("ValueError: no b"));
        assert_eq!(pytest_says("Error: plain"), None);
    }

    #[test]
    fn plain_last_words_are_told_by_their_last_line() {
        assert_eq!(
            telling_line("starting\nlost the backing store\n---\n").as_deref(),
            Some("lost the backing store")
        );
        assert_eq!(telling_line(" \n"), None);
    }
}
