//! What the server did beside its answer: what it asked, what it told, and what
//! came of a request that was cancelled.

use super::{Ended, mismatched};
use crate::exec::asked::judge_asked;
use crate::exec::hearing::{Hearing, Unheard};
use crate::exec::judge::{Bench, Judgement, Mismatch};
use crate::exec::step::{Aftermath, StepEnd};
use crate::model::{Assertion, AssertionTarget};
use crate::plan::Predicate;
use crate::text::human_duration;
use crate::wire::{CancelEnd, Reply, ReplyOutcome};
use serde_json::Value;

impl Ended<'_> {
    /// What was asked is told before what was answered, which follows from it.
    /// An error that nobody expected says more than a question that never
    /// came.
    pub(super) fn with_asked(&self, answered: Judgement) -> Judgement {
        let board = self.scene.board;
        let resolve = |predicate: &Predicate| self.resolve(predicate);
        let mut compiled = board.compiled.borrow_mut();
        let mut bench = Bench::new(&resolve, &mut compiled, &board.cleaner);
        if let Some(trouble) = &self.trouble {
            bench.mismatches.push(self.odd("subscribed", trouble));
        }
        let server = &self.scene.server.answers;
        judge_asked(&mut bench, &self.told, &self.step.answers, server);
        match (answered, bench.verdict(None)) {
            (answered, Judgement::Passed { .. }) => answered,
            (
                Judgement::Mismatched {
                    mismatches: later,
                    adapter,
                    proposals: more,
                },
                Judgement::Mismatched {
                    mut mismatches,
                    mut proposals,
                    ..
                },
            ) => {
                mismatches.extend(later);
                proposals.extend(more);
                Judgement::Mismatched {
                    mismatches,
                    adapter,
                    proposals,
                }
            }
            (Judgement::Passed { .. }, asked) => asked,
            (answered, _) => answered,
        }
    }

    pub(super) async fn with_notifications(&self, adapter: Option<&'static str>) -> Judgement {
        let board = self.scene.board;
        let resolve = |predicate: &Predicate| self.resolve(predicate);
        let mut mismatches = Vec::new();
        for expect in &self.step.expect.notifications {
            let hearing = Hearing {
                expect,
                within: expect.within.unwrap_or(self.scene.limit),
                resolve: &resolve,
                compiled: &board.compiled,
                cleaner: &board.cleaner,
            };
            let session = self.scene.session;
            match hearing.wait(session, self.heard_before, self.at).await {
                Ok(()) => {}
                Err(Unheard::Mismatch(mut mismatch)) => {
                    for ended in self.subscriptions.borrow_mut().ended() {
                        mismatch.message.push_str("; ");
                        mismatch.message.push_str(&ended);
                    }
                    mismatches.push(*mismatch);
                }
                Err(Unheard::BadOperand(error, at)) => {
                    return Judgement::BadOperand {
                        error,
                        at,
                        proposals: Vec::new(),
                    };
                }
            }
        }
        if mismatches.is_empty() {
            Judgement::Passed { adapter }
        } else {
            Judgement::Mismatched {
                mismatches,
                adapter,
                proposals: Vec::new(),
            }
        }
    }

    /// A step that cancelled its request passes when nothing came of that, and
    /// the server lives.
    pub(super) async fn cancelled(&self, end: CancelEnd, reply: Reply) -> (StepEnd, Aftermath) {
        let shown = self.ready.shown();
        let wrong = match end {
            CancelEnd::TooLate => match reply.outcome {
                ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) => format!(
                    "{shown} was answered after {}, too early to be cancelled after {}",
                    human_duration(self.elapsed),
                    human_duration(self.step.cancel.map(|c| c.after).unwrap_or_default())
                ),
                ReplyOutcome::Exited(_)
                | ReplyOutcome::TimedOut(_)
                | ReplyOutcome::Broken(_)
                | ReplyOutcome::Unanswered(_)
                | ReplyOutcome::Http(_) => return self.settle(reply).await,
            },
            CancelEnd::Answered => {
                format!("the server answered {shown} although it had been cancelled")
            }
            CancelEnd::Quiet => {
                let pulse = self
                    .scene
                    .session
                    .pulse(self.scene.fragile, self.scene.limit);
                let Some(pulse) = pulse.await else {
                    return self.quiet().await;
                };
                match pulse.outcome {
                    ReplyOutcome::Answered(_)
                    | ReplyOutcome::RpcError(_)
                    | ReplyOutcome::Unanswered(_) => return self.quiet().await,
                    ReplyOutcome::Exited(_) => {
                        // It read the request that was cancelled, if not this one.
                        let unread = false;
                        return self.settle(Reply { unread, ..pulse }).await;
                    }
                    ReplyOutcome::TimedOut(_) | ReplyOutcome::Broken(_) | ReplyOutcome::Http(_) => {
                        let text =
                            format!("the server answers nothing since {shown} was cancelled");
                        let mismatch = self.odd("cancelled", &text);
                        let failure =
                            mismatched(self.scene.board, self.step, &Value::Null, vec![mismatch]);
                        return (self.fail(failure), Aftermath::Unsure);
                    }
                }
            }
        };
        let mismatch = self.odd("cancelled", &wrong);
        let failure = mismatched(self.scene.board, self.step, &Value::Null, vec![mismatch]);
        (self.fail(failure), Aftermath::Alive)
    }

    /// Nothing came of the cancelled request; what else is expected is asked.
    async fn quiet(&self) -> (StepEnd, Aftermath) {
        let judgement = self.weighed(Ok(&Value::Null)).await;
        (self.settled(&Value::Null, judgement), Aftermath::Alive)
    }

    /// A mismatch that no operator found.
    pub(super) fn odd(&self, kind: &str, text: &str) -> Mismatch {
        let target = match self.step.cancel {
            Some(_) => AssertionTarget::Cancellation,
            None => AssertionTarget::Notification,
        };
        Mismatch {
            message: self.scene.board.cleaner.quote(text),
            assertion: Assertion {
                kind: kind.to_owned(),
                target: Some(target),
                path: None,
                expected: Value::Bool(true),
                actual: Value::Bool(false),
                at: None,
            },
            at: self.step.at,
        }
    }
}
