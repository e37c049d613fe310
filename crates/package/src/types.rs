//! What a `server.json` says, in one shape for every date of its schema.

use indexmap::IndexMap;

/// A `server.json`, of which only what starts or reaches a server is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerJson {
    /// `$schema`, as it is written.
    pub schema: Option<String>,
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// `version`, or `version_detail.version` of 2025-07-09.
    pub version: Option<String>,
    pub packages: Vec<Package>,
    pub remotes: Vec<Remote>,
    /// What was mended while it was read, and what looks wrong in it.
    pub warnings: Vec<super::JsonProblem>,
}

/// Where a package comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Registry {
    #[default]
    Npm,
    Pypi,
    Oci,
    Nuget,
    /// Known to the MCP registry, or not; nothing fetches and starts it in one
    /// command. As it is written.
    Other(String),
}

impl Registry {
    /// As the MCP registry writes it. Also takes the names of May 2025.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "npm" => Self::Npm,
            "pypi" => Self::Pypi,
            "oci" | "docker" | "docker-hub" => Self::Oci,
            "nuget" => Self::Nuget,
            _ => Self::Other(name.trim().to_owned()),
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Oci => "oci",
            Self::Nuget => "nuget",
            Self::Other(name) => name,
        }
    }
}

/// One way to get the server and to start it here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    pub registry: Registry,
    pub registry_base_url: Option<String>,
    pub identifier: String,
    pub version: Option<String>,
    /// Of the file that is fetched; jelly fetches none itself.
    pub file_sha256: Option<String>,
    /// `npx`, `uvx`, `docker`, `dnx` or one of their kind.
    pub runtime_hint: Option<String>,
    /// For the launcher, before the package.
    pub runtime_arguments: Vec<Argument>,
    /// For the server, behind the package.
    pub package_arguments: Vec<Argument>,
    pub environment_variables: Vec<EnvironmentVariable>,
    pub transport: Transport,
}

/// How a started package is talked to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transport {
    /// `stdio`, `streamable-http` or `sse`; `stdio` where nothing is said.
    pub kind: String,
    /// May hold `{name}` of an argument or of an environment variable.
    pub url: Option<String>,
    pub headers: Vec<EnvironmentVariable>,
}

/// A server that somebody else runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    /// `streamable-http` or `sse`.
    pub kind: String,
    /// May hold `{name}` of one of the variables.
    pub url: String,
    pub headers: Vec<EnvironmentVariable>,
    pub variables: IndexMap<String, Variable>,
}

/// One argument of a launcher or of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    pub kind: ArgumentKind,
    pub input: Input,
    /// It may stand there several times.
    pub is_repeated: bool,
    /// Values for `{name}` in the input's `value`.
    pub variables: IndexMap<String, Variable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A flag, as it stands on the command line.
    Named {
        /// With its dashes. Ends with `=` where flag and value are one word.
        flag: String,
        /// As the definition has it, where that differs.
        written: Option<String>,
        /// It takes no value.
        bare: bool,
    },
    Positional {
        /// What people call it; not part of the command line.
        hint: Option<String>,
    },
}

impl Default for ArgumentKind {
    fn default() -> Self {
        Self::Positional { hint: None }
    }
}

/// An environment variable of a package, or a header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentVariable {
    pub name: String,
    pub input: Input,
    pub variables: IndexMap<String, Variable>,
}

/// A part of a `value`, in braces.
pub type Variable = Input;

/// What is to be filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    pub description: Option<String>,
    pub is_required: bool,
    pub is_secret: bool,
    pub format: Format,
    /// Not for the user to change; `{name}` in it stands for a variable.
    pub value: Option<String>,
    pub default: Option<String>,
    /// An example of what could stand there.
    pub placeholder: Option<String>,
    /// Empty where any value will do.
    pub choices: Vec<String>,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    String,
    /// Decimal.
    Number,
    /// `true` or `false`.
    Boolean,
    Filepath,
}

impl Format {
    pub const ALL: [Self; 4] = [Self::String, Self::Number, Self::Boolean, Self::Filepath];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Filepath => "filepath",
        }
    }
}

/// What an input is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Of the server.
    Argument,
    /// Of its launcher.
    RuntimeArgument,
    /// Of the `value` of the argument or variable with this key.
    Variable {
        of: String,
    },
    Environment,
}
