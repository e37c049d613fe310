//! `jelly schema`: the JSON Schemas of what jelly reads and prints.
//!
//! The binary holds the files of docs/schemas. A test makes the same texts
//! from the types, so that no run has to bring along what makes them.

#[cfg(test)]
mod tests;

use super::out::{print_in, say, unless_unsaid};
use super::overwrite::kept_file;
use super::refusal::Refusal;
use super::target::Target;
use crate::cli::args::SchemaArgs;
use jelly_base::model::ExitCode;
use jelly_base::text::{Notation, did_you_mean};
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

macro_rules! published {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../docs/schemas/", $name, ".json"))),)*]
    };
}

/// All schemas by their names, in the order in which they are listed.
const SCHEMAS: &[(&str, &str)] = published![
    "plan",
    "settings",
    "rules-file",
    "failure",
    "results",
    "run-agent",
    "hook",
    "wire-line",
    "check",
    "triage",
    "triage-line",
    "triage-failures",
    "triage-failures-line",
    "triage-paths",
    "triage-paths-line",
    "diagnosis-line",
    "finding-line",
    "ctrf",
    "config",
    "doctor",
    "list",
    "call",
    "lock",
    "tools-diff",
    "tools-lint",
    "fuzz",
    "history",
    "history-flaky",
    "history-new",
    "history-cause",
    "history-slow",
    "history-result",
    "history-line",
    "plan-times",
    "schema-store",
    "explain",
    "rules",
    "rule",
    "rules-explain",
];

/// The schema of plans.
pub const PLAN_SCHEMA: &str = SCHEMAS[0].1;

/// Prints a schema, or what schemas there are. Exit code 2 for a name that
/// none has, and for what is no folder; 3 for a folder that can't be written.
pub fn schema(args: &SchemaArgs) -> Result<ExitCode, Refusal> {
    if let Some(folder) = &args.write {
        return write_all(folder);
    }
    let Some(name) = &args.name else {
        return say(names(), ExitCode::Passed);
    };
    match SCHEMAS.iter().find(|(known, _)| known == name) {
        Some((_, text)) => unless_unsaid(print_in(Notation::Json, text), ExitCode::Passed),
        None => Err(unknown(name)),
    }
}

fn names() -> String {
    let width = SCHEMAS.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for (name, schema) in SCHEMAS {
        let _ = writeln!(text, "{name:width$}  {}", title(schema));
    }
    text
}

/// What it is the schema of, in a phrase.
fn title(schema: &str) -> String {
    #[derive(Deserialize)]
    struct Titled {
        title: String,
    }
    // A test sees to it that each has one.
    serde_json::from_str::<Titled>(schema).map_or_else(|_| String::new(), |schema| schema.title)
}

fn unknown(name: &str) -> Refusal {
    let help = did_you_mean(name, SCHEMAS.iter().map(|(known, _)| *known));
    let help = help.unwrap_or_else(|| "`jelly schema` lists all".to_owned());
    Refusal::invalid(format!("error: there is no schema `{name}`\nhelp: {help}"))
}

fn write_all(folder: &Path) -> Result<ExitCode, Refusal> {
    for (name, _) in SCHEMAS {
        let path = folder.join(format!("{name}.json"));
        let is_own = |text: &str| text.contains("\"$id\": \"urn:jelly:schema:");
        if let Some(why) = kept_file(&path, &[], "a schema", is_own) {
            return Err(Refusal::invalid(format!(
                "error: {}: {why}\nhelp: name another folder; nothing was written",
                path.display()
            )));
        }
    }
    let written = fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error));
    let written = written.and_then(|()| {
        // None appears where one does not fit.
        let targets: Vec<(PathBuf, Target)> = SCHEMAS
            .iter()
            .map(|(name, text)| {
                let path = folder.join(format!("{name}.json"));
                match whole(&path, text) {
                    Ok(target) => Ok((path, target)),
                    Err(error) => Err((path, error)),
                }
            })
            .collect::<Result<_, _>>()?;
        targets
            .into_iter()
            .try_for_each(|(path, target)| target.finish().map_err(|error| (path, error)))
    });
    written
        .map(|()| ExitCode::Passed)
        .map_err(|(path, error)| unwritten(&path, &error))
}

/// The text on the disk, and not yet under its name.
fn whole(path: &Path, text: &str) -> io::Result<Target> {
    let mut target = Target::open(Some(path), Some(Notation::Json))?;
    target.write_all(text.as_bytes())?;
    target.flush()?;
    Ok(target)
}

fn unwritten(path: &Path, error: &io::Error) -> Refusal {
    let text = format!(
        "error: failed to write {}: {error}\nhelp: name a folder that can be written",
        path.display()
    );
    match error.kind() {
        // What was typed is no folder; else the disk does not take it.
        io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::IsADirectory => Refusal::invalid(text),
        _ => Refusal::needs_help(text),
    }
}
