//! What several commands can be told.

use crate::report::{REPORT_NAMES, ReportFormat};
use clap::{Args, ValueEnum};
use jelly_base::text::{Notation, did_you_mean};
use serde_json::Value;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable text
    #[default]
    Human,
    /// JSON, as described by `jelly schema`
    Json,
}

impl Format {
    /// What the text is written in.
    pub fn notation(self) -> Notation {
        match self {
            Self::Human => Notation::Plain,
            Self::Json => Notation::Json,
        }
    }
}

/// Where reports go unless somebody says otherwise.
pub const REPORTS: &str = "reports";

/// Where a run leaves its reports, and where the last one is looked for.
#[derive(Debug, Clone, Args)]
pub struct ReportsDir {
    /// Folder for reports; each run gets a folder below it
    #[arg(
        long,
        value_name = "DIR",
        default_value = REPORTS
    )]
    pub reports_dir: PathBuf,
}

impl ReportsDir {
    /// It, where a command has to name it.
    pub fn unusual(&self) -> Option<String> {
        let usual = self.reports_dir == Path::new(REPORTS);
        (!usual).then(|| self.reports_dir.display().to_string())
    }

    /// The report of the last run.
    pub fn latest(&self) -> PathBuf {
        self.reports_dir.join("latest")
    }
}

/// `--report FORMAT=FILE`, as it was typed.
#[derive(Debug, Clone)]
pub struct NamedReport {
    pub format: &'static ReportFormat,
    pub file: PathBuf,
}

/// The CI system that is told in its own words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CiChoice {
    /// The system detected from its environment variables
    #[default]
    Auto,
    /// No CI system
    None,
    /// Annotations and the job summary
    Github,
    /// Issues, a summary and test results
    Azure,
    /// Service messages
    Teamcity,
    /// An annotation
    Buildkite,
    /// Collapsed logs and a Code Quality file
    Gitlab,
}

/// What is told to a CI system.
#[derive(Debug, Clone, Default, Args)]
pub struct CiArgs {
    /// CI system to report the result to, in its native format
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub ci: CiChoice,
}

/// Reports by name, in addition to what is printed.
#[derive(Debug, Clone, Default, Args)]
pub struct NamedReports {
    #[arg(
        id = "report",
        long,
        value_name = "FORMAT=FILE",
        value_parser = parse_report,
        help = report_help()
    )]
    pub named: Vec<NamedReport>,
}

fn report_help() -> String {
    format!(
        "Also write a report to a file; can be repeated. Formats: {}",
        REPORT_NAMES.join(", ")
    )
}

fn parse_report(text: &str) -> Result<NamedReport, String> {
    let (name, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("write FORMAT=FILE, for example junit=out/junit.xml")?;
    let format = ReportFormat::named(name).ok_or_else(|| {
        let close = did_you_mean(name, REPORT_NAMES.iter().copied());
        let close = close.map_or_else(String::new, |close| format!("; {close}"));
        format!(
            "there is no format `{name}`{close} (known: {})",
            REPORT_NAMES.join(", ")
        )
    })?;
    if file == "-" {
        return Err(
            "a report must go to a file; use --format to choose what is printed".to_owned(),
        );
    }
    Ok(NamedReport {
        format,
        file: PathBuf::from(file),
    })
}

/// A command as clap hands it on; a plain `Vec` would mean a repeated flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv(pub Vec<String>);

pub fn parse_argv(text: &str) -> Result<Argv, String> {
    let argv = if text.trim_start().starts_with('[') {
        serde_json::from_str::<Vec<String>>(text)
            .map_err(|error| format!("expected a JSON array of strings: {error}"))?
    } else {
        vec![text.to_owned()]
    };
    match argv.first() {
        Some(command) if !command.is_empty() => Ok(Argv(argv)),
        Some(_) | None => Err("the command is empty".to_owned()),
    }
}

pub fn parse_duration(text: &str) -> Result<Duration, String> {
    match jelly_plan::parse_duration(text) {
        Some(Duration::ZERO) => Err("a time limit must be greater than zero".to_owned()),
        Some(time) => Ok(time),
        None => Err("write a time like 30s, 500ms or 1m 30s".to_owned()),
    }
}

/// `NAME=VALUE`; a value that is JSON is taken as such, any other as text.
pub fn parse_var(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write a variable as NAME=VALUE")?;
    if !jelly_plan::is_name(name) {
        return Err(format!("`{name}` can't be a variable's name"));
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.to_owned(), value))
}

/// `NAME=VALUE`.
pub fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("write NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Argv, parse_argv, parse_duration, parse_var};
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn a_variable_keeps_its_type_where_it_has_one() {
        assert_eq!(parse_var("n=5"), Ok(("n".into(), json!(5))));
        assert_eq!(parse_var("s=a=b"), Ok(("s".into(), json!("a=b"))));
        assert_eq!(parse_var("z=007"), Ok(("z".into(), json!("007"))));
        assert!(parse_var("n").is_err());
        assert!(parse_var("a b=1").is_err());
    }

    #[test]
    fn a_hook_is_one_word_or_a_list_and_never_a_shell_line() {
        assert_eq!(
            parse_argv("./fix me.sh"),
            Ok(Argv(vec!["./fix me.sh".into()]))
        );
        assert_eq!(
            parse_argv(r#"["make", "fix"]"#),
            Ok(Argv(vec!["make".into(), "fix".into()]))
        );
        assert!(parse_argv("[]").is_err());
        assert!(parse_argv("[1]").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert!(parse_duration("90").is_err());
        let nothing = parse_duration("0s").unwrap_err();
        assert_eq!(nothing, "a time limit must be greater than zero");
    }
}
