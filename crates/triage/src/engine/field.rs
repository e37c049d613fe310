//! What a match is worth, whom it speaks against, and in which text it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much a match of a rule proves. The order is the order of evidence: a
/// stronger match is never outvoted by a weaker one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A typed fact that leaves no question, as `ENOENT` of the command.
    Fact,
    /// A text that names the cause.
    Signature,
    /// A text that suggests a cause.
    Hint,
    /// A typed fact that only says how it ended, as "exit code 1".
    Fallback,
}

/// Whom a rule holds a failure against, before the phase has its say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleSide {
    /// The test, its plan or what is around it.
    Test,
    /// The code under test.
    Code,
    /// The evidence does not tell.
    Ambiguous,
}

/// The snake_case word of a value without fields, as files write it.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// The kinds of text that patterns apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// What the operating system said when it refused to start the command.
    Spawn,
    /// What the server wrote to stderr.
    Stderr,
    /// What came on stdout and was no message.
    Stdout,
    /// A tool's text, a JSON-RPC error's message and data, an HTTP body.
    Answer,
    /// What the client says of the failure.
    Message,
    /// Type, message and text of a JUnit failure.
    Report,
    /// The class of an exception in a JUnit failure, alone.
    Class,
    /// The name of a JUnit case, in which writers report hooks as if they
    /// were tests. What a test is called proves nothing.
    Title,
    /// What a test printed, as the JUnit report has it.
    Log,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Spawn,
        Self::Stderr,
        Self::Stdout,
        Self::Answer,
        Self::Message,
        Self::Report,
        Self::Class,
        Self::Title,
        Self::Log,
    ];

    /// Its bit in a set of fields.
    pub(super) fn bit(self) -> u32 {
        1 << self as u32
    }
}
