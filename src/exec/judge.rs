//! An answer held against its expectations.
//!
//! Pure: what was observed and what is expected go in, mismatches come out.
//! Which of several mismatches is told first is fixed, so that the same
//! answer always gives the same failure: `duration` comes last, since it is
//! the weakest evidence.

use super::operators::{Compiled, OperandError, holds};
use super::output::{self, Adapter, Declared};
use crate::model::{Assertion, AssertionTarget, RpcError};
use crate::plan::{Expect, Location, Operator, Predicate};
use serde_json::Value;
use std::time::Duration;

/// What came back for a request that was answered.
#[derive(Debug)]
pub struct Observed<'a> {
    pub answer: Result<&'a Value, &'a RpcError>,
    pub duration: Duration,
    /// What the server wrote on stderr during the step.
    pub stderr: &'a str,
    /// The tool's declared output schema.
    pub output_schema: Option<&'a Declared>,
}

/// An expectation that did not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    pub assertion: Assertion,
    /// A sentence.
    pub message: String,
    pub at: Location,
}

/// The verdict on one answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    Passed {
        adapter: Option<&'static str>,
    },
    /// The tool said `isError: true`, and nobody expected that.
    ToolError {
        text: String,
    },
    /// A JSON-RPC error that nobody expected.
    RpcError,
    /// At least one.
    Mismatched {
        mismatches: Vec<Mismatch>,
        adapter: Option<&'static str>,
    },
    /// An expectation could not be asked; the plan's fault.
    BadOperand {
        error: OperandError,
        at: Location,
    },
}

/// Resolves an operand's variables, and a snapshot's name to its text.
pub type Resolve<'a> = &'a dyn Fn(&Predicate) -> Result<Value, OperandError>;

/// Holds `observed` against `expect`.
pub fn judge(
    expect: &Expect,
    observed: &Observed<'_>,
    resolve: Resolve<'_>,
    compiled: &mut Compiled,
) -> Judgement {
    let mut bench = Bench {
        resolve,
        compiled,
        mismatches: Vec::new(),
        bad: None,
    };
    let wants_is_error = expect.is_error.is_some_and(|flag| flag.value);
    let mut adapter: Option<Adapter> = None;
    match observed.answer {
        Err(error) => {
            let Some(wanted) = &expect.error else {
                return Judgement::RpcError;
            };
            let code = error.code.map(Value::from);
            bench.ask(
                AssertionTarget::Error,
                Some("code"),
                &wanted.code,
                code.as_ref(),
            );
            let message = Value::from(error.message.as_str());
            bench.ask(
                AssertionTarget::Error,
                Some("message"),
                &wanted.message,
                Some(&message),
            );
        }
        Ok(result) => {
            let is_error = output::is_error(result);
            if is_error && !wants_is_error && expect.error.is_none() {
                return Judgement::ToolError {
                    text: output::text_of(result),
                };
            }
            let text = Value::from(output::text_of(result));
            if let Some(flag) = expect.is_error
                && flag.value
                && !is_error
            {
                bench.add_is_error(flag.at, &text);
            }
            if let Some(wanted) = &expect.error {
                if is_error {
                    // A tool's own error has a text and no code.
                    bench.ask(AssertionTarget::Error, Some("code"), &wanted.code, None);
                    bench.ask(
                        AssertionTarget::Error,
                        Some("message"),
                        &wanted.message,
                        Some(&text),
                    );
                } else if !wants_is_error {
                    bench.add_no_error(wanted.at, &text);
                }
            }
            if let Some(schema) = observed.output_schema
                && let Some(breach) = output::breach(result, schema)
            {
                bench.add_breach(breach);
            }
            bench.ask(AssertionTarget::Text, None, &expect.text, Some(&text));
            for json in &expect.json {
                let nodes = json.path.query(result).all();
                let actual = match nodes.as_slice() {
                    [] => None,
                    [one] => Some((*one).clone()),
                    many => Some(Value::Array(many.iter().map(|v| (*v).clone()).collect())),
                };
                bench.ask(
                    AssertionTarget::Json,
                    Some(&json.raw_path),
                    &json.predicates,
                    actual.as_ref(),
                );
            }
            let found = if expect.structured.is_empty() && observed.output_schema.is_none() {
                None
            } else {
                output::structured(result, observed.output_schema)
                    .or_else(|| output::structured(result, None))
            };
            adapter = found.as_ref().map(|(_, adapter)| *adapter);
            bench.ask(
                AssertionTarget::Structured,
                None,
                &expect.structured,
                found.as_ref().map(|(value, _)| value),
            );
        }
    }
    let stderr = Value::from(observed.stderr);
    bench.ask(AssertionTarget::Stderr, None, &expect.stderr, Some(&stderr));
    let millis = Value::from(observed.duration.as_secs_f64() * 1000.0);
    bench.ask(
        AssertionTarget::Duration,
        None,
        &expect.duration,
        Some(&millis),
    );

    let adapter = adapter.map(Adapter::name);
    if let Some((error, at)) = bench.bad {
        Judgement::BadOperand { error, at }
    } else if bench.mismatches.is_empty() {
        Judgement::Passed { adapter }
    } else {
        Judgement::Mismatched {
            mismatches: bench.mismatches,
            adapter,
        }
    }
}

/// Collects what does not hold.
struct Bench<'a> {
    resolve: Resolve<'a>,
    compiled: &'a mut Compiled,
    mismatches: Vec<Mismatch>,
    bad: Option<(OperandError, Location)>,
}

impl Bench<'_> {
    fn ask(
        &mut self,
        target: AssertionTarget,
        path: Option<&str>,
        predicates: &[Predicate],
        actual: Option<&Value>,
    ) {
        for predicate in predicates {
            let verdict = (self.resolve)(predicate).and_then(|operand| {
                let holds = holds(predicate.operator, &operand, actual, self.compiled)?;
                Ok((holds, operand))
            });
            match verdict {
                Ok((true, _)) => {}
                Ok((false, operand)) => {
                    let message = describe(target, path, predicate.operator, &operand, actual);
                    self.mismatches.push(Mismatch {
                        assertion: Assertion {
                            kind: predicate.operator.name().to_owned(),
                            target: Some(target),
                            path: path.map(str::to_owned),
                            expected: operand,
                            actual: actual.cloned().unwrap_or(Value::Null),
                            at: None,
                        },
                        message,
                        at: predicate.at,
                    });
                }
                Err(error) => {
                    self.bad.get_or_insert((error, predicate.at));
                }
            }
        }
    }

    fn add_is_error(&mut self, at: Location, text: &Value) {
        self.mismatches.push(Mismatch {
            assertion: Assertion {
                kind: Operator::Equals.name().to_owned(),
                target: Some(AssertionTarget::IsError),
                path: None,
                expected: Value::Bool(true),
                actual: Value::Bool(false),
                at: None,
            },
            message: format!(
                "expected the tool to answer with an error, and it answered {}",
                shown(Some(text))
            ),
            at,
        });
    }

    fn add_no_error(&mut self, at: Location, text: &Value) {
        self.mismatches.push(Mismatch {
            assertion: Assertion {
                kind: Operator::Exists.name().to_owned(),
                target: Some(AssertionTarget::Error),
                path: None,
                expected: Value::Bool(true),
                actual: text.clone(),
                at: None,
            },
            message: format!("expected an error, and the answer is {}", shown(Some(text))),
            at,
        });
    }

    fn add_breach(&mut self, breach: output::Breach) {
        let place = if breach.pointer.is_empty() {
            String::new()
        } else {
            format!(" at {}", breach.pointer)
        };
        self.mismatches.push(Mismatch {
            message: format!(
                "the result breaks the tool's own output schema{place}: {}",
                breach.reason
            ),
            assertion: Assertion {
                kind: "output_schema".to_owned(),
                target: Some(AssertionTarget::OutputSchema),
                path: Some(breach.pointer),
                expected: Value::String(breach.reason),
                actual: breach.actual,
                at: None,
            },
            at: Location::default(),
        });
    }
}

/// What was expected of what, and what came, with types where they differ.
fn describe(
    target: AssertionTarget,
    path: Option<&str>,
    operator: Operator,
    operand: &Value,
    actual: Option<&Value>,
) -> String {
    let what = match target {
        AssertionTarget::Text => "the text".to_owned(),
        AssertionTarget::Json => path.unwrap_or("$").to_owned(),
        AssertionTarget::Structured => "the structured output".to_owned(),
        AssertionTarget::Error => format!("the error's {}", path.unwrap_or("message")),
        AssertionTarget::IsError => "isError".to_owned(),
        AssertionTarget::Duration => "the duration in ms".to_owned(),
        AssertionTarget::Stderr => "stderr".to_owned(),
        AssertionTarget::OutputSchema => "the output".to_owned(),
    };
    let relation = match operator {
        Operator::Equals => "to equal",
        Operator::NotEquals => "not to equal",
        Operator::Contains => "to contain",
        Operator::NotContains => "not to contain",
        Operator::Matches => "to match",
        Operator::StartsWith => "to start with",
        Operator::EndsWith => "to end with",
        Operator::OneOf => "to be one of",
        Operator::Gt => "to be greater than",
        Operator::Ge => "to be at least",
        Operator::Lt => "to be less than",
        Operator::Le => "to be at most",
        Operator::Exists if operand == &Value::Bool(false) => "not to exist, wanted",
        Operator::Exists => "to exist, wanted",
        Operator::Type => "to be of type",
        Operator::Length => "to have the length",
        Operator::Schema => "to fit the schema",
        Operator::Snapshot => "to equal the snapshot",
    };
    format!(
        "expected {what} {relation} {}, got {}",
        shown(Some(operand)),
        shown(actual)
    )
}

/// A value as a message shows it, with its type where that helps.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) => crate::text::truncate(&value.to_string(), 300).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Judgement, Observed, judge};
    use crate::exec::operators::Compiled;
    use crate::exec::output::Declared;
    use crate::model::{AssertionTarget, RpcError};
    use crate::plan::{ErrorExpect, Expect, Flag, JsonExpect, Location, Operator, Predicate};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn predicate(operator: Operator, operand: Value) -> Predicate {
        Predicate {
            operator,
            operand,
            at: Location::default(),
        }
    }

    fn run(
        expect: &Expect,
        answer: Result<&Value, &RpcError>,
        schema: Option<&Declared>,
    ) -> Judgement {
        let observed = Observed {
            answer,
            duration: Duration::from_millis(40),
            stderr: "warn: low\n",
            output_schema: schema,
        };
        let resolve = |p: &Predicate| Ok(p.operand.clone());
        judge(expect, &observed, &resolve, &mut Compiled::default())
    }

    fn targets(judgement: &Judgement) -> Vec<Option<AssertionTarget>> {
        match judgement {
            Judgement::Mismatched { mismatches, .. } => {
                mismatches.iter().map(|m| m.assertion.target).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_expectations_an_error_still_fails() {
        let none = Expect::default();
        let good = json!({"content": [{"type": "text", "text": "hi"}]});
        assert_eq!(
            run(&none, Ok(&good), None),
            Judgement::Passed { adapter: None }
        );
        let bad = json!({"isError": true, "content": [{"type": "text", "text": "no"}]});
        assert_eq!(
            run(&none, Ok(&bad), None),
            Judgement::ToolError { text: "no".into() }
        );
        let rpc = RpcError {
            code: Some(-32602),
            message: "no".into(),
            data: None,
        };
        assert_eq!(run(&none, Err(&rpc), None), Judgement::RpcError);
        let schema = Declared::new(json!({"type": "object", "required": ["n"]}));
        assert_eq!(
            targets(&run(&none, Ok(&good), Some(&schema))),
            [Some(AssertionTarget::OutputSchema)]
        );
    }

    #[test]
    fn an_expected_error_may_come_from_the_protocol_or_from_the_tool() {
        let expect = Expect {
            error: Some(ErrorExpect {
                message: vec![predicate(Operator::Contains, json!("not found"))],
                ..ErrorExpect::default()
            }),
            ..Expect::default()
        };
        let rpc = RpcError {
            code: Some(-32602),
            message: "tool not found".into(),
            data: None,
        };
        assert_eq!(
            run(&expect, Err(&rpc), None),
            Judgement::Passed { adapter: None }
        );
        let tool = json!({"isError": true, "content": [{"type": "text", "text": "x not found"}]});
        assert_eq!(
            run(&expect, Ok(&tool), None),
            Judgement::Passed { adapter: None }
        );
        let good = json!({"content": []});
        assert_eq!(
            targets(&run(&expect, Ok(&good), None)),
            [Some(AssertionTarget::Error)]
        );
        let coded = Expect {
            error: Some(ErrorExpect {
                code: vec![predicate(Operator::Equals, json!(-32602))],
                ..ErrorExpect::default()
            }),
            ..Expect::default()
        };
        assert_eq!(
            run(&coded, Err(&rpc), None),
            Judgement::Passed { adapter: None }
        );
        assert_eq!(
            targets(&run(&coded, Ok(&tool), None)),
            [Some(AssertionTarget::Error)]
        );
    }

    #[test]
    fn is_error_true_wants_the_tools_own_error() {
        let expect = Expect {
            is_error: Some(Flag {
                value: true,
                at: Location::default(),
            }),
            ..Expect::default()
        };
        let tool = json!({"isError": true, "content": []});
        assert_eq!(
            run(&expect, Ok(&tool), None),
            Judgement::Passed { adapter: None }
        );
        let good = json!({"content": []});
        assert_eq!(
            targets(&run(&expect, Ok(&good), None)),
            [Some(AssertionTarget::IsError)]
        );
        let rpc = RpcError {
            code: Some(-32602),
            message: "no".into(),
            data: None,
        };
        assert_eq!(run(&expect, Err(&rpc), None), Judgement::RpcError);
    }

    #[test]
    fn every_target_is_looked_at_and_duration_comes_last() {
        let at = Location { line: 3, column: 7 };
        let expect = Expect {
            is_error: None,
            text: vec![predicate(Operator::Equals, json!("x"))],
            json: vec![JsonExpect {
                path: serde_json_path::JsonPath::parse("$.content[*].text").unwrap(),
                raw_path: "$.content[*].text".into(),
                predicates: vec![Predicate {
                    at,
                    ..predicate(Operator::Length, json!(1))
                }],
                at,
            }],
            structured: vec![predicate(Operator::Exists, json!(true))],
            error: None,
            duration: vec![predicate(Operator::Lt, json!(10))],
            stderr: vec![predicate(Operator::NotContains, json!("warn"))],
        };
        let answer =
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        let verdict = run(&expect, Ok(&answer), None);
        assert_eq!(
            targets(&verdict),
            [
                Some(AssertionTarget::Text),
                Some(AssertionTarget::Json),
                Some(AssertionTarget::Structured),
                Some(AssertionTarget::Stderr),
                Some(AssertionTarget::Duration),
            ]
        );
        let Judgement::Mismatched { mismatches, .. } = verdict else {
            unreachable!()
        };
        assert_eq!(
            mismatches[0].message,
            r#"expected the text to equal "x", got "a\nb""#
        );
        assert_eq!(mismatches[1].at, at);
        assert_eq!(mismatches[1].assertion.actual, json!(["a", "b"]));
    }

    #[test]
    fn an_operand_that_cannot_be_asked_is_the_plans_fault() {
        let expect = Expect {
            text: vec![predicate(Operator::Matches, json!("("))],
            ..Expect::default()
        };
        let answer = json!({"content": []});
        assert!(matches!(
            run(&expect, Ok(&answer), None),
            Judgement::BadOperand { .. }
        ));
    }

    #[test]
    fn the_rung_of_the_ladder_is_told() {
        let expect = Expect {
            structured: vec![predicate(Operator::Contains, json!({"n": 2}))],
            ..Expect::default()
        };
        let text = json!({"content": [{"type": "text", "text": "{\"n\":2}"}]});
        assert_eq!(
            run(&expect, Ok(&text), None),
            Judgement::Passed {
                adapter: Some("json_text")
            }
        );
    }
}
