//! `defaults`.

use super::path::Path;
use super::reader::Reader;
use crate::grammar::DEFAULTS;
use crate::syntax::Node;
use std::time::Duration;

/// What holds of every step and server that does not say itself.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub tags: Vec<String>,
    pub timeout: Option<Duration>,
    pub startup_timeout: Option<Duration>,
    pub request_timeout: Option<Duration>,
    pub shutdown_timeout: Option<Duration>,
    pub progress_extends: Option<bool>,
    pub total_timeout: Option<Duration>,
}

impl<'t> Reader<'t> {
    pub(super) fn defaults(&mut self, node: &Node<'t>, path: Path<'_>) {
        let Some(fields) = self.fields(node, path, &DEFAULTS) else {
            return;
        };
        if fields.entries.is_empty() {
            self.problem(node.span, path, "`defaults` says nothing")
                .hint("as in `defaults: { timeout: 10s }`; leave it out where there are none");
        }
        if let Some(name) = self.read::<String>(fields, "server") {
            if self.strict {
                self.unknown_server(node, path);
            }
            self.names.likely_servers = vec![name];
        }
        let tags = match fields.get("tags") {
            Some(node) => self.words(node, path.key("tags"), "tags"),
            None => Vec::new(),
        };
        self.defaults = Defaults {
            tags,
            timeout: self.read(fields, "timeout"),
            startup_timeout: self.read(fields, "startup_timeout"),
            request_timeout: self.read(fields, "request_timeout"),
            shutdown_timeout: self.read(fields, "shutdown_timeout"),
            progress_extends: self.progress(fields),
            total_timeout: self.read(fields, "total_timeout"),
        };
    }
}
