//! What was held against the code and nothing has taken back since: a server
//! that no longer starts is no acquittal.

use super::judge::Judged;
use jelly_base::model::{Failure, IterationRecord, ServerState, StepState};

/// A failure that was found to be the code's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The last iteration that showed it.
    pub iteration: u32,
    pub step: Option<String>,
    pub server: Option<String>,
    pub test_fingerprint: String,
    /// How often the code had been refined by then.
    code: u32,
    /// One sighting proves it, and running it again takes nothing back.
    at_one_sighting: bool,
}

/// All that stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Proofs(Vec<Proof>);

impl Proofs {
    pub(super) fn all(&self) -> &[Proof] {
        &self.0
    }

    /// Drops what an iteration on the code `code` has taken back, and takes in
    /// what it has found.
    pub(super) fn take_in(
        &mut self,
        iteration: u32,
        record: &IterationRecord,
        judged: &[Judged],
        code: u32,
    ) {
        self.0
            .retain(|proof| !proof.is_taken_back(record, judged, code));
        for judged in judged.iter().filter(|judged| judged.is_code()) {
            let proof = Proof {
                iteration,
                step: judged.failure.step.clone(),
                server: judged.failure.server.clone(),
                test_fingerprint: judged.diagnosis.test_fingerprint.clone(),
                code,
                at_one_sighting: judged.is_proof(),
            };
            self.0.retain(|known| {
                !known.is_about(&judged.failure) || known.test_fingerprint != proof.test_fingerprint
            });
            self.0.push(proof);
        }
    }
}

impl Proof {
    fn is_about(&self, failure: &Failure) -> bool {
        self.step == failure.step && self.server == failure.server
    }

    fn is_taken_back(&self, record: &IterationRecord, judged: &[Judged], code: u32) -> bool {
        let refined = self.code != code;
        if self.at_one_sighting && !refined {
            return false;
        }
        // Another finding on the same thing takes its place; and on the same
        // code, an answer that proves nothing shows that this one did not.
        let anew = judged
            .iter()
            .filter(|judged| self.is_about(&judged.failure))
            .any(|judged| judged.is_code() || !refined && judged.failure.is_mismatch());
        anew || self.is_well(record, judged)
    }

    /// What failed then has passed in this iteration.
    fn is_well(&self, record: &IterationRecord, judged: &[Judged]) -> bool {
        let passed = |of: &dyn Fn(&jelly_base::model::StepReport) -> bool| {
            let mut steps = record.steps.iter();
            steps.any(|step| step.state == StepState::Passed && of(step))
        };
        if let Some(id) = &self.step {
            return passed(&|step| step.id == *id);
        }
        let fails = judged.iter().any(|judged| self.is_about(&judged.failure));
        match &self.server {
            Some(name) => {
                let mut servers = record.servers.iter();
                let ready = servers.any(|s| s.name == *name && s.state == ServerState::Ready);
                ready && !fails && passed(&|step| step.server == *name)
            }
            None => !fails && passed(&|_| true),
        }
    }
}
