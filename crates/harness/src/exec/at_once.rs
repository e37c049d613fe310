//! `at_once`: calls that go out together with that of their step.

use super::request::Ready;
use super::step_context::StepContext;
use jelly_plan::Step;
use jelly_wire::{Patience, Reply, ReplyOutcome, Session};
use serde_json::Value;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

const METHOD: &str = "tools/call";

/// Sends the step's own call and the others before any answer is waited for, and waits
/// for all of them. The reply is that of the step's own; where that one was answered and
/// another was not, `ready` is the other one, and the reply its.
pub async fn send_at_once(
    context: &StepContext<'_>,
    step: &Step,
    ready: &mut Ready,
    patience: Patience,
) -> Reply {
    let others = ready.at_once.clone();
    let own = (&*ready.method, ready.params.clone());
    let session = context.session;
    let calls = std::iter::once(own).chain(others.iter().map(|params| (METHOD, params.clone())));
    let mut replies = all(session, calls, patience).await.into_iter();
    let Some(own) = replies.next() else {
        return session
            .request(&ready.method, ready.params.clone(), patience)
            .await;
    };
    let is_answered = |reply: &Reply| match &reply.outcome {
        ReplyOutcome::Answered(_) | ReplyOutcome::RpcError(_) => true,
        ReplyOutcome::Http(end) => end.rpc_error.is_some(),
        _ => false,
    };
    let mut lost = None;
    for (params, reply) in others.into_iter().zip(replies) {
        if let Some(coverage) = &context.shared.coverage {
            coverage.note(&step.server, (METHOD, &params), &reply.outcome);
        }
        if !is_answered(&reply) {
            lost.get_or_insert((params, reply));
        }
    }
    match lost.filter(|_| is_answered(&own)) {
        Some((params, reply)) => {
            ready.is_now(METHOD, params);
            reply
        }
        None => own,
    }
}

/// All replies, in order. Each request is on its way before the first is waited for.
async fn all<'s>(
    session: &'s Session,
    calls: impl Iterator<Item = (&'s str, Value)>,
    patience: Patience,
) -> Vec<Reply> {
    type Call<'s> = Pin<Box<dyn Future<Output = Reply> + 's>>;
    let mut calls: Vec<(Call<'s>, Option<Reply>)> = calls
        .map(|(method, params)| -> (Call<'s>, Option<Reply>) {
            (Box::pin(session.request(method, params, patience)), None)
        })
        .collect();
    poll_fn(|task| {
        let mut is_done = true;
        for (call, reply) in &mut calls {
            if reply.is_none() {
                match call.as_mut().poll(task) {
                    Poll::Ready(came) => *reply = Some(came),
                    Poll::Pending => is_done = false,
                }
            }
        }
        match is_done {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    calls.into_iter().filter_map(|(_, reply)| reply).collect()
}
