//! Expectations that are written from the whole JSON-RPC message, of which an answer is only
//! the result: their paths select nothing in any answer, so that a server would be blamed
//! for what the plan got wrong.

use super::path::Path;
use super::reader::Reader;
use crate::Request;
use crate::same_path::below;
use crate::syntax::{Data, Node};
use serde_json_path::JsonPath;

/// What a JSON-RPC error holds, and a result of MCP doesn't.
const OF_ERROR: [&str; 3] = ["code", "message", "data"];

impl<'t> Reader<'t> {
    /// An RFC 9535 path into the result that is due, and its text. Results are open, so
    /// that only what is surely meant of the message around one is refused.
    pub(super) fn result_path(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
    ) -> Option<(JsonPath, String)> {
        let (parsed, raw) = self.json_path(node, path)?;
        let members = self.names.due_answer.known_members;
        let Some(first) = members.first() else {
            return Some((parsed, raw));
        };
        let begins = |rest: &str, names: &[&str]| {
            let name = |name: &&str| rest.starts_with(&format!("[\"{name}\"]"));
            rest.is_empty() || names.iter().any(name)
        };
        // That there is no `$.error` is true, and may be wanted.
        let of_error = below(&raw, "error").filter(|r| !r.is_empty() && begins(r, &OF_ERROR));
        let refused = if let Some(rest) = of_error {
            let wanted = match rest.as_str() {
                "[\"code\"]" => "{ code: … }",
                "[\"message\"]" => "{ message: { contains: … } }",
                _ => "{}",
            };
            Some((
                "a path begins at the result, and a JSON-RPC error has none",
                format!("to expect an error, write `expect: {{ error: {wanted} }}`"),
            ))
        } else if let Some(rest) = below(&raw, "result").filter(|r| begins(r, members)) {
            let rest = raw
                .trim()
                .strip_prefix("$.result")
                .filter(|_| !rest.is_empty());
            let meant = rest.map_or_else(|| format!("$.{first}"), |rest| format!("${rest}"));
            Some((
                "a path begins at the result, and not at the message around it",
                format!("write `{meant}`"),
            ))
        } else if below(&raw, "jsonrpc").is_some() {
            Some((
                "a path begins at the result, and `jsonrpc` is a member of the message around it",
                format!("name a part of the result, as in `$.{first}`"),
            ))
        } else {
            None
        };
        if let Some((message, hint)) = refused {
            self.problem(node.span, path, message).hint(hint);
            return None;
        }
        Some((parsed, raw))
    }

    /// Only a call of a tool has a result that says of itself that it is an error.
    pub(super) fn fits_is_error(&mut self, expect: &Node<'t>, path: Path<'_>, request: &Request) {
        let has_none = match request {
            Request::List(_)
            | Request::Read(_)
            | Request::Prompt(_)
            | Request::Complete(_)
            | Request::Subscribe(_)
            | Request::Unsubscribe(_) => true,
            // Their answers may be those of tools; of plain HTTP it is told elsewhere.
            Request::Tool(_)
            | Request::Method(_)
            | Request::Raw(_)
            | Request::Http(_)
            | Request::Startup => false,
        };
        let wants_one = |value: &Node<'_>| !matches!(value.data, Data::Bool(false));
        let entry = expect.entry("is_error").filter(|_| has_none);
        let Some(entry) = entry.filter(|entry| wants_one(&entry.value)) else {
            return;
        };
        let message = format!(
            "the answer to `{}` has no `isError`: only the result of a tool has",
            request.kind()
        );
        let hint = "to expect an error, write `error: {}`, or say which: `error: { code: … }`";
        self.problem(entry.key_span, path, message).hint(hint);
    }
}
