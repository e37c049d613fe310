//! The flow for a person: a page where they allow it, and a code for it.
//!
//! Main function: [`Code::tokens`]. By OAuth 2.1 with PKCE (RFC 7636, S256), RFC
//! 8252 for the way back, RFC 9207 for who sent it, RFC 7591 for a client that
//! the server does not know yet.

use super::assertion::{NO_RANDOM, random};
use super::client::{Client, Method};
use super::discovery::Found;
use super::error::{AuthError, Stage};
use super::fetch::Http;
use super::metadata::ServerMetadata;
use super::redirect_listener::{RedirectListener, RedirectQuery};
use super::scopes;
use super::token::{MIN_SECRET, Tokens, form, shown};
use super::token_store::TokenStore;
use super::visitor::Visitor;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// The scope that brings a token to renew others by, where a server has it.
const OFFLINE: &str = "offline_access";

/// How a person is asked.
#[derive(Debug, Clone)]
pub struct Code {
    /// Registered before; without one, jelly registers itself.
    pub client: Option<Client>,
    /// Where a document says who jelly is, for servers that take such a URL as
    /// a client's id.
    pub metadata_url: Option<String>,
    pub visitor: Arc<dyn Visitor>,
    /// How long the visit may take.
    pub visit_takes: Duration,
    /// The port that the browser comes back to; any for 0.
    pub port: u16,
    /// Keeps what the login brings.
    pub store: Option<TokenStore>,
}

/// What comes of a visit.
pub(super) struct Visited {
    pub client: Client,
    pub tokens: Tokens,
    /// With what was added to them.
    pub scopes: Vec<String>,
}

impl Code {
    /// Has a person allow it. `listener` stays for another visit, since servers
    /// know where they may send a browser to.
    pub(super) async fn tokens(
        &self,
        http: &Http,
        listener: &mut Option<RedirectListener>,
        known: Option<&Client>,
        found: &Found,
        wanted: &[String],
    ) -> Result<Visited, AuthError> {
        let server = &found.server;
        let page = self.page(http, server)?;
        let listener = match listener {
            Some(listener) => listener,
            None => listener.insert(RedirectListener::open(self.port).await?),
        };
        let back = listener.uri();
        let client = match known {
            Some(client) => client.clone(),
            None => self.client(http, server, &back).await?,
        };
        let scopes = with_offline(wanted, server);
        let (Some(state), Some(verifier)) = (random(), random()) else {
            return Err(AuthError::new(Stage::Login, NO_RANDOM));
        };
        http.learn("code verifier", &verifier);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let mut url = page;
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &client.id)
                .append_pair("redirect_uri", &back)
                .append_pair("state", &state)
                .append_pair("code_challenge", &challenge)
                .append_pair("code_challenge_method", "S256")
                .append_pair("resource", &found.resource);
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
        }
        let visit = async {
            match self.visitor.visit(url.as_str()).await {
                Ok(()) => std::future::pending().await,
                Err(why) => {
                    let text = format!("the page could not be {why}");
                    Err(AuthError::new(Stage::Login, text))
                }
            }
        };
        let answer = tokio::select! {
            answer = listener.wait(&state, self.visit_takes) => answer?,
            failed = visit => failed?,
        };
        let code = code_of(&answer, server)?;
        http.learn("authorization code", &code);
        let mut request = form("authorization_code", &found.resource, &[]);
        request.push(("code", code));
        request.push(("redirect_uri", back));
        request.push(("code_verifier", verifier));
        let tokens = http.token(server, &client, request).await?;
        Ok(Visited {
            client,
            tokens,
            scopes,
        })
    }

    /// The page to go to, if it is one that may be gone to.
    fn page(&self, http: &Http, server: &ServerMetadata) -> Result<Url, AuthError> {
        let refuse = |text: String| AuthError::new(Stage::Client, text);
        let issuer = shown(&server.issuer);
        let Some(page) = &server.authorization_endpoint else {
            return Err(refuse(format!(
                "{issuer} has no page for people to log in at"
            )));
        };
        http.may_ask(page)?;
        // 2026-07-28, Security Considerations, "Authorization Code Protection".
        if let Some(ways) = &server.pkce
            && !ways.iter().any(|way| way == "S256")
        {
            return Err(refuse(format!(
                "{issuer} does not say that it knows PKCE by S256 \
                 (code_challenge_methods_supported), and clients must not log in without"
            )));
        }
        Ok(page.clone())
    }

    /// Who jelly is to this server, in the order of the specification's
    /// "Client Registration".
    async fn client(
        &self,
        http: &Http,
        server: &ServerMetadata,
        back: &str,
    ) -> Result<Client, AuthError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        if let Some(url) = self
            .metadata_url
            .as_ref()
            .filter(|_| server.takes_client_urls)
        {
            return Ok(Client::new(url, None));
        }
        let issuer = shown(&server.issuer);
        let Some(place) = &server.registration_endpoint else {
            return Err(AuthError::new(
                Stage::Client,
                format!(
                    "{issuer} registers no clients by itself, and jelly has no client id there"
                ),
            ));
        };
        let method = match &server.auth_methods {
            Some(taken) => [Method::Nothing, Method::Basic, Method::Post]
                .into_iter()
                .find(|method| taken.iter().any(|name| name == method.name()))
                .unwrap_or(Method::Nothing),
            None => Method::Nothing,
        };
        let document = json!({
            "client_name": "jelly",
            "application_type": "native",
            "redirect_uris": [back],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method.name(),
        });
        let got = http.json(place, &document).await?;
        if !got.is_success() {
            return Err(http.refusal("registration", place, &got));
        }
        let client = Client::registered(&got.body).map_err(|why| {
            let text = format!(
                "the registration at {} was answered {why}",
                http.shown(place)
            );
            AuthError::new(Stage::Client, text)
        })?;
        http.learn_client(&client);
        Ok(client)
    }
}

/// The scopes, with the one for renewal where the server has it.
fn with_offline(wanted: &[String], server: &ServerMetadata) -> Vec<String> {
    let known = server.scopes_supported.as_deref().unwrap_or_default();
    match known.iter().find(|scope| *scope == OFFLINE) {
        Some(offline) => scopes::union(wanted, std::slice::from_ref(offline)),
        None => wanted.to_vec(),
    }
}

/// The code in what the browser brought back, whose `state` was checked. Who
/// sent it is looked at before anything else that it says.
fn code_of(answer: &RedirectQuery, server: &ServerMetadata) -> Result<String, AuthError> {
    let all = |key: &str| {
        let values = answer.iter().filter(move |(name, _)| name == key);
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    let issuer = shown(&server.issuer);
    // RFC 9207, section 2.4; no two forms of a URL are the same here.
    match all("iss")[..] {
        [] if server.names_itself => {
            let text = format!(
                "the browser came back without `iss`, which {issuer} says that it sends; what \
                 came may be another server's"
            );
            return Err(AuthError::new(Stage::Issuer, text));
        }
        [] => {}
        [one] if one == server.issuer => {}
        _ => {
            let text = format!(
                "the browser came back from another issuer than {issuer}, where it was sent"
            );
            return Err(AuthError::new(Stage::Issuer, text));
        }
    }
    if let Some(error) = all("error").first() {
        let described = match all("error_description").first() {
            Some(said) => format!("{error} ({said})"),
            None => (*error).to_owned(),
        };
        let stage = match *error {
            "invalid_scope" => Stage::Scope,
            "unauthorized_client" | "invalid_client" => Stage::Client,
            _ => Stage::Login,
        };
        let text = format!("{issuer} sent the browser back with {}", shown(&described));
        return Err(AuthError::new(stage, text));
    }
    match all("code")[..] {
        [code] if !code.is_empty() && code.len() < MIN_SECRET => {
            let text = format!(
                "{issuer} sent the browser back with a code of fewer than {MIN_SECRET} bytes, \
                 which can be no secret"
            );
            Err(AuthError::new(Stage::Login, text))
        }
        [code] if !code.is_empty() => Ok(code.to_owned()),
        _ => {
            let text = format!("{issuer} sent the browser back without a code");
            Err(AuthError::new(Stage::Login, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{code_of, with_offline};
    use crate::http::auth::error::Stage;
    use crate::http::auth::metadata::ServerMetadata;
    use reqwest::Url;

    fn server(names_itself: bool) -> ServerMetadata {
        let mut server = ServerMetadata::by_default(&Url::parse("https://a/").unwrap());
        server.names_itself = names_itself;
        server
    }

    fn back(query: &str, names_itself: bool) -> Result<String, (Stage, String)> {
        let answer = form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        code_of(&answer, &server(names_itself)).map_err(|error| (error.stage, error.text))
    }

    #[test]
    fn the_issuer_of_an_answer_is_compared_as_it_stands() {
        assert_eq!(
            back("code=c0de-abc&iss=https%3A%2F%2Fa", true).unwrap(),
            "c0de-abc"
        );
        assert_eq!(
            back("code=c0de-abc&iss=https://a", false).unwrap(),
            "c0de-abc"
        );
        assert_eq!(back("code=c0de-abc", false).unwrap(), "c0de-abc");
        for (query, names_itself) in [
            ("code=c0de-abc", true),
            ("code=c0de-abc&iss=https://a/", true),
            ("code=c0de-abc&iss=https://A", false),
            ("code=c0de-abc&iss=https://evil.example", false),
            ("code=c0de-abc&iss=https://a&iss=https://a", true),
        ] {
            assert_eq!(
                back(query, names_itself).unwrap_err().0,
                Stage::Issuer,
                "{query}"
            );
        }
    }

    #[test]
    fn what_another_issuer_says_is_not_shown() {
        let (stage, text) = back("error=swordfish&iss=https://evil.example", false).unwrap_err();
        assert_eq!(stage, Stage::Issuer);
        assert!(!text.contains("swordfish"), "{text}");
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_server() {
        let (stage, text) =
            back("error=access_denied&error_description=no+way", false).unwrap_err();
        assert_eq!(stage, Stage::Login);
        assert_eq!(
            text,
            "https://a sent the browser back with access_denied (no way)"
        );
        assert_eq!(
            back("error=invalid_scope", false).unwrap_err().0,
            Stage::Scope
        );
        assert_eq!(back("", false).unwrap_err().0, Stage::Login);
        let (stage, text) = back("code=e&iss=https://a", false).unwrap_err();
        assert_eq!(stage, Stage::Login);
        assert!(text.contains("a code of fewer than 8 bytes"), "{text}");
    }

    #[test]
    fn a_token_to_renew_by_is_asked_for_where_the_server_has_it() {
        let mut server = server(false);
        assert_eq!(with_offline(&["a".into()], &server), ["a"]);
        server.scopes_supported = Some(vec!["offline_access".into()]);
        assert_eq!(
            with_offline(&["a".into()], &server),
            ["a", "offline_access"]
        );
    }
}
