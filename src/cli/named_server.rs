//! The server that is meant: one way to name it, for every command that needs one.
//!
//! A command flattens [`ServerArgs`] (or [`ServerSource`], where it has a time limit
//! of its own), and goes on so:
//!
//! ```ignore
//! with_runtime(&args.own_rules, world, async |context| {
//!     let redactor = world_redactor(world);
//!     let named = named_server(&args.server.source, world, &redactor).await?;
//!     // A `Launch` for `wire::start`, with the plan's era and limits where a plan
//!     // names the server.
//!     let launch = named.launch(args.server.timeout, &redactor);
//!     // From `jelly_harness::exec`: a `Session` that tells failures as runs do.
//!     let server = OpenServer::start(&launch).await
//!         .map_err(|failure| named.not_ready(&failure, (&context.rules, world, &redactor)))?;
//!     let tools = server.session().tools();                 // what was listed at the start
//!     let all = server.inventory(LIMIT).await;              // or every list, whole
//!     let call = server.call("echo", &json!({"message": "hi"}), None, LIMIT).await;
//!     server.stop(GRACE).await;
//!     // `call.failure`, if any, is classified by `context.rules.diagnose(&failure)`.
//! })
//! ```
//!
//! Main type: [`NamedServer`].

mod asking;
mod in_plan;
mod not_ready;

pub use asking::Asking;
pub use in_plan::NamedPlan;
pub use not_ready::{
    alone, in_words_of_commands, leave_blanks, not_started, refusal_of, spot, trouble_in_plan,
};

use super::doctor::examine::{reach_of, stored_login};
use super::doctor::find;
use super::refusal::Refusal;
use super::retyped::Retyped;
use super::settings::{World, inherited_secrets};
use crate::cli::args::{ServerPlace, ServerSource};
use jelly_base::mcp::{Era, Revision};
use jelly_base::text::redact::{
    Redactor, secrets_in_argv, secrets_in_header, secrets_in_text, secrets_in_variable,
};
use jelly_base::text::{did_you_mean, sanitize};
use jelly_process::CommandSpec;
use jelly_setup::doctor::Config;
use jelly_wire::{Endpoint, Launch, LocalPort, Reach};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A server, as it is reached.
#[derive(Debug)]
pub struct NamedServer {
    pub name: String,
    pub reach: Reach,
    /// Where it is named.
    stands: Stands,
    /// What a plan says of it.
    terms: PlanTerms,
}

/// Where a server is named.
#[derive(Debug)]
enum Stands {
    /// With the whole call.
    OnCommandLine(Retyped),
    /// In a client's configuration, here with its entry alone; the folder that
    /// it is started in, and the user's home.
    InConfig(Box<(Config, PathBuf, Option<PathBuf>)>),
    /// `file:line:column` in a plan.
    InPlan(String),
}

/// What a plan says of how a server is talked to.
#[derive(Debug, Default)]
struct PlanTerms {
    era: Option<Era>,
    version: Option<&'static Revision>,
    startup_timeout: Option<Duration>,
    request_timeout: Option<Duration>,
    /// Its `${tmp}`, which lives as long as the server.
    tmp: Option<TempDir>,
}

impl NamedServer {
    /// What `wire` starts. A plan's own startup timeout holds where it is longer.
    pub fn launch(&self, startup_timeout: Duration, redactor: &Redactor) -> Launch {
        let new = Launch::new(&self.name, self.reach.clone());
        let terms = &self.terms;
        Launch {
            era: terms.era,
            version: terms.version,
            startup_timeout: terms
                .startup_timeout
                .map_or(startup_timeout, |own| own.max(startup_timeout)),
            request_timeout: terms.request_timeout.unwrap_or(new.request_timeout),
            redactor: redactor.clone(),
            ..new
        }
    }

    /// Whether no file names it.
    pub fn is_typed(&self) -> bool {
        matches!(self.stands, Stands::OnCommandLine(_))
    }

    fn typed(name: String, reach: Reach, source: &ServerSource) -> Self {
        Self {
            name,
            reach,
            stands: Stands::OnCommandLine(source.retyped.clone()),
            terms: PlanTerms::default(),
        }
    }
}

/// What hides the secrets of the environment; those of the servers that are named
/// join them.
pub fn world_redactor(world: &World) -> Redactor {
    Redactor::new(inherited_secrets(&world.env))
}

/// The one that was typed, or stands under its name in a file.
///
/// # Errors
/// None is named, or what is named can't be used: exit code 2, in words.
pub async fn named_server(
    source: &ServerSource,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let named = match (&source.place.config, &source.place.plan) {
        (Some(config), _) => of_config(config, &source.place, world, redactor).await?,
        (None, Some(path)) => {
            let plan = NamedPlan::read(path, &source.place, world, redactor)?;
            let name = plan.one(source.place.server.as_deref())?;
            plan.server(&name, world, redactor)?
        }
        (None, None) => typed(source, world, redactor)?,
    };
    given(named, source, world, redactor)
}

/// The same; a plan without `--server` means all of its servers.
///
/// # Errors
/// As of [`named_server`].
pub async fn named_servers(
    source: &ServerSource,
    world: &World,
    redactor: &Redactor,
) -> Result<Vec<NamedServer>, Refusal> {
    let (Some(path), None) = (&source.place.plan, &source.place.server) else {
        return Ok(vec![named_server(source, world, redactor).await?]);
    };
    let plan = NamedPlan::read(path, &source.place, world, redactor)?;
    // What must not start has nothing to tell.
    let all = plan.plan.servers.keys();
    let all = all.filter(|name| !plan.plan.refuses(name));
    all.map(|name| {
        let server = plan.server(name, world, redactor)?;
        given(server, source, world, redactor)
    })
    .collect()
}

/// The URL of a server that has one, for what concerns URLs alone.
///
/// # Errors
/// As of [`named_server`]; or the server is started by a command.
pub async fn named_url(
    place: &ServerPlace,
    world: &World,
    redactor: &Redactor,
) -> Result<String, Refusal> {
    let source = ServerSource {
        place: place.clone(),
        ..ServerSource::default()
    };
    let named = named_server(&source, world, redactor).await?;
    match named.reach {
        Reach::Http(endpoint) => Ok(endpoint.url),
        Reach::Stdio(_) => Err(Refusal::with_help(
            format!("the server `{}` has no `url`", sanitize(&named.name)),
            "tokens are for servers that are reached by a URL; others get what they need by `env`",
        )),
    }
}

/// The server with the variables that were given for it.
fn given(
    mut named: NamedServer,
    source: &ServerSource,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    if source.place.url.is_none() && (source.login || !source.header.is_empty()) {
        return Err(Refusal::with_help(
            "--header and --login are for a server that is named by --url",
            "a server that is started gets variables: --env NAME=VALUE; one of a file has its \
             headers there",
        ));
    }
    let variables = variables(&source.env, world)?;
    match named.reach.command_mut() {
        Some(command) => {
            command.env.extend(variables);
            learn_command(command, redactor);
        }
        None if !variables.is_empty() => {
            return Err(Refusal::with_help(
                format!(
                    "the server `{}` is reached by a URL: there is nothing that --env could be for",
                    sanitize(&named.name)
                ),
                "give it headers, by --header",
            ));
        }
        None => {}
    }
    Ok(named)
}

/// What looks secret in a command is shown nowhere.
fn learn_command(command: &CommandSpec, redactor: &Redactor) {
    let of_variables = command
        .env
        .iter()
        .flat_map(|(name, value)| secrets_in_variable(name, value));
    let found = secrets_in_argv(&command.argv)
        .into_iter()
        .chain(of_variables);
    redactor.learn(found.map(|found| (found.name, found.value)));
}

fn typed(
    source: &ServerSource,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let place = &source.place;
    if let Some(name) = &place.server {
        return Err(Refusal::with_help(
            format!("--server {}: no file is named that has it", sanitize(name)),
            "name a client's configuration by --config, or a plan by --plan",
        ));
    }
    if let Some(url) = &place.url {
        return by_url(url, source, world, redactor);
    }
    if source.command.is_empty() {
        return Err(Refusal::with_help(
            "nothing says which server is meant",
            "put its command behind `--`, as in `-- npx -y PACKAGE`; or name it by --url URL, \
             --config CONFIG --server NAME, or --plan PLAN --server NAME",
        ));
    }
    let (name, command) = typed_command(source, world);
    Ok(NamedServer::typed(name, Reach::Stdio(command), source))
}

/// The command behind `--`, and what its program is called.
fn typed_command(source: &ServerSource, world: &World) -> (String, CommandSpec) {
    let cwd = match &source.place.project_dir {
        Some(folder) => world.cwd.join(folder),
        None => world.cwd.clone(),
    };
    let mut command = CommandSpec {
        argv: source.command.clone(),
        cwd,
        env: Vec::new(),
    };
    let name = program_name(&command);
    // `jelly` means this jelly, be it on the PATH or not, as in a plan.
    if let (Some(first), Some(jelly)) = (command.argv.first_mut(), &world.jelly)
        && first == "jelly"
    {
        *first = jelly.display().to_string();
    }
    (name, command)
}

/// One that is there already, or that a command starts.
fn by_url(
    url: &str,
    source: &ServerSource,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    if !is_url(url) {
        return Err(Refusal::with_help(
            format!(
                "`{}` is not a URL of a server",
                sanitize(&redactor.redact(url))
            ),
            "write it with `https://`, or put a command behind `--`",
        ));
    }
    let headers = source
        .header
        .iter()
        .map(|header| match header.split_once(':') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            }
            Some(_) | None => Err(Refusal::with_help(
                "a header is written `NAME: VALUE`",
                "--header 'Accept-Language: en'",
            )),
        });
    let headers: Vec<(String, String)> = headers.collect::<Result<_, _>>()?;
    let secrets = headers
        .iter()
        .flat_map(|(name, value)| secrets_in_header(name, value))
        .chain(secrets_in_text(url));
    redactor.learn(secrets.map(|found| (found.name, found.value)));
    let (name, command) = match source.command.is_empty() {
        true => (host_of(url).to_owned(), None),
        false => {
            let (name, command) = typed_command(source, world);
            (name, Some(command))
        }
    };
    let own_port = command.as_ref().and_then(|_| LocalPort::of_url(url));
    let mut endpoint = Endpoint {
        url: url.to_owned(),
        headers,
        command,
        own_port,
        auth: None,
    };
    log_in(&mut endpoint, source.login, world, redactor)?;
    Ok(NamedServer::typed(name, Reach::Http(endpoint), source))
}

/// Gives it the login that is kept for its URL, where no header of its own says
/// who asks, or that is what was asked for.
pub fn log_in(
    endpoint: &mut Endpoint,
    is_asked: bool,
    world: &World,
    redactor: &Redactor,
) -> Result<(), Refusal> {
    let has_own = endpoint
        .headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    endpoint.auth = match is_asked || !has_own {
        true => stored_login(&endpoint.url, world, redactor),
        false => None,
    };
    if is_asked && endpoint.auth.is_none() {
        return Err(Refusal::with_help(
            "there is no place where a login could be kept: the user has no home folder",
            "name a folder by JELLY_LOGINS_DIR",
        ));
    }
    Ok(())
}

pub fn is_url(text: &str) -> bool {
    ["http://", "https://"].iter().any(|s| text.starts_with(s))
}

fn host_of(url: &str) -> &str {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() { "server" } else { host }
}

/// What the program of a command is called.
pub fn program_name(command: &CommandSpec) -> String {
    let first = command.argv.first().map(String::as_str).unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or(first);
    match name {
        "" => "server".to_owned(),
        name => name.to_owned(),
    }
}

/// That of a client's configuration.
async fn of_config(
    path: &Path,
    place: &ServerPlace,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let found = find::find(&[path.to_path_buf()], world)?;
    if let Some(problem) = found.summaries.iter().find_map(|file| file.error.as_ref()) {
        return Err(Refusal::with_help(
            format!("{}: {}", problem.at, problem.what),
            problem
                .help
                .as_deref()
                .unwrap_or("`jelly doctor` says more"),
        ));
    }
    let shown = path.display().to_string();
    let all = found.configs.iter().flat_map(|config| &config.entries);
    let all: Vec<&str> = all.map(|entry| entry.name.as_str()).collect();
    let wanted = one_of(&shown, place.server.as_deref(), &all)?;
    let entries = found.configs.iter().zip(&found.folders);
    let mut entries = entries
        .flat_map(|(config, folder)| config.entries.iter().map(move |e| (config, folder, e)));
    let Some((config, folder, entry)) = entries.find(|(_, _, entry)| entry.name == wanted) else {
        return Err(no_server(&shown, &wanted, &all));
    };
    let folder = match &place.project_dir {
        Some(told) => world.cwd.join(told),
        None => folder.clone(),
    };
    let around = (folder.as_path(), found.home.as_deref());
    let reach = reach_of(config, entry, around, world, redactor).await;
    let reach = reach.map_err(|mut blanks| {
        blanks.sort();
        blanks.dedup();
        let what = match blanks.is_empty() {
            true => "says neither a command nor a URL".to_owned(),
            false => format!("needs values for {}", sanitize(&blanks.join(", "))),
        };
        Refusal::with_help(
            format!("{}: the entry of `{wanted}` {what}", config.at(entry.place)),
            format!("set what is missing in the environment; `jelly doctor {shown}` says more"),
        )
    })?;
    let alone = Config {
        entries: vec![entry.clone()],
        ..config.clone()
    };
    let home = found.home.clone();
    Ok(NamedServer {
        name: wanted,
        reach,
        stands: Stands::InConfig(Box::new((alone, folder, home))),
        terms: PlanTerms::default(),
    })
}

/// The name that is meant: the one that was given, or that of the only one.
pub fn one_of(file: &str, wanted: Option<&str>, all: &[&str]) -> Result<String, Refusal> {
    match (wanted, all) {
        (Some(wanted), _) if all.contains(&wanted) => Ok(wanted.to_owned()),
        (Some(wanted), _) => Err(no_server(file, wanted, all)),
        (None, [only]) => Ok((*only).to_owned()),
        (None, []) => Err(Refusal::with_help(
            format!("{file} has no servers"),
            "name another file, or put a command behind `--`",
        )),
        (None, _) => Err(Refusal::with_help(
            format!("{file} has several servers, and nothing says which is meant"),
            format!("name it by --server: {}", sanitize(&all.join(", "))),
        )),
    }
}

fn no_server(file: &str, wanted: &str, all: &[&str]) -> Refusal {
    let next = did_you_mean(wanted, all.iter().copied());
    let next = next.unwrap_or_else(|| format!("there are: {}", all.join(", ")));
    Refusal::with_help(
        format!("{file} has no server `{}`", sanitize(wanted)),
        sanitize(&next),
    )
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
