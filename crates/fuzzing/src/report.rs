//! What came of trying a server out.
//!
//! Main type: [`FuzzReport`].

use jelly_base::text::one_line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The server's process ended.
    Died,
    /// There was no answer in time, and no sign of work.
    Hung,
    /// Of two requests at once, one was not answered.
    LostRequest,
    /// Two requests at once got each other's answer.
    CrossedAnswers,
    /// One request was answered twice.
    AnsweredTwice,
    /// After the call, another call gives something else than before, or nothing.
    StateChanged,
    /// A JSON-RPC internal error, or what a language says of a mistake in a program.
    InternalError,
    /// A stack trace in an answer.
    Traceback,
    /// The output breaks the tool's own output schema.
    OutputSchema,
    /// A message breaks the protocol.
    Protocol,
    /// Invalid input was not refused.
    AcceptedInvalid,
    /// The value at a bound of the input schema was refused as out of range.
    BoundRefused,
}

impl FindingKind {
    /// As in `died`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Died => "died",
            Self::Hung => "hung",
            Self::LostRequest => "lost_request",
            Self::CrossedAnswers => "crossed_answers",
            Self::AnsweredTwice => "answered_twice",
            Self::StateChanged => "state_changed",
            Self::InternalError => "internal_error",
            Self::Traceback => "traceback",
            Self::OutputSchema => "output_schema",
            Self::Protocol => "protocol",
            Self::AcceptedInvalid => "accepted_invalid",
            Self::BoundRefused => "bound_refused",
        }
    }

    /// Whether the server can't be used after it.
    #[must_use]
    pub fn is_end(self) -> bool {
        matches!(self, Self::Died | Self::Hung | Self::LostRequest)
    }
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    /// It happened again on a fresh server.
    Confirmed,
    /// It did not happen again.
    Flaky,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FuzzCall {
    /// Name of the tool.
    pub tool: String,
    /// As they are sent.
    pub arguments: Value,
    /// Whether it is made at the same time as the one before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_once: bool,
    /// Arguments that are another one at each start of the server: what an earlier call
    /// gives takes the place of the value here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<FuzzTaken>,
    /// Whether the tool refuses it.
    #[serde(skip)]
    pub is_refused: bool,
}

/// An argument that an earlier call of the same finding gives.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FuzzTaken {
    /// Its name.
    pub argument: String,
    /// Index of the call that gives it.
    pub call: usize,
    /// JSON pointer into that call's structured output, or into what its text says as
    /// JSON.
    pub pointer: String,
}

impl FuzzCall {
    #[must_use]
    pub fn new(tool: &str, arguments: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments,
            at_once: false,
            taken: Vec::new(),
            is_refused: false,
        }
    }
}

/// Something wrong with the server.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FuzzFinding {
    /// What is wrong.
    pub kind: FindingKind,
    /// How sure it is.
    pub status: FindingStatus,
    /// Name of the tool.
    pub tool: String,
    /// JSON pointer to the argument that was tried; empty for all of them.
    pub pointer: String,
    /// What was tried, as in `empty` or `wrong_type`.
    pub tried: String,
    /// Its place among the cases of the seed.
    pub case: u64,
    /// Whether the input is valid by the tool's input schema.
    pub valid_input: bool,
    /// What happened; completes "the server …".
    pub what: String,
    /// The calls that show it on a fresh server, the last of which fails.
    pub calls: Vec<FuzzCall>,
    /// The answer to the probe before, where the state changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<FuzzProbe>,
    /// The same for the same cause.
    pub fingerprint: String,
    /// How often it was seen.
    pub count: u64,
    /// The end of what the server wrote on stderr, where it died.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    /// Id of its step in the plan, or the last of its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Command that shows it again, where no plan can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A call that gives the same again and again, until something is broken.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FuzzProbe {
    /// Name of the tool.
    pub tool: String,
    /// As they are sent.
    pub arguments: Value,
    /// The text of its answer on a fresh server; absent where it varies, or is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Something to know, and no failure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FuzzNotice {
    /// What it is like.
    pub kind: FindingKind,
    /// Name of the tool.
    pub tool: String,
    /// JSON pointer to the argument that was tried.
    pub pointer: String,
    /// What was tried, as in `not_the_format`.
    pub tried: String,
    /// What happened; completes "the server …".
    pub what: String,
    /// Of the first sighting.
    pub arguments: Value,
    /// How often it was seen.
    pub count: u64,
}

/// What became of the calls of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FuzzedTool {
    /// Its name.
    pub name: String,
    /// Whether it declares that it only reads.
    pub read_only: bool,
    /// Cases that were tried.
    pub cases: u64,
    /// Of those with valid input, how many got a good answer.
    pub accepted: u64,
    /// Of those with valid input, how many were refused with a reason.
    pub refused: u64,
    /// Of those with invalid input, how many were refused.
    pub invalid_refused: u64,
}

/// A tool that was not called.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LeftOutTool {
    /// Its name.
    pub name: String,
    /// Why, in words.
    pub why: String,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FuzzTotals {
    /// Tools that were called.
    pub tools: u64,
    /// Tools that were not.
    pub left_out: u64,
    /// Cases that were tried: what `--max-calls` limits.
    pub cases: u64,
    /// Calls to see whether the server is healthy.
    pub probes: u64,
    /// Calls to confirm and to shrink findings.
    pub repeats: u64,
    /// Servers that were started.
    pub starts: u64,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FuzzEnd {
    /// There is nothing else to try.
    Complete,
    /// `--max-calls` was reached.
    MaxCalls,
    /// `--deadline` passed.
    Deadline,
    /// So many findings that more would not help.
    ManyFindings,
    /// The server could not be started again.
    NoServer,
    /// A signal came.
    Interrupted,
}

/// What `jelly fuzz --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FuzzReport {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of the command.
    pub exit_code: u8,
    /// As it was named.
    pub server: String,
    /// Of what is by chance.
    pub seed: u64,
    /// Why it ended.
    pub ended: FuzzEnd,
    /// Where to go on, by `--skip`.
    pub next: u64,
    /// What was done.
    pub totals: FuzzTotals,
    /// Tools that were called.
    pub tools: Vec<FuzzedTool>,
    /// Tools that were not.
    pub left_out: Vec<LeftOutTool>,
    /// What is wrong, confirmed ones first.
    pub findings: Vec<FuzzFinding>,
    /// What is to know besides.
    pub notices: Vec<FuzzNotice>,
    /// The plan that shows the findings again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

impl FuzzReport {
    /// How many findings have a status.
    #[must_use]
    pub fn count(&self, status: FindingStatus) -> usize {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.status == status).count()
    }
}

/// Arguments on a line, with the size of what is too long for one.
#[must_use]
pub fn shown_arguments(arguments: &Value) -> String {
    fn short(value: &Value) -> Value {
        match value {
            Value::String(text) if text.len() > 60 => {
                let head = &text[..text.floor_char_boundary(12)];
                Value::from(format!("{head}… ({} bytes)", text.len()))
            }
            Value::Array(items) if items.len() > 6 => {
                let mut few: Vec<Value> = items.iter().take(3).map(short).collect();
                few.push(Value::from(format!("… ({} items)", items.len())));
                Value::from(few)
            }
            Value::Array(items) => items.iter().map(short).collect(),
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, it)| (one_line(key, 60), short(it)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }
    one_line(&short(arguments).to_string(), 300)
}
