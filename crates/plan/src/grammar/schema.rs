//! The tables as a JSON Schema, for editors.

use super::document::PLAN;
use super::mapping::{Kind, Mapping, Rule, Words};
use super::operators::{OperandKind, Operator, REDACTION, Target, VALUE_TYPES};
use crate::Volatile;
use schemars::Schema;
use serde_json::{Map, Value, json};

/// The JSON Schema of a plan.
#[must_use]
pub fn plan_schema() -> Schema {
    let mut drawing = Drawing::default();
    let mut root = Map::new();
    root.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    root.extend(drawing.mapping(&PLAN));
    root.insert("$defs".to_owned(), drawing.definitions.into());
    root.into()
}

/// Definitions in the order in which they are first needed.
#[derive(Default)]
struct Drawing {
    definitions: Map<String, Value>,
}

impl Drawing {
    /// A reference to a definition, which is drawn where it is not there yet.
    fn named(
        &mut self,
        name: &str,
        about: &str,
        draw: impl FnOnce(&mut Self) -> Map<String, Value>,
    ) -> Map<String, Value> {
        if !self.definitions.contains_key(name) {
            // Its place, before that of those that it needs itself.
            self.definitions.insert(name.to_owned(), Value::Null);
            let mut drawn = described(about);
            drawn.extend(draw(self));
            self.definitions.insert(name.to_owned(), drawn.into());
        }
        object(json!({"$ref": format!("#/$defs/{name}")}))
    }

    /// A definition that needs no other.
    fn part(&mut self, name: &str, about: &str, schema: Value) -> Map<String, Value> {
        self.named(name, about, |_| object(schema))
    }

    fn kind(&mut self, kind: &Kind) -> Map<String, Value> {
        let scalar = json!(["string", "number", "boolean"]);
        object(match kind {
            Kind::Anything => return self.part("Anything", "Any value.", json!({})),
            Kind::AnyMap => {
                return self.part("Map", "Any values by name.", json!({"type": "object"}));
            }
            Kind::Word => {
                let about = "A text, or a number or boolean as it is written. It may hold \
                             variables, as in ${NAME}, ${env:NAME}, ${secret:NAME}, \
                             ${workspace}, ${tmp} and ${port}.";
                return self.part("Word", about, json!({"type": scalar}));
            }
            Kind::Argv => {
                let about = "A command and its arguments: never a line for a shell.";
                let items = json!({"type": scalar});
                let list = json!({"type": "array", "minItems": 1, "items": items});
                return self.part("Argv", about, list);
            }
            Kind::Time => {
                let about = "A time with its unit, as in 500ms, 30s or 1m 30s.";
                let examples = ["500ms", "30s", "1m 30s"];
                let text = json!({"type": "string", "pattern": "[0-9]", "examples": examples});
                return self.part("TimeLimit", about, text);
            }
            Kind::Name(_) | Kind::ForeignName(_) => {
                let text = json!({"type": "string", "minLength": 1, "not": {"pattern": "\\$\\{"}});
                return self.part("FixedName", "A name, without variables.", text);
            }
            Kind::Secret => {
                let about = "A value that stands in the environment and not in the plan.";
                let mut text = open();
                text["examples"] = json!(["${secret:NAME}"]);
                return self.part("Secret", about, text);
            }
            Kind::JsonPath => {
                let examples = ["$.content[0].text"];
                let text = json!({"type": "string", "pattern": "^\\$", "examples": examples});
                return self.part("Path", "A JSON path of RFC 9535.", text);
            }
            Kind::Text => json!({"type": "string"}),
            Kind::Filled => json!({"type": "string", "minLength": 1}),
            Kind::Url => json!({
                "type": "string",
                "pattern": r"^[hH][tT][tT][pP][sS]?://|\$",
            }),
            Kind::Base64 => json!({"type": "string", "contentEncoding": "base64"}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::True => json!({"type": "boolean", "const": true}),
            Kind::Integer => json!({"type": "integer"}),
            Kind::Count(least) => json!({"type": "integer", "minimum": least}),
            Kind::Version => json!({"type": "integer", "const": 1, "minimum": 0}),
            Kind::Choice(words) => return self.choice(words),
            Kind::List(of, least) => {
                let mut list = json!({"type": "array", "items": self.kind(of)});
                if *least > 0 {
                    list["minItems"] = json!(least);
                }
                list
            }
            Kind::Axis(of) => json!({
                "type": "array", "items": self.kind(of), "minItems": 2, "uniqueItems": true,
            }),
            Kind::ByName(of, least) => {
                let mut map = json!({"type": "object", "additionalProperties": self.kind(of)});
                if *least > 0 {
                    map["minProperties"] = json!(least);
                }
                map
            }
            Kind::Mapping(mapping) => {
                return self.named(mapping.name, "", |drawing| drawing.mapping(mapping));
            }
            Kind::Named(name, about, of) => {
                return self.named(name, about, |drawing| drawing.kind(of));
            }
            Kind::Either(kinds) => {
                let kinds = kinds.iter().map(|(about, kind)| {
                    let mut drawn = described(about);
                    drawn.extend(self.kind(kind));
                    Value::Object(drawn)
                });
                json!({"anyOf": kinds.collect::<Vec<_>>()})
            }
            Kind::Operators(target) => return self.predicates(*target),
            Kind::OperatorMap(target) => {
                return self.operator_map(*target, &format!("{}Predicates", target.schema_name()));
            }
            Kind::PathOperators => {
                let about = "What a JSON path selects, and operators that must hold of it.";
                return self.named("JsonExpect", about, Self::path_with_operators);
            }
            Kind::Redactions => {
                let about = "What of the value counts for nothing beside its snapshot.";
                return self.named("Redact", about, |drawing| {
                    let kinds = json!({
                        "description": "All of a kind, wherever it stands.",
                        "enum": Volatile::ALL.map(Volatile::name),
                    });
                    let at = drawing.kind(&Kind::Mapping(&REDACTION));
                    object(json!({"type": "array", "items": {"anyOf": [kinds, at]}}))
                });
            }
        })
    }

    fn mapping(&mut self, mapping: &Mapping) -> Map<String, Value> {
        let mut properties = Map::new();
        for key in mapping.all_keys() {
            let mut property = described(key.about);
            property.extend(self.kind(&key.kind));
            properties.insert(key.name.to_owned(), property.into());
            if key.has_camel {
                let mut same = described(&format!("The same as {}.", key.name));
                same.extend(self.kind(&key.kind));
                properties.insert(camel(key.name), same.into());
            }
        }
        let mut drawn = described(mapping.about);
        drawn.extend(object(json!({
            "type": "object", "properties": properties, "additionalProperties": false,
        })));
        let required = mapping
            .all_keys()
            .filter(|key| key.missing.is_some() && key.unless.is_none());
        let required: Vec<&str> = required.map(|key| key.name).collect();
        if !required.is_empty() {
            drawn.insert("required".to_owned(), json!(required));
        }
        drawn.extend(rule(&mapping.rule));
        drawn
    }

    fn choice(&mut self, words: &Words) -> Map<String, Value> {
        let all = (words.words)();
        if words.name.is_empty() {
            return object(json!({"type": "string", "enum": all}));
        }
        if words.meanings.is_empty() {
            return self.part(words.name, words.about, json!({"enum": all}));
        }
        let one = |(word, about): (&&str, &&str)| json!({"description": about, "type": "string", "const": word});
        let each: Vec<Value> = all.iter().zip(words.meanings).map(one).collect();
        self.part(words.name, words.about, json!({"oneOf": each}))
    }

    /// A map of operators, or a list of such maps.
    fn predicates(&mut self, target: Target) -> Map<String, Value> {
        let name = target.schema_name();
        let about = "Operators, all of which must hold: a map, or a list of maps.";
        self.named(&format!("{name}Predicates"), about, |drawing| {
            let map = drawing.operator_map(target, &format!("{name}Operators"));
            let list = json!({"type": "array", "minItems": 1, "items": map});
            object(json!({"anyOf": [map, list]}))
        })
    }

    fn operator_map(&mut self, target: Target, name: &str) -> Map<String, Value> {
        self.named(name, "Operators, all of which must hold.", |drawing| {
            object(json!({
                "type": "object",
                "properties": drawing.operators(target),
                "additionalProperties": false,
                "minProperties": 1,
                "dependentRequired": {"redact": ["snapshot"]},
            }))
        })
    }

    fn path_with_operators(&mut self) -> Map<String, Value> {
        let mut properties = Map::new();
        properties.insert("path".to_owned(), self.kind(&Kind::JsonPath).into());
        properties.extend(self.operators(Target::Json));
        object(json!({
            "type": "object",
            "properties": properties,
            "required": ["path"],
            "additionalProperties": false,
            "minProperties": 2,
            "dependentRequired": {"redact": ["snapshot"]},
        }))
    }

    fn operators(&mut self, target: Target) -> Map<String, Value> {
        let mut properties = Map::new();
        for operator in target.operators() {
            let mut property = described(operator.about());
            property.extend(object(operand(operator, target)));
            properties.insert(operator.name().to_owned(), property.into());
        }
        if target.takes(Operator::Snapshot).is_ok() {
            properties.insert("redact".to_owned(), self.kind(&Kind::Redactions).into());
        }
        properties
    }
}

fn rule(rule: &Rule) -> Map<String, Value> {
    let required = |keys: &[&str]| json!({"required": keys});
    let one_of =
        |groups: &[&[&str]]| -> Vec<Value> { groups.iter().map(|keys| required(keys)).collect() };
    object(match rule {
        Rule::Free => json!({}),
        Rule::NotEmpty => json!({"minProperties": 1}),
        Rule::AnyOf(keys) => {
            let each: Vec<Value> = keys.iter().map(|key| required(&[key])).collect();
            json!({"anyOf": each})
        }
        Rule::OneOf(groups) => json!({"oneOf": one_of(groups)}),
        Rule::OneRequest(groups, free) => json!({
            "oneOf": one_of(groups),
            "if": {"not": required(&[free])},
            "then": {"properties": {"args": {"type": "object"}}},
        }),
        Rule::SomeUnless {
            list,
            beside,
            by_name,
            with,
        } => {
            let none_has = json!({
                "description": "None of them has it.",
                "additionalProperties": {"not": required(&[with])},
            });
            json!({"anyOf": [
                {"properties": {*list: {"description": "One at least.", "minItems": 1}}},
                required(&[beside]),
                {"required": [by_name], "not": {"properties": {*by_name: none_has}}},
            ]})
        }
    })
}

fn operand(operator: Operator, target: Target) -> Value {
    match operator.operand() {
        OperandKind::Value => comparable(target),
        OperandKind::Part if !target.is_text() => json!({}),
        OperandKind::Part | OperandKind::Text | OperandKind::Pattern => {
            json!({"type": "string"})
        }
        OperandKind::Values => {
            let item = comparable(target);
            or_open(json!({"type": "array", "minItems": 1, "items": item}))
        }
        OperandKind::Number if target == Target::Duration => json!({
            "anyOf": [
                {"description": "Milliseconds.", "type": "number", "minimum": 0},
                {"description": "With its unit, as in 500ms.", "type": "string", "pattern": "[0-9]"},
            ],
        }),
        OperandKind::Number => or_open(json!({"type": "number"})),
        OperandKind::Flag => or_open(json!({"type": "boolean"})),
        OperandKind::Types => {
            let names = VALUE_TYPES.map(|(name, ())| name);
            or_open(json!({"anyOf": [
                {"enum": names},
                {"type": "array", "minItems": 1, "items": {"enum": names}},
            ]}))
        }
        OperandKind::Bounds => {
            let number = json!({"type": "integer", "minimum": 0});
            let bound = json!({"description": "Of the length.", "anyOf": [number, open()]});
            let bounds =
                ["equals", "gt", "ge", "lt", "le"].map(|key| (key.to_owned(), bound.clone()));
            or_open(json!({"anyOf": [number, {
                "type": "object",
                "minProperties": 1,
                "properties": Map::from_iter(bounds),
                "additionalProperties": false,
            }]}))
        }
        OperandKind::JsonSchema => or_open(json!({"type": ["object", "boolean"]})),
        OperandKind::Path => json!({"type": "string", "pattern": "^\\s*\\$"}),
        OperandKind::SnapshotName => {
            json!({"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,79}$"})
        }
    }
}

fn comparable(target: Target) -> Value {
    match target {
        Target::Text | Target::Stderr | Target::ErrorMessage | Target::Header => {
            json!({"type": "string"})
        }
        Target::ErrorCode | Target::Count | Target::ExitCode | Target::Status => {
            or_open(json!({"type": "number"}))
        }
        Target::Json | Target::Structured | Target::Duration => json!({}),
    }
}

/// A text whose value is only known when its variables are.
fn open() -> Value {
    json!({"type": "string", "pattern": "\\$\\{"})
}

fn or_open(schema: Value) -> Value {
    json!({"anyOf": [schema, open()]})
}

/// A schema that says what it is about, as far as there is something to say.
fn described(about: &str) -> Map<String, Value> {
    let about = about.trim_start();
    let said = (!about.is_empty()).then(|| ("description".to_owned(), json!(about)));
    said.into_iter().collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// `runtime_hint` as `runtimeHint`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut camel, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        camel.push_str(&initial.to_ascii_uppercase());
        camel.push_str(rest);
        camel
    })
}
