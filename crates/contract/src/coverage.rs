//! What there is to exercise of a server, and what a request exercises.
//!
//! Main functions: [`listed_items`] and [`exercised`].

use jelly_base::model::CoverageKind;
use serde_json::Value;
use std::collections::BTreeSet;

/// So deep arguments are looked into.
const DEPTH: usize = 6;
/// Things of one server, and of one request.
const ITEMS: usize = 20_000;
/// Bytes of a value of an enum.
const VALUE: usize = 200;

/// One thing: what it is, and as in `tools/echo/message`.
pub type CoverageKey = (CoverageKind, String);

/// What a server lists that can be exercised; of tools, name and input schema.
#[must_use]
pub fn listed_items<'t>(
    tools: impl IntoIterator<Item = (&'t str, Option<&'t Value>)>,
    prompts: &[Value],
    resources: &[Value],
    templates: &[Value],
) -> BTreeSet<CoverageKey> {
    let mut all = BTreeSet::new();
    for (name, schema) in tools {
        let item = format!("tools/{name}");
        if let Some(schema) = schema {
            let before = all.len();
            arguments(schema, schema, &item, DEPTH, &mut all);
            if all.len() > before {
                all.insert((CoverageKind::ErrorPaths, item.clone()));
            }
        }
        all.insert((CoverageKind::Tools, item));
    }
    let word = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    for prompt in prompts {
        let Some(name) = word(prompt, "name") else {
            continue;
        };
        let item = format!("prompts/{name}");
        let own = prompt.get("arguments").and_then(Value::as_array);
        for argument in own.into_iter().flatten() {
            if let Some(name) = word(argument, "name") {
                all.insert((CoverageKind::Arguments, format!("{item}/{name}")));
            }
        }
        all.insert((CoverageKind::Prompts, item));
    }
    for uri in resources.iter().filter_map(|it| word(it, "uri")) {
        all.insert((CoverageKind::Resources, format!("resources/{uri}")));
    }
    for uri in templates.iter().filter_map(|it| word(it, "uriTemplate")) {
        let item = format!("resource_templates/{uri}");
        all.insert((CoverageKind::ResourceTemplates, item));
    }
    all
}

/// The members that a schema names, and the values that it lists.
fn arguments(
    root: &Value,
    schema: &Value,
    at: &str,
    depth: usize,
    all: &mut BTreeSet<CoverageKey>,
) {
    if depth == 0 || all.len() >= ITEMS {
        return;
    }
    if let Some(to) = schema.get("$ref").and_then(Value::as_str)
        && let Some(target) = to.strip_prefix('#').and_then(|to| root.pointer(to))
    {
        arguments(root, target, at, depth - 1, all);
    }
    for branches in ["anyOf", "oneOf", "allOf"] {
        let branches = schema.get(branches).and_then(Value::as_array);
        for branch in branches.into_iter().flatten() {
            arguments(root, branch, at, depth - 1, all);
        }
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    for value in listed.into_iter().flatten() {
        all.extend(valued(at, value));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let at = format!("{at}/{name}");
        arguments(root, property, &at, depth - 1, all);
        all.insert((CoverageKind::Arguments, at));
    }
    if let Some(items) = schema.get("items") {
        arguments(root, items, &format!("{at}/*"), depth - 1, all);
    }
}

fn valued(at: &str, value: &Value) -> Option<CoverageKey> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => return None,
        other => other.to_string(),
    };
    (text.len() <= VALUE).then(|| (CoverageKind::EnumValues, format!("{at}={text}")))
}

/// What a request exercises that the server answered, be it with an error. More than
/// is listed: what counts is what is in both.
#[must_use]
pub fn exercised(method: &str, params: &Value, is_error: bool) -> BTreeSet<CoverageKey> {
    let mut all = BTreeSet::new();
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let (kind, item) = match (method, text("name"), text("uri")) {
        ("tools/call", Some(name), _) => (CoverageKind::Tools, format!("tools/{name}")),
        ("prompts/get", Some(name), _) => (CoverageKind::Prompts, format!("prompts/{name}")),
        ("resources/read", _, Some(uri)) => (CoverageKind::Resources, format!("resources/{uri}")),
        (_, _, _) => return all,
    };
    if let Some(own) = params.get("arguments") {
        given(own, &item, DEPTH, &mut all);
    }
    if is_error {
        all.insert((CoverageKind::ErrorPaths, item.clone()));
    }
    all.insert((kind, item));
    all
}

fn given(value: &Value, at: &str, depth: usize, all: &mut BTreeSet<CoverageKey>) {
    if depth == 0 || all.len() >= ITEMS {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let at = format!("{at}/{name}");
                given(member, &at, depth - 1, all);
                all.insert((CoverageKind::Arguments, at));
            }
        }
        Value::Array(items) => {
            for item in items {
                given(item, &format!("{at}/*"), depth - 1, all);
            }
        }
        scalar => all.extend(valued(at, scalar)),
    }
}

/// Whether something that is listed is among what was exercised. A resource that is
/// not listed covers the template that it is made by.
#[must_use]
pub fn is_covered(
    listed: &BTreeSet<CoverageKey>,
    exercised: &BTreeSet<CoverageKey>,
    key: &CoverageKey,
) -> bool {
    let (CoverageKind::ResourceTemplates, item) = key else {
        return exercised.contains(key);
    };
    let template = item.strip_prefix("resource_templates/").unwrap_or(item);
    let mut read = exercised
        .iter()
        .filter(|it| it.0 == CoverageKind::Resources);
    read.any(|resource| {
        let uri = resource.1.strip_prefix("resources/").unwrap_or(&resource.1);
        !listed.contains(resource) && is_made_by(template, uri)
    })
}

/// Whether the fixed parts of a template stand in a URI in their order, with something
/// in between.
fn is_made_by(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = uri.strip_prefix(first) else {
        return false;
    };
    for part in parts {
        let fixed = part.split_once('}').map_or("", |(_, fixed)| fixed);
        let mut chars = rest.chars();
        // Each variable stands for something.
        if chars.next().is_none() {
            return false;
        }
        rest = match fixed {
            "" => "",
            fixed => match chars.as_str().find(fixed) {
                Some(at) => &chars.as_str()[at + fixed.len()..],
                None => return false,
            },
        };
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{CoverageKind, exercised, is_covered, is_made_by, listed_items};
    use serde_json::json;

    #[test]
    fn arguments_and_values_are_listed_at_every_depth_and_found_in_calls() {
        let schema = json!({"type": "object", "properties": {
            "kind": {"enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            "inner": {"$ref": "#/$defs/inner"}},
            "$defs": {"inner": {"type": "object", "properties": {"x": {"type": "string"}}}}});
        let listed = listed_items([("t", Some(&schema)), ("u", None)], &[], &[], &[]);
        let shown: Vec<String> = listed
            .iter()
            .map(|(kind, item)| format!("{} {item}", kind.name()))
            .collect();
        assert_eq!(
            shown,
            [
                "tools tools/t",
                "tools tools/u",
                "arguments tools/t/inner",
                "arguments tools/t/inner/x",
                "arguments tools/t/kind",
                "arguments tools/t/tags",
                "arguments tools/t/tags/*/n",
                "enum_values tools/t/kind=a",
                "enum_values tools/t/kind=b",
                "error_paths tools/t",
            ]
        );
        let params = json!({"name": "t", "arguments": {"kind": "a", "tags": [{"n": 1}]}});
        let done = exercised("tools/call", &params, true);
        let covered: Vec<&str> = listed
            .iter()
            .filter(|key| is_covered(&listed, &done, key))
            .map(|(_, item)| item.as_str())
            .collect();
        assert_eq!(
            covered,
            [
                "tools/t",
                "tools/t/kind",
                "tools/t/tags",
                "tools/t/tags/*/n",
                "tools/t/kind=a",
                "tools/t"
            ]
        );
    }

    #[test]
    fn a_resource_covers_itself_or_its_template() {
        for (template, uri, made) in [
            ("demo://r/{id}", "demo://r/5", true),
            ("demo://r/{id}", "demo://r/", false),
            ("demo://{a}/x/{b}.txt", "demo://1/x/2.txt", true),
            ("demo://{a}/x", "demo://1/y", false),
        ] {
            assert_eq!(is_made_by(template, uri), made, "{template} {uri}");
        }
        let (resources, templates) = (
            [json!({"uri": "demo://r/1"})],
            [json!({"uriTemplate": "demo://r/{id}"})],
        );
        let listed = listed_items([], &[], &resources, &templates);
        let template = listed
            .iter()
            .find(|it| it.0 == CoverageKind::ResourceTemplates)
            .unwrap();
        for (uri, covers) in [("demo://r/1", false), ("demo://r/2", true)] {
            let done = exercised("resources/read", &json!({"uri": uri}), false);
            assert_eq!(is_covered(&listed, &done, template), covers, "{uri}");
        }
    }
}
