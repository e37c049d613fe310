//! What is secret in JSON: there the name of a member is enough.

use super::names::{is_password, may_be_secret};
use super::prose::{is_named, mark, masked, without_scheme};
use serde_json::Value;

/// Masks what is secret in a value by the name of its member, and in each text
/// as [`show_text`](super::show_text) does. `named` gives the name under which one is shown.
pub fn mask_json(value: &mut Value, named: &mut dyn FnMut(&str, &str) -> String) {
    mask_member(value, "", named);
}

fn mask_member(value: &mut Value, name: &str, named: &mut dyn FnMut(&str, &str) -> String) {
    match value {
        Value::String(text) => {
            if let Some(masked) = masked_member(text, name, named) {
                *text = masked;
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            if is_named(name) && is_password(name) && may_be_secret(name, &text) {
                *value = Value::String(mark(&named(name, &text)));
            }
        }
        Value::Array(items) => {
            for item in items {
                mask_member(item, name, named);
            }
        }
        Value::Object(members) => {
            let key = pair_of(members);
            for (own, item) in members.iter_mut() {
                let name = match &key {
                    Some((of, key)) if of == own => key,
                    // A member of what is secret by its own name: `{"value": …}`.
                    _ if is_named(name) && !is_named(own) && is_value(own) => name,
                    _ => own,
                };
                mask_member(item, name, named);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Names of a member that holds what another member names.
const VALUES: [&str; 4] = ["value", "values", "val", "data"];
/// Names of that other member.
const NAMES: [&str; 4] = ["name", "key", "header", "variable"];

fn is_value(name: &str) -> bool {
    VALUES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// `{"name": "X-Api-Key", "value": …}`: which member holds the value, and its name.
fn pair_of(members: &serde_json::Map<String, Value>) -> Option<(String, String)> {
    let holds = members.keys().find(|name| is_value(name))?;
    let mut names = members.iter().filter(|(name, _)| {
        let known = |known: &&str| known.eq_ignore_ascii_case(name);
        NAMES.iter().any(known)
    });
    let (_, name) = names.find(|(_, name)| name.as_str().is_some_and(is_named))?;
    Some((holds.clone(), name.as_str()?.to_owned()))
}

fn masked_member(
    text: &str,
    name: &str,
    named: &mut dyn FnMut(&str, &str) -> String,
) -> Option<String> {
    if is_named(name) {
        let bare = without_scheme(text);
        if !is_sentence(bare, name) && may_be_secret(name, bare) {
            let before = &text[..text.len() - bare.len()];
            return Some(format!("{before}{}", mark(&named(name, bare))));
        }
    }
    masked(text, named)
}

/// Whether a text speaks of a secret and is none, as a description does: words of a
/// language, and no digit.
fn is_sentence(text: &str, name: &str) -> bool {
    let mut words = text.split_whitespace();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    !is_password(name) && !digits && !text.contains('=') && words.nth(1).is_some()
}
