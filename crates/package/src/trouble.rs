//! What stands in the way of a launch, and what is only worth a word.

use super::types::{Format, InputKind};
use jelly_base::text::{WordList, variable_name};
use std::fmt;

/// Where a value that is given stands, in `package_args` or `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAt {
    /// As it is written there.
    pub key: String,
    pub index: Option<usize>,
    pub in_env: bool,
}

/// A value that is required and not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    pub kind: InputKind,
    pub key: String,
    pub description: Option<String>,
    pub choices: Vec<String>,
    pub is_secret: bool,
    /// A value was given, and there is nothing in it.
    pub is_blank: bool,
}

/// Why a package can't be launched. No text of it holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    Missing(Lack),
    NotAChoice {
        at: GivenAt,
        /// Absent where it is secret.
        value: Option<String>,
        choices: Vec<String>,
    },
    NotOfFormat {
        at: GivenAt,
        value: Option<String>,
        format: Format,
    },
    /// Nothing is called so.
    Unknown {
        at: GivenAt,
        /// Best first.
        close: Vec<String>,
        known: Vec<String>,
    },
    /// The package says the value itself.
    Fixed {
        at: GivenAt,
        value: String,
    },
    /// Several values for one that takes one.
    NotRepeated {
        at: GivenAt,
        count: usize,
    },
    /// A value for a flag that takes none.
    TakesNoValue {
        at: GivenAt,
    },
    /// A value of another kind than the argument takes.
    Unfit {
        at: GivenAt,
        wanted: String,
    },
    /// Nothing fetches and starts packages of this registry in one command.
    NoLauncher {
        registry: String,
    },
    /// The identifier or the version can't be handed to a launcher.
    Unusable {
        text: String,
        why: &'static str,
    },
}

impl Trouble {
    /// What was given and is wrong, if it is that.
    #[must_use]
    pub fn at(&self) -> Option<&GivenAt> {
        match self {
            Self::NotAChoice { at, .. }
            | Self::NotOfFormat { at, .. }
            | Self::Unknown { at, .. }
            | Self::Fixed { at, .. }
            | Self::NotRepeated { at, .. }
            | Self::TakesNoValue { at }
            | Self::Unfit { at, .. } => Some(at),
            Self::Missing(_) | Self::NoLauncher { .. } | Self::Unusable { .. } => None,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing(lack) => Some(lack.hint()),
            Self::NotAChoice { choices, .. } => {
                Some(format!("it is one of `{}`", choices.join("`, `")))
            }
            Self::NotOfFormat { format, .. } => match format {
                Format::Boolean => Some("write `true` or `false`".into()),
                Format::Number => Some("write a decimal number".into()),
                Format::String | Format::Filepath => None,
            },
            Self::Unknown { close, known, .. } => Some(match (close.first(), known.as_slice()) {
                (Some(close), _) => format!("did you mean `{close}`?"),
                (None, []) => "it takes no arguments; put words to pass unchanged in `args`".into(),
                (None, known) => format!(
                    "it takes `{}`; put words to pass unchanged in `args`",
                    known.join("`, `")
                ),
            }),
            Self::Fixed { .. } => Some("leave it out".into()),
            Self::NotRepeated { .. } => Some("give one value".into()),
            Self::TakesNoValue { .. } => {
                Some("leave it out: it is passed anyway; or write `false` to leave it away".into())
            }
            Self::Unfit { .. } => None,
            Self::NoLauncher { registry } => Some(no_launcher(registry)),
            Self::Unusable { .. } => None,
        }
    }
}

impl Lack {
    /// How to give it.
    #[must_use]
    pub fn hint(&self) -> String {
        let key = &self.key;
        let example = match (self.is_secret, self.choices.first()) {
            (true, _) => format!("${{secret:{}}}", env_name(key)),
            (false, Some(choice)) => choice.clone(),
            (false, None) => "…".to_owned(),
        };
        match self.kind {
            InputKind::Environment => {
                format!(
                    "set the environment variable {key}, or write `env: {{ {key}: \"{example}\" }}`"
                )
            }
            InputKind::Argument | InputKind::RuntimeArgument | InputKind::Variable { .. } => {
                let key = if key.starts_with('-') {
                    format!("\"{key}\"")
                } else {
                    key.clone()
                };
                format!("write `package_args: {{ {key}: \"{example}\" }}`")
            }
        }
    }
}

/// Variables that shells and systems set.
const OF_THE_SYSTEM: WordList = WordList(
    "PATH HOME USER USERNAME NAME SHELL PWD OLDPWD LANG LANGUAGE TERM TMPDIR TMP TEMP HOST \
     HOSTNAME COMPUTERNAME USERDOMAIN LOGNAME MAIL DISPLAY EDITOR VISUAL OS TZ COLUMNS LINES \
     SHLVL UID CI",
);

/// Whether every shell sets this variable: that it has an argument's name says
/// nothing about the argument.
#[must_use]
pub fn is_of_the_system(name: &str) -> bool {
    OF_THE_SYSTEM.has(name)
}

/// `--api-key` as an environment variable would be called: `API_KEY`.
#[must_use]
pub fn env_name(key: &str) -> String {
    variable_name(key.trim_start_matches('-'))
}

/// What to do with a package that no launcher takes.
pub(super) fn no_launcher(registry: &str) -> String {
    match registry.to_ascii_lowercase().as_str() {
        "mcpb" | "dxt" => "jelly does not unpack bundles: download and unzip it, and write the \
                           `command` and `args` of its manifest.json instead of `package`"
            .into(),
        "cargo" => "install it (`cargo install NAME --version VERSION --locked`), and write its \
                    `command` instead of `package`"
            .into(),
        "go" => "install it (`go install MODULE@VERSION`), and write its `command` instead of \
                 `package`"
            .into(),
        _ => "jelly starts packages of `npm`, `pypi`, `oci` and `nuget`; for others, install \
              the server, and write its `command` instead of `package`"
            .into(),
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.kind {
            InputKind::Argument => write!(f, "the package's argument `{key}`")?,
            InputKind::RuntimeArgument => write!(f, "the launcher's argument `{key}`")?,
            InputKind::Variable { of } => write!(f, "the variable `{key}` of `{of}`")?,
            InputKind::Environment => write!(f, "the environment variable {key}")?,
        }
        f.write_str(" is required and ")?;
        f.write_str(if self.is_blank {
            "its value is empty"
        } else {
            "has no value"
        })?;
        if let Some(description) = &self.description {
            write!(f, " ({})", jelly_base::text::one_line(description, 120))?;
        }
        Ok(())
    }
}

impl fmt::Display for GivenAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "`{}` (value {})", self.key, index + 1),
            None => write!(f, "`{}`", self.key),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| match value {
            Some(value) => format!("`{}`", jelly_base::text::one_line(value, 80)),
            None => "its value (secret)".to_owned(),
        };
        match self {
            Self::Missing(lack) => lack.fmt(f),
            Self::NotAChoice { at, value, .. } => {
                write!(f, "{at}: {} is not one of its choices", shown(value))
            }
            Self::NotOfFormat { at, value, format } => {
                write!(f, "{at}: {} is no {}", shown(value), format.name())
            }
            Self::Unknown { at, .. } => write!(f, "the package has no argument {at}"),
            Self::Fixed { at, value } => {
                write!(f, "{at} is fixed by the package, to `{value}`")
            }
            Self::NotRepeated { at, count } => {
                write!(f, "{at} can be given once, and has {count} values")
            }
            Self::TakesNoValue { at } => write!(f, "{at} is a flag that takes no value"),
            Self::Unfit { at, wanted } => write!(f, "{at}: expected {wanted}"),
            Self::NoLauncher { registry } => {
                write!(
                    f,
                    "packages of the registry `{registry}` can't be started in one command"
                )
            }
            Self::Unusable { text, why } => write!(f, "`{text}` {why}"),
        }
    }
}

/// What is worth a word and in nobody's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
