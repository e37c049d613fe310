//! An answer held against its expectations.
//!
//! Pure: what was observed and what is expected go in, mismatches come out.
//! Every mismatch is kept. Their order is fixed, so that the same answer
//! always gives the same failures: `duration` comes last, since it is the
//! weakest evidence.

use super::clean::Cleaner;
use super::declared::{self, Declared};
use super::ladder::{Footing, climb, own_structure};
use super::misfit::{Misfit, misfit};
use super::nearest::nearest;
use super::operators::{Compiled, OperandError, holds};
use super::output;
use super::phrase::{relation, subject};
use super::volatile::{idle, settled};
use jelly_base::model::{Assertion, AssertionTarget, RpcError, Rung};
use jelly_plan::{ErrorExpect, Expect, JsonExpect, Location, Operator, Predicate, can_not_fail};
use jelly_process::Said;
use serde_json::Value;
use std::time::Duration;

/// What came back for a request that was answered.
#[derive(Debug)]
pub struct Observed<'a> {
    pub answer: Result<&'a Value, &'a RpcError>,
    pub duration: Duration,
    /// What the server wrote on stderr during the step.
    pub stderr: &'a Said,
    /// The tool's declared output schema.
    pub output_schema: Option<&'a Declared>,
    /// JSON in the text keeps a declared output schema too: see
    /// [`output::breach`].
    pub text_will_do: bool,
    /// By what a structured output is had.
    pub footing: Footing<'a>,
    /// What messages quote goes through this, and so does what is held
    /// against a snapshot, since a snapshot outlives the iteration.
    pub cleaner: &'a Cleaner,
}

/// What a snapshot would have to say for the answer to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotProposal {
    pub name: String,
    pub text: String,
    /// Paths and patterns of its `redact` that find nothing.
    pub idle: Vec<String>,
    /// Where the plan names the snapshot.
    pub at: Location,
}

impl SnapshotProposal {
    /// Whether it is about what this mismatch compared.
    pub fn belongs_to(&self, mismatch: &Mismatch) -> bool {
        mismatch.assertion.kind == Operator::Snapshot.name() && mismatch.at == self.at
    }
}

/// An expectation that did not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    pub assertion: Assertion,
    /// A sentence.
    pub message: String,
    pub at: Location,
}

impl Mismatch {
    /// Adds what came instead, where a path selects nothing in it, and the
    /// nearest path that selects something.
    pub fn tell_nearest(&mut self, path: &str, value: &Value, cleaner: &Cleaner) {
        let answer = cleaner.quote_value(value);
        self.message.push_str(&format!(", in {answer}"));
        if let Some(nearest) = nearest(path, value) {
            let shown = cleaner.quote(&nearest.to_string());
            self.message.push_str(&format!("; nearest: {shown}"));
            self.assertion.nearest = Some(nearest.path);
        }
    }
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
        proposals: Vec<SnapshotProposal>,
    },
    /// An expectation could not be asked; the plan's fault.
    BadOperand {
        error: OperandError,
        at: Location,
        proposals: Vec<SnapshotProposal>,
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
    let mut bench = Bench::new(resolve, compiled, observed.cleaner);
    let adapter = match observed.answer {
        Err(error) => {
            let Some(wanted) = &expect.error else {
                return Judgement::RpcError;
            };
            bench.ask_rpc_error(expect, wanted, error);
            None
        }
        Ok(result) => {
            let wanted = expect.is_error.is_some_and(|flag| flag.value) || expect.error.is_some();
            if declared::is_error(result) && !wanted {
                return Judgement::ToolError {
                    text: declared::text_of(result),
                };
            }
            bench.ask_result(expect, result, observed)
        }
    };
    bench.ask_stderr(&expect.stderr, observed.stderr);
    let millis = Value::from(observed.duration.as_secs_f64() * 1000.0);
    bench.ask(
        AssertionTarget::Duration,
        None,
        &expect.duration,
        Some(&millis),
    );
    bench.verdict(adapter.map(Rung::name))
}

/// Collects what does not hold.
pub(super) struct Bench<'a> {
    pub(super) resolve: Resolve<'a>,
    pub(super) compiled: &'a mut Compiled,
    pub(super) cleaner: &'a Cleaner,
    pub(super) mismatches: Vec<Mismatch>,
    proposals: Vec<SnapshotProposal>,
    pub(super) bad: Option<(OperandError, Location)>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        resolve: Resolve<'a>,
        compiled: &'a mut Compiled,
        cleaner: &'a Cleaner,
    ) -> Self {
        Self {
            resolve,
            compiled,
            cleaner,
            mismatches: Vec::new(),
            proposals: Vec::new(),
            bad: None,
        }
    }

    /// Asks what stands at each path of `value`, if there is a value.
    pub(super) fn ask_json(
        &mut self,
        target: AssertionTarget,
        expects: &[JsonExpect],
        value: Option<&Value>,
    ) {
        for json in expects {
            let actual = value.and_then(|value| {
                let nodes = json.path.query(value).all();
                match nodes.as_slice() {
                    [] => None,
                    [one] => Some((*one).clone()),
                    many => Some(Value::Array(many.iter().map(|v| (*v).clone()).collect())),
                }
            });
            let path = Some(json.raw_path.as_str());
            let before = self.mismatches.len();
            self.ask(target, path, &json.predicates, actual.as_ref());
            if let (None, Some(value)) = (&actual, value) {
                for mismatch in &mut self.mismatches[before..] {
                    mismatch.tell_nearest(&json.raw_path, value, self.cleaner);
                }
            }
        }
    }

    /// A JSON-RPC error, where an error is wanted. It has no text and no
    /// structure, so what is expected of these does not hold.
    fn ask_rpc_error(&mut self, expect: &Expect, wanted: &ErrorExpect, error: &RpcError) {
        let code = error.code.map(Value::from);
        let message = Value::from(error.message.as_str());
        self.ask(
            AssertionTarget::Error,
            Some("code"),
            &wanted.code,
            code.as_ref(),
        );
        self.ask(
            AssertionTarget::Error,
            Some("message"),
            &wanted.message,
            Some(&message),
        );
        if let Some(flag) = expect.is_error
            && flag.value
        {
            self.add_is_error(flag.at, "a JSON-RPC error instead:", &message);
        }
        let before = self.mismatches.len();
        self.ask(AssertionTarget::Text, None, &expect.text, None);
        self.ask_json(AssertionTarget::Json, &expect.json, None);
        self.ask(AssertionTarget::Structured, None, &expect.structured, None);
        let code = error
            .code
            .map(|code| format!(" {code}"))
            .unwrap_or_default();
        let came = self.cleaner.quote(&error.message);
        for mismatch in &mut self.mismatches[before..] {
            let told = format!("; what came is the JSON-RPC error{code}: {came}");
            mismatch.message.push_str(&told);
        }
    }

    /// A result, be it `isError` or not.
    fn ask_result(
        &mut self,
        expect: &Expect,
        result: &Value,
        observed: &Observed<'_>,
    ) -> Option<Rung> {
        let is_error = declared::is_error(result);
        let wants_is_error = expect.is_error.is_some_and(|flag| flag.value);
        let text = Value::from(declared::text_of(result));
        if let Some(flag) = expect.is_error
            && flag.value
            && !is_error
        {
            self.add_is_error(flag.at, "", &text);
        }
        if let Some(wanted) = &expect.error {
            if is_error {
                // A tool's own error has a text and no code.
                self.ask(AssertionTarget::Error, Some("code"), &wanted.code, None);
                self.ask(
                    AssertionTarget::Error,
                    Some("message"),
                    &wanted.message,
                    Some(&text),
                );
            } else if !wants_is_error {
                self.add_no_error(wanted.at, &text);
            }
        }
        if let Some(schema) = observed.output_schema {
            match output::breach(result, schema, observed.text_will_do) {
                Ok(Some(breach)) => self.add_breach(breach),
                Ok(None) => {}
                Err(why) => {
                    let schema = "the tool's own output schema".to_owned();
                    let error = OperandError::TooComplex { schema, why };
                    self.bad.get_or_insert((error, Location::default()));
                }
            }
        }
        self.ask(AssertionTarget::Text, None, &expect.text, Some(&text));
        self.ask_json(AssertionTarget::Json, &expect.json, Some(result));
        let footing = observed.footing;
        if expect.structured.is_empty() && footing.schema.is_none() {
            return None;
        }
        let (value, rung) = climb(result, footing).unzip();
        // An error is never adapted; what it brings itself may be asked about.
        let value = value.or_else(|| own_structure(result, footing.schema).cloned());
        let structured = &expect.structured;
        let before = self.mismatches.len();
        self.ask(
            AssertionTarget::Structured,
            None,
            structured,
            value.as_ref(),
        );
        if rung == Some(Rung::Generic) || footing.store_unread {
            for mismatch in &mut self.mismatches[before..] {
                mismatch.assertion.made_by_jelly = true;
            }
        }
        if value.is_none() {
            for mismatch in &mut self.mismatches[before..] {
                mismatch.tell_nearest("$.structuredContent", result, self.cleaner);
            }
        }
        rung
    }

    pub(super) fn verdict(self, adapter: Option<&'static str>) -> Judgement {
        if let Some((error, at)) = self.bad {
            Judgement::BadOperand {
                error,
                at,
                proposals: self.proposals,
            }
        } else if self.mismatches.is_empty() {
            Judgement::Passed { adapter }
        } else {
            Judgement::Mismatched {
                mismatches: self.mismatches,
                adapter,
                proposals: self.proposals,
            }
        }
    }

    /// Asks each predicate.
    pub(super) fn ask(
        &mut self,
        target: AssertionTarget,
        path: Option<&str>,
        predicates: &[Predicate],
        actual: Option<&Value>,
    ) {
        for predicate in predicates {
            if predicate.operator == Operator::Snapshot {
                self.compare(target, path, predicate, actual);
                continue;
            }
            let verdict = (self.resolve)(predicate).and_then(|operand| {
                // The loader has refused what is so as it is written.
                if operand != predicate.operand && can_not_fail(predicate.operator, &operand) {
                    return Err(OperandError::Vacuous {
                        operator: predicate.operator.name(),
                        operand: self.cleaner.quote_value(&operand),
                    });
                }
                let holds = holds(predicate.operator, &operand, actual, self.compiled)?;
                Ok((holds, operand))
            });
            match verdict {
                Ok((true, _)) => {}
                Ok((false, operand)) => match self.misfit_of(predicate, &operand, actual) {
                    Some(misfit) => self.add_misfit((target, path), predicate, misfit),
                    None => {
                        let expected = self.cleaner.quote_value(&operand);
                        self.add(target, path, predicate, (operand, expected), actual);
                    }
                },
                Err(error) => {
                    self.bad.get_or_insert((error, predicate.at));
                }
            }
        }
    }

    /// Where a value breaks a schema of the plan.
    fn misfit_of(
        &mut self,
        predicate: &Predicate,
        schema: &Value,
        actual: Option<&Value>,
    ) -> Option<Misfit> {
        if predicate.operator != Operator::Schema {
            return None;
        }
        let schema = self.compiled.schema(schema).ok()?;
        // Where that takes too much, the value is told as a whole.
        misfit(&schema, actual?).ok()?
    }

    /// Holds a value against a stored text, and keeps what would have to be
    /// stored where they differ.
    fn compare(
        &mut self,
        target: AssertionTarget,
        path: Option<&str>,
        predicate: &Predicate,
        actual: Option<&Value>,
    ) {
        let name = predicate.operand.as_str().unwrap_or_default().to_owned();
        let raw = actual;
        let actual = actual.map(|value| {
            let text = settled(value, &predicate.redact);
            Value::from(self.cleaner.portable(&self.cleaner.text(&text)))
        });
        let verdict = (self.resolve)(predicate).and_then(|stored| {
            // It may have been stored before the folder was named.
            let stored = match stored {
                Value::String(text) => Value::from(self.cleaner.portable(&text)),
                other => other,
            };
            let same = holds(predicate.operator, &stored, actual.as_ref(), self.compiled)?;
            Ok((same, stored))
        });
        if let (Ok((false, _)) | Err(_), Some(Value::String(text))) = (&verdict, &actual) {
            let text = text.clone();
            self.proposals.push(SnapshotProposal {
                name: name.clone(),
                text,
                idle: raw.map_or_else(Vec::new, |value| idle(value, &predicate.redact)),
                at: predicate.at,
            });
        }
        match verdict {
            Ok((true, _)) => {}
            Ok((false, stored)) => {
                let expected = format!("`{name}`");
                let wanted = (stored, expected);
                self.add(target, path, predicate, wanted, actual.as_ref());
            }
            Err(error) => {
                self.bad.get_or_insert((error, predicate.at));
            }
        }
    }

    /// A predicate that does not hold; `wanted` is the operand, and how a
    /// message shows it.
    fn add(
        &mut self,
        target: AssertionTarget,
        path: Option<&str>,
        predicate: &Predicate,
        wanted: (Value, String),
        actual: Option<&Value>,
    ) {
        let (operand, shown) = wanted;
        let what = subject(target, path);
        let relation = relation(predicate.operator, &operand);
        self.mismatches.push(Mismatch {
            message: format!(
                "expected {what} {relation} {shown}, got {}",
                self.shown(actual)
            ),
            assertion: Assertion {
                kind: predicate.operator.name().to_owned(),
                target: Some(target),
                path: path.map(str::to_owned),
                expected: operand,
                actual: actual.cloned().unwrap_or(Value::Null),
                ..Assertion::default()
            },
            at: predicate.at,
        });
    }

    /// A value as a message shows it.
    fn shown(&self, value: Option<&Value>) -> String {
        value.map_or_else(
            || "nothing".to_owned(),
            |value| self.cleaner.quote_value(value),
        )
    }

    fn add_is_error(&mut self, at: Location, instead: &str, text: &Value) {
        self.mismatches.push(Mismatch {
            assertion: Assertion {
                kind: Operator::Equals.name().to_owned(),
                target: Some(AssertionTarget::IsError),
                path: None,
                expected: Value::Bool(true),
                actual: Value::Bool(false),
                ..Assertion::default()
            },
            message: format!(
                "expected the tool to answer with isError: true, and it answered {instead}{}{}",
                if instead.is_empty() { "" } else { " " },
                self.shown(Some(text))
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
                ..Assertion::default()
            },
            message: format!(
                "expected an error, and the answer is {}",
                self.shown(Some(text))
            ),
            at,
        });
    }

    fn add_breach(&mut self, breach: output::Breach) {
        let (told, pointer, expected, actual) = match breach {
            output::Breach::At(misfit) => (
                misfit.told(self.cleaner),
                misfit.pointer,
                misfit.expected,
                misfit.actual,
            ),
            output::Breach::Whole { reason, actual } => (
                format!(": {}", self.cleaner.quote(&reason)),
                String::new(),
                Value::String(reason),
                actual,
            ),
        };
        self.mismatches.push(Mismatch {
            message: format!("the result breaks the tool's own output schema{told}"),
            assertion: Assertion {
                kind: "output_schema".to_owned(),
                target: Some(AssertionTarget::OutputSchema),
                path: Some(pointer),
                expected,
                actual,
                ..Assertion::default()
            },
            at: Location::default(),
        });
    }

    /// A value that breaks a schema of the plan: not all of both is told, but
    /// the place.
    fn add_misfit(
        &mut self,
        (target, path): (AssertionTarget, Option<&str>),
        predicate: &Predicate,
        misfit: Misfit,
    ) {
        self.mismatches.push(Mismatch {
            message: format!(
                "{} does not fit the schema{}",
                subject(target, path),
                misfit.told(self.cleaner)
            ),
            assertion: Assertion {
                kind: predicate.operator.name().to_owned(),
                target: Some(target),
                path: path.map(str::to_owned),
                pointer: Some(misfit.pointer),
                expected: misfit.expected,
                actual: misfit.actual,
                ..Assertion::default()
            },
            at: predicate.at,
        });
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
