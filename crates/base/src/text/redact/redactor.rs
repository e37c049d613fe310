//! What is known to be secret, and is masked wherever it stands.
//!
//! A secret is known by its value, and looked for in the forms in which it
//! travels: as it is, in hexadecimal, in Base64 at each alignment, quoted for
//! a shell; in every reading of a text, without what is stripped from it and
//! with the escapes of JSON, URLs, HTML and languages undone; from
//! [`MIN_ANY_CASE`] bytes on whatever the case.

use super::forms::{MIN_LINE, forms_of};
use super::views::{ESCAPE, ViewKind, may_go_on, views};
use crate::text::truncate;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// Digits of a number that can be a secret by itself; shorter ones are counts.
const MIN_DIGITS: usize = 4;
/// Forms of fewer bytes are words in another case.
const MIN_ANY_CASE: usize = 8;
/// Bytes of a text that are read in other ways at a time.
const CHUNK: usize = 256 * 1024;

/// Replaces secrets by `[secret NAME]`. Cheap to clone.
///
/// All clones of one redactor know the same secrets, those that one of them
/// learns later included: a token that comes into being in mid-run is masked by
/// everybody who was given a clone before.
#[derive(Debug, Clone, Default)]
pub struct Redactor(Arc<RwLock<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Shorter ones are not learnt.
    min: usize,
    /// What was learnt, so that it costs nothing to be told it again.
    values: HashSet<String>,
    /// Each form with its replacement. Who came first gives the name.
    forms: BTreeMap<Arc<[u8]>, Arc<str>>,
    /// What finds the forms; absent where some were learnt since it was made,
    /// so that many are learnt at the price of one.
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    exact: FormFinder,
    any_case: FormFinder,
    /// Bytes of the longest form.
    longest: usize,
}

/// Finds forms, the longest where several begin.
#[derive(Debug)]
struct FormFinder {
    /// None would need secrets of gigabytes; then nothing is shown at all.
    automaton: Option<AhoCorasick>,
    /// The forms with their replacement, in the automaton's order, which is
    /// that of their bytes.
    forms: Vec<(Arc<[u8]>, Arc<str>)>,
}

/// A place to be masked, and by what.
type Masked<'m> = (Range<usize>, &'m Arc<str>);

impl Redactor {
    /// Redacts these secrets, given as name and value. Empty values are
    /// nobody's secret.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(secrets: impl IntoIterator<Item = (N, V)>) -> Self {
        let redactor = Self::default();
        redactor.learn(secrets);
        redactor
    }

    /// A redactor that knows no secret, and learns none of fewer bytes: they
    /// stand in words that are nobody's secret.
    #[must_use]
    pub fn of_at_least(min: usize) -> Self {
        Self(Arc::new(RwLock::new(Known {
            min,
            ..Known::default()
        })))
    }

    /// A redactor that knows no secret.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Redacts these secrets from now on too. Whoever makes or is given a
    /// secret calls this before anything of it can be shown.
    pub fn learn<N: AsRef<str>, V: AsRef<str>>(&self, secrets: impl IntoIterator<Item = (N, V)>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (name, value) in secrets {
            known.learn(name.as_ref(), value.as_ref());
        }
    }

    /// What finds all that is known now; nothing where that is nothing.
    fn known(&self) -> Option<Arc<Inner>> {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if known.inner.is_some() || known.forms.is_empty() {
                return known.inner.clone();
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Known { forms, inner, .. } = &mut *known;
        let inner = inner.get_or_insert_with(|| Arc::new(Inner::of(forms)));
        Some(Arc::clone(inner))
    }

    /// `text` without secrets.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // Forms are whole characters, so the rest stays valid UTF-8.
        let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        self.known()
            .and_then(|inner| inner.replaced(text.as_bytes()))
            .map_or(Cow::Borrowed(text), |bytes| Cow::Owned(lossy(bytes)))
    }

    /// Where secrets stand in a text, in their order; none overlaps another.
    #[must_use]
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let Some(inner) = self.known() else {
            return Vec::new();
        };
        let masked = inner.masked(text.as_bytes()).into_iter();
        masked.map(|(range, _)| range).collect()
    }

    /// The first `max` bytes of `text` without secrets, marked where more
    /// stood there. A secret does not survive by being cut in two, and what
    /// lies far beyond the cut costs nothing.
    #[must_use]
    pub fn cut(&self, text: &str, max: usize) -> String {
        let head = truncate(text, max.saturating_mul(64));
        truncate(&self.redact(&head), max).into_owned()
    }

    /// What stands in place of a number that is a secret as a whole. One that
    /// holds a secret by chance stays the number that it is.
    #[must_use]
    pub fn number(&self, number: &Number) -> Option<String> {
        let inner = self.known()?;
        let text = number.to_string();
        if text.len() < MIN_DIGITS {
            return None;
        }
        inner.whole(&text)
    }

    /// Redacts every string of `value`, keys included, and the numbers that
    /// are secrets.
    pub fn redact_json(&self, value: &mut Value) {
        if self.known().is_none() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(map) => {
                if map
                    .keys()
                    .any(|key| matches!(self.redact(key), Cow::Owned(_)))
                {
                    *map = std::mem::take(map)
                        .into_iter()
                        .map(|(key, value)| (self.redact(&key).into_owned(), value))
                        .collect();
                }
                map.values_mut().for_each(|value| self.redact_json(value));
            }
            Value::Number(number) => {
                if let Some(mark) = self.number(number) {
                    *value = Value::String(mark);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// For bytes that arrive in pieces.
    #[must_use]
    pub fn stream(&self) -> StreamRedactor {
        StreamRedactor {
            redactor: self.clone(),
            held: Vec::new(),
        }
    }
}

impl Known {
    fn learn(&mut self, name: &str, value: &str) {
        if value.is_empty() || value.len() < self.min || self.values.contains(value) {
            return;
        }
        self.values.insert(value.to_owned());
        let mark: Arc<str> = format!("[secret {name}]").into();
        for form in forms_of(value) {
            self.forms
                .entry(form.into())
                .or_insert_with(|| Arc::clone(&mark));
        }
        self.inner = None;
    }
}

impl FormFinder {
    fn new(forms: Vec<(Arc<[u8]>, Arc<str>)>, any_case: bool) -> Self {
        // Made anew after secrets were learnt, so cheap to make.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(any_case)
            .build(forms.iter().map(|(form, _)| form))
            .ok();
        Self { automaton, forms }
    }

    /// Whether one of the forms begins so, and goes on.
    fn begins(&self, start: &[u8]) -> bool {
        let from = self.forms.partition_point(|(form, _)| **form <= *start);
        self.forms
            .get(from)
            .is_some_and(|(form, _)| form.starts_with(start))
    }

    fn find<'f>(&'f self, bytes: &[u8], found: &mut impl FnMut(Range<usize>, &'f Arc<str>)) {
        for hit in self
            .automaton
            .iter()
            .flat_map(|finder| finder.find_iter(bytes))
        {
            found(hit.range(), &self.forms[hit.pattern().as_usize()].1);
        }
    }
}

impl Inner {
    fn of(forms: &BTreeMap<Arc<[u8]>, Arc<str>>) -> Self {
        let (long, short): (Vec<_>, Vec<_>) = forms
            .clone()
            .into_iter()
            .partition(|(form, _)| form.len() >= MIN_ANY_CASE);
        let mut long: Vec<(Arc<[u8]>, Arc<str>)> = long
            .into_iter()
            .map(|(form, mark)| (form.to_ascii_lowercase().into(), mark))
            .collect();
        long.sort();
        Self {
            exact: FormFinder::new(short, false),
            any_case: FormFinder::new(long, true),
            longest: forms.keys().map(|form| form.len()).max().unwrap_or(0),
        }
    }

    /// The mark for a text that is one form, as a whole.
    fn whole(&self, text: &str) -> Option<String> {
        let masked = self.masked(text.as_bytes());
        match masked.as_slice() {
            [(range, mark)] if *range == (0..text.len()) => Some(mark.to_string()),
            _ => None,
        }
    }

    /// Whether the secrets are more than can be looked for.
    fn is_blind(&self) -> bool {
        self.exact.automaton.is_none() || self.any_case.automaton.is_none()
    }

    /// The places of all forms in all readings of a text, in their order, none
    /// of which overlap.
    fn masked(&self, bytes: &[u8]) -> Vec<Masked<'_>> {
        let mut all: Vec<Masked<'_>> = Vec::new();
        let mut found = |range, mark| all.push((range, mark));
        self.exact.find(bytes, &mut found);
        self.any_case.find(bytes, &mut found);
        let overlap = self.longest.saturating_mul(ESCAPE).min(CHUNK / 2);
        let mut begin = 0;
        while begin < bytes.len() {
            let end = bytes.len().min(begin + CHUNK);
            for view in views(&bytes[begin..end]) {
                let mut found = |range, mark| {
                    let Range { start, end } = view.origin(range);
                    all.push((begin + start..begin + end, mark));
                };
                if view.kind == ViewKind::Strict {
                    self.exact.find(&view.bytes, &mut found);
                }
                self.any_case.find(&view.bytes, &mut found);
            }
            if end == bytes.len() {
                break;
            }
            begin = end - overlap;
        }
        all.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut apart: Vec<Masked<'_>> = Vec::new();
        for (range, mark) in all {
            match apart.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                Some(_) | None => apart.push((range, mark)),
            }
        }
        apart
    }

    /// `bytes` without secrets; `None` where there are none in it.
    fn replaced(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.is_blind() {
            return (!bytes.is_empty()).then(|| b"[secret]".to_vec());
        }
        let masked = self.masked(bytes);
        if masked.is_empty() {
            return None;
        }
        let mut shown = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for (range, mark) in masked {
            shown.extend_from_slice(&bytes[from..range.start]);
            shown.extend_from_slice(mark.as_bytes());
            from = range.end;
        }
        shown.extend_from_slice(&bytes[from..]);
        Some(shown)
    }

    /// How many bytes at the end may be the start of a form.
    fn begun(&self, bytes: &[u8]) -> usize {
        let lower = bytes.to_ascii_lowercase();
        (1..self.longest.min(bytes.len() + 1))
            .rev()
            .find(|n| {
                let at = bytes.len() - n;
                self.exact.begins(&bytes[at..]) || self.any_case.begins(&lower[at..])
            })
            .unwrap_or(0)
    }

    /// Where at the end of `bytes` may stand the start of a form, in any
    /// reading. What may `follow` can bring an escape or a character to its
    /// end that may hide anything, so it is also looked at what stands before.
    fn open_end(&self, bytes: &[u8], follows: bool) -> usize {
        let near = self.longest.saturating_mul(ESCAPE).saturating_add(ESCAPE);
        let from = bytes.len().saturating_sub(near);
        let recent = &bytes[from..];
        let mut begin = recent.len();
        let mut look = |read: &[u8], origin: &dyn Fn(Range<usize>) -> Range<usize>| {
            let unfinished = read.len().saturating_sub(ESCAPE)..read.len();
            let ends = unfinished.filter(|at| follows && may_go_on(&read[*at..]));
            for end in ends.chain([read.len()]) {
                let at = end - self.begun(&read[..end]);
                if at < read.len() {
                    begin = begin.min(origin(at..at + 1).start);
                }
            }
        };
        look(recent, &|range| range);
        for view in views(recent) {
            let counts = match view.kind {
                ViewKind::Strict => true,
                // What may have stood apart is a beginning only where more comes.
                ViewKind::Joined => follows,
                // Their bytes begin anything by chance.
                ViewKind::Decoded => false,
            };
            if counts {
                look(&view.bytes, &|range| view.origin(range));
            }
        }
        from + begin
    }

    /// How many bytes at the end of `bytes` may be the start of a secret.
    fn undecided(&self, bytes: &[u8]) -> usize {
        let cut = self.open_end(bytes, true);
        // A secret that is whole already must not be cut in two by another's
        // beginning.
        let masked = self.masked(bytes);
        let crossing = masked
            .iter()
            .find(|(range, _)| range.start < cut && cut < range.end);
        bytes.len() - crossing.map_or(cut, |(range, _)| range.start)
    }
}

/// Redacts bytes that arrive in pieces; holds back what may be the beginning
/// of a secret until it is decided.
#[derive(Debug, Clone)]
pub struct StreamRedactor {
    redactor: Redactor,
    held: Vec<u8>,
}

impl StreamRedactor {
    /// What can be shown after `bytes` came.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(inner) = self.redactor.known() else {
            return bytes.to_vec();
        };
        self.held.extend_from_slice(bytes);
        let hold = inner.undecided(&self.held);
        let rest = self.held.split_off(self.held.len() - hold);
        let ready = std::mem::replace(&mut self.held, rest);
        inner.replaced(&ready).unwrap_or(ready)
    }

    /// What is held back of a line that has ended, as it would be shown if no more came;
    /// nothing of one that goes on.
    #[must_use]
    pub fn pending(&self) -> Vec<u8> {
        match self.held.last() {
            Some(b'\n') => self.clone().finish(),
            Some(_) | None => Vec::new(),
        }
    }

    /// The rest, when no more comes. What was held back is the beginning of
    /// a secret that never ended; it is shown, but for a beginning long
    /// enough to tell.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut held = std::mem::take(&mut self.held);
        let Some(inner) = self.redactor.known() else {
            return held;
        };
        // What follows the last secret.
        let rest = inner.masked(&held).last().map_or(0, |(range, _)| range.end);
        let begun = held.split_off(rest + inner.open_end(&held[rest..], false));
        let mut shown = inner.replaced(&held).unwrap_or(held);
        match begun.len() >= MIN_LINE {
            true => shown.extend_from_slice(b"[secret, cut off]"),
            false => shown.extend(begun),
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::super::forms::base64_within;
    use super::{FormFinder, Inner, Redactor};
    use proptest::prelude::*;
    use serde_json::json;

    const SECRET: &str = "s3cr\"et/pä ss+word";

    fn redactor() -> Redactor {
        Redactor::new([("KEY", SECRET)])
    }

    fn base64(bytes: &[u8]) -> String {
        // With whole groups of three, every character is decided.
        base64_within(bytes, 0)
    }

    #[test]
    fn every_form_a_secret_travels_in_is_masked() {
        let r = redactor();
        let json = serde_json::to_string(SECRET).unwrap();
        let nested = serde_json::to_string(&json).unwrap();
        let wrapped = format!("user:{SECRET}!!");
        let padded = &wrapped.as_bytes()[..wrapped.len() / 3 * 3];
        for (form, leak) in [
            (SECRET.to_owned(), "s3cr"),
            (json.clone(), "s3cr"),
            (nested, "s3cr"),
            ("s3cr\\\"et/p\\u00e4 ss+word".to_owned(), "s3cr"),
            ("s3cr%22et%2Fp%C3%A4%20ss%2Bword".to_owned(), "s3cr"),
            ("s3cr%22et%2fp%c3%a4+ss%2bword".to_owned(), "s3cr"),
            ("s3cr&quot;et/pä ss+word".to_owned(), "s3cr"),
            (base64(padded), "czNjci"),
        ] {
            let text = format!("before {form} after");
            let shown = r.redact(&text);
            assert!(shown.contains("[secret KEY]"), "{form} → {shown}");
            assert!(!shown.contains(leak), "{form} → {shown}");
            assert!(shown.starts_with("before ") && shown.ends_with(" after"));
        }
    }

    #[test]
    fn a_secret_is_masked_whatever_is_stripped_or_undone_later() {
        let secret = "sk-A1b2&C3'd4\"e5/f6+G7";
        let r = Redactor::new([("KEY", secret)]);
        let between = |mark: &str| {
            let parts: Vec<String> = secret.chars().map(String::from).collect();
            parts.join(mark)
        };
        let hex = |between: &str| {
            let digits: Vec<String> = secret.bytes().map(|b| format!("{b:02X}")).collect();
            digits.join(between)
        };
        let mut forms = vec![
            secret.to_lowercase(),
            secret.to_uppercase(),
            "sk-A1b2&amp;C3&#x27;d4&#34;e5&#47;f6&plus;G7".to_owned(),
            "sk-A1b2&C3&apos;d4&quot;e5/f6+G7".to_owned(),
            r#"sk-A1b2\u0026C3\u0027d4\u0022e5\/f6\u002bG7"#.to_owned(),
            r#"sk-A1b2\\u0026C3'd4\\\"e5/f6+G7"#.to_owned(),
            "sk-A1b2%26C3%27d4%22e5%2Ff6%2BG7".to_owned(),
            "sk-A1b2%2526C3%2527d4%2522e5%252Ff6%252BG7".to_owned(),
            r#"'sk-A1b2&C3'\''d4"e5/f6+G7'"#.to_owned(),
            r#"sk-A1b2\&C3\'d4\"e5/f6+G7"#.to_owned(),
            secret
                .chars()
                .map(|c| format!("\\u{:04X}", c as u32))
                .collect(),
            hex(":"),
            hex(" "),
        ];
        for mark in [
            "\x1b[31m",
            "\x1b[0;1m",
            "\x1b]8;;http://x\x1b\\",
            "\x1b(B",
            "\r",
            "\x08",
            "\x7f",
            "\0",
            "\x01",
            "\u{200b}",
            "\u{202e}",
            "\u{2066}",
            "\u{feff}",
            "\u{85}",
            "\u{ad}",
            "#x1B[31m",
            "\\u001b[31m",
            "\u{9b}31m",
        ] {
            forms.push(between(mark));
        }
        for form in forms {
            let text = format!("before {form} after");
            let shown = r.redact(&text);
            assert!(shown.contains("[secret KEY]"), "{form:?} → {shown:?}");
            assert!(!shown.contains("A1"), "{form:?} → {shown:?}");
            assert!(!shown.contains("G7"), "{form:?} → {shown:?}");
            for size in [1, 2, 3, 7] {
                let mut stream = r.stream();
                let mut out = Vec::new();
                for piece in text.as_bytes().chunks(size) {
                    out.extend(stream.push(piece));
                }
                out.extend(stream.finish());
                assert_eq!(String::from_utf8_lossy(&out), shown, "{form:?} by {size}");
            }
        }
    }

    #[test]
    fn short_secrets_are_other_words_in_another_case() {
        let r = Redactor::new([("KEY", "passed")]);
        assert_eq!(r.redact("passed Passed"), "[secret KEY] Passed");
    }

    #[test]
    fn a_secret_far_into_a_long_text_is_masked_in_any_reading() {
        let r = Redactor::new([("KEY", "swordfish-1")]);
        for at in [super::CHUNK - 5, super::CHUNK, 3 * super::CHUNK - 60] {
            let text = format!("{}sword\x1b[1mfish%2d1%", "x".repeat(at));
            let shown = r.redact(&text);
            assert!(shown.ends_with("x[secret KEY]%"), "{at}");
            assert_eq!(shown.len(), at + "[secret KEY]%".len());
        }
    }

    #[test]
    fn a_secret_is_masked_however_a_language_quotes_it() {
        let r = Redactor::new([("KEY", "pa\"ss\\wo'rd")]);
        for shown in [
            r#"'pa"ss\\wo\'rd'"#,
            r#""pa\"ss\\wo'rd""#,
            r#"`pa"ss\\wo'rd`"#,
        ] {
            let masked = r.redact(shown);
            assert!(masked.contains("[secret KEY]"), "{shown} → {masked}");
            assert_eq!(masked.len(), "'[secret KEY]'".len());
        }
    }

    #[test]
    fn text_without_secrets_is_left_alone() {
        assert_eq!(redactor().redact("nothing here"), "nothing here");
        assert_eq!(Redactor::none().redact(SECRET), SECRET);
        assert_eq!(Redactor::new([("EMPTY", "")]).redact("text"), "text");
    }

    #[test]
    fn what_is_learnt_later_is_masked_by_clones_of_before() {
        let first = Redactor::none();
        let clone = first.clone();
        let mut stream = clone.stream();
        assert_eq!(stream.push(b"later-s"), b"later-s");
        first.learn([("TOKEN", "later-secret")]);
        first.learn([("OTHER", "another-one")]);
        assert_eq!(clone.redact("a later-secret b"), "a [secret TOKEN] b");
        assert_eq!(clone.redact("an another-one"), "an [secret OTHER]");
        let mut shown = stream.push(b"|later-sec");
        shown.extend(stream.push(b"ret|"));
        assert_eq!(shown, b"|[secret TOKEN]|");
    }

    #[test]
    fn json_values_and_keys_are_redacted() {
        let mut value = json!({"a": [SECRET, 1], SECRET: true});
        redactor().redact_json(&mut value);
        assert_eq!(
            value,
            json!({"a": ["[secret KEY]", 1], "[secret KEY]": true})
        );
    }

    #[test]
    fn short_secrets_are_left_alone_where_they_would_hide_words() {
        let r = Redactor::of_at_least(4);
        r.learn([("PIN", "x"), ("KEY", "xtext")]);
        assert_eq!(r.redact("get_text of xtext"), "get_text of [secret KEY]");
    }

    #[test]
    fn where_nothing_can_be_found_nothing_is_shown() {
        let blind = || FormFinder {
            automaton: None,
            forms: Vec::new(),
        };
        let blind = Inner {
            exact: blind(),
            any_case: blind(),
            longest: 0,
        };
        assert_eq!(blind.replaced(b"a\n\xffb").unwrap(), b"[secret]");
        assert_eq!(blind.replaced(b""), None);
    }

    #[test]
    fn of_two_secrets_the_longer_is_named() {
        let r = Redactor::new([
            ("SHORT", "token"),
            ("LONG", "token-and-more"),
            ("IN", "ken"),
        ]);
        assert_eq!(r.redact("token-and-more"), "[secret LONG]");
        assert_eq!(r.redact("token-and-less"), "[secret SHORT]-and-less");
        assert_eq!(r.redact("broken"), "bro[secret IN]");
    }

    #[test]
    fn what_is_learnt_is_sought_for_by_one_finder() {
        let r = Redactor::none();
        for n in 0..50 {
            r.learn([(format!("K{n}"), format!("secret-{n:02}"))]);
            r.learn([("AGAIN", "secret-00")]);
            assert!(r.0.read().unwrap().inner.is_none(), "made too early");
        }
        assert_eq!(r.redact("secret-49 secret-00"), "[secret K49] [secret K0]");
        let first = r.known().unwrap();
        r.learn([("AGAIN", "secret-07")]);
        r.learn(std::iter::empty::<(&str, &str)>());
        assert!(std::sync::Arc::ptr_eq(&first, &r.known().unwrap()));
    }

    #[test]
    fn a_number_is_masked_where_it_is_a_secret_as_a_whole() {
        let r = Redactor::new([("PIN", "83712345"), ("SHORT", "7")]);
        let mut value = json!({"pin": 83_712_345, "n": 1_837_123_450, "list": [7, 77, 8.5]});
        r.redact_json(&mut value);
        let shown = json!({"pin": "[secret PIN]", "n": 1_837_123_450, "list": [7, 77, 8.5]});
        assert_eq!(value, shown);
    }

    proptest! {
        #[test]
        fn a_secret_split_over_any_reads_never_shows(
            secret in "[a-c]{4,9}",
            before in "[a-d]{0,12}",
            after in "[a-d]{0,12}",
            cuts in proptest::collection::vec(1usize..5, 0..12),
        ) {
            let r = Redactor::new([("K", &secret)]);
            let text = format!("{before}{secret}{after}");
            let mut stream = r.stream();
            let mut out = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                out.extend(stream.push(now));
                rest = later;
            }
            out.extend(stream.push(rest));
            out.extend(stream.finish());
            let shown = String::from_utf8(out).unwrap();
            prop_assert!(!shown.contains(&secret), "{shown}");
        }

        #[test]
        fn base64_at_any_offset_is_masked(
            secret in "[a-zA-Z0-9]{8,24}", before in "[ -~]{0,7}", after in "[ -~]{0,7}",
        ) {
            let mut bytes = format!("{before}{secret}{after}").into_bytes();
            while bytes.len() % 3 != 0 {
                bytes.push(b'.');
            }
            let encoded = base64(&bytes);
            let shown = Redactor::new([("K", &secret)]).redact(&encoded).into_owned();
            prop_assert!(shown.contains("[secret K]"), "{encoded} → {shown}");
        }
    }
}
