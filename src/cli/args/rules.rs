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
    /// A file with rules of your own, besides those of jelly.yaml; can be given several times
    #[arg(long = "rules", value_name = "FILE", global = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  2  invalid input: a file of rules that can't be used, an id that no rule has
  1  `test`: an example or a look-alike does not hold
  0  otherwise")]
pub struct RulesArgs {
    #[command(subcommand)]
    pub command: RulesCommand,

    #[command(flatten)]
    pub own: RuleFiles,
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Lists the rules in the order in which they are asked
    List {
        /// Only those of a domain, as in `browser`
        #[arg(long, value_name = "DOMAIN")]
        domain: Option<String>,

        /// How the list is printed; `md` is a page with the tables of root causes and of Provar
        #[arg(long, short, value_enum, default_value_t)]
        format: ListFormat,
    },
    /// Shows all of a rule: patterns, conditions, advice, examples
    Show {
        /// As `jelly rules list` and every diagnosis name it
        id: String,

        /// How it is printed
        #[arg(long, short, value_enum, default_value_t)]
        format: ShowFormat,
    },
    /// Tries the examples and look-alikes of rules
    Test {
        /// Files of rules to try [default: the built-in rules and those of jelly.yaml and --rules]
        #[arg(value_name = "FILE")]
        tried: Vec<PathBuf>,
    },
    /// Says which rules match a text, which of them decides, and why
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

    /// When it was seen; makes it a live failure
    #[arg(long, value_parser = phase_parser(), conflicts_with = "report")]
    pub phase: Option<Phase>,

    /// As a client of an MCP server saw it
    #[arg(long, conflicts_with = "report")]
    pub live: bool,

    /// As a test report tells it
    #[arg(long)]
    pub report: bool,

    /// How it is printed
    #[arg(long, short, value_enum, default_value_t)]
    pub format: ShowFormat,
}

/// The fields that patterns apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FieldArg {
    /// What the operating system said when it refused to start the command
    Spawn,
    /// What the server wrote to stderr
    Stderr,
    /// What came on stdout and was no message
    Stdout,
    /// The text of a tool or of an error
    Answer,
    /// What a client says of the failure
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
