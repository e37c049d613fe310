//! A plan that can't be run: what is wrong, for people and as a report.

use crate::report::ReportError;
use indexmap::IndexMap;
use jelly_base::model::{
    ExitCode, HelpProblem, HelpSummary, PlanReport, RunReport, SCHEMA_VERSION, Verdict,
};
use jelly_base::text::close_names;
use jelly_harness::exec::NoSuchFilter;
use jelly_plan::{Plan, PlanError, PlanSource, ReadError, Variant, load, load_with};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a plan can't be run at all.
#[derive(Debug)]
pub enum Invalid {
    Unreadable(ReadError),
    Plan(Box<PlanError>),
    /// Nothing stands in it that could be run.
    Empty(PathBuf),
    /// The call asks for what the plan does not have.
    Call(RunRefusal),
    /// The plan is good, and no longer the one that was to be run.
    Weakened(RunRefusal),
    /// The plan is good, and nothing could say how it went.
    Unreportable(RunRefusal),
}

/// What is wrong, and what would help.
#[derive(Debug)]
pub struct RunRefusal {
    what: String,
    next: Option<String>,
}

/// Reads a plan that is to be run.
pub fn read(
    path: &Path,
    variant: Option<Arc<Variant>>,
    vars: &IndexMap<String, Value>,
) -> Result<Plan, Invalid> {
    let source = PlanSource::read(path).map_err(Invalid::Unreadable)?;
    let source = PlanSource { variant, ..source };
    let plan = load_with(source, vars).map_err(|error| Invalid::Plan(Box::new(error)))?;
    if plan.steps.is_empty() {
        return Err(Invalid::Empty(path.to_owned()));
    }
    Ok(plan)
}

impl Invalid {
    pub fn nothing_selected(plan: &Plan) -> Self {
        Self::Call(RunRefusal {
            what: format!(
                "{}: --only and --skip leave no step to run",
                plan.source.path.display()
            ),
            next: None,
        })
    }

    pub fn filter(plan: &Plan, error: &NoSuchFilter) -> Self {
        Self::Call(RunRefusal {
            what: format!("{}: {error}", plan.source.path.display()),
            next: error
                .candidates
                .first()
                .map(|name| format!("did you mean `{name}`?")),
        })
    }

    /// Variables were given that none of the plans has a place for: most
    /// likely slips.
    ///
    /// `None` as well where a plan can't do without what was given, since its
    /// own variables are then not known by themselves.
    pub fn stray_variable(sources: &[PlanSource], given: &IndexMap<String, Value>) -> Option<Self> {
        if given.is_empty() {
            return None;
        }
        let mut own = IndexMap::new();
        for source in sources {
            own.extend(load(source.clone()).ok()?.vars);
        }
        let stray = given.keys().find(|name| !own.contains_key(*name))?;
        let close = close_names(stray, own.keys().map(String::as_str));
        let who = match sources {
            [one] => format!("{}: the plan has no", one.path.display()),
            _ => "none of the plans has a".to_owned(),
        };
        Some(Self::Call(RunRefusal {
            what: format!("{who} variable `{stray}`"),
            next: close.first().map(|name| format!("did you mean `{name}`?")),
        }))
    }

    pub fn project(plan: &Path, folder: Option<&Path>, error: &io::Error) -> Self {
        let folder = folder.map_or_else(String::new, |folder| format!(" {}", folder.display()));
        Self::Call(RunRefusal {
            what: format!(
                "{}: the project folder{folder} can't be used: {error}",
                plan.display()
            ),
            next: Some("name an existing folder with --project-dir".to_owned()),
        })
    }

    /// The plan asks less than it did when the call began.
    pub fn weakened(plan: &Path, told: &[&str]) -> Self {
        Self::Weakened(RunRefusal {
            what: format!(
                "{}: the plan was changed since this call began, and less is tested: {}",
                plan.display(),
                told.join("; ")
            ),
            next: Some("a hook of another run may have done that; see what it changed".to_owned()),
        })
    }

    pub fn unwritable(plan: &Path, error: &ReportError) -> Self {
        Self::Unreportable(RunRefusal {
            what: format!("{}: failed to {}", plan.display(), chain(error)),
            next: Some("name a folder that can be written with --reports-dir".to_owned()),
        })
    }

    /// What a call ends with whose only plan is refused so.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Unreadable(_) | Self::Plan(_) | Self::Empty(_) | Self::Call(_) => {
                ExitCode::InvalidInput
            }
            Self::Weakened(_) | Self::Unreportable(_) => ExitCode::NeedsUserHelp,
        }
    }

    /// To try again to write its report would only fail again.
    pub fn is_unreportable(&self) -> bool {
        match self {
            Self::Unreportable(_) => true,
            Self::Unreadable(_)
            | Self::Plan(_)
            | Self::Empty(_)
            | Self::Call(_)
            | Self::Weakened(_) => false,
        }
    }

    fn verdict(&self) -> Verdict {
        match self {
            Self::Unreadable(_) | Self::Plan(_) | Self::Empty(_) | Self::Call(_) => {
                Verdict::InvalidInput
            }
            Self::Weakened(_) | Self::Unreportable(_) => Verdict::NeedsUserHelp,
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "The plan can't be read",
            Self::Plan(_) | Self::Empty(_) => "The plan can't be run as it is written",
            Self::Call(_) => "The plan can't be run as it was called for",
            Self::Weakened(_) => "The plan was not run, since it was changed meanwhile",
            Self::Unreportable(_) => "The plan was not run, since its report can't be written",
        }
    }

    /// As it is printed.
    pub fn render(&self, color: bool) -> String {
        match self {
            Self::Unreadable(error) => format!("error: {error}"),
            Self::Plan(error) => error.render(color),
            Self::Empty(path) => format!("error: {}\nhelp: {ADD_STEPS}", no_steps(path)),
            Self::Call(RunRefusal { what, next })
            | Self::Weakened(RunRefusal { what, next })
            | Self::Unreportable(RunRefusal { what, next }) => match next {
                Some(next) => format!("error: {what}\nhelp: {next}"),
                None => format!("error: {what}"),
            },
        }
    }

    fn problems(&self) -> Vec<HelpProblem> {
        let problem = |what: String, at: Option<String>, next: Vec<String>| HelpProblem {
            server: None,
            step: None,
            evidence: at.clone().unwrap_or_default(),
            at,
            what,
            tried: Vec::new(),
            next,
        };
        match self {
            Self::Unreadable(error) => vec![problem(error.to_string(), None, Vec::new())],
            Self::Plan(error) => error
                .problems()
                .iter()
                .map(|p| {
                    let at = Some(error.source.at(p.location));
                    problem(p.title(), at, p.hints.clone())
                })
                .collect(),
            Self::Empty(path) => vec![problem(no_steps(path), None, vec![ADD_STEPS.to_owned()])],
            Self::Call(RunRefusal { what, next })
            | Self::Weakened(RunRefusal { what, next })
            | Self::Unreportable(RunRefusal { what, next }) => {
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

const ADD_STEPS: &str = "add at least one entry under `steps`";

fn no_steps(path: &Path) -> String {
    format!(
        "{}: the plan has no steps, so it tests nothing",
        path.display()
    )
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
