//! Triages of other jobs, as `--format json` printed them, among the reports.

use crate::cli::results::read_bytes;
use jelly_base::files::open_to_read;
use jelly_base::model::{ReportSummary, SCHEMA_VERSION, TriageReport};
use jelly_base::text::redact::Redactor;
use jelly_triage::history::RunOrigin;
use jelly_triage::survey::{Input, ReportPart, ReportSource, parts_of, record_key, written_at};
use std::io::Read as _;

/// How the output of a triage begins; a report of a test framework that is JSON
/// begins otherwise.
const FIRST_KEY: &[u8] = b"\"schema_version\"";

/// Whether a source is the output of a triage, whole or cut.
pub fn is_triage(source: &ReportSource) -> bool {
    let path = source.input.path();
    let json = path.filter(|path| path.extension().is_some_and(|end| end == "json"));
    // What is no file can't be looked at twice.
    let Some(path) = json.filter(|path| path.is_file()) else {
        return false;
    };
    let mut begin = Vec::new();
    // One that can't be read says so when it is read.
    let opened = open_to_read(path).and_then(|file| file.take(256).read_to_end(&mut begin));
    let inside = begin.trim_ascii_start().strip_prefix(b"{");
    opened.is_ok() && inside.is_some_and(|rest| rest.trim_ascii_start().starts_with(FIRST_KEY))
}

/// What a triage brings along; one that is cut is a report that can't be relied
/// on.
pub fn read_triage(
    source: &ReportSource,
    redactor: &Redactor,
    origin: Option<&RunOrigin>,
) -> Vec<ReportPart> {
    let name = redactor.redact(&source.name).into_owned();
    match triage(&source.input) {
        Ok(triage) => {
            let mut parts = parts_of(&triage, &name);
            for summary in parts.iter_mut().map(|part| &mut part.summary) {
                summary.record_key = origin.and_then(|origin| {
                    let content = summary.identity.as_deref()?;
                    record_key(origin, content, false, || written_at(&source.input))
                });
            }
            parts
        }
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
    let file = open_to_read(path).map_err(|error| format!("it can't be read: {error}"))?;
    let bytes = read_bytes(file).map_err(|why| format!("it can't be read: {why}"))?;
    let triage: TriageReport = serde_json::from_slice(&bytes).map_err(|error| {
        let what = match error.is_eof() {
            true => "it ends in the middle",
            false => "it is no output of `jelly triage --format json`",
        };
        format!("{what}: {error}")
    })?;
    if triage.schema_version != SCHEMA_VERSION {
        let found = triage.schema_version;
        return Err(format!(
            "its schema_version is {found}, and this version of jelly reads {SCHEMA_VERSION}"
        ));
    }
    if triage.reports.is_empty() {
        return Err("it tells of no report".to_owned());
    }
    Ok(triage)
}
