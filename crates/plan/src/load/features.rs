//! Answers to the server's own questions, notifications, completion,
//! subscriptions, raw bytes.

use super::path::Path;
use super::reader::{Fields, Reader};
use super::references::{Needs, TemplatePlace};
use crate::grammar::{ANSWER, COMPLETE, NOTIFICATION, RPC_ERROR, SUBSCRIPTION, Target};
use crate::syntax::{Data, Node};
use crate::{
    Answer, Completion, CompletionOf, Give, NotificationExpect, Operator, Predicate, Raw, Request,
    Step, Subscription,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jelly_base::mcp::{CLIENT_METHODS, Method, NOTIFICATIONS, Notification, REVISIONS};
use jelly_base::text::close_names;
use serde_json::{Map, Value};

/// What a person may do about an elicitation.
const ACTIONS: [&str; 3] = ["accept", "decline", "cancel"];

/// How what a model answers is written.
const SAMPLED: &str =
    "as in `result: { role: assistant, model: any, content: { type: text, text: hi } }`";
/// How roots are written.
const ROOTS: &str = "as in `result: { roots: [{ uri: \"file://${workspace}\" }] }`";

/// What servers ask of their clients.
fn asked() -> [&'static str; 3] {
    CLIENT_METHODS.each_ref().map(|method| method.name)
}

/// Whose answers they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Server,
    Step,
}

impl<'t> Reader<'t> {
    /// `answers`.
    pub(super) fn answers(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        (of, server): (Of, Option<&str>),
        needs: &mut Needs,
    ) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        let items = self.list(node, path, "answers").unwrap_or(&[]);
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let Some(answer) = self.answer(item, path, of, needs) else {
                continue;
            };
            self.asked_in_no_pin(&answer.method, server, item, path);
            if of == Of::Server && answers.iter().any(|a| a.method == answer.method) {
                let message = format!("`{}` is answered above already", answer.method);
                self.problem(item.span, path, message)
                    .hint("an answer of a server is given as often as asked; one that is given once belongs to a step");
            }
            answers.push(answer);
        }
        answers
    }

    /// An answer that the revision which the server is held to never asks for.
    fn asked_in_no_pin(
        &mut self,
        method: &str,
        server: Option<&str>,
        item: &Node<'t>,
        path: Path<'_>,
    ) {
        let pin = server.and_then(|server| self.names.pins.get(server));
        let (Some((pin, revisions)), Some(asked)) = (pin, Method::find_of_server(method)) else {
            return;
        };
        if !revisions.iter().any(|revision| asked.is_in(revision)) {
            let message =
                format!("nobody asks for `{method}` under `{pin}`, which the server is held to");
            let since = REVISIONS
                .iter()
                .rev()
                .find(|revision| asked.is_in(revision));
            let since = since.map_or("another", |revision| revision.name);
            let hint = format!("take the answer or the pin out; `{method}` is there since {since}");
            let node = item.entry("method").map_or(item, |entry| &entry.value);
            self.problem(node.span, path.key("method"), message)
                .hint(hint);
        }
    }

    /// A request that the revision which the server is held to does not have, where
    /// no error is expected.
    pub(super) fn sent_in_no_pin(&mut self, step: &Step, node: &Node<'t>, path: Path<'_>) {
        let Request::Method(method) = &step.request else {
            return;
        };
        let pin = self.names.pins.get(&step.server);
        let (Some((pin, revisions)), Some(sent)) = (pin, Method::find(method)) else {
            return;
        };
        if step.expects_error() || revisions.iter().any(|revision| sent.is_in(revision)) {
            return;
        }
        let message =
            format!("`{method}` does not exist under `{pin}`, which the server is held to");
        let mut has_it = REVISIONS.iter().filter(|revision| sent.is_in(revision));
        let newest = has_it
            .next()
            .map_or("another revision", |revision| revision.name);
        let hint = match has_it.next_back() {
            Some(oldest) => format!("it is of {} to {newest}", oldest.name),
            None => format!("it is of {newest}"),
        };
        let span = node
            .entry("request")
            .map_or(node.span, |entry| entry.value.span);
        self.problem(span, path.key("request"), message)
            .hint(format!(
                "{hint}; take the step or the pin out, or expect an `error`"
            ));
    }

    fn answer(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        of: Of,
        needs: &mut Needs,
    ) -> Option<Answer> {
        let fields = self.fields(node, path, &ANSWER)?;
        let method = self.required(fields, "method");
        let method = method.and_then(|value| self.asked_method(value, path.key("method")));
        let expect = match fields.get("expect") {
            Some(value) => self.json_expects(value, path.key("expect"), needs),
            None => Vec::new(),
        };
        let give = self.give(fields, of, needs);
        let optional = match fields.entry("optional") {
            Some(entry) if of == Of::Server => {
                let message = "a server's answers are always optional";
                self.problem(entry.key_span, path, message);
                false
            }
            Some(_) | None => self.read(fields, "optional").unwrap_or_default(),
        };
        let (method, give) = (method?, give?);
        if give == Give::AcceptDefaults && method != "elicitation/create" {
            let message = format!("`accept_defaults` is not an answer to `{method}`");
            self.problem(node.span, path, message)
                .hint("it accepts an `elicitation/create` with the defaults of its schema");
        }
        if let (Give::Result(result), "elicitation/create") = (&give, method.as_str())
            && let Some(action) = result.get("action").and_then(Value::as_str)
            && !ACTIONS.contains(&action)
            && !action.contains("${")
        {
            let message = format!("no elicitation is answered with the action `{action}`");
            let problem = self.problem(node.span, path, message);
            problem.hint(match close_names(action, ACTIONS).first() {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("it is one of `{}`", ACTIONS.join("`, `")),
            });
        }
        if let Give::Result(result) = &give {
            self.lacking_members(fields, &method, result);
            self.lacking_in_items(fields, &method, result);
            if let Some(node) = fields.get("result") {
                self.unfit_values(&method, node, path.key("result"));
            }
        }
        Some(Answer {
            method,
            expect,
            give,
            optional,
            at: self.at(node.span),
        })
    }

    /// What a server would refuse or misread: its SDK reads these members first.
    fn lacking_members(&mut self, fields: Fields<'_, 't, '_>, method: &str, result: &Value) {
        let needs = Method::find_of_server(method).map_or(&[][..], |method| method.result_needs);
        let lacking: Vec<&str> = needs
            .iter()
            .copied()
            .filter(|member| result.get(member).is_none())
            .collect();
        let (false, Some(entry)) = (lacking.is_empty(), fields.entry("result")) else {
            return;
        };
        let names = lacking.join("` and `");
        let message = format!("the result of `{method}` needs `{names}`");
        let path = fields.path.key("result");
        let written = self.written(&entry.value).into_owned();
        let is_empty = result.as_object().is_none_or(Map::is_empty);
        // On a line of its own a mapping has no braces.
        let members = match written.strip_prefix('{') {
            Some(members) => members.trim_start().to_owned(),
            None => format!("{written} }}"),
        };
        let problem = self.problem(entry.value.span, path, message);
        match method {
            "elicitation/create" if is_empty || written.contains('\n') => problem.hint(
                "`action: accept` with the answers below `content`, `action: decline` or \
                 `action: cancel`",
            ),
            // Only the action is missing.
            "elicitation/create" if result.get("content").is_some() => problem.hint(format!(
                "write `result: {{ action: accept, {members}`, or `result: {{ action: decline }}`"
            )),
            "elicitation/create" => problem.hint(format!(
                "write `result: {{ action: accept, content: {{ {members} }}`, \
                 or `result: {{ action: decline }}`"
            )),
            "roots/list" => problem.hint(ROOTS),
            _ => problem.hint(SAMPLED),
        };
    }

    /// As [`Self::lacking_members`], of each item of its list.
    fn lacking_in_items(&mut self, fields: Fields<'_, 't, '_>, method: &str, result: &Value) {
        let list = Method::find_of_server(method).and_then(|method| method.result_list);
        let (Some((member, needed)), Some(entry)) = (list, fields.entry("result")) else {
            return;
        };
        // What a variable holds shows only when it is sent.
        let is_variable = |value: &Value| value.as_str().is_some_and(|text| text.starts_with("${"));
        let is_whole = |items: &Vec<Value>| {
            let mut items = items.iter();
            items.all(|item| item.get(needed).is_some() || is_variable(item))
        };
        let given = result.get(member);
        if given.is_none_or(|given| given.as_array().is_some_and(is_whole) || is_variable(given)) {
            return;
        }
        let span = match entry.value.entry(member) {
            Some(given) => given.value.span,
            None => entry.value.span,
        };
        let path = fields.path.key("result");
        let message = format!("each item of `{member}` needs `{needed}`");
        self.problem(span, path.key(member), message).hint(ROOTS);
    }

    fn asked_method(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<String> {
        let method = self.fixed_string(node, path, "a method's name")?;
        // Servers may ask for what no specification knows; a slip, or a part of a name that
        // it knows, is no such.
        let part = || {
            let mut known = asked().into_iter();
            known
                .find(|known| known.starts_with(method) || method.starts_with(known))
                .map(str::to_owned)
        };
        let close = close_names(method, asked()).into_iter().next();
        if !asked().contains(&method)
            && let Some(close) = close.or_else(part)
        {
            self.problem(node.span, path, format!("no server asks for `{method}`"))
                .hint(format!("did you mean `{close}`?"));
            return None;
        }
        Some(method.to_owned())
    }

    fn give(&mut self, fields: Fields<'_, 't, '_>, of: Of, needs: &mut Needs) -> Option<Give> {
        let (node, path) = (fields.node, fields.path);
        let mut given = fields.alternatives();
        let Some(first) = given.next() else {
            let hint = match fields.get("method").and_then(Node::as_str) {
                Some("roots/list") => ROOTS,
                Some("sampling/createMessage") => SAMPLED,
                Some("elicitation/create") => "as in `result: { action: decline }`",
                Some(_) | None => "as in `error: { code: -32601 }`",
            };
            self.problem(node.span, path, "an answer needs a `result` or an `error`")
                .hint(hint);
            return None;
        };
        if let Some(second) = given.next() {
            let message = format!("an answer is one of `{}` and `{}`", first.key, second.key);
            self.problem(second.key_span, path, message);
            return None;
        }
        let place = match of {
            Of::Server => TemplatePlace::Server,
            Of::Step => TemplatePlace::Step,
        };
        let (value, to) = (&first.value, path.key(&first.key));
        match first.key.as_ref() {
            "result" => {
                self.entries(value, to, "the result")?;
                self.templates(value, to, place, needs);
                Some(Give::Result(value.to_value()))
            }
            "error" => {
                let parts = self.fields(value, to, &RPC_ERROR)?;
                let code = parts.get("code").is_some_and(
                    |code| matches!(&code.data, Data::Number(number) if !number.is_f64()),
                );
                if !code {
                    self.missing(parts, "code", value.span.range());
                    return None;
                }
                if parts.get("message").is_some() {
                    self.read::<&str>(parts, "message")?;
                }
                self.templates(value, to, place, needs);
                Some(Give::Error(value.to_value()))
            }
            _ => match self.boolean(value, to)? {
                true => Some(Give::AcceptDefaults),
                false => {
                    self.problem(value.span, to, "`accept_defaults` is `true`, or left out");
                    None
                }
            },
        }
    }

    /// `expect.notifications`.
    pub(super) fn notifications(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Vec<NotificationExpect> {
        let items = self.list(node, path, "notifications").unwrap_or(&[]);
        if items.is_empty() && matches!(node.data, Data::List(_)) {
            self.problem(
                node.span,
                path,
                "no notification given, so this tests nothing",
            )
            .hint("that none comes is tested with `absent: true`");
        }
        let mut expects = Vec::new();
        for (index, item) in items.iter().enumerate() {
            expects.extend(self.notification(item, path.index(index), needs));
        }
        expects
    }

    fn notification(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<NotificationExpect> {
        let fields = self.fields(node, path, &NOTIFICATION)?;
        let named = self.required(fields, "method")?;
        let method: &str = self.read(fields, "method")?;
        if !method.contains('/') {
            self.problem(
                named.span,
                path.key("method"),
                format!("no notification is called `{method}`"),
            )
            .hint(format!("did you mean `notifications/{method}`?"));
        }
        let (area, rest) = method.split_once('/').unwrap_or(("", method));
        let close = close_names(rest, NOTIFICATIONS.iter().map(|known| known.name));
        if area == "notifications"
            && Notification::find(method).is_none()
            && let Some(close) = close.first()
        {
            self.problem(
                named.span,
                path.key("method"),
                format!("no notification is called `{method}`"),
            )
            .hint(format!("did you mean `notifications/{close}`?"));
        }
        let within = self.read(fields, "within");
        let json = match fields.get("json") {
            Some(value) => self.json_expects(value, path.key("json"), needs),
            None => Vec::new(),
        };
        let count = match fields.get("count") {
            Some(value) => self.notification_count(value, path.key("count"), needs),
            None => Vec::new(),
        };
        let absent = self.read(fields, "absent").unwrap_or_default();
        if absent && fields.get("within").is_none() {
            self.problem(node.span, path, "how long is it to stay away?")
                .hint("write `within`, as in `within: 1s`");
        }
        if let (true, Some(count)) = (absent, fields.entry("count")) {
            self.problem(count.key_span, path, "what is absent has no `count`");
        }
        let expect = NotificationExpect {
            method: method.to_owned(),
            json,
            count,
            absent,
            within,
            at: self.at(node.span),
        };
        if !expect.count_only_grows() && within.is_none() {
            self.problem(node.span, path, "how long may more of them come?")
                .hint("write `within`, as in `within: 1s`; all of it is waited for");
        }
        Some(expect)
    }

    fn notification_count(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Vec<Predicate> {
        if let Data::Map(_) = &node.data {
            return self.predicates(node, path, Target::Count, needs);
        }
        match self.count(node, path, 1) {
            Some(count) => vec![Predicate {
                redact: Vec::new(),
                operator: Operator::Equals,
                operand: Value::from(count),
                at: self.at(node.span),
            }],
            None => Vec::new(),
        }
    }

    /// `complete`.
    pub(super) fn completion(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<Request> {
        let fields = self.fields(node, path, &COMPLETE)?;
        let of = match (fields.get("prompt"), fields.get("resource")) {
            (Some(_), None) => CompletionOf::Prompt(self.foreign_name(fields, "prompt")?),
            (None, Some(_)) => CompletionOf::Resource(self.read(fields, "resource")?),
            (Some(_), Some(_)) | (None, None) => {
                self.problem(
                    node.span,
                    path,
                    "`complete` is of a `prompt` or of a `resource`",
                )
                .hint("as in `{ prompt: greet, argument: name, value: \"A\" }`");
                return None;
            }
        };
        self.required(fields, "argument")?;
        let argument = self.read(fields, "argument")?;
        let value = match fields.get("value") {
            Some(value) => {
                self.templates(value, path.key("value"), TemplatePlace::Step, needs);
                self.read(fields, "value")?
            }
            None => String::new(),
        };
        Some(Request::Complete(Completion {
            of,
            argument,
            value,
        }))
    }

    /// `subscribe`.
    pub(super) fn subscription(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<Request> {
        let mut subscription = Subscription::default();
        if let Data::String(uri) = &node.data {
            self.templates(node, path, TemplatePlace::Step, needs);
            subscription.resources.push(uri.clone().into_owned());
        } else {
            let fields = self.fields(node, path, &SUBSCRIPTION)?;
            if let Some(list) = fields.get("resources") {
                let to = path.key("resources");
                self.templates(list, to, TemplatePlace::Step, needs);
                subscription.resources = self.words(list, to, "URIs");
            }
            let mut flag = |key: &str| self.read(fields, key).unwrap_or_default();
            subscription.tools = flag("tools");
            subscription.prompts = flag("prompts");
            subscription.resources_list = flag("resources_list");
        }
        if subscription == Subscription::default()
            || subscription.resources.iter().any(String::is_empty)
        {
            self.problem(node.span, path, "there is nothing to hear of")
                .hint("as in `subscribe: \"demo://a\"`, or `subscribe: { tools: true }`");
            return None;
        }
        Some(Request::Subscribe(subscription))
    }

    /// `unsubscribe`.
    pub(super) fn unsubscription(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<Request> {
        let id = self.fixed_string(node, path, "the id of a step")?;
        let Some((position, _)) = self.names.subscriptions.get(id) else {
            let known = self.names.subscriptions.keys().map(String::as_str);
            let close = self.close(id, known);
            let problem = self.problem(
                node.span,
                path,
                format!("no step before this one is called `{id}` and subscribes"),
            );
            if let Some(close) = close {
                problem.hint(format!("did you mean `{close}`?"));
            }
            return None;
        };
        needs.insert(*position, id.to_owned());
        if !self.names.unsubscribed.insert(id.to_owned()) {
            let message = format!("a step before this one unsubscribes `{id}` already");
            self.problem(node.span, path, message)
                .hint("a subscription ends once; name one that is open, or take the step out");
        }
        Some(Request::Unsubscribe(id.to_owned()))
    }

    /// `raw`.
    pub(super) fn raw_text(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<Request> {
        let text = self.string(node, path)?;
        self.templates(node, path, TemplatePlace::Step, needs);
        Some(Request::Raw(Raw::Text(text.to_owned())))
    }

    /// `raw_base64`.
    pub(super) fn raw_base64(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Request> {
        let text = self.string(node, path)?;
        let packed: String = text.split_ascii_whitespace().collect();
        match STANDARD.decode(packed) {
            Ok(bytes) => Some(Request::Raw(Raw::Bytes(bytes))),
            Err(error) => {
                self.problem(node.span, path, format!("no Base64: {error}"));
                None
            }
        }
    }
}

#[cfg(test)]
#[path = "features_tests.rs"]
mod tests;
