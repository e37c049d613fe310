//! What an edit may change, said once more and otherwise than `apply` does it:
//! for tests of edits and of repairs.

#![expect(
    clippy::unwrap_used,
    reason = "it fails as loudly as the tests that call it"
)]

use super::PlanEdit;
use crate::syntax::{self, Data, Node, Style};
use crate::{DocPath, PlanSource, Segment};
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Every document in the repository that is a plan, looks like one, or is
/// shown to people as one, with its name.
pub fn documents() -> Vec<(String, String)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files = Vec::new();
    for folder in ["plans", "examples", "fixtures", "docs"] {
        gather(&root.join(folder), &mut files);
    }
    files.push(root.join("README.md"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        if name.ends_with(".md") {
            let shown = text.split("```yaml").skip(1).enumerate();
            found.extend(shown.filter_map(|(n, block)| {
                let (_, block) = block.split_once('\n')?;
                let (block, _) = block.split_once("```")?;
                Some((format!("{name}#{n}"), block.to_owned()))
            }));
        } else {
            found.push((name, text));
        }
    }
    found
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let installed = ["node_modules", ".venv", "corpus"].contains(&name);
        if path.is_dir() && !installed {
            gather(&path, files);
        } else if [".yaml", ".yml", ".md"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            files.push(path);
        }
    }
}

/// The same document in other clothes: line ends of Windows, a mark in front,
/// tabs before and in comments.
pub fn dressed(text: &str) -> Vec<String> {
    let literal = text.lines().any(|line| {
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        line.ends_with(['|', '>']) || line.ends_with("|-") || line.ends_with(">-")
    });
    let mut all = vec![
        text.to_owned(),
        text.replace("\r\n", "\n").replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
    ];
    // In a block scalar such a line is no comment.
    if !literal {
        let tabbed = |line: &str| format!("{line}\n#\ta comment\twith tabs: {{ x: 1 }}\n");
        all.push(text.lines().map(tabbed).collect());
    }
    all
}

/// A document before it is edited.
pub struct Witness<'t> {
    pub source: &'t PlanSource,
    pub value: Value,
    root: Node<'t>,
}

impl<'t> Witness<'t> {
    pub fn of(source: &'t PlanSource) -> Self {
        let (root, troubles) = syntax::parse(source);
        assert_eq!(troubles, [], "{}", source.text);
        let root = root.unwrap();
        Self {
            source,
            value: root.to_value(),
            root,
        }
    }

    /// Whether `after` is what the edits were to make of it, with all bytes
    /// outside of them as they were.
    ///
    /// # Errors
    /// What is not so.
    pub fn agrees(&self, edits: &[PlanEdit], after: &PlanSource) -> Result<(), String> {
        let before = &self.source.text;
        let meant = expected(self.value.clone(), edits);
        let is = Witness::of(after).value;
        // As text, since the order of keys counts; but that of merged ones is
        // behind the map's own, wherever those are added.
        let (meant_text, is_text) = (meant.to_string(), is.to_string());
        let in_order = before.contains("<<") || meant_text == is_text;
        if meant != is || !in_order {
            return Err(format!("means {is}\ninstead of {meant}"));
        }
        let mut regions: Vec<Range<usize>> = edits
            .iter()
            .map(|edit| region(before, &self.root, edit))
            .collect();
        regions.sort_by_key(|region| (region.start, region.end));
        untouched(before, &regions, &after.text)
    }

    /// Whether something on the way to `path`, or there, is shared with others
    /// by an anchor or a merge.
    pub fn is_shared(&self, path: &DocPath) -> bool {
        let mut node = &self.root;
        for segment in &path.0 {
            if node.aliased || node.referred {
                return true;
            }
            if let (Data::Map(_), Segment::Key(key)) = (&node.data, segment)
                && node.entry(key).is_some_and(|entry| entry.merged)
            {
                return true;
            }
            match step(node, 0, segment) {
                Some((_, below)) => node = below,
                None => return false,
            }
        }
        node.aliased || node.referred
    }
}

/// The edits made on values: first what is set, then names, the deepest first,
/// then what is taken out, from the end.
fn expected(mut value: Value, edits: &[PlanEdit]) -> Value {
    for edit in edits {
        if let PlanEdit::Set { path, value: new } = edit {
            let (last, parents) = path.0.split_last().unwrap();
            match (at(&mut value, parents), last) {
                (Value::Object(map), Segment::Key(key)) => {
                    map.insert(key.clone(), new.clone());
                }
                (Value::Array(items), Segment::Index(index)) if *index == items.len() => {
                    items.push(new.clone());
                }
                (Value::Array(items), Segment::Index(index)) => items[*index] = new.clone(),
                (other, _) => panic!("nothing can be set in {other}"),
            }
        }
    }
    let mut renames: Vec<(&DocPath, &String)> = edits
        .iter()
        .filter_map(|edit| match edit {
            PlanEdit::RenameKey { path, to } => Some((path, to)),
            PlanEdit::Set { .. } | PlanEdit::Remove { .. } => None,
        })
        .collect();
    renames.sort_by_key(|(path, _)| std::cmp::Reverse(path.0.len()));
    for (path, to) in renames {
        let (last, parents) = path.0.split_last().unwrap();
        let map = at(&mut value, parents).as_object_mut().unwrap();
        let renamed: Map<String, Value> = std::mem::take(map)
            .into_iter()
            .map(|(key, value)| match last {
                Segment::Key(name) if *name == key => (to.clone(), value),
                Segment::Key(_) | Segment::Index(_) => (key, value),
            })
            .collect();
        *map = renamed;
    }
    let mut removed: Vec<&DocPath> = edits
        .iter()
        .filter_map(|edit| match edit {
            PlanEdit::Remove { path } => Some(path),
            PlanEdit::Set { .. } | PlanEdit::RenameKey { .. } => None,
        })
        .collect();
    removed.sort_by_key(|path| match path.0.last() {
        Some(Segment::Index(index)) => std::cmp::Reverse(*index),
        Some(Segment::Key(_)) | None => std::cmp::Reverse(0),
    });
    for path in removed {
        let (last, parents) = path.0.split_last().unwrap();
        let Segment::Index(index) = last else {
            panic!("only items are taken out");
        };
        let list = at(&mut value, parents).as_array_mut().unwrap();
        list.remove(*index);
    }
    value
}

fn at<'v>(value: &'v mut Value, path: &[Segment]) -> &'v mut Value {
    path.iter().fold(value, |value, segment| match segment {
        Segment::Key(key) => &mut value[key.as_str()],
        Segment::Index(index) => &mut value[*index],
    })
}

/// The bytes that an edit may change.
fn region(text: &str, root: &Node<'_>, edit: &PlanEdit) -> Range<usize> {
    let (last, parents) = edit.path().0.split_last().unwrap();
    let mut parent = root;
    // Where what stands before the parent ends.
    let mut before = 0;
    for segment in parents {
        (before, parent) = step(parent, before, segment).unwrap();
    }
    match edit {
        PlanEdit::RenameKey { .. } => match (&parent.data, last) {
            (Data::Map(entries), Segment::Key(key)) => {
                let entry = entries.iter().find(|entry| entry.key == *key);
                entry.unwrap().key_span.range()
            }
            _ => panic!("only keys are renamed"),
        },
        PlanEdit::Set { .. } => match step(parent, before, last) {
            Some((before, node)) => match node.style {
                Style::Literal | Style::Folded => before..node.span.end as usize,
                _ if node.span.start == node.span.end => {
                    before..(node.span.end as usize).max(before)
                }
                _ => node.span.range(),
            },
            None => added(text, parent),
        },
        PlanEdit::Remove { .. } => {
            let Segment::Index(index) = last else {
                panic!("only items are taken out");
            };
            removed(text, parent, before, *index)
        }
    }
}

/// The node below, and where what stands before it ends.
fn step<'n, 't>(
    node: &'n Node<'t>,
    before: usize,
    segment: &Segment,
) -> Option<(usize, &'n Node<'t>)> {
    match (&node.data, segment) {
        (Data::Map(entries), Segment::Key(key)) => {
            let entry = entries.iter().find(|entry| entry.key == *key)?;
            Some((entry.key_span.end as usize, &entry.value))
        }
        (Data::List(items), Segment::Index(index)) => {
            let item = items.get(*index)?;
            let first = if node.style == Style::Flow {
                node.span.start as usize
            } else {
                before
            };
            let before = match index.checked_sub(1) {
                Some(previous) => items[previous].site.end as usize,
                None => first,
            };
            Some((before, item))
        }
        _ => None,
    }
}

/// Behind the last of a map or list, or between empty brackets.
fn added(text: &str, parent: &Node<'_>) -> Range<usize> {
    let end = parent.span.end as usize;
    if parent.style != Style::Flow {
        let line = text[end..].find('\n').map_or(text.len(), |feed| end + feed);
        return end..line;
    }
    let last = match &parent.data {
        Data::List(items) => items.last().map(|item| item.site.end),
        // Before what a merge brings, wherever that stands.
        Data::Map(entries) if entries.iter().any(|entry| entry.merged) => None,
        Data::Map(entries) => entries
            .iter()
            .map(|entry| entry.value.site.end.max(entry.key_span.end))
            .max(),
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => None,
    };
    let start = last.map_or(parent.span.start as usize + 1, |end| end as usize);
    start.min(end)..end
}

/// From the item before to the next one, or to the end of its line; all of the
/// list, from its key on, where it is the only one.
fn removed(text: &str, list: &Node<'_>, before: usize, index: usize) -> Range<usize> {
    let Data::List(items) = &list.data else {
        panic!("only items are taken out");
    };
    let end = items[index].site.end as usize;
    let next_line = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    if items.len() == 1 {
        return before.min(list.span.start as usize)..next_line.max(list.span.end as usize);
    }
    let flow = list.style == Style::Flow;
    let start = match index.checked_sub(1) {
        Some(previous) => items[previous].site.end as usize,
        None if flow => list.span.start as usize + 1,
        None => before,
    };
    let end = match items.get(index + 1) {
        Some(next) if flow => next_line.max(next.site.start as usize),
        _ => next_line,
    };
    start..end
}

/// Whether what lies outside of the regions stands in `after` as it is, from
/// the first byte to the last.
fn untouched(before: &str, regions: &[Range<usize>], after: &str) -> Result<(), String> {
    let mut kept = Vec::new();
    let mut from = 0;
    for region in regions {
        kept.push(
            before
                .get(from..region.start.max(from))
                .ok_or("no border of a character")?,
        );
        from = region.end.max(from);
    }
    let tail = before.get(from..).ok_or("no border of a character")?;
    let changed = |piece: &str| Err(format!("changed outside of the edit: {piece:?}\n{after}"));
    let Some(mut rest) = after.strip_suffix(tail) else {
        return changed(tail);
    };
    for (index, piece) in kept.iter().enumerate() {
        rest = match rest.find(piece) {
            Some(0) => &rest[piece.len()..],
            Some(at) if index > 0 => &rest[at + piece.len()..],
            Some(_) | None => return changed(piece),
        };
    }
    Ok(())
}

/// Whether `after` is `before` with one piece put into it.
pub fn only_added(before: &str, after: &str) -> bool {
    let same = |(a, b): &(u8, u8)| a == b;
    let head = before.bytes().zip(after.bytes()).take_while(same).count();
    let tails = before.bytes().rev().zip(after.bytes().rev());
    head + tails.take_while(same).count() >= before.len() && after.len() > before.len()
}
