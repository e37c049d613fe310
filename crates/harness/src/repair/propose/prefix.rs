//! Putting another folder at the head of a path that a plan writes with
//! variables in it.

use crate::repair::case::FailureCase;
use crate::repair::paths::normalise;
use crate::repair::strings::each_string;
use crate::repair::types::Facts;
use jelly_plan::{DocPath, Part, Plan, Template};
use serde_json::Value;
use std::path::Path;

/// The longest path that Linux takes, in bytes.
const LONGEST: usize = 4096;

/// Replaces the folder `from` at the head of `raw` by `to`, which is raw too;
/// the rest is kept as written. Absent when the string is no path in or below
/// that folder, or can't be rewritten without losing what it means.
pub(super) fn rewrite(
    raw: &str,
    (from, to): (&Path, &str),
    server: &str,
    case: &FailureCase<'_>,
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
        let Ok(text) = one.resolve_str(case.facts.scope, server) else {
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
            if behind.is_empty() || may_be_spelled_out(part, case.plan) {
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
        _ => false,
    }
}

/// Whether a value speaks of the folder, as written or as meant.
pub(super) fn speaks_of(value: &Value, folder: &Path, server: &str, facts: &Facts<'_>) -> bool {
    let folder = folder.to_str();
    let mut speaks = false;
    each_string(value, &DocPath::default(), &mut |_, raw| {
        let template = Template::parse(raw).ok();
        let meant = template.and_then(|template| template.resolve_str(facts.scope, server).ok());
        speaks |= folder.is_none_or(|folder| {
            raw.contains(folder) || meant.is_some_and(|text| text.contains(folder))
        });
    });
    speaks
}
