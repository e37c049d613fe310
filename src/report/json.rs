//! Reports as data: `results.json`, and what `--format json` prints.

use super::findings::{Finding, FindingSource, Findings};
use jelly_base::model::{
    CallSummary, Coverage, Diagnosis, ExitCode, MatrixReport, MergedShard, RunCluster, RunReport,
    SCHEMA_VERSION, ShardRecord, Totals, Verdict,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// Several plans in one call, or in the calls of several shards.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Results<'a> {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of the call; volatile.
    pub run_id: &'a str,
    /// The strongest of the plans' verdicts, in the order of the exit codes.
    pub verdict: Verdict,
    /// The strongest of the plans' exit codes.
    pub exit_code: u8,
    /// The call goes on: its plans are not here yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_progress: bool,
    /// Of a call that ran some of the plans for `jelly merge`; volatile.
    // Before the plans: of a file that is cut, the beginning is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<&'a ShardRecord>,
    /// The shards of a merged result; volatile.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub shards: &'a [MergedShard],
    /// Sums over the last iterations of the plans.
    pub totals: Totals,
    /// What failed in the last iterations, by cause; the most frequent first.
    pub clusters: Vec<RunCluster>,
    /// What all plans exercised together of what their servers list; absent where that
    /// was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// A report for each plan, in the order in which they were named.
    pub plans: &'a [RunReport],
    /// The plans that were run in several combinations, side by side.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub matrix: &'a [MatrixReport],
}

impl<'a> Results<'a> {
    #[must_use]
    pub fn new(run_id: &'a str, exit_code: ExitCode, plans: &'a [RunReport]) -> Self {
        let CallSummary {
            verdict,
            totals,
            clusters,
        } = CallSummary::of(plans);
        // The call itself may have failed, as at a report that can't be written.
        let verdict = match exit_code {
            ExitCode::NeedsUserHelp if verdict.is_green() => Verdict::NeedsUserHelp,
            ExitCode::InvalidInput if verdict.is_green() => Verdict::InvalidInput,
            _ => verdict,
        };
        Self {
            schema_version: SCHEMA_VERSION,
            run_id,
            verdict,
            exit_code: exit_code.code(),
            in_progress: false,
            shard: None,
            shards: &[],
            totals,
            clusters,
            coverage: Coverage::of_plans(plans.iter().map(|it| it.coverage.as_ref())),
            plans,
            matrix: &[],
        }
    }

    /// As the part of a run that this shard ran.
    #[must_use]
    pub fn of_shard(self, shard: Option<&'a ShardRecord>) -> Self {
        Self { shard, ..self }
    }

    /// As what these shards came to together.
    #[must_use]
    pub fn of_shards(self, shards: &'a [MergedShard]) -> Self {
        Self { shards, ..self }
    }

    /// As what there is when a call begins.
    #[must_use]
    pub fn in_progress(self) -> Self {
        Self {
            in_progress: true,
            ..self
        }
    }

    #[must_use]
    pub fn with_matrix(self, matrix: &'a [MatrixReport]) -> Self {
        Self { matrix, ..self }
    }
}

/// One plan's report, or [`Results`], indented and with a line feed at the end.
///
/// # Errors
/// Only what serde_json says; a report holds nothing that JSON can't.
pub fn report_json(report: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(report)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// One thing that is wrong: a line of `--report jsonl`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingLine<'a> {
    /// The same from run to run.
    id: &'a str,
    /// Path of the plan, of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a str>,
    /// Path of the report, of a triage.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a str>,
    /// Name of the server in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    /// Id of the step; absent where the server itself failed, or the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a str>,
    /// Suites joined by ` > `.
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<&'a str>,
    /// As the report names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    classname: Option<&'a str>,
    /// As the report names it; absent where the report itself is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a str>,
    /// What is wrong, in a sentence.
    message: &'a str,
    /// The file that it is about.
    file: &'a str,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    diagnosis: &'a Diagnosis,
}

/// What is wrong, one thing a line.
///
/// # Errors
/// What `out` says.
pub fn finding_lines(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in &findings.all {
        serde_json::to_writer(&mut *out, &FindingLine::of(finding))?;
        writeln!(out)?;
    }
    Ok(())
}

impl<'a> FindingLine<'a> {
    fn of(finding: &'a Finding<'_>) -> Self {
        let mut line = Self {
            id: &finding.id,
            plan: None,
            report: None,
            server: None,
            step: None,
            suite: None,
            classname: None,
            test: None,
            message: &finding.message,
            file: finding.spot.file,
            line: finding.spot.line,
            diagnosis: &finding.diagnosis,
        };
        let said = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        match finding.origin {
            FindingSource::Plan { path, server, step } => {
                (line.plan, line.server, line.step) = (Some(path), server, step);
            }
            FindingSource::Report {
                path,
                suite,
                classname,
                test,
            } => {
                line.report = Some(path);
                (line.suite, line.classname, line.test) =
                    (said(suite), said(classname), said(test));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::{Results, report_json};
    use crate::report::samples;
    use jelly_base::model::{ExitCode, RunReport};

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        for report in samples::all() {
            let bytes = report_json(&report).unwrap();
            let back: RunReport = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(back, report);
        }
    }

    #[test]
    fn several_plans_stand_in_one_object() {
        let plans = samples::all();
        let bytes = report_json(&Results::new("r1", ExitCode::NeedsUserHelp, &plans)).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["schema_version"], 1);
        assert_eq!(value["run_id"], "r1");
        assert_eq!(value["exit_code"], 3);
        assert_eq!(value["plans"].as_array().unwrap().len(), plans.len());
    }

    #[test]
    fn the_names_that_other_programs_rely_on_are_there() {
        let report = samples::dead_server();
        let value: serde_json::Value =
            serde_json::from_slice(&report_json(&report).unwrap()).unwrap();
        for name in [
            "schema_version",
            "run_id",
            "verdict",
            "exit_code",
            "needs_user_help",
            "help_summary",
            "iterations",
        ] {
            assert!(value.get(name).is_some(), "{name} is missing");
        }
        let iteration = &value["iterations"][0];
        for name in [
            "index", "totals", "servers", "steps", "failures", "action", "budgets",
        ] {
            assert!(iteration.get(name).is_some(), "{name} is missing");
        }
    }
}
