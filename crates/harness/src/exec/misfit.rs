//! Where a value breaks a JSON Schema: the place, what belongs there, and what
//! stands there instead.
//!
//! Main type: [`Misfit`]. A whole schema beside a whole value tells nobody
//! what to mend.

use super::clean::Cleaner;
use jelly_base::text::plural;
use jelly_plan::{BoundedSchema, TooComplex};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::{Value, json};

/// More places than a person reads.
const PLACES: usize = 100;

/// The first place at which a value breaks a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    /// JSON pointer into the value.
    pub pointer: String,
    /// The part of the schema that is broken.
    pub expected: Value,
    /// What stands there; null for nothing.
    pub actual: Value,
    /// How the expectation is told, where its keyword has better words.
    words: Option<&'static str>,
    /// Nothing stands there.
    pub is_missing: bool,
    /// Other places that break it too.
    others: usize,
}

/// The first place, if there is one.
pub fn misfit(schema: &BoundedSchema, value: &Value) -> Result<Option<Misfit>, TooComplex> {
    let errors = schema.errors(value, PLACES)?;
    Ok(errors.first().map(|first| Misfit {
        others: errors.len() - 1,
        ..of_error(first, schema.schema(), value)
    }))
}

fn of_error(error: &ValidationError<'_>, schema: &Value, whole: &Value) -> Misfit {
    let at = error.instance_path().to_string();
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    let here = |words| Misfit {
        pointer: at.clone(),
        expected: broken(error, schema),
        actual: error.instance().clone().into_owned(),
        words,
        is_missing: false,
        others: 0,
    };
    match error.kind() {
        Kind::Required { property } => Misfit {
            pointer: below(property.as_str().unwrap_or_default()),
            expected: json!({"required": [property]}),
            actual: Value::Null,
            is_missing: true,
            ..here(Some("something, since it is required"))
        },
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            match unexpected.first() {
                Some(name) => Misfit {
                    pointer: below(name),
                    actual: whole.pointer(&below(name)).cloned().unwrap_or_default(),
                    ..here(Some("nothing, since no property of this name is declared"))
                },
                None => here(None),
            }
        }
        Kind::FalseSchema => here(Some("nothing, since the schema allows nothing here")),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            // An alternative for another type of value was not meant. If one
            // is left, it says more than all of them.
            let mut meant = context.iter().filter(|errors| {
                errors.iter().all(|of_one| {
                    of_one.instance_path() != error.instance_path()
                        || !matches!(of_one.kind(), Kind::Type { .. })
                })
            });
            match (meant.next().and_then(|errors| errors.first()), meant.next()) {
                (Some(of_one), None) => of_error(of_one, schema, whole),
                (Some(_) | None, Some(_) | None) => here(None),
            }
        }
        _ => here(None),
    }
}

/// The keyword that is broken, with what the schema gives it.
fn broken(error: &ValidationError<'_>, schema: &Value) -> Value {
    let keyword = error.kind().keyword();
    match schema.pointer(error.schema_path().as_str()) {
        Some(value) => json!({ keyword: value }),
        // Of a schema that it refers to.
        None => Value::from(error.masked().to_string()),
    }
}

impl Misfit {
    /// As in ` at /a: expected {"type":"number"}, got "x"`.
    pub fn describe(&self, cleaner: &Cleaner) -> String {
        let place = match self.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" at {}", cleaner.quote(pointer)),
        };
        let expected = match (self.words, &self.expected) {
            (Some(words), _) => words.to_owned(),
            // In words already.
            (None, Value::String(words)) => cleaner.quote(words),
            (None, expected) => cleaner.quote_value(expected),
        };
        let actual = match self.is_missing {
            true => "nothing".to_owned(),
            false => cleaner.quote_value(&self.actual),
        };
        let others = match self.others {
            0 => String::new(),
            others => format!(" (and {})", plural(others, "more place")),
        };
        format!("{place}: expected {expected}, got {actual}{others}")
    }
}

#[cfg(test)]
mod tests {
    use super::misfit;
    use crate::exec::clean::Cleaner;
    use jelly_plan::BoundedSchema;
    use serde_json::{Value, json};

    fn described(schema: &Value, value: &Value) -> String {
        let schema = BoundedSchema::compile(schema).unwrap();
        let misfit = misfit(&schema, value).unwrap().unwrap();
        misfit.describe(&Cleaner::default())
    }

    #[test]
    fn the_place_is_named_with_what_belongs_there_and_what_came() {
        let weather = json!({
            "type": "object",
            "properties": {
                "main": {"$ref": "#/$defs/main"},
                "kind": {"anyOf": [{"enum": ["dry", "wet"]}, {"type": "null"}]},
            },
            "required": ["main"],
            "additionalProperties": false,
            "$defs": {"main": {"properties": {"t": {"type": "number", "maximum": 60}}}},
        });
        let cases = [
            (
                json!({"main": {"t": "warm"}}),
                " at /main/t: expected {\"type\":\"number\"}, got \"warm\"",
            ),
            (
                json!({"main": {"t": 99}}),
                " at /main/t: expected {\"maximum\":60}, got 99",
            ),
            (json!([1]), ": expected {\"type\":\"object\"}, got [1]"),
            (
                json!({}),
                " at /main: expected something, since it is required, got nothing",
            ),
            (
                json!({"main": {}, "a/b": 7}),
                " at /a~1b: expected nothing, since no property of this name is declared, got 7",
            ),
            (
                json!({"main": {}, "kind": "hot"}),
                " at /kind: expected {\"enum\":[\"dry\",\"wet\"]}, got \"hot\"",
            ),
            (
                json!({"main": {"t": 99}, "kind": 1}),
                " at /main/t: expected {\"maximum\":60}, got 99 (and 1 more place)",
            ),
        ];
        for (value, wanted) in cases {
            assert_eq!(described(&weather, &value), wanted, "{value}");
        }
    }

    #[test]
    fn of_alternatives_the_one_that_was_meant_is_told() {
        let schema = json!({"anyOf": [
            {"type": "null"},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ]});
        assert_eq!(
            described(&schema, &json!({"a": 1})),
            " at /a: expected {\"type\":\"string\"}, got 1"
        );
        let both = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        assert_eq!(
            described(&both, &json!({})),
            ": expected {\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}, got {}"
        );
    }
}
