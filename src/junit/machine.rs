//! Events of the XML → cases. Holds what is open, and hands on what is known.

use super::attributes::{each, seconds, set};
use super::case::{Case, CaseOutcome, CaseSink};
use super::counts::{Claims, count};
use super::dialect::Dialect;
use super::elements::{Node, Wrong};
use super::escape;
use super::hold::{Held, Hold};
use super::identity::{Attempts, Identity, hash};
use super::kept::Kept;
use super::limits::Limits;
use super::open::{OpenCase, OpenSuite, OpenWrong};
use crate::model::{Failure, ReportSummary};
use quick_xml::events::BytesStart;

/// Between the names of suites.
const BETWEEN: &str = " > ";

/// Cases inside cases that are followed; some converters write one.
const NESTED_CASES: usize = 8;

pub(super) struct Machine<'s> {
    limits: Limits,
    sink: &'s mut dyn CaseSink,
    pub(super) summary: ReportSummary,
    pub(super) dialect: Dialect,
    stack: Vec<Node>,
    suites: Vec<OpenSuite>,
    /// Names of the open suites, joined.
    path: String,
    cases: Vec<OpenCase>,
    /// How many of `cases` are open.
    open_cases: usize,
    wrong: Option<Box<OpenWrong>>,
    hold: Hold,
    identity: Identity,
    attempts: Attempts,
    next_ordinal: u64,
    /// What the root, or the suites without one, claim.
    claims: Claims,
    suite_seconds: f64,
    /// Names of the root elements that were seen.
    pub(super) roots: Vec<String>,
    property: String,
}

impl<'s> Machine<'s> {
    pub(super) fn new(path: &str, limits: &Limits, sink: &'s mut dyn CaseSink) -> Self {
        Self {
            limits: *limits,
            sink,
            summary: ReportSummary {
                path: path.to_owned(),
                ..ReportSummary::default()
            },
            dialect: Dialect::of_file(path),
            stack: Vec::new(),
            suites: Vec::new(),
            path: String::new(),
            cases: Vec::new(),
            open_cases: 0,
            wrong: None,
            hold: Hold::new(limits.held),
            identity: Identity::default(),
            attempts: Attempts::new(limits.identities),
            next_ordinal: 0,
            claims: Claims::default(),
            suite_seconds: 0.0,
            roots: Vec::new(),
            property: String::new(),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    pub(super) fn start(&mut self, start: &BytesStart<'_>) {
        let name = start.local_name().into_inner();
        let mut node = Node::named(name);
        if self.stack.is_empty() {
            if self.roots.len() < 4 {
                let mut root = String::new();
                set(&mut root, name, self.limits.name);
                self.roots.push(root);
            }
            if node == Node::Other {
                node = Node::Suites;
            }
        }
        let around = self.stack.last().copied();
        match node {
            Node::Suites | Node::Suite => self.start_suite(node, start),
            Node::Case => node = self.start_case(start),
            Node::Wrong(wrong) => node = self.start_wrong(wrong, around, start),
            Node::Skipped => {
                if let (Some(Node::Case), Some(case)) = (around, self.case()) {
                    case.skipped = true;
                } else {
                    node = Node::Other;
                }
            }
            Node::Property => self.start_property(start),
            Node::Out | Node::Err if around == Some(Node::Suite) => self.start_output(node),
            Node::Out | Node::Err | Node::Stack | Node::Properties | Node::Other => {}
        }
        self.stack.push(node);
    }

    pub(super) fn end(&mut self) {
        let Some(node) = self.stack.pop() else {
            return;
        };
        match node {
            Node::Suites | Node::Suite => self.end_suite(node),
            Node::Case => self.end_case(),
            Node::Wrong(_) => self.end_wrong(),
            Node::Out | Node::Err => {
                // Each piece of output ends its line.
                self.text("\n");
            }
            Node::Stack | Node::Skipped | Node::Properties | Node::Property | Node::Other => {}
        }
    }

    /// Text that is unescaped already.
    pub(super) fn text(&mut self, text: &str) {
        if let Some(kept) = self.target() {
            kept.push(text);
        } else if self.stack.last() == Some(&Node::Property) && self.property.len() < 256 {
            self.property
                .push_str(&text[..text.floor_char_boundary(256)]);
        }
    }

    /// Where the text of the innermost element goes.
    fn target(&mut self) -> Option<&mut Kept> {
        let mut levels = self.stack.iter().rev();
        let top = *levels.next()?;
        let around = levels.next().copied();
        match (top, around) {
            (Node::Case | Node::Suite | Node::Suites, _) => None,
            (Node::Wrong(_) | Node::Stack, _) | (Node::Other, Some(Node::Wrong(_))) => {
                self.wrong.as_mut().map(|wrong| &mut wrong.text)
            }
            (Node::Out, Some(Node::Wrong(_))) => self.wrong.as_mut().map(|wrong| &mut wrong.out),
            (Node::Err, Some(Node::Wrong(_))) => self.wrong.as_mut().map(|wrong| &mut wrong.err),
            (Node::Out, Some(Node::Case)) => self.case().map(|case| &mut case.out),
            (Node::Err, Some(Node::Case)) => self.case().map(|case| &mut case.err),
            (Node::Out, Some(Node::Suite)) => self.suites.last_mut()?.out.as_deref_mut(),
            (Node::Err, Some(Node::Suite)) => self.suites.last_mut()?.err.as_deref_mut(),
            _ => None,
        }
    }

    /// The innermost open case.
    fn case(&mut self) -> Option<&mut OpenCase> {
        self.cases.get_mut(self.open_cases.checked_sub(1)?)
    }

    fn start_suite(&mut self, node: Node, start: &BytesStart<'_>) {
        let mut suite = OpenSuite {
            path_before: self.path.len(),
            before: self.summary.elements,
            suite_errors_before: self.summary.suite_errors,
            ..OpenSuite::default()
        };
        let limit = self.limits.name;
        let room = limit.saturating_mul(4).saturating_sub(self.path.len());
        let (dialect, path) = (&mut self.dialect, &mut self.path);
        dialect.element(node);
        let mut time = None;
        each(start, |name, value| {
            dialect.suite_attribute(node, name, &value);
            suite.claims.take(name, &value);
            match name {
                // The name of the root is that of the run.
                "name" if node == Node::Suite && !value.is_empty() && room > value.len() => {
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
        if self.stack.is_empty() && node == Node::Suites {
            self.summary.duration_s = time;
        } else if self.suites.iter().all(|suite| suite.path_before == 0) && self.path_is_top() {
            self.suite_seconds += time.unwrap_or(0.0);
        }
        self.suites.push(suite);
    }

    /// Whether a suite that starts now is not inside another one.
    fn path_is_top(&self) -> bool {
        !self.stack.contains(&Node::Suite)
    }

    fn start_output(&mut self, node: Node) {
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

    fn start_property(&mut self, start: &BytesStart<'_>) {
        let (mut key, mut text) = (String::new(), String::new());
        each(start, |name, value| match name {
            "name" => set(&mut key, &value, 256),
            "value" => set(&mut text, &value, 256),
            _ => {}
        });
        self.dialect.property(&key, &text);
    }

    fn start_case(&mut self, start: &BytesStart<'_>) -> Node {
        if self.open_cases == NESTED_CASES {
            return Node::Other;
        }
        if self.cases.len() == self.open_cases {
            self.cases.push(OpenCase::default());
        }
        let limits = self.limits;
        let Some(case) = self.cases.get_mut(self.open_cases) else {
            return Node::Other;
        };
        self.open_cases += 1;
        case.restart(&limits);
        case.ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        let dialect = &mut self.dialect;
        let look = dialect.looks_at_cases();
        each(start, |name, value| {
            match name {
                "name" => set(&mut case.name, &value, limits.name),
                "classname" => set(&mut case.classname, &value, limits.name),
                "class" if case.classname.is_empty() => {
                    set(&mut case.classname, &value, limits.name);
                }
                "time" => case.duration_s = seconds(&value),
                "duration" if case.duration_s.is_none() => case.duration_s = seconds(&value),
                "file" | "filepath" | "filename" => set(&mut case.file, &value, limits.name),
                "line" | "lineno" => case.line = value.trim().parse().ok(),
                "status" | "result" => {
                    case.not_run |= matches!(
                        value.to_ascii_lowercase().as_str(),
                        "notrun" | "skipped" | "disabled" | "ignored" | "pending" | "suppressed"
                    );
                }
                "timestamp" => case.timestamp = hash(&[&value]),
                _ => {}
            }
            if look {
                dialect.case_attribute(name, &value);
            }
        });
        if look {
            dialect.case(&case.classname, &case.name);
        }
        Node::Case
    }

    fn start_wrong(&mut self, wrong: Wrong, around: Option<Node>, start: &BytesStart<'_>) -> Node {
        let of_case = around == Some(Node::Case) && self.open_cases > 0;
        if self.wrong.is_some() || !(of_case || around == Some(Node::Suite)) {
            return Node::Other;
        }
        if !of_case {
            self.open_case_of_suite();
        }
        let limits = self.limits;
        let mut open = Box::new(OpenWrong {
            wrong,
            message: None,
            type_: None,
            file: None,
            line: None,
            text: Kept::default(),
            out: Kept::default(),
            err: Kept::default(),
        });
        open.text.restart(limits.text);
        open.out.restart(limits.output);
        open.err.restart(limits.output);
        let dialect = &mut self.dialect;
        dialect.element(Node::Wrong(wrong));
        each(start, |name, value| match name {
            "message" if !value.is_empty() => {
                dialect.message(&value);
                let mut kept = Kept::default();
                kept.restart(limits.message);
                kept.push(&value);
                open.message = Some(escape::unescape_again(kept.text()));
            }
            "type" if !value.is_empty() => {
                dialect.type_(&value);
                let mut text = String::new();
                set(&mut text, &value, limits.name);
                open.type_ = Some(text);
            }
            "file" => open.file = Some(value[..value.floor_char_boundary(limits.name)].to_owned()),
            "line" => open.line = value.trim().parse().ok(),
            _ => {}
        });
        if let Some(case) = self.case() {
            case.mark(wrong);
        }
        self.wrong = Some(open);
        Node::Wrong(wrong)
    }

    /// A case that stands for the innermost suite.
    fn open_case_of_suite(&mut self) {
        if self.cases.len() == self.open_cases {
            self.cases.push(OpenCase::default());
        }
        let limits = self.limits;
        let name = self.path.rsplit(BETWEEN).next().unwrap_or_default();
        if let Some(case) = self.cases.get_mut(self.open_cases) {
            case.restart(&limits);
            case.ordinal = self.next_ordinal;
            case.of_suite = true;
            case.name.push_str(name);
            self.next_ordinal += 1;
            self.open_cases += 1;
        }
    }

    fn end_wrong(&mut self) {
        let Some(mut open) = self.wrong.take() else {
            return;
        };
        let of_suite = self.case().is_some_and(|case| case.of_suite);
        let failure = self.failure(&mut open);
        let most = self.limits.failures_per_case;
        if let Some(case) = self.case() {
            let rerun = matches!(open.wrong, Wrong::RerunFailure | Wrong::RerunError);
            // A further attempt that says the same again is no news.
            let known = rerun
                && case
                    .failures
                    .iter()
                    .any(|known| known.message == failure.message && known.type_ == failure.type_);
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
        let some = |kept: &mut Kept| {
            if kept.is_empty() {
                return None;
            }
            let text = kept.text();
            let text = text.trim_start_matches('\n').trim_end();
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        Failure {
            element: Some(open.wrong.element().to_owned()),
            type_: open.type_.take(),
            message: open.message.take(),
            text: some(&mut open.text).map(escape::unescape_again),
            system_out: some(&mut open.out),
            system_err: some(&mut open.err),
            file: open.file.take(),
            line: open.line,
            ..Failure::default()
        }
    }

    fn end_case(&mut self) {
        let Some(index) = self.open_cases.checked_sub(1) else {
            return;
        };
        self.open_cases = index;
        let Some(case) = self.cases.get_mut(index) else {
            return;
        };
        let outcome = outcome(case);
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
        }
        let key = hash(&[&self.path, &case.classname, &case.name]);
        if !case.of_suite {
            self.identity.case(case, outcome);
            count(&mut self.summary, outcome);
            self.attempts.seen(key);
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
            if outcome == CaseOutcome::Passed && self.attempts.any_failed() {
                self.passed_later(key);
            }
            return;
        }
        let held = self.take_held(index, outcome);
        if matches!(outcome, CaseOutcome::Failed | CaseOutcome::Error) {
            self.attempts.failed(key, held.ordinal, outcome);
        }
        let dialect = self.dialect.name();
        let sink = &mut *self.sink;
        self.hold
            .push(held, |held| held.hand_over(dialect, None, sink));
        if self.suites.is_empty() {
            self.hold
                .release(0, |held| held.hand_over(dialect, None, sink));
        }
    }

    /// Moves what a failing case holds out of its buffers.
    fn take_held(&mut self, index: usize, outcome: CaseOutcome) -> Held {
        let suite_file = self
            .suites
            .iter()
            .rev()
            .find_map(|suite| suite.file.clone());
        let case = &mut self.cases[index];
        let some = |kept: &mut Kept| {
            let text = if kept.is_empty() {
                String::new()
            } else {
                kept.text()
            };
            let text = text.trim_end().trim_start_matches('\n');
            (!text.is_empty()).then(|| text.to_owned())
        };
        let (out, err) = (some(&mut case.out), some(&mut case.err));
        let mut failures = std::mem::take(&mut case.failures);
        if failures.is_empty() {
            failures.push(Failure {
                element: Some(if case.error { "error" } else { "failure" }.to_owned()),
                ..Failure::default()
            });
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
        Held {
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
        }
    }

    /// An attempt passed of a case that failed before.
    fn passed_later(&mut self, key: u64) {
        for (ordinal, outcome) in self.attempts.passed(key) {
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

    fn end_suite(&mut self, node: Node) {
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
        let outputs = [suite.out, suite.err].map(|kept| {
            kept.and_then(|mut kept| {
                let text = kept.text();
                let text = text.trim_end().trim_start_matches('\n');
                (!text.is_empty()).then(|| text.to_owned())
            })
        });
        let dialect = self.dialect.name();
        let sink = &mut *self.sink;
        self.hold.release(self.suites.len() + 1, |held| {
            held.hand_over(dialect, Some(&outputs), sink);
        });
        self.path.truncate(suite.path_before);
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

    /// Closes what is still open, and settles the summary.
    pub(super) fn finish(mut self) -> ReportSummary {
        while !self.stack.is_empty() {
            self.end();
        }
        let dialect = self.dialect.name();
        let sink = &mut *self.sink;
        self.hold
            .release(0, |held| held.hand_over(dialect, None, sink));
        self.summary.dialect = dialect.to_owned();
        if self.summary.duration_s.is_none() && self.suite_seconds > 0.0 {
            self.summary.duration_s = Some(self.suite_seconds);
        }
        if let Some(difference) = self.claims.difference(&self.summary.elements) {
            self.summary.warnings.push(difference);
        }
        if let Some(repeated) = self.attempts.repeated() {
            self.summary.warnings.push(repeated);
        }
        self.summary.identity = self.identity.digest();
        self.summary
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
