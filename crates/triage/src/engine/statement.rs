//! What a test report says went wrong, without the story around it: the
//! innermost cause, or the message up to its stack, without frames, logs of
//! calls, quoted source code and hints.
//!
//! It is chosen by form alone. No rule is asked, so a fingerprint does not
//! change because a rule learned to quote another line.

use super::framework_talk::is_noise;
use super::statement_lines::{
    ends_statement, given_by, has_label, is_code, is_frame, is_of_library, panic_message,
    telling_call, without_arguments, without_place, without_test,
};
use jelly_base::model::Failure;
use jelly_base::text::{WordList, lines, strip_ansi, truncate_middle};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Bytes of a text that are looked at, head and tail together.
const READ: usize = 16 * 1024;
/// Lines of a statement.
const LINES: usize = 24;
/// Bytes of a statement, about. What is volatile in it still counts here, so
/// this is far more than what is kept of its template.
const BYTES: usize = 8 * 1024;

/// The lines that say what went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// Empty where nothing says anything.
    pub(super) text: String,
    /// It is the cause of what was thrown, so the type of the latter does not
    /// belong to it.
    pub(super) innermost: bool,
}

/// The statement of a report about a failure.
pub(super) fn statement(f: &Failure) -> Statement {
    let message = readable(f.message.as_deref().unwrap_or_default());
    let text = readable(f.text.as_deref().unwrap_or_default());
    let text = unwrapped_in_node(&text).map_or(text, Cow::Owned);
    if let Some(text) = innermost(&text).or_else(|| innermost(&message)) {
        return Statement {
            text,
            innermost: true,
        };
    }
    Statement {
        text: told(f, &message, &text),
        innermost: false,
    }
}

/// What a test of Node's failed of, as it would stand there by itself: the runner wraps it in
/// an error of its own, which has a stack in the first test of a suite and none in the others.
pub(super) fn unwrapped_in_node(text: &str) -> Option<String> {
    let wrapped = text.trim();
    let wrapped = wrapped.strip_prefix('[').unwrap_or(wrapped);
    let wrapped = wrapped.strip_prefix("Error [ERR_TEST_FAILURE]: ")?;
    let (_, cause) = wrapped
        .split_once("\n  cause: ")
        .or_else(|| wrapped.split_once(", cause: "))?;
    let cause = cause.trim_end().strip_suffix('}')?.trim_end();
    let quoted = cause
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''));
    let cause = quoted.unwrap_or(cause);
    let lines = lines(cause).map(|line| line.strip_prefix("  ").unwrap_or(line));
    let cause = lines.collect::<Vec<_>>().join("\n");
    (!cause.trim_matches(['{', '}', '\n']).is_empty()).then_some(cause)
}

/// What the logs of a case say, where its failure says nothing: the first
/// panic, traceback or the like.
pub(super) fn logged(f: &Failure) -> Option<String> {
    static MARKS: LazyLock<[Finder<'_>; 6]> = LazyLock::new(|| {
        [
            " panicked at ",
            "panic: ",
            "Traceback (most recent call last)",
            "fatal error: ",
            "Exception in thread ",
            " ... undefined in ",
        ]
        .map(Finder::new)
    });
    [&f.system_err, &f.system_out]
        .into_iter()
        .flatten()
        .find_map(|log| {
            let log = readable(log);
            let found = MARKS.iter().filter_map(|mark| mark.find(log.as_bytes()));
            let line = log[..found.min()?].rfind('\n').map_or(0, |at| at + 1);
            let said = gather(lines(&log[line..]), &OwnTestNames::of(f));
            (!said.is_empty()).then_some(said)
        })
}

/// Words of a line that tells how a program ended, and not how far it had come.
const ENDS_BADLY: [&str; 9] = [
    "exit",
    "status",
    "error",
    "fail",
    "abort",
    "killed",
    "terminat",
    "signal",
    "segmentation",
];

/// The last line that tells an end of what was printed, where a report says nothing else.
pub(super) fn last_printed(f: &Failure) -> Option<String> {
    let printed = [&f.system_err, &f.system_out].into_iter().flatten();
    printed.map(|log| readable(log)).find_map(|log| {
        let tells = |line: &&str| {
            let line = line.to_ascii_lowercase();
            ENDS_BADLY.iter().any(|word| line.contains(word))
        };
        let line = log.lines().rfind(tells)?;
        let said = gather(lines(line), &OwnTestNames::of(f));
        (!said.is_empty()).then_some(said)
    })
}

fn told(f: &Failure, message: &str, text: &str) -> String {
    let mine = OwnTestNames::of(f);
    let of_message = gather(lines(message), &mine);
    if let Some(last) = last_block(text) {
        let block = gather(last.into_iter(), &mine);
        // pytest cuts the message of a long report, and its own lines are whole.
        return either(block, of_message);
    }
    let of_text = match message.lines().map(str::trim).find(|line| !line.is_empty()) {
        // The text mostly repeats the message and goes on.
        Some(head) if !of_message.is_empty() => {
            let from = lines(text).position(|line| {
                let line = line.trim_end();
                line.ends_with(head) || is_flattened(line, message)
            });
            match from {
                Some(from) => return either(gather(lines(text).skip(from), &mine), of_message),
                None => gather(lines(text), &mine),
            }
        }
        Some(_) | None => gather(lines(text), &mine),
    };
    // Neither repeats the other, so each has something to tell.
    match (of_message.is_empty(), of_text.is_empty()) {
        (false, false) => format!("{of_message}\n{of_text}"),
        _ => either(of_text, of_message),
    }
}

/// Whether a message of one line, as attributes of XML make it, begins with what a line
/// says behind its class, and goes on.
fn is_flattened(line: &str, message: &str) -> bool {
    const SHORTEST: usize = 12;
    let goes_on = |said: &str| {
        let rest = message.strip_prefix(said);
        said.len() >= SHORTEST && rest.is_some_and(|rest| rest.starts_with(' '))
    };
    let line = line.trim();
    let behind = line.split_once(": ").map_or("", |(_, said)| said);
    !message.contains('\n') && (goes_on(line) || goes_on(behind))
}

fn either(one: String, other: String) -> String {
    if one.is_empty() { other } else { one }
}

fn readable(text: &str) -> Cow<'_, str> {
    // Writers of XML spell an escape character out.
    let text = match stack_of_json(text) {
        Some(stack) => Cow::Owned(stack),
        None => truncate_middle(text, READ),
    };
    if text.contains("#x1B") {
        return Cow::Owned(strip_ansi(&text.replace("#x1B", "\x1b")).into_owned());
    }
    match text {
        Cow::Borrowed(text) => strip_ansi(text),
        Cow::Owned(text) => Cow::Owned(strip_ansi(&text).into_owned()),
    }
}

/// The stack of an error that a reporter wrote as JSON, as jest-junit does where a
/// hook failed.
fn stack_of_json(text: &str) -> Option<String> {
    /// A longer one is data.
    const MOST: usize = 256 * 1024;
    let text = text.trim();
    if text.len() > MOST || !text.starts_with("{\"") || !text.contains("\"stack\":") {
        return None;
    }
    let error: serde_json::Value = serde_json::from_str(text).ok()?;
    let stack = error.get("stack")?.as_str()?;
    Some(stack.to_owned())
}

/// pytest's marked lines of the last exception of a chain.
fn last_block(text: &str) -> Option<Vec<&str>> {
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\nE  "));
    if !text.starts_with("E  ") && MARK.find(text.as_bytes()).is_none() {
        return None;
    }
    let mut block: Vec<&str> = Vec::new();
    let mut open = false;
    for line in lines(text) {
        match line.strip_prefix("E  ") {
            Some(said) => {
                if !open {
                    block.clear();
                }
                open = true;
                block.push(said.strip_prefix(' ').unwrap_or(said));
            }
            None => open = false,
        }
    }
    (!block.is_empty()).then_some(block)
}

/// The last cause of a chain, with the lines that belong to it.
fn innermost(text: &str) -> Option<String> {
    static CAUSES: LazyLock<[Finder<'_>; 2]> =
        LazyLock::new(|| ["Caused by: ", "[cause]: "].map(Finder::new));
    // Most texts have none, and looking at each line takes its time.
    if CAUSES
        .iter()
        .all(|mark| mark.find(text.as_bytes()).is_none())
    {
        return None;
    }
    let mut found: Option<Vec<&str>> = None;
    let mut outer = "";
    let mut open = false;
    for line in lines(text) {
        let trimmed = line.trim();
        if found.is_none() && outer.is_empty() && class_of(trimmed).is_some() {
            outer = trimmed;
        }
        if let Some(cause) = trimmed
            .strip_prefix("Caused by: ")
            .or_else(|| trimmed.strip_prefix("[cause]: "))
        {
            found = Some(vec![cause.trim_end_matches(" {")]);
            open = true;
        } else if open {
            let more = !trimmed.is_empty() && !is_frame(trimmed) && !is_closing(trimmed);
            match &mut found {
                Some(lines) if more && lines.len() < 4 => lines.push(trimmed),
                Some(_) | None => open = false,
            }
        }
    }
    let mut lines = found?;
    // What an exception of the same class adds is told nowhere else.
    if class_of(outer).is_some() && class_of(outer) == lines.first().copied().and_then(class_of) {
        lines.insert(0, outer);
    }
    Some(lines.join("\n"))
}

/// The qualified class at the head of a line, as in `a.b.C: message`.
fn class_of(line: &str) -> Option<&str> {
    let (class, _) = line.split_once(':')?;
    let qualified = class.contains('.')
        && class
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._$".contains(&b));
    qualified.then_some(class)
}

/// `}`, `code: 'X',` and the like below an error of Node.
fn is_closing(line: &str) -> bool {
    line.chars().all(|c| "{}[](),;".contains(c))
}

/// How the failing test is called in its own output.
struct OwnTestNames<'a> {
    names: [Option<&'a str>; 2],
    /// All that tells the test from others.
    identity: [Option<&'a str>; 4],
}

/// Words of lines that only say which test they are about.
const HEADING: WordList = WordList(
    "failed failure failures failing fail error not ok test tests scenario feature case spec \
     suite the description was in of at example line should describe it chromium firefox webkit \
     chrome fixture method ms",
);

impl<'a> OwnTestNames<'a> {
    fn of(f: &'a Failure) -> Self {
        let last = f.name.as_deref().map(|name| {
            let parts = name.rsplit(['>', '›', ':', '.', '/', '-']);
            parts
                .map(str::trim)
                .find(|part| part.len() >= 3)
                .unwrap_or(name)
        });
        Self {
            names: [f.name.as_deref(), last].map(|name| name.filter(|n| n.len() >= 3)),
            identity: [&f.name, &f.classname, &f.suite, &f.file].map(Option::as_deref),
        }
    }

    /// A line that only says which test it is about.
    fn is_heading(&self, line: &str) -> bool {
        let about = |name: &&str| line.contains(*name);
        self.names.iter().flatten().any(about)
            && words(line).all(|word| {
                self.identity
                    .iter()
                    .flatten()
                    .any(|text| words(text).any(|own| own == word))
                    || is_ordinal(line, word)
                    || HEADING
                        .words()
                        .any(|known| word.eq_ignore_ascii_case(known))
            })
    }
}

/// Whether a word of the line counts cases, or tells a place or a duration: no
/// number that the test is about.
fn is_ordinal(line: &str, word: &str) -> bool {
    let at = word.as_ptr().addr().saturating_sub(line.as_ptr().addr());
    let before = line.get(..at).unwrap_or_default();
    let place = before.ends_with(':') && before.contains('.');
    word.bytes().all(|b| b.is_ascii_digit())
        && (before.trim().is_empty() || before.ends_with("ok ") || before.ends_with('(') || place)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The lines that say something, up to where the story of how it came begins.
fn gather<'a>(lines: impl Iterator<Item = &'a str>, mine: &OwnTestNames<'_>) -> String {
    let mut kept: Vec<Cow<'_, str>> = Vec::new();
    let mut bytes = 0;
    let mut calls = false;
    let mut skip_indented = false;
    let mut frames = 0;
    // How far a frame of Python is indented, below which its source stands.
    let mut source_below = None;
    // The last line of the project's own.
    let (mut in_own, mut called) = (false, None);
    for raw in lines {
        let line = raw.trim();
        let indented = raw.len() - raw.trim_start().len();
        if source_below.is_some_and(|frame| indented > frame) && !line.is_empty() {
            if in_own && !is_code(line) {
                called = Some(line);
            }
            continue;
        }
        let of_python = line.starts_with("File \"") && line.contains("\", line ");
        source_below = of_python.then_some(indented);
        in_own = of_python && !is_of_library(line);
        if line.is_empty() {
            skip_indented = false;
            continue;
        }
        if skip_indented && raw.starts_with([' ', '\t']) && !has_label(line) {
            continue;
        }
        skip_indented = false;
        if ends_statement(line) {
            if kept.is_empty() {
                continue;
            }
            break;
        }
        if line == "Call log:" || line.starts_with("=========================== logs") {
            calls = true;
            continue;
        }
        if calls {
            if let Some(call) = telling_call(line)
                && kept.len() < LINES
                && !kept.iter().any(|line| line == call)
            {
                kept.push(Cow::Borrowed(call));
            }
            continue;
        }
        if let Some(panic) = panic_message(line) {
            // What came before a panic is talk.
            kept.clear();
            if !panic.is_empty() {
                kept.push(Cow::Borrowed(panic));
            }
            frames = 0;
            continue;
        }
        if is_frame(line) || is_code(line) {
            frames += 1;
            // A stack above the message is the one of Python and Go.
            if frames > 1 && !kept.is_empty() && is_frame(line) {
                break;
            }
            continue;
        }
        if line == "Error Trace:" || line.starts_with("Error Trace:") {
            skip_indented = true;
            continue;
        }
        if is_noise(line) || mine.is_heading(line) {
            continue;
        }
        if line == "Require stack:" {
            skip_indented = true;
            continue;
        }
        let line = without_test(without_place(line));
        // What is tried again and again is said once.
        if line.is_empty() || kept.last().is_some_and(|last| last == line) {
            continue;
        }
        bytes += line.len();
        kept.push(without_arguments(line));
        if kept.len() >= LINES || bytes >= BYTES {
            break;
        }
    }
    if let Some(given) = called.and_then(|call| given_by(call, kept.last()?)) {
        kept.push(Cow::Owned(given));
    }
    sort_lists(&mut kept);
    only_changes(&mut kept);
    kept.join("\n")
}

/// Leaves of two values that unittest cut, and whose difference it shows below them, what
/// was raised and what differs: the rest is as long as there was room.
fn only_changes(lines: &mut Vec<Cow<'_, str>>) {
    let changed = |line: &Cow<'_, str>| line.starts_with("- ") || line.starts_with("+ ");
    let is_cut = lines.first().is_some_and(|first| {
        let mut parts = first.split('[').skip(1);
        parts.any(|part| {
            part.split_once(" chars]")
                .is_some_and(|(count, _)| is_count(count))
        })
    });
    if !is_cut || !lines.iter().any(changed) {
        return;
    }
    let raised = lines[0].split_once(": ").map(|(class, _)| class.to_owned());
    lines.retain(changed);
    if let Some(class) = raised.filter(|class| !class.contains(' ')) {
        lines.insert(0, Cow::Owned(class));
    }
}

fn is_count(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Puts the items below `Differing items:` and the like into an order, since
/// those of maps and sets come in any.
fn sort_lists(lines: &mut [Cow<'_, str>]) {
    const OF_LISTS: [&str; 6] = ["items", "Items", "elements", "keys", "entries", "fields"];
    let opens = |line: &str| line.ends_with(':') && OF_LISTS.iter().any(|word| line.contains(word));
    for list in lines.split_mut(|line| opens(line)).skip(1) {
        list.sort_unstable();
    }
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
