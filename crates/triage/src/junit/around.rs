//! What is known of the surroundings of tests: the groups around them, and suites whose
//! tests were never started.

/// Suites that are remembered until the end.
pub(super) const SUITES: usize = 1000;

const UNTESTED: &str = "its tests were left untested, and the report does not say why: a hook \
                        failed before them, or the run was stopped";
const NOT_STARTED: &str = "none of its tests was started, and the report does not say why: its \
                           SetUpTestSuite failed";

/// What the attributes of a case say of a test that was never started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unstarted {
    /// behave calls what is skipped on purpose `skipped`.
    untested: bool,
    /// It began when clocks do,
    at_epoch: bool,
    /// and took no time, as GoogleTest before 1.14 writes it. Later ones write
    /// `0.`, and have a suite skip itself in its set-up, too.
    took_nothing: bool,
}

impl Unstarted {
    pub(super) fn note_status(&mut self, status: &str) {
        self.untested |= status.eq_ignore_ascii_case("untested");
    }

    /// In the zone of the machine.
    pub(super) fn note_begin(&mut self, timestamp: &str) {
        let days = ["1970-01-01T", "1969-12-31T"];
        self.at_epoch = days.iter().any(|day| timestamp.starts_with(day));
    }

    pub(super) fn note_time(&mut self, time: &str) {
        self.took_nothing = time == "0";
    }

    pub(super) fn said(self) -> Option<&'static str> {
        if self.untested {
            return Some(UNTESTED);
        }
        (self.at_epoch && self.took_nothing).then_some(NOT_STARTED)
    }
}

/// A suite whose tests were never started.
#[derive(Debug)]
pub(super) struct UnstartedSuite {
    pub(super) path: String,
    pub(super) said: &'static str,
    /// Nothing failed before it, for which the run could have ended.
    pub(super) is_first: bool,
}

/// The suites of a report whose tests were never started.
#[derive(Debug, Default)]
pub(super) struct UnstartedSuites {
    pub(super) suites: Vec<UnstartedSuite>,
    /// Behind so many of them, tests were started: the run had not ended.
    pub(super) passed_by: usize,
    /// A case without any name failed, as GoogleTest writes a set-up of all tests.
    pub(super) is_set_up_shown: bool,
}
