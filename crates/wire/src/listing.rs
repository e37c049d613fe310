//! Lists with all their pages.
//!
//! Main function: [`list_all`]. Cursors are opaque, and a server that turns in a
//! circle is told from one with many pages.

use super::connection::Connection;
use super::exchange::{Life, Outgoing, ReplyOutcome};
use super::frame::MAX_LINE_BYTES;
use jelly_base::mcp::{ListKind, Revision};
use jelly_base::model::{OwnLimit, ToolInfo};
use jelly_base::text::json_type;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, Write};
use tokio::time::Instant;

/// More pages than this are hardly anything but a circle with changing cursors;
/// the protocol knows no such limit.
const MAX_PAGES: usize = 1000;

/// The first item without what names it.
fn nameless(kind: ListKind, items: &[Value]) -> Option<usize> {
    let named = |item: &Value| item.get(kind.name_key()).is_some_and(Value::is_string);
    items.iter().position(|item| !named(item))
}

/// Asks for all pages until `deadline`. The answer is the first page's
/// result with the items of all pages and without a cursor.
pub(super) async fn list_all(
    connection: &Connection,
    version: &'static Revision,
    kind: ListKind,
    params: Value,
    deadline: Instant,
) -> ReplyOutcome {
    let method = kind.method();
    let broken = |text: String| ReplyOutcome::Broken(connection.with_peer(|p| p.breach(&text)));
    let beyond = |limit, text: String| {
        ReplyOutcome::Beyond(connection.with_peer(|p| p.pass_over(limit, &text)))
    };
    let mut whole: Option<Value> = None;
    let mut items: Vec<Value> = Vec::new();
    let mut cursors: HashSet<String> = HashSet::new();
    let mut size = 0;
    let mut params = params;
    loop {
        let request = Outgoing {
            method,
            params: params.clone(),
            version: Some(version),
            progress: false,
            probe: false,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() && !cursors.is_empty() {
            // It answers, and never comes to an end in time.
            return ReplyOutcome::TimedOut(Life {
                messages: cursors.len() as u64,
                ..Life::default()
            });
        }
        let mut page = match connection.send(request).answer_within(left).await {
            ReplyOutcome::Answered(page) => page,
            other => return other,
        };
        if !page.is_object() {
            return broken(format!(
                "answered `{method}` with {} where an object is due",
                json_type(&page)
            ));
        }
        let found = match page.get_mut(kind.key()) {
            Some(Value::Array(found)) => std::mem::take(found),
            Some(other) => {
                return broken(format!(
                    "answered `{method}` with `{}` of type {} where an array is due",
                    kind.key(),
                    json_type(other)
                ));
            }
            None => return broken(format!("answered `{method}` without `{}`", kind.key())),
        };
        if !cursors.is_empty() || page.get("nextCursor").is_some() {
            size += size_of(&found);
        }
        if size > MAX_LINE_BYTES {
            return beyond(
                OwnLimit::ListSize,
                format!(
                    "sends more than {} MiB in the pages of `{method}`, which is more than jelly reads",
                    MAX_LINE_BYTES >> 20
                ),
            );
        }
        if let Some(index) = nameless(kind, &found) {
            return broken(format!(
                "answered `{method}` with a {} without a {}, at index {}",
                kind.item(),
                kind.name_key(),
                items.len() + index
            ));
        }
        items.extend(found);
        let cursor = match page
            .as_object_mut()
            .and_then(|o| o.swap_remove("nextCursor"))
        {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(cursor),
            Some(other) => {
                return broken(format!(
                    "answered `{method}` with a nextCursor of type {}",
                    json_type(&other)
                ));
            }
        };
        let mut result = whole.take().unwrap_or(page);
        let Some(cursor) = cursor else {
            result[kind.key()] = Value::Array(items);
            return ReplyOutcome::Answered(result);
        };
        whole = Some(result);
        if cursors.len() >= MAX_PAGES {
            return beyond(
                OwnLimit::ListPages,
                format!(
                    "sends more than {MAX_PAGES} pages of `{method}`, which is more than jelly reads"
                ),
            );
        }
        if !params.is_object() {
            params = json!({});
        }
        params["cursor"] = Value::String(cursor.clone());
        if !cursors.insert(cursor) {
            return broken(format!("sends the same cursor of `{method}` twice"));
        }
    }
}

/// How many bytes the items are as JSON.
fn size_of(items: &[Value]) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting can't fail.
    let _ = serde_json::to_writer(&mut count, items);
    count.0
}

/// What clients of the official SDKs refuse a whole list for, be they in TypeScript or in
/// Python; a fragment that completes "the server …".
pub(super) fn unfit_tool(tools: &[ToolInfo]) -> Option<String> {
    let flaw = |tool: &ToolInfo| match &tool.input_schema {
        Some(schema) if schema.is_object() => None,
        Some(_) => Some("with an inputSchema that is no object"),
        None => Some("without an inputSchema"),
    };
    let mut flaws = tools.iter().filter_map(|tool| Some((tool, flaw(tool)?)));
    let (tool, flaw) = flaws.next()?;
    Some(format!("lists the tool `{}` {flaw}", tool.name))
}

/// The tools of a `tools/list` result, and what is wrong with them but can
/// be lived with.
///
/// # Errors
/// An item that can't be a tool, as a fragment.
pub(super) fn read_tools(result: &mut Value) -> Result<(Vec<ToolInfo>, Vec<String>), String> {
    let Some(Value::Array(items)) = result.get_mut("tools").map(Value::take) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut tools = Vec::with_capacity(items.len());
    let mut flaws = Vec::new();
    let mut names = HashSet::new();
    for (index, mut item) in items.into_iter().enumerate() {
        let Some(Value::String(name)) = item.get("name").cloned() else {
            return Err(format!(
                "answered `tools/list` with a tool without a name, at index {index}"
            ));
        };
        if !names.insert(name.clone()) {
            flaws.push(format!("lists the tool `{name}` twice"));
        }
        let mut schema = |key: &str| match item.get_mut(key).map(Value::take) {
            None | Some(Value::Null) => None,
            Some(schema) => Some(schema),
        };
        let input_schema = schema("inputSchema");
        let output_schema = schema("outputSchema");
        match &input_schema {
            Some(Value::Object(_)) => {}
            Some(_) => flaws.push(format!(
                "lists the tool `{name}` with an inputSchema that is not an object"
            )),
            None => flaws.push(format!("lists the tool `{name}` without an inputSchema")),
        }
        let hint = |key: &str| item.pointer(key) == Some(&Value::Bool(true));
        tools.push(ToolInfo {
            name,
            input_schema,
            output_schema,
            repeatable: hint("/annotations/readOnlyHint") || hint("/annotations/idempotentHint"),
        });
    }
    Ok((tools, flaws))
}

#[cfg(test)]
mod tests {
    use super::{ListKind, nameless, read_tools, unfit_tool};
    use serde_json::json;

    #[test]
    fn tools_keep_their_schemas() {
        let (tools, flaws) = read_tools(&mut json!({"tools": [
            {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
            {"name": "b", "inputSchema": {"type": "object"}, "outputSchema": null},
        ]}))
        .unwrap();
        assert_eq!(tools.len(), 2);
        assert_eq!(tools[0].output_schema, Some(json!({"type": "object"})));
        assert_eq!(tools[1].output_schema, None);
        assert!(flaws.is_empty());
    }

    #[test]
    fn a_tool_without_a_name_is_no_tool() {
        assert!(read_tools(&mut json!({"tools": [{"title": "a"}]})).is_err());
        assert!(read_tools(&mut json!({"tools": ["a"]})).is_err());
    }

    #[test]
    fn every_kind_of_item_has_what_names_it() {
        for kind in ListKind::ALL {
            let member = kind.name_key();
            let good = json!({member: "a"});
            assert_eq!(nameless(kind, std::slice::from_ref(&good)), None);
            for bad in [
                json!(7),
                json!(null),
                json!("a"),
                json!({}),
                json!({member: 1}),
            ] {
                let items = [good.clone(), bad.clone()];
                assert_eq!(nameless(kind, &items), Some(1), "{bad}");
            }
        }
    }

    #[test]
    fn sloppy_tools_are_kept_and_their_flaws_said() {
        let (tools, flaws) =
            read_tools(&mut json!({"tools": [{"name": "a"}, {"name": "a", "inputSchema": 1}]}))
                .unwrap();
        assert_eq!(tools.len(), 2);
        assert_eq!(flaws.len(), 3);
        assert_eq!(
            unfit_tool(&tools).as_deref(),
            Some("lists the tool `a` without an inputSchema")
        );
        assert_eq!(unfit_tool(&tools[2..]), None);
        assert!(unfit_tool(&tools[1..2]).is_some_and(|flaw| flaw.contains("no object")));
    }
}
