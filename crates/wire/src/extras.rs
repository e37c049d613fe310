//! What a session does beside requests and their answers: notifications,
//! subscriptions, cancellation, raw bytes, signs of life.
//!
//! Main types: [`Listening`], [`CancelEnd`].

use super::connection::Attending;
use super::connection::{InFlight, deadline_after};
use super::exchange::{Outgoing, ReplyOutcome};
use super::notices::Listener;
use super::peer::{LateAnswer, Peer};
use super::raw::RawAsks;
use super::reply::Reply;
use super::session::Session;
use jelly_base::mcp::{DISCOVER, Era, LISTEN, ListKind};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// A result that comes so soon after the cancellation may have been on its way
/// before the server could know of that (2025-11-25, "Cancellation", "Timing
/// Considerations").
pub const CROSSING: Duration = Duration::from_millis(100);

/// A subscription of the modern era. Dropping it ends it, and tells the server
/// so.
#[derive(Debug)]
pub struct Listening {
    in_flight: InFlight,
    /// How it ended, if it has.
    ended: Option<ReplyOutcome>,
}

impl Listening {
    /// How the server ended it, if it has: with an answer where it did so in
    /// order.
    pub fn ended(&mut self) -> Option<&ReplyOutcome> {
        if self.ended.is_none() {
            self.ended = self.in_flight.answer_now();
        }
        self.ended.as_ref()
    }
}

/// What came of a request that was cancelled.
#[derive(Debug, Clone, PartialEq)]
pub enum CancelEnd {
    /// It came to its end before that.
    TooLate,
    /// Its result came so soon afterwards that the two may have crossed.
    Crossed,
    /// The server sent its result all the same.
    Answered,
    /// Nothing came of it, or an error, as of who says that it was cancelled.
    Quiet,
}

/// Waits for what may come beside an answer.
#[derive(Debug)]
pub struct Stirs(watch::Receiver<u64>);

impl Stirs {
    /// Resolves with the next thing that came since this was made, or since it
    /// resolved last; false when the time is over first.
    pub async fn next(&mut self, deadline: Instant) -> bool {
        matches!(timeout_at(deadline, self.0.changed()).await, Ok(Ok(())))
    }
}

impl Session {
    // ── notifications ────────────────────────────────────────────────────

    /// Has `listener` hear every notification, not redacted, for as long as
    /// what comes back is kept.
    #[must_use]
    pub fn attend(&self, listener: Box<dyn Listener>) -> Attending {
        self.connection.attend(listener)
    }

    /// For who waits for more of them.
    #[must_use]
    pub fn stirs(&self) -> Stirs {
        Stirs(self.connection.look(Peer::stirs))
    }

    /// Whether the server has no way to tell what nobody asked for, as over
    /// HTTP in the eras of sessions where it offers no stream for that.
    #[must_use]
    pub fn is_mute_unasked(&self) -> bool {
        self.connection.look(|peer| peer.observed().mute_unasked)
    }

    /// Whether nothing more will come.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.connection.look(Peer::has_ended)
    }

    // ── subscriptions ────────────────────────────────────────────────────

    /// Asks a modern server for notifications, and waits until it has
    /// acknowledged that. The answer is the acknowledgement's params; without
    /// it, there is no subscription.
    pub async fn listen(&self, filter: Value, limit: Duration) -> (Reply, Option<Listening>) {
        let mut listening = None;
        let reply = self
            .timed(
                async |deadline| {
                    let (outcome, open) = self.open_subscription(filter, deadline).await;
                    listening = open;
                    outcome
                },
                limit,
            )
            .await;
        (reply, listening)
    }

    async fn open_subscription(
        &self,
        filter: Value,
        deadline: Instant,
    ) -> (ReplyOutcome, Option<Listening>) {
        let mut stirs = self.stirs();
        let mut in_flight = self.connection.send(Outgoing {
            method: LISTEN,
            params: json!({ "notifications": filter }),
            version: Some(self.version),
            progress: false,
            probe: false,
        });
        loop {
            let id = in_flight.id();
            let said = |peer: &mut Peer| peer.take_acknowledgement(id);
            if let Some(params) = self.connection.with_peer(said) {
                let listening = Listening {
                    in_flight,
                    ended: None,
                };
                return (ReplyOutcome::Answered(params), Some(listening));
            }
            match in_flight.answer_now() {
                Some(ReplyOutcome::Answered(_)) => {
                    let text = format!("answered `{LISTEN}` before it acknowledged it");
                    return (self.broken(&text), None);
                }
                Some(other) => return (other, None),
                None => {}
            }
            if !stirs.next(deadline).await {
                return (in_flight.answer_within(Duration::ZERO).await, None);
            }
        }
    }

    // ── cancellation ─────────────────────────────────────────────────────

    /// Sends one request and cancels it after a time; then nothing may come of
    /// it for another. The reply is that of a request that came to its end too
    /// early, else one that timed out.
    pub async fn cancelled(
        &self,
        method: &str,
        params: Value,
        (after, quiet_for): (Duration, Duration),
        bare: bool,
    ) -> (Reply, CancelEnd) {
        let mut end = CancelEnd::TooLate;
        let reply = self
            .timed(
                async |deadline| {
                    let request = self.connection.send(Outgoing {
                        method,
                        params,
                        version: (!bare).then_some(self.version),
                        progress: !bare && method == "tools/call",
                        probe: false,
                    });
                    let left = deadline.saturating_duration_since(Instant::now());
                    let mut stirs = self.stirs();
                    let outcome = request.cancelled_after(left, "cancelled by the plan").await;
                    if let ReplyOutcome::TimedOut(_) = outcome {
                        end = self.watch_quiet(quiet_for, &mut stirs).await;
                    }
                    outcome
                },
                after,
            )
            .await;
        (reply, end)
    }

    async fn watch_quiet(&self, quiet_for: Duration, stirs: &mut Stirs) -> CancelEnd {
        let started = Instant::now();
        let deadline = deadline_after(started, quiet_for);
        let is_over = |peer: &Peer| peer.is_answered_late() || peer.has_ended();
        while !self.connection.look(is_over) && stirs.next(deadline).await {}
        match self.connection.with_peer(Peer::watched) {
            Some(LateAnswer::Result) if started.elapsed() <= CROSSING => CancelEnd::Crossed,
            Some(LateAnswer::Result) => CancelEnd::Answered,
            // Receivers should not answer, and every Python SDK 1.x does.
            Some(LateAnswer::Error) | None => CancelEnd::Quiet,
        }
    }

    // ── raw bytes ────────────────────────────────────────────────────────

    /// Sends bytes as they are, and waits for the first answer that has an id of
    /// theirs, or for the next error without one. Null is the answer to
    /// notifications and responses that the server takes, for which it has no
    /// other.
    pub async fn send_raw(&self, bytes: &[u8], limit: Duration) -> Reply {
        let told = RawAsks::of(bytes).silent;
        self.timed(
            async |deadline| {
                let request = self.connection.send_raw(bytes);
                if told && !self.connection.look(Peer::has_streams) {
                    request.forget();
                    return ReplyOutcome::Answered(Value::Null);
                }
                let left = deadline.saturating_duration_since(Instant::now());
                match request.answer_within(left).await {
                    ReplyOutcome::Http(end) if told && end.facts.status == Some(202) => {
                        ReplyOutcome::Answered(Value::Null)
                    }
                    other => other,
                }
            },
            limit,
        )
        .await
    }

    // ── signs of life ────────────────────────────────────────────────────

    /// Asks the server for a sign of life by something that it knows. None
    /// where there is nothing that it could be asked, since it is shy of what
    /// it does not know: see [`Session::shy_of_probes`].
    pub async fn pulse(&self, shy: bool, limit: Duration) -> Option<Reply> {
        Some(match (shy, self.era()) {
            // What it has answered before, it knows.
            (true, _) if self.declares_tools() => {
                self.list(ListKind::Tools, Value::Null, limit).await
            }
            (true, _) => return None,
            (false, Era::Legacy) => self.request("ping", Value::Null, limit).await,
            (false, Era::Modern) => self.request(DISCOVER, Value::Null, limit).await,
        })
    }
}

#[cfg(test)]
#[path = "extras_tests.rs"]
mod tests;
