//! Where the loop and execution meet: they know nothing of each other.

use super::invalid::chain;
use super::proposals::Proposals;
use super::server_code::ServerCodeReader;
use jelly_base::model::{
    CoverageItem, Interrupt, IterationRecord, OutputSeen, Signal, StepAnswers, Warnings,
};
use jelly_harness::code_identity::ServerCode;
use jelly_harness::exec::{self, ExecSettings, Iteration};
use jelly_harness::triage_loop::{Executor, IterationContext};
use jelly_plan::Plan;
use jelly_process as process;
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::watch;

/// Executes plans with real servers.
pub struct PlanExecutor {
    pub settings: Rc<ExecSettings>,
    pub proposals: Rc<Proposals>,
    pub warnings: Warnings,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
    /// The ports of the last iteration.
    pub ports: BTreeMap<String, u16>,
    /// What the steps of the last iteration were answered, where that is kept.
    pub answers: StepAnswers,
    /// By which rungs outputs were read in all iterations, where that is kept.
    pub outputs: Vec<OutputSeen>,
    /// What was exercised in all iterations, where that is counted.
    pub coverage: Vec<CoverageItem>,
    /// What an interrupted iteration still does.
    pub rest: Option<exec::Unfinished>,
    /// No other plan has servers running: whatever is still a child of ours
    /// after an iteration was left behind by a server.
    pub alone: bool,
    /// Finds out what is proved of the code of servers, where that is asked for.
    pub code: Option<ServerCodeReader>,
}

impl PlanExecutor {
    /// Takes out of the record of a whole iteration what is kept here.
    fn ended(&mut self, mut record: IterationRecord) -> IterationRecord {
        self.answers = std::mem::take(&mut record.answers);
        self.outputs.append(&mut record.outputs);
        self.coverage.append(&mut record.coverage);
        if self.alone {
            process::sweep_orphans(&[]);
        }
        record
    }
}

impl Executor for PlanExecutor {
    async fn execute(
        &mut self,
        plan: &Rc<Plan>,
        context: &IterationContext<'_>,
    ) -> IterationRecord {
        if let Err(error) = self.proposals.begin() {
            self.warnings.warn(format!("failed to {}", chain(&error)));
        }
        let not_again = self
            .ports
            .iter()
            .filter(|(server, _)| context.new_ports_for.contains(*server))
            .map(|(server, port)| (server.clone(), *port))
            .collect();
        let iteration = Iteration {
            index: context.index,
            deadline: context.deadline,
            quarantined: context.quarantined,
            ports_in_use: &not_again,
        };
        if let Some(code) = &mut self.code {
            code.begin(plan, &self.settings, context.after_hook);
        }
        let executed = exec::execute(plan, &self.settings, &iteration).await;
        // What it started is a child of ours too.
        if let Some(code) = &mut self.code {
            code.end(executed.record.interrupted.is_some()).await;
        }
        self.ports = executed.scope.ports;
        self.rest = executed.rest;
        match self.rest {
            Some(_) => executed.record,
            None => self.ended(executed.record),
        }
    }

    fn code(&self) -> ServerCode {
        let reader = self.code.as_ref();
        reader.map_or_else(ServerCode::new, ServerCodeReader::found)
    }

    async fn rest(&mut self) -> Option<IterationRecord> {
        let rest = self.rest.take()?;
        let record = rest.end().await;
        Some(self.ended(record))
    }

    fn signal(&self) -> Option<Signal> {
        self.interrupt.borrow().map(|came| came.signal)
    }

    async fn interrupted(&mut self) -> Signal {
        match self.interrupt.wait_for(Option::is_some).await {
            Ok(came) => match *came {
                Some(came) => came.signal,
                None => std::future::pending().await,
            },
            // Nobody is left who could send one.
            Err(_) => std::future::pending().await,
        }
    }
}
