//! The reports again in the Common Test Report Format (ctrf.io), with what
//! triage says of each failure under `extra`. Written case by case.

use super::case::{CaseWriter, ShownCase, ShownOutcome, UNRELIABLE, unreliable};
use crate::model::{Diagnosis, FailureView, ReportSummary, TriageReport};
use crate::report::quote::harmless;
use serde::Serialize;
use std::io::{self, Write};

/// Of the format, as of its schema of July 2026.
const SPEC_VERSION: &str = "1.0.0";
/// Suites may be nested deeper than a reader of the format cares for.
const SUITES: usize = 32;

/// Writes one document.
pub struct CtrfWriter<'w> {
    out: &'w mut dyn Write,
    first: bool,
}

impl<'w> CtrfWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self { out, first: true }
    }
}

/// Milliseconds of Unix time are required, and a report need not know them:
/// zero says so.
#[derive(Serialize)]
struct Summary {
    tests: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
    pending: u64,
    other: u64,
    flaky: u64,
    suites: u64,
    start: u64,
    stop: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Test<'a> {
    name: &'a str,
    status: &'static str,
    /// Milliseconds.
    duration: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suite: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ai: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    flaky: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Extra<'a>>,
}

#[derive(Serialize)]
struct Extra<'a> {
    jelly: Said<'a>,
}

#[derive(Serialize)]
struct Said<'a> {
    #[serde(flatten)]
    diagnosis: Diagnosis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_existing: Option<bool>,
    report: &'a str,
}

impl CtrfWriter<'_> {
    fn test(&mut self, test: &Test<'_>) -> io::Result<()> {
        self.out
            .write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        serde_json::to_writer(&mut *self.out, test)?;
        Ok(())
    }
}

impl CaseWriter for CtrfWriter<'_> {
    fn begin(&mut self, report: &TriageReport) -> io::Result<()> {
        let health = &report.health;
        let suite_errors: u64 = report
            .reports
            .iter()
            .filter(|report| report.same_as.is_none())
            .map(|report| report.suite_errors)
            .sum();
        // A report that can't be relied on is a failed test.
        let counted = report.reports.iter().filter(|r| r.same_as.is_none());
        let refused = counted.filter(|r| unreliable(r).is_some()).count() as u64;
        let summary = Summary {
            tests: health.tests + suite_errors + refused,
            // The format counts a flaky test as one that passed.
            passed: health.passed + health.flaky,
            failed: health.failed + refused,
            skipped: health.skipped,
            pending: 0,
            other: 0,
            flaky: health.flaky,
            suites: report.reports.len() as u64,
            start: 0,
            stop: 0,
        };
        write!(
            self.out,
            "{{\"reportFormat\":\"CTRF\",\"specVersion\":\"{SPEC_VERSION}\",\"generatedBy\":\
             \"jelly {}\",\"results\":{{\"tool\":",
            env!("CARGO_PKG_VERSION")
        )?;
        let mut dialects: Vec<&str> = report
            .reports
            .iter()
            .map(|r| r.dialect.as_str())
            .filter(|d| !d.is_empty())
            .collect();
        dialects.sort_unstable();
        dialects.dedup();
        let tool = match dialects.as_slice() {
            [] => "unknown".to_owned(),
            all => all.join(", "),
        };
        serde_json::to_writer(&mut *self.out, &serde_json::json!({ "name": tool }))?;
        write!(self.out, ",\"summary\":")?;
        serde_json::to_writer(&mut *self.out, &summary)?;
        write!(self.out, ",\"tests\":[")
    }

    fn begin_report(&mut self, summary: &ReportSummary) -> io::Result<()> {
        let Some(problem) = unreliable(summary) else {
            return Ok(());
        };
        self.test(&Test {
            name: UNRELIABLE,
            status: "failed",
            duration: 0,
            suite: vec![&summary.path],
            message: Some(problem),
            trace: None,
            ai: None,
            line: None,
            raw_status: Some("error"),
            file_path: Some(&summary.path),
            flaky: false,
            extra: None,
        })
    }

    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        let failure = case.failures.first();
        let mut suite: Vec<&str> = case.suite.split(" > ").take(SUITES).collect();
        if !case.classname.is_empty() && suite.last() != Some(&case.classname) {
            suite.push(case.classname);
        }
        suite.retain(|name| !name.is_empty());
        let (status, raw) = match case.outcome {
            ShownOutcome::Passed => ("passed", None),
            ShownOutcome::Flaky => ("passed", Some("flaky")),
            ShownOutcome::Failed => ("failed", Some("failure")),
            ShownOutcome::Error => ("failed", Some("error")),
            ShownOutcome::Skipped => ("skipped", None),
        };
        let test = Test {
            name: if case.name.is_empty() {
                "(unnamed)"
            } else {
                case.name
            },
            status,
            duration: millis(case.duration_s),
            suite,
            message: failure.and_then(|failure| failure.message),
            trace: case
                .text
                .filter(|text| !text.trim().is_empty() && failure.is_some())
                .map(|text| harmless(text).into_owned()),
            ai: failure
                .map(|failure| failure.what)
                .filter(|what| !what.is_empty()),
            line: case.line,
            raw_status: raw,
            file_path: case.file,
            flaky: case.outcome == ShownOutcome::Flaky,
            extra: failure.map(|failure| Extra {
                jelly: said(failure),
            }),
        };
        self.test(&test)
    }

    fn end_report(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, report: &TriageReport) -> io::Result<()> {
        write!(self.out, "\n],\"extra\":{{\"jelly\":")?;
        let said = serde_json::json!({
            "exit_code": report.exit_code,
            "health": report.health,
            "clusters": report.clusters.len(),
            "recommendations": report.recommendations,
        });
        serde_json::to_writer(&mut *self.out, &said)?;
        writeln!(self.out, "}}}}}}")
    }
}

fn millis(seconds: Option<f64>) -> u64 {
    let millis = seconds.unwrap_or(0.0) * 1000.0;
    if millis.is_finite() && millis > 0.0 {
        // More milliseconds than an integer of JSON takes were never measured.
        millis.round().min(9e15) as u64
    } else {
        0
    }
}

fn said<'a>(failure: &FailureView<'a>) -> Said<'a> {
    let mut diagnosis = failure.kind.clone();
    diagnosis.fingerprint = failure.fingerprint.to_owned();
    diagnosis.test_fingerprint = failure.test_fingerprint.to_owned();
    diagnosis.evidence = failure
        .evidence
        .map(|(field, text)| crate::model::Evidence {
            field: field.to_owned(),
            text: text.to_owned(),
        });
    diagnosis.advice.what = failure.what.to_owned();
    Said {
        diagnosis,
        pre_existing: failure.pre_existing,
        report: failure.report,
    }
}
