//! CTRF: one JSON document with a list of tests.

use super::attributes::set;
use super::case::CaseOutcome;
use super::counts::Unshown;
use super::form;
use super::kept::Kept;
use super::lines::suite;
use super::machine::Machine;
use super::source::BoundedSource;
use super::suites::PROPERTIES;
use jelly_base::model::{Diagnosis, Failure, Label};
use jelly_base::text::plural;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufRead, Read};

/// Longest text of the document that is taken.
const LONGEST: u64 = 4 << 20;

/// Gives up where one text is too long to be held.
struct Bounded<'s, 'r> {
    source: &'s mut BoundedSource<'r>,
    in_text: bool,
    escaped: bool,
    length: u64,
}

impl Read for Bounded<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let from = self.source.fill_buf()?;
        let count = from.len().min(out.len());
        for byte in &from[..count] {
            self.length = if self.in_text { self.length + 1 } else { 0 };
            if self.escaped {
                self.escaped = false;
            } else if *byte == b'"' {
                self.in_text = !self.in_text;
            } else if *byte == b'\\' && self.in_text {
                self.escaped = true;
            }
            if self.length > LONGEST {
                return Err(io::Error::other(format!(
                    "a text of more than {LONGEST} bytes"
                )));
            }
        }
        out[..count].copy_from_slice(&from[..count]);
        self.source.consume(count);
        Ok(count)
    }
}

/// Reads a CTRF document.
pub(super) fn read(source: &mut BoundedSource<'_>, machine: &mut Machine<'_>) {
    let bounded = Bounded {
        source,
        in_text: false,
        escaped: false,
        length: 0,
    };
    let machine = RefCell::new(machine);
    let mut json = serde_json::Deserializer::from_reader(bounded);
    let read = TestLevel(Within::Document, &machine).deserialize(&mut json);
    let read = read.and_then(|()| json.end());
    if machine.borrow().wrong_seen == 0 {
        let claims = machine.borrow().claims;
        machine.borrow_mut().unshown.push(Unshown {
            path: String::new(),
            claims,
            what: "run",
        });
    }
    let unended = counted_as_passed(&machine.borrow());
    if let Some(unended) = unended {
        machine.borrow_mut().broken(|| unended);
    }
    if let Err(error) = read {
        machine
            .borrow_mut()
            .broken(|| format!("it is no whole JSON: {error}"));
    }
}

/// Tests without a result, as `other` says, that the summary counts as passed.
fn counted_as_passed(machine: &Machine<'_>) -> Option<String> {
    let (passed, idle) = machine.fine_claimed?;
    let shown = &machine.summary;
    let (fine, without) = (shown.passed + shown.flaky, shown.skipped);
    (passed > fine && idle < without).then(|| {
        format!(
            "its summary counts {} as passed, and its list shows {fine} that passed and \
             {without} without a result",
            plural(passed, "test")
        )
    })
}

#[derive(Clone, Copy)]
enum Within {
    Document,
    Results,
    Tests,
}

/// Goes down to the tests, and hands on one after the other.
struct TestLevel<'m, 'a, 's>(Within, &'m RefCell<&'a mut Machine<'s>>);

impl<'de> DeserializeSeed<'de> for TestLevel<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Within::Document | Within::Results => deserializer.deserialize_map(self),
            Within::Tests => deserializer.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for TestLevel<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a CTRF report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match (self.0, key.as_str()) {
                (Within::Document, "generatedBy") => {
                    let writer: Writer = map.next_value()?;
                    self.1.borrow_mut().own = writer.is_jelly();
                }
                (Within::Document, "results") => {
                    map.next_value_seed(TestLevel(Within::Results, self.1))?;
                }
                (Within::Results, "tests") => {
                    map.next_value_seed(TestLevel(Within::Tests, self.1))?
                }
                (Within::Results, "summary") => {
                    let summary: Summary = map.next_value()?;
                    let machine = &mut *self.1.borrow_mut();
                    machine.claims.tests = summary.tests;
                    machine.claims.failures = summary.failed;
                    machine.wrong_claimed = machine.claims.wrong();
                    machine.fine_claimed = summary.fine();
                }
                (Within::Results, "tool") => {
                    let tool: Tool = map.next_value()?;
                    self.1.borrow_mut().dialect.tool(&tool.name);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let own = self.1.borrow().own;
        loop {
            // Of others, what they add is not even held.
            let test = match own {
                true => seq
                    .next_element::<Box<RawValue>>()?
                    .map(|test| own_test(&test)),
                false => seq.next_element::<Test>()?.map(|test| Ok((test, None))),
            };
            let Some(test) = test else { break };
            let (test, said) = test.map_err(A::Error::custom)?;
            test.give(said, &mut self.1.borrow_mut());
        }
        Ok(())
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tool {
    name: String,
}

/// What the writer counted.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Summary {
    tests: Option<i64>,
    failed: Option<i64>,
    /// What is no number here is none.
    passed: Value,
    skipped: Value,
    pending: Value,
    other: Value,
}

impl Summary {
    /// How many tests passed, and how many have no result.
    fn fine(&self) -> Option<(u64, u64)> {
        let idle = [&self.skipped, &self.pending, &self.other];
        let idle = idle.into_iter().filter_map(Value::as_u64);
        Some((self.passed.as_u64()?, idle.fold(0, u64::saturating_add)))
    }
}

/// `suite` is a text in older documents, and a list in newer ones.
#[derive(Deserialize)]
#[serde(untagged)]
enum Suite {
    One(String),
    Path(Vec<String>),
    Other(IgnoredAny),
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Test {
    name: String,
    status: String,
    /// Milliseconds.
    duration: Option<f64>,
    message: Option<String>,
    trace: Option<String>,
    suite: Option<Suite>,
    file_path: Option<String>,
    line: Option<u64>,
    flaky: Option<bool>,
    stdout: Option<Vec<String>>,
    stderr: Option<Vec<String>>,
}

/// Who wrote a document.
#[derive(Deserialize)]
#[serde(untagged)]
enum Writer {
    Named(String),
    Other(IgnoredAny),
}

impl Writer {
    /// Whether it is jelly, with its version.
    fn is_jelly(&self) -> bool {
        let Self::Named(name) = self else {
            return false;
        };
        let version = name.strip_prefix("jelly ").unwrap_or_default();
        let in_version = |b: u8| b.is_ascii_alphanumeric() || b".-+".contains(&b);
        version.starts_with(|c: char| c.is_ascii_digit()) && version.bytes().all(in_version)
    }
}

/// A test of a document that jelly wrote, with what it says of it.
fn own_test(test: &RawValue) -> serde_json::Result<(Test, Option<Box<Diagnosis>>)> {
    #[derive(Deserialize)]
    struct Said {
        extra: Extra,
    }
    #[derive(Deserialize)]
    struct Extra {
        jelly: Box<Diagnosis>,
    }
    let said = serde_json::from_str::<Said>(test.get()).ok();
    Ok((
        serde_json::from_str(test.get())?,
        said.map(|said| said.extra.jelly),
    ))
}

impl Test {
    fn give(self, said: Option<Box<Diagnosis>>, machine: &mut Machine<'_>) {
        let path = match self.suite {
            Some(Suite::One(name)) => name,
            Some(Suite::Path(names)) => names.join(" > "),
            Some(Suite::Other(_)) | None => String::new(),
        };
        let limits = machine.limits;
        let keep = |text: String, limit| {
            let mut kept = Kept::new(limit);
            kept.push(&text);
            let text = kept.take();
            (!text.trim().is_empty()).then_some(text)
        };
        let passed = form::outcome(&self.status);
        let passed = matches!(passed, Some(CaseOutcome::Passed | CaseOutcome::Skipped));
        machine.wrong_seen += u64::from(!passed);
        suite(machine, &path, |machine| {
            let Some(case) = machine.open_case() else {
                return;
            };
            set(&mut case.name, &self.name, limits.name);
            set(
                &mut case.file,
                &self.file_path.unwrap_or_default(),
                limits.name,
            );
            case.line = self.line;
            case.duration_s = self
                .duration
                .map(|ms| ms / 1000.0)
                .filter(|s| s.is_finite());
            let properties = said
                .map(|said| Label::properties(&said))
                .unwrap_or_default();
            let cut = |value: String| value[..value.floor_char_boundary(limits.message)].to_owned();
            let kept = properties.into_iter().take(PROPERTIES);
            let kept = kept.map(|(name, value)| (name.to_owned(), cut(value)));
            case.properties.extend(kept);
            case.told = form::outcome(&self.status);
            if case.told.is_none() {
                // An unknown word is no pass.
                case.error = true;
            }
            let passed = case.told == Some(CaseOutcome::Passed);
            let failed = case.told == Some(CaseOutcome::Failed) || case.told.is_none();
            let flaky = passed && self.flaky == Some(true);
            if flaky {
                case.told = None;
                case.flaky = true;
            }
            if failed || flaky {
                case.failures.push(Failure {
                    element: Some("failure".to_owned()),
                    message: self.message.and_then(|text| keep(text, limits.message)),
                    text: self.trace.and_then(|text| keep(text, limits.text)),
                    system_out: self
                        .stdout
                        .and_then(|text| keep(text.join("\n"), limits.output)),
                    system_err: self
                        .stderr
                        .and_then(|text| keep(text.join("\n"), limits.output)),
                    ..Failure::default()
                });
            }
            machine.end_case();
        });
    }
}
