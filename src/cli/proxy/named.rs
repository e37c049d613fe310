//! Which server is meant.

use super::program_name;
use crate::cli::args::ProxyArgs;
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use jelly_base::text::redact::Redactor;
use jelly_process::CommandSpec;

/// A server, as it is started.
pub struct NamedServer {
    pub name: String,
    pub command: CommandSpec,
}

/// The one that was typed.
pub fn server(
    args: &ProxyArgs,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let _ = redactor;
    if args.command.is_empty() {
        return Err(Refusal::with_help(
            "nothing says which server is meant",
            "put its command behind `--`: jelly proxy -- COMMAND [ARGS]...",
        ));
    }
    let folder = match &args.cwd {
        Some(folder) => world.cwd.join(folder),
        None => world.cwd.clone(),
    };
    let command = CommandSpec {
        argv: args.command.clone(),
        cwd: folder,
        env: variables(&args.env, world)?,
    };
    Ok(NamedServer {
        name: program_name(&command),
        command,
    })
}

/// `NAME=VALUE`, or `NAME` for what the environment has.
fn variables(given: &[String], world: &World) -> Result<Vec<(String, String)>, Refusal> {
    let variable = |pair: &String| match pair.split_once('=') {
        Some(("", _)) => Err(Refusal::with_help(
            format!("--env {pair}: a variable has a name"),
            "write NAME=VALUE, or NAME",
        )),
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => match world.env.get(pair) {
            Some(value) => Ok((pair.clone(), value.clone())),
            None => Err(Refusal::with_help(
                format!("--env {pair}: the environment has no such variable"),
                format!("set it, or write {pair}=VALUE"),
            )),
        },
    };
    given.iter().map(variable).collect()
}
