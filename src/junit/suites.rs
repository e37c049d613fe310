//! Suites and the root around them, as their elements come and go.

use super::attributes::{each, seconds};
use super::elements::Node;
use super::hold::Outputs;
use super::identity::hash;
use super::kept::Kept;
use super::machine::{BETWEEN, Machine};
use super::open::OpenSuite;
use crate::model::Failure;
use quick_xml::events::BytesStart;
use std::borrow::Cow;

impl Machine<'_> {
    pub(super) fn start_suite(&mut self, node: Node, start: &BytesStart<'_>) {
        let mut suite = OpenSuite {
            path_before: self.path.len(),
            before: self.summary.elements,
            suite_errors_before: self.summary.suite_errors,
            ..OpenSuite::default()
        };
        let limit = self.limits.name;
        let room = limit.saturating_mul(4).saturating_sub(self.path.len());
        let (dialect, path) = (&mut self.dialect, &mut self.path);
        let look = dialect.looks_at_suites();
        let mut time = None;
        let plain = self.form.is_none();
        let forbidden = each(start, |name, value| {
            if look {
                dialect.suite_attribute(node, name, &value);
            }
            if plain {
                suite.claims.take(name, &value);
            } else if name == "site" {
                suite.only_inside = !matches!(&*value, "SetUp" | "TearDown" | "Test");
            }
            match name {
                // The name of the root is that of the run.
                "name" if node == Node::Suite && !value.is_empty() && room > value.len() => {
                    // Of several names the last one counts, as of a case.
                    path.truncate(suite.path_before);
                    if !path.is_empty() {
                        path.push_str(BETWEEN);
                    }
                    path.push_str(&value[..value.floor_char_boundary(limit)]);
                }
                "file" | "filepath" => {
                    suite.file = Some(value[..value.floor_char_boundary(limit)].to_owned());
                }
                "time" | "duration" => time = seconds(&value),
                "timestamp" => self.identity.timestamp(&value),
                _ => {}
            }
        });
        if look {
            self.dialect.suite_seen(node);
        }
        if node == Node::Suite && !self.in_suite() {
            self.suite_seconds += time.unwrap_or(0.0);
        } else if self.suites.is_empty() {
            self.summary.duration_s = time;
        }
        suite.is_suite = node == Node::Suite;
        self.path_hash = hash(&[&self.path]);
        self.forbidden |= forbidden;
        self.suites.push(suite);
    }

    /// Whether a suite is open, and not only the root around suites.
    fn in_suite(&self) -> bool {
        self.suites.last().is_some_and(|suite| suite.is_suite)
    }

    pub(super) fn start_output(&mut self, node: Node) {
        let limit = self.limits.output;
        if let Some(suite) = self.suites.last_mut() {
            let slot = if node == Node::Out {
                &mut suite.out
            } else {
                &mut suite.err
            };
            slot.get_or_insert_with(|| {
                let mut kept = Kept::default();
                kept.restart(limit);
                Box::new(kept)
            });
        }
    }

    pub(super) fn start_property(&mut self, start: &BytesStart<'_>) {
        let (mut key, mut text) = (Cow::Borrowed(""), Cow::Borrowed(""));
        let forbidden = each(start, |name, value| match name {
            "name" => key = value,
            "value" => text = value,
            _ => {}
        });
        self.forbidden |= forbidden;
        let short = |text: &str| text.floor_char_boundary(256);
        self.dialect
            .property(&key[..short(&key)], &text[..short(&text)]);
    }

    pub(super) fn end_suite(&mut self, node: Node) {
        let Some(mut suite) = self.suites.pop() else {
            return;
        };
        let claims = suite.claims.or(suite.inner_claims);
        if let Some(around) = self.suites.last_mut() {
            around.inner_claims.add(claims);
        } else {
            self.claims.add(claims);
        }
        let elements = self.summary.elements;
        let no_case = elements.cases == suite.before.cases
            && self.summary.suite_errors == suite.suite_errors_before;
        let claims_more = suite.claims.wrong() > suite.inner_claims.wrong();
        if no_case && claims_more {
            self.fail_suite(node, &mut suite);
        }
        let text = |kept: Option<Box<Kept>>| {
            let text = kept?.text();
            let text = text.trim_end().trim_start_matches('\n');
            (!text.is_empty()).then(|| text.to_owned())
        };
        let outputs = (text(suite.out), text(suite.err));
        let dialect = self.dialect_name();
        let sink = &mut *self.sink;
        let cases = elements.cases - suite.before.cases;
        let outputs = Outputs {
            out: outputs.0,
            err: outputs.1,
            // The log of a whole class says little of one of its tests, and
            // much of the others.
            of_all: cases == 1 || matches!(dialect, "newman" | "bazel"),
        };
        self.hold
            .release(self.suites.len() + 1, Some(&outputs), |held| {
                held.hand_over(dialect, sink);
            });
        self.path.truncate(suite.path_before);
        self.path_hash = hash(&[&self.path]);
    }

    /// A suite claims that something went wrong, and no case of it is there.
    fn fail_suite(&mut self, node: Node, suite: &mut OpenSuite) {
        self.open_case_of_suite();
        let what = if node == Node::Suite { "suite" } else { "run" };
        let claims = suite.claims;
        let Some(case) = self.case() else { return };
        if case.name.is_empty() {
            case.name = format!("({what})");
        }
        case.error = claims.errors.unwrap_or(0) > 0;
        case.failed = !case.error;
        case.failures.push(Failure {
            element: Some(if case.error { "error" } else { "failure" }.to_owned()),
            message: Some(format!(
                "the {what} reports {} errors and {} failures, and no test case that shows them",
                claims.errors.unwrap_or(0).max(0),
                claims.failures.unwrap_or(0).max(0),
            )),
            ..Failure::default()
        });
        // It ends while its suite is still around it.
        self.suites.push(std::mem::take(suite));
        self.end_case();
        if let Some(back) = self.suites.pop() {
            *suite = back;
        }
    }
}
