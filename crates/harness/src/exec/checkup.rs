//! One server alone, without a plan: started, asked for its lists, stopped.
//!
//! Main functions: [`examine`], and [`take_stock`] for what it lists. Gather facts as a lane does, by the same means,
//! and leave it to others to say what they mean.

use super::clean::Cleaner;
use super::launch::{ServerFacts, not_startable, prepare, shown_url};
use super::open_server::{greeted, list, templates};
use super::settings::ExecSettings;
use super::step_end::shorten;
use jelly_base::mcp::ListKind;
use jelly_base::model::{Failure, Inventory, Outcome, Phase};
use jelly_base::text::redact::Redactor;
use jelly_plan::{Scope, Server};
use jelly_process as process;
use jelly_wire::{self as wire, Launch, Reach, ReplyOutcome, Session};
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
/// How long a sign of life may take at the end.
const PULSE: Duration = Duration::from_millis(500);
const GRACE: Duration = Duration::from_secs(2);

/// What was seen of one server. All texts are redacted.
#[derive(Debug, Clone, Default)]
pub struct Examined {
    /// Absent where it did not become ready.
    pub ready: Option<ReadyServer>,
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
pub struct ReadyServer {
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
    visit(&launch, &facts, settings, None).await
}

/// What a server of a plan lists, for who wants to know more than how it is;
/// the reach says how it was reached.
///
/// # Errors
/// Everything that is in the way of a start, by the plan alone.
pub async fn take_stock(
    server: &Server,
    scope: &Scope,
    settings: &ExecSettings,
) -> Result<(Reach, Examined, Inventory), Vec<Failure>> {
    let cleaner = Cleaner::of_secrets(settings.redactor.clone());
    let prepared = prepare(server, scope, settings);
    let reach = prepared.reach.map_err(|mut failures| {
        failures
            .iter_mut()
            .for_each(|failure| cleaner.failure(failure));
        failures
    })?;
    let launch = Launch {
        startup_timeout: server.startup_timeout,
        shutdown_timeout: GRACE,
        redactor: settings.redactor.clone(),
        ..Launch::new(&server.name, reach.clone())
    };
    let visit_settings = CheckupSettings {
        startup_timeout: server.startup_timeout,
        redactor: settings.redactor.clone(),
        starts: settings.starts.clone(),
    };
    let mut stock = Inventory::default();
    let examined = visit(&launch, &prepared.facts, &visit_settings, Some(&mut stock)).await;
    Ok((reach, examined, stock))
}

/// Starts a server, looks at it and stops it.
async fn visit(
    launch: &Launch,
    facts: &ServerFacts,
    settings: &CheckupSettings,
    stock: Option<&mut Inventory>,
) -> Examined {
    let (reach, redactor) = (&launch.reach, &settings.redactor);
    let started = {
        // Never closed, so there is always a permit in the end.
        let _permit = settings.starts.acquire().await;
        wire::start(launch).await
    };
    let mut examined = match started {
        Ok(session) => ready(session, facts, stock).await,
        Err(start) => Examined {
            era: start.era.map(|era| era.to_string()),
            stdout_noise: start.noise_count,
            stdout_noise_sample: start.stdout_noise.clone(),
            stderr_tail: shorten(&start.stderr),
            notes: start.notes.clone(),
            failure: Some(Box::new(
                facts.start_failure(*start, reach.command().is_some()),
            )),
            ready: None,
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
    if let Some(ready) = &mut examined.ready {
        ready
            .server_info
            .iter_mut()
            .for_each(|info| redactor.redact_json(info));
    }
    for text in examined
        .stdout_noise_sample
        .iter_mut()
        .chain(&mut examined.notes)
    {
        *text = cleaner.told(text);
    }
    examined.stderr_tail = cleaner.told(&examined.stderr_tail);
    examined
}

async fn ready(
    mut session: Session,
    facts: &ServerFacts,
    stock: Option<&mut Inventory>,
) -> Examined {
    let mut failure = None;
    let is_examined = stock.is_none();
    let resources = listed(&session, facts, ListKind::Resources, &mut failure).await;
    let prompts = listed(&session, facts, ListKind::Prompts, &mut failure).await;
    let count = |list: &Option<Vec<Value>>| list.as_ref().map(Vec::len);
    let (resource_count, prompt_count) = (count(&resources), count(&prompts));
    if let Some(stock) = stock {
        let tools = listed(&session, facts, ListKind::Tools, &mut failure).await;
        let has_resources = resources.is_some();
        let resource_templates = templates(&session, facts, has_resources, PATIENCE).await;
        *stock = Inventory {
            tools,
            resources,
            resource_templates,
            prompts,
            ..greeted(&session)
        };
    }
    // Who is gone after its last answer is no healthy server.
    if is_examined && failure.is_none() && session.has_process() {
        let pulse = session.pulse(session.shy_of_probes(), PULSE).await;
        if let Some(ReplyOutcome::Exited(exit)) = pulse.map(|reply| reply.outcome) {
            let message = "exited by itself after it had answered its lists";
            failure = Some(Failure {
                outcome: Some(Outcome::Eof),
                process_alive: Some(false),
                exit: Some(exit),
                stderr: Some(session.stderr().tail()),
                ..facts.failure(Phase::List, message)
            });
        }
    }
    let of_ready = |message: &str| Failure {
        outcome: Some(Outcome::Ok),
        process_alive: Some(true),
        ..facts.failure(Phase::Handshake, message)
    };
    if let (None, Some(unfit)) = (&failure, session.unfit()) {
        // It came so far since jelly forgives what clients do not.
        let message = format!("{unfit}, for which clients of the official SDKs refuse it");
        failure = Some(Failure {
            process_alive: session.has_process().then_some(true),
            protocol_breach: Some(unfit),
            ..of_ready(&message)
        });
    }
    let (stdout_noise, stdout_noise_sample) = session.noise();
    if stdout_noise > 0 && failure.is_none() {
        failure = Some(Failure {
            stdout_noise: stdout_noise_sample.clone(),
            ..of_ready("wrote to stdout what is no message")
        });
    }
    let stderr = session.stderr().tail();
    let grumble = (failure.is_none() && !stderr.trim().is_empty()).then(|| Failure {
        stderr: Some(stderr),
        ..of_ready("is ready, and says on stderr what it lacks")
    });
    let info = session.server_info();
    let ready = ReadyServer {
        protocol_version: session.protocol_version(),
        server_info: (!info.is_null()).then(|| info.clone()),
        tools: session.tools().len(),
        resources: resource_count,
        prompts: prompt_count,
        startup: session.startup(),
    };
    let examined = Examined {
        ready: Some(ready),
        failure: failure.map(Box::new),
        grumble: grumble.map(Box::new),
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

/// A list that the server says it has.
async fn listed(
    session: &Session,
    facts: &ServerFacts,
    kind: ListKind,
    failure: &mut Option<Failure>,
) -> Option<Vec<Value>> {
    match list(session, facts, kind, PATIENCE).await {
        Ok(items) => items,
        Err(found) => {
            failure.get_or_insert(*found);
            None
        }
    }
}

/// What every failure says of the server.
pub(super) fn facts(name: &str, reach: &Reach, redactor: &Redactor) -> ServerFacts {
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
        facts.set_command(spec, redactor);
    }
    facts
}
