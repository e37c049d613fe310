//! Comparisons that got an error in place of a value: the message of an exception of which
//! other failures tell, a sentence or a code that others got as well.

use super::came::{TELLERS, plain, tells_of_error};
use super::group::{CAUSES, Group};
use super::lacks::SubjectKind;
use super::mentions::Mentions;
use super::wanted::COMPARES;
use crate::engine::common_words::COMMON_WORDS;
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::{LazyPattern, WordList, holds_whole};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Groups that are compared. Of more, each says its own.
const COMPARED: usize = 300;
/// Bytes of a sentence that is looked for within others.
const SHORTEST: usize = 12;
const LONGEST: usize = 240;

/// What a group got in place of a value.
struct Came<'v> {
    report: &'v str,
    group: usize,
    text: &'v str,
    /// It was compared with a value.
    compares: bool,
}

/// By group, the one other group of whose error it tells.
pub(super) fn told_errors(
    views: &[FailureView<'_>],
    groups: &[Group],
    mentions: &HashMap<String, Mentions>,
) -> Vec<(usize, usize)> {
    let leads = groups.iter().enumerate().take(CAUSES);
    let leads: Vec<(usize, &FailureView<'_>)> = leads
        .filter_map(|(at, group)| Some((at, &views[*group.victims.first()?])))
        .collect();
    if leads.len() > COMPARED {
        return Vec::new();
    }
    let came: Vec<Came<'_>> = leads
        .iter()
        .filter_map(|(at, view)| {
            let told = mentions.get(view.report)?;
            let mut of_kind = told.of(view).filter(|one| one.kind == SubjectKind::Came);
            Some(Came {
                report: view.report,
                group: *at,
                text: &of_kind.next()?.name,
                compares: COMPARES.contains(&view.kind.root_cause.as_str()),
            })
        })
        .collect();
    if came.is_empty() {
        return Vec::new();
    }
    let mut found = raised(&leads, &came);
    let known: BTreeSet<usize> = found.iter().map(|(teller, _)| *teller).collect();
    found.extend(shared(&came, &known));
    found
}

/// Those that got the message of an exception that one other group raised.
fn raised(leads: &[(usize, &FailureView<'_>)], came: &[Came<'_>]) -> Vec<(usize, usize)> {
    let mut said: BTreeMap<(&str, String), BTreeSet<usize>> = BTreeMap::new();
    // What two requests were answered with in the same words need not be one cause.
    let mut tellers = BTreeSet::new();
    let wrapping: BTreeSet<usize> = came.iter().map(|one| one.group).collect();
    for (at, view) in leads {
        let cause = view.kind.root_cause.as_str();
        let wraps = cause == "code_exception" && wrapping.contains(at);
        if COMPARES.contains(&cause) || wraps {
            continue;
        }
        if TELLERS.contains(&cause) {
            tellers.insert(*at);
        }
        let evidence = view.evidence.filter(|(field, _)| *field != "type");
        let texts = [view.message, evidence.map(|(_, text)| text)];
        for text in texts.into_iter().flatten() {
            for sentence in sentences(text) {
                // Whom it was asked of may be another.
                let form = skeleton(&sentence);
                if has_words_of_its_own(&form) {
                    said.entry((view.report, form)).or_default().insert(*at);
                }
                said.entry((view.report, sentence)).or_default().insert(*at);
            }
        }
    }
    let mut found = Vec::new();
    for one in came {
        let form = skeleton(one.text);
        let begin = cut_off(one.text);
        let is_meant = |(report, sentence): &(&str, String)| {
            let begins = || begin.is_some_and(|begin| sentence.starts_with(begin));
            let tells = || holds_whole(one.text, sentence) || holds_whole(&form, sentence);
            *report == one.report && (tells() || begins())
        };
        let meant = said.iter().filter(|(said, _)| is_meant(said));
        let meant = meant.flat_map(|(_, by)| by.iter().copied());
        let meant: BTreeSet<usize> = meant
            .filter(|at| *at != one.group && (one.compares || !tellers.contains(at)))
            .collect();
        if let (1, Some(home)) = (meant.len(), meant.first()) {
            found.push((one.group, *home));
        }
    }
    found
}

/// The beginning of an error that a framework cut off, without the word that it cut.
fn cut_off(came: &str) -> Option<&str> {
    const LETTERS: usize = 24;
    let (kept, _) = came.split_once('…')?;
    let kept = kept.rsplit_once(' ')?.0.trim_start_matches(['\'', '"']);
    (kept.len() >= LETTERS).then_some(kept)
}

/// Those that got the same error in other words: the first is the one of which all are told.
fn shared(came: &[Came<'_>], known: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (number, one) in came.iter().enumerate().filter(|(_, one)| one.compares) {
        let errors: Vec<&str> = errors(one.text).collect();
        let others = came
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number);
        let others = others.filter(|(_, other)| other.report == one.report && other.compares);
        for (_, other) in others {
            let is_same = errors.iter().any(|error| holds_whole(other.text, error));
            let is_told = known.contains(&one.group) && known.contains(&other.group);
            if is_same && !is_told {
                found.push((other.group, one.group));
            }
        }
    }
    found
}

/// What an exception says: as a whole, without its class, and from each of the parts of a
/// chain on; of a short one, with its class.
fn sentences(text: &str) -> BTreeSet<String> {
    static CLASS: LazyPattern = LazyPattern::new(
        r"(?:\A|[\s(])((?:[\w.$:\\]*\b([A-Z]\w*(?:Error|Exception|Failure))\b(?: \[\w+\])?: +)+)",
    );
    static PLACE: LazyPattern = LazyPattern::new(r"\A\S+\.\w+:\d+: ");
    const PARTS: usize = 4;
    let line = plain(text);
    let line = PLACE.replace(&line, "");
    let cut = |said: &str| {
        let said = said.trim_end_matches(" [recovered]");
        let said = said.trim_end_matches(['.', '…', ' ', ')', ']']);
        said[..said.floor_char_boundary(LONGEST.min(said.len()))].to_owned()
    };
    let mut found = BTreeSet::new();
    let class = CLASS.captures(&line);
    let begin = class.as_ref().and_then(|class| class.get(1));
    let said = &line[begin.map_or(0, |class| class.end())..];
    let mut rest = said;
    for _ in 0..PARTS {
        found.insert(cut(rest));
        match rest.split_once(": ") {
            Some((_, behind)) => rest = behind,
            None => break,
        }
    }
    // Where Python was, it tells of any error.
    let is_stack = |said: &str| said.starts_with("File \"") || said.contains("Traceback (most");
    found.retain(|said| !is_stack(said) && (is_telling(said) || has_many_words(said)));
    if let Some(class) = class.as_ref().and_then(|class| class.get(2)) {
        let whole = cut(&format!("{}: {said}", class.as_str()));
        // What a value is called stands at the end.
        let about = whole
            .rsplit_once(": ")
            .map(|(about, _)| format!("{about}:"));
        let about = about.filter(|about| about.split_whitespace().count() > 2);
        let whole = Some(whole).filter(|one| is_own(one) && !is_common(said));
        found.extend([whole, about].into_iter().flatten());
    }
    found
}

/// The messages and codes of errors in what came: of a document, in brackets, and names of
/// several words of which one tells that something is wrong.
pub(super) fn errors(came: &str) -> impl Iterator<Item = &str> {
    static MESSAGE: LazyPattern = LazyPattern::new(
        r#"(?x) "(?:error|error_description|message|detail|reason)":\ ?"([^"]+)"
              | \ \(([^()"]+)\)
              | \b([a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+)\b"#,
    );
    const WRONG: [&str; 14] = [
        "denied",
        "disabled",
        "error",
        "exceeded",
        "expired",
        "fail",
        "invalid",
        "missing",
        "not_found",
        "refused",
        "timeout",
        "unavailable",
        "unknown",
        "unauthor",
    ];
    const SHORT: usize = 160;
    // What is short is said of nothing else.
    let parts = came.split([';', ',']).flat_map(|part| part.split(": "));
    let parts = parts.map(str::trim).filter(|part| {
        let is_plain = !part.contains(['<', '>', '[', ']', '=', '{', '}', '(', '"']);
        // The words of a framework are no error.
        let small = part.to_ascii_lowercase();
        let is_own = !["assert", "expect"].iter().any(|word| small.contains(word));
        came.len() <= SHORT && is_plain && is_own && tells_of_error(part) && is_telling(part)
    });
    let named = MESSAGE.captures_iter(came).filter_map(|found| {
        if let Some(code) = found.get(3) {
            let small = code.as_str().to_ascii_lowercase();
            let parts = small.split('_').count();
            let is_wrong = parts > 2 && WRONG.iter().any(|word| small.contains(word));
            return is_wrong.then(|| code.as_str());
        }
        let said = found.get(1).or_else(|| found.get(2))?.as_str();
        is_telling(said).then_some(said)
    });
    named.chain(parts)
}

/// Words that name something in any program.
const COMMON_NAMES: WordList = WordList(
    "body code count data error get id index item items key length list map name none null number \
     object path result self set size state status string text this type undefined url user value",
);

fn is_common(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    COMMON_NAMES.has(&bare.to_ascii_lowercase())
}

/// Whether a sentence is one of its own: it names something.
fn is_telling(said: &str) -> bool {
    const WORDS: usize = 3;
    const SIGNS: [char; 8] = ['-', '_', '@', '.', '/', '\'', '(', '`'];
    let is_camel = |word: &str| {
        word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase)
    };
    let is_name = |word: &str| {
        let inner = word.trim_matches(['.', ':', ',', ';', '"', '!']);
        let has_letters = inner.chars().any(char::is_alphabetic);
        let has_digit = inner.contains(|c: char| c.is_ascii_digit());
        let is_quoted = word.starts_with(['"', ':']) && has_letters;
        has_letters
            && !is_common(word)
            && (without_apostrophe(inner).contains(SIGNS)
                || has_digit
                || is_camel(inner)
                || is_quoted)
    };
    let is_identifier = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        is_camel(inner) || inner.contains('_')
    };
    let words = || said.split_whitespace();
    let count = words().count();
    is_own(said)
        && (count >= WORDS && words().any(is_name) || count > 1 && words().any(is_identifier))
}

/// Whether a sentence that names nothing has so many words that it is hardly said of two
/// things.
fn has_many_words(said: &str) -> bool {
    const MANY: usize = 5;
    const LONG: usize = 24;
    said.len() >= LONG && is_own(said) && said.split_whitespace().count() >= MANY
}

/// Whether a sentence tells without what it masks.
fn has_words_of_its_own(form: &str) -> bool {
    static MASK: LazyPattern = LazyPattern::ascii(r"<\w+>");
    form.contains('<') && has_many_words(&MASK.replace_all(form, ""))
}

/// Whether a sentence is of a length that tells, and none that any program says.
fn is_own(said: &str) -> bool {
    const OF_RUNTIMES: [&str; 4] = [
        "index out of",
        "out of range",
        "out of bounds",
        "invalid literal for",
    ];
    let answers = COMMON_WORDS.answers.iter().map(String::as_str);
    let mut generic = answers.chain(OF_RUNTIMES);
    (SHORTEST..=LONGEST).contains(&said.len()) && !generic.any(|other| said.contains(other))
}

/// A word without the apostrophe that stands within it, as in `don't`.
fn without_apostrophe(word: &str) -> String {
    let is_within = |at: usize| {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        letter(word[..at].chars().next_back()) && letter(word[at + 1..].chars().next())
    };
    let signs = word.char_indices();
    let kept = signs.filter(|(at, sign)| *sign != '\'' || !is_within(*at));
    kept.map(|(_, sign)| sign).collect()
}

#[cfg(test)]
mod tests {
    use super::{errors, sentences};
    use jelly_base::text::holds_whole;

    #[test]
    fn a_sentence_of_its_own_names_something() {
        for (text, told) in [
            (
                "TypeError: formatPrice is not a function",
                "formatPrice is not a function",
            ),
            (
                "Error: geocoder GET /geocode?q=x: HTTP 429 daily quota exceeded",
                "geocoder GET /geocode: HTTP 429 daily quota exceeded",
            ),
            (
                "TypeError: load() missing 1 required positional argument: 'Loader'",
                "load() missing 1 required positional argument: 'Loader'",
            ),
            ("KeyError: 'ward_id'", "KeyError: 'ward_id'"),
            (
                "dxf_test.go:15: Parse: dxf: unit \"in\" not supported",
                "unit \"in\" not supported",
            ),
            (
                "panic: assignment to entry in nil map",
                "assignment to entry in nil map",
            ),
            (
                "ContractError: gridOperatorCode: required",
                "gridOperatorCode: required",
            ),
            (
                "java.lang.IllegalArgumentException: unknown zone: A",
                "IllegalArgumentException: unknown zone:",
            ),
        ] {
            assert!(
                sentences(text).contains(told),
                "{text}: {:?}",
                sentences(text)
            );
        }
        for text in [
            "IndexError: list index out of range",
            "invalid literal for int() with base 10: 'x'",
            "it doesn't",
            "KeyError: 'id'",
            "Internal Server Error",
            "HTTP 500 Internal Server Error",
            "Connection refused",
            "not found",
        ] {
            assert!(sentences(text).is_empty(), "{text}: {:?}", sentences(text));
        }
        assert!(holds_whole(
            "error: index v2 not found",
            "index v2 not found"
        ));
        assert!(!holds_whole("error: index v22 not found", "index v2"));
    }

    #[test]
    fn an_error_has_a_message_or_a_code() {
        let of = |came: &'static str| errors(came).collect::<Vec<_>>();
        assert_eq!(
            of("Search is off (index tasks-v2 not found)"),
            ["index tasks-v2 not found"]
        );
        assert_eq!(
            of("http://h/login?reason=sso_certificate_expired"),
            ["sso_certificate_expired"]
        );
        assert!(of("{\"state\": \"in_progress\"}").is_empty());
        assert!(of("{\"error\": \"Not found\"}").is_empty());
    }
}
