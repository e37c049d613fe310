//! How much of a failure is kept: a server can answer with many megabytes,
//! and each would stand several times in every report.
//!
//! Must be the last that is done to a failure's texts: a secret that is cut
//! in two is not found any more.

use crate::text::truncate_middle;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The longest text that is kept as it is, in bytes.
const TEXT: usize = 64 * 1024;
/// The longest JSON value, as text.
const VALUE: usize = 4 * TEXT;

/// What of a failure may be a value of any size.
const VALUES: [&str; 5] = [
    "/assertion/expected",
    "/assertion/actual",
    "/tool_result/structuredContent",
    "/rpc_error/data",
    "/request/params",
];

/// Cuts what is too long in a failure, given as data.
pub(super) fn keep(failure: &mut Value) {
    cut_texts(failure);
    for pointer in VALUES {
        if let Some(value) = failure.pointer_mut(pointer)
            && (value.is_array() || value.is_object())
        {
            let text = value.to_string();
            if text.len() > VALUE {
                *value = Value::String(cut(&text));
            }
        }
    }
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > TEXT => *text = cut(text),
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        Value::Object(map) => map.values_mut().for_each(cut_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Head and tail, and a digest of the whole: two long texts that differ in the
/// middle must stay different, since only the same mismatch twice is proof.
fn cut(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digest: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
    format!("{}\n… SHA-256 {digest}…", truncate_middle(text, TEXT))
}

#[cfg(test)]
mod tests {
    use super::{TEXT, keep};
    use crate::model::Failure;
    use serde_json::{Value, json};

    fn kept(mut failure: Value) -> Value {
        keep(&mut failure);
        failure
    }

    #[test]
    fn what_is_short_is_kept_as_it_is() {
        let failure = json!({
            "message": "x".repeat(TEXT),
            "assertion": {"expected": 1, "actual": {"a": [1, 2]}},
        });
        assert_eq!(kept(failure.clone()), failure);
    }

    #[test]
    fn a_long_text_keeps_head_and_tail_wherever_it_stands() {
        let long = format!("head{}tail", "x".repeat(10 * TEXT));
        let failure = kept(json!({
            "message": long,
            "tool_result": {"isError": false, "text": long, "structuredContent": {"a": [long]}},
            "assertion": {"kind": "equals", "expected": "hi", "actual": long},
        }));
        for pointer in ["/message", "/tool_result/text", "/assertion/actual"] {
            let text = failure.pointer(pointer).and_then(Value::as_str).unwrap();
            assert!(text.len() < TEXT + 200);
            assert!(text.starts_with("headx") && text.contains("xtail"));
        }
        assert!(failure.to_string().len() < 5 * TEXT);
        assert!(serde_json::from_value::<Failure>(failure).is_ok());
    }

    #[test]
    fn a_large_value_becomes_a_text_and_the_failure_stays_one() {
        let many: Vec<usize> = (0..1_000_000).collect();
        let failure =
            kept(json!({"assertion": {"kind": "equals", "expected": [], "actual": many}}));
        assert!(failure.to_string().len() < 2 * TEXT);
        assert!(failure["assertion"]["actual"].is_string());
        assert!(serde_json::from_value::<Failure>(failure).is_ok());
    }

    #[test]
    fn long_texts_that_differ_in_the_middle_stay_different() {
        let text = |middle: &str| format!("{}{middle}{}", "x".repeat(TEXT), "y".repeat(TEXT));
        let [one, other] = ["1", "2"].map(|m| kept(json!({"message": text(m)})));
        assert_ne!(one, other);
        assert_eq!(one, kept(json!({"message": text("1")})));
    }
}
