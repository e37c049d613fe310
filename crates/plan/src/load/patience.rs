//! `progress` and `total_timeout`: how long an answer is waited for.

use super::reader::{Fields, Reader};
use super::references::{KnownNames, ServerPatience};
use std::time::Duration;

/// The longest that a request may take, where nobody says.
const TOTAL: Duration = Duration::from_secs(10 * 60);

impl<'t> Reader<'t> {
    /// Whether progress extends a timeout, where that is said.
    pub(super) fn progress(&mut self, fields: Fields<'_, 't, '_>) -> Option<bool> {
        let said: &str = self.read(fields, "progress")?;
        Some(said == "extends")
    }

    pub(super) fn patience_of_server(
        &mut self,
        fields: Fields<'_, 't, '_>,
        name: &str,
        request_timeout: Duration,
    ) -> ServerPatience {
        let own = self.progress(fields);
        let total: Option<Duration> = self.read(fields, "total_timeout");
        self.total_is_longer(fields, total, request_timeout, "request_timeout");
        let total = total.or(self.defaults.total_timeout).unwrap_or(TOTAL);
        let patience = ServerPatience {
            request_timeout,
            extends: own.or(self.defaults.progress_extends).unwrap_or(false),
            total,
        };
        self.names.patience.insert(name.to_owned(), patience);
        patience
    }

    /// What a step says itself.
    pub(super) fn patience_of_step(
        &mut self,
        fields: Fields<'_, 't, '_>,
        server: Option<&str>,
        timeout: Option<Duration>,
    ) -> (Option<bool>, Option<Duration>) {
        let extends = self.progress(fields);
        let total: Option<Duration> = self.read(fields, "total_timeout");
        let usual = server.and_then(|name| self.names.patience.get(name).copied());
        let in_effect = extends.or(usual.map(|usual| usual.extends));
        if let (Some(entry), Some(_), Some(false)) =
            (fields.entry("total_timeout"), total, in_effect)
        {
            let message = "`total_timeout` is the limit of what progress extends, and it extends \
                           nothing here";
            self.problem(entry.key_span, fields.path, message)
                .hint("write `progress: extends` beside it, or `timeout` in its place");
        }
        if let Some(timeout) = timeout.or(usual.map(|usual| usual.request_timeout)) {
            self.total_is_longer(fields, total, timeout, "timeout");
        }
        (extends, total)
    }

    fn total_is_longer(
        &mut self,
        fields: Fields<'_, 't, '_>,
        total: Option<Duration>,
        timeout: Duration,
        key: &str,
    ) {
        if let (Some(total), Some(node)) = (total, fields.get("total_timeout"))
            && total <= timeout
        {
            let message = format!("`total_timeout` is over before progress can extend `{key}`");
            self.problem(node.span, fields.path.key("total_timeout"), message)
                .hint(format!("it is longer than `{key}`"));
        }
    }
}

impl KnownNames {
    /// After which an answer does not come any more, by what a step says itself: its
    /// timeout, whether progress extends it, and up to when.
    pub(super) fn longest_wait(
        &self,
        server: Option<&str>,
        (timeout, extends, total): (Option<Duration>, Option<bool>, Option<Duration>),
    ) -> Option<Duration> {
        let usual = server.and_then(|name| self.patience.get(name));
        let limit = timeout.or(usual.map(|usual| usual.request_timeout))?;
        match extends.or(usual.map(|usual| usual.extends)) {
            Some(true) => Some(total.or(usual.map(|usual| usual.total))?.max(limit)),
            Some(false) | None => Some(limit),
        }
    }
}
