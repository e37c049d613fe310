//! `jelly proxy`: stands before a server, and says why it can't be used where
//! it can't.

mod wrap;

use super::listening::listen_at;
use super::named_server::{NamedServer, log_in, named_server};
use super::out::say;
use super::refusal::{Refusal, complain};
use super::runtime::{CommandContext, with_runtime};
use super::settings::{World, inherited_secrets};
use super::tools::hold_to_lock;
use crate::cli::args::{OnFailure, ProxyAction, ProxyArgs, RetryUpstream};
use jelly_base::model::{ExitCode, UpstreamContext};
use jelly_base::text::redact::{Redactor, secrets_in_header, secrets_in_text, show_argv, show_url};
use jelly_base::text::{plural, sanitize};
use jelly_mock::Injector;
use jelly_process::CommandSpec;
use jelly_proxy::{
    ListenSettings, ProxyEnd, ProxySettings, RelaySettings, Trouble, listen, run, schemas_of,
    traces_url, trial, trouble_of_refusal,
};
use jelly_triage::engine::Engine;
use jelly_wire::{JsonPoster, Reach, Recorder};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Counts up from proxy to proxy, each in the environment of the next.
const DEPTH: &str = "JELLY_PROXY_DEPTH";
/// A proxy before a proxy can be meant; more of them start themselves.
const DEEPEST: u32 = 4;

/// Changes a client's configuration so that servers are reached through jelly.
pub fn change(action: &ProxyAction, world: &World) -> Result<ExitCode, Refusal> {
    match action {
        ProxyAction::Wrap(args) => wrap::wrap(args, world),
        ProxyAction::Unwrap(args) => wrap::unwrap(args, world),
    }
}

/// Stands before a server.
pub fn proxy(args: &ProxyArgs, world: &World) -> Result<ExitCode, Refusal> {
    let depth = depth(world)?;
    with_runtime(&args.own_rules, world, async |context| {
        let found = fit_settings(args, world, depth, &context).await;
        // What the server stands on lives as long as the proxy.
        let (settings, _named, code) = match found {
            Ok((settings, named)) => (settings, Some(named), None),
            Err(refusal) => {
                // A client would show of it that the connection was closed.
                let has_client = !world.stdin_is_terminal && args.listen.is_none();
                match has_client.then(|| refused(args, &context.rules, &refusal)) {
                    Some(Some(settings)) => (settings, None, Some(refusal.tell())),
                    Some(None) | None => return Err(refusal),
                }
            }
        };
        let settings = Rc::new(settings);
        if world.stdin_is_terminal && args.listen.is_none() {
            if settings.refused.is_some() {
                // All changes stand above.
                return Err(Refusal::silent(ExitCode::NeedsUserHelp));
            }
            let tried = super::runtime::unless_interrupted(
                &context.interrupt,
                trial(&settings, &context.rules),
            );
            return match tried.await? {
                Ok(tools) => well(&settings, tools),
                Err(trouble) => Err(unwell(&settings, &trouble)),
            };
        }
        let mut interrupt = context.interrupt.clone();
        let interrupted = async {
            // Where nobody listens any more, nothing can come.
            if interrupt.wait_for(Option::is_some).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let engine = Rc::new(context.rules);
        let shared = Rc::clone(&settings);
        let end = match args.listen {
            Some(address) => {
                let token_env = args.token_env.as_deref();
                let (guard, listener, bound) = listen_at(address, token_env, world).await?;
                is_not_itself(&settings, bound)?;
                complain(&format!("jelly proxy: listening at http://{bound}/mcp"));
                let limits = ListenSettings {
                    max_sessions: usize::from(args.max_sessions),
                    idle: args.session_idle,
                };
                listen((guard, listener), limits, shared, engine, interrupted).await
            }
            None => run(shared, engine, interrupted).await,
        };
        if let Some(warning) = settings.recorder.as_ref().and_then(Recorder::new_warning) {
            complain(&format!("warning: {warning}"));
        }
        match end {
            Ok(ProxyEnd::Closed) => Ok(code.unwrap_or(ExitCode::Passed)),
            Err(_) if code.is_some() => Ok(code.unwrap_or(ExitCode::InvalidInput)),
            Ok(ProxyEnd::Interrupted) => {
                let signal = context.interrupt.borrow().map(|came| came.signal);
                Err(Refusal::silent(
                    signal.map_or(ExitCode::Internal, ExitCode::Interrupted),
                ))
            }
            Err(error) => Err(Refusal::with_help(
                format!("stdin or stdout can't be used: {error}"),
                "a client starts `jelly proxy` with pipes for both",
            )),
        }
    })
}

/// What is meant, with a lock that it is held to.
async fn fit_settings(
    args: &ProxyArgs,
    world: &World,
    depth: u32,
    context: &CommandContext,
) -> Result<(ProxySettings, NamedServer), Refusal> {
    let (mut settings, named) = settings(args, world, depth).await?;
    if let Some(file) = &args.lock {
        let around = (world, &settings.redactor);
        let held = hold_to_lock(&named, file, args.startup_timeout, around);
        let held = super::runtime::unless_interrupted(&context.interrupt, held);
        let broken = held.await??;
        if !broken.is_empty() {
            let (context, file) = (&settings.relay.context, file.display().to_string());
            settings.refused = Some(Trouble::of_lock(context, &file, &broken));
        }
    }
    Ok((settings, named))
}

/// A proxy that answers its client why it can't stand before the server; none
/// where there is nothing to tell.
fn refused(args: &ProxyArgs, engine: &Engine, refusal: &Refusal) -> Option<ProxySettings> {
    let (what, next) = refusal.parts()?;
    let place = &args.source.place;
    let named = args.source.command.first().cloned();
    let named = named.or_else(|| place.url.as_deref().map(show_url));
    let context = UpstreamContext {
        command: named.unwrap_or_default(),
        ..UpstreamContext::default()
    };
    let trouble = trouble_of_refusal(engine, context.clone(), what, next);
    let nothing = CommandSpec {
        argv: Vec::new(),
        cwd: PathBuf::new(),
        env: Vec::new(),
    };
    Some(ProxySettings {
        name: args.name.clone().unwrap_or_else(|| "server".to_owned()),
        reach: Reach::from(nothing),
        relay: RelaySettings {
            stands_in: args.on_failure == OnFailure::Tool,
            context,
            ..RelaySettings::default()
        },
        refused: Some(trouble),
        redactor: Redactor::none(),
        recorder: None,
        otlp: None,
        adapts: false,
        schemas: None,
    })
}

/// A proxy that reaches itself would ask itself for ever.
fn is_not_itself(settings: &ProxySettings, bound: SocketAddr) -> Result<(), Refusal> {
    let Reach::Http(endpoint) = &settings.reach else {
        return Ok(());
    };
    let rest = endpoint.url.strip_prefix("http://").unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let local = host.replace("localhost", "127.0.0.1");
    if local.parse() == Ok(bound) {
        return Err(Refusal::with_help(
            format!("the URL is the one that this proxy listens at: {bound}"),
            "give --listen another port, or --url the server's own",
        ));
    }
    Ok(())
}

/// How many proxies stand before this one.
fn depth(world: &World) -> Result<u32, Refusal> {
    let depth = world.env.get(DEPTH).and_then(|depth| depth.parse().ok());
    let depth: u32 = depth.unwrap_or(0);
    if depth >= DEEPEST {
        return Err(Refusal::with_help(
            format!("{depth} proxies stand before each other here: this one starts itself"),
            "put the server's own command behind `--`; `jelly proxy unwrap FILE` takes jelly out \
             of a client's configuration",
        ));
    }
    Ok(depth)
}

async fn settings(
    args: &ProxyArgs,
    world: &World,
    depth: u32,
) -> Result<(ProxySettings, NamedServer), Refusal> {
    let redactor = Redactor::new(inherited_secrets(&world.env));
    let mut named = named_server(&args.source, world, &redactor).await?;
    fit_for_a_proxy(&mut named, args, world, &redactor)?;
    if let Some(command) = named.reach.command_mut() {
        let depth = (DEPTH.to_owned(), (depth + 1).to_string());
        command.env.push(depth);
    }
    let otlp = args.otlp.as_deref().map(traces_url);
    if let Some(url) = &otlp {
        let secrets = secrets_in_text(url).into_iter();
        redactor.learn(secrets.map(|found| (found.name, found.value)));
        JsonPoster::new(url, &redactor).map_err(|why| {
            Refusal::with_help(
                format!("--otlp {}: {why}", redactor.redact(url)),
                "name a collector that takes OTLP over HTTP, as http://localhost:4318",
            )
        })?;
    }
    let recorder = match &args.record_to {
        Some(path) => record_to(path, world)?,
        None => None,
    };
    let name = args.name.clone().unwrap_or_else(|| named.name.clone());
    let faults = match args.faults.as_slice() {
        [] => None,
        faults => Some(
            Injector::new(faults.to_vec(), args.fault_seed).map_err(|why| {
                Refusal::with_help(
                    format!("--fault: {why}"),
                    "`jelly mock --list-faults` shows what there is, and where it acts",
                )
            })?,
        ),
    };
    let (store, warning) = args.ladder.open();
    if let Some(warning) = warning {
        complain(&format!("warning: {warning}"));
    }
    let schemas = store.and_then(|store| {
        let store = store.into_store();
        if !store.path().exists() {
            complain(&format!(
                "warning: the schema store {} does not exist yet; it is made with the first output \
                 that is learnt",
                sanitize(&store.path().display().to_string())
            ));
        }
        let known = schemas_of(&store, &name).ok()?;
        Some((store, known))
    });
    let settings = ProxySettings {
        name,
        adapts: !args.ladder.no_adapt,
        schemas,
        relay: RelaySettings {
            startup_timeout: args.startup_timeout,
            retries: args.retry_upstream == RetryUpstream::Auto,
            restarts: !args.no_restart,
            stands_in: args.on_failure == OnFailure::Tool,
            call_timeout: args.tool_call_timeout,
            call_max: args.tool_call_max,
            faults,
            // Over HTTP a server refuses itself what is of another era.
            asks_era: matches!(named.reach, Reach::Stdio(_)),
            context: shown(&named.reach, &redactor),
        },
        refused: None,
        reach: named.reach.clone(),
        redactor,
        recorder,
        otlp,
    };
    Ok((settings, named))
}

/// The record that is gone on with. One that another proxy writes to, as that of
/// a client's second window, costs the record and not the server.
fn record_to(path: &Path, world: &World) -> Result<Option<Recorder>, Refusal> {
    match Recorder::resume(&world.cwd.join(path)) {
        Ok(recorder) => {
            if let Some(warning) = recorder.new_warning() {
                complain(&format!(
                    "warning: {warning}; give --record-to another file"
                ));
            }
            Ok(Some(recorder))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let path = path.display();
            complain(&format!(
                "warning: nothing is recorded here: {path}: {error}"
            ));
            Ok(None)
        }
        Err(error) => Err(Refusal::with_help(
            format!("{} can't be written: {error}", path.display()),
            "name another file, in a folder that is there, by --record-to",
        )),
    }
}

/// What a proxy can do for its server beyond what names it.
fn fit_for_a_proxy(
    named: &mut NamedServer,
    args: &ProxyArgs,
    world: &World,
    redactor: &Redactor,
) -> Result<(), Refusal> {
    let name = sanitize(&named.name).into_owned();
    let from_env = !args.header_env.is_empty() || args.bearer_env.is_some();
    if args.source.place.url.is_none() && from_env {
        return Err(Refusal::with_help(
            "--header-env and --bearer-env are for a server that is named by --url",
            "a server that is started gets variables: --env NAME=VALUE",
        ));
    }
    match named.reach.command_mut() {
        Some(command) => {
            if let Some(folder) = &args.cwd {
                command.cwd = world.cwd.join(folder);
            }
        }
        None if args.cwd.is_some() => {
            return Err(Refusal::with_help(
                format!(
                    "the server `{name}` is reached by a URL: there is nothing that --cwd could \
                     be for"
                ),
                "give it headers, by --header or --header-env",
            ));
        }
        None => {}
    }
    let Reach::Http(endpoint) = &mut named.reach else {
        return Ok(());
    };
    if args.listen.is_some() && endpoint.command.is_some() {
        return Err(Refusal::with_help(
            format!(
                "the server `{name}` is started at one URL, and each session would start another"
            ),
            "start it yourself, and name the URL: jelly proxy --listen ADDRESS --url URL",
        ));
    }
    for (name, value) in headers_of_env(args, world)? {
        let secrets = secrets_in_header(&name, &value).into_iter();
        redactor.learn(secrets.map(|found| (found.name, found.value)));
        endpoint.headers.push((name, value));
    }
    match from_env {
        true => log_in(endpoint, args.source.login, world, redactor),
        false => Ok(()),
    }
}

/// The headers whose values the environment holds.
fn headers_of_env(args: &ProxyArgs, world: &World) -> Result<Vec<(String, String)>, Refusal> {
    let value_of = |flag: &str, variable: &str| {
        world.env.get(variable).cloned().ok_or_else(|| {
            Refusal::with_help(
                format!("{flag}: the environment has no variable {variable}"),
                format!("set {variable} to the header's value"),
            )
        })
    };
    let headers = args.header_env.iter().map(|(name, variable)| {
        let value = value_of(&format!("--header-env {name}"), variable)?;
        Ok((name.clone(), value))
    });
    let bearer = args.bearer_env.iter().map(|variable| {
        let token = value_of("--bearer-env", variable)?;
        let value = format!("Bearer {}", token.trim());
        Ok(("Authorization".to_owned(), value))
    });
    headers.chain(bearer).collect()
}

/// What is started or reached, without secrets.
fn shown(reach: &Reach, redactor: &Redactor) -> UpstreamContext {
    let clean = |text: &str| redactor.redact(text).into_owned();
    let command = match (reach.command(), reach) {
        (Some(command), _) | (None, Reach::Stdio(command)) => command,
        (None, Reach::Http(endpoint)) => {
            return UpstreamContext {
                command: show_url(&clean(&endpoint.url)),
                ..UpstreamContext::default()
            };
        }
    };
    let words: Vec<String> = command.argv.iter().map(|word| clean(word)).collect();
    let mut words = show_argv(&words).into_iter();
    UpstreamContext {
        command: words.next().unwrap_or_default(),
        args: words.collect(),
        cwd: Some(clean(&command.cwd.display().to_string())),
        ..UpstreamContext::default()
    }
}

/// At a terminal there is no client: the server is only tried.
fn well(settings: &ProxySettings, tools: usize) -> Result<ExitCode, Refusal> {
    say(
        format!(
            "{} starts and answers: {}.\nNo client is here, since stdin is a terminal: put this \
             command into a client's configuration in place of the server's own, or see `jelly \
             proxy wrap`.\n",
            settings.name,
            plural(tools, "tool"),
        ),
        ExitCode::Passed,
    )
}

fn unwell(settings: &ProxySettings, trouble: &Trouble) -> Refusal {
    Refusal::needs_help(format!(
        "error: {} can't be started\n{}",
        settings.name,
        trouble.text()
    ))
}
