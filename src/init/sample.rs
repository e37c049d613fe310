//! Arguments for a call, from a tool's own input schema.
//!
//! Main function: [`sample`].

use super::choice::words;
use serde_json::{Map, Value};

/// How deep a schema is followed.
const MAX_DEPTH: usize = 8;
/// The largest value that is taken over from a schema, in bytes of JSON.
const MAX_VALUE: usize = 1000;
/// The longest name of an argument; longer ones are nobody's names.
const MAX_NAME: usize = 200;
/// So many items at most are made of an array's `minItems`.
const MAX_ITEMS: u64 = 4;
/// So many parts of a schema are looked at: one that refers to itself in many
/// places has no end.
const MAX_PARTS: usize = 500;
/// The largest arguments that are made, in bytes of JSON.
const MAX_ARGS: usize = 4000;
/// How much of a description is searched for an example.
const MAX_READ: usize = 2000;

/// What stands where only a person knows the value.
pub(super) const BLANK: &str = "TODO";

/// What is known of files that the server can see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Paths<'a> {
    /// For an argument that is a file.
    pub file: Option<&'a str>,
    /// For one that is a folder.
    pub folder: Option<&'a str>,
    /// For one that may be either.
    pub either: Option<&'a str>,
}

/// Arguments, and the names of those that nothing says a value for: these are
/// [`BLANK`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub args: Map<String, Value>,
    pub blanks: Vec<String>,
}

/// The required arguments, and those with a default, each by the first that is
/// there of: `const`, `default`, `examples`, `enum`, an example in the
/// description, what its name, format and bounds say.
pub(super) fn sample(schema: &Value, paths: Paths<'_>) -> Sample {
    let mut sampler = Sampler {
        root: schema,
        paths,
        blanks: Vec::new(),
        left: MAX_PARTS,
    };
    let mut args = sampler.object(schema, 0, true);
    let mut blanks = sampler.blanks;
    if Value::Object(args.clone()).to_string().len() > MAX_ARGS {
        args = Map::new();
        blanks = vec!["arguments".to_owned()];
    }
    blanks.dedup();
    Sample { args, blanks }
}

/// Whether the schema says that these arguments can't be right. A schema that
/// can't be used says nothing.
pub(super) fn is_refused(schema: &Value, args: &Map<String, Value>) -> bool {
    jsonschema::validator_for(schema)
        .is_ok_and(|validator| !validator.is_valid(&Value::Object(args.clone())))
}

struct Sampler<'a> {
    root: &'a Value,
    paths: Paths<'a>,
    blanks: Vec<String>,
    /// Of [`MAX_PARTS`].
    left: usize,
}

impl<'a> Sampler<'a> {
    /// The members that an object can't do without; `defaults` too, where that
    /// is asked for.
    fn object(&mut self, schema: &'a Value, depth: usize, defaults: bool) -> Map<String, Value> {
        let mut members = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, own) in properties.into_iter().flatten() {
            if name.len() > MAX_NAME {
                continue;
            }
            if required.contains(&name.as_str()) {
                let value = self.value(name, own, depth);
                let value = value.unwrap_or_else(|| self.blank(name));
                members.insert(name.clone(), value);
            } else if defaults && let Some(value) = default(own) {
                members.insert(name.clone(), value);
            }
        }
        for name in required {
            if !members.contains_key(name) {
                let blank = self.blank(name);
                if name.len() <= MAX_NAME {
                    members.insert(name.to_owned(), blank);
                }
            }
        }
        members
    }

    fn blank(&mut self, name: &str) -> Value {
        self.blanks.push(name.to_owned());
        Value::from(BLANK)
    }

    fn value(&mut self, name: &str, schema: &'a Value, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let schema = self.resolved(schema)?;
        if let Some(said) = said(schema) {
            return Some(said);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(parts)) = schema.get(key) else {
                continue;
            };
            // What may be null may be something, too.
            let found = parts
                .iter()
                .filter(|part| part.get("type") != Some(&Value::from("null")))
                .take(8)
                .find_map(|part| self.value(name, part, depth + 1));
            if found.is_some() {
                return found;
            }
        }
        match kind(schema)? {
            "string" => self.text(name, schema),
            "integer" => number(schema, true),
            "number" => number(schema, false),
            "boolean" => Some(Value::Bool(false)),
            "array" => self.array(name, schema, depth),
            "object" => Some(Value::Object(self.object(schema, depth + 1, false))),
            "null" => Some(Value::Null),
            _ => None,
        }
    }

    /// What `$ref` stands for, if it stands for something in the schema.
    fn resolved(&self, schema: &'a Value) -> Option<&'a Value> {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let Some(to) = schema.get("$ref").and_then(Value::as_str) else {
                return Some(schema);
            };
            schema = self.root.pointer(to.strip_prefix('#')?)?;
        }
        None
    }

    fn array(&mut self, name: &str, schema: &'a Value, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1);
        if least > MAX_ITEMS || schema.get("maxItems") == Some(&Value::from(0)) {
            return None;
        }
        let items = schema.get("items").filter(|items| items.is_object());
        let Some(items) = items else {
            return (least == 0 || schema.get("minItems").is_none()).then(|| Value::Array(vec![]));
        };
        let item = self.value(name, items, depth + 1)?;
        let many = usize::try_from(least.max(1)).ok()?;
        Some(Value::Array(vec![item; many]))
    }

    fn text(&self, name: &str, schema: &Value) -> Option<Value> {
        let format = schema.get("format").and_then(Value::as_str);
        let told = schema
            .get("description")
            .and_then(Value::as_str)
            .and_then(example_in);
        let by_format = match format {
            Some("date-time") => Some("2025-01-01T12:00:00Z"),
            Some("date") => Some("2025-01-01"),
            Some("time") => Some("12:00:00Z"),
            Some("duration") => Some("PT1H"),
            Some("email" | "idn-email") => Some("user@example.com"),
            Some("hostname" | "idn-hostname") => Some("example.com"),
            Some("ipv4") => Some("127.0.0.1"),
            Some("ipv6") => Some("::1"),
            Some("uri" | "url" | "iri" | "uri-reference") => Some("https://example.com/"),
            Some("uuid") => Some("00000000-0000-4000-8000-000000000000"),
            Some(_) | None => None,
        };
        let text = match by_format {
            Some(text) => text,
            None => match Named::of(name) {
                Named::File => self.paths.file?,
                Named::Folder => self.paths.folder?,
                Named::Path => self.paths.either?,
                Named::Other => match told {
                    Some(told) => told,
                    None if schema.get("pattern").is_some() => return None,
                    None => usual(name)?,
                },
            },
        };
        let length = text.chars().count() as u64;
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        let most = schema.get("maxLength").and_then(Value::as_u64);
        (length >= least && most.is_none_or(|most| length <= most)).then(|| Value::from(text))
    }
}

/// A value that the schema itself names, `null` and what is too large aside.
fn said(schema: &Value) -> Option<Value> {
    let good = |value: &&Value| !value.is_null() && value.to_string().len() <= MAX_VALUE;
    let first = |key: &str| schema.get(key)?.as_array()?.iter().find(good);
    schema
        .get("const")
        .or_else(|| schema.get("default").filter(good))
        .or_else(|| first("examples"))
        .or_else(|| schema.get("example").filter(good))
        .or_else(|| first("enum"))
        .cloned()
}

/// The default of an argument that may be left out, where it says something.
fn default(schema: &Value) -> Option<Value> {
    let value = schema.get("default")?;
    let empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    (!empty && value.to_string().len() <= MAX_VALUE).then(|| value.clone())
}

/// The type, or the first of several that is not `null`; where none is said,
/// what the other keywords are about.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null"),
        Some(_) => None,
        None if schema.get("properties").is_some() => Some("object"),
        None if schema.get("items").is_some() => Some("array"),
        None if schema.as_object().is_some_and(Map::is_empty) => Some("string"),
        None => None,
    }
}

/// The number next to 1 that the bounds allow.
fn number(schema: &Value, whole: bool) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let unit = step.unwrap_or(1.0);
    let above = |limit: f64| (limit / unit).ceil() * unit;
    let below = |limit: f64| (limit / unit).floor() * unit;
    let mut value = unit;
    if let Some(least) = bound("minimum") {
        value = value.max(above(least));
    }
    if let Some(least) = bound("exclusiveMinimum") {
        let next = above(least);
        value = value.max(if next > least { next } else { next + unit });
    }
    if let Some(most) = bound("maximum") {
        value = value.min(below(most));
    }
    if let Some(most) = bound("exclusiveMaximum") {
        let next = below(most);
        value = value.min(if next < most { next } else { next - unit });
    }
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    match (is_whole, whole) {
        (true, _) => Some(Value::from(value as i64)),
        (false, false) if value.is_finite() => Some(Value::from(value)),
        (false, _) => None,
    }
}

/// What the name of a text says it is.
enum Named {
    File,
    Folder,
    Path,
    Other,
}

impl Named {
    fn of(name: &str) -> Self {
        let words = words(name);
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        if has(&["url", "uri"]) {
            Self::Other
        } else if has(&["filepath", "filename"]) || has(&["file", "files"]) {
            Self::File
        } else if has(&[
            "dir",
            "directory",
            "directories",
            "dirs",
            "folder",
            "folders",
            "repo",
            "repository",
            "root",
            "workspace",
            "cwd",
        ]) {
            Self::Folder
        } else if has(&["path", "paths"]) {
            Self::Path
        } else {
            Self::Other
        }
    }
}

/// A text that most servers have some answer to.
fn usual(name: &str) -> Option<&'static str> {
    let words = words(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    Some(match last {
        "url" | "uri" | "link" => "https://example.com/",
        "timezone" | "tz" => "UTC",
        "email" => "user@example.com",
        "date" => "2025-01-01",
        "time" => "12:00",
        "language" | "lang" | "locale" => "en",
        "commit" | "ref" | "revision" => "HEAD",
        // What a server gave out itself: nobody guesses it.
        "id" | "ids" | "uuid" | "token" | "key" | "cursor" | "hash" | "sha" | "secret"
        | "password" | "cron" | "regex" | "sql" | "command" | "code" | "script" => return None,
        _ => "hello",
    })
}

/// The first quoted text after `e.g.`, `for example` or `such as`.
fn example_in(description: &str) -> Option<&str> {
    let text = &description[..description.floor_char_boundary(MAX_READ)];
    let lower = text.to_ascii_lowercase();
    let after = ["e.g.", "e.g", "for example", "such as", "example:"]
        .iter()
        .filter_map(|mark| Some(lower.find(mark)? + mark.len()))
        .min()?;
    let rest = &text[after..];
    let open = rest.find(['\'', '"', '`'])?;
    if open > 12 {
        return None;
    }
    let quote = rest[open..].chars().next()?;
    let inside = &rest[open + 1..];
    let found = &inside[..inside.find(quote)?];
    let good = !found.trim().is_empty() && found.len() <= 80 && !found.contains(char::is_control);
    good.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{Paths, Sample, example_in, is_refused, sample};
    use serde_json::{Value, json};

    fn args(schema: &Value) -> Value {
        let found = sample(schema, Paths::default());
        assert_eq!(found.blanks, [""; 0], "{schema}");
        assert!(!is_refused(schema, &found.args), "{schema}");
        Value::Object(found.args)
    }

    fn one(schema: Value) -> Value {
        let schema = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        args(&schema)["x"].clone()
    }

    #[test]
    fn what_the_schema_says_comes_first() {
        for (schema, value) in [
            (json!({"const": 7, "default": 8}), json!(7)),
            (
                json!({"type": "string", "default": "d", "enum": ["e", "d"]}),
                json!("d"),
            ),
            (
                json!({"type": "string", "examples": ["x1"], "enum": ["e", "x1"]}),
                json!("x1"),
            ),
            (json!({"enum": [null, "e"]}), json!("e")),
            (
                json!({"type": "string", "description": "City (e.g., 'Paris')"}),
                json!("Paris"),
            ),
        ] {
            assert_eq!(one(schema.clone()), value, "{schema}");
        }
    }

    #[test]
    fn bounds_and_formats_are_kept() {
        for (schema, value) in [
            (json!({"type": "integer"}), json!(1)),
            (json!({"type": "integer", "minimum": 10}), json!(10)),
            (
                json!({"type": "integer", "exclusiveMinimum": 10, "maximum": 12}),
                json!(11),
            ),
            (json!({"type": "integer", "maximum": -3}), json!(-3)),
            (json!({"type": "number", "maximum": 0.5}), json!(0)),
            (
                json!({"type": "number", "multipleOf": 0.5, "exclusiveMaximum": 1}),
                json!(0.5),
            ),
            (
                json!({"type": "integer", "multipleOf": 5, "minimum": 6}),
                json!(10),
            ),
            (json!({"type": "string"}), json!("hello")),
            (
                json!({"type": ["null", "string"], "format": "date"}),
                json!("2025-01-01"),
            ),
            (
                json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
                json!(false),
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
                json!(["hello", "hello"]),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}),
                json!({"a": 1}),
            ),
        ] {
            assert_eq!(one(schema.clone()), value, "{schema}");
        }
    }

    #[test]
    fn what_may_be_left_out_is_there_with_its_default_alone() {
        let schema = json!({"properties": {
            "a": {"default": 3}, "b": {"default": null}, "c": {"type": "string"}, "d": {"default": ""}
        }});
        assert_eq!(args(&schema), json!({"a": 3}));
        assert_eq!(args(&Value::Null), json!({}));
    }

    #[test]
    fn references_within_the_schema_are_followed_and_circles_end() {
        let schema = json!({"properties": {"x": {"$ref": "#/$defs/X"}}, "required": ["x"],
            "$defs": {"X": {"enum": ["here"]}, "Y": {"$ref": "#/$defs/Y"},
                "Z": {"type": "object", "properties": {"z": {"$ref": "#/$defs/Z"}}, "required": ["z"]}}});
        assert_eq!(args(&schema), json!({"x": "here"}));
        for to in ["#/$defs/Y", "#/$defs/Z", "https://example.com/x.json"] {
            let mut schema = schema.clone();
            schema["properties"]["x"] = json!({"$ref": to});
            assert!(!sample(&schema, Paths::default()).blanks.is_empty(), "{to}");
        }
    }

    #[test]
    fn paths_are_those_that_the_server_was_given() {
        let schema =
            |name: &str| json!({"properties": {name: {"type": "string"}}, "required": [name]});
        let paths = Paths {
            file: Some("/d/f"),
            folder: Some("/d"),
            either: Some("/e"),
        };
        for (name, value) in [
            ("filePath", "/d/f"),
            ("repo_path", "/d"),
            ("path", "/e"),
            ("file_url", "https://example.com/"),
        ] {
            let Sample { args, blanks } = sample(&schema(name), paths);
            assert_eq!((&args[name], blanks.len()), (&json!(value), 0));
        }
        for name in ["path", "user_id", "sql"] {
            let Sample { args, blanks } = sample(&schema(name), Paths::default());
            assert_eq!(
                (&args[name], blanks),
                (&json!("TODO"), vec![name.to_owned()])
            );
        }
    }

    #[test]
    fn an_example_is_found_where_it_is_called_one() {
        assert_eq!(
            example_in("zone (e.g., 'America/New_York', 'x')"),
            Some("America/New_York")
        );
        assert_eq!(example_in("For example \"a b\"."), Some("a b"));
        assert_eq!(example_in("the 'user'"), None);
        assert_eq!(
            example_in("e.g. any text that is not quoted before 'x'"),
            None
        );
    }
}
