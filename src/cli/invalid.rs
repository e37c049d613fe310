//! A plan that can't be run: what is wrong, for people and as a report.

use super::plan_files::{is_stdin, read_source};
use crate::report::ReportError;
use indexmap::{IndexMap, IndexSet};
use jelly_base::model::{
    ExitCode, HelpProblem, HelpSummary, PlanReport, RunCause, RunReport, SCHEMA_VERSION, Verdict,
};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{did_you_mean, shell_command};
use jelly_harness::exec::NoSuchFilter;
use jelly_plan::{Plan, PlanError, PlanSource, ReadError, Variant, load_in};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why a plan can't be run at all.
#[derive(Debug)]
pub struct Invalid {
    kind: InvalidKind,
    found: Found,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InvalidKind {
    Unreadable,
    Plan,
    /// The call asks for what the plan does not have.
    Call,
    /// The plan is good, and no longer the one that was to be run.
    Weakened,
    /// The plan is good, and nothing could say how it went.
    Unreportable,
}

/// What is wrong.
#[derive(Debug)]
enum Found {
    /// With places in the plan.
    Problems(Box<PlanError>),
    /// In words, with what would help.
    Said { what: String, next: Option<String> },
}

impl From<ReadError> for Invalid {
    fn from(error: ReadError) -> Self {
        Self::said(InvalidKind::Unreadable, error.to_string(), None)
    }
}

impl From<PlanError> for Invalid {
    fn from(error: PlanError) -> Self {
        Self {
            kind: InvalidKind::Plan,
            found: Found::Problems(Box::new(error)),
        }
    }
}

/// Reads a plan that is to be run.
pub fn read(
    path: &Path,
    variant: Option<Arc<Variant>>,
    vars: &IndexMap<String, Value>,
    project: Option<&Path>,
) -> Result<Plan, Invalid> {
    let source = read_source(path)?;
    let plan = load_in(PlanSource { variant, ..source }, vars, project)?;
    if plan.steps.is_empty() {
        let what = format!(
            "{}: the plan has no steps, so it tests nothing",
            path.display()
        );
        let next = "add at least one entry under `steps`";
        return Err(Invalid::said(
            InvalidKind::Plan,
            what,
            Some(next.to_owned()),
        ));
    }
    Ok(plan)
}

/// The variables that one of the plans has a place for: its own, and of those that are `given`
/// the ones without which it can't be read.
///
/// `None` where a plan can't be read even with all of them.
pub fn placed_variables(
    sources: &[PlanSource],
    given: &IndexMap<String, Value>,
    project: Option<&Path>,
) -> Option<IndexSet<String>> {
    let mut placed = IndexSet::new();
    for source in sources {
        let read = |vars: &IndexMap<String, Value>| load_in(source.clone(), vars, project);
        if let Ok(plan) = read(&IndexMap::new()) {
            placed.extend(plan.vars.into_keys());
            continue;
        }
        read(given).ok()?;
        for name in given.keys() {
            let mut others = given.clone();
            others.shift_remove(name);
            match read(&others) {
                Ok(plan) => {
                    let own = plan.vars.into_keys();
                    placed.extend(own.filter(|name| !others.contains_key(name)));
                }
                Err(_) => _ = placed.insert(name.clone()),
            }
        }
    }
    Some(placed)
}

impl Invalid {
    fn said(kind: InvalidKind, what: String, next: Option<String>) -> Self {
        let found = Found::Said { what, next };
        Self { kind, found }
    }

    pub fn nothing_selected(plan: &Plan) -> Self {
        let shown = plan.source.path.display();
        let what = format!("{shown}: --only and --skip leave no step to run");
        Self::said(InvalidKind::Call, what, None)
    }

    /// A server that is to be run is not in the lock that it is to be held to.
    pub fn not_locked(plan: &Plan, server: &str, lock: &str) -> Self {
        let path = plan.source.path.display().to_string();
        let what =
            format!("{path}: {lock} has no server `{server}`, and --locked holds it to that");
        let words = [
            "jelly", "tools", "lock", "--output", lock, "--plan", &path, "--server", server,
        ];
        let words = words.map(str::to_owned);
        let next = Some(format!("lock it: {}", shell_command(&words)));
        Self::said(InvalidKind::Call, what, next)
    }

    pub fn filter(plan: &Plan, error: &NoSuchFilter) -> Self {
        let what = format!("{}: {error}", plan.source.path.display());
        let close = error.candidates.first();
        let next = close.map(|name| format!("did you mean `{name}`?"));
        Self::said(InvalidKind::Call, what, next)
    }

    /// A variable was given that none of the plans has a place for: most
    /// likely a slip.
    ///
    /// `None` as well where a plan can't be read, which says so itself.
    pub fn stray_variable(
        sources: &[PlanSource],
        given: &IndexMap<String, Value>,
        project: Option<&Path>,
    ) -> Option<Self> {
        let known = placed_variables(sources, given, project)?;
        let stray = given.keys().find(|name| !known.contains(*name))?;
        let who = match sources {
            [one] => format!("{}: the plan has no", one.path.display()),
            _ => "none of the plans has a".to_owned(),
        };
        let next = did_you_mean(stray, known.iter().map(String::as_str));
        let what = format!("{who} variable `{stray}`");
        Some(Self::said(InvalidKind::Call, what, next))
    }

    pub fn project(plan: &Path, folder: Option<&Path>, error: &io::Error) -> Self {
        let folder = folder.map_or_else(String::new, |folder| format!(" {}", folder.display()));
        let what = format!(
            "{}: the project folder{folder} can't be used: {error}",
            plan.display()
        );
        let next = "name an existing folder with --project-dir";
        Self::said(InvalidKind::Call, what, Some(next.to_owned()))
    }

    /// A plan from stdin has no file that could be changed.
    pub fn of_stdin(plan: &Plan, hook: Option<&str>, writes: bool) -> Option<Self> {
        let snapshots = plan.snapshot_names();
        let why = match (hook, snapshots.first()) {
            _ if !is_stdin(&plan.source.path) => return None,
            (Some(hook), _) => {
                format!("the hook `{hook}` is set, and the plan has no file to look at")
            }
            (None, _) if writes => "--write-repairs has no file to write into".to_owned(),
            (None, Some(name)) => format!(
                "it expects the snapshot `{name}`, and has no file beside which that could lie"
            ),
            (None, None) => return None,
        };
        let next = "write the plan into a file, and name that".to_owned();
        let what = format!("a plan from stdin: {why}");
        Some(Self::said(InvalidKind::Call, what, Some(next)))
    }

    /// The plan would have a command run that the call forbids.
    pub fn hook(plan: &Path, hook: &str) -> Self {
        let what = format!(
            "{}: the hook `{hook}` is set, and hooks are not allowed here",
            plan.display()
        );
        let next = "take the hook out of the plan or the setting, or allow hooks: leave \
                    --no-hooks out, or start the server as `jelly serve --allow-hooks`"
            .to_owned();
        Self::said(InvalidKind::Call, what, Some(next))
    }

    /// The plan asks less than it did when the call began.
    pub fn weakened(plan: &Path, told: &[&str]) -> Self {
        let what = format!(
            "{}: the plan was changed since this call began, and less is tested: {}",
            plan.display(),
            told.join("; ")
        );
        let next = "a hook of another run may have done that; see what it changed";
        Self::said(InvalidKind::Weakened, what, Some(next.to_owned()))
    }

    pub fn unwritable(plan: &Path, error: &ReportError) -> Self {
        let what = format!("{}: failed to {}", plan.display(), chain(error));
        let next = "name a folder that can be written with --reports-dir";
        Self::said(InvalidKind::Unreportable, what, Some(next.to_owned()))
    }

    /// What a call ends with whose only plan is refused so.
    pub fn code(&self) -> ExitCode {
        match self.kind {
            InvalidKind::Unreadable | InvalidKind::Plan | InvalidKind::Call => {
                ExitCode::InvalidInput
            }
            InvalidKind::Weakened | InvalidKind::Unreportable => ExitCode::NeedsUserHelp,
        }
    }

    /// To try again to write its report would only fail again.
    pub fn is_unreportable(&self) -> bool {
        self.kind == InvalidKind::Unreportable
    }

    fn verdict(&self) -> Verdict {
        match self.code() {
            ExitCode::InvalidInput => Verdict::InvalidInput,
            _ => Verdict::NeedsUserHelp,
        }
    }

    fn title(&self) -> &'static str {
        match self.kind {
            InvalidKind::Unreadable => "The plan can't be read",
            InvalidKind::Plan => "The plan can't be run as it is written",
            InvalidKind::Call => "The plan can't be run as it was called for",
            InvalidKind::Weakened => "The plan was not run, since it was changed meanwhile",
            InvalidKind::Unreportable => "The plan was not run, since its report can't be written",
        }
    }

    /// As it is printed.
    pub fn render(&self, color: bool, redactor: &Redactor) -> String {
        match &self.found {
            Found::Problems(error) => {
                let error = error.as_ref().clone();
                error.hiding(redactor.clone()).render(color)
            }
            Found::Said { what, next } => {
                let what = redactor.redact(what);
                match next {
                    Some(next) => format!("error: {what}\nhelp: {}", redactor.redact(next)),
                    None => format!("error: {what}"),
                }
            }
        }
    }

    fn problems(&self) -> Vec<HelpProblem> {
        let problem = |what: String, at: Option<String>, next: Vec<String>| HelpProblem {
            server: None,
            step: None,
            evidence: at.clone().unwrap_or_default(),
            at,
            root_cause: Some(RunCause::InvalidPlan),
            fingerprint: None,
            what,
            tried: Vec::new(),
            next,
        };
        match &self.found {
            Found::Problems(error) => error
                .problems()
                .iter()
                .map(|p| {
                    let at = Some(error.file(p).at(p.location));
                    problem(p.title(), at, p.hints.clone())
                })
                .collect(),
            Found::Said { what, next } => {
                vec![problem(what.clone(), None, next.iter().cloned().collect())]
            }
        }
    }

    /// The report of a plan that was never executed.
    pub fn report(&self, run_id: &str, started_at: &str, seed: u64, path: &Path) -> RunReport {
        RunReport {
            schema_version: SCHEMA_VERSION,
            run_id: run_id.to_owned(),
            plan: PlanReport {
                name: path
                    .file_stem()
                    .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
                path: path.display().to_string(),
                ..PlanReport::default()
            },
            verdict: self.verdict(),
            exit_code: self.code().code(),
            needs_user_help: true,
            help_summary: Some(HelpSummary {
                title: self.title().to_owned(),
                problems: self.problems(),
            }),
            seed,
            started_at: started_at.to_owned(),
            ..RunReport::default()
        }
    }
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
