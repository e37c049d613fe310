//! `jelly run`: plans → reports → an exit code.

use super::announce::Announcement;
use super::busy::Busy;
use super::call::{PlanEnd, RunCall};
use super::call_reads::call_reads;
use super::ci::CiCall;
use super::interrupt;
use super::known::open_known;
use super::matrix::{Job, jobs};
use super::open_history::OpenHistory;
use super::overwrite::Taken;
use super::plan_files::plans;
use super::refusal::{Refusal, complain};
use super::report_files::{ReportFiles, UnusableReport};
use super::rules::open_rules;
use super::run_list::list;
use super::runtime::runtime;
use super::same_named::{same_named, told_of};
use super::server_code::checkouts;
use super::settings::{World, inherited_secrets};
use super::shard::{ShardCall, project_root};
use super::tools::read_lock;
use super::watch::watch;
use crate::cli::args::{RunArgs, RunFormat};
use crate::report::{RunDir, RunEnd, TerminalOptions, progress_target, run_id, told_as};
use indicatif::MultiProgress;
use jelly_base::model::{ExitCode, Interrupt, RunReport};
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::Locked;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch as channel};
use tokio::task::{JoinError, JoinSet};

/// What signals ask for.
pub type Signals = channel::Receiver<Option<Interrupt>>;

/// Runs the plans.
pub fn run(args: RunArgs, world: &World) -> Result<ExitCode, Refusal> {
    if args.list {
        return list(&args, world);
    }
    if args.watch {
        return watch(&args, world);
    }
    runtime()?.block_on(async { run_all(args, world, interrupt::listen()?).await })
}

/// Runs the plans once.
pub async fn run_all(
    args: RunArgs,
    world: &World,
    interrupt: Signals,
) -> Result<ExitCode, Refusal> {
    let (call, paths, jobs) = open_call(args, world, interrupt)?;
    if call.several {
        let checked = call.check_filters(&paths);
        let checked = checked.and_then(|()| call.check_variables(&paths));
        checked.map_err(|slip| {
            let redactor = Redactor::new(inherited_secrets(&call.world.env));
            Refusal::invalid(slip.render(call.color_errors, &redactor))
        })?;
    }
    call.begin_shard(&paths)?;
    let ended = run_plans(&Rc::new(call), jobs).await;
    ended.unwrap_or_else(|lost| Err(Refusal::fault(&format!("a plan was lost: {lost}"))))
}

/// All that the plans share, with the plans.
fn open_call(
    args: RunArgs,
    world: &World,
    interrupt: Signals,
) -> Result<(RunCall, Vec<PathBuf>, Vec<Job>), Refusal> {
    let paths = plans(&args.plans, "run")?;
    let mut jobs_to_run = jobs(
        &paths,
        &args.vars.iter().cloned().collect(),
        args.project_dir.as_deref(),
    );
    let root = project_root(args.project_dir.as_deref(), world);
    let same_named = same_named(
        &paths,
        (
            &args.vars.iter().cloned().collect(),
            args.project_dir.as_deref(),
        ),
        (&root, world),
    );
    if let Some(told) = told_of(&same_named) {
        complain(&told);
    }
    let known = open_known(&args.known, world)?;
    let rules = open_rules(&args.own_rules, world)?;
    let runs: Vec<&Path> = jobs_to_run.iter().map(|job| job.path.as_path()).collect();
    let shard = ShardCall::open(
        &args,
        world,
        (&paths, &runs),
        known.as_ref(),
        rules.digest(),
    )?;
    if let Some(shard) = &shard {
        jobs_to_run.retain(|job| shard.has(&job.path));
    }
    let locked = match args.locked {
        true => Some(Rc::new(Locked {
            lock: read_lock(&world.cwd.join(&args.lock))?,
            file: args.lock.display().to_string(),
        })),
        false => None,
    };
    let history = args.history.open(world)?.map(Rc::new);
    let now = jiff::Timestamp::now();
    let entropy = now.subsec_nanosecond().unsigned_abs() ^ std::process::id();
    let id = run_id(now, entropy);
    // What is wrong with the plans weighs more, and is found out first.
    let run_dir = RunDir::create(&args.reports.reports_dir, &id);
    let report_files = report_files(&args, &paths, history.as_deref(), world)?;
    if let Ok(dir) = &run_dir
        && args.announce
    {
        let run_id = dir.run_id().to_owned();
        Announcement::Run { run_id }.announce();
    }
    let checkouts = checkouts(&args, history.as_deref(), world);
    let jobs = args.jobs.map_or_else(default_jobs, usize::from);
    // A line among bars that are drawn would tear them.
    let draws = world.draws_progress(args.format) && !args.verbose;
    let call = RunCall {
        color_errors: world.colors_stderr(),
        options: TerminalOptions {
            color: world.colors_stdout(),
            quiet: args.quiet,
            width: world.width(),
            label: None,
        },
        progress: draws.then(|| MultiProgress::with_draw_target(progress_target())),
        busy: Rc::new(match args.quiet || args.verbose || args.announce || draws {
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
        locked,
        checkouts,
        history,
        // What is merged later always is a result of several plans.
        several: jobs_to_run.len() > 1 || shard.is_some(),
        root,
        known,
        same_named,
        shard,
        is_unheard: Cell::new(false),
        foreign_filters: RefCell::default(),
    };
    Ok((call, paths, jobs_to_run))
}

/// The reports by name, none in the place of what the call reads or writes
/// otherwise.
fn report_files(
    args: &RunArgs,
    plans: &[PathBuf],
    history: Option<&OpenHistory>,
    world: &World,
) -> Result<ReportFiles, Refusal> {
    let mut named = args.named_reports.named.iter();
    // Plans are read for it only where something could be lost.
    let looked_at = match named.any(|report| report.file.is_file()) {
        true => plans,
        false => &[],
    };
    let reads = call_reads(args, looked_at, world);
    let reads = reads.iter().map(|(what, path)| (*what, path.as_path()));
    let plans = plans.iter().map(|path| ("a plan", path.as_path()));
    let history = history.and_then(|history| Some(("the history", history.file()?)));
    let taken: Vec<Taken<'_>> = plans.chain(history).chain(reads).collect();
    let latest = args.reports.latest();
    ReportFiles::prepare(&args.named_reports.named, &taken, Some(&latest))
        .map_err(UnusableReport::refusal)
}

/// So many plans that end alike are shown as they ran.
const ALIKE: usize = 3;

/// The plans that were shown: how each ended, its place, and how many ended
/// alike.
#[derive(Default)]
struct AlikePlans(Vec<(RunEnd, usize, usize)>);

impl AlikePlans {
    /// The plan that stands for one, where enough of its kind were shown.
    fn stands_for(&mut self, place: usize, report: &RunReport) -> Option<usize> {
        let end = RunEnd::of(report)?;
        match self.0.iter_mut().find(|(known, ..)| *known == end) {
            Some((_, first, count)) => {
                *count += 1;
                (*count > ALIKE).then_some(*first)
            }
            None => {
                self.0.push((end, place, 1));
                None
            }
        }
    }
}

async fn run_plans(
    call: &Rc<RunCall>,
    jobs: Vec<Job>,
) -> Result<Result<ExitCode, Refusal>, JoinError> {
    let mut work = JoinSet::new();
    let paths: Vec<PathBuf> = jobs.iter().map(|job| job.path.clone()).collect();
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
    let mut alike = AlikePlans::default();
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
                let first = alike.stands_for(shown, &end.report);
                let first = first.filter(|_| !end.transcript.is_empty());
                match first.and_then(|first| ended.get(&first)?.as_ref()) {
                    Some(first) => {
                        let line = told_as(&first.report, &end.report, &call.options);
                        call.print(line.as_bytes());
                    }
                    None => call.print(&end.transcript),
                }
            }
            shown += 1;
        }
    }
    let left_out = ended
        .iter()
        .filter(|(_, end)| end.is_none())
        .filter_map(|(at, _)| paths.get(*at).map(PathBuf::as_path));
    let shard = call.shard.as_ref().map(|shard| shard.leaving_out(left_out));
    Ok(call.conclude(ended.into_values().flatten().collect(), shard.as_ref()))
}

/// The processors are what a starting server needs; while one waits for its
/// disk, another can use them.
fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from) * 2
}
