//! What was typed → what is meant → one function per command → exit code.

mod again;
mod announce;
mod apply;
mod args;
mod ask;
mod busy;
mod call;
mod call_reads;
mod call_tool;
mod check;
mod ci;
mod config;
mod coverage;
mod doctor;
mod events;
mod executor;
mod explain;
mod files;
mod find;
mod fuzz;
mod history;
mod init;
mod interrupt;
mod invalid;
mod known;
mod layers;
mod list;
mod listening;
mod login;
mod matrix;
mod merge;
mod named_files;
mod named_server;
mod open_history;
mod out;
mod overwrite;
mod paint;
mod plan_files;
mod plan_flags;
mod plan_reads;
mod plan_run;
mod proposals;
mod provenance;
mod proxy;
mod record;
mod refusal;
mod replay;
mod report_files;
mod results;
mod retyped;
mod rules;
mod run;
mod run_list;
mod run_secrets;
mod runtime;
mod same_named;
mod schema;
mod schema_store;
#[cfg(feature = "serve")]
mod serve;
mod server_code;
mod server_places;
mod settings;
mod shard;
mod snapshot;
mod target;
mod tool_arguments;
mod tools;
mod triage;
mod verbose;
mod watch;
mod wire_record;
mod write_back;

use args::{Cli, ColorChoice, Command, Format, ToolsCommand};
use clap::{CommandFactory, FromArgMatches};
use jelly_base::model::ExitCode;
use jelly_base::text::redact::Redactor;
use jelly_process::{self as process, Role, WorkerEnd};
use layers::Layers;
use refusal::{Refusal, complain};
use retyped::{Retyped, unfilled};
use settings::{World, inherited_secrets};
use std::panic::{self, AssertUnwindSafe};

/// All that can be typed, for manual pages.
#[must_use]
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// The whole program.
#[must_use]
pub fn main_impl() -> std::process::ExitCode {
    process::end_with_launcher();
    process::let_large_writes_fail();
    let (cli, layers) = match process::on_large_stack(typed) {
        Ok(Ok(typed)) => typed,
        Ok(Err(end)) => return end,
        Err(error) => return stranded(&no_stack(&error)),
    };
    // Before any thread: only one process may come of the fork.
    if starts_servers(&cli.command)
        && let Some(end) = supervise()
    {
        return end;
    }
    let ended = process::on_large_stack(move || {
        panic::catch_unwind(AssertUnwindSafe(|| dispatch(*cli, &layers)))
    });
    match ended {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => {
            // The panic's own message is out already; destructors have run.
            complain(
                "jelly: this is a fault of jelly itself, not of your plan or server; please \
                 report it with the lines above",
            );
            ExitCode::Internal.into()
        }
        Err(error) => stranded(&no_stack(&error)),
    }
}

fn no_stack(error: &std::io::Error) -> String {
    format!(
        "start a thread, which it needs because the stack is limited to less than 1 MiB: {error}"
    )
}

/// What was typed; where nothing comes of it, how that ends.
fn typed() -> Result<(Box<Cli>, Layers), std::process::ExitCode> {
    let typed: Vec<_> = std::env::args_os().collect();
    let layers = Layers::find(&typed).map_err(|refusal| {
        complain(&refusal);
        std::process::ExitCode::from(ExitCode::InvalidInput)
    })?;
    let mut command = layers.command(&typed);
    let parsed = command.try_get_matches_from_mut(&typed);
    let parsed = parsed.and_then(|matches| {
        let mut cli = Cli::from_arg_matches(&matches)?;
        match retyped_of(&mut cli.command) {
            Some(retyped) => *retyped = Retyped::of(&command, &matches),
            None => {
                if let Command::Run(args) = &mut cli.command {
                    args.again = again::call_flags(&matches, layers.profile.as_deref());
                }
            }
        }
        Ok(cli)
    });
    let cli = parsed.map_err(|error| {
        let error = error.format(&mut command);
        // Where neither stream takes it, the exit code still tells.
        let _ = error.print();
        if let Some(whose) = layers.whose(&error, &typed) {
            complain(&whose);
        }
        std::process::ExitCode::from(match error.use_stderr() {
            true => ExitCode::InvalidInput,
            false => ExitCode::Passed,
        })
    })?;
    // A client of the proxy would only see a closed connection.
    if !matches!(cli.command, Command::Proxy(_))
        && let Some(blank) = unfilled(&typed)
    {
        complain(&format!(
            "error: `{blank}` stands for a value that jelly did not print\nhelp: write the value in \
             its place"
        ));
        return Err(std::process::ExitCode::from(ExitCode::InvalidInput));
    }
    for warning in &layers.warnings {
        complain(&format!("warning: {warning}"));
    }
    Ok((Box::new(cli), layers))
}

/// Where a command keeps its call, to repeat it in commands that it prints.
fn retyped_of(command: &mut Command) -> Option<&mut Retyped> {
    let source = match command {
        Command::Init(args) => return Some(&mut args.retyped),
        Command::List(args) => &mut args.ask.server.source,
        Command::Call(args) => &mut args.ask.server.source,
        Command::Fuzz(args) => &mut args.server.source,
        Command::Tools(args) => match &mut args.command {
            ToolsCommand::Lock(args) => &mut args.ask.server.source,
            ToolsCommand::Diff(args) => &mut args.ask.server.source,
            ToolsCommand::Lint(args) => &mut args.ask.server.source,
        },
        _ => return None,
    };
    Some(&mut source.retyped)
}

/// Whether a command starts servers: in a process of its own, which another one
/// watches over.
fn starts_servers(command: &Command) -> bool {
    match command {
        Command::Run(_)
        | Command::Init(_)
        | Command::Doctor(_)
        | Command::Tools(_)
        | Command::Call(_)
        | Command::List(_)
        | Command::Fuzz(_) => true,
        #[cfg(feature = "serve")]
        Command::Serve(_) => true,
        Command::Check(args) => args.live,
        Command::Proxy(args) => args.action.is_none(),
        Command::Merge(_)
        | Command::Apply(_)
        | Command::Config(_)
        | Command::Explain(_)
        | Command::History(_)
        | Command::Known(_)
        | Command::Triage(_)
        | Command::Rules(_)
        | Command::Login(_)
        | Command::Mock(_)
        | Command::Replay(_)
        | Command::Snapshot(_)
        | Command::Schema(_)
        | Command::Completions { .. } => false,
    }
}

fn dispatch(cli: Cli, layers: &Layers) -> std::process::ExitCode {
    let color = cli.color;
    match cli.command {
        Command::Run(args) => in_world(color, |world| run::run(*args, world)),
        Command::Init(args) => in_world(color, |world| init::init(&args, world)),
        Command::Doctor(args) => in_world(color, |world| doctor::doctor(&args, world)),
        Command::Check(args) if args.live => {
            in_world(color, |world| check::check_live(&args, world))
        }
        Command::Check(args) => {
            let world = World::look(color).ok();
            let color = world.as_ref().is_some_and(World::colors_stderr);
            let redactor = world.map_or_else(Redactor::none, |world| {
                Redactor::new(inherited_secrets(&world.env))
            });
            let json = args.format == Format::Json;
            let plans = match plan_files::plans(&args.plans, "check") {
                Ok(plans) => plans,
                Err(_) if json => Vec::new(),
                Err(refusal) => return refusal.tell().into(),
            };
            let mut out = out::stdout(args.format.notation());
            let mut err = out::stderr();
            let project = args.project_dir.as_deref();
            let told = check::Told {
                color,
                json,
                project,
                vars: &args.vars,
            };
            if let Err(refusal) = check::refuse_stray_variable(&plans, told, &redactor) {
                return refusal.tell().into();
            }
            check::check(&plans, told, &redactor, &mut out, &mut err).into()
        }
        Command::Known(args) => in_world(color, |world| known::known(&args, world)),
        Command::Merge(args) => in_world(color, |world| merge::merge(&args, world)),
        Command::Config(args) => ended(config::config(&args, layers)),
        Command::Apply(args) => in_world(color, |world| apply::apply(&args, world)),
        Command::Explain(args) => in_world(color, |world| explain::explain(&args, world)),
        Command::History(args) => in_world(color, |world| history::history(&args, world)),
        Command::Triage(args) => in_world(color, |world| triage::triage(&args, world)),
        Command::Rules(args) => in_world(color, |world| rules::rules(&args, world)),
        Command::Schema(args) => ended(schema::schema(&args)),
        Command::Snapshot(args) => in_world(color, |world| snapshot::snapshot(&args, world)),
        Command::Tools(args) => in_world(color, |world| tools::tools(&args, world)),
        Command::Call(args) => in_world(color, |world| call_tool::call(&args, world)),
        Command::List(args) => in_world(color, |world| list::list(&args, world)),
        Command::Fuzz(args) => in_world(color, |world| fuzz::fuzz(&args, world)),
        Command::Login(args) => in_world(color, |world| login::login(&args, world)),
        Command::Replay(args) => ended(replay::replay(&args)),
        #[cfg(feature = "serve")]
        Command::Serve(args) => in_world(color, |world| serve::serve(&args, world)),
        Command::Mock(args) => jelly_mock::run(&args),
        Command::Proxy(args) => match &args.action {
            Some(action) => in_world(color, |world| proxy::change(action, world)),
            None => in_world(color, |world| proxy::proxy(&args, world)),
        },
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "jelly", &mut script);
            ended(out::unless_unsaid(
                out::print_as_is(script),
                ExitCode::Passed,
            ))
        }
    }
}

/// Becomes two processes: the one that goes on, and the one that watches over it and
/// ends as it does, which is the value.
fn supervise() -> Option<std::process::ExitCode> {
    let alone = match process::supervise() {
        Role::Worker => None,
        Role::Alone { reason } => Some(reason),
        Role::Supervisor(end) => return Some(pass_on(&end)),
        Role::Stranded { reason } => return Some(stranded(&reason)),
    };
    if let Err(shortage) = process::check_room() {
        return Some(stranded(&shortage.to_string()));
    }
    if let Some(reason) = alone {
        complain(&format!(
            "warning: jelly can't watch over itself here ({reason}); if it is killed with \
             SIGKILL, servers may be left behind"
        ));
    }
    None
}

/// Ends where there is no room to do anything.
fn stranded(reason: &str) -> std::process::ExitCode {
    let what = format!("out of resources: jelly failed to {reason}. Nothing was run");
    Refusal::fault(&what).tell().into()
}

/// Looks at the world and does something in it.
fn in_world(
    color: ColorChoice,
    act: impl FnOnce(&World) -> Result<ExitCode, Refusal>,
) -> std::process::ExitCode {
    ended(World::look(color).and_then(|world| act(&world)))
}

/// Says why a command was refused, where it was.
fn ended(end: Result<ExitCode, Refusal>) -> std::process::ExitCode {
    end.unwrap_or_else(Refusal::tell).into()
}

/// The worker's end becomes ours.
fn pass_on(end: &WorkerEnd) -> std::process::ExitCode {
    match end {
        WorkerEnd::Exited(code) => (*code).into(),
        WorkerEnd::Killed {
            number,
            asked_for: true,
            ..
        } => (128 + number).into(),
        WorkerEnd::Killed { signal, .. } => {
            complain(&format!(
                "jelly's worker process was killed by {signal}, by another program or for lack of \
                 memory; its servers were stopped, and the report is that of the last iteration"
            ));
            ExitCode::Internal.into()
        }
    }
}
