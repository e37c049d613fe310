//! `jelly run`: plans → reports → an exit code.

use super::announce::Announcement;
use super::busy::Busy;
use super::call::{PlanEnd, RunCall};
use super::ci::CiCall;
use super::interrupt;
use super::matrix::{Job, jobs};
use super::open_history::OpenHistory;
use super::plan_files::plans;
use super::refusal::Refusal;
use super::report_files::{ReportFiles, Taken};
use super::rules::open_rules;
use super::run_list::list;
use super::runtime::runtime;
use super::settings::{World, inherited_secrets};
use crate::cli::args::{RunArgs, RunFormat};
use crate::report::{RunDir, TerminalOptions, run_id};
use indicatif::MultiProgress;
use jelly_base::model::ExitCode;
use jelly_base::text::redact::Redactor;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

/// Runs the plans.
pub fn run(args: RunArgs, world: &World) -> Result<ExitCode, Refusal> {
    if args.list {
        return list(&args, world);
    }
    runtime()?.block_on(run_all(args, world))
}

async fn run_all(args: RunArgs, world: &World) -> Result<ExitCode, Refusal> {
    let (call, paths, jobs) = open_call(args, world)?;
    if call.several {
        let checked = call.check_filters(&paths);
        let checked = checked.and_then(|()| call.check_variables(&paths));
        checked.map_err(|slip| {
            let redactor = Redactor::new(inherited_secrets(&call.world.env));
            Refusal::invalid(slip.render(call.color_errors, &redactor))
        })?;
    }
    let ended = run_plans(&Rc::new(call), jobs).await;
    ended.unwrap_or_else(|lost| Err(Refusal::fault(&format!("a plan was lost: {lost}"))))
}

/// All that the plans share, with the plans.
fn open_call(args: RunArgs, world: &World) -> Result<(RunCall, Vec<PathBuf>, Vec<Job>), Refusal> {
    let interrupt = interrupt::listen()?;
    let paths = plans(&args.plans, "run")?;
    let jobs_to_run = jobs(
        &paths,
        &args.vars.iter().cloned().collect(),
        args.project_dir.as_deref(),
    );
    let rules = open_rules(&args.own_rules, world)?;
    let history = args.history.open(world)?;
    let now = jiff::Timestamp::now();
    let entropy = now.subsec_nanosecond().unsigned_abs() ^ std::process::id();
    let id = run_id(now, entropy);
    // What is wrong with the plans weighs more, and is found out first.
    let run_dir = RunDir::create(&args.reports.reports_dir, &id);
    let report_files = report_files(&args, &paths, history.as_ref())?;
    if let Ok(dir) = &run_dir
        && args.announce
    {
        let run_id = dir.run_id().to_owned();
        Announcement::Run { run_id }.announce();
    }
    let jobs = args.jobs.map_or_else(default_jobs, usize::from);
    let draws = world.draws_progress(args.format);
    let call = RunCall {
        color_errors: world.colors_stderr(),
        options: TerminalOptions {
            color: world.colors_stdout(),
            quiet: args.quiet,
            width: world.width(),
            label: None,
        },
        progress: draws.then(MultiProgress::new),
        busy: Rc::new(match args.quiet || args.announce || draws {
            true => Busy::silent(),
            false => Busy::beating(),
        }),
        ci: CiCall::find(args.ci.ci, world, args.format == RunFormat::Human),
        seed: args.seed.unwrap_or(u64::from(entropy)),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        world: world.clone(),
        starts: Arc::new(Semaphore::new(jobs)),
        plans: Arc::new(Semaphore::new(jobs)),
        interrupt,
        args,
        run_id: run_dir.as_ref().map_or(id, |dir| dir.run_id().to_owned()),
        run_dir,
        report_files,
        rules,
        history,
        several: jobs_to_run.len() > 1,
        is_unheard: Cell::new(false),
    };
    Ok((call, paths, jobs_to_run))
}

/// The reports by name, none in the place of what the call reads or writes
/// otherwise.
fn report_files(
    args: &RunArgs,
    plans: &[PathBuf],
    history: Option<&OpenHistory>,
) -> Result<ReportFiles, Refusal> {
    let plans = plans.iter().map(|path| ("a plan", path.as_path()));
    let rules = args.own_rules.files.iter();
    let rules = rules.map(|path| ("a file of rules", path.as_path()));
    let history = history.map(|history| ("the history", history.store.path()));
    let schemas = args.ladder.schema_store.as_deref();
    let schemas = schemas.map(|path| ("the schema store", path));
    let taken: Vec<Taken<'_>> = plans.chain(rules).chain(history).chain(schemas).collect();
    let latest = args.reports.latest();
    ReportFiles::prepare(&args.named_reports.named, &taken, Some(&latest)).map_err(|unusable| {
        match unusable.is_slip {
            true => Refusal::invalid(unusable.text),
            false => Refusal::needs_help(unusable.text),
        }
    })
}

async fn run_plans(
    call: &Rc<RunCall>,
    jobs: Vec<Job>,
) -> Result<Result<ExitCode, Refusal>, JoinError> {
    let mut work = JoinSet::new();
    let mut jobs: Vec<(usize, Job)> = jobs.into_iter().enumerate().collect();
    while let Some((_, first)) = jobs.first() {
        // The combinations of one plan share its project folder, so that they
        // run one after the other.
        let same = jobs.iter().take_while(|(_, job)| job.path == first.path);
        let same = if first.variant.is_some() {
            same.count()
        } else {
            1
        };
        let turns: Vec<(usize, Job)> = jobs.drain(..same).collect();
        let call = call.clone();
        work.spawn_local(async move {
            let mut ended: Vec<(usize, Option<PlanEnd>)> = Vec::with_capacity(turns.len());
            for (index, job) in turns {
                ended.push((index, call.run_plan(&job).await));
            }
            let mut ends: Vec<_> = ended
                .iter_mut()
                .filter_map(|(_, end)| end.as_mut())
                .collect();
            call.write_together(&mut ends);
            ended
        });
    }
    let mut ended: BTreeMap<usize, Option<PlanEnd>> = BTreeMap::new();
    let mut shown = 0;
    while let Some(joined) = work.join_next().await {
        match joined {
            Ok(ends) => ended.extend(ends),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => return Err(error),
        }
        // Plans are shown in the order in which they were named.
        while let Some(end) = ended.get(&shown) {
            if let Some(end) = end
                && call.several
            {
                call.print(&end.transcript);
            }
            shown += 1;
        }
    }
    Ok(call.conclude(ended.into_values().flatten().collect()))
}

/// The processors are what a starting server needs; while one waits for its
/// disk, another can use them.
fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from) * 2
}
