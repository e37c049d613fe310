//! What is wrong, one by one: of a run as of a triage, for the formats that
//! list nothing else.
//!
//! Main type: [`Finding`].

use super::json::Results;
use super::known_cases::reported_test;
use super::view;
use super::whole::{self, RunTrouble};
use jelly_base::model::{
    Diagnosis, FailureReport, FailureView, IterationReport, RunReport, Side, TriageReport,
};
use jelly_base::text::one_line;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::HashSet;

/// Bytes of a finding on one line.
const LINE: usize = 1000;
/// Bytes of a made-up id.
const ID: usize = 8;

/// All that is wrong, and what the call came to.
#[derive(Debug)]
pub struct Findings<'r> {
    pub exit_code: u8,
    pub all: Vec<Finding<'r>>,
}

/// One thing that is wrong.
#[derive(Debug)]
pub struct Finding<'r> {
    /// The same from run to run.
    pub id: String,
    /// It stands; else it went away by itself, or is known.
    pub is_error: bool,
    pub origin: FindingSource<'r>,
    /// What it is about, as a person names it.
    pub subject: String,
    /// What is wrong, in a sentence.
    pub message: Cow<'r, str>,
    pub spot: Spot<'r>,
    pub diagnosis: Cow<'r, Diagnosis>,
}

/// Where a finding comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingSource<'r> {
    Plan {
        path: &'r str,
        server: Option<&'r str>,
        step: Option<&'r str>,
    },
    Report {
        path: &'r str,
        suite: &'r str,
        classname: &'r str,
        test: &'r str,
    },
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The code under test is wrong.
    Code,
    /// The tests or their environment.
    Test,
    /// Nobody knows whose it is.
    Undecided,
    /// It went away by itself, or is known.
    Gone,
}

impl Finding<'_> {
    #[must_use]
    pub fn weight(&self) -> Weight {
        match (self.is_error, self.diagnosis.side) {
            (false, _) => Weight::Gone,
            (true, Side::Code) => Weight::Code,
            (true, Side::Test) if self.diagnosis.ambiguous => Weight::Undecided,
            (true, Side::Test) => Weight::Test,
        }
    }

    /// What it is about and what is wrong, on one line.
    #[must_use]
    pub fn line(&self) -> String {
        one_line(&format!("{}: {}", self.subject, self.message), LINE)
    }
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot<'r> {
    pub file: &'r str,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
}

impl<'r> Spot<'r> {
    /// Of `file`, `file:line` or `file:line:column`.
    #[must_use]
    pub fn read(at: &'r str) -> Self {
        let end = |text: &'r str| {
            let (rest, last) = text.rsplit_once(':')?;
            Some((rest, last.parse::<u32>().ok()?))
        };
        let (file, line, column) = match end(at) {
            None => (at, None, None),
            Some((rest, last)) => match end(rest) {
                Some((file, line)) => (file, Some(line), Some(last)),
                None => (rest, Some(last), None),
            },
        };
        Self { file, line, column }
    }
}

/// Of all plans of a call: the failures of their last iterations, and what is
/// wrong with those that could not be run.
#[must_use]
pub fn of_run<'r>(results: &Results<'r>) -> Findings<'r> {
    Findings {
        exit_code: results.exit_code,
        all: results.plans.iter().flat_map(of_plan).collect(),
    }
}

fn of_plan(report: &RunReport) -> Vec<Finding<'_>> {
    let mut found: Vec<Finding<'_>> = Vec::new();
    if let Some(last) = report.iterations.last() {
        let failures = last.failures.iter();
        found.extend(failures.map(|one| of_failure(report, last, one)));
        let passed = view::passed_on_rerun(report);
        found.extend(passed.map(|(iteration, failure)| Finding {
            is_error: false,
            diagnosis: Cow::Owned(Diagnosis {
                flaky: true,
                ..failure.diagnosis.clone()
            }),
            ..of_failure(report, iteration, failure)
        }));
    }
    let troubles = whole::troubles(report, whole::is_told(report)).into_iter();
    found.extend(troubles.map(|trouble| of_whole(report, trouble)));
    found
}

fn of_failure<'r>(
    report: &'r RunReport,
    iteration: &'r IterationReport,
    failure: &'r FailureReport,
) -> Finding<'r> {
    let diagnosis = &failure.diagnosis;
    let subject = match (&failure.server, &failure.step) {
        (None, None) => whole::subject(report),
        (Some(_), _) | (_, Some(_)) => view::subject(failure),
    };
    Finding {
        id: diagnosis.test_fingerprint.clone(),
        is_error: report.exit_code != 0 && failure.known.is_none(),
        origin: FindingSource::Plan {
            path: &report.plan.path,
            server: failure.server.as_deref(),
            step: failure.step.as_deref(),
        },
        subject: subject + &view::mismatch_aside(failure),
        message: Cow::Borrowed(&failure.message),
        spot: Spot::read(view::place_of(report, iteration, failure)),
        diagnosis: Cow::Borrowed(diagnosis),
    }
}

/// What is wrong with a run and with nothing in it.
fn of_whole<'r>(report: &'r RunReport, trouble: RunTrouble<'r>) -> Finding<'r> {
    Finding {
        id: trouble.diagnosis.test_fingerprint.clone(),
        is_error: trouble.is_error,
        origin: FindingSource::Plan {
            path: &report.plan.path,
            server: None,
            step: None,
        },
        subject: trouble.subject,
        message: trouble.message,
        spot: Spot::read(trouble.at.unwrap_or(&report.plan.path)),
        diagnosis: trouble.diagnosis,
    }
}

/// What jelly says where no failure stands behind it.
fn own(root_cause: &str, rule: &str) -> Diagnosis {
    Diagnosis {
        side: Side::Test,
        ambiguous: false,
        root_cause: root_cause.to_owned(),
        rule: rule.to_owned(),
        ..Diagnosis::BLANK
    }
}

/// Of a triage: its failures, and the reports that can't be relied on.
#[must_use]
pub fn of_triage(report: &TriageReport) -> Findings<'_> {
    let refused = report.counted_reports().filter_map(|summary| {
        let case = super::cases::refused_case(summary)?;
        let problem = case.failures.into_iter().next()?.message?;
        Some(Finding {
            id: id_of(&[&summary.path, &problem]),
            is_error: true,
            origin: FindingSource::Report {
                path: &summary.path,
                suite: "",
                classname: "",
                test: "",
            },
            subject: summary.path.clone(),
            message: problem,
            spot: Spot::read_file(&summary.path),
            diagnosis: Cow::Owned(own("unreliable_report", "report/unreliable")),
        })
    });
    let known: HashSet<(&str, &str)> = report
        .known
        .iter()
        .map(|known| (known.test.as_str(), known.fingerprint.as_str()))
        .collect();
    let is_known = |failure: &FailureView<'_>| {
        let test = (!known.is_empty()).then(|| reported_test(failure));
        test.is_some_and(|test| known.contains(&(test.as_str(), failure.fingerprint)))
    };
    // Of several legs or packages, whose test it is.
    let are_several = report.counted_reports().count() > 1;
    let failures = report.failures.iter().enumerate();
    let failures = failures.map(|(at, failure)| {
        let in_stack = report.places.get(&at).map(String::as_str);
        let mut finding = of_test(&failure, in_stack);
        finding.is_error &= !is_known(&failure);
        if are_several {
            finding.message = format!("{}: {}", failure.report, finding.message).into();
        }
        finding
    });
    Findings {
        exit_code: report.exit_code,
        all: refused.chain(failures).collect(),
    }
}

fn of_test<'r>(failure: &FailureView<'r>, in_stack: Option<&'r str>) -> Finding<'r> {
    let said = failure.file.map(|file| Spot {
        file,
        line: failure.line.and_then(|line| u32::try_from(line).ok()),
        column: None,
    });
    let in_stack = in_stack.map(Spot::read);
    let spot = match (said, in_stack) {
        (Some(said), Some(stack)) => said.or_line_of(stack),
        (Some(said), None) => said,
        (None, Some(stack)) => stack,
        (None, None) => Spot::read_file(failure.report),
    };
    Finding {
        id: failure.test_fingerprint.to_owned(),
        is_error: !failure.kind.flaky,
        origin: FindingSource::Report {
            path: failure.report,
            suite: failure.suite,
            classname: failure.classname,
            test: failure.name,
        },
        subject: failure.title(),
        message: Cow::Borrowed(failure.message.unwrap_or(failure.what)),
        spot,
        diagnosis: Cow::Owned(failure.diagnosis()),
    }
}

impl<'r> Spot<'r> {
    /// With the line of another one of the same file, where it has none.
    #[must_use]
    pub fn or_line_of(self, other: Self) -> Self {
        let fits = self.line.is_none() && self.file.ends_with(other.file);
        Self {
            line: if fits { other.line } else { self.line },
            ..self
        }
    }

    /// A file as a whole, whatever its name looks like.
    fn read_file(file: &'r str) -> Self {
        Self {
            file,
            line: None,
            column: None,
        }
    }
}

/// An id that these texts alone make.
#[must_use]
pub fn id_of(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    let bytes = hash.finalize();
    bytes
        .iter()
        .take(ID)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Spot;

    #[test]
    fn a_place_has_up_to_three_parts() {
        for (text, file, line, column) in [
            ("a.yaml:3:4", "a.yaml", Some(3), Some(4)),
            ("a.yaml:3", "a.yaml", Some(3), None),
            ("a.yaml", "a.yaml", None, None),
            ("c:a.yaml:3:4", "c:a.yaml", Some(3), Some(4)),
        ] {
            assert_eq!(Spot::read(text), Spot { file, line, column }, "{text}");
        }
    }
}
