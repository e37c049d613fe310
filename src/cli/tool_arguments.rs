//! `ARG=VALUE` → the arguments of a tool, typed by its input schema.
//!
//! Main function: [`typed_arguments`].

use super::files::text_within;
use super::refusal::Refusal;
use jelly_base::text::{did_you_mean, json_type, one_line, sanitize};
use jelly_harness::exec::Declared;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// The largest file that is an argument, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// So many references lead on to others, and so deep unions are looked into.
const DEPTH: usize = 16;

/// A value as it was typed.
enum Typed<'t> {
    /// `ARG=VALUE`.
    Text(&'t str),
    /// `ARG:=JSON`.
    Json(&'t str),
    /// `ARG=@FILE`.
    File(&'t str),
}

/// The arguments of a tool with this input schema.
///
/// # Errors
/// One is unknown, missing, or does not fit: exit code 2, with what was expected.
pub fn typed_arguments(
    given: &[String],
    schema: Option<&Value>,
    folder: &Path,
) -> Result<Map<String, Value>, Refusal> {
    let anything = Value::Bool(true);
    let root = schema.unwrap_or(&anything);
    let properties = root.get("properties").and_then(Value::as_object);
    let mut arguments: Map<String, Value> = Map::new();
    for argument in given {
        let (name, typed) = split(argument)?;
        let property = properties.and_then(|all| all.get(name));
        if property.is_none() {
            refuse_unknown(name, root)?;
        }
        let wanted = Wanted::of(root, property.unwrap_or(&anything));
        let value = match typed {
            Typed::Text(text) => wanted.value(name, text)?,
            Typed::Json(text) => serde_json::from_str(text).map_err(|error| {
                Refusal::with_help(
                    format!("`{}` is no JSON: {error}", shown(argument)),
                    format!("a text is written {name}=TEXT, or {name}:='\"TEXT\"'"),
                )
            })?,
            Typed::File(file) => {
                let text = text_within(&folder.join(file), MAX_FILE).map_err(|error| {
                    Refusal::with_help(
                        format!("{name}=@{}: {error}", shown(file)),
                        format!(
                            "name a file of text; a text that begins with @ is {name}:='\"@…\"'"
                        ),
                    )
                })?;
                wanted.value(name, &text)?
            }
        };
        match arguments.get_mut(name) {
            None => {
                arguments.insert(name.to_owned(), value);
            }
            Some(Value::Array(items)) if wanted.takes("array") => match value {
                Value::Array(more) => items.extend(more),
                one => items.push(one),
            },
            Some(_) => {
                return Err(Refusal::with_help(
                    format!(
                        "`{}` is given twice, and the tool takes one value",
                        shown(name)
                    ),
                    "leave one of them out",
                ));
            }
        }
    }
    refuse_misfit(&arguments, root)?;
    Ok(arguments)
}

fn shown(text: &str) -> String {
    sanitize(&one_line(text, 120)).into_owned()
}

fn split(argument: &str) -> Result<(&str, Typed<'_>), Refusal> {
    let found = argument
        .split_once('=')
        .filter(|(name, _)| !name.is_empty() && *name != ":");
    let Some((name, value)) = found else {
        return Err(Refusal::with_help(
            format!("`{}` is no argument of a tool", shown(argument)),
            "write ARG=VALUE, ARG:=JSON or ARG=@FILE; put a server's command after `--`",
        ));
    };
    Ok(match (name.strip_suffix(':'), value.strip_prefix('@')) {
        (Some(name), _) => (name, Typed::Json(value)),
        (None, Some(file)) => (name, Typed::File(file)),
        (None, None) => (name, Typed::Text(value)),
    })
}

/// A name that the schema does not know is a slip, where the schema does not
/// allow others by its own word.
fn refuse_unknown(name: &str, root: &Value) -> Result<(), Refusal> {
    let properties = root.get("properties").and_then(Value::as_object);
    let known: Vec<&str> = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    let others = root.get("additionalProperties");
    let takes_others = others.is_some_and(|others| *others != Value::Bool(false))
        || root.get("patternProperties").is_some()
        || others.is_none()
            && !["properties", "type"]
                .iter()
                .any(|key| root.get(*key).is_some());
    if takes_others {
        return Ok(());
    }
    let help =
        did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
            [] => "it takes none".to_owned(),
            known => format!("it takes: {}", known.join(", ")),
        });
    Err(Refusal::with_help(
        format!("the tool has no argument `{}`", shown(name)),
        sanitize(&help),
    ))
}

/// What is missing, or breaks the schema otherwise.
fn refuse_misfit(arguments: &Map<String, Value>, root: &Value) -> Result<(), Refusal> {
    let required = root.get("required").and_then(Value::as_array);
    let missing: Vec<String> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| !arguments.contains_key(*name))
        .map(|name| {
            let property = root.pointer("/properties").and_then(|all| all.get(name));
            let wanted = property.map(|property| Wanted::of(root, property).told());
            match wanted {
                Some(wanted) => format!("{} ({wanted})", shown(name)),
                None => shown(name),
            }
        })
        .collect();
    if !missing.is_empty() {
        return Err(Refusal::with_help(
            format!("the tool requires: {}", missing.join(", ")),
            "give each as ARG=VALUE, before the `--` of the server's command",
        ));
    }
    let declared = Declared::new(root.clone());
    // A schema that can't be used is the server's matter; the call shows what it does.
    let Ok(Some(misfit)) = declared.misfit(&Value::Object(arguments.clone())) else {
        return Ok(());
    };
    let place = misfit.pointer.trim_start_matches('/').replace('/', ".");
    let place = match place.as_str() {
        "" => "what is given".to_owned(),
        place => format!("`{}`", shown(place)),
    };
    let expected = match &misfit.expected {
        Value::String(words) => words.clone(),
        other => other.to_string(),
    };
    Err(Refusal::with_help(
        format!(
            "{place} does not fit the tool's input schema: {} is expected, and this is {}",
            shown(&expected),
            shown(&misfit.actual.to_string())
        ),
        "`jelly list --format json`, with the same server, shows the schema; a plan can send what does not fit",
    ))
}

/// What an argument may be.
struct Wanted {
    types: BTreeSet<String>,
    /// The values that it lists, where it lists all.
    values: Option<Vec<Value>>,
    items: Option<Box<Wanted>>,
}

impl Wanted {
    fn of(root: &Value, schema: &Value) -> Self {
        Self::within(root, schema, DEPTH)
    }

    fn within(root: &Value, schema: &Value, depth: usize) -> Self {
        let mut wanted = Self {
            types: BTreeSet::new(),
            values: None,
            items: None,
        };
        if depth == 0 {
            return wanted;
        }
        if let Some(to) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = to.strip_prefix('#').and_then(|to| root.pointer(to))
        {
            return Self::within(root, target, depth - 1);
        }
        for branches in ["anyOf", "oneOf", "allOf"] {
            let branches = schema.get(branches).and_then(Value::as_array);
            for branch in branches.into_iter().flatten() {
                let own = Self::within(root, branch, depth - 1);
                wanted.types.extend(own.types);
                wanted.items = wanted.items.or(own.items);
                if let Some(values) = own.values {
                    wanted.values.get_or_insert_default().extend(values);
                }
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => {
                wanted.types.insert(name.clone());
            }
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                wanted.types.extend(names.map(str::to_owned));
            }
            Some(_) | None => {}
        }
        let listed = match (schema.get("const"), schema.get("enum")) {
            (Some(only), _) => Some(vec![only.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            (None, _) => None,
        };
        if let Some(values) = listed {
            let types = values.iter().map(|value| json_type(value).to_owned());
            wanted.types.extend(types);
            wanted.values.get_or_insert_default().extend(values);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            wanted.items = Some(Box::new(Self::within(root, items, depth - 1)));
        }
        wanted
    }

    fn takes(&self, name: &str) -> bool {
        self.types.contains(name)
    }

    /// A text as one of the types. Where text is one of them, it is text.
    fn value(&self, name: &str, text: &str) -> Result<Value, Refusal> {
        let written = |value: &Value| match value {
            Value::String(own) => own.clone(),
            other => other.to_string(),
        };
        let mut values = self.values.iter().flatten();
        if let Some(value) = values.find(|value| written(value) == text) {
            return Ok(value.clone());
        }
        if self.takes("string") || self.types.is_empty() {
            return Ok(Value::from(text));
        }
        let read = serde_json::from_str::<Value>(text.trim()).ok();
        let fits = read.filter(|value| match value {
            Value::Number(_) => self.takes("number") || self.takes("integer"),
            other => self.takes(json_type(other)),
        });
        match (fits, &self.items) {
            (Some(value), _) => Ok(value),
            (None, Some(items)) if self.takes("array") => {
                Ok(Value::Array(vec![items.value(name, text)?]))
            }
            (None, None) if self.takes("array") => Ok(Value::Array(vec![Value::from(text)])),
            (None, _) => Err(Refusal::with_help(
                format!(
                    "{}={}: {} is expected",
                    shown(name),
                    shown(text),
                    self.told()
                ),
                match (self.takes("object"), self.takes("boolean")) {
                    (true, _) => format!("give it as JSON, as in {name}:='{{\"key\": 1}}'"),
                    (_, true) => format!("write {name}=true or {name}=false"),
                    (_, _) => format!("as in {name}=5"),
                },
            )),
        }
    }

    /// As people are told of it.
    fn told(&self) -> String {
        if let Some(values) = &self.values {
            let all: Vec<String> = values.iter().take(12).map(Value::to_string).collect();
            return format!("one of {}", shown(&all.join(", ")));
        }
        let names: Vec<&str> = self.types.iter().map(String::as_str).collect();
        match names.as_slice() {
            [] => "any value".to_owned(),
            names => names.join(" or "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::typed_arguments;
    use serde_json::{Value, json};
    use std::path::Path;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": 9},
                "count": {"type": "integer", "minimum": 0},
                "ratio": {"type": "number"},
                "on": {"type": "boolean"},
                "kind": {"enum": ["a", 2]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "some": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "either": {"type": ["string", "integer"]},
                "made": {"$ref": "#/$defs/made"},
            },
            "$defs": {"made": {"type": "object"}},
        })
    }

    fn of(given: &[&str]) -> Result<Value, String> {
        let given: Vec<String> = given.iter().map(|it| (*it).to_owned()).collect();
        typed_arguments(&given, Some(&schema()), Path::new("/"))
            .map(Value::Object)
            .map_err(|refusal| format!("{refusal:?}"))
    }

    #[test]
    fn values_have_the_types_of_the_schema() {
        for (given, wanted) in [
            (&["text=5"][..], json!({"text": "5"})),
            (&["text=a=b"], json!({"text": "a=b"})),
            (&["text="], json!({"text": ""})),
            (&["count=5"], json!({"count": 5})),
            (&["ratio=0.5"], json!({"ratio": 0.5})),
            (&["on=true"], json!({"on": true})),
            (&["kind=2"], json!({"kind": 2})),
            (&["kind=a"], json!({"kind": "a"})),
            (&["tags=x", "tags=y"], json!({"tags": ["x", "y"]})),
            (&["tags=[\"x\"]"], json!({"tags": ["x"]})),
            (&["sizes=1", "sizes=2"], json!({"sizes": [1, 2]})),
            (&["some=null"], json!({"some": null})),
            (&["either=5"], json!({"either": "5"})),
            (&["either:=5"], json!({"either": 5})),
            (&["made:={\"a\": 1}"], json!({"made": {"a": 1}})),
            (&["made={\"a\": 1}"], json!({"made": {"a": 1}})),
        ] {
            assert_eq!(of(given), Ok(wanted), "{given:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        for (given, says) in [
            (&["count=five"][..], "integer is expected"),
            (&["count=-1"], "does not fit"),
            (&["count=1.5"], "does not fit"),
            (&["text=0123456789"], "does not fit"),
            (&["on=yes"], "on=true or on=false"),
            (&["kind=3"], "does not fit"),
            (&["sizes=x"], "integer is expected"),
            (&["made=x"], "give it as JSON"),
            (&["made:=x"], "is no JSON"),
            (&["coun=1"], "did you mean `count`?"),
            (&["count"], "write ARG=VALUE"),
            (&["count=1", "count=2"], "given twice"),
            (&["text=@/no/such/file"], "No such file"),
        ] {
            let refused = of(given).unwrap_err();
            assert!(refused.contains(says), "{given:?}: {refused}");
        }
        let required =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
        let refused = typed_arguments(&[], Some(&required), Path::new("/")).unwrap_err();
        assert!(format!("{refused:?}").contains("requires: a (string)"));
    }
}
