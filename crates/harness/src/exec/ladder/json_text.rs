//! The rung `json_text`: text that is JSON, parsed and held against the schema
//! before anything else is made of it.

use crate::exec::declared::{Declared, text_of, texts_of};
use serde_json::Value;

/// The JSON of an answer's text that fits the schema: all of the text, else
/// what its blocks are one by one, else the one block that is an output.
/// Where several could be meant, none is: to take the first would lose the
/// others in silence.
pub fn json_text(result: &Value, schema: Option<&Declared>) -> Option<Value> {
    // A bare word or number that happens to be JSON is text, unless a schema
    // asks for it.
    let is_output = |value: &Value| match schema {
        Some(schema) => schema.is_valid(value) == Ok(true),
        None => value.is_object() || value.is_array(),
    };
    if let Some(whole) = parse(&text_of(result)).filter(is_output) {
        return Some(whole);
    }
    let texts = texts_of(result);
    if texts.len() < 2 {
        return None;
    }
    // Cut anywhere, as in pieces of a stream.
    if let Some(whole) = parse(&texts.concat()).filter(is_output) {
        return Some(whole);
    }
    let blocks: Vec<Option<Value>> = texts.iter().map(|text| parse(text)).collect();
    // A list whose items are a block each is how lists were sent before there
    // was structured content.
    if schema.is_some()
        && let Some(items) = blocks.iter().cloned().collect::<Option<Vec<Value>>>()
    {
        let list = Value::Array(items);
        if is_output(&list) {
            return Some(list);
        }
    }
    let mut outputs = blocks.into_iter().flatten().filter(is_output);
    let only = outputs.next()?;
    outputs.next().is_none().then_some(only)
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::json_text;
    use crate::exec::declared::Declared;
    use serde_json::{Value, json};

    fn read(texts: &[&str], schema: Option<Value>) -> Option<Value> {
        let blocks: Vec<Value> = texts
            .iter()
            .map(|text| json!({"type": "text", "text": text}))
            .collect();
        let schema = schema.map(Declared::new);
        json_text(&json!({ "content": blocks }), schema.as_ref())
    }

    #[test]
    fn blocks_that_are_json_together_are_joined() {
        let n = Some(json!({"n": 1}));
        assert_eq!(read(&["{\"n\":", "1}"], None), n);
        assert_eq!(read(&[" {\"n\": ", "", "1} "], None), n);
        // Cut inside of a text, where a line feed would not be JSON.
        assert_eq!(
            read(&["{\"a\": \"b", "c\"}"], None),
            Some(json!({"a": "bc"}))
        );
    }

    #[test]
    fn several_outputs_are_not_cut_down_to_the_first() {
        let two = ["{\"n\": 1}", "{\"n\": 2}"];
        assert_eq!(read(&two, None), None);
        assert_eq!(
            read(&two, Some(json!({"required": ["n"], "type": "object"}))),
            None
        );
        let list = json!({"type": "array", "items": {"type": "object"}});
        assert_eq!(read(&two, Some(list)), Some(json!([{"n": 1}, {"n": 2}])));
    }

    #[test]
    fn one_output_among_prose_is_found() {
        let n = Some(json!({"n": 1}));
        assert_eq!(read(&["Here it is:", "{\"n\": 1}"], None), n);
        let schema = json!({"type": "object", "required": ["n"]});
        assert_eq!(read(&["{\"m\": 1}", "{\"n\": 1}"], Some(schema)), n);
    }

    #[test]
    fn a_bare_number_is_an_output_only_where_a_schema_asks_for_it() {
        assert_eq!(read(&["7"], None), None);
        assert_eq!(
            read(&["7"], Some(json!({"type": "integer"}))),
            Some(json!(7))
        );
        assert_eq!(read(&["seven"], Some(json!({"type": "string"}))), None);
    }
}
