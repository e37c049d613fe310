//! Revisions from their data. The only file of this room that names the
//! parser.

use super::rules::Rule;
use super::specification::{Choice, Field, Section, Shape, Specification, Type};
use super::strings::{Form, Scalar};
use indexmap::IndexMap;
use jelly_base::mcp::{REVISIONS, Revision};
use jelly_base::model::WireLevel;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RevisionSpec {
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

/// What a revision says.
///
/// # Panics
/// The data inside the binary can't be read: a fault of jelly, which must not
/// look like a server without breaches. A test reads all of it.
pub(super) fn specification(revision: &Revision) -> &'static Specification {
    static ALL: LazyLock<Vec<Specification>> = LazyLock::new(|| {
        let oldest_first = REVISIONS.iter().rev();
        match load(oldest_first.map(|revision| (revision, revision.messages))) {
            Ok(all) => all,
            Err(problem) => std::panic::panic_any(format!("the specification's data: {problem}")),
        }
    });
    let found = ALL.iter().find(|one| one.name == revision.name);
    // Every row of the table is read.
    found.unwrap_or(&ALL[0])
}

/// Reads revisions, oldest first; each builds on the one before.
///
/// # Errors
/// What is wrong with the data, in a sentence.
fn load<'t>(
    data: impl IntoIterator<Item = (&'static Revision, &'t str)>,
) -> Result<Vec<Specification>, String> {
    let mut so_far = RevisionSpec::default();
    let mut specifications = Vec::new();
    for (revision, text) in data {
        so_far.take_in(serde_yaml::from_str(text).map_err(|error| error.to_string())?);
        let built = so_far.build(revision);
        specifications.push(built.map_err(|problem| format!("{}: {problem}", revision.name))?);
    }
    Ok(specifications)
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
        for (name, news) in news.types {
            self.types.entry(name).or_default().take_in(news);
        }
        patch(&mut self.results, news.results);
        patch(&mut self.notifications, news.notifications);
        patch(&mut self.requests, news.requests);
        patch(&mut self.errors, news.errors);
        patch(&mut self.rules, news.rules);
    }

    fn build(&self, revision: &'static Revision) -> Result<Specification, String> {
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
            let names = names.iter();
            names
                .map(|(method, name)| (method.clone(), name.clone().unwrap_or_default()))
                .collect()
        };
        let errors = self.errors.iter();
        let errors = errors.map(|(code, name)| (*code, name.clone().unwrap_or_default()));
        let specification = Specification {
            name: revision.name,
            era: revision.era,
            types,
            results: known(&self.results),
            notifications: known(&self.notifications),
            requests: known(&self.requests),
            errors: errors.collect(),
            rules,
        };
        match specification.unknown_type() {
            Some(name) => Err(format!("no type {name}")),
            None => Ok(specification),
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

impl Specification {
    /// A type that is named and not there.
    fn unknown_type(&self) -> Option<&str> {
        let fields = self.types.values().flat_map(|t| &t.fields);
        let shapes = fields.filter_map(|field| named(&field.shape));
        let choices = self.types.values().filter_map(|t| t.choice.as_ref());
        let messages = [&self.results, &self.notifications, &self.requests];
        let messages = messages.into_iter().flat_map(HashMap::values);
        shapes
            .chain(messages.map(String::as_str))
            .chain(choices.flat_map(|choice| choice.of.values().map(String::as_str)))
            .chain(self.errors.values().map(String::as_str))
            .find(|name| !self.types.contains_key(*name))
    }
}

fn named(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::List(inner, _) | Shape::Map(inner) | Shape::OneOrMany(inner) => named(inner),
        Shape::Named(name) => Some(name),
        Shape::Any | Shape::Scalar(_) | Shape::Form(_) | Shape::Meta | Shape::Words(_) => None,
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
    match text {
        "any" => Some(Shape::Any),
        "meta" => Some(Shape::Meta),
        name if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            Some(Shape::Named(name.to_owned()))
        }
        word => Scalar::find(word)
            .map(Shape::Scalar)
            .or_else(|| Form::find(word).map(Shape::Form)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Scalar, Shape, load, shape, specification};
    use crate::check::rules::{RULES, Rule};
    use crate::check::specification::Specification;
    use jelly_base::mcp::{
        CLIENT_METHODS, METHODS, NOTIFICATIONS, Notification, REVISIONS, Revision,
    };
    use jelly_base::model::WireLevel;
    use std::collections::{BTreeSet, HashMap};

    fn named(name: &str) -> &'static Specification {
        specification(Revision::find(name).unwrap())
    }

    #[test]
    fn the_messages_of_a_revision_are_of_the_methods_that_the_tables_give_it() {
        fn keys(map: &HashMap<String, String>) -> BTreeSet<&str> {
            map.keys().map(String::as_str).collect()
        }
        for revision in &REVISIONS {
            let known = specification(revision);
            assert_eq!(known.name, revision.name);
            let own = METHODS.iter().filter(|m| m.is_in(revision));
            let own = own.filter(|m| m.capability != ["extensions"]);
            assert_eq!(keys(&known.results), own.map(|m| m.name).collect());

            let told = NOTIFICATIONS.iter().filter(|n| n.is_in(revision));
            let told: Vec<String> = told
                .map(|n| format!("{}{}", Notification::PREFIX, n.name))
                .collect();
            let told: BTreeSet<&str> = told.iter().map(String::as_str).collect();
            assert_eq!(keys(&known.notifications), told);

            // Servers of the modern era ask in their results.
            let asked = CLIENT_METHODS.iter().filter(|m| m.is_in(revision));
            let asked: BTreeSet<&str> = asked.map(|m| m.name).collect();
            let both = [
                "ping",
                "tasks/get",
                "tasks/result",
                "tasks/list",
                "tasks/cancel",
            ];
            let mut requests = keys(&known.requests);
            requests.retain(|name| !both.contains(name));
            if known.is_modern() {
                assert!(requests.is_empty());
            } else {
                assert_eq!(requests, asked);
            }
            let elicits = asked.contains("elicitation/create");
            assert_eq!(elicits, revision.elicitation.is_some());
            let result = &known.types["CallToolResult"];
            let structured = |name: &str| result.fields.iter().any(|field| field.name == name);
            assert_eq!(
                revision.has_structured_content,
                structured("structuredContent")
            );
        }
    }

    #[test]
    fn every_rule_holds_in_some_revision() {
        for rule in RULES {
            // Where a shape stands is said by its type.
            let held = *rule == Rule::Shape
                || REVISIONS
                    .iter()
                    .any(|revision| revision.messages.contains(&format!("{}:", rule.name())));
            assert!(held, "{}", rule.name());
        }
    }

    #[test]
    fn a_revision_takes_over_what_it_does_not_change() {
        let newest = named("2026-07-28");
        let tool = &newest.types["Tool"];
        let has = |name: &str| tool.fields.iter().any(|field| field.name == name);
        assert!(has("name") && has("title") && has("icons") && has("_meta"));
        assert!(!has("execution"), "taken out");
        assert!(!newest.requests.contains_key("ping"));
        let level = |revision: &str| named(revision).rules[&Rule::UndeclaredClient].0;
        assert_eq!(level("2024-11-05"), WireLevel::Should);
        assert_eq!(level("2025-06-18"), WireLevel::Must);
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
            let said = load([(&REVISIONS[0], data)]).unwrap_err();
            assert!(said.contains(problem), "{data}: {said}");
        }
    }

    #[test]
    fn shapes_are_read() {
        assert_eq!(
            shape("[string;3]"),
            Some(Shape::List(
                Box::new(Shape::Scalar(Scalar::find("string").unwrap())),
                Some(3)
            ))
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
