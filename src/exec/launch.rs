//! From a server in the plan to what is spawned, or to all that is missing
//! for it: the part of preflight that needs no running server.

use crate::model::{Failure, Phase, PlanIssue, SpawnError};
use crate::plan::{Scope, Server, Template, Transport, Unresolved};
use crate::process::{self, CommandSpec};
use crate::text::redact::{Redactor, show_argv};
use indexmap::IndexMap;
use serde_json::Value;
use std::path::{Path, PathBuf};

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
        Failure {
            phase: Some(phase),
            server: Some(self.name.clone()),
            transport: Some(self.transport.to_owned()),
            command: (!self.argv.is_empty()).then(|| self.argv.join(" ")),
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            url: self.url.clone(),
            env_delta: self.env_delta.clone(),
            message: Some(message.into()),
            ..Failure::default()
        }
    }
}

/// What preflight made of a server.
pub struct Prepared {
    pub facts: ServerFacts,
    /// The command, or everything that is in its way.
    pub command: Result<CommandSpec, Vec<Failure>>,
}

/// Resolves a server's command, arguments, environment and folder, and looks
/// whether the command and the folder are there.
pub fn prepare(
    server: &Server,
    scope: &Scope,
    project: &Path,
    jelly: Option<&Path>,
    redactor: &Redactor,
) -> Prepared {
    match &server.transport {
        Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } => Preparation {
            server: &server.name,
            scope,
            project,
            jelly,
            redactor,
            missing: Vec::new(),
        }
        .stdio(command, args, env, cwd.as_ref()),
        Transport::Http { url, .. } => {
            let facts = ServerFacts {
                name: server.name.clone(),
                transport: "http",
                url: Some(url.raw.clone()),
                ..ServerFacts::default()
            };
            let failure = facts.failure(
                Phase::Config,
                "this version of jelly speaks MCP over stdio only; a server that is reached by \
                 `url` can't be tested with it yet",
            );
            Prepared {
                facts,
                command: Err(vec![failure]),
            }
        }
    }
}

struct Preparation<'a> {
    server: &'a str,
    scope: &'a Scope,
    project: &'a Path,
    jelly: Option<&'a Path>,
    redactor: &'a Redactor,
    missing: Vec<Unresolved>,
}

impl Preparation<'_> {
    /// The template's text; what can't be resolved stays as it is written,
    /// and is remembered.
    fn text(&mut self, template: &Template) -> String {
        match template.resolve_str(self.scope, self.server) {
            Ok(text) => text,
            Err(unresolved) => {
                if !self.missing.contains(&unresolved) {
                    self.missing.push(unresolved);
                }
                template.raw.clone()
            }
        }
    }

    fn stdio(
        mut self,
        command: &Template,
        args: &[Template],
        env: &IndexMap<String, Template>,
        cwd: Option<&Template>,
    ) -> Prepared {
        let (project, redactor) = (self.project, self.redactor);
        let mut argv = vec![self.text(command)];
        argv.extend(args.iter().map(|arg| self.text(arg)));
        let env: Vec<(String, String)> = env
            .iter()
            .map(|(name, value)| (name.clone(), self.text(value)))
            .collect();
        let cwd = cwd.map_or_else(
            || project.to_owned(),
            |cwd| project.join(PathBuf::from(self.text(cwd))),
        );
        let shown: Vec<String> = argv
            .iter()
            .map(|arg| redactor.redact(arg).into_owned())
            .collect();
        let facts = ServerFacts {
            name: self.server.to_owned(),
            transport: "stdio",
            argv: show_argv(&shown),
            cwd: Some(redactor.redact(&cwd.display().to_string()).into_owned()),
            url: None,
            env_delta: shown_env(&env, redactor),
        };
        // `jelly` means this jelly, be it on the PATH or not.
        if argv[0] == "jelly"
            && let Some(jelly) = self.jelly
        {
            argv[0] = jelly.display().to_string();
        }
        let spec = CommandSpec { argv, cwd, env };
        let mut failures: Vec<Failure> = self
            .missing
            .iter()
            .map(|unresolved| missing_value(&facts, unresolved))
            .collect();
        // What is written in place of a missing value can't be looked up.
        if failures.is_empty()
            && let Err(error) = process::check(&spec)
        {
            failures.push(not_startable(&facts, &spec, error, redactor));
        }
        Prepared {
            facts,
            command: if failures.is_empty() {
                Ok(spec)
            } else {
                Err(failures)
            },
        }
    }
}

/// Values are shown only where they can't be secret.
fn shown_env(env: &[(String, String)], redactor: &Redactor) -> IndexMap<String, Value> {
    env.iter()
        .map(|(name, value)| {
            let value = if crate::text::redact::looks_secret(name) {
                "[secret]".to_owned()
            } else {
                redactor.redact(value).into_owned()
            };
            (name.clone(), Value::from(value))
        })
        .collect()
}

/// A name without a value, as a failure of its server.
fn missing_value(facts: &ServerFacts, unresolved: &Unresolved) -> Failure {
    let mut failure = facts.failure(Phase::Config, unresolved.to_string());
    failure.issue = issue_of(unresolved);
    failure
}

/// The plan's issue behind a name without a value, where there is one.
#[must_use]
pub fn issue_of(unresolved: &Unresolved) -> Option<PlanIssue> {
    match unresolved {
        Unresolved::Env(name) => Some(PlanIssue::MissingVariable {
            name: name.clone(),
            secret: false,
        }),
        Unresolved::Secret(name) => Some(PlanIssue::MissingVariable {
            name: name.clone(),
            secret: true,
        }),
        Unresolved::Name(_) | Unresolved::Port(_) => None,
    }
}

fn not_startable(
    facts: &ServerFacts,
    spec: &CommandSpec,
    mut error: SpawnError,
    redactor: &Redactor,
) -> Failure {
    error.text = error.text.map(|text| redactor.redact(&text).into_owned());
    let message = error.text.clone().unwrap_or_default();
    let mut failure = facts.failure(Phase::Config, message);
    let cwd_is_missing = !spec.cwd.is_dir();
    failure.issue = match error.name.as_deref() {
        Some("ENOENT" | "ENOTDIR") if cwd_is_missing => Some(PlanIssue::MissingDirectory {
            path: redactor
                .redact(&spec.cwd.display().to_string())
                .into_owned(),
        }),
        Some("ENOENT" | "ENOTDIR") => Some(PlanIssue::CommandNotFound {
            command: facts.argv[0].clone(),
        }),
        Some("EACCES" | "ENOEXEC" | "EISDIR" | "EPERM") => Some(PlanIssue::NotExecutable {
            path: facts.argv[0].clone(),
        }),
        Some(_) | None => None,
    };
    failure.spawn_error = Some(error);
    failure
}
