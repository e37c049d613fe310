//! The sentence that says why an iteration ended as it did.

use super::ask::Ask;
use super::decide::Action;
use super::judge::Judged;
use super::lever::Lever;
use super::seen::{Observation, Policy};
use super::standing::Standings;
use crate::model::Failure;
use crate::repair::Proposal;

/// How a failure's owner is called, as in `servers.files` or `step read`.
pub(super) fn subject(failure: &Failure) -> String {
    match (&failure.step, &failure.server) {
        (Some(step), _) => format!("step {step}"),
        (None, Some(server)) => format!("server {server}"),
        (None, None) => "the plan".to_owned(),
    }
}

/// Why the loop stops, if it does.
pub(super) fn to_stop(
    observation: &Observation<'_>,
    policy: &Policy,
    judged: &[Judged],
    standings: &Standings,
    (strongest, lever): (Ask, Option<Lever>),
) -> Option<String> {
    if observation.record.interrupted.is_some() {
        return Some("a signal ended the run".to_owned());
    }
    if standings.green {
        return Some("every step passed".to_owned());
    }
    let going_on = strongest != Ask::Nothing;
    if observation.record.deadline_reached || (going_on && !observation.time_left) {
        return Some(Lever::Deadline(policy.budgets.deadline).told());
    }
    if !going_on {
        return Some(nothing_left(judged, standings, policy, lever));
    }
    (observation.index >= policy.budgets.max_iterations)
        .then_some(lever)
        .flatten()
        .map(|lever| format!("{} ({})", lever.told(), lever.remedy()))
}

/// Why nothing is tried any more.
fn nothing_left(
    judged: &[Judged],
    standings: &Standings,
    policy: &Policy,
    lever: Option<Lever>,
) -> String {
    let lever = lever.map(|lever| format!("{} ({})", lever.told(), lever.remedy()));
    let end = |nothing: &str| match &lever {
        Some(lever) => format!("; {lever}"),
        None => format!("{nothing} nothing is left to try"),
    };
    let doubtful = list(
        judged
            .iter()
            .filter(|j| j.is_doubtful() && !policy.trust_plan),
    );
    match (standings.code, standings.test_side) {
        (true, _) if !doubtful.is_empty() => format!(
            "{doubtful} failed the same way twice, but was never seen to pass: the server is wrong, or the plan expects the wrong value"
        ),
        (true, false) => format!("code-side failures are confirmed{}", end(", and")),
        (true, true) => {
            format!(
                "code-side failures are confirmed and test-side ones stand{}",
                end(", and")
            )
        }
        (false, _) if judged.is_empty() => {
            "not every step ran and passed, and no failure explains it".to_owned()
        }
        (false, _) => format!("test-side: {}{}", list(judged.iter()), end(";")),
    }
}

/// Why the loop goes on as it does.
pub(super) fn to_go_on(
    action: &Action,
    judged: &[Judged],
    asks: &[(Ask, Option<&Proposal>)],
) -> String {
    let asking = |wanted: Ask, one: &str, several: &str| {
        let names = names(
            judged
                .iter()
                .zip(asks)
                .filter(|(_, (ask, _))| *ask == wanted)
                .map(|(judged, _)| judged),
        );
        let verb = if names.len() == 1 { one } else { several };
        format!("{} {verb}", names.join(", ")).trim_end().to_owned()
    };
    match action {
        Action::RepairMcpPlan(proposals) => {
            let names: Vec<&str> = proposals.iter().map(|p| p.id.name()).collect();
            let repaired = asks.iter().any(|(ask, _)| *ask == Ask::Repair);
            let wanted = if repaired {
                Ask::Repair
            } else {
                Ask::Quarantine
            };
            let applies = if names.len() == 1 { "applies" } else { "apply" };
            format!(
                "{} test-side, and {} {applies}",
                asking(wanted, "is", "are"),
                names.join(", ")
            )
        }
        Action::Retry => format!("{} may pass by itself", asking(Ask::Retry, "", "")),
        Action::Confirm => format!(
            "{} wrong once: only the same mismatch on fresh servers is proof",
            asking(Ask::Confirm, "was", "were")
        ),
        Action::FixTests => format!(
            "{} test-side, and no repair applies",
            asking(Ask::FixTests, "is", "are")
        ),
        Action::RefineCode => format!(
            "{} code-side, and nothing test-side is left",
            asking(Ask::RefineCode, "is", "are")
        ),
        Action::Stop => String::new(),
    }
}

/// Whose failures they are and of which cause, each once.
fn names<'a>(judged: impl Iterator<Item = &'a Judged>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for judged in judged {
        let name = format!(
            "{} ({})",
            subject(&judged.failure),
            judged.diagnosis.root_cause
        );
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn list<'a>(judged: impl Iterator<Item = &'a Judged>) -> String {
    names(judged).join(", ")
}
