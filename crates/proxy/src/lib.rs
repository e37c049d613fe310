//! Stands between an MCP client and its server: what they say passes unchanged,
//! and where the server can't answer, the client is told why.
//!
//! Main types: [`Relay`], a state machine from messages, events and moments to
//! bytes for either side, without input, output or a clock; and [`run()`], which
//! gives it a client at the standard streams and a server that is a process.
//!
//! Must not know how a client's configuration is written, nor what was typed.

mod adapter;
mod diagnosis;
mod front;
mod learner;
mod message;
mod pass_on;
mod relay;
mod run;
mod settings;
mod stand_in;
mod trouble;
mod upstream;

pub use adapter::{Adapter, StoreSchemas};
pub use learner::schemas_of;
pub use relay::{Relay, Wish};
pub use run::{ProxyEnd, run, trial};
pub use settings::{ProxySettings, RelaySettings, Tap};
pub use trouble::Trouble;
