//! One problem of the help summary, from the failures that share its cause.

use super::help::HelpContext;
use crate::model::{
    ActionKind, Assertion, Because, Exit, FailureReport, HelpProblem, IterationReport, Phase,
    Standing, StepState,
};
use crate::plan::Operator;
use crate::text::{one_line, plural, shell_command, shell_word};

/// How much of a value or a line is quoted, in bytes.
const QUOTE: usize = 200;

/// Failures of one cause at one server.
pub(super) struct Case<'a> {
    /// The first of them, in the order of the iteration.
    pub failure: &'a FailureReport,
    pub iteration: &'a IterationReport,
    /// Ids of the steps that failed so; none where the server itself did.
    pub steps: Vec<&'a str>,
}

pub(super) fn problem(
    case: &Case<'_>,
    iterations: &[IterationReport],
    context: &HelpContext<'_>,
) -> HelpProblem {
    let what = what(case);
    HelpProblem {
        server: case.failure.server.clone(),
        step: case.failure.step.clone(),
        evidence: evidence(case.failure, &what),
        what,
        tried: tried(case, iterations, context),
        next: next(case, context),
    }
}

fn what(case: &Case<'_>) -> String {
    let failure = case.failure;
    let diagnosis = &failure.diagnosis;
    let mut what = if diagnosis.advice.what.is_empty() {
        failure.message.clone()
    } else {
        diagnosis.advice.what.clone()
    };
    let mut add = |clause: String| {
        what = format!("{}; {clause}", what.trim_end_matches(['.', ';']));
    };
    if let [_, others @ ..] = case.steps.as_slice()
        && !others.is_empty()
    {
        add(format!("the same in {}", others.join(", ")));
    }
    let blocked = blocked_by(case);
    if blocked > 0 {
        add(format!(
            "{} could not run because of it",
            plural(blocked, "step")
        ));
    }
    if diagnosis.flaky {
        add("it fails differently each time, so it proves nothing against the code".to_owned());
    }
    if let Some(excused) = &diagnosis.excused {
        add(excuse(excused).to_owned());
    }
    if diagnosis.standing == Some(Standing::NeverPassed) {
        add("either the server is wrong, or the plan expects the wrong value: this expectation was never seen to hold".to_owned());
    }
    what
}

fn excuse(word: &str) -> &str {
    match word {
        "unconfirmed" => "seen once only, which is no proof",
        "not_repeatable" => {
            "it passed earlier on the same plan and code, so something outlives an iteration"
        }
        "repair_ineffective" => "a repair had changed this step, so it proves nothing",
        "after_restart" => "its server had died and was restarted before",
        "duration" => "a matter of time, which the machine decides too",
        "own_limit" => "a limit of jelly's own stands in the way, which proves nothing",
        other => other,
    }
}

/// Steps that never ran because this server was not there.
fn blocked_by(case: &Case<'_>) -> u64 {
    let Some(server) = case
        .failure
        .server
        .as_ref()
        .filter(|_| case.steps.is_empty())
    else {
        return 0;
    };
    let blocked = case.iteration.steps.iter().filter(|step| {
        step.state == StepState::Blocked
            && match &step.because {
                Some(Because::Server(name)) => name == server,
                Some(
                    Because::NotSelected
                    | Because::FailFast
                    | Because::Deadline
                    | Because::Interrupted
                    | Because::Step(_)
                    | Because::Setup(_)
                    | Because::Plan(_),
                )
                | None => step.server == *server,
            }
    });
    blocked.count().try_into().unwrap_or(u64::MAX)
}

/// Exit status, the telling line, and where the plan speaks of it; nothing
/// that `what` says already.
fn evidence(failure: &FailureReport, what: &str) -> String {
    let mut parts = Vec::new();
    parts.extend(failure.exit.as_ref().and_then(exit_status));
    // A breach of the protocol says all of it.
    if let Some(assertion) = failure.assertion.as_ref().filter(|a| !a.is_wire()) {
        parts.push(if assertion.is_told_in_words() {
            one_line(&failure.message, QUOTE)
        } else {
            compared(assertion)
        });
    }
    match &failure.diagnosis.evidence {
        // What was compared has been said.
        Some(evidence) if evidence.field == "assertion" && failure.assertion.is_some() => {}
        Some(evidence) if evidence.field == "message" && what.contains(evidence.text.trim()) => {}
        Some(evidence) if !evidence.text.trim().is_empty() => parts.push(format!(
            "{}: {}",
            evidence.field,
            one_line(&evidence.text, QUOTE)
        )),
        Some(_) | None => {}
    }
    if parts.is_empty() && (failure.at.is_none() || !what.contains(&failure.message)) {
        parts.push(format!(
            "none beyond the message: {}",
            one_line(&failure.message, QUOTE)
        ));
    }
    if let Some(at) = &failure.at {
        parts.push(format!("the plan at {at}"));
    }
    parts.join("; ")
}

fn exit_status(exit: &Exit) -> Option<String> {
    match (&exit.code, &exit.signal) {
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, Some(signal)) => Some(format!("ended by {signal}")),
        (None, None) => None,
    }
}

fn compared(assertion: &Assertion) -> String {
    let place = assertion.place();
    format!(
        "expected {}{} {}, got {}",
        assertion.kind,
        place.map_or(String::new(), |place| format!(" at {place}")),
        one_line(&assertion.expected.to_string(), QUOTE),
        one_line(&assertion.actual.to_string(), QUOTE)
    )
}

/// What the loop did about it, iteration by iteration.
fn tried(
    case: &Case<'_>,
    iterations: &[IterationReport],
    context: &HelpContext<'_>,
) -> Vec<String> {
    let mut tried = Vec::new();
    for iteration in iterations {
        let action = &iteration.action;
        let concerned = iteration
            .failures
            .iter()
            .any(|f| f.diagnosis.test_fingerprint == case.failure.diagnosis.test_fingerprint);
        for repair in action.repairs.iter().filter(|r| is_about(&r.target, case)) {
            tried.push(format!(
                "repair {}: {}{}",
                repair.id,
                repair.explanation,
                if repair.ineffective {
                    "; it did not help"
                } else {
                    ""
                }
            ));
        }
        if let Some(hook) = &action.hook {
            let end = match (&hook.error, &hook.exit) {
                (Some(error), _) => error.clone(),
                (None, Some(_)) => "said that something changed".to_owned(),
                (None, None) => "was interrupted".to_owned(),
            };
            tried.push(format!("the hook {} {end}", hook.hook));
        }
        let again = match action.kind {
            ActionKind::Retry if concerned => "ran the plan again",
            ActionKind::Confirm if concerned => "ran the plan again on fresh servers to make sure",
            ActionKind::Retry
            | ActionKind::Confirm
            | ActionKind::RepairMcpPlan
            | ActionKind::FixTests
            | ActionKind::RefineCode
            | ActionKind::Stop => continue,
        };
        if iteration.index < case.iteration.index {
            tried.push(format!("{again} (iteration {})", iteration.index + 1));
        }
    }
    let passed = context.passed_over.iter();
    tried.extend(
        passed
            .filter(|passed| is_about(&passed.target, case))
            .map(|passed| passed.told.clone()),
    );
    tried
}

/// A repair is about this problem if its target is the server or a step of it.
fn is_about(target: &str, case: &Case<'_>) -> bool {
    let names = |section: &str, name: &str| {
        target
            .strip_prefix(section)
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let server = case.failure.server.as_deref();
    server.is_some_and(|server| names("servers.", server))
        || case.steps.iter().any(|step| {
            ["setup.", "steps.", "teardown."]
                .iter()
                .any(|section| names(section, step))
        })
}

/// Advice first, then commands to paste.
fn next(case: &Case<'_>, context: &HelpContext<'_>) -> Vec<String> {
    let failure = case.failure;
    let diagnosis = &failure.diagnosis;
    let plan = context.plan_word();
    let mut next = Vec::new();
    let mut snapshots = snapshots(case, context);
    let doubtful = diagnosis.standing == Some(Standing::NeverPassed);
    if doubtful {
        let at = failure.at.as_deref().unwrap_or("the plan");
        next.push(if snapshots.is_empty() {
            format!("if the server is right, correct the expectation at {at}")
        } else {
            format!("if the server is right, store what it answered for the expectation at {at}:")
        });
        next.append(&mut snapshots);
        next.push("if the plan is right, mend the server".to_owned());
    }
    let outlives = diagnosis.excused.as_deref() == Some("not_repeatable");
    if outlives {
        next.push(
            "give the server a state of its own in each iteration, as a path below ${tmp}"
                .to_owned(),
        );
    }
    // To mend the server is no advice for what is not its fault, and of two
    // readings enough is said above.
    let advice = diagnosis.advice.fix.iter();
    let readings_said = doubtful || outlives;
    next.extend(
        advice
            .filter(|line| !readings_said || line.starts_with("$ "))
            .cloned(),
    );
    if !snapshots.is_empty() {
        next.push("where the new answer is right, store it:".to_owned());
        next.append(&mut snapshots);
    }
    if let Some(folder) = context.reports_dir {
        for line in next
            .iter_mut()
            .filter(|l| l.starts_with("$ jelly snapshot "))
        {
            line.push_str(&format!(" --reports-dir {}", shell_word(folder)));
        }
    }
    let started_by_us = match failure.phase {
        Phase::Spawn | Phase::Handshake | Phase::List => !failure.argv.is_empty(),
        Phase::Config | Phase::Call | Phase::Assert | Phase::Teardown => false,
    };
    if started_by_us {
        push_new(&mut next, format!("$ {}", shell_command(&failure.argv)));
    }
    if let Some(step) = case.steps.first() {
        push_new(
            &mut next,
            format!("$ jelly run {plan} --only {}", shell_word(step)),
        );
    } else if let Some(server) = &failure.server {
        // Without it, the next run would look no more.
        let check = match &failure.assertion {
            Some(assertion) if assertion.is_wire() => " --wire-check",
            Some(_) | None => "",
        };
        push_new(
            &mut next,
            format!("$ jelly run {plan} --only {}{check}", shell_word(server)),
        );
    } else {
        push_new(&mut next, format!("$ jelly run {plan}"));
    }
    // Trust matters only to a hook that is there to refine the code.
    if doubtful && case.iteration.budgets.before.code_refines > 0 {
        push_new(&mut next, format!("$ jelly run {plan} --trust-plan"));
    }
    next
}

/// The commands that review and store what was answered instead of snapshots.
fn snapshots(case: &Case<'_>, context: &HelpContext<'_>) -> Vec<String> {
    let failure = case.failure;
    let step = failure.step.as_deref().and_then(|id| context.plan.step(id));
    let predicates = step.into_iter().flat_map(|step| step.expect.predicates());
    let mismatched = predicates.filter(|predicate| {
        let source = &context.plan.source;
        predicate.operator == Operator::Snapshot
            && failure
                .assertion
                .as_ref()
                .is_some_and(|assertion| assertion.at.as_ref() == Some(&source.at(predicate.at)))
    });
    let name = mismatched
        .filter_map(|predicate| predicate.operand.as_str())
        .next();
    name.map_or_else(Vec::new, |name| {
        let plan = context.plan_word();
        vec![
            format!("$ jelly snapshot review --plan {plan}"),
            format!("$ jelly snapshot accept {name} --plan {plan}"),
        ]
    })
}

/// Advice may name the same command already.
fn push_new(next: &mut Vec<String>, line: String) {
    if !next.contains(&line) {
        next.push(line);
    }
}
