//! What is known of the elements that are still open.

use super::around::Unstarted;
use super::attributes::{Tag, each};
use super::case::CaseOutcome;
use super::counts::Claims;
use super::elements::Wrong;
use super::kept::Kept;
use super::limits::ReaderLimits;
use jelly_base::model::{ElementCounts, Failure};

/// A suite, or the root around the suites.
#[derive(Debug, Default)]
pub(super) struct OpenSuite {
    /// Counts the suite elements of the report, from 1.
    pub(super) number: u64,
    /// Length of the path of suites before this one's name joined it.
    pub(super) path_before: usize,
    /// One of jelly's own in the report of another.
    pub(super) is_own: bool,
    /// No root around suites.
    pub(super) is_suite: bool,
    /// What went wrong in it is said by the cases or suites inside it.
    pub(super) only_inside: bool,
    pub(super) file: Option<String>,
    pub(super) claims: Claims,
    /// What the suites inside it claim.
    pub(super) inner_claims: Claims,
    /// How much went wrong in the suites inside it by their own account.
    pub(super) inner_wrong: i64,
    /// Counts of the report when this suite began.
    pub(super) before: ElementCounts,
    /// Elements of something that went wrong, when this suite began.
    pub(super) wrong_before: u64,
    /// Claims that nothing shows, when this suite began.
    pub(super) unshown_before: usize,
    /// The suite right before what comes next in it: the hash of its name, and
    /// whether something failed in it.
    pub(super) last_inside: Option<(u64, bool)>,
    /// Suites that failed without a case, when this suite began.
    pub(super) suite_errors_before: u64,
    /// What is to be said where tests of it were never started.
    pub(super) unstarted: Option<&'static str>,
    pub(super) out: Option<Box<Kept>>,
    pub(super) err: Option<Box<Kept>>,
}

/// A case; its buffers are used again for the next one.
#[derive(Debug, Default)]
pub(super) struct OpenCase {
    pub(super) ordinal: u64,
    /// The case stands for a suite that failed without one.
    pub(super) of_suite: bool,
    pub(super) classname: String,
    pub(super) name: String,
    /// Empty if it isn't said.
    pub(super) file: String,
    pub(super) line: Option<u64>,
    pub(super) duration_s: Option<f64>,
    pub(super) timestamp: u64,
    pub(super) failed: bool,
    pub(super) error: bool,
    /// It has `<skipped>`.
    pub(super) skipped: bool,
    /// Its attributes say that it did not run.
    pub(super) not_run: bool,
    /// Its `status` is `notrun`.
    pub(super) status_notrun: bool,
    /// It stands for what surrounds tests, and is counted as an element all the same.
    pub(super) outside: bool,
    /// Why its attributes say that it was never started, though it was to be.
    pub(super) unstarted: Unstarted,
    pub(super) flaky: bool,
    pub(super) rerun: bool,
    /// What an attribute says of how it ended, in other formats.
    pub(super) told: Option<CaseOutcome>,
    /// What an attribute says of why it did not end.
    pub(super) cut_off: Option<&'static str>,
    /// What its `status` says of how it failed.
    pub(super) status_failed: Option<&'static str>,
    /// It prepares tests or cleans up, and counts only if it fails.
    pub(super) configuration: bool,
    /// One of the cases that it sums up failed.
    pub(super) inner_failed: bool,
    pub(super) failures: Vec<Failure>,
    /// Failures beyond those that are kept.
    pub(super) more_failures: u64,
    pub(super) out: Kept,
    pub(super) err: Kept,
    /// Of a report of jelly's own.
    pub(super) properties: Vec<(String, String)>,
}

impl OpenCase {
    pub(super) fn restart(&mut self, limits: &ReaderLimits) {
        self.of_suite = false;
        self.classname.clear();
        self.name.clear();
        self.file.clear();
        self.line = None;
        self.duration_s = None;
        self.timestamp = 0;
        self.failed = false;
        self.error = false;
        self.skipped = false;
        self.not_run = false;
        self.status_notrun = false;
        self.outside = false;
        self.unstarted = Unstarted::default();
        self.flaky = false;
        self.rerun = false;
        self.told = None;
        self.cut_off = None;
        self.status_failed = None;
        self.configuration = false;
        self.inner_failed = false;
        self.failures.clear();
        self.more_failures = 0;
        self.out.restart(limits.output);
        self.err.restart(limits.output);
        self.properties.clear();
    }

    /// What its attributes told counts for more than its elements.
    pub(super) fn settle(&mut self) {
        // Then its own failure only repeats theirs.
        if self.inner_failed {
            self.told = Some(CaseOutcome::Passed);
        }
        if let Some(told) = self.told {
            self.failed = told == CaseOutcome::Failed;
            self.error = told == CaseOutcome::Error;
            self.not_run = told == CaseOutcome::Skipped;
            if !self.failed && !self.error {
                self.failures.clear();
            }
        }
        self.say_cut_off();
        self.say_status();
        self.of_suite |= self.configuration;
    }

    /// What its `status` alone calls failed did not pass.
    fn say_status(&mut self) {
        let is_told = self.told.is_some() || self.failed || self.error || self.flaky;
        let is_off = self.skipped || self.not_run || self.rerun;
        let Some(said) = self.status_failed.filter(|_| !is_told && !is_off) else {
            return;
        };
        self.failed = true;
        self.failures.push(Failure {
            element: Some("failure".to_owned()),
            message: Some(said.to_owned()),
            ..Failure::default()
        });
    }

    /// What did not end did not pass, and no element of it says why.
    fn say_cut_off(&mut self) {
        let Some(said) = self.cut_off.filter(|_| self.failures.is_empty()) else {
            return;
        };
        if self.told.is_none() && !self.error && !self.skipped {
            self.failed = true;
        }
        if self.failed || self.error {
            self.failures.push(Failure {
                element: Some(if self.error { "error" } else { "failure" }.to_owned()),
                message: Some(said.to_owned()),
                ..Failure::default()
            });
        }
    }

    /// What Node's tests are still to do may fail, and the run is green.
    pub(super) fn note_todo(&mut self, tag: &Tag<'_>) {
        each(tag, |name, value| {
            if name == "type" && value == "todo" {
                self.told = Some(CaseOutcome::Skipped);
            }
        });
    }

    /// Notes the element of something that went wrong.
    pub(super) fn mark(&mut self, wrong: Wrong) {
        match wrong {
            Wrong::Failure => self.failed = true,
            Wrong::Error => self.error = true,
            Wrong::FlakyFailure | Wrong::FlakyError => self.flaky = true,
            Wrong::RerunFailure | Wrong::RerunError => self.rerun = true,
        }
    }
}

/// A failure of the innermost open case.
#[derive(Debug)]
pub(super) struct OpenWrong {
    pub(super) wrong: Wrong,
    pub(super) message: Option<String>,
    pub(super) type_: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    /// The message, where it is an element.
    pub(super) said: Kept,
    pub(super) text: Kept,
    pub(super) out: Kept,
    pub(super) err: Kept,
}
