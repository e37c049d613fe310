//! Starts, deaths and what is due.

use super::client::{HELD, HELD_BYTES};
use super::pending::{Asked, Asking, Waiting, earlier, key};
use super::session::Probing;
use super::{OwnRequest, Relay, Starting, State, Wish};
use crate::account::RequestOutcome;
use crate::message::{Kind, Line, line_of, peek};
use crate::settings::Tap;
use crate::trouble::Trouble;
use jelly_base::mcp::{Era, INITIALIZE, code};
use jelly_base::text::human_duration;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// So many restarts within [`WINDOW`] are enough.
const RESTARTS: usize = 5;
const WINDOW: Duration = Duration::from_secs(300);
/// The first pause, doubled each time.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Ids of requests that were answered here before the server did.
const ANSWERED: usize = 10_000;

impl<T: Tap> Relay<T> {
    /// There is a process.
    pub fn started(&mut self) {
        self.probing = Probing::default();
        let first = self.held.first().map(|line| asks_for(line));
        let first_opens = matches!(first, Some(Asking::Initialize | Asking::Discover));
        let params = self.session.initialize.clone();
        let restoring = self.session.era == Some(Era::Legacy) && params.is_some() && !first_opens;
        self.state = State::Starting(Starting {
            spawned: true,
            restoring,
            start_at: None,
        });
        match params {
            Some(params) if restoring => self.ask(INITIALIZE, &params, OwnRequest::Restore),
            Some(_) | None => self.flush_held(),
        }
        for (_, line) in self.listening.clone() {
            self.send(&line);
        }
    }

    pub(super) fn flush_held(&mut self) {
        for line in std::mem::take(&mut self.held) {
            self.send_first(&line);
        }
    }

    /// A new process has answered `initialize`, for a client that did not ask.
    pub(super) fn restored(&mut self, is_well: bool) {
        if !is_well {
            self.wishes.push_back(Wish::Stop);
            return;
        }
        self.server_era = Some(Era::Legacy);
        let initialized = self.session.initialized.clone();
        let initialized = initialized.unwrap_or_else(|| {
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec()
        });
        self.send(&initialized);
        if let Some(level) = self.session.log_level.clone() {
            self.ask("logging/setLevel", &level, OwnRequest::Ignored);
        }
        let subscriptions: Vec<String> = self.session.subscriptions.values().cloned().collect();
        for params in subscriptions {
            self.ask("resources/subscribe", &params, OwnRequest::Ignored);
        }
        // It is told already, should the client have said so meanwhile.
        self.held.retain(|line| *line != initialized);
        self.flush_held();
        self.ready();
    }

    /// The server has answered.
    pub(super) fn ready(&mut self) {
        let restarted = self.restart_count > 0 && self.trouble.is_some();
        self.state = State::Ready;
        self.failures = 0;
        self.retry_at = None;
        self.pending.started();
        if restarted || self.stood_in {
            self.announce(restarted);
        }
        self.stood_in = false;
        self.told = false;
        self.trouble = None;
    }

    /// Tells the client that what it knows of the server's lists, or has set up
    /// in it, may be gone.
    fn announce(&mut self, restarted: bool) {
        if self.session.era == Some(Era::Modern) {
            let open = self.listening.clone();
            self.tell_listeners(&open, &["tools", "resources", "prompts"]);
        } else {
            for kind in ["tools", "resources", "prompts"] {
                if self.session.can(&format!("/{kind}/listChanged")) {
                    let method = format!("notifications/{kind}/list_changed");
                    self.tell_client(&json!({ "jsonrpc": "2.0", "method": method }));
                }
            }
        }
        let cause = self.trouble.as_ref().map(|trouble| &trouble.data);
        let cause = cause.map(|data| (data.root_cause.clone(), data.details.clone()));
        let (Some((root_cause, details)), true) = (cause, restarted) else {
            return;
        };
        if self.session.era == Some(Era::Legacy) && self.session.can("/logging") {
            self.tell_client(&json!({
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {
                    "level": "warning",
                    "logger": "jelly proxy",
                    "data": format!("The server died and was started again; what it had kept in \
                                     memory is gone. {details}"),
                },
            }));
        }
        self.mark = Some(json!({ "count": self.restart_count, "root_cause": root_cause }));
    }

    /// Tells those who subscribed to it that these lists have changed.
    pub(super) fn tell_listeners(&mut self, open: &[(String, Vec<u8>)], kinds: &[&str]) {
        for (id, line) in open {
            let line: Value = serde_json::from_slice(line).unwrap_or_default();
            let id: Value = serde_json::from_str(id).unwrap_or_default();
            for kind in kinds {
                let asked = line.pointer(&format!("/params/notifications/{kind}ListChanged"));
                if asked == Some(&Value::Bool(true)) {
                    self.tell_client(&json!({
                        "jsonrpc": "2.0",
                        "method": format!("notifications/{kind}/list_changed"),
                        "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": id } },
                    }));
                }
            }
        }
    }

    /// The process has ended, or there is none: this is why.
    pub fn gone(&mut self, trouble: Trouble, now: Instant) {
        let died_in_use = self.state == State::Ready;
        self.to_server.clear();
        self.answered.clear();
        self.opening_kept = None;
        self.take_questions_back();
        self.held.clear();
        self.noise_sent = false;
        self.own.clear();
        self.server_era = None;
        self.probing = Probing::default();
        self.trouble = Some(trouble.clone());
        self.told = false;
        let restarts = died_in_use && self.may_restart(now);
        for (id, mut asked) in self.pending.take_all() {
            // Once: a server that dies of a call would die of each.
            let again = asked.again.take().filter(|_| restarts);
            match (asked.waiting, again) {
                (Waiting::Listens(line), _) if restarts => self.listening.push((id, line)),
                (waiting, Some(line)) => {
                    let until = Some(now + self.settings.startup_timeout);
                    let asked = Asked {
                        waiting,
                        until,
                        ..asked
                    };
                    self.pending.add(&id, asked);
                    self.held.push(line);
                }
                (waiting, None) => {
                    let id = self.shown_id(id);
                    let asked = Asked { waiting, ..asked };
                    self.answer_for_server(&id, &asked, &trouble);
                }
            }
        }
        if !restarts && !self.settings.stands_in {
            // Nobody serves them any more.
            for (id, _) in std::mem::take(&mut self.listening) {
                self.acknowledged.remove(&key(&id));
                self.say_to_client(&trouble.answer(&id));
            }
        }
        if restarts {
            let pause = self.restart_pause();
            self.restarts.push_back(now);
            self.restart_count += 1;
            self.state = State::Starting(Starting {
                start_at: Some(now + pause),
                ..Starting::ASKED_FOR
            });
            self.tick(now);
        } else {
            self.state = State::Down;
            self.retry_at = Some(now + pause(self.failures));
            self.failures = self.failures.saturating_add(1);
        }
    }

    /// Who asked is gone: nobody is to go on with an answer, a person least of all.
    fn take_questions_back(&mut self) {
        self.asks_a_person.clear();
        for id in std::mem::take(&mut self.asked_by_server) {
            self.say_to_client(&format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id},\"reason\":\"the server is gone\"}}}}"
            ));
        }
    }

    /// The id by which the client waits for what the server knows by this one.
    fn shown_id(&mut self, id: String) -> String {
        self.adopted.remove(&key(&id)).unwrap_or(id)
    }

    /// The budget of restarts lasts.
    pub fn may_restart(&mut self, now: Instant) -> bool {
        while let Some(first) = self.restarts.front()
            && now.saturating_duration_since(*first) > WINDOW
        {
            self.restarts.pop_front();
        }
        self.settings.restarts && !self.closed && self.restarts.len() < RESTARTS
    }

    /// The server knows the session no more, in which this was not executed: it
    /// waits for another one. [`Relay::started`] is to be said next.
    pub fn reopen(&mut self, line: &[u8], trouble: Trouble, now: Instant) {
        self.restarts.push_back(now);
        self.restart_count += 1;
        self.trouble = Some(trouble);
        self.take_questions_back();
        self.own.clear();
        self.state = State::Starting(Starting::ASKED_FOR);
        self.hold(line);
    }

    /// Keeps a line until there is a server that takes it; where there is no
    /// room, whoever waits for its answer is told so.
    pub fn hold(&mut self, line: &[u8]) {
        let bytes = || self.held.iter().map(Vec::len).sum::<usize>();
        if self.held.len() < HELD && bytes() + line.len() <= HELD_BYTES {
            self.held.push(line.to_vec());
            return;
        }
        for id in ids_of(line) {
            if let Some(asked) = self.pending.take(&id) {
                self.account(&asked, RequestOutcome::Refused, None);
                let (shown, code) = (self.shown_id(id), code::INTERNAL_ERROR);
                self.say_to_client(&format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{shown},\"error\":{{\"code\":{code},\"message\":\
                     \"jelly proxy: too many messages wait for the server to start\"}}}}"
                ));
            }
        }
    }

    /// The server has no answer to this; it may have some to others.
    pub fn unanswered(&mut self, line: &[u8], trouble: &Trouble) {
        for id in ids_of(line) {
            self.own.remove(&id);
            self.answered.remove(&key(&id));
            if let Some(asked) = self.pending.take(&id) {
                let root_cause = trouble.data.root_cause.as_str();
                self.account(&asked, RequestOutcome::Unavailable { root_cause }, None);
                let shown = self.shown_id(id);
                self.say_to_client(&trouble.answer(&shown));
            }
        }
        self.probe_is_over();
    }

    /// The server does not know the probe for its era.
    pub fn probe_refused(&mut self, line: &[u8]) {
        self.server_era = Some(Era::Legacy);
        for id in ids_of(line) {
            self.answered.remove(&key(&id));
            if self.pending.take(&id).is_some() {
                self.refuse_probe(&id);
            }
        }
        self.probe_is_over();
    }

    /// The first restart is at once.
    fn restart_pause(&self) -> Duration {
        match u32::try_from(self.restarts.len()) {
            Ok(0) => Duration::ZERO,
            Ok(before) => pause(before - 1),
            Err(_) => LONGEST_PAUSE,
        }
    }

    /// The process died of the probe for its era, and one that is not probed
    /// is well: it knows the legacy era only.
    pub fn is_legacy(&mut self) {
        self.server_era = Some(Era::Legacy);
        self.to_server.clear();
        let probes = |asked: &Asked| asked.method == Asking::Discover;
        for (id, _) in self.pending.take_if(probes) {
            self.refuse_probe(&id);
        }
        self.held.retain(|line| asks_for(line) != Asking::Discover);
        self.own.clear();
        self.refuse_held();
        self.state = State::Starting(Starting::ASKED_FOR);
        self.wishes.push_back(Wish::Start);
    }

    /// What the client says waits, while it is found out what the process died
    /// of.
    pub fn wait(&mut self) {
        self.to_server.clear();
        self.probing = Probing::default();
        self.own.clear();
        self.state = State::Starting(Starting::ASKED_FOR);
    }

    /// When something is due.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        let start = match self.state {
            State::Starting(starting) => starting.start_at,
            State::Down | State::Ready => None,
        };
        earlier(earlier(start, self.delayed_until()), self.pending.due())
    }

    /// Does what is due; whether a request has waited long enough for a server
    /// that is starting, and [`Relay::still_starting`] is to be said.
    pub fn tick(&mut self, now: Instant) -> bool {
        if let State::Starting(starting) = &mut self.state
            && starting.start_at.is_some_and(|at| at <= now)
        {
            starting.start_at = None;
            self.wishes.push_back(Wish::Start);
        }
        self.let_go(now);
        if self.pending.due().is_none_or(|due| due > now) {
            return false;
        }
        // A question to the user stops the clock.
        if !self.asks_a_person.is_empty() {
            self.pending
                .wind(now, |clock| clock.end.is_none_or(|end| end > now));
        }
        let late = self.pending.take_if(|asked| match &asked.waiting {
            Waiting::Timed(clock) => clock.due <= now,
            Waiting::Plainly | Waiting::Listens(_) | Waiting::Told(_) => false,
        });
        for (id, asked) in late {
            self.give_up(&id, asked, now);
        }
        self.pending
            .any(|asked| asked.until.is_some_and(|until| until <= now))
    }

    /// A call is over its limit.
    fn give_up(&mut self, id: &str, asked: Asked, now: Instant) {
        let (limit, is_whole) = match &asked.waiting {
            Waiting::Timed(clock) => (clock.limit, clock.end.is_some_and(|end| end <= now)),
            Waiting::Plainly | Waiting::Listens(_) | Waiting::Told(_) => (Duration::ZERO, false),
        };
        let told = match (is_whole, self.settings.call_max) {
            (true, Some(max)) => format!("no answer within {} in all", human_duration(max)),
            _ => format!("no answer and no progress within {}", human_duration(limit)),
        };
        let why = format!("The tool call was cancelled by jelly proxy: {told}.");
        self.account(&asked, RequestOutcome::TimedOut, None);
        let was_held = self.let_held_go(id);
        if !was_held {
            self.cancel(id, &why);
        }
        let result = json!({ "content": [{ "type": "text", "text": why }], "isError": true });
        self.say_to_client(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"
        ));
        if !was_held {
            self.answered_here(id, asked);
        }
    }

    /// Whether a request still waited for a server that takes it: then it is not
    /// sent any more, and there is nothing to be cancelled.
    pub(super) fn let_held_go(&mut self, id: &str) -> bool {
        let id = key(id);
        self.let_go_of(|held| held == id)
    }

    /// Lets go of requests that wait for a server, by their ids, be they in a
    /// batch with others; whether there were some.
    fn let_go_of(&mut self, goes: impl Fn(&str) -> bool) -> bool {
        let mut went = false;
        let held = std::mem::take(&mut self.held);
        for line in held {
            let rest = line_of(&line, |message| {
                let is_request = message.kind() == Kind::Request;
                !(is_request && message.id().is_some_and(|id| goes(&key(id))))
            });
            went |= rest.as_ref().is_none_or(|rest| rest.len() != line.len());
            self.held.extend(rest);
        }
        went
    }

    /// A subscription is over, by whichever side's word.
    pub(super) fn ends_listening(&mut self, id: &str) {
        self.listening.retain(|(listening, _)| key(listening) != id);
        self.acknowledged.remove(id);
    }

    fn cancel(&mut self, id: &str, why: &str) {
        let why = Value::from(why);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":\
             {{\"requestId\":{id},\"reason\":{why}}}}}"
        );
        self.send(line.as_bytes());
    }

    fn answered_here(&mut self, id: &str, asked: Asked) {
        if self.answered.len() < ANSWERED {
            self.answered.insert(id.to_owned(), asked);
        }
    }

    /// Requests have waited long enough: this is what the server is doing. The
    /// start goes on.
    pub fn still_starting(&mut self, trouble: &Trouble, now: Instant) {
        let overdue = |asked: &Asked| asked.until.is_some_and(|until| until <= now);
        let is_there = matches!(self.state, State::Starting(starting) if !starting.holds());
        let late = self.pending.take_if(overdue);
        let held: HashSet<String> = self.held.iter().flat_map(|line| ids_of(line)).collect();
        if !held.is_empty() {
            // They are answered here, and must not be sent as well.
            let ids: HashSet<&str> = late.iter().map(|(id, _)| id.as_str()).collect();
            self.let_go_of(|held| ids.contains(held));
        }
        let held: HashSet<String> = held.iter().map(|id| key(id)).collect();
        for (id, asked) in late {
            let shown = self.shown_id(id.clone());
            self.answer_for_server(&shown, &asked, trouble);
            if !is_there || held.contains(&id) {
                continue;
            }
            if !asked.is_opening() {
                self.cancel(&id, "the client was told that the server is still starting");
            }
            self.answered_here(&id, asked);
        }
    }
}

/// What a line asks for; of a batch, nothing that is told apart.
pub(super) fn asks_for(line: &[u8]) -> Asking {
    match peek(line) {
        Line::One(message) => Asking::of(message.method()),
        Line::Many(_) | Line::Other | Line::Noise => Asking::Other,
    }
}

/// The ids of the requests of a line, as they are written.
pub(super) fn ids_of(line: &[u8]) -> Vec<String> {
    let messages = match peek(line) {
        Line::One(message) => vec![message],
        Line::Many(messages) => messages,
        Line::Other | Line::Noise => Vec::new(),
    };
    let requests = messages.iter().filter(|m| m.kind() == Kind::Request);
    requests
        .filter_map(|message| message.id().map(str::to_owned))
        .collect()
}

fn pause(failures: u32) -> Duration {
    let doubled = PAUSE.checked_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX));
    doubled.unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
}
