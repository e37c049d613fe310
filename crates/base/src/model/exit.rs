//! Exit codes and verdicts: one documented type, computed in one place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The exit codes of jelly. The numbers are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// 0: passed.
    Passed,
    /// 1: a code-side failure was confirmed.
    CodeFailure,
    /// 2: invalid input or usage, an empty plan or selection included.
    InvalidInput,
    /// 3: needs user help.
    NeedsUserHelp,
    /// 4: green, but by a change that was not allowed.
    UnacceptedChange,
    /// 70: a fault of jelly itself.
    Internal,
    /// 130 or 143: stopped by a signal, with the reports written.
    Interrupted(Signal),
}

/// The signals that end a run in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    Int,
    Term,
}

/// What signals have asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// The first of them, which decides the exit code.
    pub signal: Signal,
    /// A second one came: nothing is waited for but the reports.
    pub insists: bool,
}

impl ExitCode {
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::CodeFailure => 1,
            Self::InvalidInput => 2,
            Self::NeedsUserHelp => 3,
            Self::UnacceptedChange => 4,
            Self::Internal => 70,
            Self::Interrupted(Signal::Int) => 130,
            Self::Interrupted(Signal::Term) => 143,
        }
    }

    /// Of several plans' exit codes, the one that speaks for the call.
    #[must_use]
    pub fn strongest(codes: impl IntoIterator<Item = Self>) -> Self {
        codes
            .into_iter()
            .min_by_key(|code| code.precedence())
            .unwrap_or(Self::Passed)
    }

    /// The code of this number, where it is one of ours.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        let all = [
            Self::Passed,
            Self::CodeFailure,
            Self::InvalidInput,
            Self::NeedsUserHelp,
            Self::UnacceptedChange,
            Self::Internal,
            Self::Interrupted(Signal::Int),
            Self::Interrupted(Signal::Term),
        ];
        all.into_iter().find(|code| code.code() == number)
    }

    fn precedence(self) -> u8 {
        match self {
            Self::Interrupted(Signal::Int) => 0,
            Self::Interrupted(Signal::Term) => 1,
            Self::Internal => 2,
            Self::InvalidInput => 3,
            Self::CodeFailure => 4,
            Self::NeedsUserHelp => 5,
            Self::UnacceptedChange => 6,
            Self::Passed => 7,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

/// How a run of one plan ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Passed,
    PassedAfterRetry,
    PassedAfterRepair,
    /// Nothing stands but what a list of known failures names.
    PassedWithKnown,
    /// A shard that was assigned no plan.
    NothingAssigned,
    /// All that was selected lacks what it `requires`, and `--skip-missing`
    /// allows for that.
    Skipped,
    CodeFailure,
    #[default]
    NeedsUserHelp,
    InvalidInput,
    Interrupted,
}

impl Verdict {
    #[must_use]
    pub fn is_green(self) -> bool {
        match self {
            Self::Passed
            | Self::PassedAfterRetry
            | Self::PassedAfterRepair
            | Self::PassedWithKnown
            | Self::NothingAssigned
            | Self::Skipped => true,
            Self::CodeFailure | Self::NeedsUserHelp | Self::InvalidInput | Self::Interrupted => {
                false
            }
        }
    }

    /// Of several plans' verdicts, the one that speaks for the call, in the
    /// order of the exit codes; of no plan, that there was none.
    #[must_use]
    pub fn of_call(plans: impl IntoIterator<Item = Self>) -> Self {
        let strongest = plans.into_iter().max_by_key(|verdict| verdict.weight());
        strongest.unwrap_or(Self::NothingAssigned)
    }

    fn weight(self) -> u8 {
        match self {
            Self::NothingAssigned => 0,
            Self::Skipped => 1,
            Self::Passed => 2,
            Self::PassedAfterRetry => 3,
            Self::PassedAfterRepair => 4,
            Self::PassedWithKnown => 5,
            Self::NeedsUserHelp => 6,
            Self::CodeFailure => 7,
            Self::InvalidInput => 8,
            Self::Interrupted => 9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExitCode, Signal};

    #[test]
    fn interruption_outranks_everything_and_passing_nothing() {
        let all = [
            ExitCode::Passed,
            ExitCode::UnacceptedChange,
            ExitCode::NeedsUserHelp,
            ExitCode::CodeFailure,
            ExitCode::InvalidInput,
            ExitCode::Internal,
            ExitCode::Interrupted(Signal::Term),
        ];
        for upto in 1..=all.len() {
            assert_eq!(
                ExitCode::strongest(all[..upto].iter().copied()),
                all[upto - 1]
            );
        }
    }
}
