//! What each tool does: a command of jelly in a process of its own, and its
//! JSON as a document.
//!
//! Main type: [`Workshop`]: all that the tools share.

use super::child::{Jelly, JellyEnd};
use super::document::Document;
use super::fault::ToolFault;
use super::fence::{Fence, Use};
use super::past_runs::PastRuns;
use super::runs::{Run, RunProgress, Runs};
use super::tools::{
    CheckPlanInput, ClassifyFailureInput, DoctorInput, ExplainInput, RunPlanInput,
    TriageReportInput,
};
use crate::cli::find::find;
use crate::cli::refusal::Refusal;
use jelly_setup::doctor::{Base, Platform, usual_places};
use jelly_triage::survey::Input;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

const PLAN: Use = Use {
    what: "plan",
    most: 16 << 20,
};
const REPORT: Use = Use {
    what: "report",
    most: 64 << 20,
};
const CONFIGURATION: Use = Use {
    what: "configuration",
    most: 16 << 20,
};

/// Reports that are triaged in one call.
const MOST_REPORTS: usize = 1000;
const MOST_REPORT_BYTES: u64 = 256 << 20;

/// How long what only reads may take.
const READING: Duration = Duration::from_secs(60);
/// How long triage, and a look at started servers, may take.
const LOOKING: Duration = Duration::from_secs(120);

/// So many commands that only look are at work at the same time.
const MOST_COMMANDS: usize = 4;

/// All that the tools share.
#[derive(Debug)]
pub struct Workshop {
    pub fence: Fence,
    pub allow_run: bool,
    pub allow_hooks: bool,
    pub jelly: Jelly,
    pub past: PastRuns,
    /// Where reports go, if that is unusual.
    pub reports_dir: Option<String>,
    pub runs: Arc<Runs>,
    pub commands: Semaphore,
    /// The reports that were triaged last, whose fingerprints can be asked about.
    pub triaged: Mutex<Vec<String>>,
}

impl Workshop {
    pub fn new(fence: Fence, jelly: Jelly, reports: PathBuf) -> Self {
        Self {
            fence,
            allow_run: false,
            allow_hooks: false,
            jelly,
            past: PastRuns { folder: reports },
            reports_dir: None,
            runs: Arc::default(),
            commands: Semaphore::new(MOST_COMMANDS),
            triaged: Mutex::default(),
        }
    }

    fn triaged(&self) -> MutexGuard<'_, Vec<String>> {
        self.triaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run.
    ///
    /// # Errors
    /// It is not allowed, or can't be.
    pub async fn start_run(&self, input: &RunPlanInput) -> Result<Arc<Run>, ToolFault> {
        if !self.allow_run {
            let what = "run_plan starts processes, which this server was not allowed to do";
            let next = "start it as `jelly serve --allow-run`; check_plan validates a plan without starting anything";
            return Err(ToolFault::new("not_allowed", what, next));
        }
        let plan = self.fence.file(&input.path, PLAN)?;
        let mut args: Vec<String> = ["run", "--format", "json", "--announce", "--quiet"]
            .map(str::to_owned)
            .to_vec();
        args.extend(
            self.reports_dir
                .iter()
                .map(|dir| format!("--reports-dir={dir}")),
        );
        for (flag, names) in [("--only", &input.only), ("--skip", &input.skip)] {
            args.extend(names.iter().map(|name| format!("{flag}={name}")));
        }
        args.extend(
            input
                .max_iterations
                .map(|most| format!("--max-iterations={most}")),
        );
        if !self.allow_hooks {
            args.push("--no-hooks".to_owned());
        }
        args.extend(["--".to_owned(), plan.display().to_string()]);
        self.runs.start(&self.jelly, args, plan).await
    }

    /// The result of a run that is over.
    ///
    /// # Errors
    /// It left none.
    pub fn ended_run(&self, run: &Run, end: &JellyEnd) -> Result<Document, ToolFault> {
        let report = match self.past.document(&run.id) {
            Ok(report) => report,
            Err(fault) => serde_json::from_slice(&end.stdout).map_err(|_| fault)?,
        };
        Ok(Document::of_run(report))
    }

    /// A run that goes on.
    pub fn going_run(run: &Run, progress: &RunProgress) -> Document {
        Document::of_going(json!({
            "run_id": run.id,
            "state": "running",
            "progress": {
                "iteration": progress.iteration,
                "steps_ended": progress.steps.0,
                "steps": progress.steps.1,
                "last": progress.last,
            },
        }))
    }

    /// The result of an earlier run.
    ///
    /// # Errors
    /// There is none.
    pub fn past_run(&self, id: &str) -> Result<Document, ToolFault> {
        self.past.document(id).map(Document::of_run)
    }

    /// # Errors
    /// The plan can't be looked at.
    pub async fn check_plan(&self, input: &CheckPlanInput) -> Result<Document, ToolFault> {
        let plan = self.fence.file(&input.path, PLAN)?.display().to_string();
        let args = ["check", "--format", "json", "--", &plan];
        let end = self.command(&args, &[], READING).await?;
        Ok(Document::of_check(parsed(&end, &input.path)?))
    }

    /// # Errors
    /// A report can't be read, or is not to be.
    pub async fn triage(&self, input: &TriageReportInput) -> Result<Document, ToolFault> {
        let reports = self.reports(&input.paths)?;
        let mode = input.mode.word();
        let mut args = vec!["triage", "--format", "json", "--no-history", "--mode", mode];
        let baseline = match &input.baseline {
            None => None,
            Some(revision) if revision.starts_with("git:") => {
                if !self.allow_run {
                    let what =
                        "a baseline out of git starts git, which this server was not allowed to do";
                    let next = "name an earlier report, or start the server with --allow-run";
                    return Err(ToolFault::new("not_allowed", what, next).at("baseline"));
                }
                Some(revision.clone())
            }
            Some(named) => Some(self.fence.file(named, REPORT)?.display().to_string()),
        };
        let baseline = baseline.map(|baseline| format!("--baseline={baseline}"));
        args.extend(baseline.as_deref());
        args.push("--");
        args.extend(reports.iter().map(String::as_str));
        let end = self.command(&args, &[], LOOKING).await?;
        let value = parsed(&end, &input.paths.join(", "))?;
        self.triaged().clone_from(&reports);
        let mut value = match value {
            Value::Array(list) => {
                let key = if mode == "locate" {
                    "paths"
                } else {
                    "failures"
                };
                Value::Object(Map::from_iter([(key.to_owned(), Value::Array(list))]))
            }
            other => other,
        };
        // What makes a report unreliable is said on stderr, for all modes.
        let problem = end.stderr.trim();
        if end.code == Some(2) && !problem.is_empty() {
            value["problem"] = problem.into();
        }
        Ok(Document::of_triage(value))
    }

    /// The files that are meant, each allowed, all of a size that can be read.
    fn reports(&self, named: &[String]) -> Result<Vec<String>, ToolFault> {
        let mut files = BTreeSet::new();
        let mut bytes = 0;
        for named in named {
            // What stands before a pattern decides where it may look.
            let is_pattern = named.contains(['*', '?', '[']) && !self.joined(named).exists();
            let literal: PathBuf = match is_pattern {
                true => Path::new(named)
                    .components()
                    .take_while(|part| {
                        !part.as_os_str().to_string_lossy().contains(['*', '?', '['])
                    })
                    .collect(),
                false => PathBuf::from(named),
            };
            let literal = match literal.to_str() {
                Some("") if is_pattern => ".",
                None => ".",
                Some(literal) => literal,
            };
            if named.split('/').any(|part| part == "..") {
                let next = "name reports by a path without `..`";
                let fault = ToolFault::new("bad_path", "`..` is not allowed in paths", next);
                return Err(fault.at(named));
            }
            let place = self.fence.place(literal)?;
            let argument = match is_pattern {
                true => self.joined(named).display().to_string(),
                false if place.is_dir() => place.display().to_string(),
                false => {
                    self.fence.file(named, REPORT)?;
                    place.display().to_string()
                }
            };
            let found = find(&[argument]).map_err(|error| {
                let next = "name files, folders or patterns that lead to reports";
                ToolFault::new("unreadable", format!("failed to {error}"), next).at(named)
            })?;
            for source in found {
                let Input::File(path) = source.input else {
                    continue;
                };
                let path = self.fence.file(&path.display().to_string(), REPORT)?;
                bytes += path.metadata().map_or(0, |meta| meta.len());
                files.insert(path.display().to_string());
                if files.len() > MOST_REPORTS || bytes > MOST_REPORT_BYTES {
                    let what = format!(
                        "more than {MOST_REPORTS} reports or {MOST_REPORT_BYTES} bytes are meant"
                    );
                    let next = "name fewer at once";
                    return Err(ToolFault::new("too_large", what, next).at(named));
                }
            }
        }
        Ok(files.into_iter().collect())
    }

    fn joined(&self, named: &str) -> PathBuf {
        self.jelly.cwd.join(named)
    }

    /// # Errors
    /// It is no failure.
    pub async fn classify(&self, input: &ClassifyFailureInput) -> Result<Document, ToolFault> {
        let line = json!({"id": 0, "failure": input.failure}).to_string();
        let args = [
            "triage",
            "--input",
            "failures",
            "--format",
            "jsonl",
            "--no-history",
            "-",
        ];
        let end = self.command(&args, line.as_bytes(), READING).await?;
        let said: Value = serde_json::from_slice(&end.stdout).unwrap_or_default();
        let Some(diagnosis) = said.get("diagnosis").filter(|found| found.is_object()) else {
            let what = match end.stderr.lines().next() {
                Some(line) => line.trim_start_matches("error: -:1:").to_owned(),
                None => "this is no failure".to_owned(),
            };
            let next = "pass an object whose fields are those of `jelly schema failure`, at least {\"message\": \"…\"}";
            return Err(ToolFault::new("bad_failure", what, next).at("failure"));
        };
        Ok(Document::of_classified(json!({"diagnosis": diagnosis})))
    }

    /// # Errors
    /// There is no configuration that may be read.
    pub async fn doctor(&self, input: &DoctorInput) -> Result<Document, ToolFault> {
        let configs = match &input.path {
            Some(named) => vec![self.fence.file(named, CONFIGURATION)?],
            None => self.configurations(),
        };
        let starts = self.allow_run && input.path.is_some();
        let mut args = vec!["doctor", "--format", "json"];
        match starts {
            true => args.extend(["--timeout", "30s"]),
            false => args.push("--dry-run"),
        }
        args.push("--");
        let configs: Vec<String> = configs
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        args.extend(configs.iter().map(String::as_str));
        if configs.is_empty() {
            let what = "no client's configuration lies in the allowed folders, and others are not looked for";
            let next = "name one with `path`, as .mcp.json or .vscode/mcp.json";
            return Err(ToolFault::new("no_configuration", what, next));
        }
        let end = self.command(&args, &[], LOOKING).await?;
        let mut value = parsed(&end, &configs.join(", "))?;
        value["started"] = starts.into();
        Ok(Document::of_doctor(value))
    }

    /// The configurations that clients have in a project, in the allowed
    /// folders; nothing of a home folder.
    fn configurations(&self) -> Vec<PathBuf> {
        let places = usual_places(Platform::current()).filter(|place| place.base == Base::Project);
        let mut found = BTreeSet::new();
        for place in places {
            for folder in self.fence.folders() {
                let named = folder.join(place.path).display().to_string();
                found.extend(self.fence.file(&named, CONFIGURATION));
            }
        }
        found.into_iter().collect()
    }

    /// # Errors
    /// Not exactly one thing was asked about, or it is not known.
    pub async fn explain(&self, input: &ExplainInput) -> Result<Document, ToolFault> {
        let reports = self.past.folder.display().to_string();
        match (&input.fingerprint, &input.rule, &input.run) {
            (None, None, Some(id)) => {
                let report = match self.runs.find(id) {
                    Some(run) if run.end_within(Duration::ZERO).await.is_none() => {
                        let next = "wait for its end with run_status";
                        return Err(ToolFault::new("running", "this run goes on", next).at(id));
                    }
                    Some(_) | None => self.past.document(id)?,
                };
                Ok(Document::of_run_explained(&report))
            }
            (Some(print), None, None) => {
                let mut args = vec!["explain", "--format", "json", "--reports-dir", &reports];
                let mut triaged = self.triaged().clone();
                triaged.retain(|path| self.fence.file(path, REPORT).is_ok());
                if !triaged.is_empty() {
                    args.push("--in");
                    args.extend(triaged.iter().map(String::as_str));
                }
                args.extend(["--", print.as_str()]);
                let end = self.command(&args, &[], READING).await?;
                Ok(Document::of_explained(parsed(&end, print)?))
            }
            (None, Some(rule), None) => {
                let args = ["rules", "show", "--format", "json", "--", rule];
                let end = self.command(&args, &[], READING).await?;
                Ok(Document::of_explained(json!({"rule": parsed(&end, rule)?})))
            }
            _ => {
                let what = "exactly one of `fingerprint`, `rule` and `run` is wanted";
                let next = "a diagnosis has `fingerprint` and `rule`; list_runs has `run_id`";
                Err(ToolFault::new("bad_arguments", what, next))
            }
        }
    }

    /// Runs that go on, and those that left reports.
    pub fn list(&self) -> Document {
        let mut rows: Vec<Value> = self
            .runs
            .running()
            .iter()
            .map(|run| json!({"run_id": run.id, "state": "running", "plan": run.plan}))
            .collect();
        rows.reverse();
        let going: BTreeSet<String> = self
            .runs
            .running()
            .iter()
            .map(|run| run.id.clone())
            .collect();
        let (ids, _) = self.past.ids();
        let past = ids.iter().filter(|id| !going.contains(*id));
        rows.extend(past.filter_map(|id| self.past.brief(id)).map(Value::Object));
        Document::of_runs(json!({"runs": rows}))
    }

    /// Has a command of jelly done that ends by itself.
    async fn command(
        &self,
        args: &[&str],
        input: &[u8],
        limit: Duration,
    ) -> Result<JellyEnd, ToolFault> {
        // Never closed, so there is always a permit in the end.
        let _permit = self.commands.acquire().await;
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let command = self.jelly.start(args, None).await?;
        command.finish_within(input, limit).await
    }
}

/// What a command printed as JSON.
fn parsed(end: &JellyEnd, named: &str) -> Result<Value, ToolFault> {
    if end.cut {
        let next = "ask about less at once";
        return Err(
            ToolFault::new("too_large", "its result is too large to be cut", next).at(named),
        );
    }
    serde_json::from_slice(&end.stdout).map_err(|_| {
        let said = end.stderr.trim();
        let (what, next) = match said.rsplit_once("\nhelp: ") {
            Some((what, next)) => (what, next),
            None => (
                said,
                "look at what was asked for, and try it on the command line",
            ),
        };
        let what = what.trim_start_matches("error: ").trim();
        let what = if what.is_empty() {
            "it ended and said nothing"
        } else {
            what
        };
        ToolFault::new("refused", what, next).at(named)
    })
}

/// Why the folders of a call can't be served.
pub fn bad_folder(folder: &Path, error: &std::io::Error) -> Refusal {
    Refusal::with_help(
        format!("the folder {} can't be allowed: {error}", folder.display()),
        "name a folder that is there with --allow",
    )
}
