//! What the decision looks at: one iteration, triaged.

use crate::code_identity::ServerCode;
use crate::repair::Proposal;
use jelly_base::model::{
    Budgets, Diagnosis, ErrorCategory, Failure, IterationRecord, KnownMark, Side,
};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// The root cause of an expectation of a snapshot that is not stored yet.
pub(super) const NEW_SNAPSHOT: &str = "missing_snapshot";

/// What holds for the whole run.
#[derive(Debug, Clone)]
pub struct Policy {
    /// As allowed in effect: a track without a hook, or switched off, is 0.
    pub budgets: Budgets,
    /// The plan's expectations count as right though history never saw them
    /// hold.
    pub trust_plan: bool,
    /// What passed in earlier runs.
    pub passed_before: PassedBefore,
    /// What a list names as known.
    pub known: KnownFailures,
    /// Seeds the jitter of the back-off.
    pub seed: u64,
    pub means: Means,
}

/// What there would be to spend, whatever the budgets in effect say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Means {
    /// There is such a hook.
    pub fix_tests: bool,
    pub refine_code: bool,
    /// Repairs are switched off; so many would be allowed.
    pub no_repair: bool,
    pub mcp_repairs: u32,
    /// A second look is switched off, likewise.
    pub no_confirm: bool,
    pub confirms: u32,
}

/// Which [definitions](super::definitions) of steps passed in earlier runs.
#[derive(Clone)]
pub struct PassedBefore(Rc<FindPass>);

type FindPass = dyn Fn(u64, Option<u64>) -> bool;

impl PassedBefore {
    /// `passed` has to say the same for as long as the run goes on. It is asked for
    /// a definition, and where that is given, for a pass on proven code with this
    /// [key](super::ProvenCode::key).
    pub fn new(passed: impl Fn(u64, Option<u64>) -> bool + 'static) -> Self {
        Self(Rc::new(passed))
    }

    /// On whatever code.
    pub(super) fn has(&self, definition: u64) -> bool {
        (self.0)(definition, None)
    }

    pub(super) fn has_on(&self, definition: u64, code: u64) -> bool {
        (self.0)(definition, Some(code))
    }
}

impl Default for PassedBefore {
    /// Nothing is known of earlier runs.
    fn default() -> Self {
        Self::new(|_, _| false)
    }
}

impl fmt::Debug for PassedBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PassedBefore")
    }
}

/// Which failures a list of known failures covers.
#[derive(Clone)]
pub struct KnownFailures(Rc<FindKnown>);

type FindKnown = dyn Fn(&Failure, &Diagnosis) -> Option<KnownMark>;

impl KnownFailures {
    /// `entry` has to say the same for as long as the run goes on.
    pub fn new(entry: impl Fn(&Failure, &Diagnosis) -> Option<KnownMark> + 'static) -> Self {
        Self(Rc::new(entry))
    }

    pub(super) fn entry(&self, failure: &Failure, diagnosis: &Diagnosis) -> Option<KnownMark> {
        (self.0)(failure, diagnosis)
    }
}

impl Default for KnownFailures {
    /// There is no list.
    fn default() -> Self {
        Self::new(|_, _| None)
    }
}

impl fmt::Debug for KnownFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownFailures")
    }
}

/// A failure with what triage says of it and what could mend it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub failure: Failure,
    pub diagnosis: Diagnosis,
    /// Best first; each would change something.
    pub proposals: Vec<Proposal>,
}

/// What a step rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepFacts {
    /// See [`Revision::plan`].
    pub revision: u64,
    /// The step, its server and all that they refer to, but for other steps.
    pub own: u64,
    /// Its own id and those of all steps it captures from, however indirectly.
    pub steps: BTreeSet<String>,
    /// The servers of those steps.
    pub servers: BTreeSet<String>,
    /// It sends nothing: no other step finds its server otherwise for it, and
    /// nothing that ran before changes what it sees.
    pub is_startup: bool,
}

impl StepFacts {
    pub(super) fn at(&self, code: u32) -> Revision {
        Revision {
            plan: self.revision,
            code,
        }
    }
}

/// The facts of every step, by id. They are worked out when they are first
/// asked for: of a long plan that takes its time, and of steps that all passed
/// at once nobody asks.
#[derive(Debug)]
pub struct Foundations(LazyCell<ById, Box<dyn FnOnce() -> ById>>);

type ById = BTreeMap<String, StepFacts>;

impl Foundations {
    /// What `facts` will say when it is asked.
    pub fn new(facts: impl FnOnce() -> ById + 'static) -> Self {
        Self(LazyCell::new(Box::new(facts)))
    }
}

impl Default for Foundations {
    fn default() -> Self {
        Self::new(BTreeMap::new)
    }
}

impl Deref for Foundations {
    type Target = ById;

    fn deref(&self) -> &ById {
        &self.0
    }
}

/// One iteration, triaged.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// 1-based.
    pub index: u32,
    pub record: &'a IterationRecord,
    /// One for each failure of the record, in its order.
    pub failures: &'a [Seen],
    pub steps: &'a Foundations,
    /// What is proved of the code that its servers ran.
    pub code: &'a ServerCode,
    /// The run's deadline has not passed yet.
    pub time_left: bool,
}

impl<'a> Observation<'a> {
    /// The step of a failure, its facts and what it ran on; absent for a failure
    /// of a server, and for a step that the plan does not have.
    pub(super) fn revision_of<'f>(
        &self,
        failure: &'f Failure,
        code: u32,
    ) -> Option<(&'f str, &'a StepFacts, Revision)> {
        let step = failure.step.as_deref()?;
        let facts = self.steps.get(step)?;
        Some((step, facts, facts.at(code)))
    }
}

/// The plan and the code that a step ran on: what it saw on one revision is no
/// proof for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision {
    /// Hash of the step's definition, its server's, and those of the steps it
    /// captures from.
    pub plan: u64,
    /// Raised whenever the code was refined.
    pub code: u32,
}

/// A mismatch is nobody's fault at one sighting, unless the answer itself
/// shows that the environment is broken.
pub(super) fn needs_proof(failure: &Failure, diagnosis: &Diagnosis) -> bool {
    if !failure.is_mismatch() {
        return false;
    }
    match diagnosis.side {
        Side::Code => true,
        Side::Test if diagnosis.root_cause == "assertion_mismatch" => true,
        Side::Test if diagnosis.error_answer => true,
        Side::Test => {
            let is_environmental = matches!(
                diagnosis.error_category,
                Some(ErrorCategory::Infrastructure | ErrorCategory::Timeout)
            );
            diagnosis.ambiguous && !is_environmental
        }
    }
}
