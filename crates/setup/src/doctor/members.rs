//! The members of a server's object, wherever its client has them.

use super::clients::{Client, ClientFormat};
use super::document::{Data, Node};
use super::entry::Input;

/// Where the members of a server stand.
pub(super) fn own_members<'n>(format: &ClientFormat, server: &'n Node) -> &'n Node {
    // Goose once had all but `enabled` in one object.
    match server.member("config") {
        Some(config) if format.client == Client::Goose => config,
        _ => server,
    }
}

/// What has the command and its arguments as members, and what the command is
/// called in it.
pub(super) fn command_holder<'n>(
    format: &ClientFormat,
    server: &'n Node,
) -> (&'n Node, &'static str) {
    let server = own_members(format, server);
    // Zed once had all of the command in one object.
    let inner = server
        .member("command")
        .filter(|command| matches!(command.data, Data::Map(_)));
    match inner {
        Some(inner) => (inner, "path"),
        None => (server, present(server, format.members.command)),
    }
}

/// Of several names of a member the one that is there, else the first.
pub(super) fn present(object: &Node, names: &[&'static str]) -> &'static str {
    let present = names.iter().find(|name| object.member(name).is_some());
    present.or(names.first()).copied().unwrap_or_default()
}

pub(super) fn input(value: &Node) -> Option<Input> {
    let text = |key: &str| Some(value.member(key)?.text()?.to_owned());
    let options = value.member("options").map_or(&[][..], Node::elements);
    let label = |option: &Node| {
        let text = option.text().or_else(|| option.member("value")?.text());
        text.map(str::to_owned)
    };
    Some(Input {
        id: text("id")?,
        description: text("description"),
        default: text("default"),
        password: value.member("password").is_some_and(|value| value.is(true)),
        options: options.iter().filter_map(label).collect(),
    })
}
