//! What `jelly doctor` found out about the servers of clients' configurations.
//!
//! Main type: [`DoctorReport`]. All texts are redacted already.

use super::Diagnosis;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of `jelly doctor`.
    pub exit_code: u8,
    /// The configurations, in the order in which they were named or found.
    pub files: Vec<ConfigSummary>,
    pub counts: CheckupCounts,
    /// In the order of the files, and of the servers in them.
    pub servers: Vec<Checkup>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigSummary {
    /// As it was named or found.
    pub path: String,
    /// Whose it is, as in `Claude Desktop`.
    pub client: String,
    /// How many it has.
    pub servers: usize,
    /// Why it can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ConfigProblem>,
}

/// Why a configuration can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigProblem {
    /// `file`, `file:line:column` where there is a place in it.
    pub at: String,
    /// A fragment in lower case.
    pub what: String,
    /// What would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// How many servers are in which state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckupCounts {
    /// All of them.
    pub servers: usize,
    /// Started, and did all that was asked.
    pub healthy: usize,
    /// Started, and did something that clients may fail at.
    pub unwell: usize,
    /// Can't be used.
    pub broken: usize,
    /// Not started, since that was not asked for.
    pub unchecked: usize,
    /// Not to be started, as the configuration says.
    pub disabled: usize,
    /// Findings that can't work.
    pub errors: usize,
    /// Findings that may not work elsewhere, or later.
    pub warnings: usize,
}

/// How a server is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckupState {
    /// It started, and did all that was asked.
    Healthy,
    /// It started, and clients may fail at something that it does, or that its
    /// entry says.
    Unwell,
    /// It can't be used.
    Broken,
    /// It was not started, since that was not asked for.
    #[default]
    Unchecked,
    /// Its configuration says that it is not to be started.
    Disabled,
}

/// One server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Checkup {
    /// As the configuration calls it.
    pub name: String,
    /// Whose configuration it is from.
    pub client: String,
    /// `file:line:column` of its entry.
    pub at: String,
    pub state: CheckupState,
    /// As it may be shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Where it is reached over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `modern` or `legacy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
    /// The revision that was agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// As the server says it: `name`, `version`, and what else it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// How many it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Absent where the server says it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<usize>,
    /// Absent where the server says it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<usize>,
    /// From the spawn to the last page of the list of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_ms: Option<u64>,
    /// Lines on stdout that are no messages.
    pub stdout_noise: u64,
    /// The first of those lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stdout_noise_sample: Vec<String>,
    /// The end of what a server that did not start wrote on stderr.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    /// What happened, in a sentence's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    /// A line for a POSIX shell that starts it by hand and sends it its first
    /// request. Secrets in it are left to be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<String>,
    /// What was seen without starting it.
    pub findings: Vec<Finding>,
    /// What else a reader should know, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What was seen without starting anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    pub lint: Lint,
    /// How bad it is.
    pub level: FindingLevel,
    /// `file:line:column`.
    pub at: String,
    /// A sentence.
    pub what: String,
    /// A sentence.
    pub fix: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    /// It can't work.
    Error,
    /// It may not work elsewhere, or later.
    Warning,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lint {
    /// The entry is none of a server.
    Malformed,
    /// A blank that nobody has filled.
    Unfilled,
    /// The command holds its arguments too.
    CommandWithArguments,
    /// `npx` on Windows, where it is a batch file.
    WindowsNpx,
    /// A path that only a shell would expand.
    ShellPath,
    /// A path that depends on the folder in which a client starts the server.
    RelativePath,
    /// A package whose next version is taken unseen.
    UnpinnedVersion,
    /// A secret that everyone sees who sees the file.
    PlainSecret,
    /// A variable that is set to nothing.
    EmptyEnv,
    /// Another server has the same name.
    DuplicateName,
    /// Its client does not read the key that it stands under.
    WrongKey,
    /// Its `type` says another way to reach it than its other members.
    TypeMismatch,
    /// It takes longer to start than its client waits.
    SlowStart,
}
