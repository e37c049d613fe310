//! An answer held against its expectations.
//!
//! Pure: what was observed and what is expected go in, mismatches come out.
//! Every mismatch is kept. Their order is fixed, so that the same answer
//! always gives the same failures: `duration` comes last, since it is the
//! weakest evidence.
//!
//! Main types: [`Judge`], which asks, and [`Findings`], what came of it.

use super::bound::copied;
use super::clean::Cleaner;
use super::declared;
use super::ladder::{LadderInput, climb, own_structure};
use super::misfit::{Misfit, misfit};
use super::nearest::nearest;
use super::operators::{Compiled, OperandError, holds};
use super::output;
use super::phrase::{relation, subject};
use super::selected::selected;
use super::snapshots;
use super::volatile::{idle, settled};
use jelly_base::model::{Assertion, AssertionTarget, RpcError, Rung, TextDifference};
use jelly_base::text::{first_difference, hunks, is_long};
use jelly_plan::{ErrorExpect, Expect, JsonExpect, Location, Operator, Predicate, can_not_fail};
use jelly_process::Said;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Duration;

/// Lines of a difference that are kept.
const CHANGED_LINES: usize = 60;

/// What came back for a request that was answered: neither an error nor
/// `isError: true` that nobody expected.
#[derive(Debug)]
pub struct Observed<'a> {
    pub answer: Result<&'a Value, &'a RpcError>,
    pub duration: Duration,
    /// What the server wrote on stderr during the step.
    pub stderr: &'a Said,
    /// JSON in the text keeps a declared output schema too: see
    /// [`output::breach`].
    pub text_will_do: bool,
    /// By what a structured output is had.
    pub ladder_input: LadderInput<'a>,
}

/// Whether an answer is an error that nobody expected: then nothing else of it
/// is asked about.
pub fn is_unexpected_error(expect: &Expect, answer: Result<&Value, &RpcError>) -> bool {
    let wants_is_error = expect.is_error.is_some_and(|flag| flag.value);
    expect.error.is_none()
        && answer.map_or(true, |result| declared::is_error(result) && !wants_is_error)
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
    /// `compared` is what was expected, and what came.
    pub fn new(
        kind: &str,
        target: AssertionTarget,
        compared: (Value, Value),
        message: String,
        at: Location,
    ) -> Self {
        let (expected, actual) = compared;
        Self {
            assertion: Assertion {
                kind: kind.to_owned(),
                target: Some(target),
                expected,
                actual,
                ..Assertion::default()
            },
            message,
            at,
        }
    }

    /// Of what stands there.
    pub fn at_path(mut self, path: Option<&str>) -> Self {
        self.assertion.path = path.map(str::to_owned);
        self
    }

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

/// An expectation that could not be asked, which is the plan's fault.
pub type BadOperand = (OperandError, Location);

/// What came of asking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    pub mismatches: Vec<Mismatch>,
    /// The first of its kind; then nothing else counts.
    pub bad: Option<BadOperand>,
    pub proposals: Vec<SnapshotProposal>,
    /// The rung of the schema ladder by which an output was read.
    pub adapter: Option<Rung>,
}

impl Findings {
    pub fn is_clean(&self) -> bool {
        self.mismatches.is_empty() && self.bad.is_none()
    }

    /// Puts what was found before an answer came in front of what is wrong with
    /// it. An answer that is wrong is told even where the other could not be
    /// asked.
    pub fn after(self, mut earlier: Self) -> Self {
        if self.is_clean() && !earlier.is_clean() {
            return earlier;
        }
        if self.bad.is_some() || earlier.bad.is_some() {
            // Beside one that is wrong, a snapshot is not all that is missing.
            let mut own = self;
            own.mismatches.extend(earlier.mismatches);
            return own;
        }
        earlier.mismatches.extend(self.mismatches);
        earlier.proposals.extend(self.proposals);
        earlier.adapter = self.adapter;
        earlier
    }
}

/// Resolves an operand's variables, and a snapshot's name to its text.
pub type Resolve<'a> = &'a dyn Fn(&Predicate) -> Result<Value, OperandError>;

/// Asks what is expected, and collects what does not hold.
pub struct Judge<'a> {
    pub resolve: Resolve<'a>,
    pub compiled: &'a RefCell<Compiled>,
    /// What messages quote goes through this, and so does what is held
    /// against a snapshot, since a snapshot outlives the iteration.
    pub cleaner: &'a Cleaner,
    pub findings: Findings,
}

impl<'a> Judge<'a> {
    pub fn new(
        resolve: Resolve<'a>,
        compiled: &'a RefCell<Compiled>,
        cleaner: &'a Cleaner,
    ) -> Self {
        Self {
            resolve,
            compiled,
            cleaner,
            findings: Findings::default(),
        }
    }

    /// Holds `observed` against `expect`.
    pub fn ask_all(&mut self, expect: &Expect, observed: &Observed<'_>) {
        match observed.answer {
            Err(error) => self.ask_rpc_error(expect, error),
            Ok(result) => self.ask_result(expect, result, observed),
        }
        self.ask_stderr(&expect.stderr, observed.stderr);
        let millis = Value::from(observed.duration.as_secs_f64() * 1000.0);
        let target = AssertionTarget::Duration;
        self.ask(target, None, &expect.duration, Some(&millis));
    }

    pub fn add(&mut self, mismatch: Mismatch) {
        self.findings.mismatches.push(mismatch);
    }

    fn add_bad(&mut self, error: OperandError, at: Location) {
        let bad = &mut self.findings.bad;
        // A snapshot that is not stored yet is the least of what may be wrong.
        if bad
            .as_ref()
            .is_none_or(|(known, _)| known.is_new() && !error.is_new())
        {
            *bad = Some((error, at));
        }
    }

    /// The mismatches since there were so many.
    pub(super) fn since(&mut self, before: usize) -> &mut [Mismatch] {
        &mut self.findings.mismatches[before..]
    }

    /// Asks what stands at each path of `value`, if there is a value.
    pub fn ask_json(
        &mut self,
        target: AssertionTarget,
        expects: &[JsonExpect],
        value: Option<&Value>,
    ) {
        for json in expects {
            let actual = value.and_then(|value| selected(&json.path, value));
            let path = Some(json.raw_path.as_str());
            let before = self.findings.mismatches.len();
            for predicate in &json.predicates {
                match (predicate.operator, value) {
                    (Operator::EqualsPath, Some(value)) => {
                        self.compare_paths(target, json, predicate, value);
                    }
                    _ => {
                        let one = std::slice::from_ref(predicate);
                        self.ask(target, path, one, actual.as_deref());
                    }
                }
            }
            if let (None, Some(value)) = (&actual, value) {
                let cleaner = self.cleaner;
                for mismatch in self.since(before) {
                    mismatch.tell_nearest(&json.raw_path, value, cleaner);
                }
            }
        }
    }

    /// A JSON-RPC error, where an error is wanted. It has no text and no
    /// structure, so what is expected of these does not hold.
    fn ask_rpc_error(&mut self, expect: &Expect, error: &RpcError) {
        let code = error.code.map(Value::from);
        let message = Value::from(error.message.as_str());
        if let Some(wanted) = &expect.error {
            self.ask_error(wanted, code.as_ref(), &message);
        }
        if let Some(flag) = expect.is_error.filter(|flag| flag.value) {
            self.add_is_error(flag.at, "a JSON-RPC error instead: ", &message);
        }
        let before = self.findings.mismatches.len();
        self.ask(AssertionTarget::Text, None, &expect.text, None);
        self.ask_json(AssertionTarget::Json, &expect.json, None);
        self.ask(AssertionTarget::Structured, None, &expect.structured, None);
        let code = code.map(|code| format!(" {code}")).unwrap_or_default();
        let came = self.cleaner.quote(&error.message);
        for mismatch in self.since(before) {
            let told = format!("; what came is the JSON-RPC error{code}: {came}");
            mismatch.message.push_str(&told);
        }
    }

    fn ask_error(&mut self, wanted: &ErrorExpect, code: Option<&Value>, message: &Value) {
        let target = AssertionTarget::Error;
        self.ask(target, Some("code"), &wanted.code, code);
        self.ask(target, Some("message"), &wanted.message, Some(message));
    }

    /// A result, be it `isError` or not.
    fn ask_result(&mut self, expect: &Expect, result: &Value, observed: &Observed<'_>) {
        let is_error = declared::is_error(result);
        let text = Value::from(declared::text_of(result));
        let wants_is_error = expect.is_error.filter(|flag| flag.value);
        if let Some(flag) = wants_is_error.filter(|_| !is_error) {
            self.add_is_error(flag.at, "", &text);
        }
        match &expect.error {
            // A tool's own error has a text and no code.
            Some(wanted) if is_error => self.ask_error(wanted, None, &text),
            Some(wanted) if wants_is_error.is_none() => self.add_no_error(wanted.at, &text),
            Some(_) | None => {}
        }
        if let Some(schema) = observed.ladder_input.declared {
            match output::breach(result, schema, observed.text_will_do) {
                Ok(breach) => {
                    if let Some(breach) = breach {
                        self.add_breach(breach);
                    }
                }
                Err(why) => {
                    let schema = "the tool's own output schema".to_owned();
                    let error = OperandError::TooComplex { schema, why };
                    self.add_bad(error, Location::default());
                }
            }
        }
        self.ask(AssertionTarget::Text, None, &expect.text, Some(&text));
        self.ask_json(AssertionTarget::Json, &expect.json, Some(result));
        let ladder_input = observed.ladder_input;
        let structured = &expect.structured;
        if structured.is_empty() && ladder_input.schema.is_none() {
            return;
        }
        let (value, rung) = climb(result, ladder_input).unzip();
        self.findings.adapter = rung;
        // An error is never adapted; what it brings itself may be asked about.
        let own = || own_structure(result, ladder_input.schema).map(Cow::Borrowed);
        let value = value.or_else(own);
        let before = self.findings.mismatches.len();
        let target = AssertionTarget::Structured;
        self.ask(target, None, structured, value.as_deref());
        let made_by_jelly = rung == Some(Rung::Generic) || ladder_input.store_unread;
        let cleaner = self.cleaner;
        for mismatch in self.since(before) {
            mismatch.assertion.made_by_jelly = made_by_jelly;
            if value.is_none() {
                mismatch.tell_nearest("$.structuredContent", result, cleaner);
            }
        }
    }

    /// Asks each predicate.
    pub fn ask(
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
                let is_known = operand == predicate.operand;
                let holds_of_any = is_given(target, path, predicate.operator, &operand)
                    || can_not_fail(predicate.operator, &operand);
                if !is_known && holds_of_any {
                    return Err(OperandError::Vacuous {
                        operator: predicate.operator.name(),
                        operand: self.cleaner.quote_value(&operand),
                    });
                }
                let compiled = &mut self.compiled.borrow_mut();
                let holds = holds(predicate.operator, &operand, actual, compiled)?;
                Ok((holds, operand))
            });
            match verdict {
                Ok((true, _)) => {}
                Ok((false, operand)) => match self.misfit_of(predicate, &operand, actual) {
                    Some(misfit) => self.add_misfit((target, path), predicate, misfit),
                    None => {
                        let expected = self.cleaner.quote_value(&operand);
                        self.add_compared((target, path), predicate, (operand, expected), actual);
                    }
                },
                Err(error) => self.add_bad(error, predicate.at),
            }
        }
    }

    /// Where a value breaks a schema of the plan.
    fn misfit_of(
        &self,
        predicate: &Predicate,
        schema: &Value,
        actual: Option<&Value>,
    ) -> Option<Misfit> {
        if predicate.operator != Operator::Schema {
            return None;
        }
        let schema = self.compiled.borrow_mut().schema(schema).ok()?;
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
            let compiled = &mut self.compiled.borrow_mut();
            let same = holds(predicate.operator, &stored, actual.as_ref(), compiled)?;
            Ok((same, stored))
        });
        if let (Ok((false, _)) | Err(_), Some(Value::String(text))) = (&verdict, &actual) {
            self.findings.proposals.push(SnapshotProposal {
                name: name.clone(),
                text: text.clone(),
                idle: raw.map_or_else(Vec::new, |value| idle(value, &predicate.redact)),
                at: predicate.at,
            });
        }
        match verdict {
            Ok((true, _)) => {}
            Ok((false, stored)) => {
                let stored = match (stored, &actual) {
                    (Value::String(text), Some(Value::String(came))) => {
                        Value::from(snapshots::compared(&text, came))
                    }
                    (stored, _) => stored,
                };
                let wanted = (stored, format!("`{name}`"));
                self.add_compared((target, path), predicate, wanted, actual.as_ref());
            }
            Err(error) => self.add_bad(error, predicate.at),
        }
    }

    /// A predicate that does not hold; `wanted` is the operand, and how a
    /// message shows it.
    pub(super) fn add_compared(
        &mut self,
        (target, path): (AssertionTarget, Option<&str>),
        predicate: &Predicate,
        wanted: (Value, String),
        actual: Option<&Value>,
    ) {
        let (operand, shown) = wanted;
        let difference = self.difference(predicate.operator, &operand, actual);
        let got = match &difference {
            Some(difference) => format!("; {}", difference.first),
            None => format!(", got {}", self.shown(actual)),
        };
        let message = format!(
            "expected {} {} {shown}{got}",
            subject(target, path),
            relation(predicate.operator, &operand),
        );
        let actual = actual.map(|actual| copied(actual, self.cleaner));
        let absent = actual.is_none();
        let compared = (operand, actual.unwrap_or_default());
        let kind = predicate.operator.name();
        let mut mismatch = Mismatch::new(kind, target, compared, message, predicate.at);
        mismatch.assertion.absent = absent;
        mismatch.assertion.difference = difference;
        self.add(mismatch.at_path(path));
    }

    /// What differs between two long texts that should be equal: both may
    /// begin alike for longer than a message is.
    fn difference(
        &self,
        operator: Operator,
        wanted: &Value,
        got: Option<&Value>,
    ) -> Option<TextDifference> {
        let (wanted, got) = (wanted.as_str()?, got?.as_str()?);
        let wants_the_same = matches!(
            operator,
            Operator::Equals | Operator::EqualsPath | Operator::Snapshot
        );
        let differ_somewhere = wants_the_same && is_long(wanted) && is_long(got);
        if !differ_somewhere {
            return None;
        }
        let (wanted, got) = (self.cleaner.text(wanted), self.cleaner.text(got));
        Some(TextDifference {
            first: first_difference(&wanted, &got)?,
            hunks: hunks(&wanted, &got, CHANGED_LINES),
        })
    }

    /// A value as a message shows it.
    fn shown(&self, value: Option<&Value>) -> String {
        value.map_or_else(
            || "nothing".to_owned(),
            |value| self.cleaner.quote_value(value),
        )
    }

    fn add_is_error(&mut self, at: Location, instead: &str, text: &Value) {
        let message = format!(
            "expected the tool to answer with isError: true, and it answered {instead}{}",
            self.shown(Some(text))
        );
        let compared = (Value::Bool(true), Value::Bool(false));
        let kind = Operator::Equals.name();
        self.add(Mismatch::new(
            kind,
            AssertionTarget::IsError,
            compared,
            message,
            at,
        ));
    }

    fn add_no_error(&mut self, at: Location, text: &Value) {
        let shown = self.shown(Some(text));
        let message = format!("expected an error, and the answer is {shown}");
        let compared = (Value::Bool(true), text.clone());
        let kind = Operator::Exists.name();
        self.add(Mismatch::new(
            kind,
            AssertionTarget::Error,
            compared,
            message,
            at,
        ));
    }

    fn add_breach(&mut self, breach: output::Breach) {
        let absent = matches!(&breach, output::Breach::At(misfit) if misfit.is_missing);
        let (told, pointer, expected, actual) = match breach {
            output::Breach::At(misfit) => (
                misfit.describe(self.cleaner),
                misfit.pointer,
                misfit.expected,
                copied(&misfit.actual, self.cleaner),
            ),
            output::Breach::Whole { reason, actual } => (
                format!(": {}", self.cleaner.quote(&reason)),
                String::new(),
                Value::String(reason),
                copied(&actual, self.cleaner),
            ),
        };
        let message = format!("the result breaks the tool's own output schema{told}");
        let (compared, at) = ((expected, actual), Location::default());
        let target = AssertionTarget::OutputSchema;
        let mut mismatch = Mismatch::new("output_schema", target, compared, message, at);
        mismatch.assertion.absent = absent;
        self.add(mismatch.at_path(Some(&pointer)));
    }

    /// A value that breaks a schema of the plan: not all of both is told, but
    /// the place.
    fn add_misfit(
        &mut self,
        (target, path): (AssertionTarget, Option<&str>),
        predicate: &Predicate,
        misfit: Misfit,
    ) {
        let told = misfit.describe(self.cleaner);
        let message = format!("{} does not fit the schema{told}", subject(target, path));
        let compared = (misfit.expected, copied(&misfit.actual, self.cleaner));
        let kind = predicate.operator.name();
        let mut mismatch = Mismatch::new(kind, target, compared, message, predicate.at);
        mismatch.assertion.pointer = Some(misfit.pointer);
        mismatch.assertion.absent = misfit.is_missing;
        self.add(mismatch.at_path(path));
    }
}

/// Whether an answer has this, whatever it is: some text, or an object where one has
/// to stand.
fn is_given(
    target: AssertionTarget,
    path: Option<&str>,
    operator: Operator,
    operand: &Value,
) -> bool {
    match target {
        AssertionTarget::Text | AssertionTarget::Stderr => {
            operator == Operator::Exists && *operand == true
        }
        AssertionTarget::Structured if path.is_none() => {
            operator == Operator::Contains && operand.as_object().is_some_and(Map::is_empty)
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
