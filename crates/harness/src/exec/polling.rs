//! `until`: the same request again, until the answer is the one that is waited
//! for.

use super::request::Ready;
use super::sending::{Sent, send};
use super::step_context::StepContext;
use super::step_end::{StepEnd, at_step};
use super::subscriptions::Subscriptions;
use jelly_base::model::{Failure, Outcome, Phase, RequestFacts};
use jelly_base::text::human_duration;
use jelly_plan::{Step, Until};
use jelly_wire::ReplyOutcome;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What came of asking again and again.
pub struct Polled {
    /// The last of it.
    pub sent: Sent,
    pub end: PollEnd,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollEnd {
    /// The answer came.
    Awaited,
    /// There was no answer, or none that could be judged.
    Broken,
    /// All answers to the end were the same wrong one.
    SameToTheEnd,
    /// Time was up, and the answers were not all the same.
    StillChanging,
}

/// The answers so far, of which none was the right one. `A` is what makes two of them
/// the same.
pub struct WrongAnswers<A> {
    over: Instant,
    every: Duration,
    first: Option<A>,
    changed: bool,
    count: u32,
}

impl<A: PartialEq> WrongAnswers<A> {
    pub fn new(until: &Until) -> Self {
        Self {
            over: Instant::now() + until.lasts,
            every: until.every,
            first: None,
            changed: false,
            count: 0,
        }
    }

    /// Whether it ends with this answer, and how. `is_awaited` where it is the right
    /// one; none where it can't be judged.
    pub fn end(&mut self, is_awaited: Option<bool>, answer: impl FnOnce() -> A) -> Option<PollEnd> {
        match is_awaited {
            Some(true) => return Some(PollEnd::Awaited),
            None => return Some(PollEnd::Broken),
            Some(false) => {}
        }
        let answer = answer();
        match &self.first {
            Some(first) => self.changed |= *first != answer,
            None => self.first = Some(answer),
        }
        self.count += 1;
        // One answer, however late, is not the same to the end.
        let is_late = self.count > 1 && Instant::now() + self.every >= self.over;
        is_late.then_some(match self.changed {
            true => PollEnd::StillChanging,
            false => PollEnd::SameToTheEnd,
        })
    }
}

/// Asks until `is_awaited` says yes, or can't say, or time is up.
pub async fn poll(
    context: &StepContext<'_>,
    subscriptions: &mut Subscriptions,
    step: &Step,
    (ready, until): (&mut Ready, &Until),
    is_awaited: impl Fn(&ReplyOutcome) -> Option<bool>,
) -> Polled {
    let mut wrong = WrongAnswers::new(until);
    loop {
        // Each request may be asked in return, and the last one is judged.
        context.script.begin(ready.answers.clone());
        let sent = send(context, subscriptions, step, ready, context.limit).await;
        let outcome = &sent.reply.outcome;
        if let Some(end) = wrong.end(is_awaited(outcome), || outcome.clone()) {
            return Polled { sent, end };
        }
        sleep(until.every).await;
    }
}

/// The step as it is while it waits: what is expected then is the answer that is
/// waited for, and nothing is kept of any other.
pub fn waiting(step: &Step, until: &Until) -> Step {
    Step {
        expect: until.expect.clone(),
        until: None,
        capture: Default::default(),
        ..step.clone()
    }
}

/// Answers that still change when time is up are no wrong answer yet; `end` is
/// what would be said of the last one.
pub fn still_changing(
    step: &Step,
    (shown, request): (&str, RequestFacts),
    until: &Until,
    end: StepEnd,
) -> StepEnd {
    let last = end.failures.first().and_then(|f| f.message.as_deref());
    let message = format!(
        "{} did not give the answer that `until` waits for within {}, and its answers were still \
         changing; of the last one: {}",
        shown,
        human_duration(until.lasts),
        last.unwrap_or_default(),
    );
    let failure = Failure {
        outcome: Some(Outcome::Timeout),
        timeout_s: Some(until.lasts.as_secs_f64()),
        showed_life: Some(true),
        request: Some(request),
        elapsed_ms: end.failures.first().and_then(|failure| failure.elapsed_ms),
        ..at_step(step, Phase::Call, message)
    };
    StepEnd {
        failures: vec![failure],
        ..end
    }
}
