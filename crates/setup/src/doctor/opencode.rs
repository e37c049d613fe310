//! Entries of opencode that are written as other clients have them.
//!
//! Main function: [`misshapen`]. Source: opencode's schema of its configuration
//! (`McpLocalConfig`), as of November 2026: one list holds the program and its
//! arguments.

use super::clients::ClientFormat;
use super::document::{Data, Node};
use super::entry::{Place, Reached};
use super::written::quoted;

/// What of an entry opencode does not take: where, what is said of it, and what
/// mends it.
pub(super) fn misshapen(
    format: &ClientFormat,
    server: &Node,
    reached: &Reached,
) -> Vec<(Place, String, String)> {
    let client = format.name;
    let mut flaws = Vec::new();
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
