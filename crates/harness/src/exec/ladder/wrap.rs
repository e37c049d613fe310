//! The rung `declared`: text put into the form that a schema asks for, where
//! it leaves no choice.

use crate::exec::declared::Declared;
use jelly_base::text::read_json;
use serde_json::{Map, Value};

const METADATA: &str = "METADATA:";

/// The text as the schema allows it: with what stands in its first line as
/// metadata, else as the one text that is required. None where neither fits.
pub fn wrap(text: &str, schema: &Declared) -> Option<Value> {
    let form = TextForm::new(&schema.schema)?;
    let headed = head(text).and_then(|(metadata, body)| {
        form.beside(&metadata, body)
            .into_iter()
            .find(|value| schema.is_valid(value) == Ok(true))
    });
    headed.or_else(|| {
        let alone = form.alone(text)?;
        (schema.is_valid(&alone) == Ok(true)).then_some(alone)
    })
}

/// `METADATA: {json}` in the first line, and the body below it.
fn head(text: &str) -> Option<(Map<String, Value>, &str)> {
    let (first, body) = text.split_once('\n')?;
    let json = first.trim_start().strip_prefix(METADATA)?;
    let Value::Object(metadata) = read_json(json.trim())? else {
        return None;
    };
    // A blank line may part them.
    let body = body
        .strip_prefix("\r\n")
        .or_else(|| body.strip_prefix('\n'))
        .unwrap_or(body);
    Some((metadata, body))
}

/// What a schema says about the texts in an object.
struct TextForm<'s> {
    properties: Option<&'s Map<String, Value>>,
    required: Vec<&'s str>,
}

impl<'s> TextForm<'s> {
    fn new(schema: &'s Value) -> Option<Self> {
        let schema = schema.as_object()?;
        if schema.get("type")?.as_str()? != "object" {
            return None;
        }
        let required = schema.get("required")?.as_array()?;
        Some(Self {
            properties: schema.get("properties").and_then(Value::as_object),
            required: required.iter().filter_map(Value::as_str).collect(),
        })
    }

    fn property(&self, name: &str) -> Option<&'s Value> {
        self.properties?.get(name)
    }

    fn is_text(&self, name: &str) -> bool {
        let kind = self.property(name).and_then(|schema| schema.get("type"));
        kind.and_then(Value::as_str) == Some("string")
    }

    /// The whole text as the one property that is required.
    fn alone(&self, text: &str) -> Option<Value> {
        match self.required.as_slice() {
            [only] if self.is_text(only) => {
                let entry = ((*only).to_owned(), Value::from(text));
                Some(Value::Object(Map::from_iter([entry])))
            }
            _ => None,
        }
    }

    /// Metadata and body, where the schema has a place for each: the metadata
    /// as a property of its own, or each of them as one.
    fn beside(&self, metadata: &Map<String, Value>, body: &str) -> Vec<Value> {
        let mut objects = Vec::new();
        if self.property("metadata").is_some() {
            let whole = Value::Object(metadata.clone());
            objects.push(Map::from_iter([("metadata".to_owned(), whole)]));
        }
        if metadata.keys().all(|key| self.property(key).is_some()) {
            objects.push(metadata.clone());
        }
        let with_body = |mut object: Map<String, Value>| {
            let mut open = self
                .required
                .iter()
                .filter(|name| self.is_text(name) && !object.contains_key(**name));
            let (place, more) = (open.next()?, open.next());
            if more.is_some() {
                return None;
            }
            object.insert((*place).to_owned(), Value::from(body));
            Some(Value::Object(object))
        };
        objects.into_iter().filter_map(with_body).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::wrap;
    use crate::exec::declared::Declared;
    use serde_json::{Value, json};

    fn wrapped(text: &str, schema: Value) -> Option<Value> {
        wrap(text, &Declared::new(schema))
    }

    fn object(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn text_becomes_the_one_text_that_is_required() {
        let parts = json!({
            "body": {"type": "string"}, "n": {"type": "integer"}, "other": {"type": "string"},
        });
        let body = Some(json!({"body": "hi"}));
        for (required, wanted) in [
            (json!(["body"]), body),
            (json!([]), None),
            (json!(["n"]), None),
            (json!(["body", "n"]), None),
            (json!(["body", "other"]), None),
            (json!(["unknown"]), None),
        ] {
            assert_eq!(wrapped("hi", object(parts.clone(), required)), wanted);
        }
    }

    #[test]
    fn text_that_the_schema_refuses_is_not_wrapped() {
        let color = json!({"color": {"type": "string", "enum": ["red"]}});
        let mut picky = object(color, json!(["color"]));
        assert_eq!(wrapped("blue", picky.clone()), None);
        assert_eq!(wrapped("red", picky.clone()), Some(json!({"color": "red"})));
        picky["minProperties"] = json!(2);
        let (any, text, wrong) = (json!({}), json!({"type": "string"}), json!({"type": 5}));
        for schema in [picky, json!(true), any, text, wrong] {
            assert_eq!(wrapped("red", schema), None);
        }
    }

    #[test]
    fn metadata_in_the_first_line_goes_where_the_schema_has_a_place_for_it() {
        let text = "METADATA: {\"id\": 7}\n\nIt is so.\nIndeed.";
        let body = json!({"type": "string"});
        for (properties, required, wanted) in [
            (
                json!({"metadata": {"type": "object"}, "text": body}),
                json!(["metadata", "text"]),
                json!({"metadata": {"id": 7}, "text": "It is so.\nIndeed."}),
            ),
            (
                json!({"id": {"type": "integer"}, "text": body}),
                json!(["id", "text"]),
                json!({"id": 7, "text": "It is so.\nIndeed."}),
            ),
            // No place for it: it stays part of the text.
            (
                json!({"text": body}),
                json!(["text"]),
                json!({"text": text}),
            ),
        ] {
            assert_eq!(wrapped(text, object(properties, required)), Some(wanted));
        }
    }

    #[test]
    fn a_first_line_that_only_looks_like_metadata_is_text() {
        let parts = json!({"metadata": {"type": "object"}, "text": {"type": "string"}});
        let schema = object(parts, json!(["text"]));
        for text in [
            "METADATA: none\nx",
            "METADATA: {\"id\": 7}",
            "METADATA: [1]\nx",
        ] {
            assert_eq!(wrapped(text, schema.clone()), Some(json!({"text": text})));
        }
    }
}
