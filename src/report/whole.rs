//! What is wrong with a run as a whole, and with no server or step of it: one
//! diagnosis, wherever it is told.
//!
//! Main function: [`troubles`].

use super::view;
use jelly_base::model::{
    Advice, Diagnosis, Evidence, Failure, HelpProblem, Phase, RunCause, RunReport, Side,
    Unaccepted, Verdict,
};
use jelly_base::text::{plural, without_numbers};
use jelly_triage::engine::{Fingerprints, fingerprints};
use std::borrow::Cow;

/// What a run is called beside its plan's name.
const RUN: &str = "(run)";

/// One thing that is wrong with a run as a whole.
#[derive(Debug)]
pub(super) struct RunTrouble<'r> {
    /// By which it is listed: `(plan NAME)` or `(run NAME)`.
    pub(super) subject: String,
    /// `file:line:column`, where it has one.
    pub(super) at: Option<&'r str>,
    /// In a sentence.
    pub(super) message: Cow<'r, str>,
    pub(super) cause: RunCause,
    pub(super) diagnosis: Cow<'r, Diagnosis>,
    /// It stands; else the run is green with it.
    pub(super) is_error: bool,
}

/// Whether a failure of the last iteration tells why the run is not green.
pub(super) fn is_told(report: &RunReport) -> bool {
    let mut failures = report.iterations.last().into_iter();
    failures.any(|last| last.failures.iter().any(|one| one.known.is_none()))
}

/// All that is wrong with a run as a whole. `is_told` says that something else
/// tells already why it is not green.
pub(super) fn troubles(report: &RunReport, is_told: bool) -> Vec<RunTrouble<'_>> {
    let help = report.help_summary.iter();
    let mut found: Vec<RunTrouble<'_>> = help
        .flat_map(|help| &help.problems)
        .filter_map(|problem| {
            // Reports of older releases have no word for it.
            let invalid = report.verdict == Verdict::InvalidInput;
            let invalid = invalid.then_some(RunCause::InvalidPlan);
            let cause = problem.root_cause.or(invalid)?;
            Some(of_problem(report, problem, cause))
        })
        .collect();
    // A run that is not green has something that says so.
    if found.is_empty() && report.exit_code != 0 && !is_told {
        found.push(untold(report));
    }
    found
}

/// How what concerns the run alone is listed.
pub(super) fn subject(report: &RunReport) -> String {
    format!("(run {})", report.plan.name)
}

fn of_problem<'r>(
    report: &'r RunReport,
    problem: &'r HelpProblem,
    cause: RunCause,
) -> RunTrouble<'r> {
    let HelpProblem {
        at, what, evidence, ..
    } = problem;
    let is_plan = cause == RunCause::InvalidPlan;
    let at = at.as_deref();
    let evidence = match is_plan {
        true => ("plan", at.unwrap_or(&report.plan.path)),
        false => ("run", evidence.as_str()),
    };
    let mut steps: Vec<&str> = problem.next.iter().map(String::as_str).collect();
    // Advice without a step is taken for none, and another one stands in its place.
    let correct = format!("Correct the plan at {}.", evidence.1);
    if steps.is_empty() && is_plan {
        steps.push(&correct);
    }
    RunTrouble {
        subject: match is_plan {
            true => format!("(plan {})", report.plan.name),
            false => subject(report),
        },
        at,
        message: Cow::Borrowed(what),
        cause,
        diagnosis: Cow::Owned(diagnosis(report, cause, what, evidence, &steps)),
        is_error: true,
    }
}

/// What no help summary tells.
fn untold(report: &RunReport) -> RunTrouble<'_> {
    let cause = match (report.verdict, report.unaccepted) {
        (Verdict::Interrupted, _) => RunCause::Interrupted,
        (Verdict::InvalidInput, _) => RunCause::InvalidPlan,
        (Verdict::PassedWithKnown, Some(_)) => RunCause::KnownNotAccepted,
        (_, Some(Unaccepted::Contract)) | (Verdict::PassedAfterRepair, _) => {
            RunCause::RepairNotAccepted
        }
        (_, Some(Unaccepted::Strict)) => RunCause::RetryNotAccepted,
        (_, None) => RunCause::NotRunToEnd,
    };
    let title = || {
        let title = report.help_summary.as_ref().map(|help| &*help.title);
        title.map_or_else(|| view::ending(report), str::to_owned)
    };
    let code = report.exit_code.to_string();
    let mut evidence = ("exit.code", code.as_str());
    let changes = changes(report);
    let (message, steps) = match cause {
        RunCause::Interrupted => (
            format!("{} ended the run before it was done", signal_of(report)),
            vec![
                "Run it again and let it end: what had not run by then says nothing of the code."
                    .to_owned(),
            ],
        ),
        RunCause::KnownNotAccepted | RunCause::RepairNotAccepted | RunCause::RetryNotAccepted => {
            let mut message = view::unaccepted(report).map_or_else(title, str::to_owned);
            if let Some(changes) = &changes {
                message.push_str(&format!(" ({changes})"));
                evidence = ("run", changes.as_str());
            }
            (message, to_accept(report))
        }
        RunCause::InvalidPlan
        | RunCause::Deadline
        | RunCause::NothingRan
        | RunCause::NotRunToEnd
        | RunCause::NotRunAgain
        | RunCause::CoverageTooLow
        | RunCause::StaleKnownFailure
        | RunCause::HookChangedPlan
        | RunCause::HookWeakenedPlan
        | RunCause::ReportUnwritable
        | RunCause::RepairsNotWritten => (
            title(),
            vec!["See the warnings of the run and what its last iteration did.".to_owned()],
        ),
    };
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    RunTrouble {
        subject: subject(report),
        at: None,
        cause,
        diagnosis: Cow::Owned(diagnosis(report, cause, &message, evidence, &steps)),
        message: Cow::Owned(message),
        is_error: report.verdict != Verdict::PassedAfterRepair,
    }
}

/// What a green run owes its end to, in a line; none where nothing was changed.
fn changes(report: &RunReport) -> Option<String> {
    if report.verdict != Verdict::PassedAfterRepair {
        return None;
    }
    let lasting = report.lasting_repairs();
    let mut effective = lasting.iter().filter(|repair| !repair.ineffective);
    let Some(first) = effective.next() else {
        return view::by_hooks(report);
    };
    let told = format!("{} on {}: {}", first.id, first.target, first.explanation);
    Some(match effective.count() {
        0 => told,
        more => format!("{told}; and {}", plural(more, "more repair")),
    })
}

/// What to do about a green run that was not accepted.
fn to_accept(report: &RunReport) -> Vec<String> {
    let look = match report.unaccepted {
        Some(Unaccepted::Strict) => {
            "Look at what was not as planned; if it may stay, leave `--strict` out."
        }
        Some(Unaccepted::Contract) | None if report.repairs_written => {
            "Look at what was changed: it stands in the plan now."
        }
        Some(Unaccepted::Contract) | None => {
            "Look at what was changed; if it may stay, run it with `--accept-repairs`."
        }
    };
    let mut steps = vec![look.to_owned()];
    if view::has_repairs_to_apply(report) {
        match view::apply_command(report) {
            Some(apply) => steps.extend([
                "Or take the repairs over into the plan's file.".to_owned(),
                format!("$ {apply}"),
            ]),
            None => steps.push(view::NO_FILE.to_owned()),
        }
    }
    steps
}

fn signal_of(report: &RunReport) -> &'static str {
    match report.exit_code {
        130 => "SIGINT",
        143 => "SIGTERM",
        _ => "a signal",
    }
}

/// What jelly says where no failure stands behind it.
fn diagnosis(
    report: &RunReport,
    cause: RunCause,
    what: &str,
    (field, evidence): (&str, &str),
    steps: &[&str],
) -> Diagnosis {
    let root_cause = cause.root_cause();
    // Counts and places come and go.
    let told_apart = cause.is_told_apart_by_its_words().then(|| Evidence {
        field: field.to_owned(),
        text: without_numbers(what),
    });
    let run = Failure {
        phase: Some(Phase::Config),
        suite: Some(report.plan.name.clone()),
        name: Some(RUN.to_owned()),
        ..Failure::default()
    };
    let Fingerprints {
        cause: print, test, ..
    } = fingerprints(&run, &root_cause, told_apart.as_ref());
    let category = cause.category();
    Diagnosis {
        side: Side::Test,
        ambiguous: false,
        error_category: category.map(|(category, _)| category),
        retryable: category.map(|(_, retryable)| retryable),
        rule: match cause {
            RunCause::InvalidPlan => "plan/invalid".to_owned(),
            _ => format!("run/{}", root_cause.replace('_', "-")),
        },
        root_cause,
        evidence: (!evidence.is_empty()).then(|| Evidence {
            field: field.to_owned(),
            text: evidence.to_owned(),
        }),
        fingerprint: print,
        test_fingerprint: test,
        advice: Advice {
            what: what.to_owned(),
            why: String::new(),
            fix: steps.iter().map(|step| (*step).into()).collect(),
        },
        ..Diagnosis::BLANK
    }
}
