//! Requests and answers as they go, in short, for who wants to watch.

use super::request::Ready;
use super::sending::Sent;
use super::step_context::StepContext;
use jelly_base::model::Event;
use jelly_base::text::human_duration;
use jelly_plan::Step;
use jelly_wire::{ReplyOutcome, describe_exit};

/// Tells what a step sends.
pub fn tell_request(context: &StepContext<'_>, step: &Step, ready: &Ready) {
    let shared = context.shared;
    let Some(events) = &shared.messages else {
        return;
    };
    let facts = ready.facts();
    let mut text = facts.method;
    if let Some(params) = &facts.params {
        text.push(' ');
        text.push_str(&shared.cleaner.quote_value(params));
    }
    events(Event::MessageSent {
        step: step.id.clone(),
        server: step.server.clone(),
        text: shared.cleaner.told(&text),
    });
}

/// Tells what came of it.
pub fn tell_answer(context: &StepContext<'_>, step: &Step, sent: &Sent) {
    let shared = context.shared;
    let Some(events) = &shared.messages else {
        return;
    };
    let quote = |text: &str| shared.cleaner.quote(text);
    let text = match &sent.reply.outcome {
        ReplyOutcome::Answered(result) => shared.cleaner.quote_value(result),
        ReplyOutcome::RpcError(error) => {
            let code = error.code.map(|code| format!(" {code}"));
            format!(
                "error{}: {}",
                code.unwrap_or_default(),
                quote(&error.message)
            )
        }
        ReplyOutcome::TimedOut(_) => {
            format!("no answer within {}", human_duration(sent.reply.elapsed))
        }
        ReplyOutcome::Exited(exit) => format!("the server exited {}", describe_exit(exit)),
        ReplyOutcome::Broken(why) | ReplyOutcome::Unanswered(why) => {
            format!("the server {}", quote(why))
        }
        ReplyOutcome::Beyond(beyond) => format!("the server {}", quote(&beyond.text)),
        ReplyOutcome::Http(end) => quote(&end.message),
    };
    events(Event::MessageReceived {
        step: step.id.clone(),
        server: step.server.clone(),
        text: shared.cleaner.told(&text),
        elapsed: sent.reply.elapsed,
    });
}
