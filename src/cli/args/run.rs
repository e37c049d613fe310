//! What can be typed behind `jelly run`.

use super::history::HistoryArgs;
use super::rules::RuleFiles;
use super::shared::{Argv, Format, ReportsDir, parse_argv, parse_duration, parse_var};
use clap::Args;
use jelly_harness::triage_loop::CallFlags;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

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

#[derive(Debug, Clone, Default, Args)]
pub struct LadderArgs {
    /// Reads no structured output out of text: only a server's own counts
    #[arg(long)]
    pub no_adapt: bool,

    /// Keeps in this file how the output of each tool was read, and takes the output schemas that you set in it
    #[arg(long, value_name = "FILE")]
    pub schema_store: Option<PathBuf>,

    /// Results in a row that are mere text before that is taken for the schema of a tool that declares another [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub generic_threshold: Option<u32>,
}
