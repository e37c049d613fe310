//! What the client answers while a step runs, and what it was asked.
//!
//! Main type: [`Script`]. The connection asks it from a task of its own; it
//! knows of plans, the connection does not.

use super::misfit::{Misfit, misfit};
use jelly_base::model::RpcError;
use jelly_plan::{Answer, BoundedSchema, Give, Scope, Unresolved, resolve_json};
use jelly_wire::{Ask, Given, Responder, accept_defaults};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many questions of one step are kept.
const ASKED: usize = 100;
/// Bytes of their params as JSON, all together.
const ASKED_BYTES: usize = 4 * 1024 * 1024;
/// So many methods that were refused are named.
const REFUSED: usize = 20;

/// An answer with values in the place of names.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedAnswer {
    method: String,
    /// None to accept the defaults of what is asked.
    given: Option<Given>,
}

impl PreparedAnswer {
    /// Whether the answer is an error, which no modern server can be given.
    pub fn is_error(&self) -> bool {
        matches!(self.given, Some(Err(_)))
    }

    fn give(&self, ask: &Ask<'_>) -> Given {
        match &self.given {
            Some(given) => given.clone(),
            None => Ok(accept_defaults(ask.params)),
        }
    }
}

/// Puts values in the place of names.
///
/// # Errors
/// The first name without a value.
pub fn prepare_answers(
    answers: &[Answer],
    scope: &Scope,
    server: &str,
) -> Result<Vec<PreparedAnswer>, Unresolved> {
    let prepared = |answer: &Answer| {
        let given = match &answer.give {
            Give::Result(value) => Some(Ok(resolve_json(value, scope, server)?)),
            Give::Error(value) => Some(Err(error(&resolve_json(value, scope, server)?))),
            Give::AcceptDefaults => None,
        };
        Ok(PreparedAnswer {
            method: answer.method.clone(),
            given,
        })
    };
    answers.iter().map(prepared).collect()
}

fn error(value: &Value) -> RpcError {
    let message = value.get("message").and_then(Value::as_str);
    RpcError {
        code: value.get("code").and_then(Value::as_i64),
        message: message.unwrap_or_default().to_owned(),
        data: value.get("data").cloned(),
    }
}

/// Whose answer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// The step's, by its place there.
    Step(usize),
    Server(usize),
    /// There was none.
    Nobody,
}

/// One question of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub method: String,
    /// None where it was too much to be kept.
    pub params: Option<Value>,
    pub by: AnsweredBy,
}

/// What was asked while one step ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Questions {
    pub asked: Vec<Asked>,
    /// The places of the step's answers that nobody asked for.
    pub unused: Vec<usize>,
    /// More was asked than is kept.
    pub more: bool,
}

impl Questions {
    /// The methods that were refused, each once.
    pub fn refused(&self) -> BTreeSet<&str> {
        let refused = self
            .asked
            .iter()
            .filter(|asked| asked.by == AnsweredBy::Nobody);
        refused.map(|asked| asked.method.as_str()).collect()
    }
}

/// The answers of one server, and of the step that runs on it.
#[derive(Clone, Default)]
pub struct Script(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    server: Vec<PreparedAnswer>,
    step: Vec<(PreparedAnswer, bool)>,
    asked: Vec<Asked>,
    bytes: usize,
    more: bool,
    /// Refused since they were last looked at, between steps too.
    refused: BTreeSet<String>,
    /// The method, and where an answer of the plan first broke the schema that was asked for.
    misanswered: Option<(String, Misfit)>,
}

impl Script {
    pub fn new(server: Vec<PreparedAnswer>) -> Self {
        Self(Arc::new(Mutex::new(State {
            server,
            ..State::default()
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in it depends on anything else in it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step begins, with these answers of its own.
    pub fn begin(&self, step: Vec<PreparedAnswer>) {
        let mut state = self.state();
        state.step = step.into_iter().map(|prepared| (prepared, false)).collect();
        state.asked.clear();
        state.bytes = 0;
        state.more = false;
    }

    /// The step is over: what was asked meanwhile.
    pub fn finish(&self) -> Questions {
        let mut state = self.state();
        let step = std::mem::take(&mut state.step);
        let unused = step.iter().enumerate().filter(|(_, (_, used))| !used);
        Questions {
            asked: std::mem::take(&mut state.asked),
            unused: unused.map(|(index, _)| index).collect(),
            more: state.more,
        }
    }

    /// What was answered with what the server did not ask for, since this was last called.
    pub fn take_misanswered(&self) -> Option<(String, Misfit)> {
        self.state().misanswered.take()
    }

    /// The methods that were refused since this was last called.
    pub fn take_refused(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.state().refused)
    }
}

impl Responder for Script {
    fn prepared(&self) -> usize {
        self.state().step.len()
    }

    fn answer(&self, ask: &Ask<'_>) -> Option<Given> {
        if ask.method == "ping" {
            return None;
        }
        let mut state = self.state();
        let own = state
            .step
            .iter_mut()
            .enumerate()
            .find(|(_, (prepared, used))| !used && prepared.method == ask.method);
        let (by, given) = match own {
            Some((index, (prepared, used))) => {
                *used = true;
                (AnsweredBy::Step(index), Some(prepared.give(ask)))
            }
            None => match state.server.iter().position(|s| s.method == ask.method) {
                Some(index) => (
                    AnsweredBy::Server(index),
                    Some(state.server[index].give(ask)),
                ),
                None => (AnsweredBy::Nobody, None),
            },
        };
        if let Some(Ok(result)) = &given
            && state.misanswered.is_none()
        {
            let broken = broken_form(ask, result);
            state.misanswered = broken.map(|broken| (ask.method.to_owned(), broken));
        }
        if by == AnsweredBy::Nobody && state.refused.len() < REFUSED {
            state.refused.insert(ask.method.to_owned());
        }
        if state.asked.len() < ASKED {
            let bytes = ask.params.to_string().len();
            let fits = state.bytes + bytes <= ASKED_BYTES;
            if fits {
                state.bytes += bytes;
            }
            state.asked.push(Asked {
                method: ask.method.to_owned(),
                params: fits.then(|| ask.params.clone()),
                by,
            });
        } else {
            state.more = true;
        }
        given
    }
}

/// Where what an elicitation accepts breaks the schema that came with it (2025-06-18, client
/// features, elicitation: the content must fit `requestedSchema`).
fn broken_form(ask: &Ask<'_>, result: &Value) -> Option<Misfit> {
    let accepts = result.get("action").and_then(Value::as_str) == Some("accept");
    let schema = ask.params.get("requestedSchema").filter(|_| accepts)?;
    let schema = BoundedSchema::compile(schema).ok()?;
    let nothing = Value::Object(serde_json::Map::new());
    misfit(&schema, result.get("content").unwrap_or(&nothing)).ok()?
}

#[cfg(test)]
mod tests {
    use super::{AnsweredBy, PreparedAnswer, Script};
    use jelly_wire::{Ask, Responder};
    use serde_json::{Value, json};

    fn prepared(method: &str, result: Value) -> PreparedAnswer {
        PreparedAnswer {
            method: method.to_owned(),
            given: Some(Ok(result)),
        }
    }

    fn ask(script: &Script, method: &str) -> Option<Value> {
        let params = json!({"n": 1});
        let ask = Ask {
            method,
            params: &params,
        };
        script.answer(&ask).map(Result::unwrap)
    }

    #[test]
    fn answers_of_a_step_are_used_once_and_in_order_and_then_those_of_its_server() {
        let script = Script::new(vec![prepared("a", json!(0))]);
        let own = [("a", 1), ("b", 2), ("a", 3), ("c", 4)];
        script.begin(
            own.map(|(method, result)| prepared(method, json!(result)))
                .into(),
        );
        for (method, result) in [("a", 1), ("a", 3), ("a", 0), ("b", 2)] {
            assert_eq!(ask(&script, method), Some(json!(result)));
        }
        assert_eq!(ask(&script, "d"), None);
        let questions = script.finish();
        assert_eq!(questions.unused, [3]);
        assert!(!questions.more);
        let by: Vec<AnsweredBy> = questions.asked.iter().map(|asked| asked.by).collect();
        let (step, server) = (AnsweredBy::Step, AnsweredBy::Server);
        assert_eq!(
            by,
            [step(0), step(2), server(0), step(1), AnsweredBy::Nobody]
        );
        assert_eq!(questions.refused().into_iter().collect::<Vec<_>>(), ["d"]);
        // The next step starts anew.
        script.begin(Vec::new());
        assert_eq!(ask(&script, "b"), None);
        assert_eq!(script.finish().asked.len(), 1);
    }

    #[test]
    fn what_is_kept_of_many_questions_is_bounded() {
        let script = Script::new(Vec::new());
        script.begin(Vec::new());
        let huge = Value::from("x".repeat(3 << 20));
        for n in 0..200 {
            let method = format!("m/{n}");
            let ask = Ask {
                method: &method,
                params: &huge,
            };
            assert_eq!(script.answer(&ask), None);
        }
        let questions = script.finish();
        assert_eq!(questions.asked.len(), 100);
        assert!(questions.more);
        let kept = questions
            .asked
            .iter()
            .filter(|a| a.params.is_some())
            .count();
        assert_eq!(kept, 1);
        assert_eq!(script.take_refused().len(), 20);
        assert!(script.take_refused().is_empty());
    }

    #[test]
    fn a_ping_is_not_the_plans_affair() {
        let script = Script::new(Vec::new());
        script.begin(Vec::new());
        assert_eq!(ask(&script, "ping"), None);
        assert!(script.finish().asked.is_empty());
        assert!(script.take_refused().is_empty());
    }
}
