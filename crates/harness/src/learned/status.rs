//! What the store says of one tool, and how that changes with an output.

use jelly_base::model::{OutputSeen, Rung};
use serde_json::{Value, json};

/// What is known of one tool's outputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Status {
    /// `outputSchema`: what stands for the tool's outputs.
    pub schema: Option<Value>,
    /// `declaredOutputSchema`: what its server declared last. It is kept while
    /// a generic schema stands in its place, for the way back.
    pub declared: Option<Value>,
    /// `override`: that a person says whose the schema is.
    pub is_override: Option<bool>,
    /// `last_adapter`.
    pub last_adapter: Option<String>,
    /// `consecutive_generic_count`.
    pub generic_count: u64,
}

/// The schema of an output that is only text.
pub fn generic_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "result": { "type": "string" } },
        "required": ["result"],
    })
}

impl Status {
    /// The schema that a person set. Jelly itself only ever writes two: the
    /// generic one, and the one that is declared, which it notes beside. So
    /// any other is a person's, unless he says that it is not.
    pub fn set_by_person(&self) -> Option<&Value> {
        let schema = self.schema.as_ref()?;
        let written_here = *schema == generic_schema() || Some(schema) == self.declared.as_ref();
        self.is_override.unwrap_or(!written_here).then_some(schema)
    }

    /// Takes in an output that was read by some rung. A generic schema takes
    /// the place of a declared one only after `threshold` generic results in a
    /// row (at least 1), and gives it back with the first better one.
    pub fn observe(&mut self, seen: &OutputSeen, threshold: u64) {
        // To be decided by the schemas as they were written.
        let is_persons = self.is_override == Some(true) || self.set_by_person().is_some();
        if self.declared != seen.declared {
            self.declared.clone_from(&seen.declared);
            // What was counted was counted under another contract.
            self.generic_count = 0;
        }
        self.last_adapter = Some(seen.rung.stored_name().to_owned());
        let is_generic = match seen.rung {
            Rung::Structured | Rung::JsonText | Rung::Declared => {
                self.generic_count = 0;
                false
            }
            Rung::Generic => {
                self.generic_count = self.generic_count.saturating_add(1);
                self.declared.is_none() || self.generic_count >= threshold
            }
        };
        if !is_persons {
            self.schema = if is_generic {
                Some(generic_schema())
            } else {
                self.declared.clone()
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, generic_schema};
    use jelly_base::model::{OutputSeen, Rung};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn seen(rung: Rung, declared: Option<Value>) -> OutputSeen {
        OutputSeen {
            server: "s".into(),
            tool: "t".into(),
            rung,
            declared,
        }
    }

    fn declared() -> Option<Value> {
        Some(json!({"type": "object", "required": ["n"]}))
    }

    #[test]
    fn a_declared_schema_outlives_the_first_generic_result_and_returns_after_the_second() {
        let mut status = Status::default();
        let generic = seen(Rung::Generic, declared());
        status.observe(&generic, 2);
        assert_eq!((&status.schema, status.generic_count), (&declared(), 1));
        status.observe(&generic, 2);
        assert_eq!(status.schema, Some(generic_schema()));
        assert_eq!((&status.declared, status.generic_count), (&declared(), 2));
        for better in [Rung::Structured, Rung::JsonText, Rung::Declared] {
            let mut status = status.clone();
            status.observe(&seen(better, declared()), 2);
            assert_eq!((&status.schema, status.generic_count), (&declared(), 0));
            assert_eq!(status.last_adapter.as_deref(), Some(better.stored_name()));
        }
    }

    #[test]
    fn where_nothing_is_declared_a_generic_schema_stands_at_once_until_a_better_rung() {
        let mut status = Status::default();
        status.observe(&seen(Rung::Generic, None), 9);
        assert_eq!(status.schema, Some(generic_schema()));
        status.observe(&seen(Rung::JsonText, None), 9);
        assert_eq!((status.schema, status.generic_count), (None, 0));
    }

    #[test]
    fn a_new_contract_is_not_held_to_what_was_counted_under_the_old_one() {
        let mut status = Status::default();
        for _ in 0..5 {
            status.observe(&seen(Rung::Generic, None), 2);
        }
        status.observe(&seen(Rung::Generic, declared()), 2);
        assert_eq!((&status.schema, status.generic_count), (&declared(), 1));
    }

    #[test]
    fn what_a_person_wrote_is_never_replaced() {
        let own = json!({"type": "object", "properties": {"mine": {"enum": [1, 2]}}});
        let written = Status {
            schema: Some(own.clone()),
            ..Status::default()
        };
        let pinned = Status {
            schema: Some(generic_schema()),
            is_override: Some(true),
            ..Status::default()
        };
        for mut status in [written, pinned] {
            let before = status.schema.clone();
            for _ in 0..3 {
                status.observe(&seen(Rung::Generic, declared()), 2);
                status.observe(&seen(Rung::Structured, declared()), 2);
                assert_eq!(status.schema, before);
                assert_eq!(status.set_by_person(), before.as_ref());
            }
        }
        let mut given_up = Status {
            schema: Some(own),
            is_override: Some(false),
            ..Status::default()
        };
        assert_eq!(given_up.set_by_person(), None);
        given_up.observe(&seen(Rung::Structured, declared()), 2);
        assert_eq!(given_up.schema, declared());
    }

    fn rung() -> impl Strategy<Value = Rung> {
        prop_oneof![
            1 => Just(Rung::Structured),
            1 => Just(Rung::JsonText),
            1 => Just(Rung::Declared),
            3 => Just(Rung::Generic),
        ]
    }

    fn contract() -> impl Strategy<Value = Option<Value>> {
        prop_oneof![
            1 => Just(None),
            4 => Just(declared()),
            1 => Just(Some(json!({"type": "object"}))),
        ]
    }

    proptest! {
        #[test]
        fn after_any_results_the_schema_follows_the_last_ones(
            results in proptest::collection::vec((rung(), contract()), 1..12), threshold in 1_u64..5,
        ) {
            let mut status = Status::default();
            for (rung, declared) in &results {
                status.observe(&seen(*rung, declared.clone()), threshold);
                prop_assert_eq!(status.set_by_person(), None, "none wrote but jelly");
            }
            let (last, contract) = results.last().unwrap();
            let in_a_row = results
                .iter()
                .rev()
                .take_while(|(rung, declared)| *rung == Rung::Generic && declared == contract)
                .count() as u64;
            prop_assert_eq!(status.generic_count, in_a_row);
            let is_generic = *last == Rung::Generic && (contract.is_none() || in_a_row >= threshold);
            let expected = if is_generic { Some(generic_schema()) } else { contract.clone() };
            prop_assert_eq!(&status.schema, &expected);
            prop_assert_eq!(&status.declared, contract);

            // The same again changes nothing but the count of generic ones.
            let before = status.clone();
            status.observe(&seen(*last, contract.clone()), 1);
            status.observe(&seen(*last, contract.clone()), 1);
            let mut once = before.clone();
            once.observe(&seen(*last, contract.clone()), 1);
            status.generic_count = once.generic_count;
            prop_assert_eq!(status, once);
            if *last != Rung::Generic {
                let mut again = before.clone();
                again.observe(&seen(*last, contract.clone()), threshold);
                prop_assert_eq!(again, before);
            }
        }
    }
}
