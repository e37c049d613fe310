//! What the history keeps of a run of a plan.

use jelly_base::model::{
    ActionKind, Assertion, Failure, FailureReport, FailureStatus, IterationReport, Phase,
    RunReport, ServerReport, ServerState, ShardRecord, StepReport, StepState, Template, deciding,
};
use jelly_harness::code_identity::ServerCode;
use jelly_harness::triage_loop::{
    EarlierStep, Foundations, PassedBefore, ProvenCode, Ran, definitions, proven_code,
};
use jelly_plan::Plan;
use jelly_triage::history::{
    PastCause, PastFailure, PastPass, PastReport, PastRun, ProvenPasses, RunKind, TestName,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

/// What the history says of steps that passed.
#[must_use]
pub fn passed_before(passed_as: impl Fn(&str, Option<&str>) -> bool + 'static) -> PassedBefore {
    PassedBefore::new(move |definition, code| {
        let code = code.map(written);
        passed_as(&written(definition), code.as_deref())
    })
}

/// A definition as the history keeps it. Another version of jelly may give a
/// step another one; then it has shown nothing yet, which blames nobody.
fn written(definition: u64) -> String {
    format!("{definition:016x}")
}

/// What the steps of the last iteration rested on.
pub struct RestedOn<'o> {
    /// Each by itself.
    pub steps: &'o Foundations,
    /// The same if the snapshots that the iteration proposes were stored.
    pub accepted: Option<Foundations>,
    /// How far each of them got.
    pub ran: &'o [Ran],
    /// What is proved of the code of its servers.
    pub code: &'o ServerCode,
    /// The plan's path in the project, where it lies there.
    pub place: Option<String>,
    /// The part of a larger run that it was in.
    pub shard: Option<&'o ShardRecord>,
}

/// The end of a run, as it is remembered: its last iteration, with the steps
/// that failed before and passed in the end.
#[must_use]
pub fn past_run(
    report: &RunReport,
    rested_on: &RestedOn<'_>,
    templates: &HashMap<String, Template>,
    watched: impl Fn(&TestName) -> bool,
) -> PastRun {
    let mut run = PastRun::new(RunKind::Run, Some(report.started_at.clone()));
    if let Some(shard) = rested_on.shard {
        run.origin.run_key = shard.is_named().then(|| shard.run_key.clone());
        run.origin.attempt = Some(shard.attempt);
        run.origin.shard = Some(shard.index);
        run.origin.shards = Some(shard.total);
    }
    run.reports.push(PastReport {
        path: report.plan.path.clone(),
        digest: identity_of_run(report, rested_on.shard),
        duration_ms: rested_on.place.is_some().then_some(report.duration_ms),
        place: rested_on.place.clone(),
    });
    let Some(last) = report.iterations.last() else {
        return run;
    };
    let plan = report.plan.name.as_str();
    // Both are in the order of the plan.
    let ended = last.steps.iter().zip(rested_on.ran);
    let earlier: Vec<EarlierStep> = ended
        .map(|(step, ran)| EarlierStep {
            id: step.id.clone(),
            server: step.server.clone(),
            section: step.section,
            ran: *ran,
        })
        .collect();
    let mut proven = Proven::default();
    if let Some(accepted) = &rested_on.accepted {
        let mut earlier = earlier.clone();
        let held = held_if_accepted(last, &mut earlier);
        let definitions = definitions(accepted, &earlier);
        let code = proven_code(accepted, &earlier, rested_on.code);
        for (id, definition) in definitions {
            if held.contains(id.as_str()) {
                run.passed_if_accepted.push(written(definition));
                proven.add(code.get(&id), definition);
            }
        }
    }
    let definitions = definitions(rested_on.steps, &earlier);
    let code = proven_code(rested_on.steps, &earlier, rested_on.code);
    // What a step failed by is one entry of its history.
    for failure in last.failures_by_step().filter_map(deciding) {
        let of_step = |step: &&StepReport| failure.step.as_ref() == Some(&step.id);
        let duration = last.steps.iter().find(of_step).and_then(took);
        add(
            &mut run,
            (plan, failure, duration),
            FailureStatus::Failure,
            templates,
        );
    }
    for step in &last.steps {
        match step.state {
            StepState::Passed => match earlier_failure(report, step) {
                Some(failure) => {
                    let failure = (plan, failure, took(step));
                    add(&mut run, failure, FailureStatus::Flaky, templates);
                }
                None => {
                    let definition = definitions.get(&step.id).copied();
                    if let Some(definition) = definition {
                        proven.add(code.get(&step.id), definition);
                    }
                    run.passed.push(PastPass {
                        report: 0,
                        test: TestName::new(plan, &step.server, &step.id),
                        definition: definition.map(written),
                        duration_ms: took(step),
                    });
                }
            },
            StepState::Failed
            | StepState::Blocked
            | StepState::Quarantined
            | StepState::Skipped => {}
        }
    }
    run.proven = proven.listed();
    for server in &last.servers {
        for name in well(server, &last.failures) {
            let test = TestName::new(plan, &server.name, name);
            match retried(report, &server.name, name) {
                Some(failure) => {
                    add(
                        &mut run,
                        (plan, failure, None),
                        FailureStatus::Flaky,
                        templates,
                    );
                }
                // That a server works is worth a note where it did not.
                None if watched(&test) => run.passed.push(PastPass {
                    report: 0,
                    test,
                    definition: None,
                    duration_ms: None,
                }),
                None => {}
            }
        }
    }
    run
}

/// By what stands for the code: the definitions of what passed on it.
#[derive(Default)]
struct Proven(BTreeMap<u64, BTreeSet<u64>>);

impl Proven {
    fn add(&mut self, code: Option<&Rc<ProvenCode>>, definition: u64) {
        if let Some(code) = code {
            self.0.entry(code.key()).or_default().insert(definition);
        }
    }

    fn listed(self) -> Vec<ProvenPasses> {
        let passes = |(code, definitions): (u64, BTreeSet<u64>)| ProvenPasses {
            code: written(code),
            definitions: definitions.into_iter().map(written).collect(),
        };
        self.0.into_iter().map(passes).collect()
    }
}

fn took(step: &StepReport) -> Option<u64> {
    // Nothing takes so long that it would not fit.
    step.duration_ms.map(|took| took.round() as u64)
}

/// What is recorded once: a plan in one call, however often its results are
/// delivered. The key of a run is not enough, since jobs of a matrix may share
/// it, and without a CI all runs of the same plans do; nor is the id, which
/// machines that start at the same moment may share.
#[must_use]
pub fn identity_of_run(report: &RunReport, shard: Option<&ShardRecord>) -> String {
    // The combinations of a matrix share run and path.
    let plan = format!("{}/{}", report.plan.path, report.plan.name);
    let call = format!("{}/{}", report.run_id, report.started_at);
    match shard {
        None => format!("{call}/{plan}"),
        Some(shard) => format!(
            "{}/{}/{}of{}/{call}/{plan}",
            shard.run_key, shard.attempt, shard.index, shard.total
        ),
    }
}

/// The steps that passed, or that failed by nothing but snapshots: once these are
/// accepted, their answers are what is expected. `earlier` says then that they are
/// done.
fn held_if_accepted<'r>(
    last: &'r IterationReport,
    earlier: &mut [EarlierStep],
) -> BTreeSet<&'r str> {
    let by_snapshots = |step: &StepReport| {
        let mut failures = last
            .failures
            .iter()
            .filter(|failure| failure.step.as_deref() == Some(step.id.as_str()))
            .peekable();
        // A new snapshot quarantines its step.
        matches!(step.state, StepState::Failed | StepState::Quarantined)
            && failures.peek().is_some()
            && failures.all(is_of_snapshot)
    };
    last.steps
        .iter()
        .zip(earlier)
        .filter_map(|(step, earlier)| {
            if by_snapshots(step) {
                earlier.ran = Ran::Done;
                return Some(step.id.as_str());
            }
            (step.state == StepState::Passed && !step.flaky).then_some(step.id.as_str())
        })
        .collect()
}

/// The answer was held against a snapshot, and this is all that was wrong.
fn is_of_snapshot(failure: &FailureReport) -> bool {
    let differs = |assertion: &Assertion| assertion.kind == "snapshot";
    failure.diagnosis.root_cause == "missing_snapshot"
        || failure.assertion.as_ref().is_some_and(differs)
}

/// What went well with a server in the last iteration, by the names under
/// which it would have failed.
pub fn well(server: &ServerReport, failures: &[FailureReport]) -> Vec<&'static str> {
    let started = match server.state {
        ServerState::Ready | ServerState::Died | ServerState::Refused => true,
        ServerState::NotStarted | ServerState::Failed => false,
    };
    let looked = [
        (START, started),
        (SERVER, server.state == ServerState::Ready),
        (STOP, server.state == ServerState::Ready),
        (WIRE, server.wire_check.is_some()),
    ];
    let failed = |name: &str| failures.iter().any(|f| is_of(f, &server.name, name));
    let well = looked
        .into_iter()
        .filter(|(name, looked)| *looked && !failed(name));
    well.map(|(name, _)| name).collect()
}

/// The names under which the servers of a plan fail or work by themselves.
#[must_use]
pub fn own_tests(plan: &Plan) -> Vec<TestName> {
    let servers = plan.servers.keys().chain(plan.services.keys());
    let names = servers.flat_map(|server| [START, SERVER, STOP, WIRE].map(|name| (server, name)));
    names
        .map(|(server, name)| TestName::new(&plan.name, server, name))
        .collect()
}

/// The last failure of a server by itself, where nothing but another run of
/// the same helped it.
fn retried<'r>(report: &'r RunReport, server: &str, name: &str) -> Option<&'r FailureReport> {
    let is_rerun = |iteration: &&IterationReport| match iteration.action.kind {
        ActionKind::Retry | ActionKind::Confirm | ActionKind::Stop => true,
        ActionKind::RepairMcpPlan | ActionKind::FixTests | ActionKind::RefineCode => false,
    };
    let reruns = report.iterations.iter().rev().take_while(is_rerun);
    let mut failures = reruns.flat_map(|iteration| &iteration.failures);
    failures.find(|failure| is_of(failure, server, name))
}

fn is_of(failure: &FailureReport, server: &str, name: &str) -> bool {
    failure.step.is_none() && failure.server.as_deref() == Some(server) && own_name(failure) == name
}

const START: &str = "(start)";
const SERVER: &str = "(server)";
const STOP: &str = "(stop)";
const WIRE: &str = "(wire)";

/// How a failure's test is called in the history, and in a list of known
/// failures.
#[must_use]
pub fn test_of(plan: &str, failure: &Failure) -> TestName {
    let phase = failure.phase.unwrap_or(Phase::Call);
    let own = || own_name_of(failure.assertion.as_ref(), phase);
    TestName::new(
        plan,
        failure.server.as_deref().unwrap_or_default(),
        failure.step.as_deref().unwrap_or_else(own),
    )
}

/// The same of one that is reported.
#[must_use]
pub fn reported_test(plan: &str, failure: &FailureReport) -> TestName {
    let server = failure.server.as_deref().unwrap_or_default();
    let name = failure.step.as_deref().unwrap_or_else(|| own_name(failure));
    TestName::new(plan, server, name)
}

/// Under which name a server's own failure is remembered.
fn own_name(failure: &FailureReport) -> &'static str {
    own_name_of(failure.assertion.as_ref(), failure.phase)
}

fn own_name_of(assertion: Option<&Assertion>, phase: Phase) -> &'static str {
    if assertion.is_some_and(Assertion::is_wire) {
        return WIRE;
    }
    match phase {
        Phase::Config | Phase::Spawn | Phase::Handshake | Phase::List => START,
        Phase::Call | Phase::Assert => SERVER,
        Phase::Teardown => STOP,
    }
}

/// The last failure of a step that is flaky.
fn earlier_failure<'r>(report: &'r RunReport, step: &StepReport) -> Option<&'r FailureReport> {
    let mut iterations = report.iterations.iter().rev().filter(|_| step.flaky);
    iterations.find_map(|iteration| iteration.deciding_failure_of(&step.id))
}

fn add(
    run: &mut PastRun,
    (plan, failure, duration_ms): (&str, &FailureReport, Option<u64>),
    status: FailureStatus,
    templates: &HashMap<String, Template>,
) {
    let diagnosis = &failure.diagnosis;
    run.causes
        .entry(diagnosis.fingerprint.clone())
        .or_insert_with(|| {
            let template = templates.get(&diagnosis.fingerprint).cloned();
            PastCause::new(diagnosis, template.unwrap_or_default())
        });
    run.keep_label(diagnosis);
    run.failures.push(PastFailure {
        report: 0,
        test: reported_test(plan, failure),
        status,
        fingerprint: diagnosis.fingerprint.clone(),
        test_fingerprint: diagnosis.test_fingerprint.clone(),
        duration_ms,
    });
}

/// Which plan it is, wherever its checkout lies: its place in the repository,
/// or without one in the project folder.
pub fn identity(plan: &Path, project: &Path) -> String {
    let Ok(plan) = std::path::absolute(plan) else {
        return plan.display().to_string();
    };
    let repository = plan
        .ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists());
    let from = |folder: &Path| Some(plan.strip_prefix(folder).ok()?.display().to_string());
    repository
        .and_then(from)
        .or_else(|| from(project))
        .or_else(|| Some(plan.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_default()
}
