//! What a step sends, with values in the place of names.

use super::launch::issue_of;
use super::script::{PreparedAnswer, prepare_answers};
use super::shared_state::SharedState;
use super::step_end::at_step;
use super::tool_schemas::ToolSchemas;
use jelly_base::mcp::{self, Era, ListKind, Method};
use jelly_base::model::{Failure, Phase, RequestFacts};
use jelly_plan::{
    Completion, CompletionOf, Raw, Request, Scope, Step, Subscription, Template, Unresolved,
};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The request a step makes.
pub struct Ready {
    pub method: Cow<'static, str>,
    pub params: Value,
    /// As it may be shown, where that is not what is sent: files by path and
    /// size.
    pub shown_params: Option<Value>,
    pub sends: Sends,
    /// For the tool's schemas.
    pub tool: Option<String>,
    /// The arguments were seen to meet the tool's input schema.
    pub fits_schema: bool,
    /// What is answered to the server meanwhile.
    pub answers: Vec<PreparedAnswer>,
    /// The params of calls that are sent at the same time.
    pub at_once: Vec<Value>,
}

/// How a step's request goes out.
pub enum Sends {
    Request,
    /// All pages of it.
    List(ListKind),
    Raw(Vec<u8>),
    /// To be told of changes; the URIs among what is asked for.
    Subscribe(Vec<String>),
    /// Ends what the step with this id subscribed to.
    Unsubscribe(String),
}

impl Ready {
    pub fn facts(&self) -> RequestFacts {
        let params = match &self.sends {
            Sends::Raw(bytes) => Value::from(String::from_utf8_lossy(bytes)),
            _ => self.shown_params.as_ref().unwrap_or(&self.params).clone(),
        };
        RequestFacts {
            method: self.method.to_string(),
            params: (!params.is_null()).then_some(params),
            fits_schema: self.fits_schema,
        }
    }

    /// The arguments of a tool or a prompt; null where there are none.
    pub fn args(&self) -> &Value {
        self.params.get("arguments").unwrap_or(&Value::Null)
    }

    /// As a message calls it.
    pub fn shown(&self) -> String {
        match (&self.tool, &self.sends) {
            (Some(tool), _) => format!("tools/call `{tool}`"),
            (None, Sends::Request) if self.method == "completion/complete" => {
                let argument = self.params.pointer("/argument/name");
                let argument = argument.and_then(Value::as_str).unwrap_or_default();
                format!("completion/complete of `{argument}`")
            }
            (None, Sends::Raw(_)) => "the raw message".to_owned(),
            (None, _) => self.method.to_string(),
        }
    }

    /// Whether to send it once more does no more than to send it once, by the
    /// protocol or by the tool's own word.
    pub fn is_repeatable(&self, schemas: &ToolSchemas) -> bool {
        match &self.sends {
            Sends::Raw(_) => false,
            Sends::List(_) | Sends::Subscribe(_) | Sends::Unsubscribe(_) => true,
            Sends::Request => match &self.tool {
                Some(tool) => schemas.is_repeatable(tool),
                None => Method::find(&self.method).is_some_and(|method| method.is_repeatable),
            },
        }
    }

    /// What is sent, and answered, is this request instead.
    pub fn is_now(&mut self, method: &str, params: Value) {
        self.method = Cow::Owned(method.to_owned());
        self.params = params;
        self.shown_params = None;
        self.tool = None;
        self.at_once = Vec::new();
        self.sends = Sends::Request;
    }
}

/// Puts values in the place of names, for a server of this era.
pub fn prepare(shared: &SharedState, step: &Step, era: Era) -> Result<Ready, Box<Failure>> {
    let scope = shared.scope.borrow();
    let unresolved = |unresolved: Unresolved| {
        let mut failure = at_step(step, Phase::Config, unresolved.to_string());
        failure.issue = issue_of(&unresolved);
        Box::new(failure)
    };
    let args = jelly_plan::resolve_json(&step.args, &scope, &step.server).map_err(unresolved)?;
    look_up(step, &scope).map_err(unresolved)?;
    let answers = prepare_answers(&step.answers, &scope, &step.server).map_err(unresolved)?;
    if era == Era::Modern && answers.iter().any(PreparedAnswer::is_error) {
        let message = "an error can't be answered to a server of 2026-07-28, which asks inside of \
                       a result; what a person would decline is `result: { action: decline }`";
        return Err(Box::new(at_step(step, Phase::Config, message)));
    }
    let mut ready = request(step, args, era, &scope).map_err(unresolved)?;
    ready.answers = answers;
    for call in &step.at_once {
        let args = match &call.args {
            Value::Null => Value::Object(Map::new()),
            args => jelly_plan::resolve_json(args, &scope, &step.server).map_err(unresolved)?,
        };
        ready.at_once.push(named(&call.tool, args));
    }
    if let Some(shown) = scope.files.shown(&step.args) {
        let args = jelly_plan::resolve_json(&shown, &scope, &step.server).map_err(unresolved)?;
        let shown = request(step, args, era, &scope).map_err(unresolved)?;
        ready.shown_params = Some(shown.params);
    }
    if let (Some(level), Era::Modern) = (step.log_level, era) {
        want_logs(&mut ready.params, level.name());
    }
    Ok(ready)
}

/// An operand without a value is found before anything is sent: the server should
/// not do work that can't be judged.
pub fn look_up(step: &Step, scope: &Scope) -> Result<(), Unresolved> {
    for predicate in step.predicates() {
        jelly_plan::resolve_json(&predicate.operand, scope, &step.server)?;
    }
    for asked in step.condition.iter().flat_map(|condition| &condition.vars) {
        jelly_plan::resolve_json(&asked.value, scope, &step.server)?;
        jelly_plan::resolve_json(&asked.wanted, scope, &step.server)?;
    }
    Ok(())
}

/// In the modern era each request says what is to be logged of it.
fn want_logs(params: &mut Value, level: &str) {
    if params.is_null() {
        *params = Value::Object(Map::new());
    }
    if let Value::Object(params) = params {
        let meta = params
            .entry("_meta")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(meta) = meta {
            meta.entry(mcp::meta::LOG_LEVEL)
                .or_insert_with(|| level.into());
        }
    }
}

fn request(step: &Step, args: Value, era: Era, scope: &Scope) -> Result<Ready, Unresolved> {
    let text = |text: &str| match Template::parse(text) {
        Ok(template) => template.resolve_str(scope, &step.server),
        // The loader has parsed it already.
        Err(_) => Ok(text.to_owned()),
    };
    let given = !args.is_null();
    let arguments = if given {
        args
    } else {
        Value::Object(Map::new())
    };
    let plain = |method, params| Ready {
        method: Cow::Borrowed(method),
        params,
        shown_params: None,
        sends: Sends::Request,
        tool: None,
        fits_schema: false,
        answers: Vec::new(),
        at_once: Vec::new(),
    };
    Ok(match &step.request {
        Request::Tool(name) => Ready {
            tool: Some(name.clone()),
            ..plain("tools/call", named(name, arguments))
        },
        Request::List(kind) => Ready {
            sends: Sends::List(*kind),
            ..plain(kind.method(), arguments)
        },
        Request::Read(uri) => plain("resources/read", json!({ "uri": text(uri)? })),
        Request::Prompt(name) => plain("prompts/get", named(name, arguments)),
        Request::Method(method) => Ready {
            method: Cow::Owned(method.clone()),
            // What is bare has no more params than the plan says.
            ..plain(
                "",
                if step.bare && !given {
                    Value::Null
                } else {
                    arguments
                },
            )
        },
        Request::Complete(completion) => {
            let value = text(&completion.value)?;
            let params = completion_params(completion, &value, given.then_some(arguments));
            plain("completion/complete", params)
        }
        Request::Subscribe(to) => {
            let uris = to.resources.iter().map(|uri| text(uri));
            let uris = uris.collect::<Result<Vec<String>, Unresolved>>()?;
            let filter = filter(to, &uris);
            let method = match era {
                Era::Modern => mcp::LISTEN,
                Era::Legacy => "resources/subscribe",
            };
            Ready {
                sends: Sends::Subscribe(uris),
                ..plain(method, json!({ "notifications": filter }))
            }
        }
        Request::Unsubscribe(id) => {
            let method = match era {
                Era::Modern => "notifications/cancelled",
                Era::Legacy => "resources/unsubscribe",
            };
            Ready {
                sends: Sends::Unsubscribe(id.clone()),
                ..plain(method, Value::Null)
            }
        }
        // What its server was asked already, as it started; and what is no message.
        Request::Startup | Request::Http(_) => plain(mcp::INITIALIZE, Value::Null),
        Request::Raw(raw) => {
            let bytes = match raw {
                Raw::Text(raw) => text(raw)?.into_bytes(),
                Raw::Bytes(bytes) => bytes.clone(),
            };
            Ready {
                sends: Sends::Raw(bytes),
                ..plain("raw", Value::Null)
            }
        }
    })
}

/// The params of a tool or a prompt. The arguments go in as they are: `json!`
/// would make another copy of them.
fn named(name: &str, arguments: Value) -> Value {
    let name = ("name".to_owned(), Value::from(name));
    Value::Object(Map::from_iter([name, ("arguments".to_owned(), arguments)]))
}

fn completion_params(completion: &Completion, value: &str, known: Option<Value>) -> Value {
    let reference = match &completion.of {
        CompletionOf::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
        CompletionOf::Resource(uri) => json!({ "type": "ref/resource", "uri": uri }),
    };
    let mut params = json!({
        "ref": reference,
        "argument": { "name": completion.argument, "value": value },
    });
    if let Some(known) = known {
        params["context"] = json!({ "arguments": known });
    }
    params
}

/// What a modern server is asked to be told of (2026-07-28, "Notification
/// Filter").
fn filter(to: &Subscription, uris: &[String]) -> Value {
    let mut filter = Map::new();
    for (key, wanted) in [
        ("toolsListChanged", to.tools),
        ("promptsListChanged", to.prompts),
        ("resourcesListChanged", to.resources_list),
    ] {
        if wanted {
            filter.insert(key.to_owned(), true.into());
        }
    }
    if !uris.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    Value::Object(filter)
}
