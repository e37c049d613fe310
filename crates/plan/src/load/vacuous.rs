//! Expectations that hold of anything: whoever wrote them believes that
//! something is tested.

use super::path::Path;
use super::reader::Reader;
use crate::anything::misses_objects;
use crate::grammar::{OperandKind, Target};
use crate::same_path::is_same_path;
use crate::syntax::Node;
use crate::{Operator, Part, Predicate, can_not_fail, each_reference};
use jelly_base::text::roughly;
use serde_json::Value;

impl<'t> Reader<'t> {
    /// Refuses operators of which none can be false; `place` is the path of what
    /// they are about, where it has one.
    pub(super) fn refuse_vacuous(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        (target, place): (Target, &str),
        predicates: &[Predicate],
    ) {
        let holds = |predicate: &Predicate| is_true_of_anything(predicate, target, place);
        if predicates.is_empty() || !predicates.iter().all(holds) {
            return;
        }
        let is_schema = |one: &Predicate| one.operator.operand() == OperandKind::JsonSchema;
        let of_others = predicates
            .iter()
            .any(|one| is_schema(one) && !can_not_fail(one.operator, &one.operand));
        let (what, hint) = match target {
            Target::Json | Target::Structured if of_others => (
                "the schema refuses no object, and an object it is",
                "what is said of a list, a text or a number in it stands under `properties`, or at \
                 its own path, as in `json: [{ path: $.structuredContent.list, schema: … }]`",
            ),
            Target::Count => (
                "every number matches",
                "at least one is `count: { ge: 1 }`; none at all is `absent: true`",
            ),
            Target::Duration => ("every duration matches", "as in `lt: 2s`"),
            Target::Json | Target::Structured => (
                "every value matches",
                "say what it must be, as in `equals: 5` or `length: { ge: 1 }`; to require only that \
                 it exists, use `exists: true`, or its type, `type: array`",
            ),
            Target::ExitCode => ("every exit code matches", "as in `exit: 2`"),
            Target::Status => ("every status matches", "as in `status: 200`"),
            Target::Text
            | Target::Stderr
            | Target::ErrorCode
            | Target::ErrorMessage
            | Target::Header => (
                "every text matches",
                "say what must be in it, or `length: { ge: 1 }`",
            ),
        };
        self.problem(node.span, path, format!("{what}, so this tests nothing"))
            .hint(hint);
    }
}

fn is_true_of_anything(predicate: &Predicate, target: Target, place: &str) -> bool {
    let operand = &predicate.operand;
    if has_references(operand) {
        // What it comes to is known when it is due.
        return false;
    }
    let at_least = |value: &Value| roughly(value).is_some_and(|least| least <= 0.0);
    let is = |name: &str| {
        operand == name
            || operand
                .as_array()
                .is_some_and(|all| all.iter().any(|n| n == name))
    };
    // These are there in any case; and a result is an object.
    let is_there = matches!(target, Target::Text | Target::Stderr | Target::Count);
    let is_root = target == Target::Json && place == "$";
    let operator = predicate.operator;
    match operator.operand() {
        OperandKind::Part => target.is_text() && can_not_fail(operator, operand),
        OperandKind::Number if operator == Operator::Ge => {
            matches!(target, Target::Count | Target::Duration) && at_least(operand)
        }
        OperandKind::Number if operator == Operator::Gt => {
            // Every call takes some time.
            let below = roughly(operand).is_some_and(|least| least < 0.0);
            target == Target::Count && below || target == Target::Duration && at_least(operand)
        }
        OperandKind::Path => operand
            .as_str()
            .is_some_and(|other| is_same_path(place, other)),
        OperandKind::Flag => operand == &Value::Bool(true) && (is_there || is_root),
        OperandKind::Types => {
            can_not_fail(operator, operand)
                || target.is_text() && is("string")
                || is_root && is("object")
        }
        // What is structured is an object in every revision.
        OperandKind::JsonSchema if is_root || target == Target::Structured => {
            can_not_fail(operator, operand) || misses_objects(operand)
        }
        OperandKind::Value
        | OperandKind::Values
        | OperandKind::Text
        | OperandKind::Pattern
        | OperandKind::Number
        | OperandKind::Bounds
        | OperandKind::JsonSchema
        | OperandKind::SnapshotName => can_not_fail(operator, operand),
    }
}

fn has_references(operand: &Value) -> bool {
    let mut found = false;
    each_reference(operand, &mut |part| found |= !matches!(part, Part::Text(_)));
    found
}
