//! What is wrong with a plan, or beside it, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a plan says that can't be meant, found before anything is sent.
///
/// `candidates` holds the offered names that are close, best first; a repair
/// needs exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "issue", rename_all = "snake_case")]
pub enum PlanIssue {
    CommandNotFound {
        /// As the plan writes it.
        command: String,
    },
    NotExecutable {
        /// Of the file.
        path: String,
    },
    /// `cwd`, or a folder named in the arguments, does not exist.
    MissingDirectory {
        /// Of the folder.
        path: String,
    },
    /// A `${env:NAME}` or `${secret:NAME}` without a value.
    MissingVariable {
        /// Of the variable.
        name: String,
        /// The plan calls it a secret.
        secret: bool,
    },
    /// A required argument of the server's package, or of its launcher,
    /// without a value.
    MissingPackageArgument {
        /// As in `package_args`.
        name: String,
    },
    /// Anything else that makes the server's package impossible to start.
    InvalidPackage {
        /// What is wrong, in words.
        reason: String,
    },
    UnknownServer {
        /// As the plan writes it.
        name: String,
        /// Close names that exist, best first.
        candidates: Vec<String>,
    },
    UnknownTool {
        /// As the plan writes it.
        name: String,
        /// Close names that exist, best first.
        candidates: Vec<String>,
    },
    UnknownArgument {
        /// Name of the tool.
        tool: String,
        /// As the plan writes it.
        name: String,
        /// Close names that exist, best first.
        candidates: Vec<String>,
    },
    MissingArgument {
        /// Name of the tool.
        tool: String,
        /// Of the argument.
        name: String,
    },
    /// The JSON type differs from the input schema's.
    ArgumentType {
        /// Name of the tool.
        tool: String,
        /// JSON pointer into the step's `args`.
        pointer: String,
        /// JSON types that the schema allows.
        expected: Vec<String>,
        /// The JSON type that the plan has.
        actual: String,
    },
    /// Any other breach of the tool's input schema.
    InvalidArgument {
        /// Name of the tool.
        tool: String,
        /// JSON pointer into the step's `args`.
        pointer: String,
        /// What the schema says against it.
        reason: String,
    },
    /// A `snapshot:` of which nothing is stored yet.
    SnapshotMissing {
        /// Of the snapshot.
        name: String,
        /// Where it would be stored.
        path: String,
        /// The plan's file.
        plan: String,
    },
    /// A JSON Schema that takes more to judge by than jelly gives one. Nothing
    /// was held against it.
    SchemaTooComplex {
        /// Whose it is, as in "the output schema of `list`".
        schema: String,
        /// JSON pointer into it, to where the budget ended.
        pointer: String,
        /// What ran out, as a fragment.
        reason: String,
    },
    /// The server does not list what the lock holds, so that its clients may fail.
    DefinitionChanged {
        /// As in `tools/echo`.
        item: String,
        /// JSON pointer into its definition.
        pointer: String,
        /// What changed, and what that does to clients.
        reason: String,
        /// The lock's file.
        lock: String,
    },
    /// The same of a server whose plan says `contract: promised`.
    PromiseBroken {
        /// As in `tools/echo`.
        item: String,
        /// JSON pointer into its definition.
        pointer: String,
        /// What changed, and what that does to clients.
        reason: String,
        /// The lock's file.
        lock: String,
    },
    /// The server does not speak what the plan holds it to.
    PinNotSpoken {
        /// As the plan has it, as in `era: legacy`.
        pin: String,
        /// `file:line:column` of it in the plan.
        at: String,
        /// It is a value of the plan's `matrix`, and no pin of the server's own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_matrix: bool,
    },
    /// The server asked its client for something that the plan has no answer to.
    Unanswered {
        /// As in `sampling/createMessage`.
        method: String,
    },
    /// A service of the plan died while it was needed.
    ServiceDied {
        /// In the plan.
        name: String,
    },
    /// The step expects the error of a tool, and JSON-RPC's came, or the other way round.
    OtherError {
        /// As the plan has it, as in `is_error: true`.
        expected: String,
        /// As a plan would have what came.
        actual: String,
        /// `file:line:column` of it in the plan.
        at: String,
    },
}

impl PlanIssue {
    /// `file:line:column` of the words that can't be meant, where these are not the step's or
    /// the server's as a whole.
    #[must_use]
    pub fn at(&self) -> Option<&str> {
        match self {
            Self::PinNotSpoken { at, .. } | Self::OtherError { at, .. } => Some(at),
            _ => None,
        }
    }
}
