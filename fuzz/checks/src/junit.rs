//! Any bytes are a report that is read to its end, and what is said of it
//! adds up: however it is cut into pieces, and however often it is read.

use jelly_base::model::{Failure, ReportSummary};
use jelly_triage::junit::{Case, CaseOutcome, CaseSink, ReaderLimits, read};
use std::collections::BTreeMap;
use std::io::BufReader;

/// Small, so that an input goes over all of them.
const SMALL: ReaderLimits = ReaderLimits {
    text: 64,
    message: 32,
    output: 64,
    name: 32,
    token: 256,
    depth: 32,
    failures_per_case: 4,
    held: 4_096,
    identities: 64,
};

/// What marks that something was left out takes room too.
const MARK: usize = 64;

/// So many suites are named at most in what the reader says itself.
const NAMED: usize = 3;

/// What a sink is told of a case.
#[derive(PartialEq, Debug)]
struct Told {
    suite: String,
    classname: String,
    name: String,
    file: Option<String>,
    line: Option<u64>,
    seconds: Option<f64>,
    outcome: CaseOutcome,
    failures: Vec<Failure>,
}

#[derive(Default, PartialEq, Debug)]
struct Seen {
    cases: BTreeMap<u64, Told>,
    last_failing: Option<u64>,
    bounded: bool,
}

impl CaseSink for Seen {
    fn case(&mut self, case: &Case<'_>) {
        let fine = matches!(case.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
        assert_eq!(fine, case.failures.is_empty());
        assert!(case.duration_s.is_none_or(|s| s.is_finite() && s >= 0.0));
        for failure in case.failures {
            assert!(matches!(
                failure.element.as_deref(),
                Some("failure" | "error")
            ));
            assert!(failure.dialect.is_some() && failure.phase.is_none());
            assert_eq!(failure.name.as_deref(), Some(case.name));
            if self.bounded {
                let within = |text: &Option<String>, limit: usize| {
                    assert!(
                        text.as_ref()
                            .is_none_or(|text| text.len() <= 2 * limit + MARK),
                        "{text:?} is longer than {limit} allows"
                    );
                };
                within(&failure.text, SMALL.text);
                // The reader's own words may name some suites that hold nothing.
                let own = NAMED * 4 * SMALL.name;
                within(&failure.message, SMALL.message.max(own));
                within(&failure.system_out, SMALL.output);
                within(&failure.system_err, SMALL.output);
                within(&failure.type_, SMALL.name);
                within(&failure.name, SMALL.name);
                within(&failure.classname, SMALL.name);
                within(&failure.file, SMALL.name);
                within(&failure.suite, 4 * SMALL.name);
            }
        }
        if !fine {
            assert!(self.last_failing < Some(case.ordinal));
            self.last_failing = Some(case.ordinal);
        }
        let told = Told {
            suite: case.suite.to_owned(),
            classname: case.classname.to_owned(),
            name: case.name.to_owned(),
            file: case.file.map(str::to_owned),
            line: case.line,
            seconds: case.duration_s,
            outcome: case.outcome,
            failures: case.failures.to_vec(),
        };
        assert!(self.cases.insert(case.ordinal, told).is_none());
    }

    fn turned_flaky(&mut self, ordinal: u64) {
        let Some(case) = self.cases.get_mut(&ordinal) else {
            panic!("no case {ordinal} was told");
        };
        assert!(matches!(
            case.outcome,
            CaseOutcome::Failed | CaseOutcome::Error
        ));
        case.outcome = CaseOutcome::Flaky;
    }
}

fn seen(bytes: &[u8], buffer: usize, limits: &ReaderLimits) -> (ReportSummary, Seen) {
    let mut seen = Seen {
        bounded: *limits == SMALL,
        ..Seen::default()
    };
    let mut input = BufReader::with_capacity(buffer, bytes);
    let summary = read(&mut input, "report.xml", limits, &mut seen);
    adds_up(&summary, &seen);
    (summary, seen)
}

/// Every case is counted once, as what it was told to be.
fn adds_up(summary: &ReportSummary, seen: &Seen) {
    let sum = summary.passed + summary.failed + summary.errors + summary.skipped + summary.flaky;
    assert_eq!(summary.tests, sum);
    // Attempts that look as if they had passed are no tests.
    let attempts = summary.reruns.attempts.len() as u64;
    let passed_late = summary.reruns.passed.len() as u64;
    assert_eq!(summary.tests + attempts, summary.elements.cases);
    let cases = seen.cases.len() as u64;
    assert_eq!(cases, summary.tests + attempts + summary.suite_errors);
    let last = seen.cases.last_key_value().map(|(ordinal, _)| ordinal + 1);
    assert_eq!(last.unwrap_or(0), cases);
    let count = |outcome| {
        seen.cases
            .values()
            .filter(|told| told.outcome == outcome)
            .count() as u64
    };
    let not_first = attempts + passed_late;
    assert_eq!(summary.passed + not_first, count(CaseOutcome::Passed));
    assert_eq!(summary.skipped, count(CaseOutcome::Skipped));
    assert_eq!(summary.flaky, count(CaseOutcome::Flaky) + passed_late);
    assert_eq!(
        summary.failed + summary.errors + summary.suite_errors,
        count(CaseOutcome::Failed) + count(CaseOutcome::Error)
    );
    assert!(!summary.dialect.is_empty());
    assert!(summary.warnings.len() <= 16);
    for said in summary.problem.iter().chain(&summary.warnings) {
        assert!(!said.is_empty() && said.len() <= 400 && !said.contains(char::is_control));
    }
    // Nothing that was looked at is a report without a word.
    if summary.tests + summary.suite_errors == 0 {
        assert!(summary.problem.is_some() || !summary.warnings.is_empty());
    }
}

/// What a strict parser takes for well-formed JUnit is whole, and every one
/// of its cases is counted.
fn agrees_with_another_parser(bytes: &[u8], summary: &ReportSummary) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(document) = roxmltree::Document::parse(text) else {
        return;
    };
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "testsuites" | "testsuite") {
        return;
    }
    let depth = document
        .descendants()
        .map(|node| node.ancestors().count())
        .max();
    let is_case = |node: &roxmltree::Node<'_, '_>| node.has_tag_name_of("testcase");
    let nested = |node: &roxmltree::Node<'_, '_>| node.ancestors().filter(is_case).count() > 8;
    if depth.is_none_or(|depth| depth > 900) || document.descendants().any(|node| nested(&node)) {
        return;
    }
    assert_eq!(summary.problem, None);
    let cases = document.descendants().filter(is_case).count() as u64;
    assert_eq!(summary.tests, cases);
}

trait Local {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Local for roxmltree::Node<'_, '_> {
    /// Whatever its namespace.
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// A report that was cut off says so, or nothing of it is missing.
fn a_cut_is_noticed(bytes: &[u8], cut: usize, whole: &ReportSummary, all: &Seen) {
    let is_xml = !matches!(whole.dialect.as_str(), "tap" | "go-test");
    let one_root = !whole.warnings.iter().any(|w| w.contains("several root"));
    if whole.problem.is_some() || !is_xml || !one_root {
        return;
    }
    let (summary, part) = seen(&bytes[..cut], 4_096, &ReaderLimits::default());
    if summary.problem.is_none() {
        assert_eq!(summary.tests, whole.tests);
        assert_eq!(part.cases.len(), all.cases.len());
    }
}

/// Reads the report whole, in pieces and again, and compares.
pub fn check(bytes: &[u8]) {
    let dice = bytes.iter().fold(bytes.len(), |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
    });
    let buffer = dice % 255 + 1;
    // In one piece nothing is left out of a token, in small ones it is.
    let (whole, _) = seen(bytes, bytes.len() + 1, &SMALL);
    let (left_out, _) = seen(bytes, buffer, &SMALL);
    // What is sniffed at the beginning of plain text depends on the piece.
    let is_xml = bytes.first() == Some(&b'<');
    if is_xml && whole.problem.is_none() && left_out.problem.is_none() {
        assert_eq!(whole.tests, left_out.tests);
    }
    let (summary, all) = seen(bytes, bytes.len() + 1, &ReaderLimits::default());
    let (again, pieces) = seen(bytes, buffer, &ReaderLimits::default());
    // Below this size no token is too long.
    if is_xml && bytes.len() < ReaderLimits::default().token {
        assert_eq!(summary, again);
        assert_eq!(all, pieces);
    }
    let (again, once_more) = seen(bytes, bytes.len() + 1, &ReaderLimits::default());
    assert_eq!(summary, again);
    assert_eq!(all, once_more);
    agrees_with_another_parser(bytes, &summary);
    a_cut_is_noticed(bytes, dice % (bytes.len() + 1), &summary, &all);
}
