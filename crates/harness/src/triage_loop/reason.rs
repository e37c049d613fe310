//! The sentence that says why an iteration ended as it did.

use super::alike::kinds;
use super::ask::Ask;
use super::decide::Action;
use super::judge::Judged;
use super::loop_limit::LoopLimit;
use super::seen::{Observation, Policy};
use super::standing::Standings;
use crate::repair::Proposal;
use jelly_base::model::{Failure, IterationRecord, StepState};
use jelly_base::text::{first_names, plural};
use std::collections::BTreeMap;
use std::fmt;

/// Owners of failures of one cause that are named; the others are counted.
pub(super) const NAMED: usize = 10;

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
    (strongest, loop_limit): (Ask, Option<LoopLimit>),
) -> Option<String> {
    if observation.record.interrupted.is_some() {
        return Some("a signal ended the run".to_owned());
    }
    if standings.green {
        return Some("every step passed".to_owned());
    }
    if standings.skipped {
        return Some("all that was selected lacks what it requires".to_owned());
    }
    if standings.known {
        return Some("nothing but known failures stand".to_owned());
    }
    let going_on = strongest != Ask::Nothing;
    if observation.record.deadline_reached || (going_on && !observation.time_left) {
        return Some(LoopLimit::Deadline(policy.budgets.deadline).reason());
    }
    if !going_on {
        return Some(nothing_left(
            observation.record,
            judged,
            standings,
            policy,
            loop_limit,
        ));
    }
    (observation.index >= policy.budgets.max_iterations)
        .then_some(loop_limit)
        .flatten()
        .map(|loop_limit| format!("{} ({})", loop_limit.reason(), loop_limit.remedy()))
}

/// Why nothing is tried any more, by what stands: failures that are known don't.
fn nothing_left(
    record: &IterationRecord,
    judged: &[Judged],
    standings: &Standings,
    policy: &Policy,
    loop_limit: Option<LoopLimit>,
) -> String {
    let loop_limit =
        loop_limit.map(|loop_limit| format!("{} ({})", loop_limit.reason(), loop_limit.remedy()));
    let end = |nothing: &str| match &loop_limit {
        Some(loop_limit) => format!("; {loop_limit}"),
        None => format!("{nothing} nothing is left to try"),
    };
    let (known, judged): (Vec<&Judged>, Vec<&Judged>) =
        judged.iter().partition(|judged| judged.known.is_some());
    let doubtful: Vec<&Judged> = judged
        .iter()
        .copied()
        .filter(|j| j.is_doubtful() && !policy.trust_plan)
        .collect();
    let stands = judged.iter().any(|j| !j.is_code());
    match (standings.code, standings.test_side) {
        (true, _) if !doubtful.is_empty() => format!(
            "{}, but no history says that {} ever passed as the plan is now: the server is wrong, or the plan expects the wrong value",
            failed_the_same(&doubtful),
            if Owners::of_all(doubtful.iter().copied()).count == 1 {
                "it"
            } else {
                "they"
            }
        ),
        (true, false) => format!("code-side failures are confirmed{}", end(", and")),
        (true, true) if stands => {
            format!(
                "code-side failures are confirmed and test-side ones stand{}",
                end(", and")
            )
        }
        (true, true) => {
            format!(
                "code-side failures are confirmed, and not every step could run{}",
                end(";")
            )
        }
        (false, _) if !judged.is_empty() => {
            format!("test-side: {}{}", Owners::of_all(judged), end(";"))
        }
        (false, _) if known.is_empty() => unexplained(record),
        (false, _) => format!(
            "known failures aside ({}), not every step ran and passed{}",
            Owners::of_all(known),
            end(";")
        ),
    }
}

/// `step a (assertion_mismatch) failed the same way twice`, with the count of
/// each where they differ.
fn failed_the_same(judged: &[&Judged]) -> String {
    let mut by_count: BTreeMap<u32, Vec<&Judged>> = BTreeMap::new();
    for judged in judged {
        by_count.entry(judged.sightings()).or_default().push(judged);
    }
    let told: Vec<String> = by_count
        .iter()
        .rev()
        .map(|(count, judged)| {
            let owners = Owners::of_all(judged.iter().copied());
            format!("{owners} failed the same way {}", times(*count))
        })
        .collect();
    told.join(", ")
}

/// `once`, `twice`, `3 times`.
pub(super) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => plural(more, "time"),
    }
}

/// Why a run without a failure is not green.
fn unexplained(record: &IterationRecord) -> String {
    let quarantined = record
        .steps
        .iter()
        .filter(|s| s.state == StepState::Quarantined);
    let quarantined: Vec<&str> = quarantined.map(|step| step.id.as_str()).collect();
    match quarantined.as_slice() {
        [] => "not every step ran and passed, and no failure explains it".to_owned(),
        [one] => {
            format!("step {one} is quarantined, so the run can't pass, and nothing is left to try")
        }
        several => format!(
            "the steps {} are quarantined, so the run can't pass, and nothing is left to try",
            first_names(several, several.len(), NAMED)
        ),
    }
}

/// Why the loop goes on as it does.
pub(super) fn to_go_on(
    action: &Action,
    judged: &[Judged],
    asks: &[(Ask, Option<&Proposal>)],
) -> String {
    let asking = |wanted: Ask, one: &str, several: &str| {
        let asked = judged
            .iter()
            .zip(asks)
            .filter(|(_, (ask, _))| *ask == wanted);
        let owners = Owners::of_all(asked.map(|(judged, _)| judged));
        let verb = if owners.count == 1 { one } else { several };
        format!("{owners} {verb}")
    };
    match action {
        Action::RepairMcpPlan(proposals) => {
            let names: Vec<String> = kinds(proposals.iter(), |one, other| one.id == other.id)
                .iter()
                .map(|(proposal, count)| match (proposal.id.name(), *count) {
                    (name, 1) => name.to_owned(),
                    (name, several) => format!(
                        "{name} ({})",
                        times(u32::try_from(several).unwrap_or(u32::MAX))
                    ),
                })
                .collect();
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
        Action::Retry => asking(Ask::Retry, "may pass on a rerun", "may pass on a rerun"),
        Action::Confirm => {
            let mut confirmed = judged
                .iter()
                .zip(asks)
                .filter(|(_, (ask, _))| *ask == Ask::Confirm);
            // Some are excused whatever repeats.
            let is_proof =
                confirmed.all(|(j, _)| j.diagnosis.excused.as_deref() == Some("unconfirmed"));
            let why = match is_proof {
                true => "only the same mismatch on fresh servers is proof",
                false => "a run on fresh servers shows whether it repeats",
            };
            format!(
                "{} wrong in this way once: {why}",
                asking(Ask::Confirm, "was", "were")
            )
        }
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

/// Whose failures they are, those of one cause together: `step a (timeout),
/// steps b, c (internal_error)`.
struct Owners {
    /// Each once for each of its causes.
    count: usize,
    text: String,
}

impl Owners {
    fn of_all<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut causes: Vec<(&str, Vec<String>)> = Vec::new();
        for judged in judged {
            let cause = judged.diagnosis.root_cause.as_str();
            let owner = subject(&judged.failure);
            match causes.iter_mut().find(|(other, _)| *other == cause) {
                Some((_, owners)) if owners.contains(&owner) => {}
                Some((_, owners)) => owners.push(owner),
                None => causes.push((cause, vec![owner])),
            }
        }
        let count = causes.iter().map(|(_, owners)| owners.len()).sum();
        let told: Vec<String> = causes
            .iter()
            .map(|(cause, owners)| {
                let names = first_names(owners, owners.len(), NAMED);
                format!("{names} ({cause})")
            })
            .collect();
        let text = told.join(", ");
        Self { count, text }
    }
}

impl fmt::Display for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
