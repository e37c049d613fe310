//! The tables, by versions. Only [`migrate`] changes them.

use crate::error::DatabaseError;
use tokio_postgres::{Client, SimpleQueryMessage};

/// One step: what it does, and which version may still write what it left.
struct Migration {
    sql: &'static str,
    /// The oldest version of jelly's tables whose writers go on working.
    oldest_writer: i32,
}

/// From 1. A released one is never changed.
const MIGRATIONS: [Migration; 1] = [Migration {
    sql: include_str!("sql/001.sql"),
    oldest_writer: 1,
}];

/// The version that this program writes.
pub const SCHEMA_VERSION: i32 = MIGRATIONS.len() as i32;

/// Whoever migrates holds this lock: "jelly" in ASCII.
const LOCK: i64 = 0x6a_65_6c_6c_79;

/// What a migration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// 0 where there were no tables.
    pub from: i32,
    pub to: i32,
}

/// Makes settings of the session, and looks whether the tables fit this program:
/// in one question, since it is asked before each use.
pub(crate) async fn check_version(client: &Client, settings: &str) -> Result<(), DatabaseError> {
    let question = format!("{settings}; select number, oldest_writer from jelly.version");
    let said = client.simple_query(&question).await?;
    let row = said.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let number = |at: usize| row.and_then(|row| row.get(at)?.parse::<i32>().ok());
    let (Some(found), Some(oldest)) = (number(0), number(1)) else {
        return Err(DatabaseError::NotMigrated);
    };
    let known = SCHEMA_VERSION;
    if found > known && oldest > known {
        return Err(DatabaseError::Newer {
            found,
            oldest,
            known,
        });
    }
    if found < known {
        return Err(DatabaseError::Older { found, known });
    }
    Ok(())
}

/// Brings the tables up to date, or changes nothing. Of several at once, one does
/// it and the others find it done.
pub(crate) async fn migrate(client: &mut Client) -> Result<Migrated, DatabaseError> {
    let change = client.transaction().await?;
    change
        .execute("select pg_advisory_xact_lock($1)", &[&LOCK])
        .await?;
    let there: bool = change
        .query_one("select to_regclass('jelly.version') is not null", &[])
        .await?
        .get(0);
    let from: i32 = match there {
        false => 0,
        true => change
            .query_opt("select number from jelly.version", &[])
            .await?
            .map_or(0, |row| row.get(0)),
    };
    let to = SCHEMA_VERSION;
    if from > to {
        return Err(DatabaseError::Newer {
            found: from,
            oldest: from,
            known: to,
        });
    }
    if from == 0 {
        change
            .batch_execute(
                "create schema if not exists jelly;
                 create table jelly.version (number int not null, oldest_writer int not null);
                 insert into jelly.version values (0, 0)",
            )
            .await?;
    }
    let done = usize::try_from(from).unwrap_or_default();
    for (at, migration) in MIGRATIONS.iter().enumerate().skip(done) {
        change.batch_execute(migration.sql).await?;
        let number = i32::try_from(at + 1).unwrap_or(i32::MAX);
        change
            .execute(
                "update jelly.version set number = $1, oldest_writer = $2",
                &[&number, &migration.oldest_writer],
            )
            .await?;
    }
    change.commit().await?;
    Ok(Migrated { from, to })
}
