//! What can be known before anything is sent: a step's arguments held against
//! the tools that its server lists.

use super::declared::Declared;
use jelly_base::model::{PlanIssue, ToolInfo};
use jelly_base::text::{close_names, json_type};
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Of what is wrong with the arguments of a call, so much is looked at.
const ERRORS: usize = 1_000;

/// The tools of one server, by name, with their schemas.
#[derive(Debug, Default)]
pub struct ToolSchemas {
    tools: HashMap<String, Tool>,
    names: Vec<String>,
    /// What it has listed, and lists no more.
    formerly: BTreeSet<String>,
}

#[derive(Debug)]
struct Tool {
    input: Option<Declared>,
    output: Option<Declared>,
    repeatable: bool,
}

impl ToolSchemas {
    #[must_use]
    pub fn new(tools: &[ToolInfo]) -> Self {
        Self {
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            formerly: BTreeSet::new(),
            tools: tools
                .iter()
                .map(|tool| {
                    let entry = Tool {
                        input: tool.input_schema.clone().map(Declared::new),
                        output: tool.output_schema.clone().map(Declared::new),
                        repeatable: tool.repeatable,
                    };
                    (tool.name.clone(), entry)
                })
                .collect(),
        }
    }

    /// What the same server lists now. A name that it has taken back is nobody's slip.
    #[must_use]
    pub fn followed_by(&self, now: &[ToolInfo]) -> Self {
        let now = Self::new(now);
        let before = self.names.iter().chain(&self.formerly);
        let gone = before.filter(|name| !now.tools.contains_key(*name));
        Self {
            formerly: gone.cloned().collect(),
            ..now
        }
    }

    /// All that it has listed, first in the order of the list of now.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter().chain(&self.formerly)
    }

    /// The arguments that the tool names.
    #[must_use]
    pub fn arguments(&self, tool: &str) -> Vec<String> {
        let schema = self.tools.get(tool).and_then(|tool| tool.input.as_ref());
        let named = schema.and_then(|schema| schema.schema.get("properties")?.as_object());
        named
            .into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect()
    }

    /// Whether the arguments meet the input schema that the server lists for the tool;
    /// not where there is none, or none that can be judged by.
    #[must_use]
    pub fn fit(&self, tool: &str, args: &Value) -> bool {
        let schema = self.tools.get(tool).and_then(|tool| tool.input.as_ref());
        schema.is_some_and(|schema| schema.is_valid(args).unwrap_or(false))
    }

    #[must_use]
    pub fn output_schema(&self, tool: &str) -> Option<&Declared> {
        self.tools.get(tool)?.output.as_ref()
    }

    /// Whether the tool says of itself that a second call does no more than the
    /// first.
    #[must_use]
    pub fn is_repeatable(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.repeatable)
    }

    /// Why this call can't be meant, if it can't: the tool's name first, then
    /// the names of its arguments, then what is missing, then their values. These
    /// are not told where it `hides` them.
    #[must_use]
    pub fn issue(&self, tool: &str, args: &Value, hides: bool) -> Option<PlanIssue> {
        let Some(found) = self.tools.get(tool) else {
            // The call shows what becomes of it.
            if self.formerly.contains(tool) {
                return None;
            }
            return Some(PlanIssue::UnknownTool {
                name: tool.to_owned(),
                candidates: close_names(tool, self.names.iter().map(String::as_str)),
            });
        };
        let schema = found.input.as_ref()?;
        if let Some(why) = schema.too_complex(args) {
            return Some(PlanIssue::SchemaTooComplex {
                schema: format!("the input schema of `{tool}`"),
                pointer: why.pointer,
                reason: why.what.to_owned(),
            });
        }
        // A schema that can't be compiled is the server's own affair: the
        // call shows what comes of it.
        if schema.is_valid(args).ok()? {
            // What the schema lets pass may still be a slip: an argument
            // that the tool does not know, close to one it was not given.
            return misspelt(tool, &schema.schema, args, true)
                .into_iter()
                .next();
        }
        let first = misspelt(tool, &schema.schema, args, false);
        if let Some(issue) = first.into_iter().next() {
            return Some(issue);
        }
        let errors = schema.compiled().ok()?.errors(args, ERRORS).ok()?;
        let missing = errors.iter().find_map(|error| match error.kind() {
            ValidationErrorKind::Required { .. } => Some(wrong_argument(tool, error, hides)),
            _ => None,
        });
        missing.or_else(|| Some(wrong_argument(tool, errors.first()?, hides)))
    }

    /// Everything that can't be meant in this call, where what stands at the
    /// `unknown` places is not known yet.
    #[must_use]
    pub fn issues(
        &self,
        tool: &str,
        args: &Value,
        (unknown, hides): (&[String], bool),
    ) -> Vec<PlanIssue> {
        let Some(found) = self.tools.get(tool) else {
            return self.issue(tool, args, hides).into_iter().collect();
        };
        let Some(schema) = &found.input else {
            return Vec::new();
        };
        // What jelly can't judge, the call shows.
        let valid = schema.is_valid(args).unwrap_or(true);
        let mut issues = misspelt(tool, &schema.schema, args, valid);
        if valid {
            return issues;
        }
        let errors = schema.compiled().ok();
        let errors = errors.and_then(|schema| schema.errors(args, ERRORS).ok());
        for error in errors.iter().flatten() {
            let pointer = error.instance_path().to_string();
            let is_within = |inner: &str, outer: &str| {
                let rest = inner.strip_prefix(outer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let by_kind = match error.kind() {
                ValidationErrorKind::Required { property } => {
                    // Its misspelt name was told.
                    let name = property.as_str().unwrap_or_default();
                    let is_told = pointer.is_empty() && is_candidate(&issues, name);
                    !is_told && !unknown.contains(&pointer)
                }
                ValidationErrorKind::AdditionalProperties { .. }
                | ValidationErrorKind::UnevaluatedProperties { .. }
                    if pointer.is_empty() =>
                {
                    !matches!(issues.last(), Some(PlanIssue::UnknownArgument { .. }))
                }
                ValidationErrorKind::Type { .. } => {
                    !unknown.iter().any(|place| is_within(&pointer, place))
                }
                // It may be about what is not known.
                _ => !unknown
                    .iter()
                    .any(|place| is_within(&pointer, place) || is_within(place, &pointer)),
            };
            if by_kind {
                issues.push(wrong_argument(tool, error, hides));
            }
        }
        issues
    }
}

/// Whether an argument of this name is what another one was meant for.
fn is_candidate(issues: &[PlanIssue], name: &str) -> bool {
    issues.iter().any(|issue| match issue {
        PlanIssue::UnknownArgument { candidates, .. } => {
            candidates.iter().any(|candidate| candidate == name)
        }
        _ => false,
    })
}

/// What is missing, or has a wrong value.
fn wrong_argument(tool: &str, error: &ValidationError<'_>, hides: bool) -> PlanIssue {
    let pointer = error.instance_path().to_string();
    let tool = tool.to_owned();
    match error.kind() {
        ValidationErrorKind::Required { property } => PlanIssue::MissingArgument {
            tool,
            name: dotted(&pointer, property.as_str().unwrap_or_default()),
        },
        ValidationErrorKind::Type { kind } => PlanIssue::ArgumentType {
            tool,
            pointer,
            expected: type_names(kind),
            actual: json_type(error.instance()).to_owned(),
        },
        _ => PlanIssue::InvalidArgument {
            tool,
            pointer,
            // Whole: to be cut only where secrets are known.
            reason: match hides {
                true => error.masked().to_string(),
                false => error.to_string(),
            },
        },
    }
}

/// The arguments whose names the tool does not know. When the call is `valid`,
/// only those that are surely meant for a known one that is absent.
fn misspelt(tool: &str, schema: &Value, args: &Value, valid: bool) -> Vec<PlanIssue> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let (Some(properties), Some(args)) = (properties, args.as_object()) else {
        return Vec::new();
    };
    if schema.get("patternProperties").is_some() {
        return Vec::new();
    }
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let mut issues = Vec::new();
    for name in args.keys().filter(|name| !properties.contains_key(*name)) {
        let absent = properties
            .keys()
            .filter(|known| !args.contains_key(*known))
            .map(String::as_str);
        let candidates = close_names(name, absent);
        if (closed && !valid) || candidates.len() == 1 {
            issues.push(PlanIssue::UnknownArgument {
                tool: tool.to_owned(),
                name: name.clone(),
                candidates,
            });
        }
    }
    issues
}

/// `/a/b` and `c` as `a.b.c`.
fn dotted(pointer: &str, name: &str) -> String {
    let mut path = pointer.trim_start_matches('/').replace('/', ".");
    if !path.is_empty() {
        path.push('.');
    }
    path + name
}

fn type_names(kind: &TypeKind) -> Vec<String> {
    match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(many) => many.iter().map(|one| one.to_string()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::ToolSchemas;
    use jelly_base::model::{PlanIssue, ToolInfo};
    use serde_json::{Value, json};

    fn issue(schema: Value, tool: &str, args: Value) -> Option<PlanIssue> {
        let tool_info = |name: &str, input_schema| ToolInfo {
            name: name.into(),
            input_schema,
            output_schema: None,
            repeatable: false,
        };
        let tools = [tool_info("echo", Some(schema)), tool_info("bare", None)];
        ToolSchemas::new(&tools).issue(tool, &args, false)
    }

    fn open() -> Value {
        json!({
            "type": "object",
            "properties": {"message": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
            "required": ["message"],
        })
    }

    fn unknown_argument(name: &str, candidates: &[&str]) -> Option<PlanIssue> {
        Some(PlanIssue::UnknownArgument {
            tool: "echo".into(),
            name: name.into(),
            candidates: candidates.iter().map(ToString::to_string).collect(),
        })
    }

    #[test]
    fn a_good_call_has_no_issue() {
        let args = json!({"message": "hi", "extra": 1});
        assert_eq!(issue(open(), "echo", args), None);
        assert_eq!(issue(open(), "bare", json!({"any": 1})), None);
        // A schema that is none hinders nothing.
        assert_eq!(issue(json!({"type": 1}), "echo", json!({})), None);
    }

    #[test]
    fn an_unknown_tool_is_named_with_its_neighbours() {
        let unknown = PlanIssue::UnknownTool {
            name: "ecoh".into(),
            candidates: vec!["echo".into()],
        };
        assert_eq!(issue(open(), "ecoh", json!({})), Some(unknown));
    }

    #[test]
    fn a_misspelt_argument_is_told_before_the_one_that_is_missing() {
        let misspelt = unknown_argument("mesage", &["message"]);
        assert_eq!(issue(open(), "echo", json!({"mesage": "hi"})), misspelt);
        // An optional one that an open schema would swallow in silence.
        let misspelt = unknown_argument("cuont", &["count"]);
        let args = json!({"message": "hi", "cuont": 2});
        assert_eq!(issue(open(), "echo", args), misspelt);
        // A closed schema refuses what it does not know.
        let closed = json!({
            "type": "object", "properties": {"a": {}}, "additionalProperties": false,
        });
        let unknown = unknown_argument("zzz", &[]);
        assert_eq!(issue(closed, "echo", json!({"a": 1, "zzz": 2})), unknown);
    }

    #[test]
    fn missing_ill_typed_and_otherwise_wrong_arguments_are_told_apart() {
        let missing = PlanIssue::MissingArgument {
            tool: "echo".into(),
            name: "message".into(),
        };
        assert_eq!(issue(open(), "echo", json!({})), Some(missing));
        let ill_typed = PlanIssue::ArgumentType {
            tool: "echo".into(),
            pointer: "/count".into(),
            expected: vec!["integer".into()],
            actual: "string".into(),
        };
        let args = json!({"message": "x", "count": "2"});
        assert_eq!(issue(open(), "echo", args), Some(ill_typed));
        let wrong = issue(open(), "echo", json!({"message": "x", "count": 0}));
        assert!(matches!(wrong, Some(PlanIssue::InvalidArgument { .. })));
    }
}
