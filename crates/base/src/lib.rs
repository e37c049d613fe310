//! The types that flow through jelly, and what it does with text: redaction, truncation, plurals;
//! how files that somebody named are opened.

pub mod files;
pub mod mcp;
pub mod model;
pub mod testing;
pub mod text;
