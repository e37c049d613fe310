//! Authorization: from a refusal to a token that the next request carries.
//!
//! Main type: [`Authorizer`], which a [`crate::Endpoint`] may have. It
//! does what the specification's "Authorization" asks of a client: finds out by
//! `metadata` who issues tokens, says by `client` who jelly is, gets tokens with
//! the scopes that `scopes` selects, and gets others when the server wants more.
//! `challenge`, `metadata`, `scopes`, `assertion` and `token` are pure; `fetch`,
//! `redirect_listener` and `token_store` are where anything is sent, heard or kept; `renewal` holds
//! those together for a login.

mod assertion;
mod authorizer;
mod challenge;
mod client;
mod code;
mod discovery;
mod error;
mod fetch;
mod metadata;
mod redirect_listener;
mod renewal;
mod scopes;
mod token;
mod token_endpoint;
mod token_store;
mod visitor;

pub use assertion::{Algorithm, SigningKey, WorkloadToken};
pub use authorizer::{AuthSettings, Authorizer, Grant, LoggedIn};
pub(super) use authorizer::{Bearer, Refusal, Tries};
pub use challenge::Challenge;
pub use client::{Client, Proof};
pub use code::Code;
pub use error::{AuthError, Stage};
pub use token_store::TokenStore;
pub use visitor::{FollowRedirects, Visit, Visitor};
