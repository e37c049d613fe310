//! What a step rests on, so that the loop can tell whether two sightings are
//! of the same thing.

use super::seen::StepFacts;
use crate::plan::{Command, Plan, Predicate, Server, Step, Transport};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The facts of every step, by id.
///
/// Places in the file don't count, since an edit elsewhere shifts them; nor do
/// time limits, since what a server answers does not depend on how long one
/// would have waited.
#[must_use]
pub fn step_facts(plan: &Plan) -> BTreeMap<String, StepFacts> {
    let mut known: BTreeMap<String, StepFacts> = BTreeMap::new();
    let vars = hash_of(|hasher| {
        for (name, value) in &plan.vars {
            (name, value.to_string()).hash(hasher);
        }
    });
    let servers: BTreeMap<&str, u64> = plan
        .servers
        .iter()
        .map(|(name, server)| (name.as_str(), hash_of(|hasher| hash_server(server, hasher))))
        .collect();
    for step in plan.all_steps() {
        let mut hasher = DefaultHasher::new();
        (vars, servers.get(step.server.as_str())).hash(&mut hasher);
        hash_step(step, &mut hasher);
        let mut steps = BTreeSet::from([step.id.clone()]);
        let mut servers = BTreeSet::from([step.server.clone()]);
        // A step captures only from steps before it, so those are known.
        for need in step.needs.iter().filter_map(|id| known.get(id)) {
            need.revision.hash(&mut hasher);
            steps.extend(need.steps.iter().cloned());
            servers.extend(need.servers.iter().cloned());
        }
        let facts = StepFacts {
            revision: hasher.finish(),
            steps,
            servers,
        };
        known.insert(step.id.clone(), facts);
    }
    known
}

fn hash_of(add: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(&mut hasher);
    hasher.finish()
}

fn hash_step(step: &Step, hasher: &mut DefaultHasher) {
    step.id.hash(hasher);
    step.server.hash(hasher);
    step.request.hash(hasher);
    hash_value(&step.args, hasher);
    for (name, capture) in &step.capture {
        (name, &capture.raw).hash(hasher);
    }
    hash_expectations(step, hasher);
}

/// As JSON, in which the order of keys counts.
fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::String(text) => (true, text).hash(hasher),
        other => (false, other.to_string()).hash(hasher),
    }
}

fn hash_expectations(step: &Step, hasher: &mut DefaultHasher) {
    let expect = &step.expect;
    expect.is_error.map(|flag| flag.value).hash(hasher);
    hash_predicates("text", &expect.text, hasher);
    hash_predicates("structured", &expect.structured, hasher);
    hash_predicates("duration", &expect.duration, hasher);
    hash_predicates("stderr", &expect.stderr, hasher);
    for json in &expect.json {
        hash_predicates(&json.raw_path, &json.predicates, hasher);
    }
    if let Some(error) = &expect.error {
        hash_predicates("code", &error.code, hasher);
        hash_predicates("message", &error.message, hasher);
    }
}

fn hash_predicates(over: &str, predicates: &[Predicate], hasher: &mut DefaultHasher) {
    (over, predicates.len()).hash(hasher);
    for predicate in predicates {
        predicate.operator.hash(hasher);
        hash_value(&predicate.operand, hasher);
    }
}

fn hash_server(server: &Server, hasher: &mut DefaultHasher) {
    server.name.hash(hasher);
    server.era.map(|era| era.to_string()).hash(hasher);
    if let Some(Command {
        command,
        args,
        env,
        cwd,
    }) = server.command()
    {
        command.raw.hash(hasher);
        args.len().hash(hasher);
        for arg in args {
            arg.raw.hash(hasher);
        }
        for (name, value) in env {
            (name, &value.raw).hash(hasher);
        }
        cwd.as_ref().map(|cwd| &cwd.raw).hash(hasher);
    }
    match &server.transport {
        Transport::Stdio(_) => {}
        Transport::Http { url, headers, .. } => {
            url.raw.hash(hasher);
            for (name, value) in headers {
                (name, &value.raw).hash(hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::step_facts;
    use crate::plan::{PlanSource, load};
    use std::collections::BTreeSet;

    const PLAN: &str = r#"version: 1
vars: { v: 1 }
servers:
  one: { command: srv, args: [x] }
  two: { command: srv, env: { K: v } }
steps:
  - { id: a, server: one, tool: t, args: { n: 1 }, capture: { got: "$.x" } }
  - { id: b, server: two, tool: t, args: { n: "${got}" }, expect: { text: { contains: hi } } }
  - { id: c, server: two, tool: t, expect: { json: [ { path: "$.y", equals: 1 } ] } }
"#;

    /// Ids of the steps that rest on something else after the change.
    fn changed(from: &str, to: &str) -> Vec<String> {
        let facts = |text: &str| {
            step_facts(
                &load(PlanSource {
                    path: "plan.yaml".into(),
                    text: text.into(),
                })
                .unwrap(),
            )
        };
        let text = PLAN.replace(from, to);
        assert_ne!(text, PLAN);
        let (before, after) = (facts(PLAN), facts(&text));
        before
            .keys()
            .filter(|id| before[*id].revision != after[*id].revision)
            .cloned()
            .collect()
    }

    #[test]
    fn a_step_rests_on_itself_its_server_and_what_it_captures_from() {
        let cases: [(&str, &str, &[&str]); 11] = [
            ("args: { n: 1 }", "args: { n: 2 }", &["a", "b"]),
            ("args: [x]", "args: [y]", &["a", "b"]),
            ("K: v", "K: w", &["b", "c"]),
            ("contains: hi", "contains: ho", &["b"]),
            ("contains: hi", "equals: hi", &["b"]),
            ("equals: 1", "equals: 2", &["c"]),
            ("path: \"$.y\"", "path: \"$.z\"", &["c"]),
            ("v: 1 }", "v: 2 }", &["a", "b", "c"]),
            (
                "id: c, server: two, tool: t",
                "id: c, server: two, tool: u",
                &["c"],
            ),
            (
                "capture: { got: \"$.x\" }",
                "capture: { got: \"$.y\" }",
                &["a", "b"],
            ),
            ("id: c, server: two", "id: c, server: one", &["c"]),
        ];
        for (from, to, steps) in cases {
            assert_eq!(changed(from, to), steps, "{from} -> {to}");
        }
    }

    #[test]
    fn places_in_the_file_and_time_limits_change_nothing() {
        let cases = [
            ("version: 1\n", "version: 1\n# a comment\n"),
            (
                "args: [x]",
                "args: [x], startup_timeout: 9s, request_timeout: 9s",
            ),
            ("id: c, server", "id: c, timeout: 9s, server"),
        ];
        for (from, to) in cases {
            assert!(changed(from, to).is_empty(), "{from} -> {to}");
        }
    }

    #[test]
    fn the_steps_and_servers_of_captures_are_known() {
        let plan = load(PlanSource {
            path: "plan.yaml".into(),
            text: PLAN.into(),
        })
        .unwrap();
        let facts = step_facts(&plan);
        let set = |names: &[&str]| -> BTreeSet<String> {
            names.iter().map(|n| (*n).to_owned()).collect()
        };
        assert_eq!(facts["b"].steps, set(&["a", "b"]));
        assert_eq!(facts["b"].servers, set(&["one", "two"]));
        assert_eq!(facts["c"].steps, set(&["c"]));
        assert_eq!(facts["c"].servers, set(&["two"]));
    }
}
