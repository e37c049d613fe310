//! The settings: what drives how they are read, told and described.

use crate::report::REPORT_NAMES;
use jelly_plan::SettingKey;
use jelly_plan::SettingKind::{self, Argv, Count, Flag, Path, PathsByWord, Time, Word};

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
    /// A change of it in the midst of a run could be seen in what is tested, or
    /// in what comes out of it. The other settings of a run are settled when it
    /// begins.
    pub watched: bool,
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

/// A section of the file, with the commands that have its flags.
type Section = (&'static str, &'static [&'static str]);

const BUDGETS: Section = ("budgets", &["run"]);
const RUN: Section = ("run", &["run"]);
const TRIAGE: Section = ("triage", &["triage"]);
const DOCTOR: Section = ("doctor", &["doctor"]);
/// The commands that look into a history.
const REMEMBER: Section = (
    "",
    &[
        "run",
        "triage",
        "history",
        "history flaky",
        "history new",
        "history cause",
        "history slow",
        "history page",
        "history export",
        "history migrate",
        "history push",
        "history prune",
        "explain",
        "known add",
    ],
);
/// The commands that know where reports lie.
const REPORT: Section = (
    "",
    &[
        "run",
        "apply",
        "explain",
        "known add",
        "merge",
        #[cfg(feature = "serve")]
        "serve",
        "snapshot review",
        "snapshot accept",
        "snapshot reject",
    ],
);

/// A setting that is watched.
const fn setting(
    (section, commands): Section,
    key: &'static str,
    kind: SettingKind,
    env: &'static str,
    default: &'static str,
) -> Setting {
    Setting {
        key: SettingKey { section, key, kind },
        arg: key,
        commands,
        env,
        default,
        watched: true,
    }
}

/// One of which it does not matter whether it is changed in the midst of a run.
const fn settled(
    section: Section,
    key: &'static str,
    kind: SettingKind,
    env: &'static str,
    default: &'static str,
) -> Setting {
    Setting {
        watched: false,
        ..setting(section, key, kind, env, default)
    }
}

/// All of them, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    settled(
        ("", &[""]),
        "color",
        Word(&["auto", "always", "never"]),
        "JELLY_COLOR",
        "auto",
    ),
    settled(
        ("", &["run", "triage", "merge"]),
        "ci",
        Word(&[
            "auto",
            "none",
            "github",
            "azure",
            "teamcity",
            "buildkite",
            "gitlab",
        ]),
        "JELLY_CI",
        "auto",
    ),
    settled(
        REMEMBER,
        "history",
        Path,
        "JELLY_HISTORY",
        ".jelly/history.jsonl if the folder .jelly exists",
    ),
    settled(
        ("", &["run", "triage"]),
        "jobs",
        Count(1),
        "JELLY_JOBS",
        "by the number of processors",
    ),
    setting(
        (
            "",
            &[
                "run",
                "init",
                "check",
                "list",
                "call",
                "fuzz",
                "tools lock",
                "tools diff",
                "tools lint",
            ],
        ),
        "project_dir",
        Path,
        "JELLY_PROJECT_DIR",
        "the plan's folder",
    ),
    settled(REPORT, "reports_dir", Path, "JELLY_REPORTS_DIR", "reports"),
    setting(
        ("", &["run"]),
        "schema_store",
        Path,
        "JELLY_SCHEMA_STORE",
        "none",
    ),
    settled(
        ("", &["run"]),
        "generic_threshold",
        Count(1),
        "JELLY_GENERIC_THRESHOLD",
        "2",
    ),
    settled(
        BUDGETS,
        "max_iterations",
        Count(1),
        "JELLY_MAX_ITERATIONS",
        "5",
    ),
    settled(BUDGETS, "retries", Count(0), "JELLY_RETRIES", "2"),
    settled(BUDGETS, "confirms", Count(0), "JELLY_CONFIRMS", "1"),
    settled(BUDGETS, "mcp_repairs", Count(0), "JELLY_MCP_REPAIRS", "3"),
    settled(BUDGETS, "test_fixes", Count(0), "JELLY_TEST_FIXES", "2"),
    settled(BUDGETS, "code_refines", Count(0), "JELLY_CODE_REFINES", "2"),
    settled(BUDGETS, "deadline", Time, "JELLY_DEADLINE", "15m"),
    settled(
        RUN,
        "format",
        Word(&["human", "json", "agent"]),
        "JELLY_FORMAT",
        "human",
    ),
    setting(RUN, "accept_repairs", Flag, "JELLY_ACCEPT_REPAIRS", "false"),
    setting(RUN, "strict", Flag, "JELLY_STRICT", "false"),
    setting(RUN, "trust_plan", Flag, "JELLY_TRUST_PLAN", "false"),
    setting(RUN, "fail_fast", Flag, "JELLY_FAIL_FAST", "false"),
    setting(RUN, "skip_missing", Flag, "JELLY_SKIP_MISSING", "false"),
    settled(RUN, "fix_tests", Argv, "JELLY_FIX_TESTS", "none"),
    settled(RUN, "refine_code", Argv, "JELLY_REFINE_CODE", "none"),
    settled(RUN, "hook_timeout", Time, "JELLY_HOOK_TIMEOUT", "10m"),
    settled(
        RUN,
        "seed",
        Count(0),
        "JELLY_SEED",
        "a different one each time",
    ),
    setting(RUN, "no_adapt", Flag, "JELLY_NO_ADAPT", "false"),
    setting(RUN, "wire_check", Flag, "JELLY_WIRE_CHECK", "false"),
    settled(RUN, "record", Flag, "JELLY_RECORD", "false"),
    settled(RUN, "quiet", Flag, "JELLY_QUIET", "false"),
    settled(
        ("run", &["run", "merge"]),
        "report",
        PathsByWord(&REPORT_NAMES),
        "JELLY_REPORT",
        "none",
    ),
    settled(
        TRIAGE,
        "format",
        Word(&[
            "human", "json", "jsonl", "md", "table", "github", "ctrf", "junit",
        ]),
        "JELLY_TRIAGE_FORMAT",
        "human",
    ),
    settled(
        TRIAGE,
        "fail_on",
        Word(&["any", "code", "new", "never"]),
        "JELLY_FAIL_ON",
        "any",
    ),
    settled(TRIAGE, "strict", Flag, "JELLY_TRIAGE_STRICT", "false"),
    settled(
        TRIAGE,
        "report",
        PathsByWord(&REPORT_NAMES),
        "JELLY_TRIAGE_REPORT",
        "none",
    ),
    settled(
        DOCTOR,
        "format",
        Word(&["human", "json", "md"]),
        "JELLY_DOCTOR_FORMAT",
        "human",
    ),
    settled(DOCTOR, "strict", Flag, "JELLY_DOCTOR_STRICT", "false"),
    settled(DOCTOR, "timeout", Time, "JELLY_DOCTOR_TIMEOUT", "60s"),
    settled(DOCTOR, "jobs", Count(1), "JELLY_DOCTOR_JOBS", "32"),
];
