//! The wire check of one server: what is asked for its sake, and the failure
//! that comes of it.

use super::life::{HASTY_GRACE, afresh};
use super::server_lane::ServerLane;
use super::step_end::Aftermath;
use jelly_base::mcp::ListKind;
use jelly_base::model::{
    Assertion, AssertionTarget, Because, Era, Event, Failure, Outcome, Phase, ServerReport,
    WireCheck,
};
use jelly_base::text::plural;
use jelly_wire::{Launch, ReplyOutcome, Session};
use serde_json::Value;

/// The lists that a server may declare, beside that of its tools, which is
/// read at every start.
const LISTS: [ListKind; 3] = [
    ListKind::Resources,
    ListKind::ResourceTemplates,
    ListKind::Prompts,
];

impl ServerLane {
    /// Whether the messages of this server are held against the specification.
    pub(super) fn checks_wire(&self) -> bool {
        let by_plan = self
            .server
            .wire_check
            .unwrap_or(self.shared.plan.wire_check);
        self.settings.wire_check || by_plan
    }

    /// The session that is checked: a fresh one, of the modern era from its
    /// first message on, where this one was opened in the words of both eras.
    pub(super) async fn fit_for_check(
        &self,
        mut session: Session,
        launch: &Launch,
        report: &mut ServerReport,
    ) -> Result<Session, Because> {
        if !session.was_opened_twice() {
            return Ok(session);
        }
        report.notes.push(format!(
            "it answered the probe for its era after `initialize` was sent as well, and {} for \
             the wire check, with the probe alone",
            afresh(&session)
        ));
        session.shutdown(HASTY_GRACE).await;
        drop(session);
        let launch = Launch {
            era: Some(Era::Modern),
            ..launch.clone()
        };
        self.start(&launch, report).await
    }

    /// Asks for every list that the server declares, with all its pages: what
    /// nobody asks for can't be checked. The answers are the check's alone, and
    /// a server that gives none is noted, and looked after before its first
    /// step, which is not to blame.
    pub(super) async fn ask_declared_lists(
        &self,
        session: &Session,
        report: &mut ServerReport,
    ) -> Aftermath {
        if !self.checks_wire() {
            return Aftermath::Alive;
        }
        for kind in LISTS {
            if session.capabilities().get(kind.capability()).is_none() {
                continue;
            }
            let limit = self.server.request_timeout;
            let reply = tokio::select! {
                reply = session.list(kind, Value::Null, limit) => reply,
                _ = self.shared.stop() => return Aftermath::Alive,
            };
            let how = match reply.outcome {
                ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) => continue,
                ReplyOutcome::Broken(_) => "answered what is no list".to_owned(),
                ReplyOutcome::Beyond(beyond) => format!("it {}", beyond.text),
                ReplyOutcome::Http(end) if end.rpc_error.is_some() => continue,
                ReplyOutcome::Http(end) => format!("the request {}", end.message),
                // A list asks for nothing, and what it asks all the same is a breach.
                ReplyOutcome::Unanswered(_) => continue,
                ReplyOutcome::TimedOut(_) => "did not answer".to_owned(),
                // The next step finds it dead.
                ReplyOutcome::Exited(_) => return Aftermath::Alive,
            };
            report.notes.push(format!(
                "it declares `{}`, and was asked `{}` for the wire check: {how}",
                kind.capability(),
                kind.method()
            ));
            return Aftermath::Unsure;
        }
        Aftermath::Alive
    }

    /// Tells what the check came to, and makes a failure of it where the
    /// server did what it must not do.
    pub(super) fn conclude_wire_check(&self, report: &ServerReport) {
        let Some(check) = &report.wire_check else {
            return;
        };
        self.emit(Event::WireChecked {
            server: self.server.name.clone(),
            check: Box::new(check.clone()),
        });
        if let Some(failure) = self.wire_failure(check) {
            self.shared.fail_server(self.place, failure);
        }
    }

    /// One for all breaches: they are the same server's, and the first one
    /// names the cause.
    fn wire_failure(&self, check: &WireCheck) -> Option<Failure> {
        let mut failing = check.failing();
        let first = failing.next()?;
        let others = failing.count();
        let breach = format!("{} ({})", first.text, first.place());
        let mut message = format!("the server {breach}");
        if others > 0 {
            message.push_str(&format!(", and {}", plural(others, "further breach")));
        }
        let mut failure = self.prepared.facts.failure(Phase::Assert, message);
        failure.outcome = Some(Outcome::Ok);
        failure.protocol_breach = Some(breach);
        failure.assertion = Some(Assertion {
            kind: "wire_check".to_owned(),
            target: Some(AssertionTarget::Wire),
            path: Some(first.pointer.clone()),
            expected: Value::from(first.section.clone()),
            actual: Value::Null,
            ..Assertion::default()
        });
        Some(failure)
    }
}

/// Takes over what one life of the server came to; to be called when it is
/// over.
pub(super) fn note_wire_check(session: &Session, report: &mut ServerReport) {
    if let Some(check) = session.wire_check() {
        report.wire_check.get_or_insert_default().merge(check);
    }
}
