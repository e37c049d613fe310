//! `jelly apply`: takes the repairs of an earlier run over into the plan.

use super::ask::{choose, yes_or_no};
use super::out::stdout;
use super::plan_files::is_stdin;
use super::refusal::Refusal;
use super::results::open_results;
use super::run_secrets::secrets;
use super::settings::{World, inherited_secrets};
use super::write_back::{CONFLICT_HELP, conflict};
use crate::cli::args::ApplyArgs;
use indexmap::IndexMap;
use jelly_base::model::{ExitCode, RepairReport, RunReport, Verdict};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Notation, plural, sanitize};
use jelly_plan::{self as plan, PlanEdit, PlanSource, load, shown_diff};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Who says that what was shown is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// The call did.
    Given,
    /// The person at the terminal is asked.
    Asked,
    /// Nobody is there, and the report is not where its run wrote it: what it
    /// asks for may be anybody's wish.
    Wanted,
    /// `--dry-run`.
    Refused,
}

impl Consent {
    fn decide(args: &ApplyArgs, world: &World, file: &Path, reports: &[RunReport]) -> Self {
        let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
        let own = |report: &RunReport| {
            let written = report.report_dir.as_deref().map(Path::new);
            let written = written.and_then(|folder| folder.canonicalize().ok());
            written
                .zip(folder.as_ref())
                .is_some_and(|(written, folder)| written.starts_with(folder))
        };
        if args.dry_run {
            Self::Refused
        } else if args.yes {
            Self::Given
        } else if world.stdin_is_terminal && world.stdout_is_terminal {
            Self::Asked
        } else if reports.iter().all(own) {
            Self::Given
        } else {
            Self::Wanted
        }
    }
}

/// Applies the repairs of a run, plan by plan; a plan that can't have them
/// stays as it is, and the others get theirs.
pub fn apply(args: &ApplyArgs, world: &World) -> Result<ExitCode, Refusal> {
    let path = args.report.clone().unwrap_or_else(|| args.reports.latest());
    let (file, reports) = open_results(&path)?;
    let consent = Consent::decide(args, world, &file, &reports);
    let mut code = ExitCode::Passed;
    // The combinations of a matrix are runs of one file, and what is written
    // for one of them holds for all.
    let mut by_file: IndexMap<PathBuf, Vec<&RunReport>> = IndexMap::new();
    for report in &reports {
        let path = PathBuf::from(&report.plan.path);
        let file = path.canonicalize().unwrap_or(path);
        by_file.entry(file).or_default().push(report);
    }
    for runs in by_file.values() {
        let refused: Vec<Refusal> = match not_alike(runs) {
            Some(refusal) => vec![refusal],
            None => runs
                .iter()
                .filter_map(|run| {
                    apply_one(run, consent, world, &mut stdout(Notation::Plain)).err()
                })
                .collect(),
        };
        for refusal in refused {
            code = ExitCode::strongest([code, refusal.tell()]);
        }
    }
    Ok(code)
}

/// Runs of one file that ended with different texts of it: what one of them
/// needed, another has not passed with.
fn not_alike(runs: &[&RunReport]) -> Option<Refusal> {
    let ends: Vec<(&RunReport, &String)> = runs
        .iter()
        .filter_map(|run| {
            let plan = &run.plan;
            Some((
                *run,
                plan.repaired_sha256.as_ref().or(plan.sha256.as_ref())?,
            ))
        })
        .collect();
    let (first, text) = ends.first()?;
    if ends.iter().all(|(_, other)| other == text) {
        return None;
    }
    let told = conflict(ends.iter().map(|(run, _)| *run));
    let what = format!("{}: {told}", first.plan.path);
    Some(Refusal::with_help(sanitize(&what), CONFLICT_HELP))
}

fn apply_one(
    report: &RunReport,
    consent: Consent,
    world: &World,
    out: &mut dyn Write,
) -> Result<(), Refusal> {
    let shown = &sanitize(&report.plan.path);
    let mut say = |text: &str| {
        writeln!(out, "{text}").map_err(|error| {
            let what = format!("the change can't be shown, and was not made: {error}");
            Refusal::with_help(sanitize(&what), "see where the output goes")
        })
    };
    let again = "jelly run it again, with --write-repairs to have its repairs written at once";
    let (Some(wanted), Some(original)) = (&report.plan.repaired_sha256, &report.plan.sha256) else {
        return say(&format!("{shown}: the run made no repairs to apply"));
    };
    if is_stdin(Path::new(&report.plan.path)) {
        return Err(Refusal::with_help(
            "the plan of that run came from stdin, so there is no file to write the repairs into",
            "save the plan in a file, and run that: `jelly apply` applies its repairs then",
        ));
    }
    let before = PlanSource::read(Path::new(&report.plan.path)).map_err(|error| {
        let next = "apply the report where the run was started";
        Refusal::with_help(sanitize(&error.to_string()), next)
    })?;
    if before.sha256() == *wanted {
        return say(&format!("{shown}: it holds the repairs"));
    }
    if report.verdict != Verdict::PassedAfterRepair {
        let text = format!(
            "error: {shown}: the run did not pass with its repairs, so none is applied\n\
             help: read the help summary of its report"
        );
        return Err(Refusal::new(ExitCode::NeedsUserHelp, text));
    }
    if before.sha256() != *original {
        let what = format!("{shown}: it is not the plan of that run any more");
        return Err(Refusal::with_help(what, again));
    }
    let repairs = report.lasting_repairs();
    let after = edited(&before, &repairs)
        .filter(|after| after.sha256() == *wanted)
        .ok_or_else(|| {
            let what = format!(
                "{shown}: the report does not hold all of the repaired plan, as when a secret \
                 stood in it"
            );
            Refusal::with_help(what, again)
        })?;
    let redactor = load(before.clone()).map_or_else(
        |_| Redactor::new(inherited_secrets(&world.env)),
        |plan| secrets(&plan, &world.env),
    );
    for repair in &repairs {
        say(&format!(
            "{} on {}: {}",
            sanitize(&repair.id),
            sanitize(&repair.target),
            sanitize(&repair.explanation)
        ))?;
    }
    let change = shown_diff(&before, &after, &redactor);
    say(sanitize(&change).trim_end())?;
    match consent {
        Consent::Given => {}
        Consent::Refused => return say("nothing was written (--dry-run)"),
        Consent::Asked => {
            let asked = choose("write it? [y]es, [n]o: ", yes_or_no);
            let asked =
                asked.map_err(|why| Refusal::with_help(sanitize(&why), "say it by --yes"))?;
            if asked != Some(true) {
                return say(&format!("{shown}: it is left as it is"));
            }
        }
        Consent::Wanted => {
            return Err(Refusal::with_help(
                format!("{shown}: nothing was written: the report was made elsewhere"),
                "look at the change above, and add --yes where it is what you want",
            ));
        }
    }
    after.replace(&before).map_err(|error| {
        Refusal::with_help(sanitize(&error.to_string()), "see who else writes the file")
    })?;
    let edits = repairs.iter().filter(|repair| !repair.edits.is_empty());
    let written = format!("wrote {shown} with {}", plural(edits.count(), "repair"));
    // It is done; who does not hear of it reads the file.
    let _ = say(&written);
    Ok(())
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
