//! One call of `jelly run`: what its plans share, and what it comes to.
//!
//! Main type: [`RunCall`].

use super::busy::Busy;
use super::ci::CiCall;
use super::coverage::{judge_coverage, shown_coverage};
use super::invalid::{Invalid, chain, read};
use super::known::{JudgedScope, KnownList, day_of, judge, said_of};
use super::matrix::{self, InMatrix, Job};
use super::open_history::{OpenHistory, recent_ends};
use super::out::{print, print_in, stdout};
use super::plan_files::read_source;
use super::record::identity_of_run;
use super::refusal::{Refusal, complain};
use super::report_files::ReportFiles;
use super::rules::Rules;
use super::settings::{World, inherited_secrets};
use super::shard::{ShardCall, relative_path};
use super::write_back::WriteBack;
use crate::cli::args::{RunArgs, RunFormat};
use crate::report::{
    Extras, ReportDir, ReportError, ReportSurroundings, Results, RunDir, TerminalOptions,
    TerminalReporter, agent_json, report_json,
};
use indexmap::IndexMap;
use indicatif::MultiProgress;
use jelly_base::model::{Coverage, ExitCode, Interrupt, RunReport, ShardRecord, StepAnswers};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Notation, sanitize};
use jelly_harness::code_identity::Checkouts;
use jelly_harness::exec::{Locked, NoSuchFilter, Selection};
use jelly_plan::Plan;
use jelly_triage::history::{Past, TestName};
use serde_json::Value;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// One call of jelly.
pub struct RunCall {
    pub args: RunArgs,
    pub world: World,
    pub options: TerminalOptions,
    pub color_errors: bool,
    pub progress: Option<MultiProgress>,
    /// What is waited for, by plan and server.
    pub busy: Rc<Busy>,
    /// The CI system that is told.
    pub ci: Option<CiCall>,
    pub seed: u64,
    pub started_at: String,
    pub run_id: String,
    /// Why nothing can be written, where that is so: then no plan is run.
    pub run_dir: Result<RunDir, ReportError>,
    /// Those that were asked for by name.
    pub report_files: ReportFiles,
    pub rules: Rules,
    /// What servers are held to in their lists.
    pub locked: Option<Rc<Locked>>,
    /// What earlier runs left, where a history is kept.
    pub history: Option<Rc<OpenHistory>>,
    /// The work trees that servers are started from, where the history is to know
    /// what is proved of their code.
    pub checkouts: Option<Rc<Checkouts>>,
    pub several: bool,
    /// The list of known failures, where there is one.
    pub known: Option<KnownList>,
    /// The folder that paths of plans are relative to, in what is kept of them.
    pub root: PathBuf,
    /// Plans that are not the only ones of their names, with their paths in the
    /// project.
    pub same_named: BTreeMap<PathBuf, String>,
    /// Where it runs a part of the plans that were named.
    pub shard: Option<ShardCall>,
    /// By plan, the filters that select nothing of it: the same for all of its variants.
    pub foreign_filters: RefCell<BTreeMap<PathBuf, Rc<[String]>>>,
    /// Stdout did not take all that was said.
    pub is_unheard: Cell<bool>,
    /// Servers that are starting, over all plans.
    pub starts: Arc<Semaphore>,
    /// Plans that are running.
    pub plans: Arc<Semaphore>,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
}

/// What a plan left behind.
pub struct PlanEnd {
    pub report: RunReport,
    pub code: ExitCode,
    /// What is still to be shown, where several plans ran side by side.
    pub transcript: Vec<u8>,
    /// Of one combination of a matrix: which, and what its steps were answered.
    pub matrix: Option<(InMatrix, StepAnswers)>,
    /// What is still to be written when the other combinations have run.
    pub write_back: Option<WriteBack>,
    /// Where its reports lie, where it has some.
    pub dir: Option<Rc<ReportDir>>,
}

impl RunCall {
    /// The project folder, where one is told.
    pub fn project(&self) -> Option<&Path> {
        self.args.project_dir.as_deref()
    }

    pub fn selection(&self) -> Selection {
        Selection::new(self.args.only.clone(), self.args.skip.clone())
    }

    /// Refuses variables that none of several plans has a place for, as
    /// [`RunCall::check_filters`] does with filters.
    pub fn check_variables(&self, paths: &[PathBuf]) -> Result<(), Invalid> {
        let given = self.vars();
        if given.is_empty() {
            return Ok(());
        }
        let sources: Result<Vec<_>, _> = paths.iter().map(|path| read_source(path)).collect();
        // One that can't be read says so itself when it is due.
        let stray = sources
            .ok()
            .and_then(|sources| Invalid::stray_variable(&sources, &given, self.project()));
        stray.map_or(Ok(()), Err)
    }

    /// Refuses filters that match nothing in any of several plans, before
    /// anything runs: most likely they are slips, and a slip must not select.
    pub fn check_filters(&self, paths: &[PathBuf]) -> Result<(), Invalid> {
        let selection = self.selection();
        if selection.only.is_empty() && selection.skip.is_empty() {
            return Ok(());
        }
        let vars = self.vars();
        // A server that takes turns is called by its own name in its combinations alone.
        let jobs = matrix::jobs(paths, &vars, self.project());
        let plans: Result<Vec<Plan>, _> = jobs
            .iter()
            .map(|job| read(&job.path, job.variant.clone(), &vars, self.project()))
            .collect();
        // A plan that can't be read says so itself when it is due; what it
        // holds nobody knows.
        let plans = plans.unwrap_or_default();
        let Some((first, others)) = plans.split_first() else {
            return Ok(());
        };
        let others: Vec<_> = others
            .iter()
            .map(|plan| selection.unmatched(plan))
            .collect();
        let mut slips = selection.unmatched(first).into_iter();
        let slip = slips.find(|slip| {
            let is_slip = |slips: &Vec<NoSuchFilter>| slips.iter().any(|s| s.filter == slip.filter);
            others.iter().all(is_slip)
        });
        slip.map_or(Ok(()), |slip| Err(Invalid::filter(first, &slip)))
    }

    /// Leaves a result that says of which shard it is, before anything is run:
    /// where this call is killed, it is known to have begun. Refuses a list of
    /// which no shard has anything to run.
    pub fn begin_shard(&self, paths: &[PathBuf]) -> Result<(), Refusal> {
        let Some(shard) = &self.shard else {
            return Ok(());
        };
        let selection = self.selection();
        let narrows = !selection.only.is_empty() || !selection.skip.is_empty();
        let vars = self.vars();
        let has_work = |path: &PathBuf| {
            let plan = read(path, None, &vars, self.args.project_dir.as_deref());
            // One that can't be read says so in its shard.
            plan.map_or(true, |plan| !selection.select(&plan).is_empty())
        };
        if narrows && !paths.iter().any(has_work) {
            return Err(nothing_selected());
        }
        let Ok(run_dir) = &self.run_dir else {
            return Ok(());
        };
        let results = Results::new(&self.run_id, ExitCode::NeedsUserHelp, &[]);
        let results = results.of_shard(Some(&shard.record)).in_progress();
        let begun = run_dir.write_results(&results).map(drop);
        begun
            .and_then(|()| run_dir.point_latest())
            .map_err(|error| Refusal::needs_help(format!("error: failed to {}", chain(&error))))
    }

    /// `--var`, of which the last wins.
    pub fn vars(&self) -> IndexMap<String, Value> {
        self.args.vars.iter().cloned().collect()
    }

    /// A plan that can't be run at all. It is reported like any other: who
    /// looks at nothing but the reports must not take it for one that passed.
    pub fn refuse(&self, job: &Job, invalid: &Invalid) -> PlanEnd {
        if self.args.format == RunFormat::Human {
            let redactor = Redactor::new(inherited_secrets(&self.world.env));
            complain(&invalid.render(self.color_errors, &redactor));
        }
        let mut report = invalid.report(&self.run_id, &self.started_at, self.seed, &job.path);
        let mut code = invalid.code();
        if let Ok(run_dir) = &self.run_dir
            && !invalid.is_unreportable()
            && let Err(error) = self.report_refused(run_dir, job, &mut report)
        {
            let warning = format!("failed to {}", chain(&error));
            complain(&format!("error: {warning}"));
            report.warnings.push(warning);
            report.report_dir = None;
            code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
        }
        PlanEnd {
            report,
            code,
            transcript: Vec::new(),
            matrix: None,
            write_back: None,
            dir: None,
        }
    }

    fn report_refused(
        &self,
        run_dir: &RunDir,
        job: &Job,
        report: &mut RunReport,
    ) -> Result<(), ReportError> {
        let redactor = Redactor::new(inherited_secrets(&self.world.env));
        for problem in report
            .help_summary
            .iter_mut()
            .flat_map(|help| &mut help.problems)
        {
            let texts = [&mut problem.what, &mut problem.evidence];
            for text in texts.into_iter().chain(&mut problem.next) {
                *text = redactor.redact(text).into_owned();
            }
        }
        let folder = run_dir.plan(self.several.then(|| job.stem()).as_deref())?;
        report.report_dir = Some(folder.path().display().to_string());
        folder.write(report, Extras::default())?;
        if let Err(error) = run_dir.point_latest() {
            // The report is there; only the link is not.
            complain(&format!("warning: failed to {}", chain(&error)));
        }
        Ok(())
    }

    /// Says which entries of the list of known failures should be taken out, in
    /// the reports too. Of a part of all steps or plans, `jelly merge` or a
    /// whole run has to say it.
    pub fn judge_known(&self, ends: &mut [PlanEnd]) -> Option<ExitCode> {
        let list = self.known.as_ref()?;
        let selection = self.selection();
        if self.shard.is_some() || !selection.only.is_empty() || !selection.skip.is_empty() {
            return None;
        }
        let scope = match self.args.plans.is_empty() {
            true => JudgedScope::AllPlans,
            false => JudgedScope::NamedPlans,
        };
        let mut reports: Vec<RunReport> = ends
            .iter_mut()
            .map(|end| std::mem::take(&mut end.report))
            .collect();
        let today = day_of(&self.started_at);
        let place_of = |report: &RunReport| {
            relative_path(Path::new(&report.plan.path), &self.root, &self.world)
        };
        let changed = judge(&list.entries, (&mut reports, &place_of), scope, today);
        let mut unwritten = None;
        for (at, (end, report)) in ends.iter_mut().zip(reports).enumerate() {
            end.report = report;
            if !changed.contains(&at) {
                continue;
            }
            end.code = ExitCode::of(end.report.exit_code).unwrap_or(end.code);
            for stale in &end.report.known_stale {
                complain(&sanitize(&format!("error: {}", said_of(stale))));
            }
            let rewritten = end.dir.as_ref().map(|dir| dir.rewrite(&end.report));
            if let Some(Err(error)) = rewritten {
                complain(&format!("error: failed to {}", chain(&error)));
                unwritten = Some(ExitCode::NeedsUserHelp);
            }
        }
        unwritten
    }

    pub fn print(&self, bytes: &[u8]) {
        self.note(print(bytes));
    }

    /// Remembers that stdout takes no more, and says so once. Whoever closed
    /// it has the reports on disk.
    pub fn note(&self, printed: io::Result<()>) {
        if let Err(error) = printed
            && error.kind() != io::ErrorKind::BrokenPipe
            && !self.is_unheard.replace(true)
        {
            complain(&format!("error: failed to write to stdout: {error}"));
        }
    }

    /// Where the reports of the call are.
    pub fn run_folder(&self) -> Option<&Path> {
        self.run_dir.as_ref().ok().map(RunDir::path)
    }

    /// The names by which a list of known failures may mean a plan: its own, and
    /// its path in the project, which no other plan has.
    pub fn names_of(&self, path: &Path, name: &str) -> Vec<String> {
        let place = relative_path(path, &self.root, &self.world);
        [name.to_owned()].into_iter().chain(place).collect()
    }

    /// What runs before this one say of the steps of these.
    fn past_of(&self, reports: &[RunReport]) -> Option<Rc<Past>> {
        let history = self.history.as_ref()?;
        let shard = self.shard.as_ref().map(|shard| &shard.record);
        let digests: Vec<String> = reports
            .iter()
            .map(|report| identity_of_run(report, shard))
            .collect();
        let tests: BTreeSet<TestName> = reports
            .iter()
            .flat_map(|report| {
                let steps = report.iterations.iter().flat_map(|i| &i.steps);
                steps.map(|step| TestName::new(&report.plan.name, &step.server, &step.id))
            })
            .collect();
        let tests: Vec<TestName> = tests.into_iter().collect();
        Some(history.past_of(&tests, &digests))
    }

    /// The end of the call.
    pub fn conclude(
        &self,
        mut ends: Vec<PlanEnd>,
        shard: Option<&ShardRecord>,
    ) -> Result<ExitCode, Refusal> {
        // That the whole list has something to run was found out before.
        if ends.is_empty() && shard.is_none() {
            return Err(nothing_selected());
        }
        // Of a plan that is alone it was said already.
        let unwritten = match self.several {
            true => self.judge_known(&mut ends),
            false => None,
        };
        let mut code = ExitCode::strongest(ends.iter().map(|end| end.code).chain(unwritten));
        let matrices = matrix::compare_all(&ends);
        let least = &self.args.coverage.least.min_coverage;
        let same = matrices.iter().all(|matrix| matrix.differences.is_empty());
        if self.args.strict && !same {
            // Green, but not the same.
            code = ExitCode::strongest([code, ExitCode::UnacceptedChange]);
        }
        let reports: Vec<RunReport> = ends.into_iter().map(|end| end.report).collect();
        // Of a part, `jelly merge` says whether all is enough; a plan alone has said so.
        let coverage = Coverage::of_plans(reports.iter().map(|it| it.coverage.as_ref()));
        if self.several && shard.is_none() {
            let missed = judge_coverage(coverage.as_ref(), least);
            code = ExitCode::strongest([code].into_iter().chain(missed));
        }
        let results = |code: ExitCode| {
            let results = Results::new(&self.run_id, code, &reports);
            results.with_matrix(&matrices).of_shard(shard)
        };
        if self.several
            // Where there is none, each of the plans has said so.
            && let Ok(run_dir) = &self.run_dir
        {
            let written = run_dir.write_results(&results(code));
            if let Err(error) = written.and_then(|_| run_dir.write_matrix(&matrices)) {
                // A result that can't be written is a failure.
                complain(&format!("error: failed to {}", chain(&error)));
                code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
            }
        }
        let earlier = OnceCell::new();
        let named = |code| {
            // Only pages ask for it, and one question for all of it is enough.
            let past = |plan: &str, server: &str, step: &str| {
                let past = earlier.get_or_init(|| self.past_of(&reports));
                recent_ends([past.as_deref(), None], plan, server, step)
            };
            self.report_files.write(|format, file, out| {
                let around = ReportSurroundings::new(&self.world.cwd, file, &past);
                format.write_run(&results(code), &around, out)
            })
        };
        if !named(code) {
            code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
        }
        match self.args.format {
            RunFormat::Json => {
                let json = match reports.as_slice() {
                    [one] if !self.several => report_json(one),
                    _ => report_json(&results(code)),
                };
                let bytes = json
                    .map_err(|error| Refusal::fault(&format!("the report is not JSON: {error}")))?;
                self.note(print_in(Notation::Json, bytes));
            }
            RunFormat::Agent => {
                let bytes = agent_json(&self.run_id, code.code(), &reports, self.args.max_bytes)
                    .map_err(|error| Refusal::fault(&format!("the report is not JSON: {error}")))?;
                self.note(print_in(Notation::Json, bytes));
            }
            RunFormat::Human if self.several => {
                let told = shown_coverage(coverage.as_ref(), self.args.quiet);
                self.print(told.as_bytes());
                let mut reporter =
                    TerminalReporter::new(stdout(Notation::Plain), self.options.clone());
                self.note(reporter.finish_all(&results(code)));
            }
            RunFormat::Human => {}
        }
        if let Some(ci) = self.ci {
            let folder = self.run_dir.as_ref().ok().map(RunDir::path);
            self.note(ci.tell_run(&self.world, &results(code), folder));
        }
        if self.is_unheard.get() {
            code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
        }
        Ok(code)
    }
}

fn nothing_selected() -> Refusal {
    Refusal::invalid("error: the filters of --only and --skip match nothing in any of the plans")
}
