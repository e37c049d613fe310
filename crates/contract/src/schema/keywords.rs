//! Keywords that look at a value by itself: types, lists of values, bounds,
//! lengths, patterns.

use super::super::canonical::same;
use super::super::direction::{Direction, Relation};
use super::compare::{Comparer, Pair, Place};
use super::types::{declared, effective, listed};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// A bound of numbers: its value, and whether it is itself allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    value: f64,
    inclusive: bool,
}

impl Comparer<'_> {
    pub(super) fn keywords(&mut self, old: &Value, new: &Value, place: &Place) {
        self.types(old, new, place);
        self.listed_values(old, new, place);
        self.bounds(old, new, place);
        self.multiples(old, new, place);
        for (key, is_lower) in [
            ("minLength", true),
            ("maxLength", false),
            ("minItems", true),
            ("maxItems", false),
            ("minProperties", true),
            ("maxProperties", false),
        ] {
            self.length(key, is_lower, (old.get(key), new.get(key)), place);
        }
        for (key, rule) in [
            ("pattern", "pattern"),
            ("format", "format"),
            ("contentEncoding", "format"),
            ("contentMediaType", "format"),
            ("contentSchema", "format"),
            ("nullable", "keyword"),
            ("divisibleBy", "keyword"),
        ] {
            self.present(rule, (old.get(key), new.get(key)), &place.key(key));
        }
        let differ = |schema: &Value| schema.get("uniqueItems") == Some(&Value::Bool(true));
        let relation = match (differ(old), differ(new)) {
            (false, true) => Relation::Less,
            (true, false) => Relation::More,
            (_, _) => return,
        };
        let pair = (old.get("uniqueItems"), new.get("uniqueItems"));
        self.tell("unique-items", relation, &place.key("uniqueItems"), pair);
    }

    /// A keyword of which nothing is known but whether it is the same.
    pub(super) fn present(&mut self, rule: &'static str, pair: Pair<'_>, place: &Place) {
        if self.differs(pair) {
            self.tell(rule, presence(pair), place, pair);
        }
    }

    fn types(&mut self, old: &Value, new: &Value, place: &Place) {
        // Lists of values are compared by themselves.
        if listed(old).is_some() && listed(new).is_some() {
            return;
        }
        // What the list of one side leaves is less than its type says, which the
        // list itself tells.
        let (a, b) = match (listed(old), listed(new)) {
            (None, None) => (declared(old), declared(new)),
            (_, _) => (effective(old), effective(new)),
        };
        let relation = match (a.is_subset(&b), b.is_subset(&a)) {
            (true, true) => return,
            (true, false) => Relation::More,
            (false, true) => Relation::Less,
            (false, false) => Relation::Other,
        };
        let by_list = match relation {
            Relation::More => listed(old).is_some(),
            Relation::Less => listed(new).is_some(),
            Relation::Other => false,
        };
        if by_list {
            return;
        }
        let pair = (old.get("type"), new.get("type"));
        self.tell("type", relation, &place.key("type"), pair);
    }

    fn listed_values(&mut self, old: &Value, new: &Value, place: &Place) {
        let same_const = old.get("const") == new.get("const");
        let key = |schema: &Value| match schema.get("const") {
            Some(_) if !same_const => "const",
            Some(_) if schema.get("enum").is_none() => "const",
            Some(_) | None => "enum",
        };
        let (a, b) = (listed(old), listed(new));
        let within = |some: &[&Value], all: &[&Value]| {
            some.iter()
                .all(|value| all.iter().any(|other| same(value, other)))
        };
        let relation = match (&a, &b) {
            (None, None) => return,
            // All that the type allows is listed.
            (None, Some(b)) if is_all(old, b) => return,
            (Some(a), None) if is_all(new, a) => return,
            (None, Some(_)) => Relation::Less,
            (Some(_), None) => Relation::More,
            (Some(a), Some(b)) => match (within(a, b), within(b, a)) {
                (true, true) => return,
                (true, false) => Relation::More,
                (false, true) => Relation::Less,
                (false, false) => Relation::Other,
            },
        };
        let own = |schema: &Value| schema.get(key(schema)).cloned();
        let (before, after) = (own(old), own(new));
        let at = match (&a, &b) {
            (_, Some(_)) => key(new),
            (_, None) => key(old),
        };
        let pair = (before.as_ref(), after.as_ref());
        self.tell("enum", relation, &place.key(at), pair);
    }

    fn bounds(&mut self, old: &Value, new: &Value, place: &Place) {
        for (is_lower, rule, keys) in [
            (true, "lower-bound", ["minimum", "exclusiveMinimum"]),
            (false, "upper-bound", ["maximum", "exclusiveMaximum"]),
        ] {
            let pairs = keys.map(|key| (old.get(key), new.get(key)));
            let Some(at) = pairs.iter().position(|pair| self.differs(*pair)) else {
                continue;
            };
            let (a, b) = (bound(old, is_lower, keys), bound(new, is_lower, keys));
            let relation = match (a, b) {
                (Err(()), _) | (_, Err(())) => Relation::Other,
                (Ok(None), Ok(None)) => continue,
                (Ok(None), Ok(Some(_))) => Relation::Less,
                (Ok(Some(_)), Ok(None)) => Relation::More,
                (Ok(Some(a)), Ok(Some(b))) => match tighter(a, b, is_lower) {
                    Ordering::Equal => continue,
                    Ordering::Greater => Relation::Less,
                    Ordering::Less => Relation::More,
                },
            };
            self.tell(rule, relation, &place.key(keys[at]), pairs[at]);
        }
    }

    fn multiples(&mut self, old: &Value, new: &Value, place: &Place) {
        let pair = (old.get("multipleOf"), new.get("multipleOf"));
        if !self.differs(pair) {
            return;
        }
        let whole = |value: &Value| {
            let number = value.as_f64()?;
            (number.fract() == 0.0 && (1.0..=1e15).contains(&number)).then_some(number)
        };
        let relation = match (pair.0.map(whole), pair.1.map(whole)) {
            (None, _) => Relation::Less,
            (_, None) => Relation::More,
            (Some(Some(a)), Some(Some(b))) if b % a == 0.0 => Relation::Less,
            (Some(Some(a)), Some(Some(b))) if a % b == 0.0 => Relation::More,
            (Some(_), Some(_)) => Relation::Other,
        };
        self.tell("multiple-of", relation, &place.key("multipleOf"), pair);
    }

    fn length(&mut self, key: &str, is_lower: bool, pair: Pair<'_>, place: &Place) {
        if !self.differs(pair) {
            return;
        }
        let limit = |value: Option<&Value>| match value {
            None => Some(if is_lower { 0.0 } else { f64::INFINITY }),
            Some(value) => exact(value),
        };
        let relation = match (limit(pair.0), limit(pair.1)) {
            (Some(a), Some(b)) => match a.partial_cmp(&b) {
                Some(Ordering::Equal) => return,
                Some(Ordering::Less) if is_lower => Relation::Less,
                Some(Ordering::Greater) if is_lower => Relation::More,
                Some(Ordering::Less) => Relation::More,
                Some(Ordering::Greater) => Relation::Less,
                None => Relation::Other,
            },
            (_, _) => Relation::Other,
        };
        self.tell("length", relation, &place.key(key), pair);
    }

    /// The direction in which a rule is asked, for who has to choose an order.
    pub(super) fn is_input(&self) -> bool {
        self.direction() == Direction::Input
    }
}

/// Of a condition that is there or not.
pub fn presence(pair: Pair<'_>) -> Relation {
    match pair {
        (None, Some(_)) => Relation::Less,
        (Some(_), None) => Relation::More,
        (_, _) => Relation::Other,
    }
}

/// Whether these are all values of the schema's types.
fn is_all(schema: &Value, values: &[&Value]) -> bool {
    let types = declared(schema);
    let has = |wanted: &Value| values.iter().any(|value| same(value, wanted));
    let only = |name: &str| types.len() == 1 && types.contains(name);
    only("null") && has(&Value::Null) || only("boolean") && has(&json!(true)) && has(&json!(false))
}

/// The tightest bound that the keywords set. Of integers it is always one that
/// is itself allowed.
fn bound(
    schema: &Value,
    is_lower: bool,
    [plain, exclusive]: [&str; 2],
) -> Result<Option<Bound>, ()> {
    let number = |value: &Value| exact(value).ok_or(());
    let mut found = match schema.get(plain) {
        None => None,
        Some(value) => Some(Bound {
            value: number(value)?,
            inclusive: true,
        }),
    };
    match schema.get(exclusive) {
        None | Some(Value::Bool(false)) => {}
        // As draft 4 has it.
        Some(Value::Bool(true)) => {
            if let Some(found) = &mut found {
                found.inclusive = false;
            }
        }
        Some(value) => {
            let other = Bound {
                value: number(value)?,
                inclusive: false,
            };
            found = match found {
                Some(own) if tighter(own, other, is_lower) == Ordering::Less => Some(own),
                Some(_) | None => Some(other),
            };
        }
    }
    let integers = declared(schema).iter().all(|name| *name != "fraction");
    Ok(found.map(|bound| match integers {
        false => bound,
        true => {
            let rounded = if is_lower {
                bound.value.ceil()
            } else {
                bound.value.floor()
            };
            let step = if is_lower { 1.0 } else { -1.0 };
            let at_edge = !bound.inclusive && rounded.total_cmp(&bound.value) == Ordering::Equal;
            Bound {
                value: if at_edge { rounded + step } else { rounded },
                inclusive: true,
            }
        }
    }))
}

/// Whether the second is tighter (`Greater`), looser (`Less`) or the same.
fn tighter(a: Bound, b: Bound, is_lower: bool) -> Ordering {
    let by_value = match is_lower {
        true => b.value.total_cmp(&a.value),
        false => a.value.total_cmp(&b.value),
    };
    by_value.then(a.inclusive.cmp(&b.inclusive))
}

/// The number, where it can be told from its neighbours.
fn exact(value: &Value) -> Option<f64> {
    const DISTINCT: f64 = 9_007_199_254_740_992.0;
    value.as_f64().filter(|number| number.abs() < DISTINCT)
}
