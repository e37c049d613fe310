//! `jelly triage`: test reports → an account → an exit code.

mod args;
mod lines;
mod target;

use super::args::ColorChoice;
use super::find::{find, find_usual};
use super::run::complain;
use super::settings::World;
use crate::model::{
    ExitCode, FailureStatus, Failures, ReportSummary, TriageReport, TriagedFailure,
};
use crate::report::triage as show;
use crate::survey::{self, Input, Part, Source, Terms, Tools};
use crate::text::one_line;
use crate::text::redact::{Redactor, looks_secret};
use crate::triage::Engine;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::num::NonZero;
use std::thread::available_parallelism;

pub use args::TriageArgs;
use args::{Emit, InputKind, TriageFormat};
use lines::Told;
use target::Target;

/// Shorter values are words like `true` more often than secrets.
const MIN_SECRET: usize = 8;

/// Triages the reports.
pub fn triage(args: &TriageArgs, color: ColorChoice, world: &World) -> ExitCode {
    let redactor = secrets(world);
    let sources = match sources(args) {
        Ok(sources) => sources,
        Err(problem) => {
            complain(&problem);
            return ExitCode::InvalidInput;
        }
    };
    let mut target = match Target::open(args.output.as_deref()) {
        Ok(target) => target,
        Err(error) => return unwritable(args, &error),
    };
    let call = Call {
        args,
        color,
        world,
        engine: Engine::builtin(),
        redactor: &redactor,
    };
    let result = if call.is_of_failures(&sources) {
        call.failures(&sources, &mut target)
    } else {
        call.reports(&sources, &mut target)
    };
    match result.and_then(|code| target.finish().map(|()| code)) {
        Ok(code) => code,
        // Whoever reads no further has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::InvalidInput,
        Err(error) => unwritable(args, &error),
    }
}

fn unwritable(args: &TriageArgs, error: &io::Error) -> ExitCode {
    let place = args
        .output
        .as_ref()
        .map_or_else(|| "stdout".to_owned(), |path| path.display().to_string());
    complain(&format!("error: failed to write {place}: {error}"));
    ExitCode::InvalidInput
}

/// The reports that are meant; a sentence where there are none.
fn sources(args: &TriageArgs) -> Result<Vec<Source>, String> {
    if !args.reports.is_empty() {
        return find(&args.reports).map_err(|error| format!("error: failed to {error}"));
    }
    let sources = find_usual();
    if sources.is_empty() {
        return Err(
            "error: no report was given, and none lies in the usual places (TEST-*.xml, \
             junit.xml, target/surefire-reports, build/test-results)\n\
             help: name the reports, as in `jelly triage reports/`; `jelly triage --help` tells \
             more"
                .to_owned(),
        );
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

/// Secrets of the environment: the tests' environment is often jelly's own.
fn secrets(world: &World) -> Redactor {
    Redactor::new(
        world
            .env
            .iter()
            .filter(|(name, value)| looks_secret(name) && value.len() >= MIN_SECRET),
    )
}

struct Call<'c> {
    args: &'c TriageArgs,
    color: ColorChoice,
    world: &'c World,
    engine: &'c Engine,
    redactor: &'c Redactor,
}

impl Call<'_> {
    fn is_of_failures(&self, sources: &[Source]) -> bool {
        match self.args.input {
            InputKind::Failures => true,
            InputKind::Report => false,
            InputKind::Auto => {
                let lines = |source: &Source| {
                    source.name.ends_with(".jsonl") || source.name.ends_with(".ndjson")
                };
                !sources.is_empty() && sources.iter().all(lines)
            }
        }
    }

    fn reports(&self, sources: &[Source], out: &mut dyn Write) -> io::Result<ExitCode> {
        let jobs = self.args.jobs.map_or_else(
            || available_parallelism().map_or(1, NonZero::get),
            usize::from,
        );
        let tools = Tools {
            engine: self.engine,
            redactor: self.redactor,
            jobs,
        };
        let parts = survey::read_all(sources, tools);
        self.tell(parts, out)
    }

    fn tell(&self, parts: Vec<Part>, out: &mut dyn Write) -> io::Result<ExitCode> {
        let terms = Terms {
            fail_on: self.args.fail_on.into(),
            strict: self.args.strict,
        };
        let report = survey::account(parts, terms);
        self.print(&report, out)?;
        Ok(match report.exit_code {
            0 => ExitCode::Passed,
            1 => ExitCode::CodeFailure,
            3 => ExitCode::NeedsUserHelp,
            _ => ExitCode::InvalidInput,
        })
    }

    fn print(&self, report: &TriageReport, out: &mut dyn Write) -> io::Result<()> {
        match self.args.emit {
            Some(Emit::RetryCommands) => return lines_of(&report.retry.commands, out),
            Some(Emit::RetryList) => return lines_of(&report.retry.tests, out),
            None => {}
        }
        match self.args.format.unwrap_or(TriageFormat::Human) {
            TriageFormat::Human => {
                let to_terminal = self.args.output.is_none() && self.world.stdout_is_terminal;
                let options = show::HumanOptions {
                    color: self.args.output.is_none() && self.world.color(self.color, to_terminal),
                    width: self.world.width().filter(|_| to_terminal),
                };
                out.write_all(show::human(report, options).as_bytes())
            }
            TriageFormat::Json => show::json(report, out),
            TriageFormat::Jsonl => show::json_lines(report, out),
        }
    }

    /// Failures as input. With `jsonl`, and by default, each is answered as
    /// soon as it is read; any other format is of all of them together.
    fn failures(&self, sources: &[Source], out: &mut dyn Write) -> io::Result<ExitCode> {
        let at_once = self.args.emit.is_none()
            && matches!(self.args.format, None | Some(TriageFormat::Jsonl));
        let mut parts = Vec::new();
        let mut bad = 0_u64;
        for source in sources {
            let mut part = Part {
                summary: ReportSummary {
                    path: source.name.clone(),
                    dialect: "failures".to_owned(),
                    ..ReportSummary::default()
                },
                failures: Failures::default(),
            };
            let mut tell = |told| match told {
                Told::Problem(problem) => {
                    bad += 1;
                    complain(&format!("error: {problem}"));
                    Ok(())
                }
                Told::Diagnosis {
                    id,
                    failure,
                    diagnosis,
                } => {
                    if at_once {
                        lines::answer(&id, &diagnosis, out)?;
                    }
                    part.summary.tests += 1;
                    part.summary.failed += 1;
                    let name = failure.name.clone().or_else(|| failure.step.clone());
                    let name = name.unwrap_or_else(|| match &id {
                        serde_json::Value::String(id) => id.clone(),
                        other => other.to_string(),
                    });
                    part.failures.push(TriagedFailure {
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
                    });
                    Ok(())
                }
            };
            let read = open(&source.input).and_then(|input| {
                lines::diagnose(&source.name, input, self.engine, self.redactor, &mut tell)
            });
            match read {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
                Err(error) => {
                    bad += 1;
                    complain(&format!("error: failed to read {}: {error}", source.name));
                }
            }
            parts.push(part);
        }
        if at_once {
            let mut nothing = io::sink();
            let quiet = Call { ..*self };
            let code = quiet.tell_code(parts, &mut nothing)?;
            return Ok(if bad > 0 {
                ExitCode::InvalidInput
            } else {
                code
            });
        }
        let code = self.tell(parts, out)?;
        Ok(if bad > 0 {
            ExitCode::InvalidInput
        } else {
            code
        })
    }

    /// The exit code alone.
    fn tell_code(&self, parts: Vec<Part>, _out: &mut dyn Write) -> io::Result<ExitCode> {
        let terms = Terms {
            fail_on: self.args.fail_on.into(),
            strict: self.args.strict,
        };
        Ok(code_of(&survey::account(parts, terms)))
    }
}

fn code_of(report: &TriageReport) -> ExitCode {
    match report.exit_code {
        0 => ExitCode::Passed,
        1 => ExitCode::CodeFailure,
        3 => ExitCode::NeedsUserHelp,
        _ => ExitCode::InvalidInput,
    }
}

fn open(input: &Input) -> io::Result<Box<dyn BufRead>> {
    Ok(match input {
        Input::File(path) => Box::new(BufReader::new(File::open(path)?)),
        Input::Stdin => Box::new(BufReader::new(io::stdin())),
    })
}

fn lines_of(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
