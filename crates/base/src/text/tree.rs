//! How much memory a JSON text takes once it is a tree, and a reader that
//! keeps to a bound of it.
//!
//! A tree is far larger than its text: each `{}` of two bytes becomes a value
//! of seventy, and an object of one member half a kilobyte. So what is read of
//! others is weighed first, while it is text.

use serde::de::IgnoredAny;
use serde_json::Value;

/// What the tree of one text may take: a text of 64 MiB fits, and so does one
/// of 16 MiB that is made of words and numbers of usual length.
pub const TREE_BYTES: usize = 320 << 20;

/// A value in a list, with the room that lists keep for more; and the text of
/// a number or a short string.
const VALUE: usize = 112;
/// What a member takes beside its value: its name, its place and its hash.
const MEMBER: usize = 112;
/// What the first item of a list, and of an object, takes beside that.
const LIST: usize = 192;
const OBJECT: usize = 256;

/// About what the tree of a text takes in memory, never much less. What is no
/// JSON is weighed as well.
#[must_use]
pub fn tree_bytes(text: &[u8]) -> usize {
    let mut bytes = text.len();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        bytes += match byte {
            b'"' => {
                at = after_string(text, at);
                0
            }
            b',' => VALUE,
            b':' => MEMBER,
            b'[' | b'{' => match text[at..].iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b']' | b'}') | None => 0,
                Some(_) if *byte == b'[' => LIST,
                Some(_) => OBJECT,
            },
            _ => 0,
        };
    }
    bytes
}

/// Behind the end of a string that is open at `at`.
fn after_string(text: &[u8], mut at: usize) -> usize {
    while let Some(next) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += next + 1;
        match text[at - 1] {
            b'"' => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// About what a tree takes, likewise.
#[must_use]
pub fn tree_bytes_of(value: &Value) -> usize {
    VALUE
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => LIST + items.iter().map(tree_bytes_of).sum::<usize>(),
            Value::Object(members) => {
                let member =
                    |(name, value): (&String, &Value)| MEMBER + name.len() + tree_bytes_of(value);
                OBJECT + members.iter().map(member).sum::<usize>()
            }
        }
}

/// Whether the tree of a text is larger than [`TREE_BYTES`].
#[must_use]
pub fn is_too_large(text: &[u8]) -> bool {
    // No byte becomes more than these.
    text.len() > TREE_BYTES / 256 && tree_bytes(text) > TREE_BYTES
}

/// Whether a text is JSON that [`read_json`] does not read for its size alone.
#[must_use]
pub fn is_too_large_json(text: &str) -> bool {
    is_too_large(text.as_bytes()) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A text of others as JSON. None where it is none, and where its tree would
/// be larger than [`TREE_BYTES`].
#[must_use]
pub fn read_json(text: &str) -> Option<Value> {
    if is_too_large(text.as_bytes()) {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::{TREE_BYTES, is_too_large, is_too_large_json, read_json, tree_bytes};
    use serde_json::json;

    #[test]
    fn what_is_made_of_many_small_values_is_too_large_and_what_is_not_is_read() {
        const MIB: usize = 1 << 20;
        let filled = |item: &str, bytes: usize| {
            let items = vec![item; bytes / (item.len() + 1)];
            format!("[{}]", items.join(","))
        };
        for (item, mib, large) in [
            ("0", 15, true),
            ("{}", 15, true),
            ("{\"a\":0}", 15, true),
            ("[0]", 15, true),
            ("\"\"", 15, true),
            ("0", 1, false),
            ("{\"a\":0}", 2, false),
            // Usual rows.
            (
                r#"{"id": 4711, "name": "Erika Mustermann", "mail": "erika@example.com", "tags": ["a", "b"]}"#,
                16,
                false,
            ),
            // Measured values.
            ("1234.5678901", 16, false),
        ] {
            let text = filled(item, mib * MIB);
            assert_eq!(is_too_large(text.as_bytes()), large, "{mib} MiB of {item}");
            if large {
                assert!(
                    is_too_large_json(&text) && read_json(&text).is_none(),
                    "{item}"
                );
            }
        }
        // Texts are no more than they are long, whatever stands in them.
        let text = json!({"text": "[{,:\\\"".repeat(4 * MIB)}).to_string();
        assert!(tree_bytes(text.as_bytes()) < text.len() + 1024);
        assert!(text.len() < TREE_BYTES && !is_too_large(text.as_bytes()));
    }

    #[test]
    fn what_is_cut_off_or_no_json_is_weighed_too() {
        for text in ["", "\"", "\"\\", "[", "{\"a", "\"\\\"", "[\"a\\\\\",0]"] {
            assert!(tree_bytes(text.as_bytes()) >= text.len(), "{text}");
        }
        let no_json = "[0,".repeat(8 << 20);
        assert!(is_too_large(no_json.as_bytes()) && !is_too_large_json(&no_json));
    }
}
