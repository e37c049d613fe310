//! Stands between an MCP client and its server: what they say passes unchanged,
//! and where the server can't answer, the client is told why.
//!
//! Main types: [`Relay`], a state machine from messages, events and moments to
//! bytes for either side, without input, output or a clock; [`run()`], which gives
//! it a client at the standard streams, and [`listen()`], which gives one to each
//! client over HTTP. The server is a process, or behind a URL.
//!
//! Must not know how a client's configuration is written, nor what was typed.

mod account;
mod adapter;
mod by_url;
mod client;
mod diagnosis;
mod driver;
mod front;
mod learner;
mod listen;
mod message;
mod pass_on;
mod relay;
mod routing;
mod run;
mod settings;
mod silence;
mod spans;
mod stand_in;
mod trouble;
mod upstream;

pub use account::{RequestEnd, RequestOutcome};
pub use adapter::{Adapter, StoreSchemas};
pub use diagnosis::trouble_of_refusal;
pub use driver::{ProxyEnd, SharedEngine};
pub use learner::schemas_of;
pub use listen::{ListenSettings, listen};
pub use relay::{Relay, Wish};
pub use run::{run, trial};
pub use settings::{ProxySettings, RelaySettings, Tap};
pub use spans::traces_url;
pub use trouble::Trouble;
