//! What can be typed. Nothing here is resolved yet; see `settings`.

use super::apply::ApplyArgs;
use super::config::ConfigArgs;
use super::doctor::DoctorArgs;
use super::explain::ExplainArgs;
use super::history::ListArgs;
use super::init::InitArgs;
use super::login::LoginArgs;
use super::past::HistoryArgs;
use super::rules::{RuleFiles, RulesArgs};
use super::schema::SchemaArgs;
use super::schema_store::LadderArgs;
use super::snapshot::SnapshotArgs;
use super::triage::TriageArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use jelly_harness::triage_loop::CallFlags;
use jelly_mock::MockArgs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tests MCP servers in CI and triages failures, and never blames code for a
/// broken environment.
#[derive(Debug, Parser)]
#[command(
    name = "jelly",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,

    /// The profile of jelly.yaml to use [env: JELLY_PROFILE] [default: ci where CI is set, else local]
    #[arg(long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Executes test plans in the triage loop
    Run(Box<RunArgs>),
    /// Validates plans; nothing is started
    Check(CheckArgs),
    /// Takes the repairs of an earlier run over into the plan's file
    Apply(ApplyArgs),
    /// Shows the settings, and where each value came from
    Config(ConfigArgs),
    /// Says what is wrong with each server of a client's configuration, and how to mend it
    Doctor(Box<DoctorArgs>),
    /// What a fingerprint stands for, and why two are or are not the same
    Explain(ExplainArgs),
    /// The tests and causes that give the most trouble
    History(ListArgs),
    /// Makes a plan from a live server's own tools and schemas
    Init(Box<InitArgs>),
    /// Says of the failures in test reports whom they concern, why, and what to run again
    Triage(Box<TriageArgs>),
    /// Lists, shows, tries and explains the rules of triage
    Rules(RulesArgs),
    /// Logs a person in to a server that wants tokens, for runs to use
    Login(LoginArgs),
    /// A scriptable MCP server over stdio that fails on demand
    Mock(Box<MockArgs>),
    /// Reviews what answers say where their snapshots say otherwise
    Snapshot(SnapshotArgs),
    /// Prints the JSON Schemas of plans and of every output
    Schema(SchemaArgs),
    /// Prints the completions for a shell
    Completions { shell: clap_complete::Shell },
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR says otherwise
    #[default]
    Auto,
    Always,
    Never,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines for people
    #[default]
    Human,
    /// What results.json holds
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes, in order of precedence:
  130/143  interrupted; the reports of what was done are written
  70       a fault of jelly itself
  2        invalid input or usage, an empty plan or selection included
  1        a failure of the code under test was confirmed
  3        needs help: a failure of plan or environment, the deadline
  4        green, but only by a change that was not accepted
  0        passed")]
pub struct RunArgs {
    /// Plans to run, each with its own budgets and report [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    #[command(flatten)]
    pub budgets: BudgetArgs,

    /// The project folder: `${workspace}`, and where repairs may create folders [default: the plan's]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    #[command(flatten)]
    pub reports: ReportsDir,

    /// How results are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Runs only these steps: an id, a server or a tag (also step:ID, server:NAME, tag:TAG)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Leaves these steps out: an id, a server or a tag
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub skip: Vec<String>,

    /// Sets a variable of the plan; the value may be JSON
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_var)]
    pub vars: Vec<(String, Value)>,

    /// Repairs nothing
    #[arg(long)]
    pub no_repair: bool,

    /// Writes the repairs of a run that they made green into the plan's file
    #[arg(long, conflicts_with = "no_repair")]
    pub write_repairs: bool,

    /// Takes a run that only a changed contract made green for passed (exit 0, not 4)
    #[arg(long)]
    pub accept_repairs: bool,

    /// Runs no mismatch a second time; it then stays ambiguous
    #[arg(long)]
    pub no_confirm: bool,

    /// Any repair or retry on the way to green is exit 4
    #[arg(long, conflicts_with = "accept_repairs")]
    pub strict: bool,

    /// The plan is right: a mismatch of a step that never passed may be refined
    #[arg(long)]
    pub trust_plan: bool,

    /// Stops sending steps after the first that does not pass
    #[arg(long)]
    pub fail_fast: bool,

    /// Command for a test-side failure, as one word or a JSON list of words; gets the triage on stdin
    #[arg(long, value_name = "ARGV", value_parser = parse_argv)]
    pub fix_tests: Option<Argv>,

    /// Command for a confirmed code-side failure, likewise
    #[arg(long, value_name = "ARGV", value_parser = parse_argv)]
    pub refine_code: Option<Argv>,

    /// Limit of one run of a hook
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    pub hook_timeout: Duration,

    #[command(flatten)]
    pub own_rules: RuleFiles,

    /// Seed of everything random, to repeat a run
    #[arg(long)]
    pub seed: Option<u64>,

    /// Plans at work, and servers starting, at the same time [default: twice the processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    #[command(flatten)]
    pub memory: HistoryArgs,

    #[command(flatten)]
    pub ladder: LadderArgs,

    /// Holds every message of every server against the specification; a breach fails the run
    #[arg(long)]
    pub wire_check: bool,

    /// Keeps every message in wire.jsonl
    #[arg(long)]
    pub record: bool,

    /// Prints the verdict and the help summary alone
    #[arg(long, short)]
    pub quiet: bool,

    /// What a command that is printed for another run repeats.
    #[arg(skip)]
    pub again: CallFlags,
}

/// Where reports go unless somebody says otherwise.
const REPORTS: &str = "reports";

/// Where a run leaves its reports, and where the last one is looked for.
#[derive(Debug, Args)]
pub struct ReportsDir {
    /// Where reports go, a folder a run
    #[arg(
        long,
        value_name = "DIR",
        default_value = REPORTS
    )]
    pub reports_dir: PathBuf,
}

impl ReportsDir {
    /// It, where a command has to name it.
    pub fn unusual(&self) -> Option<String> {
        let usual = self.reports_dir == Path::new(REPORTS);
        (!usual).then(|| self.reports_dir.display().to_string())
    }

    /// The report of the last run.
    pub fn latest(&self) -> PathBuf {
        self.reports_dir.join("latest")
    }
}

/// Budgets: a flag wins over the environment, and that over the plan.
#[derive(Debug, Args)]
#[command(next_help_heading = "Budgets (plan: budgets)")]
pub struct BudgetArgs {
    /// Passes of the loop, at least 1 [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,

    /// Reruns for failures that may pass by themselves [default: 2]
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,

    /// Reruns to confirm a mismatch, for each failure [default: 1]
    #[arg(long, value_name = "N")]
    pub confirms: Option<u32>,

    /// Repairs of the plan [default: 3]
    #[arg(long, value_name = "N")]
    pub mcp_repairs: Option<u32>,

    /// Runs of the fix_tests hook [default: 2]
    #[arg(long, value_name = "N")]
    pub test_fixes: Option<u32>,

    /// Runs of the refine_code hook [default: 2]
    #[arg(long, value_name = "N")]
    pub code_refines: Option<u32>,

    /// Limit of the whole run of a plan, hooks and waiting included [default: 15m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub deadline: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Plans to validate [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    /// How problems are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// A command as clap hands it on; a plain `Vec` would mean a repeated flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv(pub Vec<String>);

fn parse_argv(text: &str) -> Result<Argv, String> {
    let argv = if text.trim_start().starts_with('[') {
        serde_json::from_str::<Vec<String>>(text)
            .map_err(|error| format!("a list of words in JSON is wanted: {error}"))?
    } else {
        vec![text.to_owned()]
    };
    match argv.first() {
        Some(command) if !command.is_empty() => Ok(Argv(argv)),
        Some(_) | None => Err("the command is empty".to_owned()),
    }
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    match jelly_plan::parse_duration(text) {
        Some(Duration::ZERO) => Err("a time limit must be more than nothing".to_owned()),
        Some(time) => Ok(time),
        None => Err("write a time as in 30s, 500ms or 1m 30s".to_owned()),
    }
}

/// `NAME=VALUE`; a value that is JSON is taken as such, any other as text.
fn parse_var(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a variable is written NAME=VALUE")?;
    if !jelly_plan::is_name(name) {
        return Err(format!("`{name}` can't be a variable's name"));
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::{Argv, Cli, parse_argv, parse_duration, parse_var};
    use clap::CommandFactory;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_variable_keeps_its_type_where_it_has_one() {
        assert_eq!(parse_var("n=5"), Ok(("n".into(), json!(5))));
        assert_eq!(parse_var("s=a=b"), Ok(("s".into(), json!("a=b"))));
        assert_eq!(parse_var("z=007"), Ok(("z".into(), json!("007"))));
        assert!(parse_var("n").is_err());
        assert!(parse_var("a b=1").is_err());
    }

    #[test]
    fn a_hook_is_one_word_or_a_list_and_never_a_shell_line() {
        assert_eq!(
            parse_argv("./fix me.sh"),
            Ok(Argv(vec!["./fix me.sh".into()]))
        );
        assert_eq!(
            parse_argv(r#"["make", "fix"]"#),
            Ok(Argv(vec!["make".into(), "fix".into()]))
        );
        assert!(parse_argv("[]").is_err());
        assert!(parse_argv("[1]").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert!(parse_duration("90").is_err());
        let nothing = parse_duration("0s").unwrap_err();
        assert_eq!(nothing, "a time limit must be more than nothing");
    }
}
