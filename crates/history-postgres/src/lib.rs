//! The history of runs in PostgreSQL, shared by as many machines as write to it.
//!
//! The main type is [`PostgresHistory`], a
//! [`HistoryStore`](jelly_triage::history::HistoryStore). The crate must not know
//! how a failure was found, nor what follows from the past: it keeps and selects.

mod address;
mod common_name;
mod error;
mod fleet;
mod migrations;
mod past;
mod plain;
mod session;
mod store;
mod tls;
mod write;

pub use address::{AddressError, DatabaseAddress, TIME_LIMIT};
pub use error::DatabaseError;
pub use migrations::{Migrated, SCHEMA_VERSION};
pub use store::PostgresHistory;
