//! `jelly explain`: what a fingerprint stands for, and why two are or are not
//! the same.

mod compare;
mod known;
mod show;
mod sources;

use super::out::say_in;
use super::paint::DiffPaint;
use super::past::refuse;
use super::settings::World;
use crate::cli::args::{ColorChoice, ExplainArgs, Format};
use crate::cli::complain::{complain, fault};
use compare::{Part, compare};
use jelly_base::model::{ExitCode, SCHEMA_VERSION};
use known::{FoundCause, Known};
use schemars::JsonSchema;
use serde::Serialize;

use sources::Sources;

/// Explains what was asked about. Exit code 2 for a fingerprint that is not
/// found, or that several begin like.
pub fn explain(args: &ExplainArgs, color: ColorChoice, world: &World) -> ExitCode {
    let sources = match Sources::open(args, world) {
        Ok(sources) => sources,
        Err(code) => return code,
    };
    let paint = DiffPaint {
        color: world.color(color, world.stdout_is_terminal),
        width: usize::from(world.width().unwrap_or(100)),
    };
    let explained = match (&args.fingerprint, args.diff.as_deref()) {
        (Some(asked), _) => one(&sources, asked, args.format, paint),
        (None, Some([one, other])) => two(&sources, one, other, args.format, paint),
        (None, _) => return ExitCode::InvalidInput,
    };
    match explained {
        Ok(Ok(text)) => say_in(args.format.notation(), text, ExitCode::Passed),
        Ok(Err(error)) => fault(&format!("the explanation is no JSON: {error}")),
        Err(code) => code,
    }
}

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

type Text = Result<String, serde_json::Error>;

fn one(sources: &Sources, asked: &str, format: Format, paint: DiffPaint) -> Result<Text, ExitCode> {
    let known = look_up(sources, asked)?;
    Ok(match format {
        Format::Human => Ok(show::show(&known, paint)),
        Format::Json => pretty(&Explained {
            schema_version: SCHEMA_VERSION,
            fingerprint: known,
        }),
    })
}

fn two(
    sources: &Sources,
    one: &str,
    other: &str,
    format: Format,
    paint: DiffPaint,
) -> Result<Text, ExitCode> {
    let (one, other) = (look_up(sources, one)?, look_up(sources, other)?);
    let comparison = compare(&one, &other);
    Ok(match format {
        Format::Human => Ok(show::show_comparison(&comparison, &one, &other, paint)),
        Format::Json => pretty(&Compared {
            schema_version: SCHEMA_VERSION,
            same: comparison.same,
            parts: comparison.parts,
            fingerprints: [one, other],
        }),
    })
}

fn pretty(value: &impl Serialize) -> Text {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}

fn look_up(sources: &Sources, asked: &str) -> Result<Known, ExitCode> {
    match sources.find(asked) {
        FoundCause::One(known) => Ok(*known),
        FoundCause::None => {
            complain(&format!(
                "error: no fingerprint {asked} is known; looked in {}",
                sources.looked_in()
            ));
            complain(
                "help: name the report that it comes from with --in, or the history with --history",
            );
            Err(ExitCode::InvalidInput)
        }
        FoundCause::Several(all) => {
            complain(&format!(
                "error: several fingerprints begin with {asked}: {}",
                all.join(", ")
            ));
            Err(ExitCode::InvalidInput)
        }
    }
}

/// A history that can't be read, said.
fn unreadable(error: &jelly_triage::history::HistoryError) -> ExitCode {
    refuse(error);
    ExitCode::InvalidInput
}
