//! What one plan asks that another does not: two plans in, the differences
//! out.
//!
//! The main function is [`compare`]. Whoever may change a plan may add to it,
//! and may say otherwise what is expected, visibly; what the plan asked before
//! has to be asked still. Names, comments, tags, budgets and hooks are nothing
//! that is asked. Every type of a plan is taken apart here without `..`, so
//! that a new field has to be thought of.

mod contract;
mod expectations;
mod program;
mod spelled;

use contract::{PROGRAM_KEYS, contract_of_server, contract_of_step};
use expectations::{ExpectationKey, Owner, Said, expectations};
use program::program;
use spelled::SpelledNames;
pub(super) use spelled::is_open;

use super::{Condition, Matrix, Plan, Server, Step, Variant};
use jelly_base::model::{PlanChange, PlanChangeKind, Section};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What became of `before` in `after`, in the order of `before`. `env` is what
/// `${env:…}` reads: it says what an expectation comes to, and nothing of it
/// is kept.
#[must_use]
pub fn compare(before: &Plan, after: &Plan, env: &BTreeMap<String, String>) -> Vec<PlanChange> {
    let mut found = Found {
        before,
        after,
        changes: Vec::new(),
    };
    found.plans();
    found.servers();
    found.services();
    found.steps();
    found.order();
    found.expectations(env);
    found.changes
}

struct Found<'p> {
    before: &'p Plan,
    after: &'p Plan,
    changes: Vec<PlanChange>,
}

impl<'p> Found<'p> {
    fn add(&mut self, kind: PlanChangeKind, what: String) -> &mut PlanChange {
        self.changes.push(PlanChange::new(kind, what));
        let last = self.changes.len() - 1;
        &mut self.changes[last]
    }

    fn of_step(&mut self, step: &str, kind: PlanChangeKind, what: String) {
        self.add(kind, what).step = Some(step.to_owned());
    }

    fn of_server(&mut self, server: &str, kind: PlanChangeKind, what: String) {
        self.add(kind, what).server = Some(server.to_owned());
    }

    fn names(&self) -> (SpelledNames<'p>, SpelledNames<'p>) {
        let of = |plan: &'p Plan| SpelledNames {
            vars: &plan.vars,
            env: None,
        };
        (of(self.before), of(self.after))
    }

    fn plans(&mut self) {
        let Plan {
            source: _,
            // Its servers and steps are among those below.
            included: _,
            // What is in them is compared by their digests.
            files: _,
            literal_secrets: _,
            name: _,
            // They count where they are used.
            vars: _,
            // Those of the run are settled when it begins.
            budgets: _,
            hooks: _,
            // Count at each server.
            wire_check: _,
            contract_promised: _,
            matrix,
            servers: _,
            // Likewise.
            services: _,
            setup: _,
            steps: _,
            teardown: _,
        } = self.before;
        let labels = |matrix: &Option<Matrix>| -> Vec<String> {
            let variants = matrix.as_ref().map_or_else(Vec::new, Matrix::variants);
            variants.iter().map(Variant::label).collect()
        };
        let (ours, theirs) = (labels(matrix), labels(&self.after.matrix));
        for label in ours.iter().filter(|label| !theirs.contains(label)) {
            self.add(
                PlanChangeKind::FewerConditions,
                format!("the combination `{label}` of the matrix is gone"),
            );
        }
        if ours.is_empty() && !theirs.is_empty() {
            self.add(PlanChangeKind::Contract, "the plan has a matrix".to_owned());
        }
    }

    fn servers(&mut self) {
        let (ours, theirs) = self.names();
        for (name, before) in &self.before.servers {
            let Some(after) = self.after.servers.get(name) else {
                let told = format!("the server `{name}` is gone");
                self.of_server(name, PlanChangeKind::Contract, told);
                continue;
            };
            let other = other_program(before, ours, after, theirs);
            if let Some(key) = other {
                let told = format!("the server `{name}` has another `{key}`");
                self.of_server(name, PlanChangeKind::OtherServer, told);
            }
            let before = contract_of_server(before, ours);
            let after = contract_of_server(after, theirs);
            for (key, value) in &before {
                // What says which program it is has been said.
                let is_part = other.is_some() && PROGRAM_KEYS.contains(key);
                if !is_part && after.get(key) != Some(value) {
                    let told = format!("the server `{name}` has another `{key}`");
                    self.of_server(name, PlanChangeKind::Contract, told);
                }
            }
        }
    }

    /// What stands beside the servers is part of what they can do.
    fn services(&mut self) {
        let (ours, theirs) = self.names();
        for (name, before) in &self.before.services {
            let Some(after) = self.after.services.get(name) else {
                let told = format!("the service `{name}` is gone");
                self.of_server(name, PlanChangeKind::Contract, told);
                continue;
            };
            let (before, after) = (&before.server, &after.server);
            let kind = match other_program(before, ours, after, theirs) {
                Some(_) => PlanChangeKind::OtherServer,
                None => PlanChangeKind::Contract,
            };
            if contract_of_server(before, ours) != contract_of_server(after, theirs)
                || kind == PlanChangeKind::OtherServer
            {
                let told = format!("the service `{name}` has changed");
                self.of_server(name, kind, told);
            }
        }
    }

    fn steps(&mut self) {
        let after = self.after;
        for before in self.before.all_steps() {
            let id = &before.id;
            let Some(step) = after.step(id) else {
                let new = after.all_steps().find(|step| {
                    self.before.step(&step.id).is_none() && step.request == before.request
                });
                let told = match new {
                    Some(new) => format!(
                        "the step `{id}` is gone; `{}` asks the same, and a step with another id \
                         is another step",
                        new.id
                    ),
                    None => format!("the step `{id}` is gone"),
                };
                self.of_step(id, PlanChangeKind::Gone, told);
                continue;
            };
            self.step(before, step);
        }
    }

    fn step(&mut self, before: &Step, after: &Step) {
        let id = &before.id;
        if before.section != after.section {
            let told = format!(
                "the step `{id}` moved from `{}` to `{}`",
                section(before.section),
                section(after.section)
            );
            self.of_step(id, PlanChangeKind::FewerConditions, told);
        }
        let rested: BTreeSet<&String> = before.needs.iter().collect();
        let more: Vec<&str> = after
            .needs
            .iter()
            .filter(|need| !rested.contains(need))
            .map(String::as_str)
            .collect();
        if !more.is_empty() {
            let told = format!(
                "the step `{id}` runs only where `{}` passed",
                more.join("`, `")
            );
            self.of_step(id, PlanChangeKind::FewerConditions, told);
        }
        self.requirements(before, after);
        self.condition(before, after);
        if before.server != after.server {
            self.other_server(before, after);
        }
        let (ours, theirs) = self.names();
        let contract = contract_of_step(after, theirs);
        for (key, value) in contract_of_step(before, ours) {
            if contract.get(key) != Some(&value) {
                let told = format!("the step `{id}` has {key}");
                self.of_step(id, PlanChangeKind::Contract, told);
            }
        }
    }

    /// What requires more is skipped more easily.
    fn requirements(&mut self, before: &Step, after: &Step) {
        let of = |step: &Step| -> BTreeSet<String> {
            step.requires.iter().map(ToString::to_string).collect()
        };
        let (was, is) = (of(before), of(after));
        let id = &before.id;
        let more: Vec<&str> = is.difference(&was).map(String::as_str).collect();
        if !more.is_empty() {
            let told = format!("the step `{id}` requires `{}`", more.join("`, `"));
            self.of_step(id, PlanChangeKind::FewerConditions, told);
        } else if was != is {
            let told = format!("the step `{id}` requires less");
            self.of_step(id, PlanChangeKind::Contract, told);
        }
    }

    /// Another condition may leave a step out that ran before; one less can't.
    fn condition(&mut self, before: &Step, after: &Step) {
        let (ours, theirs) = self.names();
        let spelled = |condition: &Option<Condition>, names: SpelledNames<'p>| {
            let Condition {
                platforms,
                era,
                vars,
            } = condition.as_ref()?;
            let vars: Vec<Value> = vars
                .iter()
                .map(|asked| json!([names.value(&asked.value), names.value(&asked.wanted)]))
                .collect();
            Some(json!([platforms, era.map(|era| era.to_string()), vars]))
        };
        let (was, is) = (
            spelled(&before.condition, ours),
            spelled(&after.condition, theirs),
        );
        if was == is {
            return;
        }
        let id = &before.id;
        match (was, is) {
            (_, None) => {
                let told = format!("the step `{id}` has no `if` any more");
                self.of_step(id, PlanChangeKind::Contract, told);
            }
            (None, Some(_)) => {
                let told = format!("the step `{id}` runs only where its new `if` holds");
                self.of_step(id, PlanChangeKind::FewerConditions, told);
            }
            (Some(_), Some(_)) => {
                let told = format!("the step `{id}` runs where another `if` holds");
                self.of_step(id, PlanChangeKind::FewerConditions, told);
            }
        }
    }

    /// Another name is no matter where the same program is behind it, or where
    /// there was none.
    fn other_server(&mut self, before: &Step, after: &Step) {
        let (ours, theirs) = self.names();
        let defined = self.before.servers.get(&before.server);
        let is_other = defined.is_some_and(|server| {
            let now = self.after.servers.get(&after.server);
            now.is_none_or(|now| other_program(server, ours, now, theirs).is_some())
        });
        let kind = if is_other {
            PlanChangeKind::OtherServer
        } else {
            PlanChangeKind::Contract
        };
        let told = format!(
            "the step `{}` asks the server `{}` instead of `{}`",
            before.id, after.server, before.server
        );
        self.of_step(&before.id, kind, told);
    }

    /// What ran before a step is part of what it rests on.
    fn order(&mut self) {
        let shared = |plan: &'p Plan, other: &Plan| -> Vec<&'p str> {
            let ids = plan.all_steps().map(|step| step.id.as_str());
            ids.filter(|id| other.step(id).is_some()).collect()
        };
        let ours = shared(self.before, self.after);
        let theirs = shared(self.after, self.before);
        let moved = ours.iter().zip(&theirs).find(|(one, other)| one != other);
        if let Some((first, _)) = moved {
            let told = format!("the steps from `{first}` on are in a different order");
            self.of_step(first, PlanChangeKind::Contract, told);
        }
    }

    fn expectations(&mut self, env: &BTreeMap<String, String>) {
        let mut after = expectations(self.after, env);
        let gone: BTreeSet<&str> = self
            .before
            .all_steps()
            .map(|step| step.id.as_str())
            .filter(|id| self.after.step(id).is_none())
            .collect();
        for (key, before) in expectations(self.before, env) {
            // That the whole step is gone has been said.
            if matches!(&key.owner, Owner::Step(id) if gone.contains(id.as_str())) {
                continue;
            }
            let now = after.remove(&key).unwrap_or_default();
            for kind in became(before, now) {
                let mut change = PlanChange::new(kind, told(&key, kind));
                match &key.owner {
                    Owner::Step(id) => change.step = Some(id.clone()),
                    Owner::Server(name) => change.server = Some(name.clone()),
                }
                change.surface = Some(key.surface.to_owned());
                change.path = (!key.path.is_empty()).then(|| key.path.clone());
                change.operator = Some(key.operator.clone());
                self.changes.push(change);
            }
        }
    }
}

/// What happened to expectations of one key. Each that was there is matched
/// with one that is there still: the same, else one that says something, else
/// any.
fn became(mut before: Vec<Said>, mut after: Vec<Said>) -> Vec<PlanChangeKind> {
    before.retain(|said| {
        let same = after
            .iter()
            .position(|now| now.operand == said.operand && now.of_anything == said.of_anything);
        same.map(|at| after.swap_remove(at)).is_none()
    });
    before.sort_by_key(|said| said.of_anything);
    after.sort_by_key(|said| said.of_anything);
    let mut after = after.into_iter();
    before
        .into_iter()
        .map(|said| match after.next() {
            None => PlanChangeKind::Gone,
            Some(now) if now.of_anything && !said.of_anything => PlanChangeKind::HoldsOfAnything,
            Some(_) => PlanChangeKind::Operand,
        })
        .collect()
}

/// The change of an expectation as a clause.
fn told(key: &ExpectationKey, kind: PlanChangeKind) -> String {
    let owner = match &key.owner {
        Owner::Step(id) => format!("the step `{id}`"),
        Owner::Server(name) => format!("the server `{name}`"),
    };
    let what = match (key.surface, key.operator.as_str()) {
        ("answer", "no_protocol_error") => "fails on a protocol error".to_owned(),
        ("is_error", "false") => "fails on `isError: true`".to_owned(),
        ("is_error", _) => "expects `isError: true`".to_owned(),
        ("answer", "as_declared") => {
            "fails on an output that breaks its declared schema".to_owned()
        }
        ("answer", "success") => "fails on an HTTP status that is no success".to_owned(),
        ("answer", "cancelled") => "expects no answer to a cancelled request".to_owned(),
        ("answer", _) => format!("expects the answer to a request of the kind `{}`", key.path),
        ("error", _) => "expects an error".to_owned(),
        ("startup", "refuses") => "expects that it does not start".to_owned(),
        ("startup", _) => "looks at how it starts".to_owned(),
        ("contract", _) => "promises what its lock holds".to_owned(),
        ("wire", _) => "is held to every word of the specification".to_owned(),
        ("capture", _) => format!("captures `{}`", key.path),
        ("answers", "asked") => format!("expects to be asked for `{}`", key.path),
        (surface, operator) if key.path.is_empty() => format!("expects `{surface}` `{operator}`"),
        (surface, operator) => format!("expects `{surface}` `{}` `{operator}`", key.path),
    };
    match kind {
        PlanChangeKind::Gone => format!("{owner} no longer {what}"),
        PlanChangeKind::HoldsOfAnything => format!("{owner} {what}, and anything meets that now"),
        PlanChangeKind::Operand
        | PlanChangeKind::FewerConditions
        | PlanChangeKind::OtherServer
        | PlanChangeKind::Contract => format!("{owner} {what} with another operand"),
    }
}

fn section(section: Section) -> &'static str {
    match section {
        Section::Setup => "setup",
        Section::Steps => "steps",
        Section::Teardown => "teardown",
    }
}

/// The key by which it is seen that two servers are two programs.
fn other_program(
    before: &Server,
    ours: SpelledNames<'_>,
    after: &Server,
    theirs: SpelledNames<'_>,
) -> Option<&'static str> {
    let after: BTreeMap<&str, Value> = program(after, theirs).into_iter().collect();
    let ours = program(before, ours);
    let differs = |key: &str, value: &Value| after.get(key).unwrap_or(&Value::Null) != value;
    let changed = ours.iter().find(|(key, value)| differs(key, value));
    let added = || {
        let has = |key: &str| ours.iter().any(|(other, _)| *other == key);
        ["command", "package"]
            .into_iter()
            .find(|key| !has(key) && after.get(key).is_some_and(|value| !value.is_null()))
    };
    changed.map(|(key, _)| *key).or_else(added)
}

#[cfg(test)]
mod tests;
