//! How the loop reaches execution: through a small trait, so that it can be
//! tested with a scripted fake.

use crate::code_identity::ServerCode;
use jelly_base::model::{IterationRecord, Signal};
use jelly_plan::Plan;
use std::collections::BTreeSet;
use std::rc::Rc;
use tokio::time::Instant;

/// What one iteration is told besides its plan.
#[derive(Debug, Clone, Copy)]
pub struct IterationContext<'a> {
    /// 1-based.
    pub index: u32,
    /// The run's deadline: what is not done by then is not done.
    pub deadline: Instant,
    /// Ids of the steps that are taken out of the run, visibly: they are
    /// reported as `quarantined`, and not sent.
    pub quarantined: &'a BTreeSet<String>,
    /// Servers whose `${port}` must be another one than last time.
    pub new_ports_for: &'a BTreeSet<String>,
    /// A hook ran since the last iteration: the code may be another.
    pub after_hook: bool,
}

/// Executes one plan, once, on fresh servers.
///
/// The loop is single-threaded, so the futures need not be `Send`.
#[expect(
    async_fn_in_trait,
    reason = "implemented and called inside this package, on one thread"
)]
pub trait Executor {
    /// Executes the plan. It never fails: what goes wrong is in the record. A
    /// signal or the deadline ends it early, and the record says so.
    async fn execute(&mut self, plan: &Rc<Plan>, context: &IterationContext<'_>)
    -> IterationRecord;

    /// What is proved of the code that the servers of the last iteration were
    /// started from; where nobody asks for it, nothing.
    fn code(&self) -> ServerCode {
        ServerCode::new()
    }

    /// The whole record of an iteration whose record was unfinished, once
    /// teardown and the servers have come to their end.
    async fn rest(&mut self) -> Option<IterationRecord>;

    /// The signal that has asked the run to end, if one has: for work that waits for
    /// nothing, and would not hear of it.
    fn signal(&self) -> Option<Signal>;

    /// Resolves once a signal asks the run to end, at once if one came
    /// earlier; never without one. Must be safe to drop and to call again: the
    /// loop waits for it next to a back-off or a hook.
    async fn interrupted(&mut self) -> Signal;
}
