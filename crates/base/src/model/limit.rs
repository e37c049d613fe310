//! What jelly does not read or keep, for which nobody else is to blame.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit of jelly's own that a server went beyond. The protocol knows none of
/// them, so that what was left out is evidence for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwnLimit {
    /// Bytes of one message, be it a line, a body or an event.
    MessageSize,
    /// How deep the values of a message are nested.
    MessageDepth,
    /// How many values a message, or a text that is JSON, is made of, by the
    /// memory that they take.
    MessageValues,
    /// How large a number may be. Of older reports: numbers are kept with all
    /// of their digits.
    NumberRange,
    /// How a body may be packed.
    Encoding,
    /// Bytes of all pages of a list.
    ListSize,
    /// Pages of a list.
    ListPages,
    /// How often a server may ask for input before it answers.
    Rounds,
    /// How many questions of the server are kept for a step, and their bytes.
    Questions,
    /// How much of stderr is kept.
    Stderr,
    /// How long a stream of events is read that answers a plain request.
    EventStream,
}
