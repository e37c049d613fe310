use super::{Ran, compare, matrix_md};
use crate::report::samples;
use indexmap::IndexMap;
use jelly_base::model::{DifferenceKind, RunReport, StepAnswers, StepState};
use serde_json::{Value, json};

/// A run whose steps `one` and `two` passed, and what `two` was answered.
fn passed(answer: &Value) -> (RunReport, StepAnswers) {
    let report = samples::passed();
    let steps = &report.iterations[0].steps;
    let answers = steps.iter().map(|step| (step.id.clone(), answer.clone()));
    let answers = answers.collect();
    (report, answers)
}

fn values(value: &str) -> IndexMap<String, String> {
    [("servers.it".to_owned(), value.to_owned())].into()
}

fn differ(one: &Value, other: &Value) -> Vec<(DifferenceKind, Option<String>)> {
    let ((one, first), (other, second)) = (passed(one), passed(other));
    let (old, new) = (values("old"), values("new"));
    let places = IndexMap::new();
    let runs = [("old", &old, &one, &first), ("new", &new, &other, &second)];
    let runs = runs.map(|(name, values, report, answers)| Ran {
        name,
        values,
        report,
        answers,
        places: &places,
    });
    let found = compare("plan", IndexMap::new(), &runs);
    assert_eq!(found.variants.len(), 2);
    found
        .differences
        .into_iter()
        .map(|difference| (difference.kind, difference.diff))
        .collect()
}

#[test]
fn what_a_revision_adds_and_the_order_of_keys_are_no_difference() {
    let old = json!({"result": {"content": [{"type": "text", "text": "at 2026-11-22T10:00:00Z"}]}});
    let new = json!({"result": {"resultType": "complete", "ttlMs": 5, "cacheScope": "private",
        "_meta": {"a": 1}, "content": [{"text": "at 2026-11-22T10:07:21Z", "type": "text"}]}});
    assert_eq!(differ(&old, &new), []);
}

#[test]
fn another_answer_is_shown_as_a_diff() {
    let old = json!({"result": {"content": "a", "isError": false}});
    let new = json!({"result": {"content": "b", "isError": false}});
    let found = differ(&old, &new);
    assert_eq!(found[0].0, DifferenceKind::Answer);
    let diff = found[0].1.as_deref().unwrap();
    assert!(diff.contains("-    \"content\": \"a\""), "{diff}");
    assert!(diff.contains("+    \"content\": \"b\""), "{diff}");
    assert!(diff.starts_with("--- old\n+++ new\n"), "{diff}");
}

#[test]
fn a_diff_has_an_end() {
    let lines = |word: &str| -> Vec<String> { (0..5000).map(|n| format!("{word}{n}")).collect() };
    let found = differ(
        &json!({"result": lines("a")}),
        &json!({"result": lines("b")}),
    );
    let diff = found[0].1.as_deref().unwrap();
    assert!(diff.len() < 9 * 1024, "{}", diff.len());
    assert!(
        diff.ends_with("more\n") || diff.ends_with("lines more\n"),
        "{diff}"
    );
}

#[test]
fn another_fate_is_told_with_its_cause_and_a_step_that_was_not_reached() {
    let green = samples::passed();
    let red = samples::dead_server();
    let nothing = StepAnswers::new();
    let (old, new) = (values("old"), values("new"));
    let places = IndexMap::new();
    let runs = [("old", &old, &green), ("new", &new, &red)].map(|(name, values, report)| Ran {
        name,
        values,
        report,
        answers: &nothing,
        places: &places,
    });
    let axes: IndexMap<_, _> = [("servers.it".to_owned(), vec!["old".into(), "new".into()])].into();
    let found = compare("plan", axes, &runs);
    assert!(!found.differences.is_empty());
    for difference in &found.differences {
        assert_eq!(difference.kind, DifferenceKind::State, "{difference:?}");
    }
    let blocked = found.steps.iter().find_map(|step| {
        let cell = step.cells[1].as_ref()?;
        (cell.state == StepState::Blocked).then_some(cell)
    });
    assert!(blocked.unwrap().root_cause.is_some());
    insta::assert_snapshot!(matrix_md(&[found]));
}
