//! `until`: the same request again, until the answer is the one that is waited
//! for.

use super::request::Ready;
use super::sending::{Sent, send};
use super::step_context::StepContext;
use super::step_end::{StepEnd, at_step};
use super::subscriptions::Subscriptions;
use jelly_base::model::{Failure, Outcome, Phase};
use jelly_base::text::human_duration;
use jelly_plan::{Step, Until};
use jelly_wire::ReplyOutcome;
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

/// Asks until `is_awaited` says yes, or can't say, or time is up.
pub async fn poll(
    context: &StepContext<'_>,
    subscriptions: &mut Subscriptions,
    step: &Step,
    (ready, until): (&mut Ready, &Until),
    is_awaited: impl Fn(&ReplyOutcome) -> Option<bool>,
) -> Polled {
    let over = Instant::now() + until.lasts;
    let mut first: Option<ReplyOutcome> = None;
    let mut changed = false;
    let mut wrong = 0_u32;
    loop {
        let deadline = Instant::now() + context.limit;
        // Each request may be asked in return, and the last one is judged.
        context.script.begin(ready.answers.clone());
        let sent = send(context, subscriptions, step, ready, deadline).await;
        let outcome = &sent.reply.outcome;
        let end = match is_awaited(outcome) {
            Some(true) => Some(PollEnd::Awaited),
            None => Some(PollEnd::Broken),
            Some(false) => {
                match &first {
                    Some(first) => changed |= first != outcome,
                    None => first = Some(outcome.clone()),
                }
                wrong += 1;
                // One answer, however late, is not the same to the end.
                let is_late = wrong > 1 && Instant::now() + until.every >= over;
                is_late.then_some(match changed {
                    true => PollEnd::StillChanging,
                    false => PollEnd::SameToTheEnd,
                })
            }
        };
        if let Some(end) = end {
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
pub fn still_changing(step: &Step, ready: &Ready, until: &Until, end: StepEnd) -> StepEnd {
    let last = end.failures.first().and_then(|f| f.message.as_deref());
    let message = format!(
        "{} did not give the answer that `until` waits for within {}, and its answers were still \
         changing; of the last one: {}",
        ready.shown(),
        human_duration(until.lasts),
        last.unwrap_or_default(),
    );
    let failure = Failure {
        outcome: Some(Outcome::Timeout),
        timeout_s: Some(until.lasts.as_secs_f64()),
        showed_life: Some(true),
        request: Some(ready.facts()),
        elapsed_ms: end.failures.first().and_then(|failure| failure.elapsed_ms),
        ..at_step(step, Phase::Call, message)
    };
    StepEnd {
        failures: vec![failure],
        ..end
    }
}
