//! Values of rule files that are a text, or something longer.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A text, or what else may stand in its place.
pub(super) enum TextOr<T> {
    Text(String),
    Other(T),
}

/// Reads a text, or a map as a `T`. Errors say what was `wanted`.
pub(super) fn text_or_map<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    wanted: &'static str,
) -> Result<TextOr<T>, D::Error> {
    struct TextOrMap<T>(&'static str, PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrMap<T> {
        type Value = TextOr<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E>(self, text: &str) -> Result<TextOr<T>, E> {
            Ok(TextOr::Text(text.to_owned()))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TextOr<T>, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Other)
        }
    }

    deserializer.deserialize_any(TextOrMap(wanted, PhantomData))
}

/// One text or several.
pub(super) struct Texts(pub(super) Vec<String>);

/// A list of texts whose entries may be lists: an anchor can then name what
/// several rules share, beside what each has of its own.
pub(super) fn flattened<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    let items: Vec<Texts> = Vec::deserialize(deserializer)?;
    Ok(items.into_iter().flat_map(|item| item.0).collect())
}

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

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Texts, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Texts)
            }
        }

        deserializer.deserialize_any(TextsVisitor)
    }
}
