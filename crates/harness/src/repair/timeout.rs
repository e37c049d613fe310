//! `raise_timeout`: time ran out though the server showed life, so it gets
//! twice as much, up to a cap.

use super::target::step_target;
use super::types::{Proposal, RepairId};
use jelly_base::model::{Diagnosis, ErrorCategory, Failure, Outcome, Phase};
use jelly_base::text::human_duration;
use jelly_plan::{DocPath, Plan, PlanEdit, Server, Step};
use serde_json::Value;
use std::time::Duration;

/// No limit is raised beyond this.
const CAP: Duration = Duration::from_secs(5 * 60);

pub(super) fn propose(plan: &Plan, failure: &Failure, diagnosis: &Diagnosis) -> Option<Proposal> {
    let ran_out = failure.outcome == Some(Outcome::Timeout)
        || diagnosis.error_category == Some(ErrorCategory::Timeout);
    if !ran_out || failure.showed_life != Some(true) {
        return None;
    }
    let server = plan.servers.get(failure.server.as_ref()?)?;
    match failure.phase? {
        Phase::Spawn | Phase::Handshake | Phase::List => raise_startup(server),
        Phase::Call => {
            let step = plan
                .step(failure.step.as_ref()?)
                .filter(|step| !step.expects_error())?;
            raise_request(server, step)
        }
        Phase::Config | Phase::Assert | Phase::Teardown => None,
    }
}

fn raise_startup(server: &Server) -> Option<Proposal> {
    let to = doubled(server.startup_timeout)?;
    let mut proposal = Proposal::new(
        RepairId::RaiseTimeout,
        format!("servers.{}", server.name),
        format!(
            "gave {} {} to start instead of {}, since it showed life when time ran out",
            server.name,
            human_duration(to),
            human_duration(server.startup_timeout)
        ),
    );
    proposal
        .edits
        .push(set(server.path.key("startup_timeout"), to));
    Some(proposal)
}

/// At the step if that has a limit of its own, else at the server.
fn raise_request(server: &Server, step: &Step) -> Option<Proposal> {
    let from = step.timeout.unwrap_or(server.request_timeout);
    let to = doubled(from)?;
    let (target, path) = match step.timeout {
        Some(_) => (step_target(step), step.path.key("timeout")),
        None => (
            format!("servers.{}", server.name),
            server.path.key("request_timeout"),
        ),
    };
    let mut proposal = Proposal::new(
        RepairId::RaiseTimeout,
        target,
        format!(
            "gave {} {} to answer instead of {}, since the server showed life when time ran out",
            step.id,
            human_duration(to),
            human_duration(from)
        ),
    );
    proposal.edits.push(set(path, to));
    proposal.steps_touched.push(step.id.clone());
    proposal.contract = true;
    Some(proposal)
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
