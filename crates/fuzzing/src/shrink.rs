//! Smaller arguments that may fail like larger ones.
//!
//! Main function: [`simpler`]. Every proposal is cheaper than what it is made of, so
//! that whoever takes one after the other comes to an end.

use super::case::Input;
use super::schema::{is_required, segment};
use super::target::Target;
use super::values::numeral;
use serde_json::{Map, Value, json};

/// Proposals of one round.
const PROPOSALS: usize = 60;
/// So deep arguments are taken apart.
const DEPTH: usize = 8;
/// Chars of a text whose chars are looked at one by one.
const SHORT: usize = 12;
/// Chars of a text of which nothing but its length is of interest.
const LONG: usize = 200;

/// What of the arguments could be simpler, the boldest first. What is valid stays so;
/// what is invalid stays as it is, and only what is beside it changes.
#[must_use]
pub fn simpler(target: &Target, input: Input, pointer: &str, arguments: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let tried = pointer.split('/').nth(1).unwrap_or_default();
    // The plainest call with what is tried, and nothing else.
    if let (Some(own), Some(plain)) = (arguments.as_object(), target.plain().as_object()) {
        let mut bare: Map<String, Value> = plain.clone();
        let key = own.keys().find(|key| segment(key) == format!("/{tried}"));
        match key {
            Some(key) => {
                bare.insert(key.clone(), own[key].clone());
            }
            None => bare.retain(|key, _| own.contains_key(key)),
        }
        all.push(Value::Object(bare));
    }
    let kept = match input {
        Input::Valid => None,
        Input::Invalid(_) => Some(pointer),
    };
    smaller(arguments, target.schema(), "", kept, DEPTH, &mut all);
    let (before, mut seen) = (cost(arguments), Vec::new());
    all.retain(|value| {
        let is_right = match input {
            Input::Valid => target.fits(value),
            Input::Invalid(_) => !target.fits(value),
        };
        let is_new = is_right && cost(value) < before && !seen.contains(value);
        if is_new {
            seen.push(value.clone());
        }
        is_new
    });
    all.truncate(PROPOSALS);
    all
}

/// How far a value is from what a person would write first.
fn cost(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Number(number) => {
            let length = number.to_string().len() as u64;
            let size = number.as_f64().map_or(9.0, |own| own.abs().min(9.0));
            2 + length * 20 + size as u64
        }
        Value::String(text) => {
            let odd = text.chars().filter(|c| *c != 'a').count() as u64;
            let foreign = text.chars().filter(|c| !c.is_ascii_alphanumeric()).count() as u64;
            3 + text.chars().count() as u64 * 10 + odd * 3 + foreign * 3
        }
        Value::Array(items) => items.iter().map(|item| 30 + cost(item)).sum::<u64>() + 5,
        Value::Object(members) => members.values().map(|it| 40 + cost(it)).sum::<u64>() + 5,
    }
}

/// Proposals for all of `value`, each with one part of it smaller.
fn smaller(
    value: &Value,
    schema: &Value,
    at: &str,
    kept: Option<&str>,
    depth: usize,
    all: &mut Vec<Value>,
) {
    if depth == 0 || kept == Some(at) {
        return;
    }
    // Parts around what is kept may go, but not what is within it.
    let holds_kept = |inner: &str| {
        kept.is_some_and(|kept| kept == inner || kept.starts_with(&format!("{inner}/")))
    };
    match value {
        Value::Null | Value::Bool(false) => {}
        Value::Bool(true) => all.push(Value::Bool(false)),
        Value::Number(number) => all.extend(numbers(number.as_f64().unwrap_or_default())),
        Value::String(text) => all.extend(texts(text).into_iter().map(Value::from)),
        Value::Array(items) => {
            let keeps = (0..items.len()).any(|index| holds_kept(&format!("{at}/{index}")));
            if !keeps {
                all.push(json!([]));
                let half = items.len() / 2;
                if half > 0 {
                    all.push(Value::from(items[..half].to_vec()));
                    all.push(Value::from(items[half..].to_vec()));
                }
                for index in 0..items.len().min(SHORT) {
                    let mut fewer = items.clone();
                    fewer.remove(index);
                    all.push(Value::from(fewer));
                }
            }
            for (index, item) in items.iter().enumerate().take(SHORT) {
                let mut inner = Vec::new();
                let at = format!("{at}/{index}");
                smaller(item, schema, &at, kept, depth - 1, &mut inner);
                all.extend(inner.into_iter().map(|item| {
                    let mut items = items.clone();
                    items[index] = item;
                    Value::from(items)
                }));
            }
        }
        Value::Object(members) => {
            let top = at.is_empty().then_some(schema.as_object()).flatten();
            for name in members.keys() {
                let is_needed = top.is_some_and(|schema| is_required(schema, name));
                if !is_needed && !holds_kept(&format!("{at}{}", segment(name))) {
                    let mut fewer = members.clone();
                    fewer.shift_remove(name);
                    all.push(Value::Object(fewer));
                }
            }
            for (name, member) in members {
                let mut inner = Vec::new();
                let at = format!("{at}{}", segment(name));
                smaller(member, schema, &at, kept, depth - 1, &mut inner);
                all.extend(inner.into_iter().map(|member| {
                    let mut members = members.clone();
                    members.insert(name.clone(), member);
                    Value::Object(members)
                }));
            }
        }
    }
}

fn numbers(number: f64) -> Vec<Value> {
    let sign = number.signum();
    [
        0.0,
        1.0,
        -1.0,
        sign * 10.0,
        number.trunc(),
        (number / 2.0).trunc(),
        number - sign,
    ]
    .into_iter()
    .filter_map(numeral)
    .collect()
}

fn texts(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let of = |chars: &[char]| chars.iter().collect::<String>();
    let mut all = vec![String::new(), "a".to_owned()];
    if chars.len() > LONG {
        all.push("a".repeat(chars.len()));
        return all;
    }
    let half = chars.len() / 2;
    if half > 0 {
        all.push(of(&chars[..half]));
        all.push(of(&chars[half..]));
    }
    for index in 0..chars.len().min(SHORT) {
        let mut fewer = chars.clone();
        fewer.remove(index);
        all.push(of(&fewer));
    }
    for index in 0..chars.len().min(SHORT) {
        let mut plainer = chars.clone();
        plainer[index] = 'a';
        all.push(of(&plainer));
    }
    all
}

/// The longest text of some arguments, where its length alone may matter: JSON pointer
/// and chars.
#[must_use]
pub fn long_text(arguments: &Value) -> Option<(String, usize)> {
    fn search(value: &Value, at: &str, found: &mut Option<(String, usize)>) {
        match value {
            Value::String(text) => {
                let chars = text.chars().count();
                let is_longer = found.as_ref().is_none_or(|(_, known)| *known < chars);
                if chars > LONG && is_longer {
                    *found = Some((at.to_owned(), chars));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    search(item, &format!("{at}/{index}"), found);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    search(member, &format!("{at}{}", segment(name)), found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = None;
    search(arguments, "", &mut found);
    found
}

/// The arguments with a text of so many chars at a place.
#[must_use]
pub fn with_length(arguments: &Value, pointer: &str, chars: usize) -> Value {
    let mut changed = arguments.clone();
    if let Some(Value::String(text)) = changed.pointer_mut(pointer) {
        *text = "a".repeat(chars);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::{cost, long_text, simpler, with_length};
    use crate::case::{Input, Way};
    use crate::target::Target;
    use serde_json::{Value, json};

    fn target() -> Target {
        let schema = json!({"type": "object", "required": ["text"], "properties": {
            "text": {"type": "string"}, "n": {"type": "integer"}, "on": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "inner": {"type": "object", "properties": {"x": {"type": "integer"}}}}});
        Target::new("t", Some(&schema), None, true).unwrap()
    }

    /// What is left when everything is tried that still fails.
    fn shrunk(input: Input, pointer: &str, start: Value, fails: impl Fn(&Value) -> bool) -> Value {
        let target = target();
        let mut now = start;
        while let Some(next) = simpler(&target, input, pointer, &now)
            .into_iter()
            .find(|it| fails(it))
        {
            assert!(cost(&next) < cost(&now));
            now = next;
        }
        now
    }

    #[test]
    fn what_is_left_is_what_a_person_would_write() {
        let full = json!({"text": "héllo wörld", "n": -2_147_483_649_i64, "on": true,
                          "tags": ["x", "", "yy"], "inner": {"x": 7}});
        let negative = |it: &Value| it["n"].as_i64().is_some_and(|n| n < 0);
        let foreign = |it: &Value| !it["text"].as_str().unwrap().is_ascii();
        let empty_tag = |it: &Value| {
            let mut tags = it["tags"].as_array().into_iter().flatten();
            tags.any(|tag| tag == "")
        };
        let nested = |it: &Value| it["inner"]["x"].as_i64().is_some_and(|x| x > 3);
        let of = |fails: &dyn Fn(&Value) -> bool| shrunk(Input::Valid, "", full.clone(), fails);
        assert_eq!(of(&negative), json!({"text": "", "n": -1}));
        assert_eq!(of(&empty_tag), json!({"text": "", "tags": [""]}));
        assert_eq!(of(&nested), json!({"text": "", "inner": {"x": 4}}));
        let left = of(&foreign);
        assert_eq!(left["text"].as_str().unwrap().chars().count(), 1, "{left}");
        assert_eq!(left.as_object().unwrap().len(), 1, "{left}");
    }

    #[test]
    fn what_is_invalid_stays_as_it_is() {
        let start = json!({"text": "long text", "n": "abc", "on": true});
        let way = Input::Invalid(Way::Type);
        let left = shrunk(way, "/n", start, |it| it["n"] == "abc");
        assert_eq!(left, json!({"text": "", "n": "abc"}));
    }

    #[test]
    fn long_texts_are_found_and_cut() {
        let arguments = json!({"a": [{"b": "é".repeat(300)}], "c": "short"});
        let (pointer, chars) = long_text(&arguments).unwrap();
        assert_eq!((pointer.as_str(), chars), ("/a/0/b", 300));
        let cut = with_length(&arguments, &pointer, 2);
        assert_eq!(cut["a"][0]["b"], "aa");
        assert_eq!(long_text(&json!({"a": "b"})), None);
    }
}
