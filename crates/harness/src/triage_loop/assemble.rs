//! From what was recorded and decided to what is reported.

use super::decide::{Decision, Flaky};
use super::judge::Judged;
use indexmap::IndexMap;
use jelly_base::model::{
    ActionReport, Diagnosis, Failure, FailureReport, IterationRecord, IterationReport, Phase,
    StepReport, StepState, Totals, deciding,
};
use jelly_plan::{Location, Plan};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The report of an iteration; its action is filled in as it happens.
pub(super) fn iteration(
    index: u32,
    record: &IterationRecord,
    decision: &Decision,
    plan: &Plan,
    attempts: &mut BTreeMap<String, u32>,
    duration_ms: u64,
) -> IterationReport {
    // Of what may be thousands, each is looked up once.
    let places: HashMap<&str, Location> = match decision.judged.is_empty() {
        true => HashMap::new(),
        false => plan.all_steps().map(|step| (&*step.id, step.at)).collect(),
    };
    let judged = decision.judged.iter();
    let failures: Vec<FailureReport> = judged.map(|j| failure(j, (plan, &places))).collect();
    let by_step = failures.chunk_by(|one, other| one.step == other.step);
    let deciding: BTreeMap<&str, &Diagnosis> = by_step
        .filter_map(deciding)
        .filter_map(|failure| Some((failure.step.as_deref()?, &failure.diagnosis)))
        .collect();
    let steps: Vec<StepReport> = record
        .steps
        .iter()
        .map(|step| {
            let diagnosis = deciding.get(step.id.as_str()).copied();
            finished_step(step, decision, diagnosis, attempts)
        })
        .collect();
    IterationReport {
        index,
        totals: Totals::of(&steps),
        servers: record.servers.clone(),
        steps,
        failures,
        action: ActionReport {
            kind: decision.action.kind(),
            reason: decision.reason.clone(),
            ..ActionReport::default()
        },
        budgets: decision.budgets,
        duration_ms,
    }
}

/// A step with its attempts added up and its diagnosis in short: that of the
/// failure which decides.
fn finished_step(
    step: &StepReport,
    decision: &Decision,
    diagnosis: Option<&Diagnosis>,
    attempts: &mut BTreeMap<String, u32>,
) -> StepReport {
    let so_far = attempts.entry(step.id.clone()).or_default();
    *so_far = so_far.saturating_add(step.attempts);
    StepReport {
        attempts: *so_far,
        error_category: diagnosis.and_then(|d| d.error_category),
        retryable: diagnosis.and_then(|d| d.retryable),
        flaky: decision.flaky_steps.iter().any(|f| f.step == step.id),
        ..step.clone()
    }
}

/// Has the steps that a repair took out of the run stand for what they were taken
/// out for: the failures of the last of these iterations that has some of theirs.
pub(super) fn keep_taken_out(
    report: &mut IterationReport,
    taken_out: &BTreeSet<String>,
    before: &[IterationReport],
) {
    if taken_out.is_empty() {
        return;
    }
    let failed: HashSet<&str> = steps_of(&report.failures).collect();
    let out = report.steps.iter().enumerate().filter(|(_, step)| {
        let is_out = step.state == StepState::Quarantined && taken_out.contains(&step.id);
        is_out && !failed.contains(step.id.as_str())
    });
    let mut wanted: HashMap<&str, usize> = out.map(|(at, s)| (s.id.as_str(), at)).collect();
    let mut kept: Vec<(usize, Vec<FailureReport>)> = Vec::new();
    for iteration in before.iter().rev() {
        if wanted.is_empty() {
            break;
        }
        for failures in iteration.failures_by_step() {
            let step = failures.first().and_then(|one| one.step.as_deref());
            if let Some(at) = step.and_then(|step| wanted.remove(step)) {
                kept.push((at, failures.to_vec()));
            }
        }
    }
    if kept.is_empty() {
        return;
    }
    for (at, failures) in &kept {
        let diagnosis = deciding(failures).map(|failure| &failure.diagnosis);
        if let Some(step) = report.steps.get_mut(*at) {
            step.error_category = diagnosis.and_then(|it| it.error_category);
            step.retryable = diagnosis.and_then(|it| it.retryable);
        }
    }
    // Failures of servers stand before those of steps, which are in the plan's order.
    let places: HashMap<&str, usize> = report
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| (step.id.as_str(), at))
        .collect();
    let failures = kept.into_iter().flat_map(|(_, failures)| failures);
    report.failures.extend(failures);
    report
        .failures
        .sort_by_key(|failure| places.get(failure.step.as_deref()?).copied());
}

fn steps_of(failures: &[FailureReport]) -> impl Iterator<Item = &str> {
    failures
        .iter()
        .filter_map(|failure| failure.step.as_deref())
}

fn failure(judged: &Judged, (plan, places): (&Plan, &HashMap<&str, Location>)) -> FailureReport {
    let failure = &judged.failure;
    let at = failure
        .assertion
        .as_ref()
        .and_then(|assertion| assertion.at.clone())
        .or_else(|| failure.issue.as_ref()?.at().map(str::to_owned))
        .or_else(|| {
            place(
                failure.step.as_deref(),
                failure.server.as_deref(),
                (plan, places),
            )
        });
    FailureReport {
        server: failure.server.clone(),
        step: failure.step.clone(),
        phase: failure.phase.unwrap_or(Phase::Call),
        message: failure
            .message
            .clone()
            .unwrap_or_else(|| judged.diagnosis.advice.what.clone()),
        exit: failure.exit.clone(),
        argv: failure.argv.clone(),
        cwd: failure.cwd.clone(),
        variables: owned(failure.variables()),
        url: failure.url.clone(),
        stdout_tail: failure.stdout.clone().filter(|text| !text.is_empty()),
        rpc_error: failure.rpc_error.clone(),
        http: failure.http.clone(),
        stderr_tail: failure.stderr.clone().unwrap_or_default(),
        request: failure.request.clone(),
        at,
        assertion: failure.assertion.clone(),
        mismatch: failure.mismatch,
        outcome: failure.outcome,
        error_text: error_text(failure),
        own_limit: failure.beyond(),
        known: judged.known.clone(),
        diagnosis: judged.diagnosis.clone(),
    }
}

fn owned(variables: Vec<(&str, &str)>) -> IndexMap<String, String> {
    let variables = variables.into_iter();
    variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What a tool told of its error in several lines, and no more of it than a
/// stack takes.
fn error_text(failure: &Failure) -> Option<String> {
    const LONGEST: usize = 4 * 1024;
    let result = failure.tool_result.as_ref()?;
    let text = result.text.trim_end();
    let told = result.is_error && failure.mismatch.is_none() && text.contains('\n');
    told.then(|| text[..text.floor_char_boundary(LONGEST)].to_owned())
}

/// Where the plan speaks of a step, or else of a server.
fn place(
    step: Option<&str>,
    server: Option<&str>,
    (plan, places): (&Plan, &HashMap<&str, Location>),
) -> Option<String> {
    let at = match step {
        Some(id) => *places.get(id)?,
        None => plan.servers.get(server?)?.at,
    };
    Some(plan.at(at))
}

/// Earlier failures of a step that passes by itself were flaky.
pub(super) fn mark_flaky(iterations: &mut [IterationReport], flaky: &[Flaky]) {
    for step in flaky {
        for iteration in iterations.iter_mut().filter(|i| i.index > step.mended) {
            for failure in &mut iteration.failures {
                if failure.step.as_ref() == Some(&step.step) {
                    failure.diagnosis.flaky = true;
                }
            }
        }
    }
}
