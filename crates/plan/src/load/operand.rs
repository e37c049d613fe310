//! What operators may be said of, and what their operands must be.

use super::keywords::unknown_keyword;
use super::parse_duration::parse_duration;
use super::path::Path;
use super::reader::Reader;
use super::references::{Needs, TemplatePlace};
use crate::Operator;
use crate::grammar::{OperandKind, Target, VALUE_TYPES};
use crate::json_schema::{BoundedSchema, SchemaError};
use crate::syntax::{Data, Node};
use crate::template::{Part, Template, has_reference};
use serde_json::Value;

/// Of a snapshot, whose files are named after it.
const LONGEST_NAME: usize = 80;

impl<'t> Reader<'t> {
    /// The operand as it is kept. What holds a variable is checked when its
    /// value is known.
    pub(super) fn operand(
        &mut self,
        operator: Operator,
        node: &Node<'t>,
        path: Path<'_>,
        target: Target,
        needs: &mut Needs,
    ) -> Option<Value> {
        if target == Target::Duration {
            return self.milliseconds(node, path);
        }
        // The name of a snapshot is that of a file, and never stands for another.
        // Nor does a path.
        if !matches!(operator, Operator::Snapshot | Operator::EqualsPath) {
            self.templates(node, path, TemplatePlace::Step, needs);
            if is_open(node) && node.is_scalar() {
                if operator == Operator::Schema {
                    self.schema_of_a_variable(node, path)?;
                }
                return Some(node.to_value());
            }
        }
        match operator.operand() {
            OperandKind::Value => self.comparable(node, path, target)?,
            OperandKind::Part => {
                if target.is_text() {
                    self.string(node, path)?;
                }
            }
            OperandKind::Text => {
                self.string(node, path)?;
            }
            OperandKind::Pattern => self.pattern(node, path)?,
            OperandKind::Values => {
                let items = self.list(node, path, "values")?;
                if items.is_empty() {
                    self.problem(node.span, path, "nothing can be one of no values");
                }
                for (index, item) in items.iter().enumerate() {
                    if !is_open(item) {
                        self.comparable(item, path.index(index), target)?;
                    }
                }
            }
            OperandKind::Number => {
                self.number(node, path)?;
            }
            OperandKind::Flag => {
                self.boolean(node, path)?;
            }
            OperandKind::Types => self.types(node, path)?,
            OperandKind::Bounds => self.length(node, path)?,
            OperandKind::JsonSchema => self.schema(node, path)?,
            OperandKind::Path => self.other_path(node, path)?,
            OperandKind::SnapshotName => self.snapshot(node, path)?,
        }
        Some(node.to_value())
    }

    /// A path into the answer, which stands there as it is.
    fn other_path(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        self.result_path(node, path)?;
        if is_open(node) {
            self.problem(node.span, path, "a path can't contain variables")
                .hint("to compare with a variable, use `equals`");
            return None;
        }
        Some(())
    }

    /// What is compared with text must be text, else it never holds.
    fn comparable(&mut self, node: &Node<'t>, path: Path<'_>, target: Target) -> Option<()> {
        if target.is_text() {
            self.string(node, path)?;
        } else if matches!(
            target,
            Target::ErrorCode | Target::Count | Target::ExitCode | Target::Status
        ) {
            self.number(node, path)?;
        }
        Some(())
    }

    fn number(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        if let Data::Number(_) = node.data {
            return Some(());
        }
        let message = format!("expected a number, found {}", node.kind());
        let problem = self.problem(node.span, path, message);
        if let Data::String(text) = &node.data {
            problem.hint(match text.trim().parse::<f64>() {
                Ok(_) => format!("write it without quotes: `{}`", text.trim()),
                Err(_) => "texts are compared by `equals`, `one_of` or `matches`".to_owned(),
            });
        }
        None
    }

    fn milliseconds(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Value> {
        match &node.data {
            Data::Number(number) if number.as_f64().is_some_and(|n| n >= 0.0) => {
                Some(Value::Number(number.clone()))
            }
            Data::String(text) => match parse_duration(text) {
                Some(duration) if duration.subsec_nanos() % 1_000_000 == 0 => {
                    u64::try_from(duration.as_millis()).ok().map(Value::from)
                }
                Some(duration) => Some(Value::from(duration.as_secs_f64() * 1000.0)),
                None => {
                    self.problem(node.span, path, format!("`{text}` is not a duration"))
                        .hint("as in `500ms` or `2s`");
                    None
                }
            },
            Data::Number(_) | Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                let message = format!("expected a duration, found {}", node.kind());
                self.problem(node.span, path, message)
                    .hint("as in `500ms` or `2s`");
                None
            }
        }
    }

    fn pattern(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        let written = self.string(node, path)?;
        let pattern = literal(written)?;
        let key = format!("matches {pattern}");
        if self.good_operands.contains(&key) {
            return Some(());
        }
        if let Err(error) = regex::Regex::new(&pattern) {
            let text = error.to_string();
            // The crate's message draws its own caret; its last line says why.
            let why = text
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            let look = why.contains("look-around");
            let problem = self.problem(node.span, path, format!("no regular expression: {why}"));
            if look {
                problem.hint("use `not_matches` or `not_contains`, or two operators");
            }
            return None;
        }
        self.good_operands.insert(key);
        Some(())
    }

    fn types(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        match &node.data {
            Data::List(items) => {
                if items.is_empty() {
                    self.problem(node.span, path, "nothing can be one of no types");
                }
                for (index, item) in items.iter().enumerate() {
                    self.type_name(item, path.index(index))?;
                }
            }
            // `type: null` means the type, not nothing.
            Data::Null if self.written(node) == "null" => {
                self.problem(node.span, path, "expected the name of a type")
                    .hint("put it in quotes: \"null\"");
                return None;
            }
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) | Data::Map(_) => {
                self.type_name(node, path)?;
            }
        }
        Some(())
    }

    fn type_name(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        // JSON's names, where other languages have theirs.
        let meant = match node.as_str() {
            Some("str" | "text") => "string",
            Some("int") => "integer",
            Some("float" | "double") => "number",
            Some("bool") => "boolean",
            Some("list" | "sequence") => "array",
            Some("dict" | "map" | "mapping") => "object",
            Some("nil" | "none" | "None") => "null",
            Some(_) | None => return self.one_of(node, path, "type", &VALUE_TYPES),
        };
        let message = format!("unknown type `{}`", self.written(node));
        self.problem(node.span, path, message)
            .hint(format!("did you mean `{meant}`?"));
        None
    }

    fn length(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        match &node.data {
            Data::Map(entries) => {
                if entries.is_empty() {
                    self.problem(node.span, path, "no comparison given")
                        .hint("as in `length: { ge: 1 }`");
                }
                for entry in entries {
                    let key = entry.key.as_ref();
                    if !["equals", "gt", "ge", "lt", "le"].contains(&key) {
                        self.problem(entry.key_span, path, format!("unknown comparison `{key}`"))
                            .hint("a length takes a number, or `equals`, `gt`, `ge`, `lt`, `le`");
                        continue;
                    }
                    if !is_open(&entry.value) {
                        self.count(&entry.value, path.key(key), 0)?;
                    }
                }
                Some(())
            }
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) | Data::List(_) => {
                self.count(node, path, 0).map(|_| ())
            }
        }
    }

    fn schema(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        match &node.data {
            Data::Map(_) | Data::Bool(_) => {}
            Data::Null | Data::Number(_) | Data::String(_) | Data::List(_) => {
                let message = format!("expected a JSON Schema, found {}", node.kind());
                self.problem(node.span, path, message);
                return None;
            }
        }
        if !self.known_keywords(node, path) {
            return None;
        }
        if holds_open(node) {
            return Some(());
        }
        let schema = node.to_value();
        let key = format!("schema {schema}");
        if self.good_operands.contains(&key) {
            return Some(());
        }
        if let Err(error) = BoundedSchema::compile(&schema) {
            let message = format!("no JSON Schema: {error}");
            let problem = self.problem(node.span, path, message);
            if let SchemaError::Wrong { pointer, .. } = error
                && !pointer.is_empty()
            {
                problem.hint(format!("at `{pointer}`"));
            }
            return None;
        }
        self.good_operands.insert(key);
        Some(())
    }

    /// A schema that is a variable whose value the plan spells out.
    fn schema_of_a_variable(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        let template = Template::parse(node.as_str()?).ok()?;
        let [Part::Name(name)] = template.parts.as_slice() else {
            return Some(());
        };
        let Some(unknown) = self.names.values.get(name).and_then(unknown_keyword) else {
            return Some(());
        };
        let message = format!("in `${{{name}}}` at `{}`: {unknown}", unknown.pointer);
        self.problem(node.span, path, message).hint(unknown.hint());
        None
    }

    fn snapshot(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<()> {
        let name = self.string(node, path)?;
        let good = (1..=LONGEST_NAME).contains(&name.len())
            // It is an argument of `jelly snapshot` too.
            && !name.starts_with('-')
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !good {
            self.problem(node.span, path, format!("`{name}` can't name a snapshot"))
                .hint(format!(
                    "use letters, digits, `_` and `-`, the last not at the beginning, and at \
                     most {LONGEST_NAME} of them"
                ));
            return None;
        }
        let lower = name.to_ascii_lowercase();
        let first = self.snapshots.by_lower.entry(lower);
        let first = first.or_insert_with(|| name.to_owned()).clone();
        if first != name {
            let message = format!("`{name}` and `{first}` differ in case only");
            self.problem(node.span, path, message).hint(
                "they would share one file where file names know no case, as on macOS and \
                 Windows; use another name",
            );
            return None;
        }
        Some(())
    }
}

/// Whether the value of a string is only known when its variables are.
fn is_open(node: &Node<'_>) -> bool {
    node.as_str()
        .is_some_and(|text| has_reference(text) && literal(text).is_none())
}

fn holds_open(node: &Node<'_>) -> bool {
    match &node.data {
        Data::Null | Data::Bool(_) | Data::Number(_) => false,
        Data::String(_) => is_open(node),
        Data::List(items) => items.iter().any(holds_open),
        Data::Map(entries) => entries.iter().any(|entry| holds_open(&entry.value)),
    }
}

/// The text of a template that names nothing.
fn literal(text: &str) -> Option<String> {
    let template = Template::parse(text).ok()?;
    template
        .is_literal()
        .then(|| template.resolve_str(&crate::Scope::default(), ""))?
        .ok()
}
