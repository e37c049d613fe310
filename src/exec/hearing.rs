//! Notifications that a step expects, waited for as long as they may take.
//!
//! Main type: [`Hearing`].

use super::clean::Cleaner;
use super::judge::{Bench, Mismatch, relation};
use super::operators::{Compiled, OperandError, holds};
use crate::model::{Assertion, AssertionTarget};
use crate::plan::{Location, NotificationExpect, Predicate};
use crate::text::human_duration;
use crate::wire::{Notice, Session, deadline_after};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// So many other notifications are named.
const OTHERS: usize = 5;

/// One expectation, and what was heard of it so far.
pub struct Hearing<'a> {
    pub expect: &'a NotificationExpect,
    pub within: Duration,
    pub resolve: &'a dyn Fn(&Predicate) -> Result<Value, OperandError>,
    pub compiled: &'a RefCell<Compiled>,
    pub cleaner: &'a Cleaner,
}

/// What was heard.
#[derive(Default)]
struct Found {
    fitting: u64,
    /// Why the newest one of the right method does not fit.
    unfit: Option<Mismatch>,
    /// The params of the first that fits.
    first: Option<Value>,
    others: BTreeSet<String>,
    /// More came than can be kept.
    dropped: bool,
}

/// Why an expectation does not hold, or could not even be asked.
pub enum Unheard {
    Mismatch(Box<Mismatch>),
    BadOperand(OperandError, Location),
}

impl Hearing<'_> {
    /// Waits until the expectation holds, or can't hold any more. What came
    /// after the first `before` notifications counts; `since` is when the
    /// answer came.
    pub async fn wait(
        &self,
        session: &Session,
        before: u64,
        since: Instant,
    ) -> Result<(), Unheard> {
        let deadline = deadline_after(since, self.within);
        let mut stirs = session.stirs();
        let mut found = Found::default();
        let mut seen = before;
        loop {
            // Asked first: what comes in between is still looked at.
            let over = session.has_ended();
            let heard = session.heard_since(seen);
            seen += heard.dropped + heard.notices.len() as u64;
            found.dropped |= heard.dropped > 0;
            for notice in &heard.notices {
                self.look_at(notice, &mut found)?;
            }
            if self.is_settled(&found)? {
                break;
            }
            // Nobody sends anything any more once the connection is gone.
            if over || !stirs.next(deadline).await {
                break;
            }
        }
        self.verdict(found)
    }

    fn look_at(&self, notice: &Notice, found: &mut Found) -> Result<(), Unheard> {
        if notice.method != self.expect.method {
            if found.others.len() < OTHERS {
                found.others.insert(notice.method.clone());
            }
            return Ok(());
        }
        let mut compiled = self.compiled.borrow_mut();
        let mut bench = Bench::new(self.resolve, &mut compiled, self.cleaner);
        bench.ask_json(
            AssertionTarget::Notification,
            &self.expect.json,
            Some(&notice.params),
        );
        if let Some((error, at)) = bench.bad {
            return Err(Unheard::BadOperand(error, at));
        }
        match bench.mismatches.into_iter().next() {
            Some(mismatch) => found.unfit = Some(mismatch),
            None => {
                found.fitting += 1;
                found.first.get_or_insert_with(|| notice.params.clone());
            }
        }
        Ok(())
    }

    /// Whether waiting can change nothing: for what must not come, that it
    /// came; for all else, that enough has. One more may break any bound but a
    /// lower one, so that such a number is known only when time is up.
    fn is_settled(&self, found: &Found) -> Result<bool, Unheard> {
        if self.expect.absent || self.expect.count.is_empty() {
            return Ok(found.fitting > 0);
        }
        Ok(self.expect.count_only_grows() && self.off(found)?.is_none())
    }

    /// The first thing about their number that does not hold.
    fn off(&self, found: &Found) -> Result<Option<(&Predicate, Value)>, Unheard> {
        for predicate in &self.expect.count {
            let bad = |error| Unheard::BadOperand(error, predicate.at);
            let operand = (self.resolve)(predicate).map_err(bad)?;
            let actual = Value::from(found.fitting);
            let mut compiled = self.compiled.borrow_mut();
            let holds = holds(predicate.operator, &operand, Some(&actual), &mut compiled)
                .map_err(|error| Unheard::BadOperand(error, predicate.at))?;
            if !holds {
                return Ok(Some((predicate, operand)));
            }
        }
        Ok(None)
    }

    fn verdict(&self, found: Found) -> Result<(), Unheard> {
        let Self { expect, .. } = self;
        let method = &expect.method;
        let within = human_duration(self.within);
        if expect.absent {
            return match &found.first {
                Some(params) => Err(self.mismatch(
                    format!(
                        "expected no notification `{method}` within {within}, and it came with {}",
                        self.cleaner.quote_value(params)
                    ),
                    "absent",
                    (Value::Null, params.clone()),
                )),
                None if found.dropped => Err(self.lost()),
                None => Ok(()),
            };
        }
        if !expect.count.is_empty() {
            let off = self.off(&found)?;
            // Those that are gone can only add to what is enough already.
            if found.dropped && (off.is_some() || !expect.count_only_grows()) {
                return Err(self.lost());
            }
            let Some((predicate, operand)) = off else {
                return Ok(());
            };
            let shown = self.cleaner.quote_value(&operand);
            let relation = relation(predicate.operator, &operand);
            let message = format!(
                "expected the number of notifications `{method}` within {within} {relation} \
                 {shown}, got {}{}",
                found.fitting,
                self.besides(&found)
            );
            let compared = (operand, Value::from(found.fitting));
            return Err(self.mismatch(message, predicate.operator.name(), compared));
        }
        if found.fitting > 0 {
            return Ok(());
        }
        if found.dropped {
            return Err(self.lost());
        }
        let actual = found.unfit.as_ref().map(|m| m.assertion.actual.clone());
        Err(self.mismatch(
            format!(
                "expected the notification `{method}` within {within}, and it did not come{}",
                self.besides(&found)
            ),
            "exists",
            (Value::from(method.as_str()), actual.unwrap_or_default()),
        ))
    }

    /// What else came.
    fn besides(&self, found: &Found) -> String {
        match (&found.unfit, found.others.is_empty()) {
            (Some(unfit), _) => format!("; of one that came, it was {}", unfit.message),
            (None, false) => {
                let others: Vec<&str> = found.others.iter().map(String::as_str).collect();
                let others = self.cleaner.quote(&others.join("`, `"));
                format!("; what came is `{others}`")
            }
            (None, true) => String::new(),
        }
    }

    fn lost(&self) -> Unheard {
        self.mismatch(
            format!(
                "more notifications came than are kept, so that nothing can be said of `{}`",
                self.expect.method
            ),
            "kept",
            (Value::Null, Value::Null),
        )
    }

    fn mismatch(&self, message: String, kind: &str, (expected, actual): (Value, Value)) -> Unheard {
        Unheard::Mismatch(Box::new(Mismatch {
            message,
            assertion: Assertion {
                kind: kind.to_owned(),
                target: Some(AssertionTarget::Notification),
                path: Some(self.expect.method.clone()),
                expected,
                actual,
                ..Assertion::default()
            },
            at: self.expect.at,
        }))
    }
}
