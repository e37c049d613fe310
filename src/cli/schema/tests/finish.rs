//! What is done to a schema that was made from types.

use jelly_base::model::NeverNull;
use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

/// Of what is printed.
pub fn finish_output(mut schema: Schema) -> Schema {
    NeverNull { of_required: false }.transform(&mut schema);
    finish_input(schema)
}

/// Of what is read.
pub fn finish_input(mut schema: Schema) -> Schema {
    Plain.transform(&mut schema);
    schema
}

/// Descriptions as text for editors, and no defaults that say nothing.
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = plain(text);
        }
        let says_nothing = match schema.get("default") {
            Some(Value::Null) => true,
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Object(map)) => map.is_empty(),
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Bool(_) | Value::Number(_)) | None => false,
        };
        if says_nothing {
            schema.remove("default");
        }
        // How Rust calls a number's width.
        let of_rust = |format: &str| {
            ["int", "uint", "float", "double"]
                .iter()
                .any(|kind| format.starts_with(kind))
        };
        if schema
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(of_rust)
        {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
    }
}

/// Lines of one paragraph as one, and links of rustdoc as the names alone.
fn plain(text: &str) -> String {
    let paragraphs: Vec<String> = text
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let text = paragraphs.join("\n\n").replace("[`", "`");
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("`]") {
        plain.push_str(before);
        plain.push('`');
        rest = match after
            .strip_prefix('(')
            .and_then(|link| link.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn descriptions_are_read_outside_of_rustdoc() {
        assert_eq!(
            plain("As in [`Advice`], or\n[`X`](Self::X) too.\n\nMore."),
            "As in `Advice`, or `X` too.\n\nMore."
        );
    }
}
