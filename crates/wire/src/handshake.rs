//! Which era a server speaks, found out on one connection.
//!
//! Main function: [`shake`]. As the specification says (2026-07-28, stdio,
//! "Backward Compatibility"): probe with `server/discover`; an error that is
//! not a modern one, or silence, means legacy. It must not know of processes:
//! what is to be done when one dies of the probe is `startup`'s to say.

use super::connection::{Connection, InFlight, reached};
use super::era::{
    Greeting, initialize_params, is_modern_error, read_discover, read_initialize, supported_by,
};
use super::exchange::{HttpEnd, Life, Outgoing, ReplyOutcome};
use super::peer::Peer;
use jelly_base::mcp::{DISCOVER, Era, INITIALIZE, Revision, code};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long the answer to `initialize` may take after that to the probe.
const SECOND_ANSWER: Duration = Duration::from_secs(1);

/// What a connection settled on.
#[derive(Debug)]
pub(super) struct Settled {
    pub version: &'static Revision,
    pub greeting: Greeting,
    /// A modern server that had been slow over the probe has accepted
    /// `initialize` as well. Servers of both eras stay with what they accepted
    /// last, so nobody knows which one this connection speaks.
    pub initialized_too: bool,
}

impl Settled {
    fn new(version: &'static Revision, greeting: Greeting) -> Self {
        Self {
            version,
            greeting,
            initialized_too: false,
        }
    }
}

/// Why nothing was settled, or a list not read.
#[derive(Debug)]
pub(super) enum Trouble {
    /// How the request ended that was waited for. An answer is no trouble, and
    /// a breach need not be redacted.
    Ended(&'static str, ReplyOutcome),
    /// The server speaks no version that jelly does; a fragment that completes
    /// "the server …".
    Version(String),
}

impl Trouble {
    /// Of whatever request the time ran out over.
    pub(super) fn timed_out() -> Self {
        Self::Ended("", ReplyOutcome::TimedOut(Life::default()))
    }

    /// Of a server that is held to an era, and refuses what opens it as one of the other era
    /// does.
    pub(super) fn hold_to(&mut self, era: Era) {
        let Self::Ended(method, end) = self else {
            return;
        };
        let error = match end {
            ReplyOutcome::RpcError(error) => Some(&*error),
            ReplyOutcome::Http(end) => end.rpc_error.as_ref(),
            _ => None,
        };
        let Some(error) = error else {
            return;
        };
        let unknown = error.code == Some(code::METHOD_NOT_FOUND);
        let of_the_other = match era {
            // An old server may answer what it does not know with anything.
            Era::Modern => !is_modern_error(error),
            Era::Legacy => unknown || is_modern_error(error),
        };
        if of_the_other {
            *self = Self::Version(format!(
                "answers `{method}` with: {}, and is held to the {era} era",
                error.message
            ));
        }
    }

    fn broken(method: &'static str, why: String) -> Self {
        Self::Ended(method, ReplyOutcome::Broken(why))
    }

    pub(super) fn is_exit(&self) -> bool {
        matches!(self, Self::Ended(_, ReplyOutcome::Exited(_)))
    }
}

/// How a connection is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// Probe, and fall back; silence is this long.
    Probe { silence: Duration },
    /// Only this era.
    Only(Era),
    /// Only this version.
    Exactly(&'static Revision),
}

impl Opening {
    /// The version that is to be held to, if there is one.
    fn exactly(self) -> Option<&'static Revision> {
        match self {
            Self::Exactly(version) => Some(version),
            Self::Probe { .. } | Self::Only(_) => None,
        }
    }

    /// What is sent first.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Probe { .. } => DISCOVER,
            Self::Only(era) => era.opening(),
            Self::Exactly(version) => version.era.opening(),
        }
    }
}

/// What follows from one answer.
enum Next {
    Settled(Settled),
    /// Ask again in this version.
    Again(&'static Revision),
    /// Not a modern server, for this reason; `initialize` may do, in this
    /// version.
    NotModern(&'static Revision, Trouble),
    Failed(Trouble),
}

impl Next {
    /// Not a modern server, and it names no version.
    fn legacy(why: Trouble) -> Self {
        Self::NotModern(Revision::newest(Era::Legacy), why)
    }
}

/// Settles era and version. It takes as long as the server does; a limit is
/// set from outside, and dropping this is safe.
pub(super) async fn shake(connection: &Connection, opening: Opening) -> Result<Settled, Trouble> {
    let pin = opening.exactly();
    let first = |era| pin.unwrap_or_else(|| Revision::newest(era));
    let newest_legacy = first(Era::Legacy);
    let (mut probe, mut init) = if opening.method() == DISCOVER {
        (Some(discover(connection, first(Era::Modern))), None)
    } else {
        (None, Some(initialize(connection, newest_legacy)))
    };
    let mut silence = match opening {
        Opening::Probe { silence } => Some(Instant::now() + silence),
        Opening::Only(_) | Opening::Exactly(_) => None,
    };
    // A refusal of `initialize` while the probe is still unanswered.
    let mut refused: Option<Trouble> = None;
    let mut discover_tries = vec![Revision::newest(Era::Modern).name];
    let mut init_tries = vec![newest_legacy.name];
    loop {
        tokio::select! {
            // Of two answers that are there, the one to the probe came first.
            biased;
            answer = answer_to(&mut probe) => {
                probe = None;
                match held_to(pin, judge_discover(answer, &mut discover_tries)) {
                    Next::Settled(mut settled) => {
                        if let Some(init) = init {
                            settled.initialized_too = accepted(connection, init).await;
                        }
                        return Ok(settle(connection, settled));
                    }
                    Next::Again(version) => probe = Some(discover(connection, version)),
                    Next::Failed(trouble) => return Err(trouble),
                    Next::NotModern(version, why) => {
                        if let Opening::Only(_) | Opening::Exactly(_) = opening {
                            return Err(why);
                        }
                        if let Some(trouble) = refused {
                            return Err(trouble);
                        }
                        if init.is_none() {
                            init = Some(initialize(connection, version));
                        }
                    }
                }
            }
            answer = answer_to(&mut init) => {
                init = None;
                match held_to(pin, judge_initialize(answer, &mut init_tries)) {
                    Next::Settled(settled) => {
                        if let Some(probe) = probe {
                            probe.forget();
                        }
                        let settled = settle(connection, settled);
                        connection.with_peer(|peer| {
                            peer.notify("notifications/initialized", Value::Null);
                        });
                        return Ok(settled);
                    }
                    Next::Again(version) => init = Some(initialize(connection, version)),
                    Next::Failed(trouble) | Next::NotModern(_, trouble) => {
                        if probe.is_none() || trouble.is_exit() {
                            return Err(trouble);
                        }
                        // A slow modern server may refuse `initialize` and
                        // still answer the probe.
                        refused = Some(trouble);
                        silence = Some(Instant::now() + Duration::from_secs(1));
                    }
                }
            }
            () = reached(silence) => {
                silence = None;
                match refused {
                    Some(trouble) => return Err(trouble),
                    None if init.is_none() => {
                        init = Some(initialize(connection, newest_legacy));
                    }
                    None => {}
                }
            }
        }
    }
}

/// Where a version is pinned, any other one is none.
fn held_to(pin: Option<&'static Revision>, next: Next) -> Next {
    let Some(pin) = pin else {
        return next;
    };
    let other = match &next {
        Next::Settled(settled) if settled.version == pin => return next,
        Next::Settled(settled) => format!("speaks {}", settled.version.name),
        Next::Again(version) => format!("offers {}", version.name),
        Next::NotModern(_, Trouble::Ended(_, ReplyOutcome::RpcError(error))) => {
            format!("answers `{DISCOVER}` with: {}", error.message)
        }
        Next::NotModern(_, Trouble::Ended(_, ReplyOutcome::Http(end))) => {
            format!("does not take `{DISCOVER}`, which {}", end.message)
        }
        Next::NotModern(
            _,
            Trouble::Ended(_, ReplyOutcome::Broken(why)) | Trouble::Version(why),
        )
        | Next::Failed(Trouble::Version(why)) => why.clone(),
        Next::NotModern(_, Trouble::Ended(..)) | Next::Failed(Trouble::Ended(..)) => return next,
    };
    Next::Failed(Trouble::Version(format!(
        "{other}, and is held to {}",
        pin.name
    )))
}

/// Whether the server accepts the `initialize` that it was sent while it was
/// slow over the probe. What it answers both with stands in one pipe, so the
/// second answer is not far behind the first.
async fn accepted(connection: &Connection, mut init: InFlight) -> bool {
    // Over HTTP no request depends on another one.
    let separate = connection.look(Peer::has_streams);
    if !separate && let Ok(answer) = timeout(SECOND_ANSWER, init.answer()).await {
        return matches!(answer, ReplyOutcome::Answered(_));
    }
    init.forget();
    false
}

fn settle(connection: &Connection, settled: Settled) -> Settled {
    connection.with_peer(|peer| peer.settle(settled.version));
    settled
}

fn discover(connection: &Connection, version: &'static Revision) -> InFlight {
    connection.send(Outgoing {
        method: DISCOVER,
        params: Value::Null,
        version: Some(version),
        progress: false,
        probe: true,
    })
}

fn initialize(connection: &Connection, version: &'static Revision) -> InFlight {
    let params = connection.look(|peer| initialize_params(version, peer.answers()));
    connection.send(Outgoing {
        method: INITIALIZE,
        params,
        version: None,
        progress: false,
        probe: false,
    })
}

fn judge_discover(answer: ReplyOutcome, tried: &mut Vec<&'static str>) -> Next {
    match answer {
        ReplyOutcome::Exited(_) => Next::Failed(Trouble::Ended(DISCOVER, answer)),
        ReplyOutcome::Answered(result) => match read_discover(&result) {
            Some((versions, greeting)) => choose(&versions, greeting),
            None => {
                let why = format!("answered `{DISCOVER}` without `supportedVersions`");
                Next::legacy(Trouble::broken(DISCOVER, why))
            }
        },
        ReplyOutcome::Http(end) => judge_refused_probe(end, tried),
        ReplyOutcome::RpcError(error) if is_modern_error(&error) => {
            let supported = supported_by(&error);
            match Revision::newest_among(Era::Modern, &supported) {
                // The refused version may be in the list: some servers only
                // come to know it while they start.
                Some(version) if is_worth_asking(version, tried) => {
                    tried.push(version.name);
                    Next::Again(version)
                }
                _ if supported.is_empty() => {
                    Next::Failed(Trouble::Ended(DISCOVER, ReplyOutcome::RpcError(error)))
                }
                // The specification forbids falling back to `initialize`
                // here, even if a legacy version is among them.
                _ => Next::Failed(Trouble::Version(unknown_versions(&supported))),
            }
        }
        other => Next::legacy(Trouble::Ended(DISCOVER, other)),
    }
}

/// Over HTTP (2026-07-28, Streamable HTTP, "Backward Compatibility") a refusal
/// that carries a modern error is one of a modern server, and any other 4xx one
/// of a legacy server. An old one may also fail over what it does not know.
fn judge_refused_probe(end: Box<HttpEnd>, tried: &mut Vec<&'static str>) -> Next {
    match &end.rpc_error {
        Some(error) if is_modern_error(error) => {
            return judge_discover(ReplyOutcome::RpcError(error.clone()), tried);
        }
        Some(_) | None => {}
    }
    let hopeless = !end.answered()
        || matches!(
            end.facts.status,
            Some(300..=399 | 401 | 403 | 407 | 429 | 502..=504)
        );
    let trouble = Trouble::Ended(DISCOVER, ReplyOutcome::Http(end));
    if hopeless {
        Next::Failed(trouble)
    } else {
        Next::legacy(trouble)
    }
}

/// A version is asked for twice at most, and the second time only because the
/// server itself has named it.
fn is_worth_asking(version: &Revision, tried: &[&str]) -> bool {
    tried.iter().filter(|name| **name == version.name).count() < 2
}

fn choose(versions: &[String], greeting: Greeting) -> Next {
    if let Some(version) = Revision::newest_among(Era::Modern, versions) {
        return Next::Settled(Settled::new(version, greeting));
    }
    let mismatch = Trouble::Version(unknown_versions(versions));
    // A server of both eras may know none of our modern versions, and say
    // which legacy one it does know.
    match Revision::newest_among(Era::Legacy, versions) {
        Some(version) => Next::NotModern(version, mismatch),
        None => Next::Failed(mismatch),
    }
}

fn judge_initialize(answer: ReplyOutcome, tried: &mut Vec<&'static str>) -> Next {
    let refusal = match &answer {
        ReplyOutcome::Answered(result) => {
            return match read_initialize(result) {
                Err(breach) => Next::Failed(Trouble::broken(INITIALIZE, breach)),
                Ok((name, greeting)) => match Revision::find(&name) {
                    Some(version) if version.era == Era::Legacy => {
                        Next::Settled(Settled::new(version, greeting))
                    }
                    Some(_) | None => Next::Failed(Trouble::Version(unknown_versions(&[name]))),
                },
            };
        }
        ReplyOutcome::RpcError(error) => Some(error),
        ReplyOutcome::Http(end) => end.rpc_error.as_ref(),
        _other => None,
    };
    // It should have answered with a version of its own; some refuse and say
    // which they know.
    let supported = refusal.map(supported_by).unwrap_or_default();
    match Revision::newest_among(Era::Legacy, &supported) {
        Some(version) if !tried.contains(&version.name) => {
            tried.push(version.name);
            Next::Again(version)
        }
        Some(_) | None => Next::Failed(Trouble::Ended(INITIALIZE, answer)),
    }
}

fn unknown_versions(versions: &[String]) -> String {
    format!(
        "speaks protocol version {}; jelly speaks {}",
        versions.join(", "),
        Revision::all_names()
    )
}

async fn answer_to(request: &mut Option<InFlight>) -> ReplyOutcome {
    match request {
        Some(request) => request.answer().await,
        None => std::future::pending().await,
    }
}
