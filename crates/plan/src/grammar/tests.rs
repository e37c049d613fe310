//! The schema and the loader say the same.

use super::*;
use crate::syntax;
use crate::{PlanSource, check};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| plan_schema().to_value());

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&SCHEMA).unwrap());

/// The mappings that the loader reads.
static READ: [&Mapping; 25] = [
    &PLAN,
    &BUDGETS,
    &HOOKS,
    &MATRIX,
    &DEFAULTS,
    &SERVER,
    &STARTUP,
    &SERVICE,
    &READY,
    &HTTP,
    &REFUSES,
    &AUTH,
    &CLIENT_CREDENTIALS,
    &WORKLOAD,
    &STEP,
    &CONDITION,
    &UNTIL,
    &ANSWER,
    &RPC_ERROR,
    &NOTIFICATION,
    &COMPLETE,
    &SUBSCRIPTION,
    &EXPECT,
    &ERROR_EXPECT,
    &REDACTION,
];

/// A definition is drawn where it is needed; no mapping is left over.
#[test]
fn the_schema_has_every_mapping_with_its_keys() {
    for mapping in READ {
        let place = match mapping.name {
            "" => "/properties".to_owned(),
            name => format!("/$defs/{name}/properties"),
        };
        let drawn = SCHEMA.pointer(&place).and_then(Value::as_object).unwrap();
        let keys: Vec<&str> = mapping.all_keys().map(|key| key.name).collect();
        assert_eq!(drawn.keys().collect::<Vec<_>>(), keys, "{}", mapping.name);
    }
}

#[test]
fn a_key_without_a_name_is_no_other_word_for_anything() {
    assert_eq!(STEP.hint(""), None);
    assert_eq!(Operator::meant_by(""), None);
    assert_eq!(STEP.hint("call").unwrap(), "did you mean `tool`?");
}

/// Every plan that lies in the repository.
fn plans() -> Vec<PlanSource> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("plans");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    paths.sort();
    assert!(paths.len() > 5, "{paths:?}");
    paths
        .iter()
        .map(|path| PlanSource::read(path).unwrap())
        .chain([everything()])
        .collect()
}

/// A plan with every key there is.
fn everything() -> PlanSource {
    PlanSource {
        path: "everything.yaml".into(),
        text: include_str!("everything.yaml").into(),
        variant: None,
    }
}

fn value(source: &PlanSource) -> Value {
    let (root, troubles) = syntax::parse(source);
    assert!(troubles.is_empty());
    root.unwrap().to_value()
}

fn as_plan(value: &Value) -> PlanSource {
    PlanSource {
        path: "plan.json".into(),
        text: value.to_string().into(),
        variant: None,
    }
}

#[test]
fn the_plans_of_the_repository_fit_the_schema() {
    for plan in plans() {
        check(plan.clone()).unwrap_or_else(|error| panic!("{error}"));
        let errors: Vec<String> = VALIDATOR
            .iter_errors(&value(&plan))
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", plan.path.display());
    }
}

#[test]
fn the_plan_with_everything_has_every_key() {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut rest = vec![value(&everything())];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(map) => {
                used.extend(map.keys().cloned());
                rest.extend(map.into_iter().map(|(_, value)| value));
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    for mapping in READ {
        for key in mapping.all_keys() {
            assert!(
                used.contains(key.name),
                "crates/plan/src/grammar/everything.yaml lacks `{}` of {}",
                key.name,
                mapping.what
            );
        }
    }
}

/// A place in a document.
fn places(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
    found.push(at);
}

/// Maps whose keys are the plan's own, and values that are anything.
fn is_free(at: &str) -> bool {
    let anything = [
        "/vars",
        "/args",
        "/result",
        "/data",
        "/equals",
        "/not_equals",
        "/contains",
    ];
    let more = [
        "/not_contains",
        "/one_of",
        "/schema",
        "/capabilities",
        "/env",
        "/headers",
        "/package_args",
        "/cases",
        "/body",
    ];
    let by_name = ["/capture"];
    let held = |part: &str| at.contains(&format!("{part}/")) || at.ends_with(part);
    let named = at == "/servers" || at == "/matrix/servers";
    named || anything.into_iter().chain(more).chain(by_name).any(held)
}

#[test]
fn an_unknown_key_is_refused_by_both_wherever_it_stands() {
    let whole = value(&everything());
    let mut all = Vec::new();
    places(&whole, String::new(), &mut all);
    let mut tried = 0;
    for at in all {
        let mut changed = whole.clone();
        let Some(Value::Object(map)) = changed.pointer_mut(&at) else {
            continue;
        };
        if is_free(&at) {
            continue;
        }
        map.insert("no_such_key".to_owned(), json!(1));
        assert!(
            check(as_plan(&changed)).is_err(),
            "jelly check takes it at {at}"
        );
        assert!(!VALIDATOR.is_valid(&changed), "the schema takes it at {at}");
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
}

/// Values of the kinds that a place may be given instead of its own.
fn others() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..70_000).prop_map(Value::from),
        "[a-z$./ ]{0,12}".prop_map(Value::from),
        Just(json!("${greeting}")),
        Just(json!("5s")),
        Just(json!([])),
        Just(json!(["x"])),
        Just(json!([{}])),
        Just(json!({})),
        Just(json!({"x": "y"})),
    ]
}

/// What was done to a plan.
fn mutated(whole: &Value, at: &str, other: &Value, remove: bool) -> Option<Value> {
    let mut changed = whole.clone();
    let (parent, key) = at.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    match (changed.pointer_mut(parent)?, remove) {
        (Value::Object(map), true) => {
            map.shift_remove(&key)?;
        }
        (Value::Object(map), false) => {
            map.insert(key, other.clone());
        }
        (Value::Array(items), true) => {
            items.remove(key.parse().ok()?);
        }
        (Value::Array(items), false) => {
            items[key.parse::<usize>().ok()?] = other.clone();
        }
        _ => return None,
    }
    Some(changed)
}

proptest! {
    /// What an editor marks as wrong, jelly refuses: the schema is never the
    /// stricter one. The loader is, by what a schema can't say: names that
    /// must be known, keys that mean nothing beside others.
    #[test]
    fn what_the_schema_refuses_the_loader_refuses(
        pick in any::<prop::sample::Index>(),
        other in others(),
        remove in prop::bool::weighted(0.2),
    ) {
        let whole = value(&everything());
        let mut all = Vec::new();
        places(&whole, String::new(), &mut all);
        let at = pick.get(&all);
        if let Some(changed) = mutated(&whole, at, &other, remove)
            && !VALIDATOR.is_valid(&changed)
        {
            prop_assert!(
                check(as_plan(&changed)).is_err(),
                "the schema refuses {other} at {at} (removed: {remove}), and jelly check takes it"
            );
        }
    }

    /// A value of another JSON type is refused by both, wherever one type is
    /// wanted.
    #[test]
    fn what_the_loader_refuses_for_its_type_the_schema_refuses(
        pick in any::<prop::sample::Index>(),
        other in others(),
    ) {
        let whole = value(&everything());
        let mut all = Vec::new();
        places(&whole, String::new(), &mut all);
        let at = pick.get(&all);
        let Some(changed) = mutated(&whole, at, &other, false) else {
            return Ok(());
        };
        let Err(error) = check(as_plan(&changed)) else {
            return Ok(());
        };
        // What a case holds goes anywhere, and its name is no variable.
        if at.contains("/cases/") {
            return Ok(());
        }
        // "expected a map, found a list": where the kind is what is wrong.
        let of_kind = |message: &str| message.starts_with("expected ") && message.contains(", found ");
        if error.problems().iter().all(|problem| of_kind(&problem.message)) {
            prop_assert!(
                !VALIDATOR.is_valid(&changed),
                "the schema takes {other} at {at}: {error}"
            );
        }
    }
}

#[test]
fn both_refuse_what_is_no_plan_at_all() {
    for text in ["null", "1", "[]", "{}", r#"{"version": 2}"#] {
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(!VALIDATOR.is_valid(&value) && check(as_plan(&value)).is_err());
    }
}
