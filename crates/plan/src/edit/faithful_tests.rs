//! Every edit of every plan: what comes out is the plan that was meant, and
//! nothing else in the file has changed.

use super::{tree, write_block};
use crate::edit::witness::{Witness, documents, dressed, only_added};
use crate::{DocPath, EditError, PlanEdit, PlanSource, Segment, apply};
use jelly_base::testing::{all_cases, slice};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every edit that can be asked for: all scalars set, keys renamed, items
/// taken out, and something added to every map and list.
fn all_edits(value: &Value, path: &DocPath, edits: &mut Vec<PlanEdit>) {
    let news = [
        json!("plain"),
        json!("needs: \"quotes\" # it's so"),
        json!(7),
        json!("two\nlines\n"),
        json!("${workspace}/é, [x] {y}"),
        json!(true),
        json!(""),
    ];
    let new = || news[edits_hash(path) % news.len()].clone();
    match value {
        Value::Array(items) => {
            edits.push(PlanEdit::Set {
                path: path.index(items.len()),
                value: new(),
            });
            for (index, item) in items.iter().enumerate() {
                edits.push(PlanEdit::Remove {
                    path: path.index(index),
                });
                all_edits(item, &path.index(index), edits);
            }
        }
        Value::Object(map) => {
            edits.push(PlanEdit::Set {
                path: path.key("a_new_key"),
                value: new(),
            });
            for (key, item) in map {
                let to = ["renamed", "needs: quotes", "true"][key.len() % 3].to_owned();
                edits.push(PlanEdit::RenameKey {
                    path: path.key(key.clone()),
                    to,
                });
                all_edits(item, &path.key(key.clone()), edits);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            edits.push(PlanEdit::Set {
                path: path.clone(),
                value: new(),
            });
        }
    }
}

/// Something that differs from place to place, and is the same in every run.
fn edits_hash(path: &DocPath) -> usize {
    path.to_string().bytes().map(usize::from).sum()
}

fn adds(before: &Value, edit: &PlanEdit) -> bool {
    let PlanEdit::Set { path, .. } = edit else {
        return false;
    };
    let found = path
        .0
        .iter()
        .try_fold(before, |value, segment| match segment {
            Segment::Key(key) => value.get(key),
            Segment::Index(index) => value.get(*index),
        });
    found.is_none()
}

/// Makes the edits one by one; each does what it says and no more, or touches
/// what others share.
fn each_holds(before: &PlanSource, edits: &[PlanEdit]) -> Result<usize, String> {
    let witness = Witness::of(before);
    let mut made = 0;
    for edit in edits {
        let after = match apply(before, std::slice::from_ref(edit)) {
            Ok(after) => after,
            Err(EditError::Shared(..)) if witness.is_shared(edit.path()) => continue,
            // The name that is given up may come back out of a merge.
            Err(EditError::Unfaithful)
                if matches!(edit, PlanEdit::RenameKey { .. }) && before.text.contains("<<") =>
            {
                continue;
            }
            Err(error) => return Err(format!("{edit:?}: {error}\n{}", before.text)),
        };
        witness
            .agrees(std::slice::from_ref(edit), &after)
            .map_err(|why| format!("{edit:?}: {why}\nbefore:\n{}", before.text))?;
        if adds(&witness.value, edit) && !only_added(&before.text, &after.text) {
            return Err(format!(
                "{edit:?} changed more than it added:\n{}",
                after.text
            ));
        }
        made += 1;
    }
    Ok(made)
}

fn source(name: &str, text: &str) -> PlanSource {
    PlanSource {
        path: name.into(),
        text: text.into(),
        variant: None,
    }
}

#[test]
fn every_edit_of_every_plan_in_the_repository_changes_what_it_says_and_no_other_byte() {
    let documents = documents();
    let plans = documents
        .iter()
        .filter(|(name, _)| name.starts_with("plans/"));
    assert!(plans.count() >= 10, "the plans were not found");
    let mut made = 0;
    for (name, text) in slice(3, &documents) {
        let value = Witness::of(&source("p.yaml", text)).value;
        if !value.is_object() {
            // A part of something, and no plan.
            continue;
        }
        let mut edits = Vec::new();
        all_edits(&value, &DocPath::default(), &mut edits);
        for (which, text) in dressed(text).iter().enumerate() {
            // All in its own clothes, in the others a part each.
            made += each_holds(&source("p.yaml", text), &part(&edits, which, 8))
                .unwrap_or_else(|why| panic!("{name}, {which}: {why}"));
        }
        let json = serde_json::to_string_pretty(&value).unwrap();
        made += each_holds(&source("p.json", &json), &part(&edits, 1, 4))
            .unwrap_or_else(|why| panic!("{name} as JSON: {why}"));
    }
    let least = if all_cases() { 4_000 } else { 1_500 };
    assert!(made > least, "{made}");
}

/// Each so-many-th of the edits, another one for each `which`; for 0, all.
fn part(edits: &[PlanEdit], which: usize, of: usize) -> Vec<PlanEdit> {
    let chosen = |n: &usize| which == 0 || n % of == which;
    let chosen = (0..edits.len()).filter(chosen);
    chosen.map(|n| edits[n].clone()).collect()
}

/// A plan as people write them, with steps on anchors and without.
const ANCHORS: &str = "
version: 1
vars: &v { a: 1, b: [x, 'y'] }   # shared
servers:
  s: &s
    command: jelly
    args: &args [mock]
    env: { <<: *v, own: \"1\" }
  t:
    <<: *s
    cwd: .
steps:
  - &first { id: one, server: s, tool: t, args: { list: *args, n: 1 } }
  - id: two
    <<: { server: t }
    tool: t
    args: &alone
      p: 'x'
  - { <<: *first, id: three }
";

#[test]
fn what_an_anchor_shares_stays_and_everything_else_can_be_edited() {
    for text in dressed(ANCHORS) {
        let before = source("p.yaml", &text);
        let mut edits = Vec::new();
        all_edits(&Witness::of(&before).value, &DocPath::default(), &mut edits);
        let made = each_holds(&before, &edits).unwrap_or_else(|why| panic!("{why}"));
        let refused = edits.len() - made;
        assert!(made > 20 && refused > 20, "{made} made, {refused} refused");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(jelly_base::testing::random_cases(150)))]

    #[test]
    fn every_edit_of_any_layout_changes_what_it_says_and_no_other_byte(
        tree in tree(), clothes in 0_usize..4, tail in any::<bool>(),
    ) {
        let end = if tail { "end: 1\n" } else { "" };
        let text = format!("# top\ndoc:{}{end}", write_block(&tree, 2));
        let dressed = dressed(&text);
        let text = &dressed[clothes.min(dressed.len() - 1)];
        let before = source("plan.yaml", text);
        let mut edits = Vec::new();
        all_edits(&Witness::of(&before).value, &DocPath::default(), &mut edits);
        let made = each_holds(&before, &edits);
        prop_assert_eq!(made, Ok(edits.len()));
    }
}
