//! The schema store beside a proxy: what was learnt is written to it, and what
//! others write is seen, in a thread of its own, since files wait.
//!
//! Main type: [`Learner`].

use super::adapter::StoreSchemas;
use super::pass_on::PassOn;
use jelly_base::model::OutputSeen;
use jelly_harness::learned::{Store, StoreError};
use std::fs;
use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

/// Outputs that wait to be written; what comes on top is not learnt.
const WAITING: usize = 1000;
/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// What the last outputs may take to be written, when the client has gone.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub struct Learner {
    outputs: SyncSender<Vec<OutputSeen>>,
    changed: UnboundedReceiver<StoreSchemas>,
}

/// What the store says of a server now.
///
/// # Errors
/// It can't be read, or is no store.
pub fn schemas_of(store: &Store, server: &str) -> Result<StoreSchemas, StoreError> {
    let mut schemas = store.schemas()?;
    Ok(StoreSchemas {
        set: schemas.set.remove(server).unwrap_or_default(),
        shown: schemas.all.remove(server).unwrap_or_default(),
    })
}

impl Learner {
    /// Starts the thread; `known` is what the store says already.
    ///
    /// # Errors
    /// There can be none.
    pub fn start(
        store: Store,
        server: String,
        known: StoreSchemas,
        mut pass_on: PassOn,
    ) -> io::Result<Self> {
        let (outputs, received) = sync_channel::<Vec<OutputSeen>>(WAITING);
        let (tell, changed) = unbounded_channel();
        let mut known = known;
        thread::Builder::new()
            .name("schemas".into())
            .spawn(move || {
                let mut seen = written_at(&store);
                let mut warned = false;
                loop {
                    match received.recv_timeout(LOOK) {
                        Ok(mut outputs) => {
                            outputs.extend(received.try_iter().flatten());
                            let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
                            let learnt = store.learn(&outputs, &now.to_string());
                            if let (Err(error), false) = (learnt, warned) {
                                warned = true;
                                let _ = writeln!(
                                    pass_on,
                                    "jelly proxy: how outputs were read is not kept: failed to \
                                     {error}"
                                );
                            }
                        }
                        Err(RecvTimeoutError::Timeout) if written_at(&store) == seen => continue,
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                    seen = written_at(&store);
                    // One that others have spoilt says nothing new.
                    let Ok(now) = schemas_of(&store, &server) else {
                        continue;
                    };
                    if now != known {
                        known.clone_from(&now);
                        // Whoever is told may have gone before the last output is
                        // written.
                        let _ = tell.send(now);
                    }
                }
            })?;
        Ok(Self { outputs, changed })
    }

    /// Takes in outputs. Never waits.
    pub fn learn(&self, outputs: Vec<OutputSeen>) {
        if !outputs.is_empty() {
            let _ = self.outputs.try_send(outputs);
        }
    }

    /// Waits until all is written, yet not for long: others may have the store.
    pub async fn finish(self) {
        let Self {
            outputs,
            mut changed,
        } = self;
        drop(outputs);
        // The thread has the only sender.
        let written = async { while changed.recv().await.is_some() {} };
        let _ = timeout(LAST_WRITE, written).await;
    }

    /// What the store says, when that has changed. Cancel safe.
    pub async fn changed(&mut self) -> StoreSchemas {
        match self.changed.recv().await {
            Some(schemas) => schemas,
            None => std::future::pending().await,
        }
    }
}

fn written_at(store: &Store) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(store.path()).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
