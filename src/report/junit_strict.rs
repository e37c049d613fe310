//! JUnit XML that the strictest readers take: valid by the schema of Jenkins'
//! xUnit plugin, no two cases of one class and name.
//!
//! That schema has no place for properties of a case, so that what jelly says
//! of a failure stands in the first line of its output ([`Label::line_of_output`]).
//! Written case by case.

use super::cases::{
    CaseCounts, CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead,
};
use super::junit::xml::{attribute, content, write_properties};
use jelly_base::model::Label;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

/// Writes one document.
pub struct StrictJunitWriter<'w> {
    writer: Writer<&'w mut dyn Write>,
    /// The suite that cases go into now.
    suite: String,
    /// Classes and names that were written.
    written: HashSet<u64>,
}

impl<'w> StrictJunitWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            writer: Writer::new_with_indent(out, b' ', 1),
            suite: String::new(),
            written: HashSet::new(),
        }
    }
}

impl CaseWriter for StrictJunitWriter<'_> {
    fn begin(&mut self, head: &CasesHead) -> io::Result<()> {
        let decl = BytesDecl::new("1.0", Some("UTF-8"), None);
        self.writer.write_event(Event::Decl(decl))?;
        let mut root = BytesStart::new("testsuites");
        root.push_attribute(("name", head.writer));
        push_counts(&mut root, head.counts);
        push_time(&mut root, head.duration_s);
        self.writer.write_event(Event::Start(root))
    }

    fn begin_suite(&mut self, head: &SuiteHead<'_>) -> io::Result<()> {
        self.suite = attribute(head.name);
        let mut suite = BytesStart::new("testsuite");
        suite.push_attribute(("name", self.suite.as_str()));
        push_counts(&mut suite, head.counts);
        suite.push_attribute(("skipped", head.counts.skipped.to_string().as_str()));
        push_time(&mut suite, head.duration_s);
        if let Some(timestamp) = head.timestamp {
            suite.push_attribute(("timestamp", attribute(timestamp).as_str()));
        }
        self.writer.write_event(Event::Start(suite))?;
        write_properties(&mut self.writer, &head.properties)
    }

    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        let class = attribute(match case.classname {
            "" if case.suite.is_empty() => &self.suite,
            "" => case.suite,
            class => class,
        });
        let name = self.unique(&class, attribute(case.name));
        let mut start = BytesStart::new("testcase");
        start.push_attribute(("name", name.as_str()));
        start.push_attribute(("classname", class.as_str()));
        push_time(&mut start, case.duration_s);
        if case.failures.is_empty() && case.outcome == ShownOutcome::Passed {
            return self.writer.write_event(Event::Empty(start));
        }
        self.writer.write_event(Event::Start(start))?;
        match case.outcome {
            ShownOutcome::Passed => {}
            ShownOutcome::Skipped => self.skipped(case.skipped)?,
            ShownOutcome::Failed => self.wrong("failure", case)?,
            ShownOutcome::Error => self.wrong("error", case)?,
            // Surefire's word for an attempt of a test that passed in the end.
            ShownOutcome::Flaky => {
                self.attempts("flaky", &case.earlier)?;
                self.attempts("flaky", &case.failures)?;
            }
        }
        if case.outcome != ShownOutcome::Flaky {
            self.attempts("rerun", &case.earlier)?;
        }
        self.output(case)?;
        if let Some(text) = case.system_err.filter(|text| !text.trim().is_empty()) {
            self.text_of(BytesStart::new("system-err"), text)?;
        }
        self.writer
            .write_event(Event::End(BytesEnd::new("testcase")))
    }

    fn end_suite(&mut self) -> io::Result<()> {
        self.writer
            .write_event(Event::End(BytesEnd::new("testsuite")))
    }

    fn end(&mut self, _: &CasesHead) -> io::Result<()> {
        self.writer
            .write_event(Event::End(BytesEnd::new("testsuites")))?;
        self.writer.get_mut().write_all(b"\n")
    }
}

impl StrictJunitWriter<'_> {
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

    fn skipped(&mut self, why: Option<&str>) -> io::Result<()> {
        let mut start = BytesStart::new("skipped");
        if let Some(why) = why {
            start.push_attribute(("message", attribute(why).as_str()));
        }
        self.writer.write_event(Event::Empty(start))
    }

    /// An element for each cause of a case.
    fn wrong(&mut self, element: &str, case: &ShownCase<'_>) -> io::Result<()> {
        for failure in &case.failures {
            let start = start_of(element, failure);
            match text_of(failure) {
                Some(text) => self.text_of(start, text)?,
                None => self.writer.write_event(Event::Empty(start))?,
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
            let start = start_of(&element, failure);
            self.writer.write_event(Event::Start(start))?;
            if let Some(text) = text_of(failure) {
                self.text_of(BytesStart::new("stackTrace"), text)?;
            }
            self.writer
                .write_event(Event::End(BytesEnd::new(element)))?;
        }
        Ok(())
    }

    /// What jelly says, then what the case wrote.
    fn output(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        let said = case.failures.first();
        let said = said.and_then(|failure| failure.diagnosis.as_deref());
        let said = said.map(|diagnosis| Label::line_of_output(diagnosis) + "\n");
        let written = case.system_out.filter(|text| !text.trim().is_empty());
        let written = written.map(Label::disarmed);
        if said.is_none() && written.is_none() {
            return Ok(());
        }
        let text = said.unwrap_or_default() + &written.unwrap_or_default();
        self.text_of(BytesStart::new("system-out"), &text)
    }

    fn text_of(&mut self, start: BytesStart<'_>, text: &str) -> io::Result<()> {
        let end = start.to_end().into_owned();
        let text = content(text);
        self.writer.write_event(Event::Start(start))?;
        self.writer
            .write_event(Event::Text(BytesText::new(&text)))?;
        self.writer.write_event(Event::End(end))
    }
}

fn text_of<'f>(failure: &'f ShownFailure<'_>) -> Option<&'f str> {
    let text = failure.text.as_deref();
    text.filter(|text| !text.trim().is_empty())
}

fn start_of(element: &str, failure: &ShownFailure<'_>) -> BytesStart<'static> {
    let mut start = BytesStart::new(element.to_owned());
    start.push_attribute(("type", attribute(&failure.type_).as_str()));
    let message = failure.message.as_deref().unwrap_or_default();
    start.push_attribute(("message", attribute(message).as_str()));
    start
}

fn push_counts(start: &mut BytesStart<'_>, counts: CaseCounts) {
    for (name, count) in [
        ("tests", counts.tests),
        ("failures", counts.failures),
        ("errors", counts.errors),
    ] {
        start.push_attribute((name, count.to_string().as_str()));
    }
}

fn push_time(start: &mut BytesStart<'_>, seconds: Option<f64>) {
    // The sum of no seconds is -0, which the schema does not take.
    if let Some(seconds) = seconds.filter(|s| s.is_finite() && *s >= 0.0) {
        start.push_attribute(("time", format!("{:.3}", seconds.abs()).as_str()));
    }
}
