//! What comes from the server.

use super::pending::{Asked, Asking, key};
use super::{OwnRequest, Relay, State, Wish};
use crate::account::RequestOutcome;
use crate::adapter::{Adapter, Members, raw};
use crate::message::{Kind, Line, NoticeParams, Peek, batch_of, peek, place_in};
use crate::settings::Tap;
use jelly_base::mcp::{Era, code};
use jelly_wire::Direction;
use serde::Deserialize;
use tokio::time::Instant;

/// As servers of the legacy era refuse a method that they do not know.
const UNKNOWN: [i64; 3] = [
    code::METHOD_NOT_FOUND,
    code::INVALID_PARAMS,
    code::INVALID_REQUEST,
];

/// By what a server says that a subscription of the modern era was taken.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The code of an error, where it has one.
#[derive(Default, Deserialize)]
struct ErrorCode {
    #[serde(default)]
    code: Option<i64>,
}

impl<T: Tap> Relay<T> {
    /// A line of the server, without its line feed; whether it is a message.
    /// What is none is not passed on.
    pub fn from_server(&mut self, line: &[u8], now: Instant) -> bool {
        let passes = match peek(line) {
            Line::One(message) => self.takes_of_server(&message, Some(line), now),
            Line::Many(messages) => {
                let messages = messages.iter();
                let keeps: Vec<bool> = messages
                    .map(|message| self.takes_of_server(message, None, now))
                    .collect();
                match keeps.iter().all(|keeps| *keeps) {
                    true => true,
                    false => {
                        if let Some(rest) = batch_of(line, &keeps) {
                            self.to_client.line(&rest);
                        }
                        false
                    }
                }
            }
            Line::Other => true,
            Line::Noise => return false,
        };
        self.noise_sent = false;
        self.tap.passed(Direction::Received, line);
        if passes {
            self.to_client.line(line);
        }
        true
    }

    /// Takes in a message; whether its line goes on to the client. The line, of
    /// one that is not in a batch.
    fn takes_of_server(&mut self, message: &Peek<'_>, line: Option<&[u8]>, now: Instant) -> bool {
        match (message.kind(), message.id()) {
            (Kind::Response, Some(id)) => self.takes_response(message, id, line, now),
            (Kind::Request, Some(id)) => {
                self.asked_by_server.insert(key(id));
                // Only a person takes longer than a limit means.
                if message.method() == "elicitation/create" {
                    self.asks_a_person.insert(key(id));
                }
                true
            }
            (Kind::Notification, _) => {
                // A question that is taken back has no answer.
                if message.method() == "notifications/cancelled" {
                    let params: NoticeParams<'_> = message.read_params();
                    let id = params.request_id.map(|id| key(id.get()));
                    if let Some(id) = id {
                        self.question_is_over(&id, now);
                    }
                }
                if message.method() == ACKNOWLEDGED {
                    return self.is_first_acknowledgement(message);
                }
                if message.method() == "notifications/progress"
                    && self.settings.call_timeout.is_some()
                {
                    let params: NoticeParams<'_> = message.read_params();
                    if let Some(token) = params.progress_token {
                        let token = key(token.get());
                        self.pending.wind(now, |clock| {
                            clock.token.as_deref().map(key).as_ref() == Some(&token)
                        });
                    }
                }
                true
            }
            (Kind::Request | Kind::Response | Kind::Unknown, _) => true,
        }
    }

    /// A question of the server is answered or taken back; whether it was asked.
    /// The clock of calls goes on, where it stood for a person.
    pub(super) fn question_is_over(&mut self, id: &str, now: Instant) -> bool {
        let was_asked = self.asked_by_server.remove(id);
        if self.asks_a_person.remove(id) && self.asks_a_person.is_empty() {
            self.pending.wind(now, |_| true);
        }
        was_asked
    }

    fn takes_response(
        &mut self,
        message: &Peek<'_>,
        id: &str,
        line: Option<&[u8]>,
        now: Instant,
    ) -> bool {
        let passes = self.takes_answer(message, id, line, now);
        self.probe_is_over();
        passes
    }

    fn takes_answer(
        &mut self,
        message: &Peek<'_>,
        id: &str,
        line: Option<&[u8]>,
        now: Instant,
    ) -> bool {
        if let Some(why) = self.own.remove(id) {
            match why {
                OwnRequest::Restore => self.restored(message.error().is_none()),
                OwnRequest::Probe => self.own_probe_answered(message),
                OwnRequest::Ignored => {}
            }
            return false;
        }
        if let Some(asked) = self.answered.remove(&key(id)) {
            self.came_late(&asked, message);
            return false;
        }
        let Some(mut asked) = self.pending.take(id) else {
            // Of a subscription that was asked for again, this is the end.
            self.ends_listening(&key(id));
            return true;
        };
        self.acknowledged.remove(&key(id));
        if Self::dies_instead(&asked) {
            // Whoever waits for it is told of the death.
            asked.faults.clear();
            self.pending.add(id, asked);
            self.wishes.push_back(Wish::Kill);
            return false;
        }
        self.learn_era(&asked, message);
        if self.state != State::Ready {
            self.ready();
        }
        if let Some(client) = self.adopted.remove(&key(id)) {
            let rest = kept(message);
            self.say_to_client(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{client},{rest}}}"));
            return false;
        }
        let waited = self.to_client.unsent().len();
        let passes = self.answers(&asked, message, line);
        let (Some(line), false) = (line, asked.faults.is_empty()) else {
            return passes;
        };
        let mut whole = self.to_client.take_back(waited);
        if passes {
            whole.extend_from_slice(line);
        }
        self.inject(&asked.faults, &whole, now);
        false
    }

    /// Takes in an answer to a request that waits; whether its line goes on as it
    /// is.
    fn answers(&mut self, asked: &Asked, message: &Peek<'_>, line: Option<&[u8]>) -> bool {
        match (&asked.word, message.result()) {
            (Some(word), Some(_)) => self.session.accepted(word),
            (Some(word), None) => self.session.refused(word),
            (None, _) => {}
        }
        let (Some(line), Some(result)) = (line, message.result()) else {
            let outcome = match message.result() {
                Some(_) => RequestOutcome::Answered,
                None => RequestOutcome::Refused,
            };
            self.account(asked, outcome, None);
            return true;
        };
        if asked.method == Asking::Known("tools/list") {
            self.repeatable.learn(result);
        }
        let changed = self.changed(asked, result);
        let rung = self.adapter.as_mut().and_then(Adapter::take_rung);
        let outcome = match asked.method == Asking::Call && is_tool_error(result) {
            true => RequestOutcome::ToolError,
            false => RequestOutcome::Answered,
        };
        self.account(asked, outcome, rung);
        let Some(changed) = changed else {
            return true;
        };
        // All but the result stays as it was written.
        let Some(range) = place_in(line, result) else {
            return true;
        };
        self.to_client.add(&line[..range.start]);
        self.to_client.add(changed.as_bytes());
        self.to_client.line(&line[range.end..]);
        false
    }

    /// What is sent in place of a result, where that is another one.
    fn changed(&mut self, asked: &Asked, result: &str) -> Option<String> {
        let adapted = match (&mut self.adapter, asked.method, &asked.tool) {
            (Some(adapter), Asking::Call, Some(tool)) => adapter.adapted(tool, result),
            (Some(adapter), Asking::Known("tools/list"), _) => adapter.listed(result),
            _ => None,
        };
        let marked = self.marked(adapted.as_deref().unwrap_or(result));
        if marked.is_some() {
            self.mark = None;
        }
        marked.or(adapted)
    }

    /// Whether the client is told for the first time that its subscription was
    /// taken: that one which is asked for again was taken again is nothing new.
    fn is_first_acknowledgement(&mut self, message: &Peek<'_>) -> bool {
        let params: NoticeParams<'_> = message.read_params();
        let id = params.meta.and_then(|meta| meta.subscription);
        let Some(id) = id.map(|id| key(id.get())) else {
            return true;
        };
        let is_live =
            self.pending.has(&id) || self.listening.iter().any(|(other, _)| key(other) == id);
        !is_live || self.acknowledged.insert(id)
    }

    /// What an answer tells of the server's era.
    fn learn_era(&mut self, asked: &Asked, message: &Peek<'_>) {
        match (asked.method, message.result(), message.error()) {
            (Asking::Initialize, Some(result), _) => {
                self.session.opened(result);
                self.server_era = Some(Era::Legacy);
            }
            (Asking::Discover, Some(result), _) => {
                self.session.opened(result);
                self.server_era = Some(Era::Modern);
            }
            // One that has spoken the modern era knows it still, whatever
            // another client has asked.
            (Asking::Discover, None, Some(error))
                if proves_legacy(error, asked.is_sound_probe) && self.server_era.is_none() =>
            {
                self.server_era = Some(Era::Legacy);
            }
            _ => {}
        }
    }

    /// An answer to a request that was answered here already.
    fn came_late(&mut self, asked: &Asked, message: &Peek<'_>) {
        self.learn_era(asked, message);
        if asked.method == Asking::Initialize {
            if let (Some(word), None) = (&asked.word, message.result()) {
                self.session.refused(word);
            }
            self.opening_kept = Some(kept(message));
        }
        if self.state != State::Ready {
            self.state = State::Ready;
            self.failures = 0;
            self.pending.started();
        }
    }

    /// The result with what is to be said besides in its `_meta`.
    fn marked(&self, result: &str) -> Option<String> {
        let mark = self.mark.as_ref()?;
        let mut result: Members = serde_json::from_str(result).ok()?;
        let mut meta: Members = match result.get("_meta") {
            Some(meta) => serde_json::from_str(meta.get()).ok()?,
            None => Members::new(),
        };
        meta.insert("jelly/restarted".to_owned(), raw(mark)?);
        result.insert("_meta".to_owned(), raw(&meta)?);
        serde_json::to_string(&result).ok()
    }
}

/// Whether only a server of the legacy era answers the probe with this error. Any
/// other may be a modern server's trouble of the moment, or be about what the
/// probe lacks, where it is not `sound`.
pub(super) fn proves_legacy(error: &str, sound: bool) -> bool {
    let error: ErrorCode = serde_json::from_str(error).unwrap_or_default();
    match error.code {
        Some(code::METHOD_NOT_FOUND) => true,
        Some(code) => sound && UNKNOWN.contains(&code),
        None => false,
    }
}

#[derive(Default, Deserialize)]
struct ToolErrorFlag {
    #[serde(default, rename = "isError")]
    is_error: bool,
}

/// Whether a tool says that it failed.
fn is_tool_error(result: &str) -> bool {
    // Most results need not be read for that.
    result.contains("isError")
        && serde_json::from_str(result).is_ok_and(|flag: ToolErrorFlag| flag.is_error)
}

/// The result or the error of an answer, as a member.
fn kept(message: &Peek<'_>) -> String {
    match (message.result(), message.error()) {
        (Some(result), _) => format!("\"result\":{result}"),
        (None, error) => format!("\"error\":{}", error.unwrap_or("null")),
    }
}
