//! The reader beside a corpus of real reports, whose counts were taken
//! element by element with another parser.
//!
//! The corpus is too large, and not ours, to be part of the project: it is
//! looked for beside it, as `shared/corpus`, or where `JELLY_CORPUS` says.

use jelly::junit::{Case, CaseOutcome, CaseSink, Limits, read};
use jelly::model::ReportSummary;
use serde_json::Value;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Folder of the JUnit reports, or a loud word and nothing.
fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("JELLY_CORPUS").map(PathBuf::from);
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = project
        .ancestors()
        .skip(1)
        .map(|up| up.join("shared/corpus"));
    let found = named
        .into_iter()
        .chain(beside)
        .map(|folder| folder.join("junit"))
        .find(|folder| folder.join("index.json").is_file());
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing must say so")]
        {
            eprintln!("SKIPPED: corpus not beside the project");
        }
    }
    found
}

fn index(corpus: &Path) -> Vec<Value> {
    let text = fs::read_to_string(corpus.join("index.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Counts what is handed over.
#[derive(Default)]
struct Tally {
    ordinals: Vec<u64>,
    failing: u64,
    flaky: u64,
    turned: u64,
}

impl CaseSink for Tally {
    fn case(&mut self, case: &Case<'_>) {
        self.ordinals.push(case.ordinal);
        let wrong = !matches!(case.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
        assert_eq!(wrong, !case.failures.is_empty(), "{case:?}");
        self.flaky += u64::from(case.outcome == CaseOutcome::Flaky);
        self.failing += u64::from(wrong && case.outcome != CaseOutcome::Flaky);
    }

    fn turned_flaky(&mut self, ordinal: u64) {
        assert!(self.ordinals.contains(&ordinal));
        self.turned += 1;
    }
}

/// Reads a file of the corpus, and holds the summary against what was handed
/// over.
fn summary(corpus: &Path, file: &str) -> ReportSummary {
    let mut input = BufReader::new(File::open(corpus.join("files").join(file)).unwrap());
    let mut tally = Tally::default();
    let summary = read(&mut input, file, &Limits::default(), &mut tally);
    let parts = [
        summary.passed,
        summary.failed,
        summary.errors,
        summary.skipped,
        summary.flaky,
    ];
    assert_eq!(summary.tests, parts.iter().sum::<u64>(), "{file}");
    assert_eq!(
        tally.ordinals.len() as u64,
        summary.tests + summary.suite_errors,
        "{file}"
    );
    assert_eq!(
        tally.failing + tally.flaky,
        summary.failed + summary.errors + summary.flaky + summary.suite_errors,
        "{file}"
    );
    assert!(tally.turned <= summary.flaky, "{file}");
    tally.ordinals.sort_unstable();
    tally.ordinals.dedup();
    assert_eq!(
        tally.ordinals.len() as u64,
        summary.tests + summary.suite_errors,
        "{file}"
    );
    summary
}

/// What the index says beside what was read, field by field.
fn differences(entry: &Value, summary: &ReportSummary) -> Vec<String> {
    let elements = summary.elements;
    [
        ("tests", elements.cases),
        ("failures", elements.failed),
        ("errors", elements.errors),
        ("skipped", elements.skipped),
        ("flaky", elements.flaky),
        ("rerun", elements.rerun),
        ("failed_or_error", elements.failed_or_error),
    ]
    .into_iter()
    .filter_map(|(field, read)| {
        let counted = entry[field].as_u64()?;
        (counted != read).then(|| format!("{field}: {counted} in the index, {read} read"))
    })
    .collect()
}

fn text<'a>(entry: &'a Value, field: &str) -> &'a str {
    entry[field].as_str().unwrap_or_default()
}

#[test]
fn every_well_formed_report_of_the_corpus_is_counted_as_its_elements_are() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    let mut reports = 0;
    for entry in index(&corpus) {
        let junit = matches!(text(&entry, "root"), "testsuites" | "testsuite" | "testrun");
        if !junit || entry["wellformed"] != true || text(&entry, "dialect") == "malformed" {
            continue;
        }
        reports += 1;
        let file = text(&entry, "file");
        let summary = summary(&corpus, file);
        let mut found = differences(&entry, &summary);
        found.extend(summary.problem.map(|problem| format!("problem: {problem}")));
        wrong.extend(found.into_iter().map(|found| format!("{file}: {found}")));
    }
    assert!(reports > 300, "{reports}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
