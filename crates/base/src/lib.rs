//! The types that flow through jelly, and what it does with text: redaction, truncation, plurals.

pub mod mcp;
pub mod model;
pub mod text;
