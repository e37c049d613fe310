//! What can be typed behind `jelly triage`.

use super::history::HistoryArgs;
use super::rules::RuleFiles;
use super::shared::NamedReports;
use clap::{Args, ValueEnum};
use jelly_triage::survey::FailOn;
use std::path::PathBuf;

/// What the inputs hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InputKind {
    /// Failures in files that end in .jsonl, else reports
    #[default]
    Auto,
    /// Test reports
    Report,
    /// One failure a line, as JSON
    Failures,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TriageFormat {
    /// Lines for people
    Human,
    /// All of it as one document
    Json,
    /// One failure a line
    Jsonl,
    /// Markdown, for a pull request or a job summary
    Md,
    /// A row for each failure
    Table,
    /// Annotations of GitHub Actions
    Github,
    /// Common Test Report Format, all cases included
    Ctrf,
    /// JUnit XML with the diagnoses as properties, all cases included
    Junit,
}

impl TriageFormat {
    /// The reports are read a second time for the cases that passed.
    pub fn has_all_cases(self) -> bool {
        match self {
            Self::Ctrf | Self::Junit => true,
            Self::Human | Self::Json | Self::Jsonl | Self::Md | Self::Table | Self::Github => false,
        }
    }
}

/// How much is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Causes, failures, what to do
    #[default]
    Rca,
    /// Id, title and message of each failure
    Failures,
    /// The paths of the reports
    Locate,
}

/// What is printed instead of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// Shell commands that run the retryable failures again, one a line
    RetryCommands,
    /// Their tests, one a line
    RetryList,
}

/// Which failures make the call fail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOnArg {
    /// All: exit 1 for the code under test, else 3
    #[default]
    Any,
    /// Those of the code under test: exit 1
    Code,
    /// Those that neither the baseline nor the history knows
    New,
    /// None
    Never,
}

impl From<FailOnArg> for FailOn {
    fn from(arg: FailOnArg) -> Self {
        match arg {
            FailOnArg::Any => Self::Any,
            FailOnArg::Code => Self::Code,
            FailOnArg::New => Self::New,
            FailOnArg::Never => Self::Never,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes, in order of precedence:
  70       a fault of jelly itself
  2        a report is missing, empty, truncated or none, or no test was executed
  1        at least one failure of the code under test
  3        failures, all of the tests or of what is around them
  0        no failure, or flaky ones only")]
pub struct TriageArgs {
    /// Reports: files, folders, globs, or - for stdin [default: what lies in the usual places]
    #[arg(value_name = "REPORT")]
    pub reports: Vec<String>,

    /// What the inputs hold
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub input: InputKind,

    /// How the result is printed [default: human; jsonl for failures as input]
    #[arg(long, short, value_enum)]
    pub format: Option<TriageFormat>,

    /// How much is printed
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,

    /// Prints what to run again instead of the report
    #[arg(long, value_enum, value_name = "WHAT")]
    pub emit: Option<Emit>,

    /// Earlier reports to compare with, oldest first: a file, folder or glob, or git:REVISION
    #[arg(long, value_name = "REPORT")]
    pub baseline: Vec<String>,

    #[command(flatten)]
    pub history: HistoryArgs,

    /// Which failures make the call fail
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub fail_on: FailOnArg,

    /// A flaky test counts as a failure
    #[arg(long)]
    pub strict: bool,

    /// Writes the result to a file instead of stdout, as a whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub named_reports: NamedReports,

    #[command(flatten)]
    pub own_rules: RuleFiles,

    /// Reports that are read at the same time [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

impl TriageArgs {
    /// What can't be meant together; nothing is printed in a way that nobody
    /// asked for.
    pub fn contradiction(&self) -> Option<String> {
        let mode = match self.mode {
            Mode::Rca => return None,
            Mode::Failures => "failures",
            Mode::Locate => "locate",
        };
        let format = match self.format? {
            TriageFormat::Human | TriageFormat::Json | TriageFormat::Jsonl => return None,
            TriageFormat::Md => "md",
            TriageFormat::Table => "table",
            TriageFormat::Github => "github",
            TriageFormat::Ctrf => "ctrf",
            TriageFormat::Junit => "junit",
        };
        Some(format!(
            "error: --mode {mode} can't be printed as {format}\n\
             help: it knows --format human, json and jsonl"
        ))
    }
}
