//! What commands need that start servers: a runtime, and outside of a run
//! signals, and rules to tell what is wrong.

use super::interrupt;
use super::rules::{Rules, find_rules};
use super::settings::World;
use crate::cli::args::{ColorChoice, RuleFiles};
use crate::cli::complain::{complain, fault};
use jelly_base::model::{ExitCode, Interrupt};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::watch;

/// See the module.
pub struct Stage {
    pub rules: Rules,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
}

/// What waits, for all commands; otherwise the fault is told, and its exit code
/// returned. All its tasks, of servers, steps and pipes, are in one queue: a
/// `LocalSet` would be one task of it, and an answer would reach its step only
/// after another look at all pipes.
pub fn runtime() -> Result<LocalRuntime, ExitCode> {
    let built = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default());
    built.map_err(|error| fault(&format!("the runtime can't be started: {error}")))
}

/// Does what a command is for.
pub fn on_stage(
    own_rules: &RuleFiles,
    color: ColorChoice,
    world: &World,
    work: impl AsyncFnOnce(Stage) -> ExitCode,
) -> ExitCode {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(code) => return code,
    };
    runtime.block_on(async {
        let interrupt = match interrupt::listen() {
            Ok(interrupt) => interrupt,
            Err(error) => return fault(&format!("signals can't be listened for: {error}")),
        };
        match find_rules(&own_rules.files, &world.cwd) {
            Ok(rules) => work(Stage { rules, interrupt }).await,
            Err(refusal) => {
                complain(&refusal.render(world.color(color, world.stderr_is_terminal)));
                ExitCode::InvalidInput
            }
        }
    })
}

/// What comes of some work, unless a signal comes first.
pub async fn unless_interrupted<T>(
    interrupt: &watch::Receiver<Option<Interrupt>>,
    work: impl Future<Output = T>,
) -> Result<T, ExitCode> {
    let mut interrupt = interrupt.clone();
    tokio::select! {
        done = work => Ok(done),
        came = interrupt.wait_for(Option::is_some) => {
            let signal = came.ok().and_then(|came| Some((*came)?.signal));
            Err(signal.map_or(ExitCode::Internal, ExitCode::Interrupted))
        }
    }
}
