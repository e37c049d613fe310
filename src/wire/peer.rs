//! JSON-RPC without input or output: ids, what is pending, what was seen.
//!
//! Main type: [`Peer`]. Lines go in, messages to send come out, and whoever
//! asked gets an answer. It does not know by which transport: one driver moves
//! its messages by two pipes, another sends each by HTTP.

mod checked;

use super::answers::{Answers, Ask};
use super::check::Checker;
use super::era::{Version, dress};
use super::exchange::{Answer, End, Life, Outgoing};
use super::frame::Frame;
use super::message::{Body, Line, Message, Payload, read_line, whole};
use super::observed::Observed;
use super::transcript::{Direction, Recorder};
use crate::model::Era;
use crate::text::redact::Redactor;
use crate::text::truncate;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::sync::oneshot;

/// Answers to a server that doesn't read them pile up no further than this.
const OUTBOX_BYTES: usize = 16 * 1024 * 1024;

/// What LSP's framing is called in a breach.
const CONTENT_LENGTH: &str =
    "speaks LSP-style Content-Length framing instead of newline-delimited JSON";

#[derive(Debug)]
struct Pending {
    id: u64,
    method: String,
    probe: bool,
    reply: oneshot::Sender<Answer>,
    progress: u64,
    messages_before: u64,
    noise_before: u64,
    /// The request's last byte in the stream of all bytes sent.
    sent_at: u64,
}

/// A request, or a notification where there is no id, as it is written.
#[derive(Serialize)]
struct Call<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    params: &'a Value,
}

impl<'a> Call<'a> {
    fn new(id: Option<u64>, method: &'a str, params: &'a Value) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            method,
            params,
        }
    }
}

/// One side of a JSON-RPC connection.
#[derive(Debug)]
pub struct Peer {
    server: String,
    redactor: Redactor,
    recorder: Option<Recorder>,
    answers: Answers,
    /// Once it is settled.
    version: Option<&'static Version>,
    next_id: u64,
    pending: Vec<Pending>,
    /// Given up; a late answer to one of these is no breach.
    given_up: BTreeSet<u64>,
    outbox: Vec<u8>,
    /// Bytes ever put into the outbox, and of these, written.
    queued: u64,
    written: u64,
    observed: Observed,
    /// Of what the server sends, where it is to be checked.
    checker: Option<Box<Checker>>,
    /// A `Content-Length` line came, and no blank line after it yet.
    in_header: bool,
    /// Each request has a stream of its own.
    has_streams: bool,
    end: Option<End>,
}

impl Peer {
    #[must_use]
    pub fn new(
        server: impl Into<String>,
        redactor: Redactor,
        recorder: Option<Recorder>,
        answers: Answers,
    ) -> Self {
        Self {
            server: server.into(),
            redactor,
            recorder,
            answers,
            version: None,
            next_id: 1,
            pending: Vec::new(),
            given_up: BTreeSet::new(),
            outbox: Vec::new(),
            queued: 0,
            written: 0,
            observed: Observed::default(),
            checker: None,
            in_header: false,
            has_streams: false,
            end: None,
        }
    }

    /// For a transport on which each request has a stream of its own: in the
    /// modern era, closing it is what cancels the request (2026-07-28,
    /// Streamable HTTP, "Cancellation").
    #[must_use]
    pub fn with_streams(mut self) -> Self {
        self.has_streams = true;
        self
    }

    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.has_streams
    }

    /// Tells the peer what both sides speak from now on.
    pub fn settle(&mut self, version: &'static Version) {
        self.version = Some(version);
        self.check(|checker| checker.settle(version));
    }

    /// What both sides speak, once it is settled.
    #[must_use]
    pub fn version(&self) -> Option<&'static Version> {
        self.version
    }

    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    #[must_use]
    pub fn observed(&self) -> &Observed {
        &self.observed
    }

    /// From here on only a later change of the tools counts.
    pub fn forget_tools_changed(&mut self) {
        self.observed.tools_changed = false;
    }

    /// Records a breach that was found outside; gives it back redacted.
    pub fn breach(&mut self, text: &str) -> String {
        self.observed.add_breach(text, &self.redactor)
    }

    // ── sending ──────────────────────────────────────────────────────────

    /// Queues a request; its id, and where the answer will come.
    pub fn open(&mut self, request: Outgoing<'_>) -> (u64, oneshot::Receiver<Answer>) {
        let (reply, receiver) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        if let Some(end) = &self.end {
            // The asker holds the other end.
            let _ = reply.send(end.answer());
            return (id, receiver);
        }
        let mut params = request.params;
        if let Some(version) = request.version {
            let token = request.progress.then_some(id);
            dress(&mut params, version, &self.answers, token);
        }
        self.check(|checker| checker.asked(id, request.method, &params));
        self.queue(&Call::new(Some(id), request.method, &params));
        self.pending.push(Pending {
            id,
            method: request.method.to_owned(),
            probe: request.probe,
            reply,
            progress: 0,
            messages_before: self.observed.messages,
            noise_before: self.observed.noise,
            sent_at: self.queued,
        });
        (id, receiver)
    }

    /// Queues a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.check(|checker| checker.told(method));
        self.queue(&Call::new(None, method, &params));
    }

    /// Gives a request up and tells the server so. None when its answer is
    /// already there.
    pub fn cancel(&mut self, id: u64, reason: &str) -> Option<Life> {
        let pending = self.forget(id)?;
        // MCP forbids cancelling `initialize`.
        let modern = pending.probe || self.version.is_some_and(|v| v.era == Era::Modern);
        let by_closing = self.has_streams && modern;
        if pending.method != "initialize" && !by_closing && self.end.is_none() {
            let params = json!({ "requestId": id, "reason": reason });
            self.notify("notifications/cancelled", params);
        }
        Some(Life {
            progress: pending.progress,
            messages: self.observed.messages - pending.messages_before,
            noise: self.observed.noise - pending.noise_before,
            stderr_bytes: 0,
            unread: pending.sent_at > self.written,
        })
    }

    /// Gives a request up without a word to the server.
    pub fn forget_quietly(&mut self, id: u64) {
        self.forget(id);
    }

    fn forget(&mut self, id: u64) -> Option<Pending> {
        let index = self.pending.iter().position(|p| p.id == id)?;
        self.given_up.insert(id);
        self.check(|checker| checker.gave_up(id));
        Some(self.pending.swap_remove(index))
    }

    fn queue(&mut self, message: &impl Serialize) {
        if self.end.is_some() {
            return;
        }
        let before = self.outbox.len();
        // Writing JSON into memory can't fail.
        let _ = serde_json::to_writer(&mut self.outbox, message);
        if let Some(recorder) = &self.recorder {
            let line = &self.outbox[before..];
            recorder.record(&self.server, Direction::Sent, line, &self.redactor);
        }
        self.outbox.push(b'\n');
        self.queued += (self.outbox.len() - before) as u64;
    }

    /// Moves what is to be sent to the end of `out`.
    pub fn take_outbox(&mut self, out: &mut Vec<u8>) {
        if out.is_empty() {
            std::mem::swap(out, &mut self.outbox);
        } else {
            out.append(&mut self.outbox);
        }
    }

    /// Bytes that were to leave so far, be they gone or not.
    #[must_use]
    pub fn bytes_queued(&self) -> u64 {
        self.queued
    }

    /// Bytes that have left so far.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.written
    }

    /// So many bytes more have left.
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes as u64;
    }

    // ── receiving ────────────────────────────────────────────────────────

    /// Takes a message that came by itself, as the body of an answer or the
    /// data of an event. False if it is none.
    pub fn receive_whole(&mut self, bytes: &[u8]) -> bool {
        self.record_received(bytes);
        match read_line(bytes) {
            Line::Messages(messages) => {
                self.check(|checker| checker.received(bytes));
                for message in messages {
                    self.take(message, bytes);
                }
                true
            }
            Line::Malformed { why, .. } => {
                self.check(|checker| checker.unreadable(&why));
                self.breach(&why);
                false
            }
            Line::Blank | Line::ContentLength | Line::Noise => false,
        }
    }

    /// Notes for the record what came and is not taken as a message.
    pub fn record_received(&self, bytes: &[u8]) {
        if let Some(recorder) = &self.recorder {
            recorder.record(&self.server, Direction::Received, bytes, &self.redactor);
        }
    }

    /// Takes what the splitter cut out.
    pub fn receive(&mut self, frame: Frame<'_>) {
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong(limit) => {
                self.check(Checker::passed_over);
                let text = format!("sent a line longer than {limit} bytes");
                return self.break_suspect(&text);
            }
        };
        self.check(|checker| checker.received(line));
        let read = read_line(line);
        if read != Line::Blank {
            self.record_received(line);
        }
        match read {
            Line::Blank if std::mem::take(&mut self.in_header) => {
                if self.observed.messages == 0 {
                    let text = self.breach(CONTENT_LENGTH);
                    self.finish(End::Closed(text));
                }
            }
            Line::Blank => {}
            Line::ContentLength => {
                self.in_header = true;
                self.observed.add_noise(line, &self.redactor);
            }
            Line::Noise => self.observed.add_noise(line, &self.redactor),
            Line::Malformed { why, answer } => {
                self.observed.add_noise(line, &self.redactor);
                if answer {
                    self.break_suspect(&why);
                } else {
                    self.breach(&why);
                }
            }
            Line::Messages(messages) => {
                self.in_header = false;
                for message in messages {
                    self.take(message, line);
                }
            }
        }
    }

    fn take(&mut self, message: Message, line: &[u8]) {
        let Message {
            body,
            flaws,
            marked,
        } = message;
        if !marked && !self.is_awaited(&body) {
            return self.observed.add_noise(line, &self.redactor);
        }
        self.observed.messages += 1;
        for flaw in flaws {
            self.breach(&flaw);
        }
        match body {
            Body::Response { id, payload } => self.take_response(&id, payload),
            Body::Request { id, method, params } => self.take_request(&id, &method, &params),
            Body::Notification { method, params } => self.take_notification(&method, &params),
        }
    }

    /// A response without `jsonrpc` could be any program's log line; it
    /// counts when somebody waits for exactly this.
    fn is_awaited(&self, body: &Body) -> bool {
        match body {
            Body::Response { id, .. } => {
                whole(id).is_some_and(|id| self.pending.iter().any(|p| p.id == id))
            }
            Body::Request { .. } | Body::Notification { .. } => false,
        }
    }

    fn take_response(&mut self, id: &Value, payload: Payload) {
        if id.is_null() {
            return self.take_nameless(payload);
        }
        if let Some(number) = whole(id) {
            if let Some(index) = self.pending.iter().position(|p| p.id == number) {
                return self.deliver(index, payload);
            }
            if self.given_up.remove(&number) {
                return;
            }
            if (1..self.next_id).contains(&number) {
                self.breach(&format!("answered request {number} twice"));
                return;
            }
        }
        let twin = id.as_str().and_then(|text| text.parse::<u64>().ok());
        if let Some(index) = self.pending.iter().position(|p| Some(p.id) == twin) {
            let text = format!(
                "answered request {} with the string id {id}",
                self.pending[index].id
            );
            let text = self.breach(&text);
            return self.settle_pending(index, Answer::Broken(text));
        }
        if twin.is_some_and(|twin| (1..self.next_id).contains(&twin)) {
            self.breach(&format!("answered with the string id {id}"));
            return;
        }
        let text = format!(
            "answered with id {}, which was never asked",
            truncate(&id.to_string(), 100)
        );
        self.break_suspect(&text);
    }

    /// A response without an id: JSON-RPC allows it for a request whose id
    /// could not be read.
    fn take_nameless(&mut self, payload: Payload) {
        match (payload, self.suspect()) {
            (Payload::Error(error), Some(index)) => {
                self.breach("sent an error that names no request");
                self.settle_pending(index, Answer::Error(error));
            }
            (Payload::Error(error), None) => {
                let message = truncate(&error.message, 200);
                self.breach(&format!("sent an error that names no request: {message}"));
            }
            (Payload::Result(_) | Payload::Nothing, _) => {
                self.break_suspect("sent a response that names no request");
            }
        }
    }

    fn deliver(&mut self, index: usize, payload: Payload) {
        let method = &self.pending[index].method;
        let answer = match payload {
            Payload::Result(result) => {
                if !result.is_object() {
                    let text = format!(
                        "answered `{method}` with a result that is not an object: {}",
                        truncate(&result.to_string(), 100)
                    );
                    self.breach(&text);
                }
                Answer::Result(result)
            }
            Payload::Error(error) => Answer::Error(error),
            Payload::Nothing => {
                let text = format!("answered `{method}` with neither a result nor an error");
                Answer::Broken(self.breach(&text))
            }
        };
        self.settle_pending(index, answer);
    }

    fn take_request(&mut self, id: &Value, method: &str, params: &Value) {
        let shown = truncate(method, 100).into_owned();
        let own = |p: &Pending| Some(p.id) == whole(id) && p.method == method;
        if self.pending.iter().any(own) {
            // A terminal between us echoes, and the answer still comes; a
            // program like `cat` does nothing else. Answering would go round
            // in circles.
            self.breach(&format!(
                "sent our own request `{shown}` back, as an echo does"
            ));
            return;
        }
        if self.version.is_some_and(|v| v.era == Era::Modern) {
            // 2026-07-28 has no requests from the server, and forbids the
            // client to write responses; stdio, "Receiving Messages".
            self.breach(&format!(
                "sent the request `{shown}`, although since 2026-07-28 servers send none"
            ));
            return;
        }
        if id.is_null() {
            self.breach(&format!("sent the request `{shown}` with a null id"));
            return;
        }
        if self.outbox.len() > OUTBOX_BYTES {
            self.breach("sends requests and does not read the answers");
            return;
        }
        let response = self.answers.respond(id, &Ask { method, params });
        self.queue(&response);
    }

    fn take_notification(&mut self, method: &str, params: &Value) {
        match method {
            "notifications/progress" => {
                let token = params.get("progressToken").and_then(whole);
                let index = match self.pending.iter().position(|p| Some(p.id) == token) {
                    Some(index) => Some(index),
                    // A plan may have set a token of its own.
                    None if self.pending.len() == 1 => Some(0),
                    None => None,
                };
                if let Some(index) = index {
                    self.pending[index].progress += 1;
                }
            }
            "notifications/tools/list_changed" => self.observed.tools_changed = true,
            _ => {}
        }
    }

    // ── endings ──────────────────────────────────────────────────────────

    /// Nothing more will come: everybody who waits is told, and everybody
    /// who asks from now on.
    pub fn finish(&mut self, end: End) {
        for pending in self.pending.drain(..) {
            let _ = pending.reply.send(end.answer());
        }
        self.outbox.clear();
        self.end = Some(end);
    }

    /// Whether somebody waits for the answer to this request.
    #[must_use]
    pub fn is_pending(&self, id: u64) -> bool {
        self.pending.iter().any(|pending| pending.id == id)
    }

    /// The ids of the requests that wait.
    #[must_use]
    pub fn pending_ids(&self) -> Vec<u64> {
        self.pending.iter().map(|pending| pending.id).collect()
    }

    /// Whether the request was given up, and no answer to it came since.
    #[must_use]
    pub fn gave_up(&self, id: u64) -> bool {
        self.given_up.contains(&id)
    }

    /// Ends one request, if it still waits.
    pub fn settle_request(&mut self, id: u64, answer: Answer) {
        if let Some(index) = self.pending.iter().position(|p| p.id == id) {
            self.check_no_more(index);
            self.settle_pending(index, answer);
        }
    }

    /// What was not sent yet will not be: ends the requests among it.
    pub fn fail_unsent(&mut self, why: &str) {
        while let Some(index) = self.pending.iter().position(|p| p.sent_at > self.written) {
            self.settle_pending(index, Answer::Broken(why.to_owned()));
        }
    }

    /// The one request that an answer without a good address can be for.
    fn suspect(&self) -> Option<usize> {
        match self.pending.len() {
            1 => Some(0),
            _ => self.pending.iter().position(|p| p.probe),
        }
    }

    fn break_suspect(&mut self, text: &str) {
        let text = self.breach(text);
        if let Some(index) = self.suspect() {
            self.check_no_more(index);
            self.settle_pending(index, Answer::Broken(text));
        }
    }

    fn settle_pending(&mut self, index: usize, answer: Answer) {
        let pending = self.pending.swap_remove(index);
        // An asker that went away has given the request up already.
        let _ = pending.reply.send(answer);
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
