//! `redact`: what of a value counts for nothing beside its snapshot.

use super::path::Path;
use super::reader::Reader;
use crate::anything::redacts_all;
use crate::grammar::REDACTION;
use crate::syntax::{Data, Node};
use crate::{Redaction, Volatile};
use jelly_base::text::close_names;

/// What stands in the place of what a path selects or a pattern matches.
const REDACTED: &str = "[redacted]";

/// The most that a compiled pattern may take, in bytes.
const PATTERN_SIZE: usize = 4 << 20;

impl<'t> Reader<'t> {
    /// A list of names and of maps with a path or a pattern.
    pub(super) fn redactions(&mut self, node: &Node<'t>, path: Path<'_>) -> Vec<Redaction> {
        let Data::List(items) = &node.data else {
            let message = format!("expected a list of redactions, found {}", node.kind());
            self.problem(node.span, path, message)
                .hint("as in `redact: [timestamp, { path: $.id }]`");
            return Vec::new();
        };
        let mut redactions = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let redaction = self.redaction(item, path);
            if redaction.as_ref().is_some_and(redacts_all) {
                let message = "all of it is replaced, so nothing is compared";
                self.problem(item.span, path, message)
                    .hint("name what differs from run to run, and nothing else");
            }
            redactions.extend(redaction);
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
                    None => format!("`{names}`, `{{ path: $.… }}`, or `{{ pattern: … }}`"),
                };
                self.problem(node.span, path, format!("nothing is known as `{name}`"))
                    .hint(hint);
            }
            return kind.map(Redaction::Kind);
        }
        let fields = self.fields(node, path, &REDACTION)?;
        let with = match fields.get("with") {
            Some(with) => self.string(with, path.key("with"))?.to_owned(),
            None => REDACTED.to_owned(),
        };
        match (fields.get("path"), fields.get("pattern")) {
            (Some(at), None) => {
                let (parsed, raw) = self.json_path(at, path.key("path"))?;
                Some(Redaction::At {
                    path: parsed,
                    raw,
                    with,
                })
            }
            (None, Some(pattern)) => self.matching(pattern, path.key("pattern"), with),
            (Some(_), Some(_)) => {
                self.problem(
                    node.span,
                    path,
                    "a redaction with both `path` and `pattern`",
                )
                .hint("write two of them: `[{ path: … }, { pattern: … }]`");
                None
            }
            (None, None) => {
                self.problem(node.span, path, "a redaction without `path` or `pattern`")
                    .hint("as in `{ path: $.id }`, or `{ pattern: 'run \\d+' }`");
                None
            }
        }
    }

    fn matching(&mut self, node: &Node<'t>, path: Path<'_>, with: String) -> Option<Redaction> {
        let raw = self.string(node, path)?.to_owned();
        let built = regex::RegexBuilder::new(&raw)
            .size_limit(PATTERN_SIZE)
            .build();
        match built {
            // It would stand between all characters.
            Ok(regex) if regex.is_match("") => {
                self.problem(node.span, path, "the pattern matches nothing at all too")
                    .hint("a pattern says what is replaced, as in `run \\d+`");
                None
            }
            Ok(regex) => Some(Redaction::Matching { regex, raw, with }),
            Err(error) => {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim();
                let why = why.strip_prefix("error: ").unwrap_or(why);
                self.problem(node.span, path, format!("not a pattern: {why}"));
                None
            }
        }
    }
}
