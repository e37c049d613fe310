//! Operators with their operands: which ones a target takes is what the loader
//! itself asks.

use super::parts::Path;
use crate::load::{TYPES, Target};
use crate::{Operator, Volatile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Makes the type of the operators on a target.
macro_rules! predicates {
    ($($name:ident of $target:expr, $form:expr;)*) => {$(
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                $form($target, generator)
            }
        }
    )*};
}

predicates! {
    TextPredicates of Target::Text, map_or_list::<TextOperators>;
    TextOperators of Target::Text, map;
    StderrPredicates of Target::Stderr, map_or_list::<StderrOperators>;
    StderrOperators of Target::Stderr, map;
    StructuredPredicates of Target::Structured, map_or_list::<StructuredOperators>;
    StructuredOperators of Target::Structured, map;
    ErrorCodePredicates of Target::ErrorCode, map_or_list::<ErrorCodeOperators>;
    ErrorCodeOperators of Target::ErrorCode, map;
    ErrorMessagePredicates of Target::ErrorMessage, map_or_list::<ErrorMessageOperators>;
    ErrorMessageOperators of Target::ErrorMessage, map;
    DurationPredicates of Target::Duration, map_or_list::<DurationOperators>;
    DurationOperators of Target::Duration, map;
    CountPredicates of Target::Count, map;
    JsonExpect of Target::Json, path_with_operators;
}

fn map_or_list<Operators: JsonSchema>(_: Target, generator: &mut SchemaGenerator) -> Schema {
    let operators = generator.subschema_for::<Operators>();
    json_schema!({
        "description": "Operators, all of which must hold: a map, or a list of maps.",
        "anyOf": [operators, {"type": "array", "minItems": 1, "items": operators}],
    })
}

fn map(target: Target, generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "Operators, all of which must hold.",
        "type": "object",
        "properties": operators(target, generator),
        "additionalProperties": false,
        "minProperties": 1,
        "dependentRequired": {"redact": ["snapshot"]},
    })
}

/// A path and at least one operator.
fn path_with_operators(target: Target, generator: &mut SchemaGenerator) -> Schema {
    let mut properties = Map::new();
    let path = generator.subschema_for::<Path>();
    properties.insert("path".to_owned(), path.into());
    properties.extend(operators(target, generator));
    json_schema!({
        "description": "What a JSON path selects, and operators that must hold of it.",
        "type": "object",
        "properties": properties,
        "required": ["path"],
        "additionalProperties": false,
        "minProperties": 2,
        "dependentRequired": {"redact": ["snapshot"]},
    })
}

fn operators(target: Target, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut properties = Map::new();
    for operator in Operator::ALL {
        if target.takes(operator).is_ok() {
            let mut operand = operand(operator, target);
            operand.insert("description".to_owned(), json!(about(operator)));
            properties.insert(operator.name().to_owned(), operand.into());
        }
    }
    if target.takes(Operator::Snapshot).is_ok() {
        let list = generator.subschema_for::<Redact>();
        properties.insert("redact".to_owned(), list.into());
    }
    properties
}

/// A text whose value is only known when its variables are.
fn open() -> Value {
    json!({"type": "string", "pattern": "\\$\\{"})
}

fn or_open(schema: Value) -> Schema {
    json_schema!({"anyOf": [schema, open()]})
}

fn operand(operator: Operator, target: Target) -> Schema {
    use Operator as Op;
    match operator {
        Op::Equals | Op::NotEquals => comparable(target),
        Op::Contains | Op::NotContains if target.is_text() => json_schema!({"type": "string"}),
        Op::Contains | Op::NotContains => json_schema!({}),
        Op::StartsWith | Op::EndsWith | Op::Matches => json_schema!({"type": "string"}),
        Op::OneOf => {
            let item = comparable(target);
            or_open(json!({"type": "array", "minItems": 1, "items": item}))
        }
        Op::Gt | Op::Ge | Op::Lt | Op::Le if target == Target::Duration => json_schema!({
            "anyOf": [
                {"description": "Milliseconds.", "type": "number", "minimum": 0},
                {"description": "With its unit, as in 500ms.", "type": "string", "pattern": "[0-9]"},
            ],
        }),
        Op::Gt | Op::Ge | Op::Lt | Op::Le => or_open(json!({"type": "number"})),
        Op::Exists => or_open(json!({"type": "boolean"})),
        Op::Type => {
            let names = TYPES.map(|(name, ())| name);
            or_open(json!({"anyOf": [
                {"enum": names},
                {"type": "array", "minItems": 1, "items": {"enum": names}},
            ]}))
        }
        Op::Length => {
            let number = json!({"type": "integer", "minimum": 0});
            let bound = json!({"description": "Of the length.", "anyOf": [number, open()]});
            or_open(json!({"anyOf": [number, {
                "type": "object",
                "minProperties": 1,
                "properties": {
                    "equals": bound, "gt": bound, "ge": bound, "lt": bound, "le": bound,
                },
                "additionalProperties": false,
            }]}))
        }
        Op::Schema => or_open(json!({"type": ["object", "boolean"]})),
        Op::Snapshot => {
            json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,79}$"})
        }
    }
}

fn comparable(target: Target) -> Schema {
    match target {
        Target::Text | Target::Stderr | Target::ErrorMessage => json_schema!({"type": "string"}),
        Target::ErrorCode | Target::Count => or_open(json!({"type": "number"})),
        Target::Json | Target::Structured | Target::Duration => json_schema!({}),
    }
}

fn about(operator: Operator) -> &'static str {
    match operator {
        Operator::Equals => "It is this, in type and value; the order of keys does not count.",
        Operator::NotEquals => "It is not this.",
        Operator::Contains => {
            "A text holds this text, a list this item, a map these keys with these values."
        }
        Operator::NotContains => "It holds no such thing.",
        Operator::Matches => "This regular expression matches somewhere in the text.",
        Operator::StartsWith => "The text begins with this.",
        Operator::EndsWith => "The text ends with this.",
        Operator::OneOf => "It is one of these.",
        Operator::Gt => "It is greater than this.",
        Operator::Ge => "It is this or greater.",
        Operator::Lt => "It is less than this.",
        Operator::Le => "It is this or less.",
        Operator::Exists => "true: it is there; false: it is not.",
        Operator::Type => "Its JSON type is this, or one of these.",
        Operator::Length => "How many characters, items or keys it has: a number, or comparisons.",
        Operator::Schema => "It fits this JSON Schema.",
        Operator::Snapshot => {
            "It is what is stored beside the plan under this name; see `jelly snapshot`."
        }
    }
}

/// What of a value counts for nothing beside its snapshot.
struct Redact;

impl JsonSchema for Redact {
    fn schema_name() -> Cow<'static, str> {
        "Redact".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let at = generator.subschema_for::<RedactAt>();
        json_schema!({
            "description": "What of the value counts for nothing beside its snapshot.",
            "type": "array",
            "items": {"anyOf": [
                {
                    "description": "All of a kind, wherever it stands.",
                    "enum": Volatile::ALL.map(Volatile::name),
                },
                at,
            ]},
        })
    }
}

/// What a path selects, or what a pattern matches.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["path"]}, {"required": ["pattern"]}]))]
#[expect(dead_code, reason = "described, and never built")]
struct RedactAt {
    /// From the root of the value.
    path: Option<Path>,
    /// A regular expression, as for `matches`, over the text that is compared.
    pattern: Option<String>,
    /// What is put in its place, as it is. Default: `[redacted]`.
    with: Option<String>,
}
