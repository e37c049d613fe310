//! The cases of a run, as a triage hands over those of its reports.

use super::trouble::Trouble;
use super::xml::JunitWriter;
use super::{Case, CaseOutcome, Suite, suites_of};
use crate::report::cases::{
    CaseCounts, CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead,
};
use crate::report::json::Results;
use jelly_base::model::{Diagnosis, RUN_REPORT, RunReport};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io;

/// The results of one plan or several.
///
/// # Errors
/// Only what the XML writer says, which writes to memory.
pub fn junit_xml(reports: &[RunReport]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    show_plans(reports, Value::Null, &mut JunitWriter::of_run(&mut bytes))?;
    Ok(bytes)
}

/// Hands all cases of all plans to `writer`.
///
/// # Errors
/// What `writer` says.
pub fn show_run(results: &Results<'_>, writer: &mut dyn CaseWriter) -> io::Result<()> {
    let said = json!({ "exit_code": results.exit_code, "run_id": results.run_id });
    show_plans(results.plans, said, writer)
}

fn show_plans(plans: &[RunReport], said: Value, writer: &mut dyn CaseWriter) -> io::Result<()> {
    let span_ms = span(plans);
    let plans: Vec<(&RunReport, Vec<Suite<'_>>)> = plans
        .iter()
        .map(|report| (report, suites_of(report)))
        .collect();
    let all = || plans.iter().flat_map(|(_, suites)| suites);
    let mut head = CasesHead {
        writer: RUN_REPORT,
        tool: RUN_REPORT.to_owned(),
        suites: all().count() as u64,
        duration_s: Some(all().map(seconds).sum()),
        span_ms,
        said,
        ..CasesHead::default()
    };
    for suite in all() {
        head.counts.add(counts(suite));
    }
    writer.begin(&head)?;
    for (report, suites) in &plans {
        for suite in suites {
            writer.begin_suite(&SuiteHead {
                name: &suite.name,
                counts: counts(suite),
                duration_s: Some(seconds(suite)),
                timestamp: Some(&suite.timestamp),
                properties: suite.properties.clone(),
            })?;
            for case in &suite.cases {
                show(report, suite, case, writer)?;
            }
            writer.end_suite()?;
        }
    }
    writer.end(&head)
}

fn show(
    report: &RunReport,
    suite: &Suite<'_>,
    case: &Case<'_>,
    writer: &mut dyn CaseWriter,
) -> io::Result<()> {
    let diagnosis = case.diagnosis.as_deref();
    let shown = |trouble, diagnosis| shown(report, trouble, diagnosis);
    let mut told = ShownCase {
        file: case.at.as_ref().map(|(file, _)| file.as_str()),
        line: case.at.as_ref().and_then(|(_, line)| line.parse().ok()),
        duration_s: Some(case.seconds),
        system_err: Some(case.system_err.as_str()).filter(|text| !text.trim().is_empty()),
        properties: &case.properties,
        ..ShownCase::passed("", &suite.name, &case.name)
    };
    match &case.outcome {
        CaseOutcome::Passed => {
            if let Some((last, before)) = case.earlier.split_last() {
                told.outcome = ShownOutcome::Flaky;
                told.failures = vec![shown(last, diagnosis)];
                told.earlier = before.iter().map(|one| shown(one, None)).collect();
            }
        }
        CaseOutcome::Failed(trouble) => {
            told.outcome = match trouble.wrong_answer {
                true => ShownOutcome::Failed,
                false => ShownOutcome::Error,
            };
            told.failures = vec![shown(trouble, diagnosis)];
            told.earlier = case.earlier.iter().map(|one| shown(one, None)).collect();
        }
        CaseOutcome::Skipped(why) => {
            told.outcome = ShownOutcome::Skipped;
            told.skipped = Some(why);
        }
    }
    writer.case(&told)
}

fn shown<'s>(
    report: &'s RunReport,
    trouble: &'s Trouble,
    diagnosis: Option<&'s Diagnosis>,
) -> ShownFailure<'s> {
    ShownFailure {
        is_wrong_answer: trouble.wrong_answer,
        type_: Cow::Borrowed(&trouble.type_),
        message: Some(Cow::Borrowed(&trouble.message)),
        text: Some(Cow::Borrowed(&trouble.text)),
        diagnosis: diagnosis.map(Cow::Borrowed),
        pre_existing: None,
        place: &report.plan.path,
        system_err: Some(&trouble.stderr),
    }
}

fn counts(suite: &Suite<'_>) -> CaseCounts {
    let mut counts = CaseCounts::default();
    for case in &suite.cases {
        counts.tests += 1;
        match &case.outcome {
            CaseOutcome::Passed => counts.flaky += u64::from(!case.earlier.is_empty()),
            CaseOutcome::Failed(trouble) if trouble.wrong_answer => counts.failures += 1,
            CaseOutcome::Failed(_) => counts.errors += 1,
            CaseOutcome::Skipped(_) => counts.skipped += 1,
        }
    }
    counts
}

fn seconds(suite: &Suite<'_>) -> f64 {
    let known = suite.cases.iter().map(|case| case.seconds);
    known.filter(|s| s.is_finite() && *s > 0.0).sum()
}

/// From the start of the first plan to the end of the last.
fn span(plans: &[RunReport]) -> (u64, u64) {
    let span = |report: &RunReport| {
        let start: jiff::Timestamp = report.started_at.parse().ok()?;
        let start = u64::try_from(start.as_millisecond()).ok()?;
        Some((start, start + report.duration_ms))
    };
    let spans = plans.iter().filter_map(span);
    let widest = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    widest.unwrap_or_default()
}
