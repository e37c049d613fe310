//! Who jelly is to an authorization server, and how it shows that.
//!
//! Main type: [`Client`]. Pure.

use super::assertion::SigningKey;
use super::error::{AuthError, Stage};
use super::metadata::ServerMetadata;
use super::token::{FormFields, MIN_SECRET};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use serde_json::Value;
use std::fmt;

/// A client as it is registered with an authorization server.
#[derive(Debug, Clone)]
pub struct Client {
    pub id: String,
    pub proof: Proof,
    /// How it was registered to show who it is, as in `client_secret_post`; as
    /// the server's metadata say where it is absent.
    pub method: Option<String>,
    /// Where it may show who it is, besides the host of its issuer.
    pub token_endpoint: Option<String>,
}

/// What a client shows that it is who it says.
#[derive(Clone)]
pub enum Proof {
    /// A public client, such as a program on somebody's machine.
    Nothing,
    Secret(String),
    Key(SigningKey),
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Secret(_) => "Secret",
            Self::Key(_) => "Key",
        })
    }
}

/// How a client shows who it is (RFC 7591, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Nothing,
    Basic,
    Post,
    Jwt,
}

impl Method {
    const ALL: [Self; 4] = [Self::Nothing, Self::Basic, Self::Post, Self::Jwt];

    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Jwt => "private_key_jwt",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What a client adds to a request for a token.
#[derive(Default)]
pub(super) struct Shown {
    /// The value of `Authorization`.
    pub basic: Option<String>,
    pub form: FormFields,
}

impl Client {
    /// One that shows nothing, or a secret.
    #[must_use]
    pub fn new(id: impl Into<String>, secret: Option<String>) -> Self {
        Self {
            id: id.into(),
            proof: secret.map_or(Proof::Nothing, Proof::Secret),
            method: None,
            token_endpoint: None,
        }
    }

    /// One that signs.
    #[must_use]
    pub fn with_key(id: impl Into<String>, key: SigningKey) -> Self {
        Self {
            id: id.into(),
            proof: Proof::Key(key),
            method: None,
            token_endpoint: None,
        }
    }

    /// Whether a client's id may be this URL, where a document says who it is:
    /// by HTTPS and with a path (2026-07-28, "Client ID Metadata Documents").
    #[must_use]
    pub fn may_be_url(text: &str) -> bool {
        Url::parse(text).is_ok_and(|url| {
            url.scheme() == "https"
                && url.path() != "/"
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none()
        })
    }

    /// How to show who it is, by what it has and what the server takes. One
    /// that says nothing takes what RFC 8414 has for that.
    ///
    /// # Errors
    /// The server takes nothing that this client has.
    pub(super) fn method(&self, server: &ServerMetadata) -> Result<Method, AuthError> {
        let own: &[Method] = match self.proof {
            Proof::Nothing => &[Method::Nothing],
            Proof::Secret(_) => &[Method::Basic, Method::Post],
            Proof::Key(_) => &[Method::Jwt],
        };
        if let Some(registered) = self.method.as_deref().and_then(Method::find)
            && own.contains(&registered)
        {
            return Ok(registered);
        }
        let Some(taken) = &server.auth_methods else {
            return Ok(own[0]);
        };
        let fits = |method: &&Method| taken.iter().any(|name| name == method.name());
        if let Some(method) = own.iter().find(fits) {
            return Ok(*method);
        }
        // Of a public client there is nothing that a server could refuse to
        // take; some servers do not list it. Others give a secret to every
        // client that they register, and want to see none.
        let wants_nothing = taken.iter().any(|name| name == Method::Nothing.name());
        if matches!(self.proof, Proof::Nothing)
            || (matches!(self.proof, Proof::Secret(_)) && wants_nothing)
        {
            return Ok(Method::Nothing);
        }
        let own: Vec<&str> = own.iter().map(|method| method.name()).collect();
        let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
        Err(AuthError::new(
            Stage::Client,
            format!(
                "{} takes clients by {}, and the client can show itself by {} only",
                server.issuer,
                list(&taken),
                list(&own)
            ),
        ))
    }

    /// What goes with a request for a token.
    ///
    /// # Errors
    /// See [`Self::method`]; or the key can't sign as the server wants it.
    pub(super) fn show(&self, server: &ServerMetadata) -> Result<Shown, AuthError> {
        let method = self.method(server)?;
        let mut shown = Shown::default();
        match (&self.proof, method) {
            (Proof::Secret(secret), Method::Basic) => {
                // RFC 6749, section 2.3.1: encoded as in a form, both.
                let pair = format!("{}:{}", encoded(&self.id), encoded(secret));
                shown.basic = Some(format!("Basic {}", STANDARD.encode(pair)));
            }
            (Proof::Secret(secret), Method::Post | Method::Jwt) => {
                shown.form.push(("client_id", self.id.clone()));
                shown.form.push(("client_secret", secret.clone()));
            }
            (Proof::Key(key), _) => {
                let assertion = key.assert(&self.id, server)?;
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                shown.form.push(("client_id", self.id.clone()));
                shown.form.push(("client_assertion_type", kind.to_owned()));
                shown.form.push(("client_assertion", assertion));
            }
            (Proof::Nothing, _) | (Proof::Secret(_), Method::Nothing) => {
                shown.form.push(("client_id", self.id.clone()));
            }
        }
        Ok(shown)
    }

    /// From the answer to a registration (RFC 7591, section 3.2.1).
    ///
    /// # Errors
    /// What is wrong with it, without a word of it.
    pub(super) fn registered(body: &[u8]) -> Result<Self, String> {
        let Ok(Value::Object(answer)) = serde_json::from_slice(body) else {
            return Err("with a body that is not a JSON object".to_owned());
        };
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = text("client_id").filter(|id| !id.is_empty());
        let mut client = Self::new(
            id.ok_or("without a `client_id`")?,
            text("client_secret").filter(|secret| !secret.is_empty()),
        );
        client.method = text("token_endpoint_auth_method");
        if client.method.as_deref() == Some(Method::Nothing.name()) {
            client.proof = Proof::Nothing;
        }
        if matches!(&client.proof, Proof::Secret(secret) if secret.len() < MIN_SECRET) {
            return Err(format!(
                "with a `client_secret` of fewer than {MIN_SECRET} bytes, which can be no secret"
            ));
        }
        Ok(client)
    }
}

/// As a form encodes it.
pub(super) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Client, Method, Proof};
    use crate::http::auth::metadata::ServerMetadata;
    use reqwest::Url;
    use serde_json::json;

    fn server(methods: Option<&[&str]>) -> ServerMetadata {
        let mut server = ServerMetadata::by_default(&Url::parse("https://a/").unwrap());
        server.auth_methods = methods.map(|m| m.iter().map(|m| (*m).to_owned()).collect());
        server
    }

    #[test]
    fn a_secret_is_shown_as_the_server_takes_it() {
        let client = Client::new("id", Some("s".into()));
        for (taken, method) in [
            (None, Method::Basic),
            (Some(&["client_secret_post"][..]), Method::Post),
            (
                Some(&["client_secret_post", "client_secret_basic"][..]),
                Method::Basic,
            ),
        ] {
            assert_eq!(client.method(&server(taken)).unwrap(), method);
        }
        let refused = client
            .method(&server(Some(&["private_key_jwt"])))
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            "client refused: https://a takes clients by private_key_jwt, and the client can \
             show itself by client_secret_basic, client_secret_post only"
        );
        let unwanted = server(Some(&["none"]));
        assert_eq!(client.method(&unwanted).unwrap(), Method::Nothing);
        let form = client.show(&unwanted).unwrap().form;
        assert_eq!(form, [("client_id", "id".to_owned())]);
        let public = Client::new("id", None);
        let method = public.method(&server(Some(&["client_secret_basic"])));
        assert_eq!(method.unwrap(), Method::Nothing);
    }

    #[test]
    fn a_clients_url_is_one_of_a_document_by_https() {
        assert!(Client::may_be_url("https://app.example.org/client.json"));
        for url in [
            "https://app.example.org",
            "https://app.example.org/",
            "http://app.example.org/client.json",
            "https://u:p@app.example.org/client.json",
            "https://app.example.org/client.json#x",
            "client.json",
        ] {
            assert!(!Client::may_be_url(url), "{url}");
        }
    }

    #[test]
    fn id_and_secret_are_encoded_before_they_are_joined() {
        let client = Client::new("a:b", Some("s +%".into()));
        let shown = client.show(&server(None)).unwrap();
        // a%3Ab:s+%2B%25
        assert_eq!(shown.basic.as_deref(), Some("Basic YSUzQWI6cyslMkIlMjU="));
        assert!(shown.form.is_empty());
    }

    #[test]
    fn a_registration_says_how_the_client_shows_itself() {
        let body = json!({"client_id": "c", "client_secret": "s3cret-1",
                          "token_endpoint_auth_method": "client_secret_post"});
        let client = Client::registered(body.to_string().as_bytes()).unwrap();
        assert_eq!(client.method(&server(None)).unwrap(), Method::Post);
        let body = json!({"client_id": "c", "client_secret": "s",
                          "token_endpoint_auth_method": "none"});
        let client = Client::registered(body.to_string().as_bytes()).unwrap();
        assert!(matches!(client.proof, Proof::Nothing));
        assert!(Client::registered(b"{}").is_err());
        // To mask it would mask every `s` of the reports.
        let body = json!({"client_id": "c", "client_secret": "s"});
        let refused = Client::registered(body.to_string().as_bytes()).unwrap_err();
        assert!(refused.contains("fewer than 8 bytes"), "{refused}");
    }
}
