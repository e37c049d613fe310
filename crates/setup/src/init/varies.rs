//! What of an answer is another in the next run: by its form, by its name, or since
//! it was another when the same was asked before.
//!
//! Main functions: [`varying_parts`] of a text, [`is_of_a_run`] of a number, and
//! [`compare_sessions`].

use super::observed::{Observation, Observed};
use jelly_base::text::{LazyPattern, Varying, Volatile, WordList, varying};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The moments since 1970 that a server may have said, in seconds.
const MOMENTS: Range<f64> = 1.4e9..2.2e9;
/// Ports that a system gives out by itself; lower ones are chosen by somebody.
const FREE_PORTS: Range<f64> = 32768.0..65536.0;

/// So many other sessions are looked at, the newest.
const SESSIONS: usize = 8;
/// So deep a structure is looked into.
const DEPTH: usize = 24;

/// A number with a fraction, in a text.
static FRACTION: LazyPattern = LazyPattern::new(r"\b\d+\.\d+\b");

/// Anything, be it several lines.
const ANYTHING: &str = r"[\s\S]*";
const NUMBER: &str = r"\d[\d.,]*";

/// What a number of a process is called, as letters alone.
const OF_A_PROCESS: WordList = WordList(
    "pid ppid processid parentpid threadid tid inode ino uptime uptimes uptimems uptimesec \
     uptimesecs uptimeseconds elapsed elapsedms elapsedseconds durationms latencyms tookms rss \
     heapused heaptotal freemem freememory usedmemory memoryusage loadavg cpuusage cpupercent",
);

/// A text in which a number has such a name, or a port that was free.
static NAMED: LazyPattern = LazyPattern::new(
    r#"(?ix) \b(?P<name> p?pid | process[\ _-]?id | t(?:hread[\ _-]?)?id | uptime(?:[\ _-]?(?:s|ms|secs?|seconds))?
               | elapsed(?:[\ _-]?(?:ms|s|seconds))? | inode | rss | heap[\ _-]?(?:used|total) )
               \b ["']? \s* (?: [:=\#] \s* | \s is \s | \s ) \s* (?P<number> \d[\d.]*\d | \d )
           | (?: \bport \b ["']? \s* [:=\#]? \s* | (?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]) : ) (?P<port> \d{5} ) \b"#,
);

/// A date, or a time of day, by itself. In what a client asks for they mean
/// something; in an answer they are mostly today's.
static DAY: LazyPattern = LazyPattern::new(
    // The last as `ls` has it.
    r"(?x) \b (?: 20\d\d-(?:0\d|1[0-2])-[0-3]\d | [0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?
           | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ {1,2}[0-3]?\d\ {1,2}(?:[0-2]\d:[0-5]\d|20\d\d) ) \b",
);

/// What of a text differs in another run, in order, each with what another of its
/// kind looks like; `others` were said in answer to the same.
pub(super) fn varying_parts(text: &str, others: &[&str]) -> Vec<(Range<usize>, FormPattern)> {
    let known = varying(text).into_iter();
    let mut found: Vec<_> = known
        .map(|(range, what)| (range.clone(), form(&what, &text[range])))
        .collect();
    for one in NAMED.captures_iter(text) {
        if let Some(number) = one.name("number") {
            found.push((number.range(), NUMBER.into()));
        }
        let port = one.name("port");
        let port = port.filter(|port| port.as_str().parse().is_ok_and(is_free_port));
        found.extend(port.map(|port| (port.range(), NUMBER.into())));
    }
    let days = DAY.find_iter(text);
    found.extend(days.map(|day| (day.range(), r"[\w :.-]+".into())));
    for other in others.iter().filter(|other| **other != text) {
        found.extend(differing(text, other));
    }
    merged(found)
}

/// A pattern for what stands in a place in another run.
type FormPattern = Cow<'static, str>;

/// What another value of the kind looks like that was written by the same hand.
fn form(what: &Varying, text: &str) -> FormPattern {
    let form = match what {
        Varying::Form(Volatile::Timestamp) => return form_of_moment(text).into(),
        Varying::Form(Volatile::Uuid) => "[0-9a-fA-F-]{36}",
        Varying::Form(Volatile::Duration) => r"[\d.]+\s?[a-zµ]+",
        Varying::Form(Volatile::Hash) => "[0-9a-fA-F]{32,}",
        Varying::TempFolder => r"\S+",
        // A key file has many lines.
        Varying::Secret(Some(name)) if name.contains("private key") => "(?s:.+)",
        Varying::Secret(_) => ".+",
    };
    form.into()
}

/// Digits and letters where this moment has them, and all else as it is.
fn form_of_moment(text: &str) -> String {
    let kind = |c: char| match c {
        c if c.is_ascii_digit() => Some(r"\d+"),
        c if c.is_ascii_alphabetic() => Some("[A-Za-z]+"),
        c if c.is_whitespace() => Some(r"\s+"),
        // On which side of Greenwich somebody is.
        '+' | '-' => Some("[+-]"),
        _ => None,
    };
    let (mut form, mut last) = (String::new(), None);
    for c in text.chars() {
        let own = kind(c);
        match own {
            Some(piece) if own != last => form.push_str(piece),
            Some(_) => {}
            None => form.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
        last = own;
    }
    form
}

/// The parts of a text that another one has otherwise: words, where both have as
/// many, else all between what they have in common.
fn differing(text: &str, other: &str) -> Vec<(Range<usize>, FormPattern)> {
    let (own, others) = (words(text), words(other));
    if own.len() == others.len() {
        let pairs = own.iter().zip(&others);
        let differ = pairs.filter(|(own, its)| text[(*own).clone()] != other[(*its).clone()]);
        let digits = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        return differ
            .map(|(own, its)| {
                let both = [&text[own.clone()], &other[its.clone()]];
                let form = if both.iter().all(|word| digits(word)) {
                    NUMBER
                } else if both.iter().any(|word| word.contains(char::is_whitespace)) {
                    ANYTHING
                } else {
                    r"\S+"
                };
                (own.clone(), form.into())
            })
            .collect();
    }
    let same =
        |(own, its): &(&Range<usize>, &Range<usize>)| text[(*own).clone()] == other[(*its).clone()];
    let begins = own.iter().zip(&others).take_while(same).count();
    let most = own.len().min(others.len()) - begins;
    let ends = own.iter().rev().zip(others.iter().rev());
    let ends = ends.take(most).take_while(same).count();
    let start = own.get(begins).map_or(text.len(), |word| word.start);
    let end = match own.len() - ends {
        0 => 0,
        last => own[last - 1].end,
    };
    vec![(start..end.max(start), ANYTHING.into())]
}

/// Runs of letters and digits, and each other character.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_word = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(last) if is_word && in_word => last.end = end,
            _ => words.push(at..end),
        }
        in_word = is_word;
    }
    words
}

/// In order, and none over another.
fn merged(mut found: Vec<(Range<usize>, FormPattern)>) -> Vec<(Range<usize>, FormPattern)> {
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut merged: Vec<(Range<usize>, FormPattern)> = Vec::new();
    for (range, form) in found {
        match merged.last_mut() {
            // What holds another is of its form.
            Some((last, _)) if range.end <= last.end && range.start < last.end => {}
            Some((last, is)) if range.start < last.end => {
                last.end = range.end;
                *is = ANYTHING.into();
            }
            _ => merged.push((range, form)),
        }
    }
    merged
}

fn is_free_port(port: f64) -> bool {
    FREE_PORTS.contains(&port)
}

/// Whether a number that has this name is one of the run alone.
pub(super) fn is_of_a_run(name: &str, number: &Number) -> bool {
    let number = number.as_f64().unwrap_or_default();
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_ascii_lowercase();
    MOMENTS.contains(&number)
        || MOMENTS.contains(&(number / 1000.0))
        || OF_A_PROCESS.has(&name)
        || name.ends_with("port") && is_free_port(number)
}

/// Holds what was answered against what was answered to the same elsewhere: in the
/// other sessions with the server, as far as they asked the same in the same
/// order, and in the same session, where a server counts and keeps: there only
/// fractions tell, which are measured and not counted.
pub fn compare_sessions(observations: &mut [Observation], others: &[Vec<Observation>]) {
    let asked = |one: &Observation| {
        let params = one.params.iter().filter(|(name, _)| *name != "_meta");
        let params = params.map(|(name, value)| (name.clone(), settled(value, 0)));
        (one.method.clone(), params.collect::<Vec<_>>())
    };
    let own: Vec<_> = observations.iter().map(asked).collect();
    for other in others.iter().rev().take(SESSIONS) {
        for ((mine, asks), its) in observations.iter_mut().zip(&own).zip(other) {
            if asked(its) != *asks {
                break;
            }
            mine.before.push(its.answer.clone());
        }
    }
    // By what was asked, how it was answered last.
    let mut last: HashMap<String, Value> = HashMap::new();
    for (mine, asks) in observations.iter_mut().zip(&own) {
        let Observed::Result(result) = &mine.answer else {
            continue;
        };
        let key = format!("{} {}", asks.0, serde_json::json!(asks.1));
        if let Some(earlier) = last.insert(key, result.clone()) {
            let measured = with_fractions_of(result, &earlier, 0);
            mine.before.push(Observed::Result(measured));
        }
    }
}

/// A value without what is known to vary by its form.
fn settled(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (range, _) in varying(&text.clone()).into_iter().rev() {
                text.replace_range(range, "…");
            }
            Value::from(text)
        }
        Value::Array(items) if depth < DEPTH => {
            items.iter().map(|item| settled(item, depth + 1)).collect()
        }
        Value::Object(members) if depth < DEPTH => members
            .iter()
            .map(|(name, item)| (name.clone(), settled(item, depth + 1)))
            .collect(),
        other => other.clone(),
    }
}

/// A value with the fractions of another one that is else alike.
fn with_fractions_of(value: &Value, other: &Value, depth: usize) -> Value {
    match (value, other) {
        (Value::Number(own), Value::Number(its)) => {
            let is_fraction = |number: &Number| number.to_string().contains(['.', 'e', 'E']);
            let both = is_fraction(own) && is_fraction(its);
            if both { other.clone() } else { value.clone() }
        }
        (Value::String(own), Value::String(its)) => {
            let plain = |text| FRACTION.replace_all(text, "#");
            let alike = plain(own) == plain(its);
            if alike { other.clone() } else { value.clone() }
        }
        (Value::Array(own), Value::Array(its)) if own.len() == its.len() && depth < DEPTH => {
            let pairs = own.iter().zip(its);
            pairs
                .map(|(own, its)| with_fractions_of(own, its, depth + 1))
                .collect()
        }
        (Value::Object(own), Value::Object(its)) if depth < DEPTH => {
            let mixed = own.iter().map(|(name, own)| {
                let its = its.get(name).unwrap_or(own);
                (name.clone(), with_fractions_of(own, its, depth + 1))
            });
            mixed.collect()
        }
        (value, _) => value.clone(),
    }
}

/// The same place in answers to the same; where one has none, nothing.
pub(super) fn below<'v>(others: &[&'v Value], step: PathStep<'_>) -> Option<Vec<&'v Value>> {
    let place = |other: &&'v Value| match step {
        PathStep::Member(name) => other.get(name),
        PathStep::Item(at) => other.get(at),
    };
    others.iter().map(place).collect()
}

/// One step down in a structure.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathStep<'n> {
    Member(&'n str),
    Item(usize),
}

#[cfg(test)]
mod tests {
    use super::{is_of_a_run, varying_parts};
    use serde_json::Number;

    fn parts<'t>(text: &'t str, others: &[&str]) -> Vec<&'t str> {
        let parts = varying_parts(text, others).into_iter();
        parts.map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn numbers_of_a_process_are_known_by_what_they_are_called() {
        for (text, found) in [
            ("pid 4711", vec!["4711"]),
            ("PID: 4711, ppid=12", vec!["4711", "12"]),
            (
                r#"{"pid": 4711, "uptime": 12.5, "n": 3}"#,
                vec!["4711", "12.5"],
            ),
            ("listening on port 43121", vec!["43121"]),
            ("at http://127.0.0.1:43121/mcp", vec!["43121"]),
            ("at http://localhost:8080/mcp and port 3000", vec![]),
            ("rapid 12 times, portable 43121", vec![]),
            (
                "today is 2026-11-26, 14:03:09",
                vec!["2026-11-26", "14:03:09"],
            ),
            (
                "-rw-r--r-- 1 root 6 Nov 26 05:51 a.txt",
                vec!["Nov 26 05:51"],
            ),
            ("version 2.10.3 of 12:30", vec![]),
        ] {
            assert_eq!(parts(text, &[]), found, "{text}");
        }
        for (name, number, is) in [
            ("pid", 7, true),
            ("process_id", 7, true),
            ("uptimeMs", 7, true),
            ("port", 43121, true),
            ("debugPort", 43121, true),
            ("port", 8080, false),
            ("count", 43121, false),
            ("at", 1_763_999_999, true),
        ] {
            assert_eq!(is_of_a_run(name, &Number::from(number)), is, "{name}");
        }
    }

    #[test]
    fn what_was_another_when_the_same_was_asked_before_varies() {
        for (text, other, found) in [
            ("worker w7 is up", "worker w9 is up", vec!["w7"]),
            ("a 1 b 2", "a 1 b 2", vec![]),
            ("x=17; y=2", "x=4; y=2", vec!["17"]),
            ("got a b c.", "got a c.", vec!["b "]),
            ("", "x", vec![""]),
            ("söme 1", "söme 2", vec!["1"]),
        ] {
            assert_eq!(parts(text, &[other]), found, "{text}");
        }
    }
}
