//! Service messages of TeamCity: the cases of a run as tests, the causes of a
//! triage as problems of the build.
//!
//! Source: "Service Messages", with the escapes in "Escaped Values".

use super::notices::{Notice, NoticeLevel};
use crate::report::cases::{
    CaseWriter, CasesHead, ShownCase, ShownFailure, ShownOutcome, SuiteHead,
};
use jelly_base::text::{one_line, sanitize, truncate};
use std::io::{self, Write};

/// Bytes of a value; TeamCity cuts descriptions of problems at 4,000.
const VALUE: usize = 4000;
/// Characters of the identity of a problem.
const IDENTITY: usize = 60;

/// Writes the cases as tests.
pub struct TeamCityWriter<'w> {
    out: &'w mut dyn Write,
    suite: String,
}

impl<'w> TeamCityWriter<'w> {
    pub fn new(out: &'w mut dyn Write) -> Self {
        let suite = String::new();
        Self { out, suite }
    }

    fn say(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.out.write_all(message(name, attributes).as_bytes())
    }

    fn failed(&mut self, test: &str, failure: &ShownFailure<'_>) -> io::Result<()> {
        let said = failure.message.as_deref().unwrap_or_default();
        let details = failure.text.as_deref().unwrap_or_default();
        self.say(
            "testFailed",
            &[("name", test), ("message", said), ("details", details)],
        )?;
        let cause: &str = &failure.type_;
        let metadata = [("testName", test), ("name", "root cause"), ("value", cause)];
        self.say("testMetadata", &metadata)
    }
}

impl CaseWriter for TeamCityWriter<'_> {
    fn begin(&mut self, _: &CasesHead) -> io::Result<()> {
        Ok(())
    }

    fn begin_suite(&mut self, suite: &SuiteHead<'_>) -> io::Result<()> {
        suite.name.clone_into(&mut self.suite);
        self.say("testSuiteStarted", &[("name", suite.name)])
    }

    fn case(&mut self, case: &ShownCase<'_>) -> io::Result<()> {
        let millis = case.duration_s.filter(|s| s.is_finite() && *s > 0.0);
        let millis = format!("{:.0}", millis.unwrap_or_default() * 1000.0);
        self.say("testStarted", &[("name", case.name)])?;
        match case.outcome {
            ShownOutcome::Passed => {}
            ShownOutcome::Flaky => {
                let text = "it failed at first, and passed in the end";
                self.say("testStdErr", &[("name", case.name), ("out", text)])?;
            }
            ShownOutcome::Skipped => {
                let why = case.skipped.unwrap_or_default();
                self.say("testIgnored", &[("name", case.name), ("message", why)])?;
            }
            ShownOutcome::Failed | ShownOutcome::Error => {
                if let Some(failure) = case.failures.first() {
                    self.failed(case.name, failure)?;
                }
            }
        }
        let ended = [("name", case.name), ("duration", millis.as_str())];
        self.say("testFinished", &ended)
    }

    fn end_suite(&mut self) -> io::Result<()> {
        let suite = std::mem::take(&mut self.suite);
        self.say("testSuiteFinished", &[("name", &suite)])
    }

    fn end(&mut self, _: &CasesHead) -> io::Result<()> {
        Ok(())
    }
}

/// Errors as problems of the build, warnings as lines of its log.
#[must_use]
pub fn teamcity_problems(notices: &[Notice]) -> String {
    let said = |notice: &Notice| {
        let place = match (&notice.file, notice.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            (Some(file), None) => format!(" ({file})"),
            (None, _) => String::new(),
        };
        let title = notice.title.as_deref().unwrap_or("jelly");
        format!("{title}{place}\n{}", notice.text)
    };
    let told = notices.iter().map(|notice| match notice.level {
        NoticeLevel::Warning => {
            message("message", &[("text", &said(notice)), ("status", "WARNING")])
        }
        NoticeLevel::Error if notice.id.is_empty() => {
            message("buildProblem", &[("description", &said(notice))])
        }
        NoticeLevel::Error => {
            let identity: String = notice.id.chars().take(IDENTITY).collect();
            let attributes = [("description", &*said(notice)), ("identity", &identity)];
            message("buildProblem", &attributes)
        }
    });
    told.collect()
}

fn message(name: &str, attributes: &[(&str, &str)]) -> String {
    let attributes: String = attributes
        .iter()
        .map(|(key, value)| {
            // A name is one line; what is said may have several.
            let value = match *key {
                "name" | "testName" => one_line(value, VALUE),
                _ => truncate(sanitize(value).trim_end(), VALUE).into_owned(),
            };
            format!(" {key}='{}'", escape(&value))
        })
        .collect();
    format!("##teamcity[{name}{attributes}]\n")
}

/// ASCII only, so that the console's encoding does not matter.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '|' | '\'' | '[' | ']' => out.extend(['|', c]),
            '\n' => out.push_str("|n"),
            '\r' => out.push_str("|r"),
            c if c.is_ascii() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("|0x{unit:04X}"));
                }
            }
        }
    }
    out
}
