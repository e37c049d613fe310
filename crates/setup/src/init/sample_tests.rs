use super::{Paths, sample};
use serde_json::{Value, json};

fn args(schema: &Value) -> Value {
    let found = sample(schema, Paths::default());
    assert_eq!(found.blanks, [""; 0], "{schema}");
    let first = found.tries.into_iter().next();
    Value::Object(first.unwrap_or_else(|| panic!("none for {schema}")))
}

fn one(schema: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
    args(&schema)["x"].clone()
}

#[test]
fn what_the_schema_says_comes_first() {
    for (schema, value) in [
        (json!({"const": 7, "default": 8}), json!(7)),
        (
            json!({"type": "string", "default": "d", "enum": ["e", "d"]}),
            json!("d"),
        ),
        (
            json!({"type": "string", "examples": ["x1"], "enum": ["e", "x1"]}),
            json!("x1"),
        ),
        (json!({"enum": [null, "e"]}), json!("e")),
        (
            json!({"type": "string", "description": "City (e.g., 'Paris')"}),
            json!("Paris"),
        ),
    ] {
        assert_eq!(one(schema.clone()), value, "{schema}");
    }
}

#[test]
fn another_value_of_an_enum_is_tried_and_none_that_asks_for_an_error() {
    let tried = |schema: Value| {
        let schema = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        let found = sample(&schema, Paths::default()).tries;
        found
            .iter()
            .map(|args| args["x"].clone())
            .collect::<Vec<_>>()
    };
    for (schema, values) in [
        (
            json!({"type": "string", "enum": ["error", "success", "debug"]}),
            vec!["success", "debug"],
        ),
        (json!({"enum": ["throwError"]}), vec!["throwError"]),
        // Nobody asked for what they do.
        (
            json!({"type": "string", "enum": ["list", "delete", "describe", "clear_all"]}),
            vec!["list", "describe"],
        ),
        (
            json!({"oneOf": [{"const": "FAILURE", "title": "f"}, {"const": "ok", "title": "o"}]}),
            vec!["ok"],
        ),
        (
            json!({"type": "string", "description": "either 'invalid' or 'plain'"}),
            vec!["hello", "plain", "invalid"],
        ),
        (
            json!({"type": "string", "default": "error", "enum": ["error", "success"]}),
            vec!["error"],
        ),
    ] {
        assert_eq!(tried(schema.clone()), values, "{schema}");
    }
}

#[test]
fn bounds_and_formats_are_kept() {
    for (schema, value) in [
        (json!({"type": "integer"}), json!(1)),
        (json!({"type": "integer", "minimum": 10}), json!(10)),
        (
            json!({"type": "integer", "exclusiveMinimum": 10, "maximum": 12}),
            json!(11),
        ),
        (json!({"type": "integer", "maximum": -3}), json!(-3)),
        (json!({"type": "number", "maximum": 0.5}), json!(0)),
        (
            json!({"exclusiveMinimum": 0, "exclusiveMaximum": 1, "type": "number"}),
            json!(0.5),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer",
                "minimum": 1, "exclusiveMinimum": true}),
            json!(2),
        ),
        (
            json!({"type": "string", "minLength": 9}),
            json!("hello world"),
        ),
        (
            json!({"type": "string", "minLength": 9, "maxLength": 9}),
            json!("hello wor"),
        ),
        (json!({"type": "string", "maxLength": 2}), json!("he")),
        (
            json!({"type": "string", "pattern": "^[A-Z]+$", "maxLength": 5}),
            json!("HELLO"),
        ),
        (
            json!({"type": "string", "pattern": r"^[A-Z]{3}-\d{4}$"}),
            json!("ABC-1234"),
        ),
        (
            json!({"pattern": "^x*$", "minLength": 6}),
            json!("xxxxxxxx"),
        ),
        (
            json!({"pattern": r"^\d{4}-\d{2}-\d{2}$"}),
            json!("2025-01-01"),
        ),
        (
            json!({"type": "number", "multipleOf": 0.5, "exclusiveMaximum": 1}),
            json!(0.5),
        ),
        (
            json!({"type": "integer", "multipleOf": 5, "minimum": 6}),
            json!(10),
        ),
        (json!({"type": "string"}), json!("hello")),
        (
            json!({"type": ["null", "string"], "format": "date"}),
            json!("2025-01-01"),
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
            json!(false),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
            json!(["hello", "hello"]),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}),
            json!({"a": 1}),
        ),
    ] {
        assert_eq!(one(schema.clone()), value, "{schema}");
    }
}

#[test]
fn what_is_put_together_of_several_schemas_fits_all_of_them() {
    let closed = |own: Value| {
        json!({"type": "object", "properties": own,
        "required": own.as_object().unwrap().keys().collect::<Vec<_>>(), "additionalProperties": false})
    };
    for (schema, value) in [
        (
            json!({"allOf": [{"type": "string"}, {"minLength": 6}, {"maxLength": 6}]}),
            json!("hello-"),
        ),
        (
            json!({"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"properties": {"a": {"minimum": 3}, "b": {"const": 1}}, "required": ["b"]}]}),
            json!({"a": 3, "b": 1}),
        ),
        (
            json!({"oneOf": [closed(json!({"kind": {"const": "x"}, "n": {"type": "integer", "minimum": 5}})),
                {"type": "string"}]}),
            json!({"kind": "x", "n": 5}),
        ),
        (
            json!({"anyOf": [{"$ref": "https://example.com/x"}, {"type": "integer"}]}),
            json!(1),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}),
            json!(["hello", "hello2"]),
        ),
        (
            json!({"prefixItems": [{"type": "number"}, {"enum": ["a"]}], "items": false, "minItems": 2}),
            json!([1, "a"]),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "minItems": 2,
                "items": [{"type": "number"}, {"type": "boolean"}]}),
            json!([1, false]),
        ),
        (json!({"type": "array", "minItems": 1}), json!(["hello"])),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}),
            json!({"key1": 1}),
        ),
        (json!(true), json!("hello")),
    ] {
        assert_eq!(one(schema.clone()), value, "{schema}");
    }
}

#[test]
fn alternatives_of_the_whole_are_tried_one_after_the_other() {
    let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let found = sample(&schema, Paths::default()).tries;
    assert_eq!(json!(found), json!([{"a": "hello"}, {"b": 1}]));
    let schema = json!({"properties": {"a": {"enum": ["x"]}, "z": {"type": "integer"}},
        "required": ["a"], "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["z"]}});
    assert_eq!(args(&schema), json!({"a": "x", "z": 1}));
    let none = json!({"properties": {"a": {"type": "string"}}, "required": ["a"], "not": {}});
    let found = sample(&none, Paths::default());
    assert_eq!((found.tries.len(), found.blanks.len()), (0, 0));
}

#[test]
fn what_has_itself_in_it_is_as_small_as_it_may_be() {
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/N"}}, "required": ["x"], "$defs": {
        "N": {"type": "object", "required": ["of"], "properties": {
            "of": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}}});
    assert_eq!(args(&schema), json!({"x": {"of": []}}));
}

#[test]
fn what_may_be_left_out_is_there_with_its_default_alone() {
    let schema = json!({"properties": {
        "a": {"default": 3}, "b": {"default": null}, "c": {"type": "string"}, "d": {"default": ""}
    }});
    assert_eq!(args(&schema), json!({"a": 3}));
    assert_eq!(args(&Value::Null), json!({}));
}

/// server-everything's tool takes ten seconds by default, in each of three runs.
#[test]
fn a_tool_is_not_asked_to_take_its_time() {
    let of = |name: &str, own: Value| args(&json!({"properties": {name: own}}))[name].clone();
    let seconds = |about: &str| json!({"type": "number", "default": 10, "description": about});
    assert_eq!(of("duration", seconds("Of the work in seconds")), json!(1));
    assert_eq!(of("delay_seconds", seconds("")), json!(1));
    let mut least = seconds("seconds");
    least["minimum"] = json!(5);
    assert_eq!(of("waitSeconds", least), json!(5));
    for (name, about) in [
        ("duration", "Of the meeting in minutes"),
        ("delay", "in milliseconds"),
        ("wait_timeout", "in seconds"),
        ("wait", "Maximum number of seconds to wait for the page"),
        (
            "timeout_seconds",
            "how long it may take at most, in seconds",
        ),
    ] {
        assert_eq!(of(name, seconds(about)), json!(10), "{name}: {about}");
    }
    let listed = json!({"enum": [5, 10], "default": 10, "description": "in seconds"});
    assert_eq!(of("duration", listed), json!(10));
    let shown = json!({"type": "number", "examples": [30], "description": "in seconds"});
    let shown = json!({"properties": {"duration": shown}, "required": ["duration"]});
    assert_eq!(args(&shown), json!({"duration": 30}), "no default");
}

#[test]
fn references_within_the_schema_are_followed_and_circles_end() {
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/X"}}, "required": ["x"],
        "$defs": {"X": {"enum": ["here"]}, "Y": {"$ref": "#/$defs/Y"},
            "Z": {"type": "object", "properties": {"z": {"$ref": "#/$defs/Z"}}, "required": ["z"]}}});
    assert_eq!(args(&schema), json!({"x": "here"}));
    for to in ["#/$defs/Y", "#/$defs/Z", "https://example.com/x.json"] {
        let mut schema = schema.clone();
        schema["properties"]["x"] = json!({"$ref": to});
        assert!(sample(&schema, Paths::default()).tries.is_empty(), "{to}");
    }
}

#[test]
fn paths_are_those_that_the_server_was_given() {
    let schema = |name: &str| json!({"properties": {name: {"type": "string"}}, "required": [name]});
    let paths = Paths {
        file: Some("/d/f"),
        folder: Some("/d"),
        either: Some("/e"),
    };
    for (name, value) in [
        ("filePath", "/d/f"),
        ("repo_path", "/d"),
        ("path", "/e"),
        ("file_url", "https://example.com/"),
    ] {
        assert_eq!(sample(&schema(name), paths).tries[0][name], value);
    }
    for name in ["path", "user_id", "command"] {
        let found = sample(&schema(name), Paths::default());
        assert!(found.tries.is_empty());
        assert_eq!(
            (&found.draft[name], found.blanks),
            (&json!("TODO"), vec![name.to_owned()])
        );
    }
}
