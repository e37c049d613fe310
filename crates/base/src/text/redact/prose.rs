//! What is secret in a text that somebody wrote for people: an error message, a
//! line of a log, a message of a server.
//!
//! Nothing says there where a word begins to be a value, so that a name alone
//! is not enough: what stands behind it has to look like a secret as well. In
//! JSON the name of a member is enough ([`mask_json`]).

use super::address_keys::{A_PATH_KEY, A_WEBHOOK};
use super::keys::private_keys;
use super::names::{has_secret_form, is_common, is_password, looks_secret, may_be_secret};
use super::places::{AN_ARGUMENT, Found, SCHEMES, URL_PASSWORD, secrets_in_urls};
use crate::text::strip_ansi;
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of a name; what is longer is none.
const NAME: usize = 64;
/// Bytes of a value that are looked at; it goes on to its end where it is secret.
pub(super) const LOOKED_AT: usize = 256;
/// Between a sign and its value, at most.
const BLANKS: usize = 3;
/// Shorter values are words and counts.
pub(super) const SHORTEST: usize = 6;
/// From so many bytes on, letters and digits together are no word.
const MIXED: usize = 8;
/// From so many bytes on, small letters alone are no word of a language.
const NO_WORD: usize = 12;
const KEY: &str = "key";
/// Kinds of keys that open something.
const OPENING: [&str; 20] = [
    "access", "account", "admin", "api", "app", "auth", "client", "deploy", "encrypt", "licen",
    "master", "private", "secret", "service", "session", "signing", "ssh", "storage", "subscri",
    "webhook",
];
/// The name of what stands between the lines of a key file.
const A_PRIVATE_KEY: &str = "a private key";

/// What is secret in a text for people: behind names, in headers and URLs, or by
/// its own form; in order, none over another.
#[must_use]
pub fn secrets_in_prose(text: &str) -> Vec<Found<'_>> {
    secrets_in_word(text, 0)
}

/// What is secret in a text by its own form alone, whatever stands before it.
#[must_use]
pub fn secrets_by_form(text: &str) -> Vec<Found<'_>> {
    let prose = Prose { text, word: 0 };
    let mut found = Vec::new();
    prose.tokens(&mut found);
    // A reference may name what holds it, as `${vars.ghp_…}`.
    let mut at = 0;
    let is_border = |c: char| !(c.is_ascii_alphanumeric() || "_-+".contains(c));
    for piece in text.split_inclusive(is_border) {
        let token = piece.trim_end_matches(is_border);
        if has_secret_form(token) {
            prose.add(AN_ARGUMENT, at..at + token.len(), &mut found);
        }
        at += piece.len();
    }
    apart(found)
}

/// What is secret as in a text for people, in the word with this number of a command.
pub(super) fn secrets_in_word(text: &str, word: usize) -> Vec<Found<'_>> {
    apart(Prose { text, word }.find())
}

/// In order, none over another.
fn apart(mut found: Vec<Found<'_>>) -> Vec<Found<'_>> {
    found.sort_by_key(|one| (one.at.start, std::cmp::Reverse(one.at.end)));
    let mut end = 0;
    found.retain(|one| {
        let is_apart = one.at.start >= end;
        if is_apart {
            end = one.at.end;
        }
        is_apart
    });
    found
}

/// A text for people as it may be shown.
#[must_use]
pub fn show_text(text: &str) -> Cow<'_, str> {
    masked(text, &mut |name, _| name.to_owned()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Masks what [`show_text`] masks, where the text stands.
pub fn mask_text(text: &mut String) {
    if let Cow::Owned(shown) = show_text(text) {
        *text = shown;
    }
}

/// Masks in a sentence what it quotes of another text that is secret there by its name or
/// form, and what has such a form: a quote may be cut.
pub fn mask_quoted(sentence: &mut String, of: &str) {
    for one in secrets_in_prose(of) {
        if sentence.contains(one.value) {
            *sentence = sentence.replace(one.value, &mark(one.name));
        }
    }
    mask_forms(sentence);
}

/// Masks what is secret by its own form, whatever stands before it.
fn mask_forms(text: &mut String) {
    let prose = Prose { text, word: 0 };
    let mut found = secrets_in_urls(text, 0);
    found.retain(|one| [A_PATH_KEY, A_WEBHOOK, URL_PASSWORD].contains(&one.name));
    prose.keys(&mut found);
    prose.tokens(&mut found);
    let found = apart(found);
    if !found.is_empty() {
        *text = without(text, &found, &mut |name, _| name.to_owned());
    }
}

/// A text with a mark for each secret in it, if there is one. `named` gives the
/// name under which a value is shown.
pub(super) fn masked(text: &str, named: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    // A colour between a name and its value hides that they belong together.
    let plain = strip_ansi(text);
    let text = &*plain;
    let found = secrets_in_prose(text);
    if found.is_empty() {
        return None;
    }
    Some(without(text, &found, named))
}

pub(super) fn without(
    text: &str,
    found: &[Found<'_>],
    named: &mut dyn FnMut(&str, &str) -> String,
) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for one in found {
        shown.push_str(&text[from..one.at.start]);
        shown.push_str(&mark(&named(one.name, one.value)));
        from = one.at.end;
    }
    shown.push_str(&text[from..]);
    shown
}

pub(super) fn mark(name: &str) -> String {
    let named: String = name
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '[' | ']'))
        .take(NAME)
        .collect();
    format!("[secret {named}]")
}

/// Whether a name says that its value is secret. A key is more often that of an entry,
/// as in `issueKey`, unless its kind is told or it is written as variables are.
pub(super) fn is_named(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_variable = name.len() > KEY.len() && lower != name && name == name.to_ascii_uppercase();
    let is_key = lower.trim_end_matches('s').ends_with(KEY);
    looks_secret(name)
        && (!is_key || is_variable || OPENING.iter().any(|kind| lower.contains(kind)))
}

/// Whether a value can be looked for in other texts without hiding words that
/// are nobody's secret.
#[must_use]
pub fn is_telling(value: &str) -> bool {
    let is_word = value.len() < NO_WORD && value.bytes().all(|b| b.is_ascii_lowercase());
    value.len() >= SHORTEST && !is_common(value) && !is_word
}

/// A text without the scheme of an `Authorization` before it.
pub(super) fn without_scheme(text: &str) -> &str {
    match text.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) => rest.trim_start(),
        Some(_) | None => text,
    }
}

/// Whether what stands behind a colon is what somebody says of a secret and none itself:
/// an address, whose own secrets are found by themselves, or the class of an error.
fn is_told(value: &str) -> bool {
    let value = value.trim_end_matches([':', ',', '.', ';']);
    value.contains("://") || value.ends_with("Error") || value.ends_with("Exception")
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(word))
}

pub(super) struct Prose<'a> {
    pub(super) text: &'a str,
    word: usize,
}

impl<'a> Prose<'a> {
    fn find(&self) -> Vec<Found<'a>> {
        let mut found = secrets_in_urls(self.text, self.word);
        self.keys(&mut found);
        let bytes = self.text.as_bytes();
        let mut taken = 0;
        for at in memchr::memchr2_iter(b'=', b':', bytes) {
            // A sign in a value that is secret begins no other one.
            if at >= taken
                && let Some(end) = self.behind_sign(at, &mut found)
            {
                taken = end;
            }
        }
        for at in memchr::memchr_iter(b'-', bytes) {
            self.behind_flag(at, &mut found);
        }
        self.behind_schemes(&mut found);
        self.behind_verbs(&mut found);
        self.in_cookies(&mut found);
        self.of_curl(&mut found);
        self.in_queries(&mut found);
        self.in_elements(&mut found);
        // A name says more than that it looks like a secret.
        self.tokens(&mut found);
        found
    }

    /// Where a value ends of which no more than its begin was looked at.
    pub(super) fn whole(&self, value: &ProseValue) -> Range<usize> {
        let at = value.at.clone();
        if at.len() + NAME < LOOKED_AT {
            return at;
        }
        let rest = &self.text[at.end..];
        let end = match value.quote {
            Some(quote) => rest.find([quote, '\n', '\r']),
            None => rest.find(is_border),
        };
        at.start..at.end + end.unwrap_or(rest.len())
    }

    pub(super) fn add(&self, name: &'a str, at: Range<usize>, found: &mut Vec<Found<'a>>) {
        found.push(Found {
            name,
            value: &self.text[at.clone()],
            word: self.word,
            is_shell_word: false,
            at,
        });
    }

    /// Between the first and the last line of a key file.
    fn keys(&self, found: &mut Vec<Found<'a>>) {
        for key in private_keys(self.text) {
            self.add(A_PRIVATE_KEY, key, found);
        }
    }

    /// What is secret by its own form.
    fn tokens(&self, found: &mut Vec<Found<'a>>) {
        let mut begin = 0;
        let is_border = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"_-.+".contains(byte));
        let bytes = self.text.as_bytes();
        while begin < bytes.len() {
            let end = bytes[begin..].iter().position(is_border);
            let end = end.map_or(bytes.len(), |length| begin + length);
            // A sentence may end with it. A border may be of several bytes.
            let token = match begin < end {
                true => self.text[begin..end].trim_end_matches('.'),
                false => "",
            };
            if token.len() >= NO_WORD && has_secret_form(token) && may_be_secret(AN_ARGUMENT, token)
            {
                self.add(AN_ARGUMENT, begin..begin + token.len(), found);
            }
            begin = end + 1;
        }
    }

    /// `NAME=value`, `name: value`, `"name": "value"`, `name => value`. Where the
    /// value ends, if it is secret.
    fn behind_sign(&self, at: usize, found: &mut Vec<Found<'a>>) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let sign = bytes[at];
        let is = |place: Option<usize>, of: &[u8]| {
            place
                .and_then(|place| bytes.get(place))
                .is_some_and(|byte| of.contains(byte))
        };
        // A comparison, or a path of a language.
        if is(at.checked_sub(1), b"=:!<>~") || is(Some(at + 1), b"=:~") {
            return None;
        }
        let mut value_from = at + 1;
        if sign == b'=' && is(Some(at + 1), b">") {
            value_from += 1;
        }
        let before = self.text[..at].trim_end_matches(' ');
        if at - before.len() > BLANKS {
            return None;
        }
        // `environ["API_KEY"] = …`
        let indexed = before
            .strip_suffix(']')
            .filter(|inside| inside.ends_with(['"', '\'']));
        let quoted = indexed.unwrap_or(before);
        let unquoted = quoted.trim_end_matches(['"', '\'', '`']);
        let quoted_name = unquoted.len() < quoted.len();
        let unquoted = unquoted.trim_end_matches('\\');
        let name = name_before(unquoted);
        if name.is_empty() || !is_named(name) {
            return None;
        }
        let ahead = unquoted[..unquoted.len() - name.len()].trim_end();
        if ahead
            .get(ahead.len().saturating_sub(10)..)
            .is_some_and(|word| word.eq_ignore_ascii_case("unexpected"))
        {
            return None;
        }
        let spaced = is(Some(value_from), b" ") || before.len() < at;
        let assigned = sign == b'=' && !spaced;
        let value = self
            .value(value_from)
            .filter(|value| value.is_secret(name, quoted_name, assigned, self.text))?;
        let at = self.whole(&value);
        if !assigned && is_told(&self.text[at.clone()]) {
            return None;
        }
        let end = at.end;
        self.add(name, at, found);
        Some(end)
    }

    /// `--token value` in a line.
    fn behind_flag(&self, at: usize, found: &mut Vec<Found<'a>>) {
        let before = self.text[..at].chars().next_back();
        let begins = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | '[' | ',');
        if !before.is_none_or(begins) {
            return;
        }
        let rest = self.text[at..].trim_start_matches('-');
        let length = rest
            .bytes()
            .take(NAME + 1)
            .take_while(|b| is_name_byte(*b))
            .count();
        let name = &rest[..length];
        let from = self.text.len() - rest.len() + length;
        let behind = &self.text[from..];
        // `"--token", "…"` in a list.
        let listed = behind
            .strip_prefix(['"', '\''])
            .and_then(|rest| rest.trim_start_matches(' ').strip_prefix(','))
            .filter(|rest| rest.trim_start_matches(' ').starts_with(['"', '\'']))
            .map(|rest| self.text.len() - rest.len());
        let from = match behind.starts_with(' ') {
            true => Some(from),
            false => listed,
        };
        if length > 1
            && is_named(name)
            && let Some(from) = from
            && let Some(value) = self.value(from)
            && !value.text(self.text).starts_with('-')
            && value.is_secret(name, false, false, self.text)
        {
            self.add(name, self.whole(&value), found);
        }
    }

    /// `password is "value"`.
    fn behind_verbs(&self, found: &mut Vec<Found<'a>>) {
        const IS: &str = " is ";
        for (at, _) in self.text.match_indices(IS) {
            let name = name_before(&self.text[..at]);
            if is_named(name)
                && let Some(value) = self.value(at + IS.len() - 1)
                && (value.quote.is_some() || looks_random(value.text(self.text)))
                && value.is_secret(name, false, false, self.text)
            {
                self.add(name, self.whole(&value), found);
            }
        }
    }

    /// `<password>value</password>`.
    fn in_elements(&self, found: &mut Vec<Found<'a>>) {
        for at in memchr::memchr_iter(b'>', self.text.as_bytes()) {
            let before = &self.text[..at];
            let name = last_name(before);
            let opens = before[..before.len() - name.len()].ends_with('<');
            if !opens || !is_named(name) {
                continue;
            }
            let rest = window(&self.text[at + 1..]);
            let Some(length) = rest.find("</") else {
                continue;
            };
            let value = &rest[..length];
            let is_word = value.len() >= SHORTEST && !value.contains(char::is_whitespace);
            let tells = is_password(name) || looks_random(value);
            if is_word && tells && !value.contains('<') && may_be_secret(name, value) {
                self.add(name, at + 1..at + 1 + length, found);
            }
        }
    }

    /// `Bearer value` without a name before it.
    fn behind_schemes(&self, found: &mut Vec<Found<'a>>) {
        for scheme in ["earer ", "asic "] {
            for (at, _) in self.text.match_indices(scheme) {
                let first = at.checked_sub(1).map(|at| self.text.as_bytes()[at]);
                let word = at.checked_sub(2).map(|at| self.text.as_bytes()[at]);
                let is_word = first.is_some_and(|byte| b"Bb".contains(&byte))
                    && word.is_none_or(|byte| !byte.is_ascii_alphanumeric());
                if is_word
                    && let Some(value) = self.value(at + scheme.len())
                    && looks_random(value.text(self.text))
                    && may_be_secret("Authorization", value.text(self.text))
                {
                    self.add("Authorization", self.whole(&value), found);
                }
            }
        }
    }

    /// The value that begins behind these bytes.
    pub(super) fn value(&self, from: usize) -> Option<ProseValue> {
        let rest = &self.text[from..];
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        if blanks > BLANKS {
            return None;
        }
        let rest = &rest[blanks..];
        let escapes = rest.len() - rest.trim_start_matches('\\').len();
        let opened = &rest[escapes..];
        let quote = opened
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'));
        let (begin, length) = match quote {
            Some(quote) => {
                let inside = window(&opened[1..]);
                let end = inside.find([quote, '\n', '\r']).unwrap_or(inside.len());
                let end = inside[..end].trim_end_matches('\\').len();
                (from + blanks + escapes + 1, end)
            }
            None if escapes > 0 => return None,
            None => {
                let inside = window(rest);
                let end = inside.find(is_border).unwrap_or(inside.len());
                (from + blanks, end)
            }
        };
        let whole = &self.text[begin..begin + length];
        if quote.is_none() && is_scheme(whole) {
            let next = begin + length;
            let follows = self.text.as_bytes().get(next) == Some(&b' ');
            return match follows {
                true => self.value_behind_scheme(next),
                false => None,
            };
        }
        let (bare, begin) = match quote {
            Some(_) => {
                let bare = without_scheme(whole);
                (bare, begin + length - bare.len())
            }
            None => (whole.trim_end_matches(['.', ':']), begin),
        };
        (!bare.is_empty()).then(|| ProseValue {
            at: begin..begin + bare.len(),
            quote,
            behind_scheme: bare.len() < whole.len() && quote.is_some(),
        })
    }

    fn value_behind_scheme(&self, from: usize) -> Option<ProseValue> {
        let rest = self.text[from..].trim_start_matches(' ');
        // No more than one scheme.
        let word = rest.split(' ').next().unwrap_or_default();
        if is_scheme(word) {
            return None;
        }
        let value = self.value(self.text.len() - rest.len())?;
        Some(ProseValue {
            behind_scheme: true,
            ..value
        })
    }
}

/// What of a text is looked at for a value.
pub(super) fn window(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// Where a value without quotes ends.
fn is_border(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`,;<>()[]{}|&\\".contains(c)
}

pub(super) struct ProseValue {
    pub(super) at: Range<usize>,
    /// In which it stands.
    quote: Option<char>,
    behind_scheme: bool,
}

impl ProseValue {
    pub(super) fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.at.clone()]
    }

    /// Whether it is a secret under a name that says so; `assigned` as a shell
    /// does it, without blanks.
    pub(super) fn is_secret(
        &self,
        name: &str,
        quoted_name: bool,
        assigned: bool,
        text: &str,
    ) -> bool {
        let value = self.text(text);
        if !may_be_secret(name, value) {
            return false;
        }
        // `token = read(…)`, `key=keys[0]`: a program.
        let next = text[self.at.end..].chars().next();
        if self.quote.is_none() && matches!(next, Some('(' | '[')) {
            return false;
        }
        if looks_random(value) {
            return true;
        }
        let is_one_word = !value.contains(char::is_whitespace) || is_password(name);
        let is_plain = value.len() < SHORTEST || !is_one_word || is_common(value);
        !is_plain
            && match (self.quote.is_some(), quoted_name) {
                // A member of JSON.
                (true, true) => true,
                _ => {
                    let says_it = is_password(name) || self.behind_scheme;
                    let is_variable = !name.bytes().any(|byte| byte.is_ascii_lowercase());
                    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
                    (assigned && (says_it || is_variable))
                        || (says_it || self.quote.is_some()) && digits
                        || self.behind_scheme && value.len() >= NO_WORD
                }
            }
    }
}

/// Whether no language has such a word.
pub(super) fn looks_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_word = value.bytes().all(|byte| byte.is_ascii_graphic());
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    is_word
        && (value.len() >= MIXED && mixed
            || value.len() >= 24 && cases && !value.contains(['.', '_', '-', '/', ':']))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// The name that a text ends with; of a key with the word before it that says what it
/// opens, as in `API key`.
pub(super) fn name_before(text: &str) -> &str {
    let name = last_name(text);
    let ahead = &text[..text.len() - name.len()];
    let kind = last_name(ahead.trim_end_matches(' '));
    let lower = kind.to_ascii_lowercase();
    let is_key = name.to_ascii_lowercase().trim_end_matches('s') == KEY;
    let opens = is_key && ahead.ends_with(' ') && OPENING.iter().any(|word| lower.contains(word));
    match opens {
        true => &text[ahead.trim_end_matches(' ').len() - kind.len()..],
        false => name,
    }
}

/// The name that a text ends with.
fn last_name(text: &str) -> &str {
    let length = text
        .bytes()
        .rev()
        .take(NAME)
        .take_while(|b| is_name_byte(*b))
        .count();
    text[text.len() - length..].trim_start_matches(['-', '.'])
}

#[cfg(test)]
mod tests {
    use super::{mask_quoted, secrets_in_prose, show_text};
    use crate::text::redact::mask_json;
    use proptest::prelude::*;
    use serde_json::json;

    const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyzABCDEF0123";

    #[test]
    fn of_a_sentence_what_it_quotes_is_masked_and_no_word_of_its_own() {
        let said = "psycopg2.OperationalError: password=hunter2x9 is wrong";
        let mut sentence = format!("The database refuses user or password: {said} ({TOKEN})");
        mask_quoted(&mut sentence, said);
        assert_eq!(
            sentence,
            "The database refuses user or password: psycopg2.OperationalError: \
             password=[secret password] is wrong ([secret an argument])"
        );
    }

    #[test]
    fn an_address_or_an_error_behind_a_name_is_no_secret() {
        for text in [
            "Invalid token: https://auth.x.test:8443/keys1.json refused",
            "user or password: psycopg2.OperationalError: refused",
        ] {
            assert_eq!(show_text(text), text);
        }
        let named = "password: postgres://app:s3cr3tpw@db/x";
        assert!(!show_text(named).contains("s3cr3tpw"));
    }

    #[test]
    fn a_secret_in_what_a_server_says_is_masked_by_its_name_or_form() {
        const S: &str = "zzyyxx1234567890aa";
        for text in [
            "refused Authorization: Bearer S3",
            "headers: { Authorization: 'Bearer S3' }",
            "{Authorization=Bearer S3}",
            "curl -H \"Authorization: Bearer S3\" https://x",
            "user=bob Authorization: Bearer S3",
            "a=1 token=S3 b",
            "401: Bearer S3",
            "x-api-key: S3, y",
            "DB_PASSWORD=S3",
            "{\"api_key\": \"S3\", \"n\": 1}",
            "{\\\"api_key\\\":\\\"S3\\\"}",
            "api_key => \"S3\"",
            "exec srv --token S3 --port 80",
            "postgres://app:S3@h/x refused",
            "https://h/x?token=S3 401",
            "cookie: S3",
            "the password is \"S3\"",
            "its access token is S3, and it has expired",
            "<password>S3</password>",
            "<settings><apiKey>S3</apiKey></settings>",
            "API key: S3 is refused",
            "AWS secret access key: S3",
            "[\"npx\",\"--token\",\"S3\"]",
            "['srv', '--api-key', 'S3']",
            "os.environ['API_KEY'] = 'S3'",
            "config[\"password\"] = \"S3\"",
            "password: 'S3'",
            "Cookie: theme=dark; sid=S3; lang=de",
            "set-cookie: connect.sid=S3; Path=/; HttpOnly",
            "{\"Cookie\": \"PHPSESSID=S3\"}",
            "+ curl -sS -u deploy:S3 https://h/x",
            "curl -sSu deploy:S3 https://h/x",
            "$ curl --user=deploy:S3 https://h/x",
            "['curl', '-U', ':S3', 'https://h/x']",
            "curl --user 'deploy:S3' https://h/x",
            "redirect=https%3A%2F%2Fh%2Fx%3Fpassword%3DS3%26a%3D1",
            "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\nS3\nS3\nPrivate-MAC: 1",
            "throw new Error(\"401 for Authorization: Bearer S3\")",
            "-----BEGIN RSA PRIVATE KEY-----\nS3\nS3\n-----END RSA PRIVATE KEY-----",
        ] {
            let shown = show_text(&text.replace("S3", S)).into_owned();
            assert!(!shown.contains(S), "{shown}");
            assert!(shown.contains("[secret "), "{shown}");
            assert_eq!(show_text(&shown), shown, "it is masked once");
        }
        for (text, shown) in [
            (
                "\u{1b}[1mapi_key\u{1b}[0m: \u{1b}[31mq1w2e3r4t5\u{1b}[0m",
                "api_key: [secret api_key]",
            ),
            (
                "password=foo12345678 Authorization: Bearer zzyyxx1234567890aa!",
                "password=[secret password] Authorization: Bearer [secret Authorization]",
            ),
            (
                "bad token ghp_0123456789abcdefghij.",
                "bad token [secret an argument].",
            ),
            (
                "gsk_Zz0123456789 GOCSPX-a1b2c3d4e5f6",
                "[secret an argument] [secret an argument]",
            ),
            ("AKIAIOSFODNN7EXAMPLE denied", "[secret an argument] denied"),
            (
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jV expired",
                "[secret an argument] expired",
            ),
            (
                "token=zzyyxx1234567890aa api_key: q1w2e3r4t5 for https://u:pw9876@h/x, secret=aa11bb22cc",
                "token=[secret token] api_key: [secret api_key] for \
                 https://u:[secret the URL's password]@h/x, secret=[secret secret]",
            ),
            (
                "DB_PASSWORD=correcthorse",
                "DB_PASSWORD=[secret DB_PASSWORD]",
            ),
            (
                "wrong password: hunter2",
                "wrong password: [secret password]",
            ),
        ] {
            assert_eq!(show_text(text), shown);
        }
    }

    #[test]
    fn a_long_line_of_names_takes_no_longer_than_it_is() {
        let many = "{\"token\":\"the\",\"p\":1},".repeat(5_000);
        assert_eq!(show_text(&many), many);
        let row = "token=".repeat(20_000);
        assert_eq!(show_text(&row), row);
        let long = format!("token={} and more", "aB3-".repeat(5_000));
        assert_eq!(show_text(&long), "token=[secret token] and more");
        let quoted = format!("password: \"{}\", user", "aB3'-".repeat(500));
        assert_eq!(show_text(&quoted), "password: \"[secret password]\", user");
    }

    #[test]
    fn words_about_secrets_are_shown() {
        for text in [
            "SyntaxError: Unexpected token: abc12345",
            "Unexpected token '}', \"{\"a\": }\" is not valid JSON",
            "Error: token: expected a string",
            "missing required environment variable API_KEY: set it",
            "password: required",
            "invalid key: name1234",
            "issueKey: PROJ12345 projectKey=WEB2026X NoSuchKey: reports2026.csv",
            "token = get_token2(x)",
            "if token == value1234:",
            "api_key=self.keys[0]",
            "TypeError: f() got an unexpected keyword argument 'api_key'",
            "Argument of type '{ token: string; }' is not assignable",
            "max_tokens: 4096 input_tokens=123456789",
            "Token::Ident: x",
            "--token-file /run/t1234567 --no-auth x",
            "Bearer authentication is required",
            "The access token is expired, and the password is wrong",
            "<token>expired</token> <password></password> a<b>c",
            "Basic auth: none",
            "error: TOKEN is not set",
            "nextPageToken: abc12345678",
            "password=$PASSWORD token=${TOKEN} secret=<YOUR_SECRET>",
            "listening on http://127.0.0.1:3000/mcp",
            "[secret TOKEN] password=[secret PW]",
            "Cookie: theme=darkblue; lang=de-DE; author=shakespeare; side=leftmost",
            "cookies: sid is missing",
            "sudo -u postgres:postgres psql",
            "curl -u deploy https://h:8080/x",
            "apt install curl && chown -u root:staff1234 x",
            "libcurl: use -unix:socket1234",
            "curl -u deploy:${PASS} -u a:*** x",
            "The login cookie: remember=forever is gone",
            "Cookie: obsession=fishing; classid=biology; session=deleted",
            "Cookie 'sid=whatever' was not set",
            "state%3Dready%26token%3Dnone",
            "Private-Lines: none",
            "Tool npm_search_registy2 not found; hf_tokenizer_utils2 sk-data-folder-2024",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        ] {
            assert_eq!(show_text(text), text);
        }
    }

    #[test]
    fn in_json_the_name_of_a_member_is_enough() {
        let mut seen = Vec::new();
        let mut value = json!({
            "password": "abc", "pin": 7, "db_password": 1234,
            "headers": {"Authorization": "Bearer zzyyxx"},
            "dsn": "postgres://u:dbpass@h/d",
            "tokens": ["t-1", "t-2"],
            "key": "name", "token": null, "max_tokens": 5, "ok": {"token": "true"},
            "_meta": {"progressToken": "p-1"}, "nextToken": "page-2",
            "schema": {"properties": {"password": {"type": "string"}}},
            "client_secret": "open sesame 99", "secret": "see the vault",
            "cookie": "sid=cc55; theme=dark", "api_token": {"value": "q1"},
            "env": [{"name": "API_KEY", "value": "w2"}, {"name": "HOST", "value": "h3"}],
        });
        mask_json(&mut value, &mut |name, value| {
            seen.push(value.to_owned());
            name.to_owned()
        });
        assert_eq!(
            value,
            json!({
                "password": "[secret password]", "pin": 7,
                "db_password": "[secret db_password]",
                "headers": {"Authorization": "Bearer [secret Authorization]"},
                "dsn": "postgres://u:[secret the URL's password]@h/d",
                "tokens": ["[secret tokens]", "[secret tokens]"],
                "key": "name", "token": null, "max_tokens": 5, "ok": {"token": "true"},
                "_meta": {"progressToken": "p-1"}, "nextToken": "page-2",
                "schema": {"properties": {"password": {"type": "string"}}},
                "client_secret": "[secret client_secret]", "secret": "see the vault",
                "cookie": "[secret cookie]", "api_token": {"value": "[secret api_token]"},
                "env": [{"name": "API_KEY", "value": "[secret API_KEY]"}, {"name": "HOST", "value": "h3"}],
            })
        );
        let told = [
            "abc",
            "1234",
            "zzyyxx",
            "dbpass",
            "t-1",
            "t-2",
            "open sesame 99",
        ];
        assert_eq!(seen[..told.len()], told);
    }

    proptest! {
        #[test]
        fn whatever_a_text_is_only_what_is_found_is_masked(
            text in "((token|password|-----BEGIN PRIVATE KEY-----|api_key|é|Bearer|x1y2z3w4)|[=:;&?@/\"'\\\\ {}\\-\n]|://|\\PC){0,24}",
        ) {
            let found = secrets_in_prose(&text);
            let mut end = 0;
            for one in &found {
                prop_assert!(one.at.start >= end);
                prop_assert_eq!(&text[one.at.clone()], one.value);
                end = one.at.end;
            }
            prop_assert_eq!(show_text(&text) == text, found.is_empty());
        }
    }
}
