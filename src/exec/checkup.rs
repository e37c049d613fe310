//! One server alone, without a plan: started, asked for its lists, stopped.
//!
//! Main function: [`examine`]. Gathers facts as a lane does, by the same means,
//! and leaves it to others to say what they mean.

use super::clean::Cleaner;
use super::lane::shorten;
use super::launch::{ServerFacts, not_startable, shown_env, shown_url};
use crate::model::{Failure, Outcome, Phase, RequestFacts};
use crate::process;
use crate::text::redact::{Redactor, show_argv};
use crate::wire::{self, Launch, ListKind, Reach, ReplyOutcome, Session};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// What all examinations share.
#[derive(Clone)]
pub struct CheckupSettings {
    pub startup_timeout: Duration,
    pub redactor: Redactor,
    /// How many servers may be starting at the same time.
    pub starts: Arc<Semaphore>,
}

/// How long a server may take for one of its lists, and to stop.
const PATIENCE: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(2);

/// What was seen of one server. All texts are redacted.
#[derive(Debug, Clone, Default)]
pub struct Examined {
    /// Absent where it did not become ready.
    pub vitals: Option<Vitals>,
    /// What went wrong, be it ready or not.
    pub failure: Option<Box<Failure>>,
    /// Of one that is ready and without a failure: what it said on stderr, as
    /// that would be told if it were one. Servers that lack what they need
    /// often start all the same.
    pub grumble: Option<Box<Failure>>,
    pub era: Option<String>,
    pub stdout_noise: u64,
    pub stdout_noise_sample: Vec<String>,
    pub stderr_tail: String,
    pub notes: Vec<String>,
}

/// Of a server that is ready.
#[derive(Debug, Clone)]
pub struct Vitals {
    pub protocol_version: &'static str,
    pub server_info: Option<Value>,
    pub tools: usize,
    /// Absent where the server says it has none, or did not list them.
    pub resources: Option<usize>,
    pub prompts: Option<usize>,
    pub startup: Duration,
}

/// What is in the way of a start, as far as a look at the file system tells.
#[must_use]
pub fn preflight(name: &str, reach: &Reach, redactor: &Redactor) -> Option<Failure> {
    let spec = reach.command()?;
    let error = process::check(spec).err()?;
    let mut failure = not_startable(&facts(name, reach, redactor), spec, error, redactor);
    Cleaner::of_secrets(redactor.clone()).failure(&mut failure);
    Some(failure)
}

/// Examines a server. Never fails; safe to drop at any time.
pub async fn examine(name: &str, reach: &Reach, settings: &CheckupSettings) -> Examined {
    let redactor = &settings.redactor;
    if let Some(failure) = preflight(name, reach, redactor) {
        return Examined {
            failure: Some(Box::new(failure)),
            ..Examined::default()
        };
    }
    let launch = Launch {
        startup_timeout: settings.startup_timeout,
        shutdown_timeout: GRACE,
        redactor: redactor.clone(),
        ..Launch::new(name, reach.clone())
    };
    let facts = facts(name, reach, redactor);
    let started = {
        // Never closed, so there is always a permit in the end.
        let _permit = settings.starts.acquire().await;
        wire::start(&launch).await
    };
    let mut examined = match started {
        Ok(session) => ready(session, &facts).await,
        Err(start) => Examined {
            era: start.era.map(|era| era.to_string()),
            stdout_noise: start.noise_count,
            stdout_noise_sample: start.stdout_noise.clone(),
            stderr_tail: shorten(&start.stderr),
            notes: start.notes.clone(),
            failure: Some(Box::new(
                facts.start_failure(*start, reach.command().is_some()),
            )),
            vitals: None,
            grumble: None,
        },
    };
    let cleaner = Cleaner::of_secrets(redactor.clone());
    for failure in [&mut examined.failure, &mut examined.grumble]
        .into_iter()
        .flatten()
    {
        cleaner.failure(failure);
    }
    if let Some(vitals) = &mut examined.vitals {
        vitals
            .server_info
            .iter_mut()
            .for_each(|info| redactor.redact_json(info));
    }
    for text in examined
        .stdout_noise_sample
        .iter_mut()
        .chain(&mut examined.notes)
    {
        *text = cleaner.text(text).into_owned();
    }
    examined.stderr_tail = cleaner.text(&examined.stderr_tail).into_owned();
    examined
}

async fn ready(mut session: Session, facts: &ServerFacts) -> Examined {
    let mut failure = None;
    let resources = count(&session, facts, ListKind::Resources, &mut failure).await;
    let prompts = count(&session, facts, ListKind::Prompts, &mut failure).await;
    let (stdout_noise, stdout_noise_sample) = session.noise();
    if stdout_noise > 0 && failure.is_none() {
        let message = "wrote to stdout what is no message";
        failure = Some(Box::new(Failure {
            outcome: Some(Outcome::Ok),
            stdout_noise: stdout_noise_sample.clone(),
            process_alive: Some(true),
            ..facts.failure(Phase::Handshake, message)
        }));
    }
    let stderr = session.stderr().tail();
    let grumble = (failure.is_none() && !stderr.trim().is_empty()).then(|| {
        let message = "is ready, and says on stderr what it lacks";
        Box::new(Failure {
            outcome: Some(Outcome::Ok),
            process_alive: Some(true),
            stderr: Some(stderr),
            ..facts.failure(Phase::Handshake, message)
        })
    });
    let info = session.server_info();
    let vitals = Vitals {
        protocol_version: session.protocol_version(),
        server_info: (!info.is_null()).then(|| info.clone()),
        tools: session.tools().len(),
        resources,
        prompts,
        startup: session.startup(),
    };
    let examined = Examined {
        vitals: Some(vitals),
        failure,
        grumble,
        era: Some(session.era().to_string()),
        stdout_noise,
        stdout_noise_sample,
        stderr_tail: String::new(),
        notes: session.notes().to_vec(),
    };
    // How it stops is no part of the examination; that it is gone is.
    session.shutdown(GRACE).await;
    examined
}

/// The length of a list that the server says it has.
async fn count(
    session: &Session,
    facts: &ServerFacts,
    kind: ListKind,
    failure: &mut Option<Box<Failure>>,
) -> Option<usize> {
    session.capabilities().get(kind.key())?;
    let reply = session.list(kind, Value::Null, PATIENCE).await;
    let method = kind.method();
    let failed = |message: String| Failure {
        process_alive: Some(true),
        request: Some(RequestFacts {
            method: method.to_owned(),
            params: None,
        }),
        stderr: Some(session.stderr().tail()),
        ..facts.failure(Phase::List, message)
    };
    let found = match reply.outcome {
        ReplyOutcome::Answered(result) => {
            return result
                .get(kind.key())
                .and_then(Value::as_array)
                .map(Vec::len);
        }
        ReplyOutcome::RpcError(error) => Failure {
            outcome: Some(Outcome::Error),
            message: Some(format!("refused `{method}`: {}", error.message)),
            rpc_error: Some(error),
            ..failed(String::new())
        },
        ReplyOutcome::TimedOut(_) => Failure {
            outcome: Some(Outcome::Timeout),
            timeout_s: Some(PATIENCE.as_secs_f64()),
            ..failed(format!("did not answer `{method}` in time"))
        },
        ReplyOutcome::Exited(exit) => Failure {
            outcome: Some(Outcome::Eof),
            process_alive: Some(false),
            exit: Some(exit),
            ..failed(format!("exited before it answered `{method}`"))
        },
        ReplyOutcome::Broken(why) | ReplyOutcome::Unanswered(why) => Failure {
            protocol_breach: Some(why.clone()),
            ..failed(why)
        },
        ReplyOutcome::Http(end) => Failure {
            rpc_error: end.rpc_error.clone(),
            http: Some(end.facts.clone()),
            ..failed(format!("gave no good answer to `{method}`"))
        },
    };
    failure.get_or_insert_with(|| Box::new(found));
    None
}

/// What every failure says of the server.
fn facts(name: &str, reach: &Reach, redactor: &Redactor) -> ServerFacts {
    let shown = |text: &str| redactor.redact(text).into_owned();
    let mut facts = ServerFacts {
        name: name.to_owned(),
        transport: match reach {
            Reach::Stdio(_) => "stdio",
            Reach::Http(_) => "http",
        },
        url: match reach {
            Reach::Stdio(_) => None,
            Reach::Http(endpoint) => Some(shown_url(&endpoint.url, redactor)),
        },
        ..ServerFacts::default()
    };
    if let Some(spec) = reach.command() {
        let argv: Vec<String> = spec.argv.iter().map(|arg| shown(arg)).collect();
        facts.argv = show_argv(&argv);
        facts.cwd = Some(shown(&spec.cwd.display().to_string()));
        facts.env_delta = shown_env(&spec.env, redactor);
    }
    facts
}
