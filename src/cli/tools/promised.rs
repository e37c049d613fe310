//! What servers promise, from wherever that can be read: a lock, a recording, or
//! the servers themselves.

use super::super::files::text_within;
use super::super::named_server::{NamedServer, is_url, named_servers};
use super::super::refusal::Refusal;
use super::super::replay::recorded;
use super::super::settings::World;
use crate::cli::args::{ReadingArgs, ServerPlace, ServerSource};
use jelly_base::mcp::{DISCOVER, Era, INITIALIZE, ListKind};
use jelly_base::model::Inventory;
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_contract::Lock;
use jelly_harness::exec::{OpenServer, redact_inventory};
use jelly_replay::{exchanges, main_session};
use jelly_setup::init::server_name;
use jelly_triage::engine::Engine;
use jelly_wire::Launch;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest lock, in bytes.
pub const MAX_LOCK: u64 = 64 << 20;
/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(2);

/// A lock, and whether it has all servers and eras that there are: what is not in
/// one that does not may be there all the same.
pub struct Promised {
    pub lock: Lock,
    pub is_complete: bool,
}

/// How servers are asked.
pub struct Asking<'a> {
    pub reading: &'a ReadingArgs,
    pub engine: &'a Engine,
    pub world: &'a World,
    pub redactor: &'a Redactor,
    /// The command, before what names the server.
    pub words: &'a [&'a str],
}

/// The lock in a file.
///
/// # Errors
/// It can't be read, or is none.
pub fn read_lock(path: &Path) -> Result<Lock, Refusal> {
    let shown = path.display().to_string();
    let make = "`jelly tools lock` writes one";
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
        })
    }

    fn source(&self, place: ServerPlace) -> ServerSource {
        let own = &self.reading.server.source;
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
        })
    }

    /// The lists of each server that is named: of one session, or of one in each
    /// era that it speaks.
    pub async fn inventories(
        &self,
        source: &ServerSource,
        in_all_eras: bool,
    ) -> Result<Vec<(NamedServer, Vec<Inventory>)>, Refusal> {
        let mut all = Vec::new();
        for server in named_servers(source, self.world, self.redactor).await? {
            let launch = server.launch(self.reading.server.timeout, self.redactor);
            let first = self.inventory(&server, &launch).await?;
            // A server that speaks the modern era is met in it. One that was met
            // in the other has been asked for it in vain.
            let other = in_all_eras && first.era == Era::Modern.to_string();
            let is_pinned = launch.era.is_some() || launch.version.is_some();
            let mut inventories = vec![first];
            if other && !is_pinned {
                let legacy = Launch {
                    era: Some(Era::Legacy),
                    ..launch
                };
                inventories.extend(self.legacy(&server, &legacy).await?);
            }
            all.push((server, inventories));
        }
        Ok(all)
    }

    async fn inventory(&self, server: &NamedServer, launch: &Launch) -> Result<Inventory, Refusal> {
        let around = (self.engine, self.world, self.redactor);
        let unwell = |failure: &_| server.not_ready(failure, around, self.words);
        let open = OpenServer::start(launch)
            .await
            .map_err(|failure| unwell(&failure))?;
        self.lists(open).await.map_err(|failure| unwell(&failure))
    }

    /// In the legacy era; nothing where the server does not speak it.
    async fn legacy(
        &self,
        server: &NamedServer,
        launch: &Launch,
    ) -> Result<Option<Inventory>, Refusal> {
        let Ok(open) = OpenServer::start(launch).await else {
            return Ok(None);
        };
        let around = (self.engine, self.world, self.redactor);
        let lists = self.lists(open).await;
        lists
            .map(Some)
            .map_err(|failure| server.not_ready(&failure, around, self.words))
    }

    async fn lists(&self, open: OpenServer) -> Result<Inventory, Box<jelly_base::model::Failure>> {
        let inventory = open.inventory(self.reading.call_timeout).await;
        open.stop(GRACE).await;
        inventory.map(|inventory| redacted(inventory, self.redactor))
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

/// What is kept has no secrets.
pub fn redacted(mut inventory: Inventory, redactor: &Redactor) -> Inventory {
    redact_inventory(&mut inventory, redactor);
    inventory
}

/// What a recorded session showed. A list that nobody asked for is not known.
fn of_recording(path: &Path) -> Result<Promised, Refusal> {
    let sessions = recorded(path, None)?;
    let shown = path.display();
    let Some(session) = sessions.get(main_session(&sessions)) else {
        return Err(Refusal::invalid(format!("error: {shown} has no session")));
    };
    let mut inventory = Inventory::default();
    for exchange in exchanges(session).list {
        let Some(result) = exchange
            .answer()
            .and_then(|(_, it)| it.get("result").cloned())
        else {
            continue;
        };
        let method = exchange.method();
        let era = match method {
            DISCOVER => Some(Era::Modern),
            INITIALIZE => Some(Era::Legacy),
            _ => None,
        };
        if let Some(era) = era {
            let word = |key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
            inventory.era = era.to_string();
            inventory.protocol_version = word("protocolVersion").unwrap_or_default();
            inventory.server_info = result.get("serverInfo").cloned().unwrap_or_default();
            inventory.capabilities = result.get("capabilities").cloned().unwrap_or_default();
            inventory.instructions = word("instructions");
        }
        let Some(kind) = ListKind::listed_by(method) else {
            continue;
        };
        let list = match kind {
            ListKind::Tools => &mut inventory.tools,
            ListKind::Resources => &mut inventory.resources,
            ListKind::ResourceTemplates => &mut inventory.resource_templates,
            ListKind::Prompts => &mut inventory.prompts,
        };
        let cursor = exchange.message.pointer("/params/cursor");
        if cursor.is_none() {
            *list = Some(Vec::new());
        }
        if let (Some(items), Some(Value::Array(page))) = (list, result.get(kind.key())) {
            items.extend(page.iter().cloned());
        }
    }
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
    })
}
