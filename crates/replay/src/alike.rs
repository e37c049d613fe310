//! Whether a request is the one that was recorded.
//!
//! Main function: [`difference`].

use jelly_base::text::{Varying, one_line, varying};
use serde_json::{Map, Value};

/// How much of a value is shown, in bytes.
const SHOWN: usize = 120;

/// Where two values differ, for people; nothing where they are alike: equal but
/// for what differs from run to run, and for secrets, which no record has.
#[must_use]
pub fn difference(recorded: &Value, given: &Value) -> Option<String> {
    differ(recorded, given, &mut String::from("$"))
}

fn differ(recorded: &Value, given: &Value, path: &mut String) -> Option<String> {
    let found = match (recorded, given) {
        (Value::Object(recorded), Value::Object(given)) => {
            return members_differ(recorded, given, path);
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let length = path.len();
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                path.push_str(&format!("[{index}]"));
                if let Some(found) = differ(one, other, path) {
                    return Some(found);
                }
                path.truncate(length);
            }
            return None;
        }
        (Value::String(recorded), Value::String(given)) => texts_alike(recorded, given),
        // A number that was a secret stands as a text in the record.
        (Value::String(recorded), Value::Number(given)) => {
            masked(recorded) && texts_alike(recorded, &given.to_string())
        }
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().is_some() && one.as_f64() == other.as_f64()
        }
        (one, other) => one == other,
    };
    (!found).then(|| {
        format!(
            "at {path} the record has {}, and the request {}",
            shown(recorded),
            shown(given)
        )
    })
}

fn members_differ(
    recorded: &Map<String, Value>,
    given: &Map<String, Value>,
    path: &mut String,
) -> Option<String> {
    if let Some(name) = recorded.keys().find(|name| !given.contains_key(*name)) {
        return Some(format!(
            "the record has {path}.{name}, and the request has not"
        ));
    }
    if let Some(name) = given.keys().find(|name| !recorded.contains_key(*name)) {
        return Some(format!(
            "the request has {path}.{name}, and the record has not"
        ));
    }
    let length = path.len();
    for (name, value) in recorded {
        path.push_str(&format!(".{name}"));
        let found = differ(value, given.get(name).unwrap_or(&Value::Null), path);
        if found.is_some() {
            return found;
        }
        path.truncate(length);
    }
    None
}

/// A text as pieces: what stays the same, and in between what differs.
struct Pieces<'t> {
    same: Vec<&'t str>,
    varying: Vec<Varying>,
}

impl<'t> Pieces<'t> {
    fn of(text: &'t str) -> Self {
        let (mut same, mut found, mut at) = (Vec::new(), Vec::new(), 0);
        for (range, what) in varying(text) {
            same.push(&text[at..range.start]);
            found.push(what);
            at = range.end;
        }
        same.push(&text[at..]);
        Self {
            same,
            varying: found,
        }
    }
}

fn texts_alike(recorded: &str, given: &str) -> bool {
    if recorded == given {
        return true;
    }
    let (one, other) = (Pieces::of(recorded), Pieces::of(given));
    match masked(recorded) {
        false => one.same == other.same && one.varying == other.varying,
        // Nothing is known of a secret's form.
        true => fits(&one.same, given),
    }
}

/// Whether the pieces stand in a text, the first at its beginning, the last at
/// its end, and all in their order.
fn fits(pieces: &[&str], text: &str) -> bool {
    let [first, between @ .., last] = pieces else {
        return pieces == [text];
    };
    let Some(mut rest) = text
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last))
    else {
        return false;
    };
    for piece in between {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

/// Whether a text of a record had a secret.
fn masked(text: &str) -> bool {
    let secret = |(_, what): &(_, Varying)| matches!(what, Varying::Secret(_));
    varying(text).iter().any(secret)
}

fn shown(value: &Value) -> String {
    one_line(&value.to_string(), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::difference;
    use serde_json::json;

    #[test]
    fn what_differs_from_run_to_run_is_alike() {
        for (recorded, given) in [
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1})),
            (
                json!("at 2026-11-22T01:02:03Z"),
                json!("at 2027-01-01T10:00:00Z"),
            ),
            (
                json!("6f1c2a34-0b1c-4d5e-8f90-123456789abc"),
                json!("00000000-0b1c-4d5e-8f90-123456789abc"),
            ),
            (json!("/tmp/jelly-1/a.txt"), json!("/tmp/.tmpXY/a.txt")),
            (json!("Bearer [secret KEY]"), json!("Bearer abc")),
            (json!("[secret A]:[secret]"), json!("u:p")),
            (json!("[secret PIN]"), json!(1234)),
        ] {
            assert_eq!(difference(&recorded, &given), None, "{recorded} {given}");
        }
    }

    #[test]
    fn the_first_difference_is_said_by_its_place() {
        for (recorded, given, said) in [
            (
                json!({"a": {"b": "x"}}),
                json!({"a": {"b": "y"}}),
                "at $.a.b the record has \"x\"",
            ),
            (
                json!({"a": 1}),
                json!({}),
                "the record has $.a, and the request has not",
            ),
            (json!({}), json!({"a": 1}), "the request has $.a"),
            (json!([1, 2]), json!([1]), "at $ the record has [1,2]"),
            (json!("/tmp/a/b.txt"), json!("/tmp/a/c.txt"), "at $ "),
            (json!("Bearer [secret K]!"), json!("Basic abc!"), "at $ "),
            (json!("[secret K] end"), json!("abc"), "at $ "),
            (json!("1"), json!(1), "at $ "),
        ] {
            let found = difference(&recorded, &given).unwrap();
            assert!(found.starts_with(said), "{found}");
        }
    }
}
