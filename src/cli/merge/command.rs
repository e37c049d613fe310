//! Reads the folders, has them combined, and reports what comes of it as
//! `jelly run` does.

use super::read::read_shard;
use crate::cli::args::{Format, MergeArgs};
use crate::cli::ci::CiCall;
use crate::cli::coverage::{judge_coverage, shown_coverage};
use crate::cli::invalid::chain;
use crate::cli::known::{JudgedScope, day_of, judge, said_of};
use crate::cli::out::{print, print_in, stdout};
use crate::cli::overwrite::Taken;
use crate::cli::refusal::{Refusal, complain};
use crate::cli::report_files::{ReportFiles, UnusableReport};
use crate::cli::settings::World;
use crate::report::{
    ReportSurroundings, Results, RunDir, TerminalOptions, TerminalReporter, report_json, run_id,
};
use jelly_base::model::{Coverage, ExitCode, RunReport};
use jelly_base::text::{Notation, sanitize};
use jelly_harness::shards::{Combined, ShardResult, combine};
use std::path::{Path, PathBuf};

/// Merges the shards. What is wrong with one is told of all, and then nothing
/// is written: no smaller result is to be taken for the whole.
///
/// # Errors
/// A shard is missing, cut, doubled or of another run, or the reports can't be
/// written.
pub fn merge(args: &MergeArgs, world: &World) -> Result<ExitCode, Refusal> {
    let (results, files) = read_all(&args.dirs)?;
    let report_files = report_files(args, &files)?;
    let mut combined = combine(results).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        refused(&told)
    })?;
    if combined.plans.is_empty() {
        return Err(Refusal::invalid(
            "error: no shard ran any plan: the filters of --only and --skip left none",
        ));
    }
    judge_known(&mut combined);
    report(args, world, &combined, &report_files)
}

/// Says which entries of the list of known failures should be taken out: here
/// all of a run is seen.
fn judge_known(combined: &mut Combined) {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    let now = now.to_string();
    let (entries, plans) = (&combined.known, &mut combined.plans);
    let places = &combined.places;
    let place_of = |report: &RunReport| places.get(&report.plan.path).cloned();
    let scope = JudgedScope::AllPlans;
    for at in judge(entries, (&mut *plans, &place_of), scope, day_of(&now)) {
        let report = &plans[at];
        for stale in &report.known_stale {
            complain(&sanitize(&format!("error: {}", said_of(stale))));
        }
        let code = ExitCode::of(report.exit_code);
        combined.exit_code = ExitCode::strongest(code.into_iter().chain([combined.exit_code]));
    }
}

/// What each folder holds, with the files that were read.
fn read_all(dirs: &[PathBuf]) -> Result<(Vec<ShardResult>, Vec<PathBuf>), Refusal> {
    let mut results = Vec::with_capacity(dirs.len());
    let mut files = Vec::with_capacity(dirs.len());
    let mut unread = Vec::new();
    for dir in dirs {
        match read_shard(dir) {
            Ok((file, result)) => {
                results.push(result);
                files.push(file);
            }
            Err(why) => unread.push(why),
        }
    }
    if unread.is_empty() {
        return Ok((results, files));
    }
    // What is missed besides is told at once.
    if !results.is_empty()
        && let Err(problems) = combine(results)
    {
        unread.extend(problems.iter().map(ToString::to_string));
    }
    Err(refused(&unread))
}

fn refused(problems: &[String]) -> Refusal {
    let told: Vec<String> = problems
        .iter()
        .map(|problem| format!("error: {}", sanitize(problem)))
        .collect();
    Refusal::invalid(format!(
        "{}\nhelp: rerun the named shards, and pass one folder per shard; nothing was merged",
        told.join("\n")
    ))
}

/// The reports by name, none in the place of what is read.
fn report_files(args: &MergeArgs, files: &[PathBuf]) -> Result<ReportFiles, Refusal> {
    let taken = files.iter().map(|file| ("a result", file.as_path()));
    let taken: Vec<Taken<'_>> = taken.collect();
    let latest = args.reports.latest();
    ReportFiles::prepare(&args.named_reports.named, &taken, Some(&latest))
        .map_err(UnusableReport::refusal)
}

fn report(
    args: &MergeArgs,
    world: &World,
    combined: &Combined,
    report_files: &ReportFiles,
) -> Result<ExitCode, Refusal> {
    let now = jiff::Timestamp::now();
    let entropy = now.subsec_nanosecond().unsigned_abs() ^ std::process::id();
    let run_dir = RunDir::create(&args.reports.reports_dir, &run_id(now, entropy))
        .map_err(|error| Refusal::needs_help(format!("error: failed to {}", chain(&error))))?;
    let coverage = Coverage::of_plans(combined.plans.iter().map(|it| it.coverage.as_ref()));
    let missed = judge_coverage(coverage.as_ref(), &args.least.min_coverage);
    let mut code = ExitCode::strongest([combined.exit_code].into_iter().chain(missed));
    let results = |code: ExitCode| {
        Results::new(run_dir.run_id(), code, &combined.plans)
            .with_matrix(&combined.matrix)
            .of_shards(&combined.shards)
    };
    let written = run_dir.write_call(&results(code));
    if let Err(error) = written.and_then(|()| run_dir.point_latest()) {
        complain(&format!("error: failed to {}", chain(&error)));
        code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
    }
    let no_past = |_: &str, _: &str, _: &str| Vec::new();
    let named = report_files.write(|format, file, out| {
        let around = ReportSurroundings::new(&world.cwd, file, &no_past);
        format.write_run(&results(code), &around, out)
    });
    if !named {
        code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
    }
    tell_superseded(combined);
    let printed = match args.format {
        Format::Json => {
            let bytes = report_json(&results(code))
                .map_err(|error| Refusal::fault(&format!("the report is no JSON: {error}")))?;
            print_in(Notation::Json, bytes)
        }
        Format::Human => {
            let options = TerminalOptions {
                color: world.colors_stdout(),
                quiet: args.quiet,
                width: world.width(),
                label: None,
            };
            let told = print(shown_coverage(coverage.as_ref(), args.quiet));
            let mut reporter = TerminalReporter::new(stdout(Notation::Plain), options);
            told.and(reporter.finish_all(&results(code)))
        }
    };
    let told = CiCall::find(args.ci.ci, world, args.format == Format::Human).map_or(Ok(()), |ci| {
        ci.tell_run(world, &results(code), Some(run_dir.path()))
    });
    if let Err(error) = printed.and(told) {
        complain(&format!("error: failed to write to stdout: {error}"));
        code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
    }
    Ok(code)
}

/// Names the attempts that do not count.
fn tell_superseded(combined: &Combined) {
    let total = combined.shards.len();
    for shard in &combined.shards {
        for other in &shard.superseded {
            complain(&sanitize(&format!(
                "note: shard {}/{total}: attempt {} counts ({}), and attempt {} does not ({})",
                shard.index,
                shard.attempt,
                shown(&shard.folder),
                other.attempt,
                shown(&other.folder)
            )));
        }
    }
}

fn shown(folder: &str) -> String {
    Path::new(folder).display().to_string()
}
