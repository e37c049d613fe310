//! Schemas made of schemas: choices, conditions, what is ruled out.

use super::super::canonical::same;
use super::super::direction::Relation;
use super::compare::{Comparer, Place};
use super::keywords::presence;
use super::resolve::{NAMES, TEXTS, bare, resolved};
use super::types::{declared, effective, listed};
use serde_json::{Value, json};

/// More alternatives than this are not held against each other.
const BRANCHES: usize = 64;

impl Comparer<'_> {
    /// Compares both as choices, where one of them is nothing but a choice; false
    /// where that is not so.
    pub(super) fn unions(&mut self, old: &Value, new: &Value, place: &Place) -> bool {
        if choice(old).is_none() && choice(new).is_none() {
            return false;
        }
        let (Some((_, a)), Some((_, b))) = (as_choice(old), as_choice(new)) else {
            return false;
        };
        // Where exactly one has to hold, two that both do are none.
        let exact = [old, new].iter().any(|it| it.get("oneOf").is_some());
        let apart = |own: &[Value], root: &Value| {
            own.iter().enumerate().all(|(index, one)| {
                own[index + 1..]
                    .iter()
                    .all(|other| are_disjoint(root, one, other))
            })
        };
        let equal = a.len() == b.len() && a.iter().all(|one| b.iter().any(|it| same(one, it)));
        let place = match choice(new).or_else(|| choice(old)) {
            Some((key, _)) => place.key(key),
            None => place.clone(),
        };
        if a.len() > BRANCHES || b.len() > BRANCHES {
            if !equal {
                let (x, y) = (Value::Array(a), Value::Array(b));
                self.tell("too-complex", Relation::Other, &place, (Some(&x), Some(&y)));
            }
            return true;
        }
        let (old_root, new_root) = self.roots();
        let is_sure = !exact || apart(&a, old_root) && apart(&b, new_root);
        // The same alternatives mean another thing by the other key.
        let key = |schema| choice(schema).map(|(key, _)| key);
        let same_key = key(old) == key(new);
        let is_settled = a.iter().all(|one| self.is_settled(one));
        if !is_sure && equal && !(same_key && is_settled) {
            let (x, y) = (Value::Array(a), Value::Array(b));
            self.tell("union", Relation::Other, &place, (Some(&x), Some(&y)));
            return true;
        }
        if !is_sure && !equal {
            self.inexact(&a, &b, &place);
            return true;
        }
        self.branches(&a, &b, &place);
        true
    }

    /// Branches of `oneOf` that may overlap: each that is there in both, at the
    /// same index, has to be the same.
    fn inexact(&mut self, a: &[Value], b: &[Value], place: &Place) {
        let text_only = a.len() == b.len()
            && a.iter().zip(b).all(|(x, y)| same(&bare(x), &bare(y)))
            && a.iter().all(|one| self.is_settled(one));
        if text_only {
            for (index, (x, y)) in a.iter().zip(b).enumerate() {
                self.pair(x, y, &place.index(index));
            }
            return;
        }
        let (x, y) = (Value::Array(a.to_vec()), Value::Array(b.to_vec()));
        self.tell("union", Relation::Other, place, (Some(&x), Some(&y)));
    }

    /// The branches that only one side has. Those that both have, but for their
    /// texts, are told as that.
    fn leftovers<'a>(
        &mut self,
        a: &'a [Value],
        b: &'a [Value],
        place: &Place,
    ) -> [Vec<(usize, &'a Value)>; 2] {
        let mut left: Vec<(usize, &'a Value)> = a.iter().enumerate().collect();
        let mut fresh: Vec<(usize, &'a Value)> = b.iter().enumerate().collect();
        left.retain(|(_, one)| {
            let Some(found) = fresh
                .iter()
                .position(|(_, other)| same(&bare(one), &bare(other)))
            else {
                return true;
            };
            let (index, other) = fresh.remove(found);
            self.pair(one, other, &place.index(index));
            false
        });
        [left, fresh]
    }

    /// Branches of which one has to hold.
    fn branches(&mut self, a: &[Value], b: &[Value], place: &Place) {
        let [left, fresh] = self.leftovers(a, b, place);
        if let ([(_, one)], [(index, other)]) = (left.as_slice(), fresh.as_slice()) {
            // A change of one branch is told where it is, unless it is harmless
            // beside the others.
            let covered = if self.is_input() {
                b.iter().any(|it| self.is_safe(one, it, place))
            } else {
                a.iter().any(|it| self.is_safe(it, other, place))
            };
            if !covered || self.is_safe(one, other, place) {
                return self.pair(one, other, &place.index(*index));
            }
        }
        for (index, one) in &left {
            let is_kept = if self.is_input() {
                b.iter().any(|other| self.is_safe(one, other, place))
            } else {
                false
            };
            if !is_kept {
                let at = place.index(*index);
                self.tell("union", Relation::Less, &at, (Some(one), None));
            }
        }
        for (index, other) in &fresh {
            let was_there = if self.is_input() {
                false
            } else {
                a.iter().any(|one| self.is_safe(one, other, place))
            };
            if !was_there {
                let at = place.index(*index);
                self.tell("union", Relation::More, &at, (None, Some(other)));
            }
        }
    }

    /// The same keywords beside others, which hold as well.
    pub(super) fn combinations(&mut self, old: &Value, new: &Value, place: &Place) {
        for key in ["anyOf", "oneOf"] {
            match (branches_of(old, key), branches_of(new, key)) {
                (Some(a), Some(b)) => {
                    let (x, y) = (json!({ key: a }), json!({ key: b }));
                    self.unions(&x, &y, place);
                }
                (None, None) => {}
                (_, _) => {
                    let pair = (old.get(key), new.get(key));
                    self.tell("union", presence(pair), &place.key(key), pair);
                }
            }
        }
        self.all_of(old, new, place);
        let pair = (old.get("not"), new.get("not"));
        match pair {
            (Some(a), Some(b)) => self.flipped(a, b, &place.key("not")),
            (_, _) if self.differs(pair) => {
                self.tell("not", presence(pair), &place.key("not"), pair);
            }
            (_, _) => {}
        }
        for key in ["if", "then", "else", "$dynamicRef"] {
            let pair = (old.get(key), new.get(key));
            let is_settled = pair
                .0
                .is_none_or(|old| self.is_settled(&json!({ key: old })));
            if self.differs(pair) || !is_settled {
                let texts_only =
                    is_settled && matches!(pair, (Some(a), Some(b)) if same(&bare(a), &bare(b)));
                match texts_only {
                    true => self.always("text", &place.key(key), pair),
                    false => self.tell("keyword", Relation::Other, &place.key(key), pair),
                }
            }
        }
    }

    fn all_of(&mut self, old: &Value, new: &Value, place: &Place) {
        let list = |schema: &Value| branches_of(schema, "allOf").unwrap_or_default();
        let (a, b) = (list(old), list(new));
        let place = place.key("allOf");
        let [left, fresh] = self.leftovers(&a, &b, &place);
        if left.len() == fresh.len() {
            for ((_, one), (index, other)) in left.iter().zip(&fresh) {
                self.pair(one, other, &place.index(*index));
            }
            return;
        }
        for (index, one) in &left {
            self.tell(
                "all-of",
                Relation::More,
                &place.index(*index),
                (Some(one), None),
            );
        }
        for (index, other) in &fresh {
            self.tell(
                "all-of",
                Relation::Less,
                &place.index(*index),
                (None, Some(other)),
            );
        }
    }
}

fn branches_of(schema: &Value, key: &str) -> Option<Vec<Value>> {
    schema.get(key)?.as_array().cloned()
}

/// The alternatives of a schema that is nothing else, with the keyword.
fn choice(schema: &Value) -> Option<(&'static str, Vec<Value>)> {
    let members = schema.as_object()?;
    let key = ["anyOf", "oneOf"]
        .into_iter()
        .find(|key| members.contains_key(*key))?;
    let says = |name: &&String| {
        *name != key
            && *name != "default"
            && *name != "discriminator"
            && *name != "x-mcp-header"
            && !TEXTS.contains(&name.as_str())
            && !NAMES.contains(&name.as_str())
    };
    if members.keys().any(|name| says(&name)) {
        return None;
    }
    Some((key, branches_of(schema, key)?))
}

/// Any schema as alternatives: those that it lists, its types, or itself alone.
fn as_choice(schema: &Value) -> Option<(&'static str, Vec<Value>)> {
    if let Some(choice) = choice(schema) {
        return Some(choice);
    }
    let own = bare_of_texts(schema);
    let Some(Value::Array(types)) = schema.get("type") else {
        return Some(("anyOf", vec![own]));
    };
    let branches = types.iter().map(|name| {
        let mut branch = own.clone();
        if let Value::Object(members) = &mut branch {
            members.insert("type".to_owned(), name.clone());
        }
        branch
    });
    Some(("anyOf", branches.collect()))
}

/// Without the texts and the default at its top: those are told of the whole.
fn bare_of_texts(schema: &Value) -> Value {
    let mut own = schema.clone();
    if let Value::Object(members) = &mut own {
        members.retain(|name, _| !TEXTS.contains(&name.as_str()) && name != "default");
    }
    own
}

/// Whether no value fits both, as far as that shows.
fn are_disjoint(root: &Value, a: &Value, b: &Value) -> bool {
    let (a, b) = (resolved(root, a), resolved(root, b));
    if a.unknown.is_some() || b.unknown.is_some() {
        return false;
    }
    let (a, b) = (&*a.schema, &*b.schema);
    if effective(a).is_disjoint(&effective(b)) {
        return true;
    }
    let apart = |a: &Value, b: &Value| match (listed(a), listed(b)) {
        (Some(a), Some(b)) => !a.iter().any(|one| b.iter().any(|other| same(one, other))),
        (_, _) => false,
    };
    if apart(a, b) {
        return true;
    }
    let only_objects = |schema: &Value| declared(schema).iter().all(|name| *name == "object");
    let requires = |schema: &Value, name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|list| list.iter().any(|it| it.as_str() == Some(name)))
    };
    let property = |schema: &Value, name: &str| -> Option<Value> {
        schema.get("properties")?.get(name).cloned()
    };
    let names = a.get("properties").and_then(Value::as_object);
    let mut names = names.into_iter().flat_map(|all| all.keys());
    only_objects(a)
        && only_objects(b)
        && names.any(|name| {
            let both = property(a, name).zip(property(b, name));
            requires(a, name)
                && requires(b, name)
                && both.is_some_and(|(one, other)| apart(&one, &other))
        })
}
