//! What the server did beside its answer: what it asked, what it told, and what
//! came of a request that was cancelled.

use super::{Ended, mismatched};
use crate::exec::asked::judge_asked;
use crate::exec::judge::{Findings, Judge, Mismatch};
use crate::exec::notifications::AwaitedNotification;
use crate::exec::step_context::StepContext;
use crate::exec::step_end::{Aftermath, StepEnd};
use jelly_base::model::AssertionTarget;
use jelly_base::text::human_duration;
use jelly_plan::Predicate;
use jelly_wire::{CROSSING, CancelEnd, Reply, ReplyOutcome};
use serde_json::Value;

impl Ended<'_> {
    /// What is wrong with the subscription, and with what the server asked for.
    pub(super) fn ask_questions(&self) -> Findings {
        let shared = self.context.shared;
        let resolve = |predicate: &Predicate| self.resolve(predicate);
        let mut judge = Judge::new(&resolve, &shared.compiled, &shared.cleaner);
        if let Some(trouble) = &self.trouble {
            judge.add(self.mismatch("subscribed", trouble));
        }
        let server = &self.context.server.answers;
        judge_asked(&mut judge, &self.questions, &self.step.answers, server);
        judge.findings
    }

    /// Adds to the findings so far what was not heard as it was expected.
    pub(super) async fn ask_notifications(&self, mut findings: Findings) -> Findings {
        let shared = self.context.shared;
        let resolve = |predicate: &Predicate| self.resolve(predicate);
        for (index, expect) in self.step.expect.notifications.iter().enumerate() {
            if findings
                .bad
                .as_ref()
                .is_some_and(|(error, _)| !error.is_new())
            {
                break;
            }
            let awaited = AwaitedNotification {
                expect,
                index,
                watch: self.watch,
                within: expect.within.unwrap_or(self.context.limit),
                resolve: &resolve,
                compiled: &shared.compiled,
                cleaner: &shared.cleaner,
            };
            match awaited.wait(self.context.session, self.at).await {
                Ok(None) => {}
                Ok(Some(mut mismatch)) => {
                    for ended in self.subscriptions.borrow_mut().ended() {
                        mismatch.message.push_str("; ");
                        mismatch.message.push_str(&ended);
                    }
                    findings.mismatches.push(mismatch);
                }
                Err(bad) => findings.bad = Some(bad),
            }
        }
        findings
    }

    /// A step that cancelled its request passes when nothing came of that, and
    /// the server lives.
    pub(super) async fn cancelled(&self, end: CancelEnd, reply: Reply) -> (StepEnd, Aftermath) {
        let shown = self.ready.shown();
        match end {
            CancelEnd::TooLate => match reply.outcome {
                ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) => {
                    (self.fail_with(self.too_early()), Aftermath::Alive)
                }
                _ => self.settle(reply).await,
            },
            CancelEnd::Crossed => (self.fail_with(self.crossed()), Aftermath::Alive),
            CancelEnd::Answered => {
                let text = format!("the server answered {shown} although it had been cancelled");
                (
                    self.fail_with(self.mismatch("cancelled", &text)),
                    Aftermath::Alive,
                )
            }
            CancelEnd::Quiet => {
                let StepContext {
                    session,
                    fragile,
                    limit,
                    ..
                } = *self.context;
                let Some(pulse) = session.pulse(fragile, limit).await else {
                    return self.quiet().await;
                };
                match pulse.outcome {
                    ReplyOutcome::Answered(_)
                    | ReplyOutcome::RpcError(_)
                    | ReplyOutcome::Beyond(_)
                    | ReplyOutcome::Unanswered(_) => self.quiet().await,
                    ReplyOutcome::Exited(_) => {
                        // It read the request that was cancelled, if not this one.
                        let unread = false;
                        self.settle(Reply { unread, ..pulse }).await
                    }
                    ReplyOutcome::TimedOut(_) | ReplyOutcome::Broken(_) | ReplyOutcome::Http(_) => {
                        let text =
                            format!("the server answers nothing since {shown} was cancelled");
                        (
                            self.fail_with(self.mismatch("cancelled", &text)),
                            Aftermath::Unsure,
                        )
                    }
                }
            }
        }
    }

    /// To be quick is nobody's fault, so this is about the duration.
    fn too_early(&self) -> Mismatch {
        let after = self.step.cancel.map(|cancel| cancel.after);
        let text = format!(
            "{} was answered after {}, too early to be cancelled after {}: use a slower call or a \
             shorter `cancel_after`",
            self.ready.shown(),
            human_duration(self.elapsed),
            human_duration(after.unwrap_or_default())
        );
        self.untimely(&text)
    }

    /// Nobody can tell whether the server knew already that it was cancelled.
    fn crossed(&self) -> Mismatch {
        let text = format!(
            "{} was answered within {} of its cancellation, too soon to say that the server \
             should have known of it: use a slower call or a shorter `cancel_after`",
            self.ready.shown(),
            human_duration(CROSSING)
        );
        self.untimely(&text)
    }

    fn untimely(&self, text: &str) -> Mismatch {
        let mut mismatch = self.mismatch("cancelled", text);
        mismatch.assertion.target = Some(AssertionTarget::Duration);
        mismatch
    }

    fn fail_with(&self, mismatch: Mismatch) -> StepEnd {
        let shared = self.context.shared;
        self.fail_by(mismatched(shared, self.step, &Value::Null, vec![mismatch]))
    }

    /// Nothing came of the cancelled request; what else is expected is asked.
    async fn quiet(&self) -> (StepEnd, Aftermath) {
        (self.result(&Value::Null).await, Aftermath::Alive)
    }

    /// A mismatch that no operator found.
    fn mismatch(&self, kind: &str, text: &str) -> Mismatch {
        let target = match self.step.cancel {
            Some(_) => AssertionTarget::Cancellation,
            None => AssertionTarget::Notification,
        };
        let compared = (Value::Bool(true), Value::Bool(false));
        let message = self.context.shared.cleaner.quote(text);
        Mismatch::new(kind, target, compared, message, self.step.at)
    }
}
