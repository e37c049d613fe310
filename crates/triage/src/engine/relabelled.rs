//! What jelly labelled itself, in the report of a run: its label stands, but for what a project's
//! own rules decide.

use super::advice;
use super::diagnose::Engine;
use super::facts::Facts;
use super::fingerprint::Algorithm;
use super::prescribed::advice_of;
use super::rule::Audience;
use jelly_base::model::{Diagnosis, Failure, Label};

impl Engine {
    /// Whether a project's own rule decides what jelly labelled: by what belongs to the failure,
    /// its message and its evidence. The report quotes what the server said of other calls, too.
    pub(super) fn is_of_own_rule(
        &self,
        diagnosis: &Diagnosis,
        label: &Label,
        failure: &Failure,
        audience: Audience,
    ) -> bool {
        if !self.is_asked_first(&diagnosis.rule) {
            return false;
        }
        let told = Failure {
            text: label.evidence().map(|evidence| evidence.text.clone()),
            system_out: None,
            system_err: None,
            label: None,
            ..failure.clone()
        };
        let said = self.diagnose_facts(&Facts::new(&told), audience, Algorithm::Second);
        said.0.rule == diagnosis.rule
    }

    /// Takes over what jelly said where it saw more than its report holds.
    pub(super) fn relabel(
        &self,
        diagnosis: &mut Diagnosis,
        label: &Label,
        facts: &Facts<'_>,
        audience: Audience,
    ) {
        let other = label.rule() != diagnosis.rule && !label.advises();
        if other && let Some(rule) = self.rules().find(|rule| rule.id == label.rule()) {
            let values = advice::values(facts.failure);
            let evidence = diagnosis.evidence.as_ref();
            diagnosis.advice = advice_of((rule, &rule.advice), facts, evidence, values, audience);
        }
        label.tell(diagnosis);
    }
}
