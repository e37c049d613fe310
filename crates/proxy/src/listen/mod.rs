//! Clients over HTTP: Streamable HTTP of both eras in front of a server.
//!
//! Main function: [`listen`]. A client of the legacy era has a session, and that
//! a server of its own; those of the modern era share one.
//!
//! | file | knows |
//! | --- | --- |
//! | `server` | connections, and who may ask |
//! | `post` | one request, from its body to its answer |
//! | `sessions` | which servers run for whom, and until when |
//! | `versions` | whether the server speaks the version of a request |
//! | `answers` | what is answered, as bytes |

mod answers;
mod post;
mod server;
mod sessions;
mod versions;

pub use server::listen;
pub use sessions::ListenSettings;
