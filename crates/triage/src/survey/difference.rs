//! How a value that came differs from the one that was wanted, as a sign of a fault.

use super::lacks::{Subject, SubjectKind};

/// How two values that were compared differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub told: String,
    /// Two values may differ so for two reasons: it tells only where three causes share it, or
    /// two of one suite.
    pub by_chance: bool,
    /// It is an amount, by which two functions of a suite may each be wrong.
    pub is_amount: bool,
}

impl Difference {
    /// One that hardly comes twice by chance.
    pub(super) fn rare(told: impl Into<String>) -> Self {
        Self {
            told: told.into(),
            by_chance: false,
            is_amount: false,
        }
    }

    /// One that may come twice by chance.
    pub(super) fn common(told: impl Into<String>) -> Self {
        Self {
            by_chance: true,
            ..Self::rare(told)
        }
    }

    /// The difference as a sign, wherever in the report it comes.
    pub(super) fn anywhere(self) -> Subject {
        let sign = Subject::new(SubjectKind::WrongValue, &self.told);
        match self.by_chance {
            true => sign.by_chance(),
            false => sign,
        }
    }

    /// The difference as a sign for tests of this suite alone.
    pub(super) fn within(self, suite: &str) -> Subject {
        let sign = Subject::new(SubjectKind::Tested, &self.told).within(suite);
        match self.by_chance {
            true => sign.by_chance(),
            false => sign,
        }
    }
}
