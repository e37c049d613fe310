//! Whom a failure concerns, with the rules that repetition adds to triage:
//! blame needs proof.

use super::earlier::{Ran, StepDependencies};
use super::memory::Memory;
use super::proven_code::{ProvenCode, proven_code};
use super::seen::{Observation, Policy, Seen, needs_proof};
use jelly_base::model::{AssertionTarget, Diagnosis, Failure, KnownMark, Repeated, Side, Standing};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Why what jelly itself left out is held against nobody.
const OWN_LIMIT: &str = "own_limit";

/// Why nothing is held against anybody for a mismatch that was not seen twice.
const UNCONFIRMED: &str = "unconfirmed";

/// Why nothing is held against a server that may have needed what died.
const SERVICE_DIED: &str = "service_died";

/// Why nothing is held against code that is, as is proved, the same that passed.
const SAME_CODE: &str = "same_code";

/// Why nothing is held against a server that was refused what it asked for.
const UNANSWERED: &str = "unanswered";

/// Why nothing is held against a server that could not reach what it needed.
const UNREACHED: &str = "unreached";

/// Why a mismatch may come of what an earlier step, which did not run, left undone.
pub(super) const EARLIER_STEP_NOT_DONE: &str = "earlier_step_not_done";

/// The same of an earlier step that ran and failed for no proven fault of the code:
/// nobody knows how much of its work is done.
pub(super) const EARLIER_STEP_FAILED: &str = "earlier_step_failed";

/// Why code is not to be blamed for what it did: a service that it may need had died,
/// or jelly refused what it asked for, of which a server may die, too.
fn lacked(failure: &Failure) -> Option<&'static str> {
    if failure.after_service_died {
        Some(SERVICE_DIED)
    } else {
        // No refusal makes a program overrun its memory.
        let exit = failure.exit.as_ref();
        let crashed = exit.is_some_and(|exit| {
            matches!(
                exit.signal.as_deref(),
                Some("SIGSEGV" | "SIGBUS" | "SIGILL" | "SIGFPE")
            )
        });
        (failure.refused_question && !crashed).then_some(UNANSWERED)
    }
}

/// How far the question of blame has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    /// Triage's word stands.
    Settled,
    /// A mismatch whose repetition could tell more.
    Open,
    /// A mismatch that was wrong differently each time.
    Flaky,
    /// The same mismatch twice, and nothing excuses it.
    Confirmed(Standing),
}

/// A failure as finally judged in its iteration.
#[derive(Debug, Clone)]
pub struct Judged {
    pub failure: Failure,
    pub diagnosis: Diagnosis,
    pub(super) blame: Blame,
    /// The step was wrong before on the same plan and code, and what excuses this
    /// mismatch excuses the next one too: seeing it again tells no more.
    pub(super) is_settled_by_excuse: bool,
    /// Another mismatch of the same step holds it against the code, which
    /// decides for the step: this one stands, and asks for nothing.
    pub(super) is_overruled: bool,
    /// The entry of the list of known failures that covers it. It is counted
    /// like any other, stands in nobody's way, and asks for nothing.
    pub(super) known: Option<KnownMark>,
}

impl Judged {
    /// It is held against the code, and nobody knew of it.
    pub(super) fn is_code(&self) -> bool {
        self.diagnosis.side == Side::Code && self.known.is_none()
    }

    /// It is held against the tests, the plan or the environment, alone or for
    /// its step.
    pub(super) fn stands_test_side(&self) -> bool {
        !self.is_code() && !self.is_overruled && self.known.is_none()
    }

    /// One sighting is proof enough, and running it again takes nothing back.
    pub(super) fn is_proof(&self) -> bool {
        self.is_code() && self.blame == Blame::Settled && self.diagnosis.retryable != Some(true)
    }

    /// It may be held against the code, and nobody ever saw it pass.
    pub(super) fn is_doubtful(&self) -> bool {
        self.blame == Blame::Confirmed(Standing::NeverPassed)
    }

    /// In this run, this iteration included.
    pub(super) fn sightings(&self) -> u32 {
        self.diagnosis.repeated.as_ref().map_or(1, |r| r.count)
    }
}

/// What a failure is judged by.
pub(super) struct Known<'a> {
    pub observation: &'a Observation<'a>,
    pub dependencies: &'a StepDependencies<'a>,
    /// Of the iterations before.
    pub memory: &'a Memory,
    pub code_revision: u32,
    pub policy: &'a Policy,
    /// What is proved of the code that steps rested on, by step; worked out when it
    /// is first asked for.
    pub proven_code: &'a OnceCell<BTreeMap<String, Rc<ProvenCode>>>,
}

/// Judges one failure by what is remembered of the iterations before.
pub(super) fn judge(seen: &Seen, known: &Known<'_>) -> Judged {
    let failure = seen.failure.clone();
    let mut diagnosis = seen.diagnosis.clone();
    let sighted = known.memory.sighted(&diagnosis.test_fingerprint);
    diagnosis.repeated = sighted.map(|(first_iteration, earlier)| Repeated {
        first_iteration,
        count: earlier.saturating_add(1),
    });
    let proven = needs_proof(&failure, &diagnosis).then(|| prove(seen, known));
    let (blame, excused) = match proven {
        Some(proven) => proven,
        None => (Blame::Settled, None),
    };
    let is_excused = excused.as_ref().is_some_and(|it| it.word != UNCONFIRMED);
    let observed = known.observation.revision_of(&failure, known.code_revision);
    let was_wrong = |(step, _, revision)| known.memory.was_wrong(step, revision);
    let is_settled_by_excuse = is_excused && observed.is_some_and(was_wrong);
    match blame {
        Blame::Confirmed(standing) => {
            diagnosis.side = Side::Code;
            diagnosis.ambiguous = false;
            diagnosis.standing = Some(standing);
        }
        Blame::Settled
            if failure.beyond().is_none()
                && (lacked(&failure).is_none() || diagnosis.side == Side::Test) => {}
        Blame::Settled | Blame::Open | Blame::Flaky => {
            diagnosis.side = Side::Test;
            diagnosis.ambiguous = true;
            diagnosis.flaky |= blame == Blame::Flaky;
            let own_limit = failure.beyond().map(|_| Excuse::from(OWN_LIMIT));
            let lacked = lacked(&seen.failure).map(Excuse::from);
            if let Some(excuse) = excused.or(own_limit).or(lacked) {
                let Excuse { word, step, code } = excuse;
                diagnosis.excused = Some(word.to_owned());
                diagnosis.excused_by = step;
                diagnosis.same_code = code;
            }
        }
    }
    Judged {
        known: known.policy.known.entry(&failure, &diagnosis),
        failure,
        diagnosis,
        blame,
        is_settled_by_excuse,
        is_overruled: false,
    }
}

/// Why a mismatch is not held against the code.
struct Excuse {
    /// As of [`Diagnosis::excused`].
    word: &'static str,
    /// As of [`Diagnosis::excused_by`].
    step: Option<String>,
    /// As of [`Diagnosis::same_code`].
    code: Vec<String>,
}

impl From<&'static str> for Excuse {
    fn from(word: &'static str) -> Self {
        Self {
            word,
            step: None,
            code: Vec::new(),
        }
    }
}

/// What repetition says of a mismatch, with the excuse if there is one.
fn prove(seen: &Seen, known: &Known<'_>) -> (Blame, Option<Excuse>) {
    let Known { memory, policy, .. } = known;
    let observed = known
        .observation
        .revision_of(&seen.failure, known.code_revision);
    let Some((step, facts, revision)) = observed else {
        return (Blame::Open, Some(UNCONFIRMED.into()));
    };
    let gap = || {
        let gap = known.dependencies.gap_before(step, &policy.passed_before)?;
        let word = match gap.ran {
            Ran::FailedTestSide => EARLIER_STEP_FAILED,
            Ran::NotRun | Ran::Done | Ran::Died => EARLIER_STEP_NOT_DONE,
        };
        Some(Excuse {
            step: Some(gap.id.clone()),
            ..Excuse::from(word)
        })
    };
    if let Some(excuse) = excuse(&seen.failure)
        .or_else(|| seen.diagnosis.unreached.then_some(UNREACHED))
        .or_else(|| memory.repaired(facts).then_some("repair_ineffective"))
        .or_else(|| memory.passed_on(step, revision).then_some("not_repeatable"))
        .map(Excuse::from)
        .or_else(gap)
    {
        return (Blame::Open, Some(excuse));
    }
    let earlier = memory.mismatches(step, revision);
    let fingerprint = &seen.diagnosis.test_fingerprint;
    let proven = !earlier.is_empty() || memory.outlived_refining(step, revision, fingerprint);
    if !proven || policy.budgets.confirms == 0 {
        return (Blame::Open, Some(UNCONFIRMED.into()));
    }
    if !earlier.iter().all(|same| same.contains(fingerprint)) {
        return (Blame::Flaky, None);
    }
    let definition = known.dependencies.definition(step);
    let passed_before = &policy.passed_before;
    let passed = definition.is_some_and(|d| passed_before.has(d) || memory.passed_as_defined(d));
    // Then something else has changed since, whatever it is.
    if passed
        && let Some((definition, code)) = definition.zip(code_of(step, known))
        && passed_before.has_on(definition, code.key())
    {
        let excuse = Excuse {
            code: code.proofs(),
            ..Excuse::from(SAME_CODE)
        };
        return (Blame::Open, Some(excuse));
    }
    let standing = if passed {
        Standing::PassedBefore
    } else if seen.diagnosis.error_answer {
        // An error told as an answer may be what the plan asks for wrongly.
        return (Blame::Open, Some("error_answer".into()));
    } else {
        Standing::NeverPassed
    };
    (Blame::Confirmed(standing), None)
}

/// What is proved of the code that the step rested on.
fn code_of<'k>(step: &str, known: &Known<'k>) -> Option<&'k ProvenCode> {
    let Observation { steps, code, .. } = known.observation;
    let earlier = known.dependencies.earlier();
    let proven = known.proven_code;
    let proven = proven.get_or_init(|| proven_code(steps, earlier, code));
    proven.get(step).map(|code| &**code)
}

/// What excuses a mismatch however often it comes.
fn excuse(failure: &Failure) -> Option<&'static str> {
    let target = failure.assertion.as_ref().and_then(|a| a.target);
    if failure.beyond().is_some() {
        Some(OWN_LIMIT)
    } else if target == Some(AssertionTarget::Duration) {
        Some("duration")
    } else if let Some(lacked) = lacked(failure) {
        Some(lacked)
    } else if failure.after_restart {
        Some("after_restart")
    } else if failure.assertion.as_ref().is_some_and(|a| a.made_by_jelly) {
        Some("made_by_jelly")
    } else {
        None
    }
}
