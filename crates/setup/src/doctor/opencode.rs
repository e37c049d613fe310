//! Entries of opencode that are written as other clients have them.
//!
//! Main function: [`misshapen`]. Source: opencode's schema of its configuration
//! (`McpLocalConfig`, `McpRemoteConfig`), as of November 2026: `type` has to be
//! there, and one list holds the program and its arguments.

use super::clients::{CLIENTS, ClientFormat, quoted};
use super::document::{Data, Node};
use super::entry::{Place, Reached};
use jelly_base::text::one_line;

/// How much of a `type` is shown.
const SHOWN: usize = 40;

/// What of an entry opencode does not take: where, what is said of it, and what
/// mends it.
pub(super) fn misshapen(
    format: &ClientFormat,
    server: &Node,
    reached: &Reached,
) -> Vec<(Place, String, String)> {
    let client = format.name;
    let mut flaws = Vec::new();
    let kinds = &format.members.kinds;
    let (own, others) = match reached {
        Reached::Command { .. } => (kinds.started, kinds.reached),
        Reached::Url { .. } => (kinds.reached, kinds.started),
    };
    let own = own.first().copied().unwrap_or_default();
    let kind = server.member("type");
    let said = kind.and_then(Node::text);
    let write = format!("Write `{}`.", format.member("type", &quoted(own)));
    match (kind, said) {
        (None, _) => flaws.push((
            server.place,
            format!("`type` is missing, and {client} takes no server without it."),
            write,
        )),
        // One that belongs to the other way is told by whoever compares both.
        (Some(kind), Some(said)) if said != own && !is_for_the_other(said, others, reached) => {
            let said = one_line(said, SHOWN);
            let what =
                format!("`type` is `{said}`, and {client} knows `local` and `remote` alone.");
            flaws.push((kind.place, what, write));
        }
        (Some(_), _) => {}
    }
    let Reached::Command { command, args, .. } = reached else {
        return flaws;
    };
    let name = format.command_name();
    let list = server
        .member(name)
        .filter(|it| matches!(it.data, Data::List(_)));
    let has_args = server.member(format.members.args);
    if list.is_none() || has_args.is_some() {
        let plain = || vec![command.text.clone()];
        let program = match list {
            Some(_) => plain(),
            None => shlex::split(&command.text).unwrap_or_else(plain),
        };
        let args = args.iter().map(|arg| arg.text.clone());
        let words: Vec<String> = program
            .into_iter()
            .chain(args)
            .map(|it| quoted(&it))
            .collect();
        let is_wrong = match list {
            None => format!("`{name}` is a string"),
            Some(_) => format!("The arguments stand in `{}`", format.members.args),
        };
        flaws.push((
            command.place,
            format!("{is_wrong}, and {client} takes one list of the program and its arguments."),
            format!(
                "Write `{}`.",
                format.member(name, &format!("[{}]", words.join(", ")))
            ),
        ));
    }
    let env = format.members.env;
    if let Some(other) = server.member("env") {
        let what = format!("{client} does not read `env`, so the server gets nothing of it.");
        let fix = match server.member(env) {
            Some(_) => format!("Move its variables into `{env}`."),
            None => format!("Rename `env` to `{env}`."),
        };
        flaws.push((other.place, what, fix));
    }
    flaws
}

/// Whether this `type` says the other way to reach a server, to some client.
fn is_for_the_other(said: &str, others: &[&str], reached: &Reached) -> bool {
    let mut kinds = CLIENTS.iter().map(|format| &format.members.kinds);
    others.contains(&said)
        || match reached {
            Reached::Url { .. } => kinds.any(|kinds| kinds.started.contains(&said)),
            Reached::Command { .. } => kinds.any(|kinds| kinds.reached.contains(&said)),
        }
}
