//! What a line of a report is, by its form: a frame, quoted source, the end of what is said,
//! and what of it names the test or the place.

use super::framework_talk::begins_with_any;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// `Error:`, `Messages:` and the like of testify.
pub(super) fn has_label(line: &str) -> bool {
    line.split_once(':').is_some_and(|(label, _)| {
        label.len() < 12 && label.chars().all(|c| c.is_ascii_alphabetic())
    })
}

/// The story after the message: stacks, snapshots of a page, hints.
pub(super) fn ends_statement(line: &str) -> bool {
    const STORIES: &[&str] = &[
        "stack backtrace:",
        "Stacktrace:",
        "Stack trace:",
        "Stack Trace:",
        "StackTrace:",
        "Backtrace:",
        "Aria snapshot:",
        "Ignored nodes:",
        "Here are the ",
        "Build info:",
        "Host info:",
        "System info:",
        "Driver info:",
        "Captured ",
        "----- Captured",
        "goroutine ",
        "note: run with",
        "note: Run with",
        "For documentation on this error",
        "--- End of inner",
        "Standard Output Messages:",
        "attachment #",
        "Error Context:",
    ];
    begins_with_any(line, STORIES)
}

/// Which element was acted on, and what kept it; not how often it was tried.
pub(super) fn telling_call(line: &str) -> Option<&str> {
    let call = line.trim_start_matches("- ");
    let tells = call.starts_with("waiting for ") && !call.contains("waiting for element")
        || call.contains("intercepts pointer events")
        || call.starts_with("element is not ") && !call.contains("stable")
        || call.starts_with("navigating to ")
        // Of a request, and its answer.
        || call.starts_with("→ ")
        || call.starts_with("← ");
    tells.then_some(call)
}

/// What follows the place in the head of a Rust panic, whose thread is mostly
/// called like the test.
pub(super) fn panic_message(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("thread '")?;
    let (_, rest) = rest.split_once(" panicked at ")?;
    // Before Rust 1.73 the message stands first, in quotes.
    if let Some(old) = rest.strip_prefix('\'') {
        return Some(old.rsplit_once("', ").map_or(old, |(message, _)| message));
    }
    Some(rest.split_once(": ").map_or("", |(_, message)| message))
}

/// A frame of a stack, in any of the languages that print one.
pub(super) fn is_frame(line: &str) -> bool {
    let called = |rest: &str| rest.contains(['(', ':', '<']);
    let numbered = |rest: &str| {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        after.len() < rest.len() && after.starts_with(char::is_whitespace) && called(after)
    };
    line.strip_prefix("at ").is_some_and(called)
        || line.strip_prefix("❯ ").is_some_and(called)
        || line.starts_with("... ")
        || line.starts_with("File \"")
        || line.starts_with("from /")
        || line.starts_with("# ./")
        || line.strip_prefix('#').is_some_and(numbered)
        || line.starts_with("in ") && line.contains(":line ")
        || is_place(line)
}

/// Nothing but a place in a file, perhaps with what stands there.
fn is_place(line: &str) -> bool {
    let Some((file, rest)) = line.split_once(':') else {
        return false;
    };
    let path = file.contains(['/', '\\']) || file.rsplit_once('.').is_some();
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.len() < rest.len();
    path && numbered
        && !file.contains(' ')
        && (number.is_empty()
            || number.starts_with(": in ")
            || number.starts_with(":in ")
            || number.starts_with(" +0x")
            || number
                .strip_prefix(':')
                .is_some_and(|column| column.trim().bytes().all(|b| b.is_ascii_digit()))
            || number
                .strip_prefix(": ")
                .is_some_and(|class| !class.contains(' ')))
}

/// Quoted source code and the marks below it.
pub(super) fn is_code(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    if marks.all(|c| "^~|_=-".contains(c)) {
        return true;
    }
    let unmarked = line.trim_start_matches("> ").trim_start();
    let digits = unmarked.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.len() < unmarked.len() && digits.trim_start().starts_with('|')
        || line.starts_with('>') && line[1..].starts_with("  ")
}

/// A line of a log without the place in the test's file that it starts with,
/// as in `cart_test.go:12: message`.
pub(super) fn without_place(line: &str) -> &str {
    let Some((place, message)) = line.split_once(": ") else {
        return line;
    };
    let mut parts = place.split(':');
    let file = parts.next().unwrap_or_default();
    let mut numbers = parts.peekable();
    let source = file.contains('.') && !file.contains(' ') && numbers.peek().is_some();
    if source && numbers.all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
        message
    } else {
        line
    }
}

/// The line without the test or the file that a runner names in it.
pub(super) fn without_test(line: &str) -> &str {
    const ENSURE: &str = " ensure it resolves. (";
    const FINISH: &str = " didn't finish within the time-out ";
    static FINDERS: LazyLock<[Finder<'_>; 2]> = LazyLock::new(|| [ENSURE, FINISH].map(Finder::new));
    // `node:test` tells an error without a stack on one line.
    if let Some(rest) = line.strip_prefix("[Error [ERR_TEST_FAILURE]: ") {
        return rest.rsplit_once("] {").map_or(rest, |(said, _)| said);
    }
    if let Some(rest) = line.strip_prefix("Error [ERR_TEST_FAILURE]: ") {
        return rest;
    }
    let [ensure, finish] = &*FINDERS;
    if let Some(at) = ensure.find(line.as_bytes()) {
        return &line[..at];
    }
    if line.starts_with("Cannot find module ")
        && let Some((said, _)) = line.rsplit_once("' from '")
    {
        return said;
    }
    // TestNG: `Method shop.CartTest.pays() didn't finish within the time-out 1000`
    match finish.find(line.as_bytes()) {
        Some(at) if line.contains("Method ") && line[..at].ends_with("()") => &line[at..],
        Some(_) | None => line,
    }
}

/// A line that tells a step without a definition, without what the test gives to it: one
/// definition serves for all.
pub(super) fn without_arguments(line: &str) -> Cow<'_, str> {
    const NOT_FOUND: &str = "Step definition is not found: ";
    let step = match line.split_once(NOT_FOUND) {
        Some((_, told)) => told.split("\". Line ").next().unwrap_or(told),
        None if line.starts_with("The step '") && line.contains("' is undefined") => line,
        None => return Cow::Borrowed(line),
    };
    let mut told = String::with_capacity(step.len());
    // pytest-bdd puts the whole step into quotes.
    let is_quoted = step.len() < line.len();
    for (at, part) in step.split('"').enumerate() {
        if at > 0 {
            told.push('"');
        }
        if is_quoted || at % 2 == 0 {
            told.push_str(&part.replace(|c: char| c.is_ascii_digit(), ""));
        }
    }
    Cow::Owned(match is_quoted {
        true => format!("{NOT_FOUND}{told}"),
        false => told,
    })
}

/// Whether a frame of Python is one of an installed package or of the language's own.
pub(super) fn is_of_library(frame: &str) -> bool {
    ["site-packages", "dist-packages", "/lib/python", "<frozen "]
        .iter()
        .any(|folder| frame.contains(folder))
}

/// What a line of source gives to what it calls, where `said` names nothing: two that fail
/// alike may have asked for two things.
pub(super) fn given_by(call: &str, said: &str) -> Option<String> {
    const LONGEST: usize = 80;
    if said.contains(|c: char| c.is_ascii_digit() || c == '\'' || c == '"') {
        return None;
    }
    let quote = call
        .find(['"', '\''])
        .and_then(|at| call[at..].chars().next())?;
    let is_text =
        |text: &&str| (2..=LONGEST).contains(&text.len()) && !text.contains(['{', '%', '/', '\\']);
    let texts = call.split(quote).skip(1).step_by(2).filter(is_text);
    let given = texts.collect::<Vec<_>>().join(", ");
    (!given.is_empty()).then(|| format!("given {given}"))
}
