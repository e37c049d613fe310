//! Where forms are handed in, whatever the grant.
//!
//! Main function: [`Http::token`]. All that is secret is known to the redactor
//! before anything returns from here.

use super::client::{Client, Proof};
use super::discovery::Found;
use super::error::{AuthError, Stage};
use super::fetch::{Got, Http};
use super::metadata::ServerMetadata;
use super::token::{FormFields, Refused, Tokens, form, shown};
use reqwest::Url;

impl Http {
    /// Has a secret masked from now on.
    pub fn learn(&self, name: &str, value: &str) {
        self.redactor.learn([(name, value)]);
    }

    pub fn learn_client(&self, client: &Client) {
        match &client.proof {
            Proof::Secret(secret) => self.learn("client secret", secret),
            Proof::Nothing | Proof::Key(_) => {}
        }
    }

    pub fn learn_tokens(&self, tokens: &Tokens) {
        let refresh = tokens.refresh.iter();
        self.redactor.learn(
            [("access token", &tokens.access)]
                .into_iter()
                .chain(refresh.map(|token| ("refresh token", token))),
        );
    }

    /// Asks for tokens. They are masked everywhere before this returns.
    pub async fn token(
        &self,
        server: &ServerMetadata,
        client: &Client,
        mut request: FormFields,
    ) -> Result<Tokens, AuthError> {
        if proves(client, &request) {
            stays_with_issuer(client, server)?;
        }
        let mut proof = client.show(server)?;
        for (name, value) in &proof.form {
            if *name == "client_assertion" {
                self.learn("client assertion", value);
            }
        }
        if let Some(basic) = &proof.basic {
            self.learn("client credentials", basic.trim_start_matches("Basic "));
        }
        request.append(&mut proof.form);
        let place = &server.token_endpoint;
        let got = self.form(place, &request, proof.basic.as_deref()).await?;
        if !got.is_success() {
            return Err(self.refusal("token", place, &got));
        }
        let tokens = Tokens::read(&got.body).map_err(|why| {
            let text = format!(
                "the request for a token at {} was answered {why}",
                self.shown(place)
            );
            AuthError::new(Stage::Token, text)
        })?;
        self.learn_tokens(&tokens);
        Ok(tokens)
    }

    /// Asks for others by a token to renew by.
    pub async fn refresh(
        &self,
        found: &Found,
        client: &Client,
        token: &str,
    ) -> Result<Tokens, AuthError> {
        let mut request = form("refresh_token", &found.resource, &[]);
        request.push(("refresh_token", token.to_owned()));
        let mut tokens = self.token(&found.server, client, request).await?;
        // RFC 6749, section 6: none in the answer means the same again.
        tokens.refresh.get_or_insert_with(|| token.to_owned());
        Ok(tokens)
    }

    /// What a refusal of an authorization server comes to.
    pub fn refusal(&self, what: &str, place: &Url, got: &Got) -> AuthError {
        let refused = Refused::read(&got.body);
        let registering = what == "registration";
        let stage = match (refused.error.as_deref(), got.status) {
            (_, 429 | 500..) => Stage::Unreachable,
            _ if registering => Stage::Client,
            (Some("invalid_client" | "unauthorized_client"), _) => Stage::Client,
            (Some("invalid_scope"), _) => Stage::Scope,
            (Some("invalid_target"), _) => Stage::Resource,
            (None, 401) => Stage::Client,
            (_, _) => Stage::Token,
        };
        let said = shown(&self.redactor.redact(&refused.in_words()));
        let redirect = match got.location {
            Some(_) => "; jelly follows no redirect with what is secret",
            None => "",
        };
        let text = format!(
            "the {what} endpoint {} answered with {}{said}{redirect}",
            self.shown(place),
            got.words()
        );
        AuthError::new(stage, text)
    }
}

/// Whether a request shows who a client is by something that is worth taking.
fn proves(client: &Client, request: &FormFields) -> bool {
    match &client.proof {
        Proof::Secret(_) | Proof::Key(_) => true,
        Proof::Nothing => request.iter().any(|(name, _)| *name == "assertion"),
    }
}

/// Holds a client to the host of its issuer: metadata can be changed by fewer
/// than those whom the client was told to trust, and what they name would be
/// handed the secret.
fn stays_with_issuer(client: &Client, server: &ServerMetadata) -> Result<(), AuthError> {
    let place = &server.token_endpoint;
    let issuer = Url::parse(&server.issuer).ok();
    let text = match &client.token_endpoint {
        Some(meant) if Url::parse(meant).is_ok_and(|meant| meant == *place) => return Ok(()),
        Some(meant) => format!("and {} is meant to be", shown(meant)),
        None if issuer.is_some_and(|issuer| issuer.host() == place.host()) => return Ok(()),
        None => "on another host, where the client is shown only if `token_endpoint` beside \
                 `issuer` names it (for a login, --token-endpoint)"
            .to_owned(),
    };
    let text = format!(
        "the issuer {} names {} as its token endpoint, {text}",
        shown(&server.issuer),
        shown(place.as_str())
    );
    Err(AuthError::new(Stage::Issuer, text))
}
