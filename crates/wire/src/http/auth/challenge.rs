//! `WWW-Authenticate` → what the server asks for.
//!
//! Main type: [`Challenge`]. Pure; by RFC 9110, section 11.6.1, and RFC 6750,
//! section 3, tolerant of what servers make of them.

use super::scopes;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// So much of the headers is read.
const MAX_BYTES: usize = 16 * 1024;
/// So many parameters of one challenge.
const MAX_PARAMS: usize = 64;

/// The parameters of a `Bearer` challenge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the metadata of the protected resource are (RFC 9728).
    pub resource_metadata: Option<String>,
    pub scope: Option<Vec<String>>,
    pub error: Option<String>,
    pub error_description: Option<String>,
}

impl Challenge {
    /// The first challenge with the scheme `Bearer`, if there is one.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut left = MAX_BYTES;
        headers.get_all(WWW_AUTHENTICATE).iter().find_map(|value| {
            let text = String::from_utf8_lossy(value.as_bytes());
            let taken = text.len();
            if taken > left {
                return None;
            }
            left -= taken;
            Self::parse(&text)
        })
    }

    /// The same of one header's value.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut parser = Parser { rest: value };
        while let Some(scheme) = parser.scheme() {
            let params = parser.params();
            if scheme.eq_ignore_ascii_case("bearer") {
                return Some(Self::from_params(params));
            }
        }
        None
    }

    fn from_params(params: Vec<(&str, String)>) -> Self {
        let mut challenge = Self::default();
        for (name, value) in params {
            let text = Some(value);
            match name.to_ascii_lowercase().as_str() {
                // What is said twice counts as first said.
                "resource_metadata" if challenge.resource_metadata.is_none() => {
                    challenge.resource_metadata = text;
                }
                "scope" if challenge.scope.is_none() => {
                    challenge.scope = text.map(|text| scopes::split(&text));
                }
                "error" if challenge.error.is_none() => challenge.error = text,
                "error_description" if challenge.error_description.is_none() => {
                    challenge.error_description = text;
                }
                _ => {}
            }
        }
        challenge
    }
}

/// What is still to be read of a header's value.
struct Parser<'a> {
    rest: &'a str,
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

impl<'a> Parser<'a> {
    fn skip(&mut self, also: &[char]) {
        let skipped = |c: char| c == ' ' || c == '\t' || also.contains(&c);
        self.rest = self.rest.trim_start_matches(skipped);
    }

    fn token(&mut self) -> Option<&'a str> {
        let end = self.rest.find(|c| !is_token(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!token.is_empty()).then_some(token)
    }

    /// The scheme of the next challenge. What can be none is passed over.
    fn scheme(&mut self) -> Option<&'a str> {
        loop {
            self.skip(&[',']);
            if let Some(token) = self.token() {
                return Some(token);
            }
            let mut rest = self.rest.chars();
            rest.next()?;
            self.rest = rest.as_str();
        }
    }

    /// The parameters up to the next challenge, or to what can't be read.
    fn params(&mut self) -> Vec<(&'a str, String)> {
        let mut params = Vec::new();
        loop {
            self.skip(&[',']);
            let before = self.rest;
            let Some(name) = self.token() else {
                // Part of a `token68`, which Bearer does not have.
                return params;
            };
            self.skip(&[]);
            let Some(rest) = self.rest.strip_prefix('=') else {
                // A token on its own is the next scheme.
                self.rest = before;
                return params;
            };
            self.rest = rest;
            self.skip(&[]);
            let value = match self.rest.strip_prefix('"') {
                Some(rest) => {
                    self.rest = rest;
                    self.quoted()
                }
                None => {
                    let end = self.rest.find([',', ' ', '\t']).unwrap_or(self.rest.len());
                    let (value, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    value.to_owned()
                }
            };
            if params.len() < MAX_PARAMS {
                params.push((name, value));
            }
        }
    }

    /// A quoted string whose opening quote is read; one without an end goes
    /// as far as the text.
    fn quoted(&mut self) -> String {
        let mut text = String::new();
        let mut rest = self.rest.chars();
        while let Some(c) = rest.next() {
            match c {
                '"' => break,
                '\\' => text.extend(rest.next()),
                c => text.push(c),
            }
        }
        self.rest = rest.as_str();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Challenge;
    use proptest::prelude::*;

    fn scope(value: &str) -> Option<Vec<String>> {
        Challenge::parse(value)?.scope
    }

    #[test]
    fn the_parameters_of_a_bearer_challenge_are_read() {
        let read = Challenge::parse(
            "Bearer error=\"insufficient_scope\", scope=\"files:read  files:write\",\
             \tResource_Metadata=\"https://h/.well-known/x\", \
             error_description=\"say \\\"please\\\", then wait\", other=1",
        );
        assert_eq!(
            read,
            Some(Challenge {
                resource_metadata: Some("https://h/.well-known/x".into()),
                scope: Some(vec!["files:read".into(), "files:write".into()]),
                error: Some("insufficient_scope".into()),
                error_description: Some("say \"please\", then wait".into()),
            })
        );
    }

    #[test]
    fn other_schemes_before_and_after_are_passed_over() {
        let value = "Basic realm=\"a, Bearer scope=no\", Negotiate abc/+==, \
                     bearer scope=one, Digest scope=\"two\"";
        assert_eq!(scope(value), Some(vec!["one".into()]));
        assert_eq!(Challenge::parse("Basic realm=\"x\""), None);
        assert_eq!(Challenge::parse("Bearer"), Some(Challenge::default()));
        assert_eq!(Challenge::parse(""), None);
    }

    #[test]
    fn what_is_malformed_loses_no_more_than_itself() {
        assert_eq!(
            scope("Bearer scope=\"open end"),
            Some(vec!["open".into(), "end".into()])
        );
        assert_eq!(scope("Bearer ,, scope = one"), Some(vec!["one".into()]));
        assert_eq!(scope("Bearer scope=a, scope=b"), Some(vec!["a".into()]));
        // Quotes and backslashes belong to no scope.
        assert_eq!(scope("Bearer scope='a\\\\'"), Some(vec![]));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,200}") {
            let _ = Challenge::parse(&text);
        }

        #[test]
        fn what_is_quoted_is_read_as_it_was(
            text in "[ -~]{0,40}", before in "(Basic realm=\"a\", )?",
        ) {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
            let read = Challenge::parse(&format!("{before}Bearer error=\"{quoted}\", x=1"));
            prop_assert_eq!(read.unwrap().error, Some(text));
        }
    }
}
