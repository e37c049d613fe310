//! `raise_timeout`: time ran out though the server showed life, so it gets
//! twice as much, up to a cap.

use crate::repair::case::{FailureCase, server_target, step_target};
use crate::repair::types::{Proposal, RepairId};
use jelly_base::model::{ErrorCategory, Outcome, Phase};
use jelly_base::text::human_duration;
use jelly_plan::{DocPath, PlanEdit, Server, Step};
use serde_json::Value;
use std::time::Duration;

/// No limit is raised beyond this.
const CAP: Duration = Duration::from_secs(5 * 60);
/// Nor is what progress extends one to.
const TOTAL_CAP: Duration = Duration::from_secs(15 * 60);

pub(super) fn raise(case: &FailureCase<'_>) -> Option<Proposal> {
    let ran_out = case.failure.outcome == Some(Outcome::Timeout)
        || case.diagnosis.error_category == Some(ErrorCategory::Timeout);
    // What no rerun mends, as a variable that is missing, is not a matter of time.
    let category = case.diagnosis.error_category;
    let has_other_cause = category.is_some_and(|category| category != ErrorCategory::Timeout)
        && case.diagnosis.retryable == Some(false);
    if !ran_out || has_other_cause || case.failure.showed_life != Some(true) {
        return None;
    }
    let server = case.server()?;
    match case.failure.phase? {
        Phase::Spawn | Phase::Handshake | Phase::List => raise_startup(server),
        // It went when the call was given up, so that more time would be no help.
        Phase::Call if case.failure.exit.is_some() => None,
        Phase::Call => raise_request(server, case.step()?, case.failure.timeout_s),
        Phase::Config | Phase::Assert | Phase::Teardown => None,
    }
}

fn raise_startup(server: &Server) -> Option<Proposal> {
    let from = server.startup_timeout;
    let to = doubled(from)?;
    let explanation = format!(
        "gave {} {} to start instead of {}, since it showed life when time ran out",
        server.name,
        human_duration(to),
        human_duration(from)
    );
    let target = server_target(&server.name);
    Some(Proposal {
        edits: vec![set(server.path.key("startup_timeout"), to)],
        ..Proposal::new(RepairId::RaiseTimeout, target, explanation)
    })
}

/// At the step if that has a limit of its own, else at the server.
fn raise_request(server: &Server, step: &Step, ran_out: Option<f64>) -> Option<Proposal> {
    // What was waited for in vain is not one answer, but the right one.
    let until = step.until.as_ref().map(|until| until.lasts);
    let until = until.filter(|lasts| ran_out == Some(lasts.as_secs_f64()));
    // Where progress extended the limit to its end, more of the limit is no help.
    let total = step.total_limit(server);
    let usual = step.limit(server);
    let total = total.filter(|total| *total > usual && ran_out == Some(total.as_secs_f64()));
    let from = until.or(total).unwrap_or(usual);
    let to = match total {
        Some(_) if until.is_none() => from.saturating_mul(2).min(TOTAL_CAP),
        _ => from.saturating_mul(2).min(CAP),
    };
    if to <= from {
        return None;
    }
    let (target, path) = match step.timeout {
        _ if until.is_none() && total.is_some() => match step.total_timeout {
            Some(_) => (step_target(step), step.path.key("total_timeout")),
            None => (
                server_target(&server.name),
                server.path.key("total_timeout"),
            ),
        },
        _ if until.is_some() => (step_target(step), step.path.key("until").key("for")),
        Some(_) => (step_target(step), step.path.key("timeout")),
        None => (
            server_target(&server.name),
            server.path.key("request_timeout"),
        ),
    };
    // What is set at the server holds for all who ask it.
    let whom = match target == server_target(&server.name) {
        true => format!("every step on {}", server.name),
        false => step.id.clone(),
    };
    let explanation = format!(
        "gave {whom} {} to answer instead of {}, since the server showed life when time ran out",
        human_duration(to),
        human_duration(from)
    );
    let proposal = Proposal::of_step(RepairId::RaiseTimeout, target, explanation, step);
    Some(proposal.with(set(path, to)))
}

fn doubled(limit: Duration) -> Option<Duration> {
    let to = limit.saturating_mul(2).min(CAP);
    (to > limit).then_some(to)
}

fn set(path: DocPath, limit: Duration) -> PlanEdit {
    let text = if limit.subsec_nanos() == 0 {
        format!("{}s", limit.as_secs())
    } else {
        format!("{}ms", limit.as_millis())
    };
    PlanEdit::Set {
        path,
        value: Value::String(text),
    }
}
