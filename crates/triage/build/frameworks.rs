//! The files of `src/frameworks/` → what each part of the program reads of all
//! of them.

use crate::read_yaml;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

pub(crate) const FOLDER: &str = "src/frameworks";

/// Files by their names.
type Frameworks = BTreeMap<String, Value>;

pub(crate) fn write(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut frameworks = Frameworks::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(OsStr::to_str) else {
            continue;
        };
        if path.extension() == Some(OsStr::new("yaml")) {
            frameworks.insert(name.to_owned(), read_yaml(&path)?);
        }
    }
    rerun(&frameworks, out)
}

/// How tests are run again: sections `rerun` by their `rank`, each behind what
/// its language says, with its examples apart.
fn rerun(frameworks: &Frameworks, out: &Path) -> Result<(), Box<dyn Error>> {
    let mut selectors = Vec::new();
    let mut examples = Map::new();
    for (name, file) in frameworks {
        let Some(mut own) = file["rerun"].as_object().cloned() else {
            continue;
        };
        let Some(rank) = own.remove("rank") else {
            continue;
        };
        if let Some(language) = file["language"].as_str() {
            let shared = &frameworks[language]["rerun"];
            let lists = [&shared["let"], own.get("let").unwrap_or(&Value::Null)];
            let lets: Vec<Value> = lists
                .into_iter()
                .filter_map(Value::as_array)
                .flatten()
                .cloned()
                .collect();
            own.insert("let".into(), lets.into());
            if let (None, Some(literal)) = (own.get("literal"), shared.get("literal")) {
                own.insert("literal".into(), literal.clone());
            }
        }
        let shown = own
            .remove("examples")
            .ok_or_else(|| format!("{name}: no examples"))?;
        examples.insert(name.clone(), shown);
        own.insert("name".into(), json!(name));
        selectors.push((rank.as_u64().ok_or("a rank is a number")?, own));
    }
    selectors.sort_by_key(|(rank, _)| *rank);
    let selectors: Vec<_> = selectors
        .into_iter()
        .map(|(_, selector)| selector)
        .collect();
    fs::write(out.join("rerun.json"), serde_json::to_vec(&selectors)?)?;
    fs::write(
        out.join("rerun-examples.json"),
        serde_json::to_vec(&examples)?,
    )?;
    Ok(())
}
