//! Templates and the scopes that resolve them.

use super::{Part, Template, TemplateError};
use crate::{Scope, Unresolved, resolve_json};
use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn scope() -> Scope {
    let vars = IndexMap::from([
        ("n".to_owned(), json!(7)),
        ("list".to_owned(), json!([1, "a"])),
        ("greeting".to_owned(), json!("hello ${n}")),
        ("broken".to_owned(), json!("${env:NOT_SET}")),
    ]);
    Scope::new(
        "/work".into(),
        "/tmp/it".into(),
        BTreeMap::from([
            ("HOME".to_owned(), "/home/u".to_owned()),
            ("EMPTY".to_owned(), String::new()),
        ]),
        BTreeMap::from([("web".to_owned(), 8080)]),
        &vars,
    )
}

fn resolve(raw: &str) -> Result<Value, Unresolved> {
    Template::parse(raw).unwrap().resolve(&scope(), "web")
}

#[test]
fn a_lone_reference_keeps_its_type_and_one_inside_a_string_becomes_text() {
    assert_eq!(resolve("${n}").unwrap(), json!(7));
    assert_eq!(resolve("${list}").unwrap(), json!([1, "a"]));
    assert_eq!(resolve("n=${n}, ${list}").unwrap(), json!("n=7, [1,\"a\"]"));
    assert_eq!(
        resolve("${workspace}/${env:HOME}").unwrap(),
        json!("/work//home/u")
    );
    assert_eq!(resolve("${port}").unwrap(), json!(8080));
    assert_eq!(
        resolve("${tmp}:${port:web}").unwrap(),
        json!("/tmp/it:8080")
    );
}

#[test]
fn variables_may_use_the_variables_before_them() {
    assert_eq!(resolve("${greeting}!").unwrap(), json!("hello 7!"));
}

#[test]
fn two_dollars_before_a_brace_are_a_literal_reference() {
    assert_eq!(resolve("$${n} $5 $$ $${").unwrap(), json!("${n} $5 $$ ${"));
    assert_eq!(resolve("").unwrap(), json!(""));
}

#[test]
fn a_name_without_a_value_says_which() {
    assert_eq!(
        resolve("${env:NOT_SET}"),
        Err(Unresolved::Env("NOT_SET".into()))
    );
    assert_eq!(
        resolve("x${secret:KEY}"),
        Err(Unresolved::Secret("KEY".into()))
    );
    assert_eq!(
        resolve("x${secret:EMPTY}"),
        Err(Unresolved::EmptySecret("EMPTY".into()))
    );
    assert_eq!(resolve("x${env:EMPTY}").unwrap(), json!("x"));
    assert_eq!(resolve("${nope}"), Err(Unresolved::Name("nope".into())));
    assert_eq!(resolve("${port:db}"), Err(Unresolved::Port("db".into())));
    assert_eq!(
        resolve("${broken}"),
        Err(Unresolved::Env("NOT_SET".into())),
        "the cause, not the variable"
    );
}

#[test]
fn what_is_no_reference_is_an_error() {
    let error = |raw: &str| Template::parse(raw).unwrap_err();
    assert!(matches!(error("a ${b"), TemplateError::Unclosed { .. }));
    assert!(matches!(error("${}"), TemplateError::Empty { .. }));
    assert!(matches!(error("${env:}"), TemplateError::Empty { .. }));
    assert!(matches!(error("${ n }"), TemplateError::BadName { .. }));
    assert!(matches!(
        error("${evn:HOME}"),
        TemplateError::UnknownPrefix { .. }
    ));
    assert_eq!(error("see ${env:} there").reference(), "${env:}");
}

#[test]
fn json_is_resolved_deeply_but_for_its_keys() {
    let value = json!({"${n}": ["${n}", {"a": "x${n}"}], "b": null});
    assert_eq!(
        resolve_json(&value, &scope(), "web").unwrap(),
        json!({"${n}": [7, {"a": "x7"}], "b": null})
    );
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        "[^$]{1,6}".prop_map(Part::Text),
        Just(Part::Workspace),
        Just(Part::Tmp),
        "[A-Z_]{1,5}".prop_map(Part::Env),
        "[A-Z_]{1,5}".prop_map(Part::Secret),
        proptest::option::of("[a-z-]{1,5}").prop_map(Part::Port),
        "x[a-z0-9_.-]{0,5}".prop_map(Part::Name),
    ]
}

proptest! {
    #[test]
    fn what_parts_write_parses_to_the_same_parts(parts in proptest::collection::vec(part(), 0..6)) {
        let raw: String = parts.iter().map(Part::reference).collect();
        let parsed = Template::parse(&raw).unwrap();
        // Neighbouring texts are one text.
        let mut merged: Vec<Part> = Vec::new();
        for part in parts {
            match (merged.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => merged.push(part),
            }
        }
        prop_assert_eq!(parsed.parts, merged);
    }

    #[test]
    fn a_literal_resolves_to_itself(text in "[${}a-c ]{0,12}") {
        let template = Template::literal(&text);
        prop_assert_eq!(
            template.resolve_str(&Scope::default(), "").unwrap(),
            text.clone()
        );
        // What a `$` stands before an escape is the one text that can't
        // be written back, so the raw form is compared where there is none.
        if !text.contains("$$") {
            let again = Template::parse(&template.raw).unwrap();
            prop_assert_eq!(again.resolve_str(&Scope::default(), "").unwrap(), text);
        }
    }

    #[test]
    fn parsing_never_panics(text in ".*") {
        let _ = Template::parse(&text);
    }
}
