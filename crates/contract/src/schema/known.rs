//! The keywords that are compared. Of all others JSON Schema says that they mean
//! nothing.

use super::resolve::{NAMES, TEXTS};
use jelly_base::text::WordList;

/// Those that mean the same whatever a schema allows.
const BESIDE: [&str; 3] = ["default", "x-mcp-header", "$ref"];

/// Those that `keywords` looks at.
const OF_VALUES: WordList = WordList(
    "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength \
     maxLength minItems maxItems minProperties maxProperties pattern format contentEncoding \
     contentMediaType contentSchema uniqueItems minContains maxContains nullable divisibleBy",
);

/// Those that `objects` looks at.
const OF_MEMBERS: WordList = WordList(
    "properties required additionalProperties patternProperties propertyNames dependentRequired \
     dependentSchemas dependencies items prefixItems additionalItems contains \
     unevaluatedProperties unevaluatedItems propertyOrdering",
);

/// Those that `unions` looks at.
const OF_SCHEMAS: WordList = WordList("anyOf oneOf allOf not if then else $dynamicRef");

/// Whether something looks at the keyword.
pub fn is_known(name: &str) -> bool {
    let mut listed = BESIDE.iter().chain(&NAMES).chain(&TEXTS);
    let looked_at = [OF_VALUES, OF_MEMBERS, OF_SCHEMAS];
    listed.any(|known| *known == name) || looked_at.iter().any(|words| words.has(name))
}
