//! The server, as a process or behind a URL, and what is known of it.
//!
//! Main type: [`Upstream`].

use super::pass_on::PassOn;
use super::settings::ProxySettings;
use jelly_base::mcp::Era;
use jelly_base::model::{Exit, Failure, Outcome, Phase, RequestFacts, SpawnError};
use jelly_base::text::human_duration;
use jelly_base::text::redact::show_text;
use jelly_harness::exec::{Outsider, preflight};
use jelly_process::{
    Capture, CommandSpec, ExitBoundReader, ExitWatch, Process, StderrHandle, spawn,
};
use jelly_wire::{
    Endpoint, HttpEnd, LineSplitter, RawHttp, RawNews, Reach, StartFailure, describe_exit,
};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout, timeout_at};

/// Lines on stdout that are no message, and of which the last are kept.
const NOISE: usize = 20;
/// Bytes of such a line that are kept.
const NOISE_BYTES: usize = 300;
/// What a process may take to exit once it has closed its stdout.
const CLOSED_GRACE: Duration = Duration::from_secs(1);
/// What it may take to exit once a connection to it was lost.
const LOST_GRACE: Duration = Duration::from_millis(300);

/// A server that was started, or is talked to.
pub struct Upstream {
    pub way: Way,
    noise: VecDeque<String>,
    noise_count: u64,
    messages: u64,
    started: Instant,
}

/// How messages reach the server.
pub enum Way {
    Pipes(Box<PipedServer>),
    Url(Box<UrlServer>),
}

/// A process and its pipes.
pub struct PipedServer {
    process: Process,
    pub stdin: Option<ChildStdin>,
    pub stdout: ExitBoundReader<ChildStdout>,
    pub splitter: LineSplitter,
    exit: ExitWatch,
    stderr: StderrHandle,
    written: u64,
}

/// As it is told of.
#[must_use]
pub fn outsider(settings: &ProxySettings) -> Outsider {
    Outsider {
        name: settings.name.clone(),
        reach: settings.reach.clone(),
        redactor: settings.redactor.clone(),
    }
}

impl PipedServer {
    async fn start(
        settings: &ProxySettings,
        command: &CommandSpec,
        pass_on: Option<PassOn>,
    ) -> Result<Self, Box<Failure>> {
        let mut process = start_process(settings, command, pass_on).await?;
        let Some(stdout) = process.stdout.take() else {
            let error = SpawnError::default();
            return Err(Box::new(outsider(settings).unspawned(command, error)));
        };
        let exit = process.exit_watch();
        Ok(Self {
            stdin: process.stdin.take(),
            stdout: ExitBoundReader::new(stdout, &exit),
            splitter: LineSplitter::default(),
            exit,
            stderr: process.stderr(),
            written: 0,
            process,
        })
    }
}

/// What is kept of an output, and who else gets it.
fn capture(settings: &ProxySettings, pass_on: Option<PassOn>) -> Capture {
    Capture {
        redactor: settings.redactor.clone(),
        pass_on: pass_on.map(|pass_on| Box::new(pass_on) as Box<_>),
        ..Capture::default()
    }
}

async fn start_process(
    settings: &ProxySettings,
    command: &CommandSpec,
    pass_on: Option<PassOn>,
) -> Result<Process, Box<Failure>> {
    if let Some(failure) = preflight(&settings.name, &settings.reach, &settings.redactor) {
        return Err(Box::new(failure));
    }
    spawn(command, capture(settings, pass_on))
        .await
        .map_err(|error| Box::new(outsider(settings).unspawned(command, error)))
}

/// A server behind a URL, which may be a process of ours.
pub struct UrlServer {
    pub http: RawHttp,
    started: Option<StartedServer>,
    /// A connection was lost, perhaps since the process ends: until when that is
    /// waited for.
    lost: Option<(RawNews, Instant)>,
}

/// A process that is reached over HTTP.
struct StartedServer {
    process: Process,
    exit: ExitWatch,
    stderr: StderrHandle,
    stdout: StderrHandle,
}

impl UrlServer {
    async fn start(
        settings: &ProxySettings,
        endpoint: &Endpoint,
        pass_on: Option<PassOn>,
    ) -> Result<Self, Box<Failure>> {
        let started = match &endpoint.command {
            Some(command) => {
                if let Some(port) = &endpoint.own_port
                    && let Some(why) = port.taken().await
                {
                    return Err(Box::new(outsider(settings).unready(StartFailure {
                        message: format!("was not started: {why}"),
                        ..StartFailure::of(Phase::Spawn, Outcome::SpawnError)
                    })));
                }
                let mut process = start_process(settings, command, pass_on.clone()).await?;
                Some(StartedServer {
                    exit: process.exit_watch(),
                    stderr: process.stderr(),
                    stdout: process.capture_stdout(capture(settings, pass_on)),
                    process,
                })
            }
            None => None,
        };
        let exit = started.as_ref().map(|started| started.exit.clone());
        let http = RawHttp::new(endpoint, &settings.redactor, exit).map_err(|end| {
            let method = Era::Legacy.opening();
            Box::new(outsider(settings).unready(unreached(*end, method)))
        })?;
        Ok(Self {
            http,
            started,
            lost: None,
        })
    }

    /// What comes next; `None` where its process has ended. Cancel-safe.
    pub async fn news(&mut self) -> Option<RawNews> {
        loop {
            let Some(started) = &self.started else {
                return Some(self.http.news().await);
            };
            if let Some((_, until)) = &self.lost {
                let exits = timeout_at(*until, started.exit.wait()).await.is_ok();
                let lost = self.lost.take();
                return lost.map(|(news, _)| news).filter(|_| !exits);
            }
            tokio::select! {
                biased;
                news = self.http.news() => match &news {
                    RawNews::Line(_) => return Some(news),
                    RawNews::Failed { end, .. } | RawNews::Closed(end)
                        if end.facts.status.is_some() =>
                    {
                        return Some(news);
                    }
                    RawNews::Failed { .. } | RawNews::Closed(_) => {
                        self.lost = Some((news, Instant::now() + LOST_GRACE));
                    }
                },
                _ = started.exit.wait() => return None,
            }
        }
    }
}

impl Upstream {
    /// Starts it.
    ///
    /// # Errors
    /// It can't be started: the failure that this is.
    pub async fn start(
        settings: &ProxySettings,
        pass_on: Option<PassOn>,
    ) -> Result<Self, Box<Failure>> {
        let way = match &settings.reach {
            Reach::Stdio(command) => Way::Pipes(Box::new(
                PipedServer::start(settings, command, pass_on).await?,
            )),
            Reach::Http(endpoint) => Way::Url(Box::new(
                UrlServer::start(settings, endpoint, pass_on).await?,
            )),
        };
        Ok(Self {
            way,
            noise: VecDeque::new(),
            noise_count: 0,
            messages: 0,
            started: Instant::now(),
        })
    }

    /// The process, where it is one.
    pub fn piped(&mut self) -> Option<&mut PipedServer> {
        match &mut self.way {
            Way::Pipes(piped) => Some(piped),
            Way::Url(_) => None,
        }
    }

    /// The server behind a URL.
    pub fn by_url(&mut self) -> Option<&mut RawHttp> {
        match &mut self.way {
            Way::Pipes(_) => None,
            Way::Url(server) => Some(&mut server.http),
        }
    }

    fn started(&self) -> Option<&StartedServer> {
        match &self.way {
            Way::Pipes(_) => None,
            Way::Url(server) => server.started.as_ref(),
        }
    }

    fn stderr(&self) -> StderrHandle {
        match &self.way {
            Way::Pipes(piped) => piped.stderr.clone(),
            Way::Url(_) => self
                .started()
                .map_or_else(StderrHandle::none, |started| started.stderr.clone()),
        }
    }

    /// Whether there is a process, which has not ended.
    fn is_process(&self) -> bool {
        match &self.way {
            Way::Pipes(_) => true,
            Way::Url(_) => self.started().is_some_and(|s| !s.exit.has_exited()),
        }
    }

    pub fn wrote(&mut self, bytes: usize) {
        if let Some(piped) = self.piped() {
            piped.written += bytes as u64;
        }
    }

    /// Of a server in use, what was noise before a message is not its last word.
    pub fn count_message(&mut self, in_use: bool) {
        self.messages += 1;
        if in_use {
            self.noise.clear();
        }
    }

    pub fn add_noise(&mut self, line: &[u8], settings: &ProxySettings) {
        self.noise_count += 1;
        let head = &line[..line.len().min(64 * NOISE_BYTES)];
        let text = String::from_utf8_lossy(head);
        if self.noise.len() == NOISE {
            self.noise.pop_front();
        }
        let text = settings.redactor.cut(text.trim_end(), NOISE_BYTES);
        self.noise.push_back(text);
    }

    /// It took all that it was sent from its stdin.
    #[must_use]
    pub fn read_all(&self) -> bool {
        match &self.way {
            Way::Pipes(piped) => piped.written > 0 && piped.process.unread_stdin_bytes() == Some(0),
            Way::Url(_) => false,
        }
    }

    /// How it ended, after its stdout has.
    pub async fn exit(&mut self) -> Option<Exit> {
        let exit = match &self.way {
            Way::Pipes(piped) => piped.exit.clone(),
            Way::Url(_) => self.started()?.exit.clone(),
        };
        let exit = timeout(CLOSED_GRACE, exit.wait()).await.ok();
        if exit.is_some() {
            self.stderr().settled().await;
        }
        exit
    }

    /// Kills its process; false where it has none.
    pub fn kill(&mut self) -> bool {
        let process = match &mut self.way {
            Way::Pipes(piped) => Some(&mut piped.process),
            Way::Url(server) => server.started.as_mut().map(|started| &mut started.process),
        };
        process.map(Process::kill).is_some()
    }

    /// Ends it.
    pub async fn stop(&mut self, grace: Duration) {
        match &mut self.way {
            Way::Pipes(piped) => {
                piped.stdin = None;
                piped.process.shutdown(grace).await;
            }
            Way::Url(server) => {
                server.http.end(grace).await;
                if let Some(started) = &mut server.started {
                    started.process.shutdown(grace).await;
                }
            }
        }
    }

    /// The failure of a server that has ended: in its start, or in use of the
    /// request with this method.
    pub fn ended(
        &mut self,
        settings: &ProxySettings,
        exit: Option<Exit>,
        was_ready: bool,
        method: Option<&str>,
    ) -> Failure {
        let outsider = outsider(settings);
        if was_ready {
            let noise = self.noise.iter().cloned().collect();
            return outsider.died(exit, (self.stderr().tail(), noise), method);
        }
        let method = method.unwrap_or(Era::Legacy.opening());
        let start = match exit {
            Some(exit) => StartFailure {
                outcome: Outcome::Eof,
                message: format!(
                    "exited during startup {}, before it answered `{method}`",
                    describe_exit(&exit)
                ),
                exit: Some(exit),
                ..self.unready(method)
            },
            None => StartFailure {
                message: "broke the protocol during startup: it closed its stdout and lives on"
                    .to_owned(),
                protocol_breach: Some("closed its stdout and lives on".to_owned()),
                process_alive: true,
                ..self.unready(method)
            },
        };
        outsider.unready(start)
    }

    /// The failure of a server that is still starting.
    pub async fn still_starting(
        &mut self,
        settings: &ProxySettings,
        method: Option<&str>,
    ) -> Failure {
        self.stderr().caught_up().await;
        let limit = settings.relay.startup_timeout;
        let method = method.unwrap_or(Era::Legacy.opening());
        outsider(settings).unready(StartFailure {
            outcome: Outcome::Timeout,
            message: format!(
                "timed out during startup: no answer to `{method}` within {}",
                human_duration(limit)
            ),
            timeout: Some(limit),
            process_alive: self.is_process(),
            ..self.unready(method)
        })
    }

    /// The failure of a server behind a URL that does not become ready.
    pub fn unreached(&self, settings: &ProxySettings, end: HttpEnd, method: &str) -> Failure {
        let own = self.unready(method);
        outsider(settings).unready(StartFailure {
            elapsed: own.elapsed,
            stderr: own.stderr,
            stdout: own.stdout,
            showed_life: own.showed_life,
            process_alive: self.is_process(),
            ..unreached(end, method)
        })
    }

    /// The last lines that it said, for people.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let stderr = self.stderr().tail();
        let said = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        let noise = self.noise.iter().map(|line| line.trim());
        said.or_else(|| noise.rev().find(|line| !line.is_empty()))
            .map(|line| show_text(line).into_owned())
    }

    /// The failure of a server that refused to be told what the one before it
    /// knew.
    pub fn unrestored(&mut self, settings: &ProxySettings) -> Failure {
        outsider(settings).unready(StartFailure {
            outcome: Outcome::Error,
            message: "refused `initialize`, which the server before it had taken".to_owned(),
            ..self.unready(Era::Legacy.opening())
        })
    }

    fn unready(&self, method: &str) -> StartFailure {
        let stderr = self.stderr();
        let stdout = self.started().map(|started| &started.stdout);
        let said = stderr.bytes() + stdout.map_or(0, StderrHandle::bytes);
        StartFailure {
            stderr: stderr.tail(),
            stdout: stdout.map(StderrHandle::tail),
            stdout_noise: self.noise.iter().cloned().collect(),
            noise_count: self.noise_count,
            showed_life: said + self.messages + self.noise_count > 0,
            elapsed: self.started.elapsed(),
            ..unready(method)
        }
    }
}

/// A start that came to nothing, of which nothing else is known.
fn unready(method: &str) -> StartFailure {
    StartFailure {
        request: Some(RequestFacts {
            method: method.to_owned(),
            params: None,
            ..RequestFacts::default()
        }),
        ..StartFailure::of(Phase::Handshake, Outcome::Ok)
    }
}

/// The first request to a URL came to this.
fn unreached(end: HttpEnd, method: &str) -> StartFailure {
    let outcome = match end.rpc_error {
        Some(_) => Outcome::Error,
        None => Outcome::Ok,
    };
    StartFailure {
        outcome,
        message: format!("did not become ready: `{method}` {}", end.message),
        http: Some(end.facts),
        rpc_error: end.rpc_error,
        protocol_breach: end.breach,
        own_limit: end.own_limit,
        ..unready(method)
    }
}
