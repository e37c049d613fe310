//! What a failure tells of its own kind where the facts are jelly's: live, or
//! in a JUnit report that jelly wrote.

use super::clues;
use jelly_base::model::{Failure, Phase};

/// Start-up ends when the first step may run. jelly's own words for a server
/// that answered `initialize` and then went away are "exited during startup";
/// a JUnit file has a case `(start NAME)` for a server.
pub(super) fn is_starting(failure: &Failure) -> bool {
    match failure.phase {
        Some(Phase::Config | Phase::Spawn | Phase::Handshake) => true,
        // A stack says that the server was at work on its lists.
        Some(Phase::List) => {
            let message = failure.message.as_deref();
            let stderr = failure.stderr.as_deref();
            message.is_some_and(|m| m.contains("exited during startup"))
                && stderr.and_then(clues::trace_line).is_none()
        }
        Some(Phase::Call | Phase::Assert | Phase::Teardown) => false,
        None => {
            failure
                .name
                .as_deref()
                .is_some_and(|n| n.starts_with("(start "))
                || failure
                    .message
                    .as_deref()
                    .is_some_and(|m| m.contains("exited during startup"))
        }
    }
}

/// The breach of the protocol that a failure tells of, with its field. A JUnit
/// file has a case `(wire NAME)` for what jelly's wire check found.
pub(super) fn breach_of(failure: &Failure) -> Option<(&'static str, &str)> {
    if let Some(breach) = &failure.protocol_breach {
        return Some(("protocol_breach", breach));
    }
    let name = failure.name.as_deref()?;
    let found = failure.phase.is_none() && name.starts_with("(wire ");
    let message = failure.message.as_deref().filter(|_| found)?;
    Some(("message", message))
}
