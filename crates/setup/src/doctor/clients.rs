//! What is known of each client's configuration: where it lies, how it is
//! written, where the servers stand in it, and what their members are called.
//!
//! The main type is [`ClientFormat`], a row for each client. Sources: the
//! clients' own documentation, as of November 2026.

use super::blanks::with_braces;
use super::startup_limit::{StartupLimit, limit};
use super::usual_place::{ALL, UNIX, WINDOWS, data, home, on, project};
pub use super::usual_place::{Base, Platform, UsualPlace};

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Windsurf,
    Zed,
    Cline,
    Codex,
    OpenCode,
    Goose,
    GeminiCli,
    CopilotCli,
    /// No client's: a plan of jelly's.
    Plan,
    /// Such a plan in JSON.
    JsonPlan,
    /// A file that no client is known to keep.
    Unknown,
}

/// How a configuration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Comments are errors, and so are trailing commas.
    StrictJson,
    /// Comments are allowed, trailing commas are errors.
    JsonWithComments,
    /// Both are allowed.
    Jsonc,
    Toml,
    Yaml,
}

/// How a client names an environment variable in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableSyntax {
    /// It fills in none.
    None,
    /// It is not known whether it fills in any.
    Unknown,
    /// `${NAME}`.
    Braces,
    /// `${NAME}`, or `$NAME`.
    Shell,
    /// `${env:NAME}`.
    Env,
    /// `{env:NAME}`.
    BareEnv,
}

/// The names of a server's members. Of several, the first that is there counts.
#[derive(Debug)]
pub(super) struct MemberNames {
    pub command: &'static [&'static str],
    pub args: &'static str,
    pub env: &'static str,
    pub cwd: &'static str,
    pub env_file: &'static str,
    pub url: &'static [&'static str],
    pub headers: &'static str,
    /// Headers by the variables that hold their values.
    pub header_variables: Option<&'static str>,
    /// The variable that holds the bearer token.
    pub bearer_variable: Option<&'static str>,
    /// The names of variables whose values the client keeps elsewhere.
    pub kept_elsewhere: Option<&'static str>,
    pub kinds: KindNames,
}

/// What `type` says of a server; the first is the one to write.
#[derive(Debug)]
pub(super) struct KindNames {
    /// It is started by a command.
    pub started: &'static [&'static str],
    /// It is reached by a URL.
    pub reached: &'static [&'static str],
    /// Whether the client goes by it, whatever else the entry has.
    pub decide: bool,
}

/// A client's configurations.
#[derive(Debug)]
pub struct ClientFormat {
    pub client: Client,
    pub name: &'static str,
    pub syntax: Syntax,
    /// The members that servers may stand under.
    pub(super) servers: &'static [&'static str],
    /// Whether they may be the whole file, without such a member.
    pub(super) takes_bare_map: bool,
    pub(super) members: &'static MemberNames,
    /// Whether it refuses numbers and booleans as values of variables.
    pub(super) wants_texts: bool,
    pub(super) variables: VariableSyntax,
    /// What to write instead of a secret, where it is not a variable.
    instead_of_secret: Option<&'static str>,
    /// How long it waits for the first answer of a server.
    pub(super) startup_limit: StartupLimit,
    pub places: &'static [UsualPlace],
}

/// Of the clients that follow Claude Desktop.
const COMMON: MemberNames = MemberNames {
    command: &["command"],
    args: "args",
    env: "env",
    cwd: "cwd",
    env_file: "envFile",
    url: &["url", "serverUrl", "httpUrl"],
    headers: "headers",
    header_variables: None,
    bearer_variable: None,
    kept_elsewhere: None,
    kinds: KindNames {
        started: &["stdio", "local"],
        reached: &["http", "sse", "streamable-http", "streamableHttp", "ws"],
        decide: false,
    },
};

/// The same, of clients that go by `type`.
const BY_KIND: MemberNames = MemberNames {
    kinds: KindNames {
        decide: true,
        ..COMMON.kinds
    },
    ..COMMON
};

const UNKNOWN: ClientFormat = ClientFormat {
    client: Client::Unknown,
    name: "unknown client",
    syntax: Syntax::Jsonc,
    servers: &["mcpServers", "servers", "context_servers"],
    takes_bare_map: true,
    members: &COMMON,
    wants_texts: false,
    variables: VariableSyntax::Unknown,
    instead_of_secret: None,
    startup_limit: StartupLimit::patience(60),
    places: &[],
};

/// What is no client's, and has servers that are written much alike.
const PLAN: ClientFormat = ClientFormat {
    client: Client::Plan,
    name: "jelly",
    syntax: Syntax::Yaml,
    servers: &["servers"],
    variables: VariableSyntax::Env,
    ..UNKNOWN
};

const JSON_PLAN: ClientFormat = ClientFormat {
    client: Client::JsonPlan,
    syntax: Syntax::StrictJson,
    ..PLAN
};

/// Those that follow Claude Desktop.
const FOLLOWER: ClientFormat = ClientFormat {
    servers: &["mcpServers"],
    takes_bare_map: false,
    ..UNKNOWN
};

/// All of them.
pub const CLIENTS: &[ClientFormat] = &[
    ClientFormat {
        client: Client::ClaudeDesktop,
        name: "Claude Desktop",
        syntax: Syntax::StrictJson,
        wants_texts: true,
        // By its logs, github.com/anthropics/claude-code/issues/84136 (1.25927).
        startup_limit: limit(60, &[]),
        variables: VariableSyntax::None,
        places: &[data("Claude/claude_desktop_config.json")],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::ClaudeCode,
        name: "Claude Code",
        // A plugin's `.mcp.json` may be the map alone.
        takes_bare_map: true,
        members: &BY_KIND,
        wants_texts: true,
        // `MCP_TIMEOUT` of its environment says another:
        // github.com/anthropics/claude-code/issues/42770 (2.1.90).
        startup_limit: limit(30, &[]).or_by("MCP_TIMEOUT"),
        variables: VariableSyntax::Braces,
        places: &[project(".mcp.json"), home(".claude.json")],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::Cursor,
        name: "Cursor",
        variables: VariableSyntax::Env,
        places: &[project(".cursor/mcp.json"), home(".cursor/mcp.json")],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::VsCode,
        name: "VS Code",
        servers: &["servers"],
        members: &BY_KIND,
        // It waits for ever and says so every 5 s: vscode,
        // contrib/mcp/common/mcpServerRequestHandler.ts. No person does.
        startup_limit: StartupLimit::patience(60),
        variables: VariableSyntax::Env,
        instead_of_secret: Some(
            "Write `${input:some-id}`, and describe the input with \
                            `\"password\": true`.",
        ),
        places: &[
            project(".vscode/mcp.json"),
            data("Code/User/mcp.json"),
            data("Code/User/settings.json"),
            data("Code - Insiders/User/mcp.json"),
        ],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::Windsurf,
        name: "Windsurf",
        wants_texts: true,
        variables: VariableSyntax::Env,
        places: &[home(".codeium/windsurf/mcp_config.json")],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::Zed,
        name: "Zed",
        servers: &["context_servers"],
        wants_texts: true,
        // zed, crates/context_server/src/client.rs: DEFAULT_REQUEST_TIMEOUT.
        startup_limit: limit(60, &[("timeout", 1)]),
        places: &[
            project(".zed/settings.json"),
            on(UNIX, Base::Xdg, "zed/settings.json"),
            on(WINDOWS, Base::AppData, "Zed/settings.json"),
        ],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::Cline,
        name: "Cline",
        members: &MemberNames {
            kinds: KindNames {
                started: &["stdio"],
                reached: &["streamableHttp", "sse"],
                decide: true,
            },
            ..COMMON
        },
        wants_texts: true,
        // Since github.com/cline/cline/pull/13067 (2026-08); 1.5 s before.
        startup_limit: limit(30, &[("timeout", 1)]),
        places: &[data(
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        )],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::Codex,
        name: "Codex",
        syntax: Syntax::Toml,
        servers: &["mcp_servers"],
        takes_bare_map: false,
        members: &MemberNames {
            url: &["url"],
            headers: "http_headers",
            header_variables: Some("env_http_headers"),
            bearer_variable: Some("bearer_token_env_var"),
            ..COMMON
        },
        wants_texts: true,
        variables: VariableSyntax::None,
        instead_of_secret: Some(
            "Set the variable where Codex is started, and list its name in \
                            `env_vars`; a header's goes into `bearer_token_env_var` or \
                            `env_http_headers`.",
        ),
        // 10 s by releases up to 0.101 (github.com/openai/codex/issues/11851), 30 s
        // by later ones (codex-rs/codex-mcp/src/rmcp_client.rs): the shorter.
        startup_limit: limit(
            10,
            &[("startup_timeout_sec", 1), ("startup_timeout_ms", 1000)],
        ),
        places: &[project(".codex/config.toml"), home(".codex/config.toml")],
    },
    ClientFormat {
        client: Client::OpenCode,
        name: "opencode",
        servers: &["mcp"],
        members: &MemberNames {
            env: "environment",
            url: &["url"],
            kinds: KindNames {
                started: &["local"],
                reached: &["remote"],
                decide: true,
            },
            ..COMMON
        },
        wants_texts: true,
        variables: VariableSyntax::BareEnv,
        // opencode.ai/docs/mcp-servers: "Defaults to 5000 (5 seconds)".
        startup_limit: limit(5, &[("timeout", 1000)]),
        places: &[
            project("opencode.json"),
            project("opencode.jsonc"),
            on(ALL, Base::Xdg, "opencode/opencode.json"),
            on(ALL, Base::Xdg, "opencode/opencode.jsonc"),
        ],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::Goose,
        name: "Goose",
        syntax: Syntax::Yaml,
        servers: &["extensions"],
        takes_bare_map: false,
        members: &MemberNames {
            command: &["cmd"],
            env: "envs",
            url: &["uri", "url"],
            kept_elsewhere: Some("env_keys"),
            kinds: KindNames {
                started: &["stdio"],
                reached: &["streamable_http", "sse"],
                decide: true,
            },
            ..COMMON
        },
        wants_texts: true,
        variables: VariableSyntax::Unknown,
        instead_of_secret: Some(
            "List the variable in `env_keys`, and have `goose configure` keep \
                            its value.",
        ),
        // goose, crates/goose/src/config/extensions.rs: DEFAULT_EXTENSION_TIMEOUT.
        startup_limit: limit(300, &[("timeout", 1)]),
        places: &[
            on(UNIX, Base::Xdg, "goose/config.yaml"),
            on(WINDOWS, Base::AppData, "Block/goose/config/config.yaml"),
        ],
    },
    ClientFormat {
        client: Client::GeminiCli,
        name: "Gemini CLI",
        syntax: Syntax::JsonWithComments,
        variables: VariableSyntax::Shell,
        // gemini-cli, packages/core/src/tools/mcp-client.ts:
        // MCP_DEFAULT_TIMEOUT_MSEC.
        startup_limit: limit(600, &[("timeout", 1000)]),
        places: &[
            project(".gemini/settings.json"),
            home(".gemini/settings.json"),
        ],
        ..FOLLOWER
    },
    ClientFormat {
        client: Client::CopilotCli,
        name: "Copilot CLI",
        members: &BY_KIND,
        // Whatever `timeout` says: github.com/github/copilot-cli/issues/4421.
        startup_limit: limit(60, &[]),
        variables: VariableSyntax::Braces,
        places: &[home(".copilot/mcp-config.json")],
        ..FOLLOWER
    },
];

/// Where configurations may lie on a system: those of the project first, since
/// they are meant for what is worked on.
pub fn usual_places(platform: Platform) -> impl Iterator<Item = &'static UsualPlace> {
    let (of_project, others): (Vec<_>, Vec<_>) = CLIENTS
        .iter()
        .flat_map(|format| format.places)
        .filter(|place| place.platforms.contains(&platform))
        .partition(|place| place.base == Base::Project);
    of_project.into_iter().chain(others)
}

impl Client {
    /// What is known of its configurations.
    #[must_use]
    pub fn format(self) -> &'static ClientFormat {
        let mut known = CLIENTS.iter().chain([&PLAN, &JSON_PLAN]);
        known
            .find(|format| format.client == self)
            .unwrap_or(&UNKNOWN)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.format().name
    }
}

impl ClientFormat {
    /// What to write instead of a secret.
    pub(super) fn instead_of_secret(&self) -> String {
        let variable = match self.variables {
            VariableSyntax::Braces | VariableSyntax::Shell => "${NAME}",
            VariableSyntax::Env => "${env:NAME}",
            VariableSyntax::BareEnv => "{env:NAME}",
            VariableSyntax::None | VariableSyntax::Unknown => "",
        };
        match (self.instead_of_secret, variable) {
            (Some(own), _) => own.to_owned(),
            (None, "") => "Keep the file out of repositories and readable by you alone (`chmod \
                           600`), or start the server by a script that fetches the value."
                .to_owned(),
            (None, variable) => {
                format!("Write `{variable}`, and set NAME where the client is started.")
            }
        }
    }

    /// A text with its variables as the others write them, `${…}`.
    pub(super) fn with_common_variables(&self, text: &str) -> String {
        match self.variables {
            VariableSyntax::BareEnv => text.replace("{env:", "${env:"),
            VariableSyntax::Shell => with_braces(text),
            VariableSyntax::Braces
            | VariableSyntax::Env
            | VariableSyntax::None
            | VariableSyntax::Unknown => text.to_owned(),
        }
    }

    /// A variable that was read, `${…}`, as the file has it.
    pub(super) fn as_written(&self, blank: &str) -> String {
        let name = blank
            .strip_prefix("${env:")
            .and_then(|rest| rest.strip_suffix('}'));
        match (name, self.variables, self.members.bearer_variable) {
            (Some(name), VariableSyntax::BareEnv, _) => format!("{{env:{name}}}"),
            (Some(name), VariableSyntax::None, Some(_)) => name.to_owned(),
            _ => blank.to_owned(),
        }
    }

    /// A server as it is to be written, for advice.
    pub(super) fn example(&self) -> &'static str {
        match self.client {
            Client::Codex => {
                "A server is a table `[mcp_servers.NAME]` with `command = \"…\"`, `args = \
                 [\"…\"]` and `env = { NAME = \"…\" }`, or with `url = \"https://…\"`."
            }
            Client::OpenCode => {
                "A server is `{ \"type\": \"local\", \"command\": [\"…\", \"…\"], \
                 \"environment\": { \"NAME\": \"…\" } }`, or `{ \"type\": \"remote\", \"url\": \
                 \"https://…\" }`."
            }
            Client::Goose => {
                "A server is `{ type: stdio, cmd: \"…\", args: [\"…\"], envs: { NAME: \"…\" } }`, \
                 or `{ type: streamable_http, uri: \"https://…\" }`."
            }
            _ => {
                "A server is `{ \"command\": \"…\", \"args\": [\"…\"], \"env\": { \"NAME\": \
                 \"…\" } }`, or `{ \"url\": \"https://…\" }`."
            }
        }
    }

    /// A member with one text, or several, as it is to be pasted.
    pub(super) fn member(&self, name: &str, value: &str) -> String {
        match self.syntax {
            Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => {
                format!("\"{name}\": {value}")
            }
            Syntax::Toml => format!("{name} = {value}"),
            Syntax::Yaml => format!("{name}: {value}"),
        }
    }

    /// What the member is called that names the program.
    pub(super) fn command_name(&self) -> &'static str {
        self.members.command.first().copied().unwrap_or("command")
    }

    /// Whether one list holds the program and its arguments.
    pub(super) fn keeps_words_together(&self) -> bool {
        self.client == Client::OpenCode
    }

    /// Names with their values, as one value of a member.
    pub(super) fn table<'n>(&self, entries: impl Iterator<Item = (&'n str, String)>) -> String {
        let entries: Vec<String> = entries
            .map(|(name, value)| {
                let between = if self.syntax == Syntax::Toml {
                    " ="
                } else {
                    ":"
                };
                format!("{}{between} {}", quoted(name), quoted(&value))
            })
            .collect();
        match entries.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{ {} }}", entries.join(", ")),
        }
    }

    /// The address of a server, as it is to be pasted.
    pub(super) fn url(&self, url: &str) -> String {
        let name = self.members.url.first().copied().unwrap_or("url");
        self.member(name, &quoted(url))
    }

    /// The same of a server that speaks SSE.
    pub(super) fn sse(&self, url: &str) -> String {
        self.joined(&[self.member("type", "\"sse\""), self.url(url)])
    }

    /// Several members: those of TOML and YAML stand in lines of their own.
    pub(super) fn joined(&self, members: &[String]) -> String {
        match self.syntax {
            Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => members.join(", "),
            Syntax::Toml | Syntax::Yaml => members.join("\n"),
        }
    }

    /// A program with its first arguments, as it is to be pasted.
    pub(super) fn command(&self, program: &str, args: &str) -> String {
        let name = self.members.command.first().copied().unwrap_or("command");
        let (quoted, dots) = (
            format!("\"{program}\""),
            if args.is_empty() { "" } else { ", " },
        );
        if self.client == Client::OpenCode {
            return self.member(name, &format!("[{quoted}{dots}{args}]"));
        }
        let command = self.member(name, &quoted);
        match args.is_empty() {
            true => command,
            false => format!(
                "{command}, {}",
                self.member(self.members.args, &format!("[{args}]"))
            ),
        }
    }

    /// That none of the members is there that servers stand under.
    #[must_use]
    pub fn no_servers(&self) -> String {
        let keys: Vec<String> = self.servers.iter().map(|key| format!("`{key}`")).collect();
        match keys.as_slice() {
            [key] => format!("there is no {key}"),
            keys => format!("neither {}", keys.join(", nor ")),
        }
    }
}

/// In quotes, as JSON, TOML and YAML alike have it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
