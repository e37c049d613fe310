//! Arguments to call a tool with, as plans write them.

use super::choice::words;
use super::draft::Folder;
use super::sample::{Paths, is_refused, sample};
use super::tool::Tool;
use super::values::all_written;
use crate::plan::Template;
use serde_json::{Map, Value};

/// Arguments to try, and the names of those that are missing in all of them.
pub(super) fn arguments(
    tool: &Tool,
    folder: Option<&Folder>,
) -> (Vec<Map<String, Value>>, Vec<String>) {
    let file = folder.and_then(|folder| {
        let name = folder.file.as_ref()?;
        let join = |path: &str, name: &str| format!("{}/{name}", path.trim_end_matches('/'));
        let written = Template::literal(name).raw;
        Some((join(&folder.path, name), join(&folder.written, &written)))
    });
    let folder = folder.map(|folder| (folder.path.as_str(), folder.written.as_str()));
    let file = file
        .as_ref()
        .map(|(path, written)| (path.as_str(), written.as_str()));
    let known: Vec<(&str, &str)> = file.iter().chain(&folder).copied().collect();
    let paths = |either: Option<(&str, &str)>| {
        let path = |known: Option<(&'_ str, &str)>| known.map(|(path, _)| path.to_owned());
        (path(file), path(folder), path(either))
    };
    let words = words(&tool.name);
    let of_files = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "file" | "files" | "read" | "content" | "contents"
        )
    });
    let order = if of_files {
        [file, folder]
    } else {
        [folder, file]
    };
    let mut tries: Vec<Map<String, Value>> = Vec::new();
    let mut missing: Option<(Map<String, Value>, Vec<String>)> = None;
    for either in order {
        let (file, folder, either) = paths(either);
        let paths = Paths {
            file: file.as_deref(),
            folder: folder.as_deref(),
            either: either.as_deref(),
        };
        let found = sample(&tool.input, paths);
        let args = match all_written(&Value::Object(found.args.clone()), &known) {
            Value::Object(args) => args,
            _ => Map::new(),
        };
        let mut blanks = found.blanks;
        if blanks.is_empty() && is_refused(&tool.input, &found.args) {
            blanks = tool
                .required()
                .iter()
                .map(|name| (*name).to_owned())
                .collect();
        }
        if !blanks.is_empty() {
            missing.get_or_insert((args, blanks));
        } else if !tries.contains(&args) {
            tries.push(args);
        }
    }
    match (tries.is_empty(), missing) {
        (true, Some((args, blanks))) => (vec![args], blanks),
        (_, _) => (tries, Vec::new()),
    }
}
