//! Suites and the root around them, as their elements come and go.

use super::attributes::{Tag, each, seconds};
use super::counts::{Claims, Unshown};
use super::elements::Node;
use super::hold::Outputs;
use super::identity::hash;
use super::kept::{Kept, bare};
use super::machine::{BETWEEN, Machine};
use super::open::OpenSuite;
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use jelly_base::model::{Failure, RUN_REPORT, RanAt, TRIAGE_REPORT};
use std::borrow::Cow;

/// Suites whose claims are remembered until the end.
const UNSHOWN: usize = 64;
/// Properties of a case that are read.
pub(super) const PROPERTIES: usize = 64;
/// Suites whose properties tell one run from another.
const SUITES_WITH_SETTINGS: u64 = 64;
/// Suites without a case that are named.
const HOLLOW: usize = 3;

/// Whether the status of a program of Perl is how many of its tests failed.
pub(super) fn counts(told: &Failure, failed: u64) -> bool {
    /// Higher ones mean that it died.
    const MOST: u64 = 254;
    let status = || {
        let said = told.message.as_deref()?;
        let status = said.strip_prefix("Dubious, test returned ")?;
        status.split(' ').next()?.parse::<u64>().ok()
    };
    status() == Some(failed.min(MOST))
}

/// The property of a suite by which jelly's own are known in the report of another.
const OWN_SUITE: &str = "jelly.run_id";

impl Machine<'_> {
    pub(super) fn start_suite(&mut self, node: Node, tag: &Tag<'_>) {
        self.suites_begun += 1;
        let mut suite = OpenSuite {
            number: self.suites_begun,
            wrong_before: self.wrong_seen,
            unshown_before: self.unshown.len(),
            path_before: self.path.len(),
            before: self.summary.elements,
            suite_errors_before: self.summary.suite_errors,
            ..OpenSuite::default()
        };
        let limit = self.limits.name;
        let room = limit.saturating_mul(4).saturating_sub(self.path.len());
        let is_root = node == Node::Suites && self.suites.is_empty();
        let (dialect, path) = (&mut self.dialect, &mut self.path);
        let (own, own_run) = (&mut self.own, &mut self.own_run);
        let is_root_named = &mut self.is_root_named;
        let look = dialect.looks_at_suites();
        let mut time = None;
        let plain = self.form.is_none();
        let is_testng = self.form.is_some_and(|form| form.dialect == "testng");
        let mut ignored = 0_i64;
        let forbidden = each(tag, |name, value| {
            if look {
                dialect.attribute(name, &value);
            }
            if plain {
                suite.claims.take(name, &value);
            } else if is_testng && is_root && name == "total" {
                suite.claims.take("tests", &value);
            } else if is_testng && is_root && name == "ignored" {
                ignored = value.trim().parse().unwrap_or(0);
            } else if name == "site" {
                suite.only_inside = !matches!(&*value, "SetUp" | "TearDown" | "Test");
            }
            match name {
                "name" if is_root => {
                    *is_root_named = !value.is_empty();
                    *own_run = &*value == RUN_REPORT;
                    *own = *own_run || &*value == TRIAGE_REPORT;
                }
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
                "timestamp" => {
                    self.identity.timestamp(&value);
                    RanAt::note(&mut self.summary.ran_at.times, hash(&[&value]));
                }
                "hostname" => RanAt::note(&mut self.summary.ran_at.hosts, hash(&[&value])),
                _ => {}
            }
        });
        // It has no elements for them.
        suite.claims.tests = suite.claims.tests.map(|all| all.saturating_sub(ignored));
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
            slot.get_or_insert_with(|| Box::new(Kept::new(limit)));
        }
    }

    pub(super) fn start_property(&mut self, tag: &Tag<'_>) {
        let (mut key, mut text) = (Cow::Borrowed(""), Cow::Borrowed(""));
        let forbidden = each(tag, |name, value| match name {
            "name" => key = value,
            "value" => text = value,
            _ => {}
        });
        self.forbidden |= forbidden;
        let short = |text: &str| text.floor_char_boundary(256);
        self.dialect
            .property(&key[..short(&key)], &text[..short(&text)]);
        if self.case().is_none() && self.suites_begun <= SUITES_WITH_SETTINGS {
            let ran_at = &mut self.summary.ran_at;
            ran_at.note_setting(hash(&[&key]), hash(&[&text]));
        }
        let limit = self.limits.message;
        // Who merges reports takes the name of their roots away.
        if key == OWN_SUITE && self.case().is_none() && !self.own && !self.is_root_named {
            self.own = true;
            if let Some(suite) = self.suites.last_mut() {
                suite.is_own = true;
            }
        }
        if self.own
            && let Some(case) = self.case()
            && case.properties.len() < PROPERTIES
        {
            let cut = |text: &str, limit| text[..text.floor_char_boundary(limit)].to_owned();
            case.properties.push((cut(&key, 256), cut(&text, limit)));
        }
    }

    pub(super) fn end_suite(&mut self, node: Node) {
        let Some(mut suite) = self.suites.pop() else {
            return;
        };
        self.own &= !suite.is_own;
        let claims = suite.claims.or(suite.inner_claims);
        let wrong = suite.claims.wrong().max(suite.inner_wrong);
        if let Some(around) = self.suites.last_mut() {
            around.inner_claims.add(claims);
            around.inner_wrong = around.inner_wrong.saturating_add(wrong);
        } else {
            self.claims.add(claims);
            self.wrong_claimed = self.wrong_claimed.saturating_add(wrong);
        }
        let elements = self.summary.elements;
        let no_case = elements.cases == suite.before.cases
            && self.summary.suite_errors == suite.suite_errors_before;
        let own = self.path.get(suite.path_before..).unwrap_or_default();
        let own = own.trim_start_matches(BETWEEN);
        let name = hash(&[own]);
        if no_case && own == "Root Suite" {
            self.root_file = suite.file.take();
        }
        let claims_more = suite.claims.wrong() > suite.inner_claims.wrong();
        if no_case && claims_more {
            self.fail_suite(node, &mut suite);
        } else if claims_more && self.shows_too_little(&suite) {
            self.note_unshown(node, suite.claims.beyond(suite.inner_claims));
        }
        if let Some(said) = self.given_up(&suite) {
            self.fail_given_up(&mut suite, said);
        }
        self.keep_unstarted(&suite);
        if no_case && node == Node::Suite && self.hollow.len() < HOLLOW {
            self.hollow.push(self.path.clone());
        }
        let cases = elements.cases - suite.before.cases;
        if let Some(around) = self.suites.last_mut() {
            let failed = elements.failed_or_error > suite.before.failed_or_error;
            around.last_inside = (cases > 0).then_some((name, failed));
        }
        self.settle_attempts(&suite, cases);
        self.settle_unmarked(&suite, cases);
        let text = |kept: Option<Box<Kept>>| {
            let text = bare(kept?.take());
            (!text.is_empty()).then_some(text)
        };
        let outputs = (text(suite.out), text(suite.err));
        let dialect = self.dialect_name();
        let sink = &mut *self.sink;
        let outputs = Outputs {
            out: outputs.0,
            err: outputs.1,
            // The log of a whole class says little of one of its tests, and
            // much of the others.
            of_all: cases == 1 || is_odd(dialect, Oddity::SharedOutput),
        };
        self.hold
            .release(self.suites.len() + 1, Some(&outputs), |held| {
                held.hand_over(dialect, sink);
            });
        self.path.truncate(suite.path_before);
        self.path_hash = hash(&[&self.path]);
    }

    /// Whether a case says no more than that something failed which the report
    /// shows, or that all of a suite passed.
    pub(super) fn only_sums_up(&mut self, index: usize) -> bool {
        let dialect = self.dialect_name();
        let failed = self.summary.elements.failed;
        let (Some(case), Some(suite)) = (self.cases.get(index), self.suites.last_mut()) else {
            return false;
        };
        if case.of_suite {
            let failed = failed - suite.before.failed;
            return failed > 0
                && is_odd(dialect, Oddity::StatusCountsFailures)
                && case.failures.iter().all(|told| counts(told, failed));
        }
        let wrong = case.failed || case.error;
        suite.last_inside.take().is_some_and(|(name, failed)| {
            name == hash(&[&case.name])
                && failed == wrong
                && is_odd(dialect, Oddity::SuitesSummedUp)
        })
    }

    /// Whether nothing of what a suite claims is shown inside it.
    fn shows_too_little(&self, suite: &OpenSuite) -> bool {
        let told = self.unshown.len() > suite.unshown_before;
        let nothing = self.wrong_seen == suite.wrong_before;
        // A package that does not compile is an error of the run, and a suite
        // without a case, as one without tests is.
        let package = suite.claims.errors.unwrap_or(0) > 0
            && !suite.is_suite
            && !self.hollow.is_empty()
            && is_odd(self.dialect_name(), Oddity::ErrorsOfPackages);
        !told && (nothing || package)
    }

    /// Some writers count in one suite what they show in another: whether
    /// anything is missing is known at the end.
    fn note_unshown(&mut self, node: Node, claims: Claims) {
        if self.unshown.len() < UNSHOWN {
            self.unshown.push(Unshown {
                path: self.path.clone(),
                claims,
                what: if node == Node::Suite { "suite" } else { "run" },
            });
        }
    }

    /// Turns claims into failures where the report as a whole shows less than
    /// it claims.
    pub(super) fn fail_unshown(&mut self) {
        let unshown = std::mem::take(&mut self.unshown);
        let shown = i64::try_from(self.wrong_seen).unwrap_or(i64::MAX);
        // Of what was cut off, anything can be missing.
        if self.wrong_claimed <= shown || self.summary.problem.is_some() {
            return;
        }
        for Unshown { path, claims, what } in unshown {
            self.stand_for(path);
            self.fail_claimed(what, claims);
            self.end_case();
        }
        self.path.clear();
    }

    /// A case begins that stands for a suite which ended already.
    pub(super) fn stand_for(&mut self, path: String) {
        self.path = path;
        self.path_hash = hash(&[&self.path]);
        self.open_case_of_suite();
    }

    /// A suite claims that something went wrong, and no case of it is there.
    fn fail_suite(&mut self, node: Node, suite: &mut OpenSuite) {
        self.open_case_of_suite();
        let what = if node == Node::Suite { "suite" } else { "run" };
        self.fail_claimed(what, suite.claims.beyond(suite.inner_claims));
        self.end_case_of(suite);
    }

    /// The line with which the TAP of a suite ends before its plan is done.
    fn given_up(&self, suite: &OpenSuite) -> Option<String> {
        let out = suite.out.as_ref().filter(|_| suite.is_suite)?;
        is_odd(self.dialect_name(), Oddity::TapInOutput).then(|| out.line("Bail out!"))?
    }

    /// A suite was given up, and its cases are those before that.
    fn fail_given_up(&mut self, suite: &mut OpenSuite, said: String) {
        self.open_case_of_suite();
        self.wrong_seen += 1;
        if let Some(case) = self.case() {
            case.error = true;
            case.failures.push(Failure {
                element: Some("error".to_owned()),
                message: Some(said),
                ..Failure::default()
            });
        }
        self.end_case_of(suite);
    }

    /// The case of a suite ends while its suite is still around it.
    fn end_case_of(&mut self, suite: &mut OpenSuite) {
        self.suites.push(std::mem::take(suite));
        self.end_case();
        if let Some(back) = self.suites.pop() {
            *suite = back;
        }
    }

    /// The open case stands for what a suite or the run claims.
    fn fail_claimed(&mut self, what: &str, claims: Claims) {
        let mut message = format!(
            "the {what} reports {}, and no test case shows it",
            claims.wrong_in_words()
        );
        // Whoever writes so says no more of a package that does not compile.
        if what == "run"
            && is_odd(self.dialect_name(), Oddity::ErrorsOfPackages)
            && !self.hollow.is_empty()
        {
            message.push_str("; nothing ran in ");
            message.push_str(&self.hollow.join(", "));
        }
        self.wrong_seen += u64::try_from(claims.wrong()).unwrap_or(0);
        let Some(case) = self.case() else { return };
        if case.name.is_empty() {
            case.name = format!("({what})");
        }
        case.error = claims.errors.unwrap_or(0) > 0;
        case.failed = !case.error;
        case.failures.push(Failure {
            element: Some(if case.error { "error" } else { "failure" }.to_owned()),
            message: Some(message),
            ..Failure::default()
        });
    }
}
