//! Whether a schema looks at anything of a value that fits it.

use crate::anything::NOTES;
use serde_json::Value;

/// The properties that a schema names where the value has none of them, and nothing
/// else of it is asked for. In doubt something is.
#[must_use]
pub fn unread_properties<'s>(schema: &'s Value, value: &Value) -> Option<Vec<&'s str>> {
    let (schema, members) = (schema.as_object()?, value.as_object()?);
    let mut unread = Vec::new();
    for (keyword, operand) in schema {
        match keyword.as_str() {
            "properties" => {
                for (name, of) in operand.as_object()? {
                    match members.get(name) {
                        Some(member) => unread.extend(unread_properties(of, member)?),
                        None => unread.push(name.as_str()),
                    }
                }
            }
            "type" => {}
            "additionalProperties" if operand == &Value::Bool(true) => {}
            word if NOTES.has(word) => {}
            _ => return None,
        }
    }
    (!unread.is_empty()).then_some(unread)
}

#[cfg(test)]
mod tests {
    use super::unread_properties;
    use serde_json::json;

    #[test]
    fn properties_that_an_answer_has_not_are_told_where_nothing_else_is_asked() {
        let answer = json!({ "a": 1, "o": { "b": 2 } });
        let typed = json!({ "type": "integer" });
        for (schema, unread) in [
            (json!({ "properties": { "aa": typed } }), Some(vec!["aa"])),
            (
                json!({ "type": "object", "title": "t", "properties": { "aa": typed, "bb": {} } }),
                Some(vec!["aa", "bb"]),
            ),
            (
                json!({ "properties": { "o": { "properties": { "bb": typed } } } }),
                Some(vec!["bb"]),
            ),
            (json!({ "properties": { "aa": typed, "a": typed } }), None),
            (
                json!({ "properties": { "aa": typed }, "required": ["a"] }),
                None,
            ),
            (
                json!({ "properties": { "aa": typed }, "additionalProperties": typed }),
                None,
            ),
            (json!({ "type": "object" }), None),
            (json!(true), None),
        ] {
            assert_eq!(unread_properties(&schema, &answer), unread, "{schema}");
        }
    }
}
