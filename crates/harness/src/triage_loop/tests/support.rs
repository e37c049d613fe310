//! Iterations as tests write them: what happened to each step, with the
//! diagnosis that triage would give it.

use crate::code_identity::ServerCode;
use crate::repair::{Proposal, RepairId};
use crate::triage_loop::{
    Decision, EarlierStep, Foundations, KnownFailures, LoopState, Means, Observation, PassedBefore,
    Policy, Ran, Seen, StepFacts, definitions,
};
use jelly_base::model::{
    Assertion, AssertionTarget, Because, Budgets, Diagnosis, ErrorCategory, Failure,
    IterationRecord, Outcome, Phase, Section, ServerReport, ServerState, Side, StepReport,
    StepState,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn step(id: &str, state: StepState) -> StepReport {
    let executed = matches!(state, StepState::Passed | StepState::Failed);
    StepReport {
        id: id.into(),
        name: id.into(),
        server: "files".into(),
        state,
        attempts: u32::from(executed),
        duration_ms: executed.then_some(1.0),
        ..StepReport::default()
    }
}

pub(super) fn server(name: &str, state: ServerState) -> ServerReport {
    ServerReport {
        name: name.into(),
        state,
        ..ServerReport::default()
    }
}

pub(super) fn skipped(id: &str, because: Because) -> StepReport {
    StepReport {
        because: Some(because),
        ..step(id, StepState::Skipped)
    }
}

pub(super) fn diagnosis(side: Side, root_cause: &str, owner: &str) -> Diagnosis {
    Diagnosis {
        side,
        ambiguous: false,
        error_category: Some(ErrorCategory::Other),
        root_cause: root_cause.into(),
        retryable: Some(false),
        rule: "test/rule".into(),
        evidence: None,
        fingerprint: root_cause.into(),
        test_fingerprint: format!("{root_cause}@{owner}"),
        ..Diagnosis::BLANK
    }
}

/// What a test wants to have happened to a step.
pub(super) fn seen(step: &str, phase: Phase, side: Side, root_cause: &str) -> Seen {
    Seen {
        failure: Failure {
            phase: Some(phase),
            server: Some("files".into()),
            step: Some(step.into()),
            message: Some(root_cause.into()),
            ..Failure::default()
        },
        diagnosis: diagnosis(side, root_cause, step),
        proposals: Vec::new(),
    }
}

/// The step's answer was another than expected; `value` is what came.
pub(super) fn mismatch(step: &str, value: &str) -> Seen {
    let mut seen = seen(step, Phase::Assert, Side::Code, "assertion_mismatch");
    seen.failure.assertion = Some(Assertion {
        kind: "equals".into(),
        target: Some(AssertionTarget::Text),
        actual: value.into(),
        ..Assertion::default()
    });
    seen.diagnosis.error_category = Some(ErrorCategory::Assertion);
    seen.diagnosis.test_fingerprint = format!("{value}@{step}");
    seen
}

/// The server died in the call: code at one sighting.
pub(super) fn crash(step: &str) -> Seen {
    seen(step, Phase::Call, Side::Code, "crashed_during_call")
}

/// Test-side, and nothing to be done about it.
pub(super) fn broken(step: &str) -> Seen {
    seen(step, Phase::Call, Side::Test, "missing_file")
}

/// Test-side, and it may pass by itself.
pub(super) fn hiccup(step: &str) -> Seen {
    let mut seen = seen(step, Phase::Call, Side::Test, "connection_refused");
    seen.diagnosis.retryable = Some(true);
    seen
}

pub(super) fn hang(step: &str) -> Seen {
    let mut seen = seen(step, Phase::Call, Side::Test, "call_timeout");
    seen.failure.outcome = Some(Outcome::Timeout);
    seen.diagnosis.retryable = Some(true);
    seen.diagnosis.error_category = Some(ErrorCategory::Timeout);
    seen
}

/// The server never became ready.
pub(super) fn dead_server() -> Seen {
    let mut seen = seen("", Phase::Handshake, Side::Test, "missing_directory");
    seen.failure.step = None;
    seen
}

pub(super) fn repair(id: RepairId, target: &str) -> Proposal {
    let mut proposal = Proposal::new(id, target, "mended it");
    proposal.new_ports_for.push("files".into());
    proposal
}

pub(super) fn with(mut seen: Seen, proposals: impl IntoIterator<Item = Proposal>) -> Seen {
    seen.proposals.extend(proposals);
    seen
}

pub(super) fn policy() -> Policy {
    Policy {
        budgets: Budgets {
            code_refines: 0,
            test_fixes: 0,
            ..Budgets::default()
        },
        trust_plan: false,
        passed_before: PassedBefore::default(),
        known: KnownFailures::default(),
        seed: 7,
        means: Means::default(),
    }
}

/// Both hooks are configured.
pub(super) fn hooked() -> Policy {
    Policy {
        budgets: Budgets::default(),
        means: Means {
            fix_tests: true,
            refine_code: true,
            ..Means::default()
        },
        ..policy()
    }
}

/// Step a passed before, as a [`World`] has it when nothing was changed.
pub(super) fn a_passed_before() -> PassedBefore {
    let facts = World::new(policy()).facts;
    let first = EarlierStep {
        id: "a".into(),
        server: "files".into(),
        section: Section::Steps,
        ran: Ran::Done,
    };
    let passed = definitions(&Foundations::new(move || facts), &[first])["a"];
    PassedBefore::new(move |definition, code| definition == passed && code.is_none())
}

/// A run whose iterations a test tells one by one.
pub(super) struct World {
    pub(super) state: LoopState,
    pub(super) index: u32,
    pub(super) facts: BTreeMap<String, StepFacts>,
    pub(super) time_left: bool,
    /// What is proved of the code of its server.
    pub(super) code: ServerCode,
}

impl World {
    pub(super) fn new(policy: Policy) -> Self {
        let facts = ["a", "b", "c"].map(|id| {
            let facts = StepFacts {
                revision: 1,
                own: 1,
                steps: BTreeSet::from([id.to_owned()]),
                servers: BTreeSet::from(["files".to_owned()]),
                is_startup: false,
            };
            (id.to_owned(), facts)
        });
        Self {
            state: LoopState::new(policy),
            index: 0,
            facts: facts.into(),
            time_left: true,
            code: ServerCode::new(),
        }
    }

    /// Steps a and b ran; those of `failures` failed, the others passed.
    pub(super) fn sees(&mut self, failures: &[Seen]) -> Decision {
        let state = |id: &str| {
            let failed = failures
                .iter()
                .any(|f| f.failure.step.as_deref() == Some(id));
            if failed {
                StepState::Failed
            } else {
                StepState::Passed
            }
        };
        let steps = vec![step("a", state("a")), step("b", state("b"))];
        self.sees_steps(steps, failures)
    }

    pub(super) fn sees_steps(&mut self, steps: Vec<StepReport>, failures: &[Seen]) -> Decision {
        let record = IterationRecord {
            steps,
            ..IterationRecord::default()
        };
        self.sees_record(record, failures)
    }

    pub(super) fn sees_record(
        &mut self,
        mut record: IterationRecord,
        failures: &[Seen],
    ) -> Decision {
        self.index += 1;
        record.failures = failures.iter().map(|f| f.failure.clone()).collect();
        let facts = self.facts.clone();
        let (decision, next) = self.state.decide(&Observation {
            index: self.index,
            record: &record,
            failures,
            steps: &Foundations::new(move || facts),
            code: &self.code,
            time_left: self.time_left,
        });
        self.state = next;
        decision
    }
}
