//! Which tools may be called without anybody having looked at them.
//!
//! Main function: [`choose`].

use super::tool::Tool;

/// Names that say that nothing is changed.
const READING: &[&str] = &[
    "about",
    "browse",
    "check",
    "count",
    "current",
    "describe",
    "detect",
    "diff",
    "display",
    "echo",
    "estimate",
    "exists",
    "explain",
    "fetch",
    "find",
    "get",
    "greet",
    "has",
    "health",
    "healthcheck",
    "hello",
    "help",
    "info",
    "inspect",
    "is",
    "list",
    "lookup",
    "now",
    "peek",
    "ping",
    "preview",
    "print",
    "query",
    "read",
    "retrieve",
    "search",
    "show",
    "stat",
    "stats",
    "status",
    "summarize",
    "summary",
    "test",
    "time",
    "uptime",
    "validate",
    "verify",
    "version",
    "view",
    "whoami",
];

/// Words that make such a name doubtful wherever they stand in it, as in
/// `get_and_clear_queue`.
const ACTING: &[&str] = &[
    "abort",
    "add",
    "apply",
    "archive",
    "ban",
    "book",
    "buy",
    "call",
    "cancel",
    "change",
    "clean",
    "cleanup",
    "clear",
    "close",
    "commit",
    "create",
    "deactivate",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "drop",
    "edit",
    "empty",
    "enable",
    "erase",
    "exec",
    "execute",
    "fix",
    "flush",
    "forget",
    "format",
    "import",
    "insert",
    "install",
    "invoke",
    "kill",
    "launch",
    "logout",
    "merge",
    "migrate",
    "modify",
    "move",
    "open",
    "order",
    "overwrite",
    "patch",
    "pay",
    "pop",
    "post",
    "prune",
    "publish",
    "purge",
    "push",
    "put",
    "rebuild",
    "remove",
    "rename",
    "replace",
    "reset",
    "restart",
    "restore",
    "revert",
    "revoke",
    "rollback",
    "rotate",
    "run",
    "save",
    "send",
    "set",
    "shutdown",
    "start",
    "stop",
    "submit",
    "sync",
    "terminate",
    "transfer",
    "trash",
    "trigger",
    "truncate",
    "uninstall",
    "unset",
    "update",
    "upgrade",
    "upload",
    "wipe",
    "write",
];

/// Why a tool is left to a person; each completes "left out: …".
pub(super) const DESTRUCTIVE: &str = "it says that it may destroy something";
pub(super) const OUTSIDE: &str =
    "it says that it acts on the outside world, and not that it only reads";
pub(super) const CHANGES: &str = "it does not say that it only reads, and it needs arguments";
pub(super) const SILENT: &str =
    "it says nothing of what it changes, and its name does not say that it only reads";
pub(super) const TASK: &str = "it can only be called as a task";

/// Whether a tool may be called, or why not.
///
/// Called is what declares itself read-only, or needs no arguments. For a tool
/// that is not read-only, `destructiveHint` is true where it is not said, so
/// one without arguments and without that hint is called only if it was given
/// no hints at all and its name says that it reads.
///
/// Source: MCP 2025-03-26 and later, schema, `ToolAnnotations`.
pub(super) fn choose(tool: &Tool, call_all: bool) -> Result<(), &'static str> {
    if tool.only_as_task {
        return Err(TASK);
    }
    if call_all {
        return Ok(());
    }
    match (tool.read_only, tool.destructive) {
        (Some(true), Some(true)) => Err(DESTRUCTIVE),
        (Some(true), Some(false) | None) => Ok(()),
        (Some(false) | None, Some(true)) => Err(DESTRUCTIVE),
        (Some(false) | None, Some(false) | None) if !tool.required().is_empty() => Err(CHANGES),
        (Some(false), None) => Err(DESTRUCTIVE_UNLESS_SAID),
        (Some(false) | None, Some(false)) if tool.open_world == Some(true) => Err(OUTSIDE),
        (Some(false) | None, Some(false)) => Ok(()),
        (None, None) if reads(&tool.name) => Ok(()),
        (None, None) => Err(SILENT),
    }
}

pub(super) const DESTRUCTIVE_UNLESS_SAID: &str =
    "it is not read-only, and does not say that it destroys nothing";

/// Whether a name says that nothing is changed.
fn reads(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| READING.contains(&word.as_str()))
        && !words.iter().any(|word| ACTING.contains(&word.as_str()))
}

/// The words of a name, in lower case: `getUserName`, `get-user_name`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars().take(256) {
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else {
            if c.is_uppercase() && before_is_lower {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before_is_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::{
        CHANGES, DESTRUCTIVE, DESTRUCTIVE_UNLESS_SAID, OUTSIDE, SILENT, TASK, choose, words,
    };
    use crate::init::tool::Tool;
    use serde_json::json;

    #[test]
    fn what_may_destroy_is_never_chosen_by_itself() {
        let needy = json!({"type": "object", "required": ["x"]});
        for (name, hints, input, chosen) in [
            ("a", json!({"readOnlyHint": true}), needy.clone(), Ok(())),
            (
                "a",
                json!({"readOnlyHint": true, "destructiveHint": true}),
                json!({}),
                Err(DESTRUCTIVE),
            ),
            (
                "a",
                json!({"destructiveHint": true}),
                json!({}),
                Err(DESTRUCTIVE),
            ),
            (
                "get",
                json!({"readOnlyHint": false}),
                json!({}),
                Err(DESTRUCTIVE_UNLESS_SAID),
            ),
            (
                "a",
                json!({"readOnlyHint": false, "destructiveHint": false}),
                json!({}),
                Ok(()),
            ),
            (
                "a",
                json!({"destructiveHint": false}),
                needy.clone(),
                Err(CHANGES),
            ),
            (
                "a",
                json!({"destructiveHint": false, "openWorldHint": true}),
                json!({}),
                Err(OUTSIDE),
            ),
            ("get_time", json!({}), json!({}), Ok(())),
            ("serverStatus", json!({"title": "x"}), json!(null), Ok(())),
            ("get_time", json!({}), needy.clone(), Err(CHANGES)),
            ("wipe", json!({}), json!({}), Err(SILENT)),
            ("get_and_clear", json!({}), json!({}), Err(SILENT)),
            ("resetStats", json!({}), json!({}), Err(SILENT)),
            ("budget", json!({}), json!({}), Err(SILENT)),
        ] {
            let tool = json!({"name": name, "annotations": hints, "inputSchema": input});
            let tool = Tool::read(&tool).unwrap();
            assert_eq!(choose(&tool, false), chosen, "{name} {hints}");
            assert_eq!(choose(&tool, true), Ok(()), "{name} {hints}");
        }
        let task = json!({"name": "t", "execution": {"taskSupport": "required"}});
        assert_eq!(choose(&Tool::read(&task).unwrap(), true), Err(TASK));
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("getUserName"), ["get", "user", "name"]);
        assert_eq!(words("get-user_name.2"), ["get", "user", "name", "2"]);
        assert_eq!(words("  "), [""; 0]);
    }
}
