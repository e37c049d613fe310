//! Sentences that state an error: how they begin, and what only looks like one.

use crate::engine::tables::{built, table};
use jelly_base::text::LazyPattern;
use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Deserialize;
use std::sync::LazyLock;

/// Bytes and lines of a statement that begins as errors surely do.
const LONG: usize = 2000;
const LINES: usize = 20;
/// The same where the beginning is one of prose too.
const SHORT: usize = 400;
const FEW: usize = 4;
/// With frames of a stack it may be so long.
const TRACED: usize = 32 * 1024;

/// How statements begin: `tables/sentences.yaml`.
#[derive(Deserialize)]
struct SentencePatterns<T> {
    /// An error whatever else it looks like.
    certain: T,
    /// An error, however it goes on.
    sure: T,
    /// An error where the text is no longer than one.
    brief: T,
    /// Data, although it begins as an error does.
    unless: T,
    /// No error: the tool does not do what it was asked to, and says what to do
    /// instead.
    refuses: T,
}

static PATTERNS: LazyLock<Option<SentencePatterns<RegexSet>>> = LazyLock::new(|| {
    let table: SentencePatterns<Vec<String>> = table(built!("sentences"));
    let set = |patterns: Vec<String>| {
        let anchored = patterns
            .iter()
            .map(|pattern| format!(r"(?i)\A(?:{pattern})"));
        RegexSetBuilder::new(anchored).unicode(false).build().ok()
    };
    Some(SentencePatterns {
        certain: set(table.certain)?,
        sure: set(table.sure)?,
        brief: set(table.brief)?,
        unless: set(table.unless)?,
        refuses: set(table.refuses)?,
    })
});

/// The lines of a text that states an error, or nothing where it is data.
pub(super) fn read(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let traced = is_traced(text);
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    if text.len() > TRACED || lines == 0 || !traced && (text.len() > LONG || lines > LINES) {
        return None;
    }
    if !traced && (is_log(text) || tells_success(text)) {
        return None;
    }
    let opening = opening(text);
    let brief = traced || text.len() <= SHORT && lines <= FEW;
    let table = PATTERNS.as_ref()?;
    let plain = opening
        .text
        .replace('’', "'")
        .replace(['–', '—'], "-")
        .replace('：', ":");
    let bare = without_article(&plain);
    let begins = |set: &RegexSet| set.is_match(plain.as_bytes()) || set.is_match(bare.as_bytes());
    let is_error = opening.marked
        || begins(&table.certain)
        || !begins(&table.unless)
            && (begins(&table.sure)
                || brief && (begins(&table.brief) || opening.cross && speaks_of_failing(&plain)));
    is_error.then(|| said(text, &opening))
}

/// Whether a short text does no more than turn down what was asked.
pub(super) fn refuses(text: &str) -> bool {
    let text = text.trim();
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let is_short = text.len() <= SHORT && lines <= FEW;
    let table = PATTERNS.as_ref().filter(|_| is_short);
    table.is_some_and(|table| table.refuses.is_match(opening(text).text.as_bytes()))
}

/// The statement line by line, without what adorned its beginning.
fn said(text: &str, opening: &Opening) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| !line.trim().is_empty());
    if let Some(first) = first.and_then(|first| lines.get_mut(first)) {
        *first = opening.text.lines().next().unwrap_or_default().to_owned();
    }
    lines
}

/// How a text begins, without what only adorns it.
struct Opening {
    text: String,
    /// A tag in brackets says that it is an error: `[ERROR]`.
    marked: bool,
    /// A symbol says so: ❌.
    cross: bool,
}

/// Symbols that stand before what went wrong.
const CROSSES: [char; 14] = [
    '❌', '✗', '✖', '✘', '×', '⛔', '🚫', '💥', '🔴', '❗', '‼', '⚠', '🛑', '☠',
];

fn opening(text: &str) -> Opening {
    static TAG: LazyPattern = LazyPattern::new(
        r"(?i)\A[\[(]\s*(?:error|err|fatal|failed|failure|fail|exception|critical)\s*[\])]\s*[:\-–—]*\s*(?:\S)",
    );
    let cross = text.starts_with(CROSSES);
    let adorns = |c: char| {
        !c.is_alphanumeric()
            && !matches!(
                c,
                '<' | '[' | '(' | '{' | '/' | '\\' | '$' | '\'' | '"' | '_' | '.'
            )
    };
    let mut bare = text.trim_start_matches(adorns);
    // Of a heading of Markdown, the stars.
    let plain = bare.replace("**", "").replace("__", "_");
    let marked = TAG.is_match(&plain);
    if marked {
        bare = text;
    }
    let text = if marked {
        bare.trim_start_matches(adorns).replace("**", "")
    } else {
        plain.trim_start_matches(['[', '\'', '"', '`']).to_owned()
    };
    let text = if plain.starts_with("[Errno") || plain.starts_with("[errno") {
        plain
    } else {
        text
    };
    Opening {
        text,
        marked,
        cross,
    }
}

fn without_article(text: &str) -> &str {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_article = ["the", "a", "an", "your", "this"]
        .iter()
        .any(|article| first.eq_ignore_ascii_case(article));
    if is_article { rest } else { text }
}

fn speaks_of_failing(text: &str) -> bool {
    static WORDS: LazyPattern = LazyPattern::new(
        r"(?i)\b(?:errors?|fail\w*|cannot|can't|could ?n[o']t|unable|denied|refused|invalid|missing|not|no|timed out|timeout|unavailable|unreachable|expired|exceeded|unauthori[sz]ed|forbidden|exception|crashed|rejected|problem)\b",
    );
    WORDS.is_match(text)
}

/// Frames of a stack: then it may be long.
fn is_traced(text: &str) -> bool {
    text.contains("Traceback (most recent call last)")
        || text.contains(" panicked at ")
        || text.lines().skip(1).filter(|line| is_frame(line)).count() > 1
}

fn is_frame(line: &str) -> bool {
    let bare = line.trim_start();
    line.len() > bare.len() && (bare.starts_with("at ") || bare.starts_with("File \""))
}

/// Two lines that begin as those of a log do are one.
fn is_log(text: &str) -> bool {
    static LINE: LazyPattern = LazyPattern::new(
        r"(?im)^\W*(?:\d{4}-\d\d-\d\d|\d\d/\w+/\d{4}|\d\d:\d\d:\d\d|\d{10,13} |(?:info|warn(?:ing)?|debug|error|trace|fatal|notice)\b\]?[ \t]+\S*\d\d:\d\d|(?:\[|<)?(?:info|warn(?:ing)?|debug|error|trace|fatal|notice)(?:\]|>)|(?:INFO|WARN(?:ING)?|DEBUG|TRACE|NOTICE)\b)",
    );
    let dated = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .starts_with(|c: char| c.is_ascii_digit());
    let count = LINE.find_iter(text).count();
    count > 1 || count == 1 && dated
}

/// A list of what went well and what did not.
fn tells_success(text: &str) -> bool {
    text.contains(['✅', '✔', '✓', '☑', '🟢'])
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_pattern_of_the_table_compiles() {
        assert!(super::PATTERNS.is_some());
    }
}
