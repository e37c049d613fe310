//! A plan's YAML: blocks as wide as a screen, and comments that nothing breaks
//! out of.

use jelly_base::text::{Notation, disarmed, one_line};
use jelly_plan::{yaml_flow, yaml_key};
use serde_json::{Map, Value};

/// Columns of a line that could as well be several.
const WIDTH: usize = 96;
/// How much of one text a comment shows, in bytes.
const MAX_COMMENT: usize = 400;

/// Lines of YAML.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    /// Where lines have a `# ` that makes comments of them, so that what is
    /// behind it keeps its place.
    pub commented: Option<usize>,
}

impl Text {
    pub fn into_string(self) -> String {
        self.text
    }

    /// A line at an indentation.
    pub fn line(&mut self, indent: usize, line: &str) {
        let at = self.commented.unwrap_or(indent).min(indent);
        self.text.extend(std::iter::repeat_n(' ', at));
        if self.commented.is_some() {
            self.text.push_str("# ");
        }
        self.text.extend(std::iter::repeat_n(' ', indent - at));
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A comment, wrapped, of any text; none of an empty one.
    pub fn comment(&mut self, indent: usize, text: &str) {
        let line: String = one_line(text, MAX_COMMENT)
            .chars()
            .filter(|c| is_shown(*c))
            .collect();
        // A plan may be printed in a job, and no console is to obey it.
        let line = disarmed(&line, Notation::Plain);
        if line.is_empty() {
            return;
        }
        let width = WIDTH.saturating_sub(indent + 2);
        for line in textwrap::wrap(&line, width) {
            self.text.extend(std::iter::repeat_n(' ', indent));
            self.text.push_str("# ");
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// `key: value`, below each other where they are too long for a line.
    /// `first` stands in place of the last characters of the first line's
    /// indentation.
    pub fn map(&mut self, indent: usize, map: &Map<String, Value>, first: &str) {
        let mut lead = first;
        for (key, value) in map {
            self.entry(indent, lead, key, value);
            lead = "";
        }
    }

    fn entry(&mut self, indent: usize, lead: &str, key: &str, value: &Value) {
        let at = indent - lead.len();
        let key = yaml_key(key);
        let flow = yaml_flow(value);
        let fits = at + lead.len() + key.len() + 2 + flow.len() <= WIDTH;
        match value {
            Value::Object(inner) if !inner.is_empty() && (!fits || is_open(inner)) => {
                self.line(at, &format!("{lead}{key}:"));
                self.map(indent + 2, inner, "");
            }
            Value::Array(items) if !items.is_empty() && (!fits || opens(items)) => {
                self.line(at, &format!("{lead}{key}:"));
                self.items(indent + 2, items);
            }
            _ => self.line(at, &format!("{lead}{key}: {flow}")),
        }
    }

    fn items(&mut self, indent: usize, items: &[Value]) {
        for item in items {
            let flow = yaml_flow(item);
            match item {
                Value::Object(inner) if !inner.is_empty() && indent + 2 + flow.len() > WIDTH => {
                    self.map(indent + 2, inner, "- ");
                }
                _ => self.line(indent, &format!("- {flow}")),
            }
        }
    }
}

/// Whether one of its members stands on lines of its own, so that it does too.
fn is_open(map: &Map<String, Value>) -> bool {
    map.values().any(|value| match value {
        Value::Array(items) => opens(items),
        Value::Object(inner) => inner.len() > 3,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    })
}

/// Lists of several objects are read from above to below.
fn opens(items: &[Value]) -> bool {
    items.len() > 1 && items.iter().any(Value::is_object)
}

/// Whether a character may stand in a comment: printable as of YAML, and none
/// that changes the direction of what follows.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}
