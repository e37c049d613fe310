//! What can be typed behind `jelly schema`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
A schema says what must be there and of which kind; more fields may join an output at any time.
Editors take the one of plans from a file:
  jelly schema plan > plan.schema.json
  # yaml-language-server: $schema=plan.schema.json")]
pub struct SchemaArgs {
    /// Prints the schema of this name [default: lists the names]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Writes all of them into a folder, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub write: Option<PathBuf>,
}
