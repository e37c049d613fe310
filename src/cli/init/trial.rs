//! The server at work: listed, and its plan run until it passes.

use super::super::busy::Busy;
use super::super::files::text_within;
use super::super::run_secrets::secrets_from;
use super::super::runtime::unless_interrupted;
use super::clean::without_secrets;
use super::hollow::hollow;
use super::keep::PlanPlace;
use super::origin::{Origin, written_time};
use super::shared::Shared;
use super::unwell::unwell;
use super::written::MIN_WITHIN;
use crate::cli::refusal::Refusal;
use indexmap::IndexMap;
use jelly_base::model::{
    Because, Event, EventSink, ExitCode, Failure, Inventory, IterationRecord, Outcome as Ended,
    StepReport, StepState,
};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{one_line, sanitize};
use jelly_harness::exec::{
    Examined, ExecSettings, Executed, Iteration, execute, settled, take_stock,
};
use jelly_plan::{Plan, PlanSource, Redaction, Scope, Volatile, load};
use jelly_setup::doctor::Reached;
use jelly_setup::init::{Called, Draft, Outcome, Settings};
use jelly_wire::Reach;
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// So often a plan is run at most: each time that something failed, it is left
/// out, or tried with other arguments.
const MAX_ROUNDS: usize = 8;
/// How long one run may take.
const DEADLINE: Duration = Duration::from_mins(10);
/// The largest file that a plan has read, in bytes.
const MAX_FILE: u64 = 64 << 10;
/// So many entries of a folder are looked at for a file.
const MAX_ENTRIES: usize = 1000;

/// What anybody may read of a project.
const FRONT_PAGES: [&str; 6] = [
    "README.md",
    "README",
    "package.json",
    "pyproject.toml",
    "Cargo.toml",
    "LICENSE",
];

/// Runs plans for one server.
pub struct PlanTrial<'a> {
    shared: &'a Shared<'a>,
    /// As the plan's errors name it.
    path: PathBuf,
    project: PathBuf,
    env: BTreeMap<String, String>,
    /// Tells of what is done.
    events: EventSink,
}

/// What the server has, and what it was given.
pub struct Stock {
    pub inventory: Inventory,
    /// What the plan has nothing of, for the sake of a secret, in sentences.
    pub left_out: Vec<String>,
    pub folder: Option<GivenFolder>,
}

/// A folder among the server's arguments.
pub struct GivenFolder {
    pub path: PathBuf,
    /// A text file in it, by its name.
    pub file: Option<String>,
}

impl<'a> PlanTrial<'a> {
    pub fn new(shared: &'a Shared<'a>, place: &PlanPlace, env: BTreeMap<String, String>) -> Self {
        Self {
            shared,
            path: place.source_path(),
            project: place.project.clone(),
            env,
            events: Rc::new(|_| {}),
        }
    }

    /// Shows from now on which of so many steps is at work.
    pub fn show_calls(&mut self, busy: Rc<Busy>, redactor: Redactor, steps: usize) {
        let begun = Cell::new(0);
        self.events = Rc::new(move |event| {
            if let Event::IterationStarted { .. } = event {
                begun.set(0);
                busy.begin("", "starting the server again");
            } else if let Event::StepStarted { step, .. } = event {
                begun.set(begun.get() + 1);
                let step = one_line(&redactor.redact(&step), 80);
                busy.begin("", &format!("step {} of {steps}: {step}", begun.get()));
            }
        });
    }

    /// Shows nothing any more.
    pub fn show_nothing(&mut self) {
        self.events = Rc::new(|_| {});
    }

    /// Lists what the server has.
    pub async fn take_stock(
        &mut self,
        settings: &Settings,
        origin: &Origin,
    ) -> Result<Stock, Refusal> {
        let plan = self.load(&Draft::new(&Inventory::default(), settings.clone()).text())?;
        let exec = self.settings(&plan);
        let scope = Scope::new(
            self.project.clone(),
            std::env::temp_dir(),
            self.env.clone(),
            BTreeMap::new(),
            &IndexMap::new(),
        );
        let Some(server) = plan.servers.values().next() else {
            return Err(Refusal::invalid("error: there is no server"));
        };
        let work = take_stock(server, &scope, &exec);
        let found = unless_interrupted(&self.shared.interrupt, work).await?;
        let (reach, examined, inventory) = match found {
            Ok(found) => found,
            Err(failures) => {
                let first = failures.into_iter().next().unwrap_or_default();
                let examined = Examined {
                    failure: Some(Box::new(first)),
                    ..Examined::default()
                };
                return Err(unwell(self.shared, &self.env, origin, examined, &exec));
            }
        };
        if examined.ready.is_none() {
            return Err(unwell(self.shared, &self.env, origin, examined, &exec));
        }
        let (inventory, left_out) = without_secrets(inventory, &exec.redactor);
        Ok(Stock {
            inventory,
            left_out,
            folder: given_folder(&reach).or_else(|| self.project_folder(origin)),
        })
    }

    /// For a server that was given no folder, the one that it is started in: a
    /// person would name it first. Home is not anybody's project.
    fn project_folder(&self, origin: &Origin) -> Option<GivenFolder> {
        let path = &origin.folder;
        let home = self.env.get("HOME").map(Path::new);
        let starts = matches!(origin.entry().reached, Some(Reached::Command { .. }));
        let is_project = starts && path.parent().is_some() && home != Some(path.as_path());
        let file = FRONT_PAGES.iter().find(|name| path.join(name).is_file());
        is_project.then(|| GivenFolder {
            path: path.clone(),
            file: file.map(|name| (*name).to_owned()),
        })
    }

    /// Runs the plan until all that is left in it passes, and returns it as it
    /// is kept.
    pub async fn settle(&mut self, draft: &mut Draft) -> Result<String, Refusal> {
        let limit = written_time(self.shared.args.call_timeout);
        let mut passed_before = false;
        for _ in 0..MAX_ROUNDS {
            let plan = Rc::new(self.load(&draft.text_within(&limit))?);
            let record = self.run(&plan).await?;
            let called = self.called(&record);
            let passed = called
                .iter()
                .all(|step| matches!(step.outcome, Outcome::Passed(_)));
            let learnt = draft.learn(called).map_err(|(id, why)| {
                Refusal::needs_help(format!(
                    "error: the step `{id}` does not pass, so there is no plan: {}\nhelp: try it \
                     again; if the server gives another answer each time, write the plan by hand",
                    sanitize(&why)
                ))
            })?;
            if passed && (self.shared.args.no_verify || passed_before && !learnt) {
                let text = draft.text();
                // What is kept is what a run will read.
                self.load(&text)?;
                return Ok(text);
            }
            passed_before = passed;
            if passed {
                continue;
            }
            if !learnt {
                let why = record
                    .failures
                    .first()
                    .and_then(|failure| failure.message.clone())
                    .unwrap_or_else(|| "not all steps came to their turn".to_owned());
                return Err(Refusal::needs_help(format!(
                    "error: the server does not stay well while its plan is run: {}\nhelp: try \
                     `jelly doctor`, or --call-timeout for a server that is slow",
                    sanitize(&why)
                )));
            }
        }
        Err(Refusal::needs_help(format!(
            "error: the plan was run {MAX_ROUNDS} times, and something else failed each time, so \
             there is no plan\nhelp: try it again; a server that is busy or starts slowly may \
             answer another time"
        )))
    }

    fn load(&self, text: &str) -> Result<Plan, Refusal> {
        let source = PlanSource {
            path: self.path.clone(),
            text: text.into(),
            variant: None,
        };
        let world = self.shared.world;
        load(source).map_err(|error| Refusal::invalid(error.render(world.colors_stderr())))
    }

    async fn run(&self, plan: &Rc<Plan>) -> Result<IterationRecord, Refusal> {
        let settings = Rc::new(self.settings(plan));
        let (nothing, no_ports) = (BTreeSet::new(), BTreeMap::new());
        let iteration = Iteration {
            index: 1,
            deadline: Instant::now() + DEADLINE,
            quarantined: &nothing,
            ports_in_use: &no_ports,
        };
        let Executed { record, .. } = execute(plan, &settings, &iteration).await;
        jelly_process::sweep_orphans(&[]);
        match record.interrupted {
            Some(signal) => Err(Refusal::silent(ExitCode::Interrupted(signal))),
            None => Ok(record),
        }
    }

    /// What came of each step.
    fn called(&self, record: &IterationRecord) -> Vec<Called> {
        let failures = record.failures.iter().rev();
        let failures: HashMap<&str, &Failure> = failures
            .filter_map(|failure| Some((failure.step.as_deref()?, failure)))
            .collect();
        let outcome = |step: &StepReport| {
            let failure = failures.get(step.id.as_str());
            let why = |none: &str| {
                let message = failure.and_then(|failure| failure.message.as_deref());
                self.without_places(message.unwrap_or(none))
            };
            match step.state {
                StepState::Passed => {
                    let answer = record.answers.get(&step.id);
                    match answer.and_then(hollow) {
                        Some(why) => Outcome::Refused(self.without_places(&why)),
                        None => Outcome::Passed(answer.cloned()),
                    }
                }
                StepState::Failed => match failure.and_then(|failure| failure.outcome) {
                    Some(Ended::Error | Ended::Result) => Outcome::Refused(why("it failed")),
                    Some(Ended::SpawnError | Ended::Eof | Ended::Timeout | Ended::Ok) | None => {
                        Outcome::Failed(why("it did not pass"))
                    }
                },
                StepState::Quarantined => match &step.because {
                    Some(Because::Plan(why)) => Outcome::Failed(self.without_places(why)),
                    Some(_) | None => Outcome::NotRun,
                },
                StepState::Blocked | StepState::Skipped => Outcome::NotRun,
            }
        };
        let called = |step: &StepReport| Called {
            id: step.id.clone(),
            outcome: outcome(step),
        };
        record.steps.iter().map(called).collect()
    }

    /// A failure's words as they may be kept in a repository: the same at any
    /// time, and in any place.
    fn without_places(&self, why: &str) -> String {
        let answered = why
            .split_once("` was answered")
            .filter(|(before, _)| before.starts_with("tools/call `"));
        let why = answered.map_or_else(|| why.to_owned(), |(_, rest)| format!("answered{rest}"));
        let project = self.project.display().to_string();
        let why = why.replace(&project, "${workspace}");
        settled(&Value::from(why), &Volatile::ALL.map(Redaction::Kind))
    }

    fn settings(&self, plan: &Plan) -> ExecSettings {
        let redactor = secrets_from(plan, &self.env, MIN_WITHIN);
        let interrupt = self.shared.interrupt.clone();
        ExecSettings {
            jelly: self.shared.world.jelly.clone(),
            keep_answers: true,
            logins: self.shared.world.logins(),
            events: self.events.clone(),
            ..ExecSettings::apart(self.project.clone(), self.env.clone(), redactor, interrupt)
        }
    }
}

/// The first folder among the server's arguments.
fn given_folder(reach: &Reach) -> Option<GivenFolder> {
    let spec = reach.command()?;
    let path = spec.argv.iter().skip(1).find_map(|arg| {
        let path = match arg.split_once('=') {
            Some((flag, path)) if flag.starts_with('-') => path,
            Some(_) | None => arg.as_str(),
        };
        let path = spec.cwd.join(path);
        (!arg.is_empty() && path.is_dir()).then(|| path.canonicalize().ok())?
    })?;
    Some(GivenFolder {
        file: text_file(&path),
        path,
    })
}

/// A small text file in a folder, the first by its name.
fn text_file(folder: &Path) -> Option<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .ok()?
        .take(MAX_ENTRIES)
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    names.into_iter().take(50).find(|name| {
        text_within(&folder.join(name), MAX_FILE)
            .is_ok_and(|text| !text.is_empty() && !text.contains('\0'))
    })
}
