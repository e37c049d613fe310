//! `setup`, `steps` and `teardown`.

use super::operators::{
    CountPredicates, DurationPredicates, ErrorCodePredicates, ErrorMessagePredicates, JsonExpect,
    StderrPredicates, StructuredPredicates, TextPredicates,
};
use super::parts::{Anything, FixedName, Map, Path, TimeLimit, Word};
use super::server::{RpcError, ServerName};
use crate::LogLevel;
use crate::load::KINDS;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// One request to one server, and what is expected of the answer. It says what
/// it does by exactly one of `tool`, `list`, `read`, `prompt`, `request`,
/// `complete`, `subscribe`, `unsubscribe`, `raw` and `raw_base64`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = does_one_thing)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Step")]
pub(super) struct StepSchema {
    /// Unique in the plan; made from what the step does if left out.
    id: Option<FixedName>,
    /// What people call it; the id if left out.
    name: Option<String>,
    /// Name of the server; may be left out where there is only one.
    server: Option<ServerName>,
    /// Calls a tool of this name, with `args`.
    tool: Option<FixedName>,
    /// Lists all pages.
    list: Option<List>,
    /// Reads the resource of this URI.
    #[schemars(length(min = 1))]
    read: Option<String>,
    /// Gets the prompt of this name, with `args`.
    prompt: Option<FixedName>,
    /// Sends one request of this method, with `args` as its parameters.
    request: Option<FixedName>,
    /// Asks for completions of an argument; `args` holds the arguments that
    /// are known already.
    complete: Option<Complete>,
    /// Wants to hear of changes.
    subscribe: Option<Subscribe>,
    /// The id of the step whose subscription ends.
    unsubscribe: Option<FixedName>,
    /// Sends this line as it is.
    raw: Option<String>,
    /// Sends these bytes as they are.
    #[schemars(extend("contentEncoding" = "base64"))]
    raw_base64: Option<String>,
    /// Arguments by name; of a `request`, any parameters. Texts may hold
    /// variables.
    args: Option<Anything>,
    /// What the client answers when the server asks something of it during
    /// this step, one after the other.
    answers: Option<Vec<AnswerSchema>>,
    /// What the answer must be. Without it, the step fails on a protocol
    /// error, on isError: true, and on an output that breaks its declared
    /// schema.
    expect: Option<ExpectSchema>,
    /// Values to keep, by the name of the variable that they become for later
    /// steps.
    capture: Option<IndexMap<String, Path>>,
    /// For --only and --skip.
    tags: Option<Vec<Word>>,
    /// How long the answer may take; the server's request_timeout if left
    /// out.
    timeout: Option<TimeLimit>,
    /// Asks for log messages of this level and above.
    log_level: Option<Level>,
    /// Cancels the request so long after it was sent.
    cancel_after: Option<TimeLimit>,
    /// How long no answer may come after it was cancelled. Default: 500ms.
    quiet_for: Option<TimeLimit>,
    /// Sends the request without what the era adds to it.
    bare: Option<bool>,
}

/// Says that a step does one thing, and that what has named arguments gets a
/// map of them.
fn does_one_thing(schema: &mut Schema) {
    let kinds: Vec<Value> = KINDS.map(|kind| json!({"required": [kind]})).into();
    schema.insert("oneOf".to_owned(), Value::Array(kinds));
    schema.insert("if".to_owned(), json!({"not": {"required": ["request"]}}));
    schema.insert(
        "then".to_owned(),
        json!({"properties": {"args": {"type": "object"}}}),
    );
}

/// What a server has.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "described, and never built")]
enum List {
    /// tools/list
    Tools,
    /// resources/list
    Resources,
    /// resources/templates/list
    ResourceTemplates,
    /// prompts/list
    Prompts,
}

/// How serious a log message must be, as of RFC 5424.
struct Level;

impl JsonSchema for Level {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "How serious a log message must be, as of RFC 5424.",
            "enum": LogLevel::ALL.map(|(name, _)| name),
        })
    }
}

/// An argument to complete.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("oneOf" = [{"required": ["prompt"]}, {"required": ["resource"]}])
)]
#[expect(dead_code, reason = "described, and never built")]
struct Complete {
    /// The prompt whose argument it is.
    prompt: Option<FixedName>,
    /// The URI template of the resource whose argument it is.
    resource: Option<FixedName>,
    /// Name of the argument.
    argument: FixedName,
    /// What is typed so far.
    value: Option<String>,
}

/// What to hear of: the URI of a resource, or several things.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
enum Subscribe {
    /// The URI of a resource.
    Resource(#[schemars(length(min = 1))] String),
    /// Several things.
    Several(SubscriptionSchema),
}

/// Several things to hear of.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Subscription")]
struct SubscriptionSchema {
    /// URIs of resources that may change.
    resources: Option<Vec<Word>>,
    /// The list of tools.
    tools: Option<bool>,
    /// The list of prompts.
    prompts: Option<bool>,
    /// The list of resources.
    resources_list: Option<bool>,
}

/// An answer to a question of the server's.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("oneOf" = [
        {"required": ["result"]}, {"required": ["error"]}, {"required": ["accept_defaults"]}
    ])
)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Answer")]
pub(super) struct AnswerSchema {
    /// What is asked, as in roots/list, sampling/createMessage or
    /// elicitation/create.
    method: FixedName,
    /// What must hold of the params of what is asked.
    expect: Option<Vec<JsonExpect>>,
    /// The result that is given.
    result: Option<Map>,
    /// The error that is given.
    error: Option<RpcError>,
    /// Accepts an elicitation with the defaults of its schema.
    #[schemars(extend("const" = true))]
    accept_defaults: Option<bool>,
    /// That nobody asks is as good. Of a step alone.
    optional: Option<bool>,
}

/// What the answer must be.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Expect")]
struct ExpectSchema {
    /// What the tool says of itself. true also expects the error.
    is_error: Option<bool>,
    /// All text blocks, joined by newlines.
    text: Option<TextPredicates>,
    /// Parts of the whole result.
    #[schemars(length(min = 1))]
    json: Option<Vec<JsonExpect>>,
    /// The structured output.
    structured: Option<StructuredPredicates>,
    /// An error is expected; {} for any.
    error: Option<ErrorExpectSchema>,
    /// How long the answer took.
    duration: Option<DurationPredicates>,
    /// What the server wrote on stderr during the step.
    stderr: Option<StderrPredicates>,
    /// What the server must tell, or must not.
    #[schemars(length(min = 1))]
    notifications: Option<Vec<Notification>>,
}

/// An error of JSON-RPC, or the text of a tool that says isError.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "ErrorExpect")]
struct ErrorExpectSchema {
    /// As in -32602, or operators.
    code: Option<ErrorCode>,
    /// Operators on its words.
    message: Option<ErrorMessagePredicates>,
}

/// A code, or operators on it.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
enum ErrorCode {
    /// Exactly this one.
    Exactly(i64),
    /// Operators.
    Predicates(ErrorCodePredicates),
}

/// A notification that must come, or must not.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct Notification {
    /// As in notifications/progress.
    method: FixedName,
    /// How long it may take after the answer; the step's time limit if left
    /// out.
    within: Option<TimeLimit>,
    /// What must hold of its params; what does not fit is another one.
    #[schemars(length(min = 1))]
    json: Option<Vec<JsonExpect>>,
    /// How many come; at least one if left out.
    count: Option<Count>,
    /// None may come.
    absent: Option<bool>,
}

/// A number, or operators on it.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
enum Count {
    /// Exactly so many.
    Exactly(#[schemars(range(min = 1))] u32),
    /// Operators.
    Predicates(CountPredicates),
}
