//! `jelly explain`: what a fingerprint stands for, and why two are or are not
//! the same.

mod compare;
mod known;
mod show;
mod sources;

use super::out::{say, say_json};
use super::paint::DiffPaint;
use super::refusal::Refusal;
use super::settings::World;
use crate::cli::args::{ExplainArgs, Format};
use compare::{Part, compare};
use jelly_base::model::{ExitCode, SCHEMA_VERSION};
use known::Known;
use schemars::JsonSchema;
use serde::Serialize;
use sources::Sources;

/// What `--format json` prints of one fingerprint.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// What is known of it.
    fingerprint: Known,
}

/// What `--diff --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Compared {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// Both are one fingerprint.
    same: bool,
    /// What both were made of, part by part.
    parts: Vec<Part>,
    /// Both, in the order in which they were asked about.
    fingerprints: [Known; 2],
}

/// Explains what was asked about. Exit code 2 for a fingerprint that is not
/// found, or that several begin like.
pub fn explain(args: &ExplainArgs, world: &World) -> Result<ExitCode, Refusal> {
    let sources = Sources::open(args, world)?;
    let paint = DiffPaint::of_stdout(world);
    match (&args.fingerprint, args.diff.as_deref()) {
        (Some(asked), _) => {
            let known = sources.find(asked)?;
            match args.format {
                Format::Human => say(show::show(&known, paint), ExitCode::Passed),
                Format::Json => {
                    let explained = Explained {
                        schema_version: SCHEMA_VERSION,
                        fingerprint: known,
                    };
                    say_json(&explained, ExitCode::Passed)
                }
            }
        }
        (None, Some([one, other])) => {
            let fingerprints = [sources.find(one)?, sources.find(other)?];
            let compared = Compared {
                schema_version: SCHEMA_VERSION,
                same: fingerprints[0].fingerprint == fingerprints[1].fingerprint,
                parts: compare(&fingerprints[0], &fingerprints[1]),
                fingerprints,
            };
            match args.format {
                Format::Human => say(show::show_comparison(&compared, paint), ExitCode::Passed),
                Format::Json => say_json(&compared, ExitCode::Passed),
            }
        }
        (None, _) => Err(Refusal::silent(ExitCode::InvalidInput)),
    }
}
