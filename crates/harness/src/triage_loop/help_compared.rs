//! What was expected beside what came, in the words of the help summary.

use jelly_base::model::Assertion;
use jelly_base::text::one_line;
use serde_json::Value;

/// How much of a value is quoted, in bytes.
const QUOTE: usize = 200;

pub(super) fn compared(assertion: &Assertion) -> String {
    let place = assertion.place();
    if let Some(difference) = &assertion.difference {
        let place = place.map_or(String::new(), |place| format!(" at {place}"));
        return format!("expected {}{place}; {}", assertion.kind, difference.first);
    }
    let actual = match &assertion.nearest {
        Some(nearest) => format!("nothing (nearest: {nearest})"),
        None if assertion.absent && assertion.actual.is_null() => "nothing".to_owned(),
        None if assertion.absent => format!("nothing in {}", quoted(&assertion.actual)),
        None => quoted(&assertion.actual),
    };
    if assertion.kind == "capture" {
        let place = place.unwrap_or_default();
        return format!("expected something at {place} to capture, got {actual}");
    }
    format!(
        "expected {}{} {}, got {actual}",
        assertion.kind,
        place.map_or(String::new(), |place| format!(" at {place}")),
        quoted(&assertion.expected)
    )
}

fn quoted(value: &Value) -> String {
    one_line(&value.to_string(), QUOTE)
}
