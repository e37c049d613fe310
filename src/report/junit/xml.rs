//! Suites and cases as XML 1.0.

use super::{Case, CaseOutcome, MESSAGE_MAX, Suite, Trouble};
use jelly_base::text::{one_line, sanitize};
use quick_xml::Writer;
use quick_xml::events::BytesText;
use std::io::{self, Write};

#[derive(Default)]
pub(super) struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.seconds += other.seconds;
    }

    pub(super) fn attributes(&self) -> [(&'static str, String); 5] {
        [
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("skipped", self.skipped.to_string()),
            ("time", format!("{:.3}", self.seconds)),
        ]
    }
}

impl Case<'_> {
    fn write(&self, classname: &str, w: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let seconds = format!("{:.3}", sane(self.seconds));
        let name = attribute(&self.name);
        let mut element = w
            .create_element("testcase")
            .with_attribute(("name", name.as_str()))
            .with_attribute(("classname", classname))
            .with_attribute(("time", seconds.as_str()));
        if let Some((file, line)) = &self.at {
            element = element
                .with_attribute(("file", attribute(file).as_str()))
                .with_attribute(("line", line.as_str()));
        }
        element.write_inner_content(|w| {
            write_properties(w, &self.properties)?;
            let rerun = match &self.outcome {
                CaseOutcome::Passed => "flaky",
                CaseOutcome::Failed(trouble) => {
                    let kind = if trouble.wrong_answer {
                        "failure"
                    } else {
                        "error"
                    };
                    w.create_element(kind)
                        .with_attribute(("type", attribute(&trouble.type_).as_str()))
                        .with_attribute(("message", attribute(&trouble.message).as_str()))
                        .write_text_content(BytesText::new(&content(&trouble.text)))?;
                    "rerun"
                }
                CaseOutcome::Skipped(message) => {
                    w.create_element("skipped")
                        .with_attribute(("message", attribute(message).as_str()))
                        .write_empty()?;
                    return Ok(());
                }
            };
            for trouble in &self.earlier {
                trouble.write_earlier(rerun, w)?;
            }
            if !self.system_err.trim().is_empty() {
                w.create_element("system-err")
                    .write_text_content(BytesText::new(&content(&self.system_err)))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl Trouble {
    /// An attempt of an earlier iteration, in Surefire's words: `prefix` is
    /// `flaky` where the step passed in the end, else `rerun`.
    fn write_earlier(&self, prefix: &str, w: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let kind = if self.wrong_answer {
            "Failure"
        } else {
            "Error"
        };
        w.create_element(format!("{prefix}{kind}"))
            .with_attribute(("message", attribute(&self.message).as_str()))
            .with_attribute(("type", attribute(&self.type_).as_str()))
            .write_inner_content(|w| {
                w.create_element("stackTrace")
                    .write_text_content(BytesText::new(&content(&self.text)))?;
                if !self.stderr.trim().is_empty() {
                    w.create_element("system-err")
                        .write_text_content(BytesText::new(&content(&self.stderr)))?;
                }
                Ok(())
            })?;
        Ok(())
    }
}

impl Suite<'_> {
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for case in &self.cases {
            counts.tests += 1;
            counts.seconds += sane(case.seconds);
            match &case.outcome {
                CaseOutcome::Passed => {}
                CaseOutcome::Failed(trouble) if trouble.wrong_answer => counts.failures += 1,
                CaseOutcome::Failed(_) => counts.errors += 1,
                CaseOutcome::Skipped(_) => counts.skipped += 1,
            }
        }
        counts
    }

    pub(super) fn write(&self, w: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let mut element = w
            .create_element("testsuite")
            .with_attribute(("name", self.name.as_str()));
        for (name, value) in self.counts().attributes() {
            element = element.with_attribute((name, value.as_str()));
        }
        element
            .with_attribute(("timestamp", attribute(&self.timestamp).as_str()))
            .write_inner_content(|w| {
                write_properties(w, &self.properties)?;
                for case in &self.cases {
                    case.write(&self.name, w)?;
                }
                Ok(())
            })?;
        Ok(())
    }
}

pub(in crate::report) fn write_properties<W: Write>(
    w: &mut Writer<W>,
    properties: &[(&str, String)],
) -> io::Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    w.create_element("properties").write_inner_content(|w| {
        for (name, value) in properties {
            w.create_element("property")
                .with_attribute(("name", *name))
                .with_attribute(("value", attribute(value).as_str()))
                .write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

/// A duration that a reader can add up.
fn sane(seconds: f64) -> f64 {
    if seconds.is_finite() {
        seconds.max(0.0)
    } else {
        0.0
    }
}

/// One line; XML folds line ends in attributes anyway.
pub(in crate::report) fn attribute(text: &str) -> String {
    let line = one_line(text, MESSAGE_MAX);
    // On one line there are no control characters left.
    if line.is_ascii() { line } else { scrub(&line) }
}

pub(in crate::report) fn content(text: &str) -> String {
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
