//! The reader beside a corpus of real reports, whose counts were taken
//! element by element with another parser.
//!
//! The corpus is too large, and not ours, to be part of the project: it is
//! looked for beside it, as `shared/corpus`, or where `JELLY_CORPUS` says.

use jelly_base::model::ReportSummary;
use jelly_triage::junit::{Case, CaseOutcome, CaseSink, ReaderLimits, read};
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
    let summary = read(&mut input, file, &ReaderLimits::default(), &mut tally);
    let parts = [
        summary.passed,
        summary.failed,
        summary.errors,
        summary.skipped,
        summary.flaky,
    ];
    assert_eq!(summary.tests, parts.iter().sum::<u64>(), "{file}");
    // Attempts that look as if they had passed are no tests.
    let attempts = summary.reruns.attempts.len() as u64;
    let passed_late = summary.reruns.passed.len() as u64;
    assert_eq!(
        tally.ordinals.len() as u64,
        summary.tests + summary.suite_errors + attempts,
        "{file}"
    );
    assert_eq!(
        tally.failing + tally.flaky + passed_late,
        summary.failed + summary.errors + summary.flaky + summary.suite_errors,
        "{file}"
    );
    assert!(tally.turned <= summary.flaky, "{file}");
    tally.ordinals.sort_unstable();
    tally.ordinals.dedup();
    assert_eq!(
        tally.ordinals.len() as u64,
        summary.tests + summary.suite_errors + attempts,
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

/// Reports whose cases hold elements of several outcomes, or say theirs by an
/// attribute, or are attempts of one test: the totals have one outcome a case.
const ONE_OUTCOME: [&str; 13] = [
    "gtest/gtest.xml",
    "malformed/ctrf-io__reports_test-junit-problem-string.xml",
    "malformed/failure-and-error-and-skipped.xml",
    "misc/EnricoMi__junit-xml_junit.multiresult.xml",
    "misc/EnricoMi__tst_disabled.xml",
    "misc/allure-framework__junitdata_TEST-status-attribute.xml",
    "misc/joshdk__testdata_cubic.xml",
    "misc/lukejpreston__data_multi_error_test_with_system_out.xml",
    "misc/lukejpreston__data_test.xml",
    "misc/mikepenz__issues_testDisabled.xml",
    "misc/mikepenz__junit-server-test_report.xml",
    "misc/mikepenz__multiple_failures_test_multiple_errors.xml",
    "nextest/nextest-rs__fixtures_basic_report.xml",
];

/// Reports that write an error of a suite twice, and how many: each counts once.
const WRITTEN_TWICE: (&str, u64) = ("jest-junit/jest-junit.xml", 2);

/// The same for the totals, in which each case has one outcome; attempts that look as if
/// they had passed are counted there.
fn outcomes(entry: &Value, summary: &ReportSummary) -> Vec<String> {
    let reruns = &summary.reruns;
    let (attempts, passed_late) = (reruns.attempts.len() as u64, reruns.passed.len() as u64);
    [
        ("tests", summary.tests + attempts),
        ("failures", summary.failed),
        ("errors", summary.errors),
        ("skipped", summary.skipped),
        ("flaky", summary.flaky - passed_late),
    ]
    .into_iter()
    .filter_map(|(field, total)| {
        let counted = entry[field].as_u64()?;
        (counted != total).then(|| format!("{field}: {counted} in the index, {total} in total"))
    })
    .collect()
}

/// Failures and errors that the root claims.
fn claimed(entry: &Value) -> u64 {
    let of = |field: &str| entry["attr"][field].as_u64().unwrap_or(0);
    of("failures") + of("errors")
}

fn text<'a>(entry: &'a Value, field: &str) -> &'a str {
    entry[field].as_str().unwrap_or_default()
}

#[test]
fn every_well_formed_report_of_the_corpus_is_counted_as_its_elements_are() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    let mut reports = 0;
    for mut entry in index(&corpus) {
        let junit = matches!(text(&entry, "root"), "testsuites" | "testsuite" | "testrun");
        if !junit || entry["wellformed"] != true {
            continue;
        }
        reports += 1;
        if text(&entry, "file") == WRITTEN_TWICE.0 {
            for field in ["tests", "failures", "failed_or_error"] {
                let written = entry[field].as_u64().unwrap();
                entry[field] = (written - WRITTEN_TWICE.1).into();
            }
        }
        let file = text(&entry, "file");
        let summary = summary(&corpus, file);
        let mut found = differences(&entry, &summary);
        if !ONE_OUTCOME.contains(&file) {
            found.extend(outcomes(&entry, &summary));
        }
        let claimed = claimed(&entry);
        let green = summary.failed + summary.errors + summary.flaky + summary.suite_errors == 0;
        if claimed > 0 && green && summary.elements.rerun == 0 {
            found.push(format!("{claimed} failures are claimed, and it is green"));
        }
        found.extend(summary.problem.map(|problem| format!("problem: {problem}")));
        wrong.extend(found.into_iter().map(|found| format!("{file}: {found}")));
    }
    assert!(reports > 300, "{reports}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What becomes of each malformed report: tests, failed, errors, and words of
/// its problem, or else of a warning.
const MALFORMED: [(&str, [u64; 3], &str, &str); 33] = [
    ("DataDog__fixtures_empty.xml", [0, 0, 0], "empty", ""),
    (
        "DataDog__fixtures_invalid.xml",
        [3, 0, 0],
        "`<nothing>`",
        "",
    ),
    (
        "DataDog__subfolder_invalid-no-tests.xml",
        [0, 0, 0],
        "",
        "no test case",
    ),
    (
        "EnricoMi__pytest_corrupt-xml.xml",
        [2, 0, 0],
        "`<skipped>`, in line 11",
        "",
    ),
    ("EnricoMi__xml_empty.xml", [0, 0, 0], "empty", ""),
    ("EnricoMi__xml_non-xml.xml", [0, 0, 0], "no XML", ""),
    ("boost-crash-empty.xml", [0, 0, 0], "empty", ""),
    ("cdata-split.xml", [1, 1, 0], "", ""),
    ("charref-control.xml", [106, 95, 6], "", "not allow"),
    (
        "control-chars.xml",
        [106, 95, 6],
        "",
        "not allow, the first one in line 763",
    ),
    ("counts-missing.xml", [3, 1, 1], "", ""),
    ("crlf-newlines.xml", [24, 6, 14], "", ""),
    ("doctype-harmless.xml", [1, 0, 0], "", ""),
    ("duplicate-attributes.xml", [1, 1, 0], "", "attribute twice"),
    ("failure-and-error-and-skipped.xml", [1, 0, 1], "", ""),
    ("huge-attribute-2mb.xml", [1, 1, 0], "", ""),
    ("jenkinsci__junit_testXxe-oob.xml", [0, 0, 0], "line 1", ""),
    (
        "latin1-declared-utf8.xml",
        [24, 6, 14],
        "",
        "read as Windows-1252",
    ),
    ("latin1-declared.xml", [24, 6, 14], "", ""),
    (
        "leading-garbage.xml",
        [45, 40, 2],
        "",
        "before or after its root",
    ),
    ("lukejpreston__data_invalid.xml", [0, 0, 0], "no XML", ""),
    (
        "lukejpreston__subfolder__thingy.xml",
        [0, 0, 0],
        "empty",
        "",
    ),
    ("many-attributes.xml", [1, 0, 0], "", ""),
    (
        "mikepenz__sf-reports_TEST-test.CorruptTest.xml",
        [1, 1, 0],
        "line 18",
        "",
    ),
    (
        "multi-root-no-decl.xml",
        [2, 1, 0],
        "",
        "several root elements",
    ),
    ("namespaced.xml", [1, 1, 0], "", ""),
    ("param-entity.xml", [1, 0, 0], "", "was not read"),
    (
        "trailing-garbage.xml",
        [45, 40, 2],
        "",
        "before or after its root",
    ),
    ("truncated-mid-cdata.xml", [3, 1, 1], "cut off", ""),
    ("utf16le-bom.xml", [24, 6, 14], "", ""),
    ("utf8-bom.xml", [24, 6, 14], "", ""),
    (
        "windows1252-no-declaration.xml",
        [24, 6, 14],
        "",
        "read as Windows-1252",
    ),
    ("xxe-file.xml", [1, 1, 0], "", "was not read"),
];

#[test]
fn every_malformed_report_of_the_corpus_is_read_as_far_as_it_goes() {
    let Some(corpus) = corpus() else { return };
    for (file, counts, problem, warning) in MALFORMED {
        let summary = summary(&corpus, &format!("malformed/{file}"));
        let read = [summary.tests, summary.failed, summary.errors];
        assert_eq!(read, counts, "{file}");
        assert_eq!(summary.problem.is_none(), problem.is_empty(), "{summary:?}");
        assert!(
            summary.problem.unwrap_or_default().contains(problem),
            "{file}"
        );
        assert!(summary.warnings.join("\n").contains(warning), "{file}");
    }
    for (file, counts) in [
        // One that is still to do fails, which is no failure.
        ("node-test/node-test.xml", [10, 7, 0]),
        // It ends within its last case, which is no pass.
        ("libtest/libtest-junit.xml", [13, 11, 1]),
    ] {
        let summary = summary(&corpus, file);
        assert_eq!(
            [summary.tests, summary.failed, summary.errors],
            counts,
            "{file}"
        );
    }
}

#[test]
fn the_writer_of_every_report_that_was_really_written_by_it_is_told() {
    let Some(corpus) = corpus() else { return };
    let (mut reports, mut wrong) = (0, Vec::new());
    for entry in index(&corpus) {
        let writer = text(&entry, "dialect");
        let ran = text(&entry, "source").starts_with("generated here by running");
        if !ran || writer.ends_with("nonjunit") || matches!(writer, "malformed" | "misc") {
            continue;
        }
        reports += 1;
        let file = text(&entry, "file");
        // A rerun is nothing that the writer is another one for.
        let writer = writer.trim_end_matches("-rerun");
        let told = summary(&corpus, file).dialect;
        if told != writer {
            wrong.push(format!("{file}: {told}"));
        }
    }
    assert!(reports >= 30, "{reports}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
