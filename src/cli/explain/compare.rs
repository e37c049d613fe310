//! Two causes, part by part.

use super::known::Known;
use schemars::JsonSchema;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// One part of both, as in `root_cause` or `says`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Absent where it has none.
    pub one: Option<String>,
    /// Absent where it has none.
    pub other: Option<String>,
    /// Both say the same.
    pub same: bool,
    /// What both say, in pieces; empty for what is equal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// A piece of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// `=` in both, `-` in the first, `+` in the second.
    pub tag: char,
    /// What it says.
    pub text: String,
}

/// What two fingerprints were made of, part by part.
#[must_use]
pub fn compare(one: &Known, other: &Known) -> Vec<Part> {
    let mut parts = vec![part(
        "root_cause",
        Some(&one.cause.root_cause),
        Some(&other.cause.root_cause),
    )];
    let (a, b) = (&one.cause.template, &other.cause.template);
    let names = a.parts().map(|(name, _)| name);
    let more = b
        .parts()
        .map(|(name, _)| name)
        .filter(|name| a.get(name).is_none());
    for name in names.chain(more).filter(|name| *name != "root_cause") {
        parts.push(part(name, a.get(name), b.get(name)));
    }
    parts
}

fn part(name: &str, one: Option<&str>, other: Option<&str>) -> Part {
    let same = one == other;
    let changes = if same {
        Vec::new()
    } else {
        changes(one.unwrap_or_default(), other.unwrap_or_default())
    };
    Part {
        name: name.to_owned(),
        one: one.map(str::to_owned),
        other: other.map(str::to_owned),
        same,
        changes,
    }
}

fn changes(one: &str, other: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for change in TextDiff::from_words(one, other).iter_all_changes() {
        let tag = match change.tag() {
            ChangeTag::Equal => '=',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        match changes.last_mut() {
            Some(last) if last.tag == tag => last.text.push_str(change.value()),
            Some(_) | None => changes.push(Change {
                tag,
                text: change.value().to_owned(),
            }),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::changes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_pieces_make_up_both_texts(one in "[ab \n]{0,30}", other in "[ab \n]{0,30}") {
            let pieces = changes(&one, &other);
            let side = |tag: char| -> String {
                let own = pieces.iter().filter(|piece| piece.tag == '=' || piece.tag == tag);
                own.map(|piece| piece.text.as_str()).collect()
            };
            prop_assert_eq!(side('-'), one);
            prop_assert_eq!(side('+'), other);
        }
    }
}
