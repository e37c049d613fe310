//! The tree, for YAML and JSON.

use super::parse;
use crate::PlanSource;
use jelly_base::text::same;
use proptest::prelude::*;
use serde_json::{Value, json};

fn source(path: &str, text: &str) -> PlanSource {
    PlanSource {
        path: path.into(),
        text: text.into(),
        variant: None,
    }
}

#[track_caller]
fn value(path: &str, text: &str) -> Value {
    let source = source(path, text);
    let (root, troubles) = parse(&source);
    assert_eq!(troubles, [], "{text}");
    root.unwrap().to_value()
}

/// The messages, each with the text it points at.
fn troubles(path: &str, text: &str) -> Vec<(String, String)> {
    let (_, troubles) = parse(&source(path, text));
    troubles
        .into_iter()
        .map(|trouble| (trouble.message, text[trouble.span.range()].to_owned()))
        .collect()
}

#[track_caller]
fn refused(path: &str, text: &str, message: &str, at: &str) {
    let found = troubles(path, text);
    assert!(
        found
            .iter()
            .any(|(said, place)| said.contains(message) && place == at),
        "{found:?}"
    );
}

#[test]
fn spans_are_the_bytes_of_values_and_keys() {
    let text = "é:\n  - \"a\\n\"\n  - { k: 'v' }\n";
    let source = source("p.yaml", text);
    let (root, _) = parse(&source);
    let root = root.unwrap();
    let entry = root.entry("é").unwrap();
    assert_eq!(&text[entry.key_span.range()], "é");
    assert_eq!(
        &text[entry.value.span.range()],
        "- \"a\\n\"\n  - { k: 'v' }"
    );
    let super::Data::List(items) = &entry.value.data else {
        panic!("no list");
    };
    assert_eq!(&text[items[0].span.range()], "\"a\\n\"");
    assert_eq!(&text[items[1].span.range()], "{ k: 'v' }");
    let value = &items[1].entry("k").unwrap().value;
    assert_eq!(&text[value.span.range()], "'v'");
}

#[test]
fn layouts_of_every_kind_are_read() {
    assert_eq!(
        value("p.yaml", "\u{feff}a: 1\r\nb:\r\n  - x\r\n"),
        json!({"a": 1, "b": ["x"]})
    );
    assert_eq!(
        value("p.yaml", "a: |\n  x\n  y\nb: >-\n  p\n  q\n"),
        json!({"a": "x\ny\n", "b": "p q"})
    );
    assert_eq!(value("p.yaml", "---\na: ~\n...\n"), json!({"a": null}));
    assert_eq!(
        value("p.yaml", "a: !!str 5\nb: ! 6\nc: !!float 1\n"),
        json!({"a": "5", "b": "6", "c": 1})
    );
    assert_eq!(
        value("p.yaml", "1: a\ntrue: b\n"),
        json!({"1": "a", "true": "b"})
    );
    assert_eq!(
        value("p.yaml", "a: 012\nb: 1_000\nc: yes\n"),
        json!({"a": "012", "b": "1_000", "c": "yes"})
    );
}

#[test]
fn merge_keys_and_aliases_bring_their_values() {
    let text = "base: &b { t: 1, u: 2 }\nx: { <<: *b, t: 3 }\ny: { <<: [*b, { v: 4, t: 5 }] }\nz: *b\nq: { \"<<\": 1 }\n";
    assert_eq!(
        value("p.yaml", text),
        json!({
            "base": {"t": 1, "u": 2},
            "x": {"t": 3, "u": 2},
            "y": {"t": 1, "u": 2, "v": 4},
            "z": {"t": 1, "u": 2},
            "q": {"<<": 1},
        })
    );
    refused("p.yaml", "x: { <<: 5 }\n", "takes a map", "5");
}

#[test]
fn an_anchor_that_is_referred_to_and_a_tag_that_names_a_kind_may_stand_before_nothing() {
    for (text, wanted) in [
        ("{ a: &n , b: *n }\n", json!({"a": null, "b": null})),
        ("a: &n\nb: *n\n", json!({"a": null, "b": null})),
        ("{ a: &n !!str , b: *n }\n", json!({"a": "", "b": ""})),
        ("{ a: &n !!null , b: *n }\n", json!({"a": null, "b": null})),
        ("{ a: ! , b: 1 }\n", json!({"a": "", "b": 1})),
    ] {
        assert_eq!(value("p.yaml", text), wanted, "{text}");
    }
    refused("p.yaml", "a: [-y, &x]\n", "needs quotes", "&x");
    refused("p.yaml", "a: [&x, b, \"*xy\"]\n", "needs quotes", "&x");
    refused("p.yaml", "a: [!foo]\n", "needs quotes", "!foo");
}

#[test]
fn what_yaml_lets_through_and_a_plan_must_not_is_refused() {
    refused(
        "p.yaml",
        "a: 1\nb: 2\na: 3\n",
        "the key `a` is given twice",
        "a",
    );
    refused("p.yaml", "a: 1\n---\nb: 2\n", "a second document", "---");
    refused("p.yaml", "a: .inf\n", "JSON has no such number", ".inf");
    refused("p.yaml", "a: !env X\n", "the tag `!env`", "X");
    refused("p.yaml", "a: !!int x\n", "is not what the tag", "x");
    refused("p.yaml", "{a: 1}: 2\n", "a key must be a word", "{");
    refused("p.yaml", "a: &x [*x]\n", "a part of", "*x");
    refused(
        "p.yaml",
        "a: *nope\n",
        "no anchor is called `nope`",
        "*nope",
    );
    let many: String = (0..30).map(|n| format!("k{n}: 1\n")).collect();
    refused("p.yaml", &format!("{many}k7: 2\n"), "the key `k7`", "k7");
}

#[test]
fn documents_that_grow_when_they_are_read_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let found = troubles("p.yaml", &bomb);
    assert!(found[0].0.contains("more than"), "{found:?}");
    for deep in [
        "[".repeat(20_000),
        "{a: ".repeat(20_000),
        "- ".repeat(20_000),
    ] {
        assert_eq!(troubles("p.yaml", &deep).len(), 1);
    }
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(troubles("p.json", &deep).len(), 1);
    let mut chain = String::from("a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n");
    for level in 1..20 {
        chain.push_str(&format!(
            "a{level}: &a{level} [[[[[[[[[[*a{}]]]]]]]]]]\n",
            level - 1
        ));
    }
    assert!(troubles("p.yaml", &chain)[0].0.contains("nested deeper"));
}

#[test]
fn json_is_read_as_json() {
    let text =
        "{\t\"a\\/b\":\t[1, -0, 1.5e3, true, null],\n\t\"\\ud83d\\ude00\": \"\u{7f}\\u0000\" }";
    assert_eq!(
        value("p.json", text),
        serde_json::from_str::<Value>(text).unwrap()
    );
    // YAML reads it, too, but for the raw control character.
    assert_eq!(
        value("p.yaml", &text.replace('\u{7f}', "")),
        serde_json::from_str::<Value>(&text.replace('\u{7f}', "")).unwrap()
    );
    refused("p.json", "{\"a\": 1, \"a\": 2}", "is given twice", "\"a\"");
    refused("p.json", "{\"a\": 1,}", "trailing comma", "}");
    refused("p.json", "{\n  \"a\": x\n}", "expected value", "x");
    refused("p.json", "{\"a\": 1} // x", "trailing characters", "/");
    refused("p.json", "[\"\\ud83d\"]", "hex escape", "\"");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON", |f| f.is_finite())
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,5}", inner, 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_json_document_is_read_as_serde_json_reads_it(wanted in any_json(), pretty in any::<bool>()) {
        let text = if pretty {
            serde_json::to_string_pretty(&wanted).unwrap()
        } else {
            wanted.to_string()
        };
        let source = source("p.json", &text);
        let (root, troubles) = parse(&source);
        prop_assert_eq!(troubles, vec![]);
        prop_assert!(same(&root.unwrap().to_value(), &wanted));
    }

    #[test]
    fn parsing_never_panics_and_spans_stay_inside_the_text(
        text in "[a-c0:\\-\\[\\]{}&*|>#'\"!?%<\\n\\t\\r ,é]{0,60}", json in any::<bool>()
    ) {
        let path = if json { "p.json" } else { "p.yaml" };
        let source = source(path, &text);
        let (root, troubles) = parse(&source);
        for trouble in troubles {
            prop_assert!(text.get(trouble.span.range()).is_some(), "{:?}", trouble);
        }
        if let Some(root) = root {
            prop_assert!(text.get(root.span.range()).is_some());
        }
    }
}
