//! `services`: helper processes beside the servers, from before the first of them
//! starts until the last one has ended.
//!
//! A service is nobody's code under test: one that does not become ready, or dies, is
//! told as what is wrong around the servers.

use super::launch::{Prepared, ServerFacts, chosen_by_jelly, prepare};
use super::line_watch::LineWatch;
use super::settings::ExecSettings;
use super::shared_state::SharedState;
use super::step_end::shorten;
use jelly_base::model::{
    Because, Event, Exit, Failure, Outcome, Phase, PlanIssue, ServerReport, ServerState,
};
use jelly_base::text::human_duration;
use jelly_plan::{Service, ServiceReady};
use jelly_process::{Capture, Process, StderrHandle, spawn};
use jelly_wire::{Endpoint, LocalPort, PlainHttp, PlainRequest, Reach, describe_exit};
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// How often it is looked whether a service is ready.
const LOOK: Duration = Duration::from_millis(25);
/// How long it may take to stop when the whole run is being stopped.
const HASTY_GRACE: Duration = Duration::from_millis(300);
/// How long one look may take.
const ONE_LOOK: Duration = Duration::from_secs(2);

/// How far the services are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServicesState {
    /// Those that are not ready yet.
    pub open: usize,
    /// One that will not be.
    pub failed: Option<String>,
}

/// What the tasks of all services have in common.
#[derive(Clone)]
pub struct ServiceTask {
    pub shared: Rc<SharedState>,
    pub settings: Rc<ExecSettings>,
    /// Among the servers, behind the plan's.
    pub place: usize,
    /// Says that the servers have ended.
    pub over: watch::Receiver<bool>,
}

/// How a service shows that it is ready, with values in the place of names.
enum Sign {
    Line(String),
    Port(u16),
    Url(Box<PlainHttp>, PlainRequest),
}

/// With the port where nobody may listen before.
type ReadySign = (Sign, Option<LocalPort>);

impl ServiceTask {
    /// Lives the service's life.
    pub async fn run(self, service: Service) -> ServerReport {
        let mut report = ServerReport {
            name: service.server.name.clone(),
            at: Some(self.shared.plan.at(service.server.at)),
            is_service: true,
            ..ServerReport::default()
        };
        let (prepared, sign) = {
            let scope = self.shared.scope.borrow();
            let prepared = prepare(&service.server, &scope, &self.settings);
            let sign = self.sign(&service, &prepared);
            (prepared, sign)
        };
        match self.start(&service, &prepared, sign, &mut report).await {
            Some(process) => {
                self.watch(&service, &prepared.facts, process, &mut report)
                    .await
            }
            None => report.state = ServerState::Failed,
        }
        report
    }

    fn fails(&self, mut failure: Failure) {
        failure.is_service = true;
        let server = failure.server.clone().unwrap_or_default();
        let message = failure.message.as_deref().unwrap_or_default();
        (self.settings.events)(Event::ServerFailed {
            server: server.clone(),
            message: self.shared.cleaner.told(message),
        });
        self.shared.fail_server(self.place, failure);
        self.shared.services.send_modify(|state| {
            state.failed.get_or_insert(server);
        });
    }

    /// How it shows that it is ready, and the port where nobody may listen before it
    /// is started.
    fn sign(&self, service: &Service, prepared: &Prepared) -> Result<ReadySign, Box<Failure>> {
        let name = &service.server.name;
        let unfit = |message: String| Box::new(prepared.facts.failure(Phase::Config, message));
        let scope = self.shared.scope.borrow();
        let text = |template: &jelly_plan::Template| {
            let text = template.resolve_str(&scope, name);
            text.map_err(|unresolved| {
                let mut failure = unfit(unresolved.to_string());
                failure.issue = super::launch::issue_of(&unresolved);
                failure
            })
        };
        let fixed = |port: &LocalPort| !chosen_by_jelly(port, &scope);
        Ok(match &service.ready {
            ServiceReady::Line(line) => (Sign::Line(text(line)?), None),
            ServiceReady::Port(port) => {
                let port = text(port)?;
                let number = port.trim().parse().ok().filter(|port| *port > 0);
                let number = number.ok_or_else(|| {
                    let port = self.shared.cleaner.quote(&port);
                    unfit(format!("`ready` names no port, but {port}"))
                })?;
                let port = Some(LocalPort::of(number));
                (Sign::Port(number), port.filter(fixed))
            }
            ServiceReady::Url(url) => {
                let endpoint = Endpoint {
                    url: text(url)?,
                    ..Endpoint::default()
                };
                let http = PlainHttp::new(&endpoint, &self.settings.redactor)
                    .map_err(|end| unfit(format!("`ready` can't be asked: {}", end.message)))?;
                let request = PlainRequest {
                    method: "GET".to_owned(),
                    path: http.own_path(),
                    ..PlainRequest::default()
                };
                let port = LocalPort::of_url(&endpoint.url).filter(fixed);
                (Sign::Url(Box::new(http), request), port)
            }
        })
    }

    /// Starts the service and waits until it is ready.
    async fn start(
        &self,
        service: &Service,
        prepared: &Prepared,
        sign: Result<ReadySign, Box<Failure>>,
        report: &mut ServerReport,
    ) -> Option<(Process, StderrHandle)> {
        let spec = match (&prepared.reach, sign) {
            (Ok(Reach::Stdio(spec)), Ok(sign)) => Some((spec, sign)),
            (Ok(_), Ok(_)) => None,
            (Err(failures), _) => {
                failures
                    .iter()
                    .for_each(|failure| self.fails(failure.clone()));
                None
            }
            (Ok(_), Err(failure)) => {
                self.fails(*failure);
                None
            }
        };
        let (spec, (sign, own_port)) = spec?;
        if let Some(port) = own_port
            && let Some(why) = tokio::select! {
                why = port.taken() => why,
                _ = self.shared.stop() => {
                    report.notes.push("stopped before it was started".to_owned());
                    return None;
                }
            }
        {
            let message = format!("the service was not started: {why}");
            self.fails(Failure {
                outcome: Some(Outcome::SpawnError),
                ..prepared.facts.failure(Phase::Spawn, message)
            });
            return None;
        }
        report.started_ms = Some(self.shared.elapsed_ms());
        let begun = Instant::now();
        let (seen, line_seen) = watch::channel(false);
        let capture = || Capture {
            redactor: self.settings.redactor.clone(),
            sink: match &sign {
                Sign::Line(line) => Some(Box::new(LineWatch::new(line, seen.clone()))),
                Sign::Port(_) | Sign::Url(..) => None,
            },
            ..Capture::default()
        };
        let mut process = match spawn(spec, capture()).await {
            Ok(process) => process,
            Err(error) => {
                let text = error.text.clone().or_else(|| error.name.clone());
                let why = text.as_deref().unwrap_or("no reason given by the system");
                let message = format!("the service could not be started: {why}");
                self.fails(Failure {
                    outcome: Some(Outcome::SpawnError),
                    spawn_error: Some(error),
                    ..prepared.facts.failure(Phase::Spawn, message)
                });
                return None;
            }
        };
        let stdout = process.capture_stdout(capture());
        let stderr = process.stderr();
        let exit = process.exit_watch();
        let limit = service.server.startup_timeout;
        let ended = tokio::select! {
            biased;
            exit = exit.wait() => Some(Ok(exit)),
            ready = timeout(limit, is_ready(&sign, line_seen)) => ready.err().map(Err),
            _ = self.shared.stop() => {
                report.notes.push("stopped before it was ready".to_owned());
                let _ = process.terminate(HASTY_GRACE).await;
                return None;
            }
        };
        let Some(ended) = ended else {
            report.state = ServerState::Ready;
            report.startup_ms = u64::try_from(begun.elapsed().as_millis()).ok();
            self.shared.watch_service(&service.server.name, exit);
            self.shared.services.send_modify(|state| state.open -= 1);
            return Some((process, stdout));
        };
        let mut failure = prepared.facts.failure(Phase::Handshake, "");
        match ended {
            Ok(exit) => {
                stderr.settled().await;
                failure.message = Some(format!(
                    "the service exited {} before it was ready",
                    describe_exit(&exit)
                ));
                failure.outcome = Some(Outcome::Eof);
                failure.process_alive = Some(false);
                report.exit = Some(exit.clone());
                failure.exit = Some(exit);
            }
            Err(_) => {
                failure.message = Some(format!(
                    "the service was not ready within {} (startup_timeout): {}",
                    human_duration(limit),
                    lacking(&sign)
                ));
                failure.outcome = Some(Outcome::Timeout);
                failure.process_alive = Some(true);
                failure.timeout_s = Some(limit.as_secs_f64());
                let showed = stderr.bytes() + stdout.bytes() > 0;
                failure.showed_life = Some(showed);
            }
        }
        failure.stderr = Some(stderr.tail());
        failure.stdout = Some(stdout.tail());
        report.stderr_tail = shorten(&stderr.tail());
        let _ = process.terminate(service.server.shutdown_timeout).await;
        report.ended_ms = Some(self.shared.elapsed_ms());
        self.fails(failure);
        None
    }

    /// Until the servers have ended, or it dies.
    async fn watch(
        &self,
        service: &Service,
        facts: &ServerFacts,
        (mut process, stdout): (Process, StderrHandle),
        report: &mut ServerReport,
    ) {
        let mut over = self.over.clone();
        let exit = process.exit_watch();
        let stderr = process.stderr();
        let died = tokio::select! {
            biased;
            // An error means that nobody is left to wait for.
            _ = over.wait_for(|over| *over) => exit.now(),
            exit = exit.wait() => Some(exit),
        };
        match died {
            Some(exit) => {
                stderr.settled().await;
                report.state = ServerState::Died;
                report.exit = Some(exit.clone());
                self.fails(died_of(
                    facts,
                    &service.server.name,
                    exit,
                    (&stderr, &stdout),
                ));
            }
            None => {
                let shutdown = process.terminate(service.server.shutdown_timeout).await;
                report.exit = shutdown.exit;
            }
        }
        report.stderr_tail = shorten(&stderr.tail());
        report.ended_ms = Some(self.shared.elapsed_ms());
        // What it leaves behind goes with it.
        drop(process);
    }
}

fn died_of(
    facts: &ServerFacts,
    name: &str,
    exit: Exit,
    (stderr, stdout): (&StderrHandle, &StderrHandle),
) -> Failure {
    let message = format!(
        "the service exited {} while the plan ran",
        describe_exit(&exit)
    );
    Failure {
        issue: Some(PlanIssue::ServiceDied {
            name: name.to_owned(),
        }),
        exit: Some(exit),
        process_alive: Some(false),
        stderr: Some(stderr.tail()),
        stdout: Some(stdout.tail()),
        ..facts.failure(Phase::Config, message)
    }
}

/// Resolves when the sign was seen.
async fn is_ready(sign: &Sign, mut line_seen: watch::Receiver<bool>) {
    loop {
        let seen = match sign {
            Sign::Line(_) => {
                if line_seen.wait_for(|seen| *seen).await.is_err() {
                    // Nobody reads its output any more, so that no line can come.
                    std::future::pending::<()>().await;
                }
                return;
            }
            Sign::Port(port) => {
                let connected = TcpStream::connect((Ipv4Addr::LOCALHOST, *port));
                matches!(timeout(ONE_LOOK, connected).await, Ok(Ok(_)))
            }
            Sign::Url(http, request) => {
                let answer = timeout(ONE_LOOK, http.send(request)).await;
                answer.is_ok_and(|answer| answer.is_ok_and(|answer| answer.status < 500))
            }
        };
        if seen {
            return;
        }
        sleep(LOOK).await;
    }
}

/// What did not come.
fn lacking(sign: &Sign) -> String {
    match sign {
        Sign::Line(line) => format!("no line on stdout or stderr has `{line}` in it"),
        Sign::Port(port) => format!("nothing takes connections at 127.0.0.1:{port}"),
        Sign::Url(_, request) => format!("`ready.url` ({}) does not answer", request.path),
    }
}

/// Why no server is started, once the services are ready or will not be.
pub async fn hindered(state: &watch::Sender<ServicesState>) -> Option<Because> {
    let mut state = state.subscribe();
    let settled = state
        .wait_for(|state| state.open == 0 || state.failed.is_some())
        .await;
    // The sender lives as long as the iteration.
    let failed = settled.ok()?.failed.clone()?;
    Some(Because::Server(failed))
}
