//! What a step rests on, so that two sightings of it can be told to be of the
//! same thing.
//!
//! Within a run, a step is known by its [`revision`](StepFacts::revision): what
//! it is itself, its server, and the steps that it captures from. Across runs,
//! and across changes of the code, it has to be known by more, since any step
//! before it may have changed what its server knows: by its
//! [`definition`](definitions).

mod definition;
mod hash;
mod values;

use super::earlier::{EarlierStep, Ran};
use super::seen::{Foundations, StepFacts};
use definition::{InEffect, add_server, add_step, add_value};
pub(super) use hash::StableHash;
use jelly_plan::{Plan, Request, Server, Step, Transport};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use values::References;

/// Of every snapshot that a plan names, the digest of what is stored for it;
/// none where nothing is.
pub type StoredSnapshots = BTreeMap<String, Option<String>>;

/// The settings of a run that change what its steps are answered, or how an
/// answer is judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultSettings {
    /// Structured outputs are read out of text, where the plan does not say no.
    pub adapt: bool,
    /// All messages are held against the specification.
    pub wire_check: bool,
    /// The output schemas that the schema store sets, by server and tool.
    pub schemas: BTreeMap<String, BTreeMap<String, Value>>,
    /// A schema store was asked for and could not be read.
    pub store_unread: bool,
    /// Digest of the user's own rules of triage, if there are any.
    pub rules: Option<String>,
}

/// What steps rest on that the plan's own text does not say.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    pub snapshots: &'a StoredSnapshots,
    /// Which plan it is, in every checkout: two plans may say the same of
    /// different servers.
    pub plan: &'a str,
    /// What `${env:…}` reads.
    pub env: &'a BTreeMap<String, String>,
    /// The variables that were set from outside of the plan.
    pub given: &'a BTreeSet<String>,
    /// What `${workspace}` stands for: that it is another folder says nothing.
    pub workspace: &'a Path,
    pub settings: &'a ResultSettings,
}

/// The facts of every step, by id.
///
/// What is for people (names, comments, tags), where things stand in the file,
/// and how long one would wait don't count. Of secrets only names do, so that
/// nothing of them is kept.
#[must_use]
pub fn step_facts(plan: &Plan, beside: Beside<'_>) -> BTreeMap<String, StepFacts> {
    let Plan {
        // What it says stands in the fields below, and comments say nothing.
        source: _,
        included: _,
        // Their digests count for the steps that send them.
        files: _,
        literal_secrets,
        name: _,
        // As far as steps and servers refer to them.
        vars: _,
        // These decide what is tried, and not what is answered.
        budgets: _,
        hooks: _,
        // As it is in effect for each server.
        wire_check: _,
        // Who is to blame for other lists is no matter of any step.
        contract_promised: _,
        // The servers and revisions of this combination stand in its place.
        matrix: _,
        servers,
        services,
        setup: _,
        steps: _,
        teardown: _,
    } = plan;
    let start = StableHash::new(literal_secrets);
    let ground = Ground {
        plan,
        beside,
        secrets: plan.secret_names().into_iter().collect(),
        start: &start,
    };
    let servers: BTreeMap<&str, u64> = servers
        .iter()
        .map(|(name, server)| (name.as_str(), hash_of_server(server, &ground)))
        .collect();
    let services: Vec<u64> = services
        .values()
        .map(|service| hash_of_server(&service.server, &ground))
        .collect();
    let mut known: BTreeMap<String, StepFacts> = BTreeMap::new();
    for step in plan.all_steps() {
        let mut own = hash_of_step(step, &ground, &servers);
        // Where there are none, what was kept before there could be one still counts.
        if !services.is_empty() {
            let mut with = start.apart();
            with.number(own).each(services.iter(), |hash, service| {
                hash.number(*service);
            });
            own = with.finish();
        }
        let mut revision = start.apart();
        revision.number(own);
        let mut all_steps = BTreeSet::from([step.id.clone()]);
        let mut all_servers = BTreeSet::from([step.server.clone()]);
        // A step captures only from steps before it, so those are known.
        for need in step.needs.iter().filter_map(|id| known.get(id)) {
            revision.number(need.revision);
            all_steps.extend(need.steps.iter().cloned());
            all_servers.extend(need.servers.iter().cloned());
        }
        let facts = StepFacts {
            revision: revision.finish(),
            own,
            steps: all_steps,
            servers: all_servers,
            is_startup: step.request == Request::Startup,
        };
        known.insert(step.id.clone(), facts);
    }
    known
}

/// What all steps and servers of a plan rest on, looked up once for all of them.
struct Ground<'a> {
    plan: &'a Plan,
    beside: Beside<'a>,
    /// Names of variables whose values never count, by the whole plan.
    secrets: BTreeSet<String>,
    start: &'a StableHash<'a>,
}

/// A step with its server and all that it refers to.
fn hash_of_step(step: &Step, ground: &Ground<'_>, servers: &BTreeMap<&str, u64>) -> u64 {
    let Ground { plan, beside, .. } = ground;
    let mut hash = ground.start.apart();
    hash.text(beside.plan);
    let server = plan.servers.get(&step.server);
    let limit = step
        .timeout
        .or(server.map(|server| server.request_timeout))
        .unwrap_or(Duration::ZERO);
    add_step(step, limit, &mut hash);
    let references = References::of_step(step, plan);
    references.add_values(ground, &mut hash);
    let named = references.servers.iter().map(String::as_str);
    for name in [step.server.as_str()].into_iter().chain(named) {
        hash.maybe(servers.get(name), |hash, server| {
            hash.number(*server);
        });
    }
    for name in plan.expected_snapshots(step) {
        let stored = beside.snapshots.get(name).and_then(Option::as_ref);
        hash.text("stored")
            .text(name)
            .maybe(stored, |hash, digest| {
                hash.text(digest);
            });
    }
    hash.finish()
}

/// Whether a variable that a server inherits tells it where in the world it runs, and so how it
/// writes times and numbers, whatever its code.
fn tells_place(name: &str) -> bool {
    ["TZ", "LANG", "LANGUAGE"].contains(&name) || name.starts_with("LC_")
}

/// A server with all that it refers to, and with what the settings say of it.
fn hash_of_server(server: &Server, ground: &Ground<'_>) -> u64 {
    let Ground { plan, beside, .. } = ground;
    let ResultSettings {
        adapt,
        wire_check,
        schemas,
        store_unread,
        rules,
    } = beside.settings;
    let mut hash = ground.start.apart();
    let in_effect = InEffect {
        adapt: *adapt && server.adapt,
        wire_check: *wire_check || server.wire_check.unwrap_or(plan.wire_check),
    };
    add_server(server, in_effect, &mut hash);
    References::of_server(server, plan).add_values(ground, &mut hash);
    let none = BTreeMap::new();
    let set = schemas.get(&server.name).unwrap_or(&none);
    hash.each(set.iter(), |hash, (tool, schema)| {
        hash.text(tool);
        add_value(schema, hash);
    });
    hash.flag(*store_unread);
    hash.maybe(rules.as_ref(), |hash, digest| {
        hash.text(digest);
    });
    // Where none is set, what was kept before they counted still does.
    let is_started = !matches!(server.transport, Transport::Http { command: None, .. });
    let places = beside
        .env
        .iter()
        .filter(|(name, _)| is_started && tells_place(name));
    for (name, value) in places {
        hash.text("place").text(name).text(value);
    }
    hash.finish()
}

/// What each step of an iteration rested on, all of it: every step before it in
/// the plan, of whatever server, with how far each of them got.
///
/// `steps` are those of the iteration, in the plan's order. What was executed
/// on the same definition was asked the same of servers in the same state, as
/// far as jelly can know; the code under test is no part of it.
#[must_use]
pub fn definitions(steps: &Foundations, earlier: &[EarlierStep]) -> BTreeMap<String, u64> {
    let mut before = StableHash::new(&[]);
    let mut definitions = BTreeMap::new();
    for step in earlier {
        // A step that the plan does not have is like no other.
        let facts = steps.get(&step.id);
        let own = facts.map_or(0, |facts| facts.own);
        if facts.is_some_and(|facts| facts.is_startup) {
            let mut alone = StableHash::new(&[]);
            alone.text(&step.id).number(own);
            definitions.insert(step.id.clone(), alone.finish());
            continue;
        }
        before.text(&step.id).number(own);
        definitions.insert(step.id.clone(), before.clone().finish());
        before.text(match step.ran {
            Ran::Done => "done",
            Ran::Died => "died",
            Ran::FailedTestSide => "failed test-side",
            Ran::NotRun => "not run",
        });
    }
    definitions
}

#[cfg(test)]
mod tests;
