//! What can be typed behind `jelly run`.
//!
//! A new flag is a field here, with its places in `result_settings` and in
//! [`RUN_FLAGS`], which the compiler and a test ask for; a row of
//! `layers/table.rs` where it is a setting too; and the code that heeds it.

use super::coverage::CoverageArgs;
use super::history::HistoryArgs;
use super::known::KnownFile;
use super::rules::RuleFiles;
use super::shard::ShardArgs;
use super::shared::{
    Argv, CiArgs, NamedReports, ReportsDir, parse_argv, parse_duration, parse_var,
};
use crate::report::{AGENT_BYTES, MIN_AGENT_BYTES};
use clap::{Args, ValueEnum};
use jelly_harness::triage_loop::{CallFlags, ResultSettings};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Exit codes, in order of precedence:
  130/143  interrupted; the reports of what was done are written
  70       internal error, or no resources to run
  2        invalid input or usage, including an empty plan or selection
  1        a failure of the code under test was confirmed
  3        needs help: the plan or the environment failed, or the deadline passed
  4        passed, but only through a change that was not accepted
  0        passed")]
pub struct RunArgs {
    /// Plans to run, each with its own budgets and report; a folder selects every plan below it; `-` reads a plan from stdin [default: plans/*.{yaml,yml,json}]
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,

    #[command(flatten)]
    pub budgets: BudgetArgs,

    /// Project folder: `${workspace}`, and the only place where repairs create folders [default: the plan's folder]
    #[arg(long, value_name = "DIR")]
    pub project_dir: Option<PathBuf>,

    #[command(flatten)]
    pub reports: ReportsDir,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: RunFormat,

    #[command(flatten)]
    pub named_reports: NamedReports,

    #[command(flatten)]
    pub ci: CiArgs,

    /// Maximum length of the output of `--format agent`
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value_t = AGENT_BYTES)]
    pub max_bytes: usize,

    /// Run only these steps: an id, a server or a tag (also step:ID, server:NAME, tag:TAG)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Skip these steps: an id, a server or a tag
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub skip: Vec<String>,

    /// List the steps that would run, and run nothing
    #[arg(long)]
    pub list: bool,

    /// Rerun when a plan, a file it reads, or a server's code changes
    #[arg(long, conflicts_with_all = ["list", "shard"])]
    pub watch: bool,

    /// Set a variable of the plan; the value may be JSON
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_var)]
    pub vars: Vec<(String, Value)>,

    /// Disable repairs
    #[arg(long)]
    pub no_repair: bool,

    /// Write repairs into the plan file if they made the run green
    #[arg(long, conflicts_with = "no_repair")]
    pub write_repairs: bool,

    /// Exit with 0, not 4, if only a changed contract made the run green
    #[arg(long)]
    pub accept_repairs: bool,

    /// Do not rerun to confirm a mismatch; mismatches stay ambiguous
    #[arg(long)]
    pub no_confirm: bool,

    /// Exit with 4 if any repair or retry was needed
    #[arg(long, conflicts_with = "accept_repairs")]
    pub strict: bool,

    /// Allow `refine_code` for a mismatch of a step that never passed
    #[arg(long)]
    pub trust_plan: bool,

    /// Stop after the first step that does not pass
    #[arg(long)]
    pub fail_fast: bool,

    /// Skip steps whose `requires` is not met, for example in pull requests from forks
    #[arg(long)]
    pub skip_missing: bool,

    /// Hook for test-side failures: a command, or a JSON array of arguments; receives the triage on stdin
    #[arg(long, value_name = "ARGV", value_parser = parse_argv)]
    pub fix_tests: Option<Argv>,

    /// Hook for confirmed code-side failures, in the same form
    #[arg(long, value_name = "ARGV", value_parser = parse_argv)]
    pub refine_code: Option<Argv>,

    /// Timeout for a hook
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    pub hook_timeout: Duration,

    /// Reject hooks of plans and settings
    #[arg(long)]
    pub no_hooks: bool,

    #[command(flatten)]
    pub own_rules: RuleFiles,

    /// Random seed, to reproduce a run
    #[arg(long)]
    pub seed: Option<u64>,

    /// Number of plans run, and servers started, in parallel [default: twice the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    #[command(flatten)]
    pub history: HistoryArgs,

    #[command(flatten)]
    pub ladder: LadderArgs,

    #[command(flatten)]
    pub shard: ShardArgs,

    #[command(flatten)]
    pub known: KnownFile,

    /// Check every message of every server against the specification; violations fail the run
    #[arg(long)]
    pub wire_check: bool,

    /// Fail if a server's lists no longer match the lock in a way that may break clients
    #[arg(long)]
    pub locked: bool,

    /// Lock file written by `jelly tools lock`
    #[arg(long, value_name = "FILE", requires = "locked", default_value = super::tools::LOCK)]
    pub lock: PathBuf,

    #[command(flatten)]
    pub coverage: CoverageArgs,

    /// Record every message in wire.jsonl
    #[arg(long)]
    pub record: bool,

    /// Print only the verdict and the help summary
    #[arg(long, short)]
    pub quiet: bool,

    /// Log server starts, requests and responses to stderr as they happen
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Report progress on stderr as JSON Lines, for `jelly serve`
    #[arg(long, hide = true)]
    pub announce: bool,

    /// What a command that is printed for another run repeats.
    #[arg(skip)]
    pub again: CallFlags,
}

impl RunArgs {
    /// Of all that was typed or set, what changes how answers come about or how
    /// they are judged. A new flag has to be given its place here.
    pub fn result_settings(&self) -> ResultSettings {
        let Self {
            ladder:
                LadderArgs {
                    no_adapt,
                    // What it sets was read when the plan was begun.
                    schema_store: _,
                    // When a store takes over what it saw, for later runs.
                    generic_threshold: _,
                },
            wire_check,
            // It judges lists, and no answer of a step.
            locked: _,
            lock: _,
            // It counts, and judges no answer.
            coverage: _,
            // Read when the call began.
            own_rules: _,
            // A plan knows itself by its content, its variables by their
            // values, and its steps by how far those before them got.
            plans: _,
            vars: _,
            only: _,
            skip: _,
            fail_fast: _,
            // Which plans are run.
            shard: _,
            skip_missing: _,
            list: _,
            // `${workspace}`, wherever it is.
            project_dir: _,
            // What is tried, and what a result means; not what is answered.
            budgets: _,
            no_repair: _,
            write_repairs: _,
            accept_repairs: _,
            known: _,
            no_confirm: _,
            strict: _,
            trust_plan: _,
            fix_tests: _,
            refine_code: _,
            hook_timeout: _,
            no_hooks: _,
            seed: _,
            jobs: _,
            // What is written and shown.
            reports: _,
            named_reports: _,
            ci: _,
            format: _,
            max_bytes: _,
            history: _,
            record: _,
            quiet: _,
            verbose: _,
            watch: _,
            announce: _,
            again: _,
        } = self;
        ResultSettings {
            adapt: !no_adapt,
            wire_check: *wire_check,
            ..ResultSettings::default()
        }
    }
}

/// How the results of a run are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// Human-readable text
    #[default]
    Human,
    /// The contents of results.json
    Json,
    /// One line for programs: similar failures grouped, at most --max-bytes
    Agent,
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if bytes >= MIN_AGENT_BYTES => Ok(bytes),
        Ok(_) => Err(format!("must be at least {MIN_AGENT_BYTES}")),
        Err(_) => Err("must be a number of bytes".to_owned()),
    }
}

/// What becomes of a flag of `jelly run` in a command that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagRepeat {
    /// Without it, another thing would be run, or elsewhere, or with other means.
    Kept,
    /// Kept only where all that this call selected is run again.
    OfTheWhole,
    /// Kept but of a shard, whose result lies there until it is merged.
    NotOfShards,
    /// It says how this run was to be shown, which part of it a runner took, or what
    /// it was to write besides its own reports.
    Dropped,
}

/// Every argument of `jelly run`: its id, its flag, its fate.
pub const RUN_FLAGS: &[(&str, &str, FlagRepeat)] = &[
    ("project_dir", "--project-dir", FlagRepeat::Kept),
    ("reports_dir", "--reports-dir", FlagRepeat::NotOfShards),
    ("vars", "--var", FlagRepeat::Kept),
    ("profile", "--profile", FlagRepeat::Kept),
    ("history", "--history", FlagRepeat::Kept),
    ("no_history", "--no-history", FlagRepeat::Kept),
    ("files", "--rules", FlagRepeat::Kept),
    ("no_adapt", "--no-adapt", FlagRepeat::Kept),
    ("schema_store", "--schema-store", FlagRepeat::Kept),
    ("generic_threshold", "--generic-threshold", FlagRepeat::Kept),
    ("wire_check", "--wire-check", FlagRepeat::Kept),
    ("locked", "--locked", FlagRepeat::Kept),
    ("lock", "--lock", FlagRepeat::Kept),
    ("no_repair", "--no-repair", FlagRepeat::Kept),
    ("accept_repairs", "--accept-repairs", FlagRepeat::Kept),
    ("known", "--known", FlagRepeat::Kept),
    ("strict", "--strict", FlagRepeat::Kept),
    ("fix_tests", "--fix-tests", FlagRepeat::Kept),
    ("refine_code", "--refine-code", FlagRepeat::Kept),
    ("hook_timeout", "--hook-timeout", FlagRepeat::Kept),
    ("no_hooks", "--no-hooks", FlagRepeat::Kept),
    ("announce", "--announce", FlagRepeat::Dropped),
    ("plans", "", FlagRepeat::Dropped),
    ("max_iterations", "--max-iterations", FlagRepeat::Kept),
    ("retries", "--retries", FlagRepeat::Kept),
    ("confirms", "--confirms", FlagRepeat::Kept),
    ("mcp_repairs", "--mcp-repairs", FlagRepeat::Kept),
    ("test_fixes", "--test-fixes", FlagRepeat::Kept),
    ("code_refines", "--code-refines", FlagRepeat::Kept),
    ("deadline", "--deadline", FlagRepeat::Kept),
    ("no_confirm", "--no-confirm", FlagRepeat::Kept),
    ("trust_plan", "--trust-plan", FlagRepeat::Kept),
    ("write_repairs", "--write-repairs", FlagRepeat::Dropped),
    ("only", "--only", FlagRepeat::Kept),
    ("skip", "--skip", FlagRepeat::Kept),
    ("fail_fast", "--fail-fast", FlagRepeat::Kept),
    ("coverage", "--coverage", FlagRepeat::OfTheWhole),
    ("min_coverage", "--min-coverage", FlagRepeat::OfTheWhole),
    ("shard", "--shard", FlagRepeat::Dropped),
    ("shard_times", "--shard-times", FlagRepeat::Dropped),
    ("run_key", "--run-key", FlagRepeat::Dropped),
    ("run_attempt", "--run-attempt", FlagRepeat::Dropped),
    ("skip_missing", "--skip-missing", FlagRepeat::Kept),
    ("list", "--list", FlagRepeat::Dropped),
    ("watch", "--watch", FlagRepeat::Dropped),
    ("seed", "--seed", FlagRepeat::Kept),
    ("jobs", "--jobs", FlagRepeat::Kept),
    ("record", "--record", FlagRepeat::Kept),
    ("report", "--report", FlagRepeat::Dropped),
    ("ci", "--ci", FlagRepeat::Dropped),
    ("format", "--format", FlagRepeat::Dropped),
    ("max_bytes", "--max-bytes", FlagRepeat::Dropped),
    ("quiet", "--quiet", FlagRepeat::Dropped),
    ("verbose", "--verbose", FlagRepeat::Dropped),
    ("color", "--color", FlagRepeat::Dropped),
];

/// Budgets: a flag wins over the environment, and that over the plan.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Budgets (plan: budgets)")]
pub struct BudgetArgs {
    /// Maximum number of iterations, at least 1 [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,

    /// Reruns of failures that may pass unchanged [default: 2]
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,

    /// Reruns to confirm a mismatch, per failure [default: 1]
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

    /// Time limit for the whole run of a plan, including hooks and waiting [default: 15m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub deadline: Option<Duration>,
}

#[derive(Debug, Clone, Default, Args)]
pub struct LadderArgs {
    /// Do not derive structured output from text; use only the server's structuredContent
    #[arg(long)]
    pub no_adapt: bool,

    /// Record in this file how each tool's output was interpreted, and use the output schemas it defines
    #[arg(long, value_name = "FILE")]
    pub schema_store: Option<PathBuf>,

    /// Consecutive plain-text results before text replaces a tool's declared schema [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub generic_threshold: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::RUN_FLAGS;
    use crate::cli::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_argument_of_a_run_is_kept_or_dropped() {
        let mut cli = Cli::command();
        cli.build();
        let run = cli.find_subcommand("run").unwrap();
        let ids = run.get_arguments().map(|arg| arg.get_id().as_str());
        let mut ids: Vec<&str> = ids.filter(|id| !["help", "version"].contains(id)).collect();
        let mut known: Vec<&str> = RUN_FLAGS.iter().map(|(id, _, _)| *id).collect();
        ids.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, ids);
        for (id, flag, _) in RUN_FLAGS.iter().filter(|(_, flag, _)| !flag.is_empty()) {
            let arg = run.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            let long = arg.get_long().unwrap();
            assert_eq!(format!("--{long}"), *flag);
        }
    }
}
