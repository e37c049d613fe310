//! The cases of a run or a triage, one after the other, for the formats that
//! hold all of them.
//!
//! Main types: [`CaseWriter`], which a format implements, and [`ShownCase`],
//! which it is handed.

use super::known_cases::KnownCases;
use jelly_base::model::{
    Diagnosis, FailureStatus, FailureView, Label, ReportSummary, TRIAGE_REPORT, TriageReport,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io;

/// Name of the case that stands for a report which can't be relied on.
const UNRELIABLE: &str = "(the report itself)";

/// Cases by their outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaseCounts {
    pub tests: u64,
    pub failures: u64,
    pub errors: u64,
    pub skipped: u64,
    /// Failed at first and passed in the end.
    pub flaky: u64,
}

impl CaseCounts {
    pub fn add(&mut self, other: Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.flaky += other.flaky;
    }

    /// Flaky ones included.
    #[must_use]
    pub fn passed(&self) -> u64 {
        let others = self.failures + self.errors + self.skipped;
        self.tests.saturating_sub(others)
    }
}

/// What a document says before its cases.
#[derive(Debug, Clone, Default)]
pub struct CasesHead {
    /// What writes it: `jelly` or `jelly triage`.
    pub writer: &'static str,
    /// What ran the tests.
    pub tool: String,
    pub counts: CaseCounts,
    pub suites: u64,
    /// Seconds.
    pub duration_s: Option<f64>,
    /// Milliseconds of Unix time, from first to last; 0 where they are not
    /// known.
    pub span_ms: (u64, u64),
    /// What jelly says of the whole.
    pub said: Value,
}

/// What is said of a suite before its cases: a report, or a server of a plan.
#[derive(Debug, Clone, Default)]
pub struct SuiteHead<'a> {
    pub name: &'a str,
    pub counts: CaseCounts,
    /// Seconds.
    pub duration_s: Option<f64>,
    /// RFC 3339.
    pub timestamp: Option<&'a str>,
    pub properties: Vec<(&'static str, String)>,
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownOutcome {
    Passed,
    Failed,
    Error,
    Skipped,
    Flaky,
}

/// One case, with what jelly says of it.
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
    /// Why it was skipped, in words.
    pub skipped: Option<&'a str>,
    /// What went wrong, one a cause.
    pub failures: Vec<ShownFailure<'a>>,
    /// Attempts of a run that failed before the one that `failures` tells.
    pub earlier: Vec<ShownFailure<'a>>,
    /// What the case, or its suite, wrote on stdout; of failing ones only.
    pub system_out: Option<&'a str>,
    /// The same of stderr.
    pub system_err: Option<&'a str>,
    /// All that jelly says of a case of a run; of one of a report, its failures
    /// say it.
    pub properties: &'a [(&'static str, String)],
}

impl<'a> ShownCase<'a> {
    /// A failure of which no more is known than what triage kept.
    #[must_use]
    pub fn of(failure: FailureView<'a>) -> Self {
        Self {
            file: failure.file,
            line: failure.line,
            outcome: match failure.status {
                FailureStatus::Failure => ShownOutcome::Failed,
                FailureStatus::Error => ShownOutcome::Error,
                FailureStatus::Flaky => ShownOutcome::Flaky,
            },
            failures: vec![ShownFailure::of(&failure)],
            ..Self::passed(failure.suite, failure.classname, failure.name)
        }
    }

    /// It failed, and is skipped all the same, for this reason.
    pub fn pass_over(&mut self, why: &'a str) {
        self.outcome = ShownOutcome::Skipped;
        self.skipped = Some(why);
    }

    /// A case that passed.
    #[must_use]
    pub fn passed(suite: &'a str, classname: &'a str, name: &'a str) -> Self {
        Self {
            suite,
            classname,
            name,
            file: None,
            line: None,
            duration_s: None,
            outcome: ShownOutcome::Passed,
            skipped: None,
            failures: Vec::new(),
            earlier: Vec::new(),
            system_out: None,
            system_err: None,
            properties: &[],
        }
    }
}

/// One thing that went wrong with a case.
#[derive(Debug, Clone)]
pub struct ShownFailure<'a> {
    /// There was an answer, and it was wrong.
    pub is_wrong_answer: bool,
    /// What it is called, mostly its root cause.
    pub type_: Cow<'a, str>,
    /// On one line.
    pub message: Option<Cow<'a, str>>,
    /// At length, where that is at hand.
    pub text: Option<Cow<'a, str>>,
    /// None where it is jelly that has something to say.
    pub diagnosis: Option<Cow<'a, Diagnosis>>,
    /// Whether the baseline or the history has it.
    pub pre_existing: Option<bool>,
    /// Path of the report or the plan.
    pub place: &'a str,
    /// What an attempt of a run wrote on stderr.
    pub system_err: Option<&'a str>,
}

impl<'a> ShownFailure<'a> {
    /// As triage kept it.
    #[must_use]
    pub fn of(failure: &FailureView<'a>) -> Self {
        Self {
            is_wrong_answer: failure.status != FailureStatus::Error,
            type_: Cow::Borrowed(&failure.kind.root_cause),
            message: failure.message.map(Label::disarmed_message),
            text: None,
            diagnosis: Some(Cow::Owned(failure.diagnosis())),
            pre_existing: failure.pre_existing,
            place: failure.report,
            system_err: None,
        }
    }
}

impl<'a> ShownFailure<'a> {
    /// What a report says of it at length, none of which is to be taken for
    /// jelly's own word, but for what it was before.
    pub fn quote(&mut self, text: &'a str) {
        let own = self.diagnosis.as_deref().map(Label::line);
        self.text = Some(match own {
            Some(own) if text.trim_start().lines().next() == Some(&own) => Cow::Borrowed(text),
            Some(_) | None => Label::disarmed(text),
        });
    }
}

impl CasesHead {
    /// Of a triage.
    #[must_use]
    pub fn of_triage(report: &TriageReport, known: &KnownCases<'_>) -> Self {
        let mut counts = CaseCounts::default();
        for summary in report.counted_reports() {
            counts.add(counts_of(summary, known));
        }
        let mut dialects: Vec<&str> = report
            .reports
            .iter()
            .map(|r| r.dialect.as_str())
            .filter(|dialect| !dialect.is_empty())
            .collect();
        dialects.sort_unstable();
        dialects.dedup();
        Self {
            writer: TRIAGE_REPORT,
            tool: match dialects.as_slice() {
                [] => "unknown".to_owned(),
                all => all.join(", "),
            },
            counts,
            suites: report.reports.len() as u64,
            said: json!({
                "exit_code": report.exit_code,
                "health": report.health,
                "clusters": report.clusters.len(),
                "recommendations": report.recommendations,
            }),
            ..Self::default()
        }
    }
}

impl<'a> SuiteHead<'a> {
    /// Of a report that was triaged.
    #[must_use]
    pub fn of_report(summary: &'a ReportSummary, known: &KnownCases<'_>) -> Self {
        let mut properties = vec![("jelly.dialect", summary.dialect.clone())];
        let problem = summary.problem.iter();
        properties.extend(problem.map(|problem| ("jelly.problem", problem.clone())));
        let warnings = summary.warnings.iter();
        properties.extend(warnings.map(|warning| ("jelly.warning", warning.clone())));
        Self {
            name: &summary.path,
            counts: counts_of(summary, known),
            duration_s: summary.duration_s,
            timestamp: None,
            properties,
        }
    }
}

fn counts_of(summary: &ReportSummary, known: &KnownCases<'_>) -> CaseCounts {
    // Whoever counts failures alone must not take a report that can't be
    // relied on for a green one.
    let refused = u64::from(unreliable(summary).is_some());
    let mut counts = CaseCounts {
        tests: summary.tests + summary.suite_errors + refused,
        failures: summary.failed,
        errors: summary.errors + summary.suite_errors + refused,
        skipped: summary.skipped,
        flaky: summary.flaky,
    };
    known.set_aside(&summary.path, &mut counts);
    counts
}

/// The case that stands for a report which can't be relied on.
#[must_use]
pub fn refused_case(summary: &ReportSummary) -> Option<ShownCase<'_>> {
    let problem = unreliable(summary)?;
    Some(ShownCase {
        file: Some(&summary.path),
        outcome: ShownOutcome::Error,
        failures: vec![ShownFailure {
            is_wrong_answer: false,
            type_: Cow::Borrowed("unreliable_report"),
            message: Some(Cow::Borrowed(problem)),
            text: None,
            diagnosis: None,
            pre_existing: None,
            place: &summary.path,
            system_err: None,
        }],
        ..ShownCase::passed("", &summary.path, UNRELIABLE)
    })
}

/// Why a report says nothing that can be relied on: it can't be trusted to be
/// whole, or there is no test in it.
pub(super) fn unreliable(summary: &ReportSummary) -> Option<&str> {
    let problem = summary.problem.as_deref();
    problem.or(summary
        .is_hollow()
        .then_some("it holds no test: nothing was tested"))
}

/// Takes all cases of all suites and writes them as they come.
pub trait CaseWriter {
    /// Before everything.
    ///
    /// # Errors
    /// What is written to can't be written to; so everywhere.
    fn begin(&mut self, head: &CasesHead) -> io::Result<()>;
    /// Before the cases of a suite.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn begin_suite(&mut self, suite: &SuiteHead<'_>) -> io::Result<()>;
    /// A case.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()>;
    /// Behind the cases of a suite.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn end_suite(&mut self) -> io::Result<()>;
    /// Behind everything.
    ///
    /// # Errors
    /// See [`CaseWriter::begin`].
    fn end(&mut self, head: &CasesHead) -> io::Result<()>;
}
