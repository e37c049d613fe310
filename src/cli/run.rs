//! `jelly run`: plans → reports → an exit code.

use super::args::{ColorChoice, Format, RunArgs};
use super::executor::PlanExecutor;
use super::interrupt;
use super::invalid::{Invalid, read};
use super::settings::{World, budgets, hooks, project_dir};
use crate::exec::{ExecSettings, NoSuchFilter, Selection};
use crate::harness::{CommandHooks, LoopSettings, RealFs, Surroundings};
use crate::model::{Event, EventSink, ExitCode, RunReport, Signal, Verdict};
use crate::plan::Plan;
use crate::report::{
    Extras, ReportDir, Results, RunDir, TerminalOptions, TerminalReporter, annotations,
    job_summary, results_json, run_id, run_json,
};
use crate::text::redact::{Redactor, looks_secret};
use crate::triage::Engine;
use crate::wire::Recorder;
use indexmap::IndexMap;
use indicatif::MultiProgress;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinSet, LocalSet};

/// Runs the plans.
pub fn run(args: RunArgs, color: ColorChoice, world: &World) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fault(&format!("the runtime can't be started: {error}")),
    };
    let local = LocalSet::new();
    local.block_on(&runtime, run_all(args, color, world))
}

fn fault(message: &str) -> ExitCode {
    complain(&format!("jelly: {message}"));
    ExitCode::Internal
}

/// To stderr; where that is closed there is nobody left to tell.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

async fn run_all(args: RunArgs, color: ColorChoice, world: &World) -> ExitCode {
    let interrupt = match interrupt::listen() {
        Ok(interrupt) => interrupt,
        Err(error) => return fault(&format!("signals can't be listened for: {error}")),
    };
    let paths = match plans(&args, world) {
        Ok(paths) => paths,
        Err(message) => {
            complain(&format!("error: {message}"));
            return ExitCode::InvalidInput;
        }
    };
    let now = jiff::Timestamp::now();
    let entropy = now.subsec_nanosecond().unsigned_abs() ^ std::process::id();
    let run_dir = match RunDir::create(&args.reports_dir, &run_id(now, entropy)) {
        Ok(run_dir) => run_dir,
        Err(error) => {
            complain(&format!("error: failed to {}", chain(&error)));
            complain("help: name a folder that can be written with --reports-dir");
            return ExitCode::NeedsUserHelp;
        }
    };
    let jobs = args.jobs.map_or_else(default_jobs, usize::from);
    let several = paths.len() > 1;
    let call = Rc::new(Call {
        color_errors: world.color(color, world.stderr_is_terminal),
        options: TerminalOptions {
            color: world.color(color, world.stdout_is_terminal),
            quiet: args.quiet,
            width: world.width(),
            label: None,
        },
        progress: world.draws_progress(args.format).then(MultiProgress::new),
        seed: args.seed.unwrap_or(u64::from(entropy)),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        world: world.clone(),
        starts: Arc::new(Semaphore::new(jobs)),
        plans: Arc::new(Semaphore::new(jobs)),
        interrupt,
        args,
        run_dir,
        several,
    });

    if several && let Err(slip) = call.check_filters(&paths) {
        complain(&slip.render(call.color_errors));
        return ExitCode::InvalidInput;
    }
    let mut work = JoinSet::new();
    for (index, path) in paths.iter().cloned().enumerate() {
        let call = call.clone();
        work.spawn_local(async move { (index, call.run_plan(&path).await) });
    }
    let mut ended: BTreeMap<usize, Option<PlanEnd>> = BTreeMap::new();
    let mut shown = 0;
    while let Some(joined) = work.join_next().await {
        match joined {
            Ok((index, end)) => {
                ended.insert(index, end);
            }
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => return fault(&format!("a plan was lost: {error}")),
        }
        // Plans are shown in the order in which they were named.
        while let Some(end) = ended.get(&shown) {
            if let Some(end) = end
                && several
            {
                call.print(&end.transcript);
            }
            shown += 1;
        }
    }
    let ends: Vec<PlanEnd> = ended.into_values().flatten().collect();
    call.conclude(ends)
}

/// The processors are what a starting server needs; while one waits for its
/// disk, another can use them.
fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from) * 2
}

/// The plans to run: as named, or those of `plans/`.
fn plans(args: &RunArgs, world: &World) -> Result<Vec<PathBuf>, String> {
    if !args.plans.is_empty() {
        return Ok(args.plans.clone());
    }
    let folder = Path::new("plans");
    let none = || {
        format!(
            "no plan was named, and there is none in {}\nhelp: jelly run PLAN.yaml",
            world.cwd.join(folder).display()
        )
    };
    let entries = folder.read_dir().map_err(|_| none())?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let extension = path.extension().and_then(|e| e.to_str());
            matches!(extension, Some("yaml" | "yml" | "json")) && path.is_file()
        })
        .collect();
    found.sort();
    if found.is_empty() {
        Err(none())
    } else {
        Ok(found)
    }
}

/// One call of jelly.
struct Call {
    args: RunArgs,
    world: World,
    options: TerminalOptions,
    color_errors: bool,
    progress: Option<MultiProgress>,
    seed: u64,
    started_at: String,
    run_dir: RunDir,
    several: bool,
    /// Servers that are starting, over all plans.
    starts: Arc<Semaphore>,
    /// Plans that are running.
    plans: Arc<Semaphore>,
    interrupt: watch::Receiver<Option<Signal>>,
}

/// What a plan left behind.
struct PlanEnd {
    report: RunReport,
    code: ExitCode,
    /// What is still to be shown, where several plans ran side by side.
    transcript: Vec<u8>,
}

/// Where a reporter writes: at once for one plan, later for several.
#[derive(Clone)]
enum Out {
    Now,
    Later(Rc<RefCell<Vec<u8>>>),
    Nowhere,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Now => io::stdout().write(bytes),
            Self::Later(buffer) => {
                buffer.borrow_mut().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Self::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Now => io::stdout().flush(),
            Self::Later(_) | Self::Nowhere => Ok(()),
        }
    }
}

impl Call {
    fn selection(&self) -> Selection {
        Selection::new(self.args.only.clone(), self.args.skip.clone())
    }

    /// Refuses filters that match nothing in any of several plans, before
    /// anything runs: most likely they are slips, and a slip must not select.
    fn check_filters(&self, paths: &[PathBuf]) -> Result<(), Invalid> {
        let selection = self.selection();
        let mut slips: Option<(Plan, Vec<NoSuchFilter>)> = None;
        if selection.only.is_empty() && selection.skip.is_empty() {
            return Ok(());
        }
        for path in paths {
            // A plan that can't be read says so itself when it is due; what it
            // holds nobody knows.
            let Ok(plan) = read(path, &self.vars()) else {
                return Ok(());
            };
            let unmatched = selection.unmatched(&plan);
            slips = Some(match slips {
                None => (plan, unmatched),
                Some((first, mut slips)) => {
                    slips.retain(|slip| unmatched.iter().any(|u| u.filter == slip.filter));
                    (first, slips)
                }
            });
        }
        match slips {
            Some((plan, slips)) => slips
                .first()
                .map_or(Ok(()), |slip| Err(Invalid::filter(&plan, slip))),
            None => Ok(()),
        }
    }

    /// `--var`, of which the last wins.
    fn vars(&self) -> IndexMap<String, Value> {
        self.args.vars.iter().cloned().collect()
    }

    /// Runs one plan to its end; `None` when the selection leaves it out.
    async fn run_plan(&self, path: &Path) -> Option<PlanEnd> {
        // Never closed, so there is always a permit in the end.
        let _permit = self.plans.acquire().await;
        let plan = match read(path, &self.vars()) {
            Ok(plan) => plan,
            Err(invalid) => return Some(self.refuse(path, &invalid)),
        };
        let selection = self.selection();
        if !self.several
            && let Some(slip) = selection.unmatched(&plan).first()
        {
            return Some(self.refuse(path, &Invalid::filter(&plan, slip)));
        }
        if selection.select(&plan).is_empty() {
            // Of several plans, some may have nothing of the kind.
            return (!self.several).then(|| self.refuse(path, &Invalid::nothing_selected(&plan)));
        }
        let selection = selection.settle(&plan);
        let project = match project_dir(self.args.project_dir.as_deref(), path) {
            Ok(project) => project,
            Err(error) => {
                return Some(self.refuse(path, &Invalid::project(path, &error)));
            }
        };
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let report_dir = match self.run_dir.plan(if self.several { stem } else { None }) {
            Ok(dir) => Rc::new(dir),
            Err(error) => {
                let mut end = self.refuse(path, &Invalid::unwritable(path, &error));
                end.code = ExitCode::NeedsUserHelp;
                end.report.verdict = Verdict::NeedsUserHelp;
                end.report.exit_code = end.code.code();
                return Some(end);
            }
        };
        Some(self.run_in(plan, selection, project, report_dir).await)
    }

    async fn run_in(
        &self,
        plan: Plan,
        selection: Selection,
        project: PathBuf,
        report_dir: Rc<ReportDir>,
    ) -> PlanEnd {
        let redactor = secrets(&plan, &self.world.env);
        let transcript = Rc::new(RefCell::new(Vec::new()));
        let out = match self.args.format {
            Format::Json => Out::Nowhere,
            Format::Human if self.several => Out::Later(transcript.clone()),
            Format::Human => Out::Now,
        };
        let mut reporter = TerminalReporter::new(
            out,
            TerminalOptions {
                label: self.several.then(|| plan.name.clone()),
                ..self.options.clone()
            },
        );
        if let Some(progress) = &self.progress {
            reporter = reporter.with_progress(progress.clone());
        }
        let reporter = Rc::new(RefCell::new(reporter));
        let events: EventSink = {
            let reporter = reporter.clone();
            Rc::new(move |event| reporter.borrow_mut().event(&event))
        };
        let recorder = self.recorder(&report_dir, &events);
        let exec = Rc::new(ExecSettings {
            project_dir: project.clone(),
            jelly: self.world.jelly.clone(),
            env: self.world.env.clone(),
            vars: self.vars(),
            selection,
            fail_fast: self.args.fail_fast,
            starts: self.starts.clone(),
            interrupt: self.interrupt.clone(),
            events: events.clone(),
            redactor: redactor.clone(),
            recorder: recorder.clone(),
            stderr_log: {
                let (report_dir, events) = (report_dir.clone(), events.clone());
                Rc::new(move |server| match report_dir.stderr_log(server) {
                    Ok(_) => Some(report_dir.stderr_log_path(server)),
                    Err(error) => {
                        events(Event::Warning {
                            message: format!("failed to {}", chain(&error)),
                        });
                        None
                    }
                })
            },
            propose_snapshot: {
                let report_dir = report_dir.clone();
                Rc::new(move |name, text| {
                    report_dir
                        .propose_snapshot(name, text)
                        .map_err(|error| chain(&error))
                })
            },
        });
        let settings = LoopSettings {
            run_id: self.run_dir.run_id().to_owned(),
            started_at: self.started_at.clone(),
            report_dir: Some(report_dir.path().display().to_string()),
            project_dir: project.clone(),
            budgets: budgets(&plan, &self.args.budgets),
            hooks: hooks(&plan, &self.args),
            hook_timeout: self.args.hook_timeout,
            repair: !self.args.no_repair,
            confirm: !self.args.no_confirm,
            accept_repairs: self.args.accept_repairs,
            strict: self.args.strict,
            trust_plan: self.args.trust_plan,
            seed: self.seed,
            redactor: redactor.clone(),
            passed_before: std::collections::BTreeSet::new(),
            env: self.world.env.clone(),
            vars: self.vars(),
        };
        let mut executor = PlanExecutor {
            settings: exec,
            interrupt: self.interrupt.clone(),
            ports: BTreeMap::new(),
            alone: !self.several,
        };
        let mut command_hooks = CommandHooks {
            project_dir: project,
            redactor,
        };
        let outcome = crate::harness::run(
            plan,
            &settings,
            Surroundings {
                executor: &mut executor,
                hooks: &mut command_hooks,
                diagnose: &|failure| Engine::builtin().diagnose(failure),
                fs: &RealFs,
                events: events.clone(),
                on_iteration: &mut |report, repaired| {
                    let extras = Extras {
                        repaired_plan: repaired,
                    };
                    report_dir
                        .write(report, extras)
                        .map_err(|error| format!("failed to {}", chain(&error)))?;
                    if let Err(error) = self.run_dir.point_latest() {
                        // The reports are there; only the link is not.
                        let message = format!("failed to {}", chain(&error));
                        events(Event::Warning { message });
                    }
                    Ok(())
                },
            },
        )
        .await;
        if let Some(warning) = recorder.and_then(|recorder| recorder.warning()) {
            events(Event::Warning { message: warning });
        }
        let mut report = outcome.report;
        let told = if self.several {
            reporter.borrow_mut().leave()
        } else {
            reporter.borrow_mut().finish(&report)
        };
        if let Err(error) = told {
            // A closed pipe is the reader's wish; the reports are on disk.
            if error.kind() != io::ErrorKind::BrokenPipe {
                report
                    .warnings
                    .push(format!("the terminal refused the report: {error}"));
            }
        }
        let transcript = transcript.take();
        PlanEnd {
            report,
            code: outcome.ending.exit_code,
            transcript,
        }
    }

    fn recorder(&self, report_dir: &ReportDir, events: &EventSink) -> Option<Recorder> {
        if !self.args.record {
            return None;
        }
        let opened = report_dir
            .wire_file()
            .map_err(|error| chain(&error))
            .and_then(|_| {
                Recorder::create(&report_dir.wire_path()).map_err(|error| error.to_string())
            });
        match opened {
            Ok(recorder) => Some(recorder),
            Err(error) => {
                events(Event::Warning {
                    message: format!("nothing is recorded: failed to {error}"),
                });
                None
            }
        }
    }

    /// A plan that can't be run at all.
    fn refuse(&self, path: &Path, invalid: &Invalid) -> PlanEnd {
        let report = invalid.report(self.run_dir.run_id(), &self.started_at, self.seed, path);
        if self.args.format == Format::Human {
            complain(&invalid.render(self.color_errors));
        }
        PlanEnd {
            report,
            code: ExitCode::InvalidInput,
            transcript: Vec::new(),
        }
    }

    fn print(&self, bytes: &[u8]) {
        let mut out = io::stdout();
        // A closed pipe is the reader's wish; the reports are on disk.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// The end of the call.
    fn conclude(&self, ends: Vec<PlanEnd>) -> ExitCode {
        if ends.is_empty() {
            complain("error: the filters of --only and --skip match nothing in any of the plans");
            return ExitCode::InvalidInput;
        }
        let code = ExitCode::strongest(ends.iter().map(|end| end.code));
        let reports: Vec<RunReport> = ends.into_iter().map(|end| end.report).collect();
        let results = Results::new(self.run_dir.run_id(), code.code(), &reports);
        let mut code = code;
        if self.several
            && let Err(error) = self.run_dir.write_results(&results)
        {
            // A result that can't be written is a failure.
            complain(&format!("error: failed to {}", chain(&error)));
            code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
        }
        let results = Results::new(self.run_dir.run_id(), code.code(), &reports);
        match self.args.format {
            Format::Json => {
                let json = match reports.as_slice() {
                    [one] if !self.several => run_json(one),
                    _ => results_json(&results),
                };
                match json {
                    Ok(bytes) => self.print(&bytes),
                    Err(error) => return fault(&format!("the report is no JSON: {error}")),
                }
            }
            Format::Human if self.several => {
                let mut reporter = TerminalReporter::new(io::stdout(), self.options.clone());
                // As in `print`.
                let _ = reporter.finish_all(&reports, code.code());
            }
            Format::Human => {}
        }
        if self.world.on_github() {
            self.tell_github(&reports);
        }
        code
    }

    fn tell_github(&self, reports: &[RunReport]) {
        for report in reports {
            if self.args.format == Format::Human {
                self.print(annotations(report).as_bytes());
            }
            let Some(path) = self.world.env.get("GITHUB_STEP_SUMMARY") else {
                continue;
            };
            let appended = OpenOptions::new()
                .append(true)
                .create(true)
                .open(path)
                .and_then(|mut file| file.write_all(job_summary(report).as_bytes()));
            if let Err(error) = appended {
                complain(&format!(
                    "warning: the job summary was not written: {error}"
                ));
            }
        }
    }
}

/// All secrets of a plan: those it calls so, and the values of environment
/// variables whose names say it.
fn secrets(plan: &Plan, env: &BTreeMap<String, String>) -> Redactor {
    let named = plan
        .env_names()
        .into_iter()
        .filter(|name| looks_secret(name));
    let names: Vec<String> = plan.secret_names().into_iter().chain(named).collect();
    Redactor::new(names.iter().filter_map(|name| Some((name, env.get(name)?))))
}

/// An error with its causes.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
