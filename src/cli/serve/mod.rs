//! `jelly serve`: an MCP server whose tools are the commands, for coding
//! agents: fields, not prose, and never more than was asked for.
//!
//! On the official SDK, since jelly's own wire is that of a harness, which
//! wants to see what an SDK hides. Each tool is a command in a process of its
//! own: see decision 24. `tools` says what they are, `fence` which files they
//! may read, `work` what they do, `document` and `page` what is shown of it,
//! `handler` puts them together for the SDK, `http` listens.

mod arguments;
mod child;
mod document;
mod fault;
mod fence;
mod handler;
mod http;
mod pace;
mod page;
mod past_runs;
mod runs;
mod tools;
mod work;

use super::interrupt;
use super::refusal::{Refusal, complain};
use super::runtime::{runtime, unless_interrupted};
use super::settings::World;
use crate::cli::args::ServeArgs;
use child::Jelly;
use fence::Fence;
use handler::ServeHandler;
use jelly_base::model::ExitCode;
use pace::paced;
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use std::time::Duration;
use work::{Workshop, bad_folder};

/// A longer message is passed over.
const LONGEST_MESSAGE: usize = 4 << 20;

/// So long answers are still written after the client closed its end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Serves until the client goes.
pub fn serve(args: &ServeArgs, world: &World) -> Result<ExitCode, Refusal> {
    let fence = Fence::new(&world.cwd, &args.allow);
    let fence = fence.map_err(|(folder, error)| bad_folder(&folder, &error))?;
    let Some(program) = world.jelly.clone() else {
        return Err(Refusal::fault("its own program can't be found"));
    };
    let jelly = Jelly {
        program,
        cwd: world.cwd.clone(),
        hidden: args.token_env.iter().cloned().collect(),
    };
    let reports = world.cwd.join(&args.reports.reports_dir);
    let shop = Workshop {
        allow_run: args.allow_run,
        allow_hooks: args.allow_hooks,
        reports_dir: args.reports.unusual(),
        ..Workshop::new(fence, jelly, reports)
    };
    let handler = ServeHandler::new(shop);
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let interrupt = interrupt::listen()?;
        let served = async {
            match args.listen {
                Some(address) => {
                    http::listen(address, args.token_env.as_deref(), world, &handler).await
                }
                None => stdio(&handler).await,
            }
        };
        let end = unless_interrupted(&interrupt, served).await;
        handler.stop().await;
        end
    });
    match ended {
        Ok(served) => served,
        Err(interrupted) => {
            // A thread of it reads stdin, which the client may keep open.
            runtime.shutdown_background();
            Err(interrupted)
        }
    }
}

/// Over stdin and stdout.
async fn stdio(handler: &ServeHandler) -> Result<ExitCode, Refusal> {
    let (input, output) = stdio_pipes();
    let transport =
        AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST_MESSAGE);
    let (transport, mut gone) = paced(transport);
    let service = match handler.clone().serve(transport).await {
        Ok(service) => service,
        // Whoever goes before the first word wanted nothing.
        Err(error) => {
            complain(&format!("jelly serve: no client: {error}"));
            return Ok(ExitCode::Passed);
        }
    };
    // Answers that nobody takes are no reason to stay.
    let left = async {
        let _ = gone.wait_for(|gone| *gone).await;
        handler.stop().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        ended = service.waiting() => match ended {
            Ok(_) => Ok(ExitCode::Passed),
            Err(error) => Err(Refusal::fault(&format!("the server was lost: {error}"))),
        },
        () = left => Ok(ExitCode::Passed),
    }
}
