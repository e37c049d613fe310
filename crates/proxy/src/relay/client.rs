//! What comes from the client.

use super::pending::{Asked, Asking, CallClock, Waiting, key};
use super::session::era_of;
use super::{Relay, Starting, State, Wish};
use crate::account::{RequestOutcome, TraceParent};
use crate::message::{Kind, Line, NoticeParams, Peek, RequestParams, batch_of, parts_of, peek};
use crate::settings::Tap;
use crate::trouble::Trouble;
use jelly_base::mcp::{DISCOVER, Era, code};
use tokio::time::Instant;

/// Lines that are kept for a server which is starting.
pub(super) const HELD: usize = 10_000;
/// And of them together.
pub(super) const HELD_BYTES: usize = 64 * 1024 * 1024;

/// A longer call is not kept to be made again.
const KEPT_CALL: usize = 256 * 1024;

/// Whether a request says of itself what each of the modern era must.
fn is_complete(message: &Peek<'_>) -> bool {
    let params: RequestParams<'_> = message.read_params();
    let meta = params.meta.unwrap_or_default();
    meta.protocol_version.is_some() && meta.client_capabilities.is_some()
}

/// Whether a request is one of the modern era.
pub(super) fn is_modern(message: &Peek<'_>) -> bool {
    era_of(message) == Some(Era::Modern)
}

/// The client's span that a request belongs to. Few have one, and it is read
/// only of those.
fn parent_of(message: &Peek<'_>) -> Option<TraceParent> {
    if !message.params()?.contains("\"traceparent\"") {
        return None;
    }
    let params: RequestParams<'_> = message.read_params();
    let named = params.meta?.traceparent?.get();
    TraceParent::read(&serde_json::from_str::<String>(named).ok()?)
}

impl<T: Tap> Relay<T> {
    /// A line of the client, without its line feed.
    pub fn from_client(&mut self, line: &[u8], now: Instant) {
        match peek(line) {
            Line::One(message) => {
                if self.takes(&message, line, now) {
                    self.pass_to_server(line);
                }
            }
            Line::Many(messages) => {
                let parts = messages.iter().zip(parts_of(line));
                let keeps: Vec<bool> = parts
                    .map(|(message, part)| self.takes(message, part, now))
                    .collect();
                if keeps.iter().all(|keeps| *keeps) {
                    self.pass_to_server(line);
                } else if let Some(rest) = batch_of(line, &keeps) {
                    // Each of them is a message of its own.
                    self.pass_to_server(&rest);
                }
            }
            // A server may have its own word for it.
            Line::Other => self.pass_to_server(line),
            Line::Noise => {
                let is_blank = line.trim_ascii().is_empty();
                self.noise_sent |= !is_blank && self.state != State::Down;
                self.pass_to_server(line);
            }
        }
    }

    fn pass_to_server(&mut self, line: &[u8]) {
        match self.state {
            State::Ready => self.send(line),
            State::Starting(starting) if starting.holds() => self.hold(line),
            State::Starting(_) => self.send_first(line),
            State::Down => {}
        }
    }

    /// Takes in a message; whether its line goes on to the server.
    fn takes(&mut self, message: &Peek<'_>, line: &[u8], now: Instant) -> bool {
        match (message.kind(), message.id()) {
            (Kind::Request, Some(id)) => self.takes_request(message, id, line, now),
            (Kind::Response, Some(id)) => {
                let is_asked = self.question_is_over(&key(id), now);
                // What an earlier process asked is nothing to this one.
                is_asked || self.restart_count == 0
            }
            (Kind::Notification, _) => {
                match message.method() {
                    "notifications/initialized" => self.session.initialized = Some(line.to_vec()),
                    "notifications/cancelled" => {
                        let params: NoticeParams<'_> = message.read_params();
                        if let Some(id) = params.request_id {
                            if let Some(asked) = self.pending.take(id.get()) {
                                self.account(&asked, RequestOutcome::Cancelled, None);
                            }
                            let held = self.let_held_go(id.get());
                            self.ends_listening(&key(id.get()));
                            return !held;
                        }
                    }
                    _ => {}
                }
                true
            }
            (Kind::Request | Kind::Response | Kind::Unknown, _) => true,
        }
    }

    fn takes_request(&mut self, message: &Peek<'_>, id: &str, line: &[u8], now: Instant) -> bool {
        let word = self.session.note(message);
        let method = Asking::of(message.method());
        if self.server_era == Some(Era::Legacy) && self.refuses_modern(message, id) {
            return false;
        }
        if method == Asking::Initialize && self.adopts_opening(id, now) {
            return false;
        }
        let asked = Asked {
            word,
            ..self.asked(message, method, line, now)
        };
        match self.state {
            State::Ready | State::Starting(_) => {
                self.pending.add(id, asked);
                true
            }
            State::Down => {
                let is_due = self.retry_at.is_none_or(|at| now >= at);
                if self.settings.retries && self.told && is_due && !self.closed {
                    self.state = State::Starting(Starting::ASKED_FOR);
                    self.wishes.push_back(Wish::Start);
                    self.pending.add(id, asked);
                    return true;
                }
                if let Some(trouble) = self.trouble.clone() {
                    let pause = self.retry_at.filter(|_| self.settings.retries);
                    let pause = pause.map(|at| at.saturating_duration_since(now));
                    let trouble = trouble.unsent(pause);
                    self.answer_for_server(id, &asked, &trouble);
                }
                false
            }
        }
    }

    /// Until when a request waits for the server to start; none where it has.
    fn start_limit(&self, now: Instant) -> Option<Instant> {
        match self.state {
            State::Ready => None,
            State::Starting(_) | State::Down => Some(now + self.settings.startup_timeout),
        }
    }

    fn asked(&mut self, message: &Peek<'_>, method: Asking, line: &[u8], now: Instant) -> Asked {
        let until = self.start_limit(now);
        let waiting = match (method, self.settings.call_timeout) {
            (Asking::Listen, _) => Waiting::Listens(line.to_vec()),
            (Asking::Call, Some(limit)) => {
                let params: RequestParams<'_> = message.read_params();
                let token = params.meta.and_then(|meta| meta.progress_token);
                let end = self.settings.call_max.map(|max| now + max);
                let due = now + limit;
                Waiting::Timed(CallClock {
                    due: end.map_or(due, |end| due.min(end)),
                    end,
                    token: token.map(|token| token.get().to_owned()),
                    limit,
                })
            }
            _ if self.settings.stands_in => {
                Waiting::Told(message.params().unwrap_or("null").to_owned())
            }
            _ => Waiting::Plainly,
        };
        let tool = match method {
            Asking::Call => message.read_params::<RequestParams<'_>>().name,
            _ => None,
        };
        let faults = match &mut self.faults {
            Some(faults) => faults.meets(message.method(), tool.as_deref()),
            None => Vec::new(),
        };
        let again = tool.as_deref().filter(|tool| self.repeatable.has(tool));
        let again = again.is_some() && line.len() <= KEPT_CALL;
        Asked {
            method,
            name: message.method().to_owned(),
            since: now,
            until,
            waiting,
            tool,
            again: again.then(|| line.to_vec()),
            faults,
            modern: self.session.era == Some(Era::Modern),
            is_sound_probe: method == Asking::Discover && is_complete(message),
            parent: parent_of(message),
            word: None,
        }
    }

    /// Answers what a server of the legacy era does not know, and may die of.
    pub(super) fn refuses_modern(&mut self, message: &Peek<'_>, id: &str) -> bool {
        if message.method() == DISCOVER {
            self.refuse_probe(id);
            return true;
        }
        if self.session.initialize.is_some() || !is_modern(message) {
            return false;
        }
        let trouble = Trouble::of_eras(&self.settings.context);
        self.say_to_client(&trouble.answer(id));
        true
    }

    /// As a legacy server would answer the probe for its era.
    pub(super) fn refuse_probe(&mut self, id: &str) {
        let code = code::METHOD_NOT_FOUND;
        self.say_to_client(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"Method \
             not found: this server speaks the legacy era of MCP, by `initialize`\"}}}}"
        ));
    }

    /// Whether a client that asks again, since its server was slow, gets the
    /// answer to its first `initialize`: a server takes only one.
    fn adopts_opening(&mut self, id: &str, now: Instant) -> bool {
        if let Some(kept) = self.opening_kept.take() {
            self.say_to_client(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{kept}}}"));
            return true;
        }
        let opening = |(_, asked): &(&String, &Asked)| asked.method == Asking::Initialize;
        let openings = self.answered.iter().filter(opening).map(|(id, _)| id);
        let Some(first) = openings.min().cloned() else {
            return false;
        };
        // It waits like the first one did, under the id that the server knows.
        if let Some(mut asked) = self.answered.remove(&first) {
            asked.until = self.start_limit(now);
            self.adopted.insert(key(&first), id.to_owned());
            self.pending.add(&first, asked);
        }
        true
    }
}
