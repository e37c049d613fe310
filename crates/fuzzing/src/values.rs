//! Plain values: the ones that a person would write to try a tool out.

use super::schema::{DEPTH, Kind, alternatives, count, is_required, kind, listed, properties};
use super::strings;
use serde_json::{Map, Number, Value};

/// Items of a list that is made.
const ITEMS: usize = 1_000;

/// How much of an object is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fullness {
    Required,
    All,
}

/// A plain value for a schema; none where none is known.
pub(crate) fn plain(root: &Value, schema: &Value, fullness: Fullness) -> Option<Value> {
    within(root, schema, fullness, DEPTH)
}

fn within(root: &Value, schema: &Value, fullness: Fullness, depth: usize) -> Option<Value> {
    if depth == 0 {
        return None;
    }
    let mut all = alternatives(root, schema).into_iter();
    all.find_map(|plain| of_plain(root, &plain, fullness, depth))
}

pub(crate) fn of_plain(
    root: &Value,
    schema: &Map<String, Value>,
    fullness: Fullness,
    depth: usize,
) -> Option<Value> {
    if let Some(told) = told(schema) {
        return Some(told);
    }
    Some(match kind(schema) {
        Kind::Listed => listed(schema).into_iter().next()?,
        Kind::String => Value::from(strings::plain(schema)?),
        Kind::Integer | Kind::Number => number(schema)?,
        Kind::Boolean => Value::Bool(false),
        Kind::Null => Value::Null,
        Kind::Array => Value::from(list(root, schema, fullness, depth)?),
        Kind::Object => Value::Object(object(root, schema, fullness, depth)?),
        Kind::Any => Value::from("a"),
    })
}

/// What the schema itself names, where that leads to no other machine.
fn told(schema: &Map<String, Value>) -> Option<Value> {
    let example = schema.get("examples").and_then(Value::as_array);
    let example = example.and_then(|all| all.first());
    let told = example.or(schema.get("default"))?;
    let leads_away = |text: &str| text.contains("://") && !text.starts_with("file:");
    let is_safe = told.as_str().is_none_or(|text| !leads_away(text));
    (is_safe && !told.is_null() && told.to_string().len() < 2_000).then(|| told.clone())
}

pub(crate) fn object(
    root: &Value,
    schema: &Map<String, Value>,
    fullness: Fullness,
    depth: usize,
) -> Option<Map<String, Value>> {
    let mut made = Map::new();
    for (name, property) in properties(schema) {
        let is_required = is_required(schema, name);
        if !is_required && fullness == Fullness::Required {
            continue;
        }
        match within(root, property, fullness, depth.saturating_sub(1)) {
            Some(value) => {
                made.insert(name.clone(), value);
            }
            None if is_required => return None,
            None => {}
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        // Required, and described nowhere: anything will do.
        if !made.contains_key(name) && properties(schema).all(|(known, _)| known != name) {
            made.insert(name.to_owned(), Value::from("a"));
        }
    }
    Some(made)
}

fn list(
    root: &Value,
    schema: &Map<String, Value>,
    fullness: Fullness,
    depth: usize,
) -> Option<Vec<Value>> {
    let least = count(schema, "minItems").unwrap_or(0);
    let most = count(schema, "maxItems").unwrap_or(usize::MAX);
    let wanted = match fullness {
        Fullness::Required => least,
        Fullness::All => least.max(1).min(most),
    };
    items(root, schema, wanted, fullness, depth)
}

/// So many items, different ones where that is asked for.
pub(crate) fn items(
    root: &Value,
    schema: &Map<String, Value>,
    wanted: usize,
    fullness: Fullness,
    depth: usize,
) -> Option<Vec<Value>> {
    if wanted > ITEMS {
        return None;
    }
    let anything = Value::Bool(true);
    let first = schema.get("prefixItems").and_then(Value::as_array);
    let rest = schema.get("items").filter(|items| !items.is_array());
    let unique = schema.get("uniqueItems").and_then(Value::as_bool) == Some(true);
    let mut made: Vec<Value> = Vec::new();
    for index in 0..wanted {
        let own = first.and_then(|all| all.get(index));
        let item = own.or(rest).unwrap_or(&anything);
        let mut value = within(root, item, fullness, depth.saturating_sub(1))?;
        if unique && made.contains(&value) {
            value = another(root, item, &made, index)?;
        }
        made.push(value);
    }
    Some(made)
}

/// A value that is not there yet.
fn another(root: &Value, schema: &Value, made: &[Value], index: usize) -> Option<Value> {
    let all = alternatives(root, schema);
    let listed = all.iter().flat_map(listed);
    let mut candidates: Vec<Value> = listed.collect();
    for plain in &all {
        match (kind(plain), of_plain(root, plain, Fullness::Required, 2)) {
            (Kind::String, Some(Value::String(text))) => {
                candidates.push(Value::from(format!("{text}{index}")));
            }
            (Kind::Integer | Kind::Number, Some(value)) => {
                candidates.extend(value.as_i64().map(|own| Value::from(own + index as i64)));
            }
            (_, _) => {}
        }
    }
    candidates.into_iter().find(|value| !made.contains(value))
}

/// The bounds of a number, as the least and the greatest that fit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds {
    pub least: Option<f64>,
    pub most: Option<f64>,
    pub step: Option<f64>,
    pub whole: bool,
}

impl Bounds {
    pub(crate) fn of(schema: &Map<String, Value>) -> Self {
        let read = |key: &str| schema.get(key).and_then(Value::as_f64);
        let whole = kind(schema) == Kind::Integer;
        let inside = if whole { 1.0 } else { 0.5 };
        let mut least = read("minimum");
        let mut most = read("maximum");
        if let Some(below) = read("exclusiveMinimum") {
            let next = if whole {
                below.floor() + 1.0
            } else {
                below + inside
            };
            least = Some(least.map_or(next, |own| own.max(next)));
        }
        if let Some(above) = read("exclusiveMaximum") {
            let next = if whole {
                above.ceil() - 1.0
            } else {
                above - inside
            };
            most = Some(most.map_or(next, |own| own.min(next)));
        }
        if whole {
            least = least.map(f64::ceil);
            most = most.map(f64::floor);
        }
        Self {
            least,
            most,
            step: read("multipleOf").filter(|step| *step > 0.0),
            whole,
        }
    }
}

/// A number as JSON, whole where it is.
pub(crate) fn numeral(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}

fn number(schema: &Map<String, Value>) -> Option<Value> {
    let bounds = Bounds::of(schema);
    let wanted = bounds.least.map_or(1.0, |least| least.max(1.0));
    let wanted = bounds.most.map_or(wanted, |most| wanted.min(most));
    let wanted = match bounds.step {
        None => wanted,
        Some(step) => {
            let up = (wanted / step).ceil() * step;
            let fits = bounds.most.is_none_or(|most| up <= most);
            if fits {
                up
            } else {
                (wanted / step).floor() * step
            }
        }
    };
    numeral(wanted)
}

#[cfg(test)]
mod tests {
    use super::{Fullness, plain};
    use serde_json::{Value, json};

    #[test]
    fn a_plain_value_is_what_a_person_would_write() {
        let schema = json!({
            "type": "object",
            "required": ["name", "n", "kind", "tags", "inner", "other"],
            "properties": {
                "name": {"type": "string"},
                "n": {"type": "integer", "minimum": 5, "multipleOf": 4},
                "kind": {"enum": ["b", "c"]},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true},
                "inner": {"$ref": "#/$defs/inner"},
                "size": {"type": "number", "default": 2.5},
                "url": {"type": "string", "default": "https://example.com/x"},
            },
            "$defs": {"inner": {"type": "object", "required": ["on"], "properties": {
                "on": {"type": "boolean"}, "more": {"$ref": "#/$defs/inner"}}}},
        });
        let of = |fullness| plain(&schema, &schema, fullness);
        let required = json!({"name": "a", "n": 8, "kind": "b", "tags": ["a", "a1"],
                              "inner": {"on": false}, "other": "a"});
        assert_eq!(of(Fullness::Required), Some(required));
        let all = of(Fullness::All).unwrap();
        assert_eq!((&all["size"], &all["url"]), (&json!(2.5), &json!("a")));
        assert_eq!(all["inner"]["more"]["on"], Value::Bool(false));
    }

    #[test]
    fn what_can_not_be_made_is_not_made() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"type": "array", "minItems": 100_000}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        ] {
            assert_eq!(
                plain(&schema, &schema, Fullness::Required),
                None,
                "{schema}"
            );
        }
    }
}
