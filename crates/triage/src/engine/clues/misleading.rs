//! What sounds like trouble of a machine or a service and tells of none: what a call was
//! given, repeated in its answer, and a class of the program's own with a name like theirs.
//!
//! Main type: [`Misleading`].

use super::identifiers::{
    covered, is_looked_for, is_of_data, is_refused, names_an_error, sounds_like_service,
    tells_of_rule, tells_of_service,
};
use super::origin::Origin;
use crate::engine::facts::{Facts, FailureSource};
use jelly_base::model::Failure;
use jelly_base::text::{address, is_variable_name};
use memchr::{memchr_iter, memmem};
use serde_json::Value;
use std::collections::HashSet;
use std::ops::Range;

/// What a call was given in words, or a part of it.
struct Echo<'a> {
    /// The argument or its member, where it has a name.
    name: Option<&'a str>,
    value: &'a str,
}

/// What is hidden in the texts of a failure.
pub(super) struct Misleading<'a> {
    echoes: Vec<Echo<'a>>,
    /// Of a report: the class that was raised.
    class: Option<&'a str>,
    /// The key of the program's own data that was not there.
    key: Option<&'a str>,
    /// What somebody refuses stands in its words: by the program itself, and no library.
    refuses: bool,
    is_live: bool,
}

impl<'a> Misleading<'a> {
    pub(super) fn of(facts: &Facts<'a>) -> Self {
        let is_live = matches!(facts.source, FailureSource::Live);
        Self {
            echoes: if is_live {
                echoes(facts.failure)
            } else {
                Vec::new()
            },
            class: (!is_live).then(|| own_class_of_report(facts)).flatten(),
            key: own_key(facts.failure),
            refuses: is_live || raised_by_program(facts),
            is_live,
        }
    }

    /// `text` with all of it replaced, byte for byte, by letters that say nothing; `None`
    /// where it has none of it.
    pub(super) fn hide(&self, text: &str) -> Option<String> {
        let mut hidden: Option<String> = None;
        let mut hide = |at: usize, length: usize, cover: fn(u8) -> char| {
            let range = at..at + length;
            let cover: String = text[range.clone()].bytes().map(cover).collect();
            hidden
                .get_or_insert_with(|| text.to_owned())
                .replace_range(range, &cover);
        };
        for echo in &self.echoes {
            if says_more(text, echo.value) {
                let length = echo.value.len();
                let places = memmem::find_iter(text.as_bytes(), echo.value.as_bytes());
                let places = places.take(PLACES);
                for at in places.filter(|at| echo.is_repeated(text, *at..*at + length)) {
                    hide(at, length, covered);
                }
            }
        }
        if let Some(class) = self.class {
            for at in memmem::find_iter(text.as_bytes(), class.as_bytes()) {
                hide(at, class.len(), covered);
            }
        }
        if let Some(key) = self.key {
            for at in memmem::find_iter(text.as_bytes(), key.as_bytes()) {
                // In capitals it would still be called like a variable.
                hide(at, key.len(), |_| 'x');
            }
        }
        if self.is_live {
            // A library's own name before it says whose class it is.
            for raised in raised(text).filter(|raised| raised.is_bare && raised.is_own()) {
                hide(raised.at, raised.name.len(), covered);
            }
        }
        if self.refuses {
            for value in refused_values(text) {
                hide(value.start, value.len(), covered);
            }
        }
        hidden
    }
}

/// The key that a `KeyError` misses, called like a variable, where the line that asks for it
/// stands there and asks a record of data: `row["CUSTOMER_ID"]`. What else is asked may be
/// how the program is set, under any name.
fn own_key(failure: &Failure) -> Option<&str> {
    let texts = [&failure.text, &failure.stderr];
    texts.into_iter().flatten().find_map(|text| {
        let at = text.find("KeyError: '")?;
        let key = text[at + "KeyError: '".len()..].split('\'').next()?;
        if !is_variable_name(key) || key.contains(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        let asked = [format!("[\"{key}\"]"), format!("['{key}']")];
        let mut places = asked
            .iter()
            .flat_map(|asked| text.match_indices(asked.as_str()));
        let is_own = |at: usize| {
            let whose = text[..at].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
            is_of_data(&text[whose.len()..at], key)
        };
        let first = places.next()?.0;
        (is_own(first) && places.all(|(at, _)| is_own(at))).then_some(key)
    })
}

/// Whether a failure of a report refuses a value, in a line of the product or of the test.
fn raised_by_program(facts: &Facts<'_>) -> bool {
    let f = facts.failure;
    let said = [&f.message, &f.text].into_iter().flatten();
    let mut values = said.flat_map(|text| refused_values(text));
    values.next().is_some() && matches!(facts.raised_in(), Origin::Product | Origin::Test)
}

/// The values in quotes that lines of a text refuse for what they are: `invalid title:
/// "connection refused"`. What refuses an answer or an address quotes what came of it.
fn refused_values(text: &str) -> Vec<Range<usize>> {
    const MOST: usize = 16;
    const PAIRS: usize = 64;
    let mut found = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let marks: Vec<usize> = memchr_iter(b'"', line.as_bytes()).collect();
        for pair in marks.chunks_exact(2).take(PAIRS) {
            let (from, to) = (pair[0] + 1, pair[1]);
            let value = &line[from..to];
            // What names an error or an address is what somebody else answered.
            let is_own = || !names_an_error(value) && address(value).is_none();
            let is_prose = value.contains(' ') && found.len() < MOST;
            if is_prose && is_refused(line, from..to) && is_own() {
                found.push(begin + from..begin + to);
            }
        }
        begin += line.len();
    }
    found
}

/// What the call was given in words: what a person wrote may sound like anything.
fn echoes(failure: &Failure) -> Vec<Echo<'_>> {
    const MOST: usize = 64;
    let params = failure.request.as_ref().and_then(|r| r.params.as_ref());
    let mut echoes = Vec::new();
    if let Some(params) = params {
        leaves(params, None, &mut echoes, 0);
    }
    let mut known = HashSet::new();
    // A part of one may be quoted alone.
    echoes
        .into_iter()
        .flat_map(|Echo { name, value }| {
            let parts = value.split(['"', '\'', '`']).map(str::trim);
            let parts = parts.filter(move |part| part.len() >= PART && part.len() < value.len());
            let all = [value].into_iter().chain(parts);
            all.map(move |value| Echo { name, value })
        })
        .filter(|echo| is_prose(echo.value) && known.insert((echo.name, echo.value)))
        .take(MOST)
        .collect()
}

/// Bytes of a part of an argument that is as telling as the whole.
const PART: usize = 12;

/// Places of one argument in a text that are looked at.
const PLACES: usize = 64;

/// The texts in a value, as far down as anybody nests them.
fn leaves<'v>(value: &'v Value, name: Option<&'v str>, into: &mut Vec<Echo<'v>>, depth: usize) {
    const DEEPEST: usize = 8;
    const MOST: usize = 64;
    if depth > DEEPEST || into.len() >= MOST {
        return;
    }
    match value {
        Value::String(text) => into.push(Echo {
            name,
            value: text.trim(),
        }),
        Value::Array(all) => all
            .iter()
            .for_each(|one| leaves(one, name, into, depth + 1)),
        Value::Object(all) => all
            .iter()
            .for_each(|(name, one)| leaves(one, Some(name), into, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a value is words, and no path or address, of which an error tells what is
/// wrong with it.
fn is_prose(value: &str) -> bool {
    const LONGEST: usize = 2000;
    value.len() <= LONGEST
        && !value.contains(['/', '\\', '@'])
        && (value.split_whitespace().filter(|w| is_word(w)).count() > 1 || names_an_error(value))
}

fn is_word(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() > 2
}

/// Whether a text says something of its own beside the echo: a tool that does nothing but
/// repeat an error was asked to.
fn says_more(text: &str, echo: &str) -> bool {
    text.contains(echo)
        && text
            .replace(echo, " ")
            .split_whitespace()
            .filter(|word| is_word(word))
            .count()
            > 1
}

impl Echo<'_> {
    /// Whether the place at which a text has it repeats what was given: in quotes, behind its
    /// own name, or behind a word that says what was looked for. What stands behind another
    /// label, or beside an address or the name of an error, may as well be what a service
    /// answered, in words that the call happened to have.
    fn is_repeated(&self, text: &str, at: Range<usize>) -> bool {
        const QUOTES: [char; 8] = ['\'', '"', '`', '“', '”', '‘', '’', '«'];
        const OF_ERROR: [&str; 5] = ["err", "error", "failed", "cause", "reason"];
        /// Bytes on either side that are looked at.
        const BESIDE: usize = 200;
        let from = text.floor_char_boundary(at.start.saturating_sub(BESIDE));
        let to = text.ceil_char_boundary((at.end + BESIDE).min(text.len()));
        let before = text[from..at.start].rsplit('\n').next().unwrap_or_default();
        let behind = text[at.end..to].split('\n').next().unwrap_or_default();
        let bare = before.trim_end_matches(|c| QUOTES.contains(&c) || " \\:=".contains(c));
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let label = &bare[bare.trim_end_matches(is_of_word).len()..];
        if OF_ERROR.contains(&label.to_ascii_lowercase().as_str()) {
            return false;
        }
        if before.ends_with(QUOTES) && behind.trim_start_matches('\\').starts_with(QUOTES) {
            return true;
        }
        let is_labelled = before.trim_end().ends_with([':', '=']);
        let tells = |part: &str| names_an_error(part) || address(part).is_some();
        let is_named = match is_labelled {
            true => self.name == Some(label),
            false => is_looked_for(bare),
        };
        is_named && !tells(before) && !tells(behind)
    }
}

/// The class of an exception in a text, and what it says.
struct Raised<'t> {
    at: usize,
    /// Without its module.
    name: &'t str,
    is_bare: bool,
    said: &'t str,
}

impl Raised<'_> {
    /// Whether it sounds like trouble with a service and tells of a rule of the program instead:
    /// `RateLimitError: at most three tariffs may be combined`. Clients raise such classes, too,
    /// in words that no list knows.
    fn is_own(&self) -> bool {
        let words = self.said.split_whitespace().filter(|word| is_word(word));
        sounds_like_service(self.name)
            && words.count() > 1
            && tells_of_rule(self.said)
            && !tells_of_service(self.said)
    }
}

/// What a text says was raised: `Class: message`, `Class) message` as Elixir writes it, and
/// the message below the class as RSpec does.
fn raised(text: &str) -> impl Iterator<Item = Raised<'_>> {
    /// Classes of one text that are looked at.
    const MOST: usize = 64;
    let ends = ["Error", "Exception"].into_iter().flat_map(move |kind| {
        memmem::find_iter(text.as_bytes(), kind.as_bytes()).map(move |at| at + kind.len())
    });
    ends.filter_map(move |end| {
        let rest = text[end..].strip_prefix([':', ')'])?;
        let said = rest.trim_start_matches([' ', '\n', '\r', ':']);
        // One that follows at once belongs to another sentence.
        if said.len() == rest.len() {
            return None;
        }
        let before = &text[..end];
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &before[before.trim_end_matches(is_of_name).len()..];
        let at = end - name.len();
        Some(Raised {
            at,
            name,
            is_bare: !text[..at].ends_with(['.', ':', '\\', '/']),
            said: first_line(said),
        })
    })
    .take(MOST)
}

/// What a class says in its first line, as far as it is looked at.
fn first_line(said: &str) -> &str {
    const SAID: usize = 200;
    let said = said[..said.floor_char_boundary(SAID)].trim_start();
    said.lines().next().unwrap_or_default().trim_end()
}

/// The name of the exception of a report whose class sounds like trouble with a service, and
/// which a line of the product or of the test raised.
fn own_class_of_report<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    let f = facts.failure;
    let last = |class: &'a str| class.rsplit([':', '.', '\\', '$']).next().unwrap_or(class);
    let of_type = || {
        let (class, said) = (f.type_.as_deref()?, f.message.as_deref()?);
        let name = last(class.trim());
        let is_class = name.ends_with("Error") || name.ends_with("Exception");
        let whole = Raised {
            at: 0,
            name,
            is_bare: false,
            said: first_line(said),
        };
        (is_class && !said.contains(name) && whole.is_own()).then_some(name)
    };
    let of_text = || {
        let said = [&f.text, &f.message].into_iter().flatten();
        let mut first = said.filter_map(|text| raised(text).next());
        first
            .next()
            .filter(Raised::is_own)
            .map(|raised| raised.name)
    };
    of_type()
        .or_else(of_text)
        .filter(|_| matches!(facts.raised_in(), Origin::Product | Origin::Test))
}

#[cfg(test)]
mod tests {
    use super::{Echo, Misleading, raised};
    use jelly_base::model::Failure;

    fn hidden(text: &str, echoes: &[&str]) -> Option<String> {
        let named = |value| Echo {
            name: Some("note"),
            value,
        };
        let misleading = Misleading {
            echoes: echoes.iter().copied().map(named).collect(),
            class: None,
            key: None,
            refuses: true,
            is_live: true,
        };
        misleading.hide(text)
    }

    #[test]
    fn what_a_call_was_given_says_nothing_of_a_service() {
        let said = "label 'disk full' already exists";
        let read = "label 'xxxx xxxx' already exists";
        assert_eq!(hidden(said, &["disk full"]).as_deref(), Some(read));
        for (said, echo) in [
            // A tool that repeats an error and no more was asked to.
            ("Error: disk full", "disk full"),
            // What a service answered, in the words that were searched for.
            (
                "search failed: dial tcp 10.0.0.3:9200: connect: connection refused",
                "connection refused",
            ),
            (
                "the search ended: connect ECONNREFUSED 10.0.0.3:9200",
                "ECONNREFUSED",
            ),
            (
                "search failed for all: err=\"connection refused\"",
                "connection refused",
            ),
            (
                "search failed due to connection refused",
                "connection refused",
            ),
            ("search failed - database is locked", "database is locked"),
            (
                "no result for this search, failed with connection refused",
                "connection refused",
            ),
            (
                "no answer: depot is away with connection refused",
                "connection refused",
            ),
        ] {
            assert_eq!(hidden(said, &[echo]), None, "{said}");
        }
        for said in [
            "no notes have connection refused in them",
            "unknown room 9 (note: connection refused)",
            "No documents found for connection refused",
            "no notes are about connection refused",
            "Nothing was found for connection refused.",
        ] {
            assert!(hidden(said, &["connection refused"]).is_some(), "{said}");
        }
    }

    #[test]
    fn a_value_that_is_refused_for_what_it_is_says_nothing_of_a_service() {
        let said = "Error: invalid title: \"database is locked\"";
        let read = "Error: invalid title: \"xxxxxxxx xx xxxxxx\"";
        assert_eq!(hidden(said, &[]).as_deref(), Some(read));
        for said in [
            "invalid response of the server: \"502 Bad Gateway\"",
            "the depot says \"database is locked\"",
            "job rejected err=\"dial tcp 10.0.0.3:5432: connect: connection refused\"",
            "upload rejected: \"No space left on device\"",
            "validation failed for job 7 error=\"dial tcp: no such host\"",
            "invalid state: \"connection refused by the peer\"",
            "invalid write: \"no space left on device\"",
            "invalid title: \"connect ECONNREFUSED 10.0.0.3:9000\"",
        ] {
            assert_eq!(hidden(said, &[]), None, "{said}");
        }
    }

    #[test]
    fn a_class_of_the_programs_own_says_nothing_of_a_service() {
        for (said, read) in [
            (
                "ConnectionError: accounts A1 and A2 share a slot",
                "XxxxxxxxxxXxxxx: accounts A1 and A2 share a slot",
            ),
            (
                "RateLimitError:\n  at most 3 tariffs may be combined",
                "XxxxXxxxxXxxxx:\n  at most 3 tariffs may be combined",
            ),
        ] {
            assert_eq!(hidden(said, &[]).as_deref(), Some(read));
        }
        for said in [
            "ConnectionError: [Errno 111] refused by the peer",
            "requests.exceptions.ConnectionError: the slots are full",
            "ConnectionError: ",
            "RateLimitError: Error code: 429",
            "ValueError: accounts A1 and A2 share a slot",
            // A client's, in words of its own.
            "RateLimitError: usage cap of your plan hit",
            "PermissionDeniedError: insufficient rights for project 4",
            "ThrottlingException: slot taken",
        ] {
            assert_eq!(hidden(said, &[]), None, "{said}");
        }
    }

    #[test]
    fn a_key_of_own_data_is_no_variable() {
        let key = |text: &str| {
            let failure = Failure {
                text: Some(text.to_owned()),
                ..Failure::default()
            };
            super::own_key(&failure).map(str::to_owned)
        };
        let own = "    return row[\"CUSTOMER_ID\"]\nKeyError: 'CUSTOMER_ID'\n";
        assert_eq!(key(own).as_deref(), Some("CUSTOMER_ID"));
        for other in [
            "    return os.environ[\"CUSTOMER_ID\"]\nKeyError: 'CUSTOMER_ID'\n",
            "    return settings['CUSTOMER_ID']\nKeyError: 'CUSTOMER_ID'\n",
            "    return cfg['CUSTOMER_ID']\nKeyError: 'CUSTOMER_ID'\n",
            "    return self.opts['CUSTOMER_ID']\nKeyError: 'CUSTOMER_ID'\n",
            "    return row['DEPOT_TOKEN']\nKeyError: 'DEPOT_TOKEN'\n",
            "KeyError: 'CUSTOMER_ID'\n",
            "    return row[\"price\"]\nKeyError: 'price'\n",
        ] {
            assert_eq!(key(other), None, "{other}");
        }
    }

    #[test]
    fn the_class_is_read_with_what_it_says() {
        let text = "** (Shop.ConnectionTimeoutError) lease of 11 s exceeds the contract";
        let first = raised(text).next().expect("there is one");
        assert_eq!(first.name, "ConnectionTimeoutError");
        assert_eq!(first.said, "lease of 11 s exceeds the contract");
        assert!(!first.is_bare && first.is_own());
    }
}
