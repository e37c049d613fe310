//! A step whose request has come to its end: what that means.
//!
//! Main type: [`Ended`]. What the server did beside its answer is in `beside`.

mod beside;
mod mismatched;
mod wanted;

use super::declared::{self, text_of};
use super::failed_reply::FailedReply;
use super::issue::describe;
use super::judge::{Findings, Judge, Observed, is_unexpected_error};
use super::ladder::{LadderInput, climb};
use super::notifications::NotificationWatch;
use super::operators::OperandError;
use super::output::malformed;
use super::request::{Ready, Sends};
use super::script::Questions;
use super::shared_state::SharedState;
use super::snapshots;
use super::step_context::StepContext;
use super::step_end::{Aftermath, StepEnd, at_step};
use super::subscriptions::Subscriptions;
use super::unasked::{misplanned_operand, propose};
use jelly_base::mcp::{ListKind, code::METHOD_NOT_FOUND};
use jelly_base::model::{Failure, Outcome, OwnLimit, Phase, PlanIssue, RpcError, Rung};
use jelly_base::text::plural;
use jelly_plan::{Location, Operator, Predicate, Step};
use jelly_process::{Mark, Said};
use jelly_wire::{Beyond, CancelEnd, HttpEnd, Life, Reply, ReplyOutcome, is_sound};
use mismatched::tool_result;
pub use mismatched::{captured, mismatched};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Duration;
use tokio::time::Instant;
use wanted::answered_with;

/// A step whose request has come to its end.
pub struct Ended<'a> {
    pub context: &'a StepContext<'a>,
    pub step: &'a Step,
    pub ready: &'a Ready,
    /// By what a structured output is had.
    pub ladder_input: LadderInput<'a>,
    pub elapsed: Duration,
    /// When that was.
    pub at: Instant,
    /// Where the server's stderr stood before.
    pub mark: Mark,
    /// What was listened for since before the request was sent.
    pub watch: &'a NotificationWatch,
    /// What the server asked for meanwhile.
    pub questions: Questions,
    /// What is wrong although the server answered, in a sentence.
    pub trouble: Option<String>,
    pub subscriptions: RefCell<&'a mut Subscriptions>,
}

impl Ended<'_> {
    /// How the step ended, and what is to be thought of the server.
    pub async fn conclude(&self, reply: Reply, cancel: Option<CancelEnd>) -> (StepEnd, Aftermath) {
        match cancel {
            Some(cancel) => self.cancelled(cancel, reply).await,
            None => self.settle(reply).await,
        }
    }

    async fn settle(&self, reply: Reply) -> (StepEnd, Aftermath) {
        match reply.outcome {
            ReplyOutcome::Exited(exit) => {
                let aftermath = if reply.unread {
                    Aftermath::DiedBefore
                } else {
                    Aftermath::Died
                };
                (self.fail(self.failed(None).exited(exit)), aftermath)
            }
            ReplyOutcome::TimedOut(life) => (self.fail(self.timed_out(life)), Aftermath::Unsure),
            ReplyOutcome::Broken(breach) => {
                let failure = self.failed(self.lives()).broken(breach);
                (self.fail(failure), Aftermath::Unsure)
            }
            ReplyOutcome::Beyond(beyond) if beyond.limit == OwnLimit::Rounds => {
                let failure = Failure {
                    own_limit: Some(beyond.limit),
                    ..self.unanswered(&beyond.text)
                };
                (StepEnd::unfit(self.step, failure), Aftermath::Alive)
            }
            ReplyOutcome::Beyond(beyond) => (self.fail(self.unread(&beyond)), Aftermath::Unsure),
            ReplyOutcome::Unanswered(why) => (
                StepEnd::unfit(self.step, self.unanswered(&why)),
                Aftermath::Alive,
            ),
            ReplyOutcome::Http(end) => self.over_http(end).await,
            ReplyOutcome::RpcError(error) => (self.rpc_error(error).await, Aftermath::Alive),
            ReplyOutcome::Answered(result) => {
                let beyond = declared::too_large(&result);
                let end = match malformed(&self.step.request, &result) {
                    None if let Some(text) = beyond => {
                        let limit = OwnLimit::MessageValues;
                        self.fail(self.unread(&Beyond { limit, text }))
                    }
                    Some(breach) => self.fail(Failure {
                        outcome: Some(Outcome::Ok),
                        ..self.failed(None).broken(breach)
                    }),
                    None => self.result(&result).await,
                };
                (end, Aftermath::Alive)
            }
        }
    }

    /// The exchange brought no good answer. A JSON-RPC error in a refusal is
    /// an answer all the same.
    async fn over_http(&self, mut end: Box<HttpEnd>) -> (StepEnd, Aftermath) {
        let again = end.session_in_doubt
            && !self.context.sent_before
            && self.ready.is_repeatable(self.context.schemas);
        if end.session_lost || again {
            let message = format!("{} {}", self.ready.shown(), end.message);
            let failure = at_step(self.step, Phase::Call, message);
            return (self.fail(failure), Aftermath::SessionLost(end));
        }
        // What is in doubt, a sign of life tells.
        let sound = end.breach.is_none() && end.own_limit.is_none();
        let aftermath = if end.answered() && sound && !end.session_in_doubt {
            Aftermath::Alive
        } else {
            Aftermath::Unsure
        };
        if let Some(error) = end.rpc_error.take() {
            let mut answered = self.rpc_error(error).await;
            for failure in &mut answered.failures {
                failure.http = Some(end.facts.clone());
            }
            return (answered, aftermath);
        }
        let failure = self.failed(self.lives()).over_http(*end);
        (self.fail(failure), aftermath)
    }

    /// What a failure of this request says whatever came of it.
    fn failed(&self, process_alive: Option<bool>) -> FailedReply {
        FailedReply {
            shown: self.ready.shown(),
            facts: Failure {
                process_alive,
                ..at_step(self.step, Phase::Call, "")
            },
        }
    }

    /// That the server's process lives, where there is one.
    fn lives(&self) -> Option<bool> {
        self.context.session.has_process().then_some(true)
    }

    /// The step's time until now, with the wait for what it expects beside the
    /// answer.
    fn took(&self) -> Duration {
        self.elapsed + self.at.elapsed()
    }

    fn fail(&self, failure: Failure) -> StepEnd {
        self.fail_by(vec![failure])
    }

    /// Of several failures, the first tells what else happened meanwhile.
    fn fail_by(&self, mut failures: Vec<Failure>) -> StepEnd {
        let elapsed_ms = u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX);
        for failure in &mut failures {
            failure.request = Some(self.ready.facts());
            failure.elapsed_ms = Some(elapsed_ms);
            if failure.assertion.is_some() {
                failure.wanted = Some(self.wanted());
            }
        }
        let refused = self.questions.refused();
        if let (Some(failure), Some(first)) = (failures.first_mut(), refused.first()) {
            let method = self.context.shared.cleaner.quote(first);
            let issue = PlanIssue::Unanswered { method };
            if let Some(message) = &mut failure.message {
                message.push_str(&format!("; meanwhile {}", describe(&issue)));
            }
            // A wrong answer may be wrong for another reason.
            if failure.assertion.is_none() {
                failure.issue.get_or_insert(issue);
            }
        }
        StepEnd::executed(self.step, failures, self.took())
    }

    fn timed_out(&self, life: Life) -> Failure {
        let signs = if life.any() {
            ", though the server showed signs of life"
        } else if life.unread {
            ", and the server did not even read the request"
        } else {
            ""
        };
        let StepContext { limit, total, .. } = *self.context;
        let total = total.filter(|_| life.progress > 0);
        // What is left of the total may be less than the limit.
        let (limit, which, signs) = match total {
            Some(total) if self.elapsed >= total => (
                total,
                " (total_timeout)",
                format!(
                    ", though the server reported progress {}",
                    plural(life.progress, "time")
                ),
            ),
            Some(_) => (limit, " of its last progress", String::new()),
            None => (limit, "", signs.to_owned()),
        };
        let failed = self.failed(self.lives());
        Failure {
            showed_life: Some(life.any()),
            ..failed.timed_out(limit, &format!("{which}{signs}"))
        }
    }

    /// What came, if it was the answer, was not read.
    fn unread(&self, beyond: &Beyond) -> Failure {
        let text = self.context.shared.cleaner.quote(&beyond.text);
        self.failed(self.lives()).beyond(beyond.limit, &text)
    }

    /// The server asks for what the plan has no answer to, which is the plan's
    /// matter; `why` completes "the server …".
    fn unanswered(&self, why: &str) -> Failure {
        let why = self.context.shared.cleaner.quote(why);
        let hint = "what it gets is said by `answers`, of the step or of its server";
        Failure {
            request: Some(self.ready.facts()),
            ..self.failed(None).unanswered(&why, hint)
        }
    }

    /// Nothing is wrong with the server, as far as can be told.
    fn misplanned(&self, message: String) -> Failure {
        Failure {
            request: Some(self.ready.facts()),
            ..at_step(self.step, Phase::Config, message)
        }
    }

    /// The request was answered with an error that nobody expected. To junk it
    /// is the right answer.
    fn refusal(&self, error: RpcError) -> StepEnd {
        let junk = matches!(&self.ready.sends, Sends::Raw(bytes) if !is_sound(bytes));
        let refused = self.refused(error);
        if !junk {
            let wants = self.step.expect.is_error.as_ref().filter(|flag| flag.value);
            let code = refused.rpc_error.as_ref().and_then(|error| error.code);
            return self.fail(match wants {
                Some(flag) => self.other_error(
                    refused,
                    "is_error: true".to_owned(),
                    format!("error: {{ code: {} }}", code.unwrap_or_default()),
                    flag.at,
                ),
                None => refused,
            });
        }
        let code = refused.rpc_error.as_ref().and_then(|error| error.code);
        let message = format!(
            "{}; bytes that are no message deserve an error, so the step has to expect it: \
             `expect: {{ error: {{ code: {} }} }}`",
            refused.message.unwrap_or_default(),
            code.unwrap_or_default()
        );
        StepEnd::unfit(self.step, self.misplanned(message))
    }

    fn refused(&self, error: RpcError) -> Failure {
        let quoted = self.context.shared.cleaner.quote(&error.message);
        Failure {
            protocol_breach: self.denied_list(&error),
            ..self.failed(None).refused(error, &quoted)
        }
    }

    /// The breach of a server that declares to have lists of a kind and knows no
    /// method for them (2025-06-18, "Capability Negotiation").
    fn denied_list(&self, error: &RpcError) -> Option<String> {
        let method = self.ready.facts().method;
        let kinds = [ListKind::Tools, ListKind::Resources, ListKind::Prompts];
        let kind = kinds.into_iter().find(|kind| kind.method() == method)?;
        let declares = self.context.session.capabilities().get(kind.key());
        let denies = error.code == Some(METHOD_NOT_FOUND) && declares.is_some();
        denies.then(|| {
            format!(
                "declares the capability `{}` and answers `{method}` with {METHOD_NOT_FOUND}",
                kind.key()
            )
        })
    }

    /// A JSON-RPC error, which the step may want.
    async fn rpc_error(&self, error: RpcError) -> StepEnd {
        let stderr = self.stderr().await;
        if is_unexpected_error(&self.step.expect, Err(&error)) {
            return self.refusal(error);
        }
        let findings = self.judge(Err(&error), &stderr).await;
        answered_with(self.conclude_findings(&Value::Null, findings), error)
    }

    /// A result; a tool's own error may be what the step wants.
    pub(super) async fn result(&self, result: &Value) -> StepEnd {
        let stderr = self.stderr().await;
        if is_unexpected_error(&self.step.expect, Ok(result)) {
            return self.fail(self.tool_error(result));
        }
        // A code is JSON-RPC's; no tool's own error has one.
        let code = self
            .step
            .expect
            .error
            .as_ref()
            .and_then(|error| error.code.first());
        if let (Some(code), true) = (code, declared::is_error(result)) {
            let expected = match self.resolve(code) {
                Ok(value) if code.operator == Operator::Equals => {
                    format!("error: {{ code: {value} }}")
                }
                Ok(_) | Err(_) => "error: { code: … }".to_owned(),
            };
            let failed = self.tool_error(result);
            return self.fail(self.other_error(
                failed,
                expected,
                "is_error: true".to_owned(),
                code.at,
            ));
        }
        let findings = self.judge(Ok(result), &stderr).await;
        self.conclude_findings(result, findings)
    }

    /// The error is one of another kind than the step expects.
    fn other_error(
        &self,
        failure: Failure,
        expected: String,
        actual: String,
        at: Location,
    ) -> Failure {
        let issue = PlanIssue::OtherError {
            expected,
            actual,
            at: self.context.shared.plan.at(at),
        };
        let message = failure.message.unwrap_or_default();
        Failure {
            message: Some(format!("{message}; {}", describe(&issue))),
            issue: Some(issue),
            ..failure
        }
    }

    fn tool_error(&self, result: &Value) -> Failure {
        let cleaner = &self.context.shared.cleaner;
        let quoted = cleaner.quote(&text_of(result));
        let own = tool_result(result, cleaner);
        self.failed(None).tool_error(own, &quoted)
    }

    /// What the server wrote on stderr, if that is asked about; it catches up
    /// first.
    async fn stderr(&self) -> Said {
        if self.step.expect.stderr.is_empty() {
            return Said::default();
        }
        let stderr = self.context.session.stderr();
        stderr.caught_up().await;
        stderr.said_since(self.mark)
    }

    /// Holds an answer against what is expected of it, and then what the server
    /// did beside it. A wrong answer is no reason not to look at the rest.
    async fn judge(&self, answer: Result<&Value, &RpcError>, stderr: &Said) -> Findings {
        let observed = Observed {
            answer,
            duration: self.elapsed,
            stderr,
            text_will_do: self.context.takes_text_for_structure(self.ladder_input),
            ladder_input: self.ladder_input,
        };
        let shared = self.context.shared;
        let resolve = |predicate: &Predicate| self.resolve(predicate);
        let mut judge = Judge::new(&resolve, &shared.compiled, &shared.cleaner);
        judge.ask_all(&self.step.expect, &observed);
        let findings = judge.findings.after(self.ask_questions());
        self.ask_notifications(findings).await
    }

    fn resolve(&self, predicate: &Predicate) -> Result<Value, OperandError> {
        resolve(self.context.shared, self.step, predicate)
    }

    /// From what was found to the step's end; captures are taken on the way.
    fn conclude_findings(&self, result: &Value, findings: Findings) -> StepEnd {
        let Self { context, step, .. } = self;
        let shared = context.shared;
        let Findings {
            mut mismatches,
            bad,
            proposals,
            adapter,
        } = findings;
        if let Some(bad) = bad {
            // An answer that a person has only to look at still holds for the
            // steps behind it, so that all new ones come in one run.
            if bad.0.is_new()
                && mismatches.is_empty()
                && let Ok(values) = captured(shared, step, &self.with_structure(result))
            {
                shared.scope.borrow_mut().captures.extend(values);
                shared.hold_for_now(&step.id);
            }
            return misplanned_operand(shared, step, bad, &proposals);
        }
        // Of an answer that is not the one that was wanted, nothing is kept,
        // and nothing is missed.
        if !mismatches.is_empty() {
            for mismatch in &mut mismatches {
                let own = proposals.iter().filter(|p| p.belongs_to(mismatch));
                let said = propose(shared, own, false);
                mismatch.message.push_str(&said);
            }
            let end = self.fail_by(mismatched(shared, step, result, mismatches));
            return end.adapted_by(adapter);
        }
        match captured(shared, step, &self.with_structure(result)) {
            Ok(values) => {
                shared.scope.borrow_mut().captures.extend(values);
                StepEnd::executed(step, Vec::new(), self.took()).adapted_by(adapter)
            }
            Err(missing) => self.fail_by(mismatched(shared, step, result, missing)),
        }
    }
}

impl Ended<'_> {
    /// The answer for captures: its structured output is what stands as JSON in its
    /// text, as for `structured`, where the server sends none.
    fn with_structure<'r>(&self, result: &'r Value) -> Cow<'r, Value> {
        const OWN: &str = "structuredContent";
        let mut captures = self.step.capture.values();
        if result.get(OWN).is_some() || !captures.any(|capture| capture.raw.contains(OWN)) {
            return Cow::Borrowed(result);
        }
        let Some((read, Rung::JsonText)) = climb(result, self.ladder_input) else {
            return Cow::Borrowed(result);
        };
        let mut answer = result.clone();
        answer[OWN] = read.into_owned();
        Cow::Owned(answer)
    }
}

/// Whether an answer is the one that `step`, which waits, expects; none where
/// there is no answer, or none that could be judged.
pub fn is_awaited(
    context: &StepContext<'_>,
    step: &Step,
    ladder_input: LadderInput<'_>,
    outcome: &ReplyOutcome,
) -> Option<bool> {
    let expect = &step.expect;
    let answer = match outcome {
        ReplyOutcome::Answered(result) => {
            if malformed(&step.request, result).is_some() || declared::too_large(result).is_some() {
                return None;
            }
            Ok(result)
        }
        ReplyOutcome::RpcError(error) => Err(error),
        ReplyOutcome::Http(end) => Err(end.rpc_error.as_ref()?),
        _ => return None,
    };
    if is_unexpected_error(expect, answer) {
        return Some(false);
    }
    // A code is JSON-RPC's; no tool's own error has one.
    let wants_code = expect.error.as_ref().is_some_and(|e| !e.code.is_empty());
    if wants_code && answer.is_ok_and(declared::is_error) {
        return Some(false);
    }
    let observed = Observed {
        answer,
        duration: Duration::ZERO,
        stderr: &Said::default(),
        text_will_do: context.takes_text_for_structure(ladder_input),
        ladder_input,
    };
    let shared = context.shared;
    let resolve = |predicate: &Predicate| resolve(shared, step, predicate);
    let mut judge = Judge::new(&resolve, &shared.compiled, &shared.cleaner);
    judge.ask_all(expect, &observed);
    let findings = judge.findings;
    findings.bad.is_none().then(|| findings.is_clean())
}

/// The operand of an expectation, with values in the place of names.
pub fn resolve(
    shared: &SharedState,
    step: &Step,
    predicate: &Predicate,
) -> Result<Value, OperandError> {
    if predicate.operator == Operator::Snapshot {
        let name = predicate.operand.as_str().unwrap_or_default();
        return snapshots::stored(&shared.plan.source.path, name).map(Value::from);
    }
    let scope = shared.scope.borrow();
    jelly_plan::resolve_json(&predicate.operand, &scope, &step.server).map_err(OperandError::from)
}
