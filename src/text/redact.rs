//! Secrets never leave jelly: every text is redacted before it is kept.
//!
//! A secret is known by its value, and looked for in the forms in which it
//! travels: as it is, JSON-escaped (once and twice), URL-encoded,
//! HTML-escaped, in hexadecimal and in Base64 at each alignment.

use super::truncate;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// Encoded forms of shorter secrets would match by chance.
const MIN_ENCODED: usize = 4;
/// Lines of a secret with several lines (a PEM key) are secrets themselves
/// from this length on.
const MIN_LINE: usize = 8;

/// Replaces secrets by `[secret NAME]`. Cheap to clone.
///
/// All clones of one redactor know the same secrets, those that one of them
/// learns later included: a token that comes into being in mid-run is masked by
/// everybody who was given a clone before.
#[derive(Debug, Clone, Default)]
pub struct Redactor(Arc<RwLock<Option<Arc<Inner>>>>);

#[derive(Debug)]
struct Inner {
    /// Finds all forms, the longest where several begin. None would need
    /// secrets of gigabytes; then nothing is shown at all.
    finder: Option<AhoCorasick>,
    /// The forms with their replacement, in the finder's order: the longest
    /// first.
    forms: Vec<(Vec<u8>, String)>,
}

impl Redactor {
    /// Redacts these secrets, given as name and value. Empty values are
    /// nobody's secret.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(secrets: impl IntoIterator<Item = (N, V)>) -> Self {
        let redactor = Self::default();
        redactor.learn(secrets);
        redactor
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
        let mut forms = known.as_ref().map_or_else(Vec::new, |i| i.forms.clone());
        let mut seen: BTreeSet<Vec<u8>> = forms.iter().map(|(form, _)| form.clone()).collect();
        let before = forms.len();
        for (name, value) in secrets {
            for form in forms_of(value.as_ref()) {
                if seen.insert(form.clone()) {
                    forms.push((form, format!("[secret {}]", name.as_ref())));
                }
            }
        }
        if forms.len() > before {
            *known = Some(Arc::new(Inner::of(forms)));
        }
    }

    /// What is known now.
    fn known(&self) -> Option<Arc<Inner>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// `text` without secrets.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.known() {
            Some(inner) if inner.is_match(text.as_bytes()) => {
                let bytes = inner.replace(text.as_bytes());
                // Forms are whole characters, so the rest stays valid UTF-8.
                Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
            }
            Some(_) | None => Cow::Borrowed(text),
        }
    }

    /// The first `max` bytes of `text` without secrets, marked where more
    /// stood there. A secret does not survive by being cut in two, and what
    /// lies far beyond the cut costs nothing.
    #[must_use]
    pub fn cut(&self, text: &str, max: usize) -> String {
        let head = truncate(text, max.saturating_mul(64));
        truncate(&self.redact(&head), max).into_owned()
    }

    /// What may be shown in the place of a number that is a secret as a whole:
    /// servers answer one of digits so. Not in part, nor of fewer digits than
    /// tell, so that no count becomes a text by chance.
    #[must_use]
    pub fn number(&self, number: &Number) -> Option<String> {
        let digits = number.to_string();
        let known = self.known().filter(|_| digits.len() >= MIN_ENCODED)?;
        let found = known.finder.as_ref()?.find(&digits)?;
        (found.range() == (0..digits.len())).then(|| self.redact(&digits).into_owned())
    }

    /// Redacts every string of `value`, keys included, and numbers that are
    /// secrets.
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
                if let Some(redacted) = self.number(number) {
                    *value = Value::from(redacted);
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

impl Inner {
    fn of(mut forms: Vec<(Vec<u8>, String)>) -> Self {
        forms.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        // Made anew whenever a secret is learnt, so cheap to make.
        let finder = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(forms.iter().map(|(form, _)| form))
            .ok();
        Self { finder, forms }
    }

    fn is_match(&self, bytes: &[u8]) -> bool {
        match &self.finder {
            Some(finder) => finder.is_match(bytes),
            None => !bytes.is_empty(),
        }
    }

    fn replace(&self, bytes: &[u8]) -> Vec<u8> {
        let Some(finder) = &self.finder else {
            let all: &[u8] = if bytes.is_empty() { b"" } else { b"[secret]" };
            return all.to_vec();
        };
        let mut shown = Vec::with_capacity(bytes.len());
        finder.replace_all_with_bytes(bytes, &mut shown, |found, _, shown| {
            let (_, replacement) = &self.forms[found.pattern().as_usize()];
            shown.extend_from_slice(replacement.as_bytes());
            true
        });
        shown
    }

    /// How many bytes at the end of `bytes` may be the start of a secret.
    fn undecided(&self, bytes: &[u8]) -> usize {
        let longest = self.forms.first().map_or(0, |(form, _)| form.len());
        let hold = (1..longest.min(bytes.len() + 1))
            .rev()
            .find(|&n| {
                let end = &bytes[bytes.len() - n..];
                self.forms
                    .iter()
                    .any(|(form, _)| form.len() > n && form.starts_with(end))
            })
            .unwrap_or(0);
        let cut = bytes.len() - hold;
        // A secret that is whole already must not be cut in two by another's
        // beginning.
        let Some(finder) = &self.finder else {
            return hold;
        };
        finder
            .find_iter(bytes)
            .find(|found| found.start() < cut && cut < found.end())
            .map_or(hold, |found| bytes.len() - found.start())
    }
}

/// Redacts bytes that arrive in pieces; holds back what may be the beginning
/// of a secret until it is decided.
#[derive(Debug)]
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
        inner.replace(&ready)
    }

    /// The rest, when no more comes. What was held back is the beginning of
    /// a secret that never ended; it is shown, but for a beginning long
    /// enough to tell.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        match self.redactor.known() {
            Some(_) if held.len() >= MIN_LINE => b"[secret, cut off]".to_vec(),
            Some(inner) => inner.replace(&held),
            None => held,
        }
    }
}

/// An argv as it may be shown: values behind flags that look secret are
/// masked, and so are passwords in URLs.
#[must_use]
pub fn show_argv(argv: &[String]) -> Vec<String> {
    let mut shown = Vec::with_capacity(argv.len());
    let mut mask_next = false;
    for arg in argv {
        let is_flag = arg.starts_with('-');
        if std::mem::take(&mut mask_next) && !is_flag {
            shown.push("[secret]".to_owned());
            continue;
        }
        match arg.split_once('=') {
            Some((name, _)) if looks_secret(name) && (is_flag || is_env_name(name)) => {
                shown.push(format!("{name}=[secret]"));
            }
            Some(_) | None => {
                mask_next = is_flag && !arg.contains('=') && looks_secret(arg);
                shown.push(mask_url_password(arg));
            }
        }
    }
    shown
}

fn is_env_name(name: &str) -> bool {
    name.bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a flag's or variable's name says that its value is a secret.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let words: Vec<&str> = name.split('-').collect();
    words.iter().any(|word| {
        matches!(
            *word,
            "token" | "secret" | "password" | "passwd" | "apikey" | "credential" | "credentials"
        )
    }) || ["api-key", "access-key", "private-key", "auth-key"]
        .iter()
        .any(|pair| name.contains(pair))
}

/// `scheme://user:password@host` with the password masked.
fn mask_url_password(arg: &str) -> String {
    let masked = arg.split_once("://").and_then(|(scheme, rest)| {
        let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let at = rest[..authority].rfind('@')?;
        let colon = rest[..at].find(':')?;
        Some(format!(
            "{scheme}://{}:[secret]{}",
            &rest[..colon],
            &rest[at..]
        ))
    });
    masked.unwrap_or_else(|| arg.to_owned())
}

/// All forms in which `value` may travel.
fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<String> = Vec::new();
    if value.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![value];
    let trimmed = value.trim();
    if trimmed != value && !trimmed.is_empty() {
        parts.push(trimmed);
    }
    parts.extend(
        value
            .lines()
            .map(str::trim)
            .filter(|line| line.len() >= MIN_LINE && *line != value),
    );
    for part in parts {
        forms.push(part.to_owned());
        if part.len() < MIN_ENCODED {
            continue;
        }
        let json = json_escaped(part);
        let ascii = json_ascii(part);
        for form in [json, ascii] {
            forms.push(form.replace('/', "\\/"));
            forms.push(json_escaped(&form));
            forms.push(form);
        }
        for keep in ["-_.~", "-_.!~*'()", "-_.*", "-_.~/"] {
            let upper = url_encoded(part, keep);
            for form in [lower_escapes(&upper), upper] {
                forms.push(form.replace("%20", "+"));
                forms.push(form);
            }
        }
        forms.push(html_escaped(part));
        for quote in ['\'', '"', '`'] {
            forms.push(quoted_within(part, quote));
        }
        let hex: String = part.bytes().map(|b| format!("{b:02x}")).collect();
        forms.push(hex.to_ascii_uppercase());
        forms.push(hex);
        for alignment in 0..3 {
            let base64 = base64_within(part.as_bytes(), alignment);
            if base64.len() >= MIN_ENCODED {
                forms.push(base64.replace('+', "-").replace('/', "_"));
                // JSON may escape the slash.
                forms.push(base64.replace('/', "\\/"));
                forms.push(base64);
            }
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// As Python, JavaScript, Ruby and others show a text within these quotes.
fn quoted_within(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn json_escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As Python writes JSON: everything beyond ASCII as `\uXXXX`.
fn json_ascii(text: &str) -> String {
    let mut out = String::new();
    for c in json_escaped(text).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn url_encoded(text: &str, keep: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || keep.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The same with lower-case hexadecimal escapes.
fn lower_escapes(encoded: &str) -> String {
    let mut out = String::new();
    let mut in_escape = 0;
    for c in encoded.chars() {
        if c == '%' {
            in_escape = 2;
            out.push(c);
        } else if in_escape > 0 {
            in_escape -= 1;
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The characters of a Base64 text that are decided by `bytes` alone, when
/// they begin `alignment` bytes after a group of three.
fn base64_within(bytes: &[u8], alignment: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |n: usize| (bytes[n / 8] >> (7 - n % 8)) & 1;
    let first = (alignment * 8).div_ceil(6) * 6 - alignment * 8;
    (first..)
        .step_by(6)
        .take_while(|start| start + 6 <= bytes.len() * 8)
        .map(|start| {
            let index = (start..start + 6).fold(0u8, |index, n| index << 1 | bit(n));
            char::from(ALPHABET[usize::from(index)])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Inner, Redactor, base64_within, show_argv};
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
    fn a_number_is_masked_where_it_is_a_secret_as_a_whole() {
        let r = Redactor::new([("PIN", "83712345"), ("ONE", "7")]);
        let mut value = json!({"pin": 83712345, "more": 837123456, "n": [7, -83712345, 1.5]});
        r.redact_json(&mut value);
        assert_eq!(
            value,
            json!({"pin": "[secret PIN]", "more": 837123456, "n": [7, -83712345, 1.5]})
        );
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
    fn where_nothing_can_be_found_nothing_is_shown() {
        let blind = Inner {
            finder: None,
            forms: Vec::new(),
        };
        assert!(blind.is_match(b"a"));
        assert_eq!(blind.replace(b"a\n\xffb"), b"[secret]");
        assert_eq!(blind.replace(b""), b"");
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
    fn shown_argv_hides_what_looks_secret() {
        let argv = [
            "srv",
            "--token",
            "abc",
            "--api-key=xyz",
            "--max-tokens",
            "5",
            "--port",
            "80",
            "postgres://app:pw@db/shop",
            "API_TOKEN=1",
        ]
        .map(String::from);
        assert_eq!(
            show_argv(&argv),
            [
                "srv",
                "--token",
                "[secret]",
                "--api-key=[secret]",
                "--max-tokens",
                "5",
                "--port",
                "80",
                "postgres://app:[secret]@db/shop",
                "API_TOKEN=[secret]",
            ]
        );
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
