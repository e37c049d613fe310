//! The rules of contracts as people write them → as the program reads them, so
//! that nothing of YAML is read at run time.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

const RULES: &str = "src/rules.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={RULES}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?);
    let rules: serde_json::Value = serde_yaml::from_str(&fs::read_to_string(RULES)?)
        .map_err(|error| format!("{RULES}: {error}"))?;
    fs::write(out.join("contract-rules.json"), rules.to_string())?;
    Ok(())
}
