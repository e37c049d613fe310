//! What can only be said of a tree when all of it is there.

use super::node::{Data, Node, Span, Trouble};
use std::collections::{HashMap, HashSet};

/// Marks the nodes that an alias refers to, by where they begin.
pub(super) fn mark_referred(node: &mut Node<'_>, referred: &HashSet<u32>) {
    node.referred = referred.contains(&node.span.start);
    match &mut node.data {
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {}
        Data::List(items) => items
            .iter_mut()
            .for_each(|item| mark_referred(item, referred)),
        Data::Map(entries) => entries
            .iter_mut()
            .for_each(|entry| mark_referred(&mut entry.value, referred)),
    }
}

/// Keys that stand twice in a map. Copies that came through an alias are
/// reported once, where they were written.
pub(super) fn find_duplicates(node: &mut Node<'_>, troubles: &mut Vec<Trouble>) {
    if node.aliased {
        return;
    }
    match &mut node.data {
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {}
        Data::List(items) => {
            for item in items {
                find_duplicates(item, troubles);
            }
        }
        Data::Map(entries) => {
            let mut first: HashMap<&str, Span> = HashMap::new();
            let small = entries.len() < 16;
            for (at, entry) in entries.iter().enumerate() {
                let known = if small {
                    entries[..at]
                        .iter()
                        .find(|earlier| earlier.key == entry.key)
                        .map(|earlier| earlier.key_span)
                } else {
                    match first.get(entry.key.as_ref()) {
                        Some(span) => Some(*span),
                        None => {
                            first.insert(&entry.key, entry.key_span);
                            None
                        }
                    }
                };
                if let Some(known) = known
                    && !entry.merged
                {
                    troubles.push(Trouble::duplicate_key(&entry.key, entry.key_span, known));
                }
            }
            for entry in entries {
                if !entry.merged {
                    find_duplicates(&mut entry.value, troubles);
                }
            }
        }
    }
}
