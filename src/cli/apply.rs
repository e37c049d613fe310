//! `jelly apply`: takes the repairs of an earlier run over into the plan.

use super::args::ReportsDir;
use super::plan_run::secrets;
use super::results::read_results;
use super::run::complain;
use super::settings::World;
use crate::model::{ActionKind, ExitCode, RepairReport, RunReport, Verdict};
use crate::plan::{self, PlanEdit, PlanSource, diff, load};
use crate::text::plural;
use crate::text::redact::Redactor;
use crate::text::sanitize;
use clap::Args;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// The report of a run: its folder, or its results.json [default: that of the last run]
    #[arg(value_name = "REPORT")]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub reports: ReportsDir,

    /// Shows the change and writes nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Applies the repairs of a run, plan by plan; a plan that can't have them
/// stays as it is, and the others get theirs.
pub fn apply(args: &ApplyArgs, world: &World) -> ExitCode {
    let mut path = args.report.clone().unwrap_or_else(|| args.reports.latest());
    if path.is_dir() {
        path.push("results.json");
    }
    let read = File::open(&path).map_err(|error| error.to_string());
    let reports = match read.and_then(read_results) {
        Ok(reports) => reports,
        Err(why) => {
            complain(&format!(
                "error: failed to read the report {}: {why}",
                path.display()
            ));
            complain("help: name the folder of a run, as in reports/latest");
            return ExitCode::InvalidInput;
        }
    };
    let mut code = ExitCode::Passed;
    for report in &reports {
        if let Err(error) = apply_one(report, args.dry_run, world, &mut io::stdout()) {
            complain(&format!("error: {}", sanitize(&error.what)));
            complain(&format!("help: {}", error.next));
            code = ExitCode::strongest([code, error.code]);
        }
    }
    code
}

/// Why a plan is as it was, and what would help.
#[derive(Debug)]
struct Refusal {
    code: ExitCode,
    what: String,
    next: String,
}

impl Refusal {
    fn invalid(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            code: ExitCode::InvalidInput,
            what: what.into(),
            next: next.into(),
        }
    }
}

fn apply_one(
    report: &RunReport,
    dry_run: bool,
    world: &World,
    out: &mut dyn Write,
) -> Result<(), Refusal> {
    let shown = &report.plan.path;
    let mut say = |text: &str| {
        writeln!(out, "{text}").map_err(|error| {
            Refusal::invalid(
                format!("the change can't be shown, and was not made: {error}"),
                "see where the output goes",
            )
        })
    };
    let again = "jelly run it again, with --write-repairs to have its repairs written at once";
    let (Some(wanted), Some(original)) = (&report.plan.repaired_sha256, &report.plan.sha256) else {
        return say(&format!(
            "{}: the run has no repairs of it to apply",
            sanitize(shown)
        ));
    };
    let before = PlanSource::read(Path::new(shown)).map_err(|error| {
        Refusal::invalid(
            error.to_string(),
            "apply the report where the run was started",
        )
    })?;
    if before.sha256() == *wanted {
        return say(&format!("{}: it holds the repairs", sanitize(shown)));
    }
    if report.verdict != Verdict::PassedAfterRepair {
        return Err(Refusal {
            code: ExitCode::NeedsUserHelp,
            what: format!("{shown}: the run did not pass with its repairs, so none is applied"),
            next: "read the help summary of its report".to_owned(),
        });
    }
    if before.sha256() != *original {
        let what = format!("{shown}: it is not the plan of that run any more");
        return Err(Refusal::invalid(what, again));
    }
    let repairs = lasting(report);
    let after = edited(&before, &repairs)
        .filter(|after| after.sha256() == *wanted)
        .ok_or_else(|| {
            let what = format!(
                "{shown}: the report does not hold all of the repaired plan, as when a secret \
                 stood in it"
            );
            Refusal::invalid(what, again)
        })?;
    let redactor =
        load(before.clone()).map_or_else(|_| Redactor::none(), |plan| secrets(&plan, &world.env));
    for repair in &repairs {
        say(&format!(
            "{} on {}: {}",
            sanitize(&repair.id),
            sanitize(&repair.target),
            sanitize(&repair.explanation)
        ))?;
    }
    let change = diff(&before, &after);
    say(sanitize(&redactor.redact(&change)).trim_end())?;
    if dry_run {
        return say("nothing was written (--dry-run)");
    }
    after
        .replace(&before)
        .map_err(|error| Refusal::invalid(error.to_string(), "see who else writes the file"))?;
    let edits = repairs.iter().filter(|repair| !repair.edits.is_empty());
    say(&format!(
        "wrote {} with {}",
        sanitize(shown),
        plural(edits.count(), "repair")
    ))
}

/// The repairs in the order in which they were made, but for those that a
/// later `fix_tests` dropped: after it, the file was the truth.
fn lasting(report: &RunReport) -> Vec<&RepairReport> {
    let fixed = report.iterations.iter().rposition(|iteration| {
        let action = &iteration.action;
        let hook = action.hook.as_ref();
        action.kind == ActionKind::FixTests && hook.is_some_and(|hook| hook.error.is_none())
    });
    let first = fixed.map_or(0, |at| at + 1);
    let lasting = report.iterations.iter().skip(first);
    lasting.flat_map(|i| &i.action.repairs).collect()
}

/// The plan with all edits; none if one can't be made.
fn edited(plan: &PlanSource, repairs: &[&RepairReport]) -> Option<PlanSource> {
    let mut plan = plan.clone();
    for repair in repairs {
        let edits = repair.edits.iter().map(PlanEdit::from_report);
        let edits: Vec<PlanEdit> = edits.collect::<Option<_>>()?;
        if !edits.is_empty() {
            plan = plan::apply(&plan, &edits).ok()?;
        }
    }
    Some(plan)
}
