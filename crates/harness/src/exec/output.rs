//! What a tool's answer holds: its text, its structured output, and whether
//! that keeps what the tool's own output schema promises.

use super::declared::{Declared, is_error, text_of};
use super::ladder::{json_text, own_structure};
use super::misfit::Misfit;
use jelly_base::text::{json_type, read_json};
use jelly_plan::{Request, SchemaError, TooComplex};
use serde_json::Value;

/// What is wrong with the shape of a result, whatever is expected of it; a
/// fragment that completes "the server …".
pub fn malformed(request: &Request, result: &Value) -> Option<String> {
    // A plan that sends bytes judges itself what comes of them.
    if let Request::Raw(_) = request {
        return None;
    }
    if !result.is_object() {
        return Some(format!(
            "sent {} where a result object belongs",
            json_type(result)
        ));
    }
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return Some("asked for input that the plan does not provide".to_owned());
    }
    let list = match request {
        Request::Tool(_) => "content",
        Request::Read(_) => "contents",
        Request::Prompt(_) => "messages",
        // The wire has seen to lists; of any other method nothing is known.
        Request::List(_)
        | Request::Method(_)
        | Request::Subscribe(_)
        | Request::Unsubscribe(_)
        | Request::Raw(_)
        | Request::Http(_)
        | Request::Startup => return None,
        Request::Complete(_) => {
            let values = result.pointer("/completion/values");
            let fits = values.is_some_and(Value::is_array);
            return (!fits).then(|| "sent a result without `completion.values`".to_owned());
        }
    };
    if let Some(flag) = result.get("isError")
        && !(flag.is_boolean() || flag.is_null())
    {
        return Some(format!(
            "sent a result whose `isError` is of type {} instead of boolean",
            json_type(flag)
        ));
    }
    match result.get(list) {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| ill_shaped(list, item, index)),
        // Results of 2024-10-07 are still about.
        None if list == "content" && result.get("toolResult").is_some() => None,
        None if list == "content" && result.get("structuredContent").is_some() => None,
        Some(other) => Some(format!(
            "sent a result whose `{list}` is of type {} instead of a list",
            json_type(other)
        )),
        None => Some(format!("sent a result without `{list}`")),
    }
}

/// What keeps an item of a result's list from being read: what is not read is
/// not looked at, and would pass.
fn ill_shaped(list: &str, item: &Value, index: usize) -> Option<String> {
    let (block, within) = match (list, item.get("content")) {
        ("messages", Some(content)) => (content, ".content"),
        ("messages", None) if item.is_object() => {
            return Some(format!(
                "sent a result whose `{list}[{index}]` has no `content`"
            ));
        }
        _ => (item, ""),
    };
    let place = || format!("`{list}[{index}]{within}`");
    let Value::Object(members) = block else {
        let kind = json_type(block);
        return Some(format!(
            "sent a result whose {} is of type {kind} instead of object",
            place()
        ));
    };
    let is = |member: &str, kind: &str| {
        let due = block.get("type").and_then(Value::as_str) == Some(kind);
        match members.get(member) {
            Some(Value::String(_)) => None,
            None if !due => None,
            None => Some(format!(
                "sent a result whose {} is of type `{kind}` and has no `{member}`",
                place()
            )),
            Some(other) => Some(format!(
                "sent a result whose {} has a `{member}` of type {} instead of string",
                place(),
                json_type(other)
            )),
        }
    };
    let neither = list == "contents" && !["text", "blob"].iter().any(|m| members.contains_key(*m));
    if neither {
        return Some(format!(
            "sent a result whose {} has neither `text` nor `blob`",
            place()
        ));
    }
    is("text", "text")
}

/// A breach of the tool's own output schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Breach {
    /// At a place of the structured output.
    At(Misfit),
    /// Of all of it.
    Whole { reason: String, actual: Value },
}

/// Whether a tool's good answer keeps the output schema that its server
/// declares, whatever the ladder makes of it.
///
/// The output has to be in `structuredContent`; where `text_will_do`, text that
/// is JSON and fits keeps the schema too.
///
/// Source: MCP 2025-06-18 and later, server/tools, "Structured Content" and
/// "Output Schema": servers MUST provide structured results that conform to it.
///
/// # Errors
/// To say so takes too much.
pub fn breach(
    result: &Value,
    schema: &Declared,
    text_will_do: bool,
) -> Result<Option<Breach>, TooComplex> {
    if is_error(result) {
        return Ok(None);
    }
    let Some(own) = own_structure(result, Some(schema)) else {
        return match schema.too_complex(&text_of(result).into()) {
            Some(why) => Err(why),
            None => Ok(without_structure(result, schema, text_will_do)),
        };
    };
    let whole = |reason, actual| Some(Breach::Whole { reason, actual });
    let misfit = schema.is_valid(own).and_then(|fits| match fits {
        true => Ok(None),
        false => schema.misfit(own).map(Some),
    });
    Ok(match misfit {
        Ok(None) | Err(SchemaError::Elsewhere(_)) => None,
        Ok(Some(Some(misfit))) => Some(Breach::At(misfit)),
        Ok(Some(None)) => whole(
            "it does not fit, and is too large to say where".to_owned(),
            Value::Null,
        ),
        Err(SchemaError::TooComplex(why)) => return Err(why),
        Err(error @ SchemaError::Wrong { .. }) => whole(
            format!("the tool's own output schema can't be used: {error}"),
            schema.schema.clone(),
        ),
    })
}

fn without_structure(result: &Value, schema: &Declared, text_will_do: bool) -> Option<Breach> {
    let text = text_of(result);
    // What the ladder reads as JSON must not be called none here. Whether it
    // fits what lies elsewhere nobody can say.
    let fits = json_text(result, Some(schema)).is_some()
        || schema.is_elsewhere() && read_json(text.trim()).is_some();
    if fits && text_will_do {
        return None;
    }
    let reason = if fits {
        "the tool declares an output schema, and the result has no `structuredContent`, in which \
         its output belongs; its text alone is JSON"
    } else {
        "the tool declares an output schema, and the result has no structured output that fits it"
    };
    Some(Breach::Whole {
        reason: reason.to_owned(),
        actual: Value::String(text),
    })
}

#[cfg(test)]
mod tests {
    use super::{Declared, is_error, malformed, text_of};
    use jelly_plan::Request;
    use serde_json::{Value, json};

    /// What the schema makes of an answer of these text blocks and members: `-`
    /// where it keeps the schema, else what is wrong with it.
    fn breach(schema: &Declared, answer: &Value, text_will_do: bool) -> String {
        match super::breach(answer, schema, text_will_do).unwrap() {
            None => "-".to_owned(),
            Some(super::Breach::At(misfit)) => misfit.pointer,
            Some(super::Breach::Whole { reason, .. }) => reason,
        }
    }

    fn texts<const N: usize>(texts: [&str; N]) -> Value {
        json!({"content": texts.map(|text| json!({"type": "text", "text": text})).to_vec()})
    }

    #[test]
    fn text_blocks_are_joined_whatever_carries_them() {
        let text = |text: &str| json!({"type": "text", "text": text});
        for (result, joined) in [
            (
                json!({"content": [text("a"), {"type": "image", "data": "x"}, text("b")]}),
                "a\nb",
            ),
            (json!({"contents": [{"uri": "u", "text": "c"}]}), "c"),
            (json!({"messages": [{"content": text("d")}]}), "d"),
            (json!(null), ""),
        ] {
            assert_eq!(text_of(&result), joined);
        }
    }

    #[test]
    fn what_breaks_an_output_schema_is_found_and_what_keeps_it_is_not() {
        for row in r#"
            1      => -
            "one"  => /n
            null   => /n
            absent => no structured output that fits it"#
            .trim()
            .lines()
        {
            let (n, wanted) = row.split_once("=>").unwrap();
            let schema = Declared::new(json!({
                "type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"],
            }));
            let answer = match serde_json::from_str::<Value>(n.trim()) {
                Ok(n) => json!({"structuredContent": {"n": n}}),
                Err(_) => texts(["one"]),
            };
            let reason = breach(&schema, &answer, false);
            assert!(reason.contains(wanted.trim()), "{row}: {reason}");
        }
        let error = json!({"isError": true, "content": []});
        assert!(is_error(&error));
        let any = Declared::new(json!({"type": "object"}));
        assert_eq!(breach(&any, &error, false), "-");
        let nothing = json!({"content": [], "structuredContent": null});
        assert_ne!(breach(&any, &nothing, false), "-");
        let or_null = Declared::new(json!({"type": ["object", "null"]}));
        assert_eq!(breach(&or_null, &nothing, false), "-");
        // One that contradicts itself is the server's own breach.
        for schema in [json!({"type": 12}), json!({"$ref": "#/$defs/none"})] {
            let schema = Declared::new(schema);
            let reason = breach(&schema, &json!({"structuredContent": {"n": 1}}), false);
            assert!(reason.contains("output schema can't be used"), "{reason}");
            assert_eq!(schema.unjudged(), None);
        }
    }

    #[test]
    fn what_the_ladder_reads_as_json_keeps_the_schema_where_text_will_do() {
        let schema = Declared::new(json!({"type": "object", "required": ["n"]}));
        for fits in [
            texts([" {\"n\": 1} "]),
            texts(["Here it is:", "{\"n\": 1}"]),
            texts(["{\"n\": \"a", "b\"}"]),
        ] {
            assert_eq!(breach(&schema, &fits, true), "-");
            let reason = breach(&schema, &fits, false);
            assert!(reason.contains("no `structuredContent`"), "{reason}");
            assert!(reason.contains("its text alone is JSON"), "{reason}");
        }
        assert_ne!(breach(&schema, &texts(["{\"m\": 1}"]), true), "-");
    }

    #[test]
    fn a_schema_that_lies_elsewhere_blames_nobody() {
        let remote = json!({"$ref": "https://schemas.example/out.json"});
        let beside = json!({"type": "object", "properties": {"n": {"$ref": "./n.json"}}});
        for schema in [remote, beside] {
            let schema = Declared::new(schema);
            assert_eq!(schema.unjudged(), None, "nothing was held against it");
            for good in [
                json!({"structuredContent": {"n": 1}}),
                texts(["{\"n\": 1}"]),
                texts(["7"]),
            ] {
                assert_eq!(breach(&schema, &good, true), "-", "{good}");
            }
            let why = schema.unjudged().unwrap();
            assert!(why.contains(".json`, which"), "{why}");
            // That there is no structured output at all needs no schema.
            assert_ne!(breach(&schema, &texts(["one"]), false), "-");
        }
    }

    /// Whose answer, the answer, and what is wrong with it.
    const SHAPES: &str = r#"
        tool   {"content": [], "isError": "true"}                  => `isError` is of type string
        tool   {"toolResult": 1, "isError": 1}                     => `isError` is of type
        tool   {"content": [{"type": "text", "text": "a"}, "b"]}   => `content[1]` is of type string
        tool   {"content": [null]}                                 => `content[0]` is of type null
        tool   {"content": [{"type": "text", "text": 5}]}          => `content[0]` has a `text` of type
        tool   {"content": [{"type": "text"}]}                     => of type `text` and has no `text`
        read   {"contents": [5]}                                   => `contents[0]` is of type
        read   {"contents": [{"uri": "u:x"}]}                      => neither `text` nor `blob`
        prompt {"messages": ["boom"]}                              => `messages[0]` is of type string
        prompt {"messages": [{"role": "user"}]}                    => `messages[0]` has no `content`
        prompt {"messages": [{"content": "hi"}]}                   => `messages[0].content` is of type string
        method null                                                => where a result object belongs
        method {}                                                  => -
        tool   {"content": [{"type": "image"}], "isError": false}  => -
        tool   {"content": [{"type": "resource"}], "isError": null} => -
        read   {"contents": [{"blob": "eA=="}, {"text": ""}]}      => -
        prompt {"messages": [{"content": {"type": "text", "text": "d"}}]} => -"#;

    #[test]
    fn what_can_not_be_read_is_a_breach_and_does_not_pass_unseen() {
        for row in SHAPES.trim().lines() {
            let (answer, wanted) = row.split_once("=>").unwrap();
            let (whose, answer) = answer.trim().split_once(' ').unwrap();
            let request = match whose {
                "tool" => Request::Tool("t".into()),
                "read" => Request::Read("u:x".into()),
                "prompt" => Request::Prompt("p".into()),
                _ => Request::Method("my/method".into()),
            };
            let told = malformed(&request, &serde_json::from_str(answer.trim()).unwrap());
            let told = told.unwrap_or_else(|| "-".to_owned());
            assert!(told.contains(wanted.trim()), "{row}: {told}");
        }
    }

    #[test]
    fn an_empty_answer_is_a_breach_and_no_pass() {
        for (request, list) in [
            (Request::Tool("t".into()), "content"),
            (Request::Read("u:x".into()), "contents"),
            (Request::Prompt("p".into()), "messages"),
        ] {
            for bad in [Value::Null, json!({}), json!({list: "text"}), json!([])] {
                assert!(malformed(&request, &bad).is_some(), "{request:?} {bad}");
            }
            assert_eq!(malformed(&request, &json!({list: []})), None);
        }
    }
}
