//! Events of the XML → cases. Holds what is open, and hands on what is known.
//!
//! What happens to cases stands in `cases`, what happens to suites in
//! `suites`.

use super::around::UnstartedSuites;
use super::attributes::{Tag, set};
use super::case::CaseSink;
use super::counts::{Claims, Unshown};
use super::dialect::Dialect;
use super::elements::Node;
use super::form::{self, Form};
use super::hold::Hold;
use super::identity::{Attempts, CaseNumbers, Identity};
use super::kept::Kept;
use super::limits::ReaderLimits;
use super::open::{OpenCase, OpenSuite, OpenWrong};
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use jelly_base::model::{ElementCounts, Failure, ReportSummary};
use jelly_base::text::{one_line, plural};

/// Between the names of suites.
pub(super) const BETWEEN: &str = " > ";

/// What is noticed of a report without a test.
pub(crate) const NO_CASE: &str = "it holds no test case";

/// Warnings of one report.
const WARNINGS: usize = 16;

/// Bytes of a warning or a problem, which may quote the report, without the mark
/// that something was cut.
const SAID: usize = 400 - '…'.len_utf8();

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// What its name says.
    named: Node,
    /// What it is taken for.
    node: Node,
}

pub(super) struct Machine<'s> {
    pub(super) limits: ReaderLimits,
    pub(super) sink: &'s mut dyn CaseSink,
    pub(super) summary: ReportSummary,
    pub(super) dialect: Dialect,
    /// The dialect of what is no XML.
    lines_of: Option<&'static str>,
    /// The format, if it isn't JUnit's.
    pub(super) form: Option<&'static Form>,
    stack: Vec<Open>,
    pub(super) suites: Vec<OpenSuite>,
    /// Names of the open suites, joined.
    pub(super) path: String,
    /// Of `path`, so that it is not hashed for each case.
    pub(super) path_hash: u64,
    /// The file of the suites that follow, where only the empty suite before
    /// them says it: so does `mocha-junit-reporter` of what Cypress runs.
    pub(super) root_file: Option<String>,
    pub(super) cases: Vec<OpenCase>,
    /// How many of `cases` are open.
    pub(super) open_cases: usize,
    pub(super) wrong: Option<Box<OpenWrong>>,
    pub(super) hold: Hold,
    pub(super) identity: Identity,
    /// Hashes of the last case, if it ended by an error: of its names, and of
    /// these with what it says.
    pub(super) last_error: Option<(u64, u64)>,
    pub(super) names: CaseNumbers,
    pub(super) attempts: Attempts,
    /// Attempts that failed, and are written as if they had passed.
    pub(super) unmarked: u64,
    /// Cases with several failures.
    pub(super) several: u64,
    pub(super) next_ordinal: u64,
    /// Suite elements that began.
    pub(super) suites_begun: u64,
    /// Elements of something that went wrong, attempts included.
    pub(super) wrong_seen: u64,
    /// How much went wrong by the account of the roots, or of what is in them.
    pub(super) wrong_claimed: i64,
    /// Suites that claim that something went wrong, and show nothing.
    pub(super) unshown: Vec<Unshown>,
    /// Something failed around tests, and is a case.
    pub(super) outside_failed: bool,
    /// Suites whose tests were never started.
    pub(super) unstarted: UnstartedSuites,
    /// Names of the first suites without a case.
    pub(super) hollow: Vec<String>,
    /// What the roots claim.
    pub(super) claims: Claims,
    /// What the summary of CTRF claims: tests that passed, and without a result.
    pub(super) fine_claimed: Option<(u64, u64)>,
    /// Of all suites that are not inside another one.
    pub(super) suite_seconds: f64,
    /// Name of the first root element.
    root: Option<String>,
    roots: u64,
    /// jelly wrote it, by the name of its root.
    pub(super) own: bool,
    /// Whether the root says whose report it is.
    pub(super) is_root_named: bool,
    /// It did so of a run: a case is one test with its attempts.
    pub(super) own_run: bool,
    /// Something other than space stood outside of the root.
    around_root: bool,
    /// A reference to a character that XML forbids was found.
    pub(super) forbidden: bool,
}

impl<'s> Machine<'s> {
    pub(super) fn new(path: &str, limits: &ReaderLimits, sink: &'s mut dyn CaseSink) -> Self {
        Self {
            limits: *limits,
            sink,
            summary: ReportSummary {
                path: path.to_owned(),
                ..ReportSummary::default()
            },
            dialect: Dialect::of_file(path),
            lines_of: None,
            form: None,
            stack: Vec::new(),
            suites: Vec::new(),
            path: String::new(),
            path_hash: 0,
            root_file: None,
            cases: Vec::new(),
            open_cases: 0,
            wrong: None,
            hold: Hold::new(limits.held),
            identity: Identity::default(),
            last_error: None,
            names: CaseNumbers::default(),
            attempts: Attempts::new(limits.identities),
            unmarked: 0,
            several: 0,
            next_ordinal: 0,
            suites_begun: 0,
            wrong_seen: 0,
            wrong_claimed: 0,
            unshown: Vec::new(),
            outside_failed: false,
            unstarted: UnstartedSuites::default(),
            hollow: Vec::new(),
            claims: Claims::default(),
            fine_claimed: None,
            suite_seconds: 0.0,
            root: None,
            roots: 0,
            own: false,
            is_root_named: false,
            own_run: false,
            around_root: false,
            forbidden: false,
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The innermost open element that has a meaning.
    pub(super) fn innermost(&self) -> Option<&'static str> {
        let labels = self.stack.iter().rev().map(|open| open.named.label());
        let found = labels.flatten().next();
        found.or((!self.stack.is_empty()).then_some("…"))
    }

    /// Says once what was noticed.
    pub(super) fn warn(&mut self, warning: &str) {
        let warnings = &mut self.summary.warnings;
        let warning = one_line(warning, SAID);
        if warnings.len() < WARNINGS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Says why the report can't be trusted to be whole; the first reason
    /// stays.
    pub(super) fn broken(&mut self, reason: impl FnOnce() -> String) {
        let said = || one_line(&reason(), SAID);
        self.summary.problem.get_or_insert_with(said);
    }

    /// An element begins; so many bytes of its attributes are missing.
    pub(super) fn start(&mut self, tag: &Tag<'_>, missing: i64) {
        let name = tag.name;
        if self.stack.is_empty() {
            if self.roots == 0 {
                self.form = Form::of_root(name);
            }
            self.roots += 1;
            let root = self.root.get_or_insert_default();
            if root.is_empty() {
                set(root, name, 80);
            }
        }
        let named = self.named(name);
        let mut node = named;
        if self.stack.is_empty() && node == Node::Other {
            node = Node::Suites;
        }
        let around = self.stack.last().map(|open| open.node);
        match node {
            Node::Suites | Node::Suite => self.start_suite(node, tag),
            Node::Case | Node::CaseOfRun => node = self.start_case(named, tag),
            Node::Wrong(wrong) => node = self.start_wrong(wrong, around, tag, missing),
            Node::Skipped => {
                if around == Some(Node::Case) && self.open_cases > 0 {
                    self.skip_case(tag);
                    if let Some(case) = self.case() {
                        case.note_todo(tag);
                    }
                } else {
                    node = Node::Other;
                }
            }
            Node::Property => self.start_property(tag),
            Node::Out | Node::Err if around == Some(Node::Suite) => self.start_output(node),
            Node::Out
            | Node::Err
            | Node::Stack
            | Node::Message
            | Node::Properties
            | Node::Other => {}
        }
        self.stack.push(Open { named, node });
    }

    fn named(&self, name: &str) -> Node {
        self.form
            .map_or_else(|| Node::named(name), |form| form.node(name))
    }

    /// The innermost element ends.
    pub(super) fn end(&mut self) {
        if matches!(
            self.stack.last(),
            Some(Open {
                node: Node::Out | Node::Err,
                ..
            })
        ) {
            // Each piece of output ends its line.
            self.text("\n");
        }
        let Some(Open { node, .. }) = self.stack.pop() else {
            return;
        };
        match node {
            Node::Suites | Node::Suite => self.end_suite(node),
            Node::Case | Node::CaseOfRun => self.end_case(),
            Node::Wrong(_) => self.end_wrong(),
            Node::Stack
            | Node::Message
            | Node::Skipped
            | Node::Out
            | Node::Err
            | Node::Properties
            | Node::Property
            | Node::Other => {}
        }
    }

    /// An end tag came. Answers with the element that should have ended
    /// before it, if there is one; a tag that ends nothing is passed over.
    pub(super) fn end_named(&mut self, name: &str) -> Option<&'static str> {
        let named = self.named(name);
        let top = self.stack.last()?.named;
        if top == named {
            self.end();
            return None;
        }
        let open = self.innermost();
        if self.stack.iter().any(|open| open.named == named) {
            while let Some(top) = self.stack.last().map(|open| open.named) {
                self.end();
                if top == named {
                    break;
                }
            }
        }
        open
    }

    /// Text that is unescaped already.
    pub(super) fn text(&mut self, text: &str) {
        if self.stack.is_empty() {
            self.around_root |= !text.trim().is_empty();
        } else if let Some(kept) = self.target() {
            kept.push(text);
        }
    }

    /// A comment; some writers sign with one.
    pub(super) fn comment(&mut self, text: &str) {
        if self.open_cases == 0 {
            self.dialect.comment(text);
        }
    }

    /// So many bytes are missing in the middle of the last piece of text.
    pub(super) fn missing(&mut self, bytes: i64) {
        if bytes != 0
            && let Some(kept) = self.target()
        {
            kept.missed(bytes);
        }
    }

    /// Where the text of the innermost element goes.
    fn target(&mut self) -> Option<&mut Kept> {
        let mut levels = self.stack.iter().rev();
        let top = levels.next()?.node;
        let around = levels.next().map(|open| open.node);
        match (top, around) {
            (Node::Case | Node::Suite | Node::Suites, _) => None,
            (Node::Message, _) => self.wrong.as_mut().map(|wrong| &mut wrong.said),
            (Node::Wrong(_) | Node::Stack, _) | (Node::Other, Some(Node::Wrong(_))) => {
                self.wrong.as_mut().map(|wrong| &mut wrong.text)
            }
            (Node::Out, Some(Node::Wrong(_))) => self.wrong.as_mut().map(|wrong| &mut wrong.out),
            (Node::Err, Some(Node::Wrong(_))) => self.wrong.as_mut().map(|wrong| &mut wrong.err),
            (Node::Out | Node::Err, Some(Node::Other)) if self.form.is_some() => {
                let case = self.case()?;
                Some(if top == Node::Out {
                    &mut case.out
                } else {
                    &mut case.err
                })
            }
            (Node::Out, Some(Node::Case)) => self.case().map(|case| &mut case.out),
            (Node::Err, Some(Node::Case)) => self.case().map(|case| &mut case.err),
            (Node::Out, Some(Node::Suite)) => self.suites.last_mut()?.out.as_deref_mut(),
            (Node::Err, Some(Node::Suite)) => self.suites.last_mut()?.err.as_deref_mut(),
            _ => None,
        }
    }

    /// The innermost open case.
    pub(super) fn case(&mut self) -> Option<&mut OpenCase> {
        self.cases.get_mut(self.open_cases.checked_sub(1)?)
    }

    /// A case within which the report ends did not pass: nobody knows how it
    /// would have gone on.
    fn fail_cut_off(&mut self) {
        let told = self.wrong.is_some();
        let Some(case) = self.case() else { return };
        if !(told || case.failed || case.error || case.skipped) {
            case.error = true;
            case.failures.push(Failure {
                element: Some("error".to_owned()),
                message: Some("the report ends within this case".to_owned()),
                ..Failure::default()
            });
        }
    }

    /// Closes what is still open, and settles the summary.
    pub(super) fn finish(mut self) -> ReportSummary {
        self.fail_cut_off();
        while !self.stack.is_empty() {
            self.end();
        }
        self.fail_unshown();
        self.fail_unstarted();
        let dialect = self.dialect_name();
        let sink = &mut *self.sink;
        self.hold
            .release(0, None, |held| held.hand_over(dialect, sink));
        self.summary.dialect = dialect.to_owned();
        if self.summary.duration_s.is_none() && self.suite_seconds > 0.0 {
            self.summary.duration_s = Some(self.suite_seconds);
        }
        self.judge_root();
        // Of what was cut off, anything can be missing.
        if self.summary.problem.is_none()
            && !is_odd(dialect, Oddity::CountsParts)
            && let Some(difference) = self.claims.difference(&ElementCounts {
                cases: match self.unmarked {
                    0 => self.summary.elements.cases,
                    // It counts more than cases, and fewer of them.
                    _ => self.claims.tests.map_or(0, |tests| tests.unsigned_abs()),
                },
                ..self.summary.elements
            })
        {
            self.warn(&difference);
        }
        if self.unmarked > 0 {
            self.warn(&format!(
                "{} of tests that were run again, written as if passed, not counted; what \
                 failed of them is left out of the report",
                plural(self.unmarked, "attempt")
            ));
        }
        if let Some(repeated) = self.attempts.repeated(self.unmarked) {
            self.warn(&repeated);
        }
        if self.forbidden {
            self.warn("references to characters that XML does not allow");
        }
        if self.roots > 1 {
            self.warn("it holds several root elements, all of them were read");
        }
        if self.around_root && self.roots > 0 {
            self.warn("text before or after its root element was passed over");
        }
        self.summary.identity = self.identity.digest();
        if !self.own {
            // What jelly says of a failure depends on the runs that it knew.
            let format = self.form.map_or("", |form| form.dialect);
            let format = self.lines_of.unwrap_or(format);
            self.summary.said = self.identity.texts(dialect, format);
        }
        self.summary
    }

    /// What follows is no XML.
    pub(super) fn take_for(&mut self, dialect: &'static str) {
        self.lines_of = Some(dialect);
    }

    pub(super) fn is_xml(&self) -> bool {
        self.lines_of.is_none()
    }

    pub(super) fn dialect_name(&self) -> &'static str {
        if let Some(form) = self.form {
            return form.dialect;
        }
        match (self.dialect.name(), self.lines_of) {
            // The tool behind a CTRF report is known by its name.
            (tool, Some("ctrf")) if tool != "junit" => tool,
            (_, Some(lines)) => lines,
            (name, None) => name,
        }
    }

    /// Whether this is a test report at all.
    fn judge_root(&mut self) {
        let words = self.around_root;
        let reason = match self.root.as_deref() {
            _ if !self.is_xml() => None,
            None if words => Some("it holds no XML, and is no test report".to_owned()),
            None => Some("it is empty: nothing was recorded".to_owned()),
            Some(_) if self.form.is_some() => None,
            Some(root) if matches!(Node::named(root), Node::Suites | Node::Suite | Node::Case) => {
                None
            }
            Some(root) => Some(match form::other(root) {
                Some((what, then)) => format!("it is {what}, and no test report: {then}"),
                None => format!("its root element `<{root}>` is of no test report"),
            }),
        };
        self.broken_if(reason);
        let is_part = is_odd(self.dialect_name(), Oddity::ReportPerEngine);
        let is_empty = self.summary.tests == 0 && self.summary.elements.cases == 0;
        if is_empty && self.summary.problem.is_none() && !is_part {
            self.warn(NO_CASE);
        }
    }

    fn broken_if(&mut self, reason: Option<String>) {
        if let Some(reason) = reason {
            self.broken(|| reason);
        }
    }
}
