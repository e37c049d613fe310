//! Executes plans, repairs them, and decides what an iteration does next.

pub mod code_identity;
pub mod exec;
mod git;
pub mod learned;
pub mod repair;
pub mod shards;
pub mod triage_loop;
