//! Expectations that hold of anything, or as good as that.
//!
//! The question is asked three times. The loader refuses what can't be false of
//! any answer ([`can_not_fail`]); a run refuses what a variable makes such; and
//! where a hook wrote the plan, an expectation that said something before must
//! not say now no more than "there is an answer" ([`holds_of_anything`]). In
//! doubt it says something.

use super::compare::is_open;
use crate::grammar::{OperandKind, OperatorGroup};
use crate::same_path::is_same_path;
use crate::{Operator, Predicate, Redaction};
use jelly_base::text::roughly;
use serde_json::Value;
use std::time::Duration;

/// What a predicate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surface<'p> {
    /// Always there, if only empty.
    Text,
    /// By this path.
    Json(&'p str),
    Structured,
    ErrorCode,
    /// In milliseconds; a request that takes longer than this fails anyway.
    Duration(Duration),
    Count,
}

/// A bound that no count gets near, and one for values, which may be ids of 64
/// bits.
const FAR: f64 = 9_007_199_254_740_992.0;
const FAR_VALUE: f64 = 1e20;

/// Whether the predicate with this operand, its variables replaced, rules
/// nothing out.
pub(super) fn holds_of_anything(
    surface: Surface<'_>,
    predicate: &Predicate,
    operand: &Value,
) -> bool {
    let Predicate {
        operator,
        operand: _,
        redact,
        at: _,
    } = predicate;
    if redact.iter().any(redacts_all) {
        return true;
    }
    if is_open(operand) {
        return false;
    }
    let number = roughly(operand);
    let is_text = surface == Surface::Text;
    let is_root = matches!(surface, Surface::Json("$"));
    match operator.operand() {
        OperandKind::Part => {
            can_not_fail(*operator, operand)
                || *operator == Operator::Contains
                    && operand.as_object().is_some_and(serde_json::Map::is_empty)
        }
        OperandKind::Text | OperandKind::Bounds => can_not_fail(*operator, operand),
        OperandKind::Pattern => operand.as_str().is_some_and(|p| matches_anything(p, false)),
        OperandKind::Number if matches!(operator, Operator::Ge | Operator::Gt) => match surface {
            Surface::Duration(_) | Surface::Count => number.is_some_and(|least| least <= 0.0),
            Surface::Text | Surface::Json(_) | Surface::Structured | Surface::ErrorCode => {
                number.is_some_and(|least| least <= -FAR_VALUE)
            }
        },
        OperandKind::Number => match surface {
            Surface::Duration(limit) => {
                number.is_some_and(|most| most >= limit.as_secs_f64() * 1000.0)
            }
            Surface::Count => number.is_some_and(|most| most >= FAR),
            Surface::Text | Surface::Json(_) | Surface::Structured | Surface::ErrorCode => {
                number.is_some_and(|most| most >= FAR_VALUE)
            }
        },
        OperandKind::Flag => {
            operand == &Value::Bool(true) && (is_text || is_root || surface == Surface::Count)
        }
        OperandKind::Types => {
            let named = |name: &str| match operand {
                Value::Array(names) => names.iter().any(|other| other == name),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_) => operand == name,
            };
            all_types(operand)
                || is_text && named("string")
                || is_root && named("object")
                || surface == Surface::Count && (named("number") || named("integer"))
        }
        OperandKind::JsonSchema => takes_anything(operand, is_root),
        OperandKind::Path => match (surface, operand.as_str()) {
            (Surface::Json(path), Some(other)) => is_same_path(path, other),
            _ => false,
        },
        OperandKind::Value | OperandKind::Values | OperandKind::SnapshotName => false,
    }
}

fn any_length(operand: &Value) -> bool {
    let Some(bounds) = operand.as_object() else {
        return false;
    };
    bounds.iter().all(|(name, bound)| {
        let bound = roughly(bound);
        match name.as_str() {
            "ge" => bound.is_some_and(|least| least <= 0.0),
            "gt" => bound.is_some_and(|least| least < 0.0),
            "le" | "lt" => bound.is_some_and(|most| most >= FAR),
            _ => false,
        }
    })
}

fn all_types(operand: &Value) -> bool {
    const TYPES: [&str; 6] = ["string", "number", "boolean", "array", "object", "null"];
    let names = operand.as_array();
    names.is_some_and(|names| {
        TYPES
            .iter()
            .all(|name| names.iter().any(|other| other == name))
    })
}

/// Texts that have nothing in common but that they are there, on one line: a
/// pattern for all of them is one for anything that an answer says.
const PROBES: [&str; 12] = [
    "a",
    "Z",
    "7",
    "~",
    "-1.5e3",
    "éß漢字",
    "{\"k\": [1, null]}",
    "[]",
    "no",
    "<p>x</p>",
    "The quick brown fox jumps over the lazy dog, 0123456789 times!",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
];

/// And texts of which there is not even that.
const NOTHING: [&str; 4] = ["", "\n", " ", "\t\n\n"];

/// Whether a pattern asks for no more than that there is something; with
/// `and_nothing`, not even for that.
fn matches_anything(pattern: &str, and_nothing: bool) -> bool {
    let nothing = NOTHING.iter().filter(|_| and_nothing);
    regex::Regex::new(pattern).is_ok_and(|pattern| {
        PROBES
            .iter()
            .chain(nothing)
            .all(|probe| pattern.is_match(probe))
    })
}

/// Whether no text, no list and no map is so that this does not hold of it:
/// whoever wrote it believes that something is tested. The operand has no
/// variables in it any more; in doubt it could fail.
#[must_use]
pub fn can_not_fail(operator: Operator, operand: &Value) -> bool {
    match operator.operand() {
        // Every text holds an empty one, begins and ends with it.
        OperandKind::Part | OperandKind::Text => {
            operator.names_value() && operator.group() == OperatorGroup::Content && operand == ""
        }
        OperandKind::Pattern => operand.as_str().is_some_and(|p| matches_anything(p, true)),
        OperandKind::Bounds => any_length(operand),
        OperandKind::JsonSchema => takes_anything(operand, false),
        OperandKind::Types => all_types(operand),
        OperandKind::Value
        | OperandKind::Path
        | OperandKind::Values
        | OperandKind::Number
        | OperandKind::Flag
        | OperandKind::SnapshotName => false,
    }
}

/// Whether what is compared with a snapshot is replaced as a whole.
pub(super) fn redacts_all(redaction: &Redaction) -> bool {
    match redaction {
        Redaction::At {
            path: _,
            raw,
            with: _,
        } => {
            let path = raw.replace(' ', "");
            ["$", "$.*", "$[*]", "$..*", "$..[*]"].contains(&path.as_str())
        }
        Redaction::Matching {
            regex,
            raw: _,
            with: _,
        } => PROBES.iter().all(|probe| {
            let covered: usize = regex.find_iter(probe).map(|found| found.len()).sum();
            covered == probe.len()
        }),
        Redaction::Kind(_) => false,
    }
}

/// Whether a schema speaks of a list, a text or a number and so refuses no
/// object: who wrote it meant another place. One that says `type` asks for that.
pub(super) fn misses_objects(schema: &Value) -> bool {
    let of_others = |map: &serde_json::Map<String, Value>| {
        let mut keywords = map.keys().map(String::as_str);
        !map.contains_key("type") && keywords.any(|it| OF_OTHER_TYPES.contains(&it))
    };
    schema.as_object().is_some_and(of_others) && takes_anything(schema, true)
}

/// Keywords of JSON Schema that describe and refuse nothing.
const NOTES: [&str; 14] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
];

/// Whether a JSON Schema refuses nothing; `is_object` where what it is asked
/// about is known to be an object.
#[must_use]
pub fn takes_anything(schema: &Value, is_object: bool) -> bool {
    let mut asked = Asked {
        root: schema,
        references: Vec::new(),
        steps: 0,
    };
    asked.takes_anything(schema, is_object)
}

/// Keywords that refuse no object, whatever they say.
const OF_OTHER_TYPES: [&str; 15] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
];

/// Keywords that say: as it is there.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// So many references within each other are followed.
const MAX_REFERENCES: usize = 64;
/// So many schemas are looked into: two equal references at each level double
/// what there is to see. What takes more is not known to take anything.
const MAX_STEPS: usize = 10_000;

/// A schema that is asked about.
struct Asked<'s> {
    root: &'s Value,
    /// Those that are being followed: one that leads to itself refuses nothing.
    references: Vec<&'s str>,
    steps: usize,
}

impl<'s> Asked<'s> {
    fn reference(&mut self, to: &'s Value, is_object: bool) -> bool {
        let Some(to) = to.as_str() else {
            return false;
        };
        if self.references.contains(&to) {
            return true;
        }
        let place = to
            .strip_prefix('#')
            .and_then(|pointer| self.root.pointer(pointer));
        let Some(place) = place.filter(|_| self.references.len() < MAX_REFERENCES) else {
            return false;
        };
        self.references.push(to);
        let takes = self.takes_anything(place, is_object);
        self.references.pop();
        takes
    }

    fn takes_anything(&mut self, schema: &'s Value, is_object: bool) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let map = match schema {
            Value::Bool(takes) => return *takes,
            Value::Object(map) => map,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return false,
        };
        let zero = |value: &Value| roughly(value).is_some_and(|least| least <= 0.0);
        let far = |value: &Value| roughly(value).is_some_and(|most| most >= FAR);
        let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        map.iter().all(|(keyword, value)| match keyword.as_str() {
            word if is_object && OF_OTHER_TYPES.contains(&word) => true,
            word if NOTES.contains(&word) => true,
            word if REFERENCES.contains(&word) => self.reference(value, is_object),
            "type" => all_types(value) || is_object && value == "object",
            "minLength" | "minItems" | "minProperties" | "minContains" => zero(value),
            "maxLength" | "maxItems" | "maxProperties" => far(value),
            "maximum" | "exclusiveMaximum" => roughly(value).is_some_and(|most| most >= FAR_VALUE),
            "minimum" | "exclusiveMinimum" => {
                roughly(value).is_some_and(|least| least <= -FAR_VALUE)
            }
            "pattern" => value.as_str().is_some_and(|p| matches_anything(p, true)),
            "required" => empty(value),
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "propertyNames"
            | "then"
            | "else" => self.takes_anything(value, false),
            "prefixItems" => value
                .as_array()
                .is_some_and(|all| all.iter().all(|one| self.takes_anything(one, false))),
            "properties" | "patternProperties" | "dependentSchemas" => value
                .as_object()
                .is_some_and(|all| all.values().all(|one| self.takes_anything(one, false))),
            "if" => true,
            "allOf" => value
                .as_array()
                .is_some_and(|all| all.iter().all(|one| self.takes_anything(one, is_object))),
            "anyOf" => value
                .as_array()
                .is_some_and(|all| all.iter().any(|one| self.takes_anything(one, is_object))),
            "uniqueItems" => value == &Value::Bool(false),
            "not" => value == &Value::Bool(false),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{can_not_fail, matches_anything, takes_anything};
    use crate::Operator;
    use serde_json::json;

    #[test]
    fn a_pattern_for_whatever_is_there_is_known() {
        for pattern in [
            "", ".*", ".+", ".", "^", "$", "^.*$", "(?s)^.*$", r"[\s\S]*", r"\A", "x*", "a|",
            r"^\S|\s", "^(.*)$", ".{0,}", "(?i).*",
        ] {
            assert!(matches_anything(pattern, false), "{pattern}");
        }
        for pattern in [
            "^$", "x", "[^a]", r"\b.{2}", r"\d", "^[a-z]*$", "(", "^[^q]*$",
        ] {
            assert!(!matches_anything(pattern, false), "{pattern}");
        }
    }

    #[test]
    fn what_can_not_fail_is_told_from_what_asks_that_there_be_something() {
        for pattern in [
            "", ".*", "x*", "(?s).*", "a|", "(a?b?)", "^", "$", "[^q]*", r"\s*", "(?m)^",
        ] {
            assert!(
                can_not_fail(Operator::Matches, &json!(pattern)),
                "{pattern}"
            );
        }
        for pattern in ["^$", "^.*$", ".+", ".", "x", "[^a]", r"\b", r"\S"] {
            assert!(
                !can_not_fail(Operator::Matches, &json!(pattern)),
                "{pattern}"
            );
        }
        assert!(can_not_fail(Operator::Contains, &json!("")));
        assert!(can_not_fail(Operator::Length, &json!({"ge": 0})));
        assert!(!can_not_fail(Operator::Length, &json!({"ge": 1})));
        assert!(can_not_fail(Operator::Schema, &json!({"minProperties": 0})));
        assert!(!can_not_fail(Operator::Schema, &json!({"type": "object"})));
    }

    #[test]
    fn a_schema_that_refuses_nothing_is_known() {
        for schema in [
            json!(true),
            json!({}),
            json!({"title": "x", "$schema": "y"}),
            json!({"properties": {"a": {}}, "required": []}),
            json!({"anyOf": [{"type": "string"}, {}]}),
            json!({"allOf": [{}, true]}),
            json!({"type": ["string", "number", "boolean", "array", "object", "null"]}),
            json!({"minLength": 0, "not": false}),
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"title": "x"}}}),
        ] {
            assert!(takes_anything(&schema, false), "{schema}");
        }
        for schema in [
            json!(false),
            json!({"type": "object"}),
            json!({"required": ["a"]}),
            json!({"properties": {"a": {"type": "string"}}}),
            json!({"const": 1}),
            json!({"enum": []}),
            json!({"not": {}}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"$ref": "#/$defs/a"}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}),
            json!({"properties": {"next": {"$ref": "#"}}, "required": ["value"]}),
            json!({"unknownKeyword": 1}),
        ] {
            assert!(!takes_anything(&schema, false), "{schema}");
        }
        assert!(takes_anything(&json!({"type": "object"}), true));
        let of_a_list = json!({"items": {"const": 3}, "minItems": 1, "contains": {"const": 1}});
        assert!(takes_anything(&of_a_list, true));
        assert!(!takes_anything(&of_a_list, false));
        assert!(!takes_anything(
            &json!({"type": "array", "items": {"const": 3}}),
            true
        ));
    }
}
