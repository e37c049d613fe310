//! `http` of a step, and what is expected of its answer.

use super::path::Path;
use super::reader::{Fields, Reader};
use super::references::{Needs, TemplatePlace};
use crate::grammar::{HTTP, Target};
use crate::syntax::{Data, Entry, Node};
use crate::{
    HeaderExpect, HttpCall, HttpExpect, Operator, Predicate, Request, Server, Step, Transport,
};
use indexmap::IndexMap;
use serde_json::Value;

/// What is expected of an answer to a message, and has no meaning here.
const OF_MESSAGES: [&str; 5] = ["is_error", "structured", "error", "stderr", "notifications"];

impl<'t> Reader<'t> {
    pub(super) fn http_call(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        needs: &mut Needs,
    ) -> Option<Request> {
        let fields = self.fields(node, path, &HTTP)?;
        let mut methods = fields.alternatives();
        let (Some(method), second) = (methods.next(), methods.next()) else {
            self.problem(node.span, path, "`http` needs a method with a path")
                .hint("as in `http: { get: /health }`");
            return None;
        };
        if let Some(second) = second {
            let message = format!(
                "`http` is one request, and here are `{}` and `{}`",
                method.key, second.key
            );
            self.problem(second.key_span, path, message)
                .also(method.key_span.range(), "the other one")
                .hint("make two steps of it");
            return None;
        }
        let to = path.key(&method.key);
        let place = self.string(&method.value, to)?;
        if !(place.starts_with('/') || place.starts_with("${")) || place.starts_with("//") {
            let problem = self.problem(method.value.span, to, "a path must begin with one `/`");
            problem.hint(match place.contains("://") {
                true => {
                    "it is asked of the host of the server's `url`; another host is another server"
                }
                false => "as in `get: /.well-known/mcp.json`",
            });
        }
        let place = place.to_owned();
        self.templates(&method.value, to, TemplatePlace::Step, needs);
        let mut headers = Vec::new();
        if let Some(node) = fields.get("headers") {
            let to = path.key("headers");
            if matches!(&node.data, Data::Map(all) if all.is_empty()) {
                self.problem(node.span, to, "no header given")
                    .hint("leave `headers` out");
            }
            for entry in self.entries(node, to, "values by name").unwrap_or(&[]) {
                self.header_name(entry, to);
                let to = to.key(&entry.key);
                if let Some(word) = self.word(&entry.value, to) {
                    let word = word.into_owned();
                    self.template(&entry.value, &word, to, TemplatePlace::Step, needs);
                    headers.push((entry.key.clone().into_owned(), word));
                }
            }
        }
        if let Some(node) = fields.get("body") {
            self.templates(node, path.key("body"), TemplatePlace::Step, needs);
        }
        Some(Request::Http(HttpCall {
            method: method.key.to_ascii_uppercase(),
            path: place,
            headers,
        }))
    }

    /// What the request sends, in the place of arguments.
    pub(super) fn http_body(&self, fields: Fields<'_, 't, '_>) -> Value {
        let http = fields.entry("http");
        let body = http.and_then(|http| http.value.entry("body"));
        body.map_or(Value::Null, |body| body.value.to_value())
    }

    fn header_name(&mut self, entry: &Entry<'t>, path: Path<'_>) {
        let name = entry.key.as_ref();
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
        if !is_name {
            let message = format!("`{name}` can't be the name of a header");
            self.problem(entry.key_span, path, message)
                .hint("it has no spaces and no colon");
        }
    }

    /// `status` and `headers` of what is expected.
    pub(super) fn http_expect(
        &mut self,
        fields: Fields<'_, 't, '_>,
        needs: &mut Needs,
    ) -> Option<Box<HttpExpect>> {
        let path = fields.path;
        let (status, headers) = (fields.get("status"), fields.get("headers"));
        if status.is_none() && headers.is_none() {
            return None;
        }
        let mut expect = HttpExpect::default();
        if let Some(node) = status {
            let path = path.key("status");
            expect.status = match &node.data {
                Data::Number(number)
                    if number.as_u64().is_some_and(|it| (100..1000).contains(&it)) =>
                {
                    vec![Predicate {
                        operator: Operator::Equals,
                        operand: node.to_value(),
                        redact: Vec::new(),
                        at: self.at(node.span),
                    }]
                }
                Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                    self.problem(node.span, path, "an HTTP status must be from 100 to 999")
                        .hint("as in `status: 200`, or `status: { one_of: [401, 403] }`");
                    Vec::new()
                }
                Data::List(_) | Data::Map(_) => self.predicates(node, path, Target::Status, needs),
            };
        }
        if let Some(node) = headers {
            let path = path.key("headers");
            let entries = self.entries(node, path, "operators by name").unwrap_or(&[]);
            if matches!(&node.data, Data::Map(all) if all.is_empty()) {
                self.problem(node.span, path, "no header given, so this tests nothing")
                    .hint("as in `headers: { content-type: { contains: json } }`");
            }
            for entry in entries {
                self.header_name(entry, path);
                let predicates =
                    self.predicates(&entry.value, path.key(&entry.key), Target::Header, needs);
                expect.headers.push(HeaderExpect {
                    name: entry.key.clone().into_owned(),
                    predicates,
                    at: self.at(entry.key_span),
                });
            }
        }
        Some(Box::new(expect))
    }

    /// What is expected fits what is sent.
    pub(super) fn fits_http(&mut self, fields: Fields<'_, 't, '_>, request: Option<&Request>) {
        if let Some(expect) = fields.get("expect") {
            self.fits_request(expect, fields.path.key("expect"), request);
        }
    }

    /// The same of an `expect`, be it the step's or that of its `until`.
    pub(super) fn fits_request(
        &mut self,
        expect: &Node<'t>,
        path: Path<'_>,
        request: Option<&Request>,
    ) {
        let Some(request) = request else {
            return;
        };
        self.fits_is_error(expect, path, request);
        let is_http = matches!(request, Request::Http(_));
        let (keys, told): (&[&str], _) = match is_http {
            true => (&OF_MESSAGES, "the answer to a plain HTTP request has no"),
            false => (&["status", "headers"], "only a step with `http` expects a"),
        };
        for key in keys {
            if let Some(entry) = expect.entry(key) {
                let problem = self.problem(entry.key_span, path, format!("{told} `{key}`"));
                problem.hint(match is_http {
                    true => {
                        "it has a `status`, `headers`, a `text` and a `duration`, and its \
                         `json` begins at the body"
                    }
                    false => "an answer to a message is no HTTP answer of its own",
                });
            }
        }
    }

    /// Only what is reached by a URL has anything beside its endpoint.
    pub(super) fn has_a_url(
        &mut self,
        step: &Step,
        node: &Node<'t>,
        path: Path<'_>,
        servers: &IndexMap<String, Server>,
    ) {
        let server = servers.get(&step.server);
        let (Request::Http(_), Some(Transport::Stdio(_))) =
            (&step.request, server.map(|server| &server.transport))
        else {
            return;
        };
        let span = node.entry("http").map_or(node.span, |it| it.key_span);
        let message = format!("the server `{}` has no `url` to ask by HTTP", step.server);
        self.problem(span, path, message)
            .hint("`http` is for servers that are reached by a URL, also those that jelly starts");
    }
}
