//! What a server writes that is no statement about its end: the options of a usage message, log
//! lines that only inform. And what it says time and again, which is what it waits for.
//!
//! Main functions: [`without_talk`], [`repeated`].

use jelly_base::text::lines;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Lines that are looked at for that, from the end.
const LINES: usize = 500;
/// What loggers call the level of a message.
const LEVELS: [&str; 5] = ["level", "severity", "lvl", "levelname", "Level"];
/// Levels of log messages that only inform; pino and bunyan write numbers.
const INFORMS: [&str; 7] = [
    "trace",
    "verbose",
    "debug",
    "info",
    "information",
    "notice",
    "finest",
];
const WARNING: f64 = 40.0;

/// Without what only describes: a keyword in the description of an option, or in a message of
/// the level INFO, says nothing of this start.
pub(super) fn without_talk(text: Cow<'_, str>) -> Cow<'_, str> {
    let shows_usage = lines(&text).any(is_usage);
    let is_talk = |line: &str| (shows_usage && is_option(line)) || informs(line);
    if !lines(&text).any(is_talk) {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    // Where the description of an option goes on below it.
    let mut description = None;
    for line in lines(&text) {
        let depth = line.len() - line.trim_start().len();
        if shows_usage && is_option(line) {
            description = Some(depth);
            continue;
        }
        if description.is_some_and(|option| depth > option) || informs(line) {
            continue;
        }
        description = None;
        kept.push_str(line);
        kept.push('\n');
    }
    Cow::Owned(kept)
}

/// The line that a usage message begins with.
fn is_usage(line: &str) -> bool {
    let line = line.trim_start();
    let head = line.get(..6).unwrap_or_default();
    head.eq_ignore_ascii_case("usage:")
}

/// A row of the options that a usage message describes.
fn is_option(line: &str) -> bool {
    let option = line.trim_start();
    let name = option.trim_start_matches('-');
    let dashes = option.len() - name.len();
    line.len() > option.len()
        && (1..=2).contains(&dashes)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// A log line in JSON whose level is below a warning.
fn informs(line: &str) -> bool {
    let line = line.trim();
    if !(line.starts_with('{') && line.ends_with('}')) {
        return false;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
        return false;
    };
    match LEVELS.iter().find_map(|key| fields.get(*key)) {
        Some(Value::String(word)) => INFORMS.contains(&word.to_ascii_lowercase().as_str()),
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number < WARNING),
        Some(_) | None => false,
    }
}

/// The line that stands there so often or oftener, whatever its digits are: of those that
/// were said most, the one that was said last.
pub(in crate::engine) fn repeated<'t>(
    said: impl Iterator<Item = &'t str>,
    often: usize,
) -> Option<&'t str> {
    let mut of_place = None;
    let all: Vec<&str> = said
        .filter(|line| !is_of_trace(line, &mut of_place))
        .map(str::trim)
        .filter(|line| line.chars().any(char::is_alphabetic))
        .collect();
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for (place, line) in all.iter().enumerate().skip(all.len().saturating_sub(LINES)) {
        let shape = line.chars().filter(|c| !c.is_ascii_digit()).collect();
        let (count, last) = counts.entry(shape).or_default();
        *count += 1;
        *last = place;
    }
    let (_, last) = counts
        .into_values()
        .filter(|(count, _)| *count >= often)
        .max()?;
    Some(all[last])
}

/// Whether a line is one of a trace, which says the same of each frame: a place, and what
/// Python shows of the source there, which is indented further than `of_place`.
fn is_of_trace(line: &str, of_place: &mut Option<usize>) -> bool {
    let bare = line.trim_start_matches(['|', '+', '-', ' ', '\t']);
    let depth = line.len() - bare.len();
    if bare.starts_with("File \"") {
        *of_place = Some(depth);
        return true;
    }
    if of_place.is_some_and(|place| depth > place) {
        return true;
    }
    *of_place = None;
    bare.starts_with("at ")
        || bare.starts_with("Traceback ")
        || bare.starts_with("Exception Group Traceback ")
        || bare.trim_end().ends_with(" sub-exception)")
        || bare.trim_end().ends_with(" sub-exceptions)")
}

#[cfg(test)]
mod tests {
    use super::{repeated, without_talk};

    #[test]
    fn descriptions_of_options_and_what_only_informs_are_left_out() {
        for (text, kept) in [
            (
                "usage: srv [-h] --db PATH\n\n  --port N   address already in use\n             if it is taken\nsrv: error: --db is missing\n",
                "usage: srv [-h] --db PATH\n\nsrv: error: --db is missing\n",
            ),
            // Without a usage message, it is a list like any other.
            (
                "failed:\n  - connection refused\n",
                "failed:\n  - connection refused\n",
            ),
            (
                "{\"level\":\"info\",\"msg\":\"connection refused is retried\"}\n{\"level\":\"error\",\"msg\":\"no token\"}\n",
                "{\"level\":\"error\",\"msg\":\"no token\"}\n",
            ),
            (
                "{\"level\":30,\"msg\":\"a\"}\n{\"level\":50,\"msg\":\"b\"}\n",
                "{\"level\":50,\"msg\":\"b\"}\n",
            ),
        ] {
            assert_eq!(without_talk(text.into()), kept);
        }
    }

    #[test]
    fn what_is_said_three_times_is_repeated_whatever_its_digits() {
        let often = "try 1: refused\nready\ntry 2: refused\ntry 3: refused\n";
        assert_eq!(repeated(often.lines(), 3), Some("try 3: refused"));
        let seldom = "try 1: refused\ntry 2: refused\nready\n";
        assert_eq!(repeated(seldom.lines(), 3), None);
        assert_eq!(repeated(seldom.lines(), 2), Some("try 2: refused"));
        // A trace says the same of each frame, and a banner has lines without words.
        let trace = "│    │\n│    │\n│    │\nTraceback (most recent call last):\n  File \"a.py\", line 1, in a\n    \
                     return go()\n  File \"a.py\", line 1, in a\n    return go()\n  File \"a.py\", line 1, in \
                     a\n    return go()\nSystemExit: 3\n";
        assert_eq!(repeated(trace.lines(), 3), None);
    }
}
