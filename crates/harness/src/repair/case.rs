//! A failure with all that a repair may look at.
//!
//! Main type: [`FailureCase`].

use super::types::Facts;
use jelly_base::model::{Diagnosis, Failure, Section};
use jelly_plan::{Plan, Server, Step};

/// A failure with all that a repair may look at.
#[derive(Clone, Copy)]
pub(super) struct FailureCase<'a> {
    pub plan: &'a Plan,
    pub failure: &'a Failure,
    pub diagnosis: &'a Diagnosis,
    pub facts: &'a Facts<'a>,
}

impl<'a> FailureCase<'a> {
    pub fn server(&self) -> Option<&'a Server> {
        self.plan.servers.get(self.failure.server.as_ref()?)
    }

    /// The step that failed; none where it expects an error, since such a step
    /// is left as it is.
    pub fn step(&self) -> Option<&'a Step> {
        let step = *self.facts.steps.get(self.failure.step.as_deref()?)?;
        (!step.expects_error()).then_some(step)
    }
}

/// How reports name a server.
pub(super) fn server_target(name: &str) -> String {
    format!("servers.{name}")
}

/// How reports name a step, as in `steps.write`.
pub(super) fn step_target(step: &Step) -> String {
    let section = match step.section {
        Section::Setup => "setup",
        Section::Steps => "steps",
        Section::Teardown => "teardown",
    };
    format!("{section}.{}", step.id)
}
