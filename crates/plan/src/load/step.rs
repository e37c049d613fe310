//! `setup`, `steps` and `teardown`.

use super::cases::UnreadCase;
use super::due_answer::DueAnswer;
use super::features::Of;
use super::path::Path;
use super::reader::{Fields, Reader, meaning};
use super::references::{Needs, TemplatePlace};
use crate::grammar::STEP;
use crate::same_path::{MAX_NESTING, nesting};
use crate::syntax::{Data, Entry, Node};
use crate::template::has_reference;
use crate::{Capture, Expect, LogLevel, Request, Step, StepCase};
use indexmap::IndexMap;
use jelly_base::mcp::ListKind;
use jelly_base::model::Section;
use serde_json::Value;
use serde_json_path::JsonPath;
use std::borrow::Cow;
use std::collections::HashMap;

/// A step of one of the three lists, before it is read.
#[derive(Clone)]
pub(super) struct UnreadStep<'n, 't> {
    pub section: Section,
    /// Which file it stands in.
    pub file: usize,
    /// In its list.
    pub index: usize,
    pub node: Cow<'n, Node<'t>>,
    /// Which of its cases it is, once they are written out.
    pub case: Option<UnreadCase>,
}

impl UnreadStep<'_, '_> {
    /// The key of its list.
    pub(super) fn section_key(&self) -> &'static str {
        match self.section {
            Section::Setup => "setup",
            Section::Steps => "steps",
            Section::Teardown => "teardown",
        }
    }
}

/// The id of every step, in order: its own, or one made from what it does.
pub(super) fn ids(steps: &[UnreadStep<'_, '_>]) -> Vec<String> {
    let own = |raw: &UnreadStep<'_, '_>| {
        let id = raw.node.entry("id")?.value.as_str()?;
        (!id.is_empty()).then(|| id.to_owned())
    };
    let mut taken: HashMap<String, usize> = steps
        .iter()
        .filter_map(own)
        .map(|id| (id, usize::MAX))
        .collect();
    // How often a name was made already, so that many steps of one tool cost
    // no search each.
    let mut made: HashMap<String, usize> = HashMap::new();
    steps
        .iter()
        .map(|raw| {
            own(raw).unwrap_or_else(|| {
                let base = name_for(&raw.node);
                let count = made.entry(base.clone()).or_insert(0);
                loop {
                    *count += 1;
                    let id = match *count {
                        1 => base.clone(),
                        n => format!("{base}-{n}"),
                    };
                    if !taken.contains_key(&id) {
                        taken.insert(id.clone(), raw.index);
                        return id;
                    }
                }
            })
        })
        .collect()
}

fn name_for(node: &Node<'_>) -> String {
    let of = |key: &str| node.entry(key).and_then(|entry| entry.value.as_str());
    let named = of("tool").or_else(|| of("prompt"));
    // A case may say which tool it is.
    if let Some(name) = named.filter(|name| !has_reference(name)) {
        name.to_owned()
    } else if let Some(list) = of("list") {
        format!("list-{list}")
    } else if let Some(kind) = ["complete", "subscribe", "unsubscribe", "raw", "http"]
        .into_iter()
        .find(|kind| node.entry(kind).is_some())
    {
        kind.to_owned()
    } else if node.entry("raw_base64").is_some() {
        "raw".to_owned()
    } else if of("read").is_some() {
        "read".to_owned()
    } else if let Some(method) = of("request").filter(|method| !has_reference(method)) {
        method.replace('/', "-")
    } else {
        "step".to_owned()
    }
}

/// The names that each step captures.
pub(super) fn captured<'n, 't>(raw: &'n UnreadStep<'_, 't>) -> &'n [Entry<'t>] {
    match raw.node.entry("capture").map(|entry| &entry.value.data) {
        Some(Data::Map(entries)) => entries,
        Some(Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) | Data::List(_))
        | None => &[],
    }
}

impl<'t> Reader<'t> {
    /// Reads one step; `position` counts over all three lists.
    pub(super) fn step(
        &mut self,
        raw: &UnreadStep<'_, 't>,
        id: &str,
        position: usize,
        path: Path<'_>,
    ) -> Option<Step> {
        let node = raw.node.as_ref();
        let case = raw.case.as_ref();
        self.settle_snapshots(None, None);
        let fields = self.fields(node, path, &STEP)?;
        self.id(fields);
        let mut needs = Needs::new();
        let name = match (self.read::<&str>(fields, "name"), case) {
            (None, _) => id.to_owned(),
            (Some(name), None) => name.to_owned(),
            (Some(name), Some(case)) => format!("{name} [{}]", case.label),
        };
        let server = self.server_of(fields);
        let request = self.request(fields, &mut needs);
        self.unfit_keys(fields, request.as_ref());
        if let (Some(Request::Subscribe(_)), Some(server)) = (&request, &server) {
            let place = (position, server.clone());
            self.names.subscriptions.insert(id.to_owned(), place);
            self.names.unsubscribed.remove(id);
        }
        if let (Some(Request::Unsubscribe(other)), Some(server)) = (&request, &server) {
            self.same_server(other, server, node, path);
        }
        if let Some(node) = fields.get("needs") {
            self.needed(node, path.key("needs"), (id, position), &mut needs);
        }
        let condition = fields
            .get("if")
            .and_then(|node| self.condition(node, path.key("if"), server.as_deref(), case));
        let mut requires = self.requirements(fields);
        let of_server = server
            .as_ref()
            .and_then(|name| self.names.requires.get(name));
        requires.extend(of_server.into_iter().flatten().cloned());
        let timeout = self.read(fields, "timeout").or(self.defaults.timeout);
        let (progress_extends, total_timeout) =
            self.patience_of_step(fields, server.as_deref(), timeout);
        let patience = (timeout, progress_extends, total_timeout);
        let limit = self.names.longest_wait(server.as_deref(), patience);
        let due = DueAnswer::of(request.as_ref(), limit);
        self.names.due_answer = due;
        let until = self.until(fields, request.as_ref(), &mut needs);
        self.names.due_answer = DueAnswer::default();
        let args = self.args(fields, request.as_ref(), &mut needs);
        let at_once = self.at_once(fields, request.as_ref(), &mut needs);
        let answers = match fields.get("answers") {
            Some(node) => {
                let of = (Of::Step, server.as_deref());
                self.answers(node, path.key("answers"), of, &mut needs)
            }
            None => Vec::new(),
        };
        self.names.due_answer = due;
        let expect = match fields.get("expect") {
            Some(node) => self.expect(node, path.key("expect"), &mut needs),
            // The last answer is the one that was waited for.
            None => match &until {
                Some(until) => until.expect.clone(),
                None => Expect::default(),
            },
        };
        self.fits_http(fields, request.as_ref());
        if let (Some(entry), Some(until)) = (fields.entry("expect"), &until)
            && until.expect.wants_error() != expect.wants_error()
        {
            let message = "`until` and `expect` contradict each other: one of them wants an error";
            self.problem(entry.key_span, path, message)
                .hint("the answer that is waited for is held against `expect` too");
        }
        // Its own captures are known only to the steps after it.
        let capture = match fields.get("capture") {
            Some(node) => self.capture(node, path.key("capture"), id, position),
            None => IndexMap::new(),
        };
        self.names.due_answer = DueAnswer::default();
        let tags = match fields.get("tags") {
            Some(node) => self.words(node, path.key("tags"), "tags"),
            None => self.defaults.tags.clone(),
        };
        let log_level = self.read(fields, "log_level");
        let log_level = log_level.and_then(|name| meaning(name, &LogLevel::ALL));
        let bare = self.read(fields, "bare").unwrap_or_default();
        let cancel = self.cancel(fields, timeout);
        let step = Step {
            id: id.to_owned(),
            name,
            section: raw.section,
            server: server?,
            request: request?,
            args,
            at_once,
            expect,
            capture,
            tags,
            timeout,
            progress_extends,
            total_timeout,
            at: self.at(case.map_or(node.span, |case| case.span)),
            path: path.to_doc(),
            needs: needs.into_values().collect(),
            requires,
            condition,
            until,
            case: case.map(|case| StepCase {
                step: case.step.clone(),
                label: case.label.clone(),
                filled: case
                    .filled
                    .iter()
                    .map(|below| path.to_doc().join(below))
                    .collect(),
            }),
            answers,
            log_level,
            cancel,
            bare,
        };
        self.settle_snapshots(Some(&step), case);
        Some(step)
    }

    fn id(&mut self, fields: Fields<'_, 't, '_>) {
        let id: Option<&str> = self.read(fields, "id");
        if let (Some(id), Some(node)) = (id, fields.get("id"))
            && (id.trim() != id || id.contains(char::is_control))
        {
            let message = "an id must be a single line without surrounding spaces";
            self.problem(node.span, fields.path.key("id"), message)
                .hint("put a description for people in `name`");
        }
    }

    /// The server's name; whether there is such a server is not asked here,
    /// since a plan with a wrong name can still be repaired.
    fn server_of(&mut self, fields: Fields<'_, 't, '_>) -> Option<String> {
        if fields.get("server").is_some() {
            let name = self.read(fields, "server")?;
            return Some(self.in_turn(name));
        }
        match self.names.likely_servers.as_slice() {
            [only] => Some(self.in_turn(only)),
            // Without any, the servers are what is wrong.
            [] => None,
            _ if self.names.incomplete => None,
            several => {
                let names = several.join("`, `");
                self.problem(fields.node.span, fields.path, "a step needs a `server`")
                    .hint(format!("it is one of `{names}`"));
                None
            }
        }
    }

    /// The server that stands under a name in this combination of the matrix.
    fn in_turn(&self, name: &str) -> String {
        let variant = self.variant.as_ref();
        variant
            .map_or(name, |variant| variant.server(name))
            .to_owned()
    }

    fn same_server(&mut self, id: &str, server: &str, node: &Node<'t>, path: Path<'_>) {
        let other = self.names.subscriptions.get(id).map(|(_, s)| s.clone());
        if let Some(other) = other.filter(|other| other != server) {
            let message = format!("step `{id}` subscribes to the server `{other}`");
            self.problem(node.span, path, message)
                .hint(format!("write `server: {other}`"));
        }
    }

    fn request(&mut self, fields: Fields<'_, 't, '_>, needs: &mut Needs) -> Option<Request> {
        let (node, path) = (fields.node, fields.path);
        let mut kinds = fields.alternatives();
        let Some(kind) = kinds.next() else {
            let message = "a step needs one of `tool`, `list`, `read`, `prompt`, `request`, \
                           `complete`, `subscribe`, `unsubscribe`, `raw` or `http`";
            let entries = fields.entries.len();
            let problem = self.problem(node.span, path, message);
            if entries == 1 {
                problem.hint(
                    "what belongs to a step stands in one item of the list: only its first line \
                     begins with `-`",
                );
            }
            return None;
        };
        if let Some(second) = kinds.next() {
            let message = format!(
                "a step does one thing, and here are `{}` and `{}`",
                kind.key, second.key
            );
            self.problem(second.key_span, path, message)
                .also(kind.key_span.range(), "the other one")
                .hint("make two steps of it");
            return None;
        }
        let value = &kind.value;
        let to = path.key(&kind.key);
        match kind.key.as_ref() {
            "tool" => self.foreign_name(fields, "tool").map(Request::Tool),
            "list" => {
                let known = ListKind::ALL.map(|kind| (kind.plan_key(), kind));
                meaning(self.read(fields, "list")?, &known).map(Request::List)
            }
            "read" => {
                let uri = self.string(value, to)?.to_owned();
                if uri.is_empty() {
                    self.problem(value.span, to, "a URI can't be empty");
                    return None;
                }
                self.templates(value, to, TemplatePlace::Step, needs);
                Some(Request::Read(uri))
            }
            "prompt" => self.foreign_name(fields, "prompt").map(Request::Prompt),
            "complete" => self.completion(value, to, needs),
            "subscribe" => self.subscription(value, to, needs),
            "unsubscribe" => self.unsubscription(value, to, needs),
            "raw" => self.raw_text(value, to, needs),
            "raw_base64" => self.raw_base64(value, to),
            "http" => self.http_call(value, to, needs),
            _ => self.read(fields, "request").map(Request::Method),
        }
    }

    fn args(
        &mut self,
        fields: Fields<'_, 't, '_>,
        request: Option<&Request>,
        needs: &mut Needs,
    ) -> Value {
        let path = fields.path;
        let Some(args) = fields.entry("args") else {
            return self.http_body(fields);
        };
        if let Some(Request::Http(_)) = request {
            self.problem(args.key_span, path, "`http` takes no `args`")
                .hint("what it sends is its `body`, as in `http: { post: /a, body: { b: 1 } }`");
            return Value::Null;
        }
        let takes_none = request
            .map(Request::kind)
            .filter(|kind| ["list", "read", "subscribe", "unsubscribe", "raw"].contains(kind));
        if let Some(kind) = takes_none {
            self.problem(args.key_span, path, format!("`{kind}` takes no `args`"))
                .hint("`request: METHOD` sends any parameters");
            return Value::Null;
        }
        let path = path.key("args");
        if let Some(Request::Method(_)) = request {
            // A negative test may well send a list or a number.
            self.templates(&args.value, path, TemplatePlace::Args, needs);
            return args.value.to_value();
        }
        if self
            .entries(&args.value, path, "arguments by name")
            .is_none()
        {
            return Value::Null;
        }
        self.templates(&args.value, path, TemplatePlace::Args, needs);
        args.value.to_value()
    }

    fn capture(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        id: &str,
        position: usize,
    ) -> IndexMap<String, Capture> {
        let mut captures = IndexMap::new();
        for entry in self
            .entries(node, path, "names with JSON paths")
            .unwrap_or(&[])
        {
            let path = path.key(&entry.key);
            let name = entry.key.as_ref();
            self.names.later_captures.remove(name);
            if !self.new_name(entry.key_span, name, path) {
                continue;
            }
            if self.names.vars.contains(name) {
                self.problem(
                    entry.key_span,
                    path,
                    format!("`{name}` is a variable already"),
                );
            } else if let Some((_, step)) = self.names.captures.get(name) {
                let message = format!("`{name}` is captured already, by step `{step}`");
                self.problem(entry.key_span, path, message)
                    .hint("give each capture its own name");
            } else {
                self.names
                    .captures
                    .insert(name.to_owned(), (position, id.to_owned()));
            }
            if let Some((json_path, raw)) = self.result_path(&entry.value, path) {
                let capture = Capture {
                    path: json_path,
                    raw,
                    at: self.at(entry.key_span),
                };
                captures.insert(name.to_owned(), capture);
            }
        }
        captures
    }

    /// An RFC 9535 path, and its text.
    pub(super) fn json_path(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
    ) -> Option<(JsonPath, String)> {
        let raw = self.string(node, path)?;
        if nesting(raw) > MAX_NESTING {
            let message = format!("a JSONPath of more than {MAX_NESTING} brackets within brackets");
            self.problem(node.span, path, message)
                .hint("select less at once, or capture a part of the answer first");
            return None;
        }
        match JsonPath::parse(raw) {
            Ok(parsed) => Some((parsed, raw.to_owned())),
            Err(error) => {
                let from = raw
                    .char_indices()
                    .nth(error.position().saturating_sub(1))
                    .map_or(raw.len(), |(at, _)| at);
                let span = if from < raw.len() {
                    self.within(node, &raw[from..])
                } else {
                    node.span.range()
                };
                let message = match error.message() {
                    "parser error" => "no JSONPath".to_owned(),
                    why => format!("no JSONPath: {why}"),
                };
                let problem = self.problem_at(span, path, message);
                if raw.starts_with('$') {
                    problem.hint("RFC 9535, as in `$.content[0].text`");
                } else {
                    problem.hint("a path must begin with `$`, as in `$.content[0].text`");
                }
                None
            }
        }
    }

    /// A list of strings.
    pub(super) fn words(&mut self, node: &Node<'t>, path: Path<'_>, what: &str) -> Vec<String> {
        let items = self.list(node, path, what).unwrap_or(&[]);
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.word(item, path.index(index)))
            .map(std::borrow::Cow::into_owned)
            .collect()
    }
}
