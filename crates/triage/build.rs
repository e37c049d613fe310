//! The rules of triage and the tables beside them, as people write them → as the
//! program reads them.
//!
//! YAML with anchors and comments is for people, and takes a tenth of a second
//! to read; so it is read here, once, and the program gets JSON. Beside it go
//! the literals of all patterns, which take twice as long to work out, each with
//! the letters by which it is looked for; and apart from the rules their examples,
//! which few runs ask for.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/engine/literals.rs"]
mod literals;

#[path = "src/engine/placed.rs"]
mod placed;

#[path = "build/frameworks.rs"]
mod frameworks;

const RULES: &str = "src/engine/rules";
/// Words and patterns that other files of the engine go by.
const TABLES: &str = "src/engine/tables";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/engine/literals.rs");
    println!("cargo::rerun-if-changed=src/engine/placed.rs");
    println!("cargo::rerun-if-changed=build/frameworks.rs");
    for folder in [RULES, TABLES, frameworks::FOLDER] {
        println!("cargo::rerun-if-changed={folder}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?);
    let write = |name: &str, value: Value| fs::write(out.join(name), value.to_string());
    for entry in fs::read_dir(TABLES)? {
        let path = entry?.path();
        let name = path.file_stem().ok_or("a file has a name")?;
        write(&format!("{}.json", name.display()), read(&path)?)?;
    }
    let mut domains: Vec<(String, Value)> = Vec::new();
    let mut patterns: Vec<Option<Vec<String>>> = Vec::new();
    let mut examples: Vec<[Value; 2]> = Vec::new();
    for domain in texts(&read(&Path::new(TABLES).join("domains.yaml"))?) {
        let mut rules = read(&Path::new(RULES).join(format!("{domain}.yaml")))?;
        for rule in rules.as_array_mut().into_iter().flatten() {
            for key in ["patterns", "unless"] {
                patterns.extend(texts(&rule[key]).into_iter().map(literals::literals));
            }
            let rule = rule.as_object_mut().ok_or("a rule is a map")?;
            examples.push(["examples", "lookalikes"].map(|key| {
                let texts = rule.shift_remove(key);
                texts.unwrap_or_else(|| Value::Array(Vec::new()))
            }));
        }
        domains.push((domain.to_owned(), rules));
    }
    write("rules.json", serde_json::to_value(domains)?)?;
    write("examples-of-rules.json", serde_json::to_value(examples)?)?;
    let placed = placed::PlacedLiterals::written(&patterns);
    fs::write(out.join("literals-of-patterns.rs"), placed)?;
    frameworks::write(&out)
}

fn read(path: &Path) -> Result<Value, Box<dyn Error>> {
    parse(path, &fs::read_to_string(path)?)
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Box<dyn Error>> {
    // A plain `y` is a text, whatever YAML once thought of it.
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).map_err(|error| {
        let place = error.location();
        let [line, column] = place.map_or([0, 0], |at| [at.line(), at.column()]);
        let error = error.without_snippet();
        format!("{}:{line}:{column}: {error}", path.display()).into()
    })
}

/// Each text of a list, whose entries may be lists.
fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items
        .flat_map(|item| item.as_str().map_or_else(|| texts(item), |text| vec![text]))
        .collect()
}
