//! Whether a tool's answer is, as a whole, the statement of an error although
//! it says `isError: false`, and what it states then.
//!
//! Servers hide errors in three forms: as a sentence, as the output of a
//! command that failed, and as an envelope of JSON. Data that speaks of errors
//! (a log, a list of jobs, a document) is none of them. Whether an error is
//! one of infrastructure is for the signatures to say.

mod command;
mod envelope;
mod keys;
mod literal;
mod markup;
mod sentence;

use jelly_base::model::ToolResult;
use jelly_base::text::strip_ansi;
use serde_json::Value;

/// Bytes of an answer that may be an error; what is longer is data.
const LONGEST: usize = 32 * 1024;
/// How deep envelopes, and texts in them, are opened.
const DEPTH: usize = 6;

/// What the answer states, a statement a line, when all of it is an error.
pub(super) fn stated_error(result: &ToolResult) -> Option<String> {
    let structured = result.structured_content.as_ref();
    let text = result.text.trim();
    let lines = if text.is_empty() {
        envelope::read(structured?, 0)?
    } else {
        let lines = whole(text, 0)?;
        if !structured.is_none_or(|value| is_the_same(value, text)) {
            return None;
        }
        lines
    };
    let mut kept: Vec<&str> = Vec::new();
    for line in lines.iter().map(|line| line.trim_end()) {
        if !line.is_empty() && !kept.contains(&line) {
            kept.push(line);
        }
    }
    Some(kept.join("\n"))
}

/// What an answer with `isError: false` says in place of a result: an error, or
/// that the tool does not do what it was asked to.
#[must_use]
pub fn unmarked_error(result: &ToolResult) -> Option<String> {
    let text = result.text.trim();
    let refusal = || {
        let is_alone = result.structured_content.is_none();
        (is_alone && sentence::refuses(text)).then(|| text.to_owned())
    };
    let stated = stated_error(result).or_else(refusal)?;
    // An envelope may say no more than that there was an error.
    Some(match stated.is_empty() {
        true => text.to_owned(),
        false => stated,
    })
}

/// Whether a structured output says no more than its text, which is an error.
fn is_the_same(structured: &Value, text: &str) -> bool {
    let says_it = |value: &Value| value.as_str().is_some_and(|said| said.trim() == text);
    envelope::is_empty(structured)
        || says_it(structured)
        || structured
            .as_object()
            .is_some_and(|map| map.len() == 1 && map.values().all(says_it))
        || envelope::read(structured, 0).is_some()
}

/// The lines of a text that is an error as a whole. None of them where it
/// says no more than that there was one.
fn whole(text: &str, depth: usize) -> Option<Vec<String>> {
    if text.len() > LONGEST || depth > DEPTH {
        return None;
    }
    let plain = strip_ansi(text);
    let text = unfenced(plain.trim().trim_start_matches('\u{feff}'));
    if text.is_empty() {
        return None;
    }
    match literal::parse(text) {
        Some(Value::String(inner)) => whole(&inner, depth + 1),
        Some(value) => envelope::read(&value, depth),
        None => markup::read(text)
            .or_else(|| command::read(text))
            .or_else(|| sentence::read(text))
            .map(|lines| with_tail(lines, depth)),
    }
}

/// A sentence may end in the answer of the service that it speaks of, as in
/// `Error 401: {"message": "…"}`.
fn with_tail(mut lines: Vec<String>, depth: usize) -> Vec<String> {
    let tail = lines.iter().find_map(|line| {
        let value = literal::parse(line.get(line.find('{')?..)?)?;
        envelope::read(&value, depth + 1)
    });
    lines.extend(tail.into_iter().flatten());
    lines
}

/// Without the fence of a block of Markdown that is all of the text.
fn unfenced(text: &str) -> &str {
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .filter(|inner| !inner.contains("```"));
    match inner {
        Some(inner) => match inner.split_once('\n') {
            Some((language, rest)) if !language.trim().contains(' ') => rest.trim(),
            Some(_) | None => inner.trim(),
        },
        None => text,
    }
}
