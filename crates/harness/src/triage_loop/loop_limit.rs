//! The budget that kept a failure from its next step, and the flag that
//! allows it.

use super::ask::Ask;
use super::seen::Policy;
use jelly_base::model::Track;
use jelly_base::text::{human_duration, plural};
use std::time::Duration;

/// What kept the loop from going on, as far as that is somebody's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopLimit {
    /// The budget of a track, and so much of it.
    Budget {
        track: Track,
        of: u32,
        next: &'static str,
    },
    /// `--no-repair`; with it, a budget that allows none either.
    NoRepair { of: u32 },
    /// `--no-confirm`, likewise.
    NoConfirm { of: u32 },
    /// The budget of iterations.
    Iterations { of: u32, next: &'static str },
    /// The time of the run.
    Deadline(Duration),
}

impl LoopLimit {
    /// What `ask` would need; nothing where nothing is asked for.
    pub(super) fn reached_by(ask: Ask, policy: &Policy) -> Option<Self> {
        let means = policy.means;
        let budgets = policy.budgets;
        let next = act(ask);
        let budget = |track, of| Some(Self::Budget { track, of, next });
        match ask {
            Ask::Repair | Ask::Quarantine if means.no_repair => Some(Self::NoRepair {
                of: means.mcp_repairs,
            }),
            Ask::Repair | Ask::Quarantine => budget(Track::McpRepairs, budgets.mcp_repairs),
            Ask::Retry => budget(Track::Retries, budgets.retries),
            Ask::Confirm if means.no_confirm => Some(Self::NoConfirm { of: means.confirms }),
            Ask::Confirm => budget(Track::Confirms, budgets.confirms),
            Ask::FixTests => budget(Track::TestFixes, budgets.test_fixes),
            Ask::RefineCode => budget(Track::CodeRefines, budgets.code_refines),
            Ask::Nothing => None,
        }
    }

    /// Why nothing more was tried, as a clause.
    #[must_use]
    pub fn reason(&self) -> String {
        match *self {
            Self::Budget { track, of: 0, next } => {
                format!(
                    "{next} would have been next, and the budget of {} is 0",
                    many(track)
                )
            }
            Self::Budget { track, of, next } => format!(
                "the budget of {} is used up, and {next} would have been next",
                counted(of, track)
            ),
            Self::NoRepair { .. } => {
                "a repair would have been next, and `--no-repair` forbids it".to_owned()
            }
            Self::NoConfirm { .. } => {
                "a second look would have been next, and `--no-confirm` forbids it".to_owned()
            }
            Self::Iterations { of, next } => format!(
                "the budget of {} is used up; {next} would have been next",
                plural(of, "iteration")
            ),
            Self::Deadline(limit) => {
                format!("the deadline of {} was reached", human_duration(limit))
            }
        }
    }

    /// The flag that allows it; none where one has to be left out.
    #[must_use]
    pub fn flag(&self) -> Option<String> {
        match *self {
            Self::Budget { track, of, .. } => {
                Some(format!("{} {}", flag(track), of.saturating_add(1)))
            }
            Self::NoRepair { of } => (of == 0).then(|| format!("{} 1", flag(Track::McpRepairs))),
            Self::NoConfirm { of } => (of == 0).then(|| format!("{} 1", flag(Track::Confirms))),
            Self::Iterations { of, .. } => {
                Some(format!("--max-iterations {}", of.saturating_add(1)))
            }
            Self::Deadline(limit) => {
                let seconds = limit.as_secs().saturating_mul(2).max(2);
                Some(if seconds % 60 == 0 {
                    format!("--deadline {}m", seconds / 60)
                } else {
                    format!("--deadline {seconds}s")
                })
            }
        }
    }

    /// The flag that forbids it.
    #[must_use]
    pub fn without(&self) -> Option<&'static str> {
        match self {
            Self::NoRepair { .. } => Some("--no-repair"),
            Self::NoConfirm { .. } => Some("--no-confirm"),
            Self::Budget { .. } | Self::Iterations { .. } | Self::Deadline(_) => None,
        }
    }

    /// What allows it, as a clause.
    #[must_use]
    pub fn remedy(&self) -> String {
        match (self.without(), self.flag()) {
            (Some(without), Some(flag)) => format!("leave `{without}` out, and give `{flag}`"),
            (Some(without), None) => format!("leave `{without}` out"),
            (None, Some(flag)) => format!("`{flag}` allows it"),
            (None, None) => String::new(),
        }
    }
}

/// What an ask leads to, as in "… would have been next".
pub(super) fn act(ask: Ask) -> &'static str {
    match ask {
        Ask::Repair | Ask::Quarantine => "a repair",
        Ask::Retry => "a retry",
        Ask::Confirm => "a second look",
        Ask::FixTests => "the hook fix_tests",
        Ask::RefineCode => "the hook refine_code",
        Ask::Nothing => "nothing",
    }
}

fn flag(track: Track) -> &'static str {
    match track {
        Track::Retries => "--retries",
        Track::Confirms => "--confirms",
        Track::McpRepairs => "--mcp-repairs",
        Track::TestFixes => "--test-fixes",
        Track::CodeRefines => "--code-refines",
    }
}

fn counted(of: u32, track: Track) -> String {
    match (of, track) {
        (1, Track::Retries) => "1 retry".to_owned(),
        (1, Track::Confirms) => "1 second look".to_owned(),
        (1, Track::McpRepairs) => "1 repair".to_owned(),
        (1, Track::TestFixes) => "1 run of fix_tests".to_owned(),
        (1, Track::CodeRefines) => "1 run of refine_code".to_owned(),
        (of, track) => format!("{of} {}", many(track)),
    }
}

fn many(track: Track) -> &'static str {
    match track {
        Track::Retries => "retries",
        Track::Confirms => "second looks",
        Track::McpRepairs => "repairs",
        Track::TestFixes => "runs of fix_tests",
        Track::CodeRefines => "runs of refine_code",
    }
}
