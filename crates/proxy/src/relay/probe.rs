//! What waits until the era of a new process is known.
//!
//! Some servers of the legacy era fall silent over the probe, and die of what
//! comes next. So nothing is sent behind a probe before it is answered. And a
//! client that speaks the modern era without a probe may get answers from a
//! legacy server that mean something else, so that the server is asked first.

use super::client::is_modern;
use super::life::{asks_for, ids_of};
use super::pending::Asking;
use super::server::proves_legacy;
use super::{OwnRequest, Relay, State};
use crate::account::RequestOutcome;
use crate::message::{Kind, Line, Peek, peek};
use crate::settings::Tap;
use jelly_base::mcp::{DISCOVER, Era};
use serde_json::{Value, json};

impl<T: Tap> Relay<T> {
    /// The server, which is new, was sent nothing but the probe for its era.
    #[must_use]
    pub fn only_probed(&self) -> bool {
        let starting = matches!(self.state, State::Starting(s) if s.spawned && !s.restoring);
        starting && self.server_era.is_none() && self.probing.waits && !self.probing.other_sent
    }

    /// What was held goes on: the silence of the server says nothing of its era.
    pub fn stop_probing(&mut self) {
        self.probing.waits = false;
        self.flush_held();
    }

    /// Sends a line to a process whose era may not be known yet.
    pub(super) fn send_first(&mut self, line: &[u8]) {
        if self.server_era.is_some() {
            return self.send(line);
        }
        if self.probing.waits {
            return self.hold(line);
        }
        if asks_for(line) == Asking::Discover {
            // Nothing can be started beside a server with a URL, should it be silent.
            self.probing.waits = self.settings.asks_era;
            self.probing.asked = true;
        } else if let Some(params) = self.probe_before(line) {
            self.probing.waits = true;
            self.probing.asked = true;
            self.ask(DISCOVER, &params, OwnRequest::Probe);
            return self.hold(line);
        } else if !ids_of(line).is_empty() {
            self.probing.other_sent = true;
        }
        self.send(line);
    }

    /// With what the server is to be asked for its era before this line.
    fn probe_before(&self, line: &[u8]) -> Option<String> {
        if !self.settings.asks_era || self.probing.asked || self.probing.other_sent {
            return None;
        }
        let Line::One(message) = peek(line) else {
            return None;
        };
        if message.kind() != Kind::Request || !is_modern(&message) {
            return None;
        }
        let params: Value = serde_json::from_str(message.params()?).ok()?;
        let mut meta = params.get("_meta")?.as_object()?.clone();
        meta.retain(|name, _| name.starts_with("io.modelcontextprotocol/"));
        Some(json!({ "_meta": meta }).to_string())
    }

    /// The answer to a probe of our own.
    pub(super) fn own_probe_answered(&mut self, message: &Peek<'_>) {
        if let Some(result) = message.result() {
            self.session.opened(result);
            self.server_era = Some(Era::Modern);
        } else if message
            .error()
            .is_some_and(|error| proves_legacy(error, true))
        {
            self.server_era = Some(Era::Legacy);
        }
    }

    /// The server has answered, which ends its silence.
    pub(super) fn probe_is_over(&mut self) {
        if !std::mem::take(&mut self.probing.waits) {
            return;
        }
        self.refuse_held();
        self.flush_held();
    }

    /// Answers what waits and a server of the legacy era does not know.
    pub(super) fn refuse_held(&mut self) {
        if self.server_era != Some(Era::Legacy) {
            return;
        }
        for line in std::mem::take(&mut self.held) {
            if let Line::One(message) = peek(&line)
                && let (Kind::Request, Some(id)) = (message.kind(), message.id())
                && self.refuses_modern(&message, id)
            {
                if let Some(asked) = self.pending.take(id) {
                    self.account(&asked, RequestOutcome::Refused, None);
                }
                continue;
            }
            self.held.push(line);
        }
    }
}
