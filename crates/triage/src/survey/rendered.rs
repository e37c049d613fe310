//! The same text, written in another way: in another case, without its accents, escaped or
//! decoded as what it is not, its words in another order. Who writes texts so writes all so.

use encoding_rs::WINDOWS_1252;
use jelly_base::text::LazyPattern;
use percent_encoding::percent_decode_str;
use quick_xml::escape::unescape;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Bytes of a value that is looked at.
const READ: usize = 2 << 10;
/// Letters that a value has at least: of a shorter one chance makes the same.
const LETTERS: usize = 3;

/// Forms in which many functions write what others write otherwise.
pub(super) const CASES: [&str; 3] = ["in small letters", "in capitals", "in another case"];

/// How a text that came is another form of the one that was wanted.
pub(super) fn rendered(wanted: &str, came: &str) -> Option<&'static str> {
    const FORMS: [fn(&str, &str) -> Option<&'static str>; 6] =
        [letters, encoded, decimals, blanks, plural, order];
    let (wanted, came) = (wanted.trim(), came.trim());
    let is_short = wanted.len().max(came.len()) <= READ;
    if !is_short || wanted == came {
        return None;
    }
    FORMS.iter().find_map(|form| form(wanted, came))
}

/// In capitals, in small letters, without accents.
fn letters(wanted: &str, came: &str) -> Option<&'static str> {
    let count = wanted.chars().filter(|c| c.is_alphabetic()).count();
    if count < LETTERS {
        return None;
    }
    let [in_small, in_capitals, otherwise] = CASES;
    let (small, others) = (wanted.to_lowercase(), came.to_lowercase());
    if small == others {
        let told = match (came == others, came == came.to_uppercase()) {
            (true, _) => in_small,
            (_, true) => in_capitals,
            (false, false) => otherwise,
        };
        return Some(told);
    }
    let bare = |text: &str| -> String { text.nfd().filter(|c| !is_combining_mark(*c)).collect() };
    let (plain, others) = (bare(wanted), bare(came));
    match (plain == others, plain == wanted) {
        (true, true) => Some("with accents"),
        (true, false) => Some("without accents"),
        (false, _) => None,
    }
}

/// Escaped where it was to be plain or the reverse, or decoded as what it is not.
fn encoded(wanted: &str, came: &str) -> Option<&'static str> {
    let is_escaped = |plain: &str, escaped: &str| -> Option<&'static str> {
        let is_plain = |told: &str| told == plain && told != escaped;
        if escaped.contains('&') && unescape(escaped).is_ok_and(|told| is_plain(&told)) {
            return Some("entities");
        }
        let decoded = percent_decode_str(escaped).decode_utf8();
        if escaped.contains('%') && decoded.is_ok_and(|told| is_plain(&told)) {
            return Some("percent signs");
        }
        None
    };
    if let Some(form) = is_escaped(wanted, came) {
        return Some(match form {
            "entities" => "escaped by entities",
            _ => "escaped by percent signs",
        });
    }
    if let Some(form) = is_escaped(came, wanted) {
        return Some(match form {
            "entities" => "entities are left out",
            _ => "percent signs are left out",
        });
    }
    static WORD: LazyPattern = LazyPattern::ascii(r"=\?[\w-]+\?[bBqQ]\?[^?\s]+\?=");
    if WORD.is_match(came) && !WORD.is_match(wanted) {
        return Some("an encoded word of a mail");
    }
    let is_foreign = |text: &str| !text.is_ascii();
    let (bytes, _, is_lossy) = WINDOWS_1252.encode(came);
    if is_foreign(came) && !is_lossy && *bytes == *wanted.as_bytes() {
        return Some("letters are decoded as of another alphabet");
    }
    // What can't be written is a mark, of each letter or of each of its bytes.
    let marked = |mark: char| {
        let lost = |text: &str| {
            let kept = text.chars().map(|c| if c.is_ascii() { c } else { mark });
            let mut kept: Vec<char> = kept.collect();
            kept.dedup_by(|one, other| one == other && *one == mark);
            kept
        };
        is_foreign(wanted) && came.contains(mark) && lost(wanted) == lost(came)
    };
    (marked('?') || marked('\u{fffd}')).then_some("letters are lost")
}

/// The same numbers with more or fewer decimals.
fn decimals(wanted: &str, came: &str) -> Option<&'static str> {
    static NUMBER: LazyPattern = LazyPattern::ascii(r"\d+(?:[.,]\d+)?");
    let form = |text: &str| NUMBER.replace_all(text, "0").into_owned();
    let numbers = |text: &str| -> Vec<String> {
        let found = NUMBER.find_iter(text);
        let bare = found.map(|number| match number.as_str().contains(['.', ',']) {
            true => number.as_str().trim_end_matches('0'),
            false => number.as_str(),
        });
        bare.map(|number| number.trim_end_matches(['.', ',']).to_owned())
            .collect()
    };
    // Of nothing but a number how it is written is the framework's.
    let has_text = wanted.contains(|c: char| c.is_alphabetic() || "€$£%".contains(c));
    let is_one = has_text && form(wanted) == form(came) && numbers(wanted) == numbers(came);
    is_one.then_some("another number of decimals")
}

/// With other blanks in it.
fn blanks(wanted: &str, came: &str) -> Option<&'static str> {
    let bare = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    let (one, other) = (bare(wanted), bare(came));
    (one.len() >= LETTERS && one == other).then_some("other blanks")
}

/// `1 messages` for `1 message`.
fn plural(wanted: &str, came: &str) -> Option<&'static str> {
    let (mut words, mut others) = (wanted.split(' '), came.split(' '));
    let is_word = |word: &str| word.len() >= LETTERS && word.chars().all(char::is_alphabetic);
    let mut told = None;
    loop {
        match (words.next(), others.next()) {
            (None, None) => return told,
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) => {
                let bare = |word: &str| word.trim_end_matches(['.', ',', ':', '!', ')']).to_owned();
                let (one, other) = (bare(one), bare(other));
                let form = match (one.strip_suffix('s'), other.strip_suffix('s')) {
                    (_, Some(less)) if less == one && is_word(&one) => "with an s",
                    (Some(less), _) if less == other && is_word(&other) => "without an s",
                    (_, _) => return None,
                };
                if *told.get_or_insert(form) != form {
                    return None;
                }
            }
            (_, _) => return None,
        }
    }
}

/// The same words, in another order. Two functions may each sort a list in another way.
fn order(wanted: &str, came: &str) -> Option<&'static str> {
    fn words(text: &str) -> Vec<&str> {
        let words = text.split(|c: char| !(c.is_alphanumeric() || "_.-:/".contains(c)));
        words.filter(|word| !word.is_empty()).collect()
    }
    if [wanted, came]
        .iter()
        .any(|text| text.starts_with(['[', '{', '(']))
    {
        return None;
    }
    let (mut all, mut others) = (words(wanted), words(came));
    if all == others || all.len() < 2 || all.len() != others.len() {
        return None;
    }
    let is_turned = all.iter().eq(others.iter().rev());
    all.sort_unstable();
    others.sort_unstable();
    let told = if is_turned {
        "turned round"
    } else {
        "in another order"
    };
    (all == others).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::rendered;

    #[test]
    fn another_form_of_a_text_is_told() {
        for (wanted, came, told) in [
            ("ELEVE", "ÉLÈVE", "with accents"),
            ("Müller", "Muller", "without accents"),
            ("Oak Street", "oak street", "in small letters"),
            ("Oak Street", "OAK STREET", "in capitals"),
            ("Oak Street", "Oak street", "in another case"),
            ("Tom & Ann", "Tom &amp; Ann", "escaped by entities"),
            ("a b/c", "a%20b%2Fc", "escaped by percent signs"),
            ("a%20b", "a b", "percent signs are left out"),
            ("Menü", "=?utf-8?q?Men=C3=BC?=", "an encoded word of a mail"),
            (
                "Müller",
                "MÃ¼ller",
                "letters are decoded as of another alphabet",
            ),
            (
                "it’s",
                "itâ€™s",
                "letters are decoded as of another alphabet",
            ),
            ("Müller", "M?ller", "letters are lost"),
            ("Müller", "M\u{fffd}\u{fffd}ller", "letters are lost"),
            ("EUR 12.50", "EUR 12.5", "another number of decimals"),
            ("12 kg", "12kg", "other blanks"),
            ("You have 1 message.", "You have 1 messages.", "with an s"),
            ("8010 Graz", "Graz 8010", "turned round"),
            ("10 -> 25", "25 -> 10", "turned round"),
            (
                "Ring 12, 8010 Graz",
                "Ring 12, Graz 8010",
                "in another order",
            ),
        ] {
            assert_eq!(rendered(wanted, came), Some(told), "{came}");
        }
    }

    #[test]
    fn another_text_is_no_form_of_it() {
        for (wanted, came) in [
            ("12.50", "12.5"),
            ("A", "a"),
            ("3", "3"),
            ("Oak Street", "Elm Street"),
            ("1 day", "2 days"),
            ("M?ller", "Miller"),
            ("ready", "done"),
            ("a b", "a c"),
            ("100%", "100"),
            ("[Ann, Bob]", "[Bob, Ann]"),
        ] {
            assert_eq!(rendered(wanted, came), None, "{came}");
        }
    }
}
