//! The driver of a connection by HTTP.
//!
//! Main function: [`connect`]. Streamable HTTP of both eras, and the
//! deprecated HTTP+SSE where a server speaks nothing else. `sse` and `headers`
//! are pure, `link` knows the endpoint and its session, `post` brings a message
//! there, `exchange` is one request with what comes of it, `listen` the streams
//! that nobody asked for, `facts` says what went wrong, `lost_session` whether a
//! session is over, `body` unpacks what was packed, `events` hears a stream,
//! `tunnel` what a proxy says to a request for one, `driver` holds them together. `raw_http` and `raw_exchange` are a driver for
//! messages that are passed on as they are; `poster` posts documents, and `plain` asks for
//! what stands beside the endpoint. `guard` is for servers of ours: whom
//! they answer.

pub mod auth;
mod body;
mod client;
mod driver;
mod events;
mod exchange;
mod facts;
mod guard;
mod headers;
mod link;
mod listen;
mod lost_session;
mod plain;
mod post;
mod poster;
mod raw_exchange;
mod raw_http;
mod relearn;
mod sse;
mod trust;
mod tunnel;

pub(super) use driver::connect;
pub use guard::{ListenGuard, ListenRefusal, RequestRefusal};
pub use headers::{ParamHeaders, header_text};
pub(super) use link::{Carrier, Link};
pub use plain::{PlainAnswer, PlainHttp, PlainRequest};
pub use poster::JsonPoster;
pub use raw_http::{RawHttp, RawNews};
pub use sse::{SseItem, SseParser};
