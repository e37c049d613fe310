//! Whether a tool gave nothing in place of a value: what is left to it where a service did
//! not answer.
//!
//! Main function: [`is_given_nothing`].

use super::tables::{any_of, built, table};
use jelly_base::model::Failure;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// `tables/given_nothing.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NothingWords {
    says: Vec<String>,
}

static SAYS: LazyLock<Regex> = LazyLock::new(|| {
    let words: NothingWords = table(built!("given_nothing"));
    any_of("i", &words.says)
});

/// Bytes of an answer that are read for such words: what is longer gives something.
const WORDS: usize = 400;

/// Whether a tool answered with nothing, or with nothing where a value was wanted: no text,
/// an empty list, `null`, members that are all so, or words for it.
pub(super) fn is_given_nothing(failure: &Failure) -> bool {
    let answer = failure.tool_result.as_ref();
    let compared = failure.assertion.as_ref();
    answer.is_some_and(|result| is_empty_text(&result.text))
        || compared.is_some_and(|it| is_empty(&it.actual))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => is_empty_text(text),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
    }
}

fn is_empty_text(text: &str) -> bool {
    let text = text.trim();
    match serde_json::from_str::<Value>(text) {
        // A document gives what it has; the words in it may be of anything.
        Ok(value @ (Value::Array(_) | Value::Object(_))) => is_empty(&value),
        Ok(Value::String(_)) | Err(_) => {
            text.is_empty() || text.len() <= WORDS && SAYS.is_match(text)
        }
        Ok(value) => is_empty(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::is_empty_text;

    #[test]
    fn words_for_nothing_are_nothing_and_a_value_is_something() {
        for text in [
            "",
            "[]",
            "{\"results\": []}",
            "null",
            "No results found.",
            "no data",
            "None",
            "unknown",
            "Found 0 items",
            "Temperature: N/A",
            "Sorry, try again later",
            "{\"temp\": \"n/a\"}",
            "There are no results.",
            "The forecast is temporarily unavailable.",
        ] {
            assert!(is_empty_text(text), "{text}");
        }
        for text in [
            "Berlin: 21 degrees",
            "7",
            "[1]",
            "true",
            "Found 3 items",
            "The unknown soldier",
            "Note: none of these is late",
            "{\n \"city\": \"Berlin\",\n \"error\": null\n}",
            "{\"temp\": 21, \"note\": \"try again\"}",
            "The order cannot be shipped to Berlin",
            "Saved 12 rows; no invalid records",
        ] {
            assert!(!is_empty_text(text), "{text}");
        }
    }
}
