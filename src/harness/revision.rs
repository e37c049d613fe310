//! What a step rests on, so that the loop can tell whether two sightings are
//! of the same thing.

use super::seen::StepFacts;
use crate::plan::{Plan, Predicate, Server, Step, Transport};
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
    for step in plan.all_steps() {
        let mut hasher = DefaultHasher::new();
        for (name, value) in &plan.vars {
            (name, value.to_string()).hash(&mut hasher);
        }
        let server = plan.servers.get(&step.server);
        hash_step(step, server, &mut hasher);
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

fn hash_step(step: &Step, server: Option<&Server>, hasher: &mut DefaultHasher) {
    step.id.hash(hasher);
    step.server.hash(hasher);
    format!("{:?}", step.request).hash(hasher);
    step.args.to_string().hash(hasher);
    for (name, capture) in &step.capture {
        (name, &capture.raw).hash(hasher);
    }
    hash_expectations(step, hasher);
    if let Some(server) = server {
        hash_server(server, hasher);
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
        (predicate.operator.name(), predicate.operand.to_string()).hash(hasher);
    }
}

fn hash_server(server: &Server, hasher: &mut DefaultHasher) {
    server.name.hash(hasher);
    server.era.map(|era| era.to_string()).hash(hasher);
    match &server.transport {
        Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
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
        Transport::Http { url, headers } => {
            url.raw.hash(hasher);
            for (name, value) in headers {
                (name, &value.raw).hash(hasher);
            }
        }
    }
}
