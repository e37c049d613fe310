//! Whose file a path is.

use super::clients::{CLIENTS, Client};
use super::document::{Member, Node};
use super::misplaced::holds_servers;
use super::usual_place::UsualPlace;
use std::path::Path;

/// Names of files that many programs use.
const SHARED_NAMES: [&str; 4] = ["settings.json", "mcp.json", "config.toml", "config.yaml"];

/// Whose file this is by its name, wherever it lies: the longest end of a usual
/// place that a path has tells.
#[must_use]
pub fn client_of(path: &Path) -> Client {
    let telling = |place: &UsualPlace| {
        let file = Path::new(place.path).file_name();
        let is_shared = || {
            SHARED_NAMES
                .iter()
                .any(|name| file.is_some_and(|file| file == *name))
        };
        path.ends_with(place.path) || file == path.file_name() && !is_shared()
    };
    CLIENTS
        .iter()
        .flat_map(|format| {
            format
                .places
                .iter()
                .map(move |place| (format.client, place))
        })
        .filter(|(_, place)| telling(place))
        .max_by_key(|(_, place)| place.path.len())
        .map_or(Client::Unknown, |(client, _)| client)
}

/// One client each writes TOML and YAML.
pub(super) fn client_by_extension(path: &Path) -> Client {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Client::Codex,
        Some("yaml" | "yml") => Client::Goose,
        _ => Client::Unknown,
    }
}

/// Which client's configuration it is, by what it holds.
pub(super) fn client_by_shape(root: &Node) -> Client {
    let is_opencodes = |server: &Member| {
        let kind = server.value.member("type").and_then(Node::text);
        matches!(kind, Some("local" | "remote"))
    };
    let mcp = root.member("mcp");
    if root.member("mcpServers").is_some() {
        // Most clients', whatever else it has.
        Client::Unknown
    } else if root.member("context_servers").is_some() {
        Client::Zed
    } else if mcp.is_some_and(|mcp| mcp.members().iter().any(is_opencodes)) {
        Client::OpenCode
    } else if root.member("servers").is_some()
        || mcp.is_some_and(|mcp| mcp.member("servers").is_some() || !holds_servers(mcp))
    {
        Client::VsCode
    } else {
        Client::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::super::clients::{CLIENTS, Client};
    use super::client_of;
    use std::path::Path;

    #[test]
    fn a_file_in_its_usual_place_is_its_clients() {
        for format in CLIENTS {
            for place in format.places {
                let path = Path::new("/home/me").join(place.path);
                assert_eq!(client_of(&path), format.client, "{}", path.display());
            }
        }
    }

    #[test]
    fn a_copy_is_known_by_a_telling_name_alone() {
        let known = |name| client_of(Path::new(name));
        assert_eq!(known("x/claude_desktop_config.json"), Client::ClaudeDesktop);
        assert_eq!(known("mcp_config.json"), Client::Windsurf);
        assert_eq!(known("mcp-config.json"), Client::CopilotCli);
        for shared in super::SHARED_NAMES {
            assert_eq!(known(shared), Client::Unknown);
        }
    }
}
