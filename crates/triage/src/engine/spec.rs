//! The lists of rules that a user's file holds.

use super::own::RuleOrFile;
use super::rule::Rule;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
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
        Lists::<Rule>::json_schema(generator)
    }
}

/// What stands under `rules` in `jelly.yaml`, for its schema.
pub struct ProjectRules;

impl JsonSchema for ProjectRules {
    fn schema_name() -> Cow<'static, str> {
        "ProjectRules".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Lists::<RuleOrFile>::json_schema(generator)
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

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Lists<E>, A::Error> {
                Ok(Lists {
                    before: Vec::deserialize(SeqAccessDeserializer::new(seq))?,
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

/// `jelly.yaml`, of which rules are one part; of the others, who reads settings
/// says what is wrong.
#[derive(Deserialize)]
#[serde(bound = "E: DeserializeOwned")]
pub(super) struct ProjectSpec<E> {
    #[serde(default)]
    pub(super) rules: Option<Lists<E>>,
}
