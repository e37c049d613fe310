//! How a message names what was looked at, and what was expected of it.

use jelly_base::model::AssertionTarget;
use jelly_plan::Operator;
use serde_json::Value;

/// What an expectation is about.
pub(super) fn subject(target: AssertionTarget, path: Option<&str>) -> String {
    match target {
        AssertionTarget::Text => "the text".to_owned(),
        AssertionTarget::Json => path.unwrap_or("$").to_owned(),
        AssertionTarget::Structured => "the structured output".to_owned(),
        AssertionTarget::Error => format!("the error's {}", path.unwrap_or("message")),
        AssertionTarget::IsError => "isError".to_owned(),
        AssertionTarget::Duration => "the duration in ms".to_owned(),
        AssertionTarget::Stderr => "stderr".to_owned(),
        AssertionTarget::OutputSchema => "the output".to_owned(),
        AssertionTarget::Wire => "the message".to_owned(),
        AssertionTarget::Asked => match path {
            Some(path) => format!("what was asked at {path}"),
            None => "what was asked".to_owned(),
        },
        AssertionTarget::Notification => match path {
            Some(path) => format!("the notification's {path}"),
            None => "the notification".to_owned(),
        },
        AssertionTarget::Cancellation => "the cancelled request".to_owned(),
        AssertionTarget::ServerInfo => format!("{} of serverInfo", path.unwrap_or("$")),
        AssertionTarget::Capabilities => format!("{} of the capabilities", path.unwrap_or("$")),
        AssertionTarget::Status => "the HTTP status".to_owned(),
        AssertionTarget::Header => format!("the header `{}`", path.unwrap_or_default()),
        AssertionTarget::Start => "the start".to_owned(),
        AssertionTarget::Exit => "the exit code".to_owned(),
    }
}

/// What it was expected to do.
pub(super) fn relation(operator: Operator, operand: &Value) -> &'static str {
    match operator {
        Operator::Exists if operand == &Value::Bool(false) => "not to exist, wanted",
        operator => operator.relation(),
    }
}
