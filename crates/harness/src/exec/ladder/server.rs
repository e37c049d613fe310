//! How the outputs of one server are read.

use super::LadderInput;
use crate::exec::declared::Declared;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Output schemas by tool, which a user sets in place of those that a server
/// declares.
pub type Overrides = BTreeMap<String, Value>;

/// The ladder of one server.
#[derive(Debug, Default)]
pub struct ServerLadder {
    adapts: bool,
    overrides: HashMap<String, Declared>,
    store_unread: bool,
}

impl ServerLadder {
    #[must_use]
    pub fn new(adapts: bool, overrides: Option<&Overrides>, store_unread: bool) -> Self {
        let overrides = overrides.into_iter().flatten();
        Self {
            adapts,
            store_unread,
            overrides: overrides
                .map(|(tool, schema)| (tool.clone(), Declared::new(schema.clone())))
                .collect(),
        }
    }

    /// For an answer of this tool, which declares this; for any other answer,
    /// of none. An override that is no schema changes nothing.
    pub fn ladder_input<'a>(
        &'a self,
        tool: Option<&str>,
        declared: Option<&'a Declared>,
    ) -> LadderInput<'a> {
        let usable = |schema: &&Declared| schema.compiled().is_ok();
        let set = tool.and_then(|tool| self.overrides.get(tool));
        LadderInput {
            adapts: self.adapts,
            is_tool: tool.is_some(),
            schema: set.filter(usable).or(declared),
            declared,
            store_unread: self.store_unread,
        }
    }

    /// That the user set another schema for this tool, in a sentence.
    #[must_use]
    pub fn note(&self, tool: &str, declared: bool) -> Option<String> {
        let set = self.overrides.get(tool)?;
        Some(match (set.compiled(), declared) {
            (Ok(_), true) => format!(
                "the output of `{tool}` is read by the output schema that the schema store sets \
                 for it; its server answers for the one that it declares"
            ),
            (Ok(_), false) => format!(
                "the output of `{tool}` is read by the output schema that the schema store sets \
                 for it; its server declares none"
            ),
            (Err(error), _) => format!(
                "the output schema that the schema store sets for `{tool}` can't be used: {error}"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Overrides, ServerLadder};
    use crate::exec::declared::Declared;
    use serde_json::json;

    #[test]
    fn an_override_stands_in_for_what_is_declared_and_is_told() {
        let set = json!({"type": "object", "required": ["a"]});
        let overrides = Overrides::from([("t".to_owned(), set.clone())]);
        let ladder = ServerLadder::new(true, Some(&overrides), false);
        let declared = Declared::new(json!({"type": "object"}));
        let schema_of = |tool| {
            let ladder_input = ladder.ladder_input(Some(tool), Some(&declared));
            ladder_input.schema.unwrap().schema.clone()
        };
        assert_eq!(schema_of("t"), set);
        assert_eq!(schema_of("u"), declared.schema);
        assert!(ladder.note("t", true).unwrap().contains("it declares"));
        assert_eq!(ladder.note("u", true), None);
    }

    #[test]
    fn an_override_that_is_no_schema_changes_nothing_and_is_told() {
        let overrides = Overrides::from([("t".to_owned(), json!({"type": 5}))]);
        let ladder = ServerLadder::new(true, Some(&overrides), false);
        assert!(ladder.ladder_input(Some("t"), None).schema.is_none());
        let note = ladder.note("t", false).unwrap();
        assert!(note.contains("can't be used"), "{note}");
    }
}
