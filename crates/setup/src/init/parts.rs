//! What several schemas say together.
//!
//! Main type: [`Parts`].

use super::choice::{names_deed, words};
use jelly_base::text::WordList;
use serde_json::{Map, Value};

/// The largest value that is taken over from a schema, in bytes of JSON.
pub(super) const MAX_VALUE: usize = 1000;
/// So many values of an `enum` are looked at.
const MAX_LISTED: usize = 100;

/// Words of values that ask for an error: a tool that does as it is told answers one.
const ERRORS: WordList = WordList(
    "abort bad broken crash crashed denied deny error errors exception fail failed failing \
     fails failure fatal invalid panic reject rejected throw throws timeout unauthorized",
);

/// Whether a value is called like an error.
pub(super) fn names_error(value: &str) -> bool {
    words(value).iter().any(|word| ERRORS.has(word))
}

/// Of choices, the first by what they may do, and after it none that names an error or a
/// deed: nobody asked for either.
pub(super) fn keep_harmless<T>(choices: &mut Vec<T>, value: impl Fn(&T) -> Option<&Value>) {
    let harm = |choice: &T| {
        let said = value(choice).and_then(Value::as_str);
        (said.is_some_and(names_error), said.is_some_and(names_deed))
    };
    choices.sort_by_key(harm);
    let mut is_first = true;
    choices.retain(|choice| std::mem::take(&mut is_first) || harm(choice) == (false, false));
}

fn is_error(value: &Value) -> bool {
    value.as_str().is_some_and(names_error)
}

fn is_good(value: &Value) -> bool {
    !value.is_null() && value.to_string().len() <= MAX_VALUE
}

/// A schema with all that holds besides: what it refers to, and all of `allOf`.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts<'a> {
    pub layers: Vec<&'a Map<String, Value>>,
    /// Of each, one holds too.
    pub choices: Vec<&'a [Value]>,
}

impl<'a> Parts<'a> {
    /// All that is said by a keyword.
    pub fn all<'k>(&'k self, key: &'k str) -> impl Iterator<Item = &'a Value> + 'k {
        self.layers.iter().filter_map(move |layer| layer.get(key))
    }

    pub fn first(&self, key: &str) -> Option<&'a Value> {
        self.all(key).next()
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.all(key).find_map(Value::as_str)
    }

    /// The narrowest of lower bounds.
    pub fn least(&self, key: &str) -> Option<u64> {
        self.all(key).filter_map(Value::as_u64).max()
    }

    /// The narrowest of upper bounds.
    pub fn most(&self, key: &str) -> Option<u64> {
        self.all(key).filter_map(Value::as_u64).min()
    }

    fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| layer.is_empty())
    }

    /// A value that the schema itself names, `null` and what is too large
    /// aside.
    pub fn said(&self) -> Option<Value> {
        let good = |value: &&Value| is_good(value);
        self.first("const")
            .or_else(|| self.all("default").find(good))
            .or_else(|| self.listed("examples").first().copied())
            .or_else(|| self.all("example").find(good))
            .cloned()
    }

    /// The values of its `enum` that may be tried, in this order: one that names an error
    /// only where there is no other, and after the first none that names a deed, which
    /// nobody asked for.
    pub fn choices_listed(&self) -> Vec<&'a Value> {
        let mut all = self.listed("enum");
        keep_harmless(&mut all, |value| Some(*value));
        all
    }

    /// What is listed by a keyword, what names an error last.
    fn listed(&self, key: &str) -> Vec<&'a Value> {
        let lists = self.all(key).filter_map(Value::as_array);
        let good = lists.flatten().filter(|value| is_good(value));
        let mut all: Vec<&Value> = good.take(MAX_LISTED).collect();
        all.sort_by_key(|value| is_error(value));
        all
    }

    /// The type, or the first of several that is not `null`; where none is
    /// said, what the other keywords are about.
    pub fn kind(&self) -> Option<&'a str> {
        let named = self.all("type").find_map(|kinds| match kinds {
            Value::String(kind) => Some(kind.as_str()),
            Value::Array(kinds) => kinds
                .iter()
                .filter_map(Value::as_str)
                .find(|kind| *kind != "null"),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        });
        let has = |keys: &[&str]| keys.iter().any(|key| self.first(key).is_some());
        named.or_else(|| {
            if has(&["properties", "required", "additionalProperties"]) {
                Some("object")
            } else if has(&["items", "prefixItems", "minItems"]) {
                Some("array")
            } else if has(&["pattern", "minLength", "maxLength", "format"]) || self.is_empty() {
                Some("string")
            } else if has(&["minimum", "maximum", "multipleOf"]) {
                Some("number")
            } else {
                None
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::keep_harmless;
    use serde_json::{Value, json};

    #[test]
    fn of_choices_the_harmless_are_tried_and_one_in_any_case() {
        let kept = |choices: &[&str]| {
            let mut choices: Vec<Value> = choices.iter().map(|one| json!(one)).collect();
            keep_harmless(&mut choices, |one| Some(one));
            choices
        };
        assert_eq!(kept(&["delete", "list", "error"]), [json!("list")]);
        assert_eq!(kept(&["list", "count"]), [json!("list"), json!("count")]);
        assert_eq!(kept(&["error", "delete"]), [json!("delete")]);
        assert!(kept(&[]).is_empty());
    }
}
