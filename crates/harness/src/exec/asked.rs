//! What a server asked of its client, held against what the plan expects of
//! that.

use super::judge::{Bench, Mismatch};
use super::script::{By, Told};
use jelly_base::model::{Assertion, AssertionTarget, OwnLimit};
use jelly_plan::{Answer, Location};
use serde_json::Value;

/// Holds what was asked while a step ran against the answers of the step and
/// of its server; `bench` takes what does not hold, in the order in which it
/// was asked.
pub(super) fn judge_asked(bench: &mut Bench<'_>, told: &Told, own: &[Answer], server: &[Answer]) {
    for asked in &told.asked {
        let answer = match asked.by {
            By::Step(index) => own.get(index),
            By::Server(index) => server.get(index),
            By::Nobody => None,
        };
        let Some(answer) = answer.filter(|answer| !answer.expect.is_empty()) else {
            continue;
        };
        match &asked.params {
            Some(params) => {
                bench.ask_json(AssertionTarget::Asked, &answer.expect, Some(params));
            }
            None => bench.mismatches.push(untold(
                format!(
                    "what `{}` asked for is too long to be held against what is expected of it",
                    asked.method
                ),
                "params that can be kept",
                "more than 4 MiB",
                answer.at,
            )),
        }
    }
    let expecting = own.iter().chain(server).find(|a| !a.expect.is_empty());
    if let (true, Some(answer)) = (told.more, expecting) {
        bench.mismatches.push(untold(
            format!(
                "the server asked for more than {} things, too many to be held against what is \
                 expected of them",
                told.asked.len()
            ),
            "questions that can be kept",
            "more",
            answer.at,
        ));
    }
    let missing = told.unused.iter().filter_map(|index| own.get(*index));
    for answer in missing.filter(|answer| !answer.optional) {
        bench.mismatches.push(never_asked(told, answer));
    }
}

/// What jelly did not keep would have told.
fn untold(message: String, expected: &str, actual: &str, at: Location) -> Mismatch {
    let mut mismatch = mismatch(message, expected, actual, at);
    mismatch.assertion.own_limit = Some(OwnLimit::Questions);
    mismatch
}

fn never_asked(told: &Told, answer: &Answer) -> Mismatch {
    let mut methods: Vec<&str> = told.asked.iter().map(|a| a.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    let method = &answer.method;
    let again = if methods.contains(&method.as_str()) {
        " so often"
    } else {
        ""
    };
    let others = match methods.as_slice() {
        [] => "nothing was asked".to_owned(),
        methods => format!("it asked for `{}`", methods.join("`, `")),
    };
    mismatch(
        format!("expected the server to ask for `{method}`{again}, and {others}"),
        method,
        &methods.join(", "),
        answer.at,
    )
}

fn mismatch(message: String, expected: &str, actual: &str, at: Location) -> Mismatch {
    Mismatch {
        message,
        assertion: Assertion {
            kind: "asked".to_owned(),
            target: Some(AssertionTarget::Asked),
            path: None,
            expected: Value::from(expected),
            actual: Value::from(actual),
            ..Assertion::default()
        },
        at,
    }
}
