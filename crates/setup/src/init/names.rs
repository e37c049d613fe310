//! Names that plans can have: of servers, of steps.

use jelly_base::text::one_line;
use std::collections::{HashMap, HashSet};

/// The longest id of a step that is made, and name of a server, in bytes.
const MAX: usize = 64;

/// What a server may be called in a plan and its file, of the name of a
/// package, a program, or what it calls itself: `@scope/server-memory@1.2` and
/// `mcp-servers/memory` are `memory`. Absent where nothing is left of it.
#[must_use]
pub fn server_name(from: &str) -> Option<String> {
    let base = from.trim_end_matches('/').rsplit(['/', '\\']).next()?;
    let base = [".js", ".mjs", ".cjs", ".py", ".exe", ".sh"]
        .iter()
        .find_map(|end| base.strip_suffix(end))
        .unwrap_or(base);
    let base = base.split(['@', '=', '[', ':', '<', '>', '~']).next()?;
    let mut name = String::new();
    for c in base.chars().take(MAX) {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') {
            name.push(c.to_ascii_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let mut name = name.trim_matches(['-', '.', '_']);
    loop {
        let before = name;
        for part in ["mcp-server", "server", "mcp"] {
            let rest = name
                .strip_prefix(part)
                .and_then(|rest| rest.strip_prefix(['-', '_']))
                .or_else(|| name.strip_suffix(part)?.strip_suffix(['-', '_']));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                name = rest;
            }
        }
        if name == before {
            break;
        }
    }
    (!name.is_empty()).then(|| name.to_owned())
}

/// Gives out ids of steps, each once.
#[derive(Debug, Default)]
pub(super) struct Ids {
    given: HashSet<String>,
    /// By what they begin with, the last number that was given.
    numbers: HashMap<String, usize>,
}

impl Ids {
    /// The name itself where it can be an id, else what is left of it.
    pub fn of(&mut self, name: &str) -> String {
        let line = one_line(name, MAX);
        let shown: String = line
            .trim_end_matches('…')
            .chars()
            .map(|c| {
                if matches!(c, '$' | '{' | '}') || c.is_control() {
                    '-'
                } else {
                    c
                }
            })
            .collect();
        let base = match shown.trim() {
            "" => "step",
            shown => shown,
        };
        let mut id = base.to_owned();
        while !self.given.insert(id.clone()) {
            let number = self.numbers.entry(base.to_owned()).or_insert(1);
            *number += 1;
            id = format!("{base}-{number}");
        }
        id
    }

    /// The same of a thing of another kind, which has the kind in its id where
    /// the name is another one's.
    pub fn of_kind(&mut self, name: &str, kind: &str) -> String {
        match self.given.contains(name) {
            true => self.of(&format!("{name}-{kind}")),
            false => self.of(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, server_name};

    #[test]
    fn what_all_servers_are_called_is_no_name() {
        for (from, name) in [
            (
                "@modelcontextprotocol/server-everything@1.2.3",
                "everything",
            ),
            ("mcp-servers/everything", "everything"),
            ("mcp-server-git==2025.1", "git"),
            ("/usr/lib/my_server.py", "my"),
            ("My Server", "my"),
            ("weather-mcp", "weather"),
            ("mcp-server", "mcp"),
            ("ghcr.io/x/fetch:latest", "fetch"),
        ] {
            assert_eq!(server_name(from).as_deref(), Some(name), "{from}");
        }
        assert_eq!(server_name("///"), None);
        assert_eq!(server_name(".."), None);
    }

    #[test]
    fn each_id_is_given_once() {
        let mut ids = Ids::default();
        let given = ["a", "a", " b\nc ", "", "${x}"].map(|name| ids.of(name));
        assert_eq!(given, ["a", "a-2", "b c", "step", "--x-"]);
    }
}
