//! `${…}` in the texts of a script.
//!
//! Known are `args` (all arguments) and `args.NAME` (also deeper, by dots),
//! `call` (which call of this tool it is, from 1), `start` (which start of the
//! server, from 1), `env:NAME`, `pid`, `cwd`, `random`; `$${` stands for a
//! literal `${`. A string that is one reference alone keeps the value's type;
//! what is absent is null, or nothing inside a text.

use super::units;
use serde_json::Value;

/// What references refer to.
pub trait Lookup {
    /// The value of a reference as [`check`] lets it through.
    fn lookup(&mut self, reference: &str) -> Value;
}

const ROOTS: [&str; 8] = [
    "args",
    "call",
    "start",
    "env:NAME",
    "pid",
    "cwd",
    "random",
    "args.NAME",
];

/// Whether every reference in a value can mean something.
///
/// # Errors
/// A sentence about the first that can't.
pub fn check(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => check_text(text),
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(map) => map.values().try_for_each(check),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), String> {
    for piece in pieces(text) {
        match piece {
            Piece::Text(_) => {}
            Piece::Open => return Err(format!("`${{` is never closed in `{text}`")),
            Piece::Reference(name) => {
                let known = ["args", "call", "start", "pid", "cwd", "random"].contains(&name)
                    || name.strip_prefix("args.").is_some_and(|n| !n.is_empty())
                    || name.strip_prefix("env:").is_some_and(|n| !n.is_empty());
                if !known {
                    return Err(format!(
                        "unknown reference `${{{name}}}`{}; known are {}",
                        units::did_you_mean(name, ROOTS),
                        ROOTS.join(", ")
                    ));
                }
            }
        }
    }
    Ok(())
}

/// A value with all references resolved.
pub fn resolve(value: &Value, lookup: &mut dyn Lookup) -> Value {
    match value {
        Value::String(text) => match whole(text) {
            Some(reference) => lookup.lookup(reference),
            None => Value::String(resolve_text(text, lookup)),
        },
        Value::Array(items) => items.iter().map(|item| resolve(item, lookup)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), resolve(value, lookup)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A text with all references resolved.
pub fn resolve_text(text: &str, lookup: &mut dyn Lookup) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Open => out.push_str("${"),
            Piece::Reference(name) => match lookup.lookup(name) {
                Value::Null => {}
                Value::String(text) => out.push_str(&text),
                other
                @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    out.push_str(&other.to_string())
                }
            },
        }
    }
    out
}

/// The reference that a string consists of.
fn whole(text: &str) -> Option<&str> {
    let mut all = pieces(text);
    match (all.next(), all.next()) {
        (Some(Piece::Reference(name)), None) => Some(name),
        _ => None,
    }
}

enum Piece<'a> {
    Text(&'a str),
    Reference(&'a str),
    /// An opening without its end.
    Open,
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(after) = rest.strip_prefix("$${") {
            rest = after;
            return Some(Piece::Text("${"));
        }
        if let Some(after) = rest.strip_prefix("${") {
            return Some(match after.split_once('}') {
                Some((name, after)) => {
                    rest = after;
                    Piece::Reference(name)
                }
                None => {
                    rest = after;
                    Piece::Open
                }
            });
        }
        // Up to the next opening, literal or not; at least one character, so
        // that a lone `$` is text.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = [rest[first..].find("$${"), rest[first..].find("${")]
            .into_iter()
            .flatten()
            .min()
            .map_or(rest.len(), |at| at + first);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::{Lookup, check, resolve, resolve_text};
    use serde_json::{Value, json};

    struct Fixed;

    impl Lookup for Fixed {
        fn lookup(&mut self, reference: &str) -> Value {
            match reference {
                "args.n" => json!(3),
                "args.s" => json!("ü"),
                "args" => json!({"n": 3}),
                _ => Value::Null,
            }
        }
    }

    #[test]
    fn a_reference_alone_keeps_its_type_and_one_in_a_text_becomes_text() {
        assert_eq!(resolve(&json!("${args.n}"), &mut Fixed), json!(3));
        assert_eq!(
            resolve(&json!({"a": ["n=${args.n}, s=${args.s}"]}), &mut Fixed),
            json!({"a": ["n=3, s=ü"]})
        );
        assert_eq!(resolve(&json!("${args}"), &mut Fixed), json!({"n": 3}));
    }

    #[test]
    fn what_is_absent_is_null_or_nothing() {
        assert_eq!(resolve(&json!("${args.x}"), &mut Fixed), Value::Null);
        assert_eq!(resolve_text("[${args.x}]", &mut Fixed), "[]");
    }

    #[test]
    fn dollars_are_only_special_before_a_brace_and_can_be_escaped() {
        assert_eq!(
            resolve_text("$5 $${args.n} é$ $", &mut Fixed),
            "$5 ${args.n} é$ $"
        );
    }

    #[test]
    fn a_reference_that_means_nothing_is_found_before_the_server_starts() {
        assert!(check(&json!({"a": "${args.x} ${env:HOME} ${call}"})).is_ok());
        assert!(
            check(&json!("${arg.x}"))
                .unwrap_err()
                .contains("unknown reference")
        );
        assert!(check(&json!(["${args.x"])).unwrap_err().contains("closed"));
    }

    proptest::proptest! {
        #[test]
        fn text_without_openings_is_left_alone(text in "[^{]*") {
            proptest::prop_assert_eq!(resolve_text(&text, &mut Fixed), text);
        }
    }
}
