//! Keywords that look into objects and arrays.

use super::super::canonical::same;
use super::super::direction::{Direction, Relation};
use super::compare::{Comparer, Pair, Place};
use super::keywords::presence;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Allows everything.
static ANYTHING: LazyLock<Value> = LazyLock::new(|| Value::Bool(true));
static NO_MEMBERS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The schemas that a keyword holds by names.
fn schemas<'v>(schema: &'v Value, key: &str) -> &'v Map<String, Value> {
    let found = schema.get(key).and_then(Value::as_object);
    found.unwrap_or(&NO_MEMBERS)
}

fn names(schema: &Value, key: &str) -> BTreeSet<String> {
    let names = schema.get(key).and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// What members that are not named may be.
fn others(schema: &Value) -> &Value {
    schema.get("additionalProperties").unwrap_or(&ANYTHING)
}

fn allows_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(allows) => *allows,
        Value::Object(members) => members
            .keys()
            .all(|key| super::resolve::TEXTS.contains(&key.as_str())),
        _ => true,
    }
}

impl Comparer<'_> {
    pub(super) fn objects(&mut self, old: &Value, new: &Value, place: &Place) {
        self.properties(old, new, place);
        self.required(old, new, place);
        let at = place.key("additionalProperties");
        let (a, b) = (
            old.get("additionalProperties"),
            new.get("additionalProperties"),
        );
        if self.differs((a, b)) {
            match (others(old), others(new)) {
                (Value::Bool(true), Value::Bool(true)) => {}
                (x, y) if allows_anything(x) && y.is_boolean() && !allows_anything(y) => {
                    self.tell("additional-properties", Relation::Less, &at, (a, b));
                }
                (x, y) if allows_anything(y) && x.is_boolean() && !allows_anything(x) => {
                    self.tell("additional-properties", Relation::More, &at, (a, b));
                }
                (x, y) => self.pair(x, y, &at),
            }
        } else if let (Some(a), Some(b)) = (a, b) {
            self.pair(a, b, &at);
        }
        self.patterns(old, new, place);
        self.whole("propertyNames", (old, new), place);
        for key in ["unevaluatedProperties", "unevaluatedItems"] {
            let pair = (old.get(key), new.get(key));
            let unsettled = pair.0.is_some_and(|old| !self.is_settled(old));
            match unsettled && !self.differs(pair) {
                true => self.tell("keyword", Relation::Other, &place.key(key), pair),
                false => self.present("keyword", pair, &place.key(key)),
            }
        }
        self.dependencies(old, new, place);
    }

    fn properties(&mut self, old: &Value, new: &Value, place: &Place) {
        let (a, b) = (schemas(old, "properties"), schemas(new, "properties"));
        let place = place.key("properties");
        let required = names(new, "required");
        for (name, before) in a {
            let at = place.key(name);
            match b.get(name) {
                Some(after) => self.pair(before, after, &at),
                None => self.always("property-removed", &at, (Some(before), None)),
            }
        }
        for (name, after) in b {
            if a.contains_key(name) {
                continue;
            }
            let at = place.key(name);
            let pair = (None, Some(after));
            let matched = schemas(old, "patternProperties").keys().next().is_some();
            let before = others(old);
            if matched || !before.is_boolean() && !allows_anything(before) {
                // It was one of the others, or of a pattern: there was a schema for it.
                match matched {
                    true => self.tell("property-added", Relation::Other, &at, pair),
                    false => self.pair(before, after, &at),
                }
                continue;
            }
            let relation = match (self.direction(), before) {
                // Nobody gave it by this name, so nobody gives it wrongly.
                (Direction::Input, _) if required.contains(name) => continue,
                (Direction::Input, _) => Relation::More,
                (Direction::Output, Value::Bool(false)) => Relation::More,
                (Direction::Output, _) => Relation::Less,
            };
            self.tell("property-added", relation, &at, pair);
        }
    }

    fn required(&mut self, old: &Value, new: &Value, place: &Place) {
        let (a, b) = (names(old, "required"), names(new, "required"));
        let at = place.key("required");
        let pair = (old.get("required"), new.get("required"));
        if b.difference(&a).next().is_some() {
            self.tell("required", Relation::Less, &at, pair);
        }
        // What is gone as a whole is told there.
        let kept = schemas(new, "properties");
        let gone = schemas(old, "properties");
        let optional = |name: &&String| kept.contains_key(*name) || !gone.contains_key(*name);
        if a.difference(&b).any(|name| optional(&name)) {
            self.tell("required", Relation::More, &at, pair);
        }
        if pair.0.is_some_and(|list| !list.is_array())
            || pair.1.is_some_and(|list| !list.is_array())
        {
            // `required: true` of draft 3.
            self.present("keyword", pair, &at);
        }
    }

    fn patterns(&mut self, old: &Value, new: &Value, place: &Place) {
        let (a, b) = (
            schemas(old, "patternProperties"),
            schemas(new, "patternProperties"),
        );
        let place = place.key("patternProperties");
        for (pattern, before) in a {
            let at = place.key(pattern);
            match b.get(pattern) {
                Some(after) => self.pair(before, after, &at),
                None => {
                    let pair = (Some(before), None);
                    self.tell("additional-properties", Relation::Other, &at, pair);
                }
            }
        }
        for (pattern, after) in b.iter().filter(|(pattern, _)| !a.contains_key(*pattern)) {
            let at = place.key(pattern);
            // Members that were allowed, whatever they were, are held against it.
            let relation = match others(old) {
                Value::Bool(false) if schemas(old, "properties").is_empty() => Relation::More,
                before if allows_anything(before) => Relation::Less,
                _ => Relation::Other,
            };
            self.tell("additional-properties", relation, &at, (None, Some(after)));
        }
    }

    fn dependencies(&mut self, old: &Value, new: &Value, place: &Place) {
        for key in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let (a, b) = (schemas(old, key), schemas(new, key));
            for (name, before) in a {
                let at = place.key(key).key(name);
                let pair = (Some(before), b.get(name));
                match pair.1 {
                    None => self.tell("dependencies", Relation::More, &at, pair),
                    Some(after) if before.is_array() && after.is_array() => {
                        let list = |value: &Value| -> BTreeSet<String> {
                            let items = value.as_array().into_iter().flatten();
                            items.filter_map(Value::as_str).map(str::to_owned).collect()
                        };
                        let (a, b) = (list(before), list(after));
                        let relation = match (a.is_subset(&b), b.is_subset(&a)) {
                            (true, true) => continue,
                            (true, false) => Relation::Less,
                            (false, true) => Relation::More,
                            (false, false) => Relation::Other,
                        };
                        self.tell("dependencies", relation, &at, pair);
                    }
                    Some(after) if before.is_array() || after.is_array() => {
                        self.tell("dependencies", Relation::Other, &at, pair);
                    }
                    Some(after) => self.pair(before, after, &at),
                }
            }
            for (name, after) in b.iter().filter(|(name, _)| !a.contains_key(*name)) {
                let at = place.key(key).key(name);
                self.tell("dependencies", Relation::Less, &at, (None, Some(after)));
            }
        }
    }

    /// A keyword that holds one schema, and allows everything where it is not there.
    fn whole(&mut self, key: &str, (old, new): (&Value, &Value), place: &Place) {
        let pair = (old.get(key), new.get(key));
        if pair.0.is_some() || pair.1.is_some() {
            let (a, b) = (pair.0.unwrap_or(&ANYTHING), pair.1.unwrap_or(&ANYTHING));
            self.pair(a, b, &place.key(key));
        }
    }

    pub(super) fn arrays(&mut self, old: &Value, new: &Value, place: &Place) {
        let has_items = |schema: &Value| {
            let mut keys = ["items", "prefixItems", "additionalItems"].iter();
            keys.any(|key| schema.get(*key).is_some())
        };
        if !has_items(old) && !has_items(new) {
            return self.contains(old, new, place);
        }
        let (a, b) = (ItemSchemas::of(old), ItemSchemas::of(new));
        for index in 0..a.first.len().max(b.first.len()) {
            let (x, y) = (a.at(index), b.at(index));
            self.pair(x, y, &place.key("prefixItems").index(index));
        }
        self.pair(a.rest, b.rest, &place.key("items"));
        self.contains(old, new, place);
    }

    fn contains(&mut self, old: &Value, new: &Value, place: &Place) {
        let pair = (old.get("contains"), new.get("contains"));
        let counts: [Pair<'_>; 2] =
            ["minContains", "maxContains"].map(|key| (old.get(key), new.get(key)));
        let (Some(a), Some(b)) = pair else {
            if self.differs(pair) {
                self.tell("contains", presence(pair), &place.key("contains"), pair);
            }
            return;
        };
        // To allow more among the items is to allow less, where they are counted
        // from above.
        let counted = counts.iter().any(|pair| self.differs(*pair));
        let is_capped = counts[1].0.is_some() || counts[1].1.is_some();
        if counted || is_capped && !(same(a, b) && self.is_settled(a)) {
            self.tell("contains", Relation::Other, &place.key("contains"), pair);
            return;
        }
        self.pair(a, b, &place.key("contains"));
    }
}

/// What the items of an array may be.
struct ItemSchemas<'v> {
    first: &'v [Value],
    rest: &'v Value,
}

impl<'v> ItemSchemas<'v> {
    fn of(schema: &'v Value) -> Self {
        match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(first)), rest) => Self {
                first,
                rest: rest.unwrap_or(&ANYTHING),
            },
            // As drafts before 2020-12 have it.
            (_, Some(Value::Array(first))) => Self {
                first,
                rest: schema.get("additionalItems").unwrap_or(&ANYTHING),
            },
            (_, rest) => Self {
                first: &[],
                rest: rest.unwrap_or(&ANYTHING),
            },
        }
    }

    fn at(&self, index: usize) -> &'v Value {
        self.first.get(index).unwrap_or(self.rest)
    }
}
