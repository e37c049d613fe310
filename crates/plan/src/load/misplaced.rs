//! Keys that lost their indentation, or have too much of it → where they belong.
//!
//! Main function: [`put_right`]. It reports them and moves them, so that what follows from one
//! slip is not reported too. The grammar says what belongs where.

use crate::grammar::{Kind, Mapping, PLAN};
use crate::syntax::{Data, Entry, Node, Style, Trouble};
use crate::{Operator, PlanSource};
use jelly_base::text::{Lines, WordList, close_names};
use std::borrow::Cow;

/// Moves what stands at the wrong depth. False where the document is none of jelly's, which is
/// the only trouble then.
pub(super) fn put_right<'t>(
    root: &mut Node<'t>,
    source: &'t PlanSource,
    troubles: &mut Vec<Trouble>,
) -> bool {
    if let Some(trouble) = configuration(root, source) {
        *troubles = vec![trouble];
        return false;
    }
    without_settings(root, troubles);
    let mut mover = Mover {
        lines: Lines::of(&source.text),
        troubles,
    };
    mover.visit(root, &Kind::Mapping(&PLAN));
    true
}

/// A document of servers without version or steps: what an MCP client has.
fn configuration(root: &Node<'_>, source: &PlanSource) -> Option<Trouble> {
    let Data::Map(entries) = &root.data else {
        return None;
    };
    if entries
        .iter()
        .any(|entry| matches!(entry.key.as_ref(), "version" | "steps" | "tests"))
    {
        return None;
    }
    let has = |entry: &Entry<'_>, keys: &[&str]| {
        let mut keys = keys.iter();
        keys.any(|key| entry.value.entry(key).is_some())
    };
    // Goose has `cmd` and `uri`, and extensions of its own that have a type alone.
    let is_server = |entry: &Entry<'_>| has(entry, &["command", "url", "cmd", "uri"]);
    let is_one = |entry: &Entry<'_>| is_server(entry) || has(entry, &["type"]);
    let holds_servers = |node: &Node<'_>| match &node.data {
        Data::Map(named) => named.iter().any(is_server) && named.iter().all(is_one),
        _ => false,
    };
    let found = entries.iter().find(|entry| {
        let below = || match &entry.value.data {
            // VS Code's settings have `mcp: { servers: … }`.
            Data::Map(inner) => inner.iter().any(|inner| holds_servers(&inner.value)),
            _ => false,
        };
        holds_servers(&entry.value) || below()
    })?;
    let message = format!(
        "this is not a plan: it has `{}` as the configuration of an MCP client, and no `steps`",
        found.key
    );
    Some(of_a_client(
        Trouble::new(found.key_span.range(), message),
        source,
    ))
}

/// `mcp: { servers: … }`, as VS Code's settings have it, becomes the `servers` of the plan.
fn without_settings(root: &mut Node<'_>, troubles: &mut Vec<Trouble>) {
    let Data::Map(entries) = &mut root.data else {
        return;
    };
    if entries.iter().any(|entry| entry.key == "servers") {
        return;
    }
    let Some(outer) = entries.iter_mut().find(|entry| entry.key == "mcp") else {
        return;
    };
    let Data::Map(held) = &mut outer.value.data else {
        return;
    };
    let is_servers = |entry: &Entry<'_>| ["servers", "mcpServers"].contains(&entry.key.as_ref());
    let Some(at) = held.iter().position(is_servers) else {
        return;
    };
    let trouble = Trouble::new(outer.key_span.range(), "unknown key `mcp`");
    troubles.push(trouble.hint("a plan has its `servers:` at the top, with no `mcp:` around them"));
    *outer = Entry {
        key: Cow::Borrowed("servers"),
        ..held.remove(at)
    };
}

/// A file of another format: what is said of it, and nothing else.
pub(super) fn no_plan_by_format(source: &PlanSource) -> Option<Trouble> {
    let is_toml = source
        .path
        .extension()
        .is_some_and(|extension| extension == "toml");
    let trouble =
        is_toml.then(|| Trouble::new(0..0, "this is TOML, and a plan is YAML or JSON"))?;
    Some(match source.text.contains("[mcp_servers") {
        true => of_a_client(trouble, source),
        false => trouble.hint("a plan begins with `version: 1`, `servers:` and `steps:`"),
    })
}

fn of_a_client(trouble: Trouble, source: &PlanSource) -> Trouble {
    let path = source.path.display();
    trouble
        .hint(format!(
            "`jelly init --config {path}` makes a plan for its servers"
        ))
        .hint(format!(
            "`jelly doctor {path}` starts each of them and says what is wrong with it"
        ))
}

struct Mover<'s, 't> {
    lines: Lines<'t>,
    troubles: &'s mut Vec<Trouble>,
}

impl<'t> Mover<'_, 't> {
    fn visit(&mut self, node: &mut Node<'t>, kind: &Kind) {
        match (bare(kind), &mut node.data) {
            (Kind::Mapping(mapping), Data::Map(entries)) => {
                self.rename(entries, mapping);
                self.sort(entries, kind);
                for entry in entries {
                    if let Some(key) = mapping.key(&entry.key) {
                        self.visit(&mut entry.value, &key.kind);
                    }
                }
            }
            (Kind::ByName(inner, _), Data::Map(entries)) => {
                self.sort(entries, kind);
                for entry in entries {
                    self.visit(&mut entry.value, inner);
                }
            }
            (Kind::List(inner, _), Data::List(items)) => {
                for item in items {
                    self.visit(item, inner);
                }
            }
            _ => {}
        }
    }

    /// A key that must be there, under the name that another tool gives it, or with
    /// a slip of the finger: that it is missing would be said besides.
    fn rename(&mut self, entries: &mut [Entry<'t>], mapping: &'static Mapping) {
        for key in mapping.keys.iter().filter(|key| key.missing.is_some()) {
            if entries.iter().any(|entry| entry.key == key.name) {
                continue;
            }
            let other = entries
                .iter()
                .position(|entry| WordList(key.also).has(&entry.key));
            let slip = || {
                entries.iter().position(|entry| {
                    let unknown = mapping.key(&entry.key).is_none();
                    unknown && !close_names(&entry.key, [key.name]).is_empty()
                })
            };
            let Some(index) = other.or_else(slip) else {
                continue;
            };
            let entry = &mut entries[index];
            let message = format!("unknown key `{}`", entry.key);
            let hint = match other {
                Some(_) => format!(
                    "{} calls it `{}`: write `{}:`",
                    mapping.what, key.name, key.name
                ),
                None => format!("did you mean `{}`?", key.name),
            };
            self.troubles
                .push(Trouble::new(entry.key_span.range(), message).hint(hint));
            entry.key = Cow::Borrowed(key.name);
        }
    }

    fn sort(&mut self, entries: &mut Vec<Entry<'t>>, kind: &Kind) {
        let mut at = 0;
        while at < entries.len() {
            self.take_in(entries, at, kind);
            self.take_out(entries, at, kind);
            at += 1;
        }
    }

    /// Puts what follows the entry and belongs into it there.
    fn take_in(&mut self, entries: &mut Vec<Entry<'t>>, at: usize, kind: &Kind) {
        let Some(inner) = kind_of(kind, &entries[at].key) else {
            return;
        };
        let lacks = matches!(entries[at].value.data, Data::Null);
        let belongs = |entry: &Entry<'_>| !is_at_home(kind, entry) && fits(inner, lacks, entry);
        let count = entries[at + 1..]
            .iter()
            .take_while(|entry| belongs(entry))
            .count();
        if count == 0 || !(lacks || matches!(entries[at].value.data, Data::List(_))) {
            return;
        }
        let moved: Vec<Entry<'t>> = entries.drain(at + 1..=at + count).collect();
        let (first, last) = (moved[0].key_span, moved[count - 1].value.span);
        let names: Vec<&str> = moved.iter().map(|entry| entry.key.as_ref()).collect();
        let parent = &mut entries[at];
        let (stand, belong) = match count {
            1 => ("stands", "belongs"),
            _ => ("stand", "belong"),
        };
        let names = names.join("`, `");
        let message = format!(
            "`{names}` {stand} beside `{}`, and {belong} below it",
            parent.key
        );
        let from = self.lines.place(first.start as usize).0;
        let to = self.lines.place(last.end.max(first.start) as usize).0;
        let lines = match from == to {
            true => format!("line {from}"),
            false => format!("lines {from} to {to}"),
        };
        let hint = format!("indent {lines} by two more spaces");
        let mut trouble = Trouble::new(first.range(), message).hint(hint);
        trouble.also = Some((parent.key_span, "below this".into()));
        self.troubles.push(trouble);
        match &mut parent.value.data {
            Data::List(items) => {
                if let Some(Data::Map(into)) = items.last_mut().map(|item| &mut item.data) {
                    into.extend(moved);
                }
            }
            data => *data = Data::Map(moved),
        }
        if lacks {
            let span = first.start as usize..last.end as usize;
            let data = std::mem::replace(&mut parent.value.data, Data::Null);
            parent.value = Node::new(data, span, Style::Block);
        }
    }

    /// Takes what belongs beside the entry out of it.
    fn take_out(&mut self, entries: &mut Vec<Entry<'t>>, at: usize, kind: &Kind) {
        let Kind::Mapping(mapping) = bare(kind) else {
            return;
        };
        let Some(inner) = kind_of(kind, &entries[at].key) else {
            return;
        };
        let belongs = |entry: &Entry<'_>| {
            mapping.key(&entry.key).is_some() && !is_at_home(inner, entry) && !entry.merged
        };
        let parent = entries[at].key.clone();
        let known: Vec<String> = entries.iter().map(|entry| entry.key.to_string()).collect();
        let Data::Map(held) = &mut entries[at].value.data else {
            return;
        };
        let mut moved = Vec::new();
        let mut index = 0;
        while index < held.len() {
            if belongs(&held[index])
                && held.len() > 1
                && !known.iter().any(|k| *k == held[index].key)
            {
                moved.push(held.remove(index));
            } else {
                index += 1;
            }
        }
        for entry in &moved {
            let message = format!(
                "`{}` stands below `{parent}`, and belongs beside it",
                entry.key
            );
            let trouble = Trouble::new(entry.key_span.range(), message);
            self.troubles
                .push(trouble.hint(format!("begin it where `{parent}` begins")));
        }
        entries.splice(at + 1..at + 1, moved);
    }
}

/// Without its name in the schema.
fn bare(kind: &Kind) -> &Kind {
    match kind {
        Kind::Named(_, _, inner) => bare(inner),
        _ => kind,
    }
}

/// What the value of a key below is to be.
fn kind_of<'k>(kind: &'k Kind, key: &str) -> Option<&'k Kind> {
    match bare(kind) {
        Kind::Mapping(mapping) => mapping.key(key).map(|key| &key.kind),
        Kind::ByName(inner, _) => Some(inner),
        _ => None,
    }
}

/// Whether the entry can belong where it stands.
fn is_at_home(kind: &Kind, entry: &Entry<'_>) -> bool {
    match bare(kind) {
        Kind::Mapping(mapping) => mapping.key(&entry.key).is_some(),
        Kind::ByName(inner, _) => match bare(inner) {
            Kind::Mapping(mapping) => match &entry.value.data {
                Data::Map(held) => {
                    held.is_empty() || held.iter().any(|entry| mapping.key(&entry.key).is_some())
                }
                Data::Null => mapping.key(&entry.key).is_none(),
                _ => false,
            },
            _ => true,
        },
        _ => true,
    }
}

/// Whether the entry can belong into a value of this kind, which is `empty` or a list.
fn fits(kind: &Kind, empty: bool, entry: &Entry<'_>) -> bool {
    let scalar = !matches!(entry.value.data, Data::Map(_) | Data::List(_));
    match bare(kind) {
        Kind::List(inner, _) if !empty => {
            matches!(bare(inner), Kind::Mapping(mapping) if mapping.key(&entry.key).is_some())
        }
        _ if !empty => false,
        Kind::Mapping(mapping) => mapping.key(&entry.key).is_some(),
        Kind::ByName(inner, _) => match bare(inner) {
            Kind::Mapping(_) => is_at_home(kind, entry),
            _ => scalar,
        },
        Kind::Operators(_) | Kind::OperatorMap(_) => Operator::named(&entry.key).is_some(),
        Kind::Anything | Kind::AnyMap => true,
        _ => false,
    }
}
