//! A step's request on its way: as a call, a list, a subscription, bytes.

use super::at_once::send_at_once;
use super::request::{Ready, Sends};
use super::step_context::StepContext;
use super::subscriptions::Subscriptions;
use super::told_messages::{tell_answer, tell_request};
use jelly_base::model::Era;
use jelly_plan::Step;
use jelly_wire::{CancelEnd, Patience, Reply, ReplyOutcome};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// What came of it.
pub struct Sent {
    pub reply: Reply,
    /// Of a step that cancels its request.
    pub cancel: Option<CancelEnd>,
    /// What is wrong although the server answered, in a sentence.
    pub trouble: Option<String>,
}

impl Sent {
    pub fn new(reply: Reply, trouble: Option<String>) -> Self {
        Self {
            reply,
            cancel: None,
            trouble,
        }
    }
}

/// Sends what the step is about, and waits for the end of it for `limit`.
/// Where something else has to be sent first and goes wrong, `ready` is that;
/// the time that it takes is the step's.
pub async fn send(
    context: &StepContext<'_>,
    subscriptions: &mut Subscriptions,
    step: &Step,
    ready: &mut Ready,
    limit: Duration,
) -> Sent {
    tell_request(context, step, ready);
    let sent = sent(context, subscriptions, step, ready, limit).await;
    tell_answer(context, step, &sent);
    sent
}

async fn sent(
    context: &StepContext<'_>,
    subscriptions: &mut Subscriptions,
    step: &Step,
    ready: &mut Ready,
    limit: Duration,
) -> Sent {
    let StepContext { session, .. } = *context;
    let mut before = Duration::ZERO;
    if let (Some(level), Era::Legacy) = (step.log_level, session.era()) {
        let params = json!({ "level": level.name() });
        let begun = Instant::now();
        let reply = session
            .request("logging/setLevel", params.clone(), limit)
            .await;
        before = begun.elapsed();
        if !matches!(reply.outcome, ReplyOutcome::Answered(_)) {
            ready.is_now("logging/setLevel", params);
            return Sent::new(reply, None);
        }
    }
    let limit = limit.saturating_sub(before);
    let method = ready.method.clone();
    let method = &*method;
    let params = ready.params.clone();
    let mut reply = match &ready.sends {
        Sends::List(kind) => session.list(*kind, params, limit).await,
        Sends::Raw(bytes) => session.send_raw(bytes, limit).await,
        Sends::Subscribe(uris) => {
            let what = (uris.as_slice(), &ready.params["notifications"]);
            return subscriptions.open(session, &step.id, what, limit).await;
        }
        Sends::Unsubscribe(id) => return subscriptions.end(session, id, limit).await,
        Sends::Request => match step.cancel {
            Some(cancel) => {
                let times = (cancel.after, cancel.quiet_for);
                let (mut reply, end) = session.cancelled(method, params, times, step.bare).await;
                reply.elapsed += before;
                return Sent {
                    cancel: Some(end),
                    ..Sent::new(reply, None)
                };
            }
            None => {
                let patience = Patience {
                    // What was sent before does not shorten what progress begins anew.
                    limit: context.total.map_or(limit, |_| context.limit),
                    total: context.total.map(|total| total.saturating_sub(before)),
                };
                match step.bare {
                    _ if !ready.at_once.is_empty() => {
                        send_at_once(context, step, ready, patience).await
                    }
                    true => session.request_bare(method, params, patience).await,
                    false => session.request(method, params, patience).await,
                }
            }
        },
    };
    reply.elapsed += before;
    Sent::new(reply, None)
}
