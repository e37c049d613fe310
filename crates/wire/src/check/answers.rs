//! Rules for responses: whose they are, and what they hold.

use super::checker::{Asked, Checker, Place, REMEMBERED, below, named};
use super::fit::{a, escape};
use super::rules::Rule;
use super::specification::Specification;
use super::strings::is_tool_name;
use crate::message::whole;
use jelly_base::mcp::{DISCOVER, INITIALIZE, ListKind, Method, code, meta};
use jelly_base::text::json_type;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

/// The rules for a server that is not honest about a part of the protocol, by
/// the capability that says that it has it.
const HONESTY: [(&str, Rule, Rule); 5] = [
    ("tools", Rule::UndeclaredTools, Rule::RefusedTools),
    (
        "resources",
        Rule::UndeclaredResources,
        Rule::RefusedResources,
    ),
    ("prompts", Rule::UndeclaredPrompts, Rule::RefusedPrompts),
    (
        "completions",
        Rule::UndeclaredCompletions,
        Rule::RefusedCompletions,
    ),
    ("logging", Rule::UndeclaredLogging, Rule::RefusedLogging),
];

/// What a method rests on.
struct Area {
    /// Path to the capability.
    capability: &'static [&'static str],
    undeclared: Rule,
    refused: Rule,
}

/// The area of a method; `None` for those that every server has.
fn area(method: &str) -> Option<Area> {
    let capability = Method::find(method)?.capability;
    let first = capability.first()?;
    let (_, undeclared, refused) = *HONESTY.iter().find(|(name, ..)| name == first)?;
    Some(Area {
        capability,
        undeclared,
        refused,
    })
}

impl Checker {
    pub(super) fn response(
        &mut self,
        revision: &'static Specification,
        message: &Map<String, Value>,
        prefix: &str,
    ) {
        let Some(asked) = self.asker(message, prefix) else {
            return;
        };
        // What one era is asked in order to find out that it is not the other
        // one is not of its revision.
        if asked.method == revision.era.other().opening() {
            return;
        }
        let shown = self.shown(&asked.method);
        let place = Place {
            prefix,
            verb: "answers",
            method: &shown,
        };
        match (message.get("result"), message.get("error")) {
            (Some(_), Some(_)) => self.breach(
                Rule::ResultOrError,
                prefix,
                place.text("with both a result and an error"),
            ),
            (None, None) => self.breach(
                Rule::ResultOrError,
                prefix,
                place.text("with neither a result nor an error"),
            ),
            (Some(value @ Value::Object(result)), None) => {
                self.result(revision, &asked, (value, result), place);
            }
            (Some(other), None) => {
                let text = format!("with {} for a result", a(json_type(other)));
                self.breach(Rule::ResultObject, place.at("/result"), place.text(&text));
            }
            (None, Some(error)) => self.error(revision, &asked, error, place),
        }
    }

    /// The request that a response is for, which is done with it.
    fn asker(&mut self, message: &Map<String, Value>, prefix: &str) -> Option<Asked> {
        let pointer = format!("{prefix}/id");
        let id = message.get("id").unwrap_or(&Value::Null);
        let own = whole(id).is_some_and(|number| self.open.contains_key(&number));
        if !own && self.is_of_raw(id) {
            return None;
        }
        if id.is_null() {
            // An old server may not be able to read the probe for its era.
            let probed = self.open.values().any(|a| a.method == DISCOVER);
            let modern = self.revision.is_some_and(Specification::is_modern);
            if modern || !probed {
                let text = "sends a response that names no request";
                self.breach(Rule::MissingId, pointer, text);
            }
            return None;
        }
        if let Some(number) = whole(id) {
            if let Some(asked) = self.open.remove(&number) {
                self.conclude(number, &asked);
                return Some(asked);
            }
            if self.forgiven.remove(&number) {
                return None;
            }
            if (1..=self.last_id).contains(&number) {
                self.breach(
                    Rule::AnsweredTwice,
                    pointer,
                    "answers a request a second time",
                );
                return None;
            }
        }
        let twin = id.as_str().and_then(|text| text.parse::<u64>().ok());
        if let Some(number) = twin.filter(|number| (1..=self.last_id).contains(number)) {
            let text = "answers with the id of a request as a string, which was a number";
            self.breach(Rule::RetypedId, pointer, text);
            let asked = self.open.remove(&number)?;
            self.conclude(number, &asked);
            return Some(asked);
        }
        let shown = self.quote(&id.to_string());
        let text = format!("answers with the id {shown}, which was never asked");
        self.breach(Rule::UnknownId, pointer, text);
        None
    }

    fn conclude(&mut self, id: u64, asked: &Asked) {
        if let Some(subscription) = self.subscriptions.get_mut(&id.to_string()) {
            subscription.over = true;
        }
        // A task goes on after it was promised, and so may its progress.
        self.retire(asked.token.clone(), !asked.as_task);
    }

    fn result(
        &mut self,
        revision: &'static Specification,
        asked: &Asked,
        (value, result): (&Value, &Map<String, Value>),
        place: Place<'_>,
    ) {
        let method = asked.method.as_str();
        if matches!(method, INITIALIZE | DISCOVER) {
            self.declared = Some(result.get("capabilities").cloned().unwrap_or_default());
        } else if let Some(area) = area(method)
            && !self.declares(area.capability)
        {
            let key = area.capability.join(".");
            self.undeclared(area.undeclared, &key, area.capability, "/result", place);
        }
        let Some(kind) = self.kind_of(revision, asked, result, place) else {
            return;
        };
        self.fits(revision, kind, value, place, "/result");
        if revision.has(Rule::ServerInfo)
            && value
                .get("_meta")
                .and_then(|own| own.get(meta::SERVER_INFO))
                .is_none()
        {
            self.breach_as(
                Rule::ServerInfo,
                "",
                place.at("/result/_meta"),
                "does not name itself in `_meta` of its results",
            );
        }
        if revision.has(Rule::CacheScope) {
            self.scope(asked, result, place);
        }
        match ListKind::listed_by(method) {
            Some(ListKind::Tools) => self.tools(revision, asked, result, place),
            Some(kind) => self.lists(kind, result),
            None if kind == "InputRequiredResult" && may_ask_back(method) => {
                self.input_requests(asked, result, place);
            }
            None => {}
        }
    }

    /// The type that a result is to be held against, if any.
    fn kind_of(
        &mut self,
        revision: &'static Specification,
        asked: &Asked,
        result: &Map<String, Value>,
        place: Place<'_>,
    ) -> Option<&'static str> {
        let method = asked.method.as_str();
        if revision.has(Rule::ResultType) {
            let pointer = place.at("/result/resultType");
            match result.get("resultType").map(Value::as_str) {
                Some(Some("input_required")) => {
                    if !may_ask_back(method) {
                        let text = place.text("by asking for input, which is not allowed there");
                        self.breach(Rule::InputRequired, pointer, text);
                    }
                    return Some("InputRequiredResult");
                }
                Some(Some("complete")) | None => {}
                // An extension may have types of its own.
                Some(Some(_)) if self.declares(&["extensions"]) => return None,
                Some(Some(other)) => {
                    let text = format!("with the unknown resultType {}", self.quote(other));
                    self.breach(Rule::ResultType, pointer, place.text(&text));
                    return None;
                }
                // The shape says what is wrong.
                Some(None) => {}
            }
        }
        if asked.as_task && result.contains_key("task") && revision.types.contains_key("Task") {
            return Some("CreateTaskResult");
        }
        Some(
            revision
                .results
                .get(method)
                .map_or("Result", String::as_str),
        )
    }

    /// Remembers what the server says that it has.
    fn lists(&mut self, kind: ListKind, result: &Map<String, Value>) {
        let items = result.get(kind.key()).and_then(Value::as_array);
        let found = items
            .into_iter()
            .flatten()
            .filter_map(|item| item.get(kind.name_key()));
        for name in found.filter_map(Value::as_str) {
            if self.listed.len() < REMEMBERED {
                self.listed.insert(named(kind, name));
            }
        }
    }

    /// All pages of one list are for the same eyes.
    fn scope(&mut self, asked: &Asked, result: &Map<String, Value>, place: Place<'_>) {
        let Some(scope) = result.get("cacheScope") else {
            return;
        };
        if !asked.method.ends_with("/list") {
            return;
        }
        if !asked.next_page {
            self.scopes.insert(asked.method.clone(), scope.clone());
            return;
        }
        let first = self.scopes.get(&asked.method);
        if first.is_some_and(|first| first != scope) {
            let text = place.text("with another `cacheScope` than that of the first page");
            let pointer = place.at("/result/cacheScope");
            self.breach_as(Rule::CacheScope, &asked.method, pointer, text);
        }
    }

    fn tools(
        &mut self,
        revision: &'static Specification,
        asked: &Asked,
        result: &Map<String, Value>,
        place: Place<'_>,
    ) {
        if !asked.next_page {
            self.tool_names.clear();
        }
        let tools = result.get("tools").and_then(Value::as_array);
        for (index, tool) in tools.into_iter().flatten().enumerate() {
            let at = place.at(&format!("/result/tools/{index}"));
            if let Some(name) = tool.get("name").and_then(Value::as_str) {
                let pointer = format!("{at}/name");
                if !is_tool_name(name) {
                    let text = format!("lists a tool with the name {}", self.quote(name));
                    self.breach_as(Rule::ToolName, name, pointer.clone(), text);
                }
                if self.tool_names.contains(name) {
                    let text = format!("lists the tool {} twice", self.quote(name));
                    self.breach_as(Rule::ToolTwice, name, pointer, text);
                } else if self.tool_names.len() < REMEMBERED {
                    self.tool_names.insert(name.to_owned());
                }
            }
            if !revision.has(Rule::SchemaInvalid) {
                continue;
            }
            for key in ["inputSchema", "outputSchema"] {
                if let Some(schema @ Value::Object(_)) = tool.get(key)
                    && let Some(why) = schema_flaw(schema)
                {
                    let name = tool.get("name").and_then(Value::as_str).unwrap_or("?");
                    let text = format!(
                        "lists the tool {} with an `{key}` that is no valid JSON Schema: {}",
                        self.quote(name),
                        self.quote(&why.text)
                    );
                    let pointer = format!("{at}/{key}{}", why.pointer);
                    self.breach_as(Rule::SchemaInvalid, &format!("{name} {key}"), pointer, text);
                }
            }
        }
    }

    /// What a modern server asks in a result, the client must have offered.
    fn input_requests(&mut self, asked: &Asked, result: &Map<String, Value>, place: Place<'_>) {
        let requests = result.get("inputRequests").and_then(Value::as_object);
        for (key, request) in requests.into_iter().flatten() {
            let Some(method) = request.get("method").and_then(Value::as_str) else {
                continue;
            };
            let pointer = place.at(&format!("/result/inputRequests{}", escape(key)));
            let params = request.get("params").unwrap_or(&Value::Null);
            let capabilities = asked.capabilities.clone().unwrap_or_default();
            self.client_is_asked(method, params, Some(&capabilities), &pointer, place);
        }
    }

    fn error(
        &mut self,
        revision: &'static Specification,
        asked: &Asked,
        error: &Value,
        place: Place<'_>,
    ) {
        let place = Place {
            verb: "refuses",
            ..place
        };
        self.fits(revision, "Error", error, place, "/error");
        let Some(code) = error.get("code").and_then(Value::as_i64) else {
            return;
        };
        let pointer = place.at("/error/code");
        self.code(revision, code, &pointer, place);
        if let Some(kind) = revision.errors.get(&code) {
            let data = error.get("data").unwrap_or(&Value::Null);
            self.fits(revision, kind, data, place, "/error/data");
        }
        if asked.method == "ping" {
            let text = place.text("where an empty result is due");
            self.breach(Rule::PingRefused, pointer.as_str(), text);
        }
        if code == code::METHOD_NOT_FOUND
            && let Some(area) = area(&asked.method)
            // Few servers have templates, and nothing says that they must.
            && asked.method != "resources/templates/list"
            // A tool that is only for tasks is refused so.
            && asked.method != "tools/call"
            // What is not in the server's lists may be what it does not know,
            // rather than the method: the specification only says which code
            // it should use for that.
            && asked.names.as_ref().is_none_or(|name| self.listed.contains(name))
            && self.declared.is_some()
            && self.declares(area.capability)
        {
            let capability = area.capability.join(".");
            let text = format!(
                "as a method that it does not know, and declares the capability `{capability}`"
            );
            self.breach_as(area.refused, &capability, pointer, place.text(&text));
        }
    }

    fn code(&mut self, revision: &Specification, code: i64, pointer: &str, place: Place<'_>) {
        if code::OF_JSON_RPC.contains(&code) {
            return;
        }
        let modern = revision.is_modern();
        let (rule, why) = match code {
            // It has no data of its own.
            code::HEADER_MISMATCH if modern => return,
            _ if revision.errors.contains_key(&code) => return,
            code::RESOURCE_NOT_FOUND | code::URL_ELICITATION_REQUIRED if modern => {
                (Rule::ReservedErrorCode, "which earlier revisions used")
            }
            -32099..=-32020 if modern => (
                Rule::ReservedErrorCode,
                "which the specification keeps for itself",
            ),
            -32019..=-32000 if modern => (
                Rule::LegacyErrorCode,
                "from the range that is no longer to be used",
            ),
            // Before there was a policy, these were anybody's.
            -32099..=-32000 => return,
            -32768..=-32100 => (Rule::JsonrpcErrorCode, "which JSON-RPC keeps for itself"),
            _ => return,
        };
        let text = place.text(&format!("with the error code {code}, {why}"));
        self.breach_as(rule, &code.to_string(), pointer, text);
    }

    /// Whether the server says that it has what the path leads to; a flag has
    /// to be true. Where its word was not seen, it may have said so.
    pub(super) fn declares(&self, path: &[&str]) -> bool {
        let Some(declared) = &self.declared else {
            return true;
        };
        let declared = below(declared, path);
        declared.is_some_and(|value| *value != Value::Bool(false) && !value.is_null())
    }
}

fn may_ask_back(method: &str) -> bool {
    Method::find(method).is_some_and(|method| method.may_ask_back)
}

/// Why a schema is none.
struct SchemaFlaw {
    pointer: String,
    text: String,
}

/// What is wrong with a schema by its own dialect; nothing for a dialect that
/// is not known here.
fn schema_flaw(schema: &Value) -> Option<SchemaFlaw> {
    // A dialect that is no string is found by the shape of a tool.
    if schema
        .get("$schema")
        .is_some_and(|dialect| !dialect.is_string())
    {
        return None;
    }
    let flaw = jsonschema::meta::validate(schema).err()?;
    if let ValidationErrorKind::Referencing(_) = flaw.kind() {
        return None;
    }
    Some(SchemaFlaw {
        pointer: flaw.instance_path().to_string(),
        text: flaw.to_string(),
    })
}
