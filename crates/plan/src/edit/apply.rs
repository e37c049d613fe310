//! Edits → splices → text, and the proof that the text means what was meant.

use super::emit::{self, Context};
use super::splice::{Splices, Text, ValuePlace};
use super::{EditError, PlanEdit};
use crate::syntax::{self, Data, Entry, Node, Style};
use crate::{DocPath, PlanSource, Segment};
use indexmap::IndexMap;
use jelly_base::text::same;
use serde_json::{Map, Value};

/// Applies `edits` to the text of a plan. All paths are those of the plan
/// before any edit.
///
/// # Errors
/// The first edit that can't be made; then none is made.
pub fn apply(source: &PlanSource, edits: &[PlanEdit]) -> Result<PlanSource, EditError> {
    let tree = EditTree::of(edits)?;
    let (root, troubles) = syntax::parse(source);
    let root = root.filter(|_| troubles.is_empty());
    let root = root.ok_or(EditError::Unreadable)?;
    let mut editor = Editor {
        text: Text(&source.text),
        splices: Splices::default(),
    };
    let place = ValuePlace {
        context: Context {
            format: source.format(),
            flow: false,
        },
        before: 0,
        key_end: None,
    };
    let expected = editor.node(&root, &tree, place, &DocPath::default())?;
    let edited = PlanSource {
        path: source.path.clone(),
        text: editor.splices.apply(&source.text)?.into(),
        variant: source.variant.clone(),
    };
    // Whatever YAML corner the text is in, it now says exactly what was
    // meant, or the edit is refused.
    let (again, troubles) = syntax::parse(&edited);
    match again {
        Some(again) if troubles.is_empty() && same(&again.to_value(), &expected) => Ok(edited),
        Some(_) | None => Err(EditError::Unfaithful),
    }
}

/// Edits by where they apply.
#[derive(Default)]
struct EditTree<'e> {
    set: Option<&'e Value>,
    rename: Option<&'e str>,
    remove: bool,
    below: IndexMap<Segment, EditTree<'e>>,
}

impl<'e> EditTree<'e> {
    fn of(edits: &'e [PlanEdit]) -> Result<Self, EditError> {
        let mut root = Self::default();
        for edit in edits {
            let path = edit.path();
            let conflict = || EditError::Conflict(path.clone());
            let mut tree = &mut root;
            for segment in &path.0 {
                if tree.set.is_some() || tree.remove {
                    return Err(conflict());
                }
                tree = tree.below.entry(segment.clone()).or_default();
            }
            match edit {
                PlanEdit::Set { value, .. } => {
                    if tree.set.is_some_and(|other| other != value) || !tree.below.is_empty() {
                        return Err(conflict());
                    }
                    tree.set = Some(value);
                }
                PlanEdit::RenameKey { to, .. } => {
                    if tree.rename.is_some_and(|other| other != to) {
                        return Err(conflict());
                    }
                    tree.rename = Some(to);
                }
                PlanEdit::Remove { .. } => {
                    if !tree.below.is_empty() {
                        return Err(conflict());
                    }
                    tree.remove = true;
                }
            }
            if tree.remove && (tree.set.is_some() || tree.rename.is_some()) {
                return Err(conflict());
            }
        }
        Ok(root)
    }
}

struct Editor<'t> {
    text: Text<'t>,
    splices: Splices,
}

fn down(path: &DocPath, segment: &Segment) -> DocPath {
    match segment {
        Segment::Key(key) => path.key(key),
        Segment::Index(index) => path.index(*index),
    }
}

impl<'t> Editor<'t> {
    fn shared(&self, node: &Node<'t>, path: DocPath) -> EditError {
        EditError::Shared(path, self.text.line(node.span.start as usize))
    }

    /// Edits `node` and what is below it; returns what it then must mean.
    fn node(
        &mut self,
        node: &Node<'t>,
        edits: &EditTree<'_>,
        place: ValuePlace,
        path: &DocPath,
    ) -> Result<Value, EditError> {
        if node.aliased || node.referred {
            return Err(self.shared(node, path.clone()));
        }
        if let Some(value) = edits.set {
            if !node.is_scalar() {
                return Err(EditError::NotScalar(path.clone()));
            }
            self.splices.set(self.text, node, value, place);
            return Ok(value.clone());
        }
        if edits.below.is_empty() {
            return Ok(node.to_value());
        }
        match &node.data {
            Data::Map(entries) => self.map(node, entries, edits, place, path),
            Data::List(items) => self.list(node, items, edits, place, path),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                let first = edits.below.keys().next();
                Err(EditError::NotFound(first.map_or_else(
                    || path.clone(),
                    |segment| down(path, segment),
                )))
            }
        }
    }

    fn map(
        &mut self,
        node: &Node<'t>,
        entries: &[Entry<'t>],
        edits: &EditTree<'_>,
        place: ValuePlace,
        path: &DocPath,
    ) -> Result<Value, EditError> {
        let context = Context {
            flow: place.context.flow || node.style == Style::Flow,
            ..place.context
        };
        let mut result = Map::new();
        for entry in entries {
            let segment = Segment::Key(entry.key.clone().into_owned());
            let Some(edits) = edits.below.get(&segment) else {
                result.insert(entry.key.clone().into_owned(), entry.value.to_value());
                continue;
            };
            let path = down(path, &segment);
            if entry.merged {
                return Err(self.shared(&entry.value, path));
            }
            if edits.remove {
                return Err(EditError::NotItem(path));
            }
            let name = match edits.rename {
                Some(to) => {
                    if entries.iter().any(|other| other.key == to) && to != entry.key {
                        return Err(EditError::Taken(path));
                    }
                    self.rename(entry, to, context);
                    to.to_owned()
                }
                None => entry.key.clone().into_owned(),
            };
            let place = ValuePlace {
                context,
                before: entry.key_span.end as usize,
                key_end: Some(entry.key_span.end as usize),
            };
            let value = self.node(&entry.value, edits, place, &path)?;
            if result.insert(name, value).is_some() {
                return Err(EditError::Taken(path));
            }
        }
        let mut added = Vec::new();
        for (segment, edits) in &edits.below {
            let path = down(path, segment);
            let Segment::Key(name) = segment else {
                return Err(EditError::NotFound(path));
            };
            if entries.iter().any(|entry| entry.key == *name) {
                continue;
            }
            let (Some(value), None) = (edits.set, edits.rename) else {
                return Err(EditError::NotFound(path));
            };
            let text = emit::value(value, Style::Plain, context);
            added.push(format!(
                "{}: {text}",
                emit::key(name, Style::Plain, context)
            ));
            if result.insert(name.clone(), value.clone()).is_some() {
                return Err(EditError::Taken(path));
            }
        }
        if !added.is_empty() {
            self.splices.add_entries(self.text, node, entries, &added);
        }
        Ok(Value::Object(result))
    }

    fn rename(&mut self, entry: &Entry<'t>, to: &str, context: Context) {
        let range = entry.key_span.range();
        let style = match self.text.0.as_bytes().get(range.start) {
            Some(b'"') => Style::DoubleQuoted,
            Some(b'\'') => Style::SingleQuoted,
            Some(_) | None => Style::Plain,
        };
        self.splices.replace(range, emit::key(to, style, context));
    }

    fn list(
        &mut self,
        node: &Node<'t>,
        items: &[Node<'t>],
        edits: &EditTree<'_>,
        place: ValuePlace,
        path: &DocPath,
    ) -> Result<Value, EditError> {
        let context = Context {
            flow: place.context.flow || node.style == Style::Flow,
            ..place.context
        };
        let mut result = Vec::new();
        let mut removed = vec![false; items.len()];
        let mut before = match node.style {
            Style::Block => place.before,
            Style::Plain
            | Style::SingleQuoted
            | Style::DoubleQuoted
            | Style::Literal
            | Style::Folded
            | Style::Flow => node.span.start as usize,
        };
        for (index, item) in items.iter().enumerate() {
            let segment = Segment::Index(index);
            let start = before;
            before = item.site.end as usize;
            let Some(edits) = edits.below.get(&segment) else {
                result.push(item.to_value());
                continue;
            };
            let path = down(path, &segment);
            if edits.rename.is_some() {
                return Err(EditError::NotFound(path));
            }
            if edits.remove {
                if node.referred || item.referred {
                    return Err(self.shared(item, path));
                }
                removed[index] = true;
                continue;
            }
            // What is inside begins behind the item's own dash.
            let dash = match node.style {
                Style::Block => self.text.dash(start, item.site.start as usize),
                Style::Plain
                | Style::SingleQuoted
                | Style::DoubleQuoted
                | Style::Literal
                | Style::Folded
                | Style::Flow => None,
            };
            let place = ValuePlace {
                context,
                before: dash.map_or(start, |dash| dash + 1),
                key_end: None,
            };
            result.push(self.node(item, edits, place, &path)?);
        }
        let mut added = Vec::new();
        for (segment, edits) in &edits.below {
            let path = down(path, segment);
            match (segment, edits.set, edits.rename) {
                (Segment::Index(index), ..) if *index < items.len() => {}
                (Segment::Index(index), Some(value), None)
                    if *index == items.len() + added.len() =>
                {
                    added.push(emit::value(value, Style::Plain, context));
                    result.push(value.clone());
                }
                _ => return Err(EditError::NotFound(path)),
            }
        }
        if !removed.contains(&true) {
            if !added.is_empty() {
                self.splices
                    .add_items(self.text, node, items, place, &added);
            }
        } else if added.is_empty() {
            self.splices
                .remove_items(self.text, node, items, &removed, place);
        } else {
            return Err(EditError::Conflict(path.clone()));
        }
        Ok(Value::Array(result))
    }
}
