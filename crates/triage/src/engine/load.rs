//! Rules from YAML: those inside the binary, and those of users. The only file
//! of this room that names the parser.

use super::either::{TextOr, Texts, text_or_map};
use super::flaws::{Flaw, Place, flaws, own_flaws};
use super::own::{
    RULE_OR_FILE, RuleEntry, RuleFile, RuleFileError, RuleFileKind, RuleOrFile, RuleProblem,
    RuleText,
};
use super::placed::PlacedLiterals;
use super::rule::Rule;
use super::spec::{Lists, ProjectSpec};
use super::tables::built;
use jelly_base::text::close_names;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_yaml::{Error, Location, Spanned};
use std::fmt;
use std::iter::repeat_n;
use std::ops::Range;
use thiserror::Error;

/// The rules inside the binary: domains in the order in which they are asked,
/// each with its rules, as the build script left them.
const BUILTIN: &str = built!("rules");

/// The literals of the patterns of those rules; see [`super::literals`].
static LITERALS: PlacedLiterals = include!(concat!(env!("OUT_DIR"), "/literals-of-patterns.rs"));

/// Why a built-in rule, or one that was made without a file, can't be used.
#[derive(Debug, Error)]
pub enum RuleError {
    #[error("rules of {domain} can't be read: {problem}")]
    Syntax { domain: String, problem: String },
    #[error("rule {rule}: {problem}")]
    Invalid { rule: String, problem: String },
}

/// The rules of one file. `domain` is what their ids must begin with.
///
/// # Errors
/// When the YAML can't be read or a rule contradicts itself.
pub fn parse_rules(domain: &str, yaml: &str) -> Result<Vec<Rule>, RuleError> {
    let mut rules: Vec<Rule> =
        serde_yaml::from_str(yaml).map_err(|error| unread(domain, &error))?;
    for rule in &mut rules {
        if let Some(flaw) = flaws(rule, Some(domain)).into_iter().next() {
            return Err(RuleError::Invalid {
                rule: rule.id.clone(),
                problem: flaw.message,
            });
        }
        rule.set_default_fields();
    }
    Ok(rules)
}

fn unread(domain: &str, error: &dyn fmt::Display) -> RuleError {
    RuleError::Syntax {
        domain: domain.to_owned(),
        problem: error.to_string(),
    }
}

/// The rules of the binary, by domain, which tests have checked.
///
/// # Errors
/// When they can't be read.
pub(super) fn builtin_rules() -> Result<Vec<(String, Vec<Rule>)>, RuleError> {
    let mut domains: Vec<(String, Vec<Rule>)> =
        serde_json::from_str(BUILTIN).map_err(|error| unread("the binary", &error))?;
    let rules = domains.iter_mut().flat_map(|(_, rules)| rules);
    for (number, rule) in rules.enumerate() {
        rule.builtin = Some(number);
        rule.set_default_fields();
    }
    Ok(domains)
}

/// The literals of the built-in rules' patterns.
pub(super) fn builtin_literals() -> &'static PlacedLiterals {
    &LITERALS
}

/// The rules of a user's file.
///
/// # Errors
/// The first thing that keeps the file from being read, else all that is
/// wrong with its rules; with the place of each.
pub fn parse_rule_file(kind: RuleFileKind, source: RuleText) -> Result<RuleFile, RuleFileError> {
    let text = &*source.text;
    let unread = |error: Error| {
        let problem = unreadable(&error, text);
        RuleFileError::new(source.clone(), vec![problem])
    };
    let lists: Lists<RuleOrFile> = read(kind, text).map_err(unread)?;
    let places: Lists<Spanned<TextOr<Places>>> = read(kind, text).map_err(unread)?;
    let mut problems = Vec::new();
    let mut list = |entries: Vec<RuleOrFile>, places: Vec<Spanned<TextOr<Places>>>| {
        let mut good = Vec::new();
        for (mut what, place) in entries.into_iter().zip(places) {
            let keys = match place.value {
                TextOr::Other(keys) => keys,
                TextOr::Text(_) => Places::default(),
            };
            let at = |found: Option<Location>| span(found.unwrap_or(place.referenced), text);
            let wrong = match &mut what {
                RuleOrFile::File(_) if kind == RuleFileKind::Rules => vec![RuleProblem {
                    rule: None,
                    message: "a rule is a map, not a text".into(),
                    hints: vec!["only `jelly.yaml` may name files of rules".into()],
                    span: at(None),
                }],
                RuleOrFile::File(_) => Vec::new(),
                RuleOrFile::Rule(rule) => {
                    let flaws = own_flaws(rule);
                    rule.set_default_fields();
                    let problem = |flaw: Flaw| RuleProblem {
                        rule: Some(rule.id.clone()),
                        span: at(keys.find(&flaw.place)),
                        message: flaw.message,
                        hints: flaw.hints,
                    };
                    flaws.into_iter().map(problem).collect()
                }
            };
            if wrong.is_empty() {
                let span = at(keys.key("id"));
                good.push(RuleEntry { what, span });
            }
            problems.extend(wrong);
        }
        good
    };
    let before = list(lists.before, places.before);
    let after = list(lists.after, places.after);
    if problems.is_empty() {
        Ok(RuleFile {
            source,
            before,
            after,
        })
    } else {
        Err(RuleFileError::new(source, problems))
    }
}

fn read<E: DeserializeOwned>(kind: RuleFileKind, text: &str) -> Result<Lists<E>, Error> {
    Ok(match kind {
        RuleFileKind::Project => {
            serde_yaml::from_str::<Option<ProjectSpec<E>>>(text)?.and_then(|file| file.rules)
        }
        RuleFileKind::Rules => serde_yaml::from_str::<Option<Lists<E>>>(text)?,
    }
    .unwrap_or_default())
}

fn unreadable(error: &Error, text: &str) -> RuleProblem {
    let error = error.without_snippet();
    let known =
        |word: &str, expected: &[&'static str]| match close_names(word, expected.iter().copied())
            .first()
        {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("it is one of `{}`", expected.join("`, `")),
        };
    let (message, hints) = match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => (
            format!("unknown key `{field}`"),
            vec![known(field, expected)],
        ),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => (
            format!("unknown word `{variant}`"),
            vec![known(variant, expected)],
        ),
        Error::SerdeMissingField { field, .. } => (
            format!("the key `{field}` is missing"),
            vec![
                "every rule has `id`, `root_cause`, `side`, `strength`, `advice`, `examples` and \
                 `lookalikes`"
                    .into(),
            ],
        ),
        other => (plain(&other.to_string()), Vec::new()),
    };
    RuleProblem {
        rule: None,
        message,
        hints,
        span: error
            .location()
            .map_or(0..text.len().min(1), |location| span(location, text)),
    }
}

/// The parser's own words without the place, which is shown beside them.
fn plain(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let line = match line.strip_prefix("line ") {
        Some(rest) => rest.split_once(": ").map_or(line, |(_, words)| words),
        None => line,
    };
    match line.rfind(" at line ") {
        Some(at) => line[..at].trim_end_matches(',').to_owned(),
        None => line.to_owned(),
    }
}

fn span(location: Location, text: &str) -> Range<usize> {
    let bytes = location.span();
    let start = bytes
        .byte_offset()
        .and_then(|start| usize::try_from(start).ok())
        .unwrap_or(0)
        .min(text.len());
    let length = bytes
        .byte_len()
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or(1)
        .max(1);
    start..start.saturating_add(length).min(text.len())
}

/// Where the values of a rule stand, and the items of those that are lists of
/// texts.
#[derive(Default)]
struct Places {
    keys: Vec<(String, Location, Vec<Location>)>,
}

impl Places {
    fn key(&self, key: &str) -> Option<Location> {
        let found = self.keys.iter().find(|(name, _, _)| name == key);
        found.map(|(_, location, _)| *location)
    }

    /// Where a flaw is, as near as the text tells.
    fn find(&self, place: &Place) -> Option<Location> {
        match *place {
            Place::Key(key) => self.key(key).or_else(|| self.key("id")),
            Place::Item(key, index) => {
                let found = self.keys.iter().find(|(name, _, _)| name == key);
                let item = found.and_then(|(_, _, items)| items.get(index).copied());
                item.or_else(|| self.key(key))
            }
        }
    }
}

impl<'de> Deserialize<'de> for TextOr<Places> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_map(deserializer, RULE_OR_FILE)
    }
}

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlacesVisitor;

        impl<'de> Visitor<'de> for PlacesVisitor {
            type Value = Places;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Places, A::Error> {
                let mut places = Places::default();
                while let Some(key) = map.next_key::<String>()? {
                    if matches!(key.as_str(), "patterns" | "unless") {
                        let list: Spanned<Vec<Spanned<Texts>>> = map.next_value()?;
                        let each = list.value.iter();
                        let items = each
                            .flat_map(|item| repeat_n(item.referenced, item.value.0.len()))
                            .collect();
                        places.keys.push((key, list.referenced, items));
                    } else {
                        let value: Spanned<IgnoredAny> = map.next_value()?;
                        places.keys.push((key, value.referenced, Vec::new()));
                    }
                }
                Ok(places)
            }
        }

        deserializer.deserialize_map(PlacesVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::{builtin_literals, builtin_rules, parse_rules};
    use crate::engine::literals::literals;
    use crate::engine::rule::Rule;
    use std::path::Path;

    #[test]
    fn the_rules_inside_the_binary_are_those_of_the_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine/rules");
        let domains = builtin_rules().unwrap();
        for (domain, built) in &domains {
            let yaml = std::fs::read_to_string(folder.join(format!("{domain}.yaml"))).unwrap();
            let written = parse_rules(domain, &yaml).unwrap();
            assert_eq!(built.len(), written.len(), "{domain}");
            for (built, written) in built.iter().zip(&written) {
                let whole = |rule: &Rule| {
                    let bare = Rule {
                        builtin: None,
                        examples: Vec::new(),
                        lookalikes: Vec::new(),
                        ..rule.clone()
                    };
                    format!("{bare:#?}{:#?}{:#?}", rule.examples(), rule.lookalikes())
                };
                let (built, written) = (whole(built), whole(written));
                let differs = built.lines().zip(written.lines()).find(|(b, w)| b != w);
                assert_eq!(differs, None, "{domain}");
                assert_eq!(built.len(), written.len(), "{domain}");
            }
        }
        let files = std::fs::read_dir(folder).unwrap();
        assert_eq!(files.count(), domains.len(), "every file is a domain");
    }

    #[test]
    fn the_literals_inside_the_binary_are_those_of_the_patterns() {
        let known = builtin_literals();
        let mut begin = 0;
        let mut all: Vec<&str> = Vec::new();
        for (length, _) in known.places {
            let end = begin + *length as usize;
            all.push(&known.letters[begin..end]);
            begin = end;
        }
        let sorted = |mut literals: Vec<String>| {
            literals.sort();
            literals
        };
        let mut of_patterns = known.patterns.iter();
        for rule in builtin_rules().unwrap().iter().flat_map(|(_, rules)| rules) {
            for pattern in rule.patterns.iter().chain(&rule.unless) {
                let text = |id: &u32| all[*id as usize].to_owned();
                let texts = |ids: &[u32]| ids.iter().map(text).collect();
                let built: Option<Vec<String>> = of_patterns.next().unwrap().map(texts);
                let (built, written) = (built.map(sorted), literals(pattern).map(sorted));
                assert_eq!(built, written, "{pattern}");
            }
        }
        assert_eq!(of_patterns.next(), None);
    }
}
