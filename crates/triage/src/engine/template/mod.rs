//! The template of a message: what stays the same when the same thing goes
//! wrong again, elsewhere or at another time.
//!
//! No list says what is volatile. A text is cut into names and numbers, once
//! from left to right; each is told by its shape (chance does not write words),
//! by its place (behind a colon, in a path, in a URL) and by the words beside
//! it, of which one table (`tables/words.yaml`) says what they mean.

mod cut;
mod documents;
mod forms;
mod host;
mod mail;
mod moment;
mod names;
mod numbers;
mod order;
mod path;
mod prose;
mod shape;
mod walk;
mod words;

use cut::{
    without_cut_arguments, without_cut_ends, without_cut_objects, without_example,
    without_left_out, without_run,
};
use jelly_base::text::{LazyPattern, THIS_MACHINE, strip_ansi};
use std::borrow::Cow;
use std::ops::Range;

/// `message` with what is volatile replaced: times, amounts, what numbers
/// processes, threads, machines, orders and the like, ephemeral ports,
/// temporary, home and project folders, ids of every kind, and the order of
/// maps and lists. Codes, versions, names of people's choice, and the values
/// that a test compares, stay.
pub(super) fn template(message: &str) -> String {
    // Writers of XML spell an escape character out.
    let spelt_out = if message.contains("#x1B") {
        Cow::Owned(message.replace("#x1B", "\x1b"))
    } else {
        Cow::Borrowed(message)
    };
    let message = strip_ansi(&spelt_out);
    let message = without_cut_arguments(&message);
    let message = without_cut_ends(&message);
    let message = without_cut_objects(&message);
    let message = without_example(&message);
    let message = without_run(&message);
    let message = with_localhost(&message);
    let message = without_signatures(&message);
    let message = message.replace("unix:///", "unix: /");
    let (text, compares) = walk::without_chance(&message, false);
    let text = without_left_out(&text);
    // What stands between two of base 64, and between their parts.
    let mut text = text;
    for joint in ["<id>=<id>", "<id><id>"] {
        while text.contains(joint) {
            text = Cow::Owned(text.replace(joint, "<id>"));
        }
    }
    let text = order::sorted(&text, compares);
    // Two lines of a comparison that differ by chance are two values.
    match compares {
        true => text,
        false => without_repeated_lines(text),
    }
}

/// The machine itself by one of its names: which of them a program tells depends on how its
/// resolver orders them.
fn with_localhost(text: &str) -> Cow<'_, str> {
    static ADDRESS: LazyPattern = LazyPattern::ascii(r"\[::1\]|127\.0\.0\.1|::1");
    let is_whole = |range: &Range<usize>| {
        let behind = &text[range.end..];
        let goes_on = behind.starts_with(|c: char| c.is_alphanumeric())
            || behind.starts_with('.') && behind[1..].starts_with(|c: char| c.is_ascii_digit());
        let of_more = |c: char| c.is_alphanumeric() || "_:.".contains(c);
        !goes_on && !text[..range.start].ends_with(of_more)
    };
    let mut named = String::new();
    let mut written = 0;
    let found = ADDRESS.find_iter(text).map(|found| found.range());
    for range in found.filter(is_whole) {
        named.push_str(&text[written..range.start]);
        named.push_str(THIS_MACHINE);
        written = range.end;
    }
    match written {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(named + &text[written..]),
    }
}

/// Without what signs an address for some minutes, whatever letters of it are escaped.
fn without_signatures(text: &str) -> Cow<'_, str> {
    static SIGNED: LazyPattern = LazyPattern::ascii(
        r"(?i)(?P<key>[?&](?:x-(?:amz|goog)-)?(?:signature|sig|expires|security-token)=|[?&]x-(?:amz|goog)-date=)[^&\s'\x22<>]+",
    );
    match text.contains("ignature=") || text.contains("sig=") {
        true => SIGNED.replace_all(text, "${key}<id>"),
        false => Cow::Borrowed(text),
    }
}

/// How often a line comes, as of each attempt, is chance.
fn without_repeated_lines(text: String) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let before = lines.len();
    lines.dedup();
    match lines.len() == before {
        true => text,
        false => lines.join("\n"),
    }
}

/// The template without what may differ between failures of one cause in one
/// run: numbers that are no codes, and all of a URL but its host.
#[must_use]
pub fn skeleton(message: &str) -> String {
    let (text, compares) = walk::without_chance(&without_example(message), true);
    order::sorted(&text, compares)
}

/// A value without the time stamps inside longer texts: an answer that tells
/// when it was given is not another answer for that. A text that is nothing
/// but a time stamp is a value like any other.
pub(super) fn without_stamps(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::String(text) => {
            if let Some(clean) = moment::without_stamps(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_stamps),
        Value::Object(map) => map.values_mut().for_each(without_stamps),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text without its time stamps, be it nothing but one.
pub(super) fn without_any_stamp(text: &str) -> Cow<'_, str> {
    moment::without_any_stamp(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
mod chance_tests;
