//! What stands in many places of a plan.

use jelly_base::mcp::REVISIONS;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Makes a type that is nothing but a name for a schema.
macro_rules! parts {
    ($($name:ident => $schema:expr;)*) => {$(
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

parts! {
    Word => json_schema!({
        "description": "A text, or a number or boolean as it is written. It may hold variables, as in ${NAME}, ${env:NAME}, ${secret:NAME}, ${workspace}, ${tmp} and ${port}.",
        "type": ["string", "number", "boolean"],
    });
    Argv => json_schema!({
        "description": "A command and its arguments: never a line for a shell.",
        "type": "array",
        "minItems": 1,
        "items": {"type": ["string", "number", "boolean"]},
    });
    TimeLimit => json_schema!({
        "description": "A time with its unit, as in 500ms, 30s or 1m 30s.",
        "type": "string",
        "pattern": "[0-9]",
        "examples": ["500ms", "30s", "1m 30s"],
    });
    FixedName => json_schema!({
        "description": "A name, without variables.",
        "type": "string",
        "minLength": 1,
        "not": {"pattern": "\\$\\{"},
    });
    Secret => json_schema!({
        "description": "A value that stands in the environment and not in the plan.",
        "type": "string",
        "pattern": "\\$\\{",
        "examples": ["${secret:NAME}"],
    });
    Path => json_schema!({
        "description": "A JSON path of RFC 9535.",
        "type": "string",
        "pattern": "^\\$",
        "examples": ["$.content[0].text"],
    });
    Anything => json_schema!({
        "description": "Any value.",
    });
    Map => json_schema!({
        "description": "Any values by name.",
        "type": "object",
    });
    Revision => json_schema!({
        "description": "A revision of the protocol.",
        "enum": REVISIONS.each_ref().map(|revision| revision.name),
    });
}
