//! Secrets of which nobody told jelly: a record masks them by their names and
//! forms, on both sides by the same name.
//!
//! Main type: [`RecordedSecrets`].

use jelly_base::text::redact::{Redactor, is_telling, mask_json, show_text};
use jelly_base::text::{Varying, varying};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Values that are told apart; of more, the names are.
const KEPT: usize = 32;
/// Longer values are kept by nobody.
const LONGEST: usize = 2048;

/// What was found in the messages of a record.
#[derive(Debug, Default)]
pub(super) struct RecordedSecrets {
    /// By its value, the name of each.
    names: HashMap<String, String>,
    /// What a plan would call the variables of the names that are taken.
    taken: BTreeSet<String>,
    /// Finds in other messages what was found in one.
    redactor: Redactor,
}

impl RecordedSecrets {
    /// Masks a message.
    pub fn mask(&mut self, message: &mut Value) {
        // What was one in an earlier message has its name.
        self.redactor.redact_json(message);
        self.reserve(message);
        let before = self.names.len();
        mask_json(message, &mut |name, value| self.name(name, value));
        if self.names.len() > before {
            // The same value may stand elsewhere in this message.
            self.redactor.redact_json(message);
        }
    }

    /// Takes note of names that others gave: those of what is known to be secret.
    pub fn reserve(&mut self, masked: &Value) {
        match masked {
            Value::String(text) if text.contains("[secret ") => {
                for (_, what) in varying(text) {
                    if let Varying::Secret(Some(name)) = what {
                        self.taken.insert(variable(&name));
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.reserve(item)),
            Value::Object(members) => members.values().for_each(|item| self.reserve(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Masks what is no message.
    pub fn mask_text(&self, text: &str) -> String {
        let text = self.redactor.redact(text);
        match show_text(&text) {
            Cow::Borrowed(_) => text.into_owned(),
            Cow::Owned(masked) => masked,
        }
    }

    /// The name that a value has in this record: two values of one name are two
    /// secrets.
    fn name(&mut self, name: &str, value: &str) -> String {
        if let Some(known) = self.names.get(value) {
            return known.clone();
        }
        if self.names.len() >= KEPT || value.len() > LONGEST {
            return name.to_owned();
        }
        let mut own = name.to_owned();
        for number in 2.. {
            if self.taken.insert(variable(&own)) {
                break;
            }
            own = format!("{name} {number}");
        }
        self.names.insert(value.to_owned(), own.clone());
        if is_telling(value) {
            self.redactor.learn([(&own, value)]);
        }
        own
    }
}

fn variable(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c } else { '_' };
    name.to_uppercase().chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::RecordedSecrets;
    use serde_json::json;

    #[test]
    fn two_values_never_share_the_name_of_a_variable() {
        let mut secrets = RecordedSecrets::default();
        let mut message = json!({
            "a": {"api_token": "aa11bb22cc"},
            "b": {"API_TOKEN_2": "dd33ee44ff"},
            "c": {"api-token": "gg55hh66ii"},
            "d": {"api_token": "aa11bb22cc"},
        });
        secrets.mask(&mut message);
        assert_eq!(
            message,
            json!({
                "a": {"api_token": "[secret api_token]"},
                "b": {"API_TOKEN_2": "[secret API_TOKEN_2]"},
                "c": {"api-token": "[secret api-token 3]"},
                "d": {"api_token": "[secret api_token]"},
            })
        );
    }
}
