//! Plans of one call that are called alike: the history, the list of known
//! failures and the reports tell their tests apart by their paths.
//!
//! Main function: [`same_named`].

use super::matrix::Job;
use super::plan_files::read_source;
use super::settings::World;
use super::shard::relative_path;
use indexmap::IndexMap;
use jelly_base::text::sanitize;
use jelly_plan::{PlanSource, load_in};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The plans that another plan of the list is called like, each with its path in
/// the project, by which it is called instead.
pub fn same_named(
    paths: &[PathBuf],
    (vars, project): (&IndexMap<String, Value>, Option<&Path>),
    (root, world): (&Path, &World),
) -> BTreeMap<PathBuf, String> {
    let mut by_guess: BTreeMap<String, Vec<(&PathBuf, PlanSource)>> = BTreeMap::new();
    // Each is looked at once, whoever names it twice.
    let several: BTreeSet<&PathBuf> = paths.iter().filter(|_| paths.len() > 1).collect();
    for path in several {
        if let Ok(source) = read_source(path) {
            let guess = guessed_name(path, &source.text);
            by_guess.entry(guess).or_default().push((path, source));
        }
    }
    let mut by_name: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    // One whose name can't be guessed may be called like any.
    let any = by_guess.contains_key("");
    let alike = by_guess
        .into_values()
        .filter(|plans| any || plans.len() > 1);
    for (path, source) in alike.flatten() {
        // One that can't be loaded runs nothing.
        if let Ok(plan) = load_in(source, vars, project) {
            by_name.entry(plan.name).or_default().push(path);
        }
    }
    let alike = by_name.into_values().filter(|paths| paths.len() > 1);
    let place = |path: &PathBuf| {
        relative_path(path, root, world).unwrap_or_else(|| path.display().to_string())
    };
    alike
        .flatten()
        .map(|path| (path.clone(), place(path)))
        .collect()
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
    let places: Vec<&str> = same_named.values().map(String::as_str).collect();
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

/// The name of a plan, or at least the same for all plans that may be called
/// alike: so that most of them need not be loaded to find that out.
fn guessed_name(path: &Path, text: &str) -> String {
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy();
    if text.trim_start().starts_with('{') {
        // JSON may hold its name anywhere.
        return match text.contains("\"name\"") {
            true => String::new(),
            false => stem().into_owned(),
        };
    }
    let mut lines = text.lines();
    let Some(name) = lines.find_map(|line| line.strip_prefix("name:")) else {
        return stem().into_owned();
    };
    let name = name.trim().trim_matches(['"', '\'']);
    // What YAML may read as something else than what stands there.
    let is_plain = !name.is_empty() && !name.contains(['#', '\\', '&', '*', '|', '>', '!', '"']);
    match is_plain {
        true => name.to_owned(),
        false => String::new(),
    }
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
            ("a/smoke.yaml", ""),
            ("b/smoke.yaml", ""),
            ("c/other.yaml", "name: 'smoke'\n"),
            ("d/lone.yaml", "name: lone\n"),
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
        assert_eq!(places, ["a/smoke.yaml", "b/smoke.yaml", "c/other.yaml"]);
        let alone = same_named(&paths[..1], (&vars, None), (folder.path(), &world));
        assert!(alone.is_empty());
        assert_eq!(guessed_name(Path::new("x/y.yaml"), "version: 1\n"), "y");
    }
}
