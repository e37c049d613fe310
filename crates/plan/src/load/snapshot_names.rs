//! Which snapshots were named so far, and by whom.

use crate::syntax::Span;
use crate::{DocPath, Location, Operator, Predicate, Request, Step};
use serde_json::Value;
use std::collections::HashMap;

/// The names of snapshots that were read so far.
#[derive(Default)]
pub(super) struct SnapshotNames {
    /// As first written, by how they are in lower case.
    pub(super) by_lower: HashMap<String, String>,
    /// Of whom it is not known yet what they are held against.
    pub(super) open: Vec<SnapshotUse>,
    /// Who has named each first.
    pub(super) owners: HashMap<String, (SnapshotUse, Option<SnapshotSource>)>,
}

/// One place that names a snapshot.
pub(super) struct SnapshotUse {
    pub(super) name: String,
    pub(super) span: Span,
    /// Of the operator.
    pub(super) at: Location,
    pub(super) field: DocPath,
}

/// Where the text of a snapshot comes from.
pub(super) struct SnapshotSource {
    pub(super) step: String,
    /// What is asked, and what of the answer is stored; none where the same request
    /// may well be answered otherwise.
    pub(super) asked: Option<(Request, Value, String)>,
}

impl SnapshotSource {
    pub(super) fn of(step: &Step, used: &SnapshotUse) -> Self {
        let is_plain = step.at_once.is_empty() && step.answers.is_empty();
        let part = is_plain.then(|| part_of(step, used.at)).flatten();
        Self {
            step: step.id.clone(),
            asked: part.map(|part| (step.request.clone(), step.args.clone(), part)),
        }
    }
}

/// What of the answer the operator at `at` looks at.
fn part_of(step: &Step, at: Location) -> Option<String> {
    let stands = |predicates: &[Predicate]| {
        let is_it = |p: &Predicate| p.operator == Operator::Snapshot && p.at == at;
        predicates.iter().any(is_it)
    };
    let expect = &step.expect;
    if stands(&expect.text) {
        return Some("text".to_owned());
    }
    if stands(&expect.structured) {
        return Some("structured".to_owned());
    }
    if expect
        .error
        .as_ref()
        .is_some_and(|error| stands(&error.message))
    {
        return Some("error".to_owned());
    }
    let json = expect.json.iter().find(|json| stands(&json.predicates));
    json.map(|json| format!("json {}", json.raw_path))
}
