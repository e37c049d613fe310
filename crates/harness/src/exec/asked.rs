//! What a server asked of its client, held against what the plan expects of
//! that.

use super::judge::{Judge, Mismatch};
use super::script::{AnsweredBy, Questions};
use jelly_base::model::{AssertionTarget, OwnLimit};
use jelly_plan::{Answer, Location};
use serde_json::Value;

/// Holds what was asked while a step ran against the answers of the step and
/// of its server; `judge` takes what does not hold, in the order in which it
/// was asked.
pub(super) fn judge_asked(
    judge: &mut Judge<'_>,
    questions: &Questions,
    own: &[Answer],
    server: &[Answer],
) {
    for asked in &questions.asked {
        let answer = match asked.by {
            AnsweredBy::Step(index) => own.get(index),
            AnsweredBy::Server(index) => server.get(index),
            AnsweredBy::Nobody => None,
        };
        let Some(answer) = answer.filter(|answer| !answer.expect.is_empty()) else {
            continue;
        };
        match &asked.params {
            Some(params) => {
                judge.ask_json(AssertionTarget::Asked, &answer.expect, Some(params));
            }
            None => judge.add(beyond_limit(
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
    if let (true, Some(answer)) = (questions.more, expecting) {
        judge.add(beyond_limit(
            format!(
                "the server asked for more than {} things, too many to be held against what is \
                 expected of them",
                questions.asked.len()
            ),
            "questions that can be kept",
            "more",
            answer.at,
        ));
    }
    let missing = questions.unused.iter().filter_map(|index| own.get(*index));
    for answer in missing.filter(|answer| !answer.optional) {
        judge.add(never_asked(questions, answer));
    }
}

/// What jelly did not keep would have told.
fn beyond_limit(message: String, expected: &str, actual: &str, at: Location) -> Mismatch {
    let mut mismatch = mismatch(message, expected, actual, at);
    mismatch.assertion.own_limit = Some(OwnLimit::Questions);
    mismatch
}

fn never_asked(questions: &Questions, answer: &Answer) -> Mismatch {
    let mut methods: Vec<&str> = questions.asked.iter().map(|a| a.method.as_str()).collect();
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
    let compared = (Value::from(expected), Value::from(actual));
    Mismatch::new("asked", AssertionTarget::Asked, compared, message, at)
}
