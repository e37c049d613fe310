//! The grammar of a plan: every mapping with its keys, every operator, each
//! once.
//!
//! The loader checks a document by these tables and takes its "did you mean"
//! from them; [`plan_schema`] draws them as a JSON Schema for editors. What a
//! value comes to is the loader's to know. A new key is a row here and the place
//! in the loader where it takes effect.

mod document;
mod http;
mod mapping;
mod operators;
mod package;
mod schema;
mod server;
mod service;
mod startup;
mod step;
#[cfg(test)]
mod tests;

pub(crate) use document::{BUDGETS, DEFAULTS, HOOKS, INCLUDED, MATRIX, PLAN};
pub(crate) use http::HTTP;
pub(crate) use mapping::{Kind, Mapping, Words};
pub use operators::Operator;
pub use operators::is_value_type;
pub(crate) use operators::{OperandKind, OperatorGroup, REDACTION, Target, VALUE_TYPES};
pub use schema::plan_schema;
pub(crate) use server::{AUTH, CLIENT_CREDENTIALS, LOGIN, REVISION, RPC_ERROR, SERVER, WORKLOAD};
pub(crate) use service::{READY, SERVICE};
pub(crate) use startup::{REFUSES, STARTUP};
pub(crate) use step::{
    ANSWER, AT_ONCE, COMPLETE, CONDITION, ERROR_EXPECT, EXPECT, NOTIFICATION, PLATFORMS, STEP,
    SUBSCRIPTION, UNTIL,
};
