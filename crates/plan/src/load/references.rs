//! The names that `${…}` may use, and where.

use super::due_answer::DueAnswer;
use super::path::Path;
use super::reader::Reader;
use crate::argument_files::FileReader;
use crate::syntax::{Data, Node, Span, reference_meant};
use crate::template::{PREFIXES, Part, RESERVED, Template, TemplateError, has_reference};
use crate::{Requirement, Variant};
use indexmap::{IndexMap, IndexSet};
use jelly_base::mcp::Revision;
use jelly_base::text::close_names;
use jelly_base::text::redact::has_secret_form;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Servers that are named where another one was meant.
const SHOWN: usize = 20;

/// The names known so far, in the order of the plan.
#[derive(Default)]
pub(super) struct KnownNames {
    pub vars: IndexSet<String>,
    /// What they are.
    pub values: IndexMap<String, Value>,
    /// Variables below the one that is read.
    pub later_vars: IndexSet<String>,
    pub servers: IndexSet<String>,
    pub services: IndexSet<String>,
    /// What a step may mean that names no server: one of these, if there is
    /// only one.
    pub likely_servers: Vec<String>,
    /// By name: the step that captures it, and its position.
    pub captures: HashMap<String, (usize, String)>,
    /// Captures of this step and those after it.
    pub later_captures: HashMap<String, String>,
    /// By id, of a step with cases by that of all of them too: positions and
    /// ids.
    pub steps: HashMap<String, Vec<(usize, String)>>,
    /// By server: what it requires for all of its steps.
    pub requires: HashMap<String, Vec<Requirement>>,
    /// By server: how long its answers are waited for.
    pub patience: HashMap<String, ServerPatience>,
    /// By id: the steps that subscribe, with position and server.
    pub subscriptions: HashMap<String, (usize, String)>,
    /// Of these, whose subscription a step before this one ends.
    pub unsubscribed: HashSet<String>,
    /// By server: what the plan itself holds it to, as written and as revisions.
    pub pins: HashMap<String, (String, Vec<&'static Revision>)>,
    /// Of the step whose expectations are read.
    pub due_answer: DueAnswer,
    /// What is sent of files.
    pub argument_files: FileReader,
    /// A file that is included could not be read: names that nobody has here may
    /// be its.
    pub incomplete: bool,
    /// The plan, and what it includes.
    pub files: Vec<PathBuf>,
}

/// How long the answers of a server are waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerPatience {
    pub request_timeout: Duration,
    pub extends: bool,
    pub total: Duration,
}

impl KnownNames {
    /// Takes note that some servers take turns under other names.
    pub(super) fn under_other_names(&mut self, turns: &IndexMap<String, Vec<String>>) {
        let hidden = |name: &String| turns.values().any(|servers| servers.contains(name));
        let shown = self.servers.iter().filter(|name| !hidden(name));
        self.likely_servers = shown.chain(turns.keys()).cloned().collect();
    }
}

/// Where a template stands, which decides what it may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplatePlace {
    Variable,
    Server,
    Step,
    /// The `args` of a step.
    Args,
}

impl TemplatePlace {
    fn is_in_step(self) -> bool {
        matches!(self, Self::Step | Self::Args)
    }
}

/// Steps whose captures are used, by position.
pub(super) type Needs = BTreeMap<usize, String>;

impl<'t> Reader<'t> {
    /// Reads `text`, which is the value of `node`, as a template whose names
    /// must all be known.
    pub(super) fn template(
        &mut self,
        node: &Node<'t>,
        text: &str,
        path: Path<'_>,
        place: TemplatePlace,
        needs: &mut Needs,
    ) -> Option<Template> {
        if !has_reference(text) {
            return Some(Template::literal(text));
        }
        match Template::parse(text) {
            Ok(template) => {
                for part in &template.parts {
                    self.reference(node, part, path, place, needs);
                }
                Some(template)
            }
            Err(error) => {
                let span = self.within(node, error.reference());
                let close = match &error {
                    TemplateError::UnknownPrefix { prefix, .. } => close_names(prefix, PREFIXES),
                    TemplateError::Unclosed { .. }
                    | TemplateError::Empty { .. }
                    | TemplateError::BadName { .. } => Vec::new(),
                };
                // As other tools write it: `${{ secrets.X }}`, `${ x }`, `${input:x}`.
                let foreign = error
                    .reference()
                    .strip_prefix("${")
                    .and_then(reference_meant);
                let foreign = foreign.filter(|meant| meant != error.reference());
                let problem = self.problem_at(span, path, error.to_string());
                let with_default = error.reference().strip_prefix("${");
                let with_default = with_default.and_then(|inner| inner.split_once(":-"));
                let with_default = with_default.filter(|(name, _)| !name.is_empty());
                match (with_default, close.first(), foreign) {
                    (Some((name, _)), ..) => problem.hint(format!(
                        "a variable of the environment is `${{env:{name}}}`, and has no default; \
                         what has one stands under `vars`, and `--var` replaces it"
                    )),
                    (None, Some(prefix), _) => problem.hint(format!("did you mean `{prefix}:`?")),
                    (None, None, Some(meant)) => problem.hint(format!("write `{meant}`")),
                    (None, None, None) => problem.hint("a literal `${` is written `$${`"),
                };
                None
            }
        }
    }

    /// Checks every template in `node`, however deep. `None` if one is broken.
    pub(super) fn templates(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        place: TemplatePlace,
        needs: &mut Needs,
    ) {
        match &node.data {
            Data::Null | Data::Bool(_) | Data::Number(_) => {}
            Data::String(text) => {
                if has_reference(text) {
                    self.template(node, text, path, place, needs);
                }
            }
            Data::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.templates(item, path.index(index), place, needs);
                }
            }
            Data::Map(entries) => {
                for entry in entries {
                    self.templates(&entry.value, path.key(&entry.key), place, needs);
                }
            }
        }
    }

    fn reference(
        &mut self,
        node: &Node<'t>,
        part: &Part,
        path: Path<'_>,
        place: TemplatePlace,
        needs: &mut Needs,
    ) {
        match part {
            Part::Text(_) | Part::Workspace | Part::Tmp => {}
            Part::Env(name) | Part::Secret(name) => {
                if has_secret_form(name) {
                    let kind = if matches!(part, Part::Env(_)) {
                        "env"
                    } else {
                        "secret"
                    };
                    let what = format!(
                        "`${{{kind}:…}}` takes the name of an environment variable, and what \
                         stands here looks like a secret itself"
                    );
                    let span = self.within(node, &part.reference());
                    self.problem_at(span, path, what).hint(format!(
                        "write a name such as `${{{kind}:TOKEN}}`, and set that variable where \
                         jelly runs"
                    ));
                }
            }
            Part::Port(None) => {
                if place == TemplatePlace::Variable {
                    let span = self.within(node, "${port}");
                    self.problem_at(span, path, "a variable belongs to no server")
                        .hint("name the server: `${port:SERVER}`");
                }
            }
            Part::Port(Some(server)) => {
                if !self.names.servers.contains(server) && !self.names.services.contains(server) {
                    let span = self.within(node, &part.reference());
                    let services = &self.names.services;
                    let close = self.close(server, self.names.servers.iter().chain(services));
                    let message = match services.is_empty() {
                        true => format!("no server is called `{server}`"),
                        false => format!("no server or service is called `{server}`"),
                    };
                    let problem = self.problem_at(span, path, message);
                    if let Some(close) = close {
                        problem.hint(format!("did you mean `${{port:{close}}}`?"));
                    }
                }
            }
            Part::File(file) | Part::Base64(file) => self.file(node, (part, file), path, place),
            Part::Name(name) => self.name(node, name, path, place, needs),
        }
    }

    /// A file that is sent, which only arguments are.
    fn file(
        &mut self,
        node: &Node<'t>,
        (part, file): (&Part, &str),
        path: Path<'_>,
        place: TemplatePlace,
    ) {
        let refused = match place {
            TemplatePlace::Args => self
                .names
                .argument_files
                .read(file, matches!(part, Part::File(_))),
            TemplatePlace::Variable => Err((
                "a variable holds no file".to_owned(),
                "write it in the `args` of the step that sends it",
            )),
            TemplatePlace::Server => Err((
                "a server is given no file".to_owned(),
                "give it the path, as in `${workspace}/PATH`, and let it read the file; a secret is \
                 `${secret:NAME}`",
            )),
            TemplatePlace::Step => Err((
                "a file stands only in the `args` of a step".to_owned(),
                "a long text that is expected is a `snapshot`",
            )),
        };
        if let Err((message, hint)) = refused {
            let span = self.within(node, &part.reference());
            self.problem_at(span, path, message).hint(hint);
        }
    }

    fn name(
        &mut self,
        node: &Node<'t>,
        name: &str,
        path: Path<'_>,
        place: TemplatePlace,
        needs: &mut Needs,
    ) {
        if self.names.vars.contains(name) {
            return;
        }
        let captured = self.names.captures.get(name).cloned();
        if let Some((position, step)) = captured.as_ref().filter(|_| place.is_in_step()) {
            needs.insert(*position, step.clone());
            return;
        }
        let span = self.within(node, &format!("${{{name}}}"));
        let later = self.names.later_captures.get(name).cloned();
        if captured.is_some() || (later.is_some() && !place.is_in_step()) {
            let message = format!("`{name}` is a capture, which only steps can use");
            self.problem_at(span, path, message);
            return;
        }
        if let Some(step) = later {
            let message = format!("`{name}` is not captured yet: step `{step}` does that");
            self.problem_at(span, path, message)
                .hint("move the step that captures it before the one that uses it");
            return;
        }
        if place == TemplatePlace::Variable && self.names.later_vars.contains(name) {
            self.problem_at(span, path, format!("`{name}` is defined only below"))
                .hint(
                    "a variable may use the variables before it; move it up, or, where it uses \
                     this one, too, give one of the two a value of its own",
                );
            return;
        }
        if self.names.incomplete {
            return;
        }
        let known = self.names.vars.iter().chain(self.names.captures.keys());
        let close = self.close(name, known.map(String::as_str).chain(RESERVED));
        let upper = name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
        // As other tools write it: `${env.X}`, `${vars.x}`.
        let foreign = reference_meant(name).filter(|meant| {
            let inner = meant.trim_start_matches("${").trim_end_matches('}');
            inner.contains(':') || self.names.vars.contains(inner)
        });
        let problem = self.problem_at(span, path, format!("nothing is called `{name}`"));
        match (foreign, close) {
            (Some(meant), _) => problem.hint(format!("write `{meant}`")),
            (None, Some(close)) => problem.hint(format!("did you mean `${{{close}}}`?")),
            (None, None) if upper => problem.hint(format!(
                "an environment variable is written `${{env:{name}}}`"
            )),
            (None, None) => problem.hint(format!(
                "define it under `vars`, or capture it in a step before; \
                 a literal `${{` is written `$${{`, as in `$${{{name}}}`"
            )),
        };
    }

    pub(super) fn unknown_server(&mut self, node: &Node<'t>, path: Path<'_>) {
        let Some(value) = node.entry("server").map(|entry| &entry.value) else {
            return;
        };
        let Some(name) = value.as_str() else {
            return;
        };
        let turns = |v: &Arc<Variant>| v.servers.contains_key(name);
        let known = self.names.servers.contains(name) || self.variant.as_ref().is_some_and(turns);
        if !known && !name.contains("${") {
            self.no_such_server(value.span, path.key("server"), name);
        }
    }

    pub(super) fn no_such_server(&mut self, span: Span, path: Path<'_>, name: &str) {
        let servers = &self.names.servers;
        // Without any, the servers are what is wrong.
        if self.names.incomplete || servers.is_empty() {
            return;
        }
        let hint = match self.close(name, servers) {
            Some(close) => format!("did you mean `{close}`?"),
            None => {
                let some: Vec<&str> = servers.iter().map(String::as_str).take(SHOWN).collect();
                let more = if servers.len() > SHOWN {
                    " and others"
                } else {
                    ""
                };
                format!("the plan has `{}`{more}", some.join("`, `"))
            }
        };
        self.problem(span, path, format!("no server is called `{name}`"))
            .hint(hint);
    }

    /// A name that a variable or a capture may have.
    pub(super) fn new_name(&mut self, span: Span, name: &str, path: Path<'_>) -> bool {
        if RESERVED.contains(&name) {
            self.problem(span, path, format!("`{name}` already means something"))
                .hint("choose another name");
            false
        } else if crate::template::is_name(name) {
            true
        } else {
            self.problem(span, path, format!("`{name}` can't be a name"))
                .hint("use letters, digits, `_`, `-` and `.`, a letter or `_` first");
            false
        }
    }
}
