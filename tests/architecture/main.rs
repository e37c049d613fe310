//! The house keeps the shape that `docs/architecture.md` says it has. Between
//! crates Cargo sees to that; what Cargo can't see is held here.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test fail as loudly as it does"
)]

mod circles;
mod patterns;
mod source;

use regex::Regex;
use source::{SourceFile, packages, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Which modules at the root of a package may use which others, where a package
/// has several that could use each other. As strict as the code is: to use one
/// more is a decision, made here.
const ROOMS: [(&str, &str, &[&str]); 19] = [
    ("jelly-mcp", "cli", &["report"]),
    ("jelly-mcp", "report", &[]),
    ("jelly-base", "files", &[]),
    ("jelly-base", "mcp", &[]),
    ("jelly-base", "model", &["mcp", "text"]),
    ("jelly-base", "text", &[]),
    ("jelly-harness", "code_identity", &["git"]),
    ("jelly-harness", "exec", &[]),
    ("jelly-harness", "git", &[]),
    ("jelly-harness", "learned", &[]),
    ("jelly-harness", "repair", &[]),
    ("jelly-harness", "shards", &[]),
    (
        "jelly-harness",
        "triage_loop",
        &["code_identity", "git", "repair"],
    ),
    ("jelly-setup", "doctor", &[]),
    ("jelly-setup", "init", &[]),
    ("jelly-triage", "engine", &["frameworks"]),
    ("jelly-triage", "frameworks", &[]),
    ("jelly-triage", "history", &[]),
    ("jelly-triage", "junit", &["frameworks"]),
];

/// The only files that may name a parser of YAML: others get values.
const LOADERS: [(&str, &[&str]); 2] = [
    (
        "serde_yaml",
        &[
            "crates/mock/src/script.rs",
            "crates/setup/src/doctor/document.rs",
            "crates/triage/src/engine/load.rs",
            "crates/wire/src/check/load.rs",
        ],
    ),
    ("granit_parser", &["crates/plan/src/syntax/yaml.rs"]),
];

/// What stands between a file and its reader. Tests do not count: they are
/// read one at a time.
const MAX_LINES: usize = 600;

/// So many files may import each other in a circle: a type and what is made of
/// it can be worth it, a knot is not.
const MAX_CIRCLE: usize = 3;

/// Built in the place of another file, on other platforms, with the same names.
const STAND_IN: &str = "crates/process/src/other.rs";

/// The crates and those of ours that each uses, as the page shows them.
#[test]
fn the_architecture_page_draws_the_crates_as_cargo_builds_them() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let row = Regex::new(r"(?m)^\| `(jelly[\w-]*)` \| ([^|]*) \|").unwrap();
    let word = Regex::new(r"`(jelly[\w-]*)`").unwrap();
    let drawn: BTreeMap<String, BTreeSet<String>> = row
        .captures_iter(&page)
        .map(|found| {
            let uses = word.captures_iter(&found[2]);
            let uses = uses.map(|used| used[1].to_owned()).collect();
            (found[1].to_owned(), uses)
        })
        .collect();
    let built: BTreeMap<String, BTreeSet<String>> = packages()
        .iter()
        .map(|package| (package.name.clone(), package.uses.clone()))
        .collect();
    assert_eq!(drawn, built);
}

#[test]
fn every_room_uses_the_rooms_it_says_and_no_other() {
    let path = Regex::new(r"\bcrate::(\w+)").unwrap();
    for package in packages() {
        for (_, room, said) in ROOMS.iter().filter(|(name, ..)| *name == package.name) {
            let mut others = package.rooms();
            others.remove(room);
            let used: BTreeSet<&str> = package
                .files
                .iter()
                .filter(|file| file.module.first().is_some_and(|first| first == room))
                .flat_map(|file| path.captures_iter(&file.code))
                .filter_map(|found| others.get(&found[1]).copied())
                .collect();
            let said: BTreeSet<&str> = said.iter().copied().collect();
            assert_eq!(used, said, "what `{room}` of {} uses", package.name);
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_large_circle() {
    let mut large = Vec::new();
    for package in packages() {
        let circles = circles::circles(package);
        large.extend(circles.into_iter().filter(|files| files.len() > MAX_CIRCLE));
    }
    assert!(large.is_empty(), "{large:#?}");
}

/// A name is enough to find a type, and to speak of it.
#[test]
fn a_type_is_the_only_one_of_its_name_in_its_crate() {
    let mut twice = Vec::new();
    for package in packages() {
        let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for file in package.files.iter().filter(|file| file.path != STAND_IN) {
            for name in file.types() {
                places.entry(name).or_default().push(&file.path);
            }
        }
        places.retain(|_, files| files.len() > 1);
        twice.extend(
            places
                .into_iter()
                .map(|(name, files)| (name, files.join(", "))),
        );
    }
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn every_module_says_what_it_is_for() {
    for file in files() {
        assert!(file.text.starts_with("//!"), "{}", file.path);
    }
}

#[test]
fn only_the_loaders_know_how_yaml_is_parsed() {
    for (parser, loaders) in LOADERS {
        let named: Vec<String> = files()
            .filter(|file| file.code.contains(parser))
            .map(|file| file.path.clone())
            .collect();
        assert_eq!(named, loaders, "files that name {parser}");
    }
}

#[test]
fn only_the_commands_and_reports_print() {
    let print = Regex::new(r"\b(e?print(ln)?|dbg)!").unwrap();
    for file in files().filter(|file| file.path.starts_with("crates/")) {
        assert!(!print.is_match(&file.code), "{} prints", file.path);
    }
}

/// System calls are needed to keep the promise that no orphan survives, and
/// for the mock that dies of a signal.
#[test]
fn unsafe_code_stands_where_processes_are_handled() {
    let word = Regex::new(r"\bunsafe\b").unwrap();
    for file in files() {
        let allowed =
            file.path.starts_with("crates/process/") || file.path == "crates/mock/src/run.rs";
        assert!(
            allowed || !word.is_match(&file.code),
            "{} has unsafe code",
            file.path
        );
    }
}

#[test]
fn no_file_is_too_long_to_be_read() {
    let long: Vec<String> = files()
        .filter(|file| file.own_lines() > MAX_LINES)
        .map(|file| file.path.clone())
        .collect();
    assert!(long.is_empty(), "more than {MAX_LINES} lines: {long:#?}");
}

#[test]
fn every_pattern_that_is_compiled_when_it_is_asked_compiles() {
    let bad: Vec<String> = files().flat_map(patterns::bad_patterns).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

fn files() -> impl Iterator<Item = &'static SourceFile> {
    packages().iter().flat_map(|package| &package.files)
}
