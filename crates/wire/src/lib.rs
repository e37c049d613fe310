//! What goes over the wire to one MCP server, and what comes back.
//!
//! Raw JSON-RPC, newline-delimited over stdio or over HTTP, in both eras of the
//! protocol.
//! The main types: [`start`] makes a [`Session`] of a [`Launch`], or a
//! [`StartFailure`]; a session answers each request with a [`Reply`].
//!
//! The layers, from below: `frame` cuts bytes into lines, `message` reads a
//! line, `peer` knows what is pending (no input or output) and lets `check` see
//! every message where that is asked for, `connection` is a peer with a driver,
//! be it `stdio` with the pipes of a process or `http`, `era` holds what differs
//! between versions, `startup` finds out the era and lists the tools, `session`
//! is what a step uses, with `extras` for what is more than a request and its
//! answer. What the server asks is answered by `answers`, between the `rounds` of
//! a request in the modern era; what it tells is kept in `notices`.
//!
//! It carries and records, and judges by nothing but the protocol's own
//! specification: it must not know of plans, expectations or diagnoses.

mod answers;
mod candidate;
mod check;
mod connection;
mod era;
mod exchange;
mod extras;
mod frame;
mod handshake;
mod http;
mod launch;
mod listing;
mod local_port;
mod message;
mod notices;
mod observed;
mod patience;
mod peer;
mod raw;
mod recorded_secrets;
mod recording;
mod reply;
mod rounds;
mod session;
mod startup;
mod stdio;
mod transcript;

#[cfg(test)]
mod fixture;

pub use answers::{Answers, Ask, Given, Responder, accept_defaults};
pub use check::{Checker, RULES, Rule};
pub use connection::{Attending, Connection, InFlight, deadline_after};
pub use era::Greeting;
pub use exchange::{Beyond, End, HttpEnd, Life, Outgoing, ReplyOutcome};
pub use extras::{CROSSING, CancelEnd, Listening, Stirs};
pub use frame::{Frame, LineSplitter, MAX_LINE_BYTES};
pub use http::{
    JsonPoster, ListenGuard, ListenRefusal, ParamHeaders, PlainAnswer, PlainHttp, PlainRequest,
    RawHttp, RawNews, RequestRefusal, SseItem, SseParser, auth, header_text,
};
pub use launch::{Endpoint, Launch, Reach};
pub use local_port::LocalPort;
pub use notices::{Listener, Notice, logged};
pub use observed::Observed;
pub use patience::Patience;
pub use peer::Peer;
pub use raw::is_sound;
pub use recording::{RecordedContent, RecordedMessage, RecordedSession, Recording, RecordingError};
pub use reply::{Reply, StartFailure, describe_exit};
pub use session::Session;
pub use startup::start;
pub use transcript::{Direction, RecordedLine, RecordedStart, Recorder, redact_record};
