//! The house keeps the shape that `src/lib.rs` and `docs/architecture.md` say
//! it has.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test fail as loudly as it does"
)]

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A room and the rooms it may use.
struct Room {
    layer: u8,
    name: &'static str,
    uses: &'static [&'static str],
}

/// As strict as the code is: to use one more room is a decision, made here.
const ROOMS: [Room; 19] = [
    room(
        7,
        "cli",
        &[
            "doctor", "exec", "harness", "history", "init", "junit", "learned", "mock", "model",
            "package", "plan", "process", "report", "survey", "text", "triage", "wire",
        ],
    ),
    room(6, "report", &["model", "text"]),
    // Of processes it uses what runs a hook. It reaches `exec` only through
    // the trait that `cli` implements.
    room(
        5,
        "harness",
        &["model", "plan", "process", "repair", "text"],
    ),
    room(
        4,
        "exec",
        &["model", "package", "plan", "process", "text", "wire"],
    ),
    room(
        4,
        "survey",
        &["history", "junit", "model", "text", "triage"],
    ),
    room(4, "doctor", &["model", "text"]),
    room(4, "init", &["model", "plan", "text"]),
    room(3, "triage", &["model", "text"]),
    room(3, "history", &["model", "process", "text"]),
    room(3, "learned", &["model", "process"]),
    room(3, "repair", &["model", "package", "plan", "text"]),
    room(2, "wire", &["model", "process", "text"]),
    room(2, "plan", &["model", "package", "text"]),
    room(2, "junit", &["model", "text"]),
    room(2, "mock", &["text"]),
    room(1, "package", &["text"]),
    room(1, "process", &["model", "text"]),
    room(1, "model", &[]),
    room(0, "text", &[]),
];

/// Who may use a room of his own layer, and why.
const NEIGHBOURS: [(&str, &str); 1] = [
    // An exit and a failed spawn are told as the types that flow.
    ("process", "model"),
];

/// The only files that may name a parser of YAML: others get values.
const LOADERS: [(&str, &[&str]); 2] = [
    (
        "serde_yaml",
        &[
            "doctor/document.rs",
            "mock/script.rs",
            "triage/load.rs",
            "wire/check/load.rs",
        ],
    ),
    ("granit_parser", &["plan/syntax/yaml.rs"]),
];

/// What stands between a file and its reader. Tests do not count: they are
/// read one at a time.
const MAX_LINES: usize = 600;

/// Files above it, with what is to be said for them.
const LONG_FILES: [(&str, &str); 0] = [];

const fn room(layer: u8, name: &'static str, uses: &'static [&'static str]) -> Room {
    Room { layer, name, uses }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Path below `src`, with slashes, and text without comment lines.
fn sources() -> Vec<(String, String)> {
    let src = root().join("src");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        let name = path.strip_prefix(&src).unwrap().to_str().unwrap();
        (name.replace('\\', "/"), code.join("\n"))
    };
    rust_files(&src).into_iter().map(read).collect()
}

fn room_of(file: &str) -> Option<&str> {
    file.split_once('/').map(|(room, _)| room)
}

/// The other rooms that a room's code names.
fn used_by(room: &str) -> BTreeSet<String> {
    let path = Regex::new(r"\bcrate::(\w+)").unwrap();
    sources()
        .iter()
        .filter(|(file, _)| room_of(file) == Some(room))
        .flat_map(|(_, code)| path.captures_iter(code).map(|found| found[1].to_owned()))
        .filter(|used| used != room)
        .collect()
}

fn find(name: &str) -> &'static Room {
    ROOMS.iter().find(|room| room.name == name).unwrap()
}

#[test]
fn every_room_uses_the_rooms_it_says_and_no_other() {
    for room in &ROOMS {
        let said: BTreeSet<String> = room.uses.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(used_by(room.name), said, "what `{}` uses", room.name);
    }
}

#[test]
fn a_room_uses_only_what_stands_below_it() {
    let neighbours: BTreeSet<(&str, &str)> = NEIGHBOURS.into();
    let mut met = BTreeSet::new();
    for room in &ROOMS {
        for used in room.uses.iter().map(|name| find(name)) {
            if used.layer == room.layer {
                met.insert((room.name, used.name));
            } else {
                assert!(used.layer < room.layer, "{} uses {}", room.name, used.name);
            }
        }
    }
    assert_eq!(met, neighbours, "rooms that use one of their own layer");
}

/// Else a room could be used without being named after `crate::`.
#[test]
fn rooms_are_named_in_one_way() {
    let rooms: Vec<&str> = ROOMS.iter().map(|room| room.name).collect();
    let by_super = Regex::new(&format!(r"\bsuper::({})\b", rooms.join("|"))).unwrap();
    for (file, code) in sources() {
        assert!(!code.contains("crate::{"), "{file} names rooms in a group");
        for found in by_super.captures_iter(&code) {
            let own = room_of(&file).is_some_and(|room| {
                let module = root().join("src").join(room);
                room == &found[1] || module.join(format!("{}.rs", &found[1])).exists()
            });
            assert!(own, "{file} reaches a room by `{}`", &found[0]);
        }
    }
}

#[test]
fn the_map_in_the_library_is_true() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let row = Regex::new(r"(?m)^//! \| (\d) \| \[`(\w+)`\]").unwrap();
    let drawn: Vec<(u8, String)> = row
        .captures_iter(&lib)
        .map(|found| (found[1].parse().unwrap(), found[2].to_owned()))
        .collect();
    let rooms: Vec<(u8, String)> = ROOMS
        .iter()
        .map(|room| (room.layer, room.name.to_owned()))
        .collect();
    assert_eq!(drawn, rooms);

    let module = Regex::new(r"(?m)^(?:pub )?mod (\w+);").unwrap();
    let declared: BTreeSet<&str> = module
        .captures_iter(&lib)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    let named: BTreeSet<&str> = ROOMS.iter().map(|room| room.name).collect();
    assert_eq!(declared, named);
}

#[test]
fn the_architecture_page_names_every_room() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for room in &ROOMS {
        let name = format!("`{}/`", room.name);
        assert!(page.contains(&name), "docs/architecture.md lacks {name}");
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for path in rust_files(&root().join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        // Tests are for the module that they are named after.
        let is_test = path.to_str().unwrap().ends_with("tests.rs");
        assert!(is_test || text.starts_with("//!"), "{}", path.display());
    }
}

#[test]
fn only_the_loaders_know_how_yaml_is_parsed() {
    for (parser, loaders) in LOADERS {
        let named: Vec<String> = sources()
            .into_iter()
            .filter(|(_, code)| code.contains(parser))
            .map(|(file, _)| file)
            .collect();
        assert_eq!(named, loaders, "files that name {parser}");
    }
}

#[test]
fn only_the_front_of_the_house_prints() {
    let print = Regex::new(r"\b(e?print(ln)?|dbg)!").unwrap();
    for (file, code) in sources() {
        if file == "main.rs" || matches!(room_of(&file), Some("cli" | "report")) {
            continue;
        }
        assert!(!print.is_match(&code), "{file} prints");
    }
}

/// System calls are needed to keep the promise that no orphan survives, and
/// for the mock that dies of a signal.
#[test]
fn unsafe_code_stands_where_processes_are_handled() {
    let word = Regex::new(r"\bunsafe\b").unwrap();
    for (file, code) in sources() {
        let allowed = room_of(&file) == Some("process") || file == "mock/run.rs";
        assert!(allowed || !word.is_match(&code), "{file} has unsafe code");
    }
}

#[test]
fn no_file_is_too_long_to_be_read() {
    let mut long = BTreeSet::new();
    for path in rust_files(&root().join("src")) {
        let name = path.strip_prefix(root().join("src")).unwrap();
        let name = name.to_str().unwrap().replace('\\', "/");
        let is_test = name.ends_with("tests.rs") || name.contains("/tests/");
        let text = fs::read_to_string(&path).unwrap();
        let own_lines = text
            .lines()
            .take_while(|line| *line != "mod tests {")
            .count();
        if !is_test && own_lines > MAX_LINES {
            long.insert(name);
        }
    }
    let known: BTreeSet<String> = LONG_FILES
        .iter()
        .map(|(file, _)| (*file).to_owned())
        .collect();
    assert_eq!(long, known, "files of more than {MAX_LINES} lines");
}
