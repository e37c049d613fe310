//! Rules as a file writes them, before they are checked.

use super::rule::{AdviceText, Example, Field, RuleSide, Strength};
use super::when::When;
use crate::model::ErrorCategory;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A rule as a file writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSpec {
    pub(super) id: String,
    pub(super) root_cause: String,
    pub(super) error_category: Option<ErrorCategory>,
    pub(super) retryable: Option<bool>,
    pub(super) side: RuleSide,
    pub(super) strength: Strength,
    #[serde(default)]
    pub(super) priority: i32,
    pub(super) repair: Option<String>,
    #[serde(default)]
    pub(super) when: When,
    #[serde(default, deserialize_with = "flattened")]
    pub(super) patterns: Vec<String>,
    #[serde(default, deserialize_with = "flattened")]
    pub(super) unless: Vec<String>,
    #[serde(default)]
    pub(super) fields: Vec<Field>,
    pub(super) advice: AdviceText,
    #[serde(default)]
    pub(super) examples: Vec<Example>,
    #[serde(default)]
    pub(super) lookalikes: Vec<Example>,
}

/// A list of texts whose entries may be lists: an anchor can then name what
/// several rules share, beside what each has of its own.
fn flattened<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let items: Vec<Texts> = Vec::deserialize(deserializer)?;
    Ok(items.into_iter().flat_map(|item| item.0).collect())
}

/// One text or several.
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;

        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of texts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = seq.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }

        deserializer.deserialize_any(OneOrMore)
    }
}

/// The rules of a user's file, by when they are asked.
pub(super) struct Lists<E> {
    pub(super) before: Vec<E>,
    pub(super) after: Vec<E>,
}

impl<E> Default for Lists<E> {
    fn default() -> Self {
        Self {
            before: Vec::new(),
            after: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "E: DeserializeOwned")]
struct ListsMap<E> {
    #[serde(default = "Vec::new")]
    before: Vec<E>,
    #[serde(default = "Vec::new")]
    after: Vec<E>,
}

impl<'de, E: DeserializeOwned> Deserialize<'de> for Lists<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrMap<E>(PhantomData<E>);

        impl<'de, E: DeserializeOwned> Visitor<'de> for ListOrMap<E> {
            type Value = Lists<E>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of rules, or a map with `before` and `after`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Lists<E>, A::Error> {
                let mut before = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    before.push(entry);
                }
                Ok(Lists {
                    before,
                    after: Vec::new(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Lists<E>, A::Error> {
                let map = ListsMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Lists {
                    before: map.before,
                    after: map.after,
                })
            }
        }

        deserializer.deserialize_any(ListOrMap(PhantomData))
    }
}

/// A file of rules: the lists themselves.
#[derive(Deserialize)]
#[serde(transparent, bound = "E: DeserializeOwned")]
pub(super) struct FileSpec<E>(pub(super) Lists<E>);

/// `jelly.yaml`, of which rules are one part.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "E: DeserializeOwned")]
pub(super) struct ProjectSpec<E> {
    #[serde(default)]
    pub(super) rules: Option<Lists<E>>,
}

/// A rule, or the path of a file of rules.
pub(super) enum Entry {
    Rule(Box<RuleSpec>),
    File(String),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RuleOrPath;

        impl<'de> Visitor<'de> for RuleOrPath {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule, or the path of a file of rules")
            }

            fn visit_str<E>(self, path: &str) -> Result<Entry, E> {
                Ok(Entry::File(path.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                RuleSpec::deserialize(MapAccessDeserializer::new(map))
                    .map(|spec| Entry::Rule(Box::new(spec)))
            }
        }

        deserializer.deserialize_any(RuleOrPath)
    }
}
