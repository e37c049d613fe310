//! Plans that are called alike: the history, the list of known failures and the
//! reports tell their tests apart by their paths. A plan is called the same
//! whichever others are run with it.
//!
//! Main function: [`same_named`].

use super::matrix::Job;
use super::plan_files::{files_below, is_stdin, read_source};
use super::results::RESULTS;
use super::settings::World;
use super::shard::relative_path;
use indexmap::IndexMap;
use jelly_base::text::sanitize;
use jelly_plan::{PlanSource, load_in};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A folder with more in it is not looked through for other plans.
const MOST_ENTRIES: usize = 10_000;
/// A longer file is no plan that anybody wrote.
const MAX_BYTES: u64 = 1 << 20;

/// The plans that another plan is called like, of the list or beside those of it,
/// each with its path in the project, by which it is called instead.
pub fn same_named(
    paths: &[PathBuf],
    (vars, project): (&IndexMap<String, Value>, Option<&Path>),
    (root, world): (&Path, &World),
) -> BTreeMap<PathBuf, String> {
    let named = |source: PlanSource| Some(load_in(source, vars, project).ok()?.name);
    let mut by_guess: BTreeMap<String, Vec<(&PathBuf, PlanSource)>> = BTreeMap::new();
    let beside = beside(paths, root, world);
    // Each is looked at once, whoever names it twice.
    let all: BTreeSet<&PathBuf> = paths.iter().chain(&beside).collect();
    for path in all {
        let Ok(source) = read_source(path) else {
            continue;
        };
        if !paths.contains(path) && !may_be_plan(&source.text) {
            continue;
        }
        // One that can't be loaded runs nothing.
        let guess = guessed_name(path, &source.text).or_else(|| named(source.clone()));
        if let Some(guess) = guess {
            by_guess.entry(guess).or_default().push((path, source));
        }
    }
    let mut by_name: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    let alike = by_guess.into_values().filter(|plans| plans.len() > 1);
    for (path, source) in alike.flatten() {
        if let Some(name) = named(source) {
            by_name.entry(name).or_default().push(path);
        }
    }
    let is_run = |path: &&PathBuf| paths.contains(path);
    let alike = by_name
        .into_values()
        .filter(|alike| alike.len() > 1 && alike.iter().any(is_run));
    let place = |path: &PathBuf| {
        relative_path(path, root, world).unwrap_or_else(|| path.display().to_string())
    };
    alike
        .flatten()
        .map(|path| (path.clone(), place(path)))
        .collect()
}

/// The files that may be other plans of the project: all below the outermost
/// folders in which these are, as `plans`.
fn beside(paths: &[PathBuf], root: &Path, world: &World) -> Vec<PathBuf> {
    let places: BTreeSet<String> = paths
        .iter()
        .filter(|path| !is_stdin(path))
        .filter_map(|path| relative_path(path, root, world))
        .collect();
    let folders: BTreeSet<&str> = places
        .iter()
        .filter_map(|place| Some(place.split_once('/')?.0))
        .collect();
    let files = folders
        .into_iter()
        .flat_map(|folder| files_below(&root.join(folder), MOST_ENTRIES).unwrap_or_default());
    let is_other = |file: &PathBuf| {
        let own = relative_path(file, root, world).is_some_and(|place| places.contains(&place));
        // Copies of plans lie among the reports of their runs.
        let is_copy = || file.with_file_name(RESULTS).exists();
        let is_short = || file.metadata().is_ok_and(|about| about.len() <= MAX_BYTES);
        !own && is_short() && !is_copy()
    };
    files.filter(is_other).collect()
}

/// What the plan of a job is called that is not the only one of its name.
pub fn own_name(same_named: &BTreeMap<PathBuf, String>, job: &Job) -> Option<String> {
    let place = same_named.get(&job.path)?;
    Some(match &job.variant {
        Some(variant) => format!("{place} [{}]", variant.label()),
        None => place.clone(),
    })
}

/// What to say of them.
pub fn told_of(same_named: &BTreeMap<PathBuf, String>) -> Option<String> {
    let places: BTreeSet<&str> = same_named.values().map(String::as_str).collect();
    let places: Vec<&str> = places.into_iter().collect();
    let shown = places.len().min(3);
    let rest = match places.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!places.is_empty()).then(|| {
        sanitize(&format!(
            "note: several plans have the same name, so that their tests are named by the paths \
             of the plans: {}{rest}; give each a `name` of its own",
            places[..shown].join(", ")
        ))
        .into_owned()
    })
}

/// Whether a file beside the plans has the words that every plan has: to load what is
/// none can take longer than the run.
fn may_be_plan(text: &str) -> bool {
    let keys = ["steps", "servers", "include"];
    text.contains("version") && keys.iter().any(|key| text.contains(key))
}

/// The name of a plan, where that can be seen without loading it, as that of most.
fn guessed_name(path: &Path, text: &str) -> Option<String> {
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy();
    if text.trim_start().starts_with('{') {
        // JSON may hold its name anywhere.
        return (!text.contains("\"name\"")).then(|| stem().into_owned());
    }
    let mut lines = text.lines();
    let Some(name) = lines.find_map(|line| line.strip_prefix("name:")) else {
        return Some(stem().into_owned());
    };
    let name = name.trim().trim_matches(['"', '\'']);
    // What YAML may read as something else than what stands there.
    let is_odd = |c: char| "#\\&*|>!\"$".contains(c);
    (!name.is_empty() && !name.contains(is_odd)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{guessed_name, same_named};
    use crate::cli::args::ColorChoice;
    use crate::cli::settings::World;
    use indexmap::IndexMap;
    use std::fs;
    use std::path::Path;

    #[test]
    fn plans_of_one_name_are_told_apart_by_their_paths() {
        let folder = tempfile::TempDir::new().unwrap();
        let body = "version: 1\nservers: { m: { command: x } }\n\
                    steps: [{ id: a, server: m, tool: t }]\n";
        let mut paths = Vec::new();
        for (place, name) in [
            ("plans/a/smoke.yaml", ""),
            ("plans/b/smoke.yaml", ""),
            ("plans/c/other.yaml", "name: 'smoke'\n"),
            ("plans/d/lone.yaml", "name: lone\n"),
        ] {
            let path = folder.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("{name}{body}")).unwrap();
            paths.push(path);
        }
        let world = World::look(ColorChoice::Never).unwrap();
        let vars = IndexMap::new();
        let found = same_named(&paths, (&vars, None), (folder.path(), &world));
        let places: Vec<&str> = found.values().map(String::as_str).collect();
        let wanted = ["a/smoke.yaml", "b/smoke.yaml", "c/other.yaml"];
        assert_eq!(places, wanted.map(|place| format!("plans/{place}")));
        // Each alone is called as it is together with the others.
        for (place, path) in places.iter().zip(&paths) {
            let alone = same_named(
                std::slice::from_ref(path),
                (&vars, None),
                (folder.path(), &world),
            );
            assert_eq!(alone.get(path).map(String::as_str), Some(*place));
        }
        let lone = same_named(&paths[3..], (&vars, None), (folder.path(), &world));
        assert!(lone.is_empty(), "{lone:?}");
        // What a run wrote is no other plan, nor is what can't be loaded.
        fs::write(paths[0].with_file_name("results.json"), "{}").unwrap();
        fs::write(&paths[2], "name: smoke\nsteps: 1\n").unwrap();
        let alone = same_named(&paths[1..2], (&vars, None), (folder.path(), &world));
        assert!(alone.is_empty(), "{alone:?}");
        let guess = |text: &str| guessed_name(Path::new("x/y.yaml"), text);
        assert_eq!(guess("version: 1\n").as_deref(), Some("y"));
        assert_eq!(guess("name: a-${b}\n"), None);
    }
}
