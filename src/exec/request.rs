//! What a step sends, with values in the place of names.

use super::board::Board;
use super::launch::issue_of;
use super::step::at_step;
use crate::model::{Failure, Phase, RequestFacts};
use crate::plan::{ListKind, Request, Step, Template, Unresolved};
use serde_json::{Map, Value};

/// The request a step makes.
pub struct Ready {
    method: &'static str,
    custom: Option<String>,
    pub params: Value,
    pub list: Option<ListKind>,
    /// For the tool's schemas.
    pub tool: Option<String>,
}

impl Ready {
    pub fn method(&self) -> &str {
        self.custom.as_deref().unwrap_or(self.method)
    }

    pub fn facts(&self) -> RequestFacts {
        RequestFacts {
            method: self.method().to_owned(),
            params: (!self.params.is_null()).then(|| self.params.clone()),
        }
    }

    /// The arguments of a tool or a prompt; null where there are none.
    pub fn args(&self) -> &Value {
        self.params.get("arguments").unwrap_or(&Value::Null)
    }

    /// As a message calls it.
    pub fn shown(&self) -> String {
        match &self.tool {
            Some(tool) => format!("tools/call `{tool}`"),
            None => self.method().to_owned(),
        }
    }
}

/// Puts values in the place of names.
pub fn prepare(board: &Board, step: &Step) -> Result<Ready, Box<Failure>> {
    let scope = board.scope.borrow();
    let unresolved = |unresolved: Unresolved| {
        let mut failure = at_step(step, Phase::Config, unresolved.to_string());
        failure.issue = issue_of(&unresolved);
        Box::new(failure)
    };
    let args = crate::plan::resolve_json(&step.args, &scope, &step.server).map_err(unresolved)?;
    // An operand without a value is found before anything is sent: the server
    // should not do work that can't be judged.
    for predicate in step.expect.predicates() {
        crate::plan::resolve_json(&predicate.operand, &scope, &step.server).map_err(unresolved)?;
    }
    let arguments = if args.is_null() {
        Value::Object(Map::new())
    } else {
        args
    };
    let object = |entries: [(&str, Value); 1]| {
        Value::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    };
    let plain = |method, params, list| Ready {
        method,
        custom: None,
        params,
        list,
        tool: None,
    };
    Ok(match &step.request {
        Request::Tool(name) => {
            let mut params = object([("name", Value::from(name.as_str()))]);
            params["arguments"] = arguments;
            Ready {
                tool: Some(name.clone()),
                ..plain("tools/call", params, None)
            }
        }
        Request::List(kind) => {
            let method = match kind {
                ListKind::Tools => "tools/list",
                ListKind::Resources => "resources/list",
                ListKind::ResourceTemplates => "resources/templates/list",
                ListKind::Prompts => "prompts/list",
            };
            plain(method, arguments, Some(*kind))
        }
        Request::Read(uri) => {
            let uri = match Template::parse(uri) {
                Ok(template) => template
                    .resolve_str(&scope, &step.server)
                    .map_err(unresolved)?,
                // The loader has parsed it already.
                Err(_) => uri.clone(),
            };
            plain("resources/read", object([("uri", Value::from(uri))]), None)
        }
        Request::Prompt(name) => {
            let mut params = object([("name", Value::from(name.as_str()))]);
            params["arguments"] = arguments;
            plain("prompts/get", params, None)
        }
        Request::Method(method) => Ready {
            custom: Some(method.clone()),
            ..plain("", arguments, None)
        },
    })
}
