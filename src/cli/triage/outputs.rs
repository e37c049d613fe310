//! Where the results of a triage go, and what may not be written over.

use super::super::invalid::chain;
use super::super::known::known_file;
use super::super::open_history::OpenHistory;
use super::super::overwrite::{Taken, refuse_kept};
use super::super::refusal::Refusal;
use super::super::report_files::{ReportFiles, UnusableReport};
use super::super::rules::project_file;
use super::super::settings::World;
use crate::cli::args::TriageArgs;
use crate::cli::args::triage::{Mode, TriageFormat};
use crate::report::{ReportFormat, is_own_account};
use jelly_base::text::Notation;
use jelly_triage::survey::{Input, ReportSource};
use std::io;
use std::path::Path;
/// The reports by name, none in the place of what the call reads or writes
/// otherwise.
pub(super) fn report_files(
    args: &TriageArgs,
    sources: &[ReportSource],
    history: Option<&OpenHistory>,
    world: &World,
) -> Result<ReportFiles, Refusal> {
    let (settings, known) = (project_file(&world.cwd), known_file(&args.known, world));
    let mut taken: Vec<Taken<'_>> = vec![("the list of known failures", &known)];
    taken.extend(
        settings
            .iter()
            .map(|path| ("the file of settings", path.as_path())),
    );
    for source in sources {
        if let Input::File(path) = &source.input {
            taken.push(("a report", path));
        }
    }
    let rules = args.own_rules.files.iter();
    taken.extend(rules.map(|path| ("a file of rules", path.as_path())));
    taken.extend(
        args.baseline
            .iter()
            .map(|path| ("the baseline", Path::new(path))),
    );
    taken.extend(history.and_then(|history| Some(("the history", history.file()?))));
    if let Some(output) = &args.output {
        refuse_kept(output, &taken, "a result of this format", own_output(args))?;
        taken.push(("the output", output));
    }
    ReportFiles::prepare(&args.named_reports.named, &taken, None).map_err(UnusableReport::refusal)
}

/// Whether a file is what `--output` wrote before. Lists that hold nothing but
/// names and commands have no sign of it: what a call does not read is written
/// over by them, as by a shell.
pub(super) fn own_output(args: &TriageArgs) -> impl Fn(&str) -> bool {
    let named =
        |name| move |text: &str| ReportFormat::named(name).is_some_and(|it| it.is_own(text));
    let is_list = args.emit.is_some() || args.mode != Mode::Rca;
    let format = args.format;
    move |text: &str| match format {
        _ if is_list => true,
        None | Some(TriageFormat::Human | TriageFormat::Table) => is_own_account(text),
        Some(TriageFormat::Json) => named("json")(text),
        Some(TriageFormat::Jsonl) => named("jsonl")(text),
        Some(TriageFormat::Md) => named("md")(text),
        Some(TriageFormat::Ctrf) => named("ctrf")(text),
        Some(TriageFormat::Junit) => named("junit")(text),
        Some(TriageFormat::Github) => true,
    }
}

/// What is written is written in; none for what a CI is to obey.
pub(super) fn notation(args: &TriageArgs) -> Option<Notation> {
    match args.format.filter(|_| args.emit.is_none()) {
        None | Some(TriageFormat::Human | TriageFormat::Md | TriageFormat::Table) => {
            Some(Notation::Plain)
        }
        Some(TriageFormat::Json | TriageFormat::Jsonl | TriageFormat::Ctrf) => Some(Notation::Json),
        Some(TriageFormat::Junit) => Some(Notation::Xml),
        Some(TriageFormat::Github) if args.mode == Mode::Rca => None,
        Some(TriageFormat::Github) => Some(Notation::Plain),
    }
}

pub(super) fn unwritable(args: &TriageArgs, error: &io::Error) -> Refusal {
    let text = said_unwritable(args, error);
    match error.kind() {
        io::ErrorKind::IsADirectory => Refusal::invalid(text),
        _ => Refusal::needs_help(text),
    }
}

pub(super) fn said_unwritable(args: &TriageArgs, error: &io::Error) -> String {
    let place = args.output.as_ref();
    let place = place.map_or_else(|| "to stdout".to_owned(), |path| path.display().to_string());
    format!("error: failed to write {place}: {}", chain(error))
}
