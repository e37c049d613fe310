//! Rules as a file writes them, before they are checked.

use super::field::{Field, RuleSide, Strength};
use super::rule::{AdviceText, Example};
use super::when::When;
use jelly_base::model::ErrorCategory;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A file of rules, for its schema.
pub struct RuleFileDocument;

impl JsonSchema for RuleFileDocument {
    fn schema_name() -> Cow<'static, str> {
        "RuleFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Lists::<RuleSpec>::json_schema(generator)
    }
}

/// What stands under `rules` in `jelly.yaml`, for its schema.
pub struct ProjectRules;

impl JsonSchema for ProjectRules {
    fn schema_name() -> Cow<'static, str> {
        "ProjectRules".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Lists::<Entry>::json_schema(generator)
    }
}

/// A rule of triage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSpec {
    /// `domain/name`, in small letters, digits and `-`; no two rules share one.
    pub(super) id: String,
    /// A snake_case word; best one of those that `jelly rules list --format md` knows.
    pub(super) root_cause: String,
    /// The kind of failure; present exactly when `retryable` is.
    pub(super) error_category: Option<ErrorCategory>,
    /// Whether the same test may pass unchanged. Only INFRASTRUCTURE and TIMEOUT may.
    pub(super) retryable: Option<bool>,
    /// Whom it is held against.
    pub(super) side: RuleSide,
    /// How much a match proves.
    pub(super) strength: Strength,
    /// The higher wins among equals.
    #[serde(default)]
    pub(super) priority: i32,
    /// The id of a repair of the plan that mends this kind of failure.
    pub(super) repair: Option<String>,
    /// Typed conditions, all of which must hold.
    #[serde(default)]
    pub(super) when: When,
    /// Regular expressions, of which one must match. `^` and `$` are the ends of a line.
    #[serde(default, deserialize_with = "flattened")]
    #[schemars(with = "Vec<Texts>")]
    pub(super) patterns: Vec<String>,
    /// Exceptions: none may match the text that a pattern matched.
    #[serde(default, deserialize_with = "flattened")]
    #[schemars(with = "Vec<Texts>")]
    pub(super) unless: Vec<String>,
    /// Which texts are read; `stderr`, `answer`, `message` and `report` if left out.
    #[serde(default)]
    pub(super) fields: Vec<Field>,
    /// What to tell people.
    pub(super) advice: AdviceText,
    /// At least two failures that the rule must decide.
    #[serde(default)]
    pub(super) examples: Vec<Example>,
    /// At least two failures that it must not decide.
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

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text, or a list of texts that an anchor may name.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        })
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextsVisitor;

        impl<'de> Visitor<'de> for TextsVisitor {
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

        deserializer.deserialize_any(TextsVisitor)
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "E: DeserializeOwned")]
#[schemars(bound = "E: JsonSchema")]
struct ListsMap<E> {
    /// Asked before the built-in rules.
    #[serde(default = "Vec::<E>::new")]
    before: Vec<E>,
    /// Asked when the built-in rules say nothing.
    #[serde(default = "Vec::<E>::new")]
    after: Vec<E>,
}

impl<E: JsonSchema> JsonSchema for Lists<E> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ListsOf{}", E::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (list, map) = (
            Vec::<E>::json_schema(generator),
            ListsMap::<E>::json_schema(generator),
        );
        json_schema!({
            "description": "Rules: a list of those that are asked before the built-in ones, or a map with `before` and `after`.",
            "anyOf": [list, map],
        })
    }
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

/// `jelly.yaml`, of which rules are one part; of the others, who reads settings
/// says what is wrong.
#[derive(Deserialize)]
#[serde(bound = "E: DeserializeOwned")]
pub(super) struct ProjectSpec<E> {
    #[serde(default)]
    pub(super) rules: Option<Lists<E>>,
}

/// A rule, or the path of a file of rules.
pub(super) enum Entry {
    Rule(Box<RuleSpec>),
    File(String),
}

impl JsonSchema for Entry {
    fn schema_name() -> Cow<'static, str> {
        "RuleOrFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<RuleSpec>();
        json_schema!({
            "description": "A rule, or the path of a file of rules, from the folder of this file.",
            "anyOf": [rule, {"type": "string"}],
        })
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
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

        deserializer.deserialize_any(EntryVisitor)
    }
}
