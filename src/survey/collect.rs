//! One report's cases → its failures with their diagnoses.

use super::account::Part;
use super::read::Tools;
use crate::history::TestName;
use crate::junit::{Case, CaseOutcome, CaseSink};
use crate::model::{
    Diagnosis, Failure, FailureStatus, Failures, ReportSummary, Template, TriagedFailure,
};
use crate::text::one_line;
use crate::text::redact::Redactor;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Longest message that is kept of a failure, in bytes.
const MESSAGE_MAX: usize = 300;

/// Lines of a failure in which a matcher says what it compared.
const MATCHER_LINES: usize = 16;

/// A case that fails a hundred times over is told by its first few causes.
const CAUSES_OF_A_CASE: usize = 8;

/// Diagnoses each failure as it is read and keeps what is printed of it;
/// passing cases leave nothing behind.
pub struct Collector<'e> {
    tools: Tools<'e>,
    report: String,
    failures: Failures,
    passed: Vec<TestName>,
    templates: HashMap<String, Template>,
    /// Places in `failures`, by case. Cases do not come by rising ordinal.
    places: HashMap<u64, Range<usize>>,
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
            places: HashMap::new(),
        }
    }

    /// What was kept, with the report's own summary.
    #[must_use]
    pub fn into_part(mut self, summary: ReportSummary) -> Part {
        self.failures.sort_by_case();
        self.failures.shrink_to_fit();
        Part {
            summary,
            failures: self.failures,
            passed: self.passed,
            templates: self.templates,
        }
    }

    fn passed(&mut self, case: &Case<'_>) {
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
            self.passed.push(TestName::new(&suite, &classname, &name));
        }
    }

    fn diagnose(&mut self, failure: &Failure) -> Diagnosis {
        if !self.tools.templates {
            return self.tools.engine.diagnose(failure);
        }
        let (diagnosis, template) = self.tools.engine.diagnose_with_template(failure);
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
        let diagnosis = self.diagnose(&failure);
        let text = |text: &str| self.tools.redactor.redact(text).into_owned();
        TriagedFailure {
            report: self.report.clone(),
            suite: text(case.suite),
            classname: text(case.classname),
            name: text(case.name),
            file: case.file.map(text),
            line: case.line,
            status,
            message: message(&failure),
            pre_existing: None,
            diagnosis,
            history: None,
        }
    }
}

impl CaseSink for Collector<'_> {
    fn case(&mut self, case: &Case<'_>) {
        let status = match case.outcome {
            CaseOutcome::Passed => return self.passed(case),
            CaseOutcome::Skipped => return,
            CaseOutcome::Failed => FailureStatus::Failure,
            CaseOutcome::Error => FailureStatus::Error,
            CaseOutcome::Flaky => FailureStatus::Flaky,
        };
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

/// What a reader wants to see first of a failure.
fn message(failure: &Failure) -> Option<String> {
    let first_line = |text: &str| {
        text.lines()
            .map(|line| one_line(line, MESSAGE_MAX))
            .find(|line| !line.is_empty())
    };
    if let Some(text) = failure.message.as_deref().or(failure.text.as_deref())
        && let Some(compared) = matcher(text)
    {
        return Some(compared);
    }
    failure
        .message
        .as_deref()
        .map(|message| one_line(message, MESSAGE_MAX))
        .filter(|message| !message.is_empty())
        .or_else(|| failure.text.as_deref().and_then(first_line))
        .or_else(|| failure.type_.as_deref().and_then(first_line))
}

/// Jest names only its matcher in the first line; what was compared follows.
fn matcher(text: &str) -> Option<String> {
    let mut lines = text.lines().take(MATCHER_LINES).map(str::trim);
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
    clean
}

#[cfg(test)]
mod tests {
    use super::{Collector, Tools};
    use crate::junit::{Case, CaseOutcome, CaseSink};
    use crate::model::{Failure, FailureStatus, ReportSummary, Side};
    use crate::text::redact::Redactor;
    use crate::triage::Engine;

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
