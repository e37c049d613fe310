//! Why a run is not what was asked for, where no failure of a server or a step
//! says it.

use super::{ErrorCategory, json_word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wrong with a run as a whole. Its word is the root cause of the
/// diagnosis in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunCause {
    /// The plan can't be run as it is written.
    InvalidPlan,
    /// A signal ended it.
    Interrupted,
    /// The deadline ended it.
    Deadline,
    /// Each step is left out by its `if`, or was not selected.
    NothingRan,
    /// Steps did not run to their end, and no failure says why.
    NotRunToEnd,
    /// What failed in an earlier attempt of a shard did not run in the last one.
    NotRunAgain,
    /// Less of what the servers list was exercised than was asked for.
    CoverageTooLow,
    /// An entry of the list of known failures should be taken out.
    StaleKnownFailure,
    /// The hook `refine_code` changed what the plan expects.
    HookChangedPlan,
    /// The hook `fix_tests` left less to test.
    HookWeakenedPlan,
    /// A report could not be written.
    ReportUnwritable,
    /// The repairs that made it green could not be written into the plan.
    RepairsNotWritten,
    /// It is green by a repair or a hook, which was not accepted.
    RepairNotAccepted,
    /// It is green, but not at once, which was not accepted.
    RetryNotAccepted,
    /// It is green but for known failures, which were not accepted.
    KnownNotAccepted,
}

impl RunCause {
    /// The snake_case word of a diagnosis.
    #[must_use]
    pub fn root_cause(self) -> String {
        json_word(&self)
    }

    /// Its category and whether the same run may pass unchanged; none where
    /// nothing is known of why.
    #[must_use]
    pub fn category(self) -> Option<(ErrorCategory, bool)> {
        match self {
            Self::Interrupted => Some((ErrorCategory::Other, true)),
            Self::Deadline => Some((ErrorCategory::Timeout, false)),
            Self::ReportUnwritable | Self::RepairsNotWritten => {
                Some((ErrorCategory::Infrastructure, false))
            }
            Self::NothingRan
            | Self::NotRunAgain
            | Self::CoverageTooLow
            | Self::StaleKnownFailure
            | Self::HookChangedPlan
            | Self::HookWeakenedPlan
            | Self::RepairNotAccepted
            | Self::RetryNotAccepted
            | Self::KnownNotAccepted => Some((ErrorCategory::Other, false)),
            Self::InvalidPlan | Self::NotRunToEnd => None,
        }
    }

    /// Whether what is said of it tells one from another in the same plan.
    #[must_use]
    pub fn is_told_apart_by_its_words(self) -> bool {
        match self {
            Self::InvalidPlan
            | Self::CoverageTooLow
            | Self::StaleKnownFailure
            | Self::NotRunAgain => true,
            Self::Interrupted
            | Self::Deadline
            | Self::NothingRan
            | Self::NotRunToEnd
            | Self::HookChangedPlan
            | Self::HookWeakenedPlan
            | Self::ReportUnwritable
            | Self::RepairsNotWritten
            | Self::RepairNotAccepted
            | Self::RetryNotAccepted
            | Self::KnownNotAccepted => false,
        }
    }
}
