//! `jelly triage`: test reports → an account → an exit code.

mod baseline;
mod lines;
mod merged;
mod outputs;
mod past;
mod place;
mod refusals;
mod replay;

use super::busy::Busy;
use super::ci::CiCall;
use super::doctor::sight::Machine;
use super::find::{find, find_usual};
use super::invalid::chain;
use super::known::{KnownList, day_of, open_known};
use super::named_files::named_file;
use super::open_history::{OpenHistory, recent_ends};
use super::refusal::{Refusal, complain};
use super::report_files::ReportFiles;
use super::rules::open_rules;
use super::settings::{World, inherited_secrets};
use super::target::Target;
use crate::cli::args::TriageArgs;
use crate::report::ci::{GITHUB_STEP, NoticeTerms, github_commands, of_triage};
use crate::report::triage as show;
use crate::report::{
    CaseWriter, CtrfWriter, JunitWriter, PastEnds, ReportFormat, ReportSurroundings,
};
use jelly_base::files::open_to_read;
use jelly_base::model::{
    ExitCode, FailureStatus, FailureTexts, Fix, ReportSummary, TriageReport, TriagedFailure,
};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{one_line, plural};
use jelly_setup::doctor::{install_by, package_manager};
use jelly_triage::engine::Engine;
use jelly_triage::history::Past;
use jelly_triage::survey::{self, Before, Hint, Input, ReportPart, ReportSource, Terms, Tools};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Write};
use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;

use super::args::triage::{Emit, InputKind, Mode, TriageFormat};
use lines::LineOutcome;
#[cfg(test)]
pub use lines::{Answer, Line};
use outputs::{notation, report_files, said_unwritable, unwritable};
use place::name_places;
pub use place::named_place;
use refusals::{tell_refusals, tell_unrerun};
use tempfile::NamedTempFile;

/// Of reports by their identities, what their failures say, and their paths.
type KnownContents = BTreeMap<String, (FailureTexts, String)>;

/// Triages the reports.
pub fn triage(args: &TriageArgs, world: &World) -> Result<ExitCode, Refusal> {
    if let Some(problem) = args.contradiction() {
        return Err(Refusal::invalid(problem));
    }
    let redactor = Redactor::new(inherited_secrets(&world.env));
    let sources = sources(args)?;
    let rules = open_rules(&args.own_rules, world)?;
    let history = args.history.open(world)?;
    let report_files = report_files(args, &sources, history.as_ref(), world)?;
    let mut target = Target::open(args.output.as_deref(), notation(args))
        .map_err(|error| unwritable(args, &error))?;
    let call = TriageCall {
        args,
        report_files,
        history,
        known: open_known(&args.known, world)?,
        world,
        engine: &rules,
        redactor: &redactor,
        is_unsaid: Cell::new(false),
    };
    let result = if call.is_of_failures(&sources) {
        call.failures(&sources, &mut target)
    } else {
        call.reports(&sources, &mut target)
    };
    let code = result.map_err(|error| Refusal::needs_help(format!("error: {error}")))?;
    if !call.is_unsaid.get() {
        call.note(target.finish());
    }
    // What was found out is not taken back where it can't be written.
    let unsaid = call.is_unsaid.get().then_some(ExitCode::NeedsUserHelp);
    Ok(ExitCode::strongest([code].into_iter().chain(unsaid)))
}

/// The reports that are meant.
fn sources(args: &TriageArgs) -> Result<Vec<ReportSource>, Refusal> {
    if !args.reports.is_empty() {
        return Ok(find(&args.reports)?);
    }
    let sources = find_usual();
    if sources.is_empty() {
        return Err(Refusal::invalid(
            "error: no report was given, and none lies in the usual places (TEST-*.xml, \
             junit.xml, target/surefire-reports, build/test-results and many others)\n\
             help: name the reports, as in `jelly triage reports/`; `jelly triage --help` tells \
             more",
        ));
    }
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let shown = names.len().min(5);
    let rest = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    complain(&format!(
        "note: no report was given; taking {}{rest}",
        names[..shown].join(", ")
    ));
    Ok(sources)
}

struct TriageCall<'c> {
    args: &'c TriageArgs,
    /// Those that were asked for by name.
    report_files: ReportFiles,
    history: Option<OpenHistory>,
    known: Option<KnownList>,
    world: &'c World,
    engine: &'c Engine,
    redactor: &'c Redactor,
    /// The result was not written whole where it was asked for.
    is_unsaid: Cell<bool>,
}

impl TriageCall<'_> {
    /// Says that the result can't be written, once.
    fn note(&self, written: io::Result<()>) {
        if let Err(error) = written
            && !self.is_unsaid.replace(true)
        {
            complain(&said_unwritable(self.args, &error));
        }
    }

    fn is_of_failures(&self, sources: &[ReportSource]) -> bool {
        match self.args.input {
            InputKind::Failures => true,
            InputKind::Report => false,
            InputKind::Auto => {
                let lines = |source: &ReportSource| {
                    source.name.ends_with(".jsonl") || source.name.ends_with(".ndjson")
                };
                !sources.is_empty() && sources.iter().all(lines)
            }
        }
    }

    fn reports(&self, sources: &[ReportSource], out: &mut dyn Write) -> io::Result<ExitCode> {
        let jobs = self.args.jobs.map_or_else(
            || available_parallelism().map_or(1, NonZero::get),
            usize::from,
        );
        let manager = self.package_manager();
        let adapt = |fix: &mut Vec<Fix>| install_by(manager, fix);
        let tools = Tools {
            jobs,
            folder: Some(&self.world.cwd),
            adapt: Some(&adapt),
            ..Tools::new(self.engine, self.redactor)
        };
        let (triages, sources): (Vec<_>, Vec<_>) =
            sources.iter().cloned().partition(merged::is_triage);
        if !triages.is_empty() && self.wants_all_cases() {
            let refusal = Refusal::with_help(
                "the output of a triage holds failures only, and this report holds all cases",
                "write junit, junit-strict and ctrf where the test reports are",
            );
            return Ok(refusal.tell());
        }
        // What is read twice must be there a second time.
        let sources = &sources;
        let spool = self.spool(sources)?;
        let sources: Vec<ReportSource> = sources
            .iter()
            .map(|source| match (&source.input, &spool) {
                (Input::Stdin, Some(file)) => ReportSource {
                    name: source.name.clone(),
                    input: Input::File(file.path().to_owned()),
                },
                (Input::Stdin | Input::File(_), _) => source.clone(),
            })
            .collect();
        let (baseline, copies) = match self.baseline(&sources, tools) {
            Ok((baseline, paths)) => (baseline, paths),
            Err(refusal) => return Ok(refusal.tell()),
        };
        let watched = self.history.as_ref().map(OpenHistory::watched);
        let tools = Tools {
            watch: [watched.as_deref(), baseline.as_ref()],
            origin: self.history.as_ref().map(OpenHistory::origin),
            ..tools
        };
        let mut parts = self.read(&sources, tools);
        let merged = triages.iter().flat_map(|source| {
            let origin = self.history.as_ref().map(OpenHistory::origin);
            merged::read_triage(source, self.redactor, origin)
        });
        let mut merged: Vec<ReportPart> = merged.collect();
        survey::set_aside_retold(&mut merged, &parts);
        parts.extend(merged);
        let mut again = BTreeSet::new();
        for part in &mut parts {
            let summary = &mut part.summary;
            let identity = summary.identity.as_deref().unwrap_or_default();
            let copy = copies.get(identity);
            if let Some((_, path)) = copy.filter(|(said, _)| !said.is_apart_from(&summary.said)) {
                summary.warnings.push(format!(
                    "it has the same content as {path} of the baseline, so nothing in it is new"
                ));
                again.insert(summary.path.clone());
            }
        }
        let known = match self.known_past(&parts, baseline.is_some()) {
            Ok(known) => known,
            Err(refusal) => return Ok(refusal.tell()),
        };
        let history = known.as_deref();
        let before = Before {
            history: history.cloned(),
            baseline: baseline.clone(),
            copies: again,
        };
        let mut account = survey::account(parts, before, self.terms());
        name_places(&mut account.report.clusters, &self.world.cwd);
        if let Some(list) = &self.known {
            let now = jiff::Timestamp::now().to_string();
            account.report.known = list.of_triage(&account.report, day_of(&now));
        }
        let report = &account.report;
        let replay =
            |writer: &mut dyn CaseWriter| replay::replay(report, &sources, self.redactor, writer);
        self.note(self.print(report, out, &replay));
        let past = |suite: &str, class: &str, name: &str| {
            recent_ends([history, baseline.as_ref()], suite, class, name)
        };
        let written = self.write_files(report, &replay, &past);
        tell_refusals(report, self.args);
        tell_unrerun(report, self.args);
        self.note(self.tell_ci(report, out));
        self.remember(&account);
        let code = ExitCode::strongest([exit_code(report)].into_iter().chain(written));
        // The process ends here, and takes back its memory at once: failures by
        // the ten thousand, one by one, would take it a hundredth of its time.
        std::mem::forget(account);
        Ok(code)
    }

    /// Reads the reports, and says so where that takes long.
    fn read(&self, sources: &[ReportSource], tools: Tools<'_>) -> Vec<ReportPart> {
        let busy = Busy::spinning(self.world, "");
        let count = |read: usize| {
            let all = plural(sources.len(), "report");
            busy.begin("", &format!("reading {all}, {read} done"));
        };
        count(0);
        let tools = Tools {
            on_read: Some(&count),
            ..tools
        };
        survey::read_all(sources, tools)
    }

    /// Of the project in which jelly runs.
    fn package_manager(&self) -> &'static str {
        let path = self.world.env.get("PATH").map_or("", String::as_str);
        package_manager(&self.world.cwd, &Machine { path }).unwrap_or("npm")
    }

    /// The earlier reports, and what the last ones hold.
    fn baseline(
        &self,
        current: &[ReportSource],
        tools: Tools<'_>,
    ) -> Result<(Option<Past>, KnownContents), Refusal> {
        let mut paths = BTreeMap::new();
        if self.args.baseline.is_empty() {
            return Ok((None, paths));
        }
        let earlier = baseline::baseline(&self.args.baseline, current)
            .map_err(|error| Refusal::invalid(format!("error: failed to {}", chain(&error))))?;
        for note in &earlier.notes {
            complain(&format!("note: {note}"));
        }
        let mut problems: Vec<String> = Vec::new();
        let past = survey::past_of(
            earlier.runs.iter().collect(),
            |run: &Vec<ReportSource>, past| {
                let watch = [Some(past), None];
                let parts = survey::read_all(run, Tools { watch, ..tools });
                problems.extend(parts.iter().filter_map(|part| {
                    let problem = part.summary.problem.as_ref()?;
                    Some(format!("{}: {problem}", part.summary.path))
                }));
                // Of the last run alone all is known that is there.
                paths.clear();
                paths.extend(parts.iter().filter_map(|part| {
                    let summary = &part.summary;
                    let copy = (summary.said, summary.path.clone());
                    Some((summary.identity.clone()?, copy))
                }));
                parts
            },
        );
        match problems.first() {
            Some(problem) => Err(Refusal::invalid(format!(
                "error: the baseline can't be relied on: {problem}\n\
                 help: name other reports with --baseline, or leave it out"
            ))),
            None => Ok((Some(past), paths)),
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            fail_on: self.args.fail_on.into(),
            strict: self.args.strict,
            is_file: Some(Path::is_file),
        }
    }

    fn wants_all_cases(&self) -> bool {
        self.args.format.is_some_and(TriageFormat::has_all_cases)
            || self.report_files.have_all_cases()
    }

    /// A copy of stdin, where it will be read twice.
    fn spool(&self, sources: &[ReportSource]) -> io::Result<Option<NamedTempFile>> {
        if !self.wants_all_cases() || !sources.iter().any(|source| source.input == Input::Stdin) {
            return Ok(None);
        }
        let mut file = NamedTempFile::new()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        file.flush()?;
        Ok(Some(file))
    }

    /// Writes the reports that were asked for by name; what the call ends with
    /// where one can't be written.
    fn write_files(
        &self,
        report: &TriageReport,
        replay: &dyn Fn(&mut dyn CaseWriter) -> io::Result<()>,
        past: &PastEnds<'_>,
    ) -> Option<ExitCode> {
        let write = |format: &ReportFormat, file: &Path, out: &mut dyn Write| {
            let around = ReportSurroundings::new(&self.world.cwd, file, past);
            format.write_triage(report, replay, &around, out)
        };
        (!self.report_files.write(write)).then_some(ExitCode::NeedsUserHelp)
    }

    /// `replay` hands all cases over, for the formats that hold them.
    fn print(
        &self,
        report: &TriageReport,
        out: &mut dyn Write,
        replay: &dyn Fn(&mut dyn CaseWriter) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.args.emit {
            Some(Emit::RetryCommands) => return write_lines(&report.retry.commands, out),
            Some(Emit::RetryList) => return write_lines(&report.retry.tests, out),
            None => {}
        }
        let format = self.args.format.unwrap_or(TriageFormat::Human);
        match (self.args.mode, format) {
            (Mode::Rca, TriageFormat::Human) => {
                out.write_all(show::human(report, self.human_options()).as_bytes())
            }
            (Mode::Rca, TriageFormat::Json) => show::json(report, out),
            (Mode::Rca, TriageFormat::Jsonl) => show::json_lines(report, out),
            (Mode::Rca, TriageFormat::Md) => out.write_all(show::markdown(report).as_bytes()),
            (Mode::Rca, TriageFormat::Table) => out.write_all(show::table(report).as_bytes()),
            (Mode::Rca, TriageFormat::Github) => {
                let of_report =
                    |report: &str, file: &str| named_file(&self.world.cwd, report, file);
                let terms = NoticeTerms {
                    workspace: self.workspace(),
                    of_report: &of_report,
                    ..NoticeTerms::plain(GITHUB_STEP)
                };
                out.write_all(github_commands(&of_triage(report, terms)).as_bytes())
            }
            (Mode::Rca, TriageFormat::Ctrf) => replay(&mut CtrfWriter::new(out)),
            (Mode::Rca, TriageFormat::Junit) => replay(&mut JunitWriter::of_reports(out)),
            (Mode::Failures, TriageFormat::Json) => show::failures_json(report, false, out),
            (Mode::Failures, TriageFormat::Jsonl) => show::failures_json(report, true, out),
            (Mode::Failures, _) => show::failures_lines(report, out),
            (Mode::Locate, TriageFormat::Json) => show::paths_json(report, false, out),
            (Mode::Locate, TriageFormat::Jsonl) => show::paths_json(report, true, out),
            (Mode::Locate, _) => show::paths_lines(report, out),
        }
    }

    fn human_options(&self) -> show::HumanOptions {
        let to_terminal = self.args.output.is_none() && self.world.stdout_is_terminal;
        show::HumanOptions {
            color: self.args.output.is_none() && self.world.colors(to_terminal),
            width: self.world.width().filter(|_| to_terminal),
        }
    }

    fn workspace(&self) -> Option<&str> {
        self.world.env.get("GITHUB_WORKSPACE").map(String::as_str)
    }

    /// Tells the CI system, among the lines for people.
    fn tell_ci(&self, report: &TriageReport, out: &mut dyn Write) -> io::Result<()> {
        let human = matches!(self.args.format, None | Some(TriageFormat::Human));
        let speaks = human || self.args.output.is_some();
        let whole = self.args.emit.is_none() && self.args.mode == Mode::Rca;
        match CiCall::find(self.args.ci.ci, self.world, speaks).filter(|_| whole) {
            Some(ci) => {
                out.flush()?;
                ci.tell_triage(self.world, report)
            }
            None => Ok(()),
        }
    }

    /// Failures as input. With `jsonl`, and by default, each is answered as
    /// soon as it is read; any other format is of all of them together.
    fn failures(&self, sources: &[ReportSource], out: &mut dyn Write) -> io::Result<ExitCode> {
        let at_once = self.args.emit.is_none()
            && self.args.mode == Mode::Rca
            && matches!(self.args.format, None | Some(TriageFormat::Jsonl));
        let mut parts = Vec::new();
        let mut unread = false;
        for source in sources {
            let mut bad = 0_u64;
            let mut is_unwritten = false;
            let mut part = ReportPart {
                summary: ReportSummary {
                    path: source.name.clone(),
                    dialect: "failures".to_owned(),
                    ..ReportSummary::default()
                },
                ..ReportPart::default()
            };
            let mut tell = |told| match told {
                LineOutcome::Problem(problem) => {
                    bad += 1;
                    complain(&format!("error: {problem}"));
                    Ok(())
                }
                LineOutcome::Diagnosis {
                    id,
                    failure,
                    diagnosis,
                } => {
                    if at_once {
                        let written = lines::answer(&id, &diagnosis, out);
                        written.inspect_err(|_| is_unwritten = true)?;
                    }
                    let row = part.summary.tests;
                    part.summary.tests += 1;
                    part.summary.failed += 1;
                    // Each row can come from another framework; what has no
                    // name of its own can't be selected by one.
                    let dialect = failure.name.as_ref().and(failure.dialect.clone());
                    let hint = Hint {
                        dialect: Some(dialect.unwrap_or_default()),
                        ..Hint::default()
                    };
                    part.hints.insert(row, hint);
                    let name = failure.name.clone().or_else(|| failure.step.clone());
                    let name = name.unwrap_or_else(|| match &id {
                        serde_json::Value::String(id) => id.clone(),
                        serde_json::Value::Null => format!("failure {}", row + 1),
                        other => other.to_string(),
                    });
                    let triaged = TriagedFailure {
                        report: source.name.clone(),
                        suite: failure.suite.clone().unwrap_or_default(),
                        classname: failure.classname.clone().unwrap_or_default(),
                        name,
                        file: failure.file.clone(),
                        line: failure.line,
                        status: FailureStatus::Failure,
                        message: failure.message.as_deref().map(|m| one_line(m, 300)),
                        pre_existing: None,
                        diagnosis: *diagnosis,
                        history: None,
                    };
                    part.failures.push_of_case(row, triaged);
                    Ok(())
                }
            };
            let read = open(&source.input).and_then(|input| {
                lines::diagnose(&source.name, input, self.engine, self.redactor, &mut tell)
            });
            match read {
                Ok(()) => {}
                Err(error) if is_unwritten => {
                    self.note(Err(error));
                    break;
                }
                Err(error) => {
                    complain(&format!("error: failed to read {}: {error}", source.name));
                    part.summary.problem = Some(format!("it can't be read: {error}"));
                }
            }
            let unsaid = match (bad, part.summary.tests) {
                _ if part.summary.problem.is_some() => None,
                (0, 0) => {
                    let place = match source.input {
                        Input::Stdin => "stdin",
                        Input::File(_) => source.name.as_str(),
                    };
                    complain(&format!(
                        "error: {place} holds no failure\n\
                         help: write one failure a line, as {{\"id\": 1, \"failure\": \
                         {{\"message\": \"…\"}}}}"
                    ));
                    Some("it holds no failure".to_owned())
                }
                (0, _) => None,
                (1, _) => Some("1 line of it holds no failure".to_owned()),
                (n, _) => Some(format!("{n} lines of it hold no failure")),
            };
            part.summary.problem = part.summary.problem.or(unsaid);
            unread |= part.summary.problem.is_some();
            parts.push(part);
        }
        let report = survey::account(parts, Before::default(), self.terms()).report;
        let replay = |writer: &mut dyn CaseWriter| replay::replay_failures(&report, writer);
        if !at_once {
            self.note(self.print(&report, out, &replay));
        }
        let written = self.write_files(&report, &replay, &|_, _, _| Vec::new());
        let code = match unread {
            true => ExitCode::InvalidInput,
            false => exit_code(&report),
        };
        Ok(ExitCode::strongest([code].into_iter().chain(written)))
    }
}

fn exit_code(report: &TriageReport) -> ExitCode {
    match report.exit_code {
        0 => ExitCode::Passed,
        1 => ExitCode::CodeFailure,
        3 => ExitCode::NeedsUserHelp,
        _ => ExitCode::InvalidInput,
    }
}

fn open(input: &Input) -> io::Result<Box<dyn BufRead>> {
    Ok(match input {
        Input::File(path) => Box::new(BufReader::new(open_to_read(path)?)),
        Input::Stdin => Box::new(BufReader::new(io::stdin())),
    })
}

fn write_lines(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
