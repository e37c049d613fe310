//! What was expected beside what came.

use super::parts;
use crate::report::words;
use jelly_base::model::Assertion;
use jelly_base::text::{hunks, is_long, sanitize};
use maud::{Markup, html};
use serde_json::Value;
use similar::{Algorithm, ChangeTag, TextDiff};

/// Lines of a diff.
const LINES: usize = 400;
/// Bytes of texts that are compared by character.
const CHARACTERS: usize = 500;

/// Both values: as what differs, where they should be the same, else one after
/// the other.
pub(super) fn compared(assertion: &Assertion) -> Markup {
    let place = assertion.place();
    let place = place.map(|place| format!(" at {}", parts::brief(&place)));
    let place = place.unwrap_or_default();
    let kind = parts::brief(&assertion.kind);
    let title = format!("Expected ({kind}{place}), and these lines differ");
    if let Some(difference) = &assertion.difference {
        return parts::diff(&title, &difference.hunks);
    }
    let expected = words::value(&assertion.expected);
    if let Some(nearest) = &assertion.nearest {
        return html! {
            (parts::block(&format!("Expected ({kind}{place})"), &expected, None))
            p { "Got nothing; the nearest path is " (parts::long_code(nearest)) "." }
        };
    }
    if kind == "equals" && !assertion.absent && assertion.expected != assertion.actual {
        return match (&assertion.expected, &assertion.actual) {
            (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => {
                let [one, other] = [&assertion.expected, &assertion.actual];
                let text = hunks(&format!("{one:#}"), &format!("{other:#}"), LINES);
                parts::diff(&title, &text)
            }
            (Value::String(one), Value::String(other)) if is_long(one) || is_long(other) => {
                parts::diff(&title, &hunks(one, other, LINES))
            }
            (expected, actual) => {
                // A string that reads like another type is told from it.
                let same_type = expected.is_string() == actual.is_string();
                let [one, other] = [expected, actual].map(|value| match same_type {
                    true => words::value(value),
                    false => value.to_string(),
                });
                let kind = format!("{kind}{place}");
                if one.len().max(other.len()) > CHARACTERS {
                    return side_by_side(&kind, &one, &other);
                }
                in_line(&kind, &one, &other)
            }
        };
    }
    let actual = match assertion.absent {
        true if assertion.actual.is_null() => "nothing".to_owned(),
        true => format!("nothing in {}", assertion.actual),
        false => words::value(&assertion.actual),
    };
    side_by_side(&format!("{kind}{place}"), &expected, &actual)
}

fn side_by_side(kind: &str, expected: &str, actual: &str) -> Markup {
    html! {
        (parts::block(&format!("Expected ({kind})"), expected, None))
        (parts::block("Got", actual, None))
    }
}

/// Two short texts, with the characters that differ marked.
fn in_line(kind: &str, expected: &str, actual: &str) -> Markup {
    let [one, other] = [expected, actual].map(|text| sanitize(text).into_owned());
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .diff_chars(one.as_str(), other.as_str());
    let side = |tag: ChangeTag| -> Vec<(bool, String)> {
        let mut parts: Vec<(bool, String)> = Vec::new();
        for change in diff.iter_all_changes() {
            let differs = change.tag() == tag;
            if !differs && change.tag() != ChangeTag::Equal {
                continue;
            }
            match parts.last_mut() {
                Some((same, text)) if *same == differs => text.push_str(change.value()),
                Some(_) | None => parts.push((differs, change.value().to_owned())),
            }
        }
        parts
    };
    html! {
        figure {
            figcaption { "Expected (" (kind) ") and got" }
            pre.diff {
                span.old {
                    "- "
                    @for (differs, text) in side(ChangeTag::Delete) {
                        @if differs { del { (text) } } @else { (text) }
                    }
                }
                "\n"
                span.new {
                    "+ "
                    @for (differs, text) in side(ChangeTag::Insert) {
                        @if differs { ins { (text) } } @else { (text) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compared;
    use jelly_base::model::Assertion;
    use serde_json::{Value, json};

    fn shown(kind: &str, expected: Value, actual: Value) -> String {
        let assertion = Assertion {
            kind: kind.into(),
            expected,
            actual,
            ..Assertion::default()
        };
        compared(&assertion).into_string()
    }

    #[test]
    fn what_should_be_equal_is_told_by_what_differs() {
        let short = shown("equals", json!("hello"), json!("hallo"));
        assert!(short.contains("- h<del>e</del>llo"), "{short}");
        assert!(short.contains("+ h<ins>a</ins>llo"), "{short}");
        let typed = shown("equals", json!("5"), json!(5));
        assert!(typed.contains("&quot;"), "{typed}");
        let long = "same\n".repeat(60);
        let lines = shown(
            "equals",
            json!(format!("{long}a\n")),
            json!(format!("{long}b\n")),
        );
        assert!(lines.contains("<span class=\"old\">-a</span>"), "{lines}");
        assert!(lines.len() < 500, "{lines}");
        let objects = shown("equals", json!({"a": 1, "b": 2}), json!({"a": 1, "b": 3}));
        assert!(
            objects.contains("-  \"b\": 2") || objects.contains("-  &quot;b&quot;: 2"),
            "{objects}"
        );
    }

    #[test]
    fn what_should_only_hold_something_is_shown_beside_it() {
        let shown = shown("contains", json!("<b>"), json!("nothing"));
        assert!(shown.contains("Expected (contains)"), "{shown}");
        assert!(shown.contains("<pre>&lt;b&gt;</pre>"), "{shown}");
        assert!(shown.contains("<pre>nothing</pre>"), "{shown}");
    }
}
