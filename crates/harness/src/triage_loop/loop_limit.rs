//! The budget that kept a failure from its next step, and the flag that
//! allows it.

use super::ask::Ask;
use super::budget_ledger::allowed;
use super::call_flags::CallFlag;
use super::seen::Policy;
use jelly_base::model::Track;
use jelly_base::text::{human_duration, plural};
use std::time::Duration;

/// What kept the loop from going on, as far as that is somebody's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopLimit {
    /// The budget of a track, and so much of it.
    Budget { track: Track, of: u32 },
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
        Some(match ask.track()? {
            Track::McpRepairs if means.no_repair => Self::NoRepair {
                of: means.mcp_repairs,
            },
            Track::Confirms if means.no_confirm => Self::NoConfirm { of: means.confirms },
            track => Self::Budget {
                track,
                of: allowed(&policy.budgets, track),
            },
        })
    }

    /// Why nothing more was tried, as a clause.
    #[must_use]
    pub fn reason(&self) -> String {
        match *self {
            Self::Budget { track, of } => {
                let TrackWords {
                    next, one, many, ..
                } = words(track);
                match of {
                    0 => format!("{next} would have been next, and the budget of {many} is 0"),
                    of => format!(
                        "the budget of {of} {} is used up, and {next} would have been next",
                        if of == 1 { one } else { many }
                    ),
                }
            }
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
    pub fn flag(&self) -> Option<CallFlag> {
        let more = |flag: &str, of: u32| CallFlag::with(flag, &of.saturating_add(1).to_string());
        match *self {
            Self::Budget { track, of } => Some(more(words(track).flag, of)),
            Self::NoRepair { of } => (of == 0).then(|| more("--mcp-repairs", of)),
            Self::NoConfirm { of } => (of == 0).then(|| more("--confirms", of)),
            Self::Iterations { of, .. } => Some(more("--max-iterations", of)),
            Self::Deadline(limit) => {
                let seconds = limit.as_secs().saturating_mul(2).max(2);
                let twice = match seconds % 60 {
                    0 => format!("{}m", seconds / 60),
                    _ => format!("{seconds}s"),
                };
                Some(CallFlag::with("--deadline", &twice))
            }
        }
    }

    /// The flag that forbids it.
    #[must_use]
    pub fn without(&self) -> Option<&'static str> {
        match self {
            Self::NoRepair { .. } => Some("--no-repair"),
            Self::NoConfirm { .. } => Some("--no-confirm"),
            _ => None,
        }
    }

    /// What allows it, as a clause.
    #[must_use]
    pub fn remedy(&self) -> String {
        let flag = self.flag().map(|flag| flag.words());
        match (self.without(), flag) {
            (Some(without), Some(flag)) => format!("leave `{without}` out, and give `{flag}`"),
            (Some(without), None) => format!("leave `{without}` out"),
            (None, Some(flag)) => format!("`{flag}` allows it"),
            (None, None) => String::new(),
        }
    }
}

/// How the budget of a track is spoken of.
pub(super) struct TrackWords {
    /// What spends it, as in "… would have been next".
    pub next: &'static str,
    flag: &'static str,
    one: &'static str,
    many: &'static str,
}

pub(super) fn words(track: Track) -> TrackWords {
    let (next, flag, one, many) = match track {
        Track::Retries => ("a retry", "--retries", "retry", "retries"),
        Track::Confirms => ("a second look", "--confirms", "second look", "second looks"),
        Track::McpRepairs => ("a repair", "--mcp-repairs", "repair", "repairs"),
        Track::TestFixes => (
            "the hook fix_tests",
            "--test-fixes",
            "run of fix_tests",
            "runs of fix_tests",
        ),
        Track::CodeRefines => (
            "the hook refine_code",
            "--code-refines",
            "run of refine_code",
            "runs of refine_code",
        ),
    };
    TrackWords {
        next,
        flag,
        one,
        many,
    }
}
