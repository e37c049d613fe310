//! The loop, tested: rule by rule, and over thousands of random histories.

mod asks;
mod blame;
mod fences;
mod hooks;
mod loop_limits;
mod proofs;
mod properties;
mod runs;
mod several;
mod stage;
mod support;
mod tales;
mod verdicts;
