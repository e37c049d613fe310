//! The settings: what drives how they are read, told and described.

use jelly_plan::SettingKey;
use jelly_plan::SettingKind::{self, Argv, Count, Flag, Path, Time, Word};

/// A flag that can be set in the project's file and in the environment too.
#[derive(Debug)]
pub struct Setting {
    /// Where it stands in the file, and what it must be.
    pub key: SettingKey,
    /// The flag, as clap knows it.
    pub arg: &'static str,
    /// The commands that have the flag; empty for all.
    pub commands: &'static [&'static str],
    pub env: &'static str,
    /// In words.
    pub default: &'static str,
}

impl Setting {
    /// As in `budgets.retries`.
    pub fn name(&self) -> String {
        match self.key.section {
            "" => self.key.key.to_owned(),
            section => format!("{section}.{}", self.key.key),
        }
    }

    /// As in `--max-iterations`.
    pub fn flag(&self) -> String {
        format!("--{}", self.arg.replace('_', "-"))
    }
}

const fn setting(
    (section, key): (&'static str, &'static str),
    kind: SettingKind,
    commands: &'static [&'static str],
    env: &'static str,
    default: &'static str,
) -> Setting {
    Setting {
        key: SettingKey { section, key, kind },
        arg: key,
        commands,
        env,
        default,
    }
}

/// The commands that look into a history.
const REMEMBER: &[&str] = &["run", "triage", "history", "explain"];

/// The commands that know where reports lie.
const REPORT: &[&str] = &[
    "run",
    "apply",
    "explain",
    "snapshot review",
    "snapshot accept",
    "snapshot reject",
];

/// All of them, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    setting(
        ("", "color"),
        Word(&["auto", "always", "never"]),
        &[""],
        "JELLY_COLOR",
        "auto",
    ),
    setting(
        ("", "history"),
        Path,
        REMEMBER,
        "JELLY_HISTORY",
        ".jelly/history.jsonl where the folder .jelly is",
    ),
    setting(
        ("", "jobs"),
        Count(1),
        &["run", "triage"],
        "JELLY_JOBS",
        "by the number of processors",
    ),
    setting(
        ("", "project_dir"),
        Path,
        &["run", "init"],
        "JELLY_PROJECT_DIR",
        "the plan's folder",
    ),
    setting(
        ("", "reports_dir"),
        Path,
        REPORT,
        "JELLY_REPORTS_DIR",
        "reports",
    ),
    setting(
        ("", "schema_store"),
        Path,
        &["run"],
        "JELLY_SCHEMA_STORE",
        "none",
    ),
    setting(
        ("", "generic_threshold"),
        Count(1),
        &["run"],
        "JELLY_GENERIC_THRESHOLD",
        "2",
    ),
    setting(
        ("budgets", "max_iterations"),
        Count(1),
        &["run"],
        "JELLY_MAX_ITERATIONS",
        "5",
    ),
    setting(
        ("budgets", "retries"),
        Count(0),
        &["run"],
        "JELLY_RETRIES",
        "2",
    ),
    setting(
        ("budgets", "confirms"),
        Count(0),
        &["run"],
        "JELLY_CONFIRMS",
        "1",
    ),
    setting(
        ("budgets", "mcp_repairs"),
        Count(0),
        &["run"],
        "JELLY_MCP_REPAIRS",
        "3",
    ),
    setting(
        ("budgets", "test_fixes"),
        Count(0),
        &["run"],
        "JELLY_TEST_FIXES",
        "2",
    ),
    setting(
        ("budgets", "code_refines"),
        Count(0),
        &["run"],
        "JELLY_CODE_REFINES",
        "2",
    ),
    setting(
        ("budgets", "deadline"),
        Time,
        &["run"],
        "JELLY_DEADLINE",
        "15m",
    ),
    setting(
        ("run", "format"),
        Word(&["human", "json"]),
        &["run"],
        "JELLY_FORMAT",
        "human",
    ),
    setting(
        ("run", "accept_repairs"),
        Flag,
        &["run"],
        "JELLY_ACCEPT_REPAIRS",
        "false",
    ),
    setting(("run", "strict"), Flag, &["run"], "JELLY_STRICT", "false"),
    setting(
        ("run", "trust_plan"),
        Flag,
        &["run"],
        "JELLY_TRUST_PLAN",
        "false",
    ),
    setting(
        ("run", "fail_fast"),
        Flag,
        &["run"],
        "JELLY_FAIL_FAST",
        "false",
    ),
    setting(
        ("run", "fix_tests"),
        Argv,
        &["run"],
        "JELLY_FIX_TESTS",
        "none",
    ),
    setting(
        ("run", "refine_code"),
        Argv,
        &["run"],
        "JELLY_REFINE_CODE",
        "none",
    ),
    setting(
        ("run", "hook_timeout"),
        Time,
        &["run"],
        "JELLY_HOOK_TIMEOUT",
        "10m",
    ),
    setting(
        ("run", "seed"),
        Count(0),
        &["run"],
        "JELLY_SEED",
        "another one each time",
    ),
    setting(
        ("run", "no_adapt"),
        Flag,
        &["run"],
        "JELLY_NO_ADAPT",
        "false",
    ),
    setting(
        ("run", "wire_check"),
        Flag,
        &["run"],
        "JELLY_WIRE_CHECK",
        "false",
    ),
    setting(("run", "record"), Flag, &["run"], "JELLY_RECORD", "false"),
    setting(("run", "quiet"), Flag, &["run"], "JELLY_QUIET", "false"),
    setting(
        ("triage", "format"),
        Word(&[
            "human", "json", "jsonl", "md", "table", "github", "ctrf", "junit",
        ]),
        &["triage"],
        "JELLY_TRIAGE_FORMAT",
        "human",
    ),
    setting(
        ("triage", "fail_on"),
        Word(&["any", "code", "new", "never"]),
        &["triage"],
        "JELLY_FAIL_ON",
        "any",
    ),
    setting(
        ("triage", "strict"),
        Flag,
        &["triage"],
        "JELLY_TRIAGE_STRICT",
        "false",
    ),
    setting(
        ("doctor", "format"),
        Word(&["human", "json", "md"]),
        &["doctor"],
        "JELLY_DOCTOR_FORMAT",
        "human",
    ),
    setting(
        ("doctor", "strict"),
        Flag,
        &["doctor"],
        "JELLY_DOCTOR_STRICT",
        "false",
    ),
    setting(
        ("doctor", "timeout"),
        Time,
        &["doctor"],
        "JELLY_DOCTOR_TIMEOUT",
        "30s",
    ),
    setting(
        ("doctor", "jobs"),
        Count(1),
        &["doctor"],
        "JELLY_DOCTOR_JOBS",
        "32",
    ),
];
