//! Where clients keep their configurations.
//!
//! Sources: the clients' own documentation, as of November 2026. A new client
//! is a row of [`USUAL`], and if its servers stand under another key, an arm
//! in `read`.

use std::path::Path;

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
    /// A file that no client is known to keep.
    Unknown,
}

/// For which system a configuration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Platform {
    Linux,
    Macos,
    Windows,
}

/// What a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    Home,
    /// `$XDG_CONFIG_HOME`, `~/.config`.
    Xdg,
    /// Where programs with windows keep what is theirs: the same on Linux,
    /// `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    AppData,
    /// The folder that is worked in.
    Project,
}

/// A place where a configuration may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualPlace {
    pub client: Client,
    pub base: Base,
    /// With slashes.
    pub path: &'static str,
    pub platforms: &'static [Platform],
}

const ALL: &[Platform] = &[Platform::Linux, Platform::Macos, Platform::Windows];
const UNIX: &[Platform] = &[Platform::Linux, Platform::Macos];
const WINDOWS: &[Platform] = &[Platform::Windows];

/// All of them: those of the project first, since they are meant for what is
/// worked on.
pub const USUAL: &[UsualPlace] = &[
    usual(Client::ClaudeCode, Base::Project, ".mcp.json", ALL),
    usual(Client::Cursor, Base::Project, ".cursor/mcp.json", ALL),
    usual(Client::VsCode, Base::Project, ".vscode/mcp.json", ALL),
    usual(Client::Zed, Base::Project, ".zed/settings.json", ALL),
    usual(
        Client::ClaudeDesktop,
        Base::AppData,
        "Claude/claude_desktop_config.json",
        ALL,
    ),
    usual(Client::ClaudeCode, Base::Home, ".claude.json", ALL),
    usual(Client::Cursor, Base::Home, ".cursor/mcp.json", ALL),
    usual(Client::VsCode, Base::AppData, "Code/User/mcp.json", ALL),
    usual(
        Client::VsCode,
        Base::AppData,
        "Code/User/settings.json",
        ALL,
    ),
    usual(
        Client::VsCode,
        Base::AppData,
        "Code - Insiders/User/mcp.json",
        ALL,
    ),
    usual(
        Client::Windsurf,
        Base::Home,
        ".codeium/windsurf/mcp_config.json",
        ALL,
    ),
    usual(Client::Zed, Base::Xdg, "zed/settings.json", UNIX),
    usual(Client::Zed, Base::AppData, "Zed/settings.json", WINDOWS),
    usual(
        Client::Cline,
        Base::AppData,
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ALL,
    ),
];

const fn usual(
    client: Client,
    base: Base,
    path: &'static str,
    platforms: &'static [Platform],
) -> UsualPlace {
    UsualPlace {
        client,
        base,
        path,
        platforms,
    }
}

impl Client {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Cline => "Cline",
            Self::Unknown => "unknown client",
        }
    }
}

impl Platform {
    /// The one that jelly was built for.
    #[must_use]
    pub fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::Macos
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// Whose file this is by its name, wherever it lies: the longest end of a usual
/// place that a path has tells.
#[must_use]
pub fn client_of(path: &Path) -> Client {
    // `settings.json` and `mcp.json` alone say nothing.
    let telling = |usual: &&UsualPlace| {
        let file = Path::new(usual.path).file_name();
        path.ends_with(usual.path)
            || file == path.file_name()
                && file.is_some_and(|file| file != "settings.json" && file != "mcp.json")
    };
    USUAL
        .iter()
        .filter(telling)
        .max_by_key(|usual| usual.path.len())
        .map_or(Client::Unknown, |usual| usual.client)
}

#[cfg(test)]
mod tests {
    use super::{Client, USUAL, client_of};
    use std::path::Path;

    #[test]
    fn a_file_in_its_usual_place_is_its_clients() {
        for usual in USUAL {
            let path = Path::new("/home/me").join(usual.path);
            assert_eq!(client_of(&path), usual.client, "{}", path.display());
        }
    }

    #[test]
    fn a_copy_is_known_by_a_telling_name_alone() {
        let known = |name| client_of(Path::new(name));
        assert_eq!(known("x/claude_desktop_config.json"), Client::ClaudeDesktop);
        assert_eq!(known("mcp_config.json"), Client::Windsurf);
        assert_eq!(known("mcp.json"), Client::Unknown);
        assert_eq!(known("settings.json"), Client::Unknown);
    }
}
