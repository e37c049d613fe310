//! `${…}` in plans: parsed once, resolved when the value is due.
//!
//! The main type is [`Template`]; [`Scope`] says what the names stand for.

use indexmap::IndexMap;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A string with `${…}` in it. `$${` is a literal `${`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// As written.
    pub raw: String,
    pub parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Workspace,
    Tmp,
    Env(String),
    Secret(String),
    /// The server's own port, or the named server's.
    Port(Option<String>),
    /// A variable or a capture.
    Name(String),
}

/// Why a string is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("`${{` is never closed by `}}`")]
    Unclosed { reference: String },
    #[error("`{reference}` names nothing")]
    Empty { reference: String },
    #[error("`{reference}` is no reference: nothing is called `{prefix}:`")]
    UnknownPrefix { reference: String, prefix: String },
    #[error("`{name}` can't be a name")]
    BadName { reference: String, name: String },
}

impl TemplateError {
    /// The piece of the string that is wrong, `${` included.
    #[must_use]
    pub fn reference(&self) -> &str {
        match self {
            Self::Unclosed { reference }
            | Self::Empty { reference }
            | Self::UnknownPrefix { reference, .. }
            | Self::BadName { reference, .. } => reference,
        }
    }
}

/// The names that a plan can't give to a variable or a capture.
pub const RESERVED: [&str; 3] = ["workspace", "tmp", "port"];

/// The prefixes of references.
pub const PREFIXES: [&str; 3] = ["env", "secret", "port"];

/// Whether a variable or a capture can be called so: letters, digits and
/// `_`, `-`, `.`, beginning with a letter or `_`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

impl Part {
    fn parse(reference: &str, inner: &str) -> Result<Self, TemplateError> {
        let reference = || reference.to_owned();
        let Some((prefix, name)) = inner.split_once(':') else {
            return match inner {
                "" => Err(TemplateError::Empty {
                    reference: reference(),
                }),
                "workspace" => Ok(Self::Workspace),
                "tmp" => Ok(Self::Tmp),
                "port" => Ok(Self::Port(None)),
                name if is_name(name) => Ok(Self::Name(name.to_owned())),
                name => Err(TemplateError::BadName {
                    reference: reference(),
                    name: name.to_owned(),
                }),
            };
        };
        if !PREFIXES.contains(&prefix) {
            return Err(TemplateError::UnknownPrefix {
                reference: reference(),
                prefix: prefix.to_owned(),
            });
        }
        if name.is_empty() {
            return Err(TemplateError::Empty {
                reference: reference(),
            });
        }
        // Names of environment variables and servers are not jelly's to
        // choose; only what no system allows is refused.
        if name.contains(['=', '\0']) || name.trim() != name {
            return Err(TemplateError::BadName {
                reference: reference(),
                name: name.to_owned(),
            });
        }
        let name = name.to_owned();
        Ok(match prefix {
            "env" => Self::Env(name),
            "secret" => Self::Secret(name),
            _ => Self::Port(Some(name)),
        })
    }

    /// As a plan writes it.
    #[must_use]
    pub fn reference(&self) -> String {
        match self {
            Self::Text(text) => text.replace("${", "$${"),
            Self::Workspace => "${workspace}".into(),
            Self::Tmp => "${tmp}".into(),
            Self::Env(name) => format!("${{env:{name}}}"),
            Self::Secret(name) => format!("${{secret:{name}}}"),
            Self::Port(None) => "${port}".into(),
            Self::Port(Some(server)) => format!("${{port:{server}}}"),
            Self::Name(name) => format!("${{{name}}}"),
        }
    }
}

/// Whether `text` could hold a reference or an escape: what it costs to find
/// out that most strings hold none.
#[must_use]
pub fn has_reference(text: &str) -> bool {
    text.contains("${")
}

impl Template {
    /// Reads the references in `raw`.
    ///
    /// # Errors
    /// The first reference that is none.
    pub fn parse(raw: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = raw;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                text.push_str(&rest[..at - 1]);
                text.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            text.push_str(&rest[..at]);
            let reference = &rest[at..];
            let Some(end) = reference.find('}') else {
                return Err(TemplateError::Unclosed {
                    reference: reference.to_owned(),
                });
            };
            let part = Part::parse(&reference[..=end], &reference[2..end])?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
            rest = &reference[end + 1..];
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self {
            raw: raw.to_owned(),
            parts,
        })
    }

    /// A template that is this text and nothing else.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        let part = Part::Text(text.to_owned());
        Self {
            raw: part.reference(),
            parts: if text.is_empty() { vec![] } else { vec![part] },
        }
    }

    /// Whether the value is known before any scope is.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// The value: a template that is one reference and nothing else keeps the
    /// type of what it stands for, everything else is a string.
    ///
    /// # Errors
    /// The first name without a value.
    pub fn resolve(&self, scope: &Scope, server: &str) -> Result<Value, Unresolved> {
        match self.parts.as_slice() {
            [part] => scope.look_up(part, server).map(Cow::into_owned),
            _ => self.resolve_str(scope, server).map(Value::String),
        }
    }

    /// The value as text; what is no string is written as compact JSON.
    ///
    /// # Errors
    /// The first name without a value.
    pub fn resolve_str(&self, scope: &Scope, server: &str) -> Result<String, Unresolved> {
        let mut text = String::with_capacity(self.raw.len());
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Workspace
                | Part::Tmp
                | Part::Env(_)
                | Part::Secret(_)
                | Part::Port(_)
                | Part::Name(_) => match scope.look_up(part, server)?.as_ref() {
                    Value::String(value) => text.push_str(value),
                    other => text.push_str(&other.to_string()),
                },
            }
        }
        Ok(text)
    }
}

/// What names stand for, in one iteration.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The project folder, absolute.
    pub workspace: PathBuf,
    /// A folder of the iteration's own, absolute.
    pub tmp: PathBuf,
    /// The environment that `${env:…}` and `${secret:…}` read.
    pub env: BTreeMap<String, String>,
    /// Variables, already resolved.
    pub vars: IndexMap<String, Value>,
    pub captures: IndexMap<String, Value>,
    /// One free port for each server that asks for one.
    pub ports: BTreeMap<String, u16>,
    /// Variables that could not be resolved, and why: using one is an error,
    /// having one is not.
    pub broken: IndexMap<String, Unresolved>,
}

/// A name without a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("the environment variable {0} is not set")]
    Env(String),
    #[error("the secret {0} is not set (jelly reads it from the environment variable {0})")]
    Secret(String),
    #[error("nothing is called {0} here")]
    Name(String),
    #[error("no port was chosen for the server {0}")]
    Port(String),
}

impl Scope {
    /// A scope with the plan's variables, resolved in order. A variable whose
    /// value is not known (an environment variable that is not set) is kept
    /// in `broken`, so that only the steps and servers that use it suffer.
    #[must_use]
    pub fn new(
        workspace: PathBuf,
        tmp: PathBuf,
        env: BTreeMap<String, String>,
        ports: BTreeMap<String, u16>,
        vars: &IndexMap<String, Value>,
    ) -> Self {
        let mut scope = Self {
            workspace,
            tmp,
            env,
            ports,
            ..Self::default()
        };
        for (name, value) in vars {
            // A variable belongs to no server; the loader refuses `${port}`
            // without a server's name in it.
            match resolve_json(value, &scope, "") {
                Ok(value) => {
                    scope.vars.insert(name.clone(), value);
                }
                Err(why) => {
                    scope.broken.insert(name.clone(), why);
                }
            }
        }
        scope
    }

    fn look_up(&self, part: &Part, server: &str) -> Result<Cow<'_, Value>, Unresolved> {
        let owned = |text: String| Ok(Cow::Owned(Value::String(text)));
        match part {
            Part::Text(text) => owned(text.clone()),
            Part::Workspace => owned(self.workspace.to_string_lossy().into_owned()),
            Part::Tmp => owned(self.tmp.to_string_lossy().into_owned()),
            Part::Env(name) => match self.env.get(name) {
                Some(value) => owned(value.clone()),
                None => Err(Unresolved::Env(name.clone())),
            },
            Part::Secret(name) => match self.env.get(name) {
                Some(value) => owned(value.clone()),
                None => Err(Unresolved::Secret(name.clone())),
            },
            Part::Port(named) => {
                let server = named.as_deref().unwrap_or(server);
                match self.ports.get(server) {
                    Some(port) => Ok(Cow::Owned(Value::from(*port))),
                    None => Err(Unresolved::Port(server.to_owned())),
                }
            }
            Part::Name(name) => match (
                self.captures.get(name).or_else(|| self.vars.get(name)),
                self.broken.get(name),
            ) {
                (Some(value), _) => Ok(Cow::Borrowed(value)),
                (None, Some(why)) => Err(why.clone()),
                (None, None) => Err(Unresolved::Name(name.clone())),
            },
        }
    }
}

/// Resolves every string of `value` (not the keys). A string that is one
/// `${name}` and nothing else becomes the value itself, with its type.
///
/// A string that is no template stands for itself: the loader has refused
/// those in plans, so it came from elsewhere.
///
/// # Errors
/// The first name without a value.
pub fn resolve_json(value: &Value, scope: &Scope, server: &str) -> Result<Value, Unresolved> {
    Ok(match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) if has_reference(text) => match Template::parse(text) {
            Ok(template) => template.resolve(scope, server)?,
            Err(_) => value.clone(),
        },
        Value::String(text) => Value::String(text.clone()),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| resolve_json(item, scope, server))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, item)| Ok((key.clone(), resolve_json(item, scope, server)?)))
                .collect::<Result<_, Unresolved>>()?,
        ),
    })
}

/// Calls `see` with every reference in the strings of `value`.
pub fn each_reference(value: &Value, see: &mut dyn FnMut(&Part)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) if has_reference(text) => {
            if let Ok(template) = Template::parse(text) {
                template.parts.iter().for_each(see);
            }
        }
        Value::String(_) => {}
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, see)),
        Value::Object(entries) => entries.values().for_each(|item| each_reference(item, see)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Scope, Template, TemplateError, Unresolved, resolve_json};
    use indexmap::IndexMap;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn scope() -> Scope {
        let vars = IndexMap::from([
            ("n".to_owned(), json!(7)),
            ("list".to_owned(), json!([1, "a"])),
            ("greeting".to_owned(), json!("hello ${n}")),
            ("broken".to_owned(), json!("${env:NOT_SET}")),
        ]);
        Scope::new(
            "/work".into(),
            "/tmp/it".into(),
            BTreeMap::from([("HOME".to_owned(), "/home/u".to_owned())]),
            BTreeMap::from([("web".to_owned(), 8080)]),
            &vars,
        )
    }

    fn resolve(raw: &str) -> Result<Value, Unresolved> {
        Template::parse(raw).unwrap().resolve(&scope(), "web")
    }

    #[test]
    fn a_lone_reference_keeps_its_type_and_one_inside_a_string_becomes_text() {
        assert_eq!(resolve("${n}").unwrap(), json!(7));
        assert_eq!(resolve("${list}").unwrap(), json!([1, "a"]));
        assert_eq!(resolve("n=${n}, ${list}").unwrap(), json!("n=7, [1,\"a\"]"));
        assert_eq!(
            resolve("${workspace}/${env:HOME}").unwrap(),
            json!("/work//home/u")
        );
        assert_eq!(resolve("${port}").unwrap(), json!(8080));
        assert_eq!(
            resolve("${tmp}:${port:web}").unwrap(),
            json!("/tmp/it:8080")
        );
    }

    #[test]
    fn variables_may_use_the_variables_before_them() {
        assert_eq!(resolve("${greeting}!").unwrap(), json!("hello 7!"));
    }

    #[test]
    fn two_dollars_before_a_brace_are_a_literal_reference() {
        assert_eq!(resolve("$${n} $5 $$ $${").unwrap(), json!("${n} $5 $$ ${"));
        assert_eq!(resolve("").unwrap(), json!(""));
    }

    #[test]
    fn a_name_without_a_value_says_which() {
        assert_eq!(
            resolve("${env:NOT_SET}"),
            Err(Unresolved::Env("NOT_SET".into()))
        );
        assert_eq!(
            resolve("x${secret:KEY}"),
            Err(Unresolved::Secret("KEY".into()))
        );
        assert_eq!(resolve("${nope}"), Err(Unresolved::Name("nope".into())));
        assert_eq!(resolve("${port:db}"), Err(Unresolved::Port("db".into())));
        assert_eq!(
            resolve("${broken}"),
            Err(Unresolved::Env("NOT_SET".into())),
            "the cause, not the variable"
        );
    }

    #[test]
    fn what_is_no_reference_is_an_error() {
        let error = |raw: &str| Template::parse(raw).unwrap_err();
        assert!(matches!(error("a ${b"), TemplateError::Unclosed { .. }));
        assert!(matches!(error("${}"), TemplateError::Empty { .. }));
        assert!(matches!(error("${env:}"), TemplateError::Empty { .. }));
        assert!(matches!(error("${ n }"), TemplateError::BadName { .. }));
        assert!(matches!(
            error("${evn:HOME}"),
            TemplateError::UnknownPrefix { .. }
        ));
        assert_eq!(error("see ${env:} there").reference(), "${env:}");
    }

    #[test]
    fn json_is_resolved_deeply_but_for_its_keys() {
        let value = json!({"${n}": ["${n}", {"a": "x${n}"}], "b": null});
        assert_eq!(
            resolve_json(&value, &scope(), "web").unwrap(),
            json!({"${n}": [7, {"a": "x7"}], "b": null})
        );
    }

    fn part() -> impl Strategy<Value = Part> {
        prop_oneof![
            "[^$]{1,6}".prop_map(Part::Text),
            Just(Part::Workspace),
            Just(Part::Tmp),
            "[A-Z_]{1,5}".prop_map(Part::Env),
            "[A-Z_]{1,5}".prop_map(Part::Secret),
            proptest::option::of("[a-z-]{1,5}").prop_map(Part::Port),
            "x[a-z0-9_.-]{0,5}".prop_map(Part::Name),
        ]
    }

    proptest! {
        #[test]
        fn what_parts_write_parses_to_the_same_parts(parts in proptest::collection::vec(part(), 0..6)) {
            let raw: String = parts.iter().map(Part::reference).collect();
            let parsed = Template::parse(&raw).unwrap();
            // Neighbouring texts are one text.
            let mut merged: Vec<Part> = Vec::new();
            for part in parts {
                match (merged.last_mut(), part) {
                    (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                    (_, part) => merged.push(part),
                }
            }
            prop_assert_eq!(parsed.parts, merged);
        }

        #[test]
        fn a_literal_resolves_to_itself(text in "[${}a-c ]{0,12}") {
            let template = Template::literal(&text);
            prop_assert_eq!(
                template.resolve_str(&Scope::default(), "").unwrap(),
                text.clone()
            );
            // What a `$` stands before an escape is the one text that can't
            // be written back, so the raw form is compared where there is none.
            if !text.contains("$$") {
                let again = Template::parse(&template.raw).unwrap();
                prop_assert_eq!(again.resolve_str(&Scope::default(), "").unwrap(), text);
            }
        }

        #[test]
        fn parsing_never_panics(text in ".*") {
            let _ = Template::parse(&text);
        }
    }
}
