//! Which files jelly wrote itself, each in its format: no other file is
//! replaced by a report.

use jelly_base::model::{RUN_REPORT, TRIAGE_REPORT};
use serde_json::Value;

/// What stands before the elements of an XML document, and a bit of these.
const HEAD: usize = 1024;

/// `junit` and `junit-strict`: the root names its writer.
#[must_use]
pub fn is_own_junit(text: &str) -> bool {
    let head = head(text);
    let root = head.split_once("<testsuites ").map(|(_, root)| root);
    [RUN_REPORT, TRIAGE_REPORT]
        .iter()
        .any(|writer| root.is_some_and(|it| it.starts_with(&format!("name=\"{writer}\""))))
}

/// `ctrf`: it names what generated it.
#[must_use]
pub fn is_own_ctrf(text: &str) -> bool {
    let head = head(text);
    head.starts_with("{\"reportFormat\":\"CTRF\"") && head.contains("\"generatedBy\":\"jelly ")
}

/// `sarif`: all of its runs are jelly's.
#[must_use]
pub fn is_own_sarif(text: &str) -> bool {
    let read: Result<Value, _> = serde_json::from_str(text);
    let read = read.unwrap_or_default();
    let runs = read["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let is_own = |run: &Value| run["tool"]["driver"]["name"] == "jelly";
    !runs.is_empty() && runs.iter().all(is_own)
}

/// `html`: the page names its generator.
#[must_use]
pub fn is_own_page(text: &str) -> bool {
    head(text).contains("<meta name=\"generator\" content=\"jelly\">")
}

/// Of a run: a heading with a verdict, and its exit code below; of a triage its
/// own heading and the summary.
#[must_use]
pub fn is_own_markdown(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let (Some(title), Some(next)) = (lines.next(), lines.next()) else {
        return false;
    };
    let is_run = title.starts_with("# ")
        && (next.starts_with("- Exit code: **") || next.starts_with("The loop goes on"));
    let is_triage = title.starts_with("# Triage: ") && next.starts_with("**");
    is_run || is_triage
}

/// Begins as the results of a run or of a triage do.
#[must_use]
pub fn is_own_results(text: &str) -> bool {
    let mut keys = text.lines().skip(1).map(str::trim_start);
    let (Some(first), Some(second)) = (keys.next(), keys.next()) else {
        return false;
    };
    text.starts_with("{\n")
        && first.starts_with("\"schema_version\": ")
        && (second.starts_with("\"run_id\": ") || second.starts_with("\"exit_code\": "))
}

/// Each line is a failure with its diagnosis.
#[must_use]
pub fn is_own_lines(text: &str) -> bool {
    let begins = ["{\"id\":\"", "{\"report\":\""];
    let is_own = |line: &str| {
        begins.iter().any(|begin| line.starts_with(begin)) && line.contains(",\"diagnosis\":{")
    };
    text.lines().all(is_own)
}

/// What `jelly triage` prints for people, or as a table.
#[must_use]
pub fn is_own_account(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let is_table = first.starts_with("| Test ");
    let is_verdict = first.starts_with("PASS  ") || first.starts_with("FAIL  ");
    let counted = first.split_once(' ').is_some_and(|(number, rest)| {
        number.parse::<u64>().is_ok() && (rest.starts_with("test: ") || rest.starts_with("tests: "))
    });
    is_table || is_verdict || counted
}

fn head(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(HEAD)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{is_own_account, is_own_junit, is_own_lines, is_own_markdown, is_own_results};

    #[test]
    fn files_of_others_are_none_of_jellys() {
        let junit = "<?xml version=\"1.0\"?>\n<testsuites name=\"jest tests\">";
        assert!(!is_own_junit(junit));
        assert!(!is_own_junit("<testsuites name=\"jelly-bean\">"));
        assert!(is_own_junit("<testsuites name=\"jelly\" tests=\"1\">"));
        assert!(!is_own_markdown("# My notes\n\nabout jelly\n"));
        assert!(!is_own_results(
            "{\n  \"schema_version\": 1,\n  \"servers\": {}\n}\n"
        ));
        assert!(!is_own_lines("{\"id\":\"1\",\"name\":\"mine\"}\n"));
        assert!(!is_own_account("tests: [a]\n"));
    }
}
