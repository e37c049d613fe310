//! JSON values → types, with everything that is wrong.

mod arguments;

use super::cleaning::holds_reference;
use super::fields::{Fields, Found};
use super::problem::{Level, Problem, below};
use super::types::{Package, Registry, Remote, ServerJson, Transport};
use jelly_base::text::{close_names, json_type};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Who wrote a definition, which decides how strictly it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Somebody else: what can be mended is, and keys that are not known are
    /// those of another date.
    ServerJson,
    /// The author of a plan, who is told of every slip.
    Plan,
}

const PACKAGE: [&str; 10] = [
    "registryType",
    "registryBaseUrl",
    "identifier",
    "version",
    "fileSha256",
    "runtimeHint",
    "runtimeArguments",
    "packageArguments",
    "environmentVariables",
    "transport",
];

/// Reads one entry of `packages`, or a plan's `package`, which stands at
/// `pointer`. There is a package where it could be read at all.
#[must_use]
pub fn package(value: &Value, pointer: &str, source: Source) -> (Option<Package>, Vec<Problem>) {
    let mut reader = Reader {
        source,
        problems: Vec::new(),
    };
    let package = reader.package(value, pointer);
    (package, reader.problems)
}

/// Reads a whole `server.json`.
pub(super) fn server_json(root: &Value) -> (Option<ServerJson>, Vec<Problem>) {
    let mut reader = Reader {
        source: Source::ServerJson,
        problems: Vec::new(),
    };
    // The registry's API wraps it, beside metadata of its own.
    let (root, pointer) = match root.get("server") {
        Some(server @ Value::Object(_)) => (server, "/server"),
        Some(_) | None => (root, ""),
    };
    let server = reader.object(root, pointer).map(|map| {
        let fields = Fields { map, pointer };
        reader.server(fields)
    });
    (server, reader.problems)
}

struct Reader {
    source: Source,
    problems: Vec<Problem>,
}

impl Reader {
    fn problem(
        &mut self,
        level: Level,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Problem {
        self.problems.push(Problem {
            pointer: pointer.into(),
            of_key: false,
            level,
            message: message.into(),
            hint: None,
        });
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    fn error(&mut self, pointer: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        self.problem(Level::Error, pointer, message)
    }

    fn warn(&mut self, pointer: impl Into<String>, message: impl Into<String>) -> &mut Problem {
        self.problem(Level::Warning, pointer, message)
    }

    fn wrong_type(&mut self, found: &Found<'_>, wanted: &str) {
        let message = format!("expected {wanted}, found {}", json_type(found.value));
        self.error(found.pointer.clone(), message);
    }

    fn object<'v>(&mut self, value: &'v Value, pointer: &str) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            let message = format!("expected an object, found {}", json_type(value));
            self.error(pointer, message);
        }
        object
    }

    /// Keys that the plan's author can't mean.
    fn keys(&mut self, fields: Fields<'_>, known: &[&str]) {
        if self.source != Source::Plan {
            return;
        }
        for (key, _) in fields.map.iter().filter(|(_, value)| value.is_null()) {
            self.error(below(fields.pointer, key), "expected a value, found null")
                .hint = Some("leave the key out".into());
        }
        for key in fields.unknown(known) {
            let close = close_names(key, known.iter().copied());
            let hint = match close.first() {
                Some(close) => format!("did you mean `{}`?", super::fields::snake(close)),
                None => {
                    let known: Vec<String> =
                        known.iter().map(|k| super::fields::snake(k)).collect();
                    format!("there is `{}`", known.join("`, `"))
                }
            };
            let problem = self.error(below(fields.pointer, key), format!("unknown key `{key}`"));
            problem.of_key = true;
            problem.hint = Some(hint);
        }
    }

    /// A text with something in it. A registry writes what is absent as `""`.
    fn text(&mut self, fields: Fields<'_>, name: &str) -> Option<String> {
        let found = fields.get(name)?;
        match found.value {
            Value::String(text) => {
                // Elsewhere nobody would look for one.
                let is_value = matches!(name, "identifier" | "version" | "value" | "default");
                if self.source == Source::Plan && is_value && holds_reference(text) {
                    self.error(found.pointer, "a definition holds no variables of the plan")
                        .hint = Some("put them in `package_args`, `args` and `env`".into());
                }
                // In a plan `""` is no word of those that can stand there.
                let is_word = self.source == Source::Plan && matches!(name, "type" | "format");
                (is_word || !text.is_empty()).then(|| text.clone())
            }
            Value::Number(_) | Value::Bool(_) => {
                let text = found.value.to_string();
                if self.source == Source::ServerJson {
                    self.warn(found.pointer, format!("`{text}` should be a string"));
                }
                Some(text)
            }
            Value::Null | Value::Array(_) | Value::Object(_) => {
                self.wrong_type(&found, "a string");
                None
            }
        }
    }

    fn flag(&mut self, fields: Fields<'_>, name: &str) -> bool {
        let Some(found) = fields.get(name).or_else(|| self.short(fields, name)) else {
            return false;
        };
        match found.value {
            Value::Bool(flag) => *flag,
            Value::String(text)
                if self.source == Source::ServerJson
                    && matches!(text.as_str(), "true" | "false" | "") =>
            {
                self.warn(found.pointer, format!("`\"{text}\"` should be a boolean"));
                text == "true"
            }
            Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => {
                self.wrong_type(&found, "`true` or `false`");
                false
            }
        }
    }

    /// `secret` for `isSecret`: whoever writes so means it.
    fn short<'v>(&mut self, fields: Fields<'v>, name: &str) -> Option<Found<'v>> {
        let short = name.strip_prefix("is")?.to_ascii_lowercase();
        let found = fields.get(&short).filter(|found| {
            self.source == Source::ServerJson
                && (found.value.is_boolean() || found.value.is_string())
        })?;
        self.warn(
            found.pointer.clone(),
            format!("`{short}` should be `{name}`"),
        );
        Some(found)
    }

    /// Each item of a list with its pointer.
    fn items<'v>(&mut self, fields: Fields<'v>, name: &str) -> Vec<(&'v Value, String)> {
        let Some(found) = fields.get(name) else {
            return Vec::new();
        };
        match found.value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| (item, below(&found.pointer, &index.to_string())))
                .collect(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => {
                self.wrong_type(&found, "a list");
                Vec::new()
            }
        }
    }

    /// The same of what has names. Some write the names alone, or a map by
    /// them, of values or of what a value has to be.
    fn named_items<'v>(&mut self, fields: Fields<'v>, name: &str) -> Vec<(Cow<'v, Value>, String)> {
        let named = |name: &str, mut entry: Map<String, Value>| {
            entry.insert("name".to_owned(), Value::from(name));
            Cow::Owned(Value::Object(entry))
        };
        let meant = self.source == Source::ServerJson;
        if let Some(found) = fields
            .get(name)
            .filter(|found| meant && found.value.is_object())
        {
            self.warn(
                found.pointer.clone(),
                "this should be a list of what has a `name`",
            );
            let entries = found.value.as_object().into_iter().flatten();
            return entries
                .map(|(name, entry)| {
                    let pointer = below(&found.pointer, name);
                    let entry = match entry {
                        Value::Object(entry) => entry.clone(),
                        Value::Null => Map::new(),
                        value => Map::from_iter([("value".to_owned(), value.clone())]),
                    };
                    (named(name, entry), pointer)
                })
                .collect();
        }
        let items = self.items(fields, name).into_iter();
        items
            .map(|(value, pointer)| match value {
                Value::String(name) if meant => {
                    self.warn(pointer.as_str(), "this should be an object with a `name`");
                    (named(name, Map::new()), pointer)
                }
                value => (Cow::Borrowed(value), pointer),
            })
            .collect()
    }

    fn server(&mut self, fields: Fields<'_>) -> ServerJson {
        let version = self.text(fields, "version").or_else(|| {
            let detail = fields.get("versionDetail")?;
            let map = detail.value.as_object()?;
            let pointer = detail.pointer;
            self.text(
                Fields {
                    map,
                    pointer: &pointer,
                },
                "version",
            )
        });
        let packages = self.items(fields, "packages");
        let remotes = self.items(fields, "remotes");
        ServerJson {
            schema: self.text(fields, "$schema"),
            name: self.text(fields, "name").unwrap_or_default(),
            title: self.text(fields, "title"),
            description: self.text(fields, "description").unwrap_or_default(),
            version,
            packages: packages
                .into_iter()
                .filter_map(|(value, pointer)| self.package(value, &pointer))
                .collect(),
            remotes: remotes
                .into_iter()
                .filter_map(|(value, pointer)| self.remote(value, &pointer))
                .collect(),
            warnings: Vec::new(),
        }
    }

    fn package(&mut self, value: &Value, pointer: &str) -> Option<Package> {
        let map = self.object(value, pointer)?;
        let fields = Fields { map, pointer };
        self.keys(fields, &PACKAGE);
        let registry = self.text(fields, "registryType");
        if registry.is_none() {
            let name = match self.source {
                Source::Plan => "registry",
                Source::ServerJson => "registryType",
            };
            self.error(pointer, format!("a package needs its `{name}`"))
                .hint = Some("one of `npm`, `pypi`, `oci`, `nuget`".into());
        } else if self.source == Source::Plan
            && let Some(Registry::Other(name)) = registry.as_deref().map(Registry::of)
        {
            let known = ["npm", "pypi", "oci", "nuget"];
            let close = close_names(&name, known);
            let found = fields.get("registryType").map(|found| found.pointer);
            let problem = self.error(
                found.unwrap_or_default(),
                format!("jelly can't start packages of the registry `{name}`"),
            );
            problem.hint = Some(match close.first() {
                Some(close) => format!("did you mean `{close}`?"),
                None => super::trouble::no_launcher(&name),
            });
        }
        let identifier = self.text(fields, "identifier");
        if identifier.is_none() {
            self.error(pointer, "a package needs its `identifier`");
        }
        let package = Package {
            registry: Registry::of(&registry?),
            registry_base_url: self.text(fields, "registryBaseUrl"),
            identifier: identifier?,
            version: self.text(fields, "version"),
            file_sha256: self.text(fields, "fileSha256"),
            runtime_hint: self.text(fields, "runtimeHint"),
            runtime_arguments: self.arguments(fields, "runtimeArguments"),
            package_arguments: self.arguments(fields, "packageArguments"),
            environment_variables: self.variables_of_environment(fields, "environmentVariables"),
            transport: self.transport(fields),
        };
        for (name, text) in [
            ("identifier", Some(&package.identifier)),
            ("version", package.version.as_ref()),
        ] {
            if let Some(text) = text
                && let Err(why) = super::spec::usable(text)
            {
                let found = fields.get(name).map(|found| found.pointer);
                self.error(found.unwrap_or_default(), format!("`{text}` {why}"));
            }
        }
        Some(package)
    }

    fn transport(&mut self, fields: Fields<'_>) -> Transport {
        let stdio = || Transport {
            kind: "stdio".into(),
            ..Transport::default()
        };
        let Some(found) = fields.get("transport") else {
            return stdio();
        };
        // Some write the type alone.
        if let Value::String(kind) = found.value {
            return Transport {
                kind: kind.clone(),
                ..Transport::default()
            };
        }
        let Some(map) = self.object(found.value, &found.pointer) else {
            return stdio();
        };
        let fields = Fields {
            map,
            pointer: &found.pointer,
        };
        self.keys(fields, &["type", "url", "headers", "variables"]);
        Transport {
            kind: self.text(fields, "type").unwrap_or_else(|| "stdio".into()),
            url: self.text(fields, "url"),
            headers: self.variables_of_environment(fields, "headers"),
        }
    }

    fn remote(&mut self, value: &Value, pointer: &str) -> Option<Remote> {
        let map = self.object(value, pointer)?;
        let fields = Fields { map, pointer };
        let Some(url) = self.text(fields, "url") else {
            self.error(pointer, "a remote needs its `url`");
            return None;
        };
        Some(Remote {
            kind: self
                .text(fields, "type")
                .unwrap_or_else(|| "streamable-http".into()),
            url,
            headers: self.variables_of_environment(fields, "headers"),
            variables: self.variables(fields),
        })
    }
}
