//! The reports read once more, for the formats that hold all of their cases:
//! by then it is known what each failure means, and which case was flaky.

use crate::report::{
    CaseWriter, CasesHead, KnownCases, ShownCase, ShownFailure, ShownOutcome, SuiteHead,
    refused_case,
};
use jelly_base::model::{
    FailureStatus, FailureView, Failures, ReportSummary, TriageReport, UnmarkedReruns, mask_for,
};
use jelly_base::text::redact::{Redactor, show_text};
use jelly_triage::junit::{self, Case, CaseOutcome, CaseSink, ReaderLimits};
use jelly_triage::survey::{ReportSource, open};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

/// Hands all cases of the counted reports to `writer`, in the order of the
/// report's own account.
///
/// # Errors
/// What `writer` says. A report that can't be read again has no cases.
pub fn replay(
    report: &TriageReport,
    sources: &[ReportSource],
    redactor: &Redactor,
    writer: &mut dyn CaseWriter,
) -> io::Result<()> {
    let by_name: HashMap<String, &ReportSource> = sources
        .iter()
        .map(|source| (redactor.redact(&source.name).into_owned(), source))
        .collect();
    let failures = by_report(&report.failures);
    let known = KnownCases::of(report);
    let head = CasesHead::of_triage(report, &known);
    writer.begin(&head)?;
    for summary in report.counted_reports() {
        begin_report(summary, &known, writer)?;
        let failures = failures.get(summary.path.as_str());
        let mut sink = Replay {
            failures: failures.map_or(&[], Vec::as_slice),
            known: (&known, &summary.path),
            reruns: &summary.reruns,
            redactor,
            writer: &mut *writer,
            result: Ok(()),
        };
        let read = by_name.get(&summary.path);
        // Where it can't be opened any more, its problem is in the account.
        if let Some(Ok(mut input)) = read.map(|source| open(&source.input)) {
            junit::read(
                &mut input,
                &summary.path,
                &ReaderLimits::default(),
                &mut sink,
            );
        }
        sink.result?;
        writer.end_suite()?;
    }
    writer.end(&head)
}

/// The same for failures that came one by one, of which there is no report to
/// be read.
///
/// # Errors
/// What `writer` says.
pub fn replay_failures(report: &TriageReport, writer: &mut dyn CaseWriter) -> io::Result<()> {
    let failures = by_report(&report.failures);
    let known = KnownCases::of(report);
    let head = CasesHead::of_triage(report, &known);
    writer.begin(&head)?;
    for summary in &report.reports {
        begin_report(summary, &known, writer)?;
        for failure in failures.get(summary.path.as_str()).into_iter().flatten() {
            let mut case = ShownCase::of(*failure);
            if let Some(why) = known.why(failure.report, failure.ordinal) {
                case.pass_over(why);
            }
            writer.case(&case)?;
        }
        writer.end_suite()?;
    }
    writer.end(&head)
}

fn begin_report(
    summary: &ReportSummary,
    known: &KnownCases<'_>,
    writer: &mut dyn CaseWriter,
) -> io::Result<()> {
    writer.begin_suite(&SuiteHead::of_report(summary, known))?;
    refused_case(summary).map_or(Ok(()), |case| writer.case(&case))
}

fn by_report(failures: &Failures) -> HashMap<&str, Vec<FailureView<'_>>> {
    let mut by_report: HashMap<&str, Vec<FailureView<'_>>> = HashMap::new();
    for failure in failures.iter() {
        by_report.entry(failure.report).or_default().push(failure);
    }
    by_report
}

struct Replay<'r> {
    /// Of this report, by rising ordinal.
    failures: &'r [FailureView<'r>],
    /// Which of them are known, and the report's path.
    known: (&'r KnownCases<'r>, &'r str),
    reruns: &'r UnmarkedReruns,
    redactor: &'r Redactor,
    writer: &'r mut dyn CaseWriter,
    result: io::Result<()>,
}

impl CaseSink for Replay<'_> {
    fn case(&mut self, case: &Case<'_>) {
        if self.result.is_err() || self.reruns.attempts.contains(&case.ordinal) {
            return;
        }
        let first = self.failures.partition_point(|f| f.ordinal < case.ordinal);
        let end = self.failures.partition_point(|f| f.ordinal <= case.ordinal);
        let failures = self.failures.get(first..end).unwrap_or_default();
        let flaky = failures
            .first()
            .is_some_and(|f| f.status == FailureStatus::Flaky);
        let outcome = match case.outcome {
            _ if flaky || self.reruns.passed.contains(&case.ordinal) => ShownOutcome::Flaky,
            CaseOutcome::Passed => ShownOutcome::Passed,
            CaseOutcome::Failed => ShownOutcome::Failed,
            CaseOutcome::Error => ShownOutcome::Error,
            CaseOutcome::Skipped => ShownOutcome::Skipped,
            CaseOutcome::Flaky => ShownOutcome::Flaky,
        };
        let text = |text| self.redactor.redact(text);
        let root_cause = failures.first().map(|first| &*first.kind.root_cause);
        let mask = mask_for(root_cause.unwrap_or_default());
        let told_text = |text: &str| {
            let mut told = self.redactor.redact(text).into_owned();
            mask(&mut told);
            told
        };
        let (suite, classname, name) = (text(case.suite), text(case.classname), text(case.name));
        let file = case.file.map(text);
        let told = case.failures.first();
        let trace = told.and_then(|told| told.text.as_deref()).map(told_text);
        let type_ = told.and_then(|told| told.type_.as_deref()).map(text);
        // What was printed compares nothing.
        let printed = |text: &str| show_text(&self.redactor.redact(text)).into_owned();
        let out = told
            .and_then(|told| told.system_out.as_deref())
            .map(printed);
        let err = told
            .and_then(|told| told.system_err.as_deref())
            .map(printed);
        let mut shown: Vec<_> = failures.iter().map(ShownFailure::of).collect();
        if let Some(first) = shown.first_mut() {
            if let Some(trace) = &trace {
                first.quote(trace);
            }
            if let Some(type_) = &type_ {
                first.type_ = Cow::Borrowed(type_);
            }
        }
        let mut shown_case = ShownCase {
            file: file.as_deref(),
            line: case.line,
            duration_s: case.duration_s,
            outcome,
            failures: shown,
            system_out: out.as_deref(),
            system_err: err.as_deref(),
            ..ShownCase::passed(&suite, &classname, &name)
        };
        let (known, report) = self.known;
        if let Some(why) = known.why(report, case.ordinal) {
            shown_case.pass_over(why);
        }
        self.result = self.writer.case(&shown_case);
    }

    fn turned_flaky(&mut self, _: u64) {
        // Known from the first reading.
    }
}
