//! Reads the configurations of MCP clients, and writes first plans.

pub mod doctor;
pub mod init;
