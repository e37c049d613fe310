//! What was expected beside what came, in the words of the help summary.

use jelly_base::model::Assertion;
use jelly_base::text::one_line;

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
        None if assertion.absent => "nothing".to_owned(),
        None => one_line(&assertion.actual.to_string(), QUOTE),
    };
    if assertion.kind == "capture" {
        let place = place.unwrap_or_default();
        return format!("expected something at {place} to capture, got {actual}");
    }
    format!(
        "expected {}{} {}, got {actual}",
        assertion.kind,
        place.map_or(String::new(), |place| format!(" at {place}")),
        one_line(&assertion.expected.to_string(), QUOTE)
    )
}
