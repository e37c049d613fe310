//! Reads test reports and classifies failures by rules that are data.

pub mod engine;
mod frameworks;
pub mod history;
pub mod junit;
pub mod survey;
