//! One report's cases → its failures with their diagnoses.

use super::account::ReportPart;
use super::blocks::counted_as;
use super::mentions::Mentions;
use super::read::Tools;
use super::rerun::Hint;
use super::titles::{block_of, class_or_suite};
use crate::engine::{failing_line, is_library, without_teardown};
use crate::frameworks;
use crate::history::TestName;
use crate::junit::{Case, CaseOutcome, CaseSink};
use jelly_base::model::{
    Diagnosis, Failure, FailureStatus, FailureView, Failures, ReportSummary, Side, Template,
    TriagedFailure, mask_for,
};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{lines, one_line};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Longest message that is kept of a failure, in bytes.
const MESSAGE_MAX: usize = 300;

/// Lines of a failure in which a matcher says what it compared.
const MATCHER_LINES: usize = 16;

/// A case that fails a hundred times over is told by its first few causes.
const CAUSES_OF_A_CASE: usize = 8;

/// Causes and tests of a report of which a place is kept.
const PLACES: usize = 4000;

/// What Vitest puts between the titles of suites and tests.
const BELOW: &str = " > ";
/// Titles around a test, and suites of a report, that are looked at.
const TITLES: usize = 16;
const SUITES: usize = 10_000;

/// Diagnoses each failure as it is read and keeps what is printed of it;
/// passing cases leave nothing behind but how many their suite has.
pub struct Collector<'e> {
    tools: Tools<'e>,
    report: String,
    failures: Failures,
    /// With their ordinals.
    passed: Vec<(u64, TestName)>,
    templates: HashMap<String, Template>,
    took: HashMap<TestName, u64>,
    first_prints: HashMap<String, String>,
    /// Suites whose tests were skipped, with the titles around each of them.
    /// One that is a failed case besides failed in its set-up.
    skipped_below: HashSet<(String, String)>,
    /// Places in `failures`, by case. Cases do not come by rising ordinal.
    places: HashMap<u64, Range<usize>>,
    /// By case, what failures tell of their tests where the report does not.
    told: HashMap<u64, Hint>,
    /// By fingerprint, of a cause as of a test, where its first victim failed.
    failed_at: HashMap<String, String>,
    mentions: Mentions,
}

impl<'e> Collector<'e> {
    /// Collects the failures of the report that is printed as `report`.
    #[must_use]
    pub fn new(tools: Tools<'e>, report: &str) -> Self {
        Self {
            tools,
            report: tools.redactor.redact(report).into_owned(),
            failures: Failures::default(),
            passed: Vec::new(),
            templates: HashMap::new(),
            took: HashMap::new(),
            first_prints: HashMap::new(),
            skipped_below: HashSet::new(),
            places: HashMap::new(),
            told: HashMap::new(),
            failed_at: HashMap::new(),
            mentions: Mentions::default(),
        }
    }

    /// What was kept, with the report's own summary.
    #[must_use]
    pub fn into_part(mut self, summary: ReportSummary) -> ReportPart {
        self.failures.sort_by_case();
        let hints = self.hints();
        self.failures.shrink_to_fit();
        ReportPart {
            hints,
            failures: self.failures,
            passed: (self.passed.into_iter())
                .filter(|(ordinal, _)| !summary.reruns.attempts.contains(ordinal))
                .map(|(_, test)| test)
                .collect(),
            summary,
            templates: self.templates,
            took: self.took,
            first_prints: self.first_prints,
            failed_at: self.failed_at,
            mentions: self.mentions,
        }
    }

    /// What is known of cases besides what is printed of them: what failures
    /// tell of their tests, and which stand for a suite.
    fn hints(&mut self) -> HashMap<u64, Hint> {
        let mut hints = std::mem::take(&mut self.told);
        if self.skipped_below.is_empty() {
            return hints;
        }
        let below = |failure: &FailureView<'_>| (failure.suite.to_owned(), failure.name.to_owned());
        for failure in self.failures.iter() {
            if self.skipped_below.contains(&below(&failure)) {
                hints.entry(failure.ordinal).or_default().is_group = true;
            }
        }
        hints
    }

    /// What a failure that is to be run again tells of its test, as its file by
    /// the stack.
    fn remember_told(&mut self, case: &Case<'_>, failure: &Failure) {
        let writer = failure.dialect.as_deref().unwrap_or_default();
        let texts = || [&failure.text, &failure.message].into_iter().flatten();
        let mut told = texts().map(|text| frameworks::told_by(writer, text));
        if let Some(told) = told.find(|told| !told.is_empty()) {
            let hint = self.told.entry(case.ordinal).or_default();
            if hint.told.is_empty() {
                hint.told = told;
            }
        }
        let mut files = texts().filter_map(|text| frameworks::file_of(writer, text));
        if case.file.is_none()
            && let Some(file) = files.next()
        {
            let here = self
                .tools
                .folder
                .and_then(|folder| Path::new(file).strip_prefix(folder).ok());
            let file = here.and_then(Path::to_str).unwrap_or(file);
            let hint = self.told.entry(case.ordinal).or_default();
            hint.file.get_or_insert_with(|| file.to_owned());
        }
    }

    /// The line of the project at which a failure failed, as its stack tells it.
    fn remember_place(&mut self, failure: &Failure, diagnosis: &Diagnosis) {
        let is_new = !self.failed_at.contains_key(&diagnosis.test_fingerprint);
        if self.failed_at.len() < PLACES
            && is_new
            && let Some(place) = failing_line(failure)
        {
            let (cause, test) = (&diagnosis.fingerprint, &diagnosis.test_fingerprint);
            let of_cause = self.failed_at.entry(cause.clone());
            of_cause.or_insert_with(|| place.clone());
            self.failed_at.insert(test.clone(), place);
        }
    }

    fn skipped(&mut self, case: &Case<'_>) {
        let text = |text| self.tools.redactor.redact(text).into_owned();
        for (end, _) in case.name.match_indices(BELOW).take(TITLES) {
            if self.skipped_below.len() < SUITES {
                let titles = case.name.get(..end).unwrap_or_default();
                self.skipped_below.insert((text(case.suite), text(titles)));
            }
        }
    }

    fn passed(&mut self, case: &Case<'_>) {
        if self.tools.watch.iter().all(Option::is_none) {
            return;
        }
        // Names are remembered as they are printed: without secrets.
        let text = |text| self.tools.redactor.redact(text);
        let (suite, classname, name) = (text(case.suite), text(case.classname), text(case.name));
        if self
            .tools
            .watch
            .into_iter()
            .flatten()
            .any(|past| past.watches(&suite, &classname, &name))
        {
            let test = TestName::new(&suite, &classname, &name);
            self.remember_time(&test, case);
            self.passed.push((case.ordinal, test));
        }
    }

    /// How long a test took, where runs are remembered.
    fn remember_time(&mut self, test: &TestName, case: &Case<'_>) {
        if self.tools.origin.is_some()
            && let Some(took) = case.duration_s.and_then(milliseconds)
        {
            self.took.insert(test.clone(), took);
        }
    }

    fn diagnose(&mut self, failure: &Failure) -> Diagnosis {
        let diagnosis = self.diagnosis(failure);
        let mut watch = self.tools.watch.iter().flatten();
        if watch.any(|past| past.has_first_prints()) {
            let first = self.tools.engine.first_test_fingerprint(failure);
            let today = diagnosis.test_fingerprint.clone();
            self.first_prints.entry(today).or_insert(first);
        }
        diagnosis
    }

    fn diagnosis(&mut self, failure: &Failure) -> Diagnosis {
        if self.tools.origin.is_none() {
            return self.tools.engine.diagnose(failure);
        }
        let (diagnosis, mut template) = self.tools.engine.diagnose_with_template(failure);
        template.for_each_text(&mut mask_for(&diagnosis.root_cause));
        self.templates
            .entry(diagnosis.fingerprint.clone())
            .or_insert(template);
        diagnosis
    }

    fn take(
        &mut self,
        case: &Case<'_>,
        status: FailureStatus,
        failure: &Failure,
    ) -> TriagedFailure {
        let failure = clean(self.tools.redactor, failure);
        let mut diagnosis = self.diagnose(&failure);
        if let Some(adapt) = self.tools.adapt {
            adapt(&mut diagnosis.advice.fix);
        }
        // What is secret by its name or form alone is told nowhere, and yet decides: two
        // keys that were compared differ.
        let mask = mask_for(&diagnosis.root_cause);
        diagnosis.mask_quotes();
        let failure = without_teardown(&failure);
        self.remember_place(&failure, &diagnosis);
        let text = |text: &str| self.tools.redactor.redact(text).into_owned();
        // Of a module that can't be loaded, unittest names the file of its own loader.
        let file = case.file.filter(|file| !is_library(file));
        let triaged = TriagedFailure {
            report: self.report.clone(),
            suite: text(case.suite),
            classname: text(case.classname),
            name: text(case.name),
            file: file.map(text),
            line: case.line.filter(|_| file.is_some() || case.file.is_none()),
            status,
            message: message(&failure).map(|mut told| {
                mask(&mut told);
                told
            }),
            pre_existing: None,
            diagnosis,
            history: None,
        };
        // What jelly said of a run, and what a rule of the user's own says, holds.
        let is_decided =
            failure.label.is_some() || self.tools.engine.is_asked_first(&triaged.diagnosis.rule);
        let may_follow = !(is_decided && triaged.diagnosis.side == Side::Code)
            && self.mentions.note(case.ordinal, &failure, &triaged);
        // What fails as a consequence is run again with its cause.
        if may_follow || triaged.diagnosis.retryable == Some(true) {
            self.remember_told(case, &failure);
        }
        triaged
    }
}

impl CaseSink for Collector<'_> {
    fn case(&mut self, case: &Case<'_>) {
        if case.outcome != CaseOutcome::Skipped {
            let suite = class_or_suite(case.classname, case.suite);
            let suite = self.tools.redactor.redact(suite);
            self.mentions.count(&suite);
            if let Some(block) = block_of(case.name) {
                let block = self.tools.redactor.redact(block);
                self.mentions.count(&counted_as(&suite, &block));
            }
        }
        let status = match case.outcome {
            CaseOutcome::Passed => return self.passed(case),
            CaseOutcome::Skipped => return self.skipped(case),
            CaseOutcome::Failed => FailureStatus::Failure,
            CaseOutcome::Error => FailureStatus::Error,
            CaseOutcome::Flaky => FailureStatus::Flaky,
        };
        if self.tools.origin.is_some() {
            let [suite, class, name] = [case.suite, case.classname, case.name]
                .map(|text| self.tools.redactor.redact(text));
            self.remember_time(&TestName::new(&suite, &class, &name), case);
        }
        let first = self.failures.len();
        let nameless = [Failure::default()];
        let failures = if case.failures.is_empty() {
            &nameless
        } else {
            case.failures
        };
        let mut causes: Vec<String> = Vec::new();
        for failure in failures {
            let triaged = self.take(case, status, failure);
            // Attempts and soft assertions that say the same are one failure.
            if causes.contains(&triaged.diagnosis.fingerprint) {
                continue;
            }
            causes.push(triaged.diagnosis.fingerprint.clone());
            self.failures.push_of_case(case.ordinal, triaged);
            if causes.len() == CAUSES_OF_A_CASE {
                break;
            }
        }
        self.places.insert(case.ordinal, first..self.failures.len());
        if status == FailureStatus::Flaky {
            for index in first..self.failures.len() {
                self.failures.turn_flaky(index);
            }
        }
    }

    fn turned_flaky(&mut self, ordinal: u64) {
        for index in self.places.get(&ordinal).cloned().unwrap_or_default() {
            self.failures.turn_flaky(index);
        }
    }
}

/// What is longer than any test takes is none of its durations.
fn milliseconds(seconds: f64) -> Option<u64> {
    let took = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(took.as_millis()).ok()
}

/// What a reader wants to see first of a failure.
fn message(failure: &Failure) -> Option<String> {
    // PHPUnit begins with the name of the test, and of its data.
    let name = failure.name.as_deref().unwrap_or_default();
    let is_name = |line: &str| {
        let told = line.split_once("::").map(|(_, told)| told);
        let data = told.and_then(|told| told.trim_end().strip_prefix(name));
        let is_data = |data: &str| data.is_empty() || data.starts_with(" (");
        !name.is_empty() && data.is_some_and(is_data)
    };
    // Bats with the place, Go and Catch2 with what became of it.
    let is_head = |line: &str| {
        const HEADS: [&str; 6] = [
            "(in test file ",
            "(from function ",
            "--- FAIL: ",
            "=== RUN ",
            "=== CONT ",
            "=== PAUSE ",
        ];
        let line = line.trim_start();
        HEADS.iter().any(|head| line.starts_with(head)) || line.trim_end() == "FAILED:"
    };
    let first_line = |text: &str| {
        lines(text)
            .filter(|line| !is_name(line) && !is_head(line))
            .map(|line| one_line(line, MESSAGE_MAX))
            .find(|line| !line.is_empty())
    };
    if let Some(text) = failure.message.as_deref().or(failure.text.as_deref())
        && let Some(compared) = matcher(text)
    {
        return Some(compared);
    }
    if let Some(said) = panic(failure) {
        return Some(said);
    }
    failure
        .message
        .as_deref()
        .map(|message| one_line(message, MESSAGE_MAX))
        .filter(|message| !message.is_empty())
        .or_else(|| failure.text.as_deref().and_then(first_line))
        .or_else(|| failure.type_.as_deref().and_then(first_line))
}

/// What a Rust program panicked with. Its first line tells the thread and the
/// place, and is all that nextest puts into the message; libtest's reports have
/// it in the output.
fn panic(failure: &Failure) -> Option<String> {
    let texts = [&failure.message, &failure.text];
    let told = texts
        .into_iter()
        .flatten()
        .find(|text| !text.trim().is_empty());
    let is_head = |line: &str| line.starts_with("thread '") && line.contains(" panicked at ");
    if told.is_some_and(|told| !lines(told).any(|line| is_head(line.trim_start()))) {
        return None;
    }
    let outputs = [
        &failure.text,
        &failure.message,
        &failure.system_err,
        &failure.system_out,
    ];
    outputs.into_iter().flatten().find_map(|text| {
        let mut lines = text
            .lines()
            .map(str::trim)
            .skip_while(|line| !is_head(line));
        // Up to Rust 1.72, the panic's message stood in the same line.
        let head = lines.next()?;
        let (_, place) = head.split_once(" panicked at ")?;
        if let Some(said) = place.strip_prefix('\'') {
            let said = said.rsplit_once("', ").map_or(said, |(said, _)| said);
            return Some(one_line(said, MESSAGE_MAX));
        }
        let mut said = one_line(lines.next()?, MESSAGE_MAX);
        // What `assert_eq!` compared stands below.
        for line in lines.take(2) {
            if line.starts_with("left:") || line.starts_with("right:") {
                said.push_str("; ");
                said.push_str(&one_line(line, MESSAGE_MAX / 4));
            }
        }
        let said = one_line(&said, MESSAGE_MAX);
        (!said.is_empty() && !said.starts_with("note: ")).then_some(said)
    })
}

/// Jest names only its matcher in the first line; what was compared follows.
fn matcher(text: &str) -> Option<String> {
    let mut lines = lines(text).take(MATCHER_LINES).map(str::trim);
    let mut said = one_line(lines.find(|line| !line.is_empty())?, MESSAGE_MAX);
    if !said.contains("expect(received)") {
        return None;
    }
    for line in lines {
        if line.starts_with("Expected") || line.starts_with("Received") {
            said.push_str("; ");
            said.push_str(&one_line(line, MESSAGE_MAX / 4));
        }
    }
    Some(one_line(&said, MESSAGE_MAX))
}

/// The failure without secrets. A report was written by a program that had
/// them in its environment, as jelly often has.
fn clean<'f>(redactor: &Redactor, failure: &'f Failure) -> Cow<'f, Failure> {
    let mut clean = Cow::Borrowed(failure);
    macro_rules! redact {
        ($($field:ident),+) => {$(
            if let Some(text) = &failure.$field
                && let Cow::Owned(redacted) = redactor.redact(text)
            {
                clean.to_mut().$field = Some(redacted);
            }
        )+};
    }
    redact!(
        suite, classname, name, type_, message, text, system_out, system_err, file
    );
    if failure.label.is_some()
        && let Some(label) = &mut clean.to_mut().label
    {
        label.for_each_text(&mut |text| *text = redactor.redact(text).into_owned());
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::{Collector, Tools};
    use crate::engine::Engine;
    use crate::junit::{Case, CaseOutcome, CaseSink};
    use crate::survey::{Before, Terms, account};
    use jelly_base::model::{Failure, FailureStatus, ReportSummary, Side};
    use jelly_base::text::redact::Redactor;

    fn case<'a>(ordinal: u64, outcome: CaseOutcome, failures: &'a [Failure]) -> Case<'a> {
        Case {
            ordinal,
            suite: "suite",
            classname: "shop.CartTest",
            name: "total",
            file: None,
            line: None,
            duration_s: None,
            outcome,
            failures,
        }
    }

    fn failure(message: &str) -> Failure {
        Failure {
            dialect: Some("surefire".into()),
            element: Some("failure".into()),
            message: Some(message.into()),
            ..Failure::default()
        }
    }

    #[test]
    fn passing_cases_leave_nothing_behind() {
        let engine = Engine::builtin();
        let redactor = Redactor::none();
        let mut collector = Collector::new(Tools::new(engine, &redactor), "a.xml");
        collector.case(&case(0, CaseOutcome::Passed, &[]));
        collector.case(&case(1, CaseOutcome::Skipped, &[]));
        assert!(
            collector
                .into_part(ReportSummary::default())
                .failures
                .is_empty()
        );
    }

    #[test]
    fn attempts_that_say_the_same_are_one_failure() {
        let engine = Engine::builtin();
        let redactor = Redactor::none();
        let mut collector = Collector::new(Tools::new(engine, &redactor), "a.xml");
        let same = [
            failure("expected: <1> but was: <2>"),
            failure("expected: <1> but was: <2>"),
            failure("connect ECONNREFUSED 127.0.0.1:5432"),
        ];
        collector.case(&case(0, CaseOutcome::Failed, &same));
        assert_eq!(
            collector.into_part(ReportSummary::default()).failures.len(),
            2
        );
    }

    #[test]
    fn a_case_that_passes_later_blames_nobody() {
        let engine = Engine::builtin();
        let redactor = Redactor::none();
        let mut collector = Collector::new(Tools::new(engine, &redactor), "a.xml");
        let wrong = [failure("expected: <1> but was: <2>")];
        collector.case(&case(0, CaseOutcome::Failed, &wrong));
        collector.case(&case(1, CaseOutcome::Failed, &wrong));
        collector.turned_flaky(0);
        let failures = collector.into_part(ReportSummary::default()).failures;
        let (flaky, other) = (failures.get(0).unwrap(), failures.get(1).unwrap());
        assert_eq!(flaky.status, FailureStatus::Flaky);
        assert!(flaky.kind.flaky && flaky.kind.side == Side::Test);
        assert_eq!(other.status, FailureStatus::Failure);
        assert!(!other.kind.flaky);
    }

    #[test]
    fn a_panic_is_told_by_its_message_without_thread_and_pid() {
        let head = "thread 'tests::ix' (7659) panicked at src/lib.rs:5:65";
        for (message, text, output, wanted) in [
            (
                Some(head),
                Some(format!(
                    "{head}:\nindex out of bounds: the len is 1\nnote: run with"
                )),
                None,
                "index out of bounds: the len is 1",
            ),
            (
                None,
                None,
                Some(format!(
                    "\n{head}:\nassertion `left == right` failed\n  left: 1\n right: 2\n"
                )),
                "assertion `left == right` failed; left: 1; right: 2",
            ),
            (
                Some("thread 'main' panicked at 'no \'luck\'', src/a.rs:1:1"),
                None,
                None,
                "no 'luck'",
            ),
            (
                Some("wrong"),
                None,
                Some(format!("{head}:\nanother")),
                "wrong",
            ),
        ] {
            let failure = Failure {
                message: message.map(str::to_owned),
                text,
                system_out: output,
                ..Failure::default()
            };
            assert_eq!(super::message(&failure).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_suite_that_failed_beside_its_skipped_tests_is_run_again_as_a_whole() {
        let engine = Engine::builtin();
        let redactor = Redactor::none();
        let mut collector = Collector::new(Tools::new(engine, &redactor), "a.xml");
        let refused = [failure("connect ECONNREFUSED 127.0.0.1:5432")];
        for (ordinal, name, outcome) in [
            (0, "Cart > adds", CaseOutcome::Skipped),
            (1, "Cart > deep > adds", CaseOutcome::Skipped),
            (2, "User > is", CaseOutcome::Failed),
            (3, "Cart", CaseOutcome::Failed),
        ] {
            let mut told = case(ordinal, outcome, &refused);
            (told.name, told.classname) = (name, "a.test.ts");
            if outcome == CaseOutcome::Skipped {
                told.failures = &[];
            }
            collector.case(&told);
        }
        let part = collector.into_part(ReportSummary {
            path: "a.xml".into(),
            dialect: "vitest".into(),
            tests: 4,
            failed: 2,
            skipped: 2,
            ..ReportSummary::default()
        });
        let report = account(vec![part], Before::default(), Terms::default()).report;
        assert_eq!(
            report.retry.commands,
            ["npx vitest run a.test.ts -t '^ ?(Cart .*|User( >)? is)$'"]
        );
        assert_eq!(
            report.retry.tests,
            ["a.test.ts > Cart", "a.test.ts > User is"]
        );
        assert!(report.retry.notes[0].contains("all of a.test.ts > Cart"));
        assert!(report.retry.notes[1].contains("in all files"));
    }

    #[test]
    fn a_secret_of_the_environment_is_in_nothing_that_is_kept() {
        let engine = Engine::builtin();
        let redactor = Redactor::new([("DB_PASSWORD", "hunter2hunter2")]);
        let mut collector = Collector::new(Tools::new(engine, &redactor), "a.xml");
        let mut told = failure("login with hunter2hunter2 failed");
        told.text = Some("password authentication failed: hunter2hunter2".into());
        let failures = [told];
        let mut said = case(0, CaseOutcome::Error, &failures);
        said.name = "logs in with hunter2hunter2";
        collector.case(&said);
        let all: Vec<_> = collector
            .into_part(ReportSummary::default())
            .failures
            .to_owned_iter()
            .collect();
        let json = serde_json::to_string(&all).unwrap();
        assert!(!json.contains("hunter2"), "{json}");
        assert!(json.contains("[secret DB_PASSWORD]"));
    }
}
