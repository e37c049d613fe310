//! What a system said in another language, read in English: rules know each error by
//! what it is called there, and which language a machine speaks changes nothing of it.

use super::secrets::{texts, texts_of};
use super::tables::{any_of, built, table};
use aho_corasick::{AhoCorasick, MatchKind};
use indexmap::IndexMap;
use jelly_base::model::{Diagnosis, Failure};
use jelly_base::text::LazyPattern;
use regex::{Captures, Regex};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Phrases, and what each is in English.
struct Translations {
    phrases: Option<AhoCorasick>,
    english: Vec<String>,
}

/// `tables/translations.yaml`, which says what each is.
#[derive(Deserialize)]
struct TranslationTable {
    names_system: Vec<String>,
    phrases: IndexMap<String, Vec<String>>,
}

static TABLE: LazyLock<TranslationTable> = LazyLock::new(|| table(built!("translations")));
static NAMES_SYSTEM: LazyLock<Regex> = LazyLock::new(|| any_of("", &TABLE.names_system));
static ALL: LazyLock<Translations> = LazyLock::new(|| translations(|_| true));
/// What of it has no letter but those of ASCII: most texts have none either, and so few
/// phrases are soon ready to be looked for.
static PLAIN: LazyLock<Translations> = LazyLock::new(|| translations(str::is_ascii));

fn translations(of: fn(&str) -> bool) -> Translations {
    let (phrases, english): (Vec<_>, Vec<_>) = TABLE
        .phrases
        .iter()
        .flat_map(|(english, said)| said.iter().map(move |said| (said, english.clone())))
        .filter(|(said, _)| of(said))
        .unzip();
    let search = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(phrases);
    Translations {
        phrases: search.ok(),
        english,
    }
}

/// A failure in English.
pub(super) struct Translated {
    pub(super) failure: Failure,
    /// What is English in it, with what was said.
    said: BTreeMap<String, String>,
}

impl Translated {
    /// None where nothing of `failure` is known to be said in another language, or where
    /// what was said could not be quoted: two phrases with one meaning may be compared.
    pub(super) fn of(failure: &Failure) -> Option<Self> {
        let is_foreign = |text: &str| {
            let known = if text.is_ascii() { &PLAIN } else { &ALL };
            let phrases = known.phrases.as_ref();
            phrases.is_some_and(|phrases| phrases.is_match(text))
        };
        if !texts(failure).into_iter().flatten().any(is_foreign) {
            return None;
        }
        let mut read = failure.clone();
        let mut told = Told::default();
        for text in texts_of(&mut read) {
            *text = told.in_english(text)?;
        }
        (!told.0.is_empty()).then_some(Self {
            failure: read,
            said: told.0,
        })
    }

    /// Quotes what was said as it was said.
    pub(super) fn restore(&self, diagnosis: &mut Diagnosis) {
        let advice = &mut diagnosis.advice;
        let quoted = diagnosis.evidence.iter_mut().map(|quote| &mut quote.text);
        let steps = advice.fix.iter_mut().map(|step| &mut step.text);
        let words = [&mut advice.what, &mut advice.why];
        for text in quoted.chain(words).chain(steps) {
            for (english, said) in &self.said {
                if text.contains(english) {
                    *text = text.replace(english, said);
                }
            }
        }
    }
}

/// What was translated, with what was said.
#[derive(Default)]
struct Told(BTreeMap<String, String>);

impl Told {
    /// None where it could not be told any more what was said: a phrase stands in English
    /// as well, or in two languages.
    fn in_english(&mut self, text: &str) -> Option<String> {
        let phrases = ALL.phrases.as_ref()?;
        let mut out = String::with_capacity(text.len());
        let mut of_frames = false;
        let mut kept = 0;
        for found in phrases.find_iter(text) {
            let english = &ALL.english[found.pattern().as_usize()];
            let said = &text[found.range()];
            let line = &text[..found.start()];
            let line = &line[line.rfind('\n').map_or(0, |at| at + 1)..];
            let line = &line[line.ceil_char_boundary(line.len().saturating_sub(BEFORE))..];
            if !is_of_system(said, english, line) || is_compared(line) {
                continue;
            }
            let of_place = english == LINE || english == SHELL;
            if !of_place && text.contains(english.as_str()) {
                return None;
            }
            let known = self
                .0
                .entry(english.clone())
                .or_insert_with(|| said.to_owned());
            if known != said {
                return None;
            }
            of_frames |= english == LINE;
            out.push_str(&text[kept..found.start()]);
            out.push_str(english);
            kept = found.end();
        }
        out.push_str(&text[kept..]);
        if !of_frames {
            return Some(out);
        }
        let read = FRAME.replace_all(&out, |frame: &Captures<'_>| {
            let place = frame.get(3).map_or("", |place| place.as_str());
            let joint = if place.is_empty() { "" } else { " in" };
            format!("{}at {}{joint}{place}", &frame[1], &frame[2])
        });
        Some(read.into_owned())
    }
}

/// Whether only a system says so: a whole sentence, or words behind what names one.
fn is_of_system(said: &str, english: &str, before: &str) -> bool {
    /// Letters of a sentence, of which Chinese and Japanese need half as many.
    const SENTENCE: usize = 27;
    const OF_SIGNS: usize = 14;
    let framed = english.starts_with(':') || english == SHELL;
    let letters = said.chars().count();
    let of_signs = said.chars().all(|c| c as u32 >= 0x2e80);
    let long = letters >= if of_signs { OF_SIGNS } else { SENTENCE };
    framed || long && !english.contains('"') || NAMES_SYSTEM.is_match(before)
}

/// Whether a line has a value in quotes there that it compares.
fn is_compared(before: &str) -> bool {
    let opened = |quote: char| !before.matches(quote).count().is_multiple_of(2);
    let compares = ["assert ", "xpected", "eceived", "ctual", " == ", " != "];
    (opened('\'') || opened('"')) && compares.iter().any(|word| before.contains(word))
}

/// Bytes of a line that are looked at before a phrase.
const BEFORE: usize = 200;

/// What a shell says before the number of a line.
const SHELL: &str = "sh: line ";

/// What stands before the number of a line in a frame of .NET.
const LINE: &str = ":line ";

/// Such a frame, with its file or without.
static FRAME: LazyPattern = LazyPattern::new(
    r"(?mx)^(\s+)(?:bei|bij|à|en|em|in|w|в|在|場所|위치:)\ ([\w.`<>+\[\],]+\([^\n]*\))
          (?:\ (?:in|dans|en|na|em|w|в|位置|場所|파일)(\ [^\n]*:line\ \d+)[.。]?)?",
);

#[cfg(test)]
#[path = "translated_tests.rs"]
mod tests;
