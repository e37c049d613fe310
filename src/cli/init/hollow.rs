//! Answers that pass, and show nothing of what their tool does.

use jelly_base::model::ToolResult;
use jelly_triage::engine::unmarked_error;
use serde_json::Value;

/// Why an answer is no result, though no error is declared; of a tool, or of a
/// resource that was read.
pub fn hollow(answer: &Value) -> Option<String> {
    let result = answer.get("result")?;
    let (blocks, is_tool) = match result.get("content").and_then(Value::as_array) {
        Some(blocks) => (blocks, true),
        None => (result.get("contents").and_then(Value::as_array)?, false),
    };
    let text = |block: &Value| Some(block.get("text")?.as_str()?.to_owned());
    let texts: Vec<String> = blocks.iter().filter_map(text).collect();
    // An image is a result, whatever is said beside it.
    if texts.len() < blocks.len() {
        return None;
    }
    let structured = result.get("structuredContent").cloned();
    let is_empty = texts.iter().all(|text| text.trim().is_empty());
    if is_tool && is_empty && structured.is_none() {
        return Some("the answer is empty".to_owned());
    }
    let told = unmarked_error(&ToolResult {
        is_error: false,
        text: texts.join("\n"),
        structured_content: structured,
    })?;
    Some(format!(
        "the answer is no result, and no `isError` says so: {told}"
    ))
}

#[cfg(test)]
mod tests {
    use super::hollow;
    use serde_json::{Value, json};

    fn of_text(text: &str) -> Value {
        json!({"result": {"content": [{"type": "text", "text": text}]}})
    }

    #[test]
    fn what_says_that_there_is_no_result_is_none() {
        for text in [
            "Database error: no such table: sqlite_mastr",
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "This is a directory, not a file. Use the list_directory tool instead: list_directory({path: \"/x\"}).",
            "/srv/data is not a directory",
            "Please provide a query.",
            "You must specify a path",
            "No paths provided.",
            "`path` is required",
            "",
            " \n",
        ] {
            assert!(hollow(&of_text(text)).is_some(), "{text}");
        }
        assert!(hollow(&json!({"result": {"content": []}})).is_some());
        let read =
            json!({"result": {"contents": [{"uri": "a:b", "text": "Database error: locked"}]}});
        assert!(hollow(&read).is_some());
    }

    #[test]
    fn results_are_none_of_them() {
        for text in [
            "fine",
            "[]",
            "[{'name': 'a'}]",
            "README.md is a file of 12 lines, and src is a directory of 40 files; both were read.",
            "/srv/data is a directory",
            "No filters specified, showing all 5 rows",
            "Every field must be provided by its owner; 3 of them have none.",
            "Allowed directories:\n/srv/data",
            "The current time is 12:00",
            "Nothing to commit, working tree clean",
            "{\"errors\": 0, \"files\": 3}",
        ] {
            assert_eq!(hollow(&of_text(text)), None, "{text}");
        }
        for result in [
            json!({"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}),
            json!({"content": [], "structuredContent": {"n": 1}}),
            json!({"contents": []}),
            json!({"contents": [{"uri": "a:b", "text": ""}]}),
            json!({"messages": []}),
        ] {
            assert_eq!(hollow(&json!({ "result": result })), None, "{result}");
        }
    }
}
