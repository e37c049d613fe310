//! What one plan asks that another does not: two plans in, the differences
//! out.
//!
//! The main function is [`compare`]. Whoever may change a plan may add to it,
//! and may say otherwise what is expected, visibly; what the plan asked before
//! has to be asked still. Names, comments, tags, budgets and hooks are nothing
//! that is asked. Every type of a plan is taken apart here without `..`, so
//! that a new field has to be thought of.

mod expectations;
mod program;
mod spelled;

use expectations::{ExpectationKey, Owner, Said, expectations};
use program::program;
use spelled::SpelledNames;
pub(super) use spelled::is_open;

use super::{
    Answer, Auth, AuthGrant, AuthProof, Cancel, Command, Completion, CompletionOf, Give, Matrix,
    PackageUse, Plan, Raw, Request, Server, Step, Subscription, Template, Transport, Variant,
};
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
            let told = format!("the steps from `{first}` on stand in another order");
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
        ("answer", "cancelled") => "expects no answer to a cancelled request".to_owned(),
        ("answer", _) => format!("expects the answer to a request of the kind `{}`", key.path),
        ("error", _) => "expects an error".to_owned(),
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

/// Keys of [`contract_of_server`] that belong to the program too.
const PROGRAM_KEYS: [&str; 4] = ["args", "cwd", "env", "package"];

type Contract = BTreeMap<&'static str, Value>;

/// What jelly and a server have agreed on besides the program, by the keys of
/// plans.
fn contract_of_server(server: &Server, names: SpelledNames<'_>) -> Contract {
    let Server {
        name: _,
        transport,
        // Whether it is checked is among the expectations.
        wire_check: _,
        adapt,
        era,
        protocol,
        capabilities,
        answers,
        startup_timeout,
        request_timeout,
        shutdown_timeout,
        pinned_at: _,
        at: _,
        path: _,
    } = server;
    let mut contract = Contract::from([
        ("adapt", json!(adapt)),
        ("era", json!(era.map(|era| era.to_string()))),
        ("protocol", json!(protocol)),
        (
            "capabilities",
            capabilities
                .as_ref()
                .map_or(Value::Null, |c| names.value(c)),
        ),
        ("answers", gives(answers, names)),
        (
            "startup_timeout",
            json!(startup_timeout.as_nanos().to_string()),
        ),
        (
            "request_timeout",
            json!(request_timeout.as_nanos().to_string()),
        ),
        (
            "shutdown_timeout",
            json!(shutdown_timeout.as_nanos().to_string()),
        ),
    ]);
    let command = match transport {
        Transport::Stdio(command) => Some(command),
        Transport::Http {
            // Belongs to the program.
            url: _,
            headers,
            auth,
            command,
        } => {
            contract.insert("headers", templates(headers, names));
            let auth = auth
                .as_ref()
                .map_or(Value::Null, |auth| of_auth(auth, names));
            contract.insert("auth", auth);
            command.as_ref()
        }
    };
    if let Some(command) = command {
        let Command {
            // Belongs to the program.
            command: _,
            args,
            env,
            cwd,
            package,
        } = command;
        let args: Vec<Value> = args.iter().map(|arg| names.template(arg)).collect();
        contract.insert("args", Value::from(args));
        contract.insert("env", templates(env, names));
        let cwd = cwd.as_ref().map_or(Value::Null, |cwd| names.template(cwd));
        contract.insert("cwd", cwd);
        if let Some(used) = package {
            let PackageUse {
                package,
                args,
                templates: _,
            } = used.as_ref();
            contract.insert("package", Value::from(format!("{package:?}")));
            let args = args
                .iter()
                .map(|(name, value)| (name.clone(), names.value(value)));
            contract.insert("package_args", Value::Object(args.collect()));
        }
    }
    contract
}

fn templates<'t>(
    map: impl IntoIterator<Item = (&'t String, &'t Template)>,
    names: SpelledNames<'_>,
) -> Value {
    // The order of variables and headers means nothing.
    let sorted: BTreeMap<&String, Value> = map
        .into_iter()
        .map(|(name, template)| (name, names.template(template)))
        .collect();
    json!(sorted)
}

fn of_auth(auth: &Auth, names: SpelledNames<'_>) -> Value {
    let Auth {
        grant,
        issuer,
        token_endpoint,
    } = auth;
    let grant = match grant {
        AuthGrant::ClientCredentials {
            client_id,
            proof,
            scopes,
        } => {
            let proof = match proof {
                AuthProof::Secret(secret) => json!(["secret", names.template(secret)]),
                AuthProof::Workload(token) => json!(["workload", names.template(token)]),
                AuthProof::Key {
                    key,
                    algorithm,
                    key_id,
                } => json!([
                    "key",
                    names.template(key),
                    algorithm,
                    key_id.as_ref().map(|id| names.template(id)),
                ]),
            };
            let scopes: Vec<Value> = scopes.iter().map(|scope| names.template(scope)).collect();
            json!([names.template(client_id), proof, scopes])
        }
        AuthGrant::Login => json!("login"),
    };
    let urls = [issuer, token_endpoint].map(|url| Some(names.template(url.as_ref()?)));
    json!([grant, urls])
}

/// What is answered; what is expected of the question is among the
/// expectations.
fn gives(answers: &[Answer], names: SpelledNames<'_>) -> Value {
    let give = |answer: &Answer| {
        let Answer {
            method,
            expect: _,
            give,
            optional: _,
            at: _,
        } = answer;
        match give {
            Give::Result(value) => json!([method, "result", names.value(value)]),
            Give::Error(value) => json!([method, "error", names.value(value)]),
            Give::AcceptDefaults => json!([method, "accept_defaults"]),
        }
    };
    answers.iter().map(give).collect()
}

/// What a step sends and how, by what is to be said where it changes.
fn contract_of_step(step: &Step, names: SpelledNames<'_>) -> Contract {
    let Step {
        // A step with another id is another step.
        id: _,
        name: _,
        section: _,
        server: _,
        request,
        args,
        // Among the expectations.
        expect: _,
        capture: _,
        tags: _,
        timeout,
        at: _,
        path: _,
        needs: _,
        answers,
        log_level,
        cancel,
        bare,
    } = step;
    let cancel = cancel.map(|cancel| {
        let Cancel { after, quiet_for } = cancel;
        [
            after.as_nanos().to_string(),
            quiet_for.as_nanos().to_string(),
        ]
    });
    Contract::from([
        ("another request", of_request(request, names)),
        ("other arguments", names.value(args)),
        (
            "another `timeout`",
            json!(timeout.map(|t| t.as_nanos().to_string())),
        ),
        ("other `answers`", gives(answers, names)),
        (
            "another `log_level`",
            json!(log_level.map(super::LogLevel::name)),
        ),
        ("another `cancel_after`", json!(cancel)),
        ("another `bare`", json!(bare)),
    ])
}

fn of_request(request: &Request, names: SpelledNames<'_>) -> Value {
    match request {
        Request::Tool(name) => json!(["tool", name]),
        Request::List(kind) => json!(["list", kind.plan_key()]),
        Request::Read(uri) => json!(["read", names.text(uri)]),
        Request::Prompt(name) => json!(["prompt", name]),
        Request::Method(name) => json!(["request", name]),
        Request::Complete(completion) => {
            let Completion {
                of,
                argument,
                value,
            } = completion;
            let of = match of {
                CompletionOf::Prompt(name) => ["prompt", name],
                CompletionOf::Resource(uri) => ["resource", uri],
            };
            json!(["complete", of, argument, names.text(value)])
        }
        Request::Subscribe(to) => {
            let Subscription {
                resources,
                tools,
                prompts,
                resources_list,
            } = to;
            let resources: Vec<Value> = resources.iter().map(|uri| names.text(uri)).collect();
            json!(["subscribe", resources, tools, prompts, resources_list])
        }
        Request::Unsubscribe(id) => json!(["unsubscribe", id]),
        Request::Raw(Raw::Text(text)) => json!(["raw", names.text(text)]),
        Request::Raw(Raw::Bytes(bytes)) => json!(["raw_bytes", bytes]),
    }
}

#[cfg(test)]
mod tests;
