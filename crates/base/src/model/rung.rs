//! The schema ladder's rungs, and what of a tool's output the store learns.

use serde_json::Value;

/// The rung of the schema ladder by which a structured output was had, best
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// The server's own `structuredContent`.
    Structured,
    /// Text that is JSON, and fits the schema where there is one.
    JsonText,
    /// Text put into the form that the schema asks for.
    Declared,
    /// `{"result": text}`.
    Generic,
}

impl Rung {
    /// As reports say it, in `adapter`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::JsonText => "json_text",
            Self::Declared => "declared",
            Self::Generic => "generic",
        }
    }

    /// As the schema store says it, in `last_adapter`: there, nothing was
    /// adapted where the output was structured.
    #[must_use]
    pub fn stored_name(self) -> &'static str {
        match self {
            Self::Structured => "pass_through",
            Self::JsonText | Self::Declared | Self::Generic => self.name(),
        }
    }
}

/// By which rung the good answer of a tool was read.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSeen {
    pub server: String,
    /// By its real name.
    pub tool: String,
    pub rung: Rung,
    /// The output schema that the server declares for it.
    pub declared: Option<Value>,
}
