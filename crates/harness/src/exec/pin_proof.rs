//! Whether a server that died or stayed mute is held to what it does not speak:
//! one fresh start without the pin is the proof.

use jelly_base::model::{Outcome, Phase};
use jelly_wire::{self as wire, Launch, Reach, StartFailure};

/// What the server speaks where the plan does not hold it to anything, in words;
/// none where the pin is not why it did not start.
///
/// A server that refuses an opening says so. Some die of one that they don't
/// know, or never answer it, which looks like any other death.
pub(super) async fn speaks_without_pin(launch: &Launch, failure: &StartFailure) -> Option<String> {
    let pinned = launch.era.is_some() || launch.version.is_some();
    let in_doubt = failure.phase == Phase::Handshake
        && matches!(failure.outcome, Outcome::Eof | Outcome::Timeout);
    // What jelly did not start, it can't start afresh.
    if !pinned || !in_doubt || !matches!(launch.reach, Reach::Stdio(_)) {
        return None;
    }
    let free = Launch {
        era: None,
        version: None,
        recorder: None,
        stderr_log: None,
        ..launch.clone()
    };
    let mut session = wire::start(&free).await.ok()?;
    let (era, version) = (session.era(), session.protocol_version().to_owned());
    session.shutdown(free.shutdown_timeout).await;
    let is_pinned = match launch.version {
        Some(pinned) => pinned.name == version,
        None => launch.era == Some(era),
    };
    (!is_pinned).then(|| format!("left free, it starts and speaks {version}"))
}
