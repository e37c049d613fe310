//! What can be typed behind `jelly config`.

use clap::{Args, ValueEnum};
use std::ffi::OsString;

#[derive(Debug, Args)]
#[command(after_help = "\
What holds is, in rising order: the default, the plan (budgets and hooks), jelly.yaml, its profile,
the environment, a flag. None of the values is a secret; those are named in plans, and stand in
the environment.")]
pub struct ConfigArgs {
    /// How the settings are printed; `md` is the table of all there are
    #[arg(long, value_enum, default_value_t)]
    pub format: ConfigFormat,

    /// A call of jelly whose settings are shown, as in `jelly config -- run --retries 5`
    #[arg(value_name = "COMMAND", last = true)]
    pub call: Vec<OsString>,
}

/// How the settings are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    /// A table for people
    #[default]
    Human,
    /// For programs
    Json,
    /// Markdown: all settings there are, with their flags, variables and defaults
    Md,
}
