//! What the reader hands on.

use jelly_base::model::Failure;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseOutcome {
    Passed,
    /// At least one `<failure>`, and no `<error>`.
    Failed,
    Error,
    Skipped,
    /// It failed, and passed when it was run again.
    Flaky,
}

/// One test case of a report.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Counts the cases of this report, from 0, in their order.
    pub ordinal: u64,
    /// Names of the suites around it, outermost first, joined by ` > `.
    pub suite: &'a str,
    pub classname: &'a str,
    pub name: &'a str,
    pub file: Option<&'a str>,
    pub line: Option<u64>,
    /// Seconds.
    pub duration_s: Option<f64>,
    pub outcome: CaseOutcome,
    /// What went wrong, in the order of the report: empty exactly for cases
    /// that passed or were skipped. Of a flaky case, its earlier attempts.
    pub failures: &'a [Failure],
}

/// Takes what a report holds while it is read.
pub trait CaseSink {
    /// One case; also a suite that failed without one, and a set-up. Those
    /// with failures come in the order of their ordinals, and may come later
    /// than passing ones that follow them.
    fn case(&mut self, case: &Case<'_>);

    /// The case with this ordinal failed when it was handed over, and a later
    /// element of the report says that it passed when it was run again.
    fn turned_flaky(&mut self, ordinal: u64);
}
