//! Putting another folder at the head of a path that a plan writes with
//! variables in it.

use super::paths::normalise;
use super::types::Facts;
use jelly_plan::{Part, Plan, Template};
use serde_json::Value;
use std::path::Path;

/// The longest path that Linux takes, in bytes.
const LONGEST: usize = 4096;

/// Replaces the folder `from` at the head of `raw` by `to`, which is raw too;
/// the rest is kept as written. Absent when the string is no path in or below
/// that folder, or can't be rewritten without losing what it means.
pub(super) fn rewrite(
    raw: &str,
    from: &Path,
    to: &str,
    plan: &Plan,
    server: &str,
    facts: &Facts<'_>,
) -> Option<String> {
    // Nothing longer is a path, and each slash of it would be tried.
    if raw.len() > LONGEST {
        return None;
    }
    let template = Template::parse(raw).ok()?;
    let mut head = String::new();
    let mut best = None;
    for (at, part) in template.parts.iter().enumerate() {
        let one = Template {
            raw: part.reference(),
            parts: vec![part.clone()],
        };
        let Ok(text) = one.resolve_str(facts.scope, server) else {
            // What comes behind an unknown value can't begin the path.
            break;
        };
        if !head.starts_with('/') && !text.starts_with('/') || head.len() + text.len() > LONGEST {
            break;
        }
        // A later cut is the better one: `/srv/data/../data/a` is about `a`.
        for cut in cuts(&text) {
            let path = format!("{head}{}", &text[..cut]);
            if !path.starts_with('/') || normalise(Path::new(&path)) != from {
                continue;
            }
            let behind = &text[cut..];
            if behind.is_empty() || may_be_spelled_out(part, plan) {
                best = Some((at, behind.to_owned()));
            }
        }
        head.push_str(&text);
    }
    let (at, behind) = best?;
    let mut rest = Template::literal(&behind).raw;
    for part in &template.parts[at + 1..] {
        rest.push_str(&part.reference());
    }
    let fits = rest.is_empty() || rest.starts_with('/');
    let climbs = rest.split('/').any(|component| component == "..");
    (fits && !climbs).then(|| format!("{to}{rest}"))
}

/// Where a path could be cut in two: before each slash and at its end.
fn cuts(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices('/')
        .map(|(at, _)| at)
        .chain(std::iter::once(text.len()))
}

/// Whether the value of a part may be written into the plan: text, and
/// variables of the plan that are no more than text themselves. What comes
/// from the environment may be secret, and is another one elsewhere.
fn may_be_spelled_out(part: &Part, plan: &Plan) -> bool {
    match part {
        Part::Text(_) => true,
        Part::Name(name) => plan
            .vars
            .get(name)
            .is_some_and(|value| matches!(value, Value::String(text) if !text.contains("${"))),
        Part::Workspace | Part::Tmp | Part::Env(_) | Part::Secret(_) | Part::Port(_) => false,
    }
}

/// Whether a value speaks of the folder, as written or as meant.
pub(super) fn speaks_of(value: &Value, folder: &Path, server: &str, facts: &Facts<'_>) -> bool {
    match value {
        Value::String(raw) => {
            let Some(folder) = folder.to_str() else {
                return true;
            };
            let meant = Template::parse(raw)
                .ok()
                .and_then(|template| template.resolve_str(facts.scope, server).ok());
            raw.contains(folder) || meant.is_some_and(|text| text.contains(folder))
        }
        Value::Array(items) => items.iter().any(|v| speaks_of(v, folder, server, facts)),
        Value::Object(map) => map.values().any(|v| speaks_of(v, folder, server, facts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
