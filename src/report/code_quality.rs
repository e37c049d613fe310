//! GitLab's Code Quality: a list of what a merge request shows beside its
//! lines. An entry needs a file and a line, and a fingerprint of its own.

use super::findings::{Finding, Findings, Weight, id_of};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// Who found it, in each entry.
const ENGINE: &str = "jelly";

/// Whether a file of this format holds nothing that somebody else found.
#[must_use]
pub fn is_own_code_quality(text: &str) -> bool {
    let entries: Result<Vec<Value>, _> = serde_json::from_str(text);
    entries.is_ok_and(|entries| entries.iter().all(|entry| entry["engine_name"] == ENGINE))
}

/// Writes the list.
///
/// # Errors
/// What `out` says.
pub fn code_quality(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let entries: Vec<Value> = findings
        .all
        .iter()
        .map(|one| entry(one, &mut seen))
        .collect();
    serde_json::to_writer_pretty(&mut *out, &entries)?;
    writeln!(out)
}

fn entry(finding: &Finding<'_>, seen: &mut HashMap<String, usize>) -> Value {
    let path = finding.spot.file;
    let path = path.strip_prefix("./").unwrap_or(path);
    let id = id_of(&[&finding.id, path, &finding.subject]);
    let count = seen.entry(id.clone()).or_default();
    *count += 1;
    let fingerprint = match *count {
        1 => id,
        count => id_of(&[&id, &count.to_string()]),
    };
    json!({
        "engine_name": ENGINE,
        "description": finding.line(),
        "check_name": finding.diagnosis.root_cause,
        "fingerprint": fingerprint,
        "severity": match finding.weight() {
            Weight::Code => "critical",
            Weight::Test => "major",
            Weight::Undecided => "minor",
            Weight::Gone => "info",
        },
        "location": {
            "path": path,
            "lines": { "begin": finding.spot.line.filter(|line| *line > 0).unwrap_or(1) },
        },
    })
}
