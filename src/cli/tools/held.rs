//! A server that is held to a lock before anybody uses it.

use super::super::named_server::NamedServer;
use super::super::refusal::{Refusal, complain};
use super::super::settings::World;
use super::promised::{known_name, read_lock};
use crate::report::changes_text;
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_contract::{Change, ChangeKind, Lock, compare};
use jelly_harness::exec::{OpenServer, redact_inventory};
use std::path::Path;
use std::time::Duration;

/// How long a server may take for one of its lists, and to stop.
const PATIENCE: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(2);

/// Starts the server once and looks at its lists: what it promised and no longer
/// does, as sentences without their full stops. That and other texts are told of
/// on stderr. One that can't be started is for others to tell of.
///
/// # Errors
/// What is no lock, or has not this server.
pub async fn hold_to_lock(
    named: &NamedServer,
    file: &Path,
    startup_timeout: Duration,
    (world, redactor): (&World, &Redactor),
) -> Result<Vec<String>, Refusal> {
    let lock = read_lock(&world.cwd.join(file))?;
    let launch = named.launch(startup_timeout, redactor);
    let inventory = match OpenServer::start(&launch).await {
        Ok(server) => {
            let inventory = server.inventory(PATIENCE).await;
            server.stop(GRACE).await;
            inventory
        }
        Err(failure) => Err(failure),
    };
    let inventory = match inventory {
        Ok(mut inventory) => {
            // What is told has no secrets.
            redact_inventory(&mut inventory, redactor);
            [inventory]
        }
        Err(failure) => {
            let why = failure.message.unwrap_or_default();
            let name = sanitize(&named.name);
            complain(&format!(
                "warning: `{name}` could not be held to {}: {}",
                file.display(),
                sanitize(&why)
            ));
            return Ok(Vec::new());
        }
    };
    let name = known_name(named, &inventory);
    // One server under two names is one server.
    let only = lock
        .servers
        .values()
        .next()
        .filter(|_| lock.servers.len() == 1);
    let Some(own) = lock.servers.get(&name).or(only) else {
        return Err(Refusal::with_help(
            format!("{} has no server `{}`", file.display(), sanitize(&name)),
            "`jelly tools lock` adds it",
        ));
    };
    let mut old = Lock::new();
    old.servers.insert(name.clone(), own.clone());
    let mut new = Lock::new();
    for inventory in &inventory {
        new.add(&name, inventory);
    }
    let changes = compare(&old, &new, false);
    let of = |kind: ChangeKind| -> Vec<Change> {
        let all = changes.iter().filter(|change| change.kind == kind);
        all.cloned().collect()
    };
    let (breaking, texts) = (of(ChangeKind::Breaking), of(ChangeKind::Text));
    let color = world.colors_stderr();
    if !breaking.is_empty() {
        complain(&format!(
            "error: the server no longer lists what {} holds\n{}help: if that is meant, `jelly \
             tools lock` renews the lock",
            file.display(),
            changes_text(&breaking, color)
        ));
    }
    if !texts.is_empty() {
        complain(&format!(
            "warning: models and people read something else than {} holds\n{}",
            file.display(),
            changes_text(&texts, color).trim_end()
        ));
    }
    Ok(breaking
        .iter()
        .map(|change| format!("`{}`: {}", sanitize(&change.item), sanitize(&change.why)))
        .collect())
}
