//! Messages of clients over HTTP, and which stream brings what to whom.
//!
//! | file | knows |
//! | --- | --- |
//! | `router` | which stream a message of the server goes by |
//! | `arrival` | what a body is, and whether its headers fit |
//! | `sharing` | ids of clients that share a server |
//! | `outflow` | one stream to a client, and its bounds |

mod arrival;
mod outflow;
mod router;
mod sharing;

pub use arrival::{Arrival, ModernRequest, PostedRequest, is_modern};
pub use outflow::{FirstWord, Outflow, OutflowEnd};
pub use router::Router;
