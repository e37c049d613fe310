//! What stands beside what a step does: its cancellation, and keys that mean
//! nothing there.

use super::reader::{Path, Reader, entry, get};
use crate::syntax::{Data, Entry};
use crate::{Cancel, Request};
use std::time::Duration;

/// How long a cancelled request must stay without an answer.
const QUIET_FOR: Duration = Duration::from_millis(500);

impl<'t> Reader<'t> {
    /// `cancel_after` and `quiet_for`.
    pub(super) fn cancel(
        &mut self,
        entries: &[Entry<'t>],
        timeout: Option<Duration>,
        path: Path<'_>,
    ) -> Option<Cancel> {
        let quiet = entry(entries, "quiet_for");
        let Some(after) = get(entries, "cancel_after") else {
            if let Some(quiet) = quiet {
                self.problem(
                    quiet.key_span,
                    path,
                    "`quiet_for` is of a step that cancels",
                )
                .hint("say when, as in `cancel_after: 200ms`");
            }
            return None;
        };
        let quiet_for = quiet.and_then(|q| self.duration(&q.value, path.key("quiet_for")));
        let (node, to) = (after, path.key("cancel_after"));
        let after = self.duration(node, to)?;
        if timeout.is_some_and(|timeout| timeout <= after) {
            self.problem(
                node.span,
                to,
                "the step's `timeout` is over before `cancel_after`",
            )
            .hint("cancel earlier, or give the step more time");
        }
        Some(Cancel {
            after,
            quiet_for: quiet_for.unwrap_or(QUIET_FOR),
        })
    }

    /// Keys that mean nothing beside what a step does.
    pub(super) fn unfit_keys(
        &mut self,
        entries: &[Entry<'t>],
        request: Option<&Request>,
        path: Path<'_>,
    ) {
        let Some(request) = request else {
            return;
        };
        let mut refuse = |keys: &[&str], what: &str, hint: Option<&str>| {
            for entry in entries.iter().filter(|e| keys.contains(&e.key.as_ref())) {
                let message = format!("{what} has no `{}`", entry.key);
                let problem = self.problem(entry.key_span, path, message);
                if let Some(hint) = hint {
                    problem.hint(hint);
                }
            }
        };
        match request {
            Request::Raw(_) => {
                let keys = ["answers", "log_level", "cancel_after", "bare"];
                refuse(&keys, "a step of raw bytes", None);
            }
            Request::Unsubscribe(_) => {
                let keys = ["answers", "log_level", "cancel_after", "bare", "capture"];
                refuse(&keys, "`unsubscribe`", None);
            }
            Request::Subscribe(_) => {
                let keys = ["log_level", "cancel_after", "bare"];
                refuse(&keys, "`subscribe`", None);
            }
            Request::List(_) => refuse(
                &["bare", "cancel_after"],
                "`list`",
                Some("`request: METHOD` sends one request for one page"),
            ),
            Request::Tool(_) | Request::Read(_) | Request::Prompt(_) | Request::Complete(_) => {
                refuse(
                    &["bare"],
                    "this kind of step",
                    Some("`request: METHOD` sends any parameters"),
                );
            }
            Request::Method(_) => {}
        }
        if get(entries, "cancel_after").is_none() {
            return;
        }
        refuse(
            &["capture"],
            "a cancelled step",
            Some("it passes when no answer comes"),
        );
        let Some(Data::Map(expected)) = get(entries, "expect").map(|node| &node.data) else {
            return;
        };
        for entry in expected {
            if !["notifications", "stderr"].contains(&entry.key.as_ref()) {
                let message = format!(
                    "a cancelled step has no answer to expect `{}` of",
                    entry.key
                );
                self.problem(entry.key_span, path.key("expect"), message)
                    .hint("it passes when no answer comes");
            }
        }
    }
}
