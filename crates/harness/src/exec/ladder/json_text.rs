//! The rung `json_text`: text that is JSON, parsed and held against the schema
//! before anything else is made of it.

use crate::exec::declared::{Declared, text_of, texts_of};
use jelly_base::text::read_json;
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
    read_json(text.trim())
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
    fn the_json_of_the_blocks_is_read_where_it_leaves_no_choice() {
        let n = || Some(json!({"n": 1}));
        let needs_n = || Some(json!({"required": ["n"], "type": "object"}));
        let two: &[&str] = &["{\"n\": 1}", "{\"n\": 2}"];
        let list = json!({"type": "array", "items": {"type": "object"}});
        let cases: [(&[&str], Option<Value>, Option<Value>); 11] = [
            // Blocks that are JSON together.
            (&["{\"n\":", "1}"], None, n()),
            (&[" {\"n\": ", "", "1} "], None, n()),
            // Cut inside of a text, where a line feed would not be JSON.
            (&["{\"a\": \"b", "c\"}"], None, Some(json!({"a": "bc"}))),
            // Several outputs are not cut down to the first.
            (two, None, None),
            (two, needs_n(), None),
            (two, Some(list), Some(json!([{"n": 1}, {"n": 2}]))),
            // One output among prose.
            (&["Here it is:", "{\"n\": 1}"], None, n()),
            (&["{\"m\": 1}", "{\"n\": 1}"], needs_n(), n()),
            // A bare number is one only where a schema asks for it.
            (&["7"], None, None),
            (&["7"], Some(json!({"type": "integer"})), Some(json!(7))),
            (&["seven"], Some(json!({"type": "string"})), None),
        ];
        for (texts, schema, wanted) in cases {
            assert_eq!(read(texts, schema), wanted, "{texts:?}");
        }
    }
}
