//! One client at the standard streams, one server that is a process, and a
//! relay between them: in one task, so that a message makes no detour.
//!
//! Main function: [`run`].

use super::diagnosis::trouble_of;
use super::front::{ClientInput, ClientOutput};
use super::pass_on::PassOn;
use super::relay::{Relay, Wish};
use super::settings::{ProxySettings, Recording, Tap};
use super::trouble::Trouble;
use super::upstream::{Upstream, outsider};
use jelly_base::mcp::Era;
use jelly_base::model::{Failure, UpstreamErrorType};
use jelly_harness::exec::{CheckupSettings, examine};
use jelly_triage::engine::Engine;
use jelly_wire::{Direction, Frame, Launch, LineSplitter, Reach, start};
use std::future::Future;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

/// What waits to be written to one side before the other is read on.
const FULL: usize = 4 * 1024 * 1024;
/// What the server may take to exit when the client has closed its end, and
/// again after SIGTERM. Clients insist after two seconds themselves.
const GRACE: Duration = Duration::from_millis(700);
/// What requests that were sent before the client closed its end may take.
const LAST_ANSWERS: Duration = Duration::from_secs(60);
/// What the end may take until all of stderr is written.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// A process that is started only to see whether it lives.
const TRIAL: Duration = Duration::from_secs(20);

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyEnd {
    /// The client closed its end.
    Closed,
    /// Somebody asked for it.
    Interrupted,
}

/// Looks whether the server can be started: what a client would be told, where
/// it can't, and else how many tools it has.
///
/// # Errors
/// What is in the way.
pub async fn trial(settings: &ProxySettings, engine: &Engine) -> Result<usize, Box<Trouble>> {
    let checkup = CheckupSettings {
        startup_timeout: settings.relay.startup_timeout,
        redactor: settings.redactor.clone(),
        starts: Arc::new(Semaphore::new(1)),
    };
    let reach = Reach::Stdio(settings.command.clone());
    let examined = examine(&settings.name, &reach, &checkup).await;
    match (examined.failure, examined.ready) {
        (_, Some(ready)) => Ok(ready.tools),
        (failure, None) => Err(Box::new(trouble_of(
            engine,
            &failure.unwrap_or_default(),
            UpstreamErrorType::StartupFailed,
        ))),
    }
}

/// Passes messages until the client closes its end.
///
/// # Errors
/// Our own streams can't be used.
pub async fn run(
    settings: &ProxySettings,
    engine: &Engine,
    interrupted: impl Future<Output = ()>,
) -> io::Result<ProxyEnd> {
    let tap: Box<dyn Tap> = match &settings.recorder {
        Some(recorder) => Box::new(Recording {
            recorder: recorder.session(
                &settings.name,
                &Reach::from(settings.command.clone()),
                &settings.redactor,
            ),
            server: settings.name.clone(),
            redactor: settings.redactor.clone(),
        }),
        None => Box::new(()),
    };
    let (pass_on, passed_on) = PassOn::start()?;
    let mut proxy = Proxy {
        settings,
        engine,
        relay: Relay::new(settings.relay.clone(), tap),
        upstream: None,
        pass_on,
        input: ClientInput::new()?,
        output: ClientOutput::new()?,
        splitter: LineSplitter::default(),
        closed: None,
        trial: None,
    };
    let end = tokio::select! {
        end = proxy.work() => end.map(|()| ProxyEnd::Closed),
        () = interrupted => Ok(ProxyEnd::Interrupted),
    };
    if let Some(upstream) = &mut proxy.upstream {
        upstream.stop(GRACE).await;
    }
    drop(proxy);
    passed_on.wait(LAST_WORDS);
    end
}

impl Tap for Box<dyn Tap> {
    fn passed(&mut self, direction: Direction, line: &[u8]) {
        (**self).passed(direction, line);
    }
}

/// What is awaited of a process that is not probed; its failure, where it is
/// none of the probe's doing.
type Trial = Pin<Box<dyn Future<Output = Option<Box<Failure>>>>>;

struct Proxy<'a> {
    settings: &'a ProxySettings,
    engine: &'a Engine,
    relay: Relay<Box<dyn Tap>>,
    upstream: Option<Upstream>,
    pass_on: PassOn,
    input: ClientInput,
    output: ClientOutput,
    splitter: LineSplitter,
    /// When the client closed its end.
    closed: Option<Instant>,
    trial: Option<Trial>,
}

/// What happened.
enum News {
    FromClient(io::Result<usize>),
    ToClient(io::Result<usize>),
    FromServer(io::Result<usize>),
    ToServer(io::Result<usize>),
    Due,
    Tried(Option<Box<Failure>>),
}

impl Proxy<'_> {
    async fn work(&mut self) -> io::Result<()> {
        loop {
            self.grant().await;
            if self.is_over() {
                return Ok(());
            }
            match self.news().await {
                News::FromClient(Ok(0) | Err(_)) => self.close(),
                News::FromClient(Ok(_)) => self.read_client(),
                News::ToClient(Ok(wrote)) => drop(self.relay.to_client().drain(..wrote)),
                // Nobody reads it any more.
                News::ToClient(Err(_)) => return Ok(()),
                News::FromServer(Ok(0) | Err(_)) => self.server_ended().await,
                News::FromServer(Ok(_)) => self.read_server(),
                News::ToServer(Ok(wrote)) => {
                    drop(self.relay.to_server().drain(..wrote));
                    if let Some(upstream) = &mut self.upstream {
                        upstream.wrote(wrote);
                    }
                }
                // Its exit, or the end of its stdout, says why.
                News::ToServer(Err(_)) => {
                    if let Some(upstream) = &mut self.upstream {
                        upstream.stdin = None;
                    }
                    self.relay.to_server().clear();
                }
                News::Due => self.due().await,
                News::Tried(failure) => self.tried(failure),
            }
        }
    }

    async fn news(&mut self) -> News {
        let to_client = std::mem::take(self.relay.to_client());
        let to_server = std::mem::take(self.relay.to_server());
        let due = earliest(self.relay.due(), self.closed.map(|at| at + LAST_ANSWERS));
        let reads_client = self.closed.is_none() && to_server.len() < FULL;
        let (reads_server, stdin, stdout) = match &mut self.upstream {
            Some(Upstream {
                stdin,
                stdout,
                splitter,
                ..
            }) => (
                to_client.len() < FULL,
                stdin.as_mut(),
                Some((stdout, splitter)),
            ),
            None => (false, None, None),
        };
        let writes_server = !to_server.is_empty() && stdin.is_some();
        let trial = self.trial.as_mut();
        let tries = trial.is_some();
        let news = tokio::select! {
            biased;
            wrote = self.output.write(&to_client), if !to_client.is_empty() => {
                News::ToClient(wrote)
            }
            wrote = async {
                match stdin {
                    Some(stdin) => stdin.write(&to_server).await,
                    None => std::future::pending().await,
                }
            }, if writes_server => News::ToServer(wrote),
            read = async {
                match stdout {
                    Some((stdout, splitter)) => stdout.read_buf(splitter.room()).await,
                    None => std::future::pending().await,
                }
            }, if reads_server => News::FromServer(read),
            read = self.input.read(self.splitter.room()), if reads_client => {
                News::FromClient(read)
            }
            failure = async {
                match trial {
                    Some(trial) => trial.await,
                    None => std::future::pending().await,
                }
            }, if tries => News::Tried(failure),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => News::Due,
        };
        *self.relay.to_client() = to_client;
        *self.relay.to_server() = to_server;
        news
    }

    /// Does what the relay wants.
    async fn grant(&mut self) {
        while let Some(wish) = self.relay.wish() {
            match wish {
                Wish::Start => {
                    self.upstream = None;
                    let pass_on = Some(self.pass_on.clone());
                    match Upstream::start(self.settings, pass_on).await {
                        Ok(upstream) => {
                            self.upstream = Some(upstream);
                            self.relay.started();
                        }
                        Err(failure) => self.failed(&failure),
                    }
                }
                Wish::Stop => {
                    if let Some(mut upstream) = self.upstream.take() {
                        upstream.stop(GRACE).await;
                        let failure = upstream.unrestored(self.settings);
                        self.failed(&failure);
                    }
                }
            }
        }
    }

    fn failed(&mut self, failure: &Failure) {
        let kind = match self.relay.is_ready() {
            true => UpstreamErrorType::Died,
            false => UpstreamErrorType::StartupFailed,
        };
        let trouble = trouble_of(self.engine, failure, kind);
        self.log(&trouble);
        self.relay.gone(trouble, Instant::now());
    }

    /// For who reads the client's log.
    fn log(&mut self, trouble: &Trouble) {
        let _ = writeln!(self.pass_on, "jelly proxy: {}", trouble.message);
    }

    /// The client has closed its end, and nothing is to be waited for.
    fn is_over(&mut self) -> bool {
        let Some(closed) = self.closed else {
            return false;
        };
        let unwritten = !self.relay.to_client().is_empty();
        let unsent = !self.relay.to_server().is_empty();
        let waits = self.relay.is_asked() && closed.elapsed() < LAST_ANSWERS;
        let lives = self.upstream.is_some() || self.trial.is_some();
        !(unwritten || lives && (unsent || waits))
    }

    fn close(&mut self) {
        if let Some(Frame::Line(line)) = self.splitter.finish() {
            self.relay.from_client(line, Instant::now());
        }
        self.closed = Some(Instant::now());
        self.relay.close();
    }

    fn read_client(&mut self) {
        let now = Instant::now();
        while let Some(frame) = self.splitter.next_frame() {
            match frame {
                Frame::Line(line) => self.relay.from_client(line, now),
                Frame::TooLong(limit) => {
                    let _ = writeln!(
                        self.pass_on,
                        "jelly proxy: a message of the client is longer than {limit} bytes and was \
                         left out"
                    );
                }
            }
        }
    }

    fn read_server(&mut self) {
        let Some(upstream) = &mut self.upstream else {
            return;
        };
        let now = Instant::now();
        // The lines are lent from it while it is told of them.
        let mut splitter = std::mem::take(&mut upstream.splitter);
        while let Some(frame) = splitter.next_frame() {
            take_frame(
                &mut self.relay,
                upstream,
                &mut self.pass_on,
                self.settings,
                frame,
                now,
            );
        }
        upstream.splitter = splitter;
    }

    /// The server's stdout is at its end.
    async fn server_ended(&mut self) {
        let Some(mut upstream) = self.upstream.take() else {
            return;
        };
        let mut splitter = std::mem::take(&mut upstream.splitter);
        if let Some(frame) = splitter.finish() {
            let now = Instant::now();
            take_frame(
                &mut self.relay,
                &mut upstream,
                &mut self.pass_on,
                self.settings,
                frame,
                now,
            );
        }
        let exit = upstream.exit().await;
        if self.closed.is_some() && !self.relay.is_asked() {
            upstream.stop(GRACE).await;
            return;
        }
        let was_ready = self.relay.is_ready();
        let method = self.relay.asked_for();
        let failure = upstream.ended(self.settings, exit, was_ready, method);
        let probed = self.relay.only_probed() && upstream.read_all();
        upstream.stop(GRACE).await;
        if probed && self.closed.is_none() {
            // It may have died of the probe alone.
            self.relay.wait();
            self.trial = Some(self.try_without_probe(failure));
            return;
        }
        self.failed(&failure);
    }

    /// Starts a process that is asked in the legacy era alone.
    fn try_without_probe(&self, first: Failure) -> Trial {
        let launch = Launch {
            era: Some(Era::Legacy),
            startup_timeout: self.settings.relay.startup_timeout.min(TRIAL),
            redactor: self.settings.redactor.clone(),
            ..Launch::new(
                self.settings.name.clone(),
                Reach::Stdio(self.settings.command.clone()),
            )
        };
        let outsider = outsider(self.settings);
        Box::pin(async move {
            match start(&launch).await {
                Ok(mut session) => {
                    session.shutdown(GRACE).await;
                    None
                }
                // What is said of both is the same, where it is not the probe.
                Err(failure) if failure.exit.is_some() => {
                    Some(Box::new(outsider.unready(*failure)))
                }
                Err(_) => Some(Box::new(first)),
            }
        })
    }

    fn tried(&mut self, failure: Option<Box<Failure>>) {
        self.trial = None;
        match failure {
            Some(failure) => self.failed(&failure),
            None => self.relay.is_legacy(),
        }
    }

    async fn due(&mut self) {
        let now = Instant::now();
        if !self.relay.tick(now) {
            return;
        }
        let method = self.relay.asked_for();
        // There is none while it is found out what one died of, or while the
        // next one waits to be started.
        let (failure, words) = match &mut self.upstream {
            Some(upstream) => (
                upstream.still_starting(self.settings, method).await,
                upstream.last_words(),
            ),
            None => (Failure::default(), None),
        };
        let kind = UpstreamErrorType::StillStarting;
        let trouble = trouble_of(self.engine, &failure, kind);
        let trouble = trouble.while_starting(words.as_deref());
        self.log(&trouble);
        self.relay.still_starting(&trouble, now);
    }
}

fn take_frame(
    relay: &mut Relay<Box<dyn Tap>>,
    upstream: &mut Upstream,
    pass_on: &mut PassOn,
    settings: &ProxySettings,
    frame: Frame<'_>,
    now: Instant,
) {
    match frame {
        Frame::Line(line) if relay.from_server(line, now) => upstream.count_message(),
        Frame::Line(line) if line.trim_ascii().is_empty() => {}
        // Clients take it for a broken message; here it does no harm.
        Frame::Line(line) => {
            upstream.add_noise(line, settings);
            let mut whole = line.to_vec();
            whole.push(b'\n');
            let _ = pass_on.write_all(&whole);
        }
        Frame::TooLong(limit) => {
            let _ = writeln!(
                pass_on,
                "jelly proxy: a message of the server is longer than {limit} bytes and was left out"
            );
        }
    }
}

fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
