//! What a system said in another language, read in English: rules know each error by
//! what it is called there, and which language a machine speaks changes nothing of it.

use super::secrets::{texts, texts_of};
use super::tables::{built, table};
use aho_corasick::{AhoCorasick, MatchKind};
use indexmap::IndexMap;
use jelly_base::model::{Diagnosis, Failure};
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Phrases, and what each is in English.
struct Translations {
    phrases: Option<AhoCorasick>,
    english: Vec<String>,
}

/// `tables/translations.yaml`, which says what it is: all of it, and what of it has no
/// letter but those of ASCII, since most texts have none either.
static TRANSLATIONS: LazyLock<[Translations; 2]> = LazyLock::new(|| {
    let lists: IndexMap<String, Vec<String>> = table(built!("translations"));
    [|_: &str| true, str::is_ascii].map(|of| {
        let (phrases, english): (Vec<_>, Vec<_>) = lists
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
    })
});

/// A failure in English.
pub(super) struct Translated {
    pub(super) failure: Failure,
    /// What is English in it, with what was said.
    said: BTreeSet<(String, String)>,
}

impl Translated {
    /// None where nothing of `failure` is known to be said in another language.
    pub(super) fn of(failure: &Failure) -> Option<Self> {
        let is_foreign = |text: &str| {
            let [all, plain] = &*TRANSLATIONS;
            let known = if text.is_ascii() { plain } else { all };
            let phrases = known.phrases.as_ref();
            phrases.is_some_and(|phrases| phrases.is_match(text))
        };
        if !texts(failure).into_iter().flatten().any(is_foreign) {
            return None;
        }
        let mut read = Self {
            failure: failure.clone(),
            said: BTreeSet::new(),
        };
        for text in texts_of(&mut read.failure) {
            *text = in_english(text, &mut read.said);
        }
        Some(read)
    }

    /// Quotes what was said as it was said.
    pub(super) fn restore(&self, diagnosis: &mut Diagnosis) {
        let advice = &mut diagnosis.advice;
        let quoted = diagnosis.evidence.iter_mut().map(|quote| &mut quote.text);
        let steps = advice.fix.iter_mut().map(|step| &mut step.text);
        for text in quoted.chain([&mut advice.what]).chain(steps) {
            for (english, said) in &self.said {
                if text.contains(english) {
                    *text = text.replace(english, said);
                }
            }
        }
    }
}

fn in_english(text: &str, told: &mut BTreeSet<(String, String)>) -> String {
    let [all, _] = &*TRANSLATIONS;
    let Some(phrases) = &all.phrases else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    let mut of_frames = false;
    phrases.replace_all_with(text, &mut out, |found, said, out| {
        let english = &all.english[found.pattern().as_usize()];
        out.push_str(english);
        of_frames |= english == LINE;
        told.insert((english.clone(), said.to_owned()));
        true
    });
    if of_frames {
        return FRAME
            .replace_all(&out, |frame: &Captures<'_>| {
                let place = frame.get(3).map_or("", |place| place.as_str());
                let joint = if place.is_empty() { "" } else { " in" };
                format!("{}at {}{joint}{place}", &frame[1], &frame[2])
            })
            .into_owned();
    }
    out
}

/// What stands before the number of a line in a frame of .NET.
const LINE: &str = ":line ";

/// Such a frame, with its file or without.
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "a test reads such a frame")]
    Regex::new(
        r"(?mx)^(\s+)(?:bei|à|en|em|in|w|в|在|場所)\ ([\w.`<>+\[\],]+\([^\n]*\))
          (?:\ (?:in|dans|en|na|em|w|в|位置|場所)(\ [^\n]*:line\ \d+)[.。]?)?",
    )
    .expect("the pattern compiles")
});

#[cfg(test)]
#[path = "translated_tests.rs"]
mod tests;
