//! One process that may become a session, and what is said of it if not.
//!
//! Main types: [`Candidate`] and [`Attempt`].

use super::connection::Connection;
use super::exchange::{Beyond, ReplyOutcome};
use super::handshake::{Opening, Settled, Trouble};
use super::http::Link;
use super::launch::{Launch, Reach};
use super::peer::Peer;
use super::reply::{StartFailure, describe_exit};
use jelly_base::mcp::{INITIALIZE, ListKind};
use jelly_base::model::{Outcome, Phase, RequestFacts, RpcError};
use jelly_base::text::{Disarming, Notation, human_duration};
use jelly_process::{Capture, CommandSpec, ExitWatch, Process, StderrHandle, spawn};
use std::io::Write;
use tokio::time::Instant;

/// The copy of stderr on disk grows no larger for one process.
const LOG_BYTES: usize = 16 * 1024 * 1024;

/// A process with its connection.
pub(super) struct Candidate {
    /// Absent where the server is not ours to start.
    pub process: Option<Process>,
    /// Of a process that is reached over HTTP.
    pub stdout: Option<StderrHandle>,
    pub connection: Connection,
    pub notes: Vec<String>,
}

/// A candidate and what came of its handshake.
pub(super) struct Attempt {
    pub candidate: Candidate,
    pub result: Result<Settled, Trouble>,
    pub opening: Opening,
}

impl Candidate {
    /// Starts the process and connects to it.
    pub(super) async fn spawn(
        launch: &Launch,
        started: Instant,
    ) -> Result<Self, Box<StartFailure>> {
        let mut notes = Vec::new();
        let recorder = launch
            .recorder
            .as_ref()
            .map(|recorder| recorder.session(&launch.server, &launch.reach, &launch.redactor));
        let mut peer = Peer::new(
            launch.server.clone(),
            launch.redactor.clone(),
            recorder,
            launch.answers.clone(),
        );
        if launch.wire_check {
            peer.check_messages();
        }
        match &launch.reach {
            Reach::Stdio(command) => {
                let mut process = start_process(launch, command, started, &mut notes).await?;
                let exit = process.exit_watch();
                let exit = async move { exit.wait().await };
                // Both pipes are there: nobody has taken them since the spawn.
                let connection = match (process.stdout.take(), process.stdin.take()) {
                    (Some(stdout), Some(stdin)) => Connection::open(peer, stdout, stdin, exit),
                    _ => Connection::open(peer, tokio::io::empty(), tokio::io::sink(), exit),
                };
                Ok(Self {
                    process: Some(process),
                    stdout: None,
                    connection,
                    notes,
                })
            }
            Reach::Http(endpoint) => {
                // First what can be wrong with the plan alone.
                let link = match Link::new(endpoint, &launch.redactor) {
                    Ok(link) => link,
                    Err(end) => {
                        return Err(Box::new(StartFailure {
                            message: format!("could not be reached: {}", end.message),
                            http: Some(end.facts),
                            elapsed: started.elapsed(),
                            era: launch.era,
                            ..StartFailure::of(Phase::Handshake, Outcome::Ok)
                        }));
                    }
                };
                let mut process = match &endpoint.command {
                    Some(command) => {
                        if let Some(port) = &endpoint.own_port
                            && let Some(why) = port.taken().await
                        {
                            return Err(Box::new(StartFailure {
                                message: format!("was not started: {why}"),
                                elapsed: started.elapsed(),
                                era: launch.era,
                                ..StartFailure::of(Phase::Spawn, Outcome::SpawnError)
                            }));
                        }
                        Some(start_process(launch, command, started, &mut notes).await?)
                    }
                    None => None,
                };
                let stdout = process.as_mut().map(|process| {
                    process.capture_stdout(Capture {
                        redactor: launch.redactor.clone(),
                        ..Capture::default()
                    })
                });
                let exit = process.as_ref().map(Process::exit_watch);
                Ok(Self {
                    process,
                    stdout,
                    connection: super::http::connect(peer, link, exit),
                    notes,
                })
            }
        }
    }
}

async fn start_process(
    launch: &Launch,
    command: &CommandSpec,
    started: Instant,
    notes: &mut Vec<String>,
) -> Result<Process, Box<StartFailure>> {
    let capture = Capture {
        redactor: launch.redactor.clone(),
        sink: open_log(launch, notes),
        ..Capture::default()
    };
    spawn(command, capture).await.map_err(|error| {
        let text = error.text.clone().or_else(|| error.name.clone());
        Box::new(StartFailure {
            message: format!(
                "could not be started: {}",
                text.as_deref().unwrap_or("no reason given by the system")
            ),
            spawn_error: Some(error),
            elapsed: started.elapsed(),
            era: launch.era,
            notes: std::mem::take(notes),
            ..StartFailure::of(Phase::Spawn, Outcome::SpawnError)
        })
    })
}

/// A writer that takes so much, says that there was more, and drops the rest:
/// a server that floods its stderr must not fill the disk.
struct Capped<W> {
    inner: W,
    left: usize,
}

impl<W: Write> Write for Capped<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(bytes.len());
        }
        let taken = self.inner.write(&bytes[..bytes.len().min(self.left)])?;
        self.left -= taken;
        if self.left == 0 {
            self.inner
                .write_all(b"\n[jelly keeps no more of this server's stderr]\n")?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

fn open_log(launch: &Launch, notes: &mut Vec<String>) -> Option<Box<dyn Write + Send>> {
    let path = launch.stderr_log.as_ref()?;
    let opened = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path);
    match opened {
        Ok(file) => {
            let log = Capped {
                inner: file,
                left: LOG_BYTES,
            };
            Some(Box::new(Disarming::new(log, Notation::Plain)))
        }
        Err(error) => {
            notes.push(format!(
                "its stderr could not be kept in {}: {error}",
                path.display()
            ));
            None
        }
    }
}

impl Attempt {
    /// Whether the probe may have done the harm: the process was probed, and
    /// then refused `initialize`, or died and had read something before.
    pub(super) fn blames_the_probe(&self) -> bool {
        match (&self.opening, &self.result) {
            (Opening::Probe { .. }, Err(trouble)) if trouble.is_exit() => {
                let sent = self.candidate.connection.look(Peer::bytes_written);
                let process = self.candidate.process.as_ref();
                let unread = process.and_then(Process::unread_stdin_bytes);
                unread.is_none_or(|unread| (unread as u64) < sent)
            }
            (Opening::Probe { .. }, Err(Trouble::Ended(method, ReplyOutcome::RpcError(_)))) => {
                *method == INITIALIZE
            }
            (Opening::Probe { .. } | Opening::Only(_) | Opening::Exactly(_), _) => false,
        }
    }

    /// What became of it, after "it".
    pub(super) fn end_in_words(&self) -> String {
        match &self.result {
            Ok(_) => "was ready".to_owned(),
            Err(Trouble::Version(why)) => why.clone(),
            Err(Trouble::Ended(method, end)) => match end {
                ReplyOutcome::Exited(exit) => format!("exited {}", describe_exit(exit)),
                ReplyOutcome::RpcError(_) | ReplyOutcome::Http(_) => format!("refused `{method}`"),
                ReplyOutcome::Broken(why) | ReplyOutcome::Unanswered(why) => why.clone(),
                ReplyOutcome::Beyond(beyond) => beyond.text.clone(),
                ReplyOutcome::TimedOut(_) | ReplyOutcome::Answered(_) => "was silent".to_owned(),
            },
        }
    }

    /// Whether it ended before it had read anything, although it was sent
    /// `initialize` and not the probe. Beside a process of the same server that
    /// goes on living, that is no fault of the server: the two want the same
    /// port or lock.
    fn fell_over_the_other(&self) -> bool {
        let sent = self.candidate.connection.look(Peer::bytes_written);
        let process = self.candidate.process.as_ref();
        let unread = process.and_then(Process::unread_stdin_bytes);
        matches!(self.opening, Opening::Only(_))
            && self.result.as_ref().is_err_and(Trouble::is_exit)
            && unread.is_some_and(|unread| unread as u64 >= sent)
    }

    /// Of two failed attempts the one that says more: an end rather than
    /// silence, a word on stdout rather than none (a process that had less
    /// time may not have come so far), and the one without a probe rather than
    /// the other.
    pub(super) fn more_telling(one: Self, other: Self) -> Self {
        let lives = |attempt: &Self| {
            let silent =
                |trouble: &Trouble| matches!(trouble, Trouble::Ended(_, ReplyOutcome::TimedOut(_)));
            attempt.result.as_ref().is_err_and(silent)
        };
        let beside_one_that_lives = lives(&one) || lives(&other);
        let rank = |attempt: &Self| {
            (
                !(beside_one_that_lives && attempt.fell_over_the_other()),
                !lives(attempt),
                attempt.candidate.connection.look(|peer| {
                    let seen = peer.observed();
                    seen.noise + seen.messages > 0
                }),
                matches!(attempt.opening, Opening::Only(_)),
            )
        };
        if rank(&one) > rank(&other) {
            one
        } else {
            other
        }
    }

    /// Stops the process, and says all that is known.
    pub(super) async fn failure(
        mut self,
        launch: &Launch,
        phase: Phase,
        settled: Option<&Settled>,
        started: Instant,
        mut notes: Vec<String>,
    ) -> Box<StartFailure> {
        let elapsed = started.elapsed();
        let process = self.candidate.process.as_ref();
        let exit_watch = process.map_or_else(ExitWatch::never, Process::exit_watch);
        let stderr = process.map_or_else(StderrHandle::none, Process::stderr);
        let stdout = self.candidate.stdout.take();
        let trouble = match self.result {
            Err(trouble) => trouble,
            // Nobody asks for the failure of what did not fail.
            Ok(_) => Trouble::timed_out(),
        };
        let alive = process.is_some() && !exit_watch.has_exited() && !trouble.is_exit();
        if alive {
            stderr.caught_up().await;
        } else {
            stderr.settled().await;
        }
        let seen = self.candidate.connection.look(|p| p.observed().clone());
        let unreached = self.candidate.connection.trouble();
        if let Some(process) = &mut self.candidate.process {
            process.kill();
        }
        notes.append(&mut self.candidate.notes);

        let waited_for = match (phase, self.opening) {
            (Phase::List, _) => ListKind::Tools.method(),
            (_, Opening::Probe { .. }) => INITIALIZE,
            (_, opening @ (Opening::Only(_) | Opening::Exactly(_))) => opening.method(),
        };
        let mut failure = StartFailure {
            process_alive: alive,
            stderr: stderr.tail(),
            said: stderr.said(),
            showed_life: stderr.bytes() + seen.messages + seen.noise > 0
                || !seen.unfinished.is_empty()
                || stdout.as_ref().is_some_and(|stdout| stdout.bytes() > 0),
            stdout: stdout.map(|stdout| stdout.tail()),
            stdout_noise: seen.all_noise(),
            noise_count: seen.noise,
            logs: seen.logs.iter().cloned().collect(),
            era: settled
                .map(|s| s.version.era)
                .or(launch.version.map(|version| version.era))
                .or(launch.era),
            server_info: settled.and_then(|s| {
                let mut info = s.greeting.server_info.clone();
                launch.redactor.redact_json(&mut info);
                (!info.is_null()).then_some(info)
            }),
            elapsed,
            notes,
            ..StartFailure::of(phase, Outcome::Ok)
        };
        let asked = |method: &str| {
            Some(RequestFacts {
                method: method.to_owned(),
                params: None,
                ..RequestFacts::default()
            })
        };
        failure.request = asked(waited_for);
        let (method, end) = match trouble {
            Trouble::Version(why) => {
                let why = launch.redactor.redact(&why).into_owned();
                failure.message = format!("protocol version mismatch: it {why}");
                failure.unspoken = launch.version.is_some() || launch.era.is_some();
                return Box::new(failure);
            }
            Trouble::Ended(method, end) => (method, end),
        };
        match end {
            ReplyOutcome::Exited(exit) => {
                failure.outcome = Outcome::Eof;
                failure.message = format!(
                    "exited during startup {}, before it answered `{waited_for}`",
                    describe_exit(&exit)
                );
                failure.exit = Some(exit);
            }
            ReplyOutcome::TimedOut(_) | ReplyOutcome::Answered(_) => {
                failure.outcome = Outcome::Timeout;
                failure.timeout = Some(launch.startup_timeout);
                failure.protocol_breach = seen.breaches.into_iter().next();
                failure.own_limit = seen.unread.first().map(|beyond| beyond.limit);
                failure.message = format!(
                    "timed out during startup: no answer to `{waited_for}` within {}",
                    human_duration(launch.startup_timeout)
                );
                failure.http = unreached;
            }
            ReplyOutcome::Http(end) => {
                let end = *end;
                failure.request = asked(method);
                failure.message = format!("did not become ready: `{method}` {}", end.message);
                failure.http = Some(end.facts);
                failure.protocol_breach = end.breach;
                failure.own_limit = end.own_limit;
                if let Some(error) = end.rpc_error {
                    failure.outcome = Outcome::Error;
                    failure.rpc_error = Some(redacted(error, launch));
                }
            }
            ReplyOutcome::RpcError(error) => {
                let error = redacted(error, launch);
                failure.outcome = Outcome::Error;
                failure.request = asked(method);
                failure.message = match error.code {
                    Some(code) => format!("refused `{method}`: {} ({code})", error.message),
                    None => format!("refused `{method}`: {}", error.message),
                };
                failure.rpc_error = Some(error);
            }
            ReplyOutcome::Broken(why) | ReplyOutcome::Unanswered(why) => {
                let why = launch.redactor.redact(&why).into_owned();
                failure.message = format!("broke the protocol during startup: it {why}");
                failure.protocol_breach = Some(why);
            }
            ReplyOutcome::Beyond(Beyond { limit, text }) => {
                failure.message = format!("did not become ready: it {text}");
                failure.own_limit = Some(limit);
            }
        }
        Box::new(failure)
    }
}

fn redacted(mut error: RpcError, launch: &Launch) -> RpcError {
    error.message = launch.redactor.redact(&error.message).into_owned();
    if let Some(data) = &mut error.data {
        launch.redactor.redact_json(data);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::Capped;
    use std::io::Write;

    #[test]
    fn a_flood_ends_at_the_limit_and_says_so_once() {
        let mut log = Capped {
            inner: Vec::new(),
            left: 5,
        };
        for _ in 0..3 {
            log.write_all(b"abc").unwrap();
        }
        let kept = String::from_utf8(log.inner).unwrap();
        assert_eq!(
            kept,
            "abcab\n[jelly keeps no more of this server's stderr]\n"
        );
    }
}
