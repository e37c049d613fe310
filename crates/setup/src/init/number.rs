//! A number within the bounds of a schema.

use super::parts::Parts;
use serde_json::Value;

/// A shorter time than the default, where an argument says for how many seconds the
/// tool works: every run of the plan would wait for it. Not of a time limit, which
/// ends what takes longer.
pub(super) fn shorter_wait(name: &str, parts: &Parts<'_>) -> Option<Value> {
    const WAITS: [&str; 5] = ["duration", "delay", "pause", "sleep", "wait"];
    const LIMITS: [&str; 5] = ["timeout", "time out", "max", "at most", "up to"];
    let name = name.to_ascii_lowercase();
    let text = parts.text("description").unwrap_or_default();
    let said = format!("{name} {}", text.to_ascii_lowercase());
    let in_seconds = said.contains("second") && !said.contains("millisecond");
    if !in_seconds
        || !WAITS.iter().any(|wait| name.starts_with(wait))
        || LIMITS.iter().any(|limit| said.contains(limit))
        || ["const", "enum"]
            .iter()
            .any(|key| parts.first(key).is_some())
    {
        return None;
    }
    let long = parts.all("default").find_map(Value::as_f64)?;
    let shorter = number(&name, parts, parts.kind() == Some("integer"))?;
    shorter
        .as_f64()
        .is_some_and(|short| 0.0 < short && short < long)
        .then_some(shorter)
}

/// The number next to 1 that the bounds allow, or one between them.
pub(super) fn number(name: &str, parts: &Parts<'_>, whole: bool) -> Option<Value> {
    let numbers = |key: &'static str| parts.all(key).filter_map(Value::as_f64);
    // Of draft 4, `exclusiveMinimum: true` says it of `minimum`.
    let is_open = |key: &str| parts.all(key).any(|value| value == &Value::Bool(true));
    let bound = |closed: &'static str, open: &'static str, narrow: fn(f64, f64) -> f64| {
        let of_closed = numbers(closed).reduce(narrow);
        let of_open = numbers(open).reduce(narrow);
        match (of_closed, of_open) {
            (Some(closed), None) => Some((closed, is_open(open))),
            (None, Some(open)) => Some((open, true)),
            (Some(closed), Some(open)) => {
                let limit = narrow(closed, open);
                Some((limit, limit == open))
            }
            (None, None) => None,
        }
    };
    let least = bound("minimum", "exclusiveMinimum", f64::max);
    let most = bound("maximum", "exclusiveMaximum", f64::min);
    let step = numbers("multipleOf").find(|step| *step > 0.0);
    let unit = step.unwrap_or(1.0);
    let on_step = |value: f64| step.is_none_or(|step| (value / step).fract().abs() < 1e-9);
    let fits = |value: &f64| {
        value.is_finite()
            && (!whole || value.fract() == 0.0)
            && on_step(*value)
            && least.is_none_or(|(least, open)| *value > least || !open && *value >= least)
            && most.is_none_or(|(most, open)| *value < most || !open && *value <= most)
    };
    let above = least.map(|(least, _)| (least / unit).ceil() * unit);
    let below = most.map(|(most, _)| (most / unit).floor() * unit);
    let between = least
        .zip(most)
        .map(|((least, _), (most, _))| f64::midpoint(least, most));
    let usual = match name.to_ascii_lowercase().as_str() {
        "year" => Some(2025.0),
        _ => None,
    };
    let found = [
        usual,
        Some(unit),
        above,
        above.map(|above| above + unit),
        below,
        below.map(|below| below - unit),
        between,
        Some(0.0),
    ];
    let value = found.into_iter().flatten().find(fits)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within what is exact"
    )]
    match value.fract() == 0.0 && value.abs() < 9e15 {
        true => Some(Value::from(value as i64)),
        false if whole => None,
        false => Some(Value::from(value)),
    }
}
