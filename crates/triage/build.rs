//! The rules of triage and what is known of test frameworks, as people write
//! them → as the program reads them.
//!
//! YAML with anchors and comments is for people, and takes a tenth of a second
//! to read; so it is read here, once, and the program gets JSON. Beside it go
//! the literals of all patterns, which take twice as long to work out.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/engine/literals.rs"]
mod literals;

#[path = "build/frameworks.rs"]
mod frameworks;

const RULES: &str = "src/engine/rules";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/engine/literals.rs");
    println!("cargo::rerun-if-changed={RULES}");
    println!("cargo::rerun-if-changed=build/frameworks.rs");
    println!("cargo::rerun-if-changed={}", frameworks::FOLDER);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?);
    let mut known: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    for entry in fs::read_dir(RULES)? {
        let path = entry?.path();
        if path.extension() != Some(OsStr::new("yaml")) {
            continue;
        }
        let rules = read_yaml(&path)?;
        for rule in rules.as_array().into_iter().flatten() {
            for key in ["patterns", "unless"] {
                texts(&rule[key], &mut |pattern| {
                    known
                        .entry(pattern.to_owned())
                        .or_insert_with(|| literals::literals(pattern));
                });
            }
        }
        let name = path.file_stem().ok_or("a file has a name")?;
        fs::write(
            out.join(name).with_extension("json"),
            serde_json::to_vec(&rules)?,
        )?;
    }
    fs::write(
        out.join("literals-of-patterns.json"),
        serde_json::to_vec(&known)?,
    )?;
    frameworks::write(&out)
}

fn read_yaml(path: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    // A plain `y` is a text, whatever YAML once thought of it.
    let options = serde_yaml::options! { strict_booleans: true };
    let text = fs::read_to_string(path)?;
    serde_yaml::from_str_with_options(&text, options)
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Each text of a list, whose entries may be lists.
fn texts(value: &serde_json::Value, take: &mut impl FnMut(&str)) {
    for item in value.as_array().into_iter().flatten() {
        match item.as_str() {
            Some(text) => take(text),
            None => texts(item, take),
        }
    }
}
