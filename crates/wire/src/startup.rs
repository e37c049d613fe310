//! From a command to a session that is ready, or to why there is none.
//!
//! Main function: [`start`]. A race of first answer, exit and deadline; there
//! is no sleep in it. Old servers that die of the probe for the era, or fall
//! silent over it, get a fresh process that is not probed; the one that was
//! discarded is no failure.

use super::candidate::{Attempt, Candidate};
use super::connection::{deadline_after, reached};
use super::exchange::ReplyOutcome;
use super::handshake::{Opening, Settled, Trouble, shake};
use super::launch::Launch;
use super::listing::{list_all, read_tools, unfit_tool};
use super::peer::Peer;
use super::reply::StartFailure;
use super::session::Session;
use jelly_base::mcp::{Era, ListKind};
use jelly_base::model::{Phase, RpcError, ToolInfo, UpstreamTrouble, is_own_proxy};
use jelly_process::{Process, StdinGauge};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// So often the tools are listed again when the server says meanwhile that the
/// list has changed, as some do right after the handshake.
const LISTS: usize = 3;

/// No answer to the probe for this long means a legacy server.
const SILENCE: Duration = Duration::from_secs(1);

/// What is noted of a server that stays mute.
const SILENT: &str = "it was silent for half of the start-up time-out, so a second process was \
                      started beside it and sent `initialize` without the probe";

/// What is noted of a server of both eras that was slow.
const AFRESH: &str = "it took more than a second to answer the `server/discover` probe and had \
                      been sent `initialize` by then, which it answered too; a fresh process was \
                      started and asked as a modern server only";

/// The same, where the fresh process did not become ready.
const TANGLED: &str = "it took more than a second to answer the `server/discover` probe and had \
                       been sent `initialize` by then, which it answered too, so it may take \
                       itself for a legacy server; a fresh process did not become ready in time";

/// Starts a server, settles the era and reads its list of tools.
///
/// Safe to drop at any time: whatever was started is killed.
///
/// # Errors
/// All that is known of why it is not ready; it is stopped by then.
pub async fn start(launch: &Launch) -> Result<Session, Box<StartFailure>> {
    let started = Instant::now();
    let deadline = deadline_after(started, launch.startup_timeout);
    let pin = match (launch.version, launch.era) {
        (Some(version), _) => Some(Opening::Exactly(version)),
        (None, era) => era.map(Opening::Only),
    };
    let (candidate, settled, opening, mut notes) = match pin {
        Some(opening) => pinned(launch, opening, started, deadline).await?,
        None => detected(launch, started, deadline).await?,
    };
    let listed = timeout_at(deadline, list_tools(&candidate, &settled, deadline)).await;
    let listed = listed.unwrap_or(Err(Trouble::timed_out()));
    let failed = match &listed {
        Ok(listed) => listed.trouble_behind(launch),
        Err(_) => None,
    };
    let tools = match (listed, failed) {
        (Ok(listed), None) => listed.tools,
        (Ok(_), Some(trouble)) | (Err(trouble), _) => {
            let attempt = Attempt {
                candidate,
                result: Err(trouble),
                opening: Opening::Only(settled.version.era),
            };
            return Err(attempt
                .failure(launch, Phase::List, Some(&settled), started, notes)
                .await);
        }
    };
    notes.extend(candidate.notes.iter().cloned());
    Ok(Session {
        process: candidate.process,
        stdout: candidate.stdout,
        connection: candidate.connection,
        version: settled.version,
        greeting: settled.greeting,
        tools,
        stale_tools: AtomicBool::new(false),
        startup: started.elapsed(),
        notes,
        shy_of_probes: pin.is_none() && opening == Opening::Only(Era::Legacy),
        by_pipes: !launch.reach.is_http(),
        request_timeout: launch.request_timeout,
        shutdown_timeout: launch.shutdown_timeout,
    })
}

type Ready = (Candidate, Settled, Opening, Vec<String>);

async fn pinned(
    launch: &Launch,
    opening: Opening,
    started: Instant,
    deadline: Instant,
) -> Result<Ready, Box<StartFailure>> {
    let candidate = Candidate::spawn(launch, started).await?;
    let mut attempt = attempt(candidate, opening, deadline).await;
    if let (Err(trouble), Opening::Only(era)) = (&mut attempt.result, opening) {
        trouble.hold_to(era);
    }
    conclude(launch, attempt, started, Vec::new()).await
}

async fn conclude(
    launch: &Launch,
    attempt: Attempt,
    started: Instant,
    notes: Vec<String>,
) -> Result<Ready, Box<StartFailure>> {
    match attempt.result {
        Ok(settled) => Ok((attempt.candidate, settled, attempt.opening, notes)),
        Err(_) => Err(attempt
            .failure(launch, Phase::Handshake, None, started, notes)
            .await),
    }
}

async fn attempt(candidate: Candidate, opening: Opening, deadline: Instant) -> Attempt {
    let shaken = timeout_at(deadline, shake(&candidate.connection, opening)).await;
    Attempt {
        candidate,
        result: shaken.unwrap_or(Err(Trouble::timed_out())),
        opening,
    }
}

type Running<'a> = Pin<Box<dyn Future<Output = Attempt> + Send + 'a>>;

/// Finds the era out, with a second process where the first one makes it
/// doubtful whether the probe did the harm.
async fn detected(
    launch: &Launch,
    started: Instant,
    deadline: Instant,
) -> Result<Ready, Box<StartFailure>> {
    if launch.reach.is_http() {
        // Each message travels by itself, so the probe does no harm to what
        // comes after it. No answer to it is no sign of an era either; half
        // of the time is for those that never answer it.
        let silence = launch.startup_timeout / 2;
        let candidate = Candidate::spawn(launch, started).await?;
        let probed = attempt(candidate, Opening::Probe { silence }, deadline).await;
        return conclude(launch, probed, started, Vec::new()).await;
    }
    let silence = SILENCE.min(launch.startup_timeout / 4);
    let candidate = Candidate::spawn(launch, started).await?;
    let shared = candidate.connection.shared();
    let mut gauge = candidate.process.as_ref().and_then(Process::stdin_gauge);
    let probe = Opening::Probe { silence };
    let mut first: Option<Running<'_>> = Some(Box::pin(attempt(candidate, probe, deadline)));
    let mut second: Option<Running<'_>> = None;
    // The worse of two failures waits here for the other attempt.
    let mut failed: Option<Attempt> = None;
    let mut notes = Vec::new();
    let mut doubt_at = Some(deadline_after(started, launch.startup_timeout / 2));
    loop {
        let ended = tokio::select! {
            ended = running(&mut first) => {
                first = None;
                ended
            }
            ended = running(&mut second) => {
                second = None;
                ended
            }
            () = reached(doubt_at) => {
                let unread = gauge.as_ref().and_then(StdinGauge::unread_bytes);
                let sent = shared.peer().bytes_written();
                if first.is_some() && unread.is_some_and(|n| n as u64 >= sent) {
                    // What it has not read did it no harm. A second one would
                    // find the first one's port taken, or whatever else only
                    // one of them can have, and be another server than the
                    // one that a client starts.
                    doubt_at = Some(Instant::now() + launch.startup_timeout / 16);
                    continue;
                }
                gauge = None;
                doubt_at = None;
                let silent = shared.peer().observed().messages == 0;
                if first.is_some() && second.is_none() && silent {
                    // Should it not start, the first one goes on alone.
                    second = fresh(launch, started, deadline).await.ok();
                    if second.is_some() {
                        notes.push(SILENT.to_owned());
                    }
                }
                continue;
            }
        };
        if let Ok(settled) = &ended.result {
            let ended = if settled.initialized_too {
                untangled(launch, ended, started, deadline, &mut notes).await
            } else {
                ended
            };
            return conclude(launch, ended, started, notes).await;
        }
        let in_doubt = second.is_none() && failed.is_none() && ended.blames_the_probe();
        if in_doubt && let Ok(again) = fresh(launch, started, deadline).await {
            second = Some(again);
            doubt_at = None;
            notes.push(format!(
                "its first process {} after the `server/discover` probe; a fresh one was \
                 started without the probe",
                ended.end_in_words()
            ));
            continue;
        }
        let ended = match failed.take() {
            Some(other) => Attempt::more_telling(other, ended),
            None => ended,
        };
        if first.is_none() && second.is_none() {
            return conclude(launch, ended, started, notes).await;
        }
        failed = Some(ended);
    }
}

/// In place of a server that was slow over the probe and then answered it and
/// `initialize`, a fresh process that is asked in one era only: the modern one,
/// since that is what the answer to the probe means. Should it not be ready in
/// half of the time that is left, the first one has to do.
async fn untangled(
    launch: &Launch,
    tangled: Attempt,
    started: Instant,
    deadline: Instant,
    notes: &mut Vec<String>,
) -> Attempt {
    let now = Instant::now();
    let half = now + deadline.saturating_duration_since(now) / 2;
    if let Ok(candidate) = Candidate::spawn(launch, started).await {
        let fresh = attempt(candidate, Opening::Only(Era::Modern), half).await;
        if fresh.result.is_ok() {
            notes.push(AFRESH.to_owned());
            return fresh;
        }
    }
    notes.push(TANGLED.to_owned());
    tangled
}

async fn fresh<'a>(
    launch: &'a Launch,
    started: Instant,
    deadline: Instant,
) -> Result<Running<'a>, Box<StartFailure>> {
    let candidate = Candidate::spawn(launch, started).await?;
    let opening = Opening::Only(Era::Legacy);
    Ok(Box::pin(attempt(candidate, opening, deadline)))
}

async fn running(attempt: &mut Option<Running<'_>>) -> Attempt {
    match attempt {
        Some(attempt) => attempt.await,
        None => std::future::pending().await,
    }
}

async fn list_tools(
    candidate: &Candidate,
    settled: &Settled,
    deadline: Instant,
) -> Result<Listed, Trouble> {
    if settled.greeting.capabilities.get("tools").is_none() {
        return Ok(Listed::default());
    }
    let connection = &candidate.connection;
    let kind = ListKind::Tools;
    let mut left = LISTS;
    loop {
        left -= 1;
        connection.with_peer(Peer::forget_tools_changed);
        let listed = list_all(connection, settled.version, kind, Value::Null, deadline).await;
        let mut result = match listed {
            ReplyOutcome::Answered(result) => result,
            other => return Err(Trouble::Ended(kind.method(), other)),
        };
        let stale = connection.look(|peer| peer.observed().tools_changed);
        if stale && left > 0 {
            continue;
        }
        let stand_in = UpstreamTrouble::of_stand_in(&result);
        let (tools, flaws) = read_tools(&mut result)
            .map_err(|why| Trouble::Ended(kind.method(), ReplyOutcome::Broken(why)))?;
        connection.with_peer(|peer| {
            for flaw in &flaws {
                peer.breach(flaw);
            }
            if let Some(flaw) = unfit_tool(&tools) {
                peer.note_unfit(&flaw);
            }
        });
        connection.learn(&tools);
        return Ok(Listed { tools, stand_in });
    }
}

/// What a server lists when it is ready.
#[derive(Default)]
struct Listed {
    tools: Vec<ToolInfo>,
    /// What it says of the server that it stands in for.
    stand_in: Option<RpcError>,
}

impl Listed {
    /// Why there is no server behind these tools, where a proxy of ours has them
    /// in the place of one that it could not start. Anybody can list such a tool;
    /// only of our own proxy it is no tool.
    fn trouble_behind(&self, launch: &Launch) -> Option<Trouble> {
        let argv = launch.reach.command()?.argv.as_slice();
        let error = self.stand_in.clone().filter(|_| is_own_proxy(argv))?;
        let method = ListKind::Tools.method();
        Some(Trouble::Ended(method, ReplyOutcome::RpcError(error)))
    }
}

#[cfg(test)]
#[path = "startup_tests.rs"]
mod tests;
