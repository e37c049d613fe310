//! A plan that can't be run: what is wrong, for people and as a report.

use crate::exec::NoSuchFilter;
use crate::model::{
    ExitCode, HelpProblem, HelpSummary, PlanReport, RunReport, SCHEMA_VERSION, Verdict,
};
use crate::plan::{Plan, PlanError, PlanSource, ReadError, Variant, load, load_with};
use crate::report::ReportError;
use crate::text::close_names;
use indexmap::IndexMap;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why a plan can't be run at all.
#[derive(Debug)]
pub enum Invalid {
    Unreadable(ReadError),
    Plan(Box<PlanError>),
    /// What is wrong, and what would help.
    Other {
        what: String,
        next: Option<String>,
    },
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
        return Err(Invalid::Other {
            what: format!(
                "{}: the plan has no steps, so it tests nothing",
                path.display()
            ),
            next: Some("add at least one entry under `steps`".to_owned()),
        });
    }
    Ok(plan)
}

impl Invalid {
    pub fn nothing_selected(plan: &Plan) -> Self {
        Self::Other {
            what: format!(
                "{}: --only and --skip leave no step to run",
                plan.source.path.display()
            ),
            next: None,
        }
    }

    pub fn filter(plan: &Plan, error: &NoSuchFilter) -> Self {
        Self::Other {
            what: format!("{}: {error}", plan.source.path.display()),
            next: error
                .candidates
                .first()
                .map(|name| format!("did you mean `{name}`?")),
        }
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
        Some(Self::Other {
            what: format!("{who} variable `{stray}`"),
            next: close.first().map(|name| format!("did you mean `{name}`?")),
        })
    }

    pub fn project(plan: &Path, folder: Option<&Path>, error: &io::Error) -> Self {
        let folder = folder.map_or_else(String::new, |folder| format!(" {}", folder.display()));
        Self::Other {
            what: format!(
                "{}: the project folder{folder} can't be used: {error}",
                plan.display()
            ),
            next: Some("name an existing folder with --project-dir".to_owned()),
        }
    }

    /// The plan asks less than it did when the call began.
    pub fn weakened(plan: &Path, told: &[&str]) -> Self {
        Self::Other {
            what: format!(
                "{}: the plan was changed since this call began, and less is tested: {}",
                plan.display(),
                told.join("; ")
            ),
            next: Some("a hook of another run may have done that; see what it changed".to_owned()),
        }
    }

    pub fn unwritable(plan: &Path, error: &ReportError) -> Self {
        Self::Other {
            what: format!("{}: failed to {}", plan.display(), chain(error)),
            next: Some("name a folder that can be written with --reports-dir".to_owned()),
        }
    }

    /// As it is printed.
    pub fn render(&self, color: bool) -> String {
        match self {
            Self::Unreadable(error) => format!("error: {error}"),
            Self::Plan(error) => error.render(color),
            Self::Other { what, next } => match next {
                Some(next) => format!("error: {what}\nhelp: {next}"),
                None => format!("error: {what}"),
            },
        }
    }

    fn problems(&self) -> Vec<HelpProblem> {
        let problem = |what: String, evidence: String, next: Vec<String>| HelpProblem {
            server: None,
            step: None,
            what,
            evidence,
            tried: Vec::new(),
            next,
        };
        match self {
            Self::Unreadable(error) => {
                vec![problem(error.to_string(), String::new(), Vec::new())]
            }
            Self::Plan(error) => error
                .problems()
                .iter()
                .map(|p| {
                    problem(
                        p.message.clone(),
                        error.source.at(p.location),
                        p.hints.clone(),
                    )
                })
                .collect(),
            Self::Other { what, next } => vec![problem(
                what.clone(),
                String::new(),
                next.iter().cloned().collect(),
            )],
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
                sha256: None,
                repaired_sha256: None,
            },
            verdict: Verdict::InvalidInput,
            exit_code: ExitCode::InvalidInput.code(),
            in_progress: false,
            needs_user_help: true,
            help_summary: Some(HelpSummary {
                title: "The plan can't be run as it is written".to_owned(),
                problems: self.problems(),
            }),
            seed,
            started_at: started_at.to_owned(),
            duration_ms: 0,
            report_dir: None,
            iterations: Vec::new(),
            repair_diff: None,
            repairs_written: false,
            warnings: Vec::new(),
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
