//! What is known of the Model Context Protocol and its revisions, for all that
//! speak it, check it, imitate it or read about it.
//!
//! Main type: [`Revision`], a row of [`REVISIONS`]. A new revision is a row
//! there with a file of its messages in `revisions/`, and rows of [`METHODS`],
//! [`CLIENT_METHODS`] and [`NOTIFICATIONS`] for what it brings. The module is
//! data: it must not know how messages travel or what is made of them.

pub mod code;
mod era;
mod list_kind;
pub mod meta;
mod method;
mod revision;

pub use era::Era;
pub use list_kind::ListKind;
pub use method::{
    CLIENT_METHODS, DISCOVER, INITIALIZE, LISTEN, METHODS, Method, NOTIFICATIONS, Notification,
};
pub use revision::{REVISIONS, Revision};
