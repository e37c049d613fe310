//! Members of an entry with a URL, and what becomes of them if the entry gets a
//! command: most concern any server; some say how the client reaches the URL.
//!
//! Main functions: [`of_url_alone`] and [`unknown_members`].

use super::clients::ClientFormat;
use super::document::{Data, Node};
use jelly_base::text::{WordList, one_line};

/// What clients have for servers of either kind.
const OF_ANY_SERVER: WordList = WordList(
    "_meta alwaysAllow alwaysLoad autoApprove available_tools bundled comment cwd description dev \
     disabled disabledTools disabled_tools display_name enabled enabledTools enabled_tools \
     envFile env_keys env_vars excludeTools extension gallery icon id includeTools instructions \
     name note required source startup_timeout_ms startup_timeout_sec timeout title \
     tool_timeout_sec tools trust type version",
);

/// Parts of the names by which clients say how they log in to a URL.
const OF_A_LOGIN: [&str; 8] = [
    "auth",
    "oidc",
    "scopes",
    "bearertoken",
    "targetaudience",
    "targetserviceaccount",
    "clientid",
    "clientsecret",
];
/// The same of how they connect to it.
const OF_A_CONNECTION: [&str; 4] = ["tls", "certificate", "proxy", "socket"];

fn letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_ascii_lowercase()
}

/// Whether a member asks for nothing: that there is no login, say.
fn is_off(value: &Node) -> bool {
    match &value.data {
        Data::Null | Data::Bool(false) => true,
        Data::List(items) => items.is_empty(),
        _ => false,
    }
}

/// Why a server can't be reached by a command instead, where its client has a way
/// of its own to its URL: a client heeds that for no command.
pub(super) fn of_url_alone(server: &Node, url: &str) -> Option<String> {
    let is_of = |name: &str, parts: &[&str]| {
        let letters = letters(name);
        parts.iter().any(|part| letters.contains(part))
    };
    let members = server.members().iter();
    members.filter(|member| !is_off(&member.value)).find_map(|member| {
        let name = one_line(&member.name, 60);
        // It names a variable, and is carried over.
        if member.name == "bearer_token_env_var" || OF_ANY_SERVER.has(&member.name) {
            return None;
        }
        if is_of(&member.name, &OF_A_LOGIN) {
            let url = one_line(url, 80);
            return Some(format!(
                "its client logs in to the URL by itself (`{name}`), and would not behind jelly: \
                 `jelly login {url}` does that once for jelly; then take `{name}` out, and wrap it"
            ));
        }
        is_of(&member.name, &OF_A_CONNECTION).then(|| {
            format!(
                "its client connects to the URL in a way of its own (`{name}`), which jelly proxy \
                 has not"
            )
        })
    })
}

/// What is to be known of members that are kept, and of which nobody knows whether
/// the client heeds them for a server with a command.
pub(super) fn unknown_members(format: &ClientFormat, server: &Node) -> Option<String> {
    let names = format.members;
    let mut known: Vec<&str> = OF_ANY_SERVER.words().collect();
    known.extend(names.url);
    known.extend(names.command);
    known.extend([
        names.headers,
        names.env,
        names.args,
        names.env_file,
        names.cwd,
    ]);
    known.extend(
        [
            names.header_variables,
            names.bearer_variable,
            names.kept_elsewhere,
        ]
        .iter()
        .flatten(),
    );
    let members = server.members().iter();
    let unknown: Vec<String> = members
        .filter(|member| !known.contains(&member.name.as_str()) && !is_off(&member.value))
        .map(|member| format!("`{}`", one_line(&member.name, 60)))
        .collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "{} stays as it is; see whether the client heeds it for a server with a command",
            unknown.join(", ")
        )
    })
}
