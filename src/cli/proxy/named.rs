//! Which server is meant.

use super::super::doctor::examine::reach_of;
use super::super::doctor::find;
use super::super::invalid::Invalid;
use super::super::settings::{World, inherited_secrets, project_dir};
use super::program_name;
use crate::cli::args::ProxyArgs;
use crate::cli::refusal::Refusal;
use jelly_base::text::redact::Redactor;
use jelly_base::text::{did_you_mean, sanitize};
use jelly_plan::{self as plan, PlanSource, Scope, Template, Transport};
use jelly_process::CommandSpec;
use jelly_wire::Reach;
use std::collections::BTreeMap;
use std::path::Path;

/// A server, as it is started.
pub struct NamedServer {
    pub name: String,
    pub command: CommandSpec,
}

/// The one that was typed, or stands under its name in a file.
pub async fn server(
    args: &ProxyArgs,
    world: &World,
    redactor: &Redactor,
) -> Result<NamedServer, Refusal> {
    let mut named = match (&args.config, &args.plan) {
        (Some(config), _) => of_config(config, args, world, redactor).await?,
        (None, Some(plan)) => of_plan(plan, args, world, redactor)?,
        (None, None) => typed(args, world)?,
    };
    if let Some(folder) = &args.cwd {
        named.command.cwd = world.cwd.join(folder);
    }
    named.command.env.extend(variables(&args.env, world)?);
    Ok(named)
}

fn typed(args: &ProxyArgs, world: &World) -> Result<NamedServer, Refusal> {
    if args.command.is_empty() {
        return Err(Refusal::with_help(
            "nothing says which server is meant",
            "put its command behind `--`: jelly proxy -- COMMAND [ARGS]...",
        ));
    }
    let command = CommandSpec {
        argv: args.command.clone(),
        cwd: world.cwd.clone(),
        env: Vec::new(),
    };
    Ok(NamedServer {
        name: program_name(&command),
        command,
    })
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
        Some(Reach::Stdio(command)) => Ok(NamedServer {
            name: wanted.to_owned(),
            command,
        }),
        Some(Reach::Http(_)) => Err(by_url(&shown.to_string(), wanted)),
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
    let Transport::Stdio(command) = &server.transport else {
        return Err(by_url(&shown, wanted));
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
        BTreeMap::new(),
        &plan.vars,
    );
    let text = |template: &Template| {
        template.resolve_str(&scope, wanted).map_err(|unresolved| {
            Refusal::with_help(
                format!("{shown}: the command of `{wanted}` is not known: {unresolved}"),
                "set the variable in the environment, or put the command behind `--`",
            )
        })
    };
    let Some(first) = &command.command else {
        return Err(Refusal::with_help(
            format!("{shown}: the server `{wanted}` is started from a package"),
            "put its command behind `--`: jelly proxy -- COMMAND [ARGS]...",
        ));
    };
    let mut argv = vec![text(first)?];
    for arg in &command.args {
        argv.push(text(arg)?);
    }
    // `jelly` means this jelly, be it on the PATH or not.
    if let (Some(jelly), "jelly") = (&world.jelly, argv[0].as_str()) {
        argv[0] = jelly.display().to_string();
    }
    let mut env = Vec::new();
    for (name, value) in &command.env {
        env.push((name.clone(), text(value)?));
    }
    let cwd = match &command.cwd {
        Some(cwd) => folder.join(text(cwd)?),
        None => folder.clone(),
    };
    Ok(NamedServer {
        name: wanted.to_owned(),
        command: CommandSpec { argv, cwd, env },
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

fn by_url(file: &str, wanted: &str) -> Refusal {
    Refusal::with_help(
        format!(
            "{file}: the server `{}` is reached by a URL",
            sanitize(wanted)
        ),
        "`jelly proxy` stands before servers that it starts; let the client reach it by itself",
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
