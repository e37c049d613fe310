//! `jelly schema`: the JSON Schemas of what jelly reads and prints.

mod finish;
mod list;

use super::out::{say, say_in};
use crate::cli::args::SchemaArgs;
use crate::cli::complain::{complain, fault};
use jelly_base::model::ExitCode;
use jelly_base::text::{Notation, close_names};
use list::{Named, SCHEMAS};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Prints a schema, or what schemas there are. Exit code 2 for a name that
/// none has, and for a folder that can't be written.
pub fn schema(args: &SchemaArgs) -> ExitCode {
    if let Some(folder) = &args.write {
        return write_all(folder);
    }
    let Some(name) = &args.name else {
        return say(names(), ExitCode::Passed);
    };
    let Some(named) = SCHEMAS.iter().find(|named| named.name == name) else {
        return unknown(name);
    };
    match text_of(named) {
        Ok(text) => say_in(Notation::Json, text, ExitCode::Passed),
        Err(error) => fault(&format!("the schema is no JSON: {error}")),
    }
}

/// The schema of plans, as it is printed.
///
/// # Errors
/// It is no JSON: nobody's fault but jelly's.
pub fn plan_schema() -> Result<String, serde_json::Error> {
    let plan = SCHEMAS.iter().find(|named| named.name == "plan");
    plan.map_or_else(|| Ok(String::new()), text_of)
}

/// A schema as it is printed and published: indented, with a line feed at its
/// end.
fn text_of(named: &Named) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&named.schema()).map(|text| text + "\n")
}

fn names() -> String {
    let width = SCHEMAS.iter().map(|named| named.name.len()).max();
    let mut text = String::new();
    for named in SCHEMAS {
        let width = width.unwrap_or_default();
        let _ = writeln!(text, "{:width$}  {}", named.name, named.about);
    }
    text
}

fn unknown(name: &str) -> ExitCode {
    complain(&format!("error: there is no schema `{name}`"));
    match close_names(name, SCHEMAS.iter().map(|named| named.name)).first() {
        Some(close) => complain(&format!("help: did you mean `{close}`?")),
        None => complain("help: `jelly schema` lists all"),
    }
    ExitCode::InvalidInput
}

fn write_all(folder: &Path) -> ExitCode {
    let written = fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error));
    let written = written.and_then(|()| {
        for named in SCHEMAS {
            let path = folder.join(format!("{}.json", named.name));
            let text = text_of(named).map_err(io::Error::from);
            let write = text.and_then(|text| fs::write(&path, text));
            write.map_err(|error| (path, error))?;
        }
        Ok(())
    });
    match written {
        Ok(()) => ExitCode::Passed,
        Err((path, error)) => {
            let path = path.display();
            complain(&format!("error: failed to write {path}: {error}"));
            complain("help: name a folder that can be written");
            ExitCode::InvalidInput
        }
    }
}
