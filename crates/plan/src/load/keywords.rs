//! The keywords of a schema that a plan writes itself: one that JSON Schema does
//! not know refuses nothing, and whoever misspelt it believes that it does.

use super::path::Path;
use super::reader::Reader;
use crate::syntax::{Data, Node};
use jelly_base::text::close_names;

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
const KEYWORDS: &[(Holds, &[&str])] = &[
    (
        Holds::Nothing,
        &[
            "$schema",
            "$id",
            "id",
            "$ref",
            "$anchor",
            "$dynamicRef",
            "$dynamicAnchor",
            "$recursiveRef",
            "$recursiveAnchor",
            "$vocabulary",
            "$comment",
            "title",
            "description",
            "default",
            "deprecated",
            "readOnly",
            "writeOnly",
            "examples",
            "example",
            "externalDocs",
            "xml",
            "discriminator",
            "type",
            "enum",
            "const",
            "multipleOf",
            "maximum",
            "exclusiveMaximum",
            "minimum",
            "exclusiveMinimum",
            "maxLength",
            "minLength",
            "pattern",
            "format",
            "maxItems",
            "minItems",
            "uniqueItems",
            "maxContains",
            "minContains",
            "maxProperties",
            "minProperties",
            "required",
            "dependentRequired",
            "contentEncoding",
            "contentMediaType",
        ],
    ),
    (
        Holds::Schemas,
        &[
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "prefixItems",
            "items",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "contentSchema",
        ],
    ),
    (
        Holds::Named,
        &[
            "$defs",
            "definitions",
            "properties",
            "patternProperties",
            "dependentSchemas",
            "dependencies",
        ],
    ),
];
/// An extension says so.
const EXTENSION: &str = "x-";

impl<'t> Reader<'t> {
    /// Whether a schema has keywords of JSON Schema only.
    pub(super) fn known_keywords(&mut self, schema: &Node<'t>, path: Path<'_>) -> bool {
        let Data::Map(entries) = &schema.data else {
            return true;
        };
        let mut all_known = true;
        for entry in entries {
            let keyword = entry.key.as_ref();
            let found = KEYWORDS.iter().find(|(_, words)| words.contains(&keyword));
            let to = path.key(keyword);
            match (found, &entry.value.data) {
                (None, _) if keyword.starts_with(EXTENSION) => {}
                (None, _) => {
                    all_known = false;
                    let known = KEYWORDS.iter().flat_map(|(_, words)| *words).copied();
                    let close = close_names(keyword, known);
                    let message =
                        format!("JSON Schema has no keyword `{keyword}`, so it tests nothing");
                    self.problem(entry.key_span, path, message)
                        .hint(match close.first() {
                            Some(close) => format!("did you mean `{close}`?"),
                            None => "members of an object stand below `properties`; an extension \
                                     begins with `x-`"
                                .to_owned(),
                        });
                }
                (Some((Holds::Schemas, _)), Data::List(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        all_known &= self.known_keywords(item, to.index(index));
                    }
                }
                (Some((Holds::Schemas, _)), _) => {
                    all_known &= self.known_keywords(&entry.value, to);
                }
                (Some((Holds::Named, _)), Data::Map(named)) => {
                    for one in named {
                        all_known &= self.known_keywords(&one.value, to.key(&one.key));
                    }
                }
                (Some((Holds::Nothing | Holds::Named, _)), _) => {}
            }
        }
        all_known
    }
}
