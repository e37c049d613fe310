//! A reply that is no good answer, as a failure. Fingerprints are made of these
//! sentences, so they are the same whoever asked.
//!
//! Main type: [`FailedReply`]. Must not know what was wanted instead.

use jelly_base::model::{Exit, Failure, Outcome, OwnLimit, Phase, RpcError, ToolResult};
use jelly_base::text::human_duration;
use jelly_wire::{HttpEnd, describe_exit};
use std::time::Duration;

/// A request that got no good answer.
pub struct FailedReply {
    /// The request, as a message calls it.
    pub shown: String,
    /// What every failure of it says besides what came.
    pub facts: Failure,
}

impl FailedReply {
    /// With the sentence that says what came.
    pub fn told(self, message: String) -> Failure {
        Failure {
            message: Some(message),
            ..self.facts
        }
    }

    /// The process ended before it answered.
    pub fn exited(self, exit: Exit) -> Failure {
        let how = describe_exit(&exit);
        let message = format!("the server exited {how} during {}", self.shown);
        Failure {
            outcome: Some(Outcome::Eof),
            process_alive: Some(false),
            exit: Some(exit),
            ..self.told(message)
        }
    }

    /// The limit ran out; `more` ends the sentence.
    pub fn timed_out(self, limit: Duration, more: &str) -> Failure {
        let within = human_duration(limit);
        let message = format!("{} was not answered within {within}{more}", self.shown);
        Failure {
            outcome: Some(Outcome::Timeout),
            timeout_s: Some(limit.as_secs_f64()),
            ..self.told(message)
        }
    }

    /// The server broke the protocol; `breach` completes "the server …".
    pub fn broken(self, breach: String) -> Failure {
        let message = self.in_answer(&breach);
        Failure {
            protocol_breach: Some(breach),
            ..self.told(message)
        }
    }

    /// What came, if it was the answer, was not read; `text` completes "the
    /// server …".
    pub fn beyond(self, limit: OwnLimit, text: &str) -> Failure {
        let message = format!(
            "{}: a limit of jelly's own, so that nothing can be said of the answer",
            self.in_answer(text)
        );
        Failure {
            own_limit: Some(limit),
            ..self.told(message)
        }
    }

    /// The server asks for what nobody has an answer to, which is no fault of its
    /// own; `why` completes "the server …", and `hint` says who would answer.
    pub fn unanswered(self, why: &str, hint: &str) -> Failure {
        let message = format!("{}: {hint}", self.in_answer(why));
        Failure {
            phase: Some(Phase::Config),
            ..self.told(message)
        }
    }

    /// A JSON-RPC error; `quoted` is its message, as it is to be shown.
    pub fn refused(self, error: RpcError, quoted: &str) -> Failure {
        let code = error
            .code
            .map_or_else(|| "without a code".to_owned(), |code| code.to_string());
        let message = format!("{} returned JSON-RPC error {code}: {quoted}", self.shown);
        Failure {
            outcome: Some(Outcome::Error),
            rpc_error: Some(error),
            ..self.told(message)
        }
    }

    /// A tool's own error; `quoted` is its text, as it is to be shown.
    pub fn tool_error(self, result: ToolResult, quoted: &str) -> Failure {
        let message = match quoted {
            "" => "the tool answered with isError: true and no text".to_owned(),
            quoted => format!("the tool answered with an error: {quoted}"),
        };
        Failure {
            outcome: Some(Outcome::Result),
            tool_result: Some(result),
            ..self.told(message)
        }
    }

    /// The exchange over HTTP brought no good answer.
    pub fn over_http(self, end: HttpEnd) -> Failure {
        let HttpEnd {
            facts,
            message,
            rpc_error,
            breach,
            own_limit,
            session_lost: _,
            session_in_doubt: _,
        } = end;
        let message = match &breach {
            Some(breach) => self.in_answer(breach),
            None => format!("{} {message}", self.shown),
        };
        Failure {
            outcome: rpc_error.as_ref().map(|_| Outcome::Error),
            http: Some(facts),
            rpc_error,
            protocol_breach: breach,
            own_limit,
            ..self.told(message)
        }
    }

    fn in_answer(&self, what: &str) -> String {
        format!("the server {what}, in answer to {}", self.shown)
    }
}
