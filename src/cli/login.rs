//! `jelly login`: a person allows jelly to reach a server, once, and runs use
//! what that brings.

use super::named_server::{is_url, named_url, world_redactor};
use super::out::{say, stdout};
use super::refusal::{Refusal, complain};
use super::runtime::runtime;
use super::settings::World;
use crate::cli::args::LoginArgs;
use jelly_base::model::ExitCode;
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Notation, human_duration, plural, sanitize};
use jelly_wire::auth::{
    AuthError, AuthSettings, Authorizer, Client, Code, Grant, LoggedIn, Visit, Visitor,
};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// For one request; people wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has a person log in.
pub fn login(args: &LoginArgs, world: &World) -> Result<ExitCode, Refusal> {
    let runtime = runtime()?;
    let (settings, redactor) = runtime.block_on(prepare(args, world))?;
    let done = runtime
        .block_on(log_in(settings, &redactor))
        .map_err(|error| {
            let error = error.to_string();
            Refusal::new(
                ExitCode::NeedsUserHelp,
                format!("error: failed to log in: {}", sanitize(&error)),
            )
        })?;
    tell(&done, &redactor)
}

async fn log_in(settings: AuthSettings, redactor: &Redactor) -> Result<LoggedIn, AuthError> {
    Authorizer::new(settings, redactor)?.log_in().await
}

async fn prepare(args: &LoginArgs, world: &World) -> Result<(AuthSettings, Redactor), Refusal> {
    let machine = "a plan that runs without a person has a client of its own: `auth: { \
                   client_credentials: { client_id: …, client_secret: \"${secret:NAME}\" }, issuer: … }`";
    if world.in_ci() {
        let what = "`jelly login` needs a person, and CI is set";
        return Err(Refusal::with_help(what, machine));
    }
    if !(world.stdin_is_terminal && world.stdout_is_terminal) {
        let what = "`jelly login` needs a person at a terminal, and stdin or stdout is not one";
        return Err(Refusal::with_help(what, machine));
    }
    let (server, redactor) = server(args, world).await?;
    let Some(store) = world.logins() else {
        let what = "there is no place for a login: the user has no home folder";
        return Err(Refusal::with_help(
            what,
            "name a folder by JELLY_LOGINS_DIR",
        ));
    };
    let secret = match &args.client_secret_env {
        Some(name) => match world.env.get(name).filter(|value| !value.is_empty()) {
            Some(secret) => Some(secret.clone()),
            None => {
                let what = format!("the environment variable {name} is not set");
                let next = "set it to the client's secret, or leave --client-secret-env out";
                return Err(Refusal::with_help(what, next));
            }
        },
        None => None,
    };
    if secret.is_some() && args.issuer.is_none() {
        let what = "a client with a secret is registered with one issuer, and no other may see \
                    the secret";
        let next = "name it by --issuer URL; the server names its own in \
                    `authorization_servers` of /.well-known/oauth-protected-resource";
        return Err(Refusal::with_help(what, next));
    }
    if let Some(url) = &args.client_metadata_url
        && !Client::may_be_url(url)
    {
        let what = format!("`{}` is not a URL that a client could have", sanitize(url));
        let next = "it is one of a document, by `https://` and with a path, as in \
                    https://app.example.org/client.json";
        return Err(Refusal::with_help(what, next));
    }
    let settings = AuthSettings {
        server,
        grant: Grant::Code(Code {
            client: args.client_id.as_ref().map(|id| Client {
                token_endpoint: args.token_endpoint.clone(),
                ..Client::new(id, secret)
            }),
            metadata_url: args.client_metadata_url.clone(),
            visitor: Arc::new(Person { open: args.open }),
            visit_takes: args.timeout,
            port: args.port,
            store: Some(store),
        }),
        scopes: args.scopes.clone(),
        issuer: args.issuer.clone(),
        patience: PATIENCE,
        is_offered: false,
    };
    Ok((settings, redactor))
}

/// The URL that is meant, and what is secret about it.
async fn server(args: &LoginArgs, world: &World) -> Result<(String, Redactor), Refusal> {
    let redactor = world_redactor(world);
    let mut place = args.place.clone();
    let in_file = place.plan.is_some() || place.config.is_some();
    match &args.named {
        Some(name) if in_file => place.server = Some(name.clone()),
        Some(url) if !is_url(url) => {
            let what = format!("`{}` is not a URL of a server", sanitize(url));
            let next = "write it with `https://`, or name the plan that has a server called so: \
                        --plan PLAN";
            return Err(Refusal::with_help(what, next));
        }
        Some(url) => place.url = Some(url.clone()),
        None if place.url.is_some() || in_file => {}
        None => {
            let what = "nothing says which server is meant";
            let next = "jelly login URL, or --config CONFIG --server NAME, or --plan PLAN --server \
                        NAME";
            return Err(Refusal::with_help(what, next));
        }
    }
    let url = named_url(&place, world, &redactor).await?;
    Ok((url, redactor))
}

/// Somebody before the terminal.
#[derive(Debug)]
struct Person {
    open: bool,
}

impl Visitor for Person {
    fn visit<'a>(&'a self, page: &'a str) -> Visit<'a> {
        Box::pin(async move {
            let mut out = stdout(Notation::Plain);
            writeln!(
                out,
                "Open this page in a browser on this machine:\n\n  {page}\n"
            )
            .and_then(|()| out.flush())
            .map_err(|error| format!("printed: {error}"))?;
            if self.open
                && let Err(error) = start_browser(page)
            {
                complain(&format!("warning: {error}; open the page yourself"));
            }
            Ok(())
        })
    }
}

/// Starts whatever opens pages here, by argv: no shell reads the URL, which is
/// of somebody else's making.
fn start_browser(page: &str) -> Result<(), String> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .map_err(|error| format!("{program} can't be started ({error})"))
}

fn tell(done: &LoggedIn, redactor: &Redactor) -> Result<ExitCode, Refusal> {
    let mut facts = vec![match done.scopes.len() {
        0 => "no scopes".to_owned(),
        n => format!("{}: {}", plural(n, "scope"), done.scopes.join(" ")),
    }];
    if let Some(lifetime) = done.lifetime {
        facts.push(format!("for {}", human_duration(lifetime)));
    }
    let renewable = if done.renewable {
        "renewed automatically"
    } else {
        "not renewable"
    };
    facts.push(renewable.to_owned());
    let mut lines = format!(
        "Logged in to {} by {} ({}).\n",
        done.resource,
        done.issuer,
        facts.join(", ")
    );
    if let Some(path) = &done.kept_in {
        lines.push_str(&format!("Kept in {}.\n", path.display()));
    }
    lines.push_str("A plan uses it by `auth: login`.\n");
    say(
        sanitize(&redactor.redact(&lines)).as_bytes(),
        ExitCode::Passed,
    )
}
