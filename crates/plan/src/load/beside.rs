//! What stands beside what a step does: its cancellation, and keys that mean
//! nothing there.

use super::reader::{Fields, Reader};
use crate::syntax::Data;
use crate::{Cancel, Request};
use jelly_base::text::WordList;
use std::time::Duration;

/// How long a cancelled request must stay without an answer.
const QUIET_FOR: Duration = Duration::from_millis(500);

impl<'t> Reader<'t> {
    /// `cancel_after` and `quiet_for`.
    pub(super) fn cancel(
        &mut self,
        fields: Fields<'_, 't, '_>,
        timeout: Option<Duration>,
    ) -> Option<Cancel> {
        let Some(node) = fields.get("cancel_after") else {
            if let Some(quiet) = fields.entry("quiet_for") {
                let message = "`quiet_for` is of a step that cancels";
                self.problem(quiet.key_span, fields.path, message)
                    .hint("say when, as in `cancel_after: 200ms`");
            }
            return None;
        };
        let quiet_for = self.read(fields, "quiet_for");
        let after = self.read(fields, "cancel_after")?;
        if timeout.is_some_and(|timeout| timeout <= after) {
            let message = "the step's `timeout` is over before `cancel_after`";
            self.problem(node.span, fields.path.key("cancel_after"), message)
                .hint("cancel earlier, or give the step more time");
        }
        Some(Cancel {
            after,
            quiet_for: quiet_for.unwrap_or(QUIET_FOR),
        })
    }

    /// Keys that mean nothing beside what a step does.
    pub(super) fn unfit_keys(&mut self, fields: Fields<'_, 't, '_>, request: Option<&Request>) {
        let Fields { entries, path, .. } = fields;
        let Some(request) = request else {
            return;
        };
        let mut refuse = |what: &str, keys: &'static str, hint: Option<&str>| {
            for entry in entries.iter().filter(|e| WordList(keys).has(&e.key)) {
                let message = format!("{what} has no `{}`", entry.key);
                let problem = self.problem(entry.key_span, path, message);
                if let Some(hint) = hint {
                    problem.hint(hint);
                }
            }
        };
        match request {
            Request::Raw(_) => refuse(
                "a step of raw bytes",
                "answers log_level cancel_after bare progress total_timeout",
                None,
            ),
            Request::Http(_) => refuse(
                "a plain HTTP request",
                "answers log_level cancel_after progress total_timeout",
                None,
            ),
            Request::Unsubscribe(_) => refuse(
                "`unsubscribe`",
                "answers log_level cancel_after bare capture progress total_timeout",
                None,
            ),
            Request::Subscribe(_) => refuse(
                "`subscribe`",
                "log_level cancel_after bare progress total_timeout",
                None,
            ),
            Request::List(_) => refuse(
                "`list`",
                "bare cancel_after progress total_timeout",
                Some("`request: METHOD` sends one request for one page"),
            ),
            Request::Tool(_) | Request::Read(_) | Request::Prompt(_) | Request::Complete(_) => {
                refuse(
                    "this kind of step",
                    "bare",
                    Some("`request: METHOD` sends any parameters"),
                );
            }
            Request::Method(_) | Request::Startup => {}
        }
        if fields.get("cancel_after").is_none() {
            return;
        }
        refuse(
            "a cancelled step",
            "capture progress total_timeout",
            Some("it passes when no answer comes"),
        );
        let Some(Data::Map(expected)) = fields.get("expect").map(|node| &node.data) else {
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
