//! What is compatible is, and what can't be shown to be is breaking.

use super::super::change::ChangeKind::{self, Breaking, Compatible, Text};
use super::super::direction::Direction;
use super::compare_schemas;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The strongest kind of all changes; none where there are none.
fn kind(old: &Value, new: &Value, direction: Direction) -> Option<ChangeKind> {
    let changes = compare_schemas(old, new, direction);
    changes.into_iter().map(|change| change.kind).min()
}

fn input(old: &Value, new: &Value) -> Option<ChangeKind> {
    kind(old, new, Direction::Input)
}

fn output(old: &Value, new: &Value) -> Option<ChangeKind> {
    kind(old, new, Direction::Output)
}

/// Pairs of which the second allows all that the first does, and more.
fn widenings() -> Vec<(Value, Value)> {
    vec![
        (
            json!({"type": "string"}),
            json!({"type": ["string", "null"]}),
        ),
        (json!({"type": "integer"}), json!({"type": "number"})),
        (json!({"type": "string"}), json!({})),
        (json!({"enum": ["a"]}), json!({"enum": ["b", "a"]})),
        (json!({"const": "a"}), json!({"enum": ["b", "a"]})),
        (
            json!({"const": "a", "enum": ["b"]}),
            json!({"const": "a", "enum": ["b", "a"]}),
        ),
        (
            json!({"type": "string", "enum": ["a"]}),
            json!({"type": "string"}),
        ),
        (json!({"minimum": 1}), json!({"minimum": 0})),
        (json!({"exclusiveMinimum": 1}), json!({"minimum": 1})),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "exclusiveMinimum": -1}),
        ),
        (json!({"maximum": 1}), json!({"maximum": 1.5})),
        (json!({"maximum": 1}), json!({})),
        (json!({"multipleOf": 4}), json!({"multipleOf": 2})),
        (json!({"minLength": 1}), json!({})),
        (json!({"maxLength": 1}), json!({"maxLength": 2})),
        (json!({"pattern": "a"}), json!({})),
        (json!({"format": "uri"}), json!({})),
        (json!({"uniqueItems": true}), json!({"uniqueItems": false})),
        (json!({"required": ["a", "b"]}), json!({"required": ["b"]})),
        (json!({"additionalProperties": false}), json!({})),
        (
            json!({"additionalProperties": {"type": "string"}}),
            json!({"additionalProperties": true}),
        ),
        (json!({"items": {"type": "string"}}), json!({"items": {}})),
        (
            json!({"prefixItems": [{"type": "string"}]}),
            json!({"prefixItems": [{}]}),
        ),
        (
            json!({"anyOf": [{"type": "string"}]}),
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
        ),
        (
            json!({"type": "string"}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]}),
        ),
        (
            json!({"oneOf": [{"type": "string"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
        ),
        (
            json!({"allOf": [{"type": "string"}, {"minLength": 1}]}),
            json!({"allOf": [{"type": "string"}]}),
        ),
        (json!({"not": {}}), json!({"not": {"type": "string"}})),
        (json!({"not": {"type": "string"}}), json!({})),
        (json!(false), json!({"type": "string"})),
        (
            json!({"properties": {"a": {"type": "string"}}}),
            json!({"properties": {"a": {}}}),
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}),
            json!({"type": ["string", "null"]}),
        ),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({})),
        (json!({"contains": {"type": "string"}}), json!({})),
        (json!({"propertyNames": {"maxLength": 2}}), json!({})),
        (
            json!({"anyOf": [{"type": "object", "properties": {"k": {"const": 1}}}]}),
            json!({"anyOf": [{"type": "object", "properties": {"k": {"enum": [1, 2]}}}]}),
        ),
    ]
}

#[test]
fn inputs_may_widen_and_outputs_may_narrow() {
    for (narrow, wide) in widenings() {
        assert_eq!(input(&narrow, &wide), Some(Compatible), "{narrow} → {wide}");
        assert_eq!(input(&wide, &narrow), Some(Breaking), "{wide} → {narrow}");
        assert_eq!(
            output(&wide, &narrow),
            Some(Compatible),
            "out {wide} → {narrow}"
        );
        assert_eq!(
            output(&narrow, &wide),
            Some(Breaking),
            "out {narrow} → {wide}"
        );
    }
}

#[test]
fn what_says_the_same_in_other_words_is_no_change() {
    for (a, b) in [
        (
            json!({"type": ["null", "string"]}),
            json!({"type": ["string", "null"]}),
        ),
        (json!({"enum": [1, 2]}), json!({"enum": [2.0, 1]})),
        (json!({"const": "a"}), json!({"enum": ["a"]})),
        (
            json!({"const": "a", "enum": ["a", "b"]}),
            json!({"enum": ["a"]}),
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "exclusiveMinimum": 0}),
        ),
        (json!({"minLength": 0}), json!({})),
        (json!({"additionalProperties": true}), json!({})),
        (
            json!({"additionalProperties": {}}),
            json!({"additionalProperties": true}),
        ),
        (
            json!({"required": ["a", "b"]}),
            json!({"required": ["b", "a"]}),
        ),
        (json!({"required": []}), json!({})),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            json!({}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"type": ["string", "null"]}),
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}),
            json!({"type": "string"}),
        ),
        (
            json!({"items": [{"type": "string"}]}),
            json!({"prefixItems": [{"type": "string"}]}),
        ),
        (
            json!({"type": "boolean"}),
            json!({"type": "boolean", "enum": [true, false]}),
        ),
    ] {
        for direction in [Direction::Input, Direction::Output] {
            let changes = compare_schemas(&a, &b, direction);
            assert_eq!(changes, [], "{a} → {b}");
        }
    }
}

#[test]
fn what_can_not_be_shown_is_breaking_both_ways() {
    for (a, b) in [
        (json!({"type": "string"}), json!({"type": "integer"})),
        (json!({"pattern": "a"}), json!({"pattern": "b"})),
        (json!({"format": "uri"}), json!({"format": "email"})),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]})),
        (json!({"multipleOf": 4}), json!({"multipleOf": 6})),
        (
            json!({"if": {"required": ["a"]}}),
            json!({"if": {"required": ["b"]}}),
        ),
        (
            json!({"$ref": "http://elsewhere/a"}),
            json!({"$ref": "http://elsewhere/b"}),
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"maxLength": 3}]}),
            json!({"oneOf": [{"type": "string"}, {"maxLength": 4}]}),
        ),
        (json!({"properties": {"a": {}}}), json!({"properties": {}})),
    ] {
        assert_eq!(input(&a, &b), Some(Breaking), "{a} → {b}");
        assert_eq!(output(&a, &b), Some(Breaking), "out {a} → {b}");
    }
}

#[test]
fn members_that_come_and_go_are_judged_as_their_users_would() {
    let old = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let optional = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]});
    let required = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]});
    assert_eq!(input(&old, &optional), Some(Compatible));
    assert_eq!(input(&old, &required), Some(Breaking));
    assert_eq!(input(&optional, &old), Some(Breaking));
    assert_eq!(output(&old, &optional), Some(Compatible));
    assert_eq!(output(&old, &required), Some(Compatible));
    assert_eq!(output(&required, &old), Some(Breaking));
    let closed = |schema: &Value| {
        let mut schema = schema.clone();
        schema["additionalProperties"] = json!(false);
        schema
    };
    assert_eq!(input(&closed(&old), &closed(&optional)), Some(Compatible));
    // Who holds results against the old schema refuses the new member.
    assert_eq!(output(&closed(&old), &closed(&optional)), Some(Breaking));
}

#[test]
fn texts_are_text_and_a_default_means_something() {
    let old = json!({"type": "object", "title": "A", "properties": {"description": {"type": "string", "description": "x"}}});
    let new = json!({"type": "object", "properties": {"description": {"type": "string", "description": "y", "examples": [1]}}});
    assert_eq!(input(&old, &new), Some(Text));
    assert_eq!(output(&old, &new), Some(Text));
    let gone = json!({"type": "object", "title": "A", "properties": {}});
    assert_eq!(
        input(&old, &gone),
        Some(Breaking),
        "a property called like a keyword"
    );
    assert_eq!(
        input(&json!({"default": 1}), &json!({"default": 2})),
        Some(Breaking)
    );
    assert_eq!(input(&json!({}), &json!({"default": 2})), Some(Compatible));
    assert_eq!(
        output(&json!({"default": 1}), &json!({"default": 2})),
        Some(Text)
    );
    assert_eq!(input(&json!({}), &json!({"x-foo": 2})), Some(Compatible));
}

#[test]
fn what_refers_to_itself_is_compared_to_its_end() {
    let tree = |leaf: &str| {
        json!({"$ref": "#/$defs/node", "$defs": {"node": {
            "type": "object",
            "properties": {"value": {"type": leaf}, "next": {"$ref": "#/$defs/node"}},
        }}})
    };
    assert_eq!(input(&tree("string"), &tree("string")), None);
    assert_eq!(input(&tree("integer"), &tree("number")), Some(Compatible));
    assert_eq!(input(&tree("number"), &tree("integer")), Some(Breaking));
    let round = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    assert_eq!(input(&round, &json!({"type": "string"})), Some(Breaking));
    // Each level refers twice to the next: more places than could be looked at.
    let wide = |last: &str| {
        let mut defs = serde_json::Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            let schema = json!({"type": "object", "properties": {"a": next, "b": next}});
            defs.insert(format!("l{level}"), schema);
        }
        defs.insert("l40".into(), json!({"type": last}));
        json!({"$ref": "#/$defs/l0", "$defs": defs})
    };
    assert_eq!(input(&wide("string"), &wide("integer")), Some(Breaking));
    let mut deep = (json!({"type": "integer"}), json!({"type": "number"}));
    for _ in 0..300 {
        deep = (json!({"items": deep.0}), json!({"items": deep.1}));
    }
    assert_eq!(input(&deep.0, &deep.1), Some(Breaking), "too deep to tell");
}

/// Schemas of the keywords that servers use.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..5_i32, 5..9_i32)
            .prop_map(|(a, b)| json!({"type": "integer", "minimum": a, "maximum": b})),
        (1..3_u8, 3..6_u8)
            .prop_map(|(a, b)| json!({"type": "string", "minLength": a, "maxLength": b})),
        proptest::collection::btree_set("[a-c]", 1..3).prop_map(|set| json!({"enum": set})),
        Just(json!({"type": ["string", "null"], "description": "d"})),
        Just(json!({"type": "boolean", "default": true})),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, open)| json!({
                "type": "object", "properties": {"p": a, "q": b}, "required": ["p"],
                "additionalProperties": open})),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items, "maxItems": 9})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            inner.prop_map(
                |it| json!({"$defs": {"x": it}, "type": "object", "properties": {"r": it}})
            ),
        ]
    })
}

/// The schema with one place of it wider, the `at`-th that can be.
fn widened(schema: &Value, at: &mut usize) -> Value {
    let mut turn = || {
        let now = *at == 0;
        *at = at.wrapping_sub(1);
        now
    };
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut wide = members.clone();
    for key in [
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "maxItems",
        "required",
    ] {
        if members.contains_key(key) && turn() {
            wide.shift_remove(key);
            return Value::Object(wide);
        }
    }
    if let Some(Value::Array(values)) = members.get("enum")
        && turn()
    {
        let mut values = values.clone();
        values.push(json!("another"));
        wide.insert("enum".into(), Value::Array(values));
        return Value::Object(wide);
    }
    if members.get("additionalProperties") == Some(&json!(false)) && turn() {
        wide.insert("additionalProperties".into(), json!(true));
        return Value::Object(wide);
    }
    if let Some(Value::Array(branches)) = members.get("anyOf") {
        if turn() {
            let mut branches = branches.clone();
            branches.push(json!({"const": {"only": "this"}}));
            wide.insert("anyOf".into(), Value::Array(branches));
        } else {
            let branches = branches.iter().map(|branch| widened(branch, at));
            wide.insert("anyOf".into(), branches.collect());
        }
        return Value::Object(wide);
    }
    if let Some(items) = members.get("items") {
        wide.insert("items".into(), widened(items, at));
    }
    if let Some(Value::Object(properties)) = members.get("properties") {
        let properties = properties
            .iter()
            .map(|(name, schema)| (name.clone(), widened(schema, at)));
        wide.insert("properties".into(), Value::Object(properties.collect()));
    }
    Value::Object(wide)
}

/// The same words mean another thing where what they refer to, or the keyword
/// around them, has changed.
#[test]
fn what_is_written_alike_and_means_another_thing_is_told() {
    let of = |schema: Value, target: Value| {
        let mut whole = schema;
        whole["$defs"] = json!({ "T": target });
        whole
    };
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let to = json!({ "$ref": "#/$defs/T" });
    for schema in [
        json!({ "if": to, "then": { "required": ["a"] } }),
        json!({ "unevaluatedProperties": to }),
        json!({ "type": "array", "contains": to, "maxContains": 2 }),
        json!({ "oneOf": [to, { "minLength": 1 }] }),
        json!({ "properties": { "a": { "$ref": "elsewhere.json" } } }),
    ] {
        let (old, new) = (
            of(schema.clone(), text.clone()),
            of(schema.clone(), number.clone()),
        );
        assert_eq!(input(&old, &new), Some(Breaking), "{schema}");
        assert_eq!(input(&old, &old), None, "{schema}");
        let told = of(
            schema.clone(),
            json!({ "type": "string", "description": "more" }),
        );
        assert_ne!(input(&old, &told), Some(Breaking), "only a text: {schema}");
    }
    let both = json!([{ "type": "integer" }, { "type": "number" }]);
    let (any, one) = (json!({ "anyOf": both }), json!({ "oneOf": both }));
    assert_eq!(input(&any, &one), Some(Breaking));
    assert_eq!(output(&one, &any), Some(Breaking));
    let most = |bound: u64| json!({ "type": "integer", "maximum": bound });
    let (larger, smaller) = (most(9_007_199_254_740_993), most(9_007_199_254_740_992));
    assert_eq!(input(&larger, &smaller), Some(Breaking));
    assert_eq!(input(&larger, &larger), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_schema_beside_itself_has_no_changes(schema in schemas()) {
        for direction in [Direction::Input, Direction::Output] {
            prop_assert_eq!(compare_schemas(&schema, &schema.clone(), direction), vec![]);
        }
    }

    /// Widening is never breaking for inputs. Where it is a change at all, so that
    /// values are allowed that were not, to go back is breaking.
    #[test]
    fn to_widen_is_compatible_and_to_narrow_is_breaking(schema in schemas(), at in 0..12_usize) {
        let mut place = at;
        let wide = widened(&schema, &mut place);
        let (there, back) = (input(&schema, &wide), input(&wide, &schema));
        let (out, out_back) = (output(&schema, &wide), output(&wide, &schema));
        prop_assert_ne!(there, Some(Breaking), "{} → {}", schema, wide);
        prop_assert_ne!(out_back, Some(Breaking), "{} → {}", wide, schema);
        // A branch may be wider and its neighbour allow all of it already.
        let hidden = schema.to_string().contains("anyOf");
        if wide != schema && !hidden {
            prop_assert_eq!(there, Some(Compatible), "{} → {}", schema, wide);
            prop_assert_eq!(back, Some(Breaking), "{} → {}", wide, schema);
            prop_assert_eq!(out, Some(Breaking), "{} → {}", schema, wide);
        }
    }

    /// Nothing that is claimed to be safe refuses a value that was allowed: the
    /// claim is held against a validator.
    #[test]
    fn what_is_called_compatible_allows_all_values_that_were(
        old in schemas(), new in schemas(), values in proptest::collection::vec(values(), 24)
    ) {
        for (direction, from, to) in [
            (Direction::Input, &old, &new),
            (Direction::Output, &new, &old),
        ] {
            if kind(&old, &new, direction) == Some(Breaking) {
                continue;
            }
            let compiled = |schema: &Value| jelly_plan::BoundedSchema::compile(schema).unwrap();
            let (from, to) = (compiled(from), compiled(to));
            for value in &values {
                let allowed = from.is_valid(value).unwrap_or(false);
                prop_assert!(
                    !allowed || to.is_valid(value).unwrap_or(true),
                    "{:?}: {} → {} refuses {}", direction, old, new, value
                );
            }
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1..10_i32).prop_map(Value::from),
        "[a-d]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            (inner.clone(), inner).prop_map(|(p, q)| json!({"p": p, "q": q})),
        ]
    })
}

#[test]
fn what_can_not_be_compared_is_breaking_and_proves_nothing() {
    for (old, new, is_shown) in [
        (
            json!({"pattern": "^a"}),
            json!({"pattern": "^[a-z]"}),
            false,
        ),
        (
            json!({"if": {"minimum": 1}}),
            json!({"if": {"minimum": 2}}),
            false,
        ),
        (json!({"enum": ["a"]}), json!({"enum": ["b"]}), true),
        (json!({"type": "string"}), json!({"type": "number"}), true),
        (json!({}), json!({"required": ["a"]}), true),
    ] {
        let changes = compare_schemas(&old, &new, Direction::Input);
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].kind, ChangeKind::Breaking, "{changes:?}");
        assert_eq!(changes[0].is_shown, is_shown, "{changes:?}");
    }
}
