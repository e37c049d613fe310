//! Cases and what went wrong in them, as their elements come and go.

use super::attempts_said::{may_be_rows, names_of, said_of};
use super::attributes::{Tag, each, seconds, set};
use super::case::{Case, CaseOutcome};
use super::counts::count;
use super::elements::{Node, Wrong};
use super::escape;
use super::failures::tidy;
use super::form::{self, Form, Says};
use super::hold::HeldCase;
use super::identity::{Failed, hash, join};
use super::kept::{Kept, bare};
use super::machine::{BETWEEN, Machine};
use super::open::{OpenCase, OpenSuite, OpenWrong};
use super::own_labels;
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use jelly_base::model::{Failure, Label};

/// Cases inside cases that are followed; some converters write one.
const NESTED_CASES: usize = 8;

impl Machine<'_> {
    /// A case begins, of which nothing is known yet.
    pub(super) fn open_case(&mut self) -> Option<&mut OpenCase> {
        if self.open_cases == NESTED_CASES {
            return None;
        }
        if self.cases.len() == self.open_cases {
            self.cases.push(OpenCase::default());
        }
        let case = self.cases.get_mut(self.open_cases)?;
        self.open_cases += 1;
        case.restart(&self.limits);
        Some(case)
    }

    pub(super) fn start_case(&mut self, named: Node, tag: &Tag<'_>) -> Node {
        if let Some(form) = self.form {
            return self.start_foreign_case(form, named, tag);
        }
        let limits = self.limits;
        if self.open_case().is_none() {
            return Node::Other;
        }
        let Some(case) = self.cases.get_mut(self.open_cases - 1) else {
            return Node::Other;
        };
        let dialect = &mut self.dialect;
        let look = dialect.looks_at_cases();
        let mut names = 0;
        let forbidden = each(tag, |name, value| {
            match name {
                "name" => {
                    names += 1;
                    set(&mut case.name, &value, limits.name);
                }
                "classname" => set(&mut case.classname, &value, limits.name),
                "class" if case.classname.is_empty() => {
                    set(&mut case.classname, &value, limits.name);
                }
                "time" => {
                    case.duration_s = seconds(&value);
                    case.unstarted.note_time(&value);
                }
                "duration" if case.duration_s.is_none() => case.duration_s = seconds(&value),
                "file" | "filepath" | "filename" => set(&mut case.file, &value, limits.name),
                "line" | "lineno" => {
                    let bare = value.parse().or_else(|_| value.trim().parse());
                    case.line = bare.ok();
                }
                "status" | "result" => {
                    case.status_notrun |= name == "status" && &*value == "notrun";
                    if value.eq_ignore_ascii_case("interrupted") {
                        case.cut_off = form::cut_off(&value);
                    }
                    case.unstarted.note_status(&value);
                    case.status_failed = form::failed_by_status(&value).or(case.status_failed);
                    case.not_run |= matches!(
                        value.to_ascii_lowercase().as_str(),
                        "notrun"
                            | "notexecuted"
                            | "blocked"
                            | "skipped"
                            | "disabled"
                            | "ignored"
                            | "pending"
                            | "suppressed"
                            | "untested"
                    );
                }
                "timestamp" => {
                    case.timestamp = hash(&[&value]);
                    case.unstarted.note_begin(&value);
                }
                _ => {}
            }
            if look {
                dialect.attribute(name, &value);
            }
        });
        if look {
            dialect.case_seen(&case.classname, &case.name);
        }
        self.wrong_seen += u64::from(case.cut_off.is_some());
        if names > 1 {
            self.warn("an element has an attribute twice, the last one was read");
        }
        self.forbidden |= forbidden;
        Node::Case
    }

    pub(super) fn start_wrong(
        &mut self,
        wrong: Wrong,
        around: Option<Node>,
        tag: &Tag<'_>,
        missing: i64,
    ) -> Node {
        let of_case = if self.form.is_some() {
            self.open_cases > 0
        } else {
            around == Some(Node::Case) && self.open_cases > 0
        };
        let of_suite = around == Some(Node::Suite)
            && self.suites.last().is_some_and(|suite| !suite.only_inside);
        if self.wrong.is_some() || !(of_case || of_suite) {
            return Node::Other;
        }
        let type_ = self.form.map_or("type", |form| form.type_);
        if !of_case {
            self.open_case_of_suite();
        }
        self.wrong_seen += 1;
        let limits = self.limits;
        let mut open = Box::new(OpenWrong {
            wrong,
            message: None,
            type_: None,
            file: None,
            line: None,
            said: Kept::new(limits.message),
            text: Kept::new(limits.text),
            out: Kept::new(limits.output),
            err: Kept::new(limits.output),
        });
        let dialect = &mut self.dialect;
        let forbidden = each(tag, |name, value| match name {
            "message" if !value.is_empty() => {
                dialect.failure("message", &value);
                let mut kept = Kept::new(limits.message);
                kept.push(&value);
                kept.missed(missing);
                open.message = Some(escape::as_meant(kept.take()));
            }
            name if name == type_ && !value.is_empty() => {
                dialect.failure("type", &value);
                let mut text = String::new();
                set(&mut text, &value, limits.name);
                open.type_ = Some(text);
            }
            "file" => open.file = Some(value[..value.floor_char_boundary(limits.name)].to_owned()),
            "line" => open.line = value.trim().parse().ok(),
            _ => {}
        });
        self.forbidden |= forbidden;
        if let Some(case) = self.case() {
            case.mark(wrong);
        }
        self.wrong = Some(open);
        Node::Wrong(wrong)
    }

    /// A case of another format than JUnit's.
    fn start_foreign_case(&mut self, form: &Form, named: Node, tag: &Tag<'_>) -> Node {
        // What several cases are summed up in is none itself.
        if let Some(around) = self.case() {
            around.configuration = true;
        }
        let limits = self.limits;
        let in_class = self
            .path
            .rsplit(BETWEEN)
            .next()
            .unwrap_or_default()
            .to_owned();
        let Some(case) = self.open_case() else {
            return Node::Other;
        };
        case.of_suite = named == Node::CaseOfRun;
        let mut full = String::new();
        let mut has_outcome = false;
        let forbidden = each(tag, |name, value| match form.attribute(name) {
            Some(Says::Name) => set(&mut case.name, &value, limits.name),
            Some(Says::FullName) => set(&mut full, &value, limits.name),
            Some(Says::Class) => set(&mut case.classname, &value, limits.name),
            Some(Says::Outcome) => {
                has_outcome = true;
                case.told = form::outcome(&value).or(case.told);
                case.cut_off = form::cut_off(&value);
                if case.told.is_none() && case.cut_off.is_none() {
                    case.cut_off = Some(form::NO_OUTCOME);
                }
            }
            Some(Says::Label) if case.told == Some(CaseOutcome::Failed) && value == "Error" => {
                case.told = Some(CaseOutcome::Error);
            }
            Some(Says::Seconds) => case.duration_s = seconds(&value),
            Some(Says::Milliseconds) => case.duration_s = seconds(&value).map(|ms| ms / 1000.0),
            Some(Says::Clock) => case.duration_s = form::clock(&value),
            Some(Says::Configuration) => case.configuration = value == "true",
            Some(Says::Label) | None => {}
        });
        if form.dialect == "trx" && named == Node::Case && !has_outcome {
            case.cut_off = Some(form::NO_OUTCOME);
        }
        let (class, name) = form::split(&full);
        if case.name.is_empty() {
            // The class is said apart, or is part of the name.
            let known = full
                .strip_prefix(case.classname.as_str())
                .and_then(|rest| rest.strip_prefix('.'));
            case.name.push_str(known.unwrap_or(name));
        }
        if case.classname.is_empty() {
            let class = if full.is_empty() { &in_class } else { class };
            case.classname.push_str(class);
        }
        if named == Node::CaseOfRun {
            case.told = case.told.or(Some(CaseOutcome::Error));
            case.configuration = true;
            if case.name.is_empty() {
                case.name.push_str("(run)");
            }
        }
        self.forbidden |= forbidden;
        Node::Case
    }

    /// A case that stands for the innermost suite.
    pub(super) fn open_case_of_suite(&mut self) {
        let name = self.path.rsplit(BETWEEN).next().unwrap_or_default();
        let name = name.to_owned();
        if let Some(case) = self.open_case() {
            case.of_suite = true;
            case.name.push_str(&name);
        }
    }

    pub(super) fn end_wrong(&mut self) {
        let Some(mut open) = self.wrong.take() else {
            return;
        };
        let of_suite = self.case().is_some_and(|case| case.of_suite);
        let failure = self.failure(&mut open);
        let most = self.limits.failures_per_case;
        let (own_run, is_unnamed) = (self.own_run, !self.is_root_named);
        if let Some(case) = self.case() {
            let rerun = matches!(open.wrong, Wrong::RerunFailure | Wrong::RerunError);
            let flaky = matches!(open.wrong, Wrong::FlakyFailure | Wrong::FlakyError);
            // A further attempt that says the same again is no news.
            let says_the_same =
                |known: &Failure| known.message == failure.message && known.type_ == failure.type_;
            // A run tells a test by its last failed attempt, whatever was wrong
            // with those before it.
            let is_own =
                own_run || rerun && is_unnamed && own_labels::told_by_jelly(&failure).is_some();
            let known = rerun && (is_own || case.failures.iter().any(says_the_same));
            let known = known && !case.failures.is_empty();
            if flaky && own_run {
                case.failures.clear();
            }
            if known {
            } else if case.failures.len() < most {
                case.failures.push(failure);
            } else {
                case.more_failures += 1;
            }
        }
        if of_suite {
            self.end_case();
        }
    }

    /// Everything but what is said of the case around it.
    fn failure(&self, open: &mut OpenWrong) -> Failure {
        let foreign = self.form.is_some();
        let some = |kept: &mut Kept| {
            if kept.is_empty() {
                return None;
            }
            // Other formats indent what they put into elements.
            let text = if foreign {
                kept.take().trim().to_owned()
            } else {
                bare(kept.take())
            };
            (!text.trim().is_empty()).then_some(text)
        };
        Failure {
            element: Some(open.wrong.element().to_owned()),
            type_: open.type_.take(),
            message: open
                .message
                .take()
                .or_else(|| some(&mut open.said).map(escape::as_meant)),
            text: some(&mut open.text).map(escape::as_meant),
            system_out: some(&mut open.out),
            system_err: some(&mut open.err),
            file: open.file.take(),
            line: open.line,
            ..Failure::default()
        }
    }

    pub(super) fn end_case(&mut self) {
        let Some(index) = self.open_cases.checked_sub(1) else {
            return;
        };
        self.open_cases = index;
        let Some(case) = self.cases.get_mut(index) else {
            return;
        };
        let was_wrong = case.failed || case.error;
        case.settle();
        if case.status_failed.is_some() && case.failed && !was_wrong {
            self.wrong_seen += 1;
        }
        let Some(case) = self.cases.get(index) else {
            return;
        };
        let outcome = outcome(case);
        let failed = matches!(outcome, CaseOutcome::Failed | CaseOutcome::Error);
        self.note_unstarted(index, outcome);
        let Some(case) = self.cases.get(index) else {
            return;
        };
        let failed_inside = failed || case.inner_failed;
        if let Some(around) = index.checked_sub(1).and_then(|at| self.cases.get_mut(at)) {
            around.inner_failed |= failed_inside;
        }
        if self.only_sums_up(index) {
            return;
        }
        let Some(case) = self.cases.get_mut(index) else {
            return;
        };
        // The run's own word of a failure is mostly about the tests that failed.
        let repeats = case.configuration
            && case.classname.is_empty()
            && self.summary.failed + self.summary.errors > 0;
        let fine = matches!(
            outcome,
            CaseOutcome::Passed | CaseOutcome::Skipped | CaseOutcome::Flaky
        );
        if case.of_suite && (fine || repeats) {
            return;
        }
        let suite = self.suites.last().map_or(0, |suite| suite.number);
        let before = self.last_error.take();
        let doubled = if case.error {
            let ended = (names_of(case, suite), said_of(case, suite));
            self.last_error = Some(ended);
            before == Some(ended)
        } else {
            // Its second copy may be a failure, in other words.
            case.failed && before.is_some_and(|(names, _)| names == names_of(case, suite))
        };
        if doubled && is_odd(self.dialect_name(), Oddity::DoubledErrors) {
            return;
        }
        let outcome = self.note_outside(index, outcome);
        let quotes = is_odd(self.dialect_name(), Oddity::QuotesEscapedTwice);
        let Some(case) = self.cases.get_mut(index) else {
            return;
        };
        if quotes && case.name.contains("&quot;") {
            case.name = case.name.replace("&quot;", "\"");
        }
        case.ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        let elements = &mut self.summary.elements;
        if case.of_suite {
            self.summary.suite_errors += 1;
        } else {
            elements.cases += 1;
            elements.failed += u64::from(case.failed);
            elements.errors += u64::from(case.error);
            elements.skipped += u64::from(case.skipped);
            elements.flaky += u64::from(case.flaky);
            elements.rerun += u64::from(case.rerun);
            elements.failed_or_error += u64::from(case.failed || case.error);
            self.several += u64::from(case.failures.len() > 1);
        }
        let names = self.names.hash(&case.classname, &case.name);
        let of_rows = may_be_rows(&case.name);
        let key = join(self.path_hash, names);
        let named = !case.name.is_empty();
        self.identity.case(names, case, outcome);
        self.identity.said(names, case);
        if case.outside {
            self.summary.suite_errors += 1;
        } else if !case.of_suite {
            count(&mut self.summary, outcome);
        }
        if !case.of_suite {
            self.attempts.seen(key, outcome == CaseOutcome::Passed);
        }
        if matches!(outcome, CaseOutcome::Passed | CaseOutcome::Skipped) {
            let handed = Case {
                ordinal: case.ordinal,
                suite: &self.path,
                classname: &case.classname,
                name: &case.name,
                file: (!case.file.is_empty()).then_some(&case.file),
                line: case.line,
                duration_s: case.duration_s,
                outcome,
                failures: &[],
            };
            self.sink.case(&handed);
            if outcome == CaseOutcome::Passed
                && is_odd(self.dialect_name(), Oddity::AttemptsCounted)
            {
                self.attempts.ended(suite, names, None, of_rows);
            }
            if outcome == CaseOutcome::Passed && named {
                self.attempts.passed(suite, names);
            }
            return;
        }
        // What failed of a suite is no test that could pass in the end, even
        // if one is named as the suite.
        let of_test = !case.of_suite && !case.outside;
        let said = self.cases.get(index).map(|case| said_of(case, suite));
        let held = self.take_held(index, outcome);
        let dialect = self.dialect_name();
        let attempt = named && of_test && !matches!(outcome, CaseOutcome::Flaky);
        if attempt && is_odd(dialect, Oddity::Attempts) {
            let ordinal = held.ordinal;
            if is_odd(dialect, Oddity::AttemptsCounted) {
                self.attempts
                    .ended(suite, names, Some(said.unwrap_or_default()), of_rows);
            }
            self.attempts.failed(
                suite,
                Failed {
                    ordinal,
                    outcome,
                    names,
                },
            );
        }
        let sink = &mut *self.sink;
        self.hold.push(held, |held| held.hand_over(dialect, sink));
        if self.suites.is_empty() {
            self.hold
                .release(0, None, |held| held.hand_over(dialect, sink));
        }
    }

    /// Moves what a failing case holds out of its buffers.
    fn take_held(&mut self, index: usize, outcome: CaseOutcome) -> HeldCase {
        let suite_file = self
            .suites
            .iter()
            .rev()
            .find_map(|suite| suite.file.clone())
            .or_else(|| self.root_file.clone());
        let writer = self.dialect_name();
        let case = &mut self.cases[index];
        let some = |kept: &mut Kept| {
            if kept.is_empty() {
                return None;
            }
            let text = bare(kept.take());
            (!text.is_empty()).then_some(text)
        };
        let (mut out, err) = (some(&mut case.out), some(&mut case.err));
        let mut failures = std::mem::take(&mut case.failures);
        if failures.is_empty() {
            failures.push(Failure {
                element: Some(if case.error { "error" } else { "failure" }.to_owned()),
                ..Failure::default()
            });
        }
        tidy(&mut failures, &case.name, writer);
        let mut doubt = None;
        if self.own {
            let said = out.as_deref().and_then(Label::from_output);
            let (said, rest) = said.unzip();
            doubt = own_labels::label(&mut failures, case, outcome, said);
            if let Some(rest) = rest.map(str::to_owned) {
                out = (!rest.trim().is_empty()).then_some(rest);
            }
        } else if !self.is_root_named {
            for failure in &mut failures {
                failure.label = own_labels::told_by_jelly(failure);
            }
        }
        let file = (!case.file.is_empty())
            .then(|| case.file.clone())
            .or(suite_file);
        for failure in &mut failures {
            failure.suite = (!self.path.is_empty()).then(|| self.path.clone());
            failure.classname = (!case.classname.is_empty()).then(|| case.classname.clone());
            failure.name = Some(case.name.clone());
            failure.system_out = failure.system_out.take().or_else(|| out.clone());
            failure.system_err = failure.system_err.take().or_else(|| err.clone());
            if failure.file.is_none() {
                failure.file.clone_from(&file);
                failure.line = failure.line.or(case.line);
            }
        }
        let held = HeldCase {
            ordinal: case.ordinal,
            suite: self.path.clone(),
            classname: std::mem::take(&mut case.classname),
            name: std::mem::take(&mut case.name),
            file,
            line: case.line,
            duration_s: case.duration_s,
            outcome,
            failures,
            depth: self.suites.len(),
            ready: false,
        };
        if let Some(doubt) = doubt {
            self.warn(&format!(
                "what jelly is to have said of {} is ignored: {doubt}",
                held.name
            ));
        }
        held
    }

    /// A suite element ends that holds so many cases. Those of its failed ones
    /// of which a later attempt passed are flaky.
    pub(super) fn settle_attempts(&mut self, suite: &OpenSuite, cases: u64) {
        let earlier = self.attempts.end_suite(suite.number);
        // These writers count a test once, however often it was run. One that
        // was asked for several runs of each test counts them all.
        let tests = suite.claims.tests.and_then(|n| u64::try_from(n).ok());
        let more = tests.map_or(0, |tests| cases.saturating_sub(tests));
        let counted = is_odd(self.dialect_name(), Oddity::AttemptsCounted);
        if more < earlier.len() as u64 && !counted {
            return;
        }
        for Failed {
            ordinal, outcome, ..
        } in earlier
        {
            let field = if outcome == CaseOutcome::Error {
                &mut self.summary.errors
            } else {
                &mut self.summary.failed
            };
            *field = field.saturating_sub(1);
            self.summary.flaky += 1;
            if !self.hold.turn_flaky(ordinal) {
                self.sink.turned_flaky(ordinal);
            }
        }
    }
}

fn outcome(case: &OpenCase) -> CaseOutcome {
    if case.error {
        CaseOutcome::Error
    } else if case.failed {
        CaseOutcome::Failed
    } else if case.flaky {
        CaseOutcome::Flaky
    } else if case.rerun {
        CaseOutcome::Failed
    } else if case.skipped || case.not_run {
        CaseOutcome::Skipped
    } else {
        CaseOutcome::Passed
    }
}
