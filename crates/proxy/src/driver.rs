//! The loop between a client and its server: in one task, so that a message
//! makes no detour.
//!
//! Main type: [`Proxy`].

use super::adapter::{Adapter, StoreSchemas};
use super::client::{Client, FromClient};
use super::diagnosis::trouble_of;
use super::learner::Learner;
use super::message::is_other_json;
use super::pass_on::PassOn;
use super::relay::{Relay, Wish};
use super::settings::{FULL, Onlookers, ProxySettings, Recording};
use super::silence::{Silence, Trial, TrialEnd};
use super::spans::SpanTap;
use super::trouble::Trouble;
use super::upstream::{Upstream, Way};
use jelly_base::model::{Failure, UpstreamErrorType};
use jelly_triage::engine::Engine;
use jelly_wire::{Frame, LineSplitter, RawNews};
use std::collections::HashMap;
use std::future::Future;
use std::io::{self, Write};
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

/// What the server may take to exit when the client has closed its end, and
/// again after SIGTERM. Clients insist after two seconds themselves.
pub const GRACE: Duration = Duration::from_millis(700);
/// What requests that were sent before the client closed its end may take, once
/// the server is ready or has been told all of them.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// What tells what is wrong, for all clients of a proxy.
pub type SharedEngine = Rc<dyn Deref<Target = Engine>>;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyEnd {
    /// The client closed its end.
    Closed,
    /// Somebody asked for it.
    Interrupted,
}

/// One client and one server.
pub struct Proxy {
    pub(super) settings: Rc<ProxySettings>,
    engine: SharedEngine,
    pub(super) relay: Relay<Onlookers>,
    learner: Option<Learner>,
    pub(super) upstream: Option<Upstream>,
    pub(super) pass_on: PassOn,
    client: Client,
    /// When the client closed its end.
    closed: Option<Instant>,
    /// When the client last took something.
    took: Instant,
    pub(super) trial: Option<Trial>,
    pub(super) silence: Silence,
}

/// What happened.
enum News {
    Client(FromClient),
    FromServer(io::Result<usize>),
    ToServer(io::Result<usize>),
    /// Nothing where its process, which is ours, has ended.
    ByUrl(Option<RawNews>),
    Due,
    Tried(TrialEnd),
    Schemas(StoreSchemas),
}

impl Proxy {
    /// # Errors
    /// No thread for the schema store can be had.
    pub fn new(
        settings: Rc<ProxySettings>,
        engine: SharedEngine,
        client: Client,
        (pass_on, spans): (PassOn, Option<SpanTap>),
    ) -> io::Result<Self> {
        let recording = settings.recorder.as_ref().map(|recorder| Recording {
            recorder: recorder.session(&settings.name, &settings.reach, &settings.redactor),
            server: settings.name.clone(),
            redactor: settings.redactor.clone(),
        });
        let tap = Onlookers {
            recording,
            spans,
            log: pass_on.clone(),
            redactor: settings.redactor.clone(),
            rungs: HashMap::new(),
        };
        let mut adapter = settings.adapts.then(|| Adapter::new(&settings.name));
        let learner = match (&mut adapter, settings.schemas.clone()) {
            (Some(adapter), Some((store, known))) => {
                adapter.set(&known);
                let server = settings.name.clone();
                Some(Learner::start(store, server, known, pass_on.clone())?)
            }
            _ => None,
        };
        Ok(Self {
            relay: Relay::new(settings.relay.clone(), adapter, tap),
            settings,
            engine,
            learner,
            upstream: None,
            pass_on,
            client,
            closed: None,
            took: Instant::now(),
            trial: None,
            silence: Silence::Unread(None),
        })
    }

    /// Passes messages until the client closes its end.
    ///
    /// # Errors
    /// The client's streams can't be used.
    pub async fn run(mut self, interrupted: impl Future<Output = ()>) -> io::Result<ProxyEnd> {
        let end = tokio::select! {
            end = self.work() => end.map(|()| ProxyEnd::Closed),
            () = interrupted => Ok(ProxyEnd::Interrupted),
        };
        let learner = self.learner.take();
        let written = async {
            if let Some(learner) = learner {
                learner.finish().await;
            }
        };
        let stopped = async {
            if let Some(upstream) = &mut self.upstream {
                upstream.stop(GRACE).await;
            }
        };
        tokio::join!(written, stopped);
        end
    }

    async fn work(&mut self) -> io::Result<()> {
        loop {
            self.grant().await;
            self.hand_over();
            if self.is_over() {
                return Ok(());
            }
            match self.news().await {
                News::Client(FromClient::Read(Ok(0) | Err(_)) | FromClient::Gone) => self.close(),
                News::Client(FromClient::Read(Ok(_))) => self.read_client(),
                News::Client(FromClient::Message(line)) => {
                    self.relay.from_client(&line, Instant::now());
                }
                News::Client(FromClient::Wrote(Ok(wrote))) => {
                    self.took = Instant::now();
                    self.relay.to_client().took(wrote);
                }
                // Nobody reads it any more.
                News::Client(FromClient::Wrote(Err(_))) => return Ok(()),
                News::Client(FromClient::Room) => {}
                News::FromServer(Ok(0) | Err(_)) => self.server_ended().await,
                News::FromServer(Ok(_)) => self.read_server(),
                News::ToServer(Ok(wrote)) => {
                    self.relay.to_server().took(wrote);
                    if let Some(upstream) = &mut self.upstream {
                        upstream.wrote(wrote);
                    }
                }
                // Its exit, or the end of its stdout, says why.
                News::ToServer(Err(_)) => {
                    if let Some(piped) = self.upstream.as_mut().and_then(Upstream::piped) {
                        piped.stdin = None;
                    }
                    self.relay.to_server().clear();
                }
                News::ByUrl(Some(news)) => self.heard_by_url(news),
                News::ByUrl(None) => self.server_ended().await,
                News::Due => self.due().await,
                News::Tried(end) => self.tried(end),
                News::Schemas(schemas) => self.schemas_changed(&schemas),
            }
        }
    }

    /// Gives what goes in whole messages to who takes it so.
    fn hand_over(&mut self) {
        self.client.take_messages(self.relay.to_client());
        if let Some(http) = self.upstream.as_mut().and_then(Upstream::by_url) {
            let client = &self.client;
            let send = |line: &[u8]| http.send(line, &client.carried(line));
            self.relay.to_server().take_lines(send);
        }
    }

    async fn news(&mut self) -> News {
        let to_client = std::mem::take(self.relay.to_client());
        let to_server = std::mem::take(self.relay.to_server());
        let due = earliest(self.relay.due(), self.last_answers());
        let due = earliest(due, self.silent_until());
        let mut unsent = to_server.unsent().len();
        let reads_server = to_client.unsent().len() < FULL && !self.client.is_full();
        let (mut stdin, mut stdout, mut url) = (None, None, None);
        match self.upstream.as_mut().map(|upstream| &mut upstream.way) {
            Some(Way::Pipes(piped)) => {
                stdin = piped.stdin.as_mut();
                stdout = Some((&mut piped.stdout, &mut piped.splitter));
            }
            Some(Way::Url(server)) => {
                unsent += server.http.unsent();
                url = Some(server);
            }
            None => {}
        }
        let reads_client = self.closed.is_none() && unsent < FULL;
        let writes_server = !to_server.is_empty() && stdin.is_some();
        let learner = self.learner.as_mut();
        let learns = learner.is_some();
        let trial = self.trial.as_mut();
        let tries = trial.is_some();
        // In no order: a server that never stops talking must not keep the
        // client from being heard.
        let news = tokio::select! {
            news = self.client.news(to_client.unsent(), reads_client) => News::Client(news),
            wrote = async {
                match stdin {
                    Some(stdin) => stdin.write(to_server.unsent()).await,
                    None => std::future::pending().await,
                }
            }, if writes_server => News::ToServer(wrote),
            read = async {
                match stdout {
                    Some((stdout, splitter)) => stdout.read_buf(splitter.room()).await,
                    None => std::future::pending().await,
                }
            }, if reads_server => News::FromServer(read),
            news = async {
                match url {
                    Some(server) => server.news().await,
                    None => std::future::pending().await,
                }
            }, if reads_server => News::ByUrl(news),
            end = async {
                match trial {
                    Some(trial) => trial.ends.as_mut().await,
                    None => std::future::pending().await,
                }
            }, if tries => News::Tried(end),
            schemas = async {
                match learner {
                    Some(learner) => learner.changed().await,
                    None => std::future::pending().await,
                }
            }, if learns => News::Schemas(schemas),
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
                    if let Some(trouble) = self.settings.refused.clone() {
                        self.gone(trouble);
                        continue;
                    }
                    // One that was silent over the probe lives still.
                    if let Some(mut silent) = self.upstream.take() {
                        silent.stop(GRACE).await;
                    }
                    let pass_on = Some(self.pass_on.clone());
                    match Upstream::start(&self.settings, pass_on).await {
                        Ok(upstream) => {
                            self.upstream = Some(upstream);
                            self.relay.started();
                        }
                        Err(failure) => self.failed(&failure),
                    }
                }
                Wish::Kill => {
                    let was_killed = self.upstream.as_mut().map(Upstream::kill);
                    if was_killed == Some(false) {
                        self.cut_off();
                    }
                }
                Wish::Stop => {
                    if let Some(mut upstream) = self.upstream.take() {
                        upstream.stop(GRACE).await;
                        let failure = upstream.unrestored(&self.settings);
                        self.failed(&failure);
                    }
                }
            }
        }
    }

    pub(super) fn failed(&mut self, failure: &Failure) {
        let trouble = trouble_of(&self.engine, failure, self.kind_of_end());
        self.gone(trouble);
    }

    /// There is no server, for this reason.
    fn gone(&mut self, trouble: Trouble) {
        self.log(&trouble);
        self.relay.gone(trouble, Instant::now());
    }

    fn kind_of_end(&self) -> UpstreamErrorType {
        match self.relay.is_ready() {
            true => UpstreamErrorType::Died,
            false => UpstreamErrorType::StartupFailed,
        }
    }

    /// What the client is told of it, which stands in the log already.
    pub(super) fn told(&mut self, failure: &Failure, kind: UpstreamErrorType) -> Trouble {
        let trouble = trouble_of(&self.engine, failure, kind);
        self.log(&trouble);
        trouble
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
        // A client that reads nothing is not waited for either.
        let reads = self.took.max(closed).elapsed() < LAST_ANSWERS;
        let unwritten = !self.relay.to_client().is_empty() && reads;
        let unsent = !self.relay.to_server().is_empty();
        let waits = (unsent || self.relay.is_asked()) && closed.elapsed() < self.patience();
        let lives = self.upstream.is_some() || self.trial.is_some();
        !(unwritten || lives && waits)
    }

    /// When it is looked again whether anything is still to be waited for, after
    /// the client closed its end.
    fn last_answers(&self) -> Option<Instant> {
        let closed = self.closed?;
        let now = Instant::now();
        let moments = [
            closed + self.patience(),
            self.took.max(closed) + LAST_ANSWERS,
        ];
        moments.into_iter().filter(|at| *at > now).min()
    }

    /// How long they may take: a server that is starting has its own time.
    fn patience(&self) -> Duration {
        match self.relay.is_ready() {
            true => LAST_ANSWERS,
            false => LAST_ANSWERS.max(self.settings.relay.startup_timeout),
        }
    }

    fn close(&mut self) {
        if let Some(splitter) = self.client.splitter()
            && let Some(Frame::Line(line)) = splitter.finish()
        {
            self.relay.from_client(line, Instant::now());
        }
        self.closed = Some(Instant::now());
        self.relay.close();
    }

    fn read_client(&mut self) {
        let now = Instant::now();
        let Some(splitter) = self.client.splitter() else {
            return;
        };
        while let Some(frame) = splitter.next_frame() {
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
        let Some(piped) = upstream.piped() else {
            return;
        };
        let now = Instant::now();
        // The lines are lent from it while it is told of them.
        let mut splitter = std::mem::take(&mut piped.splitter);
        while let Some(frame) = splitter.next_frame() {
            take_frame(
                &mut self.relay,
                upstream,
                &mut self.pass_on,
                &self.settings,
                frame,
                now,
            );
        }
        if let Some(piped) = upstream.piped() {
            piped.splitter = splitter;
        }
        self.learn();
    }

    /// A message of a server behind a URL.
    pub(super) fn heard(&mut self, line: &[u8]) {
        if let Some(upstream) = &mut self.upstream {
            take_frame(
                &mut self.relay,
                upstream,
                &mut self.pass_on,
                &self.settings,
                Frame::Line(line),
                Instant::now(),
            );
        }
        self.learn();
    }

    fn learn(&mut self) {
        if let Some(learner) = &self.learner {
            learner.learn(self.relay.take_learnt());
        }
    }

    fn schemas_changed(&mut self, schemas: &StoreSchemas) {
        if self.relay.schemas_changed(schemas) {
            let _ = writeln!(
                self.pass_on,
                "jelly proxy: the output schemas of {} have changed; clients have to list its tools \
                 anew",
                self.settings.name
            );
        }
    }

    /// The server's stdout is at its end.
    async fn server_ended(&mut self) {
        let Some(mut upstream) = self.upstream.take() else {
            return;
        };
        let piped = upstream.piped();
        let mut splitter = piped.map(|piped| std::mem::take(&mut piped.splitter));
        if let Some(frame) = splitter.as_mut().and_then(LineSplitter::finish) {
            let now = Instant::now();
            take_frame(
                &mut self.relay,
                &mut upstream,
                &mut self.pass_on,
                &self.settings,
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
        let mut failure = upstream.ended(&self.settings, exit.clone(), was_ready, method);
        let mut is_of_noise = exit.is_some() && self.relay.follows_noise();
        if is_of_noise {
            // What it could not read is the client's line only where it says nothing else
            // of why it ended; at its start it reads files too.
            let at_start = upstream.ended(&self.settings, exit.clone(), false, None);
            let kind = UpstreamErrorType::StartupFailed;
            let found = trouble_of(&self.engine, &at_start, kind).data.root_cause;
            is_of_noise = found == "invalid_config";
            if is_of_noise && !was_ready {
                failure = upstream.ended(&self.settings, exit, true, None);
            }
        }
        let probed = self.relay.only_probed() && upstream.read_all();
        upstream.stop(GRACE).await;
        if probed {
            // It may have died of the probe alone.
            self.relay.wait();
            match &mut self.trial {
                // One that was silent has ended while another was tried.
                Some(trial) => *trial.first = failure,
                None => self.trial = Some(self.try_without_probe(failure)),
            }
            return;
        }
        let trouble = trouble_of(&self.engine, &failure, self.kind_of_end());
        self.gone(match is_of_noise {
            true => trouble.after_noise(),
            false => trouble,
        });
    }

    async fn due(&mut self) {
        let now = Instant::now();
        self.break_silence(now).await;
        if !self.relay.tick(now) {
            return;
        }
        let method = self.relay.asked_for();
        // There is none while it is found out what one died of, or while the
        // next one waits to be started.
        let (failure, words) = match &mut self.upstream {
            Some(upstream) => (
                upstream.still_starting(&self.settings, method).await,
                upstream.last_words(),
            ),
            None => (Failure::default(), None),
        };
        let kind = UpstreamErrorType::StillStarting;
        let trouble = trouble_of(&self.engine, &failure, kind);
        let trouble = trouble.while_starting(words.as_deref());
        self.log(&trouble);
        self.relay.still_starting(&trouble, now);
    }
}

fn take_frame(
    relay: &mut Relay<Onlookers>,
    upstream: &mut Upstream,
    pass_on: &mut PassOn,
    settings: &ProxySettings,
    frame: Frame<'_>,
    now: Instant,
) {
    match frame {
        Frame::Line(line) if relay.from_server(line, now) => {
            let in_use = relay.is_ready();
            // It passes; of a server that dies at its start, it may say why.
            match !in_use && is_other_json(line) {
                true => upstream.add_noise(line, settings),
                false => upstream.count_message(in_use),
            }
        }
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
