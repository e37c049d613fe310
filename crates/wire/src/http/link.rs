//! The endpoint, what goes with every request to it, and the session.
//!
//! Main type: [`Link`].

use super::auth::{AuthError, Authorizer, Bearer, Refusal, Tries};
use super::client::{NamedProxy, client_for, is_loopback, proxy_for, unread_proxy};
use super::facts;
use super::headers::{Outline, ParamHeaders, SESSION_ID};
use crate::{Endpoint, HttpEnd};
use jelly_base::model::HttpFacts;
use jelly_base::text::redact::Redactor;
use jelly_process::ExitWatch;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What carries messages over a link: what both sides have agreed on, and who
/// hears how it goes.
pub trait Carrier: Send + Sync {
    /// The version that was settled on, if one was.
    fn version(&self) -> Option<String>;
    /// Which arguments of tools travel as headers too.
    fn params(&self) -> Arc<ParamHeaders>;
    /// An exchange brought no answer and is made again; none once one did.
    fn note_trouble(&self, facts: Option<HttpFacts>);
    /// The server broke the protocol; a fragment that completes "the server …".
    fn breach(&self, what: &str);
}

/// One server by its URL.
///
/// Follows no redirect by itself, asks for nothing that is packed, goes through no proxy to
/// this machine, and has no time limits of its own: whoever waits has one.
pub struct Link {
    client: Client,
    url: Url,
    /// What the environment puts in between.
    pub(super) proxy: Option<NamedProxy>,
    /// From the plan.
    own_headers: HeaderMap,
    /// Has the tokens, where the server wants some.
    auth: Option<Arc<Authorizer>>,
    pub(super) redactor: Redactor,
    /// The server is a process of ours, to be waited for while it starts.
    pub(super) process: Option<ExitWatch>,
    state: Mutex<LinkState>,
}

#[derive(Debug, Default)]
struct LinkState {
    session: Option<HeaderValue>,
    /// It has answered before.
    ready: bool,
    /// Where a redirect of the plan's URL led.
    redirected: Option<Url>,
    /// Where messages go by the deprecated HTTP+SSE transport.
    old: Option<Url>,
    /// How the stream of that transport came to its end.
    old_end: Option<HttpEnd>,
}

impl Link {
    /// # Errors
    /// The URL or a header can't be used.
    pub(crate) fn new(endpoint: &Endpoint, redactor: &Redactor) -> Result<Self, Box<HttpEnd>> {
        let refuse = |kind: &str, text: String| {
            let text = redactor.redact(&text).into_owned();
            let facts = HttpFacts {
                error: Some(kind.to_owned()),
                text: Some(text.clone()),
                ..HttpFacts::default()
            };
            Box::new(facts::useless(facts, text))
        };
        let url = Url::parse(&endpoint.url)
            .map_err(|error| refuse("InvalidURL", format!("its URL is none ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            let text = format!("its URL has the unsupported scheme `{scheme}`");
            return Err(refuse("InvalidURL", text));
        }
        let own_headers = checked_headers(&endpoint.headers).map_err(|name| {
            let text = format!("the header `{name}` can't be sent as it is");
            refuse("header", text)
        })?;
        if let Some(unread) = unread_proxy(&url) {
            let mut end = refuse("proxy_unread", unread.to_string());
            end.facts.proxy_variable = Some(unread.variable.to_owned());
            return Err(end);
        }
        let client = client_for(is_loopback(&url))
            .map_err(|error| refuse("client", format!("no HTTP client can be had: {error}")))?;
        Ok(Self {
            client,
            proxy: proxy_for(&url),
            url,
            own_headers,
            auth: endpoint.auth.clone(),
            redactor: redactor.clone(),
            process: None,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        // Nothing in it depends on anything else in it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The URL of the plan.
    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    /// The same, or where it led when a message was sent there: streams and the end of the
    /// session belong to the place that took it.
    pub(super) fn endpoint(&self) -> Url {
        let redirected = self.state().redirected.clone();
        redirected.unwrap_or_else(|| self.url())
    }

    pub(super) fn keep_redirect(&self, to: &Url) {
        self.state().redirected = Some(to.clone());
    }

    /// Where a message goes.
    pub(super) fn post_url(&self) -> Url {
        let old = self.state().old.clone();
        old.unwrap_or_else(|| self.url())
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state().ready
    }

    pub(super) fn set_ready(&self, carrier: &dyn Carrier) {
        if !std::mem::replace(&mut self.state().ready, true) {
            carrier.note_trouble(None);
        }
    }

    pub(super) fn use_old_transport(&self, messages_go_to: Url) {
        self.state().old = Some(messages_go_to);
    }

    pub(super) fn is_old_transport(&self) -> bool {
        self.state().old.is_some()
    }

    pub(super) fn end_old_transport(&self, end: HttpEnd) {
        self.state().old_end = Some(end);
    }

    pub(super) fn old_end(&self) -> Option<HttpEnd> {
        self.state().old_end.clone()
    }

    pub(super) fn has_session(&self) -> bool {
        self.state().session.is_some()
    }

    /// The session that requests name now.
    pub(super) fn session(&self) -> Option<HeaderValue> {
        self.state().session.clone()
    }

    /// The session is no more.
    pub(super) fn forget_session(&self) {
        self.state().session = None;
    }

    /// What may be told of the head of an answer.
    pub(super) fn head(&self, response: &Response) -> HttpFacts {
        facts::of_head(response.status(), response.headers(), &self.redactor)
    }

    /// Keeps the session that the answer to `initialize` opens.
    pub(super) fn keep_session(&self, answer: &Response) {
        if let Some(session) = answer.headers().get(SESSION_ID) {
            let mut session = session.clone();
            session.set_sensitive(true);
            self.state().session = Some(session);
        }
    }

    /// A request to send a message by.
    pub(super) fn post(
        &self,
        url: Url,
        body: &[u8],
        outline: &Outline,
        (bearer, carried): (Option<&Bearer>, &HeaderMap),
        carrier: &dyn Carrier,
    ) -> RequestBuilder {
        let settled = carrier.version();
        let repeated = outline.headers(settled.as_deref(), &carrier.params());
        let modern = repeated.iter().any(|(name, _)| name == "mcp-method");
        let mut headers = HeaderMap::new();
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in repeated {
            let name = HeaderName::from_bytes(name.as_bytes());
            // Both are made to fit.
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                headers.insert(name, value);
            }
        }
        // What jelly knows to be right stands over what it only passes on.
        for (name, value) in carried {
            if !headers.contains_key(name) {
                headers.insert(name, value.clone());
            }
        }
        // A modern request belongs to no session, and `initialize` opens one.
        if !modern && outline.method.as_deref() != Some("initialize") {
            self.add_session(&mut headers);
        }
        add_token(&mut headers, bearer);
        self.client
            .request(Method::POST, url)
            .headers(self.with_own(headers))
            .body(body.to_vec())
    }

    /// A request for a stream of what the server has to say by itself, or for
    /// the rest of one that broke off after the event `since`.
    fn get(
        &self,
        url: Url,
        since: Option<&str>,
        bearer: Option<&Bearer>,
        carrier: &dyn Carrier,
    ) -> RequestBuilder {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.add_version(&mut headers, carrier);
        self.add_session(&mut headers);
        // An id that no header can carry is one to do without.
        if let Some(Ok(since)) = since.map(HeaderValue::from_str) {
            headers.insert("last-event-id", since);
        }
        add_token(&mut headers, bearer);
        let headers = self.with_own(headers);
        self.client.request(Method::GET, url).headers(headers)
    }

    /// The answer to a request for a stream, asked for again with a token where
    /// the server wants one.
    pub(super) async fn stream(
        &self,
        url: Url,
        since: Option<&str>,
        carrier: &dyn Carrier,
    ) -> reqwest::Result<Response> {
        let mut tries = Tries::default();
        loop {
            let bearer = self.bearer();
            let request = self.get(url.clone(), since, bearer.as_ref(), carrier);
            let response = request.send().await?;
            match self.authorize(&response, bearer.as_ref(), &mut tries).await {
                Some(Ok(())) => {}
                // Why there is none shows in the next request.
                Some(Err(_)) | None => return Ok(response),
            }
        }
    }

    /// The token that a request is to carry now.
    pub(super) fn bearer(&self) -> Option<Bearer> {
        self.auth.as_ref()?.bearer()
    }

    /// Gets the token that an answer asks for, if it asks for one and there is
    /// a way to get it.
    pub(super) async fn authorize(
        &self,
        response: &Response,
        used: Option<&Bearer>,
        tries: &mut Tries,
    ) -> Option<Result<(), AuthError>> {
        let auth = self.auth.as_ref()?;
        let refusal = Refusal::of(response.status().as_u16(), response.headers())?;
        match auth.answer(&refusal, used, tries).await {
            // Nobody speaks of OAuth, here or there: the answer is what it is.
            Err(error) if error.is_unclaimed && auth.is_offered() => None,
            answered => Some(answered),
        }
    }

    /// The request that ends the session.
    pub(super) fn delete(&self, carrier: &dyn Carrier) -> RequestBuilder {
        let mut headers = HeaderMap::new();
        self.add_version(&mut headers, carrier);
        self.add_session(&mut headers);
        add_token(&mut headers, self.bearer().as_ref());
        let headers = self.with_own(headers);
        self.client
            .request(Method::DELETE, self.endpoint())
            .headers(headers)
    }

    fn add_version(&self, headers: &mut HeaderMap, carrier: &dyn Carrier) {
        let version = carrier.version();
        if let Some(Ok(version)) = version.as_deref().map(HeaderValue::from_str) {
            headers.insert(super::headers::PROTOCOL_VERSION, version);
        }
    }

    fn add_session(&self, headers: &mut HeaderMap) {
        if let Some(session) = &self.state().session {
            headers.insert(SESSION_ID, session.clone());
        }
    }

    /// What the plan says about headers stands over all else.
    fn with_own(&self, mut headers: HeaderMap) -> HeaderMap {
        for name in self.own_headers.keys() {
            headers.remove(name);
        }
        for (name, value) in &self.own_headers {
            headers.append(name, value.clone());
        }
        headers
    }
}

/// Headers of a plan, or the name of one that can't be sent as it is.
pub(super) fn checked_headers(headers: &[(String, String)]) -> Result<HeaderMap, String> {
    let mut checked = HeaderMap::new();
    for (name, value) in headers {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| name.clone())?;
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| name.clone())?;
        value.set_sensitive(true);
        checked.append(key, value);
    }
    Ok(checked)
}

fn add_token(headers: &mut HeaderMap, bearer: Option<&Bearer>) {
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer.header.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::Link;
    use crate::Endpoint;
    use jelly_base::text::redact::Redactor;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint {
            url: url.to_owned(),
            ..Endpoint::default()
        }
    }

    #[test]
    fn what_is_no_url_of_a_server_is_said_without_the_secret_in_it() {
        let redactor = Redactor::new([("KEY", "swordfish")]);
        for url in [
            "ftp://h/",
            "http://",
            "no url",
            "http://h:99999/",
            "swordfish://h/",
        ] {
            let end = Link::new(&endpoint(url), &redactor).err().unwrap();
            assert_eq!(end.facts.error.as_deref(), Some("InvalidURL"), "{url}");
            assert!(!end.message.contains("swordfish"));
        }
        let mut broken = endpoint("http://h/");
        broken.headers = vec![("A".into(), "swordfish\n".into())];
        let end = Link::new(&broken, &redactor).err().unwrap();
        assert_eq!(end.message, "the header `A` can't be sent as it is");
    }
}
