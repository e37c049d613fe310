//! What the history keeps of a run of a plan.

use crate::harness::{EarlierStep, Foundations, PassedBefore, definitions};
use crate::history::{
    Past, PastCause, PastFailure, PastPass, PastReport, PastRun, RunKind, TestName,
};
use crate::model::{
    FailureReport, FailureStatus, Phase, RunReport, StepReport, StepState, Template, deciding,
};
use std::collections::HashMap;
use std::rc::Rc;

/// What the history says of steps that passed.
#[must_use]
pub fn passed_before(past: Rc<Past>) -> PassedBefore {
    PassedBefore::new(move |definition| past.passed_as(&written(definition)))
}

/// A definition as the history keeps it. Another version of jelly may give a
/// step another one; then it has shown nothing yet, which blames nobody.
fn written(definition: u64) -> String {
    format!("{definition:016x}")
}

/// The end of a run, as it is remembered: its last iteration, with the steps
/// that failed before and passed in the end.
#[must_use]
pub fn past_run(
    report: &RunReport,
    (steps, earlier): (&Foundations, &[EarlierStep]),
    templates: &HashMap<String, Template>,
) -> PastRun {
    let mut run = PastRun::new(RunKind::Run, Some(report.started_at.clone()));
    run.reports.push(PastReport {
        path: report.plan.path.clone(),
        // The combinations of a matrix share run and path.
        digest: format!(
            "{}/{}/{}",
            report.run_id, report.plan.path, report.plan.name
        ),
    });
    let Some(last) = report.iterations.last() else {
        return run;
    };
    let plan = report.plan.name.as_str();
    let definitions = definitions(steps, earlier);
    // What a step failed by is one entry of its history.
    for failure in last.failures_by_step().filter_map(deciding) {
        add(&mut run, plan, failure, FailureStatus::Failure, templates);
    }
    for step in &last.steps {
        match step.state {
            StepState::Passed => match earlier_failure(report, step) {
                Some(failure) => {
                    add(&mut run, plan, failure, FailureStatus::Flaky, templates);
                }
                None => run.passed.push(PastPass {
                    report: 0,
                    test: TestName::new(plan, &step.server, &step.id),
                    definition: definitions.get(&step.id).map(|known| written(*known)),
                }),
            },
            StepState::Failed
            | StepState::Blocked
            | StepState::Quarantined
            | StepState::Skipped => {}
        }
    }
    run
}

/// The last failure of a step that is flaky.
fn earlier_failure<'r>(report: &'r RunReport, step: &StepReport) -> Option<&'r FailureReport> {
    let mut iterations = report.iterations.iter().rev().filter(|_| step.flaky);
    iterations.find_map(|iteration| iteration.deciding_failure_of(&step.id))
}

fn add(
    run: &mut PastRun,
    plan: &str,
    failure: &FailureReport,
    status: FailureStatus,
    templates: &HashMap<String, Template>,
) {
    let diagnosis = &failure.diagnosis;
    let server = failure.server.as_deref().unwrap_or_default();
    let name = match (&failure.step, failure.phase) {
        (Some(step), _) => step.clone(),
        (None, Phase::Config | Phase::Spawn | Phase::Handshake | Phase::List) => "(start)".into(),
        (None, Phase::Call | Phase::Assert) => "(server)".into(),
        (None, Phase::Teardown) => "(stop)".into(),
    };
    run.causes
        .entry(diagnosis.fingerprint.clone())
        .or_insert_with(|| {
            let template = templates.get(&diagnosis.fingerprint).cloned();
            PastCause::new(diagnosis, template.unwrap_or_default())
        });
    run.failures.push(PastFailure {
        report: 0,
        test: TestName::new(plan, server, &name),
        status,
        fingerprint: diagnosis.fingerprint.clone(),
        test_fingerprint: diagnosis.test_fingerprint.clone(),
    });
}
