//! What the server did beside its answer: what it asked, what it told, and what
//! came of a request that was cancelled.

use super::{Ended, mismatched};
use crate::exec::asked::judge_asked;
use crate::exec::hearing::{Hearing, Unheard};
use crate::exec::judge::{Bench, Judgement, Mismatch, SnapshotProposal};
use crate::exec::scene::Scene;
use crate::exec::step_end::{Aftermath, StepEnd};
use jelly_base::model::{Assertion, AssertionTarget};
use jelly_base::text::human_duration;
use jelly_plan::Predicate;
use jelly_wire::{CROSSING, CancelEnd, Reply, ReplyOutcome};
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

    /// Adds to the mismatches so far what was not heard as it was expected.
    pub(super) async fn with_notifications(
        &self,
        adapter: Option<&'static str>,
        so_far: (Vec<Mismatch>, Vec<SnapshotProposal>),
    ) -> Judgement {
        let board = self.scene.board;
        let resolve = |predicate: &Predicate| self.resolve(predicate);
        let (mut mismatches, proposals) = so_far;
        for (index, expect) in self.step.expect.notifications.iter().enumerate() {
            let hearing = Hearing {
                expect,
                index,
                hearings: self.hearings,
                within: expect.within.unwrap_or(self.scene.limit),
                resolve: &resolve,
                compiled: &board.compiled,
                cleaner: &board.cleaner,
            };
            let session = self.scene.session;
            match hearing.wait(session, self.at).await {
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
                        proposals,
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
                proposals,
            }
        }
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
                ReplyOutcome::Exited(_)
                | ReplyOutcome::TimedOut(_)
                | ReplyOutcome::Broken(_)
                | ReplyOutcome::Unanswered(_)
                | ReplyOutcome::Beyond(_)
                | ReplyOutcome::Http(_) => self.settle(reply).await,
            },
            CancelEnd::Crossed => (self.fail_with(self.crossed()), Aftermath::Alive),
            CancelEnd::Answered => {
                let text = format!("the server answered {shown} although it had been cancelled");
                (
                    self.fail_with(self.odd("cancelled", &text)),
                    Aftermath::Alive,
                )
            }
            CancelEnd::Quiet => {
                let Scene {
                    session,
                    fragile,
                    limit,
                    ..
                } = *self.scene;
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
                            self.fail_with(self.odd("cancelled", &text)),
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
        let mut mismatch = self.odd("cancelled", text);
        mismatch.assertion.target = Some(AssertionTarget::Duration);
        mismatch
    }

    fn fail_with(&self, mismatch: Mismatch) -> StepEnd {
        let board = self.scene.board;
        self.fail_by(mismatched(board, self.step, &Value::Null, vec![mismatch]))
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
                ..Assertion::default()
            },
            at: self.step.at,
        }
    }
}
