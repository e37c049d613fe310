use super::Document;
use crate::learned::status::{Status, generic_schema};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: &str = "2026-11-22T12:00:00Z";

fn generic(status: &mut Status) {
    status.schema = Some(generic_schema());
    status.last_adapter = Some("generic".to_owned());
    status.generic_count += 1;
}

fn after(text: &str, of: (&str, &str)) -> String {
    let mut document = match text {
        "" => Document::default(),
        text => Document::parse(text).unwrap(),
    };
    assert!(document.change(of, NOW, generic).unwrap());
    document.text().unwrap()
}

#[test]
fn a_new_store_has_the_form_that_the_documentation_shows() {
    assert_eq!(
        after("", ("files", "read")),
        r#"{
  "schema_version": 1,
  "servers": {
    "files": {
      "tools": {
        "read": {
          "outputSchema": {
            "type": "object",
            "properties": {
              "result": {
                "type": "string"
              }
            },
            "required": [
              "result"
            ]
          },
          "last_adapter": "generic",
          "consecutive_generic_count": 1,
          "updated_at": "2026-11-22T12:00:00Z"
        }
      }
    }
  }
}
"#
    );
}

#[test]
fn what_is_not_jellys_stays_to_the_byte_and_in_its_order() {
    let text = r#"{
  "$comment": "mine", "big": 123456789012345678901234567890, "half": 1.50,
  "servers": {
    "other": { "url": "x", "tools": {} , "list": [3, 1,   2] },
    "files": {
      "owner": { "team": ["a", "b"] },
      "tools": {
        "read": {
          "note": "keep \u00e9",
          "consecutive_generic_count": 3,
          "tags": [ "x", "y" ],
          "last_adapter": "generic"
        }
      },
      "z": null
    }
  },
  "last": true
}"#;
    let changed = after(text, ("files", "read"));
    for kept in [
        r#""big": 123456789012345678901234567890"#,
        r#""half": 1.50"#,
        r#""list": [3, 1,   2]"#,
        r#""owner": { "team": ["a", "b"] }"#,
        r#""note": "keep \u00e9""#,
        r#""tags": [ "x", "y" ]"#,
        r#""consecutive_generic_count": 4"#,
    ] {
        assert!(changed.contains(kept), "{kept} in\n{changed}");
    }
    let places: Vec<usize> = [
        "$comment",
        "big",
        "half",
        "\"servers\"",
        "other",
        "files",
        "owner",
        "\"read\"",
        "note",
        "consecutive",
        "tags",
        "last_adapter",
        "\"outputSchema",
        "updated_at",
        "\"z\"",
        "\"last\"",
    ]
    .map(|key| changed.find(key).unwrap())
    .to_vec();
    assert!(places.is_sorted(), "{places:?} in\n{changed}");
}

#[test]
fn names_are_keys_and_no_paths() {
    let tool = "a.b/c~d \"e\"";
    let text = after("", ("s.t/u", tool));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value["servers"]["s.t/u"]["tools"][tool]["last_adapter"],
        "generic"
    );
    let document = Document::parse(&text).unwrap();
    let (server, name, _) = document.statuses().next().unwrap();
    assert_eq!((server, name), ("s.t/u", tool));
}

#[test]
fn what_changes_nothing_is_not_noted() {
    let text = after("", ("s", "t"));
    let mut document = Document::parse(&text).unwrap();
    assert!(!document.change(("s", "t"), "later", |_| {}).unwrap());
    assert!(!document.change(("s", "u"), "later", |_| {}).unwrap());
    assert_eq!(document.text().unwrap(), text);
}

#[test]
fn what_is_no_store_is_refused_with_its_place() {
    for (text, why) in [
        (" \n", "it is empty; remove it"),
        ("{", "it is not JSON: EOF"),
        ("{} x", "it is not JSON: trailing"),
        ("// mine\n{}", "it is not JSON: expected value at line 1"),
        (
            "[]",
            "at its top: invalid type: sequence, expected a JSON object",
        ),
        (r#"{"servers": []}"#, "at `/servers`: invalid type"),
        (
            r#"{"servers": {"a/b": 1}}"#,
            "at `/servers/a~1b`: invalid type",
        ),
        (
            r#"{"servers": {"s": {"tools": {"t": [1]}}}}"#,
            "at `/servers/s/tools/t`",
        ),
        (
            r#"{"servers": {"s": {"tools": {"t": {"consecutive_generic_count": "2"}}}}}"#,
            "at `/servers/s/tools/t/consecutive_generic_count`: invalid type: string",
        ),
        (
            r#"{"servers": {"s": {"tools": {"t": {"override": 1}}}}}"#,
            "at `/servers/s/tools/t/override`",
        ),
        (r#"{"a": 1, "a": 2}"#, "the key `a` is given twice"),
        (
            r#"{"schema_version": 2}"#,
            "it is of a later version of jelly",
        ),
    ] {
        let error = Document::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Document::parse(&deep).is_err());
    let inside =
        format!(r#"{{"servers": {{"s": {{"tools": {{"t": {{"outputSchema": {deep}}}}}}}}}}}"#);
    assert!(Document::parse(&inside).is_err());
}

/// Any JSON in which jelly has no say.
fn other() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z./ é\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("x[a-z./~]{0,3}", inner), 0..4).prop_map(|entries| entries
                .into_iter()
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #[test]
    fn only_the_tool_that_changes_changes(
        top in other(), server in other(), tools in other(), tool in other(), name in "[a-z./~\"]{1,5}",
    ) {
        let object = |value: Value| match value {
            Value::Object(map) => map,
            other => serde_json::Map::from_iter([("xx".to_owned(), other)]),
        };
        let mut entry = object(tool);
        entry.insert("outputSchema".to_owned(), json!({"enum": [1, [2]]}));
        let mut servers = object(Value::Null);
        servers.remove("xx");
        let mut in_server = object(server);
        let mut all = serde_json::Map::new();
        all.insert("before".to_owned(), object(tools.clone()).into());
        all.insert(name.clone(), entry.into());
        in_server.insert("tools".to_owned(), all.into());
        servers.insert("s".to_owned(), in_server.into());
        let mut file = object(top);
        file.insert("servers".to_owned(), servers.into());
        let before = Value::from(file);

        let mut document = Document::parse(&before.to_string()).unwrap();
        let count = |status: &mut Status| status.generic_count += 1;
        prop_assert!(document.change(("s", &name), NOW, count).unwrap());
        let text = document.text().unwrap();
        let mut expected = before;
        let changed = &mut expected["servers"]["s"]["tools"][name.as_str()];
        changed["consecutive_generic_count"] = json!(1);
        changed["updated_at"] = json!(NOW);
        let now: Value = serde_json::from_str(&text).unwrap();
        // As text, since the order of keys is to be the same.
        prop_assert_eq!(now.to_string(), expected.to_string());
        prop_assert_eq!(Document::parse(&text).unwrap().text().unwrap(), text);
    }
}
