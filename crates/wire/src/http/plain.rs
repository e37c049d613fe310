//! Requests to what stands beside the endpoint of a server: no messages of MCP.
//!
//! Main type: [`PlainHttp`]. It goes to the endpoint's own host and port alone, and
//! follows no redirect: where one leads is part of the answer.

use super::client::{NamedProxy, client_for, is_loopback, proxy_for, unread_proxy};
use super::facts;
use super::link::checked_headers;
use super::tunnel;
use crate::http::body::{BodyKind, HttpBody, kind_of_body};
use crate::{Endpoint, HttpEnd};
use jelly_base::model::{HttpFacts, OwnLimit};
use jelly_base::text::redact::Redactor;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};
use std::time::Duration;
use tokio::time::timeout;

/// Bytes of a body that are read.
const MAX_BODY: usize = 4 << 20;
/// How long a stream of events is read.
const STREAM: Duration = Duration::from_millis(300);

/// The host and port of an endpoint.
pub struct PlainHttp {
    client: Client,
    endpoint: Url,
    proxy: Option<NamedProxy>,
    own_headers: HeaderMap,
    auth: Option<std::sync::Arc<super::auth::Authorizer>>,
    redactor: Redactor,
}

/// A request beside the endpoint.
#[derive(Debug, Clone, Default)]
pub struct PlainRequest {
    /// As in `GET`.
    pub method: String,
    /// From the host on, with its query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// With its type, where no header says another.
    pub body: Option<(&'static str, Vec<u8>)>,
    /// Without the headers and the token that the endpoint gets.
    pub bare: bool,
}

/// What came back, whatever its status.
#[derive(Debug, Clone, Default)]
pub struct PlainAnswer {
    pub status: u16,
    /// In the order in which they came, by lower-case name.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// It is a stream of events that had not ended when the reading of it did.
    pub goes_on: bool,
    /// What may be told of it.
    pub facts: HttpFacts,
}

impl PlainAnswer {
    /// The values of a header, joined by commas; none where there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let of_name = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
        let values = self.headers.iter().filter(of_name);
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// It as a refusal, in the words of the transport.
    #[must_use]
    pub fn refused(&self) -> HttpEnd {
        facts::refused(self.facts.clone(), &self.body)
    }
}

impl PlainHttp {
    /// # Errors
    /// The URL or a header can't be used.
    pub fn new(endpoint: &Endpoint, redactor: &Redactor) -> Result<Self, Box<HttpEnd>> {
        let refuse = |text: String| refused_here(redactor, "InvalidURL", &text);
        let url = Url::parse(&endpoint.url)
            .map_err(|error| refuse(format!("its URL is none ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            return Err(refuse(format!(
                "its URL has the unsupported scheme `{scheme}`"
            )));
        }
        let unfit = |name: &str| {
            let text = format!("the header `{name}` can't be sent as it is");
            refused_here(redactor, "header", &text)
        };
        let own_headers = checked_headers(&endpoint.headers).map_err(|name| unfit(&name))?;
        if let Some(unread) = unread_proxy(&url) {
            return Err(refused_here(redactor, "proxy_unread", &unread.to_string()));
        }
        let client = client_for(is_loopback(&url)).map_err(|error| {
            refused_here(
                redactor,
                "client",
                &format!("no HTTP client can be had: {error}"),
            )
        })?;
        Ok(Self {
            client,
            proxy: proxy_for(&url),
            endpoint: url,
            own_headers,
            auth: endpoint.auth.clone(),
            redactor: redactor.clone(),
        })
    }

    /// Sends a request, and reads the answer to its end; of a stream of events, what
    /// comes soon. It has no time limit of its own.
    ///
    /// # Errors
    /// There is no answer, or none that could be read.
    pub async fn send(&self, request: &PlainRequest) -> Result<PlainAnswer, Box<HttpEnd>> {
        let refuse = |kind: &str, text: &str| refused_here(&self.redactor, kind, text);
        let url = self
            .url(&request.path)
            .map_err(|text| refuse("InvalidURL", &text))?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| refuse("method", "its method is none"))?;
        let own = checked_headers(&request.headers).map_err(|name| {
            refuse(
                "header",
                &format!("the header `{name}` can't be sent as it is"),
            )
        })?;
        let mut headers = HeaderMap::new();
        if let Some((kind, _)) = &request.body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        if !request.bare {
            if let Some(bearer) = self.auth.as_ref().and_then(|auth| auth.bearer()) {
                headers.insert(AUTHORIZATION, bearer.header.clone());
            }
            replace(&mut headers, &self.own_headers);
        }
        replace(&mut headers, &own);
        let mut sent = self.client.request(method, url.clone()).headers(headers);
        if let Some((_, body)) = &request.body {
            sent = sent.body(body.clone());
        }
        let through = |end: HttpEnd| Box::new(facts::through(end, self.proxy.as_ref()));
        let response = match sent.send().await {
            Ok(response) => response,
            Err(error) => {
                let end = facts::lost(error, None, &self.redactor);
                return Err(through(tunnel::explained(end, &url).await));
            }
        };
        let head = facts::of_head(response.status(), response.headers(), &self.redactor);
        let headers = response.headers().iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        });
        let mut answer = PlainAnswer {
            status: response.status().as_u16(),
            headers: headers.collect(),
            ..PlainAnswer::default()
        };
        let kind = kind_of_body(response.headers());
        let mut body = HttpBody::of(response).map_err(|coding| {
            let message =
                format!("was answered with a body packed as `{coding}`, which jelly can't unpack");
            Box::new(facts::beyond(head.clone(), OwnLimit::Encoding, message))
        })?;
        // A stream of events has no end to wait for.
        let patience = match kind {
            BodyKind::Events => STREAM,
            BodyKind::Json | BodyKind::Other(_) => Duration::MAX,
        };
        let read = body.read_while(&mut answer.body, |bytes| bytes.len() <= MAX_BODY);
        let read = timeout(patience, read).await;
        answer.goes_on = read.is_err();
        let whole = read
            .unwrap_or(Ok(true))
            .map_err(|error| through(facts::broke_off(error, head.clone(), &self.redactor)))?;
        if !whole {
            let message = format!("was answered with more than {} MiB", MAX_BODY >> 20);
            return Err(Box::new(facts::beyond(
                head,
                OwnLimit::MessageSize,
                message,
            )));
        }
        answer.facts = HttpFacts {
            body: facts::body(&answer.body, &self.redactor),
            ..head
        };
        facts::set_proxy(&mut answer.facts, self.proxy.as_ref());
        Ok(answer)
    }

    /// The path of the endpoint itself, with its query.
    #[must_use]
    pub fn own_path(&self) -> String {
        let query = self.endpoint.query().map(|query| format!("?{query}"));
        format!("{}{}", self.endpoint.path(), query.unwrap_or_default())
    }

    /// Where a path leads on the endpoint's host.
    fn url(&self, path: &str) -> Result<Url, String> {
        if !path.starts_with('/') || path.starts_with("//") {
            return Err("its path does not begin with one `/`".to_owned());
        }
        let url = self
            .endpoint
            .join(path)
            .map_err(|error| format!("its path is none ({error})"))?;
        match url.origin() == self.endpoint.origin() {
            true => Ok(url),
            false => Err("its path leads to another host".to_owned()),
        }
    }
}

fn refused_here(redactor: &Redactor, kind: &str, text: &str) -> Box<HttpEnd> {
    let text = redactor.redact(text).into_owned();
    let facts = HttpFacts {
        error: Some(kind.to_owned()),
        text: Some(text.clone()),
        ..HttpFacts::default()
    };
    Box::new(facts::useless(facts, text))
}

/// Puts headers in the place of those of the same names.
fn replace(headers: &mut HeaderMap, by: &HeaderMap) {
    for name in by.keys() {
        headers.remove(name);
    }
    for (name, value) in by {
        headers.append(HeaderName::clone(name), value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::PlainHttp;
    use crate::Endpoint;
    use jelly_base::text::redact::Redactor;

    #[test]
    fn no_path_leads_to_another_host() {
        let endpoint = Endpoint {
            url: "http://127.0.0.1:9/mcp?key=1".to_owned(),
            ..Endpoint::default()
        };
        let http = PlainHttp::new(&endpoint, &Redactor::none()).ok().unwrap();
        let url = |path: &str| http.url(path).map(String::from);
        assert_eq!(
            url("/.well-known/a?b=c").unwrap(),
            "http://127.0.0.1:9/.well-known/a?b=c"
        );
        assert_eq!(url("/a/../b").unwrap(), "http://127.0.0.1:9/b");
        for path in ["//h/a", "http://h/", "a", "", "\\\\h\\a", "/\\h/a"] {
            let other = url(path);
            assert!(other.as_ref().is_err(), "{path} {other:?}");
        }
    }
}
