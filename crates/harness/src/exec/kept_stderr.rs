//! Expectations of stderr, of which jelly keeps only so much, and of streams of events,
//! which it reads only so long: what was not kept tells nothing, neither way.

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
                let (target, limit) = (AssertionTarget::Stderr, OwnLimit::Stderr);
                let why = format!("jelly did not keep {} bytes of stderr", said.left_out);
                self.add_unknown(predicate, (target, limit), &why, &text);
            }
        }
    }

    /// Asks about the beginning of a stream of events that went on.
    pub fn ask_stream(&mut self, predicates: &[Predicate], begun: &str) {
        let said = Said {
            left_out: 1,
            ..Said::whole(begun)
        };
        let text = Value::from(begun);
        for predicate in predicates {
            let holds = (self.resolve)(predicate).and_then(|operand| {
                let compiled = &mut self.compiled.borrow_mut();
                holds_of_kept(predicate.operator, &operand, &said, compiled)
            });
            if let Ok(None) = holds {
                let (target, limit) = (AssertionTarget::Text, OwnLimit::EventStream);
                let why = "jelly stopped reading the stream of events, which went on";
                self.add_unknown(predicate, (target, limit), why, &text);
            } else {
                let one = std::slice::from_ref(predicate);
                self.ask(AssertionTarget::Text, None, one, Some(&text));
            }
        }
    }

    /// What jelly did not keep would have told; `why` says what that was.
    fn add_unknown(
        &mut self,
        predicate: &Predicate,
        (target, limit): (AssertionTarget, OwnLimit),
        why: &str,
        text: &Value,
    ) {
        let operand = (self.resolve)(predicate).unwrap_or_default();
        let message = format!(
            "{why}, so that nothing can be said of what is expected of it: {} {}",
            relation(predicate.operator, &operand),
            self.cleaner.quote_value(&operand)
        );
        let kind = predicate.operator.name();
        let compared = (operand, text.clone());
        let mut mismatch = Mismatch::new(kind, target, compared, message, predicate.at);
        mismatch.assertion.own_limit = Some(limit);
        self.add(mismatch);
    }
}
