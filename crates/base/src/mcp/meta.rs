//! The keys of `_meta` that the specification reserves (2026-07-28, basic,
//! `_meta`).

/// The prefix of them all.
pub const PREFIX: &str = "io.modelcontextprotocol";

pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// What the server is to log of a request.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// To which subscription a notification belongs: a pointer into its params.
pub const SUBSCRIPTION_ID_POINTER: &str = "/_meta/io.modelcontextprotocol~1subscriptionId";
