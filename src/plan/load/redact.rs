//! `redact`: what of a value counts for nothing beside its snapshot.

use super::reader::{Path, Reader, Shape, get};
use crate::plan::syntax::{Data, Node};
use crate::plan::{Redaction, Volatile};
use crate::text::close_names;

const SHAPE: Shape = Shape {
    what: "a redaction",
    keys: &["path", "with"],
    instead: &[("value", "did you mean `with`?")],
};

/// What stands in the place of what a path selects.
const REDACTED: &str = "[redacted]";

impl<'t> Reader<'t> {
    /// A list of names and of maps with a path.
    pub(super) fn redactions(&mut self, node: &Node<'t>, path: Path<'_>) -> Vec<Redaction> {
        let Data::List(items) = &node.data else {
            let message = format!("expected a list of redactions, found {}", node.kind());
            self.problem(node.span, path, message)
                .hint("as in `redact: [timestamp, { path: $.id }]`");
            return Vec::new();
        };
        let mut redactions = Vec::new();
        for (index, item) in items.iter().enumerate() {
            redactions.extend(self.redaction(item, path.index(index)));
        }
        redactions
    }

    fn redaction(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Redaction> {
        if let Data::String(name) = &node.data {
            let kind = Volatile::ALL.into_iter().find(|kind| kind.name() == name);
            if kind.is_none() {
                let close = close_names(name, Volatile::ALL.map(Volatile::name));
                let names = Volatile::ALL.map(Volatile::name).join("`, `");
                let hint = match close.first() {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => format!("`{names}`, or `{{ path: $.… }}`"),
                };
                self.problem(node.span, path, format!("nothing is known as `{name}`"))
                    .hint(hint);
            }
            return kind.map(Redaction::Kind);
        }
        let entries = self.map(node, path, &SHAPE)?;
        let Some(at) = get(entries, "path") else {
            self.problem(node.span, path, "a redaction without `path`")
                .hint("as in `{ path: $.id }`");
            return None;
        };
        let (parsed, raw) = self.json_path(at, path.key("path"))?;
        let with = match get(entries, "with") {
            Some(with) => self.string(with, path.key("with"))?.to_owned(),
            None => REDACTED.to_owned(),
        };
        Some(Redaction::At {
            path: parsed,
            raw,
            with,
        })
    }
}
