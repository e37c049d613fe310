//! What a step rests on, so that the loop can tell whether two sightings are
//! of the same thing.

use super::seen::StepFacts;
use crate::plan::{
    Answer, Command, CompletionOf, Give, ListKind, Plan, Predicate, Raw, Redaction, Request,
    Server, Step, Transport,
};
use crate::text::redact::looks_secret;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Of every snapshot that a plan names, the digest of what is stored for it;
/// none where nothing is.
pub type StoredSnapshots = BTreeMap<String, Option<String>>;

/// What a plan expects that its own text does not say.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    pub snapshots: &'a StoredSnapshots,
    /// What `${env:…}` reads.
    pub env: &'a BTreeMap<String, String>,
}

/// The facts of every step, by id.
///
/// Places in the file don't count, since an edit elsewhere shifts them; nor do
/// time limits, since what a server answers does not depend on how long one
/// would have waited. What is expected counts wherever it stands, but for
/// secrets, of which nothing is to be kept.
#[must_use]
pub fn step_facts(plan: &Plan, beside: Beside<'_>) -> BTreeMap<String, StepFacts> {
    let mut known: BTreeMap<String, StepFacts> = BTreeMap::new();
    let mut vars = Print::default();
    for (name, value) in &plan.vars {
        vars.text(name).text(&value.to_string());
    }
    let vars = vars.finish();
    let servers: BTreeMap<&str, u64> = plan
        .servers
        .iter()
        .map(|(name, server)| (name.as_str(), print_of_server(server)))
        .collect();
    for step in plan.all_steps() {
        let mut print = Print::default();
        print.number(vars);
        print.maybe(servers.get(step.server.as_str()), |print, server| {
            print.number(*server);
        });
        add_step(step, &mut print);
        add_beside(plan, step, beside, &mut print);
        let mut steps = BTreeSet::from([step.id.clone()]);
        let mut servers = BTreeSet::from([step.server.clone()]);
        // A step captures only from steps before it, so those are known.
        for need in step.needs.iter().filter_map(|id| known.get(id)) {
            print.number(need.revision);
            steps.extend(need.steps.iter().cloned());
            servers.extend(need.servers.iter().cloned());
        }
        let facts = StepFacts {
            revision: print.finish(),
            steps,
            servers,
        };
        known.insert(step.id.clone(), facts);
    }
    known
}

/// A number that stands for what was added, in its order.
///
/// The history keeps it, so it must come out the same on every machine and
/// from every build. Hashes of the standard library, and the bytes that
/// `derive(Hash)` feeds them, promise neither.
#[derive(Default)]
struct Print(Sha256);

impl Print {
    fn text(&mut self, text: &str) -> &mut Self {
        // The length keeps two texts from reading like two others.
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.0.update(number.to_le_bytes());
        self
    }

    /// What may be absent; absence counts too.
    fn maybe<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => {
                self.number(1);
                add(self, value);
            }
            None => {
                self.number(0);
            }
        }
    }

    fn finish(self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize()[..8]);
        u64::from_be_bytes(first)
    }
}

fn add_step(step: &Step, print: &mut Print) {
    print.text(&step.id).text(&step.server);
    match &step.request {
        Request::Tool(name) => print.text("tool").text(name),
        Request::List(kind) => print.text("list").text(match kind {
            ListKind::Tools => "tools",
            ListKind::Resources => "resources",
            ListKind::ResourceTemplates => "resource_templates",
            ListKind::Prompts => "prompts",
        }),
        Request::Read(uri) => print.text("read").text(uri),
        Request::Prompt(name) => print.text("prompt").text(name),
        Request::Method(name) => print.text("request").text(name),
        Request::Complete(completion) => {
            print.text("complete");
            match &completion.of {
                CompletionOf::Prompt(name) => print.text("prompt").text(name),
                CompletionOf::Resource(uri) => print.text("resource").text(uri),
            };
            print.text(&completion.argument).text(&completion.value)
        }
        Request::Subscribe(to) => {
            print.text("subscribe");
            print.number(to.resources.len() as u64);
            for uri in &to.resources {
                print.text(uri);
            }
            for flag in [to.tools, to.prompts, to.resources_list] {
                print.number(flag.into());
            }
            &mut *print
        }
        Request::Unsubscribe(id) => print.text("unsubscribe").text(id),
        Request::Raw(Raw::Text(text)) => print.text("raw").text(text),
        Request::Raw(Raw::Bytes(bytes)) => {
            print.text("raw bytes").number(bytes.len() as u64);
            print.0.update(bytes);
            &mut *print
        }
    };
    add_value(&step.args, print);
    print.number(step.capture.len() as u64);
    for (name, capture) in &step.capture {
        print.text(name).text(&capture.raw);
    }
    add_expectations(step, print);
    // A step without any of these has the revision that it always had.
    if !step.answers.is_empty() {
        add_answers(&step.answers, print);
    }
    if let Some(level) = step.log_level {
        print.text("log_level").text(level.name());
    }
    if step.cancel.is_some() {
        print.text("cancel");
    }
    if step.bare {
        print.text("bare");
    }
}

/// Nothing for a step whose expectations say all themselves.
fn add_beside(plan: &Plan, step: &Step, beside: Beside<'_>, print: &mut Print) {
    for name in plan.expected_snapshots(step) {
        let stored = beside.snapshots.get(name).and_then(Option::as_ref);
        print
            .text("stored")
            .text(name)
            .maybe(stored, |print, digest| {
                print.text(digest);
            });
    }
    let told = plan.expected_env(step);
    for name in told.iter().filter(|name| !looks_secret(name)) {
        print
            .text("env")
            .text(name)
            .maybe(beside.env.get(name), |print, value| {
                print.text(value);
            });
    }
}

fn add_answers(answers: &[Answer], print: &mut Print) {
    print.text("answers").number(answers.len() as u64);
    for answer in answers {
        print.text(&answer.method).number(answer.optional.into());
        match &answer.give {
            Give::Result(value) => add_value(value, print.text("result")),
            Give::Error(value) => add_value(value, print.text("error")),
            Give::AcceptDefaults => {
                print.text("accept_defaults");
            }
        }
        for json in &answer.expect {
            add_predicates(&json.raw_path, &json.predicates, print);
        }
    }
}

/// As JSON, in which the order of keys counts.
fn add_value(value: &Value, print: &mut Print) {
    print.text(&value.to_string());
}

fn add_expectations(step: &Step, print: &mut Print) {
    let expect = &step.expect;
    print.maybe(expect.is_error, |print, flag| {
        print.number(flag.value.into());
    });
    add_predicates("text", &expect.text, print);
    add_predicates("structured", &expect.structured, print);
    add_predicates("duration", &expect.duration, print);
    add_predicates("stderr", &expect.stderr, print);
    print.number(expect.json.len() as u64);
    for json in &expect.json {
        add_predicates(&json.raw_path, &json.predicates, print);
    }
    print.maybe(expect.error.as_ref(), |print, error| {
        add_predicates("code", &error.code, print);
        add_predicates("message", &error.message, print);
    });
    for wanted in &expect.notifications {
        print.text(&wanted.method).number(wanted.absent.into());
        add_predicates("count", &wanted.count, print);
        for json in &wanted.json {
            add_predicates(&json.raw_path, &json.predicates, print);
        }
    }
}

/// Nothing where there are none, so that steps without them keep their print.
fn add_redactions(redactions: &[Redaction], print: &mut Print) {
    for redaction in redactions {
        match redaction {
            Redaction::At { raw, with, .. } => print.text("redact").text(raw).text(with),
            Redaction::Matching { raw, with, .. } => {
                print.text("redact_pattern").text(raw).text(with)
            }
            Redaction::Kind(kind) => print.text("redact").text(kind.name()),
        };
    }
}

fn add_predicates(over: &str, predicates: &[Predicate], print: &mut Print) {
    print.text(over).number(predicates.len() as u64);
    for predicate in predicates {
        add_redactions(&predicate.redact, print);
        print.text(predicate.operator.name());
        add_value(&predicate.operand, print);
    }
}

fn print_of_server(server: &Server) -> u64 {
    let mut print = Print::default();
    print.text(&server.name);
    print.maybe(server.era, |print, era| {
        print.text(&era.to_string());
    });
    if let Some(capabilities) = &server.capabilities {
        add_value(capabilities, print.text("capabilities"));
    }
    if !server.answers.is_empty() {
        add_answers(&server.answers, &mut print);
    }
    match &server.transport {
        Transport::Stdio(command) => {
            print.text("stdio");
            add_command(command, &mut print);
        }
        Transport::Http {
            url,
            headers,
            auth,
            command,
        } => {
            print.text("http").text(&url.raw);
            print.number(headers.len() as u64);
            for (name, value) in headers {
                print.text(name).text(&value.raw);
            }
            print.maybe(auth.as_ref(), |print, auth| {
                let templates = auth.templates();
                print.number(templates.len() as u64);
                for template in templates {
                    print.text(&template.raw);
                }
            });
            if let Some(command) = command {
                add_command(command, &mut print);
            }
        }
    }
    print.finish()
}

fn add_command(command: &Command, print: &mut Print) {
    let Command {
        command,
        args,
        env,
        cwd,
        package,
    } = command;
    // No command is empty; and a plan without packages is what it was before
    // there were any.
    print.text(command.as_ref().map_or("", |command| &command.raw));
    print.number(args.len() as u64);
    for arg in args {
        print.text(&arg.raw);
    }
    print.number(env.len() as u64);
    for (name, value) in env {
        print.text(name).text(&value.raw);
    }
    print.maybe(cwd.as_ref(), |print, cwd| {
        print.text(&cwd.raw);
    });
    if let Some(used) = package {
        // What it says comes to a text that is the same for the same package.
        print.text(&used.package.to_plan().to_string());
        print.number(used.args.len() as u64);
        for (name, value) in &used.args {
            print.text(name).text(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Beside, StepFacts, StoredSnapshots};
    use crate::plan::{Plan, PlanSource, load};
    use std::collections::{BTreeMap, BTreeSet};

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

    fn step_facts(plan: &Plan) -> BTreeMap<String, StepFacts> {
        facts_beside(plan, &[], &[])
    }

    /// With these digests of snapshots, and these variables.
    fn facts_beside(
        plan: &Plan,
        snapshots: &[(&str, &str)],
        env: &[(&str, &str)],
    ) -> BTreeMap<String, StepFacts> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let snapshots: StoredSnapshots = snapshots
            .iter()
            .map(own)
            .map(|(name, digest)| (name, Some(digest)))
            .collect();
        let beside = Beside {
            snapshots: &snapshots,
            env: &env.iter().map(own).collect(),
        };
        super::step_facts(plan, beside)
    }

    /// Ids of the steps that rest on something else after the change.
    fn changed(from: &str, to: &str) -> Vec<String> {
        let facts = |text: &str| {
            step_facts(
                &load(PlanSource {
                    path: "plan.yaml".into(),
                    text: text.into(),
                    variant: None,
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

    /// The history keeps revisions: another value here makes every step one
    /// that has never passed, and should be meant.
    #[test]
    fn a_revision_is_the_same_on_every_machine_and_from_every_build() {
        let plan = load(PlanSource {
            path: "plan.yaml".into(),
            text: PLAN.into(),
            variant: None,
        })
        .unwrap();
        let revisions: Vec<String> = step_facts(&plan)
            .values()
            .map(|facts| format!("{:016x}", facts.revision))
            .collect();
        let known = ["233fbe0652fe17e8", "b386e470ec4f6595", "958e112e19246a11"];
        assert_eq!(revisions, known);
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
            variant: None,
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

    #[test]
    fn what_is_expected_counts_wherever_it_stands() {
        const PLAN: &str = r#"version: 1
vars: { want: "${env:WANT}" }
servers:
  s: { command: srv, env: { HOME: "${env:HOME}" } }
steps:
  - { id: a, server: s, tool: t, expect: { text: { snapshot: x } } }
  - { id: b, server: s, tool: t, args: { home: "${env:HOME}" }, expect: { text: { equals: "${want}" } } }
  - { id: c, server: s, tool: t, expect: { text: { contains: "${secret:PIN}${env:API_TOKEN}" } } }
  - { id: d, server: s, tool: t }
"#;
        let plan = load(PlanSource {
            path: "plan.yaml".into(),
            text: PLAN.into(),
            variant: None,
        })
        .unwrap();
        let env = [
            ("WANT", "1"),
            ("HOME", "/h"),
            ("PIN", "1"),
            ("API_TOKEN", "1"),
        ];
        let before = facts_beside(&plan, &[("x", "1")], &env);
        let changed = |snapshots: &[(&str, &str)], env: &[(&str, &str)]| -> Vec<String> {
            let after = facts_beside(&plan, snapshots, env);
            let ids = before.keys().cloned();
            ids.filter(|id| before[id].revision != after[id].revision)
                .collect()
        };
        assert_eq!(changed(&[("x", "2")], &env), ["a"], "another text");
        assert_eq!(changed(&[], &env), ["a"], "none");
        let wanted = [&[("WANT", "2")], &env[1..]].concat();
        assert_eq!(changed(&[("x", "1")], &wanted), ["b"], "by a variable");
        let others = [("WANT", "1"), ("HOME", "/g"), ("PIN", "2")];
        let same: Vec<String> = Vec::new();
        assert_eq!(changed(&[("x", "1")], &others), same);
    }
}
