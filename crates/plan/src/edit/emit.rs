//! Values as text: what a spliced scalar or key looks like.

use crate::source::Format;
use crate::syntax::{Plain, Style, plain};
use serde_json::Value;
use std::fmt::Write;

/// Where a scalar will stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub format: Format,
    /// Inside brackets or braces.
    pub flow: bool,
}

/// A value on one line of a block of YAML.
#[must_use]
pub fn yaml_flow(one: &Value) -> String {
    value(one, Style::Plain, BLOCK)
}

/// A key in a block of YAML.
#[must_use]
pub fn yaml_key(name: &str) -> String {
    key(name, Style::Plain, BLOCK)
}

const BLOCK: Context = Context {
    format: Format::Yaml,
    flow: false,
};

/// A value in the style of the one that it replaces, or in the plainest that
/// keeps it.
pub(super) fn value(value: &Value, style: Style, context: Context) -> String {
    match (value, context.format) {
        (Value::String(text), Format::Yaml) => string(text, style, context),
        (Value::String(_), Format::Json)
        | (Value::Null | Value::Bool(_) | Value::Number(_), _)
        | (Value::Array(_) | Value::Object(_), Format::Json) => value.to_string(),
        (Value::Array(items), Format::Yaml) => {
            let inside = Context {
                flow: true,
                ..context
            };
            let items: Vec<String> = items
                .iter()
                .map(|item| self::value(item, Style::Plain, inside))
                .collect();
            format!("[{}]", items.join(", "))
        }
        (Value::Object(entries), Format::Yaml) => {
            let inside = Context {
                flow: true,
                ..context
            };
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, item)| {
                    let name = key(name, Style::Plain, inside);
                    format!("{name}: {}", self::value(item, Style::Plain, inside))
                })
                .collect();
            if entries.is_empty() {
                "{}".into()
            } else {
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }
}

/// A key in the style of the one that it replaces.
pub(super) fn key(name: &str, style: Style, context: Context) -> String {
    match context.format {
        Format::Json => Value::from(name).to_string(),
        Format::Yaml => string(name, style, context),
    }
}

fn string(text: &str, style: Style, context: Context) -> String {
    match style {
        Style::Plain if is_plain_safe(text, context.flow) => text.to_owned(),
        Style::SingleQuoted if text.chars().all(is_printable) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        Style::Plain
        | Style::SingleQuoted
        | Style::DoubleQuoted
        | Style::Literal
        | Style::Folded
        | Style::Block
        | Style::Flow => double_quoted(text),
    }
}

/// Whether `text` is itself when it stands without quotes: stricter than
/// YAML, so that no reader of the file has to know its corners.
fn is_plain_safe(text: &str, flow: bool) -> bool {
    let mut chars = text.chars().peekable();
    let Some(first) = chars.peek() else {
        return false;
    };
    if !(first.is_alphanumeric() || matches!(first, '_' | '/' | '.' | '$'))
        || text.ends_with(' ')
        || text.starts_with("...")
    {
        return false;
    }
    while let Some(c) = chars.next() {
        let fits = match c {
            '_' | '-' | '.' | '/' | '@' | '+' | '=' | '~' | '%' | '$' | '(' | ')' => true,
            ' ' => !matches!(chars.peek(), Some('#' | ' ')),
            ':' => chars
                .peek()
                .is_some_and(|next| next.is_alphanumeric() || *next == '/'),
            '{' | '}' => !flow,
            c => c.is_alphanumeric(),
        };
        if !fits {
            return false;
        }
    }
    // What YAML 1.1 took for booleans, some readers still do.
    let lower = text.to_ascii_lowercase();
    plain(text) == Plain::Text
        && !matches!(lower.as_str(), "yes" | "no" | "on" | "off" | "y" | "n")
        && !is_old_number(text)
}

/// Whether YAML 1.1 took it for a date, a time (`12:00` was 720), or a number
/// (`010` was 8, `1_000` a thousand).
fn is_old_number(text: &str) -> bool {
    let is_number = |part: &str| {
        let digits = part
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '_' | '.'));
        digits && !part.is_empty() && part.matches('.').count() < 2
    };
    let day = text.split(['T', 't', ' ']).next().unwrap_or_default();
    let is_date = day.split('-').count() == 3 && day.split('-').all(is_number);
    is_date || text.split(':').all(is_number) || has_radix(text)
}

/// `0b11`, `0x_f`.
fn has_radix(text: &str) -> bool {
    let digits = text.strip_prefix("0b").or_else(|| text.strip_prefix("0x"));
    digits.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit() || c == '_'))
}

/// Printable, on one line, and where it seems to stand: no character that
/// changes the direction of what follows.
fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_printable(c) => quoted.push(c),
            // All that is not printable lies in the first plane.
            c => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// The lines of a literal block (`|`) that hold `text`, if such a block with
/// this chomping can: `strip` for `|-`, else `|`.
pub(super) fn literal_lines(text: &str, strip: bool, indent: &str, feed: &str) -> Option<String> {
    let body = if strip {
        text
    } else {
        text.strip_suffix('\n')?
    };
    let good = !body.is_empty()
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && body.chars().all(|c| c == '\n' || is_printable(c))
        // A line of spaces alone would be hard to tell from an empty one.
        && body.lines().all(|line| line.is_empty() || !line.trim().is_empty());
    good.then(|| {
        body.split('\n')
            .map(|line| match line {
                "" => String::new(),
                line => format!("{indent}{line}"),
            })
            .collect::<Vec<_>>()
            .join(feed)
    })
}
