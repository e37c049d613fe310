//! Which rung holds.

use super::json_text::json_text;
use super::wrap::wrap;
use crate::exec::declared::{Declared, is_error, text_of};
use jelly_base::model::Rung;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What the ladder stands on.
#[derive(Debug, Clone, Copy)]
pub struct LadderInput<'a> {
    /// Not with `--no-adapt`, nor where the plan says `adapt: false`.
    pub adapts: bool,
    /// Only what a tool answers is wrapped; the text of a resource or a prompt
    /// is at most read as JSON.
    pub is_tool: bool,
    /// What the tool declares, or the user says instead.
    pub schema: Option<&'a Declared>,
    /// What the tool declares, by which its server is judged.
    pub declared: Option<&'a Declared>,
    /// What the user says instead is not known, since the store could not be
    /// read.
    pub store_unread: bool,
}

/// The structured output of an answer, with its rung. None where there is
/// nothing to be had: then what counts is the answer itself.
///
/// An error is never adapted, so none of it may look like an output.
pub fn climb<'r>(
    result: &'r Value,
    ladder_input: LadderInput<'_>,
) -> Option<(Cow<'r, Value>, Rung)> {
    if is_error(result) {
        return None;
    }
    if let Some(own) = own_structure(result, ladder_input.schema) {
        return Some((Cow::Borrowed(own), Rung::Structured));
    }
    if !ladder_input.adapts {
        return None;
    }
    if let Some(value) = json_text(result, ladder_input.schema) {
        return Some((Cow::Owned(value), Rung::JsonText));
    }
    let text = text_of(result);
    if !ladder_input.is_tool || text.trim().is_empty() {
        return None;
    }
    if let Some(value) = ladder_input.schema.and_then(|schema| wrap(&text, schema)) {
        return Some((Cow::Owned(value), Rung::Declared));
    }
    Some((Cow::Owned(json!({ "result": text })), Rung::Generic))
}

/// The server's own structured content, be it an error's. Null is one only
/// where the schema asks for it: some servers write it for "none".
///
/// Source: MCP 2026-07-28, server/tools, "Structured Content": any JSON value,
/// null included.
pub fn own_structure<'r>(result: &'r Value, schema: Option<&Declared>) -> Option<&'r Value> {
    let own = result.get("structuredContent")?;
    let counts = !own.is_null() || schema.is_some_and(|schema| schema.is_valid(own) == Ok(true));
    counts.then_some(own)
}

#[cfg(test)]
mod tests {
    use super::LadderInput;
    use crate::exec::declared::Declared;
    use jelly_base::model::Rung;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn climb(result: &Value, ladder_input: LadderInput<'_>) -> Option<(Value, Rung)> {
        super::climb(result, ladder_input).map(|(value, rung)| (value.into_owned(), rung))
    }

    fn texts(texts: &[&str]) -> Value {
        let blocks: Vec<Value> = texts
            .iter()
            .map(|text| json!({"type": "text", "text": text}))
            .collect();
        json!({ "content": blocks })
    }

    fn on(schema: Option<&Declared>) -> LadderInput<'_> {
        LadderInput {
            adapts: true,
            is_tool: true,
            schema,
            declared: schema,
            store_unread: false,
        }
    }

    fn report() -> Declared {
        Declared::new(json!({
            "type": "object",
            "properties": {"report": {"type": "string"}},
            "required": ["report"],
        }))
    }

    #[test]
    fn the_first_rung_that_holds_gives_the_output() {
        let (schema, needs_n) = (report(), json!({"type": "object", "required": ["n"]}));
        let (schema, needs_n) = (on(Some(&schema)), Declared::new(needs_n));
        let json = texts(&["{\"report\": \"from text\"}"]);
        let mut own = json.clone();
        own["structuredContent"] = json!({"report": "own"});
        let well = texts(&["all", "is well"]);
        let read = |text: &str| json!({"contents": [{"uri": "a:b", "text": text}]});
        let (off, resource) = (
            LadderInput {
                adapts: false,
                ..on(None)
            },
            LadderInput {
                is_tool: false,
                ..on(None)
            },
        );
        let from_text = json!({"report": "from text"});
        let all_well = json!({"report": "all\nis well"});
        for (result, ladder_input, wanted) in [
            (&json, schema, Some((from_text, Rung::JsonText))),
            (
                &own,
                schema,
                Some((json!({"report": "own"}), Rung::Structured)),
            ),
            (&well, schema, Some((all_well, Rung::Declared))),
            (&well, on(None), generic("all\nis well")),
            // JSON that does not fit the schema is text like any other.
            (
                &texts(&["{\"m\": 1}"]),
                on(Some(&needs_n)),
                generic("{\"m\": 1}"),
            ),
            // Without adapting, only the server's own counts.
            (&json, off, None),
            (
                &own,
                off,
                Some((json!({"report": "own"}), Rung::Structured)),
            ),
            // The text of a resource is never wrapped.
            (&read("plain"), resource, None),
            (&read("[1]"), resource, Some((json!([1]), Rung::JsonText))),
        ] {
            assert_eq!(climb(result, ladder_input), wanted, "{result}");
        }
    }

    fn generic(text: &str) -> Option<(Value, Rung)> {
        Some((json!({ "result": text }), Rung::Generic))
    }

    #[test]
    fn an_empty_answer_has_no_output() {
        let schema = report();
        let nothing = json!({"content": [], "structuredContent": null});
        for empty in [
            texts(&[]),
            texts(&[""]),
            texts(&["", " \n"]),
            json!({"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}),
            nothing.clone(),
        ] {
            assert_eq!(climb(&empty, on(None)), None, "{empty}");
            assert_eq!(climb(&empty, on(Some(&schema))), None, "{empty}");
        }
        // Null is one where the schema asks for it.
        let schema = Declared::new(json!({"type": ["object", "null"]}));
        let null = Some((Value::Null, Rung::Structured));
        assert_eq!(climb(&nothing, on(Some(&schema))), null);
    }

    fn block() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            Just("{\"report\": \"x\"}".to_owned()),
            Just("[1, 2]".to_owned()),
            Just("METADATA: {\"n\": 1}".to_owned()),
            "[ -~\\n]{0,12}",
        ]
    }

    fn schema() -> impl Strategy<Value = Option<Value>> {
        prop_oneof![
            Just(None),
            Just(Some(report().schema)),
            Just(Some(json!({"type": "object", "required": ["n"]}))),
            Just(Some(json!({"type": "array"}))),
            Just(Some(json!({"type": 5}))),
            Just(Some(json!({"$ref": "https://schemas.invalid/x.json"}))),
        ]
    }

    fn answer() -> impl Strategy<Value = Value> {
        let own = prop_oneof![
            3 => Just(None),
            1 => Just(Some(Value::Null)),
            1 => Just(Some(json!({"report": 7}))),
        ];
        (proptest::collection::vec(block(), 0..4), own).prop_map(|(blocks, own)| {
            let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
            let mut result = texts(&blocks);
            if let Some(own) = own {
                result["structuredContent"] = own;
            }
            result
        })
    }

    proptest! {
        #[test]
        fn an_error_is_never_adapted(result in answer(), schema in schema()) {
            let mut error = result;
            error["isError"] = json!(true);
            let schema = schema.map(Declared::new);
            prop_assert_eq!(climb(&error, on(schema.as_ref())), None);
        }

        #[test]
        fn every_rung_keeps_its_promise(result in answer(), schema in schema()) {
            let declared = schema.clone().map(Declared::new);
            let schema = declared.as_ref();
            let fits = |value: &Value| schema.is_none_or(|s| s.is_valid(value) == Ok(true));
            let found = climb(&result, on(schema));
            let text = crate::exec::declared::text_of(&result);
            match &found {
                None => prop_assert!(text.trim().is_empty(), "{}", result),
                Some((value, Rung::Structured)) => {
                    prop_assert_eq!(value, &result["structuredContent"]);
                }
                Some((value, Rung::JsonText | Rung::Declared)) => {
                    prop_assert!(super::own_structure(&result, schema).is_none());
                    prop_assert!(fits(value), "{} {:?}", result, found);
                }
                Some((value, Rung::Generic)) => {
                    prop_assert_eq!(value, &json!({"result": text.clone()}));
                    let whole = serde_json::from_str::<Value>(text.trim());
                    let is_output = whole.is_ok_and(|value| {
                        (schema.is_some() || value.is_object() || value.is_array()) && fits(&value)
                    });
                    prop_assert!(!is_output, "{} is JSON that fits", text);
                }
            }
        }

        #[test]
        fn what_was_read_stays_what_it_is_when_read_again(result in answer(), schema in schema()) {
            let schema = schema.map(Declared::new);
            let first = climb(&result, on(schema.as_ref()));
            prop_assert_eq!(&climb(&result, on(schema.as_ref())), &first);
            if let Some((value, rung)) = first && !value.is_null() {
                let mut again = result;
                again["structuredContent"] = value.clone();
                let second = climb(&again, on(schema.as_ref()));
                prop_assert_eq!(second, Some((value, Rung::Structured)), "after {:?}", rung);
            }
        }
    }
}
