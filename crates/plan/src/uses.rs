//! What a plan as a whole refers to.

use super::template::{Part, Template, each_reference};
use super::{
    Answer, Command, Expect, Operator, Plan, Predicate, Raw, Request, Requirement, Server, Service,
    Step, Transport, has_reference,
};
use jelly_base::text::redact::holds_secret;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the snapshot `name` of a plan lies. The loader lets only letters,
/// digits, `_` and `-` into a name.
#[must_use]
pub fn snapshot_path(plan: &Path, name: &str) -> PathBuf {
    let folder = plan.parent().unwrap_or_else(|| Path::new(""));
    let stem = plan.file_stem().unwrap_or_default();
    folder
        .join("snapshots")
        .join(stem)
        .join(format!("{name}.snap"))
}

impl Plan {
    /// The names of all secrets, each once, sorted: the environment variables
    /// whose values must never be shown.
    #[must_use]
    pub fn secret_names(&self) -> Vec<String> {
        let mut names = self.collect(|part, _| match part {
            Part::Secret(name) => Some(name.clone()),
            _ => None,
        });
        // Packages declare variables that they inherit.
        let commands = self.servers.values().filter_map(Server::command);
        for used in commands.filter_map(|command| command.package.as_ref()) {
            let declared = &used.package.environment_variables;
            let secret = declared.iter().filter(|v| v.input.is_secret);
            names.extend(secret.map(|variable| variable.name.clone()));
        }
        let required = self.all_steps().flat_map(|step| &step.requires);
        names.extend(required.filter_map(|requirement| match requirement {
            Requirement::Secret(name) => Some(name.clone()),
            Requirement::Env(_) | Requirement::Command(_) => None,
        }));
        names.sort();
        names.dedup();
        names
    }

    /// The names of all environment variables read by `${env:…}`, each once,
    /// sorted.
    #[must_use]
    pub fn env_names(&self) -> Vec<String> {
        self.collect(|part, _| match part {
            Part::Env(name) => Some(name.clone()),
            _ => None,
        })
    }

    /// The environment variables that the plan reads and whose values must
    /// never be shown: secrets, and what `${env:…}` reads and looks like one.
    pub fn hidden<'e>(
        &self,
        env: &'e BTreeMap<String, String>,
    ) -> impl Iterator<Item = (&'e String, &'e String)> {
        let read = self.env_names();
        let secrets = self.secret_names();
        env.iter().filter(move |(name, value)| {
            secrets.contains(name) || (read.contains(name) && holds_secret(name, value))
        })
    }

    /// The names of all stored texts that steps are held against, each once,
    /// sorted.
    #[must_use]
    pub fn snapshot_names(&self) -> BTreeSet<String> {
        let names = self
            .all_steps()
            .flat_map(|step| self.expected_snapshots(step));
        names.map(str::to_owned).collect()
    }

    /// The names of the stored texts that `step` is held against.
    pub fn expected_snapshots<'p>(&'p self, step: &'p Step) -> impl Iterator<Item = &'p str> {
        self.expected(step)
            .filter(|predicate| predicate.operator == Operator::Snapshot)
            .filter_map(|predicate| predicate.operand.as_str())
    }

    /// All that is expected while `step` runs: of its answer, and of what its
    /// server asks meanwhile.
    fn expected<'p>(&'p self, step: &'p Step) -> impl Iterator<Item = &'p Predicate> {
        let server = self.servers.get(&step.server);
        let asked = server.into_iter().flat_map(|server| &server.answers);
        let asked = asked.chain(&step.answers).flat_map(Answer::predicates);
        step.predicates().chain(asked)
    }

    /// The servers that need a free port, each once, sorted.
    #[must_use]
    pub fn ports(&self) -> Vec<String> {
        self.collect(|part, server| part.port(server).map(str::to_owned))
    }

    /// Whether a server must not start, by `startup.refuses`.
    #[must_use]
    pub fn refuses(&self, server: &str) -> bool {
        let mut steps = self.all_steps().filter(|step| step.server == server);
        steps.any(Step::expects_refusal)
    }

    /// The servers that nothing needs, in plan order: no step calls them, by no
    /// combination, and none that is called refers to them.
    #[must_use]
    pub fn unused_servers(&self) -> Vec<&str> {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut note = |part: &Part| needed.extend(part.port(None).map(str::to_owned));
        for value in self.vars.values() {
            each_reference(value, &mut note);
        }
        let services = self.services.values().flat_map(Service::templates);
        services
            .flat_map(|template| &template.parts)
            .for_each(&mut note);
        for step in self.all_steps() {
            step.each_reference(&mut note);
        }
        needed.extend(self.all_steps().map(|step| step.server.clone()));
        for servers in self
            .matrix
            .iter()
            .flat_map(|matrix| matrix.servers.values())
        {
            needed.extend(servers.iter().cloned());
        }
        let mut due: Vec<String> = needed.iter().cloned().collect();
        while let Some(name) = due.pop() {
            let Some(server) = self.servers.get(&name) else {
                continue;
            };
            for part in server.templates().flat_map(|template| &template.parts) {
                if let Some(named) = part.port(None)
                    && needed.insert(named.to_owned())
                {
                    due.push(named.to_owned());
                }
            }
        }
        let names = self.servers.keys().map(String::as_str);
        names.filter(|name| !needed.contains(*name)).collect()
    }

    fn collect(&self, keep: impl Fn(&Part, Option<&str>) -> Option<String>) -> Vec<String> {
        let mut kept = BTreeSet::new();
        self.each_reference(&mut |part, server| kept.extend(keep(part, server)));
        kept.into_iter().collect()
    }

    /// Every reference of the plan, with the server it belongs to.
    fn each_reference(&self, see: &mut dyn FnMut(&Part, Option<&str>)) {
        for value in self.vars.values() {
            each_reference(value, &mut |part| see(part, None));
        }
        for server in self.servers.values() {
            for template in server.templates() {
                for part in &template.parts {
                    see(part, Some(&server.name));
                }
            }
            for answer in &server.answers {
                answer.each_reference(&mut |part| see(part, Some(&server.name)));
            }
        }
        for (name, service) in &self.services {
            for part in service.templates().flat_map(|template| &template.parts) {
                see(part, Some(name));
            }
        }
        for step in self.all_steps() {
            step.each_reference(&mut |part| see(part, Some(&step.server)));
        }
    }
}

impl Server {
    /// Every template of the server.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let mut templates: Vec<&Template> = Vec::new();
        templates.extend(self.command().into_iter().flat_map(Command::templates));
        match &self.transport {
            Transport::Stdio(_) => {}
            Transport::Http {
                url, headers, auth, ..
            } => {
                templates.push(url);
                templates.extend(headers.values());
                templates.extend(auth.iter().flat_map(|auth| auth.templates()));
            }
        }
        templates.into_iter()
    }
}

impl Command {
    /// Every template of what is started.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let package = self.package.iter().flat_map(|p| &p.templates);
        let words = self.command.iter().chain(&self.args).chain(package);
        words.chain(self.env.values()).chain(&self.cwd)
    }
}

impl Step {
    /// Calls `see` with every reference of the step: in its arguments, its
    /// URI, its answers and its expectations.
    pub fn each_reference(&self, see: &mut dyn FnMut(&Part)) {
        each_reference(&self.args, see);
        for call in &self.at_once {
            each_reference(&call.args, see);
        }
        match &self.request {
            Request::Read(text) | Request::Raw(Raw::Text(text)) => in_text(text, see),
            Request::Complete(completion) => in_text(&completion.value, see),
            Request::Subscribe(subscription) => {
                for uri in &subscription.resources {
                    in_text(uri, see);
                }
            }
            Request::Http(call) => {
                in_text(&call.path, see);
                for (_, value) in &call.headers {
                    in_text(value, see);
                }
            }
            Request::Tool(_)
            | Request::List(_)
            | Request::Prompt(_)
            | Request::Method(_)
            | Request::Unsubscribe(_)
            | Request::Startup
            | Request::Raw(Raw::Bytes(_)) => {}
        }
        for answer in &self.answers {
            answer.each_reference(see);
        }
        for predicate in self.predicates() {
            each_reference(&predicate.operand, see);
        }
        for asked in self.condition.iter().flat_map(|condition| &condition.vars) {
            each_reference(&asked.value, see);
            each_reference(&asked.wanted, see);
        }
    }
}

fn in_text(text: &str, see: &mut dyn FnMut(&Part)) {
    if has_reference(text) {
        each_reference(&Value::from(text), see);
    }
}

impl Answer {
    /// Calls `see` with every reference of the answer.
    pub fn each_reference(&self, see: &mut dyn FnMut(&Part)) {
        if let Some(value) = self.give.value() {
            each_reference(value, see);
        }
        for predicate in self.predicates() {
            each_reference(&predicate.operand, see);
        }
    }

    /// Every predicate on what is asked.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        self.expect.iter().flat_map(|expect| &expect.predicates)
    }
}

impl Expect {
    /// Every predicate, whatever it looks at.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        let json = self.json.iter().flat_map(|expect| &expect.predicates);
        let error = self
            .error
            .iter()
            .flat_map(|error| error.code.iter().chain(&error.message));
        let notifications = self.notifications.iter().flat_map(|expect| {
            let json = expect.json.iter().flat_map(|json| &json.predicates);
            json.chain(&expect.count)
        });
        let startup = self.startup.iter();
        let startup = startup.flat_map(|startup| startup.predicates());
        self.text
            .iter()
            .chain(json)
            .chain(&self.structured)
            .chain(error)
            .chain(&self.duration)
            .chain(&self.stderr)
            .chain(notifications)
            .chain(startup)
            .chain(self.http.iter().flat_map(|http| http.predicates()))
    }
}

#[cfg(test)]
mod tests {
    use super::snapshot_path;
    use std::path::Path;

    #[test]
    fn a_snapshot_lies_beside_its_plan() {
        assert_eq!(
            snapshot_path(Path::new("plans/smoke.yaml"), "greeting"),
            Path::new("plans/snapshots/smoke/greeting.snap")
        );
        assert_eq!(
            snapshot_path(Path::new("smoke.yaml"), "a"),
            Path::new("snapshots/smoke/a.snap")
        );
    }
}
