//! A run or a triage in the Common Test Report Format (ctrf.io), with what
//! jelly says of each failure under `extra`. Written case by case.

use super::cases::{CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead};
use jelly_base::model::{Diagnosis, Health};
use jelly_base::text::{is_blank, sanitize};
use schemars::JsonSchema;
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
#[derive(Serialize, JsonSchema)]
struct Summary {
    /// passed + failed + skipped + pending + other.
    tests: u64,
    /// Flaky ones among them.
    passed: u64,
    /// Suites that failed by themselves and reports that can't be relied on
    /// among them.
    failed: u64,
    /// Not executed.
    skipped: u64,
    /// Always 0.
    pending: u64,
    /// Always 0.
    other: u64,
    /// Failed at first and passed in the end.
    flaky: u64,
    /// Reports, or servers of plans.
    suites: u64,
    /// 0: not known.
    start: u64,
    /// 0: not known.
    stop: u64,
}

/// The document as a whole, for its schema: it is written case by case.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "never built: a report's cases are never all in memory"
)]
pub struct CtrfDocument<'a> {
    /// `CTRF`.
    report_format: &'static str,
    /// Of the format.
    spec_version: &'static str,
    /// jelly and its version.
    generated_by: String,
    /// All of it.
    results: CtrfResults<'a>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "as above")]
#[schemars(rename = "Results")]
struct CtrfResults<'a> {
    /// What ran the tests.
    tool: Tool,
    /// The counts.
    summary: Summary,
    /// Every case of every report.
    tests: Vec<Test<'a>>,
    /// What the format has no place for.
    extra: Beside<'a>,
}

#[derive(Serialize, JsonSchema)]
struct Tool {
    /// The dialects of the reports, or `jelly`.
    name: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "as above")]
struct Beside<'a> {
    /// What jelly says of the whole.
    jelly: Verdict<'a>,
}

/// What jelly says of the whole.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "as above")]
struct Verdict<'a> {
    /// Of the call.
    exit_code: u8,
    /// Of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    /// Of a triage: whether it says anything about the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<&'a Health>,
    /// Of a triage: number of causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<usize>,
    /// Of a triage: what to do, in the order in which to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommendations: Option<&'a [String]>,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Test<'a> {
    /// As the report names it.
    name: &'a str,
    /// `passed`, `failed` or `skipped`.
    status: &'static str,
    /// Milliseconds.
    duration: u64,
    /// Suites, outermost first, and the class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suite: Vec<&'a str>,
    /// What the report says of it, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// The failure's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    /// The cause in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    ai: Option<&'a str>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// `failure`, `error` or `flaky`.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_status: Option<&'static str>,
    /// Where the test stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<&'a str>,
    /// It failed, and passed when it was run again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    flaky: bool,
    /// What the format has no place for.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Extra<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct Extra<'a> {
    /// What triage says of the failure.
    jelly: Said<'a>,
}

#[derive(Serialize, JsonSchema)]
struct Said<'a> {
    #[serde(flatten)]
    diagnosis: &'a Diagnosis,
    /// Whether the baseline or the history has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_existing: Option<bool>,
    /// Path of the report, or of the plan.
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
    fn begin(&mut self, head: &CasesHead) -> io::Result<()> {
        let counts = &head.counts;
        let summary = Summary {
            tests: counts.tests,
            // The format counts a flaky test as one that passed.
            passed: counts.passed(),
            failed: counts.failures + counts.errors,
            skipped: counts.skipped,
            pending: 0,
            other: 0,
            flaky: counts.flaky,
            suites: head.suites,
            start: head.span_ms.0,
            stop: head.span_ms.1,
        };
        write!(
            self.out,
            "{{\"reportFormat\":\"CTRF\",\"specVersion\":\"{SPEC_VERSION}\",\"generatedBy\":\
             \"jelly {}\",\"results\":{{\"tool\":",
            env!("CARGO_PKG_VERSION")
        )?;
        let name = head.tool.clone();
        serde_json::to_writer(&mut *self.out, &Tool { name })?;
        write!(self.out, ",\"summary\":")?;
        serde_json::to_writer(&mut *self.out, &summary)?;
        write!(self.out, ",\"tests\":[")
    }

    fn begin_suite(&mut self, _: &SuiteHead<'_>) -> io::Result<()> {
        Ok(())
    }

    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        let failure = case.failures.first();
        let diagnosis = failure.and_then(|failure| failure.diagnosis.as_deref());
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
        let what = diagnosis.map(|diagnosis| diagnosis.advice.what.as_str());
        let said = |failure: &ShownFailure<'_>| {
            let text = failure.text.as_deref()?;
            Some(sanitize(text).into_owned())
        };
        self.test(&Test {
            name: if is_blank(case.name) {
                "(unnamed)"
            } else {
                case.name
            },
            status,
            duration: millis(case.duration_s),
            suite,
            message: failure
                .and_then(|failure| failure.message.as_deref())
                .or(case.skipped),
            trace: failure
                .and_then(said)
                .filter(|text| !text.trim().is_empty()),
            ai: what.filter(|what| !what.is_empty()),
            line: case.line,
            raw_status: raw,
            file_path: case.file,
            flaky: case.outcome == ShownOutcome::Flaky,
            extra: failure.zip(diagnosis).map(|(failure, diagnosis)| Extra {
                jelly: Said {
                    diagnosis,
                    pre_existing: failure.pre_existing,
                    report: failure.place,
                },
            }),
        })
    }

    fn end_suite(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, head: &CasesHead) -> io::Result<()> {
        write!(self.out, "\n],\"extra\":{{\"jelly\":")?;
        serde_json::to_writer(&mut *self.out, &head.said)?;
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
