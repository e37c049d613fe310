//! What can be typed behind `jelly schema`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
A schema defines which fields are required and their types; outputs may gain fields at any time.
Editors read the schema of plans from a file:
  jelly schema plan > plan.schema.json
  # yaml-language-server: $schema=plan.schema.json")]
pub struct SchemaArgs {
    /// Name of the schema to print [default: list the names]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Write all schemas to a folder, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub write: Option<PathBuf>,
}
