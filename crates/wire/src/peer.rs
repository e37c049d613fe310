//! JSON-RPC without input or output: ids, what is pending, what was seen.
//!
//! Main type: [`Peer`]. Lines go in, messages to send come out, and whoever
//! asked gets an answer. It does not know by which transport: one driver moves
//! its messages by two pipes, another sends each by HTTP.

mod checked;
mod receiving;
mod unended;

use super::answers::Answers;
use super::check::Checker;
use super::era::dress;
use super::exchange::{Beyond, End, Life, Outgoing, ReplyOutcome};
use super::notices::{Listener, Listeners, Notice};
use super::observed::Observed;
use super::raw::RawAsks;
use super::transcript::{Direction, Recorder};
use jelly_base::mcp::{Era, LISTEN, Revision};
use jelly_base::model::OwnLimit;
use jelly_base::text::redact::Redactor;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{Notify, oneshot, watch};
use unended::UnendedLine;

/// Answers to a server that doesn't read them pile up no further than this.
const OUTBOX_BYTES: usize = 16 * 1024 * 1024;

/// What a server says first of a subscription (2026-07-28, "Subscriptions").
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Ids of raw bytes that are remembered after they were given up.
const RAW_IDS: usize = 1000;

/// What LSP's framing is called in a breach.
const CONTENT_LENGTH: &str =
    "speaks LSP-style Content-Length framing instead of newline-delimited JSON";

#[derive(Debug)]
struct Pending {
    id: u64,
    method: String,
    probe: bool,
    reply: oneshot::Sender<ReplyOutcome>,
    progress: u64,
    /// Who waits for as long as there is progress.
    patient: Option<Arc<Notify>>,
    messages_before: u64,
    noise_before: u64,
    /// The request's last byte in the stream of all bytes sent.
    sent_at: u64,
    /// Of bytes that were sent as they are, what may come of them. The number
    /// above was never sent then.
    raw: Option<RawAsks>,
}

impl Pending {
    /// Open for as long as its client likes, so that an answer without a good
    /// address is not for it (2026-07-28, "Subscriptions").
    fn is_lasting(&self) -> bool {
        self.method == LISTEN
    }
}

/// What answered a request that had been cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateAnswer {
    /// It may have been under way already.
    Result,
    /// An error, as of who answers that it was cancelled.
    Error,
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
    version: Option<&'static Revision>,
    next_id: u64,
    pending: Vec<Pending>,
    /// Given up; a late answer to one of these is no breach.
    given_up: BTreeSet<u64>,
    outbox: Vec<u8>,
    /// Bytes of answers that the driver took out of it and could not send yet.
    unsent: usize,
    /// Bytes ever put into the outbox, and of these, written.
    queued: u64,
    written: u64,
    observed: Observed,
    listeners: Listeners,
    /// What was said first of subscriptions, by their request; no more than
    /// there were of these.
    acknowledged: Vec<(u64, Value)>,
    /// Changes with each notification, with each late answer that is watched
    /// for, with the end of a subscription, and with the end of all.
    stirred: watch::Sender<u64>,
    /// A request that was cancelled, and what answered it all the same.
    watched: Option<(u64, Option<LateAnswer>)>,
    /// Bodies of their own, over HTTP, with the numbers of their requests.
    raw_outbox: Vec<(u64, Vec<u8>)>,
    raw_given_up: Vec<Value>,
    /// So many errors that name no request may still come of raw bytes whose
    /// step has its answer.
    raw_errors_due: usize,
    /// Of what the server sends, where it is to be checked.
    checker: Option<Box<Checker>>,
    /// A `Content-Length` line came, and no blank line after it yet.
    in_header: bool,
    /// What stands on stdout after the last line feed, if that is short and some
    /// message came before it.
    unended: UnendedLine,
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
            unsent: 0,
            queued: 0,
            written: 0,
            observed: Observed::default(),
            listeners: Listeners::default(),
            acknowledged: Vec::new(),
            stirred: watch::Sender::new(0),
            watched: None,
            raw_outbox: Vec::new(),
            raw_given_up: Vec::new(),
            raw_errors_due: 0,
            checker: None,
            in_header: false,
            unended: UnendedLine::default(),
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
    pub fn settle(&mut self, version: &'static Revision) {
        self.version = Some(version);
        self.check(|checker| checker.settle(version));
    }

    /// What both sides speak, once it is settled.
    #[must_use]
    pub fn version(&self) -> Option<&'static Revision> {
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
    pub fn open(&mut self, request: Outgoing<'_>) -> (u64, oneshot::Receiver<ReplyOutcome>) {
        let id = self.fresh_id();
        if self.end.is_none() {
            let mut params = request.params;
            if let Some(version) = request.version {
                let token = request.progress.then_some(id);
                dress(&mut params, version, &self.answers, token);
            }
            self.check(|checker| checker.asked(id, request.method, &params));
            self.queue(&Call::new(Some(id), request.method, &params));
        }
        (id, self.wait(id, request.method, request.probe, None))
    }

    /// Queues bytes as they are; the number by which their answer is known
    /// here, and where it will come: the first with an id of their own, or the
    /// next error without one.
    pub fn open_raw(&mut self, bytes: &[u8]) -> (u64, oneshot::Receiver<ReplyOutcome>) {
        let id = self.fresh_id();
        let asks = RawAsks::of(bytes);
        if self.end.is_none() {
            self.check(|checker| checker.asked_raw(&asks.ids, asks.nameless));
            if let Some(recorder) = &self.recorder {
                recorder.record(&self.server, Direction::Sent, bytes, &self.redactor);
            }
            if self.has_streams {
                self.raw_outbox.push((id, bytes.to_vec()));
            } else {
                self.outbox.extend_from_slice(bytes);
                self.outbox.push(b'\n');
                self.queued += bytes.len() as u64 + 1;
            }
        }
        (id, self.wait(id, "", false, Some(asks)))
    }

    /// Where the answer will come to what was just queued, or has come already
    /// where nothing is queued any more.
    fn wait(
        &mut self,
        id: u64,
        method: &str,
        probe: bool,
        raw: Option<RawAsks>,
    ) -> oneshot::Receiver<ReplyOutcome> {
        let (reply, receiver) = oneshot::channel();
        if let Some(end) = &self.end {
            // The asker holds the other end.
            let _ = reply.send(end.answer());
            return receiver;
        }
        self.pending.push(Pending {
            id,
            method: method.to_owned(),
            probe,
            reply,
            progress: 0,
            patient: None,
            messages_before: self.observed.messages,
            noise_before: self.observed.noise,
            sent_at: self.queued,
            raw,
        });
        receiver
    }

    /// Tells of each progress notification for a request that has no answer yet.
    pub fn hear_progress(&mut self, id: u64, heard: Arc<Notify>) {
        let pending = self.pending.iter_mut().find(|pending| pending.id == id);
        if let Some(pending) = pending {
            pending.patient = Some(heard);
        }
    }

    /// What is to be sent as it is, each by a request of its own.
    pub fn take_raw(&mut self) -> Vec<(u64, Vec<u8>)> {
        std::mem::take(&mut self.raw_outbox)
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
        let named = pending.raw.is_none() && pending.method != "initialize";
        if named && !by_closing && self.end.is_none() {
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

    /// An id that no answer to raw bytes can bear.
    fn fresh_id(&mut self) -> u64 {
        let taken = |peer: &Self| {
            let id = Value::from(peer.next_id);
            let waiting = peer.pending.iter().filter_map(|p| p.raw.as_ref());
            let waiting = waiting.flat_map(|asks| &asks.ids);
            peer.raw_given_up
                .iter()
                .chain(waiting)
                .any(|own| *own == id)
        };
        while taken(self) {
            self.next_id += 1;
        }
        self.next_id += 1;
        self.next_id - 1
    }

    /// Gives a request up without a word to the server.
    pub fn forget_quietly(&mut self, id: u64) {
        self.forget(id);
    }

    fn forget(&mut self, id: u64) -> Option<Pending> {
        let index = self.pending.iter().position(|p| p.id == id)?;
        self.given_up.insert(id);
        self.check(|checker| checker.gave_up(id));
        let mut pending = self.pending.swap_remove(index);
        self.expect_no_more(&mut pending);
        Some(pending)
    }

    /// Nobody waits any longer for what may still come of raw bytes.
    fn expect_no_more(&mut self, pending: &mut Pending) {
        if let Some(asks) = pending.raw.take() {
            let room = RAW_IDS.saturating_sub(self.raw_given_up.len());
            self.raw_given_up.extend(asks.ids.into_iter().take(room));
            self.raw_errors_due = self.raw_errors_due.saturating_add(asks.nameless);
            pending.raw = Some(RawAsks::default());
        }
    }

    /// From here on an answer to this request, which is given up, is noted. Not
    /// so where giving it up closes its stream, which nothing can come by then.
    pub fn watch(&mut self, id: u64) {
        let closed = self.has_streams && self.version.is_some_and(|v| v.era == Era::Modern);
        self.watched = (!closed).then_some((id, None));
    }

    /// What answered the request that was watched; it is watched no longer.
    pub fn watched(&mut self) -> Option<LateAnswer> {
        self.watched.take().and_then(|(_, answer)| answer)
    }

    /// Whether the request that is watched has been answered so far.
    #[must_use]
    pub fn is_answered_late(&self) -> bool {
        self.watched.is_some_and(|(_, answer)| answer.is_some())
    }

    // ── what is heard ────────────────────────────────────────────────────

    /// From here on `listener` is told of every notification; the number to
    /// end that by.
    pub fn attend(&mut self, listener: Box<dyn Listener>) -> u64 {
        self.listeners.join(listener)
    }

    pub fn dismiss(&mut self, number: u64) {
        self.listeners.leave(number);
    }

    /// What the server said first of a subscription, once it has; it may be over
    /// by then.
    pub fn take_acknowledgement(&mut self, id: u64) -> Option<Value> {
        let place = self.acknowledged.iter().position(|(own, _)| *own == id)?;
        Some(self.acknowledged.swap_remove(place).1)
    }

    fn hear(&mut self, notice: &Notice) {
        self.listeners.tell(notice);
        self.stir();
    }

    /// What came was not read, for a limit of jelly's own; `text` completes
    /// "the server …".
    pub fn pass_over(&mut self, limit: OwnLimit, text: &str) -> Beyond {
        self.check(Checker::passed_over);
        self.listeners.tell_missed();
        self.stir();
        self.observed.add_unread(limit, text, &self.redactor)
    }

    /// Changes whenever something came that somebody may wait for beside an
    /// answer.
    #[must_use]
    pub fn stirs(&self) -> watch::Receiver<u64> {
        self.stirred.subscribe()
    }

    fn stir(&self) {
        self.stirred.send_modify(|count| *count += 1);
    }

    /// Only answers bring what the server has to say from here on.
    pub fn hears_answers_alone(&mut self) {
        self.observed.mute_unasked = true;
    }

    /// Whether nothing more will come.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
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

    /// What stands on stdout and has no line end yet.
    pub fn note_unfinished(&mut self, line: &[u8]) {
        self.observed.note_unfinished(line, &self.redactor);
        self.unended.note(line, self.observed.messages > 0);
    }

    /// Whether the answer to a request was written whole, but for the line feed
    /// that has to end it.
    #[must_use]
    pub fn wrote_unended(&self, id: u64) -> bool {
        self.unended.answers(id)
    }

    /// So many bytes of answers are still with the driver.
    pub fn note_unsent(&mut self, bytes: usize) {
        self.unsent = bytes;
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

    // ── endings ──────────────────────────────────────────────────────────

    /// Nothing more will come: everybody who waits is told, and everybody
    /// who asks from now on.
    pub fn finish(&mut self, end: End) {
        for pending in self.pending.drain(..) {
            let _ = pending.reply.send(end.answer());
        }
        self.outbox.clear();
        self.raw_outbox.clear();
        self.end = Some(end);
        self.stir();
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

    /// Whether the request was given up, and no answer to it came since, nor is
    /// one watched for.
    #[must_use]
    pub fn gave_up(&self, id: u64) -> bool {
        self.given_up.contains(&id) && self.watched.is_none_or(|(watched, _)| watched != id)
    }

    /// Ends one request, if it still waits.
    pub fn settle_request(&mut self, id: u64, answer: ReplyOutcome) {
        if let Some(index) = self.pending.iter().position(|p| p.id == id) {
            self.check_no_more(index);
            self.settle_pending(index, answer);
        }
    }

    /// What was not sent yet will not be: ends the requests among it.
    pub fn fail_unsent(&mut self, why: &str) {
        while let Some(index) = self.pending.iter().position(|p| p.sent_at > self.written) {
            self.settle_pending(index, ReplyOutcome::Broken(why.to_owned()));
        }
    }

    /// The one request that an answer without a good address can be for.
    fn suspect(&self) -> Option<usize> {
        let mut waiting = (0..self.pending.len()).filter(|i| !self.pending[*i].is_lasting());
        match (waiting.next(), waiting.next()) {
            (Some(only), None) => Some(only),
            (_, _) => self.pending.iter().position(|p| p.probe),
        }
    }

    fn break_suspect(&mut self, text: &str) {
        let text = self.breach(text);
        if let Some(index) = self.suspect() {
            self.check_no_more(index);
            self.settle_pending(index, ReplyOutcome::Broken(text));
        }
    }

    /// The same where it is jelly that can't read what came.
    pub fn pass_over_answer(&mut self, limit: OwnLimit, text: &str) {
        let beyond = self.pass_over(limit, text);
        if let Some(index) = self.suspect() {
            self.check_no_more(index);
            self.settle_pending(index, ReplyOutcome::Beyond(beyond));
        }
    }

    fn settle_pending(&mut self, index: usize, answer: ReplyOutcome) {
        let mut pending = self.pending.swap_remove(index);
        self.expect_no_more(&mut pending);
        if pending.is_lasting() {
            self.stir();
        }
        // An asker that went away has given the request up already.
        let _ = pending.reply.send(answer);
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
