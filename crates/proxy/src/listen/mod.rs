//! Clients over HTTP: Streamable HTTP of both eras in front of a server.
//!
//! Main function: [`listen`]. A client of the legacy era has a session, and that
//! a server of its own; those of the modern era share one.
//!
//! | file | knows |
//! | --- | --- |
//! | `server` | connections, and who may ask |
//! | `post` | one request, from its body to its answer |
//! | `arrival` | what a body is, and whether its headers fit |
//! | `sessions` | which servers run for whom, and until when |
//! | `router` | which stream a message of the server goes by |
//! | `sharing` | ids of clients that share a server |
//! | `outflow` | one stream to a client, and its bounds |
//! | `answers` | what is answered, as bytes |

mod answers;
mod arrival;
mod outflow;
mod post;
mod router;
mod server;
mod sessions;
mod sharing;

pub use router::Router;
pub use server::{ListenSettings, listen};
