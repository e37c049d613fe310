//! Commands and packages that people mean when they write others.

use crate::text::close_names;
use std::path::{Path, PathBuf};

/// Commands that start most servers.
const LAUNCHERS: &[&str] = &[
    "npx", "npm", "node", "uvx", "uv", "python3", "python", "pipx", "docker", "podman", "bunx",
    "bun", "deno", "pnpm", "pnpx", "yarn", "dnx", "dotnet", "java", "go",
];

/// Well-known servers on npm and PyPI, as of November 2026.
const PACKAGES: &[&str] = &[
    "@modelcontextprotocol/server-brave-search",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-github",
    "@modelcontextprotocol/server-gitlab",
    "@modelcontextprotocol/server-google-maps",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-postgres",
    "@modelcontextprotocol/server-puppeteer",
    "@modelcontextprotocol/server-sequential-thinking",
    "@modelcontextprotocol/server-slack",
    "@playwright/mcp",
    "@upstash/context7-mcp",
    "chrome-devtools-mcp",
    "firecrawl-mcp",
    "mcp-proxy",
    "mcp-remote",
    "mcp-server-fetch",
    "mcp-server-git",
    "mcp-server-sqlite",
    "mcp-server-time",
    "supergateway",
    "tavily-mcp",
];

/// Folders that programs are installed to and that a client started from a
/// desktop often does not look into, below the home folder.
const AT_HOME: &[&str] = &[
    ".local/bin",
    ".cargo/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta/bin",
    ".npm-global/bin",
    "go/bin",
];

const ANYWHERE: &[&str] = &[
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
];

/// What was mistyped as this command.
pub(super) fn launcher_like(command: &str) -> Option<&'static str> {
    like(command, LAUNCHERS)
}

/// What was mistyped as this package.
pub(super) fn package_like(name: &str) -> Option<&'static str> {
    like(name, PACKAGES)
}

fn like(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if known.contains(&name) {
        return None;
    }
    let close = close_names(name, known.iter().copied())
        .into_iter()
        .next()?;
    known.iter().copied().find(|known| *known == close)
}

/// Where a command lies that the PATH does not lead to.
pub(super) fn elsewhere(
    command: &str,
    home: Option<&Path>,
    is_there: &dyn Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let at_home = home.into_iter().flat_map(|home| {
        AT_HOME
            .iter()
            .map(move |folder| home.join(folder).join(command))
    });
    let anywhere = ANYWHERE
        .iter()
        .map(|folder| Path::new(folder).join(command));
    at_home.chain(anywhere).find(|path| is_there(path))
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, launcher_like, package_like};
    use std::path::Path;

    #[test]
    fn what_was_mistyped_is_known() {
        assert_eq!(launcher_like("npxx"), Some("npx"));
        assert_eq!(launcher_like("my-server"), None);
        assert_eq!(launcher_like("uvx"), None);
        assert_eq!(
            package_like("@modelcontextprotocol/server-filesytem"),
            Some("@modelcontextprotocol/server-filesystem")
        );
        assert_eq!(package_like("mcp-server-time"), None);
    }

    #[test]
    fn a_command_beside_the_path_is_found() {
        let found = elsewhere("uvx", Some(Path::new("/home/me")), &|path| {
            path == Path::new("/home/me/.local/bin/uvx")
        });
        assert_eq!(found.as_deref(), Some(Path::new("/home/me/.local/bin/uvx")));
    }
}
