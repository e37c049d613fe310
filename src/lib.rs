//! jelly tests MCP servers in CI and triages test failures, and never blames
//! code for a broken environment.
//!
//! The whole program in one line: plan → exec → failures → diagnoses → action
//! → plan′, and every stage is a value that one can print, save and replay.
//!
//! The map of the house, a module using only what stands below it:
//!
//! | layer | module | room |
//! | --- | --- | --- |
//! | 7 | [`cli`] | what was typed → what is meant → one function per command → exit code |
//! | 6 | [`report`] | events and results → bytes; one manager owns the files |
//! | 5 | [`harness`] | the loop: a pure state machine with a thin async driver |
//! | 4 | [`exec`] | one plan, once: servers, steps, expectations |
//! | 4 | [`survey`] | many reports → one account: causes, victims, what to rerun |
//! | 4 | [`doctor`] | configurations of MCP clients → servers, and what is wrong with them at sight |
//! | 4 | [`init`] | what a server lists → a commented plan for it |
//! | 3 | [`triage`] | `Failure → Diagnosis`: rules as data, fingerprints |
//! | 3 | [`history`] | what failed before, by fingerprint and by test |
//! | 3 | [`learned`] | what was learnt of tools' outputs: the schema store |
//! | 3 | [`repair`] | `(Plan, diagnoses, facts) → edits` |
//! | 2 | [`wire`] | JSON-RPC by pipes or HTTP, eras |
//! | 2 | [`plan`] | YAML/JSON → validated plan with spans; edits |
//! | 2 | [`junit`] | test reports of every dialect → cases with their failures |
//! | 2 | [`mock`] | the scriptable, fault-injecting MCP server |
//! | 1 | [`package`] | the registry's `server.json` → what starts its packages |
//! | 1 | [`process`] | spawn, capture, escalate, guaranteed kill of the tree |
//! | 1 | [`model`] | the types that flow |
//! | 0 | [`text`] | redaction, truncation, durations, plurals |

pub mod cli;
pub mod doctor;
pub mod exec;
pub mod harness;
pub mod history;
pub mod init;
pub mod junit;
pub mod learned;
pub mod mock;
pub mod model;
pub mod package;
pub mod plan;
pub mod process;
pub mod repair;
pub mod report;
pub mod survey;
pub mod text;
pub mod triage;
pub mod wire;

pub use cli::main_impl;
