//! What servers promise, from wherever that can be read: a lock, a recording, or
//! the servers themselves.

use super::super::files::text_within;
use super::super::named_server::{Asking, NamedServer, is_url};
use super::super::refusal::Refusal;
use super::super::replay::recorded;
use super::super::retyped::Retyped;
use super::recorded::recorded_inventory;
use crate::cli::args::{ServerPlace, ServerSource};
use jelly_base::model::Inventory;
use jelly_base::text::sanitize;
use jelly_contract::Lock;
use jelly_replay::{exchanges, main_session};
use jelly_setup::init::server_name;
use std::path::{Path, PathBuf};

/// The largest lock, in bytes.
pub const MAX_LOCK: u64 = 64 << 20;

/// A lock, and whether it has all servers and eras that there are: what is not in
/// one that does not may be there all the same.
pub struct Promised {
    pub lock: Lock,
    pub is_complete: bool,
    /// It was kept in a file, so that its names are those that somebody gave.
    pub is_lock: bool,
}

/// The lock in a file.
///
/// # Errors
/// It can't be read, or is none.
pub fn read_lock(path: &Path) -> Result<Lock, Refusal> {
    let shown = path.display().to_string();
    let make =
        "`jelly tools lock --plan PLAN` writes one, or `jelly tools lock -- COMMAND` of one server";
    let text = text_within(path, MAX_LOCK)
        .map_err(|error| Refusal::with_help(format!("{shown}: {error}"), make))?;
    Lock::parse(&text).map_err(|error| {
        let error = error.to_string();
        // Where a place is known, it follows the name of the file at once.
        let space = if error.starts_with(|c: char| c.is_ascii_digit()) {
            ""
        } else {
            " "
        };
        Refusal::with_help(format!("{shown}:{space}{}", sanitize(&error)), make)
    })
}

impl Asking<'_> {
    /// What one side of a comparison names: a lock, a recording, a plan or a URL.
    pub async fn side(&self, named: &str) -> Result<Promised, Refusal> {
        let path = self.world.cwd.join(named);
        let is = |end: &str| named.to_ascii_lowercase().ends_with(end);
        if is_url(named) {
            let place = ServerPlace {
                url: Some(named.to_owned()),
                ..ServerPlace::default()
            };
            return self.servers(&self.source(place), None).await;
        }
        if is(".jsonl") {
            return of_recording(&path);
        }
        let is_lock = text_within(&path, MAX_LOCK)
            .is_ok_and(|text| text.trim_start().starts_with('{') && text.contains("\"eras\""));
        if !is_lock && [".yaml", ".yml", ".json"].iter().any(|end| is(end)) {
            let place = ServerPlace {
                plan: Some(PathBuf::from(named)),
                ..ServerPlace::default()
            };
            return self.servers(&self.source(place), None).await;
        }
        Ok(Promised {
            lock: read_lock(&path)?,
            is_complete: true,
            is_lock: true,
        })
    }

    fn source(&self, place: ServerPlace) -> ServerSource {
        let own = &self.ask.server.source;
        ServerSource {
            command: Vec::new(),
            place: ServerPlace {
                project_dir: place
                    .url
                    .is_none()
                    .then(|| own.place.project_dir.clone())
                    .flatten(),
                ..place
            },
            env: Vec::new(),
            header: Vec::new(),
            login: false,
            // It is no flag of the call that names it.
            retyped: Retyped::default(),
        }
    }

    /// What the servers promise that are named; the one alone as `name`.
    pub async fn servers(
        &self,
        source: &ServerSource,
        name: Option<&str>,
    ) -> Result<Promised, Refusal> {
        let mut lock = Lock::new();
        for (server, inventories) in self.inventories(source, true).await? {
            let known = match name {
                Some(name) => name.to_owned(),
                None => known_name(&server, &inventories),
            };
            for inventory in &inventories {
                lock.add(&known, inventory);
            }
        }
        Ok(Promised {
            lock,
            is_complete: true,
            is_lock: false,
        })
    }
}

/// What a server is called: as in its file, or where none names it as it calls
/// itself.
pub fn known_name(server: &NamedServer, inventories: &[Inventory]) -> String {
    let told = inventories.first().filter(|_| server.is_typed());
    let told = told.and_then(|it| it.server_info.get("name")?.as_str());
    let told = told.and_then(server_name);
    told.unwrap_or_else(|| server.name.clone())
}

/// What a recorded session showed. A list that nobody asked for is not known.
fn of_recording(path: &Path) -> Result<Promised, Refusal> {
    let sessions = recorded(path, None)?;
    let shown = path.display();
    let Some(session) = sessions.get(main_session(&sessions)) else {
        return Err(Refusal::invalid(format!("error: {shown} has no session")));
    };
    let inventory = recorded_inventory(&exchanges(session).list);
    if inventory.tools.is_none() && inventory.prompts.is_none() && inventory.resources.is_none() {
        return Err(Refusal::with_help(
            format!("{shown}: nothing was listed in it, so there is nothing to compare"),
            "record a session in which the client asks for `tools/list`",
        ));
    }
    let mut lock = Lock::new();
    lock.add(&session.server, &inventory);
    Ok(Promised {
        lock,
        is_complete: false,
        is_lock: false,
    })
}
