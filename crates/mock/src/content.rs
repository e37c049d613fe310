//! Scripted resources and prompts, as results.

use super::interpolate::{self, Lookup};
use super::reply::Body;
use super::spec::{Resource, Script};
use jelly_base::mcp::code;
use serde_json::{Value, json};

/// What `resources/list` shows.
#[must_use]
pub fn resources(script: &Script) -> Vec<Value> {
    let listed = |resource: &Resource| {
        let mut listed = json!(resource);
        if resource.name.is_none() {
            listed["name"] = json!(resource.uri);
        }
        listed
    };
    script.resources.iter().map(listed).collect()
}

/// What `prompts/list` shows.
#[must_use]
pub fn prompts(script: &Script) -> Vec<Value> {
    script.prompts.iter().map(|one| json!(one)).collect()
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
    let mut content = json!({"uri": resource.uri});
    if let Some(kind) = &resource.mime_type {
        content["mimeType"] = json!(kind);
    }
    match &resource.blob {
        Some(blob) => content["blob"] = json!(blob),
        None => content["text"] = json!(resource.text),
    }
    Body::Result(json!({"contents": [content]}))
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
