//! What counts for nothing in a value that is held against a snapshot.

use super::snapshots;
use jelly_base::text::{read_json, without_volatile};
use jelly_plan::{Redaction, Volatile};
use regex::NoExpand;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::LazyCell;

/// The text that is held against a snapshot.
///
/// A text that is JSON is taken for the JSON that it is where a path looks
/// into it.
pub fn settled(value: &Value, redactions: &[Redaction]) -> String {
    let mut value = Cow::Borrowed(value);
    for redaction in redactions {
        let Redaction::At { path, with, .. } = redaction else {
            continue;
        };
        if let Some(inner) = json_in(&value) {
            value = Cow::Owned(inner);
        }
        let places: Vec<String> = path
            .query_located(&value)
            .locations()
            .map(|place| place.to_json_pointer())
            .collect();
        for place in places {
            if let Some(found) = value.to_mut().pointer_mut(&place) {
                *found = Value::from(with.as_str());
            }
        }
    }
    let mut text = snapshots::text_of(&value);
    for redaction in redactions {
        if let Redaction::Matching { regex, with, .. } = redaction {
            text = regex.replace_all(&text, NoExpand(with)).into_owned();
        }
    }
    let kind = |redaction: &Redaction| match redaction {
        Redaction::Kind(kind) => Some(*kind),
        Redaction::At { .. } | Redaction::Matching { .. } => None,
    };
    let kinds: Vec<Volatile> = redactions.iter().filter_map(kind).collect();
    match without_volatile(&text, &kinds) {
        Cow::Owned(text) => text,
        Cow::Borrowed(_) => text,
    }
}

/// The paths at which there is nothing, and the patterns that match nothing:
/// most likely slips.
pub fn idle(value: &Value, redactions: &[Redaction]) -> Vec<String> {
    let inner = json_in(value);
    let text = LazyCell::new(|| {
        let at = |redaction: &&Redaction| matches!(redaction, Redaction::At { .. });
        let paths: Vec<Redaction> = redactions.iter().filter(at).cloned().collect();
        settled(value, &paths)
    });
    let parts = inner.as_ref().unwrap_or(value);
    let nothing = |redaction: &Redaction| match redaction {
        Redaction::At { path, raw, .. } => path.query(parts).is_empty().then(|| raw.clone()),
        Redaction::Matching { regex, raw, .. } => (!regex.is_match(&text)).then(|| raw.clone()),
        Redaction::Kind(_) => None,
    };
    redactions.iter().filter_map(nothing).collect()
}

/// What a text is that is JSON with parts.
fn json_in(value: &Value) -> Option<Value> {
    read_json(value.as_str()?).filter(|inner| inner.is_object() || inner.is_array())
}

#[cfg(test)]
mod tests {
    use super::{idle, settled};
    use jelly_plan::{Redaction, Volatile};
    use serde_json::{Value, json};

    fn at(path: &str) -> Redaction {
        Redaction::At {
            path: serde_json_path::JsonPath::parse(path).unwrap(),
            raw: path.to_owned(),
            with: "[x]".to_owned(),
        }
    }

    #[test]
    fn what_a_path_selects_is_replaced_wherever_it_is() {
        let value = json!({"rows": [{"id": 1, "at": "now"}, {"id": 2, "at": "then"}]});
        let text = settled(&value, &[at("$.rows[*].id"), at("$.nothing")]);
        let wanted = json!({"rows": [{"id": "[x]", "at": "now"}, {"id": "[x]", "at": "then"}]});
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), wanted);
        let as_text = Value::from(value.to_string());
        assert_eq!(settled(&as_text, &[at("$.rows[*].id")]), text);
        assert_eq!(settled(&json!("no JSON"), &[at("$.a")]), "no JSON");
        for value in [&value, &as_text] {
            assert_eq!(idle(value, &[at("$.rows[*].id"), at("$.id")]), ["$.id"]);
        }
    }

    #[test]
    fn what_a_pattern_matches_is_replaced_as_it_is_said() {
        let matching = |pattern: &str| Redaction::Matching {
            regex: regex::Regex::new(pattern).unwrap(),
            raw: pattern.to_owned(),
            with: "$1 [n]".to_owned(),
        };
        let text = json!("run 17 of run 18");
        assert_eq!(
            settled(&text, &[matching(r"run (\d+)")]),
            "$1 [n] of $1 [n]"
        );
        let structure = json!({"id": "job-7"});
        assert_eq!(
            settled(&structure, &[matching("job-[0-9]+")]),
            "{\n  \"id\": \"$1 [n]\"\n}"
        );
        let both = [matching("job-[0-9]+"), matching("task-[0-9]+")];
        assert_eq!(idle(&structure, &both), ["task-[0-9]+"]);
    }

    #[test]
    fn kinds_are_known_by_their_form_and_only_those_that_were_asked_for() {
        let text = json!(
            "at 2026-11-22T01:02:03.5Z took 12.5 ms, id 6f1c2a34-0b1c-4d5e-8f90-123456789abc, \
             sum d41d8cd98f00b204e9800998ecf8427e, 12 mice"
        );
        let all = Volatile::ALL.map(Redaction::Kind);
        assert_eq!(
            settled(&text, &all),
            "at [timestamp] took [duration], id [uuid], sum [hash], 12 mice"
        );
        let one = settled(&text, &[Redaction::Kind(Volatile::Uuid)]);
        assert!(one.contains("[uuid]") && one.contains("12.5 ms"), "{one}");
        assert_eq!(settled(&text, &[]), text.as_str().unwrap());
    }
}
