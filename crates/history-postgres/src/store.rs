//! The database as a history.

use crate::address::DatabaseAddress;
use crate::error::DatabaseError;
use crate::fleet;
use crate::migrations::{Migrated, migrate};
use crate::past::{self, OwnedScope};
use crate::session::{Asked, PendingAnswer, Purpose, Worker};
use crate::write::{cut, document, record};
use jelly_triage::history::{
    CauseAccount, ExportedResult, FlakyTest, FleetScope, HistoryError, HistoryLimits, HistoryStore,
    NewCause, PastLater, PastRun, PastScope, ReadPast, Recorded, RunOrigin, SlowTest,
};
use jiff::Timestamp;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// What changes tables, or takes out what is old, may take longer.
const MAINTENANCE_LIMIT: Duration = Duration::from_secs(3600);

/// A question about a whole fleet.
const QUESTION_LIMIT: Duration = Duration::from_secs(120);

/// Runs that are taken out at once, each lot in a transaction of its own.
const PRUNED_AT_ONCE: i32 = 500;

/// Whether something passed; a project that is not known, here or there, may be any.
const PASSED: &str = "select from jelly.definitions d
    join jelly.projects p on p.id = d.project_id
    where (p.name in ($1, '') or $1 = '') and d.definition = $2
    limit 1";

/// The same on proven code.
const PASSED_ON: &str = "select from jelly.proven v
    join jelly.projects p on p.id = v.project_id
    where (p.name in ($1, '') or $1 = '') and v.code = $3
        and jelly.short($2) = any (v.definitions)
    limit 1";

/// A history in a database, seen from one project and branch. It connects by
/// itself, when it is first asked or told to.
#[derive(Debug)]
pub struct PostgresHistory {
    name: String,
    worker: Worker,
    viewer: RunOrigin,
}

impl PostgresHistory {
    #[must_use]
    pub fn new(address: DatabaseAddress, mut viewer: RunOrigin) -> Self {
        // Names are compared with what is kept of them.
        for name in [&mut viewer.project, &mut viewer.branch] {
            *name = name.as_deref().map(cut);
        }
        Self {
            name: address.name.clone(),
            worker: Worker::start(address, Purpose::Use),
            viewer,
        }
    }

    /// For a run, which has other things to do: nothing is waited for once
    /// `is_over` says so, and all answers together may be late by no more than
    /// one.
    #[must_use]
    pub fn waiting_while_not(mut self, is_over: fn() -> bool) -> Self {
        self.worker = self.worker.waiting_while_not(is_over);
        self
    }

    /// Asks, for a person who waits: that may take longer than a run would.
    fn asked<T, F>(&self, question: F) -> Result<T, HistoryError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Client) -> Asked<'a, T> + Send + 'static,
    {
        self.worker
            .ask_for(QUESTION_LIMIT, |client| {
                Box::pin(async move {
                    let limit = QUESTION_LIMIT.as_millis();
                    let settings = format!("set statement_timeout = {limit}");
                    client.batch_execute(&settings).await?;
                    question(client).await
                })
            })
            .map_err(|error| error.in_history("read", &self.name))
    }

    /// Begins to connect; who asks later finds it done.
    pub fn connect(&self) {
        self.worker.connect();
    }

    /// Makes the tables, or brings them up to date.
    ///
    /// # Errors
    /// The database can't be reached, or has tables of a later version.
    pub fn migrate(address: DatabaseAddress) -> Result<Migrated, HistoryError> {
        let name = address.name.clone();
        let worker = Worker::start(address, Purpose::Migrate);
        worker
            .ask_for(MAINTENANCE_LIMIT, |client| Box::pin(migrate(client)))
            .map_err(|error| error.in_history("migrate", &name))
    }

    /// Takes out the runs that are older; gives back how many.
    ///
    /// # Errors
    /// The database can't be reached, or refuses.
    pub fn prune(&self, before: Timestamp) -> Result<u64, HistoryError> {
        let mut pruned = 0;
        loop {
            let before = before.to_string();
            let lot = self.worker.ask_for(MAINTENANCE_LIMIT, move |client| {
                Box::pin(async move {
                    let settings = "set statement_timeout = 0; set lock_timeout = 0";
                    client.batch_execute(settings).await?;
                    let row = client
                        .query_typed(
                            "select jelly.prune_1($1::text::timestamptz, $2)",
                            &[(&before, Type::TEXT), (&PRUNED_AT_ONCE, Type::INT4)],
                        )
                        .await?;
                    Ok(row.first().map_or(0, |row| row.get::<_, i32>(0)))
                })
            });
            match lot.map_err(|error| error.in_history("prune", &self.name))? {
                0 => return Ok(pruned),
                lot => pruned += u64::try_from(lot).unwrap_or_default(),
            }
        }
    }
}

impl HistoryStore for PostgresHistory {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn file(&self) -> Option<&Path> {
        None
    }

    fn check_writable(&self) -> Result<(), HistoryError> {
        let may = self.worker.ask(|client| {
            Box::pin(async move {
                let question = "select has_function_privilege('jelly.record_1(jsonb)', 'execute')
                        and not current_setting('transaction_read_only')::bool";
                let rows = client.query_typed(question, &[]).await?;
                match rows.first().is_some_and(|row| row.get(0)) {
                    true => Ok(()),
                    false => Err(DatabaseError::Refused(
                        "this role may not add runs to it".to_owned(),
                    )),
                }
            })
        });
        may.map_err(|error| error.in_history("write", &self.name))
    }

    fn record(&self, mut run: PastRun) -> Result<Recorded, HistoryError> {
        let most = HistoryLimits::default().failures;
        let dropped = run.failures.len().saturating_sub(most);
        run.failures.truncate(most);
        let text = document(&run).map_err(|source| HistoryError::Encode { source })?;
        let text = text.to_string();
        let written = self
            .worker
            .ask(move |client| Box::pin(async move { record(client, &text).await }));
        match written {
            Ok(true) => Ok(Recorded::Run { dropped }),
            Ok(false) => Ok(Recorded::Known),
            Err(error) => Err(error.in_history("write", &self.name)),
        }
    }

    fn past(&self, scope: &PastScope<'_>) -> Result<ReadPast, HistoryError> {
        self.begin_past(scope)()
    }

    fn begin_past<'s>(&'s self, scope: &PastScope<'s>) -> PastLater<'s> {
        let (scope, viewer) = (OwnedScope::new(scope), self.viewer.clone());
        let begun = self.worker.begin(self.worker.limit(), move |client| {
            Box::pin(async move { past::read(client, &viewer, &scope).await })
        });
        Box::new(move || {
            let past = begun.and_then(PendingAnswer::wait);
            past.map(|past| ReadPast {
                past,
                warnings: Vec::new(),
            })
            .map_err(|error| error.in_history("read", &self.name))
        })
    }

    fn passed_as(&self, definition: &str, code: Option<&str>) -> Result<bool, HistoryError> {
        let (definition, code) = (cut(definition), code.map(cut));
        let project = self.viewer.project.clone().unwrap_or_default();
        let known = self.worker.ask(move |client| {
            Box::pin(async move {
                let mut values: Vec<(&(dyn ToSql + Sync), Type)> =
                    vec![(&project, Type::TEXT), (&definition, Type::TEXT)];
                let question = match &code {
                    None => PASSED,
                    Some(code) => {
                        values.push((code, Type::TEXT));
                        PASSED_ON
                    }
                };
                Ok(!client.query_typed(question, &values).await?.is_empty())
            })
        });
        known.map_err(|error| error.in_history("read", &self.name))
    }

    fn look(&self) -> Result<Vec<String>, HistoryError> {
        self.asked(|_| Box::pin(async { Ok(Vec::new()) }))
    }

    fn flaky(&self, scope: &FleetScope) -> Result<Vec<FlakyTest>, HistoryError> {
        let scope = scope.clone();
        self.asked(move |client| Box::pin(async move { fleet::flaky(client, &scope).await }))
    }

    fn new_causes(&self, scope: &FleetScope) -> Result<Vec<NewCause>, HistoryError> {
        let scope = scope.clone();
        self.asked(move |client| Box::pin(async move { fleet::new_causes(client, &scope).await }))
    }

    fn accounts(
        &self,
        scope: &FleetScope,
        prefix: &str,
    ) -> Result<Vec<CauseAccount>, HistoryError> {
        let (scope, prefix) = (scope.clone(), prefix.to_owned());
        self.asked(move |client| {
            Box::pin(async move { fleet::accounts(client, &scope, &prefix).await })
        })
    }

    fn slow(&self, scope: &FleetScope) -> Result<Vec<SlowTest>, HistoryError> {
        let scope = scope.clone();
        self.asked(move |client| Box::pin(async move { fleet::slow(client, &scope).await }))
    }

    fn export(
        &self,
        scope: &FleetScope,
        take: &mut dyn FnMut(Vec<ExportedResult>) -> bool,
    ) -> Result<(), HistoryError> {
        let mut after = 0;
        loop {
            let scope = scope.clone();
            let lot = self.asked(move |client| {
                Box::pin(async move { fleet::results_after(client, &scope, after).await })
            })?;
            let Some((last, results)) = lot else {
                return Ok(());
            };
            if !take(results) {
                return Ok(());
            }
            after = last;
        }
    }

    fn commit_seen(
        &self,
        scope: &FleetScope,
        commit: &str,
    ) -> Result<Option<String>, HistoryError> {
        let (scope, commit) = (scope.clone(), commit.to_owned());
        self.asked(move |client| {
            Box::pin(async move { fleet::commit_seen(client, &scope, &commit).await })
        })
    }
}
