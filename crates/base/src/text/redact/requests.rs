//! What is secret in how people write requests: cookies, curl's words, and
//! parameters within a parameter.

use super::names::may_be_secret;
use super::places::Found;
use super::prose::{LOOKED_AT, Prose, SHORTEST, is_named, looks_random, name_before, window};
use std::ops::Range;

/// The name of what follows the user in `curl -u`.
pub(super) const USER: &str = "user";
/// How the names of cookies end that open a session.
const OF_SESSION: [&str; 9] = [
    "session",
    "sessionid",
    "sessid",
    "sess",
    "csrf",
    "xsrf",
    "jwt",
    "remember",
    "remember_me",
];
/// Words with a digit in them are none from this length on.
const NO_WORD: usize = 8;
/// Bytes of a command that are looked at behind `curl`.
const COMMAND: usize = 2_000;

impl<'a> Prose<'a> {
    /// `Cookie: theme=dark; sid=value`, and the same as a member of JSON.
    pub(super) fn in_cookies(&self, found: &mut Vec<Found<'a>>) {
        for (at, word) in self.text.match_indices("ookie") {
            let named = at.checked_sub(1).map(|at| self.text.as_bytes()[at]);
            let behind = &self.text[at + word.len()..];
            let pairs = behind.trim_start_matches(['"', '\'', '\\', ':', '=', ' ']);
            let signs = behind.len() - pairs.len();
            if !named.is_some_and(|byte| b"Cc".contains(&byte)) || !(1..8).contains(&signs) {
                continue;
            }
            let mut from = self.text.len() - pairs.len();
            let end = from + window(pairs).len();
            while from < end
                && let Some((name, value)) = self.cookie(from)
            {
                if is_of_session(&self.text[name.clone()])
                    && is_secret_cookie(&self.text[name.clone()], &self.text[value.clone()])
                {
                    self.add(&self.text[name], value.clone(), found);
                }
                let rest = &self.text[value.end..];
                let Some(next) = rest.strip_prefix(';') else {
                    break;
                };
                from = self.text.len() - next.trim_start_matches(' ').len();
            }
        }
    }

    /// Where the name and the value of the pair stand that begins here.
    fn cookie(&self, from: usize) -> Option<(Range<usize>, Range<usize>)> {
        let pair = &self.text[from..];
        let in_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.!$".contains(b);
        let name = pair.bytes().take(LOOKED_AT).take_while(in_name).count();
        let value = match pair[name..].strip_prefix('=') {
            Some(value) => from + name + 1..from + name + 1 + cookie_len(value),
            // An attribute of no value, as `HttpOnly`.
            None if pair[name..].starts_with(';') => from + name..from + name,
            None => return None,
        };
        (name > 0).then_some((from..from + name, value))
    }

    /// `curl -u user:password`.
    pub(super) fn of_curl(&self, found: &mut Vec<Found<'a>>) {
        let is_part = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
        };
        let bytes = self.text.as_bytes();
        for (at, word) in self.text.match_indices("curl") {
            let from = at + word.len();
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            if is_part(before) || is_part(bytes.get(from)) {
                continue;
            }
            let rest = &self.text[from..];
            let rest = &rest[..rest.floor_char_boundary(COMMAND)];
            let ends = |c: char| matches!(c, '\n' | '\r' | '|' | ';' | '&' | '`');
            let command = &rest[..rest.find(ends).unwrap_or(rest.len())];
            let mut of_user = false;
            for (word, begin) in words_of(command) {
                let told = user_of(word, of_user);
                of_user = takes_user(word);
                if let Some(user) = told
                    && let Some((_, password)) = user.split_once(':')
                    && is_password(password)
                {
                    let end = from + begin + word.len();
                    self.add(USER, end - password.len()..end, found);
                }
            }
        }
    }

    /// `password%3Dvalue%26`, within the value of another parameter.
    pub(super) fn in_queries(&self, found: &mut Vec<Found<'a>>) {
        const CODES: [&str; 4] = ["%26", "%3B", "%20", "%25"];
        for (at, _) in self.text.match_indices("%3") {
            let from = at + "%3D".len();
            let sign = self.text.as_bytes().get(from - 1);
            let name = name_before(&self.text[..at]);
            // `%3Fpassword`
            let coded = self.text[..at - name.len()].ends_with('%') && name.is_char_boundary(2);
            let name = if coded { &name[2..] } else { name };
            if !sign.is_some_and(|b| b"Dd".contains(b)) || !is_named(name) {
                continue;
            }
            let Some(mut value) = self.value(from) else {
                continue;
            };
            let whole = self.whole(&value);
            let text = &self.text[whole.clone()];
            let ends = CODES.iter().filter_map(|code| text.find(code)).min();
            value.at = whole.start..whole.start + ends.unwrap_or(text.len());
            if !value.at.is_empty() && value.is_secret(name, false, true, self.text) {
                self.add(name, value.at, found);
            }
        }
    }
}

/// How much of the text is the value of a cookie.
fn cookie_len(text: &str) -> usize {
    let ends = |b: u8| b.is_ascii_whitespace() || b";\"',\\".contains(&b);
    text.bytes().position(ends).unwrap_or(text.len())
}

/// Whether a cookie of this name lets in whoever has it.
fn is_of_session(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-', '.', '!', '$']).next();
    OF_SESSION
        .iter()
        .any(|part| lower == *part || last == Some(*part))
        || last == Some("sid")
        || lower.ends_with("sessionid")
        || lower.ends_with("sessid")
        || is_named(name)
}

/// Whether the value of such a cookie is none that says how things stand, as
/// `deleted`.
fn is_secret_cookie(name: &str, value: &str) -> bool {
    let is_mixed = value.len() >= NO_WORD && value.bytes().any(|byte| byte.is_ascii_digit());
    value.len() >= SHORTEST && may_be_secret(name, value) && (is_mixed || looks_random(value))
}

/// The words of a command, with where they begin: between blanks, quotes, and the
/// signs of a list.
fn words_of(command: &str) -> impl Iterator<Item = (&str, usize)> {
    let start = command.as_ptr().addr();
    command
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '[' | ']'))
        .filter(|word| !word.is_empty())
        .map(move |word| (word, word.as_ptr().addr() - start))
}

/// Whether the word behind this one is a user and a password.
pub(super) fn takes_user(word: &str) -> bool {
    let short = |letters: &str| {
        letters.ends_with(['u', 'U']) && letters.bytes().all(|b| b.is_ascii_alphabetic())
    };
    match word.strip_prefix("--") {
        Some(name) => matches!(name, "user" | "proxy-user"),
        None => word.strip_prefix('-').is_some_and(short),
    }
}

/// What a word of curl's tells of a user: all of it, behind a flag for that, or
/// what is glued to one.
pub(super) fn user_of(word: &str, of_user: bool) -> Option<&str> {
    if of_user {
        return Some(word);
    }
    let glued = ["--user=", "--proxy-user=", "-u", "-U"];
    glued.into_iter().find_map(|flag| word.strip_prefix(flag))
}

/// Whether it is no reference to one, and no mark in its place.
fn is_password(text: &str) -> bool {
    !text.starts_with(['$', '{', '%', '*', '<']) && may_be_secret(USER, text)
}
