//! What is judged, and what is given up.

use super::{BoundedSchema, SchemaError, TooComplex};
use proptest::prelude::*;
use serde_json::{Value, json};

fn compiled(schema: &Value) -> BoundedSchema {
    BoundedSchema::compile(schema).unwrap()
}

/// `anyOf` of two equal references, so many levels deep.
fn doubled(levels: usize, last: &Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        definitions.insert(format!("l{level}"), json!({ "anyOf": [next, next] }));
    }
    definitions.insert(format!("l{levels}"), last.clone());
    json!({ "$defs": definitions, "$ref": "#/$defs/l0" })
}

#[test]
fn a_schema_that_doubles_is_judged_while_it_is_small_and_given_up_where_not() {
    let small = compiled(&doubled(10, &json!({ "type": "string" })));
    assert_eq!(small.is_valid(&json!("a")), Ok(true));
    assert_eq!(small.is_valid(&json!(1)), Ok(false));
    assert_eq!(small.errors(&json!(1), 9).unwrap().len(), 1);
    for levels in [20, 26, 60] {
        let schema = compiled(&doubled(levels, &json!({ "type": "string" })));
        let error = schema.is_valid(&json!(1)).unwrap_err();
        assert!(error.pointer.starts_with("/$defs/l"), "{error}");
        assert!(schema.errors(&json!(1), 9).is_err());
    }
}

#[test]
fn a_schema_that_refers_to_itself_without_an_end_is_given_up() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "not": { "$ref": "#/$defs/a" } } }, "$ref": "#/$defs/a" }),
        json!({ "$dynamicAnchor": "x", "anyOf": [{ "$dynamicRef": "#x" }] }),
    ] {
        if let Ok(schema) = BoundedSchema::compile(&schema) {
            assert!(
                schema.is_valid(&json!({})).is_err(),
                "{:?}",
                schema.schema()
            );
        }
    }
}

#[test]
fn what_doubles_by_looking_twice_or_by_anchors_and_ids_is_given_up() {
    let mut twice = json!({ "type": "object" });
    for _ in 0..30 {
        twice = json!({ "allOf": [twice], "unevaluatedProperties": false });
    }
    assert!(compiled(&twice).is_valid(&json!({ "a": 1 })).is_err());
    let mut definitions = vec![json!({ "$anchor": "l40", "type": "string" })];
    for level in 0..40 {
        let next = json!({ "$ref": format!("#l{}", level + 1) });
        definitions.push(json!({ "$anchor": format!("l{level}"), "oneOf": [next, next, next] }));
    }
    let anchored = json!({ "$defs": { "all": { "allOf": definitions } }, "$ref": "#l0" });
    assert!(compiled(&anchored).is_valid(&json!(1)).is_err());
    let mut inner = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("l{}", level + 1) });
        inner.insert(
            format!("d{level}"),
            json!({ "$id": format!("https://x.test/l{level}"), "allOf": [next, next] }),
        );
    }
    inner.insert("d40".into(), json!({ "$id": "https://x.test/l40" }));
    let ids = json!({ "$id": "https://x.test/root", "$defs": inner, "$ref": "l0" });
    assert!(compiled(&ids).is_valid(&json!(1)).is_err());
}

#[test]
fn a_schema_of_too_many_parts_or_patterns_is_given_up_before_it_is_compiled() {
    let wide: Vec<Value> = (0..200_000).map(|n| json!({ "const": n })).collect();
    let wide = BoundedSchema::compile(&json!({ "anyOf": wide }));
    assert!(
        matches!(wide, Err(SchemaError::TooComplex(TooComplex { .. }))),
        "{wide:?}"
    );
    let patterns: Vec<Value> = (0..500)
        .map(|n| json!({ "pattern": format!("^{n}") }))
        .collect();
    let patterns = BoundedSchema::compile(&json!({ "anyOf": patterns }));
    assert!(
        matches!(patterns, Err(SchemaError::TooComplex(_))),
        "{patterns:?}"
    );
    let large = BoundedSchema::compile(&json!({ "pattern": "(?:\\w{1,400}x){1,400}" }));
    assert!(
        matches!(large, Err(SchemaError::TooComplex(_))),
        "{large:?}"
    );
}

#[test]
fn a_pattern_that_goes_back_for_ever_is_given_up() {
    let schema = compiled(&json!({ "pattern": "^(?:(?=a)a|(?=a)a)+$" }));
    let text = json!(format!("{}b", "a".repeat(60)));
    let errors = schema.errors(&text, 9);
    assert!(errors.is_err(), "{errors:?}");
    assert!(schema.is_valid(&text).is_err());
}

#[test]
fn a_large_value_is_judged_by_a_usual_schema() {
    let schema = compiled(&json!({
        "type": "object",
        "properties": { "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } } },
        "$defs": { "row": {
            "type": "object",
            "properties": {
                "id": { "type": "integer" },
                "kind": { "enum": ["a", "b", "c"] },
                "note": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "required": ["id"],
            "additionalProperties": false,
        } },
    }));
    let row = |id: Value| json!({ "id": id, "kind": "b", "note": null });
    let mut rows: Vec<Value> = (0..50_000).map(|n| row(json!(n))).collect();
    assert_eq!(schema.is_valid(&json!({ "rows": rows })), Ok(true));
    rows.push(row(json!("x")));
    let value = json!({ "rows": rows });
    assert_eq!(schema.is_valid(&value), Ok(false));
}

#[test]
fn a_schema_that_is_none_and_one_that_lies_elsewhere_are_told() {
    let wrong = BoundedSchema::compile(&json!({ "properties": { "a": { "type": 1 } } }));
    let Err(SchemaError::Wrong { pointer, .. }) = wrong else {
        panic!("{wrong:?}")
    };
    assert_eq!(pointer, "/properties/a/type");
    let elsewhere = BoundedSchema::compile(&json!({ "$ref": "https://x.test/a.json" }));
    assert!(
        matches!(elsewhere, Err(SchemaError::Elsewhere(_))),
        "{elsewhere:?}"
    );
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({ "type": "string" })),
        Just(json!({ "$ref": "#/$defs/a" })),
        Just(json!({ "$ref": "#/$defs/b" })),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "enum": [1, "a"] })),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            list.clone().prop_map(|all| json!({ "anyOf": all })),
            list.clone().prop_map(|all| json!({ "allOf": all })),
            list.prop_map(|all| json!({ "oneOf": all })),
            inner.clone().prop_map(|one| json!({ "not": one })),
            inner.clone().prop_map(|one| json!({ "items": one })),
            inner
                .clone()
                .prop_map(|one| json!({ "properties": { "x": one } })),
            inner
                .clone()
                .prop_map(|one| json!({ "additionalProperties": one })),
            inner.prop_map(|one| json!({ "unevaluatedProperties": one })),
        ]
    })
}

proptest! {
    // What is within the budget ends, and takes no more stack than there is.
    #[test]
    fn whatever_is_within_the_budget_is_judged(
        root in schema(),
        a in schema(),
        b in schema(),
    ) {
        let schema = json!({ "allOf": [root], "$defs": { "a": a, "b": b } });
        if let Ok(schema) = BoundedSchema::compile(&schema) {
            for value in [json!({ "x": { "x": [1, "a"], "y": {} } }), json!([[], 1]), json!("a")] {
                let valid = schema.is_valid(&value);
                if let (Ok(valid), Ok(errors)) = (valid, schema.errors(&value, 5)) {
                    prop_assert!(!valid || errors.is_empty(), "{schema:?} {value}");
                }
            }
        }
    }
}
