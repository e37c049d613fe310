//! One plan of a call: read, selected, run in the loop, reported.

use super::again::{name_plan, run_here};
use super::announce::Announcement;
use super::call::{PlanEnd, RunCall};
use super::coverage::{cover, shown_coverage};
use super::events::EventQueue;
use super::executor::PlanExecutor;
use super::invalid::{Invalid, chain, read};
use super::known::day_of;
use super::matrix::{InMatrix, Job};
use super::out::Out;
use super::plan_files::PlanCopy;
use super::plan_flags::flags_for;
use super::plan_reads::look_at_reads;
use super::proposals::{Proposals, stored};
use super::record::{self, RestedOn};
use super::run_secrets::secrets;
use super::same_named::own_name;
use super::schema_store::SchemaStore;
use super::server_code::ServerCodeReader;
use super::server_places::ServerPlaces;
use super::settings::{budgets, hooks, project_dir};
use super::shard::relative_path;
use super::verbose::Verbose;
use super::wire_record::recorder;
use super::write_back::WriteBack;
use crate::cli::args::RunFormat;
use crate::report::{Extras, ReportDir, RunDir, TerminalOptions, TerminalReporter};
use jelly_base::model::{EventSink, ExitCode, RunReport, StepAnswers, Verdict, Warnings};
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::{ExecSettings, Overrides, Selection};
use jelly_harness::triage_loop::{
    CommandHooks, KnownFailures, LoopSettings, PassedBefore, PlanReads, PlanTexts, RealFs,
    ResultSettings, Surroundings, foundations,
};
use jelly_plan::{Plan, PlanSource, Server, compare, load_in};
use jelly_wire::auth::TokenStore;
use jelly_wire::{Recorder, redact_record};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// So long a login may still be renewed when the run is over otherwise: as long
/// as one request of authorization may take.
const LOGIN_GRACE: Duration = Duration::from_secs(10);

/// One plan with all that it is run with.
struct PlanRun<'a> {
    call: &'a RunCall,
    project: PathBuf,
    report_dir: Rc<ReportDir>,
    proposals: Rc<Proposals>,
    redactor: Redactor,
    /// Of a plan that came from stdin, what another run takes in its place.
    plan_copy: Option<PlanCopy>,
    logins: Option<TokenStore>,
    reporter: Rc<RefCell<TerminalReporter<Out>>>,
    /// Where it writes.
    out: Out,
    /// What is still to be shown, where several plans ran side by side.
    transcript: Rc<RefCell<Vec<u8>>>,
    queue: Rc<EventQueue>,
    events: EventSink,
    recorder: Option<Recorder>,
    /// Read anew for each plan, since the ones before it may have learnt.
    schemas: Option<SchemaStore>,
    /// A schema store was asked for, and could not be read.
    store_unread: bool,
    warnings: Warnings,
    /// So many of them stand in the reports on disk.
    warned: Cell<usize>,
}

impl RunCall {
    /// Runs one plan to its end; `None` when the selection leaves it out.
    pub async fn run_plan(&self, job: &Job) -> Option<PlanEnd> {
        // Never closed, so there is always a permit in the end.
        let _permit = self.plans.acquire().await;
        match self.prepare(job) {
            Ok(Some((run, plan, selection))) => Some(run.run(plan, selection).await),
            Ok(None) => None,
            Err(invalid) => Some(self.refuse(job, &invalid)),
        }
    }

    /// All that is in the way is found before anything is started.
    fn prepare(&self, job: &Job) -> Result<Option<(PlanRun<'_>, Plan, Selection)>, Invalid> {
        let path = job.path.as_path();
        let mut plan = read(path, job.variant.clone(), &self.vars(), self.project())?;
        if let Some(name) = own_name(&self.same_named, job) {
            plan.name = name;
        }
        self.refuse_weakened(job, &plan)?;
        if let Some(hook) = hooks(&plan, &self.args).first_named()
            && self.args.no_hooks
        {
            return Err(Invalid::hook(path, hook));
        }
        let hook = hooks(&plan, &self.args).first_named();
        Invalid::of_stdin(&plan, hook, self.args.write_repairs).map_or(Ok(()), Err)?;
        let selection = self.selection();
        // Of several plans, each takes what it has a place for.
        if !self.several {
            let source = std::slice::from_ref(&plan.source);
            if let Some(stray) = Invalid::stray_variable(source, &self.vars(), self.project()) {
                return Err(stray);
            }
            if let Some(slip) = selection.unmatched(&plan).first() {
                return Err(Invalid::filter(&plan, slip));
            }
        }
        if selection.select(&plan).is_empty() {
            // Of several plans, some may have nothing of the kind.
            return match self.several {
                true => Ok(None),
                false => Err(Invalid::nothing_selected(&plan)),
            };
        }
        if let Some(locked) = &self.locked {
            let selected = selection.select(&plan);
            let steps = plan.all_steps().filter(|step| selected.contains(&step.id));
            let steps = steps.filter(|step| !step.expects_refusal());
            let mut servers = steps.map(|step| &step.server);
            let missing = |name: &&String| !locked.lock.servers.contains_key(*name);
            if let Some(name) = servers.find(missing) {
                return Err(Invalid::not_locked(&plan, name, &locked.file));
            }
        }
        let selection = selection.settle(&plan);
        let told = self.project();
        let project =
            project_dir(told, path).map_err(|error| Invalid::project(path, told, &error))?;
        let stem = self.several.then(|| job.stem());
        let run_dir = self.run_dir.as_ref();
        let run_dir = run_dir.map_err(|error| Invalid::unwritable(path, error))?;
        let report_dir = run_dir.plan(stem.as_deref());
        let report_dir = report_dir.map_err(|error| Invalid::unwritable(path, &error))?;
        let run = PlanRun::new(self, &plan, project, Rc::new(report_dir));
        Ok(Some((run, plan, selection)))
    }

    /// A plan that another one's hook left less to test, while it waited for
    /// its turn.
    fn refuse_weakened(&self, job: &Job, plan: &Plan) -> Result<(), Invalid> {
        let changed = job.text.as_ref().filter(|text| **text != plan.source.text);
        let Some(text) = changed.cloned() else {
            return Ok(());
        };
        let source = PlanSource {
            text,
            ..plan.source.clone()
        };
        let Ok(before) = load_in(source, &self.vars(), self.project()) else {
            return Ok(());
        };
        let changes = compare(&before, plan, &self.world.env);
        let weaker = changes.iter().filter(|change| change.kind.weakens());
        let told: Vec<&str> = weaker.map(|change| change.what.as_str()).collect();
        match told.as_slice() {
            [] => Ok(()),
            told => Err(Invalid::weakened(&job.path, told)),
        }
    }
}

impl<'a> PlanRun<'a> {
    fn new(call: &'a RunCall, plan: &Plan, project: PathBuf, report_dir: Rc<ReportDir>) -> Self {
        let transcript = Rc::new(RefCell::new(Vec::new()));
        let out = match call.args.format {
            RunFormat::Json | RunFormat::Agent => Out::Nowhere,
            RunFormat::Human if call.several => Out::Later(transcript.clone()),
            RunFormat::Human => Out::now(),
        };
        let mut reporter = TerminalReporter::new(
            out.clone(),
            TerminalOptions {
                label: call.several.then(|| plan.name.clone()),
                ..call.options.clone()
            },
        );
        if let Some(progress) = &call.progress {
            reporter = reporter.with_progress(progress.clone());
        }
        let reporter = Rc::new(RefCell::new(reporter));
        let queue = Rc::new(EventQueue::new(reporter.clone()));
        let events: EventSink = {
            let (queue, announces) = (queue.clone(), call.args.announce);
            let (busy, name) = (call.busy.clone(), plan.name.clone());
            let label = call.several.then(|| plan.name.clone());
            let verbose = call.args.verbose.then(|| Verbose::new(label));
            Rc::new(move |event| {
                busy.watch(&name, &event);
                if let Some(verbose) = &verbose {
                    verbose.tell(&event);
                }
                if let Some(said) = Announcement::of(&event).filter(|_| announces) {
                    said.announce();
                }
                queue.push(event);
            })
        };
        let warnings = Warnings::new(events.clone());
        let (schemas, schema_warning) = call.args.ladder.open();
        let store_unread = schema_warning.is_some();
        schema_warning.into_iter().for_each(|w| warnings.warn(w));
        let redactor = secrets(plan, &call.world.env);
        let report_path = report_dir.path().to_owned();
        Self {
            recorder: call
                .args
                .record
                .then(|| recorder(&report_dir, &warnings))
                .flatten(),
            schemas,
            store_unread,
            warned: Cell::new(0),
            call,
            project,
            proposals: Rc::new(Proposals::new(&plan.source.path, report_dir.clone())),
            report_dir,
            plan_copy: PlanCopy::of_stdin(&plan.source, &report_path, &redactor),
            redactor,
            logins: call.world.logins(),
            reporter,
            out,
            transcript,
            queue,
            events,
            warnings,
        }
    }

    async fn run(self, plan: Plan, selection: Selection) -> PlanEnd {
        // Whatever kills jelly from now on, nobody takes an older run's report
        // for this one's. What is in the way is told when a report is written.
        if let Ok(dir) = &self.call.run_dir {
            let _ = dir.point_latest();
        }
        let name = plan.name.clone();
        self.fold(self.call.ci.and_then(|ci| ci.section_start(&name)));
        for name in self.call.world.named_without_text(&plan) {
            self.warn(format!(
                "the environment variable {name} holds bytes that are not UTF-8 text, \
                 so it counts as not set"
            ));
        }
        for server in plan.unused_servers() {
            self.warn(format!(
                "no step uses the server `{server}`, so it is not tested"
            ));
        }
        // The answer is there when the plan has run.
        let own_tests = record::own_tests(&plan);
        let history = self.call.history.as_ref();
        let own_past = history.map(|history| history.begin_past_of(&own_tests));
        let settings = self.loop_settings(&plan);
        let in_matrix = InMatrix::locate(&plan);
        let wants_tokens = plan.servers.values().any(Server::wants_tokens);
        // Both may come to know a secret in mid-run.
        let learns = wants_tokens || settings.hooks.fix_tests.is_some();
        let mut executor = PlanExecutor {
            proposals: self.proposals.clone(),
            warnings: self.warnings.clone(),
            answers: StepAnswers::new(),
            outputs: Vec::new(),
            coverage: Vec::new(),
            settings: Rc::new(self.exec_settings(&plan, selection)),
            interrupt: self.call.interrupt.clone(),
            ports: BTreeMap::new(),
            rest: None,
            alone: !self.call.several,
            code: self.call.checkouts.clone().map(ServerCodeReader::new),
        };
        let mut hooks = CommandHooks {
            project_dir: self.project.clone(),
            redactor: self.redactor.clone(),
        };
        let templates = RefCell::new(HashMap::new());
        let path = plan.source.path.clone();
        let copy = self.plan_copy.as_ref().map(PlanCopy::shown);
        let places = ServerPlaces::of(&plan);
        let surroundings = Surroundings {
            executor: &mut executor,
            hooks: &mut hooks,
            diagnose: &|failure| {
                let (mut diagnosis, template) = self.call.rules.diagnose_with_template(failure);
                places.look(
                    &mut diagnosis,
                    failure,
                    &self.redactor,
                    &self.call.world.env,
                );
                name_plan(&mut diagnosis.advice.fix, &path, copy.as_deref());
                run_here(&mut diagnosis.advice.fix, &self.call.world.cwd);
                let fixes = diagnosis.advice.fix.iter_mut();
                for step in fixes.filter(|step| step.is_command()) {
                    settings.call_flags.extend(&mut step.text);
                }
                templates
                    .borrow_mut()
                    .insert(diagnosis.fingerprint.clone(), template);
                diagnosis
            },
            fs: &RealFs,
            events: self.events.clone(),
            warnings: self.warnings.clone(),
            stored: &stored,
            reads: &|plan| self.reads(plan),
            on_iteration: &mut |report, texts| self.write(report, texts),
        };
        let mut outcome = tokio::select! {
            biased;
            outcome = jelly_harness::triage_loop::run(plan, &settings, surroundings) => outcome,
            never = self.queue.run() => match never {},
        };
        // A plan that was read again in between has the name that it says.
        outcome.report.plan.name.clone_from(&name);
        let told = self.warnings.all().len();
        if let Some(logins) = &self.logins {
            logins.settled(LOGIN_GRACE).await;
        }
        if learns && let Err(error) = self.report_dir.redact_logs(&self.redactor) {
            // It may hold a secret, so that it has to be said.
            self.warn(format!("failed to {}", chain(&error)));
        }
        if learns
            && self.recorder.is_some()
            && let Err(error) = redact_record(&self.report_dir.wire_path(), &self.redactor)
        {
            self.warn(format!("the wire record may hold a secret: {error}"));
        }
        if let Some(warning) = self.recorder.as_ref().and_then(Recorder::warning) {
            self.warn(warning);
        }
        if let Some(history) = &self.call.history
            && outcome.report.verdict != Verdict::Interrupted
        {
            // What a signal cut short says nothing about the steps.
            let snapshots = self.proposals.accepted(&outcome.final_plan);
            let rested_on = RestedOn {
                steps: &outcome.steps,
                accepted: snapshots
                    .map(|snapshots| foundations(&outcome.final_plan, &settings, snapshots)),
                ran: &outcome.ran,
                code: &outcome.code,
                place: relative_path(&path, &self.call.root, &self.call.world),
                shard: self.call.shard.as_ref().map(|shard| &shard.record),
            };
            let past = own_past.map_or_else(Rc::default, |wait| wait());
            let run = record::past_run(&outcome.report, &rested_on, &templates.borrow(), |test| {
                past.watches(&test.suite, &test.classname, &test.name)
            });
            if let Some(warning) = history.record(run, self.call.run_folder()) {
                self.warn(warning);
            }
        }
        if let Some(store) = &self.schemas
            && let Some(warning) = store.learn(&executor.outputs)
        {
            self.warn(warning);
        }
        let mut report = outcome.report;
        report
            .warnings
            .extend(self.warnings.all().into_iter().skip(told));
        let mut code = outcome.ending.exit_code;
        let is_alone = !self.call.several && self.call.shard.is_none();
        let counted = (&self.call.args.coverage, is_alone);
        let is_covered = cover(counted, &mut report, executor.coverage, &mut code);
        // They hold the plan too.
        drop(outcome.steps);
        let write_back = WriteBack {
            original: outcome.original,
            repaired: Rc::unwrap_or_clone(outcome.final_plan).source,
            report_dir: self.report_dir.clone(),
            redactor: self.redactor.clone(),
        };
        if (is_covered || self.warned.get() < report.warnings.len())
            && let Err(error) = write_back.report(&report)
        {
            // What lies there lacks these warnings and nothing else.
            self.warn(error.clone());
            report.warnings.push(error);
        }
        let mut write_back = self.call.args.write_repairs.then_some(write_back);
        if in_matrix.is_none()
            && let Some(own) = write_back.take()
        {
            let (settled, said) = own.settle(&mut report, code, None);
            code = settled;
            for warning in said {
                self.warn(warning);
            }
        }
        if !self.report_dir.markdown_path().is_file() {
            // Nobody is sent to a report that was not written.
            report.report_dir = None;
        }
        self.queue.show();
        self.call.busy.end(&name);
        self.fold(self.call.ci.and_then(|ci| ci.section_end(&name)));
        let mut end = PlanEnd {
            report,
            code,
            transcript: Default::default(),
            matrix: in_matrix.map(|place| (place, executor.answers)),
            write_back,
            dir: Some(self.report_dir.clone()),
        };
        let told = if self.call.several {
            self.reporter.borrow_mut().leave()
        } else {
            // The last lines of a plan that is alone are those of the call.
            let unwritten = self.call.judge_known(std::slice::from_mut(&mut end));
            end.code = ExitCode::strongest([end.code].into_iter().chain(unwritten));
            let told = shown_coverage(end.report.coverage.as_ref(), self.call.args.quiet);
            self.call.note(self.out.clone().write_all(told.as_bytes()));
            self.reporter.borrow_mut().finish(&end.report)
        };
        self.call.note(told);
        end.transcript = self.transcript.take();
        end
    }

    /// Writes the mark of a section, where the log has them.
    fn fold(&self, mark: Option<String>) {
        if let Some(mark) = mark.filter(|_| !self.call.args.quiet) {
            self.call.note(self.out.clone().write_all(mark.as_bytes()));
        }
    }

    fn exec_settings(&self, plan: &Plan, selection: Selection) -> ExecSettings {
        let call = self.call;
        ExecSettings {
            project_dir: self.project.clone(),
            jelly: call.world.jelly.clone(),
            env: call.world.env.clone(),
            vars: call.vars(),
            selection,
            fail_fast: call.args.fail_fast,
            known_steps: call.known.as_ref().map_or_else(BTreeSet::new, |list| {
                let names = call.names_of(&plan.source.path, &plan.name);
                list.steps_of(plan, &names, day_of(&call.started_at))
            }),
            skip_missing: call.args.skip_missing,
            wire_check: call.args.wire_check,
            keep_answers: plan.source.variant.is_some(),
            adapt: !call.args.ladder.no_adapt,
            overrides: Rc::new(self.overrides()),
            store_unread: self.store_unread,
            keep_outputs: self.schemas.is_some(),
            coverage: call.args.coverage.is_wanted(),
            starts: call.starts.clone(),
            interrupt: call.interrupt.clone(),
            events: self.events.clone(),
            tells_messages: call.args.verbose,
            redactor: self.redactor.clone(),
            logins: self.logins.clone(),
            recorder: self.recorder.clone(),
            stderr_log: {
                let (report_dir, warnings) = (self.report_dir.clone(), self.warnings.clone());
                Rc::new(move |server| match report_dir.stderr_log(server) {
                    Ok(_) => Some(report_dir.stderr_log_path(server)),
                    Err(error) => {
                        warnings.warn(format!("failed to {}", chain(&error)));
                        None
                    }
                })
            },
            propose_snapshot: {
                let proposals = self.proposals.clone();
                Rc::new(move |name, text| proposals.keep(name, text))
            },
            locked: call.locked.clone(),
        }
    }

    fn loop_settings(&self, plan: &Plan) -> LoopSettings {
        let call = self.call;
        let args = &call.args;
        LoopSettings {
            run_id: call.run_id.clone(),
            started_at: call.started_at.clone(),
            report_dir: Some(self.report_dir.path().display().to_string()),
            reports_dir: args.reports.unusual(),
            call_flags: flags_for(call, plan, self.plan_copy.as_ref().map(PlanCopy::shown)),
            project_dir: self.project.clone(),
            budgets: budgets(plan, &args.budgets),
            hooks: hooks(plan, args),
            hook_timeout: args.hook_timeout,
            repair: !args.no_repair,
            confirm: !args.no_confirm,
            accept_repairs: args.accept_repairs,
            strict: args.strict,
            trust_plan: args.trust_plan,
            seed: call.seed,
            redactor: self.redactor.clone(),
            passed_before: self
                .call
                .history
                .as_ref()
                .map_or_else(PassedBefore::default, |history| history.passed_before()),
            known: self
                .call
                .known
                .as_ref()
                .map_or_else(KnownFailures::default, |list| {
                    let names = call.names_of(&plan.source.path, &plan.name);
                    list.of_plan(names, day_of(&call.started_at))
                }),
            plan_identity: record::identity(&plan.source.path, &self.project),
            results: ResultSettings {
                schemas: self.overrides(),
                store_unread: self.store_unread,
                rules: call.rules.digest().map(str::to_owned),
                ..args.result_settings()
            },
            env: call.world.env.clone(),
            vars: call.vars(),
        }
    }

    /// The output schemas that the schema store sets.
    fn overrides(&self) -> BTreeMap<String, Overrides> {
        let schemas = self.schemas.as_ref();
        schemas.map_or_else(BTreeMap::new, |schemas| schemas.overrides.clone())
    }

    /// What a plan reads now.
    fn reads(&self, plan: &Plan) -> PlanReads {
        let call = self.call;
        look_at_reads(plan, &call.args, call.history.as_deref(), &call.world.cwd)
    }

    /// Writes the reports as they stand.
    fn write(&self, report: &RunReport, texts: PlanTexts<'_>) -> Result<(), String> {
        let kept = texts.kept.iter().cloned();
        let copy = self.plan_copy.as_ref().map(PlanCopy::file);
        let extras = Extras {
            repaired_plan: texts.repaired,
            plans: &kept.chain(copy).collect::<Vec<_>>(),
        };
        let write = || self.report_dir.write(report, extras);
        let written = self
            .call
            .busy
            .during(&report.plan.name, "writing the reports", write);
        written.map_err(|error| format!("failed to {}", chain(&error)))?;
        self.warned.set(report.warnings.len());
        let linked = self.call.run_dir.as_ref().map(RunDir::point_latest);
        if let Ok(Err(error)) = linked {
            // The reports are there; only the link is not.
            self.warn(format!("failed to {}", chain(&error)));
        }
        Ok(())
    }

    fn warn(&self, message: String) {
        self.warnings.warn(message);
    }
}
