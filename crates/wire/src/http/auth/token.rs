//! Requests for tokens, and what comes back. Pure.
//!
//! Main type: [`Tokens`]. By RFC 6749, sections 5.1 and 5.2, and RFC 8707.

use super::scopes;
use reqwest::header::HeaderValue;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// What a header can carry on its way through common servers.
const MAX_TOKEN: usize = 16 * 1024;
/// What a stranger gives out as a secret and is shorter is none: to mask it
/// would mask ordinary words of the reports.
pub(super) const MIN_SECRET: usize = 8;
/// What a server says of its refusal is shown so far.
const MAX_SAID: usize = 200;

/// The fields of a form, in their order.
pub(super) type FormFields = Vec<(&'static str, String)>;

/// The form of every request for a token: its grant, and for which resource and
/// scopes it is to be.
pub(super) fn form(grant: &str, resource: &str, scopes: &[String]) -> FormFields {
    let mut form = vec![("grant_type", grant.to_owned())];
    if !scopes.is_empty() {
        form.push(("scope", scopes.join(" ")));
    }
    form.push(("resource", resource.to_owned()));
    form
}

/// What was issued. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    pub access: String,
    pub refresh: Option<String>,
    /// How long the token is good for, if the server says it.
    pub lifetime: Option<Duration>,
    /// What was granted, where it is not what was asked for.
    pub scopes: Option<Vec<String>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("lifetime", &self.lifetime)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    /// # Errors
    /// What is wrong with the answer, without a word of it.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        let Ok(Value::Object(answer)) = serde_json::from_slice(body) else {
            return Err("with a body that is not a JSON object".to_owned());
        };
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        let access = text("access_token").ok_or("without an `access_token`")?;
        if access.len() > MAX_TOKEN {
            return Err(format!("with a token of more than {MAX_TOKEN} bytes"));
        }
        if access.len() < MIN_SECRET {
            return Err(format!(
                "with a token of fewer than {MIN_SECRET} bytes, which can be no secret"
            ));
        }
        let refresh = text("refresh_token").filter(|token| !token.is_empty());
        if refresh
            .as_ref()
            .is_some_and(|token| token.len() < MIN_SECRET)
        {
            return Err(format!(
                "with a token to renew by of fewer than {MIN_SECRET} bytes, which can be no secret"
            ));
        }
        // RFC 6750, section 2.1, allows fewer; a header must carry it.
        if !access.bytes().all(|byte| (0x21..=0x7E).contains(&byte)) {
            return Err("with a token that no header can carry".to_owned());
        }
        match text("token_type") {
            Some(kind) if kind.eq_ignore_ascii_case("bearer") => {}
            Some(_) => return Err("with a `token_type` other than `Bearer`".to_owned()),
            None => return Err("without a `token_type`".to_owned()),
        }
        let lifetime = answer.get("expires_in").and_then(|value| match value {
            Value::Number(number) => number.as_f64(),
            // Some servers quote it.
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        });
        let lifetime = lifetime.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Ok(Self {
            access,
            refresh: refresh.filter(|token| token.len() <= MAX_TOKEN),
            lifetime,
            scopes: text("scope").map(|text| scopes::split(&text)),
        })
    }

    /// The value of `Authorization`.
    pub fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.access)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// What an authorization server says of its refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Refused {
    /// As in `invalid_client`; none where the body is not what it should be.
    pub error: Option<String>,
    pub description: Option<String>,
}

impl Refused {
    pub fn read(body: &[u8]) -> Self {
        let Ok(Value::Object(answer)) = serde_json::from_slice(body) else {
            return Self::default();
        };
        let text = |key: &str| {
            let text = answer.get(key)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        Self {
            error: text("error"),
            description: text("error_description"),
        }
    }

    /// After the status, as in `: invalid_client (no such client)`. Not
    /// redacted, and longer than it will be shown: a secret must not survive by
    /// being cut in two.
    pub fn in_words(&self) -> String {
        match (&self.error, &self.description) {
            (Some(error), Some(said)) => format!(": {error} ({said})"),
            (Some(one), None) | (None, Some(one)) => format!(": {one}"),
            (None, None) => String::new(),
        }
    }
}

/// A text of a peer, redacted already, as long as it is shown.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    jelly_base::text::truncate(&line, MAX_SAID).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Refused, Tokens, form};
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn read(answer: &Value) -> Result<Tokens, String> {
        Tokens::read(answer.to_string().as_bytes())
    }

    #[test]
    fn a_request_names_the_resource_always_and_scopes_where_there_are_some() {
        assert_eq!(
            form("client_credentials", "https://h/mcp", &[]),
            [
                ("grant_type", "client_credentials".to_owned()),
                ("resource", "https://h/mcp".to_owned())
            ]
        );
        let scopes = ["a".to_owned(), "b".to_owned()];
        assert_eq!(form("x", "r", &scopes)[1], ("scope", "a b".to_owned()));
    }

    #[test]
    fn what_is_issued_is_read() {
        let tokens = read(&json!({"access_token": "t-tok-123", "token_type": "bearer",
            "expires_in": "3600", "refresh_token": "r-tok-123", "scope": "a b"}))
        .unwrap();
        assert_eq!(tokens.refresh.as_deref(), Some("r-tok-123"));
        assert_eq!(tokens.lifetime, Some(Duration::from_secs(3600)));
        assert_eq!(tokens.scopes.as_ref().unwrap().len(), 2);
        assert!(tokens.header().unwrap().is_sensitive());
        assert!(!format!("{tokens:?}").contains("123"));
    }

    #[test]
    fn what_is_no_token_is_refused_without_being_shown() {
        for (answer, why) in [
            (json!("t-tok-123"), "not a JSON object"),
            (json!({"token_type": "Bearer"}), "without an `access_token`"),
            (
                json!({"access_token": "t-tok-123"}),
                "without a `token_type`",
            ),
            (
                json!({"access_token": "t-tok-123", "token_type": "t-tok-123"}),
                "other than",
            ),
            (
                json!({"access_token": "t-tok-123\n", "token_type": "Bearer"}),
                "no header",
            ),
            (
                json!({"access_token": "abcdefg", "token_type": "Bearer"}),
                "fewer",
            ),
            (
                json!({"access_token": "t-tok-123", "token_type": "Bearer",
                       "refresh_token": "123"}),
                "to renew by of fewer",
            ),
            (
                json!({"access_token": "a".repeat(20_000), "token_type": "Bearer"}),
                "more",
            ),
        ] {
            let said = read(&answer).unwrap_err();
            assert!(said.contains(why), "{said}");
            assert!(!said.contains("123"), "{said}");
        }
        let odd = json!({"access_token": "t-tok-123", "token_type": "Bearer", "expires_in": -1});
        assert_eq!(read(&odd).unwrap().lifetime, None);
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_server() {
        let body = json!({"error": "invalid_client", "error_description": " no such client "});
        let refused = Refused::read(body.to_string().as_bytes());
        assert_eq!(refused.in_words(), ": invalid_client (no such client)");
        assert_eq!(Refused::read(b"<html>").in_words(), "");
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..100), n in any::<f64>()) {
            let _ = Tokens::read(&body);
            let _ = Refused::read(&body);
            let _ = read(&json!({"access_token": "abcdefgh", "token_type": "Bearer", "expires_in": n}));
        }
    }
}
