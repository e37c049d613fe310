//! Whether a failure is new, known, back, or comes and goes: a pure function
//! of what the test did before.

use jelly_base::model::{FailureStatus, Recurrence};

/// How a test ended in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    /// It failed as it does now.
    Same,
    /// It failed of something else.
    Other,
    /// It failed as it does now, and passed when it was run again.
    FlakySame,
    /// The same, but it failed of something else.
    FlakyOther,
}

impl End {
    /// As it does now, whatever came after in the same run.
    pub(super) fn is_same(self) -> bool {
        match self {
            Self::Same | Self::FlakySame => true,
            Self::Passed | Self::Other | Self::FlakyOther => false,
        }
    }
}

/// Runs of a test that its state depends on: what it did long ago does not
/// make it flaky for ever.
pub(super) const WINDOW: usize = 20;

/// Times that a test must have come back to be called flaky, this one
/// included: once may be a regression.
const RETURNS: usize = 2;

/// The state of a failure that ended as `now`, of a test that ended as
/// `before`, oldest first.
pub(super) fn recurrence(before: &[End], now: FailureStatus) -> Recurrence {
    let recent = &before[before.len().saturating_sub(WINDOW)..];
    let seen = before.iter().any(|end| end.is_same());
    match now {
        FailureStatus::Flaky => return Recurrence::Flaky,
        FailureStatus::Failure | FailureStatus::Error => {}
    }
    if !seen {
        return Recurrence::New;
    }
    if recent.contains(&End::FlakySame) || returns(recent) >= RETURNS {
        return Recurrence::Flaky;
    }
    let last_same = before.iter().rposition(|end| end.is_same());
    let passed_since = last_same.is_some_and(|last| before[last..].contains(&End::Passed));
    if passed_since {
        Recurrence::Regressed
    } else {
        Recurrence::Known
    }
}

/// How often the test failed right after it had failed and then passed, the
/// present failure included.
fn returns(before: &[End]) -> usize {
    let mut returns = 0;
    let mut failed = false;
    let mut passed_since = false;
    for end in before.iter().chain([&End::Same]) {
        match end {
            End::Passed => passed_since = failed,
            End::Same | End::Other | End::FlakySame | End::FlakyOther => {
                returns += usize::from(passed_since);
                failed = true;
                passed_since = false;
            }
        }
    }
    returns
}

#[cfg(test)]
mod tests {
    use super::{End, WINDOW, recurrence};
    use jelly_base::model::{FailureStatus, Recurrence};
    use proptest::prelude::*;

    fn ends(text: &str) -> Vec<End> {
        text.chars()
            .map(|c| match c {
                'p' => End::Passed,
                's' => End::Same,
                'o' => End::Other,
                'f' => End::FlakySame,
                _ => End::FlakyOther,
            })
            .collect()
    }

    #[test]
    fn the_state_follows_from_what_the_test_did_before() {
        for (before, expected) in [
            ("", Recurrence::New),
            ("ppp", Recurrence::New),
            ("oo", Recurrence::New),
            ("s", Recurrence::Known),
            ("pps", Recurrence::Known),
            ("so", Recurrence::Known),
            ("sp", Recurrence::Regressed),
            ("sppp", Recurrence::Regressed),
            ("spo", Recurrence::Regressed),
            ("spsp", Recurrence::Flaky),
            ("sps", Recurrence::Known),
            ("spspo", Recurrence::Flaky),
            ("f", Recurrence::Flaky),
            ("fp", Recurrence::Flaky),
            ("sg", Recurrence::Known),
        ] {
            assert_eq!(
                recurrence(&ends(before), FailureStatus::Failure),
                expected,
                "{before}"
            );
        }
    }

    #[test]
    fn what_passed_on_a_second_try_is_flaky_at_once() {
        assert_eq!(recurrence(&[], FailureStatus::Flaky), Recurrence::Flaky);
    }

    #[test]
    fn an_unsteady_youth_is_forgiven() {
        let before = format!("fspsp{}", "s".repeat(WINDOW));
        assert_eq!(
            recurrence(&ends(&before), FailureStatus::Failure),
            Recurrence::Known
        );
    }

    proptest! {
        #[test]
        fn only_what_was_never_seen_is_new(before in "[psofg]{0,40}") {
            let before = ends(&before);
            let state = recurrence(&before, FailureStatus::Error);
            prop_assert_eq!(state == Recurrence::New, !before.iter().any(|end| end.is_same()));
        }

        #[test]
        fn only_what_passed_in_between_has_regressed(before in "[so]{0,40}") {
            let state = recurrence(&ends(&before), FailureStatus::Failure);
            prop_assert!(matches!(state, Recurrence::New | Recurrence::Known));
        }
    }
}
