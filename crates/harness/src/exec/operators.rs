//! The closed set of operators: a value, an operand, a verdict.

use super::snapshots;
use jelly_base::text::{is_whole, json_type, order, read_number, same};
use jelly_plan::{
    BoundedSchema, Operator, SchemaError, TooComplex, is_value_type, unknown_keyword,
};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Compiled patterns and schemas, kept for the length of an iteration since
/// compiling costs more than matching.
#[derive(Debug, Default)]
pub struct Compiled {
    patterns: HashMap<String, Arc<regex::Regex>>,
    schemas: HashMap<String, Arc<BoundedSchema>>,
}

/// Why a predicate could not even be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperandError {
    #[error("the pattern is not a regular expression: {0}")]
    Pattern(String),
    #[error("the pattern takes more than the {0} bytes that jelly gives one: make it shorter")]
    PatternSize(usize),
    #[error("the schema is not a JSON Schema: {0}")]
    Schema(String),
    #[error("{0}")]
    Keyword(String),
    /// The plan's own, or the one that the tool declares for its output.
    #[error("{schema}: {why}")]
    TooComplex { schema: String, why: TooComplex },
    #[error("`{operator}` takes {takes}, not {got}")]
    Type {
        operator: &'static str,
        takes: &'static str,
        got: &'static str,
    },
    #[error("`{operator}` with {operand} holds of anything, so nothing would be tested")]
    Vacuous {
        operator: &'static str,
        operand: String,
    },
    #[error("nothing is stored yet for the snapshot `{name}` in {}", path.display())]
    NoSnapshot { name: String, path: PathBuf },
    #[error("the snapshot `{name}` can't be compared with: {why}")]
    Snapshot { name: String, why: String },
    #[error("{0}")]
    Unresolved(#[from] jelly_plan::Unresolved),
}

impl OperandError {
    /// Nothing is wrong but that nothing is stored yet.
    pub fn is_new(&self) -> bool {
        matches!(self, Self::NoSnapshot { .. })
    }

    /// Of a schema of the plan.
    pub fn of_plan(why: TooComplex) -> Self {
        Self::TooComplex {
            schema: "the schema of this expectation".to_owned(),
            why,
        }
    }
}

impl Compiled {
    /// Where a pattern matches, one match after the other.
    ///
    /// # Errors
    /// It is none.
    pub fn matches(
        &mut self,
        pattern: &str,
        text: &str,
    ) -> Result<Vec<std::ops::Range<usize>>, OperandError> {
        let pattern = self.pattern(pattern)?;
        Ok(pattern.find_iter(text).map(|found| found.range()).collect())
    }

    fn pattern(&mut self, pattern: &str) -> Result<Arc<regex::Regex>, OperandError> {
        if let Some(found) = self.patterns.get(pattern) {
            return Ok(found.clone());
        }
        let compiled = regex::RegexBuilder::new(pattern)
            .size_limit(4 << 20)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(limit) => OperandError::PatternSize(limit),
                error => OperandError::Pattern(error.to_string()),
            })?;
        let compiled = Arc::new(compiled);
        self.patterns.insert(pattern.to_owned(), compiled.clone());
        Ok(compiled)
    }

    /// The validator of `schema`; references to other documents are refused.
    ///
    /// # Errors
    /// The schema is none, or refers to what is not in it.
    pub fn schema(&mut self, schema: &Value) -> Result<Arc<BoundedSchema>, OperandError> {
        let key = schema.to_string();
        if let Some(found) = self.schemas.get(&key) {
            return Ok(found.clone());
        }
        // The loader has refused it as it is written; a variable may bring it.
        if let Some(unknown) = unknown_keyword(schema) {
            let at = &unknown.pointer;
            let hint = unknown.hint();
            return Err(OperandError::Keyword(format!(
                "{unknown} (at `{at}`: {hint})"
            )));
        }
        let compiled = BoundedSchema::compile(schema).map_err(|error| match error {
            SchemaError::TooComplex(why) => OperandError::of_plan(why),
            SchemaError::Wrong { .. } | SchemaError::Elsewhere(_) => {
                OperandError::Schema(error.to_string())
            }
        })?;
        let compiled = Arc::new(compiled);
        self.schemas.insert(key, compiled.clone());
        Ok(compiled)
    }
}

/// Whether `actual` satisfies `operator` with `operand`; `None` stands for
/// "nothing there".
///
/// # Errors
/// The operand does not fit its operator; a plan that was checked can only
/// get here through variables.
pub fn holds(
    operator: Operator,
    operand: &Value,
    actual: Option<&Value>,
    compiled: &mut Compiled,
) -> Result<bool, OperandError> {
    if operator == Operator::Exists {
        let wanted = operand
            .as_bool()
            .ok_or_else(|| wrong(operator, "true or false", operand))?;
        return Ok(actual.is_some() == wanted);
    }
    let Some(actual) = actual else {
        return Ok(false);
    };
    Ok(match operator {
        // The caller has put what stands at the other path in the place of it.
        Operator::Equals | Operator::EqualsPath => same(actual, operand),
        Operator::NotEquals => !same(actual, operand),
        Operator::Contains if actual.is_string() && operand == "" => {
            return Err(empty(operator));
        }
        Operator::Contains => contains(actual, operand),
        Operator::NotContains => !contains(actual, operand),
        Operator::Matches | Operator::NotMatches => {
            let pattern = compiled.pattern(some_text(operator, operand)?)?;
            pattern.is_match(&as_text(actual)) == (operator == Operator::Matches)
        }
        Operator::StartsWith => as_text(actual).starts_with(some_text(operator, operand)?),
        Operator::EndsWith => as_text(actual).ends_with(some_text(operator, operand)?),
        Operator::OneOf => operand
            .as_array()
            .filter(|choices| !choices.is_empty())
            .ok_or_else(|| wrong(operator, "a list with something in it", operand))?
            .iter()
            .any(|choice| same(actual, choice)),
        Operator::Gt | Operator::Ge | Operator::Lt | Operator::Le => {
            let Value::Number(limit) = operand else {
                return Err(wrong(operator, "a number", operand));
            };
            let found = as_number(actual).map(|number| order(&number, limit));
            found.and_then(|order| compare(operator, order)) == Some(true)
        }
        Operator::Exists => true,
        Operator::Type => has_type(actual, operand)?,
        Operator::Length => has_length(actual, operand)?,
        Operator::Schema => {
            let schema = compiled.schema(operand)?;
            schema.is_valid(actual).map_err(OperandError::of_plan)?
        }
        // The caller has put the stored text in the place of its name.
        Operator::Snapshot => snapshots::same(text(operator, operand)?, &as_text(actual)),
    })
}

/// A part of a text, an element of a list, a part of an object.
fn contains(actual: &Value, operand: &Value) -> bool {
    match actual {
        Value::String(text) => text.contains(as_text(operand).as_ref()),
        Value::Array(items) => items
            .iter()
            .any(|item| same(item, operand) || is_part_of(operand, item)),
        Value::Object(map) => match operand {
            Value::String(key) => map.contains_key(key),
            operand => is_part_of(operand, actual),
        },
        actual => same(actual, operand),
    }
}

/// Whether every key of the object `part` stands in `whole` with its value.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, value)| {
            whole
                .get(key)
                .is_some_and(|found| same(value, found) || is_part_of(value, found))
        }),
        _ => false,
    }
}

/// `None` for an operator that does not compare numbers.
fn compare(operator: Operator, order: Ordering) -> Option<bool> {
    Some(match operator {
        Operator::Gt => order.is_gt(),
        Operator::Ge => order.is_ge(),
        Operator::Lt => order.is_lt(),
        Operator::Le => order.is_le(),
        Operator::Equals => order.is_eq(),
        Operator::NotEquals => order.is_ne(),
        _ => return None,
    })
}

fn has_type(actual: &Value, operand: &Value) -> Result<bool, OperandError> {
    let is = |wanted: &str| {
        let got = json_type(actual);
        // As in JSON Schema, a whole number is a number too, and 1.0 is whole.
        got == wanted
            || wanted == "number" && actual.is_number()
            || wanted == "integer" && actual.as_number().is_some_and(is_whole)
    };
    let known = |name: &Value| name.as_str().is_some_and(is_value_type);
    match operand {
        Value::String(wanted) if known(operand) => Ok(is(wanted)),
        Value::Array(choices) if !choices.is_empty() && choices.iter().all(known) => {
            Ok(choices.iter().filter_map(Value::as_str).any(is))
        }
        _ => Err(wrong(
            Operator::Type,
            "the name of a type of JSON, or a list of such",
            operand,
        )),
    }
}

/// Characters of a text, elements of a list, keys of an object.
fn has_length(actual: &Value, operand: &Value) -> Result<bool, OperandError> {
    let length = match actual {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => return Ok(false),
    };
    let length = Number::from(length);
    let bad = || wrong(Operator::Length, "a count from 0 on, or bounds", operand);
    match operand {
        Value::Number(wanted) if !is_count(wanted) => Err(bad()),
        Value::Number(wanted) => Ok(order(&length, wanted).is_eq()),
        Value::Object(bounds) => {
            for (name, bound) in bounds {
                let operator = Operator::ALL.into_iter().find(|o| o.name() == name);
                let (Some(operator), Value::Number(bound)) = (operator, bound) else {
                    return Err(bad());
                };
                if !is_count(bound) {
                    return Err(bad());
                }
                if !compare(operator, order(&length, bound)).ok_or_else(bad)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Err(bad()),
    }
}

fn is_count(number: &Number) -> bool {
    is_whole(number) && !number.to_string().starts_with('-')
}

/// A text counts as the number that it reads as; infinities are none.
fn as_number(value: &Value) -> Option<Cow<'_, Number>> {
    match value {
        Value::Number(number) => Some(Cow::Borrowed(number)),
        Value::String(text) => read_number(text.trim()).map(Cow::Owned),
        _ => None,
    }
}

fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

fn text(operator: Operator, operand: &Value) -> Result<&str, OperandError> {
    operand
        .as_str()
        .ok_or_else(|| wrong(operator, "a text", operand))
}

/// A text that not every text begins with, or ends with, or holds.
fn some_text(operator: Operator, operand: &Value) -> Result<&str, OperandError> {
    let text = text(operator, operand)?;
    match text {
        "" => Err(empty(operator)),
        text => Ok(text),
    }
}

fn empty(operator: Operator) -> OperandError {
    OperandError::Type {
        operator: operator.name(),
        takes: "a text with something in it, since an empty one holds of any",
        got: "an empty text",
    }
}

fn wrong(operator: Operator, takes: &'static str, operand: &Value) -> OperandError {
    OperandError::Type {
        operator: operator.name(),
        takes,
        got: json_type(operand),
    }
}

#[cfg(test)]
mod tests {
    use super::{Compiled, holds, same};
    use jelly_plan::Operator::{self, *};
    use serde_json::{Value, json};

    fn ask(operator: Operator, operand: Value, actual: Value) -> bool {
        holds(operator, &operand, Some(&actual), &mut Compiled::default()).unwrap()
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(same(&json!(1), &json!(1.0)));
        assert!(!same(&json!(1), &json!("1")));
        assert!(same(&json!({"a": [1, 2]}), &json!({"a": [1.0, 2]})));
        assert!(!same(
            &json!(9_007_199_254_740_993_i64),
            &json!(9_007_199_254_740_992_i64)
        ));
        assert!(!same(&json!([1]), &json!([1, 2])));
        assert!(!same(&json!({"a": 1}), &json!({"b": 1})));
    }

    /// The reference shows for each operator an operand, a value for which it
    /// holds, and one for which it fails.
    #[test]
    fn each_operator_holds_and_fails_as_the_reference_shows() {
        let page = include_str!("../../../../docs/plans.md");
        let (_, rest) = page.split_once("<!-- examples -->").unwrap();
        let (table, _) = rest.split_once("<!-- /examples -->").unwrap();
        let mut missing = Operator::ALL.to_vec();
        for row in table.trim().lines().skip(2) {
            let cells: Vec<&str> = row
                .trim_matches(['|', ' '])
                .split(" | ")
                .map(|cell| cell.trim_matches('`'))
                .collect();
            let [name, values @ ..] = &cells[..] else {
                panic!("{row}");
            };
            let operator = Operator::ALL.into_iter().find(|o| o.name() == *name);
            let operator = operator.unwrap_or_else(|| panic!("{row}"));
            let value = |at: usize| serde_json::from_str::<Value>(values[at]).unwrap();
            assert!(ask(operator, value(0), value(1)), "{row}");
            assert!(!ask(operator, value(0), value(2)), "{row}");
            missing.retain(|other| *other != operator);
        }
        // The one is about what is absent, the other about two places.
        assert_eq!(
            missing,
            [EqualsPath, Exists],
            "docs/plans.md has no example of these"
        );
    }

    #[test]
    fn no_digit_is_lost_in_a_comparison() {
        let big = 9_007_199_254_740_993_i64;
        assert!(!ask(Le, json!(big - 1), json!(big)));
        assert!(ask(Gt, json!(big - 1), json!(big)));
        assert!(!ask(Le, json!(9_007_199_254_740_992.0), json!(big)));
        assert!(!ask(Equals, json!(9_007_199_254_740_992.0), json!(big)));
        assert!(!ask(Le, json!(big - 1), json!(big.to_string())), "a text");
        assert!(ask(Lt, json!(u64::MAX), json!(u64::MAX - 1)));
        assert!(ask(Lt, json!(1e300), json!(u64::MAX)));
        assert!(ask(Gt, json!(-1e300), json!(i64::MIN)));
        assert!(ask(Lt, json!(-2), json!(-2.5)) && ask(Gt, json!(-3), json!(-2.5)));
        assert!(ask(Ge, json!(-2), json!(-2.0)) && ask(Ge, json!(2.5), json!(" 2.5 ")));
        for none in ["inf", "-inf", "NaN", "1e"] {
            assert!(!ask(Ge, json!(-5), json!(none)), "{none}");
            assert!(!ask(Le, json!(5), json!(none)), "{none}");
        }
    }

    #[test]
    fn nothing_satisfies_only_that_nothing_exists() {
        let mut c = Compiled::default();
        for operator in Operator::ALL {
            if operator == Exists {
                assert_eq!(holds(operator, &json!(false), None, &mut c), Ok(true));
                assert_eq!(holds(operator, &json!(true), None, &mut c), Ok(false));
                assert_eq!(
                    holds(operator, &json!(true), Some(&json!(null)), &mut c),
                    Ok(true)
                );
            } else {
                assert_eq!(holds(operator, &json!("x"), None, &mut c), Ok(false));
            }
        }
    }

    #[test]
    fn an_operand_that_does_not_fit_is_an_error_not_a_mismatch() {
        let mut c = Compiled::default();
        for (operator, operand) in [
            (Matches, json!("(")),
            (Matches, json!(1)),
            (Gt, json!("x")),
            (OneOf, json!("x")),
            (Type, json!(1)),
            (Length, json!("x")),
            (Length, json!({"matches": 1})),
            (Schema, json!({"type": 1})),
            (Exists, json!("yes")),
        ] {
            assert!(
                holds(operator, &operand, Some(&json!("v")), &mut c).is_err(),
                "{operand}"
            );
        }
    }

    #[test]
    fn schemas_reach_no_other_document() {
        let schema = json!({"$ref": "https://example.com/schema.json"});
        let mut c = Compiled::default();
        assert!(holds(Schema, &schema, Some(&json!(1)), &mut c).is_err());
    }
}
