//! Expectations of stderr, of which jelly keeps only so much: what was not kept
//! tells nothing, neither way.

use super::judge::{Judge, Mismatch};
use super::kept_text::holds_of_kept;
use super::phrase::relation;
use jelly_base::model::{AssertionTarget, OwnLimit};
use jelly_plan::Predicate;
use jelly_process::Said;
use serde_json::Value;

impl Judge<'_> {
    /// Asks about what a process said, of which not all may have been kept.
    pub fn ask_stderr(&mut self, predicates: &[Predicate], said: &Said) {
        let text = Value::from(said.clone().into_text());
        for predicate in predicates {
            let known = said.left_out == 0
                || match (self.resolve)(predicate).and_then(|operand| {
                    let compiled = &mut self.compiled.borrow_mut();
                    holds_of_kept(predicate.operator, &operand, said, compiled)
                }) {
                    Ok(Some(true)) => continue,
                    Ok(Some(false)) | Err(_) => true,
                    Ok(None) => false,
                };
            let so_far = self.findings.mismatches.len();
            if known {
                let one = std::slice::from_ref(predicate);
                self.ask(AssertionTarget::Stderr, None, one, Some(&text));
            }
            if known && (said.left_out == 0 || self.findings.mismatches.len() > so_far) {
                continue;
            }
            if self.findings.bad.is_none() {
                self.add_unknown(predicate, said.left_out, &text);
            }
        }
    }

    /// What jelly did not keep would have told.
    fn add_unknown(&mut self, predicate: &Predicate, left_out: u64, text: &Value) {
        let operand = (self.resolve)(predicate).unwrap_or_default();
        let message = format!(
            "jelly did not keep {left_out} bytes of stderr, so that nothing can be said of \
             what is expected of it: {} {}",
            relation(predicate.operator, &operand),
            self.cleaner.quote_value(&operand)
        );
        let kind = predicate.operator.name();
        let (compared, target) = ((operand, text.clone()), AssertionTarget::Stderr);
        let mut mismatch = Mismatch::new(kind, target, compared, message, predicate.at);
        mismatch.assertion.own_limit = Some(OwnLimit::Stderr);
        self.add(mismatch);
    }
}
