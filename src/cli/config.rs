//! `jelly config`: what is set, and where each value came from.

use super::layers::{Layers, SETTINGS, Setting, flag_of, opposite, unknown_variables};
use super::out::{say, say_json};
use super::refusal::Refusal;
use crate::cli::args::{ConfigArgs, ConfigFormat};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use comfy_table::{ContentArrangement, Table, presets};
use jelly_base::model::{ExitCode, SCHEMA_VERSION};
use jelly_base::text::redact::show_url;
use jelly_base::text::sanitize;
use jelly_plan::SettingKind;
use jelly_triage::history::is_database;
use schemars::JsonSchema;
use serde::Serialize;
use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;

/// What `--format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigReport {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// The project's file; null where there is none.
    file: Option<String>,
    /// The profile that is used; null where none is.
    profile: Option<String>,
    /// All settings, in the order of the documentation.
    settings: Vec<ConfigSetting>,
    /// Variables of the environment that look like settings and are none.
    unknown_variables: Vec<String>,
}

/// One setting.
#[derive(Debug, Serialize, JsonSchema)]
struct ConfigSetting {
    /// As in `budgets.retries`.
    name: String,
    /// As a flag would be given; null where nothing is set and the default is
    /// no value.
    value: Option<String>,
    /// Which layer it is from.
    source: SourceKind,
    /// `file:line:column`, the variable or the flag; absent for a default.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

/// A layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SourceKind {
    /// Nobody set it.
    Default,
    /// `jelly.yaml`.
    File,
    /// A profile of `jelly.yaml`.
    Profile,
    /// A variable of the environment.
    Environment,
    /// The command line.
    Flag,
}

/// Shows the settings.
pub fn config(args: &ConfigArgs, layers: &Layers) -> Result<ExitCode, Refusal> {
    match args.format {
        ConfigFormat::Md => {
            let text = markdown(&layers.command(&typed(&["config"])));
            say(text, ExitCode::Passed)
        }
        ConfigFormat::Human => say(table(&look(args, layers)?), ExitCode::Passed),
        ConfigFormat::Json => say_json(&look(args, layers)?, ExitCode::Passed),
    }
}

pub fn typed(words: &[&str]) -> Vec<OsString> {
    let words = words.iter().map(OsString::from);
    std::iter::once("jelly".into()).chain(words).collect()
}

fn look(args: &ConfigArgs, layers: &Layers) -> Result<ConfigReport, Refusal> {
    let mut calls: Vec<(String, ArgMatches)> = Vec::new();
    let mut settings = Vec::new();
    let called = args.call.first().and_then(|word| word.to_str());
    for setting in SETTINGS {
        let of_call = |path: &&&str| Some(**path) == called || path.is_empty();
        let path = setting.commands.iter().find(of_call);
        let path = path.or(setting.commands.first()).copied();
        let path = match path {
            None | Some("") => called.unwrap_or("run"),
            Some(path) => path,
        };
        if !calls.iter().any(|(known, _)| known == path) {
            let words = if Some(path) == called {
                let call = args.call.iter().cloned();
                std::iter::once("jelly".into()).chain(call).collect()
            } else {
                typed(&path.split_whitespace().collect::<Vec<_>>())
            };
            let parsed = layers.command(&words).try_get_matches_from(&words);
            let parsed = parsed.map_err(|error| {
                let whose = layers.whose(&error, &words).unwrap_or_default();
                Refusal::invalid(format!("{error}{whose}").trim_end())
            })?;
            calls.push((path.to_owned(), parsed));
        }
        let found = calls.iter().find(|(known, _)| known == path);
        let matches = found.and_then(|(_, matches)| matches.subcommand());
        if let Some((_, matches)) = matches {
            settings.push(one(setting, matches, layers));
        }
    }
    Ok(ConfigReport {
        schema_version: SCHEMA_VERSION,
        file: layers.file.as_ref().map(|path| path.display().to_string()),
        profile: layers.profile.clone(),
        settings,
        unknown_variables: unknown_variables(),
    })
}

fn one(setting: &Setting, matches: &ArgMatches, layers: &Layers) -> ConfigSetting {
    let raw = matches.get_raw(setting.arg).map(|raw| {
        let values: Vec<_> = raw.map(|value| value.to_string_lossy()).collect();
        values.join("\n")
    });
    let given = layers
        .given(setting)
        .filter(|given| raw.as_deref() == Some(given.value));
    if let Some(overruled) = overruled(setting, matches, layers) {
        return overruled;
    }
    let (source, at) = match (matches.value_source(setting.arg), given) {
        (Some(ValueSource::CommandLine), _) => (SourceKind::Flag, Some(setting.flag())),
        (Some(ValueSource::EnvVariable), _) => {
            (SourceKind::Environment, Some(setting.env.to_owned()))
        }
        (_, Some(given)) if given.profile.is_some() => {
            (SourceKind::Profile, Some(layers.place(given.at)))
        }
        (_, Some(given)) => (SourceKind::File, Some(layers.place(given.at))),
        (_, None) => (SourceKind::Default, None),
    };
    let on = matches!(setting.key.kind, SettingKind::Flag)
        && matches.try_get_one::<bool>(setting.arg).ok().flatten() == Some(&true);
    let value = match (source, setting.key.kind) {
        (SourceKind::Default, _) => None,
        (_, SettingKind::Flag) => Some(on.to_string()),
        // As the variable has them.
        (_, SettingKind::PathsByWord(_)) => raw.map(|raw| raw.replace('\n', ",")),
        // It may hold a password, for which it will be refused.
        (_, SettingKind::Path) => raw.map(|raw| match is_database(&raw) {
            true => show_url(&raw),
            false => raw,
        }),
        (_, _) => raw,
    };
    // What is no value, but words about one, is for people.
    let fixed = || !setting.default.contains(' ') && setting.default != "none";
    ConfigSetting {
        name: setting.name(),
        value: value.or_else(|| fixed().then(|| setting.default.to_owned())),
        source,
        at,
    }
}

/// A setting that somebody wanted, until its opposite was said: what it is
/// then, and who said that.
fn overruled(setting: &Setting, matches: &ArgMatches, layers: &Layers) -> Option<ConfigSetting> {
    let arg = opposite(setting.arg)?;
    let is_on = |arg| matches.try_get_one::<bool>(arg).ok().flatten() == Some(&true);
    let said = matches!(setting.key.kind, SettingKind::Flag);
    if !is_on(arg) || said && (is_on(setting.arg) || !layers.is_wanted(setting)) {
        return None;
    }
    let value = match setting.key.kind {
        SettingKind::Flag => "false",
        SettingKind::Count(_) => "0",
        SettingKind::Time
        | SettingKind::Path
        | SettingKind::Word(_)
        | SettingKind::Argv
        | SettingKind::PathsByWord(_) => "none",
    };
    let (source, at) = match SETTINGS.iter().find(|other| other.arg == arg) {
        Some(other) => {
            let of_other = one(other, matches, layers);
            (of_other.source, of_other.at)
        }
        None => (SourceKind::Flag, Some(flag_of(arg))),
    };
    Some(ConfigSetting {
        name: setting.name(),
        value: Some(value.to_owned()),
        source,
        at,
    })
}

fn table(report: &ConfigReport) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(["setting", "value", "from"]);
    for (setting, row) in SETTINGS.iter().zip(&report.settings) {
        let from = match (row.source, &row.at) {
            (SourceKind::Default, _) | (_, None) => "default".to_owned(),
            (SourceKind::Profile, Some(at)) => {
                let profile = report.profile.as_deref().unwrap_or_default();
                format!("{at} (profile {profile})")
            }
            (SourceKind::File | SourceKind::Environment | SourceKind::Flag, Some(at)) => at.clone(),
        };
        let value = row.value.as_deref().unwrap_or(setting.default);
        table.add_row([
            row.name.clone(),
            sanitize(value).into_owned(),
            sanitize(&from).into_owned(),
        ]);
    }
    let mut text = match (&report.file, &report.profile) {
        (Some(file), Some(profile)) => format!("{} with its profile {profile}\n\n", sanitize(file)),
        (Some(file), None) => format!("{}\n\n", sanitize(file)),
        (None, _) => "no jelly.yaml\n\n".to_owned(),
    };
    for line in table.lines() {
        text.push_str(line.trim());
        text.push('\n');
    }
    for name in &report.unknown_variables {
        text.push_str(&format!("\n{} sets nothing\n", sanitize(name)));
    }
    if env::var_os("JELLY_LOGINS_DIR").is_some() {
        text.push_str("\nJELLY_LOGINS_DIR says where logins are kept\n");
    }
    text
}

/// What the help of its flag says of a setting.
pub fn about(command: &Command, setting: &Setting) -> String {
    let path = setting.commands.first().copied().unwrap_or_default();
    let mut command = command;
    for word in path.split_whitespace() {
        match command.find_subcommand(word) {
            Some(sub) => command = sub,
            None => return String::new(),
        }
    }
    let mut args = command.get_arguments();
    let help = args.find(|arg| arg.get_id() == setting.arg);
    let help = help.and_then(|arg| arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    // The default has a column of its own.
    let help = help.split(" [default").next().unwrap_or_default();
    help.to_owned()
}

/// The table of docs/settings.md.
fn markdown(command: &Command) -> String {
    let mut text =
        "| setting | flag | variable | default | meaning |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for setting in SETTINGS {
        let of = match setting.commands {
            ["doctor"] => " of `jelly doctor`",
            ["triage"] => " of `jelly triage`",
            _ => "",
        };
        let _ = writeln!(
            text,
            "| `{}` | `{}`{of} | `{}` | {} | {} |",
            setting.name(),
            setting.flag(),
            setting.env,
            setting.default,
            about(command, setting).replace('|', "\\|"),
        );
    }
    text
}
