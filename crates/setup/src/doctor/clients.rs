//! What is known of each client's configuration: where it lies, how it is
//! written, where the servers stand in it, and what their members are called.
//!
//! The main type is [`ClientFormat`], a row for each client. Sources: the
//! clients' own documentation, as of November 2026.

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
    /// What names the URL of a server of the transport of old, where it is another.
    pub sse_url: Option<&'static str>,
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
    /// It is reached by the transport of old, HTTP with SSE; none where the client
    /// does not speak it.
    pub sse: Option<&'static str>,
    /// Whether the client goes by it, whatever else the entry has.
    pub decide: bool,
    pub without: WithoutKind,
}

/// What a client makes of an entry without a `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutKind {
    /// It goes by the other members.
    Inferred,
    /// One with a URL is of the transport of old.
    Sse,
    /// It takes none with a URL.
    NoUrl,
    /// It takes none at all, and none with a `type` that it does not know.
    None,
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
    /// Whether it takes servers with a URL from this file.
    pub(super) takes_urls: bool,
    /// Whether it refuses a file that begins with a byte order mark.
    pub(super) refuses_mark: bool,
    /// Whether it starts a server in the folder that its entry names.
    pub(super) heeds_folder: bool,
    /// Whether it refuses numbers and booleans as values of variables.
    pub(super) wants_texts: bool,
    pub(super) variables: VariableSyntax,
    /// What to write instead of a secret, where it is not a variable.
    pub(super) instead_of_secret: Option<&'static str>,
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
    sse_url: None,
    headers: "headers",
    header_variables: None,
    bearer_variable: None,
    kept_elsewhere: None,
    kinds: KindNames {
        started: &["stdio", "local"],
        reached: &["http", "sse", "streamable-http", "streamableHttp", "ws"],
        sse: Some("sse"),
        decide: false,
        without: WithoutKind::Inferred,
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
    takes_urls: true,
    refuses_mark: false,
    heeds_folder: true,
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
        // github.com/tradesdontlie/tradingview-mcp/issues/406 (2026-07).
        refuses_mark: true,
        // It skips such an entry: github.com/cboxdk/statamic-mcp/issues/20 (2026-04).
        takes_urls: false,
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
        // github.com/anthropics/claude-code/issues/9906 (2025-10).
        syntax: Syntax::StrictJson,
        // A plugin's `.mcp.json` may be the map alone.
        takes_bare_map: true,
        members: &MemberNames {
            kinds: KindNames {
                // It drops one without a word:
                // github.com/anthropics/claude-code/issues/73885 (2.1.198).
                without: WithoutKind::NoUrl,
                reached: &["http", "sse", "streamable-http", "ws"],
                started: &["stdio"],
                ..BY_KIND.kinds
            },
            ..BY_KIND
        },
        wants_texts: true,
        // github.com/anthropics/claude-code/issues/17565 (2.1.4), 54786 (2.1.123).
        heeds_folder: false,
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
                sse: Some("sse"),
                decide: true,
                // github.com/cline/cline/issues/6767.
                without: WithoutKind::Sse,
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
        takes_urls: true,
        refuses_mark: false,
        heeds_folder: true,
        members: &MemberNames {
            url: &["url"],
            headers: "http_headers",
            header_variables: Some("env_http_headers"),
            bearer_variable: Some("bearer_token_env_var"),
            kinds: KindNames {
                sse: None,
                ..COMMON.kinds
            },
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
                sse: Some("remote"),
                decide: true,
                // Its schema: McpLocalConfig, McpRemoteConfig.
                without: WithoutKind::None,
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
        takes_urls: true,
        refuses_mark: false,
        heeds_folder: true,
        members: &MemberNames {
            command: &["cmd"],
            env: "envs",
            url: &["uri", "url"],
            kept_elsewhere: Some("env_keys"),
            kinds: KindNames {
                started: &["stdio"],
                reached: &["streamable_http"],
                // goose, crates/goose/src/agents/extension.rs: "no longer supported".
                sse: None,
                decide: true,
                without: WithoutKind::None,
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
        // Its docs/tools/mcp-server.md: `url` is of SSE.
        members: &MemberNames {
            url: &["httpUrl", "url", "serverUrl"],
            sse_url: Some("url"),
            ..COMMON
        },
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
