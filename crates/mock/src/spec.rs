//! What a mock server is to be: the script, as people write it.
//!
//! The main type is [`Script`]. It must not know how a script is read or
//! played.

use super::fault::{Fault, Kind};
use super::{interpolate, units};
use jelly_base::mcp::code;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// A server as scripted. Every field may be left out; the empty script is a
/// healthy server with the built-in tools.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The server's name; `jelly-mock` by default.
    pub name: Option<String>,
    /// The server's version; jelly's own by default.
    pub version: Option<String>,
    pub instructions: Option<String>,
    pub era: Eras,
    /// What a method gets that the server does not know.
    pub unknown_methods: UnknownMethods,
    /// Tools per page of `tools/list`; all of them by default.
    pub page_size: Option<usize>,
    /// Checks arguments against the input schema: `-32602` if they don't fit.
    pub validate: bool,
    /// Of everything random; taken from the system where absent.
    pub seed: Option<u64>,
    /// Where starts (and with `persist` calls) are counted across processes.
    pub state_file: Option<PathBuf>,
    /// Calls, sequences and the counter go on across processes.
    pub persist: bool,
    /// Whether the built-in tools are offered; by default if nothing else is.
    pub builtins: Option<bool>,
    /// A directory to serve with `write_file`, `read_file`, `list_files`.
    pub files: Option<String>,
    /// A line on stderr at the start.
    pub stderr: Option<String>,
    pub faults: Vec<Fault>,
    /// `faults` act in the first so many starts only; needs a state file.
    pub faulty_starts: Option<u64>,
    /// What happens at the first start, the second, …; the last entry holds
    /// from then on. Needs a state file.
    pub starts: Vec<Start>,
    pub tools: Vec<Tool>,
    pub resources: Vec<Resource>,
    pub prompts: Vec<Prompt>,
}

/// The eras a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Eras {
    /// `initialize` only.
    Legacy,
    /// `server/discover` and per-request metadata only.
    Modern,
    #[default]
    Both,
}

/// How a server takes a method it does not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum UnknownMethods {
    /// `-32601`, as the protocol requires.
    #[default]
    Error,
    /// No answer at all.
    Ignore,
    /// A traceback on stderr and exit 1, as PyPI's `mcp` 1.0.0 does.
    Die,
}

/// One start of the server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Start {
    /// Exits with this code at once.
    pub exit: Option<u8>,
    /// A line on stderr.
    pub stderr: Option<String>,
    /// Besides the script's own.
    pub faults: Vec<Fault>,
}

/// A scripted tool. Written, it is as `tools/list` shows it.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(try_from = "ToolSpec", rename_all(serialize = "camelCase"))]
pub struct Tool {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Never empty.
    #[serde(skip_serializing)]
    pub responses: Vec<Response>,
    /// After the last response comes the first again, not the last for ever.
    #[serde(skip_serializing)]
    pub cycle: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolSpec {
    name: String,
    description: Option<String>,
    #[serde(rename = "inputSchema", alias = "input_schema")]
    input_schema: Option<Value>,
    #[serde(rename = "outputSchema", alias = "output_schema")]
    output_schema: Option<Value>,
    annotations: Option<Value>,
    response: Option<Response>,
    responses: Option<Vec<Response>>,
    #[serde(default)]
    cycle: bool,
}

impl TryFrom<ToolSpec> for Tool {
    type Error = String;

    fn try_from(spec: ToolSpec) -> Result<Self, String> {
        let name = spec.name;
        let responses = match (spec.response, spec.responses) {
            (Some(_), Some(_)) => {
                return Err(format!(
                    "tool `{name}` has both `response` and `responses`; keep one"
                ));
            }
            (Some(response), None) => vec![response],
            (None, Some(responses)) if responses.is_empty() => {
                return Err(format!("tool `{name}` has an empty list of responses"));
            }
            (None, Some(responses)) => responses,
            (None, None) => vec![Response::default()],
        };
        Ok(Self {
            name,
            description: spec.description,
            input_schema: spec
                .input_schema
                .unwrap_or_else(|| serde_json::json!({"type": "object"})),
            output_schema: spec.output_schema,
            annotations: spec.annotations,
            responses,
            cycle: spec.cycle,
        })
    }
}

/// What a scripted tool answers. Texts may hold references such as
/// `${args.name}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Response {
    /// One text block.
    pub text: Option<Template>,
    /// The blocks themselves; wins over `text`.
    pub content: Option<Template>,
    /// `structuredContent`; without `text`, its JSON is the text too.
    pub structured: Option<Template>,
    #[serde(rename = "isError", alias = "is_error")]
    pub is_error: bool,
    /// A JSON-RPC error instead of a result.
    pub error: Option<ErrorResponse>,
    /// The whole result, as it is.
    pub result: Option<Template>,
    /// How long the answer takes.
    #[serde(deserialize_with = "optional_duration")]
    pub delay: Option<Duration>,
    /// These act with this response, wherever they would by themselves.
    #[serde(deserialize_with = "call_faults")]
    pub faults: Vec<Fault>,
}

/// A JSON-RPC error as scripted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorResponse {
    #[serde(default = "internal_error")]
    pub code: i64,
    pub message: Template,
    pub data: Option<Template>,
}

fn internal_error() -> i64 {
    code::INTERNAL_ERROR
}

/// A resource with its content. Written, it is as `resources/list` shows it.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    pub uri: String,
    /// The URI by default.
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(rename = "mimeType", alias = "mime_type")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    #[serde(default, skip_serializing)]
    pub text: String,
    /// Base64; wins over `text`.
    #[serde(skip_serializing)]
    pub blob: Option<String>,
}

/// A prompt that becomes one message of the user. Written, it is as
/// `prompts/list` shows it.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
    #[serde(skip_serializing)]
    pub text: Template,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PromptArgument {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub required: bool,
}

/// A value whose references can all mean something.
#[derive(Debug, Clone, PartialEq)]
pub struct Template(pub Value);

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        interpolate::check(&value).map_err(serde::de::Error::custom)?;
        Ok(Self(value))
    }
}

fn optional_duration<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
    match Value::deserialize(d)? {
        Value::String(text) => units::duration(&text),
        Value::Number(number) => units::duration(&number.to_string()),
        Value::Null => return Ok(None),
        other @ (Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            units::duration(&other.to_string())
        }
    }
    .map(Some)
    .map_err(serde::de::Error::custom)
}

fn call_faults<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Fault>, D::Error> {
    let faults = Vec::<Fault>::deserialize(d)?;
    match faults.iter().find(|fault| is_manner(&fault.kind)) {
        Some(_) => Err(serde::de::Error::custom(
            "this fault is a manner of the whole server, not of a response",
        )),
        None => Ok(faults),
    }
}

fn is_manner(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::IgnoreEof
            | Kind::IgnoreSigterm
            | Kind::RequireEnv(_)
            | Kind::RequireDir(_)
            | Kind::HttpBanner(_)
    )
}

impl Script {
    /// What no single field can know of itself.
    ///
    /// # Errors
    /// A sentence.
    pub fn check(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for tool in &self.tools {
            if !names.insert(tool.name.as_str()) {
                return Err(format!("two tools are named `{}`", tool.name));
            }
        }
        if self.page_size == Some(0) {
            return Err("`page_size` is at least 1".to_owned());
        }
        if self.state_file.is_none() {
            if !self.starts.is_empty() {
                return Err("`starts` needs a `state_file` to count them in".to_owned());
            }
            if self.faulty_starts.is_some() {
                return Err("`faulty_starts` needs a `state_file` to count them in".to_owned());
            }
            if self.persist {
                return Err("`persist` needs a `state_file` to keep things in".to_owned());
            }
        }
        Ok(())
    }
}
