//! The help summary: what happened, the evidence, what was tried and what to
//! type next, told as one colleague tells another. Deterministic.

use super::call_flags::{CallFlag, CallFlags};
use super::help_cases::{Lookup, cases, sightings_by_cause};
use super::help_problem::{Case, problem};
use super::loop_limit::LoopLimit;
use super::proofs::Proof;
use super::reason::NAMED;
use super::run::PassedOver;
use super::undo::Undo;
use super::verdict::{Course, Taint};
use jelly_base::model::{
    Because, FailureReport, HelpProblem, HelpSummary, IterationReport, RunCause, Section, Side,
    Standing, StepReport, StepState, all_known, problems_by_cause,
};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{first_names, human_duration, plural, shell_path};
use jelly_plan::Plan;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// What the summary is told besides the iterations.
pub(super) struct HelpContext<'a> {
    pub plan: &'a Plan,
    pub course: &'a Course,
    pub passed_over: &'a [PassedOver],
    /// What was held against the code, and still is.
    pub proofs: &'a [Proof],
    /// What keeps failures from their next step, by test fingerprint.
    pub loop_limits: &'a BTreeMap<String, LoopLimit>,
    /// As of [`LoopSettings`](super::LoopSettings).
    pub reports_dir: Option<&'a str>,
    /// As of the same.
    pub call_flags: &'a CallFlags,
    /// How it is taken back that files are others than what was measured.
    pub undo: Undo,
    pub redactor: &'a Redactor,
}

impl HelpContext<'_> {
    /// The plan's path as one word of a command line.
    pub(super) fn plan_word(&self) -> String {
        shell_path(&self.plan_path())
    }

    fn plan_path(&self) -> String {
        self.plan.source.path.display().to_string()
    }

    /// A command that runs the plan again as this run was called, with these
    /// flags.
    pub(super) fn run_again(&self, more: &[CallFlag]) -> String {
        let command = self.call_flags.run_again(&self.plan_path(), more, None);
        self.undo.before(command)
    }

    /// The command that runs the same once more, with what was not allowed.
    pub(super) fn rerun(&self, loop_limit: &LoopLimit) -> String {
        let (path, new) = (self.plan_path(), loop_limit.flag());
        let without = loop_limit.without();
        let command = self.call_flags.run_again(&path, new.as_slice(), without);
        self.undo.before(command)
    }
}

/// What to say while the run goes on, in case it never gets to its end.
pub(super) fn unfinished(iterations: &[IterationReport], context: &HelpContext<'_>) -> HelpSummary {
    let mut summary = summary(iterations, context);
    summary.title = format!(
        "not finished: this was written after iteration {}. {}",
        iterations.len(),
        summary.title
    );
    summary
}

/// What to say of a run that is not green.
pub(super) fn summary(iterations: &[IterationReport], context: &HelpContext<'_>) -> HelpSummary {
    let mut problems = Vec::new();
    let of_taint = context.course.tainted;
    problems.extend(of_taint.map(|taint| tainted(taint, iterations, context)));
    let mut blamed = Vec::new();
    let mut doubtful = Vec::new();
    let deadline = context.course.out_of_time;
    let mut late: Vec<&StepReport> = Vec::new();
    if let Some((last, before)) = iterations.split_last() {
        let lookup = Lookup::of(iterations, context.plan);
        let sightings = sightings_by_cause(iterations);
        let mut cases = cases(last, before, context.proofs);
        // Where not all are shown, those that decide the exit code are.
        cases.sort_by_key(|case| Blamed::of(case) == Blamed::Nobody);
        for case in cases {
            let whose = Blamed::of(&case);
            if whose == Blamed::CodeOrPlan {
                doubtful.extend(sightings.of(&case));
            }
            blamed.push(whose);
            problems.push(problem(&case, &lookup, context));
        }
        let is_late = |step: &StepReport| step.because == Some(Because::Deadline);
        let told = Told::new(last, before);
        let steps = last.steps.iter().filter(|s| told.is_loose(s));
        // The deadline explains what it cut off.
        let (by_deadline, loose): (_, Vec<&StepReport>) =
            steps.partition(|s| deadline.is_some() && is_late(s));
        late = by_deadline;
        let (held_back, loose): (Vec<&StepReport>, Vec<&StepReport>) = loose
            .into_iter()
            .partition(|step| told.waits_for_known(step));
        if !held_back.is_empty() {
            problems.push(after_known(&held_back, last));
        }
        if !loose.is_empty() || (problems.is_empty() && deadline.is_none()) {
            problems.push(unexplained(&loose, last, context));
        }
    }
    problems.extend(deadline.map(|deadline| out_of_time(deadline, &late, context)));
    for problem in &mut problems {
        redact(problem, context.redactor);
    }
    let kinds = problems_by_cause(&problems, iterations).len();
    HelpSummary {
        title: title((problems.len(), kinds), &blamed, &doubtful, context),
        problems,
    }
}

/// What the title may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blamed {
    Nobody,
    /// The code or the plan: the expectation was never seen to hold.
    CodeOrPlan,
    /// The code, where nothing else of what is known changed since the step passed;
    /// data, clock and services are not known.
    CodeThatPassed,
    Code,
}

impl Blamed {
    fn of(case: &Case<'_>) -> Self {
        let failure = case.failure;
        match (failure.diagnosis.side, failure.diagnosis.standing) {
            (Side::Test, _) => Self::Nobody,
            (Side::Code, Some(Standing::NeverPassed)) => Self::CodeOrPlan,
            (Side::Code, Some(Standing::PassedBefore)) => Self::CodeThatPassed,
            (Side::Code, None) => Self::Code,
        }
    }
}

/// How many problems there are, and of how many kinds; `blamed` says it of those that
/// a failure tells, and `doubtful` holds how often each mismatch was seen that never
/// passed.
fn title(
    (count, kinds): (usize, usize),
    blamed: &[Blamed],
    doubtful: &[u32],
    context: &HelpContext<'_>,
) -> String {
    let name = &context.plan.name;
    let mut problems = plural(count, "problem");
    match kinds {
        all if all == count => {}
        1 => problems.push_str(" of one kind"),
        kinds => problems.push_str(&format!(" of {kinds} kinds")),
    }
    let gravest = blamed.iter().copied().max().unwrap_or(Blamed::Nobody);
    let gravest_ones = blamed.iter().filter(|whose| **whose == gravest).count();
    let among = among(gravest_ones, count);
    match gravest {
        Blamed::Code if count == 1 => format!("{name} failed, and the code under test is why"),
        Blamed::Code => {
            format!("{name} failed: {problems}, and the code under test is behind at least one")
        }
        Blamed::CodeThatPassed => format!(
            "{name} failed: {problems}; {among}what passed before does not pass any more, and the \
             code under test is why, unless data, clock or a service that it works with changed"
        ),
        Blamed::CodeOrPlan => {
            let often = often(doubtful);
            format!(
                "{name} failed: {problems}; {among}the same mismatch came {often}, so either the \
                 server is wrong, or the plan expects the wrong value"
            )
        }
        Blamed::Nobody => format!("{name} needs your help with {problems}"),
    }
}

/// Of how many of so many problems the rest of a sentence is true.
fn among(some: usize, all: usize) -> String {
    match (some, all) {
        (_, 1) => String::new(),
        (some, all) if some == all => "in each of them ".to_owned(),
        (1, _) => "in one of them ".to_owned(),
        (some, _) => format!("in each of {some} of them "),
    }
}

/// What speaks for steps: the failures of the last iteration and of those before
/// it, looked up once for what may be thousands of steps.
struct Told<'a> {
    last: &'a IterationReport,
    steps: HashSet<&'a str>,
    servers: HashSet<&'a str>,
    earlier: HashSet<&'a str>,
    /// Steps and servers that failed in known ways only: that is no problem, but
    /// what could not run because of them is.
    known_steps: HashSet<&'a str>,
    known_servers: HashSet<&'a str>,
}

impl<'a> Told<'a> {
    fn new(last: &'a IterationReport, before: &'a [IterationReport]) -> Self {
        let of_step = |failure: &'a FailureReport| failure.step.as_deref();
        let of_server = |failure: &'a FailureReport| failure.server.as_deref();
        let earlier = before.iter().flat_map(|i| &i.failures);
        let known = || {
            let all = last.failures_by_step();
            all.filter(|failures| all_known(*failures)).flatten()
        };
        let of_server_alone = |f: &&FailureReport| f.step.is_none();
        let standing = last.failures.iter().filter(|f| f.known.is_none());
        let standing: HashSet<&str> = standing
            .filter(of_server_alone)
            .filter_map(of_server)
            .collect();
        let known_servers = known().filter(of_server_alone).filter_map(of_server);
        Self {
            known_steps: known().filter_map(of_step).collect(),
            known_servers: known_servers
                .filter(|name| !standing.contains(name))
                .collect(),
            last,
            steps: last.failures.iter().filter_map(of_step).collect(),
            servers: last.failures.iter().filter_map(of_server).collect(),
            earlier: earlier.filter_map(of_step).collect(),
        }
    }

    /// A step that is not fine, and for which no failure speaks: not its own, not
    /// its server's, not that of the step it waited for.
    fn is_loose(&self, step: &StepReport) -> bool {
        let spoken_for = |id: &str| self.steps.contains(id);
        let server_failed = |name: &str| self.servers.contains(name);
        match step.state {
            StepState::Passed => false,
            StepState::Failed => !spoken_for(&step.id) && !server_failed(&step.server),
            StepState::Quarantined => {
                // Some causes concern no step and no server alone.
                let of_all = |reason: &String| {
                    let mut all = self.last.failures.iter().filter(|f| f.known.is_none());
                    all.any(|f| f.step.is_none() && f.server.is_none() && f.message == *reason)
                };
                let is_told =
                    matches!(&step.because, Some(Because::Plan(reason)) if of_all(reason));
                let was_diagnosed = self.earlier.contains(step.id.as_str());
                !is_told && !spoken_for(&step.id) && !was_diagnosed
            }
            StepState::Blocked | StepState::Skipped if self.waits_for_known(step) => true,
            StepState::Blocked | StepState::Skipped => match &step.because {
                Some(
                    Because::NotSelected
                    | Because::If
                    | Because::Requires(_)
                    | Because::Step(_)
                    | Because::FailFast,
                ) => false,
                Some(Because::Server(name) | Because::ServerDown(name)) => !server_failed(name),
                // What kept the set-up step from passing kept this one from running.
                Some(Because::Setup(id)) => {
                    let mut steps = self.last.steps.iter();
                    let setup = steps.find(|s| s.id == *id && s.id != step.id);
                    !spoken_for(id) && setup.is_none_or(|setup| self.is_loose(setup))
                }
                Some(Because::Deadline | Because::Interrupted | Because::Plan(_)) | None => {
                    !spoken_for(&step.id) && !server_failed(&step.server)
                }
            },
        }
    }

    /// A step that did not run, since in the end it waited for what failed in a known
    /// way.
    fn waits_for_known(&self, step: &StepReport) -> bool {
        if self.known_steps.is_empty() && self.known_servers.is_empty() {
            return false;
        }
        let mut at = step;
        // No chain is longer than there are steps.
        for _ in 0..=self.last.steps.len() {
            if !matches!(at.state, StepState::Blocked | StepState::Skipped) {
                return false;
            }
            let earlier = match &at.because {
                Some(Because::Server(name) | Because::ServerDown(name)) => {
                    return self.known_servers.contains(name.as_str());
                }
                None => return self.known_servers.contains(at.server.as_str()),
                Some(Because::Setup(id) | Because::Step(id)) => id,
                Some(_) => return false,
            };
            if self.known_steps.contains(earlier.as_str()) {
                return true;
            }
            let mut steps = self.last.steps.iter();
            match steps.find(|one| one.id == *earlier && one.id != at.id) {
                Some(waiting) => at = waiting,
                None => return false,
            }
        }
        false
    }
}

/// What a known failure kept from running is not known.
fn after_known(held_back: &[&StepReport], last: &IterationReport) -> HelpProblem {
    let ids: Vec<&str> = held_back.iter().map(|step| step.id.as_str()).collect();
    HelpProblem {
        step: ids.first().map(|id| (*id).to_owned()),
        root_cause: Some(RunCause::NotRunToEnd),
        what: format!(
            "A known failure kept {} from running: {}",
            plural(ids.len(), "step"),
            first_names(&ids, ids.len(), NAMED)
        ),
        evidence: format!("iteration {}: {}", last.index, last.action.reason),
        next: vec![
            "fix what is known, or leave out what needs it by `--skip` until then".to_owned(),
        ],
        ..HelpProblem::default()
    }
}

/// As in `run to its end: a`.
fn run_to_end(steps: &[String]) -> String {
    let end = if steps.len() == 1 { "its" } else { "their" };
    let names = first_names(steps, steps.len(), NAMED);
    format!("run to {end} end: {names}")
}

/// `twice`, `4 times`; of several counts the least.
fn often(counts: &[u32]) -> String {
    let least = counts.iter().copied().min().unwrap_or(1);
    let times = super::reason::times(least);
    if counts.iter().all(|count| *count == least) {
        times
    } else {
        format!("at least {times}")
    }
}

/// Nothing is green by absence, and nobody is left to guess why.
fn unexplained(
    loose: &[&StepReport],
    last: &IterationReport,
    context: &HelpContext<'_>,
) -> HelpProblem {
    let totals = last.totals;
    let name = |step: &&StepReport| match &step.because {
        Some(Because::Plan(reason)) => format!("{} ({reason})", step.id),
        Some(Because::Deadline) => format!("{} (the deadline came first)", step.id),
        _ => step.id.clone(),
    };
    let names: Vec<String> = loose.iter().map(name).collect();
    let mut tested = last.steps.iter().filter(|s| s.section == Section::Steps);
    let none_was_due = tested.all(|step| step.because.as_ref().is_some_and(Because::is_wanted));
    let what = if !names.is_empty() {
        format!("Not {}", run_to_end(&names))
    } else if none_was_due {
        "No step ran: each is left out by its `if`, or was not selected".to_owned()
    } else {
        "The run is not green, though no failure was recorded".to_owned()
    };
    let root_cause = match names.is_empty() && none_was_due {
        true => RunCause::NothingRan,
        false => RunCause::NotRunToEnd,
    };
    HelpProblem {
        step: loose.first().map(|step| step.id.clone()),
        root_cause: Some(root_cause),
        what,
        evidence: format!(
            "iteration {}: {} passed, {} failed, {} blocked, {} quarantined, {} skipped of {}; {}",
            last.index,
            totals.passed,
            totals.failed,
            totals.blocked,
            totals.quarantined,
            totals.skipped,
            totals.total,
            last.action.reason
        ),
        next: match names.is_empty() && none_was_due {
            // The same call would leave them out again.
            true => vec![
                "give the variables that their `if` asks for (`--var NAME=VALUE`), or run them \
                 where it holds"
                    .to_owned(),
            ],
            false => vec![context.run_again(&[])],
        },
        ..HelpProblem::default()
    }
}

fn tainted(taint: Taint, iterations: &[IterationReport], context: &HelpContext<'_>) -> HelpProblem {
    let root_cause = match taint {
        Taint::ReportUnwritable => RunCause::ReportUnwritable,
        Taint::PlanTampered => RunCause::HookChangedPlan,
        Taint::PlanWeakened => RunCause::HookWeakenedPlan,
    };
    let (what, evidence, next) = match taint {
        Taint::ReportUnwritable => (
            "A report could not be written, so this result was not saved",
            "the warnings of this run name the file and the reason".to_owned(),
            vec![
                "see that the folder of the reports can be written to, and that its disk has room"
                    .to_owned(),
                context.run_again(&[]),
            ],
        ),
        Taint::PlanTampered => (
            "The hook refine_code changed what the plan expects, so nothing that was measured counts",
            "the plan file, or something that it reads, was another after the hook than before it"
                .to_owned(),
            undo_with(
                "let refine_code change the code only; what changes plans and snapshots is fix_tests, or a \
                 person",
                context,
            ),
        ),
        Taint::PlanWeakened => weakened(iterations, context),
    };
    HelpProblem {
        root_cause: Some(root_cause),
        what: what.to_owned(),
        evidence,
        next,
        ..HelpProblem::default()
    }
}

/// What to do first, then how the change is taken back and the plan run again.
fn undo_with(first: &str, context: &HelpContext<'_>) -> Vec<String> {
    let mut next = vec![first.to_owned()];
    next.extend(context.undo.lines.iter().cloned());
    next.push(context.run_again(&[]));
    next
}

/// So many changes are told one by one.
const CHANGES: usize = 20;

/// What a hook took away, and where the plan is that asked for it.
fn weakened(
    iterations: &[IterationReport],
    context: &HelpContext<'_>,
) -> (&'static str, String, Vec<String>) {
    let hooks = iterations
        .iter()
        .rev()
        .filter_map(|i| i.action.hook.as_ref());
    let mut hooks = hooks.filter(|hook| hook.changes.iter().any(|change| change.kind.weakens()));
    let hook = hooks.next();
    let changes = hook.into_iter().flat_map(|hook| &hook.changes);
    let told: Vec<&str> = changes
        .filter(|change| change.kind.weakens())
        .map(|change| change.what.as_str())
        .collect();
    let more = told.len().saturating_sub(CHANGES);
    let mut evidence = told[..told.len() - more].join("; ");
    if more > 0 {
        evidence.push_str(&format!("; and {more} more"));
    }
    let kept = hook.and_then(|hook| hook.plans.first());
    let mut next = vec![
        "see whether the plan still asks what it should; test_results.md has the diff".to_owned(),
    ];
    next.extend(kept.map(|name| format!("the plan as it was lies beside the report, as {name}")));
    next.push(
        "where the change is right, keep it: the next run takes the plan as it is; where it is \
         not, take it back:"
            .to_owned(),
    );
    next.extend(context.undo.lines.iter().cloned());
    next.push(context.run_again(&[]));
    (
        "The fix_tests hook reduced what is tested, so later results don't count",
        evidence,
        next,
    )
}

/// `late` are the steps that it kept from running to their end.
fn out_of_time(limit: Duration, late: &[&StepReport], context: &HelpContext<'_>) -> HelpProblem {
    let deadline = human_duration(limit);
    let mut what = format!("The deadline of {deadline} ended the run before everything was tried");
    if !late.is_empty() {
        let ids: Vec<String> = late.iter().map(|step| step.id.clone()).collect();
        what.push_str(&format!("; not {}", run_to_end(&ids)));
    }
    HelpProblem {
        step: late.first().map(|step| step.id.clone()),
        root_cause: Some(RunCause::Deadline),
        what,
        evidence: "it counts hooks and waiting too".to_owned(),
        next: vec![
            "raise it by --deadline, or where it is set: `jelly config` shows where".to_owned(),
            context.rerun(&LoopLimit::Deadline(limit)),
        ],
        ..HelpProblem::default()
    }
}

fn redact(problem: &mut HelpProblem, redactor: &Redactor) {
    let texts = [&mut problem.what, &mut problem.evidence];
    for text in texts
        .into_iter()
        .chain(&mut problem.tried)
        .chain(&mut problem.next)
    {
        if let std::borrow::Cow::Owned(clean) = redactor.redact(text) {
            *text = clean;
        }
    }
}
