//! Values in an answer that no client may give.
//!
//! That a member is missing is told by the grammar of methods; here it is there, and is another
//! thing than the specification says.

use super::hints::in_flow;
use super::path::Path;
use super::reader::Reader;
use crate::syntax::{Data, Node};

/// How the URI of a root begins, in all revisions.
const OF_FILES: &str = "file://";

impl<'t> Reader<'t> {
    /// The values of the `result` of an answer to this method.
    pub(super) fn unfit_values(&mut self, method: &str, result: &Node<'t>, path: Path<'_>) {
        match method {
            "sampling/createMessage" => self.unfit_content(result, path),
            "roots/list" => self.unfit_roots(result, path),
            "elicitation/create" => self.content_of_no_form(result, path),
            _ => {}
        }
    }

    /// A text where a block of content belongs.
    fn unfit_content(&mut self, result: &Node<'t>, path: Path<'_>) {
        let Some(content) = result.entry("content").map(|entry| &entry.value) else {
            return;
        };
        let Some(text) = content.as_str().filter(|text| !is_variable(text)) else {
            return;
        };
        let hint = match text.contains('\n') {
            true => "as in `content: { type: text, text: hi }`".to_owned(),
            false => format!("write `content: {{ type: text, text: {} }}`", in_flow(text)),
        };
        let message = "`content` is a block of content, and no text";
        self.problem(content.span, path.key("content"), message)
            .hint(hint);
    }

    /// Roots that are no URIs of files.
    fn unfit_roots(&mut self, result: &Node<'t>, path: Path<'_>) {
        let Some(Data::List(roots)) = result.entry("roots").map(|entry| &entry.value.data) else {
            return;
        };
        let path = path.key("roots");
        for (index, root) in roots.iter().enumerate() {
            let Some(uri) = root.entry("uri").map(|entry| &entry.value) else {
                continue;
            };
            let Some(text) = uri.as_str() else {
                continue;
            };
            if text.starts_with(OF_FILES) || is_variable(text) && !text.starts_with("${workspace}")
            {
                continue;
            }
            let hint = match text.starts_with(['/', '$']) {
                true => format!("write `uri: \"{OF_FILES}{text}\"`"),
                false => format!("as in `uri: \"{OF_FILES}${{workspace}}\"`"),
            };
            let message = format!("the `uri` of a root begins with `{OF_FILES}`");
            let to = path.index(index);
            self.problem(uri.span, to.key("uri"), message).hint(hint);
        }
    }

    /// The answers of a form that is not accepted.
    fn content_of_no_form(&mut self, result: &Node<'t>, path: Path<'_>) {
        let action = result.entry("action");
        let action = action.and_then(|entry| entry.value.as_str());
        let refuses = action.filter(|action| ["decline", "cancel"].contains(action));
        if let (Some(action), Some(content)) = (refuses, result.entry("content")) {
            let message = format!("`content` does not go with `action: {action}`");
            self.problem(content.key_span, path, message)
                .hint("take `content` out, or write `action: accept`");
        }
    }
}

/// Whether what a variable holds is the value, or how it begins.
fn is_variable(text: &str) -> bool {
    text.starts_with("${")
}
