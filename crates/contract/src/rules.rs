//! What a change means, as `rules.yaml` says it.
//!
//! Main type: [`Rules`].

use super::change::ChangeKind;
use super::direction::{Direction, Relation};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// All rules, read once.
static RULES: LazyLock<Rules> = LazyLock::new(|| {
    // Made by build.rs of a file that a test reads too.
    serde_json::from_str(include_str!(concat!(
        env!("OUT_DIR"),
        "/contract-rules.json"
    )))
    .unwrap_or_default()
});

/// See the module.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    directions: BTreeMap<Direction, BTreeMap<Relation, Meaning>>,
    schema: BTreeMap<String, Words>,
    always: BTreeMap<String, BTreeMap<Direction, Meaning>>,
    items: BTreeMap<String, Meaning>,
}

/// What it means, and why.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    pub kind: ChangeKind,
    pub why: String,
    /// It is so; else nothing shows that it is not.
    #[serde(default = "yes")]
    pub shown: bool,
}

fn yes() -> bool {
    true
}

/// How a change is put.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    more: String,
    less: String,
    other: String,
    /// That neither can be shown means that something is no longer allowed.
    #[serde(default)]
    definite: bool,
}

/// The rules that are built in.
pub fn rules() -> &'static Rules {
    &RULES
}

impl Rules {
    /// Of a keyword of a schema.
    pub fn of_schema(&self, rule: &str, direction: Direction, relation: Relation) -> Meaning {
        let meaning = self
            .directions
            .get(&direction)
            .and_then(|relations| relations.get(&relation));
        let words = self.schema.get(rule).map(|words| match relation {
            Relation::More => words.more.as_str(),
            Relation::Less => words.less.as_str(),
            Relation::Other => words.other.as_str(),
        });
        match (meaning, words) {
            (Some(meaning), Some(words)) if !words.is_empty() => Meaning {
                kind: meaning.kind,
                why: format!("{words}: {}", meaning.why),
                shown: meaning.shown || self.schema.get(rule).is_some_and(|it| it.definite),
            },
            (Some(meaning), _) => meaning.clone(),
            (None, _) => unknown(rule),
        }
    }

    /// Of what means the same however a schema changed.
    pub fn of_always(&self, rule: &str, direction: Direction) -> Meaning {
        let found = self.always.get(rule).and_then(|all| all.get(&direction));
        found.cloned().unwrap_or_else(|| unknown(rule))
    }

    /// Of what is no schema.
    pub fn of_item(&self, rule: &str) -> Meaning {
        let found = self.items.get(rule).cloned();
        found.unwrap_or_else(|| unknown(rule))
    }

    /// Their ids, as changes name them.
    #[must_use]
    pub fn ids() -> Vec<String> {
        let all = rules();
        let schema = all.schema.keys().chain(all.always.keys());
        let mut ids: Vec<String> = schema.map(|id| format!("schema/{id}")).collect();
        ids.extend(all.items.keys().cloned());
        ids
    }
}

/// In doubt a change is breaking.
fn unknown(rule: &str) -> Meaning {
    Meaning {
        kind: ChangeKind::Breaking,
        why: format!("nothing is known of `{rule}`"),
        shown: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::change::ChangeKind;
    use super::{Direction, Relation, Rules, rules};

    /// Each rule that is named anywhere in the crate stands in the file.
    #[test]
    fn the_rules_are_read_and_complete() {
        let ids = Rules::ids();
        assert!(ids.len() > 50, "{ids:?}");
        let sources = [
            include_str!("items.rs"),
            include_str!("compare.rs"),
            include_str!("schema/compare.rs"),
            include_str!("schema/keywords.rs"),
            include_str!("schema/objects.rs"),
            include_str!("schema/unions.rs"),
        ];
        let all = sources.concat();
        for id in &ids {
            let name = id.strip_prefix("schema/").unwrap_or(id);
            assert!(all.contains(&format!("\"{name}\"")), "nothing uses {id}");
        }
        for direction in [Direction::Input, Direction::Output] {
            let kind = |relation| rules().of_schema("type", direction, relation).kind;
            assert_eq!(kind(Relation::Other), ChangeKind::Breaking);
            assert_ne!(kind(Relation::More), kind(Relation::Less));
        }
    }
}
