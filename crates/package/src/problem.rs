//! What is wrong with a definition, and where.

use std::fmt;

/// Line and column, 1-based; columns count characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Whether a definition can be used as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It was mended, or left out, as the message says.
    Warning,
    Error,
}

/// One thing that is wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// RFC 6901, from the root of what was read.
    pub pointer: String,
    /// It is about the key there, not about its value.
    pub of_key: bool,
    pub level: Level,
    /// A fragment in lower case.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

/// The same in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonProblem {
    pub place: Place,
    pub problem: Problem,
}

impl fmt::Display for JsonProblem {
    /// `line:column: field: message (hint)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        let field = dotted(&self.problem.pointer);
        if !field.is_empty() {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.problem.message)?;
        match &self.problem.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// The segments of an RFC 6901 pointer.
pub(super) fn segments(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer
        .split('/')
        .skip(1)
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
}

/// The pointer one level down.
pub(super) fn below(pointer: &str, segment: &str) -> String {
    format!(
        "{pointer}/{}",
        segment.replace('~', "~0").replace('/', "~1")
    )
}

/// As in `packages[0].identifier`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for segment in segments(pointer) {
        if segment.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{segment}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&segment);
        }
    }
    path
}
