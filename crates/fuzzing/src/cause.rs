//! Which findings are one and the same.

use super::case::Input;
use super::judge::Sighting;
use super::report::FindingKind;
use super::schema::segment;
use super::target::Target;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Places of a call that count.
const PLACES: usize = 40;
/// Chars from which on a text is long.
const LONG: usize = 1_000;

/// The fingerprint of a finding: of what was seen, at which tool, and with what kind of
/// values where they are not the plainest.
#[must_use]
pub fn fingerprint(
    target: &Target,
    sighting: &Sighting,
    (input, pointer): (Input, &str),
    arguments: &Value,
) -> String {
    let mut places = Vec::new();
    match input {
        // Whatever led to it.
        _ if matches!(
            sighting.kind,
            FindingKind::StateChanged | FindingKind::AnsweredTwice
        ) => {}
        // What is invalid is known by its place and its way.
        Input::Invalid(way) => places.push(format!("{}{}", places_of_items(pointer), way.name())),
        Input::Valid => {
            let plain = target.plain();
            let members = arguments.as_object().into_iter().flatten();
            for (name, value) in members {
                if plain.get(name) != Some(value) {
                    kinds(value, &segment(name), &mut places);
                }
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    let parts = [
        target.name.as_str(),
        sighting.kind.name(),
        sighting.evidence.as_str(),
        &places.join(" "),
    ];
    let digest = Sha256::digest(parts.join("\n"));
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A pointer that names no item in particular.
fn places_of_items(pointer: &str) -> String {
    let parts = pointer.split('/').map(|part| match part.parse::<usize>() {
        Ok(_) => "0",
        Err(_) => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

fn kinds(value: &Value, at: &str, found: &mut Vec<String>) {
    if found.len() >= PLACES {
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) => match number.as_f64().unwrap_or_default() {
            n if n < 0.0 => "negative",
            0.0 => "zero",
            n if n.fract() != 0.0 => "fraction",
            _ => "number",
        },
        Value::String(text) if text.is_empty() => "empty",
        Value::String(text) if text.chars().count() > LONG => "long",
        Value::String(text) if !text.is_ascii() => "foreign",
        Value::String(text) if text.chars().any(|c| !c.is_alphanumeric()) => "special",
        Value::String(_) => "text",
        Value::Array(items) if items.is_empty() => "empty_list",
        Value::Array(items) => {
            for item in items {
                kinds(item, &format!("{at}/0"), found);
            }
            return;
        }
        Value::Object(members) if members.is_empty() => "empty_object",
        Value::Object(members) => {
            for (name, member) in members {
                kinds(member, &format!("{at}{}", segment(name)), found);
            }
            return;
        }
    };
    found.push(format!("{at}:{kind}"));
}

#[cfg(test)]
mod tests {
    use super::fingerprint;
    use crate::case::Input;
    use crate::judge::Sighting;
    use crate::report::FindingKind;
    use crate::target::Target;
    use serde_json::{Value, json};

    #[test]
    fn one_cause_is_one_however_it_is_called_and_two_are_two() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string"}, "b": {"type": "integer"}}});
        let target = Target::new("t", Some(&schema), None, true).unwrap();
        let died = Sighting::new(FindingKind::Died, String::new(), "with code 1");
        let of = |arguments: Value| fingerprint(&target, &died, (Input::Valid, ""), &arguments);
        assert_eq!(of(json!({"a": "é"})), of(json!({"a": "😀"})));
        assert_eq!(
            of(json!({"a": "a", "b": -1})),
            of(json!({"a": "a", "b": -7}))
        );
        for other in [
            json!({"a": ""}),
            json!({"a": "a", "b": -1}),
            json!({"a": "a".repeat(2000)}),
        ] {
            assert_ne!(of(json!({"a": "é"})), of(other));
        }
    }
}
