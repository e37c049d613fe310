//! A case as the formats show it that hold all of a report's cases.

use jelly_base::model::{FailureStatus, FailureView, ReportSummary, TriageReport};
use std::io;

/// Name of the case that stands for a report which can't be relied on.
pub(super) const UNRELIABLE: &str = "(the report itself)";

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownOutcome {
    Passed,
    Failed,
    Error,
    Skipped,
    Flaky,
}

/// One case of a report, with what triage says of it.
#[derive(Debug, Clone)]
pub struct ShownCase<'a> {
    /// Suites joined by ` > `.
    pub suite: &'a str,
    pub classname: &'a str,
    pub name: &'a str,
    pub file: Option<&'a str>,
    pub line: Option<u64>,
    /// Seconds.
    pub duration_s: Option<f64>,
    pub outcome: ShownOutcome,
    /// The diagnosed failures, one a cause.
    pub failures: Vec<FailureView<'a>>,
    /// What the report says at length, where it is at hand.
    pub text: Option<&'a str>,
    pub type_: Option<&'a str>,
    /// What the case, or its suite, wrote on stdout; of failing ones only.
    pub system_out: Option<&'a str>,
    /// The same of stderr.
    pub system_err: Option<&'a str>,
}

impl<'a> ShownCase<'a> {
    /// A failure of which no more is known than what triage kept.
    #[must_use]
    pub fn of(failure: FailureView<'a>) -> Self {
        Self {
            suite: failure.suite,
            classname: failure.classname,
            name: failure.name,
            file: failure.file,
            line: failure.line,
            duration_s: None,
            outcome: match failure.status {
                FailureStatus::Failure => ShownOutcome::Failed,
                FailureStatus::Error => ShownOutcome::Error,
                FailureStatus::Flaky => ShownOutcome::Flaky,
            },
            failures: vec![failure],
            text: None,
            type_: None,
            system_out: None,
            system_err: None,
        }
    }
}

/// Why a report says nothing that can be relied on: it can't be trusted to be
/// whole, or there is no test in it.
pub(super) fn unreliable(summary: &ReportSummary) -> Option<&str> {
    let hollow = summary.tests == 0 && summary.suite_errors == 0 && summary.same_as.is_none();
    summary
        .problem
        .as_deref()
        .or(hollow.then_some("it holds no test: nothing was tested"))
}

/// Takes all cases of all reports and writes them as they come.
pub trait CaseWriter {
    /// Before everything.
    ///
    /// # Errors
    /// What is written to can't be written to; so everywhere.
    fn begin(&mut self, report: &TriageReport) -> io::Result<()>;
    /// Before the cases of a report.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn begin_report(&mut self, summary: &ReportSummary) -> io::Result<()>;
    /// A case.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()>;
    /// Behind the cases of a report.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn end_report(&mut self) -> io::Result<()>;
    /// Behind everything.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn end(&mut self, report: &TriageReport) -> io::Result<()>;
}
