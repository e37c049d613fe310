//! Why there is no token, by the stage that it failed at.

use jelly_base::text::redact::Redactor;
use jelly_base::text::truncate;
use std::fmt;
use thiserror::Error;

/// No text is longer, whatever a peer puts into it.
const MAX_TEXT: usize = 1200;

/// Where on the way to a token it went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Nothing says, or not rightly, who issues tokens for the server.
    Metadata,
    /// What is said is said of another server.
    Resource,
    /// The issuer is another than it should be.
    Issuer,
    /// The authorization server does not take jelly for the client it claims
    /// to be, or offers no way to say so.
    Client,
    /// No token of the scopes that are needed is to be had.
    Scope,
    /// No token was issued, or the server refuses the one that was.
    Token,
    /// A person must log in first, or again.
    Login,
    /// An authorization server does not answer.
    Unreachable,
}

impl Stage {
    /// As [`jelly_base::model::HttpFacts::error`] calls it, for the rules of triage.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "auth_metadata",
            Self::Resource => "auth_resource",
            Self::Issuer => "auth_issuer",
            Self::Client => "auth_client",
            Self::Scope => "auth_scope",
            Self::Token => "auth_token",
            Self::Login => "auth_login",
            Self::Unreachable => "auth_unreachable",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => "no usable metadata",
            Self::Resource => "another resource",
            Self::Issuer => "issuer mismatch",
            Self::Client => "client refused",
            Self::Scope => "scope refused",
            Self::Token => "token refused",
            Self::Login => "login needed",
            Self::Unreachable => "authorization server unreachable",
        })
    }
}

/// Why there is no token. The text is redacted and bounded, and a sentence
/// without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{stage}: {text}")]
pub struct AuthError {
    pub stage: Stage,
    pub text: String,
    /// Nothing at the server speaks of OAuth: its 401 may ask for anything.
    pub is_unclaimed: bool,
}

impl AuthError {
    pub(super) fn new(stage: Stage, text: impl Into<String>) -> Self {
        Self {
            stage,
            text: text.into(),
            is_unclaimed: false,
        }
    }

    pub(super) fn unclaimed(mut self) -> Self {
        self.is_unclaimed = true;
        self
    }

    /// The same without the secrets that a peer may have put into it.
    pub(super) fn redacted(mut self, redactor: &Redactor) -> Self {
        let text = redactor.redact(&self.text);
        self.text = truncate(&text, MAX_TEXT).into_owned();
        self
    }
}
