//! Codes of errors.

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL_ERROR: i64 = -32603;

/// Those that JSON-RPC defines.
pub const OF_JSON_RPC: [i64; 5] = [
    PARSE_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    INVALID_PARAMS,
    INTERNAL_ERROR,
];

/// Up to 2025-11-25; since then, it is [`INVALID_PARAMS`].
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// Of 2025-11-25 alone.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// The headers of a request do not fit its message.
pub const HEADER_MISMATCH: i64 = -32020;
pub const MISSING_CAPABILITY: i64 = -32021;
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Those that only a modern server sends: the specification defines them for
/// 2026-07-28 and allows nobody else to use them.
pub const OF_MODERN_ERA: [i64; 3] = [UNSUPPORTED_VERSION, MISSING_CAPABILITY, HEADER_MISMATCH];
