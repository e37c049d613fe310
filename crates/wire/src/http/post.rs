//! A message on its way to the head of an answer.
//!
//! Main type: [`Post`]. Redirects are followed as far as they may be, a token is
//! got where one is asked for, and a server of ours that is still starting is
//! asked again.

use super::auth::Tries;
use super::client::{bare, same_origin};
use super::facts;
use super::headers::Outline;
use super::link::{Carrier, Link};
use crate::HttpEnd;
use crate::era::is_modern_error;
use jelly_base::mcp::{Method, Notification};
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Response, Url};
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// A server of ours that is still starting is asked again after this pause at
/// first, and after longer ones later.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// So many redirects are followed.
const REDIRECTS: usize = 5;
/// One message, and what it travels by.
pub(super) struct Post<'a> {
    pub link: &'a Link,
    pub carrier: &'a dyn Carrier,
    pub body: &'a [u8],
    pub outline: &'a Outline,
    /// Headers that came with it, and are passed on.
    pub carried: &'a HeaderMap,
}

impl Post<'_> {
    /// The head of an answer; redirects are followed as far as they may be, and
    /// a server that is still starting is asked again.
    pub(super) async fn response(&self) -> Result<Response, Box<HttpEnd>> {
        let mut url = self.link.post_url();
        let mut pause = FIRST_PAUSE;
        let mut redirects = 0;
        let mut tries = Tries::default();
        let mut lost = false;
        loop {
            let bearer = self.link.bearer();
            let request = self.link.post(
                url.clone(),
                self.body,
                self.outline,
                (bearer.as_ref(), self.carried),
                self.carrier,
            );
            let trouble = match request.send().await {
                Ok(response) if self.is_starting(&response) => {
                    let head = self.link.head(&response);
                    let words = facts::in_words(response.status().as_u16());
                    facts::useless(head, format!("was answered with {words}"))
                }
                Ok(response) => {
                    self.link.set_ready(self.carrier);
                    let bearer = bearer.as_ref();
                    match self.link.authorize(&response, bearer, &mut tries).await {
                        Some(Ok(())) => continue,
                        Some(Err(error)) => {
                            let head = self.link.head(&response);
                            return Err(Box::new(facts::unauthorized(head, &error)));
                        }
                        None => {}
                    }
                    if !response.status().is_redirection() {
                        if redirects > 0 {
                            self.link.keep_redirect(&url);
                        }
                        return Ok(response);
                    }
                    url = self.redirected(&url, &response, redirects)?;
                    redirects += 1;
                    continue;
                }
                Err(error) if !lost && self.may_be_sent_again(&error) => {
                    lost = true;
                    continue;
                }
                Err(error) => facts::lost(error, None, &self.link.redactor),
            };
            let stays = facts::stays_refused(&trouble.facts);
            if self.link.process.is_none() || self.link.is_ready() || stays {
                return Err(Box::new(trouble));
            }
            let mut facts = trouble.facts;
            facts.text.get_or_insert(trouble.message);
            self.carrier.note_trouble(Some(facts));
            sleep(pause).await;
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
        }
    }

    /// Whether a message whose connection was lost may be sent once more: an idle connection may
    /// have been closed by the server in that moment. A call of a tool may have had its effect,
    /// and so may what no revision knows.
    fn may_be_sent_again(&self, error: &reqwest::Error) -> bool {
        let method = self.outline.method.as_deref().unwrap_or_default();
        let only_asks = method != "tools/call"
            && (Method::find(method).is_some() || method.starts_with(Notification::PREFIX));
        only_asks && self.link.is_ready() && !error.is_connect() && !error.is_builder()
    }

    /// Whether the answer is one of a gateway before a process of ours that is
    /// not there yet.
    fn is_starting(&self, response: &Response) -> bool {
        self.link.process.is_some()
            && !self.link.is_ready()
            && matches!(response.status().as_u16(), 502..=504)
    }

    /// Where a redirect leads, if it may be followed: the same request again,
    /// and to the same origin, since no header may leave it.
    fn redirected(
        &self,
        from: &Url,
        response: &Response,
        so_far: usize,
    ) -> Result<Url, Box<HttpEnd>> {
        let mut head = self.link.head(response);
        let words = facts::in_words(response.status().as_u16());
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|l| l.to_str().ok());
        let Some(Ok(to)) = location.map(|location| from.join(location)) else {
            let message = format!("was answered with {words}, which leads nowhere");
            return Err(Box::new(facts::useless(head, message)));
        };
        let shown = bare(&to, &self.link.redactor);
        let location = Value::from(shown.as_str());
        head.headers.insert("location".to_owned(), location);
        let why = if !same_origin(from, &to) {
            "jelly follows no redirect to another origin"
        } else if !matches!(response.status().as_u16(), 307 | 308) {
            "jelly follows only those that keep the request as it is (307, 308)"
        } else if so_far >= REDIRECTS {
            "jelly follows no more than five in a row"
        } else {
            return Ok(to);
        };
        let message = format!("was redirected with {words} to {shown}; {why}");
        Err(Box::new(facts::useless(head, message)))
    }

    /// Whether the refusal may be one of a server that knows only the
    /// deprecated HTTP+SSE transport (2026-07-28, Streamable HTTP, "HTTP+SSE
    /// Transport").
    pub(super) fn may_be_old(&self, end: &HttpEnd) -> bool {
        let modern = end.rpc_error.as_ref().is_some_and(is_modern_error);
        self.outline.method.as_deref() == Some("initialize")
            && !self.link.is_old_transport()
            && matches!(end.facts.status, Some(400 | 404 | 405))
            && !modern
    }
}
