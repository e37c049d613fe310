//! What can be typed behind `jelly config`.

use clap::{Args, ValueEnum};
use std::ffi::OsString;

#[derive(Debug, Args)]
#[command(after_help = "\
Precedence, lowest first: the default, the plan (budgets and hooks), jelly.yaml, its profile, the
environment, a flag. None of the values is a secret: plans name secrets, and their values come from
the environment.")]
pub struct ConfigArgs {
    /// Output format; `md` is the table of all settings
    #[arg(long, value_enum, default_value_t)]
    pub format: ConfigFormat,

    /// Show the settings for this command line, for example `jelly config -- run --retries 5`
    #[arg(value_name = "COMMAND", last = true)]
    pub call: Vec<OsString>,
}

/// How the settings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// A human-readable table
    #[default]
    Human,
    /// JSON
    Json,
    /// Markdown: all settings with their flags, variables and defaults
    Md,
}
