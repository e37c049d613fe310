//! `startup` of a server: the step that it comes to.

use super::due_answer::DueAnswer;
use super::include::place_in_file;
use super::path::Path;
use super::plan::Parts;
use super::reader::{Fields, Reader};
use super::references::Needs;
use super::step::UnreadStep;
use crate::grammar::{REFUSES, STARTUP, Target};
use crate::syntax::{Data, Entry, Node};
use crate::{
    Expect, Operator, Predicate, RefusalExpect, Request, Server, StartupExpect, Step, Transport,
};
use indexmap::IndexMap;
use jelly_base::model::Section;
use serde_json::Value;

/// What the id of such a step begins with.
const PREFIX: &str = "startup:";

impl<'t> Reader<'t> {
    /// The steps that the servers of all files come to.
    pub(super) fn all_startups(
        &mut self,
        files: &[(usize, Fields<'_, 't, '_>)],
        parts: &Parts,
    ) -> Vec<Step> {
        let turns = parts.matrix.as_ref().map(|matrix| &matrix.servers);
        let mut all: Vec<Step> = Vec::new();
        for (file, fields) in files {
            let Some(node) = fields.get("servers") else {
                continue;
            };
            self.enter(*file);
            for mut step in self.startups(node, turns, &parts.servers) {
                place_in_file(&mut step, *file);
                // A server that is defined twice is a problem already.
                if all.iter().all(|other| other.id != step.id) {
                    all.push(step);
                }
            }
        }
        self.enter(0);
        all
    }

    /// No other step can have the id of one of these.
    pub(super) fn ids_of_startups(
        &mut self,
        raw: &[UnreadStep<'_, 't>],
        ids: &[String],
        startups: &[Step],
    ) {
        for (raw, id) in raw.iter().zip(ids) {
            let Some(startup) = startups.iter().find(|startup| startup.id == *id) else {
                continue;
            };
            self.enter(raw.file);
            let list = Path::ROOT.key(raw.section_key());
            let entry = raw.node.entry("id");
            let span = entry.map_or(raw.node.span, |entry| entry.value.span);
            let message = format!(
                "`{id}` is the id of what `startup` of the server `{}` expects",
                startup.server
            );
            self.problem(span, list.index(raw.index).key("id"), message)
                .hint("give this step another id");
        }
        self.enter(0);
    }

    /// The steps that the servers of one file come to, in the order of the file.
    /// A server that does not take its turn in this combination of the matrix has
    /// none.
    pub(super) fn startups(
        &mut self,
        node: &Node<'t>,
        turns: Option<&IndexMap<String, Vec<String>>>,
        servers: &IndexMap<String, Server>,
    ) -> Vec<Step> {
        let all = Path::ROOT.key("servers");
        let mut steps = Vec::new();
        let Data::Map(entries) = &node.data else {
            return steps;
        };
        for Entry { key, value, .. } in entries {
            let (Some(startup), Some(server)) = (value.entry("startup"), servers.get(key.as_ref()))
            else {
                continue;
            };
            let path = all.key(key);
            let step = self.startup(startup, path.key("startup"), server);
            let rests = turns.is_some_and(|turns| {
                let takes_turns = turns.values().any(|servers| servers.contains(&server.name));
                let variant = self.variant.as_ref();
                let is_due = variant.is_some_and(|v| v.servers.values().any(|s| *s == server.name));
                takes_turns && !is_due
            });
            steps.extend(step.filter(|_| !rests));
        }
        steps
    }

    fn startup(&mut self, entry: &Entry<'t>, path: Path<'_>, server: &Server) -> Option<Step> {
        let node = &entry.value;
        let fields = self.fields(node, path, &STARTUP)?;
        let mut needs = Needs::new();
        let expected = ["stderr", "server_info", "capabilities", "refuses"];
        if !expected.iter().any(|key| fields.get(key).is_some()) {
            self.problem(node.span, path, "nothing is expected of the start")
                .hint(
                    "say what, as in `startup: { stderr: { contains: listening } }` or \
                     `startup: { refuses: { exit: 2 } }`",
                );
        }
        let mut expect = Expect::default();
        if let Some(node) = fields.get("stderr") {
            expect.stderr = self.predicates(node, path.key("stderr"), Target::Stderr, &mut needs);
        }
        let mut json = |key: &str, due: DueAnswer| match fields.get(key) {
            Some(node) => {
                self.names.due_answer = due;
                let expects = self.json_expects(node, path.key(key), &mut needs);
                self.names.due_answer = DueAnswer::default();
                expects
            }
            None => Vec::new(),
        };
        let mut startup = StartupExpect {
            // Of a server of the modern era it may be missing.
            server_info: json("server_info", DueAnswer::default()),
            capabilities: json("capabilities", DueAnswer::an_object()),
            refuses: None,
        };
        if let Some(entry) = fields.entry("refuses") {
            startup.refuses = self.refuses(entry, fields, &mut expect, &mut needs);
        }
        expect.startup = Some(Box::new(startup));
        self.has_no_process(fields, server);
        let tags = match fields.get("tags") {
            Some(node) => self.words(node, path.key("tags"), "tags"),
            None => self.defaults.tags.clone(),
        };
        let condition = fields
            .get("if")
            .and_then(|node| self.condition(node, path.key("if"), Some(&server.name), None));
        let id = format!("{PREFIX}{}", server.name);
        Some(Step {
            name: id.clone(),
            id,
            section: Section::Steps,
            server: server.name.clone(),
            request: Request::Startup,
            args: Value::Null,
            at_once: Vec::new(),
            expect,
            capture: IndexMap::new(),
            tags,
            timeout: None,
            progress_extends: None,
            total_timeout: None,
            at: self.at(entry.key_span),
            path: path.to_doc(),
            needs: Vec::new(),
            answers: Vec::new(),
            log_level: None,
            cancel: None,
            bare: false,
            requires: server.requires.clone(),
            condition,
            until: None,
            case: None,
        })
    }

    fn refuses(
        &mut self,
        entry: &Entry<'t>,
        startup: Fields<'_, 't, '_>,
        expect: &mut Expect,
        needs: &mut Needs,
    ) -> Option<RefusalExpect> {
        let path = startup.path.key("refuses");
        let fields = self.fields(&entry.value, path, &REFUSES)?;
        for key in ["stderr", "server_info", "capabilities"] {
            if let Some(other) = startup.entry(key) {
                let message = format!("a server that refuses to start has no `{key}` of a start");
                let problem = self.problem(other.key_span, startup.path, message);
                problem.hint(match key {
                    "stderr" => "put it into `refuses`",
                    _ => "leave it or `refuses` out",
                });
            }
        }
        let exit = match fields.get("exit") {
            Some(code) => {
                let path = path.key("exit");
                match &code.data {
                    Data::Number(number) if number.as_u64().is_some_and(|code| code < 256) => {
                        vec![Predicate {
                            operator: Operator::Equals,
                            operand: code.to_value(),
                            redact: Vec::new(),
                            at: self.at(code.span),
                        }]
                    }
                    Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                        self.problem(code.span, path, "an exit code must be from 0 to 255")
                            .hint("as in `exit: 2`, or `exit: { one_of: [1, 2] }`");
                        Vec::new()
                    }
                    Data::List(_) | Data::Map(_) => {
                        self.predicates(code, path, Target::ExitCode, needs)
                    }
                }
            }
            None => Vec::new(),
        };
        if let Some(node) = fields.get("stderr") {
            expect.stderr = self.predicates(node, path.key("stderr"), Target::Stderr, needs);
        }
        Some(RefusalExpect {
            exit,
            at: self.at(entry.key_span),
        })
    }

    /// A server that somebody else started has no stderr, and does not exit.
    fn has_no_process(&mut self, fields: Fields<'_, 't, '_>, server: &Server) {
        if server.command().is_some() || !matches!(server.transport, Transport::Http { .. }) {
            return;
        }
        for key in ["stderr", "refuses"] {
            if let Some(entry) = fields.entry(key) {
                let message = format!(
                    "jelly does not start the server `{}`, so there is no `{key}` to look at",
                    server.name
                );
                self.problem(entry.key_span, fields.path, message)
                    .hint("give it a `command`, or look at `server_info` and `capabilities`");
            }
        }
    }

    /// Takes note of these steps for those that `needs` one; they come before the
    /// steps at `position`.
    pub(super) fn name_startups(&mut self, startups: &[Step], position: usize) {
        for (index, step) in startups.iter().enumerate() {
            let named = self.names.steps.entry(step.id.clone()).or_default();
            named.push((position + index, step.id.clone()));
        }
    }

    /// Nothing can be sent to a server that must not start.
    pub(super) fn used_though_it_refuses(
        &mut self,
        step: &Step,
        node: &Node<'t>,
        path: Path<'_>,
        startups: &[Step],
    ) {
        let refuses = |other: &&Step| other.server == step.server && other.expects_refusal();
        if let Some(startup) = startups.iter().find(refuses) {
            let span = node.entry("server").map_or(node.span, |it| it.value.span);
            let message = format!(
                "the server `{}` is expected to refuse to start, so no step can use it",
                startup.server
            );
            self.problem(span, path, message)
                .hint("define another server that does start, or leave `startup.refuses` out");
        }
    }
}
