//! One schema beside another.
//!
//! Main type: [`Comparer`].

use super::super::canonical::same;
use super::super::change::{ChangeKind, SchemaChange};
use super::super::direction::{Direction, Relation};
use super::super::rules::{Meaning, rules};
use super::known::is_known;
use super::resolve::{TEXTS, bare, resolved};
use serde_json::{Value, json};
use std::collections::HashMap;

/// So many pairs of schemas are looked at in all.
const STEPS: usize = 20_000;
/// So deep within each other.
const DEPTH: usize = 96;
/// So many changes are told.
const CHANGES: usize = 1000;

/// What is known of two references that were met together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    /// They are being compared: what follows from them is told there.
    Now,
    Safe,
    Breaking,
}

/// See the module.
pub struct Comparer<'v> {
    old: &'v Value,
    new: &'v Value,
    direction: Direction,
    pub(super) changes: Vec<SchemaChange>,
    met: HashMap<(String, String, Direction), Met>,
    steps: usize,
    depth: usize,
    /// Nothing is told; only whether it is breaking counts.
    is_dry: bool,
}

/// A place in a schema.
#[derive(Debug, Clone, Default)]
pub struct Place(pub String);

impl Place {
    pub fn key(&self, key: &str) -> Self {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{escaped}", self.0))
    }

    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }
}

/// What a pair of values came from.
pub type Pair<'a> = (Option<&'a Value>, Option<&'a Value>);

impl<'v> Comparer<'v> {
    pub fn new(old: &'v Value, new: &'v Value, direction: Direction) -> Self {
        Self {
            old,
            new,
            direction,
            changes: Vec::new(),
            met: HashMap::new(),
            steps: 0,
            depth: 0,
            is_dry: false,
        }
    }

    pub fn run(mut self) -> Vec<SchemaChange> {
        let (old, new) = (self.old, self.new);
        if !same(old, new) {
            self.pair(old, new, &Place::default());
            self.changes.sort_by(|a, b| {
                let key = |change: &SchemaChange| (change.kind, change.pointer.clone());
                key(a).cmp(&key(b))
            });
            self.changes.dedup();
        }
        self.changes
    }

    /// The documents that both stand in.
    pub(super) fn roots(&self) -> (&'v Value, &'v Value) {
        (self.old, self.new)
    }

    pub(super) fn direction(&self) -> Direction {
        self.direction
    }

    /// Both schemas at a place, whatever leads there.
    pub(super) fn pair(&mut self, old: &Value, new: &Value, place: &Place) {
        if same(old, new) && !refers(old) {
            return;
        }
        self.steps += 1;
        if self.steps > STEPS || self.depth >= DEPTH {
            if !self.alike(old, new) {
                self.tell(
                    "too-complex",
                    Relation::Other,
                    place,
                    (Some(old), Some(new)),
                );
            }
            return;
        }
        self.depth += 1;
        self.resolve(old, new, place);
        self.depth -= 1;
    }

    /// Whether both are the same text, and what they may refer to is.
    fn alike(&self, old: &Value, new: &Value) -> bool {
        let defs = |root: &Value| {
            ["$defs", "definitions"].map(|key| root.get(key).cloned().unwrap_or_default())
        };
        same(old, new)
            && defs(self.old)
                .iter()
                .zip(&defs(self.new))
                .all(|(a, b)| same(a, b))
    }

    /// Whether the same words mean the same in both: what they refer to, if
    /// anything, says the same but for texts.
    pub(super) fn is_settled(&self, schema: &Value) -> bool {
        let defs = |root: &Value| {
            ["$defs", "definitions"].map(|key| bare(root.get(key).unwrap_or(&Value::Null)))
        };
        let both = || defs(self.old).into_iter().zip(defs(self.new));
        !refers(schema) || both().all(|(a, b)| same(&a, &b))
    }

    fn resolve(&mut self, old: &Value, new: &Value, place: &Place) {
        let (old_root, new_root) = (self.old, self.new);
        // The roots live as long as the comparer; what is looked at may be made here.
        let (a, b) = (owned(old_root, old), owned(new_root, new));
        match (&a.unknown, &b.unknown) {
            (None, None) => {}
            (Some(a), Some(b)) if a == b && same(old, new) && self.is_settled(old) => return,
            (_, _) => {
                let pair = (Some(old), Some(new));
                return self.tell("reference", Relation::Other, place, pair);
            }
        }
        let key = match (a.reference, b.reference) {
            (Some(a), Some(b)) => Some((a, b, self.direction)),
            (_, _) => None,
        };
        let Some(key) = key else {
            return self.values(&a.schema, &b.schema, place);
        };
        match self.met.get(&key) {
            Some(Met::Now | Met::Safe) => return,
            // It is told where it was met first.
            Some(Met::Breaking) => {
                let pair = (Some(old), Some(new));
                let relation = match self.direction {
                    Direction::Input => Relation::Less,
                    Direction::Output => Relation::More,
                };
                return self.tell("reference", relation, place, pair);
            }
            None => {}
        }
        self.met.insert(key.clone(), Met::Now);
        let before = self.breaking();
        self.values(&a.schema, &b.schema, place);
        let met = match self.breaking() > before {
            true => Met::Breaking,
            false => Met::Safe,
        };
        self.met.insert(key, met);
    }

    fn breaking(&self) -> usize {
        let breaking = self.changes.iter();
        breaking
            .filter(|change| change.kind == ChangeKind::Breaking)
            .count()
    }

    fn values(&mut self, old: &Value, new: &Value, place: &Place) {
        let (any, none) = (json!({}), Value::Bool(false));
        let plain = |schema: &Value| match schema {
            Value::Bool(true) => any.clone(),
            Value::Object(_) => schema.clone(),
            // No schema at all; a server that sends one says nothing.
            Value::Bool(false) => none.clone(),
            _ => any.clone(),
        };
        let (a, b) = (plain(old), plain(new));
        let pair = (Some(old), Some(new));
        match (a.is_boolean(), b.is_boolean()) {
            (true, true) => {}
            (true, false) => self.tell("never", Relation::More, place, pair),
            (false, true) => self.tell("never", Relation::Less, place, pair),
            (false, false) => {
                self.texts(&a, &b, place);
                if !self.unions(&a, &b, place) {
                    self.keywords(&a, &b, place);
                    self.objects(&a, &b, place);
                    self.arrays(&a, &b, place);
                    self.combinations(&a, &b, place);
                }
            }
        }
    }

    fn texts(&mut self, old: &Value, new: &Value, place: &Place) {
        for key in TEXTS {
            let pair = (old.get(key), new.get(key));
            if self.differs(pair) {
                self.always("text", &place.key(key), pair);
            }
        }
        let pair = (old.get("default"), new.get("default"));
        if self.differs(pair) {
            let rule = match pair.0 {
                Some(_) => "default-changed",
                None => "default-added",
            };
            self.always(rule, &place.key("default"), pair);
        }
        let pair = (old.get("x-mcp-header"), new.get("x-mcp-header"));
        if self.differs(pair) {
            self.always("header-changed", &place.key("x-mcp-header"), pair);
        }
        let members = |schema: &Value| -> Vec<String> {
            let members = schema.as_object().into_iter().flatten();
            members.map(|(name, _)| name.clone()).collect()
        };
        for name in members(old).iter().chain(&members(new)) {
            let pair = (old.get(name), new.get(name));
            if !is_known(name) && self.differs(pair) {
                self.always("unknown-keyword", &place.key(name), pair);
            }
        }
    }

    pub(super) fn differs(&self, (old, new): Pair<'_>) -> bool {
        match (old, new) {
            (None, None) => false,
            (Some(old), Some(new)) => !same(old, new),
            (_, _) => true,
        }
    }

    /// Whether the new schema can take the place of the old one, in a direction.
    pub(super) fn is_safe(&mut self, old: &Value, new: &Value, place: &Place) -> bool {
        let mut dry = Comparer {
            old: self.old,
            new: self.new,
            direction: self.direction,
            changes: Vec::new(),
            // What is being compared is taken to hold, as everywhere else.
            met: self.met.clone(),
            steps: self.steps,
            depth: self.depth,
            is_dry: true,
        };
        dry.pair(old, new, place);
        self.steps = dry.steps;
        dry.breaking() == 0
    }

    pub(super) fn flipped(&mut self, old: &Value, new: &Value, place: &Place) {
        self.direction = self.direction.flipped();
        self.pair(old, new, place);
        self.direction = self.direction.flipped();
    }

    /// A change of what is allowed.
    pub(super) fn tell(
        &mut self,
        rule: &'static str,
        relation: Relation,
        place: &Place,
        pair: Pair<'_>,
    ) {
        let meaning = rules().of_schema(rule, self.direction, relation);
        self.push(rule, meaning, place, pair);
    }

    /// One that means the same, whatever is allowed.
    pub(super) fn always(&mut self, rule: &'static str, place: &Place, pair: Pair<'_>) {
        let meaning = rules().of_always(rule, self.direction);
        self.push(rule, meaning, place, pair);
    }

    fn push(&mut self, rule: &str, meaning: Meaning, place: &Place, (old, new): Pair<'_>) {
        let told = self.changes.len();
        if self.is_dry && (meaning.kind != ChangeKind::Breaking || told > 0) {
            return;
        }
        // That there is a breaking one is never left out.
        if told >= CHANGES && (meaning.kind != ChangeKind::Breaking || told >= 2 * CHANGES) {
            return;
        }
        self.changes.push(SchemaChange {
            kind: meaning.kind,
            pointer: place.0.clone(),
            before: old.cloned(),
            after: new.cloned(),
            rule: format!("schema/{rule}"),
            why: meaning.why,
            is_shown: meaning.shown,
        });
    }
}

/// Whether what it means depends on what stands elsewhere.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.ends_with("Ref") || name == "$ref" || refers(value)),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// What a schema is compared as; the root outlives it.
struct Looked {
    schema: Value,
    reference: Option<String>,
    unknown: Option<String>,
}

fn owned(root: &Value, schema: &Value) -> Looked {
    let found = resolved(root, schema);
    Looked {
        reference: found.reference,
        unknown: found.unknown,
        schema: found.schema.into_owned(),
    }
}
