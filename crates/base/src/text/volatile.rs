//! What is known by its form to differ from run to run.
//!
//! Main type: [`Volatile`].

use super::LazyPattern;
use super::stable::{MOMENT, UUID};
use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// A kind of text that differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Volatile {
    /// Date and time, as of RFC 3339 or as programs write them for people.
    Timestamp,
    Uuid,
    /// A number with a unit of time, as in `12.5 ms`.
    Duration,
    /// 32 or more hexadecimal digits.
    Hash,
}

/// Date and time with words: of JavaScript, C, HTTP and mails.
const WORDED_MOMENT: &str = r"(?x)
  \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ (?:\d{1,2}\ [A-Z][a-z]{2}|[A-Z][a-z]{2}\ {1,2}\d{1,2})
  (?:\ \d{4})?\ \d{2}:\d{2}:\d{2}
  (?:\ (?:[A-Z]{3,4}[+-]\d{4}|[A-Z]{2,5}|[+-]\d{4}))?(?:\ \d{4})?(?:\ \([A-Z][A-Za-z\ ]+\))?
| \b\d{1,2}[/.]\d{1,2}[/.]\d{4},?\ \d{1,2}:\d{2}(?::\d{2})?(?:\s[AP]M)?";

/// In the order in which they are looked for: a part of a timestamp may look
/// like a duration.
static FORMS: LazyLock<Vec<(Volatile, Regex)>> = LazyLock::new(|| {
    [
        (Volatile::Timestamp, MOMENT),
        (Volatile::Timestamp, WORDED_MOMENT),
        (Volatile::Uuid, UUID),
        (Volatile::Hash, r"(?i)\b[0-9a-f]{32,}\b"),
        (
            Volatile::Duration,
            r"\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|secs|seconds?|min|mins|minutes?|h|hours?)\b",
        ),
    ]
    .into_iter()
    // A test holds that all of them compile.
    .filter_map(|(kind, pattern)| Some((kind, Regex::new(pattern).ok()?)))
    .collect()
});

impl Volatile {
    pub const ALL: [Self; 4] = [Self::Timestamp, Self::Uuid, Self::Duration, Self::Hash];

    /// The name as plans write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timestamp => "timestamp",
            Self::Uuid => "uuid",
            Self::Duration => "duration",
            Self::Hash => "hash",
        }
    }
}

/// `text` with the name of its kind in brackets for what is of these kinds.
#[must_use]
pub fn without_volatile<'t>(text: &'t str, kinds: &[Volatile]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for (kind, form) in FORMS.iter().filter(|(kind, _)| kinds.contains(kind)) {
        let with = format!("[{}]", kind.name());
        if let Cow::Owned(changed) = form.replace_all(&text, with.as_str()) {
            text = Cow::Owned(changed);
        }
    }
    text
}

/// A folder that is another one in each run, up to its own name; of jelly's own,
/// that of one iteration.
static TEMP_FOLDER: LazyPattern = LazyPattern::new(
    r#"(?x) (?:/private)?(?:/var/folders/[^/\s"]+/[^/\s"]+/T | (?:/var)?/tmp)
           /(?: jelly-[0-9a-f]{16}/tmp-\w+ | [^/\s"'`:,;)]+ )"#,
);

/// What stands in a record in place of a secret, with its name.
static MASKED: LazyPattern = LazyPattern::new(r"\[secret(?: ([^\]\n]{1,200}))?\]");

/// What differs in another run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Varying {
    Form(Volatile),
    /// A temporary folder.
    TempFolder,
    /// A secret that was masked, with its name where that is known.
    Secret(Option<String>),
}

/// What differs in another run of a text that was recorded, in order.
#[must_use]
pub fn varying(text: &str) -> Vec<(Range<usize>, Varying)> {
    let mut found: Vec<(Range<usize>, Varying)> = Vec::new();
    let mut add = |range: Range<usize>, what: Varying| {
        let free =
            |(other, _): &(Range<usize>, _)| other.end <= range.start || range.end <= other.start;
        if found.iter().all(free) {
            found.push((range, what));
        }
    };
    for masked in MASKED.captures_iter(text) {
        let name = masked.get(1).map(|name| name.as_str().to_owned());
        if let Some(whole) = masked.get(0) {
            add(whole.range(), Varying::Secret(name));
        }
    }
    for folder in TEMP_FOLDER.find_iter(text) {
        add(folder.range(), Varying::TempFolder);
    }
    for (kind, form) in FORMS.iter() {
        for one in form.find_iter(text) {
            add(one.range(), Varying::Form(*kind));
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found
}

#[cfg(test)]
mod tests {
    use super::{FORMS, Varying, Volatile, varying, without_volatile};

    #[test]
    fn what_differs_in_another_run_is_found_in_its_place() {
        let text = "[secret KEY] in /tmp/x1/a.txt at 2026-11-22T01:02:03Z";
        let found: Vec<(&str, Varying)> = varying(text)
            .into_iter()
            .map(|(range, what)| (&text[range], what))
            .collect();
        assert_eq!(
            found,
            [
                ("[secret KEY]", Varying::Secret(Some("KEY".to_owned()))),
                ("/tmp/x1", Varying::TempFolder),
                ("2026-11-22T01:02:03Z", Varying::Form(Volatile::Timestamp)),
            ]
        );
        let text = "in /tmp/jelly-0123456789abcdef/tmp-aBc1/m.json";
        assert_eq!(varying(text), [(3..39, Varying::TempFolder)]);
        assert_eq!(varying("nothing of 12 mice in /tmp"), []);
    }

    #[test]
    fn every_form_is_there() {
        let all = Volatile::ALL.iter();
        let there = |kind| FORMS.iter().filter(|(of, _)| *of == kind).count();
        let counts: Vec<usize> = all.map(|kind| there(*kind)).collect();
        assert_eq!(counts, [2, 1, 1, 1]);
    }

    #[test]
    fn a_moment_is_known_however_it_is_written() {
        for text in [
            "2026-11-24 16:10:45",
            "Tue Nov 24 2026 16:10:45 GMT+0000 (Coordinated Universal Time)",
            "Tue Nov 24 16:10:45 2026",
            "Tue Nov  3 16:10:45 CET 2026",
            "Tue, 24 Nov 2026 16:10:45 GMT",
            "Tue, 24 Nov 2026 16:10:45 +0100",
            "11/24/2026, 4:10:45 PM",
            "24.11.2026 16:10",
        ] {
            let said = format!("at {text}\nby");
            let shown = without_volatile(&said, &[Volatile::Timestamp]);
            assert_eq!(shown, "at [timestamp]\nby");
        }
        let text = "Tue 24 mice, 11/24/2026, version 1.2.3000 at 16:10";
        assert_eq!(without_volatile(text, &Volatile::ALL), text);
    }

    #[test]
    fn only_the_kinds_that_are_asked_for_are_replaced() {
        let text = "at 2026-11-22T01:02:03.5Z took 12.5 ms";
        assert_eq!(
            without_volatile(text, &Volatile::ALL),
            "at [timestamp] took [duration]"
        );
        assert_eq!(without_volatile(text, &[]), text);
    }
}
