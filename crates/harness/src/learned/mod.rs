//! What was learnt of tools' outputs, kept in a file that people edit too: the
//! schema store.
//!
//! The main type is [`Store`]. Of each tool it keeps the output schema that
//! stands for it, the one that its server declares, the last rung of the schema
//! ladder, and how often in a row that was the lowest one. What a person wrote
//! into the file stays as it is and overrides what is learnt.
//!
//! The module must not know how an output was read (`exec`), nor who asks.

mod document;
mod error;
mod form;
mod status;
mod store;

pub use error::StoreError;
pub use form::{StoreFile, StoredServer, StoredTool};
pub use store::{Limits, Schemas, Store, StoredSchemas};
