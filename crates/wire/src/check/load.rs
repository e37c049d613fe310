//! Revisions from their data. The only file of this room that names the
//! parser.

use super::revision::{Choice, Field, Revision, Section, Shape, Type};
use super::rules::Rule;
use indexmap::IndexMap;
use jelly_base::model::WireLevel;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Oldest first; each builds on the one before.
const DATA: &[&str] = &[
    include_str!("revisions/2024-11-05.yaml"),
    include_str!("revisions/2025-03-26.yaml"),
    include_str!("revisions/2025-06-18.yaml"),
    include_str!("revisions/2025-11-25.yaml"),
    include_str!("revisions/2026-07-28.yaml"),
];

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RevisionSpec {
    revision: String,
    types: IndexMap<String, TypeSpec>,
    results: IndexMap<String, Option<String>>,
    notifications: IndexMap<String, Option<String>>,
    requests: IndexMap<String, Option<String>>,
    errors: IndexMap<i64, Option<String>>,
    rules: IndexMap<Rule, Option<String>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TypeSpec {
    see: Option<String>,
    with: Option<Vec<String>>,
    fields: IndexMap<String, Option<String>>,
    needs: Option<Vec<String>>,
    by: Option<String>,
    of: IndexMap<String, String>,
    default: Option<String>,
    meta: bool,
}

/// The revision of this name.
///
/// # Panics
/// The data inside the binary can't be read: a fault of jelly, which must not
/// look like a server without breaches. A test reads all of it.
pub(super) fn revision(name: &str) -> Option<&'static Revision> {
    static REVISIONS: LazyLock<Vec<Revision>> = LazyLock::new(|| match load(DATA) {
        Ok(revisions) => revisions,
        Err(problem) => std::panic::panic_any(format!("the specification's data: {problem}")),
    });
    REVISIONS.iter().find(|revision| revision.name == name)
}

/// Reads revisions, oldest first.
///
/// # Errors
/// What is wrong with the data, in a sentence.
fn load(data: &[&str]) -> Result<Vec<Revision>, String> {
    let mut so_far = RevisionSpec::default();
    let mut revisions = Vec::with_capacity(data.len());
    for text in data {
        let news: RevisionSpec = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        so_far.take_in(news);
        let name = &so_far.revision;
        let revision = so_far
            .build()
            .map_err(|problem| format!("{name}: {problem}"))?;
        revisions.push(revision);
    }
    Ok(revisions)
}

fn patch<K: std::hash::Hash + Eq, V>(
    map: &mut IndexMap<K, Option<V>>,
    news: IndexMap<K, Option<V>>,
) {
    for (key, value) in news {
        match value {
            Some(value) => {
                map.insert(key, Some(value));
            }
            None => {
                map.shift_remove(&key);
            }
        }
    }
}

impl RevisionSpec {
    fn take_in(&mut self, news: Self) {
        self.revision = news.revision;
        for (name, news) in news.types {
            self.types.entry(name).or_default().take_in(news);
        }
        patch(&mut self.results, news.results);
        patch(&mut self.notifications, news.notifications);
        patch(&mut self.requests, news.requests);
        patch(&mut self.errors, news.errors);
        patch(&mut self.rules, news.rules);
    }

    fn build(&self) -> Result<Revision, String> {
        let mut types = HashMap::new();
        for (name, spec) in &self.types {
            let built = self
                .build_type(spec)
                .map_err(|problem| format!("{name}: {problem}"))?;
            types.insert(name.clone(), built);
        }
        let mut rules = HashMap::new();
        for (rule, text) in &self.rules {
            let text = text.as_deref().unwrap_or_default();
            let (level, section) = text
                .split_once(' ')
                .and_then(|(level, section)| {
                    let level = match level {
                        "must" => WireLevel::Must,
                        "should" => WireLevel::Should,
                        _ => return None,
                    };
                    Some((level, Section::parse(section)))
                })
                .ok_or_else(|| format!("rule {}: `{text}`", rule.name()))?;
            rules.insert(*rule, (level, section));
        }
        let known = |names: &IndexMap<String, Option<String>>| {
            let mut map = HashMap::new();
            for (method, name) in names {
                let name = name.clone().unwrap_or_default();
                if !self.types.contains_key(&name) {
                    return Err(format!("{method}: no type {name}"));
                }
                map.insert(method.clone(), name);
            }
            Ok(map)
        };
        let mut errors = HashMap::new();
        for (code, name) in &self.errors {
            errors.insert(*code, name.clone().unwrap_or_default());
        }
        let revision = Revision {
            name: self.revision.clone(),
            types,
            results: known(&self.results)?,
            notifications: known(&self.notifications)?,
            requests: known(&self.requests)?,
            errors,
            rules,
        };
        match revision.unknown_type() {
            Some(name) => Err(format!("no type {name}")),
            None => Ok(revision),
        }
    }

    fn build_type(&self, spec: &TypeSpec) -> Result<Type, String> {
        let mut fields = Fields::new();
        let mut is_meta = spec.meta;
        for base in spec.with.iter().flatten() {
            let base = self.types.get(base).ok_or(format!("no type {base}"))?;
            is_meta |= base.meta;
            self.gather(base, &mut fields, 0)?;
        }
        add_fields(spec, None, &mut fields);
        let mut built = Vec::with_capacity(fields.len());
        for (name, (text, see)) in fields {
            let (required, text) = match text.strip_prefix("maybe ") {
                Some(text) => (false, text),
                None => (true, text),
            };
            built.push(Field {
                name: name.to_owned(),
                required,
                shape: shape(text).ok_or_else(|| format!("{name}: `{text}`"))?,
                see: see.map(Section::parse),
            });
        }
        Ok(Type {
            see: spec.see.as_deref().map(Section::parse),
            fields: built,
            needs: spec.needs.clone().unwrap_or_default(),
            choice: spec.by.as_ref().map(|member| Choice {
                member: member.clone(),
                of: spec.of.clone().into_iter().collect(),
                default: spec.default.clone(),
            }),
            is_meta,
        })
    }

    /// The members of a type that another one is built on.
    fn gather<'s>(
        &'s self,
        spec: &'s TypeSpec,
        fields: &mut Fields<'s>,
        depth: usize,
    ) -> Result<(), String> {
        if depth > 8 {
            return Err("built on itself".to_owned());
        }
        for base in spec.with.iter().flatten() {
            let base = self.types.get(base).ok_or(format!("no type {base}"))?;
            self.gather(base, fields, depth + 1)?;
        }
        add_fields(spec, spec.see.as_deref(), fields);
        Ok(())
    }
}

/// Members by name: their shape as written, and where they stand, if not with
/// the type itself.
type Fields<'s> = IndexMap<&'s str, (&'s str, Option<&'s str>)>;

fn add_fields<'s>(spec: &'s TypeSpec, see: Option<&'s str>, fields: &mut Fields<'s>) {
    for (name, text) in &spec.fields {
        if let Some(text) = text {
            fields.insert(name, (text, see));
        }
    }
}

impl TypeSpec {
    fn take_in(&mut self, news: Self) {
        if news.by.is_some() && self.by.is_none() {
            *self = Self::default();
        }
        self.see = news.see.or(self.see.take());
        self.with = news.with.or(self.with.take());
        self.needs = news.needs.or(self.needs.take());
        self.by = news.by.or(self.by.take());
        self.default = news.default.or(self.default.take());
        self.meta |= news.meta;
        self.of.extend(news.of);
        patch(&mut self.fields, news.fields);
    }
}

impl Revision {
    /// A type that is named and not there.
    fn unknown_type(&self) -> Option<&str> {
        let fields = self.types.values().flat_map(|t| &t.fields);
        let shapes = fields.filter_map(|field| named(&field.shape));
        let choices = self.types.values().filter_map(|t| t.choice.as_ref());
        shapes
            .chain(choices.flat_map(|choice| choice.of.values().map(String::as_str)))
            .chain(self.errors.values().map(String::as_str))
            .find(|name| !self.types.contains_key(*name))
    }
}

fn named(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::List(inner, _) | Shape::Map(inner) | Shape::OneOrMany(inner) => named(inner),
        Shape::Named(name) => Some(name),
        Shape::Any
        | Shape::String
        | Shape::Number
        | Shape::Integer
        | Shape::IntegerOrNull
        | Shape::Count
        | Shape::Unit
        | Shape::Boolean
        | Shape::Object
        | Shape::Id
        | Shape::Uri
        | Shape::UriTemplate
        | Shape::Base64
        | Shape::Meta
        | Shape::Words(_) => None,
    }
}

/// Reads a shape: a word, `[X]`, `[X;100]`, `{X}`, `X+`, `=a|b`, or the name of
/// a type.
fn shape(text: &str) -> Option<Shape> {
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']')?;
        let (inner, limit) = match inner.split_once(';') {
            Some((inner, limit)) => (inner, Some(limit.parse().ok()?)),
            None => (inner, None),
        };
        return Some(Shape::List(Box::new(shape(inner)?), limit));
    }
    if let Some(inner) = text.strip_prefix('{') {
        return Some(Shape::Map(Box::new(shape(inner.strip_suffix('}')?)?)));
    }
    if let Some(inner) = text.strip_suffix('+') {
        return Some(Shape::OneOrMany(Box::new(shape(inner)?)));
    }
    if let Some(words) = text.strip_prefix('=') {
        return Some(Shape::Words(words.split('|').map(str::to_owned).collect()));
    }
    Some(match text {
        "any" => Shape::Any,
        "string" => Shape::String,
        "number" => Shape::Number,
        "integer" => Shape::Integer,
        "integer-or-null" => Shape::IntegerOrNull,
        "count" => Shape::Count,
        "unit" => Shape::Unit,
        "boolean" => Shape::Boolean,
        "object" | "schema" => Shape::Object,
        "id" => Shape::Id,
        "uri" => Shape::Uri,
        "uri-template" => Shape::UriTemplate,
        "base64" => Shape::Base64,
        "meta" => Shape::Meta,
        name if name.starts_with(|c: char| c.is_ascii_uppercase()) => Shape::Named(name.to_owned()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{DATA, Shape, load, revision, shape};
    use crate::VERSIONS;
    use crate::check::rules::{RULES, Rule};
    use jelly_base::model::WireLevel;

    #[test]
    fn the_data_of_every_version_can_be_read() {
        let revisions = load(DATA).unwrap_or_else(|problem| panic!("{problem}"));
        let names: Vec<&str> = revisions.iter().rev().map(|r| r.name.as_str()).collect();
        let versions: Vec<&str> = VERSIONS.iter().map(|version| version.name).collect();
        assert_eq!(names, versions);
    }

    #[test]
    fn every_rule_holds_in_some_revision() {
        for rule in RULES {
            // Where a shape stands is said by its type.
            let held = *rule == Rule::Shape
                || DATA
                    .iter()
                    .any(|text| text.contains(&format!("{}:", rule.name())));
            assert!(held, "{}", rule.name());
        }
    }

    #[test]
    fn a_revision_takes_over_what_it_does_not_change() {
        let newest = revision("2026-07-28").unwrap();
        let tool = &newest.types["Tool"];
        let has = |name: &str| tool.fields.iter().any(|field| field.name == name);
        assert!(has("name") && has("title") && has("icons") && has("_meta"));
        assert!(!has("execution"), "taken out");
        assert!(!newest.requests.contains_key("ping"));
        let level =
            |revision: &str| super::revision(revision).unwrap().rules[&Rule::UndeclaredClient].0;
        assert_eq!(level("2024-11-05"), WireLevel::Should);
        assert_eq!(level("2025-06-18"), WireLevel::Must);
        assert!(revision("1999-01-01").is_none());
    }

    #[test]
    fn a_slip_in_the_data_is_said() {
        for (data, problem) in [
            ("types: { A: { fields: { a: B } } }", "no type B"),
            ("types: { A: { fields: { a: strnig } } }", "`strnig`"),
            ("types: { A: { with: [A] } }", "built on itself"),
            ("results: { ping: A }", "no type A"),
            ("rules: { utf8: may basic }", "rule utf8"),
            ("rules: { utf9: must basic }", "utf9"),
        ] {
            let said = load(&[data]).unwrap_err();
            assert!(said.contains(problem), "{data}: {said}");
        }
    }

    #[test]
    fn shapes_are_read() {
        assert_eq!(
            shape("[string;3]"),
            Some(Shape::List(Box::new(Shape::String), Some(3)))
        );
        assert_eq!(
            shape("Block+"),
            Some(Shape::OneOrMany(Box::new(Shape::Named("Block".into()))))
        );
        assert_eq!(
            shape("=a|b"),
            Some(Shape::Words(vec!["a".into(), "b".into()]))
        );
        for bad in ["[string", "{x}", "", "[string;x]"] {
            assert_eq!(shape(bad), None, "{bad}");
        }
    }
}
