//! One step against a running server: resolved, checked, sent, judged.

use super::declared::Declared;
use super::issue::describe;
use super::ladder::{LadderInput, climb};
use super::logs::LogWatch;
use super::notifications::NotificationWatch;
use super::outcome::{Ended, is_awaited, resolve};
use super::output::malformed;
use super::polling::{self, PollEnd};
use super::request::prepare;
use super::sending::send;
use super::step_context::StepContext;
use super::step_end::{Aftermath, StepEnd, StepRun, at_step};
use super::subscriptions::Subscriptions;
use super::unread::unread_schemas;
use jelly_base::model::{OutputSeen, Phase, PlanIssue, Rung};
use jelly_plan::{NotificationExpect, Step};
use jelly_wire::ReplyOutcome;
use std::cell::RefCell;
use tokio::time::Instant;

/// Runs one step. Dropping the future cancels its request.
pub async fn run(
    context: &StepContext<'_>,
    subscriptions: &mut Subscriptions,
    step: &Step,
) -> StepRun {
    let StepContext {
        shared,
        session,
        schemas,
        script,
        ladder,
        ..
    } = *context;
    // What the server wrote has nothing to do with a plan that can't be meant.
    let unfit = |failure| StepRun {
        end: StepEnd::unfit(step, failure),
        aftermath: Aftermath::Alive,
        stderr: String::new(),
        notes: Vec::new(),
    };
    let mut ready = match prepare(shared, step, session.era()) {
        Ok(ready) => ready,
        Err(failure) => return unfit(*failure),
    };
    if !step.expects_error()
        && session.declares_tools()
        && let Some(tool) = &ready.tool
    {
        let mut issue = schemas.issue(tool, ready.args(), ready.shown_params.is_some());
        if let Some(PlanIssue::InvalidArgument { reason, .. }) = &mut issue {
            *reason = shared.cleaner.quote(reason);
        }
        if let Some(issue) = issue {
            let mut failure = at_step(step, Phase::Config, describe(&issue));
            failure.issue = Some(issue);
            failure.request = Some(ready.facts());
            return unfit(failure);
        }
        ready.fits_schema = schemas.fit(tool, ready.args());
    }

    let mark = session.stderr().mark();
    let watch = NotificationWatch::begin(
        session,
        &step.expect.notifications,
        &|predicate| resolve(shared, step, predicate),
        &shared.cleaner,
    );
    let log = LogWatch::begin(session);
    script.begin(ready.answers.clone());
    // What is cancelled has no output.
    let tool = ready.tool.clone().filter(|_| step.cancel.is_none());
    let tool = tool.as_deref();
    let schema = tool.and_then(|tool| schemas.output_schema(tool));
    let ladder_input = ladder.ladder_input(tool, schema);
    let begun = Instant::now();
    let mut waiting = None;
    let (sent, poll_end) = match &step.until {
        None => {
            let sent = send(
                context,
                subscriptions,
                step,
                &mut ready,
                context.first_limit,
            )
            .await;
            (sent, PollEnd::Awaited)
        }
        Some(until) => {
            let judged = waiting.insert(polling::waiting(step, until));
            let is_awaited =
                |outcome: &ReplyOutcome| is_awaited(context, judged, ladder_input, outcome);
            let request = (&mut ready, until.as_ref());
            let polled = polling::poll(context, subscriptions, step, request, is_awaited).await;
            (polled.sent, polled.end)
        }
    };
    // What is judged is whether the answer came, or what the last one was.
    let judged = match (poll_end, &waiting) {
        (PollEnd::Broken | PollEnd::SameToTheEnd | PollEnd::StillChanging, Some(waiting)) => {
            waiting
        }
        _ => step,
    };
    shared.keep_answer(step, &sent.reply.outcome);
    if let Some(coverage) = &shared.coverage {
        let request = (&*ready.method, &ready.params);
        coverage.note(&step.server, request, &sent.reply.outcome);
    }
    shared.keep_output(|| seen(step, tool?, &sent.reply.outcome, ladder_input));
    let unread = unread_schemas(judged, &sent.reply.outcome, ladder_input);
    let ended = Ended {
        context,
        step: judged,
        ready: &ready,
        ladder_input,
        elapsed: sent.reply.elapsed,
        at: Instant::now(),
        mark,
        watch: &watch,
        questions: script.finish(),
        trouble: sent.trouble,
        subscriptions: RefCell::new(subscriptions),
    };
    let (mut end, aftermath) = ended.conclude(sent.reply, sent.cancel).await;
    if let Some(until) = &step.until {
        if poll_end == PollEnd::StillChanging {
            let request = (&*ready.shown(), ready.facts());
            end = polling::still_changing(step, request, until, end);
        }
        end = end.after(begun.elapsed());
    }
    // What was logged of a wrong answer or an error may still be on its way, and would
    // else count as said in the next step.
    if !end.failures.is_empty() {
        session.stderr().caught_up().await;
    }
    let since = session.stderr().since(mark);
    for failure in &mut end.failures {
        failure.stderr_is_older = since.trim().is_empty();
        failure.logs = log.lines();
        failure.error_logged = log.error();
    }
    let mut notes = Vec::new();
    if let Some(why) = schema.and_then(Declared::unjudged) {
        let shown = ready.shown();
        notes.push(format!(
            "the output of {shown} was not held against its output schema: {why}"
        ));
    }
    if schema.is_some()
        && end.report.adapter.as_deref() == Some(Rung::JsonText.name())
        && !context.is_before_structure()
    {
        notes.push(format!(
            "the tool of step `{}` declares an output schema, and sends its output as text alone, \
             which clients of the official SDKs refuse; the wire check takes it for a failure",
            step.id
        ));
    }
    let refused: Vec<String> = script.take_refused().into_iter().collect();
    if !refused.is_empty() {
        // What a plan can't answer, no client has to.
        let areas = ["sampling/", "elicitation/", "roots/"];
        let is_answerable = |method: &String| areas.iter().any(|area| method.starts_with(area));
        let refused_question = refused.iter().any(is_answerable);
        for failure in &mut end.failures {
            failure.refused_question = refused_question;
        }
        let methods = shared.cleaner.quote(&refused.join("`, `"));
        notes.push(format!(
            "it asked for `{methods}`, to which the plan has no answer, and was refused (step `{}`)",
            step.id
        ));
    }
    if let Some((method, broken)) = script.take_misanswered() {
        let method = shared.cleaner.quote(&method);
        let why = broken.describe(&shared.cleaner);
        for failure in &mut end.failures {
            failure.refused_question = true;
            if let Some(message) = &mut failure.message {
                message.push_str(&format!(
                    "; meanwhile the plan's answer to `{method}` broke the schema that the server \
                     asked for{why}"
                ));
            }
        }
        notes.push(format!(
            "the plan's answer to `{method}` breaks the schema that the server asked for{why} \
             (step `{}`)",
            step.id
        ));
    }
    let wants_silence = |expect: &NotificationExpect| expect.absent || !expect.count_only_grows();
    if session.is_mute_unasked() && step.expect.notifications.iter().any(wants_silence) {
        notes.push(format!(
            "it offers no stream on which it could tell anything by itself, so that what must \
             not come was looked for in its answers alone (step `{}`)",
            step.id
        ));
    }
    if end.failures.is_empty() {
        notes.extend(unread);
    }
    notes.extend(tool.and_then(|tool| ladder.note(tool, schema.is_some())));
    StepRun {
        notes,
        stderr: if end.failures.iter().any(|f| f.phase == Some(Phase::Config)) {
            String::new()
        } else if since.trim().is_empty() && !end.failures.is_empty() {
            session.stderr().tail()
        } else {
            since
        },
        end,
        aftermath,
    }
}

/// By which rung a tool's output is read, whether the step asks for it or not.
fn seen(
    step: &Step,
    tool: &str,
    outcome: &ReplyOutcome,
    ladder_input: LadderInput<'_>,
) -> Option<OutputSeen> {
    let ReplyOutcome::Answered(result) = outcome else {
        return None;
    };
    if malformed(&step.request, result).is_some() {
        return None;
    }
    let (_, rung) = climb(result, ladder_input)?;
    Some(OutputSeen {
        server: step.server.clone(),
        tool: tool.to_owned(),
        rung,
        declared: ladder_input
            .declared
            .map(|declared| declared.schema.clone()),
    })
}
