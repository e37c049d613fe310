//! Scripted resources and prompts, as results.

use super::interpolate::{self, Lookup};
use super::reply::Body;
use super::spec::Script;
use jelly_base::mcp::code;
use serde_json::{Map, Value, json};

fn put(map: &mut Map<String, Value>, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), json!(value));
    }
}

/// What `resources/list` shows.
#[must_use]
pub fn resources(script: &Script) -> Vec<Value> {
    script
        .resources
        .iter()
        .map(|resource| {
            let mut map = Map::new();
            map.insert("uri".to_owned(), json!(resource.uri));
            let name = resource.name.as_ref().unwrap_or(&resource.uri);
            map.insert("name".to_owned(), json!(name));
            put(&mut map, "description", resource.description.as_ref());
            put(&mut map, "mimeType", resource.mime_type.as_ref());
            Value::Object(map)
        })
        .collect()
}

/// What `prompts/list` shows.
#[must_use]
pub fn prompts(script: &Script) -> Vec<Value> {
    script
        .prompts
        .iter()
        .map(|prompt| {
            let mut map = Map::new();
            map.insert("name".to_owned(), json!(prompt.name));
            put(&mut map, "description", prompt.description.as_ref());
            map.insert("arguments".to_owned(), json!(prompt.arguments));
            Value::Object(map)
        })
        .collect()
}

/// `resources/read`. What is not there has a code of its own in the legacy era
/// alone (schema 2026-07-28, error codes).
#[must_use]
pub fn read(script: &Script, params: &Value, modern: bool) -> Body {
    let uri = params["uri"].as_str().unwrap_or_default();
    let Some(resource) = script.resources.iter().find(|r| r.uri == uri) else {
        return Body::Error {
            code: if modern {
                code::INVALID_PARAMS
            } else {
                code::RESOURCE_NOT_FOUND
            },
            message: format!("Resource not found: {uri}"),
            data: Some(json!({"uri": uri})),
        };
    };
    let mut map = Map::new();
    map.insert("uri".to_owned(), json!(resource.uri));
    put(&mut map, "mimeType", resource.mime_type.as_ref());
    match &resource.blob {
        Some(blob) => map.insert("blob".to_owned(), json!(blob)),
        None => map.insert("text".to_owned(), json!(resource.text)),
    };
    Body::Result(json!({"contents": [map]}))
}

/// `prompts/get`.
pub fn prompt(script: &Script, params: &Value, refs: &mut dyn Lookup) -> Body {
    let name = params["name"].as_str().unwrap_or_default();
    let Some(prompt) = script.prompts.iter().find(|prompt| prompt.name == name) else {
        return Body::invalid(format!("Unknown prompt: {name}"));
    };
    let missing = prompt
        .arguments
        .iter()
        .find(|argument| argument.required && params["arguments"].get(&argument.name).is_none());
    if let Some(argument) = missing {
        return Body::invalid(format!("Missing required argument: {}", argument.name));
    }
    let text = match interpolate::resolve(&prompt.text.0, refs) {
        Value::String(text) => text,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    };
    let mut result = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    });
    if let Some(description) = &prompt.description {
        result["description"] = json!(description);
    }
    Body::Result(result)
}
