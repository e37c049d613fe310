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
use jelly_base::text::{WordList, roughly};
use serde_json::{Value, json};
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

/// A bound that no count and no length gets to, since no message is of more bytes,
/// and one for values, which may be ids of 64 bits.
const FAR: f64 = 67_108_864.0;
const FAR_VALUE: f64 = 1e20;

/// A type of JSON that all values have which stand at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceType {
    Object,
    Array,
}

impl PlaceType {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
        }
    }
}

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
            can_not_fail(*operator, operand) || is_part_of_any_object(*operator, operand)
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
            Surface::Count => is_far(operand),
            Surface::Text | Surface::Json(_) | Surface::Structured | Surface::ErrorCode => {
                number.is_some_and(|most| most >= FAR_VALUE)
            }
        },
        OperandKind::Flag => {
            operand == &Value::Bool(true) && (is_text || is_root || surface == Surface::Count)
        }
        OperandKind::Types => {
            let named = |name| names_type(operand, name);
            all_types(operand)
                || is_text && named("string")
                || is_root && named("object")
                || surface == Surface::Count && (named("number") || named("integer"))
        }
        OperandKind::JsonSchema => takes_any(operand, is_root.then_some(PlaceType::Object)),
        OperandKind::Path => match (surface, operand.as_str()) {
            (Surface::Json(path), Some(other)) => is_same_path(path, other),
            _ => false,
        },
        OperandKind::Value | OperandKind::Values | OperandKind::SnapshotName => false,
    }
}

/// Every object has all of no members.
pub(super) fn is_part_of_any_object(operator: Operator, operand: &Value) -> bool {
    operator == Operator::Contains && operand.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Whether no count gets to a bound that it must stay below.
pub(super) fn is_far(bound: &Value) -> bool {
    roughly(bound).is_some_and(|most| most >= FAR)
}

fn any_length(operand: &Value) -> bool {
    let Some(bounds) = operand.as_object() else {
        return false;
    };
    bounds.iter().all(|(name, bound)| match name.as_str() {
        "ge" => roughly(bound).is_some_and(|least| least <= 0.0),
        "gt" => roughly(bound).is_some_and(|least| least < 0.0),
        "le" | "lt" => is_far(bound),
        _ => false,
    })
}

/// Whether a type is the one, or among those, that are named.
pub(super) fn names_type(operand: &Value, name: &str) -> bool {
    let names = operand.as_array();
    operand == name || names.is_some_and(|names| names.iter().any(|other| other == name))
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

/// And texts of which there is not even that, or not on one line. A text of nothing
/// but line breaks is not among them: a pattern that misses no other is meant for all.
const NOTHING: [&str; 5] = ["", " ", "\t", "a\nb", "\na\n\nb\n"];

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
        OperandKind::JsonSchema => takes_anything(operand),
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

/// Whether a schema speaks of values of other types than those that it is asked
/// about, and so refuses none: who wrote it meant another place. One that says `type`
/// asks for that.
pub(super) fn misses_all(schema: &Value, known: PlaceType) -> bool {
    let of_others = |map: &serde_json::Map<String, Value>| {
        let mut keywords = map.keys();
        !map.contains_key("type") && keywords.any(|it| is_of_others(it, known))
    };
    schema.as_object().is_some_and(of_others) && takes_any(schema, Some(known))
}

/// Keywords of JSON Schema that describe and refuse nothing.
pub(super) const NOTES: WordList = WordList(
    "$schema $id $anchor $comment $defs definitions title description default examples deprecated \
     readOnly writeOnly format contentEncoding contentMediaType contentSchema",
);

/// Whether a JSON Schema refuses nothing.
#[must_use]
pub fn takes_anything(schema: &Value) -> bool {
    takes_any(schema, None)
}

/// Whether a JSON Schema refuses nothing of the type that is known of what it is asked
/// about.
pub(super) fn takes_any(schema: &Value, known: Option<PlaceType>) -> bool {
    let mut asked = Asked {
        root: schema,
        references: Vec::new(),
        steps: 0,
    };
    asked.takes_anything(schema, known)
}

/// Keywords that refuse no value but those of one type, by that type.
const OF_ONE_TYPE: [(&str, &[&str]); 4] = [
    (
        "array",
        &[
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
        ],
    ),
    ("string", &["minLength", "maxLength", "pattern"]),
    (
        "number",
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ],
    ),
    (
        "object",
        &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "required",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
        ],
    ),
];

/// Whether a keyword says nothing of the values of a type.
fn is_of_others(keyword: &str, known: PlaceType) -> bool {
    let mut others = OF_ONE_TYPE.iter().filter(|(of, _)| *of != known.name());
    others.any(|(_, keywords)| keywords.contains(&keyword))
}

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
    /// Those that are being followed, with what is known where they stand: one that
    /// leads to itself refuses nothing.
    references: Vec<(&'s str, Option<PlaceType>)>,
    steps: usize,
}

impl<'s> Asked<'s> {
    fn reference(&mut self, to: &'s Value, known: Option<PlaceType>) -> bool {
        let Some(to) = to.as_str() else {
            return false;
        };
        if self.references.contains(&(to, known)) {
            return true;
        }
        let place = to
            .strip_prefix('#')
            .and_then(|pointer| self.root.pointer(pointer));
        let Some(place) = place.filter(|_| self.references.len() < MAX_REFERENCES) else {
            return false;
        };
        self.references.push((to, known));
        let takes = self.takes_anything(place, known);
        self.references.pop();
        takes
    }

    fn takes_anything(&mut self, schema: &'s Value, known: Option<PlaceType>) -> bool {
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
        let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        map.iter().all(|(keyword, value)| match keyword.as_str() {
            word if known.is_some_and(|known| is_of_others(word, known)) => true,
            word if NOTES.has(word) => true,
            word if REFERENCES.contains(&word) => self.reference(value, known),
            "type" => {
                all_types(value) || known.is_some_and(|known| names_type(value, known.name()))
            }
            "minLength" | "minItems" | "minProperties" => zero(value),
            // What they are said of is not there.
            "minContains" | "maxContains" if !map.contains_key("contains") => true,
            "then" | "else" if !map.contains_key("if") => true,
            "maxLength" | "maxItems" | "maxProperties" => is_far(value),
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
            | "then"
            | "else" => self.takes_anything(value, None),
            // Every name is a text.
            "propertyNames" => {
                value == &json!({ "type": "string" }) || self.takes_anything(value, None)
            }
            "dependentRequired" => value.as_object().is_some_and(|all| all.values().all(empty)),
            "prefixItems" => value
                .as_array()
                .is_some_and(|all| all.iter().all(|one| self.takes_anything(one, None))),
            "properties" | "patternProperties" | "dependentSchemas" => value
                .as_object()
                .is_some_and(|all| all.values().all(|one| self.takes_anything(one, None))),
            "if" => true,
            "allOf" => value
                .as_array()
                .is_some_and(|all| all.iter().all(|one| self.takes_anything(one, known))),
            "oneOf" => value
                .as_array()
                .is_some_and(|all| matches!(&**all, [one] if self.takes_anything(one, known))),
            "anyOf" => value
                .as_array()
                .is_some_and(|all| all.iter().any(|one| self.takes_anything(one, known))),
            "uniqueItems" => value == &Value::Bool(false),
            "not" => value == &Value::Bool(false),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{PlaceType, can_not_fail, matches_anything, misses_all, takes_any, takes_anything};
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
            "",
            ".*",
            "x*",
            "(?s).*",
            "a|",
            "(a?b?)",
            "^",
            "$",
            "[^q]*",
            r"\s*",
            "(?m)^",
            ".+|^$",
            "(?s)^.*$",
            r"(?m)^.*$|\n",
        ] {
            assert!(
                can_not_fail(Operator::Matches, &json!(pattern)),
                "{pattern}"
            );
        }
        for pattern in [
            "^$",
            "^.*$",
            ".+",
            ".",
            "x",
            "[^a]",
            r"\b",
            r"\S",
            r"^[^\n]|^$",
        ] {
            assert!(
                !can_not_fail(Operator::Matches, &json!(pattern)),
                "{pattern}"
            );
        }
        assert!(can_not_fail(Operator::Contains, &json!("")));
        assert!(can_not_fail(Operator::Length, &json!({"ge": 0})));
        assert!(can_not_fail(
            Operator::Length,
            &json!({"ge": 0, "le": 100_000_000})
        ));
        assert!(!can_not_fail(Operator::Length, &json!({"ge": 1})));
        assert!(!can_not_fail(Operator::Length, &json!({"le": 100_000})));
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
            json!({"dependentRequired": {"a": []}, "propertyNames": {"type": "string"}}),
            json!({"oneOf": [{}]}),
            json!({"minContains": 3, "then": false}),
            json!({"maxLength": 100_000_000}),
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"title": "x"}}}),
        ] {
            assert!(takes_anything(&schema), "{schema}");
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
            json!({"oneOf": [{}, {}]}),
            json!({"if": {"required": ["a"]}, "then": false}),
            json!({"maxLength": 100_000}),
            json!({"unknownKeyword": 1}),
        ] {
            assert!(!takes_anything(&schema), "{schema}");
        }
        assert!(takes_any(
            &json!({"type": "object"}),
            Some(PlaceType::Object)
        ));
        for (schema, known) in [
            (
                json!({"items": {"const": 3}, "minItems": 1, "contains": {"const": 1}}),
                PlaceType::Object,
            ),
            (json!({"multipleOf": 2}), PlaceType::Object),
            (json!({"required": ["text"]}), PlaceType::Array),
            (json!({"allOf": [{"minLength": 1}]}), PlaceType::Array),
        ] {
            assert!(takes_any(&schema, Some(known)), "{schema}");
            assert!(!takes_anything(&schema), "{schema}");
        }
        let asks = json!({"type": "array", "items": {"const": 3}});
        assert!(!takes_any(&asks, Some(PlaceType::Object)));
        assert!(!misses_all(&asks, PlaceType::Object));
        assert!(misses_all(
            &json!({"properties": {"a": {"const": 1}}}),
            PlaceType::Array
        ));
    }
}
