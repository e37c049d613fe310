//! A tool, and all that is tried with it.
//!
//! Main type: [`Target`].

use super::case::{Act, Case, Input, Way};
use super::schema::{DEPTH, Kind, alternatives, is_required, kind, properties, segment};
use super::values::{Fullness, object};
use super::variants::{Variant, of_object};
use fastrand::Rng;
use jelly_plan::{BoundedSchema, SchemaError};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Cases of one tool that are not by chance.
const CASES: usize = 3_000;
/// Bytes of arguments that are kept, of one tool.
const BYTES: usize = 32 << 20;
/// So often arguments are made anew that do not fit.
const TRIES: usize = 8;
/// Bytes of a value that is put together with others.
const SMALL: usize = 2_000;

/// Why a tool can't be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetError {
    /// Its input schema is none, or not in one piece.
    Schema(String),
    /// No arguments could be made that fit.
    NoArguments,
}

/// One tool with its cases.
#[derive(Debug)]
pub struct Target {
    pub name: String,
    pub read_only: bool,
    /// The server says that a second call changes nothing more.
    pub output_schema: Option<Value>,
    schema: Value,
    validator: BoundedSchema,
    /// The plainest valid arguments.
    plain: Value,
    cases: Vec<Case>,
    /// By member of the arguments, what it may be, and whether it has to be there.
    members: Vec<(String, bool, Vec<Value>)>,
}

impl Target {
    /// Of a tool as it is listed.
    ///
    /// # Errors
    /// Nothing can be made of its input schema.
    pub fn new(
        name: &str,
        input_schema: Option<&Value>,
        output_schema: Option<&Value>,
        read_only: bool,
    ) -> Result<Self, TargetError> {
        let anything = json!({"type": "object"});
        let schema = input_schema.unwrap_or(&anything);
        let validator = BoundedSchema::compile(schema).map_err(|error| match error {
            SchemaError::Wrong { what, .. } => TargetError::Schema(what),
            error @ (SchemaError::Elsewhere(_) | SchemaError::TooComplex(_)) => {
                TargetError::Schema(error.to_string())
            }
        })?;
        let fits = |value: &Value| validator.is_valid(value) == Ok(true);
        let roots: Vec<Map<String, Value>> = alternatives(schema, schema)
            .into_iter()
            .filter(|root| matches!(kind(root), Kind::Object | Kind::Any))
            .collect();
        let mut plain = None;
        let mut variants: Vec<Variant> = Vec::new();
        let mut members: Vec<(String, bool, Vec<Value>)> = Vec::new();
        for root in &roots {
            let made = object(schema, root, Fullness::Required, DEPTH).map(Value::Object);
            if let Some(made) = made.filter(fits) {
                variants.push(Variant {
                    pointer: String::new(),
                    label: "plain",
                    input: Input::Valid,
                    value: Some(made.clone()),
                    rank: 0,
                });
                plain.get_or_insert(made);
            }
            let own = of_object(schema, root, DEPTH);
            for (name, _) in properties(root) {
                if members.iter().all(|(known, ..)| known != name) {
                    members.push((name.clone(), is_required(root, name), Vec::new()));
                }
            }
            variants.extend(own);
        }
        let plain = plain.ok_or(TargetError::NoArguments)?;
        variants.sort_by_key(|variant| variant.rank);
        let (mut cases, mut seen, mut bytes) = (Vec::new(), HashSet::new(), 0);
        for variant in variants {
            let Some(arguments) = variant.value else {
                continue;
            };
            let is_as_said = match variant.input {
                Input::Valid => fits(&arguments),
                // Validators only annotate them.
                Input::Invalid(Way::Format) => true,
                Input::Invalid(_) => validator.is_valid(&arguments) == Ok(false),
            };
            let text = arguments.to_string();
            let size = text.len();
            if !is_as_said || bytes + size > BYTES || !seen.insert(text) {
                continue;
            }
            bytes += size;
            if variant.input == Input::Valid {
                for (name, _, values) in &mut members {
                    let value = arguments.get(name.as_str());
                    let value = value.filter(|_| variant.pointer.starts_with(&segment(name)));
                    let value = value.filter(|_| size < SMALL);
                    values.extend(value.cloned());
                }
            }
            cases.push(Case {
                number: 0,
                tool: 0,
                label: variant.label,
                pointer: variant.pointer,
                input: variant.input,
                act: Act::Call(arguments),
            });
            if cases.len() >= CASES {
                break;
            }
        }
        members.retain(|(_, _, values)| !values.is_empty());
        Ok(Self {
            name: name.to_owned(),
            read_only,
            output_schema: output_schema.cloned(),
            schema: schema.clone(),
            validator,
            plain,
            cases,
            members,
        })
    }

    /// The plainest valid arguments.
    #[must_use]
    pub fn plain(&self) -> &Value {
        &self.plain
    }

    /// As it is listed.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether arguments fit the schema; not where that can't be said.
    #[must_use]
    pub fn fits(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments) == Ok(true)
    }

    /// Whether arguments break the schema; not where that can't be said.
    #[must_use]
    pub fn breaks(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments) == Ok(false)
    }

    /// Valid arguments that are not the plainest, where there are some.
    pub(crate) fn alternative(&self) -> &Value {
        let usual = self
            .cases
            .iter()
            .filter(|case| case.label != "extra_member");
        let mut calls = usual.filter_map(|case| match (&case.act, case.input) {
            (Act::Call(arguments), Input::Valid) => Some(arguments),
            (_, _) => None,
        });
        let is_other = |it: &&Value| **it != self.plain && it.to_string().len() < SMALL;
        calls.find(is_other).unwrap_or(&self.plain)
    }

    pub(crate) fn systematic(&self, round: usize) -> Option<&Case> {
        self.cases.get(round)
    }

    pub(crate) fn systematic_len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there is ever more to try.
    pub(crate) fn varies(&self) -> bool {
        self.members.len() > 1
    }

    /// Valid arguments of members by chance; none where none were found.
    pub(crate) fn by_chance(&self, rng: &mut Rng) -> Option<Value> {
        if !self.varies() {
            return None;
        }
        for _ in 0..TRIES {
            let mut made = self.plain.as_object().cloned().unwrap_or_default();
            for (name, is_required, values) in &self.members {
                if *is_required || rng.bool() {
                    let value = values.get(rng.usize(..values.len()))?;
                    made.insert(name.clone(), value.clone());
                }
            }
            let made = Value::Object(made);
            if self.fits(&made) {
                return Some(made);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Act, Case, Input, Target, TargetError, Way};
    use crate::case::CaseSequence;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn target(schema: &Value) -> Target {
        Target::new("t", Some(schema), None, true).unwrap()
    }

    fn has(target: &Target, arguments: &Value, input: Input) -> bool {
        let wanted = Act::Call(arguments.clone());
        let is = |case: &Case| case.act == wanted && case.input == input;
        target.cases.iter().any(is)
    }

    #[test]
    fn what_servers_stumble_over_is_tried_at_every_place() {
        let target = target(&json!({
            "type": "object",
            "required": ["text"],
            "properties": {
                "text": {"type": "string"},
                "n": {"type": "integer", "minimum": 1, "maximum": 10},
                "kind": {"enum": ["a", "b"]},
                "inner": {"type": "object", "required": ["x"], "properties": {
                    "x": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}}},
            },
        }));
        let invalid = Input::Invalid;
        for (arguments, input) in [
            (json!({"text": "a"}), Input::Valid),
            (json!({"text": ""}), Input::Valid),
            (json!({"text": "a".repeat(70_000)}), Input::Valid),
            (json!({"text": "😀"}), Input::Valid),
            (json!({}), invalid(Way::Missing)),
            (json!({"text": {}}), invalid(Way::Type)),
            (json!({"text": 12}), invalid(Way::Coercible)),
            (json!({"text": "a", "n": 1}), Input::Valid),
            (json!({"text": "a", "n": 10}), Input::Valid),
            (json!({"text": "a", "n": 0}), invalid(Way::Bound)),
            (json!({"text": "a", "n": 11}), invalid(Way::Bound)),
            (json!({"text": "a", "n": 1.5}), invalid(Way::Type)),
            (json!({"text": "a", "kind": "b"}), Input::Valid),
            (
                json!({"text": "a", "kind": "a-not-listed"}),
                invalid(Way::Enum),
            ),
            (json!({"text": "a", "inner": {"x": ""}}), Input::Valid),
            (json!({"text": "a", "inner": {}}), invalid(Way::Missing)),
            (
                json!({"text": "a", "inner": {"x": "a", "tags": [-1]}}),
                Input::Valid,
            ),
            (
                json!({"text": "a", "inner": {"x": "a", "tags": [{}]}}),
                invalid(Way::Type),
            ),
            (json!({"text": "a", "unexpected_member": "a"}), Input::Valid),
        ] {
            let short = arguments.to_string();
            let short = short.get(..60).unwrap_or(&short);
            assert!(has(&target, &arguments, input), "{short} {input:?}");
        }
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let of = |schema: Value| Target::new("t", Some(&schema), None, true).unwrap_err();
        assert!(matches!(of(json!({"type": 12})), TargetError::Schema(_)));
        assert_eq!(of(json!({"type": "array"})), TargetError::NoArguments);
    }

    #[test]
    fn the_sequence_is_the_same_for_the_same_seed_and_ends_where_nothing_varies() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
        let both = || vec![target(&schema), target(&json!({"type": "object"}))];
        let all = |seed: u64| -> Vec<Option<Case>> {
            let (targets, sequence) = (both(), CaseSequence::new(seed));
            (0..400).map(|n| sequence.case(&targets, n)).collect()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        let pairs = all(1).into_iter().flatten();
        let pairs = pairs.filter(|case| matches!(case.act, Act::Pair(..)));
        assert_eq!(pairs.count(), 4);
        let sequence = CaseSequence::new(1);
        assert_eq!(sequence.end(&both()), None);
        let fixed = vec![target(&json!({"type": "object"}))];
        let end = sequence.end(&fixed).unwrap();
        assert!((end..end + 50).all(|n| sequence.case(&fixed, n).is_none()));
    }

    /// Schemas of a few keywords, nested.
    fn schemas() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            (0..4_u8, 0..6_u8).prop_map(|(low, more)| json!({
                "type": "string", "minLength": low, "maxLength": low + more})),
            (-5..5_i8, 0..9_i8).prop_map(|(low, more)| json!({
                "type": "integer", "minimum": low, "maximum": low + more})),
            Just(json!({"type": ["number", "null"]})),
            Just(json!({"enum": ["x", 1, null]})),
            Just(json!({"type": "string", "format": "date"})),
            Just(json!({"type": "string", "pattern": "^[a-c]+$"})),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                inner
                    .clone()
                    .prop_map(|it| json!({"type": "array", "items": it, "maxItems": 3})),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
                (inner.clone(), inner, any::<bool>()).prop_map(|(a, b, strict)| json!({
                    "type": "object", "properties": {"a": a, "b": b}, "required": ["a"],
                    "additionalProperties": !strict})),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Valid is valid and invalid is invalid, by a validator that knows nothing of
        /// how they were made.
        #[test]
        fn every_case_is_what_it_says(inner in schemas(), seed in any::<u64>()) {
            let schema = json!({"type": "object", "properties": {"p": inner.clone(), "q": inner}});
            let targets = [target(&schema)];
            let sequence = CaseSequence::new(seed);
            for number in 0..300 {
                let Some(case) = sequence.case(&targets, number) else { continue };
                let Act::Call(arguments) = &case.act else { continue };
                match case.input {
                    Input::Valid => prop_assert!(targets[0].fits(arguments), "{}", arguments),
                    Input::Invalid(Way::Format) => {}
                    Input::Invalid(_) => prop_assert!(targets[0].breaks(arguments), "{}", arguments),
                }
            }
        }
    }
}
