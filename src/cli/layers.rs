//! Settings by their layers: what `jelly.yaml` and its profiles say, and the
//! environment, put below the flags of the command line.
//!
//! Main type: [`Layers`]. A setting has the place of its flag's default, so
//! that whoever reads flags gets settings too, and clap tells where a value
//! came from.

mod table;
mod variables;

use super::args::{self, Cli};
use super::rules::{project_file, text_of};
use super::settings::is_pipeline;
use clap::builder::BoolishValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Subcommand};
use jelly_base::text::did_you_mean;
use jelly_plan::{
    Location, PlanError, PlanSource, Project, ProjectSetting, SettingKind, read_project,
};
use jelly_triage::history::is_database;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
pub use table::{SETTINGS, Setting};
pub use variables::unknown as unknown_variables;

/// The variable that names a profile.
pub const PROFILE: &str = "JELLY_PROFILE";

/// What some take for the name of the project's file.
const MISNAMED: &str = "jelly.yml";

/// What stands below the command line.
#[derive(Debug, Default)]
pub struct Layers {
    /// The project's file, where there is one.
    pub file: Option<PathBuf>,
    /// The profile that is used.
    pub profile: Option<String>,
    /// What looks like a setting and is none, in words.
    pub warnings: Vec<String>,
    given: Vec<Given>,
    /// Switches that were on in a layer, until a stronger one had the opposite.
    overruled: Vec<&'static str>,
}

/// A value of the project's file.
#[derive(Debug, Clone)]
pub struct Given {
    pub setting: &'static Setting,
    pub value: &'static str,
    pub at: Location,
    /// It stands in this profile.
    pub profile: Option<String>,
}

impl Layers {
    /// Looks for the project's file, where the command that was typed has
    /// settings. Help is given whatever the file says.
    ///
    /// # Errors
    /// The file can't be used, as it is to be printed.
    pub fn find(typed: &[OsString]) -> Result<Self, String> {
        let words = words_of(typed);
        let called = called(&words);
        let Some(called) = called.filter(|name| has_settings(name) && !asks_for_help(&words))
        else {
            return Ok(Self::default());
        };
        variables::refuse_no_text(called)?;
        let cwd = env::current_dir()
            .map_err(|error| format!("error: the working directory can't be read: {error}"))?;
        let asked = asked_profile(&words);
        let mut layers = match (project_file(&cwd), asked) {
            (Some(file), asked) => {
                let project = read(&file)?;
                let profile = profile(&project, asked, &file)?;
                Self::stack(file, project, profile)?
            }
            (None, Some((name, by))) => {
                return Err(format!(
                    "error: {by} asks for the profile `{name}`, and there is no jelly.yaml\n\
                     help: profiles stand there, under `profiles`"
                ));
            }
            (None, None) => Self::default(),
        };
        if cwd.join(MISNAMED).is_file() {
            layers.warnings.push(format!(
                "{MISNAMED} is not read: the file of settings is called jelly.yaml"
            ));
        }
        layers.warnings.extend(variables::slips());
        Ok(layers)
    }

    fn stack(file: PathBuf, mut project: Project, profile: Option<String>) -> Result<Self, String> {
        let of_profile = profile
            .as_ref()
            .and_then(|name| project.profiles.shift_remove(name))
            .unwrap_or_default();
        let mut layers = Self {
            file: Some(file),
            profile: profile.clone(),
            ..Self::default()
        };
        for (settings, profile) in [(project.settings, None), (of_profile, profile)] {
            layers.refuse_both(&settings)?;
            for setting in settings {
                layers.set(setting, profile.as_ref());
            }
        }
        Ok(layers)
    }

    fn refuse_both(&self, settings: &[ProjectSetting]) -> Result<(), String> {
        let on = |name: &str| {
            settings
                .iter()
                .find(|s| s.key.section == "run" && s.key.key == name && s.value == "true")
        };
        match (on("strict"), on("accept_repairs")) {
            (Some(_), Some(second)) => Err(format!(
                "error: {}: `strict` and `accept_repairs` can't both be true\n\
                 help: leave one of them out",
                self.place(second.at)
            )),
            (_, _) => Ok(()),
        }
    }

    fn set(&mut self, given: ProjectSetting, profile: Option<&String>) {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == given.key) else {
            return;
        };
        let folder = self.file.as_deref().and_then(Path::parent);
        let value = match setting.key.kind {
            SettingKind::Path if is_database(&given.value) => given.value.clone(),
            SettingKind::Path => folder
                .unwrap_or(Path::new(""))
                .join(&given.value)
                .to_string_lossy()
                .into_owned(),
            SettingKind::PathsByWord(_) => {
                let below = folder.unwrap_or(Path::new(""));
                let lines = given.value.lines().filter_map(|line| line.split_once('='));
                let lines =
                    lines.map(|(word, file)| format!("{word}={}", below.join(file).display()));
                lines.collect::<Vec<_>>().join("\n")
            }
            _ => given.value,
        };
        self.given.retain(|known| {
            let other = value == "true" && Some(known.setting.arg) == opposite(setting.arg);
            if other && known.value == "true" {
                self.overruled.push(known.setting.arg);
            }
            known.setting.key != setting.key && !other
        });
        self.given.push(Given {
            setting,
            // clap keeps what it is given for as long as the program runs.
            value: value.leak(),
            at: given.at,
            profile: profile.cloned(),
        });
    }

    /// `file:line:column`.
    pub fn place(&self, at: Location) -> String {
        let file = self.file.as_deref().unwrap_or(Path::new(""));
        format!("{}:{}:{}", file.display(), at.line, at.column)
    }

    /// What the file says of a setting.
    pub fn given(&self, setting: &Setting) -> Option<&Given> {
        self.given
            .iter()
            .find(|given| given.setting.key == setting.key)
    }

    /// Whether some layer below the command line switches this on.
    pub fn is_wanted(&self, setting: &Setting) -> bool {
        let in_file = |known: &Given| known.setting.key == setting.key && known.value != "false";
        variables::value_of(setting.env).is_some()
            || self.given.iter().any(in_file)
            || self.overruled.contains(&setting.arg)
    }

    /// The command line with these layers below it, for what was typed.
    pub fn command(&self, typed: &[OsString]) -> Command {
        let words = words_of(typed);
        let called = called(&words).unwrap_or_default();
        let mut below: BTreeMap<&str, Vec<Below>> = BTreeMap::new();
        for setting in SETTINGS {
            // The stronger layer decides between two that can't both hold.
            let opposite = opposite(setting.arg);
            let typed_other = opposite.is_some_and(|arg| words.contains(&flag_of(arg).as_str()));
            let other = SETTINGS.iter().find(|other| Some(other.arg) == opposite);
            let told_other = other.is_some_and(|other| variables::is_on(other.env));
            let given = self
                .given(setting)
                .filter(|_| !typed_other && !told_other)
                .map(|given| given.value);
            let env = (!typed_other && variables::is_meant(setting.env)).then_some(setting.env);
            // Of what can be given several times, one layer holds as a whole.
            let is_list = matches!(setting.key.kind, SettingKind::PathsByWord(_));
            let typed = is_list && is_typed(&words, &setting.flag());
            let (env, given) = match typed {
                true => (None, None),
                false => (env, given),
            };
            for path in setting.commands {
                let of = path.split_whitespace().next();
                if called == "config" || of.is_none_or(|of| of == called) {
                    below.entry(path).or_default().push((setting, env, given));
                }
            }
        }
        // Each command is taken out of the others, and put back, once.
        below
            .iter()
            .fold(Cli::command(), |command, (path, settings)| {
                let path: Vec<&str> = path.split_whitespace().collect();
                put_below(command, &path, settings)
            })
    }

    /// Whose value it is that clap refuses, where nobody typed it.
    pub fn whose(&self, error: &clap::Error, typed: &[OsString]) -> Option<String> {
        let text = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.as_str()),
            Some(_) | None => None,
        };
        let flag = text(ContextKind::InvalidArg)?;
        let flag = flag.split_whitespace().next().unwrap_or_default();
        if error.kind() == ErrorKind::ArgumentConflict {
            return conflicting(error, flag);
        }
        let value = text(ContextKind::InvalidValue)?;
        let is_typed = |arg: &&str| *arg == flag || arg.starts_with(&format!("{flag}="));
        let words = words_of(typed);
        let called = called(&words).unwrap_or_default();
        if words
            .iter()
            .any(|arg| is_typed(arg) || is_short(arg, flag, called))
        {
            return None;
        }
        let mut concerned = SETTINGS.iter().filter(|setting| setting.flag() == flag);
        concerned.find_map(|setting| {
            let is_list = matches!(setting.key.kind, SettingKind::PathsByWord(_));
            let is_in = |told: &str, separator: char| {
                told == value || is_list && told.split(separator).any(|one| one == value)
            };
            if env::var(setting.env).is_ok_and(|told| is_in(&told, ',')) {
                return Some(format!(
                    "note: the value is that of the environment variable {}",
                    setting.env
                ));
            }
            let given = self
                .given(setting)
                .filter(|given| is_in(given.value, '\n'))?;
            let place = self.place(given.at);
            Some(format!("note: the value is set at {place}"))
        })
    }
}

/// A setting with the variable and the value of the project's file that stand
/// below its flag.
type Below = (&'static Setting, Option<&'static str>, Option<&'static str>);

/// Changes the flags of settings in the command at the end of `path`.
fn put_below(command: Command, path: &[&str], settings: &[Below]) -> Command {
    match path {
        [first, rest @ ..] => command.mut_subcommand(first, |sub| put_below(sub, rest, settings)),
        // In one walk: a flag that is taken out and put back moves all after it.
        [] => command.mut_args(|arg| {
            let mut of_arg = settings.iter().filter(|below| arg.get_id() == below.0.arg);
            match of_arg.next() {
                Some(below) => with_layers(arg, below),
                None => arg,
            }
        }),
    }
}

fn with_layers(arg: Arg, &(setting, env, given): &Below) -> Arg {
    let is_list = matches!(setting.key.kind, SettingKind::PathsByWord(_));
    let arg = match (env, setting.key.kind) {
        (Some(env), SettingKind::Flag) => arg.env(env).value_parser(BoolishValueParser::new()),
        // With the separator of the variable alone: a path in the file may hold
        // it.
        (Some(env), SettingKind::PathsByWord(_)) if variables::value_of(env).is_some() => {
            return arg.env(env).value_delimiter(',');
        }
        (Some(env), _) => arg.env(env),
        (None, _) => arg.env(None),
    };
    match given {
        Some(values) if is_list => arg.default_values(values.lines()),
        Some(value) => arg.default_value(value),
        None => arg,
    }
}

/// Whether a flag stands among the words of ours.
fn is_typed(words: &[&str], flag: &str) -> bool {
    let joined = format!("{flag}=");
    let mut ours = words.iter().take_while(|word| **word != "--");
    ours.any(|word| *word == flag || word.starts_with(&joined))
}

/// The variables among what clap holds against each other.
fn conflicting(error: &clap::Error, flag: &str) -> Option<String> {
    let mut flags = vec![flag.to_owned()];
    match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(other)) => flags.push(other.clone()),
        Some(ContextValue::Strings(others)) => flags.extend(others.iter().cloned()),
        Some(_) | None => {}
    }
    let is_of = |setting: &&Setting| {
        let mut named = flags.iter().filter_map(|f| f.split_whitespace().next());
        named.any(|flag| flag == setting.flag()) && variables::value_of(setting.env).is_some()
    };
    let names: Vec<&str> = SETTINGS.iter().filter(is_of).map(|s| s.env).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("note: the environment variable {one} is set")),
        several => Some(format!(
            "note: the environment variables {} are set",
            several.join(" and ")
        )),
    }
}

/// Whether a word is the short form of a flag, with its value or without.
fn is_short(word: &str, flag: &str, called: &str) -> bool {
    let command = Cli::command();
    let of_command = command.find_subcommand(called).into_iter();
    let mut args = of_command.flat_map(Command::get_arguments);
    let arg = args.find(|arg| arg.get_long() == flag.strip_prefix("--"));
    let short = arg.and_then(Arg::get_short);
    short.is_some_and(|letter| word.starts_with(&format!("-{letter}")))
}

/// The flag that means nothing beside this one.
pub fn opposite(arg: &str) -> Option<&'static str> {
    match arg {
        "strict" => Some("accept_repairs"),
        "accept_repairs" => Some("strict"),
        "history" => Some("no_history"),
        "confirms" => Some("no_confirm"),
        "mcp_repairs" => Some("no_repair"),
        _ => None,
    }
}

/// As in `--no-history`.
pub fn flag_of(arg: &str) -> String {
    format!("--{}", arg.replace('_', "-"))
}

/// What stands behind the program's name.
fn words_of(typed: &[OsString]) -> Vec<&str> {
    let words = typed.iter().skip(1);
    words.filter_map(|arg| arg.to_str()).collect()
}

/// The command among the words that were typed.
fn called<'w>(words: &[&'w str]) -> Option<&'w str> {
    let takes_a_word = |flag: &str| ["--profile", "--color"].contains(&flag);
    let before = std::iter::once(&"").chain(words);
    before
        .zip(words)
        .filter(|(before, _)| !takes_a_word(before))
        .map(|(_, word)| *word)
        // To build the command line only for its names would be dear.
        .find(|word| args::Command::has_subcommand(word))
}

/// Whether clap will print help or its version, and run nothing. A step may be
/// called `help`, and what stands behind `--` is another program's.
fn asks_for_help(words: &[&str]) -> bool {
    let command = called(words);
    let mut ours = words.iter().take_while(|word| **word != "--");
    let mut before = ours.clone().take_while(|word| Some(**word) != command);
    before.any(|word| *word == "help")
        || ours.any(|word| ["--help", "-h", "--version", "-V"].contains(word))
}

fn has_settings(command: &str) -> bool {
    let mut paths = SETTINGS.iter().flat_map(|setting| setting.commands);
    ["config", "rules"].contains(&command)
        || paths.any(|path| path.split_whitespace().next() == Some(command))
}

/// The profile that is asked for, and who asks.
fn asked_profile(words: &[&str]) -> Option<(String, &'static str)> {
    let words = words.iter().take_while(|word| **word != "--");
    let mut typed = words.clone().zip(words.clone().skip(1));
    let apart = typed.find(|(flag, _)| **flag == "--profile");
    let joined = words
        .clone()
        .find_map(|word| word.strip_prefix("--profile="));
    let flag = apart.map(|(_, name)| *name).or(joined);
    if let Some(name) = flag {
        return Some((name.to_owned(), "--profile"));
    }
    let told = variables::value_of(PROFILE)?;
    Some((told.to_string_lossy().into_owned(), PROFILE))
}

/// As asked, else by whether this is a pipeline, where the file has such a
/// profile.
fn profile(
    project: &Project,
    asked: Option<(String, &'static str)>,
    file: &Path,
) -> Result<Option<String>, String> {
    let Some((name, by)) = asked else {
        let usual = if is_pipeline(env::var("CI").ok().as_deref()) {
            "ci"
        } else {
            "local"
        };
        return Ok(project
            .profiles
            .contains_key(usual)
            .then(|| usual.to_owned()));
    };
    if project.profiles.contains_key(&name) {
        return Ok(Some(name));
    }
    let known: Vec<&str> = project.profiles.keys().map(String::as_str).collect();
    let close = did_you_mean(&name, known.iter().copied());
    let help = close.unwrap_or_else(|| match known.as_slice() {
        [] => "profiles stand under `profiles`".to_owned(),
        known => format!("there are `{}`", known.join("`, `")),
    });
    Err(format!(
        "error: {by} asks for the profile `{name}`, which {} does not have\nhelp: {help}",
        file.display()
    ))
}

fn read(file: &Path) -> Result<Project, String> {
    let text = text_of(file, "a file of settings")
        .map_err(|why| format!("error: {}: {why}", file.display()))?;
    let parsed = parse_settings(file, text);
    parsed.map_err(|error| error.render(false).trim_end().to_owned())
}

/// The settings of a file that was read.
///
/// # Errors
/// It holds something else.
pub fn parse_settings(file: &Path, text: String) -> Result<Project, PlanError> {
    let source = PlanSource {
        path: file.to_owned(),
        text: text.into(),
        variant: None,
    };
    let keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
    read_project(source, &keys)
}

#[cfg(test)]
mod tests {
    use super::{Layers, SETTINGS, asked_profile, asks_for_help, called};
    use crate::cli::args::Cli;
    use clap::CommandFactory;
    use std::ffi::OsString;

    #[test]
    fn every_setting_is_a_flag_of_its_commands() {
        let typed: Vec<OsString> = vec!["jelly".into(), "config".into()];
        Layers::default().command(&typed).debug_assert();
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(setting.env.starts_with("JELLY_"), "{}", setting.env);
            for path in setting.commands {
                let whole = Cli::command();
                let named = path
                    .split_whitespace()
                    .try_fold(&whole, |command, name| command.find_subcommand(name));
                let mut args = named.into_iter().flat_map(clap::Command::get_arguments);
                let is_there = args.any(|arg| arg.get_id() == setting.arg);
                assert!(is_there, "{path} has no --{}", setting.arg);
                let twice = SETTINGS[..at]
                    .iter()
                    .any(|other| other.arg == setting.arg && other.commands.contains(path));
                assert!(!twice, "{path} has two settings for --{}", setting.arg);
            }
            let same =
                |other: &&super::Setting| other.env == setting.env || other.key == setting.key;
            assert!(
                SETTINGS[..at].iter().find(same).is_none(),
                "{}",
                setting.env
            );
        }
    }

    #[test]
    fn the_default_that_is_told_is_the_one_that_the_flag_has() {
        let mut compared = 0;
        for setting in SETTINGS {
            for path in setting.commands {
                let mut command = Cli::command();
                for word in path.split_whitespace() {
                    command = command.find_subcommand(word).unwrap().clone();
                }
                let arg = command
                    .get_arguments()
                    .find(|arg| arg.get_id() == setting.arg);
                let arg = arg.unwrap_or_else(|| panic!("{path} has no {}", setting.arg));
                if let [default] = arg.get_default_values() {
                    assert_eq!(default, setting.default, "{path} {}", setting.arg);
                    compared += usize::from(setting.default != "false");
                }
            }
        }
        assert!(compared > 5, "{compared}");
    }

    #[test]
    fn help_is_asked_for_by_words_of_ours_alone() {
        for words in [&["help", "run"][..], &["run", "-h"], &["--version"]] {
            assert!(asks_for_help(words), "{words:?}");
        }
        for words in [
            &["run", "--only", "help"][..],
            &["init", "--", "server", "--help"],
        ] {
            assert!(!asks_for_help(words), "{words:?}");
        }
    }

    #[test]
    fn the_value_of_a_flag_is_no_command() {
        assert_eq!(called(&["--profile", "run", "triage"]), Some("triage"));
        assert_eq!(called(&["--color", "never", "run", "check"]), Some("run"));
        assert_eq!(called(&["--quiet"]), None);
    }

    #[test]
    fn a_profile_is_asked_for_before_the_arguments_of_others() {
        let asked = |words: &[&str]| asked_profile(words).map(|(name, _)| name);
        assert_eq!(asked(&["run", "--profile", "x"]).as_deref(), Some("x"));
        assert_eq!(asked(&["run", "--profile=x"]).as_deref(), Some("x"));
        assert_eq!(asked(&["config", "--", "run", "--profile", "x"]), None);
    }
}
