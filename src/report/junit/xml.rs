//! How a JUnit document is written: XML 1.0, case by case.
//!
//! Main type: [`JunitWriter`]. What its readers agree on is written here once;
//! where they do not, [`JunitDialect`] decides.

use crate::report::cases::{
    CaseCounts, CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead,
};
use jelly_base::model::Label;
use jelly_base::text::{one_line, sanitize};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::mem;

/// Longest `message` attribute, in bytes; all of it stands in the text.
pub(super) const MESSAGE_MAX: usize = 500;

/// What is said, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JunitDialect {
    /// A run, with what jelly says of each case as properties.
    Run,
    /// Reports again, with what triage says of each failure as properties: a
    /// suite for each report, and in it one for each of the report's own
    /// suites, in the order of its cases.
    Reports,
    /// What the strictest readers take: valid by the schema of Jenkins' xUnit
    /// plugin, no two cases of one class and name.
    ///
    /// That schema has no place for properties of a case, so that what jelly
    /// says of a failure stands in the first line of its output
    /// ([`Label::line_of_output`]).
    Strict,
}

/// Writes one document.
pub struct JunitWriter<'w> {
    writer: Writer<&'w mut dyn Write>,
    dialect: JunitDialect,
    /// Name of the suite that cases go into now.
    suite: String,
    /// The report's own suite that is open in that one; empty where none is.
    own_suite: String,
    /// Classes and names that were written.
    written: HashSet<u64>,
}

impl<'w> JunitWriter<'w> {
    /// For the plans of a run.
    pub fn of_run(out: &'w mut dyn Write) -> Self {
        Self::new(out, JunitDialect::Run, 2)
    }

    /// For reports that were triaged.
    pub fn of_reports(out: &'w mut dyn Write) -> Self {
        Self::new(out, JunitDialect::Reports, 1)
    }

    /// For the strictest readers, of a run as of reports.
    pub fn strict(out: &'w mut dyn Write) -> Self {
        Self::new(out, JunitDialect::Strict, 1)
    }

    fn new(out: &'w mut dyn Write, dialect: JunitDialect, indent: usize) -> Self {
        Self {
            writer: Writer::new_with_indent(out, b' ', indent),
            dialect,
            suite: String::new(),
            own_suite: String::new(),
            written: HashSet::new(),
        }
    }
}

impl CaseWriter for JunitWriter<'_> {
    fn begin(&mut self, head: &CasesHead) -> io::Result<()> {
        let decl = BytesDecl::new("1.0", Some("UTF-8"), None);
        self.writer.write_event(Event::Decl(decl))?;
        let mut attributes = self.totals(head.writer.to_owned(), head.counts, head.duration_s);
        // The strict schema knows it of suites only.
        if self.dialect == JunitDialect::Strict {
            attributes.retain(|(name, _)| *name != "skipped");
        }
        self.open("testsuites", &attributes)
    }

    fn begin_suite(&mut self, head: &SuiteHead<'_>) -> io::Result<()> {
        self.suite = match self.dialect {
            // Made of two that were cut already.
            JunitDialect::Run => head.name.to_owned(),
            JunitDialect::Reports | JunitDialect::Strict => attribute(head.name),
        };
        let mut attributes = self.totals(self.suite.clone(), head.counts, head.duration_s);
        attributes.extend(head.timestamp.map(|at| ("timestamp", attribute(at))));
        self.open("testsuite", &attributes)?;
        self.properties(&head.properties)
    }

    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        if self.dialect == JunitDialect::Reports {
            self.enter(case.suite)?;
        }
        let attributes = self.case_attributes(case);
        let is_bare = case.failures.is_empty() && case.outcome == ShownOutcome::Passed;
        if is_bare && self.dialect != JunitDialect::Run {
            return self.empty("testcase", &attributes);
        }
        self.open("testcase", &attributes)?;
        match self.dialect {
            JunitDialect::Run => self.properties(case.properties)?,
            JunitDialect::Reports => {
                let said = case.failures.first().map(said_of);
                self.properties(&said.unwrap_or_default())?;
            }
            JunitDialect::Strict => {}
        }
        match case.outcome {
            ShownOutcome::Passed => {}
            ShownOutcome::Skipped => {
                let why = case.skipped.map(|why| ("message", attribute(why)));
                self.empty("skipped", why.as_slice())?;
            }
            ShownOutcome::Failed => self.wrong("failure", case)?,
            ShownOutcome::Error => self.wrong("error", case)?,
            // Surefire's word for an attempt of a test that passed in the end.
            ShownOutcome::Flaky if self.dialect == JunitDialect::Reports => {
                self.wrong("flakyFailure", case)?;
            }
            ShownOutcome::Flaky => {
                self.attempts("flaky", &case.earlier)?;
                self.attempts("flaky", &case.failures)?;
            }
        }
        if case.outcome != ShownOutcome::Flaky {
            self.attempts("rerun", &case.earlier)?;
        }
        let labelled = (self.dialect == JunitDialect::Strict).then(|| labelled_output(case));
        self.text("system-out", labelled.as_deref().or(case.system_out))?;
        self.text("system-err", case.system_err)?;
        self.close("testcase")
    }

    fn end_suite(&mut self) -> io::Result<()> {
        self.leave()?;
        self.close("testsuite")
    }

    fn end(&mut self, _: &CasesHead) -> io::Result<()> {
        self.close("testsuites")?;
        self.writer.get_mut().write_all(b"\n")
    }
}

impl JunitWriter<'_> {
    /// Has the cases that follow stand in this suite. It says no counts: they
    /// are not known before its last case, and stand at the report's suite.
    fn enter(&mut self, suite: &str) -> io::Result<()> {
        if self.own_suite == suite {
            return Ok(());
        }
        self.leave()?;
        if suite.is_empty() {
            return Ok(());
        }
        self.own_suite = suite.to_owned();
        self.open("testsuite", &[("name", attribute(suite))])
    }

    fn leave(&mut self) -> io::Result<()> {
        match mem::take(&mut self.own_suite).is_empty() {
            true => Ok(()),
            false => self.close("testsuite"),
        }
    }

    fn totals(
        &self,
        name: String,
        counts: CaseCounts,
        seconds: Option<f64>,
    ) -> Vec<(&'static str, String)> {
        let mut attributes = vec![
            ("name", name),
            ("tests", counts.tests.to_string()),
            ("failures", counts.failures.to_string()),
            ("errors", counts.errors.to_string()),
            ("skipped", counts.skipped.to_string()),
        ];
        attributes.extend(self.time(seconds));
        attributes
    }

    fn time(&self, seconds: Option<f64>) -> Option<(&'static str, String)> {
        let seconds = seconds.filter(|s| s.is_finite() && *s >= 0.0)?;
        let seconds = match self.dialect {
            // The sum of no seconds is -0, which the strict schema does not take.
            JunitDialect::Run | JunitDialect::Strict => seconds.abs(),
            JunitDialect::Reports => seconds,
        };
        Some(("time", format!("{seconds:.3}")))
    }

    fn case_attributes(&mut self, case: &ShownCase<'_>) -> Vec<(&'static str, String)> {
        let is_strict = self.dialect == JunitDialect::Strict;
        let class = self.class_of(case);
        let mut name = attribute(case.name);
        if is_strict {
            name = self.unique(&class, name);
        }
        let mut attributes = vec![("name", name), ("classname", class)];
        attributes.extend(self.time(case.duration_s));
        if !is_strict {
            attributes.extend(case.file.map(|file| ("file", attribute(file))));
            attributes.extend(case.line.map(|line| ("line", line.to_string())));
        }
        attributes
    }

    fn class_of(&self, case: &ShownCase<'_>) -> String {
        let suite = match self.dialect {
            JunitDialect::Run => return self.suite.clone(),
            JunitDialect::Reports => case.suite.rsplit(" > ").next().unwrap_or_default(),
            JunitDialect::Strict if case.suite.is_empty() => self.suite.as_str(),
            JunitDialect::Strict => case.suite,
        };
        attribute(match case.classname {
            "" => suite,
            class => class,
        })
    }

    /// The name, with the suite or a number behind it where the class has one
    /// of that name.
    fn unique(&mut self, class: &str, name: String) -> String {
        let mut is_new = |name: &str| {
            let mut hasher = DefaultHasher::new();
            (class, name).hash(&mut hasher);
            self.written.insert(hasher.finish())
        };
        if is_new(&name) {
            return name;
        }
        let with_suite = format!("{name} [{}]", self.suite);
        if class != self.suite && is_new(&with_suite) {
            return with_suite;
        }
        let mut number = 2_u64;
        loop {
            let numbered = format!("{name} #{number}");
            if is_new(&numbered) {
                return numbered;
            }
            number += 1;
        }
    }

    /// An element for each cause of a case.
    fn wrong(&mut self, element: &str, case: &ShownCase<'_>) -> io::Result<()> {
        for failure in &case.failures {
            let attributes = self.failure_attributes(failure, false);
            match unless_blank(failure.text.as_deref()) {
                Some(text) => self.filled(element, &attributes, text)?,
                None => self.empty(element, &attributes)?,
            }
        }
        Ok(())
    }

    /// Attempts that were not the last, in Surefire's words.
    fn attempts(&mut self, prefix: &str, failures: &[ShownFailure<'_>]) -> io::Result<()> {
        for failure in failures {
            let kind = match failure.is_wrong_answer {
                true => "Failure",
                false => "Error",
            };
            let element = format!("{prefix}{kind}");
            let attributes = self.failure_attributes(failure, true);
            self.open(&element, &attributes)?;
            self.text("stackTrace", failure.text.as_deref())?;
            if self.dialect == JunitDialect::Run {
                self.text("system-err", failure.system_err)?;
            }
            self.close(&element)?;
        }
        Ok(())
    }

    fn failure_attributes(
        &self,
        failure: &ShownFailure<'_>,
        is_attempt: bool,
    ) -> [(&'static str, String); 2] {
        let type_ = ("type", attribute(&failure.type_));
        let message = failure.message.as_deref().unwrap_or_default();
        let message = ("message", attribute(message));
        let is_type_first = match self.dialect {
            JunitDialect::Run => !is_attempt,
            JunitDialect::Reports => false,
            JunitDialect::Strict => true,
        };
        match is_type_first {
            true => [type_, message],
            false => [message, type_],
        }
    }

    fn properties(&mut self, properties: &[(&str, String)]) -> io::Result<()> {
        if properties.is_empty() {
            return Ok(());
        }
        self.open("properties", &[])?;
        for (name, value) in properties {
            let attributes = [("name", (*name).to_owned()), ("value", attribute(value))];
            self.empty("property", &attributes)?;
        }
        self.close("properties")
    }

    /// An element of this text, where there is any.
    fn text(&mut self, element: &str, text: Option<&str>) -> io::Result<()> {
        match unless_blank(text) {
            Some(text) => self.filled(element, &[], text),
            None => Ok(()),
        }
    }

    fn filled(
        &mut self,
        element: &str,
        attributes: &[(&str, String)],
        text: &str,
    ) -> io::Result<()> {
        self.open(element, attributes)?;
        let text = content(text);
        self.writer
            .write_event(Event::Text(BytesText::new(&text)))?;
        self.close(element)
    }

    fn open(&mut self, element: &str, attributes: &[(&str, String)]) -> io::Result<()> {
        self.writer
            .write_event(Event::Start(start_of(element, attributes)))
    }

    fn empty(&mut self, element: &str, attributes: &[(&str, String)]) -> io::Result<()> {
        self.writer
            .write_event(Event::Empty(start_of(element, attributes)))
    }

    fn close(&mut self, element: &str) -> io::Result<()> {
        self.writer.write_event(Event::End(BytesEnd::new(element)))
    }
}

fn start_of<'e>(element: &'e str, attributes: &[(&str, String)]) -> BytesStart<'e> {
    let mut start = BytesStart::new(element);
    for (name, value) in attributes {
        start.push_attribute((*name, value.as_str()));
    }
    start
}

/// All that is said of a failure, as properties.
fn said_of(failure: &ShownFailure<'_>) -> Vec<(&'static str, String)> {
    let diagnosis = failure.diagnosis.as_deref();
    let mut said = diagnosis.map(Label::properties).unwrap_or_default();
    if let Some(before) = failure.pre_existing {
        said.push(("jelly.pre_existing", before.to_string()));
    }
    said
}

/// What jelly says, then what the case wrote.
fn labelled_output(case: &ShownCase<'_>) -> String {
    let said = case.failures.first();
    let said = said.and_then(|failure| failure.diagnosis.as_deref());
    let said = said.map(|diagnosis| Label::line_of_output(diagnosis) + "\n");
    let written = unless_blank(case.system_out).map(Label::disarmed);
    said.unwrap_or_default() + &written.unwrap_or_default()
}

fn unless_blank(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

/// One line; XML folds line ends in attributes anyway.
pub(super) fn attribute(text: &str) -> String {
    let line = one_line(text, MESSAGE_MAX);
    // On one line there are no control characters left.
    if line.is_ascii() { line } else { scrub(&line) }
}

fn content(text: &str) -> String {
    scrub(&sanitize(text))
}

/// Replaces what XML 1.0 can't hold, even as a character reference (section
/// 2.2 of the specification). Markup, `]]>` included, is the writer's care.
fn scrub(text: &str) -> String {
    text.replace(
        |c: char| !matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..),
        "\u{fffd}",
    )
}
