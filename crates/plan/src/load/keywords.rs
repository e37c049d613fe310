//! The keywords of a schema that a plan writes itself: one that JSON Schema does
//! not know refuses nothing, and whoever misspelt it believes that it does.

use super::path::Path;
use super::reader::Reader;
use crate::syntax::{Data, Node};
use jelly_base::text::{WordList, close_names};
use serde_json::Value;
use std::fmt;

/// How the value of a keyword is made of schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// It is something else.
    Nothing,
    /// It is one, or a list of them.
    Schemas,
    /// It has them under names of its own.
    Named,
}

/// The keywords of all drafts from 4 to 2020-12, and those of OpenAPI that
/// describe.
const KEYWORDS: [(Holds, WordList); 3] = [
    (
        Holds::Nothing,
        WordList(
            "$schema $id id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef \
             $recursiveAnchor $vocabulary $comment title description default deprecated readOnly \
             writeOnly examples example externalDocs xml discriminator type enum const multipleOf \
             maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format \
             maxItems minItems uniqueItems maxContains minContains maxProperties minProperties \
             required dependentRequired contentEncoding contentMediaType",
        ),
    ),
    (
        Holds::Schemas,
        WordList(
            "allOf anyOf oneOf not if then else prefixItems items additionalItems \
             unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames \
             contentSchema",
        ),
    ),
    (
        Holds::Named,
        WordList("$defs definitions properties patternProperties dependentSchemas dependencies"),
    ),
];
/// An extension says so.
const EXTENSION: &str = "x-";

/// A keyword that JSON Schema does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKeyword {
    /// JSON pointer to it.
    pub pointer: String,
    pub keyword: String,
    /// The one that was meant, most likely.
    pub close: Option<String>,
}

impl UnknownKeyword {
    fn new(pointer: String, keyword: &str) -> Self {
        let known = KEYWORDS.iter().flat_map(|(_, words)| words.words());
        Self {
            pointer,
            close: close_names(keyword, known).into_iter().next(),
            keyword: keyword.to_owned(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.close {
            Some(close) => format!("did you mean `{close}`?"),
            None => "members of an object stand below `properties`; an extension begins with `x-`"
                .to_owned(),
        }
    }
}

impl fmt::Display for UnknownKeyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = &self.keyword;
        write!(
            f,
            "JSON Schema has no keyword `{keyword}`, so it tests nothing"
        )
    }
}

/// How the value of a keyword is made of schemas; none of one that is unknown.
fn held_by(keyword: &str) -> Option<Holds> {
    let found = KEYWORDS.iter().find(|(_, words)| words.has(keyword));
    match found {
        Some((holds, _)) => Some(*holds),
        None => keyword.starts_with(EXTENSION).then_some(Holds::Nothing),
    }
}

/// The first keyword of a schema that JSON Schema does not know.
#[must_use]
pub fn unknown_keyword(schema: &Value) -> Option<UnknownKeyword> {
    unknown_below(schema, "")
}

fn unknown_below(schema: &Value, pointer: &str) -> Option<UnknownKeyword> {
    let below = |pointer: &str, name: &str| {
        format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
    };
    schema.as_object()?.iter().find_map(|(keyword, value)| {
        let to = below(pointer, keyword);
        match (held_by(keyword), value) {
            (None, _) => Some(UnknownKeyword::new(to, keyword)),
            (Some(Holds::Schemas), Value::Array(items)) => items
                .iter()
                .enumerate()
                .find_map(|(index, item)| unknown_below(item, &format!("{to}/{index}"))),
            (Some(Holds::Schemas), _) => unknown_below(value, &to),
            (Some(Holds::Named), Value::Object(named)) => named
                .iter()
                .find_map(|(name, one)| unknown_below(one, &below(&to, name))),
            (Some(Holds::Nothing | Holds::Named), _) => None,
        }
    })
}

impl<'t> Reader<'t> {
    /// Whether a schema has keywords of JSON Schema only.
    pub(super) fn known_keywords(&mut self, schema: &Node<'t>, path: Path<'_>) -> bool {
        let Data::Map(entries) = &schema.data else {
            return true;
        };
        let mut all_known = true;
        for entry in entries {
            let keyword = entry.key.as_ref();
            let to = path.key(keyword);
            match (held_by(keyword), &entry.value.data) {
                (None, _) => {
                    all_known = false;
                    let unknown = UnknownKeyword::new(String::new(), keyword);
                    self.problem(entry.key_span, path, unknown.to_string())
                        .hint(unknown.hint());
                }
                (Some(Holds::Schemas), Data::List(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        all_known &= self.known_keywords(item, to.index(index));
                    }
                }
                (Some(Holds::Schemas), _) => {
                    all_known &= self.known_keywords(&entry.value, to);
                }
                (Some(Holds::Named), Data::Map(named)) => {
                    for one in named {
                        all_known &= self.known_keywords(&one.value, to.key(&one.key));
                    }
                }
                (Some(Holds::Nothing | Holds::Named), _) => {}
            }
        }
        all_known
    }
}
