//! Files that are no configuration of a client, and look like one.

use super::document::Node;
use jelly_base::text::shell_path;
use std::path::Path;

/// What helps where a file has nothing to do with a server.
const NAME_IT: &str = "name the file in which a client names its servers; without one, `jelly \
                       doctor` looks where clients keep theirs";

/// What a file is instead of a client's configuration, and what to do with it; none where it
/// may be one.
pub(super) fn of_another_kind(root: &Node, path: &Path) -> Option<(&'static str, String)> {
    let has = |name: &str| root.member(name).is_some();
    if ["mcpServers", "extensions", "mcp_servers", "mcp"]
        .into_iter()
        .any(has)
    {
        return None;
    }
    let named = |name: &str| path.file_name().is_some_and(|own| own == name);
    let schema = root.member("$schema").and_then(Node::text);
    let is_of_registry = has("name") && (has("packages") || has("remotes"));
    if schema.is_some_and(|schema| schema.ends_with("server.schema.json"))
        || named("server.json") && is_of_registry
    {
        let shown = shell_path(&path.display().to_string());
        return Some((
            "it is a `server.json` of the registry of MCP, and no configuration of a client",
            format!("`jelly init {shown}` makes a plan for the server that it describes"),
        ));
    }
    if named("package.json") && (has("name") || has("dependencies") || has("scripts")) {
        return Some((
            "it is the `package.json` of a project of Node, and no configuration of a client",
            NAME_IT.to_owned(),
        ));
    }
    if named("jelly.yaml") || named("jelly.yml") {
        return Some((
            "it holds the settings of jelly, and is no configuration of a client",
            NAME_IT.to_owned(),
        ));
    }
    if has("servers") && has("steps") {
        let shown = shell_path(&path.display().to_string());
        return Some((
            "it is a plan of jelly, and no configuration of a client",
            format!("`jelly run {shown}` runs it, `jelly check --live {shown}` asks its servers"),
        ));
    }
    let services = root.member("services").map_or(&[][..], Node::members);
    let is_compose = services.iter().any(|one| {
        let member = |name: &str| one.value.member(name).is_some();
        member("image") || member("build")
    });
    if is_compose {
        return Some((
            "it is a Compose file, and no configuration of a client",
            "name the file in which a client names its servers; `jelly init URL` makes a plan \
             for a server that is already up"
                .to_owned(),
        ));
    }
    None
}
