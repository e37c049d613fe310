//! Failures of a server that somebody else started and talks to, with the same
//! facts as those of a lane.

use super::checkup::facts;
use super::clean::Cleaner;
use super::failed_reply::FailedReply;
use super::launch::not_startable;
use jelly_base::model::{Exit, Failure, Outcome, Phase, RequestFacts, SpawnError};
use jelly_base::text::redact::Redactor;
use jelly_process::CommandSpec;
use jelly_wire::{HttpEnd, Reach, StartFailure, describe_exit};

/// A server, as it is told of.
#[derive(Debug, Clone)]
pub struct Outsider {
    pub name: String,
    pub reach: Reach,
    pub redactor: Redactor,
}

impl Outsider {
    /// The system refused to start it.
    #[must_use]
    pub fn unspawned(&self, spec: &CommandSpec, error: SpawnError) -> Failure {
        let facts = facts(&self.name, &self.reach, &self.redactor);
        self.clean(not_startable(&facts, spec, error, &self.redactor))
    }

    /// It did not become ready.
    #[must_use]
    pub fn unready(&self, start: StartFailure) -> Failure {
        let facts = facts(&self.name, &self.reach, &self.redactor);
        self.clean(facts.start_failure(start, self.reach.command().is_some()))
    }

    /// It went away in use, of a request or between two: it ended, or closed its
    /// stdout and lives on. With its stderr, and what its stdout had last besides
    /// messages.
    #[must_use]
    pub fn died(
        &self,
        exit: Option<Exit>,
        (stderr, stdout_noise): (String, Vec<String>),
        method: Option<&str>,
    ) -> Failure {
        const CLOSED: &str = "closed its stdout and lives on";
        let how = match &exit {
            Some(exit) => format!("exited {}", describe_exit(exit)),
            None => CLOSED.to_owned(),
        };
        let message = match (method, exit.is_some()) {
            (Some(method), true) => format!("the server {how} before it answered `{method}`"),
            (Some(method), false) => format!("the server {how}, and did not answer `{method}`"),
            (None, _) => {
                format!("the server {how} between two requests, and nobody had asked it to")
            }
        };
        self.clean(Failure {
            outcome: Some(match exit {
                Some(_) => Outcome::Eof,
                None => Outcome::Error,
            }),
            process_alive: Some(exit.is_none()),
            protocol_breach: exit.is_none().then(|| CLOSED.to_owned()),
            exit,
            stderr: Some(stderr),
            stdout_noise,
            request: method.map(|method| RequestFacts {
                method: method.to_owned(),
                params: None,
                ..RequestFacts::default()
            }),
            ..facts(&self.name, &self.reach, &self.redactor).failure(Phase::Call, message)
        })
    }

    /// A request to a URL in use got no answer.
    #[must_use]
    pub fn unanswered(&self, end: HttpEnd, method: &str) -> Failure {
        let failed = FailedReply {
            shown: format!("`{method}`"),
            facts: Failure {
                request: Some(RequestFacts {
                    method: method.to_owned(),
                    params: None,
                    ..RequestFacts::default()
                }),
                ..facts(&self.name, &self.reach, &self.redactor).failure(Phase::Call, "")
            },
        };
        self.clean(failed.over_http(end))
    }

    fn clean(&self, mut failure: Failure) -> Failure {
        Cleaner::of_secrets(self.redactor.clone()).failure(&mut failure);
        failure
    }
}
