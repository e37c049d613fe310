//! Expectations of stderr, of which jelly keeps only so much: what was not kept
//! tells nothing, neither way.

use super::cut::told;
use super::judge::{Bench, Mismatch};
use super::phrase::relation;
use jelly_base::model::{Assertion, AssertionTarget, OwnLimit};
use jelly_plan::Predicate;
use jelly_process::Said;
use serde_json::Value;

impl Bench<'_> {
    /// Asks about what a process said, of which not all may have been kept.
    pub(super) fn ask_stderr(&mut self, predicates: &[Predicate], said: &Said) {
        let text = Value::from(said.clone().into_text());
        for predicate in predicates {
            let known = said.left_out == 0
                || match (self.resolve)(predicate)
                    .and_then(|operand| told(predicate.operator, &operand, said, self.compiled))
                {
                    Ok(Some(true)) => continue,
                    Ok(Some(false)) | Err(_) => true,
                    Ok(None) => false,
                };
            let so_far = self.mismatches.len();
            if known {
                let one = std::slice::from_ref(predicate);
                self.ask(AssertionTarget::Stderr, None, one, Some(&text));
            }
            if known && (said.left_out == 0 || self.mismatches.len() > so_far) {
                continue;
            }
            if self.bad.is_none() {
                self.add_untold(predicate, said.left_out, &text);
            }
        }
    }

    /// What jelly did not keep would have told.
    fn add_untold(&mut self, predicate: &Predicate, left_out: u64, text: &Value) {
        let operand = (self.resolve)(predicate).unwrap_or_default();
        self.mismatches.push(Mismatch {
            message: format!(
                "jelly did not keep {left_out} bytes of stderr, so that nothing can be said of \
                 what is expected of it: {} {}",
                relation(predicate.operator, &operand),
                self.cleaner.quote_value(&operand)
            ),
            assertion: Assertion {
                kind: predicate.operator.name().to_owned(),
                target: Some(AssertionTarget::Stderr),
                expected: operand,
                actual: text.clone(),
                own_limit: Some(OwnLimit::Stderr),
                ..Assertion::default()
            },
            at: predicate.at,
        });
    }
}
