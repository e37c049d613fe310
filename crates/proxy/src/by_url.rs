//! A server behind a URL: what comes of messages that it does not take.

use super::driver::Proxy;
use super::message::{Kind, Line, peek};
use super::upstream::outsider;
use jelly_base::mcp::DISCOVER;
use jelly_base::model::UpstreamErrorType;
use jelly_base::text::redact::show_text;
use jelly_wire::{HttpEnd, RawNews};
use std::io::Write;
use tokio::time::Instant;

impl Proxy {
    pub(super) fn heard_by_url(&mut self, news: RawNews) {
        match news {
            RawNews::Line(line) => self.heard(&line),
            RawNews::Failed { line, end } => self.unanswered(&line, *end),
            RawNews::Closed(end) => {
                let method = self.relay.asked_for().unwrap_or("a request");
                let failure = outsider(&self.settings).unanswered(*end, method);
                self.upstream = None;
                self.failed(&failure);
            }
        }
    }

    /// A fault wants a server dead that is no process of ours.
    pub(super) fn cut_off(&mut self) {
        let end = HttpEnd {
            message: "got no answer: the connection was cut by --fault".to_owned(),
            ..HttpEnd::default()
        };
        self.heard_by_url(RawNews::Closed(Box::new(end)));
    }

    /// The server did not take a message, or has no answer to it. That it is
    /// there for others is not excluded.
    fn unanswered(&mut self, line: &[u8], end: HttpEnd) {
        let now = Instant::now();
        let (method, asks) = asked(line);
        if !asks {
            let _ = writeln!(
                self.pass_on,
                "jelly proxy: {method} {}",
                show_text(&self.settings.redactor.redact(&end.message))
            );
            return;
        }
        if end.session_lost {
            return self.session_lost(line, end, &method, now);
        }
        if self.relay.is_ready() {
            let failure = outsider(&self.settings).unanswered(end, &method);
            let trouble = self.told(&failure, UpstreamErrorType::NoAnswer);
            self.relay.unanswered(line, &trouble);
        } else if method == DISCOVER && is_legacy(&end) {
            self.relay.probe_refused(line);
        } else if let Some(upstream) = self.upstream.take() {
            let failure = upstream.unreached(&self.settings, end, &method);
            self.failed(&failure);
        }
    }

    /// The server knows the session no more, and executed nothing.
    fn session_lost(&mut self, line: &[u8], end: HttpEnd, method: &str, now: Instant) {
        if !self.relay.is_ready() {
            // A new one is being opened.
            self.relay.hold(line);
            return;
        }
        let failure = outsider(&self.settings).unanswered(end, method);
        if self.relay.may_restart(now) {
            let trouble = self.told(&failure, UpstreamErrorType::Died);
            self.relay.reopen(line, trouble, now);
            if let Some(http) = self.upstream.as_mut().and_then(|u| u.by_url()) {
                http.forget_session();
            }
            self.relay.started();
        } else {
            self.upstream = None;
            self.failed(&failure);
        }
    }
}

/// Its method, and whether it waits for an answer; of a batch, the first.
fn asked(line: &[u8]) -> (String, bool) {
    let messages = match peek(line) {
        Line::One(message) => vec![message],
        Line::Many(messages) => messages,
        Line::Other | Line::Noise => Vec::new(),
    };
    let is_request = |message: &&super::message::Peek<'_>| message.kind() == Kind::Request;
    if let Some(request) = messages.iter().find(is_request) {
        return (request.method().to_owned(), true);
    }
    let method = messages.first().map(|message| message.method());
    match method.filter(|method| !method.is_empty()) {
        Some(method) => (method.to_owned(), false),
        None => ("an answer".to_owned(), false),
    }
}

/// Whether the refusal of the probe is one of a server that knows the legacy era
/// only (2026-07-28, Streamable HTTP, "Backward Compatibility").
fn is_legacy(end: &HttpEnd) -> bool {
    let hopeless = |status| matches!(status, 300..=399 | 401 | 403 | 407 | 429 | 502..=504);
    end.facts.status.is_some_and(|status| !hopeless(status))
}
