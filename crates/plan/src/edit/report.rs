//! Edits as a report holds them, and back.

use super::PlanEdit;
use crate::{DocPath, Segment};
use jelly_base::model::EditReport;
use jelly_base::text::redact::Redactor;
use serde_json::Value;

impl PlanEdit {
    /// For a report: without secrets.
    #[must_use]
    pub fn report(&self, redactor: &Redactor) -> EditReport {
        let path = |path: &DocPath| {
            let mut words = Value::Array(path.0.iter().map(word).collect());
            redactor.redact_json(&mut words);
            match words {
                Value::Array(words) => words,
                other => vec![other],
            }
        };
        match self {
            Self::Set { path: at, value } => {
                let mut value = value.clone();
                redactor.redact_json(&mut value);
                EditReport::Set {
                    path: path(at),
                    value,
                }
            }
            Self::RenameKey { path: at, to } => EditReport::RenameKey {
                path: path(at),
                to: redactor.redact(to).into_owned(),
            },
            Self::Remove { path: at } => EditReport::Remove { path: path(at) },
        }
    }

    /// The edit that a report tells of; none if its path is no path.
    #[must_use]
    pub fn from_report(report: &EditReport) -> Option<Self> {
        let path = |words: &[Value]| {
            let segments: Option<Vec<Segment>> = words.iter().map(segment).collect();
            segments.map(DocPath)
        };
        Some(match report {
            EditReport::Set { path: at, value } => Self::Set {
                path: path(at)?,
                value: value.clone(),
            },
            EditReport::RenameKey { path: at, to } => Self::RenameKey {
                path: path(at)?,
                to: to.clone(),
            },
            EditReport::Remove { path: at } => Self::Remove { path: path(at)? },
        })
    }
}

fn word(segment: &Segment) -> Value {
    match segment {
        Segment::Key(key) => Value::from(key.as_str()),
        Segment::Index(index) => Value::from(*index),
    }
}

fn segment(word: &Value) -> Option<Segment> {
    match word {
        Value::String(key) => Some(Segment::Key(key.clone())),
        Value::Number(index) => Some(Segment::Index(usize::try_from(index.as_u64()?).ok()?)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::PlanEdit;
    use crate::DocPath;
    use jelly_base::model::EditReport;
    use jelly_base::text::redact::Redactor;
    use serde_json::{Value, json};

    fn at() -> DocPath {
        DocPath::default()
            .key("steps")
            .index(2)
            .key("args")
            .key("1")
    }

    #[test]
    fn an_edit_comes_back_from_a_report_as_it_was() {
        for edit in [
            PlanEdit::Set {
                path: at(),
                value: json!({"a": [1, null]}),
            },
            PlanEdit::RenameKey {
                path: at(),
                to: "b".to_owned(),
            },
            PlanEdit::Remove { path: at() },
        ] {
            let written = serde_json::to_string(&edit.report(&Redactor::none())).unwrap();
            let read: EditReport = serde_json::from_str(&written).unwrap();
            assert_eq!(PlanEdit::from_report(&read), Some(edit));
        }
    }

    #[test]
    fn a_report_holds_no_secret_and_a_path_of_anything_else_is_none() {
        let edit = PlanEdit::Set {
            path: at().key("swordfish"),
            value: Value::from("swordfish"),
        };
        let told = edit.report(&Redactor::new([("KEY", "swordfish")]));
        assert!(!serde_json::to_string(&told).unwrap().contains("swordfish"));
        for path in [json!([true]), json!([-1]), json!([1.5])] {
            let report = serde_json::from_value(json!({"op": "remove", "path": path})).unwrap();
            assert_eq!(PlanEdit::from_report(&report), None);
        }
    }
}
