//! The receiving half of a peer: whose answer a message is, and what it is if
//! it is none.

use super::super::answers::Ask;
use super::super::exchange::{End, ReplyOutcome};
use super::super::frame::Frame;
use super::super::message::{Line, Message, MessageBody, Payload, Understood, read_line, whole};
use super::super::notices::{Notice, logged};
use super::super::transcript::Direction;
use super::{ACKNOWLEDGED, CONTENT_LENGTH, LateAnswer, OUTBOX_BYTES, Peer, Pending};
use jelly_base::mcp::{Era, LISTEN, Method, meta};
use jelly_base::model::OwnLimit;
use jelly_base::text::truncate;
use serde_json::Value;

impl Peer {
    /// Takes a message that came by itself, as the body of an answer or the
    /// data of an event.
    pub fn receive_whole(&mut self, bytes: &[u8]) -> Understood {
        self.record_received(bytes);
        match read_line(bytes) {
            Line::Messages(mut messages) => {
                if self.checker.is_some() {
                    // Never two trees of the same bytes at a time.
                    drop(messages);
                    self.check(|checker| checker.received(bytes));
                    let Line::Messages(again) = read_line(bytes) else {
                        return Understood::Nothing;
                    };
                    messages = again;
                }
                for message in messages {
                    self.take(message, bytes);
                }
                Understood::Message
            }
            Line::Malformed {
                why,
                beyond: Some(limit),
                ..
            } => {
                self.pass_over(limit, &why);
                Understood::Beyond(limit)
            }
            Line::Malformed { why, .. } => {
                self.check(|checker| checker.unreadable(&why));
                self.breach(&why);
                Understood::Nothing
            }
            Line::Blank => Understood::Nothing,
            Line::ContentLength | Line::Noise => {
                self.check(|checker| checker.no_message(bytes));
                Understood::Nothing
            }
        }
    }

    /// Notes for the record what came and is not taken as a message.
    pub fn record_received(&self, bytes: &[u8]) {
        if let Some(recorder) = &self.recorder {
            recorder.record(&self.server, Direction::Received, bytes, &self.redactor);
        }
    }

    /// Keeps the first thing for which clients of the official SDKs refuse an answer.
    pub fn note_unfit(&mut self, text: &str) {
        self.observed.note_unfit(text, &self.redactor);
    }

    /// Takes what the splitter cut out.
    pub fn receive(&mut self, frame: Frame<'_>) {
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong(limit) => {
                let text = format!("sent a line longer than {limit} bytes");
                return self.pass_over_answer(OwnLimit::MessageSize, &text);
            }
        };
        // Each reads the line into a tree of its own, one after the other: all
        // at a time would take too much.
        self.check(|checker| checker.received(line));
        if !line.trim_ascii().is_empty() {
            self.record_received(line);
        }
        match read_line(line) {
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
            Line::Malformed {
                why,
                answer,
                beyond: Some(limit),
            } => {
                if answer {
                    self.pass_over_answer(limit, &why);
                } else {
                    self.pass_over(limit, &why);
                }
            }
            Line::Malformed {
                why,
                answer,
                beyond: None,
            } => {
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
            unfit,
        } = message;
        if !marked && !self.is_awaited(&body) {
            return self.observed.add_noise(line, &self.redactor);
        }
        self.observed.messages += 1;
        for (place, flaw) in flaws.iter().enumerate() {
            let flaw = self.breach(flaw);
            if unfit && place == 0 {
                self.observed.unfit.get_or_insert(flaw);
            }
        }
        match body {
            MessageBody::Response { id, payload } => self.take_response(&id, payload),
            MessageBody::Request { id, method, params } => self.take_request(&id, &method, &params),
            MessageBody::Notification { method, params } => {
                self.take_notification(&method, &params);
                let notice = Notice { method, params };
                // Nobody listens yet to what a server logs while it starts.
                if let Some(text) = logged(&notice) {
                    self.observed.add_log(&text, &self.redactor);
                }
                self.hear(&notice);
            }
        }
    }

    /// A response without `jsonrpc` could be any program's log line; it
    /// counts when somebody waits for exactly this.
    fn is_awaited(&self, body: &MessageBody) -> bool {
        match body {
            MessageBody::Response { id, .. } => {
                whole(id).is_some_and(|id| self.asked(id).is_some())
                    || self.pending.iter().any(|p| is_raw_with(p, id))
            }
            MessageBody::Request { .. } | MessageBody::Notification { .. } => false,
        }
    }

    /// The request that was sent with this id and waits.
    fn asked(&self, id: u64) -> Option<usize> {
        self.pending
            .iter()
            .position(|p| p.id == id && p.raw.is_none())
    }

    /// The raw bytes that a response is for.
    fn raw_for(&self, id: &Value, payload: &Payload) -> Option<usize> {
        let named = self.pending.iter().position(|p| is_raw_with(p, id));
        match payload {
            Payload::Error(_) if id.is_null() => {
                named.or_else(|| self.pending.iter().position(|p| p.raw.is_some()))
            }
            Payload::Error(_) | Payload::Result(_) | Payload::Nothing => named,
        }
    }

    fn take_response(&mut self, id: &Value, payload: Payload) {
        if let Some(index) = self.raw_for(id, &payload) {
            if let Some(asks) = &mut self.pending[index].raw {
                match asks.ids.iter().position(|own| own == id) {
                    Some(answered) => drop(asks.ids.swap_remove(answered)),
                    None => asks.nameless = asks.nameless.saturating_sub(1),
                }
            }
            return self.deliver(index, payload);
        }
        let asked = whole(id).is_some_and(|number| self.asked(number).is_some());
        let late = self.raw_given_up.iter().position(|given_up| given_up == id);
        if let Some(late) = late.filter(|_| !asked) {
            self.raw_given_up.swap_remove(late);
            return;
        }
        if id.is_null() {
            if let (Payload::Error(_), 1..) = (&payload, self.raw_errors_due) {
                self.raw_errors_due -= 1;
                return;
            }
            return self.take_nameless(payload);
        }
        if let Some(number) = whole(id) {
            if let Some(index) = self.asked(number) {
                return self.deliver(index, payload);
            }
            if self.given_up.remove(&number) {
                if let Some((watched, answer)) = &mut self.watched
                    && *watched == number
                {
                    *answer = Some(match payload {
                        // A tool that was stopped may well say so itself.
                        Payload::Result(result)
                            if result.get("isError") == Some(&Value::Bool(true)) =>
                        {
                            LateAnswer::Error
                        }
                        Payload::Result(_) => LateAnswer::Result,
                        Payload::Error(_) | Payload::Nothing => LateAnswer::Error,
                    });
                    self.stir();
                }
                return;
            }
            if (1..self.next_id).contains(&number) {
                self.breach(&format!("answered request {number} twice"));
                return;
            }
        }
        let twin = id.as_str().and_then(|text| text.parse::<u64>().ok());
        if let Some(index) = twin.and_then(|twin| self.asked(twin)) {
            let text = format!(
                "answered request {} with the string id {id}",
                self.pending[index].id
            );
            let text = self.breach(&text);
            return self.settle_pending(index, ReplyOutcome::Broken(text));
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
                self.settle_pending(index, ReplyOutcome::RpcError(error));
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
                ReplyOutcome::Answered(result)
            }
            Payload::Error(error) => ReplyOutcome::RpcError(error),
            Payload::Nothing => {
                let text = format!("answered `{method}` with neither a result nor an error");
                ReplyOutcome::Broken(self.breach(&text))
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
            let text =
                format!("sent the request `{shown}`, although since 2026-07-28 servers send none");
            if Method::find_of_server(method).is_some() {
                // It waits for an answer that it may not get, and so does the call.
                self.break_suspect(&text);
            } else {
                self.breach(&text);
            }
            return;
        }
        if id.is_null() {
            self.breach(&format!("sent the request `{shown}` with a null id"));
            return;
        }
        if self.outbox.len() + self.unsent > OUTBOX_BYTES {
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
                    None => self.suspect(),
                };
                if let Some(index) = index {
                    let pending = &mut self.pending[index];
                    pending.progress += 1;
                    if let Some(heard) = &pending.patient {
                        heard.notify_one();
                    }
                }
            }
            "notifications/tools/list_changed" => self.observed.tools_changed = true,
            ACKNOWLEDGED => {
                let id = params
                    .pointer(meta::SUBSCRIPTION_ID_POINTER)
                    .and_then(whole);
                let open = |p: &&Pending| p.method == LISTEN && Some(p.id) == id;
                let open = self.pending.iter().find(open).map(|p| p.id);
                let known = |id| self.acknowledged.iter().any(|(own, _)| *own == id);
                if let Some(id) = open.filter(|id| !known(*id)) {
                    self.acknowledged.push((id, params.clone()));
                }
            }
            _ => {}
        }
    }
}

/// Whether the bytes were sent with this id.
fn is_raw_with(pending: &Pending, id: &Value) -> bool {
    pending
        .raw
        .as_ref()
        .is_some_and(|asks| asks.ids.contains(id))
}
