//! Servers that stand where their client doesn't look for them.
//!
//! Main functions: [`strangers`], and [`misplaced`], which says so.

use super::clients::{CLIENTS, Client, ClientFormat};
use super::document::{Data, Member, Node};
use super::entry::Place;
use jelly_base::model::{Finding, FindingLevel, Lint};

/// Members that servers stand under, of clients that have no row of their own: Crush's in its
/// `crush.json`, and Amp's in its `settings.json`.
const OTHER_KEYS: [&str; 2] = ["mcp", "amp.mcpServers"];

/// What of a client's own stands in the file besides.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Near {
    /// The key that it reads.
    pub has_key: bool,
    /// Servers under it.
    pub has_servers: bool,
}

/// The members of an object under which another client, or a slip of the pen,
/// has servers.
pub(super) fn strangers<'n>(
    format: &ClientFormat,
    object: &'n Node,
    is_looked_at: bool,
) -> impl Iterator<Item = &'n Member> {
    let own = if is_looked_at { format.servers } else { &[] };
    object.members().iter().filter(move |member| {
        !own.contains(&member.name.as_str())
            && is_a_key(&member.name)
            && holds_servers(&member.value)
    })
}

/// Whether a value is an object with what some client takes for a server.
pub(super) fn holds_servers(value: &Node) -> bool {
    matches!(value.data, Data::Map(_)) && value.members().iter().any(is_server)
}

/// Where servers have to stand.
pub(super) fn shape(client: Client) -> &'static str {
    match client {
        Client::Codex => "servers are tables by name, `[mcp_servers.NAME]`",
        Client::OpenCode => "servers are members of the object `mcp`, by name",
        Client::Goose => "servers are entries of the map `extensions`, by name",
        _ => {
            "servers are members of the object `mcpServers` (VS Code: `servers`, Zed: \
             `context_servers`), by their names"
        }
    }
}

/// Objects of servers of clients that have no row of their own.
pub(super) fn of_other_clients(root: &Node) -> impl Iterator<Item = &Node> {
    let others = OTHER_KEYS.iter().filter_map(move |key| root.member(key));
    others.filter(|servers| holds_servers(servers))
}

/// Whether some client has its servers under it, however its words are joined.
fn is_a_key(name: &str) -> bool {
    let bare = |name: &str| -> String {
        let kept = name.chars().filter(char::is_ascii_alphanumeric);
        let bare: String = kept.map(|c| c.to_ascii_lowercase()).collect();
        // `mcp_server`, for one or for all
        bare.trim_end_matches('s').to_owned()
    };
    let mut keys = CLIENTS.iter().flat_map(|format| format.servers);
    keys.any(|key| bare(key) == bare(name))
}

/// Whether it is what some client takes for a server.
fn is_server(member: &Member) -> bool {
    let mut names = CLIENTS
        .iter()
        .flat_map(|format| format.members.command.iter().chain(format.members.url));
    names.any(|name| member.value.member(name).is_some())
}

/// That a server stands under a key that its client doesn't read, or under none.
pub(super) fn misplaced(
    format: &ClientFormat,
    key: Option<&str>,
    at: String,
    near: Near,
) -> Finding {
    let client = format.name;
    let own = format.servers.first().copied().unwrap_or_default();
    let (where_it_is, fix) = match key {
        Some(key) if key == own => (
            format!("a `{key}` within another member"),
            match near.has_key {
                true => format!("Move its entries into the `{own}` at the top of the file."),
                false => format!("Move `{own}` to the top of the file."),
            },
        ),
        // A second key of the same name would take the place of the first.
        Some(key) if near.has_key => (
            format!("`{key}`"),
            format!(
                "Move the entries of `{key}` into the `{own}` that is there already, and delete \
                 `{key}`."
            ),
        ),
        Some(key) => (
            format!("`{key}`"),
            format!("Rename `{key}` to `{own}`, at the top of the file."),
        ),
        None => (
            "no key".to_owned(),
            format!("Put the servers into an object `{own}`."),
        ),
    };
    Finding {
        lint: Lint::WrongKey,
        // A file may be shared with another client on purpose.
        level: match near.has_servers {
            true => FindingLevel::Warning,
            false => FindingLevel::Error,
        },
        at,
        what: format!(
            "{client} does not read this server: it stands under {where_it_is}, and {client} \
             reads `{own}`."
        ),
        fix,
    }
}

/// What stands under a key of servers and is no object: where, what is said of it,
/// and what helps where that is known.
pub(super) fn no_object(key: &str, other: &Node) -> (Place, String, Option<&'static str>) {
    let kind = other.kind();
    let is_one = |item: &Node| {
        ["command", "url"]
            .iter()
            .any(|name| item.member(name).is_some())
    };
    if !other.elements().iter().any(is_one) {
        let what = format!("`{key}` is {kind}, and has to be an object");
        return (other.place, what, None);
    }
    // docs.continue.dev/reference, "mcpServers".
    let what = format!(
        "`{key}` is {kind} of servers, as in a configuration of Continue, which jelly does not read"
    );
    let help = "`jelly list -- COMMAND ARGS` starts one of them, and says what is wrong with it; \
                other clients have an object here, with the servers by their names";
    (other.place, what, Some(help))
}
