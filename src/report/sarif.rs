//! SARIF 2.1.0, for code scanning and for editors: a rule for each root cause,
//! a result for each finding.

use super::findings::{Finding, FindingSource, Findings, Weight};
use jelly_base::model::json_word;
use jelly_base::text::sanitize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What file names are relative to.
const ROOT: &str = "%SRCROOT%";

/// Writes the document.
///
/// # Errors
/// What `out` says.
pub fn sarif(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rules: Vec<Value> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut results: Vec<Value> = Vec::with_capacity(findings.all.len());
    for finding in &findings.all {
        let cause = finding.diagnosis.root_cause.as_str();
        let index = *places.entry(cause).or_insert_with(|| {
            rules.push(rule(finding));
            rules.len() - 1
        });
        results.push(result(finding, index));
    }
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "jelly",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{
                // Whether jelly could do its work, whatever it found.
                "executionSuccessful": matches!(findings.exit_code, 0 | 1 | 3 | 4),
                "exitCode": findings.exit_code,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// By the first finding of its root cause.
fn rule(finding: &Finding<'_>) -> Value {
    let diagnosis = &finding.diagnosis;
    let advice = &diagnosis.advice;
    let mut help: Vec<String> = [&advice.what, &advice.why]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| sanitize(text).into_owned())
        .collect();
    help.extend(
        advice
            .fix
            .iter()
            .map(|step| sanitize(&step.line()).into_owned()),
    );
    let words = diagnosis.root_cause.replace('_', " ");
    let mut rule = json!({
        "id": diagnosis.root_cause,
        "shortDescription": { "text": words },
        "properties": { "tags": tags(finding) },
    });
    if !help.is_empty() {
        rule["help"] = json!({ "text": help.join("\n") });
    }
    rule
}

fn tags(finding: &Finding<'_>) -> Vec<String> {
    let side = format!("{}-side", json_word(&finding.diagnosis.side));
    let category = finding.diagnosis.error_category.as_ref().map(json_word);
    [Some(side), category].into_iter().flatten().collect()
}

fn result(finding: &Finding<'_>, rule: usize) -> Value {
    let spot = &finding.spot;
    let mut artifact = json!({ "uri": uri(spot.file) });
    if !spot.file.starts_with('/') {
        artifact["uriBaseId"] = json!(ROOT);
    }
    let mut physical = json!({ "artifactLocation": artifact });
    if let Some(line) = spot.line.filter(|line| *line > 0) {
        let mut region = json!({ "startLine": line });
        if let Some(column) = spot.column.filter(|column| *column > 0) {
            region["startColumn"] = json!(column);
        }
        physical["region"] = region;
    }
    let from = match finding.origin {
        FindingSource::Plan { path, .. } => json!({ "plan": path }),
        FindingSource::Report { path, .. } => json!({ "report": path }),
    };
    json!({
        "ruleId": finding.diagnosis.root_cause,
        "ruleIndex": rule,
        "level": match finding.weight() {
            Weight::Code => "error",
            Weight::Test | Weight::Undecided => "warning",
            Weight::Gone => "note",
        },
        "message": { "text": finding.line() },
        "locations": [{
            "physicalLocation": physical,
            "logicalLocations": [{ "fullyQualifiedName": finding.subject, "kind": "test" }],
        }],
        "partialFingerprints": { "jelly/v1": finding.id },
        "properties": { "jelly": finding.diagnosis, "from": from },
    })
}

/// A path as a reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_becomes_a_reference() {
        assert_eq!(uri("./a b/c:d#é.yaml"), "a%20b/c%3Ad%23%C3%A9.yaml");
        assert_eq!(uri("/x/y%.yaml"), "file:///x/y%25.yaml");
    }
}
