//! `at_once` of a step: calls that go out together with its own.

use super::path::Path;
use super::reader::{Fields, Reader};
use super::references::{Needs, TemplatePlace};
use crate::grammar::AT_ONCE;
use crate::syntax::Node;
use crate::{CallAtOnce, Request};
use serde_json::Value;

/// So many calls may go out with the step's own.
const MOST: usize = 64;

/// What sends its request otherwise than once and as it is.
const UNFIT: [&str; 3] = ["until", "cancel_after", "answers"];

impl<'t> Reader<'t> {
    pub(super) fn at_once(
        &mut self,
        fields: Fields<'_, 't, '_>,
        request: Option<&Request>,
        needs: &mut Needs,
    ) -> Vec<CallAtOnce> {
        let Some(entry) = fields.entry("at_once") else {
            return Vec::new();
        };
        let path = fields.path;
        match request {
            Some(Request::Tool(_)) | None => {}
            Some(other) => {
                let message = format!("`{}` has no `at_once`", other.kind());
                self.problem(entry.key_span, path, message)
                    .hint("calls of tools are sent at once: a step with `tool`");
            }
        }
        if let Some(other) = UNFIT.iter().find_map(|key| fields.entry(key)) {
            let message = format!("`at_once` and `{}` don't go together", other.key);
            self.problem(entry.key_span, path, message)
                .also(other.key_span.range(), "the other one")
                .hint("make two steps of it");
        }
        let path = path.key("at_once");
        let items = self.list(&entry.value, path, "calls").unwrap_or(&[]);
        if items.is_empty() || items.len() > MOST {
            let message = format!("`at_once` has 1 to {MOST} calls besides the step's own");
            self.problem(entry.value.span, path, message)
                .hint("as in `at_once: [{ tool: count }]`");
            return Vec::new();
        }
        let calls = items.iter().enumerate();
        calls
            .filter_map(|(index, node)| self.call_at_once(node, path.index(index), needs))
            .collect()
    }

    fn call_at_once(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<CallAtOnce> {
        let fields = self.fields(node, path, &AT_ONCE)?;
        self.required(fields, "tool")?;
        let args = match fields.get("args") {
            Some(node) => {
                let path = path.key("args");
                self.entries(node, path, "arguments by name")?;
                self.templates(node, path, TemplatePlace::Args, needs);
                node.to_value()
            }
            None => Value::Null,
        };
        let tool = self.foreign_name(fields, "tool")?;
        Some(CallAtOnce { tool, args })
    }
}
