//! Expectations that hold of anything: whoever wrote them believes that
//! something is tested.

use super::due_answer::DueAnswer;
use super::path::Path;
use super::reader::Reader;
use crate::anything::{
    PlaceType, is_far, is_part_of_any_object, misses_all, names_type, takes_any,
};
use crate::grammar::{OperandKind, Target};
use crate::same_path::is_same_path;
use crate::syntax::Node;
use crate::{Operator, Part, Predicate, can_not_fail, each_reference};
use jelly_base::text::{human_duration, roughly};
use serde_json::Value;
use std::time::Duration;

/// What is known of the values that an expectation is about.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'p> {
    path: &'p str,
    /// A value is there, whatever the answer.
    is_there: bool,
    of: Option<PlaceType>,
    limit: Option<Duration>,
}

impl<'p> Place<'p> {
    fn new(target: Target, path: &'p str, due: DueAnswer) -> Self {
        let (is_there, of) = match target {
            // If only an empty one.
            Target::Text
            | Target::Stderr
            | Target::Count
            | Target::ErrorMessage
            | Target::Status => (true, None),
            Target::Structured => (false, Some(PlaceType::Object)),
            Target::Json => due.place(path),
            Target::ErrorCode | Target::Duration | Target::ExitCode | Target::Header => {
                (false, None)
            }
        };
        Self {
            path,
            is_there,
            of,
            limit: due.limit,
        }
    }
}

impl<'t> Reader<'t> {
    /// Refuses operators of which none can be false; `path_in_answer` is that of what
    /// they are about, where it has one.
    pub(super) fn refuse_vacuous(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        (target, path_in_answer): (Target, &str),
        predicates: &[Predicate],
    ) {
        let due = self.names.due_answer;
        let place = Place::new(target, path_in_answer, due);
        let holds = |predicate: &Predicate| is_true_of_anything(predicate, target, place);
        if predicates.is_empty() || !predicates.iter().all(holds) {
            return;
        }
        let any = |holds: &dyn Fn(&Predicate) -> bool| predicates.iter().any(holds);
        let of_others = any(&|one| {
            one.operator == Operator::Schema && !can_not_fail(one.operator, &one.operand)
        });
        let of_presence =
            place.is_there && any(&|one| matches!(one.operator, Operator::Exists | Operator::Type));
        let of_part = any(&|one| is_part_of_any_object(one.operator, &one.operand));
        let of_limit = any(&|one| matches!(one.operator, Operator::Lt | Operator::Le));
        let (what, hint) = match target {
            Target::Json if of_presence => match due.member {
                Some(member) => (
                    "every answer has this".to_owned(),
                    format!(
                        "name what must be in it, as in `path: \"$.{member}[0]\"`, or how many: \
                         `{{ path: $.{member}, length: {{ ge: 1 }} }}`"
                    ),
                ),
                None => (
                    "every answer has this".to_owned(),
                    "name a member, as in `path: $.name`".to_owned(),
                ),
            },
            Target::Json | Target::Structured if of_others => match place.of {
                Some(PlaceType::Array) => (
                    "the schema refuses no list, and a list it is".to_owned(),
                    "what is said of its items stands under `items`, and how many there must be \
                     is `minItems`"
                        .to_owned(),
                ),
                Some(PlaceType::Object) | None => (
                    "the schema refuses no object, and an object it is".to_owned(),
                    "what is said of a list, a text or a number in it stands under `properties`, \
                     or at its own path, as in `json: [{ path: $.structuredContent.list, schema: \
                     … }]`"
                        .to_owned(),
                ),
            },
            Target::Json | Target::Structured if of_part => (
                "every object matches".to_owned(),
                "say which members it must have, as in `contains: { ok: true }`; to require only \
                 that it is an object, use `type: object`"
                    .to_owned(),
            ),
            Target::Duration if of_limit => {
                let limit = due.limit.unwrap_or_default();
                (
                    format!(
                        "a request that takes {} has timed out",
                        human_duration(limit)
                    ),
                    "give a shorter time, or the step a longer `timeout`".to_owned(),
                )
            }
            _ => {
                let (what, hint) = by_target(target);
                (what.to_owned(), hint.to_owned())
            }
        };
        self.problem(node.span, path, format!("{what}, so this tests nothing"))
            .hint(hint);
    }
}

fn by_target(target: Target) -> (&'static str, &'static str) {
    match target {
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
    }
}

/// What codes are below, and what they are not.
fn code_range(target: Target) -> Option<(f64, f64)> {
    match target {
        Target::Status => Some((100.0, 999.0)),
        Target::Count => Some((0.0, f64::INFINITY)),
        Target::Text
        | Target::Stderr
        | Target::Json
        | Target::Structured
        | Target::ErrorCode
        | Target::ErrorMessage
        | Target::Duration
        | Target::Header
        // A process that a signal ended has none.
        | Target::ExitCode => None,
    }
}

fn is_true_of_anything(predicate: &Predicate, target: Target, place: Place<'_>) -> bool {
    let operand = &predicate.operand;
    if has_references(operand) {
        // What it comes to is known when it is due.
        return false;
    }
    let operator = predicate.operator;
    match operator.operand() {
        OperandKind::Part if target.is_text() => can_not_fail(operator, operand),
        OperandKind::Part => is_part_of_any_object(operator, operand),
        OperandKind::Number => holds_of_any_number(predicate, target, place),
        OperandKind::Path => operand
            .as_str()
            .is_some_and(|other| is_same_path(place.path, other)),
        OperandKind::Flag => operand == &Value::Bool(true) && place.is_there,
        OperandKind::Types => {
            let known = place.of.filter(|_| place.is_there);
            can_not_fail(operator, operand)
                || target.is_text() && names_type(operand, "string")
                || known.is_some_and(|known| names_type(operand, known.name()))
        }
        OperandKind::JsonSchema => {
            can_not_fail(operator, operand)
                || place.of.is_some_and(|known| {
                    misses_all(operand, known) || place.is_there && takes_any(operand, Some(known))
                })
        }
        OperandKind::Value
        | OperandKind::Values
        | OperandKind::Text
        | OperandKind::Pattern
        | OperandKind::Bounds
        | OperandKind::SnapshotName => can_not_fail(operator, operand),
    }
}

/// A comparison with a number that all numbers of the target pass.
fn holds_of_any_number(predicate: &Predicate, target: Target, place: Place<'_>) -> bool {
    let Predicate {
        operator,
        operand,
        redact: _,
        at: _,
    } = predicate;
    let Some(bound) = roughly(operand) else {
        return false;
    };
    if target == Target::Duration {
        // In milliseconds. Every request takes some time.
        let limit = place.limit.map(|limit| limit.as_secs_f64() * 1000.0);
        return match operator {
            Operator::Ge | Operator::Gt => bound <= 0.0,
            _ => limit.is_some_and(|limit| bound >= limit),
        };
    }
    let Some((least, most)) = code_range(target) else {
        return false;
    };
    match operator {
        Operator::Ge => bound <= least,
        Operator::Gt => bound < least,
        Operator::Le => bound >= most || target == Target::Count && is_far(operand),
        _ => bound > most || target == Target::Count && is_far(operand),
    }
}

fn has_references(operand: &Value) -> bool {
    let mut found = false;
    each_reference(operand, &mut |part| found |= !matches!(part, Part::Text(_)));
    found
}
