//! What commands need that start servers: a runtime, and outside of a run
//! signals, and rules to tell what is wrong.

use super::interrupt;
use super::refusal::Refusal;
use super::rules::{Rules, open_rules};
use super::settings::World;
use crate::cli::args::RuleFiles;
use jelly_base::model::{ExitCode, Interrupt};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::watch;

/// See the module.
pub struct CommandContext {
    pub rules: Rules,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
}

/// What waits, for all commands. All its tasks, of servers, steps and pipes,
/// are in one queue: a `LocalSet` would be one task of it, and an answer would
/// reach its step only after another look at all pipes.
pub fn runtime() -> Result<LocalRuntime, Refusal> {
    let built = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default());
    built.map_err(|error| Refusal::fault(&format!("the runtime can't be started: {error}")))
}

/// Does what a command is for.
pub fn with_runtime(
    own_rules: &RuleFiles,
    world: &World,
    work: impl AsyncFnOnce(CommandContext) -> Result<ExitCode, Refusal>,
) -> Result<ExitCode, Refusal> {
    runtime()?.block_on(async {
        let interrupt = interrupt::listen()?;
        let rules = open_rules(own_rules, world)?;
        work(CommandContext { rules, interrupt }).await
    })
}

/// What comes of some work, unless a signal comes first.
pub async fn unless_interrupted<T>(
    interrupt: &watch::Receiver<Option<Interrupt>>,
    work: impl Future<Output = T>,
) -> Result<T, Refusal> {
    let mut interrupt = interrupt.clone();
    tokio::select! {
        done = work => Ok(done),
        came = interrupt.wait_for(Option::is_some) => {
            let signal = came.ok().and_then(|came| Some((*came)?.signal));
            let code = signal.map_or(ExitCode::Internal, ExitCode::Interrupted);
            Err(Refusal::silent(code))
        }
    }
}
