//! From a server in the plan to what is spawned, or to all that is missing
//! for it: the part of preflight that needs no running server.

use super::auth::{auth_settings, not_authorizable};
use super::script::{PreparedAnswer, prepare_answers};
use super::settings::ExecSettings;
use indexmap::IndexMap;
use jelly_base::model::{
    Failure, Label, Outcome, Phase, PlanIssue, RpcError, SpawnError, UpstreamTrouble,
};
use jelly_base::text::redact::{Redactor, show_argv, show_url, show_value};
use jelly_package::{self as package, InputKind, Trouble};
use jelly_plan::{Command, PackageUse, Scope, Server, Template, Transport, Unresolved};
use jelly_process::{self as process, CommandSpec};
use jelly_wire::auth::Authorizer;
use jelly_wire::{Endpoint, LocalPort, Reach, StartFailure};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// What every failure of one server says about it.
#[derive(Debug, Clone, Default)]
pub struct ServerFacts {
    pub name: String,
    pub transport: &'static str,
    /// Redacted, as it may be shown.
    pub argv: Vec<String>,
    pub cwd: Option<String>,
    pub url: Option<String>,
    pub env_delta: IndexMap<String, Value>,
}

impl ServerFacts {
    /// A failure with nothing but what is known of the server.
    #[must_use]
    pub fn failure(&self, phase: Phase, message: impl Into<String>) -> Failure {
        let mut failure = Failure {
            phase: Some(phase),
            message: Some(message.into()),
            ..Failure::default()
        };
        self.describe(&mut failure);
        failure
    }

    /// Says what is known of the server.
    pub fn describe(&self, failure: &mut Failure) {
        failure.server = Some(self.name.clone());
        failure.transport = Some(self.transport.to_owned());
        failure.command = (!self.argv.is_empty()).then(|| self.argv.join(" "));
        failure.argv.clone_from(&self.argv);
        failure.cwd.clone_from(&self.cwd);
        failure.url.clone_from(&self.url);
        failure.env_delta.clone_from(&self.env_delta);
    }

    /// Takes in what is started, as it may be shown.
    pub(super) fn set_command(&mut self, spec: &CommandSpec, redactor: &Redactor) {
        let redact = |text: &str| redactor.redact(text).into_owned();
        let argv: Vec<String> = spec.argv.iter().map(|arg| redact(arg)).collect();
        self.argv = show_argv(&argv);
        self.cwd = Some(redact(&spec.cwd.display().to_string()));
        // Values are shown only where they can't be secret.
        let shown = |name: &str, value: &str| Value::from(show_value(name, &redact(value)));
        let env = spec.env.iter();
        self.env_delta = env
            .map(|(name, value)| (name.clone(), shown(name, value)))
            .collect();
    }

    /// A failure that is the plan's or the surroundings', with what is known of
    /// its cause.
    fn misplanned(&self, message: String, issue: Option<PlanIssue>) -> Failure {
        Failure {
            issue,
            ..self.failure(Phase::Config, message)
        }
    }

    /// What a proxy of jelly's before the server says of it in an error.
    pub(super) fn label(&self, error: &RpcError) -> Option<Label> {
        Label::of_proxy(&UpstreamTrouble::of(error)?, &self.argv)
    }

    /// The failure of a server that did not become ready. `started` where it is
    /// a process of ours.
    #[must_use]
    pub fn start_failure(&self, start: StartFailure, started: bool) -> Failure {
        let mut failure = self.failure(start.phase, start.message);
        // An exchange over HTTP has an end of its own kind.
        let by_http = start.http.is_some() && start.outcome == Outcome::Ok;
        failure.outcome = (!by_http).then_some(start.outcome);
        failure.spawn_error = start.spawn_error;
        failure.exit = start.exit;
        failure.process_alive = started.then_some(start.process_alive);
        failure.stderr = started.then_some(start.stderr);
        failure.stdout = start.stdout;
        failure.stdout_noise = start.stdout_noise;
        failure.logs = start.logs;
        failure.request = start.request;
        failure.label = start.rpc_error.as_ref().and_then(|it| self.label(it));
        failure.rpc_error = start.rpc_error;
        failure.http = start.http;
        failure.protocol_breach = start.protocol_breach;
        failure.own_limit = start.own_limit;
        failure.timeout_s = start.timeout.map(|limit| limit.as_secs_f64());
        failure.showed_life = Some(start.showed_life);
        failure.server_info = start.server_info;
        failure.elapsed_ms = u64::try_from(start.elapsed.as_millis()).ok();
        failure
    }
}

/// What preflight made of a server.
pub struct Prepared {
    pub facts: ServerFacts,
    /// What its client answers, whatever step runs.
    pub answers: Vec<PreparedAnswer>,
    /// What is worth a word about how it is started.
    pub notes: Vec<String>,
    /// How to reach it, or everything that is in the way.
    pub reach: Result<Reach, Vec<Failure>>,
}

/// Resolves a server's URL, command, arguments, environment and folder, and looks
/// whether the command and the folder are there.
pub fn prepare(server: &Server, scope: &Scope, settings: &ExecSettings) -> Prepared {
    Preparation::new(server, scope, settings).run(server)
}

/// How a server of a plan is reached. Whether its command and its folder are
/// there, whoever starts it says.
///
/// # Errors
/// Everything that has no value.
pub fn reach_of(
    server: &Server,
    scope: &Scope,
    settings: &ExecSettings,
) -> Result<Reach, Vec<Failure>> {
    let preparation = Preparation {
        looks_up: false,
        ..Preparation::new(server, scope, settings)
    };
    preparation.run(server).reach
}

/// What a server would be started with; none where it is not started here, or where
/// something has no value.
#[must_use]
pub fn command_of(server: &Server, scope: &Scope, settings: &ExecSettings) -> Option<CommandSpec> {
    let mut preparation = Preparation::new(server, scope, settings);
    let spec = preparation.command(server.command()?, &mut ServerFacts::default());
    (preparation.missing.is_empty() && preparation.troubles.is_empty()).then_some(spec)
}

struct Preparation<'a> {
    server: &'a str,
    scope: &'a Scope,
    settings: &'a ExecSettings,
    missing: Vec<Unresolved>,
    /// Of the package that is started.
    troubles: Vec<Trouble>,
    notes: Vec<String>,
    /// Look whether the command and the folder are there.
    looks_up: bool,
}

impl<'a> Preparation<'a> {
    fn new(server: &'a Server, scope: &'a Scope, settings: &'a ExecSettings) -> Self {
        Self {
            server: &server.name,
            scope,
            settings,
            missing: Vec::new(),
            troubles: Vec::new(),
            notes: Vec::new(),
            looks_up: true,
        }
    }

    /// The template's text; what can't be resolved stays as it is written,
    /// and is remembered.
    fn text(&mut self, template: &Template) -> String {
        match template.resolve_str(self.scope, self.server) {
            Ok(text) => text,
            Err(unresolved) => {
                self.miss(unresolved);
                template.raw.clone()
            }
        }
    }

    fn miss(&mut self, unresolved: Unresolved) {
        if !self.missing.contains(&unresolved) {
            self.missing.push(unresolved);
        }
    }

    fn run(mut self, server: &Server) -> Prepared {
        let settings = self.settings;
        let mut facts = ServerFacts {
            name: self.server.to_owned(),
            transport: match &server.transport {
                Transport::Stdio(_) => "stdio",
                Transport::Http { .. } => "http",
            },
            ..ServerFacts::default()
        };
        let spec = server
            .command()
            .map(|command| self.command(command, &mut facts));
        let mut auth = None;
        let mut reach = match &server.transport {
            Transport::Stdio(_) => spec.clone().map(Reach::Stdio),
            Transport::Http {
                url,
                headers,
                auth: tokens,
                ..
            } => {
                let url = self.text(url);
                auth = tokens.as_ref().map(|auth| {
                    let text = &mut |template: &Template| self.text(template);
                    auth_settings(&url, auth, server, settings, text)
                });
                let headers = headers
                    .iter()
                    .map(|(name, value)| (name.clone(), self.text(value)))
                    .collect();
                facts.url = Some(shown_url(&url, &settings.redactor));
                let own_port = spec.as_ref().and_then(|_| LocalPort::of_url(&url));
                Some(Reach::Http(Endpoint {
                    own_port: own_port.filter(|port| !chosen_by_jelly(port, self.scope)),
                    url,
                    headers,
                    command: spec.clone(),
                    auth: None,
                }))
            }
        };
        let answers = prepare_answers(&server.answers, self.scope, self.server).unwrap_or_else(
            |unresolved| {
                self.miss(unresolved);
                Vec::new()
            },
        );
        let mut failures: Vec<Failure> = self
            .missing
            .iter()
            .map(|missing| facts.misplanned(missing.to_string(), issue_of(missing)))
            .chain(self.troubles.iter().map(|trouble| unfit(&facts, trouble)))
            .collect();
        // A command or folder that is missing too is said in the same go.
        let looked_up = match failures.is_empty() {
            true => spec.clone(),
            false => server.command().and_then(|command| self.known(command)),
        };
        if let Some(spec) = looked_up.filter(|_| self.looks_up)
            && let Err(error) = process::check(&spec)
        {
            failures.push(not_startable(&facts, &spec, error, &settings.redactor));
        }
        if failures.is_empty()
            && let (Some(Reach::Http(endpoint)), Some(auth)) = (&mut reach, auth)
        {
            match auth.and_then(|wanted| Authorizer::new(wanted, &settings.redactor)) {
                Ok(authorizer) => endpoint.auth = Some(Arc::new(authorizer)),
                Err(error) => failures.push(not_authorizable(&facts, &error)),
            }
        }
        Prepared {
            facts,
            answers,
            notes: self.notes,
            reach: match reach {
                Some(reach) if failures.is_empty() => Ok(reach),
                Some(_) | None => Err(failures),
            },
        }
    }

    fn command(&mut self, command: &Command, facts: &mut ServerFacts) -> CommandSpec {
        let (project, redactor) = (&self.settings.project_dir, &self.settings.redactor);
        let (argv, env) = match (&command.command, command.launched()) {
            (None, Some(used)) => self.launch(command, used),
            (named, _) => self.written(command, named.as_ref()),
        };
        let cwd = command.cwd.as_ref().map_or_else(
            || project.to_owned(),
            |cwd| project.join(PathBuf::from(self.text(cwd))),
        );
        let mut spec = CommandSpec { argv, cwd, env };
        facts.set_command(&spec, redactor);
        // `jelly` means this jelly, be it on the PATH or not.
        if let (Some(first), Some(jelly)) = (spec.argv.first_mut(), &self.settings.jelly)
            && first == "jelly"
        {
            *first = jelly.display().to_string();
        }
        spec
    }

    /// What can be looked up of a command whose other words lack a value: what
    /// is written in place of one can't.
    fn known(&self, command: &Command) -> Option<CommandSpec> {
        let text = |template: &Template| template.resolve_str(self.scope, self.server).ok();
        let first = match (&command.command, command.launched()) {
            (Some(first), _) => text(first)?,
            (None, used) => used?.package.launcher()?.to_owned(),
        };
        let cwd = match &command.cwd {
            Some(cwd) => self.settings.project_dir.join(text(cwd)?),
            None => self.settings.project_dir.to_owned(),
        };
        let mut env = Vec::new();
        if let Some(path) = command.env.get("PATH") {
            env.push(("PATH".to_owned(), text(path)?));
        }
        // This jelly is there.
        (first != "jelly" || self.settings.jelly.is_none()).then(|| CommandSpec {
            argv: vec![first],
            cwd,
            env,
        })
    }

    /// The argv and the variables that the plan writes down.
    fn written(&mut self, command: &Command, named: Option<&Template>) -> Spelled {
        let mut argv: Vec<String> = named.iter().map(|first| self.text(first)).collect();
        argv.extend(command.args.iter().map(|arg| self.text(arg)));
        // What the package says is secret is so here as well.
        if let Some(used) = &command.package {
            for name in used.package.secret_flags() {
                let value = argv.iter().enumerate().find_map(|(at, word)| {
                    let rest = word.strip_prefix(name)?;
                    match rest.strip_prefix('=') {
                        Some(value) => Some(value),
                        None if rest.is_empty() => argv.get(at + 1).map(String::as_str),
                        None => None,
                    }
                });
                self.settings
                    .redactor
                    .learn(value.map(|value| (name, value)));
            }
        }
        let env = command
            .env
            .iter()
            .map(|(name, value)| (name.clone(), self.text(value)))
            .collect();
        (argv, env)
    }

    /// The same of a package; nothing where it can't be started.
    fn launch(&mut self, command: &Command, used: &PackageUse) -> Spelled {
        let (scope, server) = (self.scope, self.server);
        let given = command.given(scope.env.clone(), &mut |template| {
            template
                .resolve(scope, server)
                .map_err(|unresolved| self.miss(unresolved))
                .ok()
        });
        match package::resolve(&used.package, &given) {
            Ok(resolved) => {
                let launch = resolved.launch;
                // Before anything of it can be shown.
                self.settings.redactor.learn(launch.secrets);
                let notes = resolved.warnings.iter().map(ToString::to_string);
                self.notes.extend(notes);
                let mut argv = vec![launch.command];
                argv.extend(launch.args.into_iter().map(|piece| piece.text));
                let env = launch.env.into_iter();
                (argv, env.map(|(name, piece)| (name, piece.text)).collect())
            }
            Err(troubles) => {
                self.troubles.extend(troubles);
                Spelled::default()
            }
        }
    }
}

/// An argv, and variables by name.
type Spelled = (Vec<String>, Vec<(String, String)>);

/// Whether it is a `${port}`: nobody had it when jelly chose it, and what listens
/// there now may be another server of the plan.
pub(super) fn chosen_by_jelly(port: &LocalPort, scope: &Scope) -> bool {
    scope.ports.values().any(|chosen| *chosen == port.number())
}

/// A URL as it may be shown.
pub(super) fn shown_url(url: &str, redactor: &Redactor) -> String {
    show_url(&redactor.redact(url))
}

/// What is in the way of a package's launch, as a failure of its server.
fn unfit(facts: &ServerFacts, trouble: &Trouble) -> Failure {
    let message = match trouble.hint() {
        Some(hint) => format!("{trouble}; {hint}"),
        None => trouble.to_string(),
    };
    let issue = match trouble {
        Trouble::Missing(lack) if lack.kind == InputKind::Environment => {
            PlanIssue::MissingVariable {
                name: lack.key.clone(),
                secret: lack.is_secret,
            }
        }
        Trouble::Missing(lack) => PlanIssue::MissingPackageArgument {
            name: lack.key.clone(),
        },
        _ => PlanIssue::InvalidPackage {
            reason: trouble.to_string(),
        },
    };
    facts.misplanned(message, Some(issue))
}

/// The plan's issue behind a name without a value, where there is one.
#[must_use]
pub fn issue_of(unresolved: &Unresolved) -> Option<PlanIssue> {
    match unresolved {
        Unresolved::Env(name) => Some(PlanIssue::MissingVariable {
            name: name.clone(),
            secret: false,
        }),
        Unresolved::Secret(name) | Unresolved::EmptySecret(name) => {
            Some(PlanIssue::MissingVariable {
                name: name.clone(),
                secret: true,
            })
        }
        Unresolved::Name(_)
        | Unresolved::Port(_)
        | Unresolved::TooLong
        | Unresolved::FilesTooLong
        | Unresolved::File(_) => None,
    }
}

pub(super) fn not_startable(
    facts: &ServerFacts,
    spec: &CommandSpec,
    mut error: SpawnError,
    redactor: &Redactor,
) -> Failure {
    error.text = error.text.map(|text| redactor.redact(&text).into_owned());
    let message = error.text.clone().unwrap_or_default();
    let cwd_is_missing = !spec.cwd.is_dir();
    let first = || {
        let first = spec.argv.first().map(String::as_str).unwrap_or_default();
        redactor.redact(first).into_owned()
    };
    let issue = match error.name.as_deref() {
        Some("ENOENT" | "ENOTDIR") if cwd_is_missing => Some(PlanIssue::MissingDirectory {
            path: redactor
                .redact(&spec.cwd.display().to_string())
                .into_owned(),
        }),
        // It is there: what it needs is not, and the rules know what to say of it.
        Some("ENOENT" | "ENOTDIR") if message.contains("its interpreter '") => None,
        Some("ENOENT" | "ENOTDIR") => Some(PlanIssue::CommandNotFound { command: first() }),
        Some("EACCES" | "EPERM") => Some(PlanIssue::NotExecutable { path: first() }),
        Some(_) | None => None,
    };
    Failure {
        spawn_error: Some(error),
        ..facts.misplanned(message, issue)
    }
}
