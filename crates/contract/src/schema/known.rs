//! The keywords that are compared. Of all others JSON Schema says that they mean
//! nothing.

use super::resolve::{NAMES, TEXTS};

/// Those that mean the same whatever a schema allows.
const BESIDE: [&str; 3] = ["default", "x-mcp-header", "$ref"];

/// Those that `keywords` looks at.
const OF_VALUES: [&str; 24] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "uniqueItems",
    "minContains",
    "maxContains",
    "nullable",
    "divisibleBy",
];

/// Those that `objects` looks at.
const OF_MEMBERS: [&str; 15] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyOrdering",
];

/// Those that `unions` looks at.
const OF_SCHEMAS: [&str; 8] = [
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$dynamicRef",
];

/// Whether something looks at the keyword.
pub fn is_known(name: &str) -> bool {
    let mut all = BESIDE
        .iter()
        .chain(&NAMES)
        .chain(&TEXTS)
        .chain(&OF_VALUES)
        .chain(&OF_MEMBERS)
        .chain(&OF_SCHEMAS);
    all.any(|known| *known == name)
}
