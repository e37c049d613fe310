//! `--ci`: what a CI system is told in its own words, each only where its
//! variables say that this is it.
//!
//! Main type: [`CiCall`]. Nothing of this is a result, so that a warning is
//! enough where it fails.

use super::named_files::named_file;
use super::out::{UntilClosed, print_as_is};
use super::refusal::complain;
use super::settings::World;
use super::triage::named_place;
use crate::cli::args::CiChoice;
use crate::report::ci::{
    CI_SYSTEMS, CiSystem, GITHUB_JOB, GITHUB_STEP, Notice, NoticeTerms, SUMMARY_MAX,
    TeamCityWriter, azure_commands, azure_publish, azure_summary, code_quality_of_run,
    code_quality_of_triage, github_commands, job_summary, of_run, of_triage, section_end,
    section_start, teamcity_problems, within,
};
use crate::report::triage as show;
use crate::report::{Results, is_own_code_quality, matrix_md, show_run};
use jelly_base::files::{create_named, open_named, open_to_read};
use jelly_base::model::{FailureReport, Side, TriageReport};
use jelly_base::text::{Notation, disarmed};
use jelly_triage::engine::failing_line_of_server;
use serde_json::Value;
use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// So long the agent of Buildkite may take.
const AGENT: Duration = Duration::from_secs(30);
/// Azure shows at most so many issues of a step.
const AZURE_STEP: usize = 10;
/// How GitLab's documentation names its report.
const CODE_QUALITY: &str = "gl-code-quality-report.json";
/// Problems of a build that TeamCity is told.
const TEAMCITY_BUILD: usize = 20;

/// A call of jelly on a CI system.
#[derive(Debug, Clone, Copy)]
pub struct CiCall {
    system: CiSystem,
    /// Stdout is for people, and so for commands to the system.
    speaks: bool,
}

impl CiCall {
    /// The system that is meant, if any. A machine may read stdout unless it
    /// `speaks`.
    #[must_use]
    pub fn find(choice: CiChoice, world: &World, speaks: bool) -> Option<Self> {
        let here = CI_SYSTEMS.iter().find(|row| match choice {
            CiChoice::Auto => row.says(world.env.get(row.variable)),
            CiChoice::None => false,
            CiChoice::Github => row.system == CiSystem::Github,
            CiChoice::Azure => row.system == CiSystem::Azure,
            CiChoice::Teamcity => row.system == CiSystem::TeamCity,
            CiChoice::Buildkite => row.system == CiSystem::Buildkite,
            CiChoice::Gitlab => row.system == CiSystem::Gitlab,
        })?;
        Some(Self {
            system: here.system,
            speaks,
        })
    }

    /// What begins the log of a plan, where that is shown folded.
    #[must_use]
    pub fn section_start(self, plan: &str) -> Option<String> {
        let title = format!("jelly run: {plan}");
        self.folds().then(|| section_start(plan, &title, now()))
    }

    /// What ends it.
    #[must_use]
    pub fn section_end(self, plan: &str) -> Option<String> {
        self.folds().then(|| section_end(plan, now()))
    }

    fn folds(self) -> bool {
        self.system == CiSystem::Gitlab && self.speaks
    }

    /// Tells what the plans of a call came to.
    ///
    /// # Errors
    /// Stdout takes no more.
    pub fn tell_run(
        self,
        world: &World,
        results: &Results<'_>,
        folder: Option<&Path>,
    ) -> io::Result<()> {
        let stacks = Stacks::new(world);
        let in_stack = |failure: &FailureReport| stacks.line(failure);
        let terms = |max| {
            let terms = self.terms(world, max);
            let below = terms
                .workspace
                .and_then(|root| world.cwd.strip_prefix(root).ok());
            NoticeTerms {
                in_stack: &in_stack,
                folder: below
                    .and_then(Path::to_str)
                    .filter(|folder| !folder.is_empty()),
                ..terms
            }
        };
        let summary = || job_summary(results.plans) + &matrix_md(results.matrix);
        match self.system {
            CiSystem::Github => {
                if self.speaks {
                    annotate_github(world, |max| of_run(results, terms(max)))?;
                }
                append_job_summary(world, summary);
            }
            CiSystem::Azure if self.speaks => {
                print_as_is(azure_commands(&of_run(results, terms(AZURE_STEP))))?;
                self.upload_summary(world, folder, &summary())?;
                let files: Vec<String> = results
                    .plans
                    .iter()
                    .filter_map(|plan| plan.report_dir.as_ref())
                    .map(|dir| absolute(world, &Path::new(dir).join("junit.xml")))
                    .collect();
                if !files.is_empty() {
                    print_as_is(azure_publish(&files))?;
                }
            }
            CiSystem::TeamCity if self.speaks => {
                let mut out = UntilClosed(io::stdout());
                show_run(results, &mut TeamCityWriter::new(&mut out))?;
                out.flush()?;
            }
            CiSystem::Buildkite => annotate(world, results.exit_code, &summary()),
            CiSystem::Gitlab => keep_code_quality(results, folder),
            CiSystem::Azure | CiSystem::TeamCity => {}
        }
        Ok(())
    }

    /// Tells what a triage found.
    ///
    /// # Errors
    /// Stdout takes no more.
    pub fn tell_triage(self, world: &World, report: &TriageReport) -> io::Result<()> {
        let of_report = |report: &str, file: &str| named_file(&world.cwd, report, file);
        let terms = |max| NoticeTerms {
            of_report: &of_report,
            ..self.terms(world, max)
        };
        match self.system {
            CiSystem::Github => {
                if self.speaks {
                    annotate_github(world, |max| of_triage(report, terms(max)))?;
                }
                append_job_summary(world, || show::summary(report));
            }
            CiSystem::Azure if self.speaks => {
                print_as_is(azure_commands(&of_triage(report, terms(AZURE_STEP))))?;
                self.upload_summary(world, None, &show::summary(report))?;
            }
            CiSystem::TeamCity if self.speaks => {
                print_as_is(teamcity_problems(&of_triage(report, terms(TEAMCITY_BUILD))))?;
            }
            CiSystem::Buildkite => annotate(world, report.exit_code, &show::summary(report)),
            CiSystem::Gitlab => keep_triage_code_quality(world, report),
            CiSystem::Azure | CiSystem::TeamCity => {}
        }
        Ok(())
    }

    fn terms(self, world: &World, max: usize) -> NoticeTerms<'_> {
        let variable = match self.system {
            CiSystem::Github => "GITHUB_WORKSPACE",
            CiSystem::Azure => "BUILD_SOURCESDIRECTORY",
            CiSystem::TeamCity | CiSystem::Buildkite | CiSystem::Gitlab => "",
        };
        NoticeTerms {
            workspace: world.env.get(variable).map(String::as_str),
            ..NoticeTerms::plain(max)
        }
    }

    /// The agent reads the file later, so that it has to stay.
    fn upload_summary(self, world: &World, folder: Option<&Path>, summary: &str) -> io::Result<()> {
        let temp = world.env.get("AGENT_TEMPDIRECTORY").map(PathBuf::from);
        let Some(folder) = temp.as_deref().or(folder) else {
            return Ok(());
        };
        let file = folder.join(format!("jelly-summary-{}.md", std::process::id()));
        let text = within(summary.to_owned(), SUMMARY_MAX);
        match fs::write(&file, disarmed(&text, Notation::Plain).as_bytes()) {
            Ok(()) => print_as_is(azure_summary(&absolute(world, &file))),
            Err(error) => {
                complain(&format!("warning: the summary was not written: {error}"));
                Ok(())
            }
        }
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn absolute(world: &World, path: &Path) -> String {
    world.cwd.join(path).display().to_string()
}

/// Adds to the job summary of GitHub Actions, where there is one, as much as it
/// still takes.
fn append_job_summary(world: &World, summary: impl FnOnce() -> String) {
    let Some(path) = world.env.get("GITHUB_STEP_SUMMARY") else {
        return;
    };
    let there = fs::metadata(path).map_or(0, |meta| meta.len());
    let there = usize::try_from(there).unwrap_or(SUMMARY_MAX);
    // What is disarmed grows a little.
    let room = SUMMARY_MAX.saturating_sub(there) / 8 * 7;
    if room < 1024 {
        complain("warning: the job summary is full, and holds nothing of this call");
        return;
    }
    let text = within(summary(), room);
    let file = open_named(
        Path::new(path),
        OpenOptions::new().append(true).create(true),
    );
    let appended =
        file.and_then(|mut file| file.write_all(disarmed(&text, Notation::Plain).as_bytes()));
    if let Err(error) = appended {
        complain(&format!(
            "warning: the job summary was not written: {error}"
        ));
    }
}

/// Prints as many annotations as GitHub still shows; says where it shows none.
fn annotate_github(world: &World, notices: impl Fn(usize) -> Vec<Notice>) -> io::Result<()> {
    let mut room = GithubRoom::look(world);
    if room.left > 0 {
        let notices = notices(room.left);
        print_as_is(github_commands(&notices))?;
        room.take(notices.len());
        return Ok(());
    }
    let untold = notices(usize::MAX).len();
    if untold > 0 {
        let (all, of) = (room.limit, room.limit_of);
        complain(&format!(
            "warning: GitHub shows {all} annotations of a {of}, and earlier calls have used them; \
             {} not shown there, and the job summary tells all",
            match untold {
                1 => "1 more is".to_owned(),
                more => format!("{more} more are"),
            }
        ));
    }
    Ok(())
}

/// How many annotations GitHub still shows of this step and this job. What
/// earlier calls of the job printed is kept in its folder for temporary files.
struct GithubRoom {
    left: usize,
    /// What leaves the least: of a step, or of a job.
    limit: usize,
    limit_of: &'static str,
    /// Where it is kept, with the step that this is.
    kept: Option<(PathBuf, String)>,
}

impl GithubRoom {
    fn look(world: &World) -> Self {
        let folder = world.env.get("RUNNER_TEMP").filter(|dir| !dir.is_empty());
        let Some(folder) = folder else {
            return Self {
                left: GITHUB_STEP,
                limit: GITHUB_STEP,
                limit_of: "step",
                kept: None,
            };
        };
        let file = Path::new(folder).join("jelly-annotations");
        let step = world.env.get("GITHUB_ACTION").cloned().unwrap_or_default();
        let read = open_to_read(&file).and_then(io::read_to_string);
        let text = read.unwrap_or_default();
        let (mut of_step, mut of_job) = (0, 0_usize);
        for line in text.lines() {
            let Some((count, name)) = line.split_once(' ') else {
                continue;
            };
            let count = count.parse().unwrap_or(0_usize);
            of_job = of_job.saturating_add(count);
            if name == step {
                of_step += count;
            }
        }
        let in_step = GITHUB_STEP.saturating_sub(of_step);
        let in_job = GITHUB_JOB.saturating_sub(of_job);
        let (left, limit, limit_of) = match in_job < in_step {
            true => (in_job, GITHUB_JOB, "job"),
            false => (in_step, GITHUB_STEP, "step"),
        };
        Self {
            left,
            limit,
            limit_of,
            kept: Some((file, step)),
        }
    }

    fn take(&mut self, count: usize) {
        let Some((file, step)) = self.kept.as_ref().filter(|_| count > 0) else {
            return;
        };
        // Where it can't be kept, GitHub drops what is too much.
        if let Ok(mut file) = open_named(file, OpenOptions::new().append(true).create(true)) {
            let _ = writeln!(file, "{count} {}", step.replace(['\n', '\r'], " "));
        }
    }
}

/// Has the agent of Buildkite show the summary. It is on the path of every job.
fn annotate(world: &World, exit_code: u8, summary: &str) {
    let style = match exit_code {
        0 => "success",
        4 => "warning",
        _ => "error",
    };
    let job = world.env.get("BUILDKITE_JOB_ID").map_or("", String::as_str);
    let context = format!("jelly-{job}");
    let text = within(summary.to_owned(), SUMMARY_MAX);
    if let Err(error) = run_agent(world, &["--style", style, "--context", &context], &text) {
        complain(&format!(
            "warning: the build was not annotated: buildkite-agent: {error}"
        ));
    }
}

fn run_agent(world: &World, args: &[&str], text: &str) -> io::Result<()> {
    let mut agent = Command::new("buildkite-agent")
        .arg("annotate")
        .args(args)
        .env_clear()
        .envs(&world.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = agent.stdin.take();
    let text = disarmed(text, Notation::Plain).into_owned();
    let writing = std::thread::spawn(move || match &mut stdin {
        Some(stdin) => stdin.write_all(text.as_bytes()),
        None => Ok(()),
    });
    let begun = Instant::now();
    let status = loop {
        match agent.try_wait()? {
            Some(status) => break status,
            None if begun.elapsed() > AGENT => {
                agent.kill()?;
                agent.wait()?;
                let limit = jelly_base::text::human_duration(AGENT);
                return Err(io::Error::other(format!("it did not end in {limit}")));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // One that reads nothing says so by its end.
    drop(writing.join());
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("it ended with {status}"))),
    }
}

/// GitLab takes its report as a file that a job names.
fn keep_code_quality(results: &Results<'_>, folder: Option<&Path>) {
    let Some(folder) = folder else {
        return;
    };
    write_code_quality(&folder.join(CODE_QUALITY), code_quality_of_run(results));
}

/// A triage has no folder, so that its file lies in the working directory, where
/// the file of another program may lie too.
fn keep_triage_code_quality(world: &World, report: &TriageReport) {
    let file = world.cwd.join(CODE_QUALITY);
    let is_ours = match open_to_read(&file).and_then(io::read_to_string) {
        Ok(text) => is_own_code_quality(&text),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_ours {
        return complain(&format!(
            "warning: {CODE_QUALITY} was not written by jelly, and is kept; \
             `--report gitlab-codequality=FILE` writes another file"
        ));
    }
    write_code_quality(&file, code_quality_of_triage(report));
}

fn write_code_quality(file: &Path, bytes: io::Result<Vec<u8>>) {
    if let Err(error) = bytes.and_then(|bytes| create_named(file)?.write_all(&bytes)) {
        let shown = file.display();
        complain(&format!("warning: failed to write {shown}: {error}"));
    }
}

/// Lines of the project at which servers themselves failed.
struct Stacks<'w> {
    folder: &'w Path,
    /// All files of the project, once they were asked for.
    files: RefCell<Option<Vec<PathBuf>>>,
}

impl<'w> Stacks<'w> {
    fn new(world: &'w World) -> Self {
        Self {
            folder: &world.cwd,
            files: RefCell::new(None),
        }
    }

    /// What is wrong with an expectation or around the server is wrong at its
    /// line of the plan.
    fn line(&self, failure: &FailureReport) -> Option<String> {
        let diagnosis = &failure.diagnosis;
        let of_server = diagnosis.side == Side::Code || diagnosis.suspect.is_some();
        if !of_server || failure.mismatch.is_some() {
            return None;
        }
        let data = failure.rpc_error.as_ref().and_then(|e| e.data.as_ref());
        let mut told: Vec<&str> = data.map(texts_in).unwrap_or_default();
        told.extend(failure.error_text.as_deref());
        // A server that lives printed the stacks of other calls, too.
        let evidence = diagnosis.evidence.as_ref().map(|one| one.text.trim());
        let tells = |text: &str| !text.is_empty() && failure.stderr_tail.contains(text);
        if failure.exit.is_some() || evidence.is_some_and(tells) {
            told.push(&failure.stderr_tail);
        }
        let place = told.into_iter().find_map(failing_line_of_server)?;
        named_place(&place, self.folder, &mut self.files.borrow_mut())
    }
}

/// The texts of an error's data, or of its members.
fn texts_in(data: &Value) -> Vec<&str> {
    let members = data.as_object().into_iter().flat_map(|map| map.values());
    let all = std::iter::once(data).chain(members);
    all.filter_map(Value::as_str).collect()
}
