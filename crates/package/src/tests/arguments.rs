//! What is given, and what it comes to.

use super::{argv, given, of, server, troubles, words};
use crate::{Given, Values, resolve};
use indexmap::IndexMap;
use serde_json::{Value, json};

#[test]
fn arguments_come_to_words_as_the_registry_says() {
    let named = |extra: Value| {
        let mut argument = json!({"type": "named", "name": "--x", "description": "d"});
        let fields = argument.as_object_mut().unwrap();
        fields.extend(extra.as_object().unwrap().clone());
        json!([argument])
    };
    for (arguments, values, expected) in [
        // Fixed, with a default, given, left out.
        (named(json!({"value": "v"})), json!({}), &["--x", "v"][..]),
        (named(json!({"default": "d"})), json!({}), &["--x", "d"]),
        (
            named(json!({"default": "d"})),
            json!({"--x": "g"}),
            &["--x", "g"],
        ),
        (
            named(json!({"default": "d"})),
            json!({"x": "g"}),
            &["--x", "g"],
        ),
        (named(json!({"default": "d"})), json!({"--x": []}), &[]),
        (named(json!({})), json!({}), &[]),
        (named(json!({})), json!({"--x": null}), &["--x"]),
        // A required one with a default is not missing.
        (
            named(json!({"isRequired": true, "default": "d"})),
            json!({}),
            &["--x", "d"],
        ),
        // Booleans and numbers become text.
        (
            named(json!({"format": "boolean"})),
            json!({"--x": true}),
            &["--x", "true"],
        ),
        (
            named(json!({"format": "boolean"})),
            json!({"--x": "false"}),
            &["--x", "false"],
        ),
        (
            named(json!({"format": "number"})),
            json!({"--x": 8080}),
            &["--x", "8080"],
        ),
        (
            named(json!({"format": "number"})),
            json!({"--x": "-1.5e3"}),
            &["--x", "-1.5e3"],
        ),
        (
            named(json!({"format": "filepath"})),
            json!({"--x": "/a b/c"}),
            &["--x", "/a b/c"],
        ),
        (
            named(json!({"choices": ["a", "b"]})),
            json!({"--x": "b"}),
            &["--x", "b"],
        ),
        // Arrays repeat the flag; commas are a part of the value.
        (
            named(json!({"isRepeated": true})),
            json!({"--x": ["a", "b,c"]}),
            &["--x", "a", "--x", "b,c"],
        ),
        (
            named(json!({"isRepeated": true})),
            json!({"--x": "a,b"}),
            &["--x", "a,b"],
        ),
        (named(json!({})), json!({"--x": "a, b"}), &["--x", "a, b"]),
        // But where splitting is asked for; what is empty is nothing.
        (
            named(json!({"isRepeated": true})),
            json!({"--x": {"value": "a,, b ,", "split": ","}}),
            &["--x", "a", "--x", "b"],
        ),
        (
            named(json!({"isRepeated": true})),
            json!({"--x": ["a", "", " ", "b"]}),
            &["--x", "a", "--x", "b"],
        ),
        (
            named(json!({"default": "d"})),
            json!({"--x": ""}),
            &["--x", "d"],
        ),
        (named(json!({})), json!({"--x": " "}), &[]),
        // No shell: nothing is split, quoted or expanded.
        (
            named(json!({})),
            json!({"--x": "a b; rm -rf $HOME `x`"}),
            &["--x", "a b; rm -rf $HOME `x`"],
        ),
        // Positional ones.
        (
            json!([{"type": "positional", "value": "mcp"}, {"type": "positional", "value": "start"}]),
            json!({}),
            &["mcp", "start"],
        ),
        (
            json!([{"type": "positional", "valueHint": "dir", "isRequired": true, "isRepeated": true, "default": "/d"}]),
            json!({"dir": ["/a", "/b c"]}),
            &["/a", "/b c"],
        ),
        (
            json!([{"type": "positional", "valueHint": "dir", "isRequired": true, "default": "/d"}]),
            json!({}),
            &["/d"],
        ),
        // Variables: those that are none stay as they are, and what a value
        // brings is text.
        (
            json!([{"type": "named", "name": "-e", "value": "T={t}&{u}&{t}", "variables": {"t": {"default": "{t}"}}}]),
            json!({}),
            &["-e", "T={t}&{u}&{t}"],
        ),
        (
            json!([{"type": "named", "name": "-e", "value": "T={t}", "variables": {"t": {"isRequired": true, "choices": ["pg", "my"]}}}]),
            json!({"t": "pg"}),
            &["-e", "T=pg"],
        ),
        (
            json!([{"type": "named", "name": "-e", "value": "{a}:{b}", "isRepeated": true, "variables": {"a": {"isRequired": true}, "b": {"default": "/p"}}}]),
            json!({"-e": [{"a": "1"}, {"a": "2", "b": "/q"}]}),
            &["-e", "1:/p", "-e", "2:/q"],
        ),
        // Nothing is given for what needs nothing.
        (
            json!([{"type": "named", "name": "-e", "value": "T={t}", "variables": {"t": {}}}]),
            json!({}),
            &[],
        ),
    ] {
        let words = words(arguments.clone(), values.clone()).unwrap();
        assert_eq!(words, expected, "{arguments} with {values}");
    }
}

#[test]
fn everything_that_is_in_the_way_is_said_at_once() {
    let arguments = json!([
        {"type": "named", "name": "--a", "isRequired": true, "description": "the A"},
        {"type": "named", "name": "--b", "isRequired": true, "default": "b"},
        {"type": "named", "name": "--n", "format": "number"},
        {"type": "named", "name": "--f", "format": "boolean"},
        {"type": "named", "name": "--c", "choices": ["x", "y"]},
        {"type": "named", "name": "--s", "isSecret": true, "choices": ["x"]},
        {"type": "named", "name": "--one", "description": "d"},
        {"type": "named", "name": "--fixed", "value": "v"},
        {"type": "named", "name": "--bare"},
        {"type": "named", "name": "-v", "value": "{src}:{dst}", "variables": {"src": {"isRequired": true}, "dst": {}}},
        {"type": "positional", "valueHint": "dir", "isRequired": true},
    ]);
    let values = json!({
        "--n": "0x1f", "--f": "yes", "--c": "z", "--s": "hunter2", "--one": ["1", "2"],
        "--fixed": "w", "--bare": "x", "--nmu": 1, "dir": " ",
    });
    assert_eq!(
        troubles(arguments, values),
        [
            "the package's argument `--a` is required and has no value (the A)",
            "`--n`: `0x1f` is no number",
            "`--f`: `yes` is no boolean",
            "`--c`: `z` is not one of its choices",
            "`--s`: its value (secret) is not one of its choices",
            "`--one` can be given once, and has 2 values",
            "`--fixed` is fixed by the package, to `v`",
            "`--bare` is a flag that takes no value",
            "the variable `src` of `-v` is required and has no value",
            "the package's argument `dir` is required and its value is empty",
            "the package has no argument `--nmu`",
        ]
    );
}

#[test]
fn an_unknown_name_is_answered_by_a_close_one() {
    let arguments = json!([{"type": "named", "name": "--timeout", "description": "d"}]);
    let troubles = words(arguments.clone(), json!({"--timeuot": "1"})).unwrap_err();
    assert_eq!(troubles[0].hint().unwrap(), "did you mean `--timeout`?");
    let troubles = words(arguments, json!({"--other": "1"})).unwrap_err();
    assert!(
        troubles[0]
            .hint()
            .unwrap()
            .starts_with("it takes `--timeout`")
    );
}

#[test]
fn of_a_package_that_declares_nothing_flags_go_as_they_are() {
    let values = json!({"--root": "/a b", "-v": null, "verbose": true, "--no": false, "--t": ["1", "2"], "--k=": "v"});
    let package = of(&server(json!([])));
    let resolved = resolve(&package, &given(&values)).unwrap();
    assert_eq!(
        argv(&resolved)[3..],
        [
            "--root",
            "/a b",
            "-v",
            "--verbose",
            "--t",
            "1",
            "--t",
            "2",
            "--k=v"
        ]
    );
    assert_eq!(
        resolved.warnings[0].0,
        "the flag `verbose` has no dashes; `--verbose` is passed"
    );
}

#[test]
fn secrets_are_known_wherever_they_stand() {
    let arguments = json!([
        {"type": "named", "name": "--api-key", "isRequired": true, "isSecret": true},
        {"type": "named", "name": "--auth", "value": "Bearer {token}", "variables": {"token": {"isRequired": true, "isSecret": true}}},
        {"type": "positional", "valueHint": "pin", "isSecret": true, "default": "0000"},
    ]);
    let values = given(&json!({"--api-key": "k1", "token": "t1"}));
    let resolved = resolve(&of(&server(arguments)), &values).unwrap();
    let secrets: Vec<(&str, &str)> = resolved
        .launch
        .secrets
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        secrets,
        [("API_KEY", "k1"), ("TOKEN", "t1"), ("PIN", "0000")]
    );
}

#[test]
fn two_arguments_with_one_name_have_keys_of_their_own() {
    let package = of(&server(json!([
        {"type": "named", "name": "-e", "description": "one"},
        {"type": "named", "name": "-e", "description": "two"},
    ])));
    let resolved = resolve(&package, &given(&json!({"-e#2": "b", "-e": "a"}))).unwrap();
    assert_eq!(argv(&resolved)[3..], ["-e", "a", "-e", "b"]);
}

#[test]
fn a_word_that_moves_up_is_said() {
    let package = of(&server(json!([
        {"type": "positional", "valueHint": "from"},
        {"type": "positional", "valueHint": "to"},
    ])));
    let resolved = resolve(&package, &given(&json!({"to": "x"}))).unwrap();
    assert_eq!(
        resolved.warnings[0].0,
        "`from` is left out, so `to` stands in its place"
    );
}

#[test]
fn what_is_not_known_yet_is_no_trouble() {
    let arguments = json!([
        {"type": "named", "name": "--n", "format": "number", "isRequired": true},
        {"type": "named", "name": "--m", "isRequired": true, "isRepeated": true},
    ]);
    let values = Values {
        arguments: IndexMap::from([
            ("--n".to_owned(), Given::Open),
            ("--m".to_owned(), Given::List(vec![Given::Open])),
        ]),
        ..Values::default()
    };
    assert!(resolve(&of(&server(arguments)), &values).is_ok());
}

#[test]
fn what_is_required_is_not_left_out_by_an_empty_list() {
    let url = json!([{
        "type": "named", "name": "--url", "isRequired": true, "value": "http://{host}",
        "variables": {"host": {"isRequired": true}},
    }]);
    let missing = troubles(url.clone(), json!({"--url": []}));
    assert!(missing[0].contains("`host` of `--url`"), "{missing:?}");
    assert_eq!(
        words(url, json!({"host": "h"})).unwrap(),
        ["--url", "http://h"]
    );
}

#[test]
fn a_secret_default_is_quoted_nowhere() {
    let definition = server(json!([{
        "type": "named", "name": "--key", "isSecret": true, "default": "sekrit", "format": "number",
    }]));
    let mut definition = of(&definition);
    let variable = json!({
        "registryType": "npm", "identifier": "s",
        "environmentVariables": [{"name": "K", "value": "sekrit", "isSecret": true}],
    });
    definition.environment_variables = of(&variable).environment_variables;
    let values = Values {
        environment: super::env(&[("K", "other")]),
        ..Values::default()
    };
    let warnings = resolve(&definition, &values).unwrap().warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(!format!("{warnings:?}").contains("sekrit"), "{warnings:?}");
}

#[test]
fn keys_stay_apart_and_are_numbered_in_one_pass() {
    let many = || json!({"type": "named", "name": "--a", "description": "d"});
    let mut arguments: Vec<Value> = (0..20_000).map(|_| many()).collect();
    arguments.insert(
        1,
        json!({"type": "named", "name": "--a#2", "description": "d"}),
    );
    let package = of(&server(Value::Array(arguments)));
    let keys: Vec<String> = package.inputs().into_iter().map(|i| i.key).collect();
    assert_eq!(keys[..4], ["--a", "--a#2", "--a#3", "--a#4"]);
    let distinct: std::collections::HashSet<&String> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
}
