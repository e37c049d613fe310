//! What is secret in how people write requests: cookies, curl's words, and
//! parameters within a parameter.

use super::names::may_be_secret;
use super::places::Found;
use super::prose::{LOOKED_AT, Prose, SHORTEST, is_named, name_before, window};

/// The name of what follows the user in `curl -u`.
const USER: &str = "user";
/// Parts of the names of cookies that open a session.
const OF_SESSION: [&str; 7] = ["auth", "csrf", "jwt", "login", "remember", "sess", "token"];

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
            let begin = self.text.len() - pairs.len();
            let line = window(pairs);
            let line = &line[..line.find(['"', '\n', '\r']).unwrap_or(line.len())];
            let mut from = 0;
            for pair in line.split(';') {
                let blanks = pair.len() - pair.trim_start().len();
                if let Some((name, value)) = pair.trim_start().split_once('=') {
                    let at = begin + from + blanks + name.len() + 1;
                    let value = value.trim_end();
                    if is_of_session(name) && may_be_secret(name, value) && value.len() >= SHORTEST
                    {
                        self.add(
                            &self.text[at - name.len() - 1..at - 1],
                            at..at + value.len(),
                            found,
                        );
                    }
                }
                from += pair.len() + 1;
            }
        }
    }

    /// `curl -u user:password`.
    pub(super) fn of_curl(&self, found: &mut Vec<Found<'a>>) {
        for flag in [" -u ", " --user ", " -u", " --proxy-user "] {
            for (at, _) in self.text.match_indices(flag) {
                let far = self.text.floor_char_boundary(at.saturating_sub(LOOKED_AT));
                let before = &self.text[far..at];
                let line = before.rsplit('\n').next().unwrap_or(before);
                let Some(value) = self.value(at + flag.len()) else {
                    continue;
                };
                let text = value.text(self.text);
                if let Some((user, password)) = text.split_once(':')
                    && line.contains("curl")
                    && !user.is_empty()
                    && !user.contains(['/', ' '])
                    && may_be_secret(USER, password)
                {
                    let whole = self.whole(&value);
                    self.add(USER, whole.start + user.len() + 1..whole.end, found);
                }
            }
        }
    }

    /// `password%3Dvalue%26`, within the value of another parameter.
    pub(super) fn in_queries(&self, found: &mut Vec<Found<'a>>) {
        for (at, _) in self.text.match_indices("%3") {
            let from = at + "%3D".len();
            let is_sign = self
                .text
                .as_bytes()
                .get(from - 1)
                .is_some_and(|b| b"Dd".contains(b));
            let name = name_before(&self.text[..at]);
            if !is_sign || !is_named(name) {
                continue;
            }
            let Some(mut value) = self.value(from) else {
                continue;
            };
            if let Some(end) = value.text(self.text).find("%26") {
                value.at.end = value.at.start + end;
            }
            if !value.at.is_empty() && value.is_secret(name, false, true, self.text) {
                self.add(name, value.at, found);
            }
        }
    }
}

/// Whether a cookie of this name lets in whoever has it.
fn is_of_session(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // `author` and `side` are other words.
    OF_SESSION.iter().any(|part| lower.contains(part)) && !lower.contains("author")
        || lower.ends_with("sid")
        || is_named(name)
}
