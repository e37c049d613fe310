//! What is asked of an authorization server, and of whoever names it.
//!
//! Main type: [`Http`]. The rules are those of the connection itself: no
//! redirect to another origin, bodies bounded, every wait with an end, no proxy
//! to this machine; and HTTPS, but for this machine.

use super::challenge::Challenge;
use super::error::{AuthError, Stage};
use super::token::FormFields;
use crate::http::client::{bare, client_for, is_loopback, same_origin, unread_proxy};
use crate::http::facts;
use jelly_base::mcp::{Era, Revision};
use jelly_base::text::human_duration;
use jelly_base::text::redact::Redactor;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// So much of an answer is read.
const MAX_BODY: usize = 256 * 1024;
/// So many redirects of a document are followed.
const REDIRECTS: usize = 3;

/// Sends what belongs to authorization. Cheap to clone.
#[derive(Clone)]
pub(super) struct Http {
    /// For this machine, and for all others.
    near: Client,
    far: Client,
    /// The server itself is on this machine, so what it names may be too.
    at_home: bool,
    /// For one request with its answer.
    patience: Duration,
    pub redactor: Redactor,
}

/// An answer that came whole.
pub(super) struct Got {
    pub status: u16,
    pub body: Vec<u8>,
    /// Where a redirect that is not followed leads to.
    pub location: Option<String>,
}

impl Got {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// As in `HTTP 404 Not Found`.
    pub fn words(&self) -> String {
        facts::in_words(self.status)
    }
}

impl Http {
    pub fn new(server: &Url, patience: Duration, redactor: &Redactor) -> Result<Self, AuthError> {
        let client = |near| {
            client_for(near).map_err(|error| {
                let text = format!("no HTTP client can be had: {error}");
                AuthError::new(Stage::Unreachable, text).redacted(redactor)
            })
        };
        Ok(Self {
            near: client(true)?,
            far: client(false)?,
            at_home: is_loopback(server),
            patience,
            redactor: redactor.clone(),
        })
    }

    /// The end of waiting for one request.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// A URL as it may be shown.
    pub fn shown(&self, url: &Url) -> String {
        super::token::shown(&bare(url, &self.redactor))
    }

    /// Whether anything may be sent there: by HTTPS, or to this machine, and to
    /// this machine only if the server is there too.
    pub fn may_ask(&self, url: &Url) -> Result<(), AuthError> {
        let why = match (url.scheme(), is_loopback(url)) {
            ("http" | "https", true) if self.at_home => return Ok(()),
            ("https", false) => {
                return match unread_proxy(url) {
                    Some(unread) => Err(AuthError::new(Stage::Unreachable, unread.to_string())),
                    None => Ok(()),
                };
            }
            ("http" | "https", true) => "only a server on this machine may name another on it",
            ("http", false) => "authorization must go over HTTPS",
            (_, _) => "that is not a URL of a server",
        };
        let text = format!("{} is not asked: {why}", self.shown(url));
        Err(AuthError::new(Stage::Metadata, text))
    }

    fn client(&self, url: &Url) -> &Client {
        if is_loopback(url) {
            &self.near
        } else {
            &self.far
        }
    }

    /// A document. Redirects are followed at its origin.
    pub async fn document(&self, url: &Url) -> Result<Got, AuthError> {
        let mut url = url.clone();
        let mut left = REDIRECTS;
        loop {
            self.may_ask(&url)?;
            let request = self
                .client(&url)
                .get(url.clone())
                .header(ACCEPT, HeaderValue::from_static("application/json"));
            let got = self.ask(&url, request).await?;
            let next = got.location.as_deref().and_then(|to| url.join(to).ok());
            match next {
                Some(next) if left > 0 && same_origin(&url, &next) => {
                    left -= 1;
                    url = next;
                }
                Some(_) | None => return Ok(got),
            }
        }
    }

    /// A page as a browser would ask for it; no redirect is followed.
    pub async fn page(&self, url: &Url) -> Result<Got, AuthError> {
        self.may_ask(url)?;
        let request = self.client(url).get(url.clone());
        self.ask(url, request).await
    }

    /// Sends a form, with what shows the client in a header.
    pub async fn form(
        &self,
        url: &Url,
        form: &FormFields,
        basic: Option<&str>,
    ) -> Result<Got, AuthError> {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        // Base64 fits a header.
        if let Some(Ok(mut value)) = basic.map(HeaderValue::from_str) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        self.post(url, headers, body).await
    }

    /// Sends a JSON document.
    pub async fn json(&self, url: &Url, document: &Value) -> Result<Got, AuthError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.post(url, headers, document.to_string()).await
    }

    /// Asks an MCP server for something without a token: whether it took that,
    /// and what it asks for if not.
    pub async fn knock(&self, server: &Url) -> Result<(bool, Challenge), AuthError> {
        // Over the wire in the clear to another machine goes no token, so that
        // there is nothing to log in for.
        self.may_ask(server)?;
        let version = Revision::newest(Era::Legacy).name;
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "jelly", "version": env!("CARGO_PKG_VERSION")}}});
        let request = self
            .client(server)
            .post(server.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(
                ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            )
            .body(body.to_string());
        // A stream may follow; its head says enough.
        let head = match timeout(self.patience, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let why = format!("gave no answer: {}", facts::in_full(&error));
                return Err(self.unreachable(server, &why));
            }
            Err(_) => return Err(self.unreachable(server, &self.too_late())),
        };
        let challenge = Challenge::of(head.headers()).unwrap_or_default();
        Ok((head.status().is_success(), challenge))
    }

    async fn post(
        &self,
        url: &Url,
        mut headers: HeaderMap,
        body: String,
    ) -> Result<Got, AuthError> {
        self.may_ask(url)?;
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let request = self
            .client(url)
            .post(url.clone())
            .headers(headers)
            .body(body);
        self.ask(url, request).await
    }

    async fn ask(&self, url: &Url, request: RequestBuilder) -> Result<Got, AuthError> {
        let exchange = async {
            match request.send().await {
                Ok(response) => whole(response).await,
                Err(error) => Err(format!("gave no answer: {}", facts::in_full(&error))),
            }
        };
        match timeout(self.patience, exchange).await {
            Ok(Ok(got)) => Ok(got),
            Ok(Err(why)) => Err(self.unreachable(url, &why)),
            Err(_) => Err(self.unreachable(url, &self.too_late())),
        }
    }

    fn too_late(&self) -> String {
        format!("did not answer within {}", human_duration(self.patience))
    }

    fn unreachable(&self, url: &Url, why: &str) -> AuthError {
        let text = format!("{} {why}", self.shown(url));
        AuthError::new(Stage::Unreachable, text).redacted(&self.redactor)
    }
}

async fn whole(mut response: Response) -> Result<Got, String> {
    let status = response.status();
    let location = response
        .headers()
        .get(LOCATION)
        .filter(|_| status.is_redirection())
        .and_then(|to| to.to_str().ok())
        .map(str::to_owned);
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > MAX_BODY => {
                return Err(format!("answered with more than {MAX_BODY} bytes"));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => return Err(format!("broke its answer off: {}", facts::in_full(&error))),
        }
    }
    Ok(Got {
        status: status.as_u16(),
        body,
        location,
    })
}

#[cfg(test)]
mod tests {
    use super::Http;
    use jelly_base::text::redact::Redactor;
    use reqwest::Url;
    use std::time::Duration;

    #[test]
    fn nothing_is_sent_in_the_clear_but_to_this_machine() {
        let url = |text: &str| Url::parse(text).unwrap();
        for (server, to, may) in [
            ("https://h/mcp", "https://a/token", true),
            ("https://h/mcp", "http://a/token", false),
            ("https://h/mcp", "https://127.0.0.1/token", false),
            ("https://h/mcp", "http://localhost/token", false),
            ("https://h/mcp", "https://[::ffff:127.0.0.1]/token", false),
            ("https://h/mcp", "https://0.0.0.0/token", false),
            ("https://h/mcp", "https://localhost./token", false),
            ("http://127.0.0.1:1/mcp", "http://localhost:2/token", true),
            ("http://127.0.0.1:1/mcp", "https://a/token", true),
            ("http://127.0.0.1:1/mcp", "http://a/token", false),
            ("https://h/mcp", "file:///etc/passwd", false),
        ] {
            let http = Http::new(&url(server), Duration::ZERO, &Redactor::none()).unwrap();
            assert_eq!(http.may_ask(&url(to)).is_ok(), may, "{server} → {to}");
        }
    }
}
