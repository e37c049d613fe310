//! Expectations that hold of anything: whoever wrote them believes that
//! something is tested.

use super::operand::Target;
use super::reader::{Path, Reader};
use crate::plan::syntax::Node;
use crate::plan::{Operator, Predicate};
use serde_json::Value;

impl<'t> Reader<'t> {
    /// Refuses operators of which none can be false.
    pub(super) fn refuse_vacuous(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        target: Target,
        predicates: &[Predicate],
    ) {
        let holds = |predicate: &Predicate| is_true_of_anything(predicate, target);
        if predicates.is_empty() || !predicates.iter().all(holds) {
            return;
        }
        let (what, hint) = match target {
            Target::Count => (
                "any number is that",
                "at least one is `count: { ge: 1 }`; none at all is `absent: true`",
            ),
            Target::Duration => ("any time is that", "as in `lt: 2s`"),
            Target::Text
            | Target::Stderr
            | Target::Json
            | Target::Structured
            | Target::ErrorCode
            | Target::ErrorMessage => (
                "any text is that",
                "say what must be in it, or `length: { ge: 1 }`",
            ),
        };
        self.problem(node.span, path, format!("{what}, so nothing is tested"))
            .hint(hint);
    }
}

fn is_true_of_anything(predicate: &Predicate, target: Target) -> bool {
    let operand = &predicate.operand;
    let at_least = |value: &Value| value.as_f64().is_some_and(|least| least <= 0.0);
    match predicate.operator {
        Operator::Contains => target.is_text() && operand == "",
        Operator::StartsWith | Operator::EndsWith => operand == "",
        Operator::Matches => operand.as_str().is_some_and(matches_anything),
        Operator::Length => {
            let bounds = operand.as_object().filter(|_| target.is_text());
            bounds.is_some_and(|bounds| bounds.iter().all(|(key, v)| key == "ge" && at_least(v)))
        }
        Operator::Ge => matches!(target, Target::Count | Target::Duration) && at_least(operand),
        Operator::Gt => {
            let least = operand.as_f64().filter(|_| target == Target::Count);
            least.is_some_and(|least| least < 0.0)
        }
        Operator::Exists => target == Target::Count && operand == &Value::Bool(true),
        Operator::Equals
        | Operator::NotEquals
        | Operator::NotContains
        | Operator::OneOf
        | Operator::Lt
        | Operator::Le
        | Operator::Type
        | Operator::Schema
        | Operator::Snapshot => false,
    }
}

/// A pattern that asks nothing of the place where it matches, and matches
/// nothing at all, does so everywhere.
fn matches_anything(pattern: &str) -> bool {
    !pattern.contains(['^', '$', '\\'])
        && regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(""))
}

#[cfg(test)]
mod tests {
    use super::matches_anything;

    #[test]
    fn a_pattern_that_matches_everywhere_is_known() {
        for pattern in ["", ".*", "x*", "(?s).*", "a|", "(a?b?)"] {
            assert!(matches_anything(pattern), "{pattern}");
        }
        for pattern in ["^$", "^.*$", ".+", "x", "[^a]", r"\b", "${v}"] {
            assert!(!matches_anything(pattern), "{pattern}");
        }
    }
}
