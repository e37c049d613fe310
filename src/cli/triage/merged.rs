//! Triages of other jobs, as `--format json` printed them, among the reports.

use crate::cli::results::read_bytes;
use jelly_base::model::{ReportSummary, TriageReport};
use jelly_base::text::redact::Redactor;
use jelly_triage::survey::{Input, ReportPart, ReportSource, parts_of};
use std::fs::File;

/// Whether a source is the output of a triage, by its name: no test report is
/// called so.
pub fn is_triage(source: &ReportSource) -> bool {
    let path = source.input.path();
    path.is_some_and(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    })
}

/// What a triage brings along; one that is cut is a report that can't be relied
/// on.
pub fn read_triage(source: &ReportSource, redactor: &Redactor) -> Vec<ReportPart> {
    let name = redactor.redact(&source.name).into_owned();
    match triage(&source.input) {
        Ok(triage) => parts_of(&triage, &name),
        Err(why) => vec![ReportPart {
            summary: ReportSummary {
                path: name,
                problem: Some(redactor.redact(&why).into_owned()),
                ..ReportSummary::default()
            },
            ..ReportPart::default()
        }],
    }
}

fn triage(input: &Input) -> Result<TriageReport, String> {
    let Input::File(path) = input else {
        return Err("stdin is read as a test report".to_owned());
    };
    let file = File::open(path).map_err(|error| format!("it can't be read: {error}"))?;
    let bytes = read_bytes(file).map_err(|why| format!("it can't be read: {why}"))?;
    let triage: TriageReport = serde_json::from_slice(&bytes).map_err(|error| {
        let what = match error.is_eof() {
            true => "it ends in the middle",
            false => "it is no output of `jelly triage --format json`",
        };
        format!("{what}: {error}")
    })?;
    if triage.reports.is_empty() {
        return Err("it tells of no report".to_owned());
    }
    Ok(triage)
}
