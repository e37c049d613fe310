//! The server, as a process or behind a URL, and what is known of it.
//!
//! Main type: [`Upstream`].

use super::pass_on::PassOn;
use super::settings::ProxySettings;
use jelly_base::mcp::Era;
use jelly_base::model::{Exit, Failure, Outcome, Phase, RequestFacts, SpawnError};
use jelly_base::text::human_duration;
use jelly_harness::exec::{Outsider, preflight};
use jelly_process::{
    Capture, CommandSpec, ExitBoundReader, ExitWatch, Process, StderrHandle, spawn,
};
use jelly_wire::{HttpEnd, LineSplitter, RawHttp, Reach, StartFailure, describe_exit};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout};

/// Lines on stdout that are no message, and of which the last are kept.
const NOISE: usize = 20;
/// Bytes of such a line that are kept.
const NOISE_BYTES: usize = 300;
/// What a process may take to exit once it has closed its stdout.
const CLOSED_GRACE: Duration = Duration::from_secs(1);

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
    Url(Box<RawHttp>),
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
        if let Some(failure) = preflight(&settings.name, &settings.reach, &settings.redactor) {
            return Err(Box::new(failure));
        }
        let capture = Capture {
            redactor: settings.redactor.clone(),
            pass_on: pass_on.map(|pass_on| Box::new(pass_on) as Box<_>),
            ..Capture::default()
        };
        let refuse = |error: SpawnError| Box::new(outsider(settings).unspawned(command, error));
        let mut process = spawn(command, capture).await.map_err(refuse)?;
        let Some(stdout) = process.stdout.take() else {
            return Err(refuse(SpawnError::default()));
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
            Reach::Http(endpoint) => match RawHttp::new(endpoint, &settings.redactor) {
                Ok(http) => Way::Url(Box::new(http)),
                Err(end) => {
                    let method = Era::Legacy.opening();
                    return Err(Box::new(
                        outsider(settings).unready(unreached(*end, method)),
                    ));
                }
            },
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
            Way::Url(http) => Some(http),
        }
    }

    fn stderr(&self) -> StderrHandle {
        match &self.way {
            Way::Pipes(piped) => piped.stderr.clone(),
            Way::Url(_) => StderrHandle::none(),
        }
    }

    pub fn wrote(&mut self, bytes: usize) {
        if let Some(piped) = self.piped() {
            piped.written += bytes as u64;
        }
    }

    pub fn count_message(&mut self) {
        self.messages += 1;
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
        let piped = self.piped()?;
        let exit = timeout(CLOSED_GRACE, piped.exit.wait()).await.ok();
        if exit.is_some() {
            piped.stderr.settled().await;
        }
        exit
    }

    /// Kills its process; false where it has none.
    pub fn kill(&mut self) -> bool {
        let piped = self.piped();
        piped.map(|piped| piped.process.kill()).is_some()
    }

    /// Ends it.
    pub async fn stop(&mut self, grace: Duration) {
        match &mut self.way {
            Way::Pipes(piped) => {
                piped.stdin = None;
                piped.process.shutdown(grace).await;
            }
            Way::Url(http) => http.end(grace).await,
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
            let exit = exit.unwrap_or_default();
            return outsider.died(exit, self.stderr().tail(), method);
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
            process_alive: self.piped().is_some(),
            ..self.unready(method)
        })
    }

    /// The failure of a server behind a URL that does not become ready.
    pub fn unreached(&self, settings: &ProxySettings, end: HttpEnd, method: &str) -> Failure {
        outsider(settings).unready(StartFailure {
            elapsed: self.started.elapsed(),
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
            .map(str::to_owned)
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
        StartFailure {
            stderr: stderr.tail(),
            stdout_noise: self.noise.iter().cloned().collect(),
            noise_count: self.noise_count,
            showed_life: stderr.bytes() + self.messages + self.noise_count > 0,
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
