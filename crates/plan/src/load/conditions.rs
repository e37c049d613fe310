//! What decides whether a step runs, and how often: `needs`, `if`, `until`.

use super::cases::UnreadCase;
use super::path::Path;
use super::reader::{Fields, Reader, meaning};
use super::references::{Needs, TemplatePlace};
use crate::grammar::{CONDITION, PLATFORMS, UNTIL};
use crate::syntax::{Data, Node};
use crate::{Condition, Expect, Operator, Request, Requirement, Until, VarCondition};
use jelly_base::mcp::{Era, Revision};
use serde_json::Value;
use std::time::Duration;

/// How often `until` asks again, where it does not say.
const EVERY: Duration = Duration::from_millis(500);

/// How long, where it does not say.
const WAIT: Duration = Duration::from_secs(30);

impl<'t> Reader<'t> {
    /// Adds the steps that a step names to those that it waits for anyway.
    pub(super) fn needed(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        (id, position): (&str, usize),
        needs: &mut Needs,
    ) {
        let items = self.list(node, path, "ids of steps").unwrap_or(&[]);
        if matches!(&node.data, Data::List(all) if all.is_empty()) {
            self.problem(node.span, path, "the step needs nothing")
                .hint("name a step before it, or leave `needs` out");
        }
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let Some(name) = self.fixed_string(item, path, "the id of a step") else {
                continue;
            };
            let Some(named) = self.names.steps.get(name).cloned() else {
                if self.names.incomplete {
                    continue;
                }
                let known = self.names.steps.keys().map(String::as_str);
                let close = self.close(name, known.collect::<Vec<_>>());
                let problem = self.problem(item.span, path, format!("no step has the id `{name}`"));
                if let Some(close) = close {
                    problem.hint(format!("did you mean `{close}`?"));
                }
                continue;
            };
            if named.iter().any(|(other, _)| *other == position) {
                self.problem(item.span, path, format!("step `{id}` can't need itself"));
            } else if named.iter().any(|(other, _)| *other > position) {
                let message = format!("step `{name}` comes after this one");
                self.problem(item.span, path, message)
                    .hint("move it before the step that needs it; if it needs that one, too, take one of both `needs` out");
            } else {
                needs.extend(named);
            }
        }
    }

    pub(super) fn requirements(&mut self, fields: Fields<'_, 't, '_>) -> Vec<Requirement> {
        let Some(node) = fields.get("requires") else {
            return Vec::new();
        };
        let path = fields.path.key("requires");
        let items = self.list(node, path, "requirements").unwrap_or(&[]);
        if matches!(&node.data, Data::List(all) if all.is_empty()) {
            self.problem(node.span, path, "nothing is required")
                .hint("as in `requires: [\"secret:TOKEN\"]`, or leave it out");
        }
        let mut all = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let Some(text) = self.fixed_string(item, path, "a requirement") else {
                continue;
            };
            let (kind, name) = text.split_once(':').unwrap_or(("", text));
            let name = name.to_owned();
            let is_name = !name.is_empty() && !name.contains(['=', '\0']) && name.trim() == name;
            match kind {
                "secret" if is_name => all.push(Requirement::Secret(name)),
                "env" if is_name => all.push(Requirement::Env(name)),
                "command" if is_name => all.push(Requirement::Command(name)),
                _ => {
                    let close = self.close(kind, ["secret", "env", "command"]);
                    let problem = self.problem(
                        item.span,
                        path,
                        format!("nothing can be required by `{text}`"),
                    );
                    match close {
                        Some(close) => problem.hint(format!("did you mean `{close}:{name}`?")),
                        None => problem.hint("write `secret:NAME`, `env:NAME` or `command:NAME`"),
                    };
                }
            }
        }
        all
    }

    pub(super) fn condition(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        server: Option<&str>,
        case: Option<&UnreadCase>,
    ) -> Option<Condition> {
        let fields = self.fields(node, path, &CONDITION)?;
        if fields.entries.is_empty() {
            self.problem(node.span, path, "`if` asks for nothing")
                .hint("as in `if: { platform: linux }`; leave it out to run the step always");
        }
        let platforms = self.platforms(fields);
        let eras = [("modern", Era::Modern), ("legacy", Era::Legacy)];
        let era = self
            .read(fields, "era")
            .and_then(|name| meaning(name, &eras));
        if let (Some(_), Some(node), Some(server)) = (era, fields.get("era"), server)
            && self.names.servers.contains(server)
            && self.era_of(server).is_none()
        {
            let message = format!("the era of the server `{server}` is found out as it starts");
            self.problem(node.span, path.key("era"), message)
                .hint(format!("pin it: `era` or `protocol` at `servers.{server}`"));
        }
        let mut vars = Vec::new();
        if let Some(node) = fields.get("vars") {
            let path = path.key("vars");
            let asked = self
                .entries(node, path, "values by variable")
                .unwrap_or(&[]);
            if matches!(&node.data, Data::Map(all) if all.is_empty()) {
                self.problem(node.span, path, "no variable given")
                    .hint("as in `vars: { mode: full }`");
            }
            for entry in asked {
                let name = entry.key.as_ref();
                let of_case = case.and_then(|case| case.vars.get(name));
                if of_case.is_none() && !self.names.vars.contains(name) {
                    self.no_such_variable(entry.key_span, name, path);
                    continue;
                }
                let mut none = Needs::new();
                let place = TemplatePlace::Variable;
                self.templates(&entry.value, path.key(name), place, &mut none);
                vars.push(VarCondition {
                    name: name.to_owned(),
                    value: match of_case {
                        Some(value) => value.clone(),
                        None => Value::String(format!("${{{name}}}")),
                    },
                    wanted: entry.value.to_value(),
                });
            }
        }
        Some(Condition {
            platforms,
            era,
            vars,
        })
    }

    fn no_such_variable(&mut self, span: crate::syntax::Span, name: &str, path: Path<'_>) {
        let captured =
            self.names.captures.contains_key(name) || self.names.later_captures.contains_key(name);
        if captured {
            let message = format!("`{name}` is a capture, and `if` asks only for variables");
            self.problem(span, path, message)
                .hint("whether a step runs is known before anything is answered");
            return;
        }
        let close = self.close(name, self.names.vars.iter().map(String::as_str));
        let problem = self.problem(span, path, format!("no variable is called `{name}`"));
        problem.hint(match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => "define it under `vars`, which `--var NAME=VALUE` overrides".to_owned(),
        });
    }

    fn platforms(&mut self, fields: Fields<'_, 't, '_>) -> Vec<String> {
        let Some(node) = fields.get("platform") else {
            return Vec::new();
        };
        let path = fields.path.key("platform");
        let Data::List(items) = &node.data else {
            let one = self.word_of(node, path, &PLATFORMS);
            return one.map(str::to_owned).into_iter().collect();
        };
        if items.is_empty() {
            self.problem(node.span, path, "no platform is named");
        }
        let mut all = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let word = self.word_of(item, path.index(index), &PLATFORMS);
            all.extend(word.map(str::to_owned));
        }
        all
    }

    /// The era that a server is held to, by itself or by the matrix.
    fn era_of(&self, server: &str) -> Option<Era> {
        if let Some((_, revisions)) = self.names.pins.get(server) {
            return revisions.first().map(|revision| revision.era);
        }
        let protocol = self.variant.as_ref()?.protocol.as_deref()?;
        Revision::find(protocol).map(|revision| revision.era)
    }

    pub(super) fn until(
        &mut self,
        fields: Fields<'_, 't, '_>,
        request: Option<&Request>,
        needs: &mut Needs,
    ) -> Option<Box<Until>> {
        let entry = fields.entry("until")?;
        let (node, path) = (&entry.value, fields.path.key("until"));
        if let Some(request @ (Request::Raw(_) | Request::Subscribe(_) | Request::Unsubscribe(_))) =
            request
        {
            let message = format!("`{}` is sent once, and has no `until`", request.kind());
            self.problem(entry.key_span, fields.path, message)
                .hint("leave `until` out");
        }
        if fields.get("cancel_after").is_some() {
            let message = "a request that is cancelled has no answer to wait for";
            self.problem(entry.key_span, fields.path, message)
                .hint("leave `until` or `cancel_after` out");
        }
        let own = self.fields(node, path, &UNTIL)?;
        let every = self.read(own, "every").unwrap_or(EVERY);
        let lasts = self.read(own, "for").unwrap_or(WAIT);
        if lasts <= every {
            let at = own.entry("for").or_else(|| own.entry("every"));
            let span = at.map_or(node.span, |entry| entry.value.span);
            self.problem(span, path, "time is up before it is asked again")
                .hint("`for` is longer than `every`, as in `every: 500ms, for: 30s`");
        }
        let expect = self.required(own, "expect")?;
        let path = path.key("expect");
        self.fits_request(expect, path, request);
        let of_answers: &[&str] = match request {
            // Of the others it was told that plain HTTP has none.
            Some(Request::Http(_)) => &["duration"],
            _ => &["duration", "stderr", "notifications"],
        };
        for key in of_answers {
            if let Some(entry) = expect.entry(key) {
                let message = format!("`until` looks at answers alone, and not at `{key}`");
                self.problem(entry.key_span, path, message).hint(
                    "put it into the step's own `expect`, which the last answer is held against",
                );
            }
        }
        let before = self.problems_so_far();
        let expect: Expect = self.expect(expect, path, needs);
        if self.problems_so_far() == before
            && expect
                .predicates()
                .any(|predicate| predicate.operator == Operator::Snapshot)
        {
            self.problem(entry.key_span, path, "`until` waits for no snapshot")
                .hint("put `snapshot` into the step's own `expect`");
        }
        Some(Box::new(Until {
            expect,
            every,
            lasts,
        }))
    }
}
