//! A server that was started as one of HTTP is started again with what may
//! make it speak stdio, so that what is advised is known to mend it.

use jelly_base::model::{Outcome, Phase};
use jelly_harness::exec::{CheckupSettings, Examined, examine};
use jelly_process::CommandSpec;
use jelly_setup::doctor::{Candidate, Entry, stdio_candidates};
use jelly_triage::engine::Engine;
use jelly_wire::Reach;
use std::time::Duration;
use tokio::task::JoinSet;

/// A candidate is not waited for longer than this: what it starts has been
/// fetched already, and it is one of several.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came of the trial.
#[derive(Debug, Clone, Default)]
pub struct CandidateTrial {
    /// Whether there was one.
    pub was_made: bool,
    /// With what it answered.
    pub proven: Option<Candidate>,
    pub note: Option<&'static str>,
}

/// What is to be tried.
#[derive(Debug, Clone)]
pub struct Plan {
    pub candidates: Vec<Candidate>,
    /// Whether the entry itself is to be tried first: a port may have been held
    /// by another server of the same configuration, or by something that is
    /// gone, and an answer then proves nothing of a candidate.
    pub with_own: bool,
}

/// What is worth a try for a server that failed; nothing for most.
pub fn plan(engine: &Engine, entry: &Entry, examined: &Examined) -> Option<Plan> {
    let failure = examined.failure.as_deref()?;
    if examined.ready.is_some() || failure.phase != Some(Phase::Handshake) {
        return None;
    }
    let is_mute = failure.outcome == Some(Outcome::Timeout);
    let is_sure = match &*engine.diagnose(failure).root_cause {
        "transport_mismatch" | "port_in_use" => true,
        _ if is_mute => false,
        _ => return None,
    };
    let candidates = stdio_candidates(entry, is_sure);
    (!candidates.is_empty()).then_some(Plan {
        candidates,
        with_own: !is_mute,
    })
}

/// Starts a server with each of the candidates; the first in order that
/// answers is the proven one.
pub async fn try_out(
    name: &str,
    spec: &CommandSpec,
    plan: Plan,
    settings: CheckupSettings,
) -> CandidateTrial {
    let settings = CheckupSettings {
        startup_timeout: settings.startup_timeout.min(PATIENCE),
        ..settings
    };
    let candidates = plan.candidates;
    if plan.with_own && answers(name, spec.clone(), &settings).await {
        return CandidateTrial {
            was_made: false,
            proven: None,
            note: Some(
                "started once more by itself, it answers: it fought with another server of these \
                 configurations, or with something that is gone",
            ),
        };
    }
    // The likeliest alone: several at once are slow where each is fetched.
    let first = candidates.len().min(1);
    let mut proven = None;
    for wave in [0..first, first..candidates.len()] {
        proven = first_to_answer(name, spec, &candidates[wave], &settings).await;
        if proven.is_some() {
            break;
        }
    }
    CandidateTrial {
        was_made: true,
        proven: proven.cloned(),
        note: None,
    }
}

/// The first in order that answers, of those that are started side by side.
async fn first_to_answer<'c>(
    name: &str,
    spec: &CommandSpec,
    candidates: &'c [Candidate],
    settings: &CheckupSettings,
) -> Option<&'c Candidate> {
    let mut work = JoinSet::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let (name, spec) = (name.to_owned(), started_as(spec, candidate));
        let settings = settings.clone();
        work.spawn_local(async move { (index, answers(&name, spec, &settings).await) });
    }
    let mut answered = vec![None; candidates.len()];
    while let Some(joined) = work.join_next().await {
        match joined {
            Ok((index, answers)) => answered[index] = Some(answers),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
        // Those before it have all been seen to fail.
        let first = answered.iter().find(|answers| **answers != Some(false));
        if first == Some(&Some(true)) {
            break;
        }
    }
    let proven = answered.iter().position(|answers| *answers == Some(true));
    proven.map(|index| &candidates[index])
}

fn started_as(spec: &CommandSpec, candidate: &Candidate) -> CommandSpec {
    let mut changed = spec.clone();
    changed.argv.truncate(1);
    let own = spec.argv.get(1..).unwrap_or_default();
    changed.argv.extend(candidate.words(own));
    let is_kept = |name: &String| !candidate.env.iter().any(|(new, _)| new == name);
    changed.env.retain(|(name, _)| is_kept(name));
    let set = candidate.env.iter();
    let set = set.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    changed.env.extend(set);
    changed
}

async fn answers(name: &str, spec: CommandSpec, settings: &CheckupSettings) -> bool {
    let examined = examine(name, &Reach::Stdio(spec), settings).await;
    examined.ready.is_some()
}
