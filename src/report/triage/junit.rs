//! The reports again as JUnit XML, with what triage says of each failure as
//! properties. Written case by case.

use crate::report::cases::{
    CaseCounts, CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead,
};
use crate::report::junit::xml::{attribute, content, write_properties};
use jelly_base::model::Label;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::io::{self, Write};

/// Writes one document: a suite for each report, and in it one for each of the
/// report's own suites, in the order of its cases.
pub struct JunitWriter<'w> {
    writer: Writer<&'w mut dyn Write>,
    /// The suite of the report that cases go into now.
    suite: Option<String>,
}

impl<'w> JunitWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            writer: Writer::new_with_indent(out, b' ', 1),
            suite: None,
        }
    }
}

impl CaseWriter for JunitWriter<'_> {
    fn begin(&mut self, head: &CasesHead) -> io::Result<()> {
        let decl = BytesDecl::new("1.0", Some("UTF-8"), None);
        self.writer.write_event(Event::Decl(decl))?;
        let mut root = BytesStart::new("testsuites");
        root.push_attribute(("name", head.writer));
        push_counts(&mut root, head.counts);
        self.writer.write_event(Event::Start(root))
    }

    fn begin_suite(&mut self, head: &SuiteHead<'_>) -> io::Result<()> {
        let mut suite = BytesStart::new("testsuite");
        suite.push_attribute(("name", attribute(head.name).as_str()));
        push_counts(&mut suite, head.counts);
        if let Some(seconds) = head.duration_s.filter(|s| s.is_finite()) {
            suite.push_attribute(("time", format!("{seconds:.3}").as_str()));
        }
        self.writer.write_event(Event::Start(suite))?;
        write_properties(&mut self.writer, &head.properties)
    }

    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        self.enter(case.suite)?;
        let seconds = case
            .duration_s
            .filter(|s| s.is_finite() && *s >= 0.0)
            .map(|seconds| format!("{seconds:.3}"));
        let classname = if case.classname.is_empty() {
            case.suite.rsplit(" > ").next().unwrap_or_default()
        } else {
            case.classname
        };
        let mut start = BytesStart::new("testcase");
        start.push_attribute(("name", attribute(case.name).as_str()));
        start.push_attribute(("classname", attribute(classname).as_str()));
        if let Some(seconds) = &seconds {
            start.push_attribute(("time", seconds.as_str()));
        }
        if let Some(file) = case.file {
            start.push_attribute(("file", attribute(file).as_str()));
        }
        if let Some(line) = case.line {
            start.push_attribute(("line", line.to_string().as_str()));
        }
        if case.failures.is_empty() && case.outcome == ShownOutcome::Passed {
            return self.writer.write_event(Event::Empty(start));
        }
        self.writer.write_event(Event::Start(start))?;
        let properties: Vec<(&str, String)> =
            case.failures.first().map(said_of).unwrap_or_default();
        write_properties(&mut self.writer, &properties)?;
        match case.outcome {
            ShownOutcome::Passed => {}
            ShownOutcome::Skipped => {
                let mut skipped = BytesStart::new("skipped");
                if let Some(why) = case.skipped {
                    skipped.push_attribute(("message", attribute(why).as_str()));
                }
                self.writer.write_event(Event::Empty(skipped))?;
            }
            ShownOutcome::Failed => self.wrong("failure", case)?,
            ShownOutcome::Error => self.wrong("error", case)?,
            // Surefire's word for an attempt of a test that passed in the end.
            ShownOutcome::Flaky => self.wrong("flakyFailure", case)?,
        }
        self.output("system-out", case.system_out)?;
        self.output("system-err", case.system_err)?;
        self.writer
            .write_event(Event::End(BytesEnd::new("testcase")))
    }

    fn end_suite(&mut self) -> io::Result<()> {
        self.leave()?;
        self.writer
            .write_event(Event::End(BytesEnd::new("testsuite")))
    }

    fn end(&mut self, _: &CasesHead) -> io::Result<()> {
        self.writer
            .write_event(Event::End(BytesEnd::new("testsuites")))?;
        self.writer.get_mut().write_all(b"\n")
    }
}

impl JunitWriter<'_> {
    /// Has the cases that follow stand in this suite. It says no counts: they
    /// are not known before its last case, and stand at the report's suite.
    fn enter(&mut self, suite: &str) -> io::Result<()> {
        if self.suite.as_deref() == Some(suite) {
            return Ok(());
        }
        self.leave()?;
        if suite.is_empty() {
            return Ok(());
        }
        let mut start = BytesStart::new("testsuite");
        start.push_attribute(("name", attribute(suite).as_str()));
        self.suite = Some(suite.to_owned());
        self.writer.write_event(Event::Start(start))
    }

    fn leave(&mut self) -> io::Result<()> {
        match self.suite.take() {
            Some(_) => self
                .writer
                .write_event(Event::End(BytesEnd::new("testsuite"))),
            None => Ok(()),
        }
    }

    fn output(&mut self, element: &str, text: Option<&str>) -> io::Result<()> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(());
        };
        self.text_of(element, BytesStart::new(element), text)
    }

    fn text_of(&mut self, element: &str, start: BytesStart<'_>, text: &str) -> io::Result<()> {
        let text = content(text);
        self.writer.write_event(Event::Start(start))?;
        self.writer
            .write_event(Event::Text(BytesText::new(&text)))?;
        self.writer.write_event(Event::End(BytesEnd::new(element)))
    }

    /// An element for each cause of a case.
    fn wrong(&mut self, element: &str, case: &ShownCase<'_>) -> io::Result<()> {
        for failure in &case.failures {
            let mut start = BytesStart::new(element);
            let message = failure.message.as_deref().unwrap_or_default();
            start.push_attribute(("message", attribute(message).as_str()));
            start.push_attribute(("type", attribute(&failure.type_).as_str()));
            let text = failure.text.as_deref();
            match text.filter(|text| !text.trim().is_empty()) {
                Some(text) => self.text_of(element, start, text)?,
                None => self.writer.write_event(Event::Empty(start))?,
            }
        }
        Ok(())
    }
}

fn push_counts(start: &mut BytesStart<'_>, counts: CaseCounts) {
    for (name, count) in [
        ("tests", counts.tests),
        ("failures", counts.failures),
        ("errors", counts.errors),
        ("skipped", counts.skipped),
    ] {
        start.push_attribute((name, count.to_string().as_str()));
    }
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
