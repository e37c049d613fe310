//! Executes plans, repairs them, and decides what an iteration does next.

pub mod exec;
pub mod learned;
pub mod repair;
pub mod shards;
pub mod triage_loop;
