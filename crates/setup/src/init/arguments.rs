//! Arguments to call a tool with, as plans write them.

use super::choice::words;
use super::draft::Folder;
use super::sample::{Paths, sample};
use super::tool::Tool;
use super::values::all_written;
use jelly_plan::Template;
use serde_json::{Map, Value};

/// So often a tool is called with other arguments.
const MAX_TRIES: usize = 3;

/// Arguments to try; where there are none to be sent, those that a person would
/// complete, with the names of what is missing.
pub(super) fn arguments(
    tool: &Tool,
    folder: Option<&Folder>,
) -> (Vec<Map<String, Value>>, Option<Vec<String>>) {
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
    let as_written = |args: &Map<String, Value>| -> Map<String, Value> {
        let item = |(name, value): (&String, &Value)| (name.clone(), all_written(value, &known));
        args.iter().map(item).collect()
    };
    let mut found_tries: Vec<Vec<Map<String, Value>>> = Vec::new();
    let mut open: Option<Vec<String>> = None;
    let mut drafts = Vec::new();
    for either in order {
        let (file, folder, either) = paths(either);
        let paths = Paths {
            file: file.as_deref(),
            folder: folder.as_deref(),
            either: either.as_deref(),
        };
        let found = sample(&tool.input, paths);
        found_tries.push(found.tries.iter().map(as_written).collect());
        drafts.push(as_written(&found.draft));
        open.get_or_insert(found.blanks);
    }
    // The other path comes before other values beside the same one.
    let longest = found_tries.iter().map(Vec::len).max().unwrap_or(0);
    let mut tries: Vec<Map<String, Value>> = Vec::new();
    for index in 0..longest {
        for args in found_tries.iter().filter_map(|tries| tries.get(index)) {
            if !tries.contains(args) {
                tries.push(args.clone());
            }
        }
    }
    tries.truncate(MAX_TRIES);
    match tries.is_empty() {
        true => {
            drafts.truncate(1);
            (drafts, open)
        }
        false => (tries, None),
    }
}
