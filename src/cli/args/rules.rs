//! What can be typed behind `jelly rules`, and the flag that names files of
//! rules everywhere.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use jelly_base::model::Phase;
use jelly_triage::engine::Field;
use std::path::PathBuf;

/// The rules of the user's own.
#[derive(Debug, Clone, Default, Args)]
pub struct RuleFiles {
    /// File with your own rules, in addition to those of jelly.yaml; can be repeated
    #[arg(long = "rules", value_name = "FILE", global = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  2  invalid input: a rule file that cannot be used, or an unknown ID
  1  `test`: an example or look-alike fails
  0  otherwise")]
pub struct RulesArgs {
    #[command(subcommand)]
    pub command: RulesCommand,

    #[command(flatten)]
    pub own: RuleFiles,
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the rules in the order of evaluation
    List {
        /// Only the rules of this domain, such as `browser`
        #[arg(long, value_name = "DOMAIN")]
        domain: Option<String>,

        /// Output format; `md` is a page that includes the tables of root causes and of Provar
        #[arg(long, short, value_enum, default_value_t)]
        format: ListFormat,
    },
    /// Show a rule: patterns, conditions, advice, examples
    Show {
        /// ID of the rule, as printed by `jelly rules list` and in diagnoses
        id: String,

        /// Output format
        #[arg(long, short, value_enum, default_value_t)]
        format: ShowFormat,
    },
    /// Test the examples and look-alikes of rules
    Test {
        /// Rule files to test [default: the built-in rules and those of jelly.yaml and --rules]
        #[arg(value_name = "FILE")]
        tried: Vec<PathBuf>,
    },
    /// Explain which rules match a text, which one decides, and why
    Explain(RulesExplainArgs),
}

/// How a list of rules is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    #[default]
    Table,
    Json,
    Md,
}

/// How one thing is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    #[default]
    Human,
    Json,
}

#[derive(Debug, Args)]
pub struct RulesExplainArgs {
    /// The text of a failure, or `-` to read it from stdin
    pub text: String,

    /// What the text is [default: report, or answer for a live failure]
    #[arg(long, value_enum)]
    pub field: Option<FieldArg>,

    /// Phase in which it occurred; makes it a live failure
    #[arg(long, value_parser = phase_parser(), conflicts_with = "report")]
    pub phase: Option<Phase>,

    /// As seen by a client of an MCP server
    #[arg(long, conflicts_with = "report")]
    pub live: bool,

    /// As found in a test report
    #[arg(long)]
    pub report: bool,

    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    pub format: ShowFormat,
}

/// The fields that patterns apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FieldArg {
    /// The operating system's error when the command could not be started
    Spawn,
    /// What the server wrote to stderr
    Stderr,
    /// What the server wrote to stdout that is not a message
    Stdout,
    /// The text of a tool or of an error
    Answer,
    /// What the client reports
    Message,
    /// The message of a failure in a test report
    Report,
    /// The class of an exception in a test report, alone
    Class,
    /// The name of a case in a test report
    Title,
    /// What a test printed
    Log,
}

impl From<FieldArg> for Field {
    fn from(arg: FieldArg) -> Self {
        match arg {
            FieldArg::Spawn => Self::Spawn,
            FieldArg::Stderr => Self::Stderr,
            FieldArg::Stdout => Self::Stdout,
            FieldArg::Answer => Self::Answer,
            FieldArg::Message => Self::Message,
            FieldArg::Report => Self::Report,
            FieldArg::Class => Self::Class,
            FieldArg::Title => Self::Title,
            FieldArg::Log => Self::Log,
        }
    }
}

/// The phases of a live failure.
const PHASES: [(&str, Phase); 7] = [
    ("config", Phase::Config),
    ("spawn", Phase::Spawn),
    ("handshake", Phase::Handshake),
    ("list", Phase::List),
    ("call", Phase::Call),
    ("assert", Phase::Assert),
    ("teardown", Phase::Teardown),
];

fn phase_parser() -> impl TypedValueParser<Value = Phase> {
    let names = PossibleValuesParser::new(PHASES.map(|(name, _)| name));
    names.try_map(|typed| {
        let phase = PHASES.iter().find(|(name, _)| *name == typed);
        phase.map(|(_, phase)| *phase).ok_or("no phase")
    })
}
