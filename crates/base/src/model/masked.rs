//! What of a failure nobody has called secret, and is so by its name or form.

use super::causes::compares;
use super::diagnosis::{Advice, Diagnosis};
use crate::text::redact::{mask_compared, mask_quoted, mask_text};

/// What masks the texts of a failure with this cause, and not what was printed meanwhile: of
/// values that are compared two that differ must differ in a report, too.
#[must_use]
pub fn mask_for(root_cause: &str) -> fn(&mut String) {
    match compares(root_cause) {
        true => mask_compared,
        false => mask_text,
    }
}

impl Diagnosis {
    /// Masks the evidence, and in the advice what quotes it: the words of a rule are no
    /// secret, whatever they stand beside.
    pub fn mask_quotes(&mut self) {
        let Some(evidence) = &mut self.evidence else {
            return;
        };
        let told = evidence.text.clone();
        mask_for(&self.root_cause)(&mut evidence.text);
        if evidence.text != told {
            let Advice { what, why, fix } = &mut self.advice;
            let steps = fix.iter_mut().map(|step| &mut step.text);
            for sentence in steps.chain([what, why]) {
                // Quoted as a whole it reads as the evidence does, numbers of values included.
                *sentence = sentence.replace(&told, &evidence.text);
                mask_quoted(sentence, &told);
            }
        }
    }
}
