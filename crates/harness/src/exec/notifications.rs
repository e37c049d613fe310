//! Notifications that a step expects: matched as they come, and waited for as
//! long as they may take.
//!
//! Main types: [`NotificationWatch`], which listens from before the step's request on,
//! and [`AwaitedNotification`], which waits for one expectation.

use super::clean::Cleaner;
use super::judge::{BadOperand, Judge, Mismatch, Resolve};
use super::operators::{Compiled, OperandError, holds};
use super::phrase::relation;
use super::selected::selected;
use jelly_base::model::{AssertionTarget, OwnLimit};
use jelly_base::text::human_duration;
use jelly_plan::{JsonExpect, NotificationExpect, Operator, Predicate};
use jelly_wire::{Attending, Listener, Notice, Session, deadline_after};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// So many other notifications are named.
const OTHERS: usize = 5;

/// Everything that a step expects to hear. Nothing is kept but what was found
/// so far, so that it costs the same however many notifications come.
#[derive(Debug)]
pub struct NotificationWatch {
    watched: Shared,
    /// Ends with this.
    _attending: Option<Attending>,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<WatchedNotifications>>);

#[derive(Debug, Default)]
struct WatchedNotifications {
    watched: Vec<WatchedNotification>,
    compiled: RefCell<Compiled>,
}

/// One expectation, as it is held against what comes.
#[derive(Debug)]
struct WatchedNotification {
    method: String,
    json: Vec<JsonExpect>,
    /// The operands of its predicates, with values in the place of names.
    operands: Vec<(Operator, Value, Result<Value, OperandError>)>,
    cleaner: Cleaner,
    found: Found,
}

/// What was heard.
#[derive(Debug, Clone, Default)]
struct Found {
    fitting: u64,
    /// The params of the newest one of the right method that does not fit.
    unfit: Option<Value>,
    /// The params of the first that fits.
    first: Option<Value>,
    others: BTreeSet<String>,
    /// Something came that jelly did not read.
    missed: bool,
    /// What it is to be held against can't be asked.
    bad: Option<BadOperand>,
}

impl NotificationWatch {
    /// Listens from now on. Operands are resolved at once: what a step expects
    /// does not depend on what its own answer brings.
    pub fn begin(
        session: &Session,
        expects: &[NotificationExpect],
        resolve: Resolve<'_>,
        cleaner: &Cleaner,
    ) -> Self {
        let watched = Shared::default();
        if expects.is_empty() {
            return Self {
                watched,
                _attending: None,
            };
        }
        watched.lock().watched = expects
            .iter()
            .map(|expect| WatchedNotification::new(expect, resolve, cleaner))
            .collect();
        Self {
            _attending: Some(session.attend(Box::new(watched.clone()))),
            watched,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, WatchedNotifications> {
        // Nothing in it depends on anything else in it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Shared {
    fn hear(&mut self, notice: &Notice) {
        let WatchedNotifications { watched, compiled } = &mut *self.lock();
        for one in watched {
            one.hear(notice, compiled);
        }
    }

    fn miss(&mut self) {
        for one in &mut self.lock().watched {
            one.found.missed = true;
        }
    }
}

impl WatchedNotification {
    fn new(expect: &NotificationExpect, resolve: Resolve<'_>, cleaner: &Cleaner) -> Self {
        let predicates = expect.json.iter().flat_map(|json| &json.predicates);
        Self {
            method: expect.method.clone(),
            json: expect.json.clone(),
            operands: predicates
                .map(|p| (p.operator, p.operand.clone(), resolve(p)))
                .collect(),
            cleaner: cleaner.clone(),
            found: Found::default(),
        }
    }

    /// The operand of one of its predicates: what is written alike is the same.
    fn operand(&self, predicate: &Predicate) -> Result<Value, OperandError> {
        let own = self.operands.iter().find(|(operator, written, _)| {
            *operator == predicate.operator && *written == predicate.operand
        });
        own.map_or_else(
            || Ok(predicate.operand.clone()),
            |(_, _, value)| value.clone(),
        )
    }

    fn hear(&mut self, notice: &Notice, compiled: &RefCell<Compiled>) {
        if notice.method != self.method {
            if self.found.others.len() < OTHERS {
                self.found.others.insert(notice.method.clone());
            }
            return;
        }
        match self.fits(&notice.params, compiled) {
            Ok(true) => {
                self.found.fitting += 1;
                let first = &mut self.found.first;
                first.get_or_insert_with(|| notice.params.clone());
            }
            Ok(false) => self.found.unfit = Some(notice.params.clone()),
            Err(bad) => {
                self.found.bad.get_or_insert(bad);
            }
        }
    }

    fn fits(&self, params: &Value, compiled: &RefCell<Compiled>) -> Result<bool, BadOperand> {
        for json in &self.json {
            let is_plain =
                |p: &Predicate| !matches!(p.operator, Operator::Snapshot | Operator::EqualsPath);
            if !json.predicates.iter().all(is_plain) {
                // A snapshot is compared after some cleaning, and a path with
                // another one, as elsewhere.
                let resolve = |predicate: &Predicate| self.operand(predicate);
                let mut judge = Judge::new(&resolve, compiled, &self.cleaner);
                let json = std::slice::from_ref(json);
                judge.ask_json(AssertionTarget::Notification, json, Some(params));
                let found = judge.findings;
                match found.bad {
                    Some(bad) => return Err(bad),
                    None if found.mismatches.is_empty() => continue,
                    None => return Ok(false),
                }
            }
            let actual = selected(&json.path, params);
            let actual = actual.as_deref();
            for predicate in &json.predicates {
                let bad = |error| (error, predicate.at);
                let operand = self.operand(predicate).map_err(bad)?;
                let compiled = &mut compiled.borrow_mut();
                if !holds(predicate.operator, &operand, actual, compiled).map_err(bad)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// One expectation that is waited for.
pub struct AwaitedNotification<'a> {
    pub expect: &'a NotificationExpect,
    /// Its place among those of its step.
    pub index: usize,
    pub watch: &'a NotificationWatch,
    pub within: Duration,
    pub resolve: Resolve<'a>,
    pub compiled: &'a RefCell<Compiled>,
    pub cleaner: &'a Cleaner,
}

impl AwaitedNotification<'_> {
    /// Waits until the expectation holds, or can't hold any more, or can't be
    /// told any more; `since` is when the answer came. Gives what does not hold.
    pub async fn wait(
        &self,
        session: &Session,
        since: Instant,
    ) -> Result<Option<Mismatch>, BadOperand> {
        let deadline = deadline_after(since, self.within);
        let mut stirs = session.stirs();
        loop {
            // Asked first: what comes in between is still looked at.
            let over = session.has_ended();
            let found = self.found();
            if let Some(bad) = found.bad {
                return Err(bad);
            }
            // Nobody sends anything any more once the connection is gone.
            if over || self.is_settled(&found)? || !stirs.next(deadline).await {
                break;
            }
        }
        self.verdict(&self.found())
    }

    fn found(&self) -> Found {
        let watched = self.watch.watched.lock();
        let one = watched.watched.get(self.index);
        one.map(|one| one.found.clone()).unwrap_or_default()
    }

    /// Whether waiting can change nothing: for what must not come, that it
    /// came; for all else, that enough has. One more may break any bound but a
    /// lower one, so that such a number is known only when time is up. Of what
    /// was not read, no time tells whether it was among it.
    fn is_settled(&self, found: &Found) -> Result<bool, BadOperand> {
        if self.expect.absent {
            return Ok(found.fitting > 0 || found.missed);
        }
        if self.expect.count.is_empty() {
            return Ok(found.fitting > 0);
        }
        if !self.expect.count_only_grows() {
            return Ok(found.missed);
        }
        Ok(self.off(found)?.is_none())
    }

    /// The first thing about their number that does not hold.
    fn off(&self, found: &Found) -> Result<Option<(&Predicate, Value)>, BadOperand> {
        for predicate in &self.expect.count {
            let bad = |error| (error, predicate.at);
            let operand = (self.resolve)(predicate).map_err(bad)?;
            let actual = Value::from(found.fitting);
            let compiled = &mut self.compiled.borrow_mut();
            if !holds(predicate.operator, &operand, Some(&actual), compiled).map_err(bad)? {
                return Ok(Some((predicate, operand)));
            }
        }
        Ok(None)
    }

    fn verdict(&self, found: &Found) -> Result<Option<Mismatch>, BadOperand> {
        let Self { expect, .. } = self;
        let method = &expect.method;
        let within = human_duration(self.within);
        if expect.absent {
            return Ok(match &found.first {
                Some(params) => {
                    let shown = self.cleaner.quote_value(params);
                    let message = format!(
                        "expected no notification `{method}` within {within}, and it came with \
                         {shown}"
                    );
                    Some(self.mismatch(message, "absent", (Value::Null, params.clone())))
                }
                None => found.missed.then(|| self.beyond_limit()),
            });
        }
        if !expect.count.is_empty() {
            let off = self.off(found)?;
            // Those that were not read can only add to what is enough already.
            if found.missed && (off.is_some() || !expect.count_only_grows()) {
                return Ok(Some(self.beyond_limit()));
            }
            return Ok(off.map(|(predicate, operand)| {
                let message = format!(
                    "expected the number of notifications `{method}` within {within} {} {}, got \
                     {}{}",
                    relation(predicate.operator, &operand),
                    self.cleaner.quote_value(&operand),
                    found.fitting,
                    self.besides(found)
                );
                let compared = (operand, Value::from(found.fitting));
                self.mismatch(message, predicate.operator.name(), compared)
            }));
        }
        if found.fitting > 0 {
            return Ok(None);
        }
        if found.missed {
            return Ok(Some(self.beyond_limit()));
        }
        let actual = self.unfit(found).map(|unfit| unfit.assertion.actual);
        let compared = (Value::from(method.as_str()), actual.unwrap_or_default());
        let message = format!(
            "expected the notification `{method}` within {within}, and it did not come{}",
            self.besides(found)
        );
        Ok(Some(self.mismatch(message, "exists", compared)))
    }

    /// What is wrong with the newest one of the right method.
    fn unfit(&self, found: &Found) -> Option<Mismatch> {
        let params = found.unfit.as_ref()?;
        let mut judge = Judge::new(self.resolve, self.compiled, self.cleaner);
        let target = AssertionTarget::Notification;
        judge.ask_json(target, &self.expect.json, Some(params));
        judge.findings.mismatches.into_iter().next()
    }

    /// What else came.
    fn besides(&self, found: &Found) -> String {
        // Of what is counted, others say nothing where some of it came.
        let is_told = found.others.is_empty() || found.fitting > 0;
        match (self.unfit(found), is_told) {
            (Some(unfit), _) => format!("; of one that came, it was {}", unfit.message),
            (None, false) => {
                let others: Vec<&str> = found.others.iter().map(String::as_str).collect();
                let others = self.cleaner.quote(&others.join("`, `"));
                format!("; what came is `{others}`")
            }
            (None, true) => String::new(),
        }
    }

    /// What was not read may have been what is waited for.
    fn beyond_limit(&self) -> Mismatch {
        let message = format!(
            "a message came that is beyond what jelly reads, so that nothing can be said of the \
             notifications `{}`",
            self.expect.method
        );
        let mut mismatch = self.mismatch(message, "read", (Value::Null, Value::Null));
        mismatch.assertion.own_limit = Some(OwnLimit::MessageSize);
        mismatch
    }

    fn mismatch(&self, message: String, kind: &str, compared: (Value, Value)) -> Mismatch {
        let (target, at) = (AssertionTarget::Notification, self.expect.at);
        let mismatch = Mismatch::new(kind, target, compared, message, at);
        mismatch.at_path(Some(&self.expect.method))
    }
}
