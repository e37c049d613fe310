use super::{Beside, ResultSettings, definitions, step_facts};
use crate::triage_loop::{EarlierStep, Foundations, Ran, StepFacts};
use indexmap::IndexMap;
use jelly_plan::{Plan, PlanSource, load_with};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// All that steps rest on.
#[derive(Clone)]
struct World {
    plan: Value,
    given: IndexMap<String, Value>,
    env: BTreeMap<String, String>,
    snapshots: BTreeMap<String, Option<String>>,
    workspace: PathBuf,
    settings: ResultSettings,
    identity: String,
    ran: BTreeMap<String, Ran>,
}

/// Step `it` is what the tests are about; `late` and its server stand behind.
fn world() -> World {
    let plan = json!({
        "version": 1,
        "name": "smoke",
        "wire": "strict",
        "vars": { "mode": "${env:MODE}", "who": "me", "late": "later" },
        "budgets": { "retries": 2, "deadline": "10m" },
        "hooks": { "fix_tests": ["./fix.sh"], "refine_code": ["./refine.sh"] },
        "servers": {
            "one": {
                "command": "node", "args": ["server.js", "--mode=${mode}"], "cwd": "src",
                "env": { "LEVEL": "${env:LEVEL}", "API_KEY": "${secret:KEY}", "PLACE": "${env:PLACE}",
                         "TOKEN": "literal-s3cr3t-of-one" },
                "protocol": "2025-06-18", "adapt": false, "wire": "lenient",
                "capabilities": { "roots": { "listChanged": false } },
                "answers": [{ "method": "roots/list", "result": { "roots": [] } }],
                "startup_timeout": "30s", "request_timeout": "20s", "shutdown_timeout": "1s"
            },
            "two": {
                "url": "http://127.0.0.1:${port}/mcp", "command": "two",
                "args": ["${port}"], "env": { "PORT": "${port}" }, "headers": { "X-Who": "${who}" },
                "auth": { "issuer": "https://auth.example.org", "client_credentials": { "client_id": "me", "client_secret": "${secret:CLIENT}",
                                                  "scopes": ["read"] } }
            },
            "other": { "command": "other" }
        },
        "setup": [
            { "id": "up", "name": "up", "server": "two", "tool": "reset", "args": { "all": true } }
        ],
        "steps": [
            { "id": "first", "server": "one", "tool": "write", "args": { "n": 1, "list": ["a"] },
              "expect": { "text": { "contains": "ok" } }, "capture": { "got": "$.content" } },
            { "id": "ask", "server": "two", "read": "note://x",
              "answers": [{ "method": "sampling/createMessage", "result": { "role": "user", "model": "m", "content": { "type": "text", "text": "${who}" } },
                            "expect": [{ "path": "$.maxTokens", "ge": 1 }] }] },
            { "id": "it", "name": "the step", "tags": ["slow"], "timeout": "5s", "server": "one",
              "tool": "read", "args": { "of": "${got}", "dir": "${workspace}/a", "tmp": "${tmp}" },
              "log_level": "info",
              "expect": {
                  "text": { "snapshot": "text", "redact": ["timestamp"] },
                  "json": [{ "path": "$.a", "equals": "${env:WANT}" }],
                  "structured": { "type": "object" },
                  "duration": { "lt": 900 }, "stderr": { "not_contains": "panic" },
                  "notifications": [{ "method": "notifications/message", "within": "2s",
                                      "count": { "ge": 1 } }]
              } },
            { "id": "late", "server": "other", "tool": "later", "args": { "v": "${late}" } }
        ],
        "teardown": [{ "id": "down", "server": "one", "tool": "clean" }]
    });
    let env = [
        ("MODE", "fast"),
        ("LEVEL", "3"),
        ("WANT", "w"),
        ("KEY", "k1"),
        ("CLIENT", "c1"),
        ("PLACE", "/home/ci/checkout/data"),
        ("UNUSED", "1"),
    ];
    World {
        plan,
        given: IndexMap::new(),
        env: env.map(|(name, value)| (name.into(), value.into())).into(),
        snapshots: [("text".to_owned(), Some("digest".to_owned()))].into(),
        workspace: "/home/ci/checkout".into(),
        settings: ResultSettings {
            adapt: true,
            schemas: [("one".to_owned(), [("read".to_owned(), json!({}))].into())].into(),
            ..ResultSettings::default()
        },
        identity: "plans/smoke.json".into(),
        ran: BTreeMap::new(),
    }
}

impl World {
    fn load(&self) -> Option<Plan> {
        let source = PlanSource {
            path: "plan.json".into(),
            text: self.plan.to_string().into(),
            variant: None,
        };
        load_with(source, &self.given).ok()
    }

    fn facts(&self, plan: &Plan) -> BTreeMap<String, StepFacts> {
        let beside = Beside {
            snapshots: &self.snapshots,
            plan: &self.identity,
            env: &self.env,
            given: &self.given.keys().cloned().collect(),
            workspace: &self.workspace,
            settings: &self.settings,
        };
        step_facts(plan, beside)
    }

    /// What `step` rests on; none where the plan is none.
    fn definition(&self, step: &str) -> Option<u64> {
        let plan = self.load()?;
        let facts = self.facts(&plan);
        let steps: Vec<EarlierStep> = plan
            .all_steps()
            .map(|step| EarlierStep {
                id: step.id.clone(),
                server: step.server.clone(),
                section: step.section,
                ran: self.ran.get(&step.id).copied().unwrap_or(Ran::Done),
            })
            .collect();
        definitions(&Foundations::new(move || facts), &steps)
            .get(step)
            .copied()
    }
}

/// Where every value of a document stands, as JSON pointers; the document
/// itself left out.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, item) in entries {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                found.push(at.clone());
                places(item, &at, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let at = format!("{at}/{index}");
                found.push(at.clone());
                places(item, &at, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Another value in its place.
fn another(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("x")],
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(number) => vec![json!(number.as_u64().unwrap() + 1)],
        // Of those that mean something, others that mean something too.
        Value::String(text) => match text.as_str() {
            "2025-06-18" => vec![json!("2025-03-26")],
            "info" => vec![json!("debug")],
            "lenient" => vec![json!("strict")],
            "strict" => vec![json!("lenient")],
            "timestamp" => vec![json!("uuid")],
            "object" => vec![json!("array")],
            "two" | "one" => vec![json!("other")],
            text if text.ends_with(['s', 'm'])
                && text.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                vec![json!(format!("1{text}"))]
            }
            text => vec![json!(format!("{text}x")), json!(format!("x{text}"))],
        },
        Value::Array(items) => vec![json!([items.as_slice(), &[json!("x")]].concat())],
        Value::Object(_) => Vec::new(),
    }
}

/// Whether step `it` rests on what stands at this place of the document.
fn counts(place: &str) -> bool {
    let keys: Vec<&str> = place.split('/').skip(1).collect();
    let last = *keys.last().unwrap();
    let is_time = last.ends_with("timeout");
    match keys.as_slice() {
        ["version" | "name" | "budgets" | "hooks" | "teardown", ..] => false,
        ["vars", name, ..] => *name != "late",
        ["servers", name, ..] => *name != "other" && !is_time,
        // A whole list of its own that says less or more.
        ["setup" | "steps", _, "name" | "tags" | "timeout", ..] => false,
        ["steps", "3", ..] => false,
        _ => true,
    }
}

/// A place of the document, and what stands there instead, if anything.
type Edit = (String, Option<Value>);

/// Every value of the document as another one, and each of them left out.
fn edits(of: impl Fn(&str) -> bool) -> Vec<Edit> {
    let plan = world().plan;
    let mut all = Vec::new();
    places(&plan, "", &mut all);
    let mut edits = Vec::new();
    for place in all.into_iter().filter(|place| of(place)) {
        // Of what holds others, those count by themselves.
        let holds_names = ["/vars", "/servers", "/steps"].contains(&place.as_str());
        if !holds_names {
            edits.push((place.clone(), None));
            let others = another(plan.pointer(&place).unwrap());
            edits.extend(others.into_iter().map(|other| (place.clone(), Some(other))));
        }
    }
    edits
}

/// The document with the edit in it; none where another one took its place
/// away.
fn edited(plan: &Value, (place, other): &Edit) -> Option<Value> {
    let mut plan = plan.clone();
    match other {
        Some(other) => *plan.pointer_mut(place)? = other.clone(),
        None => {
            let (parent, last) = place.rsplit_once('/').unwrap();
            match plan.pointer_mut(parent)? {
                Value::Object(entries) => {
                    entries.shift_remove(last)?;
                }
                Value::Array(items) => {
                    let index: usize = last.parse().unwrap();
                    if index >= items.len() {
                        return None;
                    }
                    items.remove(index);
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
            }
        }
    }
    Some(plan)
}

type Change = Box<dyn Fn(&mut World)>;

/// What `it` rests on beside the text of its plan, each as another one.
fn meaningful_beside() -> Vec<(&'static str, Change)> {
    fn env(name: &'static str, value: Option<&'static str>) -> Change {
        Box::new(move |world| {
            world.env.remove(name);
            world
                .env
                .extend(value.map(|v| (name.to_owned(), v.to_owned())));
        })
    }
    fn ran(step: &'static str, ran: Ran) -> Change {
        Box::new(move |world| {
            world.ran.insert(step.to_owned(), ran);
        })
    }
    vec![
        (
            "a variable that a variable reads",
            env("MODE", Some("slow")),
        ),
        ("a variable of the server", env("LEVEL", None)),
        ("a variable that is expected", env("WANT", Some("other"))),
        ("another time zone", env("TZ", Some("Europe/Berlin"))),
        ("another language", env("LC_ALL", Some("de_DE.UTF-8"))),
        ("a path elsewhere", env("PLACE", Some("/srv/data"))),
        (
            "a variable from outside",
            Box::new(|world| {
                world.given.insert("who".into(), json!("you"));
            }),
        ),
        (
            "a stored text",
            Box::new(|world| {
                world.snapshots.insert("text".into(), Some("other".into()));
            }),
        ),
        ("no stored text", Box::new(|world| world.snapshots.clear())),
        ("--no-adapt", Box::new(|world| world.settings.adapt = false)),
        (
            "--wire-check",
            Box::new(|world| world.settings.wire_check = true),
        ),
        (
            "another schema store",
            Box::new(|world| world.settings.schemas.clear()),
        ),
        (
            "a corrupt schema store",
            Box::new(|world| world.settings.store_unread = true),
        ),
        (
            "other rules",
            Box::new(|world| world.settings.rules = Some("digest".into())),
        ),
        (
            "another plan",
            Box::new(|world| world.identity = "plans/b.json".into()),
        ),
        ("an earlier step left out", ran("first", Ran::NotRun)),
        ("set-up left out", ran("up", Ran::NotRun)),
        ("a step of another server left out", ran("ask", Ran::NotRun)),
        (
            "an earlier step that failed test-side",
            ran("first", Ran::FailedTestSide),
        ),
        ("a server that had died", ran("first", Ran::Died)),
    ]
}

/// What `it` does not rest on, each as another one.
fn harmless() -> Vec<(String, Change)> {
    let mut all: Vec<(String, Change)> = edits(|place| !counts(place))
        .into_iter()
        .map(|edit| {
            let name = format!("{} {:?}", edit.0, edit.1);
            let change: Change = Box::new(move |world| {
                let mut tried = world.clone();
                tried.plan = edited(&world.plan, &edit).unwrap_or(tried.plan);
                if tried.load().is_some() {
                    *world = tried;
                }
            });
            (name, change)
        })
        .collect();
    let mut add = |what: &str, change: Change| all.push((what.to_owned(), change));
    add(
        "a step behind it",
        Box::new(|world| {
            let steps = world.plan["steps"].as_array_mut().unwrap();
            let id = format!("more{}", steps.len());
            steps.push(json!({ "id": id, "server": "other", "tool": "t" }));
        }),
    );
    add(
        "a server that nobody asks",
        Box::new(|world| world.plan["servers"]["idle"] = json!({ "command": "x" })),
    );
    add(
        "a variable that nobody reads",
        Box::new(|world| world.plan["vars"]["idle"] = json!(1)),
    );
    for secret in ["KEY", "CLIENT", "UNUSED"] {
        add(
            secret,
            Box::new(move |world| {
                world.env.insert(secret.into(), "another".into());
            }),
        );
    }
    add(
        "a secret that is spelled out",
        Box::new(|world| {
            world.plan["servers"]["one"]["env"]["TOKEN"] = json!("another-s3cr3t-of-one");
        }),
    );
    add(
        "the folder of the checkout",
        Box::new(|world| {
            world.workspace = "/builds/77/repository".into();
            let place = "/builds/77/repository/data".to_owned();
            world.env.insert("PLACE".into(), place);
        }),
    );
    add(
        "how the steps behind it got on",
        Box::new(|world| {
            world.ran.insert("late".into(), Ran::NotRun);
            world.ran.insert("down".into(), Ran::FailedTestSide);
        }),
    );
    all
}

#[test]
fn every_value_of_a_plan_counts_or_is_known_not_to() {
    let before = world().definition("it").unwrap();
    let mut tried = BTreeSet::new();
    for edit in edits(|_| true) {
        let mut changed = world();
        changed.plan = edited(&changed.plan, &edit).unwrap();
        // What is left may be none that a plan can have.
        let Some(after) = changed.definition("it") else {
            continue;
        };
        let (place, other) = edit;
        // Of a secret only the name counts.
        let is_secret = place.ends_with("/TOKEN") && other.is_some();
        let is_same = before == after;
        assert_eq!(!is_same, counts(&place) && !is_secret, "{place}: {other:?}");
        tried.insert(place);
    }
    assert!(tried.len() > 90, "only {} were plans", tried.len());
}

#[test]
fn everything_beside_a_plan_counts() {
    let before = world().definition("it").unwrap();
    for (what, change) in meaningful_beside() {
        let mut changed = world();
        change(&mut changed);
        assert_ne!(changed.definition("it"), Some(before), "{what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever else is changed besides.
    #[test]
    fn another_foundation_is_never_one_that_passed(
        place in any::<proptest::sample::Index>(),
        besides in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
    ) {
        let before = world().definition("it").unwrap();
        let harmless = harmless();
        let mut changed = world();
        for index in besides {
            (index.get(&harmless).1)(&mut changed);
        }
        let of_plan = edits(|place| counts(place) && !place.ends_with("/TOKEN"));
        let beside = meaningful_beside();
        let place = place.index(of_plan.len() + beside.len());
        let what = match of_plan.get(place) {
            Some(edit) => {
                let Some(plan) = edited(&changed.plan, edit) else { return Ok(()) };
                changed.plan = plan;
                format!("{edit:?}")
            }
            None => {
                let (what, change) = &beside[place - of_plan.len()];
                change(&mut changed);
                (*what).to_owned()
            }
        };
        prop_assert_ne!(changed.definition("it"), Some(before), "{}", what);
    }

    #[test]
    fn what_a_step_does_not_rest_on_takes_no_pass_from_it(
        picked in proptest::collection::vec(any::<proptest::sample::Index>(), 1..8),
    ) {
        let before = world().definition("it").unwrap();
        let harmless = harmless();
        let mut changed = world();
        let mut names = Vec::new();
        for index in picked {
            let (what, change) = index.get(&harmless);
            names.push(what.clone());
            change(&mut changed);
        }
        prop_assert_eq!(changed.definition("it"), Some(before), "{:?}", names);
    }
}

/// The history keeps definitions: another value here makes every step one that
/// has never passed, and should be meant.
#[test]
fn a_definition_is_the_same_on_every_machine_and_from_every_build() {
    let known = ["up", "it", "down"].map(|step| {
        let definition = world().definition(step).unwrap();
        format!("{definition:016x}")
    });
    assert_eq!(
        known,
        ["e17af22bcbcb8a34", "49aba7a92e760892", "1e965bc4915a2d1f"]
    );
}

#[test]
fn within_a_run_a_step_is_known_by_itself_its_server_and_what_it_captures_from() {
    let revision = |change: &dyn Fn(&mut World)| {
        let mut world = world();
        change(&mut world);
        world.facts(&world.load().unwrap())["it"].revision
    };
    let before = revision(&|_| {});
    let set = |place: &'static str, to: Value| {
        move |world: &mut World| *world.plan.pointer_mut(place).unwrap() = to.clone()
    };
    for (place, to) in [
        ("/steps/2/tool", json!("other")),
        ("/steps/0/args/n", json!(2)),
        ("/servers/one/args/0", json!("other.js")),
    ] {
        assert_ne!(revision(&set(place, to)), before, "{place}");
    }
    // Another repair elsewhere leaves its sightings what they are.
    for (place, to) in [
        ("/steps/1/read", json!("note://y")),
        ("/setup/0/tool", json!("other")),
        ("/servers/two/command", json!("other")),
        ("/servers/one/request_timeout", json!("40s")),
    ] {
        assert_eq!(revision(&set(place, to)), before, "{place}");
    }
}

#[test]
fn the_steps_and_servers_of_captures_are_known() {
    let world = world();
    let facts = world.facts(&world.load().unwrap());
    let set = |names: &[&str]| -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    };
    assert_eq!(facts["it"].steps, set(&["first", "it"]));
    assert_eq!(facts["it"].servers, set(&["one"]));
    assert_eq!(facts["ask"].steps, set(&["ask"]));
}
