//! What is known, before it comes, of the answer that a step expects.

use crate::Request;
use crate::anything::PlaceType;
use crate::same_path::is_same_path;
use jelly_base::mcp::ListKind;
use std::time::Duration;

/// What is known, before it comes, of the answer that a step expects.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DueAnswer {
    kind: AnswerKind,
    /// The member that each has; an answer without it is refused in any case.
    pub member: Option<&'static str>,
    /// A request that takes longer fails in any case.
    pub limit: Option<Duration>,
    /// A JSON-RPC error would do, which has no result.
    pub may_be_error: bool,
    /// The members that a result of its kind has; empty where it may have any.
    pub known_members: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum AnswerKind {
    /// Whatever a server sends beside its endpoint, and what is no answer at all.
    #[default]
    Anything,
    /// The result of a message, or a part of it; an object.
    Object,
    /// And that of a tool.
    Tool,
}

impl DueAnswer {
    /// Of which no more is known than that it is there.
    pub(super) fn an_object() -> Self {
        Self::of(None, None)
    }

    pub(super) fn of(request: Option<&Request>, limit: Option<Duration>) -> Self {
        let (kind, member) = match request {
            Some(Request::Tool(_)) => (AnswerKind::Tool, Some("content")),
            Some(Request::Read(_)) => (AnswerKind::Object, Some("contents")),
            Some(Request::Prompt(_)) => (AnswerKind::Object, Some("messages")),
            Some(Request::List(kind)) => (AnswerKind::Object, Some(kind.key())),
            Some(Request::Http(_)) => (AnswerKind::Anything, None),
            Some(
                Request::Complete(_)
                | Request::Method(_)
                | Request::Subscribe(_)
                | Request::Unsubscribe(_)
                | Request::Raw(_)
                | Request::Startup,
            )
            | None => (AnswerKind::Object, None),
        };
        Self {
            kind,
            member,
            limit,
            may_be_error: false,
            known_members: request.map_or(&[], members_of),
        }
    }

    /// Whether there is something at a path of any answer, and what it is.
    pub(super) fn place(self, path: &str) -> (bool, Option<PlaceType>) {
        if self.kind == AnswerKind::Anything {
            return (false, None);
        }
        let is_there = !self.may_be_error;
        let is = |other: &str| is_same_path(path, other);
        if is("$") {
            return (is_there, Some(PlaceType::Object));
        }
        if self.kind == AnswerKind::Tool && is("$.structuredContent") {
            return (false, Some(PlaceType::Object));
        }
        match self.member {
            Some(member) if is(&format!("$.{member}")) => (is_there, Some(PlaceType::Array)),
            Some(_) if ["$.*", "$[*]", "$..*", "$..[*]"].iter().any(|all| is(all)) => {
                (is_there, None)
            }
            Some(_) | None => (false, None),
        }
    }
}

/// The members that a result has by the specification, the one that each has first; empty
/// where nothing is known of it.
fn members_of(request: &Request) -> &'static [&'static str] {
    let method = match request {
        Request::Tool(_) => "tools/call",
        Request::Read(_) => "resources/read",
        Request::Prompt(_) => "prompts/get",
        Request::List(kind) => kind.method(),
        Request::Method(method) => method.as_str(),
        Request::Complete(_)
        | Request::Subscribe(_)
        | Request::Unsubscribe(_)
        | Request::Raw(_)
        | Request::Http(_)
        | Request::Startup => return &[],
    };
    match (method, ListKind::listed_by(method)) {
        ("tools/call", _) => &["content", "structuredContent", "isError", "_meta"],
        ("resources/read", _) => &["contents", "_meta"],
        ("prompts/get", _) => &["messages", "description", "_meta"],
        (_, Some(ListKind::Tools)) => &["tools", "nextCursor", "_meta"],
        (_, Some(ListKind::Resources)) => &["resources", "nextCursor", "_meta"],
        (_, Some(ListKind::ResourceTemplates)) => &["resourceTemplates", "nextCursor", "_meta"],
        (_, Some(ListKind::Prompts)) => &["prompts", "nextCursor", "_meta"],
        (_, None) => &[],
    }
}
