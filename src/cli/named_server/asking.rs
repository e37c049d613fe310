//! A server that is started to be asked for its lists, and stopped again.
//!
//! Main type: [`Asking`].

use super::super::busy::Busy;
use super::{NamedServer, named_servers};
use crate::cli::args::{AskArgs, ServerSource};
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use jelly_base::mcp::Era;
use jelly_base::model::{Failure, Inventory};
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::{OpenServer, redact_inventory};
use jelly_triage::engine::Engine;
use jelly_wire::Launch;
use std::time::Duration;

/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(2);

/// How servers are asked.
pub struct Asking<'a> {
    pub ask: &'a AskArgs,
    pub engine: &'a Engine,
    pub world: &'a World,
    pub redactor: &'a Redactor,
}

impl Asking<'_> {
    /// The lists of each server that is named: of one session, or of one in each
    /// era that it speaks.
    pub async fn inventories(
        &self,
        source: &ServerSource,
        in_all_eras: bool,
    ) -> Result<Vec<(NamedServer, Vec<Inventory>)>, Refusal> {
        let mut all = Vec::new();
        for server in named_servers(source, self.world, self.redactor).await? {
            let launch = server.launch(self.ask.server.timeout, self.redactor);
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

    /// What a server lists.
    pub async fn inventory(
        &self,
        server: &NamedServer,
        launch: &Launch,
    ) -> Result<Inventory, Refusal> {
        let busy = Busy::waiting(self.world);
        busy.begin_server(&server.name, "starting", self.redactor);
        let open = OpenServer::start(launch).await;
        let open = open.map_err(|failure| self.unwell(server, &failure))?;
        self.lists(server, open, &busy).await
    }

    /// In the legacy era; nothing where the server does not speak it.
    async fn legacy(
        &self,
        server: &NamedServer,
        launch: &Launch,
    ) -> Result<Option<Inventory>, Refusal> {
        let busy = Busy::waiting(self.world);
        busy.begin_server(&server.name, "starting in the legacy era", self.redactor);
        match OpenServer::start(launch).await {
            Ok(open) => self.lists(server, open, &busy).await.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// What is told or kept of them has no secrets.
    async fn lists(
        &self,
        server: &NamedServer,
        open: OpenServer,
        busy: &Busy,
    ) -> Result<Inventory, Refusal> {
        busy.begin_server(&server.name, "reading its lists", self.redactor);
        let inventory = open.inventory(self.ask.call_timeout).await;
        open.stop(GRACE).await;
        let mut inventory = inventory.map_err(|failure| self.unwell(server, &failure))?;
        redact_inventory(&mut inventory, self.redactor);
        Ok(inventory)
    }

    fn unwell(&self, server: &NamedServer, failure: &Failure) -> Refusal {
        server.not_ready(failure, (self.engine, self.world, self.redactor))
    }
}
