//! `servers`.

use super::document::Wire;
use super::package::Package;
use super::parts::{Anything, FixedName, Map, Revision, Secret, TimeLimit, Word};
use super::step::AnswerSchema;
use crate::ALGORITHMS;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde_json::json;

/// A server: one that is started (`command` or `package`), one that is
/// reached over HTTP (`url`), or both.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("anyOf" = [
        {"required": ["command"]},
        {"required": ["package"]},
        {"required": ["url"]},
    ])
)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Server")]
pub(super) struct ServerSchema {
    /// What is started: one word, looked for on PATH, and never a line for a
    /// shell.
    #[schemars(with = "Option<String>", length(min = 1))]
    command: Option<Word>,
    /// Its arguments.
    args: Option<Vec<Word>>,
    /// Variables of its environment, besides those that are inherited.
    env: Option<IndexMap<String, Word>>,
    /// The folder that it is started in; the project folder if left out.
    cwd: Option<Word>,
    /// The package that is started; beside a `command`, what that takes.
    package: Option<Package>,
    /// Values for the package's arguments, by the name of the flag or the hint
    /// of the positional argument.
    package_args: Option<IndexMap<String, Anything>>,
    /// Where it is reached over Streamable HTTP.
    #[schemars(regex(pattern = r"^[hH][tT][tT][pP][sS]?://|\$"))]
    url: Option<String>,
    /// Headers of every request.
    headers: Option<IndexMap<String, Word>>,
    /// How to get the tokens that it wants.
    auth: Option<AuthSchema>,
    /// Pins the era instead of finding it out.
    era: Option<Era>,
    /// Pins the revision of the protocol.
    protocol: Option<Revision>,
    /// Whether its messages are held against the specification; as the plan
    /// says if left out.
    wire: Option<Wire>,
    /// Whether structured outputs are read out of text where it sends none.
    /// Default: true.
    adapt: Option<bool>,
    /// What the client declares, as in { sampling: {} }. If left out, what
    /// follows from the answers.
    capabilities: Option<IndexMap<String, Map>>,
    /// What the client answers when the server asks something of it, as often
    /// as asked.
    answers: Option<Vec<AnswerSchema>>,
    /// How long it may take to become ready. Default: 30s.
    startup_timeout: Option<TimeLimit>,
    /// How long it may take to answer a request. Default: 30s.
    request_timeout: Option<TimeLimit>,
    /// How long it may take to end when it is asked to. Default: 2s.
    shutdown_timeout: Option<TimeLimit>,
}

/// The two eras of the protocol.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "described, and never built")]
enum Era {
    /// 2026-07-28 and later: no handshake.
    Modern,
    /// 2024-11-05 to 2025-11-25: initialize.
    Legacy,
}

/// How to get tokens.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described, and never built")]
#[schemars(rename = "Auth")]
enum AuthSchema {
    /// What `jelly login` has left.
    Login(Login),
    /// Without a person.
    Grant(Box<Grant>),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "described, and never built")]
enum Login {
    /// What `jelly login` has left.
    Login,
}

/// Tokens without a person.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("oneOf" = [{"required": ["client_credentials", "issuer"]}, {"required": ["workload"]}])
)]
#[expect(dead_code, reason = "described, and never built")]
struct Grant {
    /// For a machine that shows a secret or a key.
    client_credentials: Option<ClientCredentials>,
    /// For a job whose platform vouches for it.
    workload: Option<Workload>,
    /// URL of the authorization server that the client is registered with.
    issuer: Option<Word>,
}

/// A client that shows who it is.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("oneOf" = [{"required": ["client_secret"]}, {"required": ["private_key"]}])
)]
#[expect(dead_code, reason = "described, and never built")]
struct ClientCredentials {
    /// The name that it is registered under.
    client_id: Word,
    /// What it shows, as in ${secret:CLIENT_SECRET}.
    client_secret: Option<Secret>,
    /// What it signs with, as in ${secret:PRIVATE_KEY}.
    private_key: Option<Secret>,
    /// How it signs; by the kind of key if left out.
    #[schemars(extend("enum" = json!(ALGORITHMS)))]
    algorithm: Option<String>,
    /// Which of its keys it signs with.
    key_id: Option<Word>,
    /// What the token is to allow.
    scopes: Option<Vec<Word>>,
}

/// A job whose platform says who it is.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
struct Workload {
    /// The name that it is registered under.
    client_id: Word,
    /// What the platform has made out for it, as in ${secret:ID_TOKEN}.
    token: Secret,
    /// What the token is to allow.
    scopes: Option<Vec<Word>>,
}

/// An error of JSON-RPC.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "described, and never built")]
pub(super) struct RpcError {
    /// As in -32602.
    code: i64,
    /// In words.
    message: Option<String>,
    /// Whatever else there is to say.
    data: Option<Anything>,
}

/// A name that is used elsewhere in the plan.
pub(super) type ServerName = FixedName;
