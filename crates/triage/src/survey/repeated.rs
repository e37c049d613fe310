//! Failures that repeat word for word what another failed of: a page that answers with the
//! exception of its template, a keyword that tells what its part said, an assertion that
//! nothing is thrown.

use super::group::{CAUSES, Group};
use super::lacks::SubjectKind;
use super::mentions::Mentions;
use crate::engine::common_words::COMMON_WORDS;
use aho_corasick::{AhoCorasick, MatchKind};
use jelly_base::model::FailureView;
use jelly_base::text::LazyPattern;
use regex::Captures;
use std::collections::{BTreeSet, HashMap};

/// Bytes of a sentence that is a sentence of its own.
const SHORTEST: usize = 24;
const LONGEST: usize = 400;
/// Bytes of one that is, whatever it names.
const LONG: usize = 44;
/// Groups that are compared. Of more, each says its own.
const COMPARED: usize = 1000;

/// A line of a source.
static PLACE: LazyPattern =
    LazyPattern::new(r"\b[\w-]+\.(?:c|cc|cpp|cxx|h|hpp|rs|go|py|rb|js|ts|java|kt|cs|php):\d+\b");

/// The sentences by which groups say of what they failed.
pub(super) struct Sayings<'v> {
    finder: AhoCorasick,
    /// By sentence, its report, and the group that says it unless several do.
    said_by: Vec<(&'v str, Option<usize>)>,
    /// Groups that raised an exception which another line of the product may raise, too.
    raised: BTreeSet<usize>,
}

impl<'v> Sayings<'v> {
    /// Nothing where no group says a sentence of its own.
    pub(super) fn of(views: &[FailureView<'v>], groups: &[Group]) -> Option<Self> {
        if groups.len() > COMPARED {
            return None;
        }
        let mut sayings: HashMap<(&str, String), Option<(usize, &str)>> = HashMap::new();
        let mut raised = BTreeSet::new();
        for (at, group) in groups.iter().enumerate().take(CAUSES) {
            let Some(view) = group.victims.first().map(|first| &views[*first]) else {
                continue;
            };
            if let Some((said, is_of_language)) = sentence(view) {
                let cause = view.kind.root_cause.as_str();
                let has_place = PLACE.is_match(&said);
                if is_of_language && !has_place {
                    raised.insert(at);
                }
                let known = sayings
                    .entry((view.report, said))
                    .or_insert(Some((at, cause)));
                // Two functions may raise the same, unless the place is a part of it.
                let is_told_apart = cause != "code_exception" || has_place;
                let is_one = is_told_apart && known.is_none_or(|(_, first)| first == cause);
                if !is_one && *known != Some((at, cause)) {
                    *known = None;
                }
            }
        }
        if sayings.is_empty() {
            return None;
        }
        let mut sayings: Vec<_> = sayings.into_iter().collect();
        sayings.sort_unstable();
        let sentences = sayings.iter().map(|((_, said), _)| said);
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(sentences)
            .ok()?;
        let said_by = sayings.into_iter();
        let said_by = said_by.map(|((report, _), by)| (report, by.map(|(at, _)| at)));
        Some(Self {
            finder,
            said_by: said_by.collect(),
            raised,
        })
    }

    /// The one other group whose sentence a failure of the group `own` repeats.
    pub(super) fn meant(
        &self,
        view: &FailureView<'_>,
        mentions: Option<&Mentions>,
        own: usize,
    ) -> Option<usize> {
        let evidence = view.evidence.map(|(_, text)| text);
        let logged = mentions.into_iter().flat_map(|told| told.of(view));
        let logged = logged.filter(|one| one.kind == SubjectKind::Said);
        let raises = view.kind.root_cause == "code_exception";
        let own_words = [view.message, evidence].into_iter().flatten();
        let mut meant = BTreeSet::new();
        for text in own_words.chain(logged.map(|one| &*one.name)) {
            // In a document they are escaped.
            let text = numberless(&text.replace("\\\"", "\""));
            for found in self.finder.find_overlapping_iter(&text) {
                let (report, at) = *self.said_by.get(found.pattern().as_usize())?;
                let is_whole = !text[found.end()..].starts_with(char::is_alphanumeric);
                if report == view.report && is_whole {
                    let is_other = |at: &usize| *at != own && !(raises && self.raised.contains(at));
                    meant.extend(at.filter(is_other));
                }
            }
        }
        match meant.len() {
            1 => meant.pop_first(),
            _ => None,
        }
    }
}

/// What a failure says of its cause, without the class of its exception, where that is
/// a sentence of its own: it names something, or is long; and whether it is one of an
/// exception that languages raise.
fn sentence(view: &FailureView<'_>) -> Option<(String, bool)> {
    static CLASS: LazyPattern = LazyPattern::new(
        r#"\A(?:(?:[\w.$:\\]*(?:Error|Exception|Failure)\b|\w+(?:::\w+)*::[A-Z]\w+) ?: ?|C\+\+ exception with description ")+"#,
    );
    let cause = view.kind.root_cause.as_str();
    if COMMON_WORDS.causes.contains(cause) {
        return error_that_came(view).map(|said| (said, false));
    }
    // The name of a hook is not what it says, and neither is the class of an exception.
    let evidence = view
        .evidence
        .filter(|(field, _)| !["name", "type"].contains(field));
    // Nor does what is left out of it tell anything.
    let is_whole = |text: &&str| {
        let line = text.lines().next().unwrap_or_default();
        !NAMES
            .iter()
            .any(|mark| line.contains(&format!("{mark}…{mark}")))
    };
    let evidence = evidence.map(|(_, text)| text).filter(is_whole);
    // Of a document the evidence is its words.
    let whole = view.message.filter(|message| message.contains('{'));
    let told = whole.or(evidence).or(view.message).filter(is_whole)?;
    let line = told.lines().next()?.trim();
    let class = CLASS.find(line).map_or(0, |class| class.end());
    let said = &line[class..];
    let begins = |text: &str| {
        let mut exceptions = COMMON_WORDS.exceptions.iter();
        exceptions.any(|begin| text.starts_with(begin.as_str()))
    };
    let is_of_language = begins(line) || begins(said);
    if is_of_language && !names_several(said) {
        return None;
    }
    let said = said
        .split_once("\" thrown in ")
        .map_or(said, |(said, _)| said);
    // What is said behind the first sentence is advice.
    let first = said.split_once(". ").map_or(said, |(first, _)| first);
    let said = if first.len() >= LONG { first } else { said };
    let said = said.trim_end_matches(['.', '…', ' ']);
    // What it is about stands on the next line.
    if said.ends_with(':') {
        return None;
    }
    let names = NAMES.iter().any(|mark| said.contains(*mark)) || NAMED.contains(&cause);
    let words = said.split_whitespace().count();
    let is_own = names && said.len() >= SHORTEST || said.len() >= LONG && words > 6;
    let is_sentence = is_own && said.len() <= LONGEST && words > 2;
    is_sentence.then(|| (numberless(said), is_of_language))
}

/// The error that came beside a value, as tests of Go say it: `Weight("2 t") = 0, weight "t":
/// unknown unit; want 2000`.
fn error_that_came(view: &FailureView<'_>) -> Option<String> {
    static CAME: LazyPattern = LazyPattern::new(
        r#"\) = [^,\n]+, ((?:[^;:\n]*"[^"\n]+"[^;:\n]*|[^;:\n]+): [^;\n]+); (?:want|expected) "#,
    );
    let evidence = view.evidence.map(|(_, text)| text);
    let texts = [evidence, view.message].into_iter().flatten();
    let mut came = texts.filter_map(|text| CAME.captures(text));
    let said = came.next()?.get(1)?.as_str();
    let is_own = said.contains('"') && said.len() >= SHORTEST;
    is_own.then(|| numberless(said))
}

/// Whether a long sentence names two things, in quotes of one kind.
fn names_several(said: &str) -> bool {
    said.len() >= LONG && said.matches('"').count() >= 4
}

/// A text with a zero for each number that stands alone: the same is said of any, but for
/// what a server answered with.
fn numberless(text: &str) -> String {
    static NUMBER: LazyPattern = LazyPattern::new(r"(^|[ (])(\d+)([ ),;]|$)");
    let without = NUMBER.replace_all(text, |found: &Captures<'_>| {
        let is_status = found[2].len() == 3 && found[2].starts_with(['4', '5']);
        let number = if is_status { &found[2] } else { "0" };
        format!("{}{number}{}", &found[1], &found[3])
    });
    without.into_owned()
}

/// Root causes of which any sentence names the thing.
const NAMED: [&str; 3] = ["auth_failed", "config_missing", "license_invalid"];

/// What stands around a name within a sentence.
const NAMES: [char; 4] = ['\'', '"', '`', '_'];
