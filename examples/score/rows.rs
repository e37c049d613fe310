//! The lines of the data files.

use jelly_base::model::{ErrorCategory, Failure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Mcp,
    Junit,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mcp => "MCP",
            Self::Junit => "JUnit",
        }
    }
}

#[derive(Deserialize)]
pub struct Row {
    #[serde(default)]
    pub id: String,
    pub failure: Failure,
    pub label: Option<Label>,
    /// Sightings of one failure share it.
    pub group: Option<String>,
    /// Failures that only look alike share it.
    pub pair: Option<String>,
}

/// The truth about a failure.
#[derive(Deserialize)]
pub struct Label {
    /// `test`, `code` or `ambiguous`.
    pub side: String,
    pub error_category: Option<ErrorCategory>,
    pub root_cause: String,
    pub retryable: Option<bool>,
    /// Other answers that can be defended, by field.
    #[serde(default)]
    pub alt: BTreeMap<String, Vec<serde_json::Value>>,
    /// Its text fools rules that look for words.
    #[serde(default)]
    pub look_alike: bool,
}

impl Row {
    /// Failures of a report have no phase.
    pub fn kind(&self) -> Kind {
        match self.failure.phase {
            Some(_) => Kind::Mcp,
            None => Kind::Junit,
        }
    }
}

pub fn read(file: &Path) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            serde_json::from_str(line)
                .map_err(|error| format!("{}:{}: {error}", file.display(), index + 1))
        })
        .collect()
}
