//! Reports that can't be relied on, for who is printed nothing of them.

use crate::cli::args::TriageArgs;
use crate::cli::args::triage::{Emit, Mode, TriageFormat};
use crate::cli::refusal::complain;
use jelly_base::model::{ExitCode, TriageReport};
use jelly_base::text::{first_names, one_line, plural, sanitize};

/// Tests that are named in a sentence.
const NAMES: usize = 10;

/// Tests that a script of rerun commands leaves out: who runs it and sees
/// nothing fail is not to take them for passed.
pub fn tell_unrerun(report: &TriageReport, args: &TriageArgs) {
    let names = &report.retry.without_command;
    if args.emit != Some(Emit::RetryCommands) || names.is_empty() {
        return;
    }
    let shown = names.iter().map(|name| one_line(name, 200));
    complain(&sanitize(&format!(
        "warning: no command reruns {}: {}",
        plural(names.len(), "test"),
        first_names(shown, names.len(), NAMES)
    )));
}

/// Why nothing is said, where the output has no place for it.
pub fn tell_refusals(report: &TriageReport, args: &TriageArgs) {
    let format = args.format.unwrap_or(TriageFormat::Human);
    let told = match format {
        TriageFormat::Human | TriageFormat::Json | TriageFormat::Md | TriageFormat::Github => {
            args.emit.is_none() && args.mode == Mode::Rca
        }
        TriageFormat::Jsonl | TriageFormat::Table | TriageFormat::Ctrf | TriageFormat::Junit => {
            false
        }
    };
    if told || report.exit_code != ExitCode::InvalidInput.code() {
        return;
    }
    let mut silent = true;
    for summary in &report.reports {
        if let Some(problem) = &summary.problem {
            let (path, problem) = (one_line(&summary.path, 300), one_line(problem, 300));
            complain(&format!("error: {path} can't be relied on: {problem}"));
            silent = false;
        }
    }
    if silent {
        complain(&format!("error: {}", report.health.summary));
    }
}
