//! Which server is meant.

use super::super::doctor::examine::{reach_of, stored_login};
use super::super::doctor::find;
use super::super::invalid::Invalid;
use super::super::settings::{World, inherited_secrets, project_dir};
use super::program_name;
use crate::cli::args::ProxyArgs;
use crate::cli::refusal::Refusal;
use jelly_base::text::redact::{Redactor, secrets_in_header, secrets_in_text};
use jelly_base::text::{did_you_mean, sanitize};
use jelly_harness::exec::{ExecSettings, choose_ports, reach_of as plan_reach};
use jelly_plan::{self as plan, PlanSource, Scope};
use jelly_process::CommandSpec;
use jelly_wire::{Endpoint, Reach};
use std::collections::BTreeMap;
use std::path::Path;
use tokio::sync::watch;

/// A server, as it is reached.
pub struct NamedServer {
    pub name: String,
    pub reach: Reach,
}

/// The one that was typed, or stands under its name in a file.
pub async fn server(
    args: &ProxyArgs,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let has_headers = args.login
        || args.bearer_env.is_some()
        || !(args.header.is_empty() && args.header_env.is_empty());
    if has_headers && args.url.is_none() {
        return Err(Refusal::with_help(
            "--header, --header-env, --bearer-env and --login are for a server that is named by \
             --url",
            "a server that is started gets variables: --env NAME=VALUE",
        ));
    }
    let mut named = match (&args.config, &args.plan) {
        (Some(config), _) => of_config(config, args, world, redactor).await?,
        (None, Some(plan)) => of_plan(plan, args, world, redactor)?,
        (None, None) => typed(args, world, redactor)?,
    };
    let variables = variables(&args.env, world)?;
    match named.reach.command_mut() {
        Some(command) => {
            if let Some(folder) = &args.cwd {
                command.cwd = world.cwd.join(folder);
            }
            command.env.extend(variables);
        }
        None if args.cwd.is_some() || !variables.is_empty() => {
            return Err(Refusal::with_help(
                format!(
                    "the server `{}` is reached by a URL: there is nothing that --env or --cwd \
                     could be for",
                    sanitize(&named.name)
                ),
                "give it headers, by --header or --header-env",
            ));
        }
        None => {}
    }
    if args.listen.is_some() && matches!(&named.reach, Reach::Http(e) if e.command.is_some()) {
        return Err(Refusal::with_help(
            format!(
                "the server `{}` is started at one URL, and each session would start another",
                sanitize(&named.name)
            ),
            "start it yourself, and name the URL: jelly proxy --listen ADDRESS --url URL",
        ));
    }
    Ok(named)
}

fn typed(args: &ProxyArgs, world: &World, redactor: &Redactor) -> Result<NamedServer, Refusal> {
    if let Some(url) = &args.url {
        return by_url(url, args, world, redactor);
    }
    if args.command.is_empty() {
        return Err(Refusal::with_help(
            "nothing says which server is meant",
            "put its command behind `--`: jelly proxy -- COMMAND [ARGS]...; or name its URL: \
             jelly proxy --url URL",
        ));
    }
    let command = given_command(args, world);
    Ok(NamedServer {
        name: program_name(&command),
        reach: Reach::Stdio(command),
    })
}

fn given_command(args: &ProxyArgs, world: &World) -> CommandSpec {
    CommandSpec {
        argv: args.command.clone(),
        cwd: world.cwd.clone(),
        env: Vec::new(),
    }
}

/// One that is there already, or that a command starts.
fn by_url(
    url: &str,
    args: &ProxyArgs,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    if !["http://", "https://"].iter().any(|s| url.starts_with(s)) {
        return Err(Refusal::with_help(
            format!(
                "`{}` is no URL of a server",
                sanitize(&redactor.redact(url))
            ),
            "write it with `https://`, or put a command behind `--`",
        ));
    }
    let given = args.header.iter().map(|header| match header.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        Some(_) | None => Err(Refusal::with_help(
            "a header is written `NAME: VALUE`",
            "--header 'Accept-Language: en'; --header-env NAME=VARIABLE takes its value from the \
             environment",
        )),
    });
    let value_of = |flag: &str, variable: &str| {
        world.env.get(variable).cloned().ok_or_else(|| {
            Refusal::with_help(
                format!("{flag}: the environment has no variable {variable}"),
                format!("set {variable} to the header's value"),
            )
        })
    };
    let of_env = args.header_env.iter().map(|(name, variable)| {
        let value = value_of(&format!("--header-env {name}"), variable)?;
        Ok((name.clone(), value))
    });
    let bearer = args.bearer_env.iter().map(|variable| {
        let token = value_of("--bearer-env", variable)?;
        Ok((
            "Authorization".to_owned(),
            format!("Bearer {}", token.trim()),
        ))
    });
    let headers = given.chain(of_env).chain(bearer);
    let headers: Vec<(String, String)> = headers.collect::<Result<_, Refusal>>()?;
    let secrets = headers
        .iter()
        .flat_map(|(name, value)| secrets_in_header(name, value))
        .chain(secrets_in_text(url));
    redactor.learn(secrets.map(|found| (found.name, found.value)));
    let has_own = headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let auth = match args.login || !has_own {
        true => stored_login(url, world, redactor),
        false => None,
    };
    if args.login && auth.is_none() {
        return Err(Refusal::with_help(
            "there is no place where a login could be kept: the user has no home folder",
            "name a folder by JELLY_LOGINS_DIR",
        ));
    }
    let command = (!args.command.is_empty()).then(|| given_command(args, world));
    let name = command.as_ref().map(program_name);
    Ok(NamedServer {
        name: name.unwrap_or_else(|| host_of(url).to_owned()),
        reach: Reach::Http(Endpoint {
            url: url.to_owned(),
            headers,
            command,
            auth,
        }),
    })
}

fn host_of(url: &str) -> &str {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() { "server" } else { host }
}

/// That of a client's configuration.
async fn of_config(
    path: &Path,
    args: &ProxyArgs,
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
    let wanted = args.server.as_deref().unwrap_or_default();
    let shown = path.display();
    let entries = found.configs.iter().zip(&found.folders);
    let mut entries = entries
        .flat_map(|(config, folder)| config.entries.iter().map(move |e| (config, folder, e)));
    let Some((config, folder, entry)) = entries.find(|(_, _, entry)| entry.name == wanted) else {
        let all = found.configs.iter().flat_map(|config| &config.entries);
        let all: Vec<&str> = all.map(|entry| entry.name.as_str()).collect();
        return Err(no_server(&shown.to_string(), wanted, &all));
    };
    let around = (folder.as_path(), found.home.as_deref());
    match reach_of(config, entry, around, world, redactor).await {
        Some(reach) => Ok(NamedServer {
            name: wanted.to_owned(),
            reach,
        }),
        None => Err(Refusal::with_help(
            format!(
                "{}: a blank in the entry of `{wanted}` has no value",
                config.at(entry.place)
            ),
            format!("`jelly doctor {shown}` names it; set it in the environment"),
        )),
    }
}

/// That of a plan.
fn of_plan(
    path: &Path,
    args: &ProxyArgs,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let plan = PlanSource::read(path).map_err(Invalid::from);
    let plan = plan.and_then(|source| Ok(plan::load(source)?));
    let plan = plan.map_err(|invalid| {
        let known = Redactor::new(inherited_secrets(&world.env));
        Refusal::invalid(invalid.render(false, &known))
    })?;
    let secrets = plan.secret_names();
    redactor.learn(
        secrets
            .iter()
            .filter_map(|name| Some((name, world.env.get(name)?))),
    );
    let wanted = args.server.as_deref().unwrap_or_default();
    let shown = path.display().to_string();
    let Some(server) = plan.servers.get(wanted) else {
        let all: Vec<&str> = plan.servers.keys().map(String::as_str).collect();
        return Err(no_server(&shown, wanted, &all));
    };
    let folder = project_dir(None, path).map_err(|error| {
        Refusal::with_help(
            format!("{shown}: its folder: {error}"),
            "name a plan that is there",
        )
    })?;
    let scope = Scope::new(
        folder.clone(),
        folder.clone(),
        world.env.clone(),
        choose_ports(&plan, &BTreeMap::new()),
        &plan.vars,
    );
    // Nothing is waited for.
    let (_, interrupt) = watch::channel(None);
    let settings = ExecSettings {
        jelly: world.jelly.clone(),
        logins: world.logins(),
        ..ExecSettings::apart(folder, world.env.clone(), redactor.clone(), interrupt)
    };
    let reach = plan_reach(server, &scope, &settings).map_err(|failures| {
        let whys = failures
            .iter()
            .filter_map(|failure| failure.message.as_deref());
        let whys: Vec<&str> = whys.collect();
        Refusal::with_help(
            format!(
                "{shown}: how `{wanted}` is reached is not known: {}",
                sanitize(&whys.join("; "))
            ),
            "set the variable in the environment, or put the command behind `--`",
        )
    })?;
    Ok(NamedServer {
        name: wanted.to_owned(),
        reach,
    })
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
