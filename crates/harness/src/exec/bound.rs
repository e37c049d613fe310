//! What a server or a plan may have made huge, cut to what a report can bear.

use super::clean::Cleaner;
use jelly_base::model::Failure;
use jelly_base::text::tree_bytes_of;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// How much of one value a failure keeps.
pub const KEPT: usize = 16 * 1024;
/// A value that takes more than this is cut when it is copied, and not only
/// when all of a run is: each mismatch of a step has its copies of the answer.
const COPIED: usize = 1024 * 1024;
/// How much of one answer is kept to be compared with that of another variant.
pub const ANSWER: usize = 1024 * 1024;
/// What stands between head and tail.
const GAP: usize = 256;

/// A copy of a value, for a failure.
pub fn copied(value: &Value, cleaner: &Cleaner) -> Value {
    match value {
        Value::String(text) => Value::String(copied_text(text.as_str().into(), cleaner)),
        _ if tree_bytes_of(value) <= COPIED => value.clone(),
        _ => Value::String(copied_text(value.to_string().into(), cleaner)),
    }
}

/// A copy of an answer, to be compared with that of another variant.
pub fn copied_answer(value: &Value, cleaner: &Cleaner) -> Value {
    if tree_bytes_of(value) <= 16 * ANSWER {
        return value.clone();
    }
    let mut clean = cleaner.text(&value.to_string()).into_owned();
    bound_text_to(&mut clean, ANSWER - GAP);
    Value::String(clean)
}

/// The same of a text.
pub fn copied_text(text: Cow<'_, str>, cleaner: &Cleaner) -> String {
    if text.len() <= COPIED {
        return text.into_owned();
    }
    // What is cut must not change with the iteration.
    let mut clean = cleaner.text(&text).into_owned();
    drop(text);
    bound_text_to(&mut clean, KEPT - GAP);
    clean
}

/// Cuts what a server or a plan may have made huge. Done after cleaning: what
/// stands for the rest must not change with the iteration.
pub fn bound_failure(failure: &mut Failure) {
    let texts = [
        &mut failure.message,
        &mut failure.stdout,
        &mut failure.protocol_breach,
    ];
    for text in texts.into_iter().flatten() {
        bound_text(text);
    }
    if let Some(http) = &mut failure.http {
        http.body.iter_mut().for_each(bound_text);
    }
    if let Some(error) = &mut failure.rpc_error {
        bound_text(&mut error.message);
        error.data.iter_mut().for_each(bound);
    }
    if let Some(params) = failure.request.as_mut().and_then(|r| r.params.as_mut()) {
        bound_params(params);
    }
    if let Some(result) = &mut failure.tool_result {
        bound_text(&mut result.text);
        result.structured_content.iter_mut().for_each(bound);
    }
    if let Some(assertion) = &mut failure.assertion {
        bound(&mut assertion.expected);
        bound(&mut assertion.actual);
    }
    failure.server_info.iter_mut().for_each(bound);
}

/// Params keep their shape, since the tool's name in them is read: only what
/// is large in them is cut.
fn bound_params(params: &mut Value) {
    match params {
        Value::Object(map) => map.values_mut().for_each(|value| match value {
            Value::Object(inner) => inner.values_mut().for_each(bound),
            other => bound(other),
        }),
        other => bound(other),
    }
}

/// A value no longer than [`KEPT`]; one that is becomes the text of its head
/// and tail.
pub fn bound(value: &mut Value) {
    bound_to(value, KEPT);
}

/// The same with so many bytes.
pub fn bound_to(value: &mut Value, kept: usize) {
    match value {
        Value::String(text) => bound_text_to(text, kept),
        Value::Array(_) | Value::Object(_) if value.to_string().len() > kept => {
            value.sort_all_objects();
            let mut text = value.to_string();
            bound_text_to(&mut text, kept);
            *value = Value::String(text);
        }
        _ => {}
    }
}

/// Head and tail, with a hash of the whole between them: two texts that
/// differ in the middle still differ.
pub fn bound_text(text: &mut String) {
    bound_text_to(text, KEPT);
}

fn bound_text_to(text: &mut String, kept: usize) {
    if text.len() <= kept {
        return;
    }
    let head = &text[..text.floor_char_boundary(kept / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - kept / 2)..];
    let cut = text.len() - head.len() - tail.len();
    let mut hash = String::new();
    for byte in Sha256::digest(text.as_bytes()).iter().take(8) {
        hash.push_str(&format!("{byte:02x}"));
    }
    *text = format!("{head}\n… {cut} bytes left out (sha256 of all of it: {hash}…) …\n{tail}");
}
