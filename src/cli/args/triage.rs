//! What can be typed behind `jelly triage`.

use super::history::HistoryArgs;
use super::known::KnownFile;
use super::rules::RuleFiles;
use super::shared::{CiArgs, NamedReports};
use clap::{Args, ValueEnum};
use jelly_triage::survey::FailOn;
use std::path::PathBuf;

/// What the inputs hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InputKind {
    /// Failures if the file ends in .jsonl, otherwise reports
    #[default]
    Auto,
    /// Test reports
    Report,
    /// One failure per line, as JSON
    Failures,
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TriageFormat {
    /// Human-readable text
    Human,
    /// Everything, as one document
    Json,
    /// One failure per line
    Jsonl,
    /// Markdown for a pull request or a job summary
    Md,
    /// One row per failure
    Table,
    /// GitHub Actions annotations
    Github,
    /// Common Test Report Format, with all cases
    Ctrf,
    /// JUnit XML with diagnoses as properties, with all cases
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
    /// Causes, failures and what to do
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
    /// Shell commands that rerun the retryable failures, one per line
    RetryCommands,
    /// The tests that these commands rerun, one per line
    RetryList,
}

/// Which failures make the call fail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOnArg {
    /// All: exit 1 if the code under test failed, otherwise 3
    #[default]
    Any,
    /// Only failures of the code under test: exit 1
    Code,
    /// Only failures that are in neither the baseline nor the history
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
  70       internal error, or no resources to run
  2        a report is missing, empty, truncated or not a report, or no test was executed
  1        at least one failure of the code under test
  3        failures, all caused by the tests or their environment
  0        no failure, or only flaky tests")]
pub struct TriageArgs {
    /// Reports: files, folders, globs, or `-` for stdin [default: reports in the usual places]
    #[arg(value_name = "REPORT")]
    pub reports: Vec<String>,

    /// What the input files contain
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub input: InputKind,

    /// Output format [default: human; jsonl if the input is failures]
    #[arg(long, short, value_enum)]
    pub format: Option<TriageFormat>,

    /// How much to print
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,

    /// Print the tests to rerun instead of the report
    #[arg(long, value_enum, value_name = "WHAT")]
    pub emit: Option<Emit>,

    /// Earlier reports to compare with, oldest first: a file, folder or glob, or git:REVISION
    #[arg(long, value_name = "REPORT")]
    pub baseline: Vec<String>,

    #[command(flatten)]
    pub history: HistoryArgs,

    /// Which failures affect the exit code
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub fail_on: FailOnArg,

    /// Count flaky tests as failures
    #[arg(long)]
    pub strict: bool,

    /// Write the result to a file instead of stdout, atomically
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub named_reports: NamedReports,

    #[command(flatten)]
    pub ci: CiArgs,

    #[command(flatten)]
    pub own_rules: RuleFiles,

    #[command(flatten)]
    pub known: KnownFile,

    /// Number of reports read in parallel [default: the number of processors]
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
             help: it supports --format human, json and jsonl"
        ))
    }
}
