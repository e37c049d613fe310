//! Whether the arguments of a call meet the schema that its tool is listed with.
//!
//! Main function: [`fitting`].

use super::tools::{TOOLS, ToolRow};
use jelly_base::text::one_line;
use jelly_plan::BoundedSchema;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;

/// So many flaws are told.
const MOST: usize = 5;
/// Bytes of what is told of each, which quotes what the client sent.
const FLAW: usize = 200;

/// What each tool can be called with.
static SCHEMAS: LazyLock<HashMap<&'static str, BoundedSchema>> = LazyLock::new(|| {
    let compiled = TOOLS.iter().filter_map(|row| {
        let schema = Value::Object((row.input)());
        Some((row.name, BoundedSchema::compile(&schema).ok()?))
    });
    compiled.collect()
});

/// The arguments, where they meet the tool's schema. A null is an argument that
/// was left out, as models send it.
///
/// # Errors
/// What does not fit, with its JSON pointer.
pub fn fitting(row: &ToolRow, mut arguments: Map<String, Value>) -> Result<Value, ErrorData> {
    arguments.retain(|_, value| !value.is_null());
    let arguments = Value::Object(arguments);
    let refused = |flaws: &[(String, String)]| {
        let shown = flaws.iter().map(|(pointer, what)| match pointer.as_str() {
            "" => what.clone(),
            pointer => format!("at {pointer}: {what}"),
        });
        let shown = shown.collect::<Vec<_>>().join("; ");
        let listed = flaws
            .iter()
            .map(|(pointer, what)| json!({"pointer": pointer, "what": what}));
        ErrorData::invalid_params(
            format!(
                "the arguments of {} don't meet its inputSchema: {shown}",
                row.name
            ),
            Some(json!({"tool": row.name, "errors": listed.collect::<Vec<_>>()})),
        )
    };
    let Some(schema) = SCHEMAS.get(row.name) else {
        return Ok(arguments);
    };
    let flaws: Vec<(String, String)> = match schema.errors(&arguments, MOST) {
        Ok(errors) => {
            let flaws = errors.iter().map(|error| {
                let pointer = error.instance_path().to_string();
                let what = error.to_string();
                (pointer, one_line(&what, FLAW))
            });
            flaws.collect()
        }
        Err(complex) => vec![(String::new(), complex.to_string())],
    };
    match flaws.is_empty() {
        true => Ok(arguments),
        false => Err(refused(&flaws)),
    }
}

#[cfg(test)]
mod tests {
    use super::{SCHEMAS, fitting};
    use crate::cli::serve::tools::TOOLS;
    use serde_json::{Value, json};

    #[test]
    fn every_tool_has_a_schema_that_is_asked() {
        assert_eq!(SCHEMAS.len(), TOOLS.len());
    }

    #[test]
    fn what_a_schema_does_not_allow_is_refused_with_its_pointer() {
        let fits = |tool: &str, arguments: Value| {
            let row = TOOLS.iter().find(|row| row.name == tool).unwrap();
            fitting(row, arguments.as_object().cloned().unwrap())
        };
        for (tool, arguments, pointer) in [
            ("list_runs", json!({ "max_bytes": 10 }), "/max_bytes"),
            ("list_runs", json!({ "max_bytes": 2_000_000 }), "/max_bytes"),
            ("run_plan", json!({ "path": "p", "wait_s": -1 }), "/wait_s"),
            (
                "run_plan",
                json!({ "path": "p", "max_iterations": 0 }),
                "/max_iterations",
            ),
            ("run_plan", json!({ "path": "p", "only": [7] }), "/only/0"),
            ("run_plan", json!({ "pth": "p" }), ""),
            ("triage_report", json!({ "paths": [] }), "/paths"),
            (
                "triage_report",
                json!({ "paths": ["a"], "mode": "all" }),
                "/mode",
            ),
        ] {
            let refused = fits(tool, arguments.clone()).unwrap_err();
            let data = refused.data.unwrap();
            assert_eq!(data["errors"][0]["pointer"], pointer, "{arguments} {data}");
            assert_eq!(refused.code.0, -32602);
        }
        let long = fits("check_plan", json!({ "path": ["x".repeat(100_000)] })).unwrap_err();
        assert!(long.message.len() < 1000, "{}", long.message.len());
        let null = fits(
            "check_plan",
            json!({ "path": "p", "cursor": null, "max_bytes": null }),
        );
        assert_eq!(null.unwrap(), json!({ "path": "p" }));
    }
}
