//! What the two eras of MCP want said: versions, handshakes, metadata.
//!
//! Modern is the specification of 2026-07-28 (basic/versioning, basic/index,
//! server/discover); legacy is `initialize` of 2024-11-05 to 2025-11-25.

use super::reply::Body;
use super::spec::{Eras, Script};
use jelly_base::mcp::{DISCOVER, Era, INITIALIZE, LISTEN, Method, Revision, code, meta};
use serde_json::{Map, Value, json};

const META: &str = "_meta";

/// The versions of an era, newest first.
fn versions(era: Era) -> Vec<&'static str> {
    Revision::all(era).map(|revision| revision.name).collect()
}

/// Whether a request carries the metadata of a modern client.
#[must_use]
pub fn is_modern(params: &Value) -> bool {
    params
        .get(META)
        .and_then(|own| own.get(meta::PROTOCOL_VERSION))
        .is_some()
}

/// What is wrong with the metadata of a modern request, as an error.
#[must_use]
pub fn refuse_meta(params: &Value) -> Option<Body> {
    let field = |name| params.get(META).and_then(|own| own.get(name));
    let lacks = |name| Some(Body::invalid(format!("Invalid params: _meta lacks {name}")));
    let Some(version) = field(meta::PROTOCOL_VERSION).and_then(Value::as_str) else {
        return lacks(meta::PROTOCOL_VERSION);
    };
    let known = versions(Era::Modern);
    if !known.contains(&version) {
        return Some(Body::Error {
            code: code::UNSUPPORTED_VERSION,
            message: "Unsupported protocol version".to_owned(),
            data: Some(json!({"supported": known, "requested": version})),
        });
    }
    if !field(meta::CLIENT_CAPABILITIES).is_some_and(Value::is_object) {
        return lacks(meta::CLIENT_CAPABILITIES);
    }
    None
}

/// Whether a modern request declares a capability of its client.
#[must_use]
pub fn client_can(params: &Value, capability: &str) -> bool {
    params
        .get(META)
        .and_then(|own| own.get(meta::CLIENT_CAPABILITIES))
        .and_then(|capabilities| capabilities.get(capability))
        .is_some()
}

/// The name and version of a server.
#[must_use]
pub fn server_info(script: &Script) -> Value {
    json!({
        "name": script.name.as_deref().unwrap_or("jelly-mock"),
        "version": script.version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION")),
    })
}

fn capabilities(script: &Script) -> Value {
    let mut map = Map::new();
    map.insert("tools".to_owned(), json!({}));
    if !script.resources.is_empty() {
        map.insert("resources".to_owned(), json!({}));
    }
    if !script.prompts.is_empty() {
        map.insert("prompts".to_owned(), json!({}));
    }
    Value::Object(map)
}

/// The legacy version that a client's wish is answered with.
#[must_use]
pub fn negotiate(params: &Value) -> &'static str {
    let wish = params.get("protocolVersion").and_then(Value::as_str);
    Revision::all(Era::Legacy)
        .find(|revision| Some(revision.name) == wish)
        .unwrap_or(Revision::newest(Era::Legacy))
        .name
}

/// The answer to `initialize`.
#[must_use]
pub fn initialize(script: &Script, version: &str) -> Body {
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(script),
        "serverInfo": server_info(script),
    });
    if let Some(text) = &script.instructions {
        result["instructions"] = json!(text);
    }
    Body::Result(result)
}

/// The answer of a modern-only server to `initialize`: an error that names
/// its versions, which may be all that a legacy client can show.
#[must_use]
pub fn refuse_initialize() -> Body {
    let known = versions(Era::Modern);
    Body::Error {
        code: code::METHOD_NOT_FOUND,
        message: format!(
            "Method not found: initialize; this server speaks {} without a handshake",
            known.join(", ")
        ),
        data: Some(json!({"supported": known})),
    }
}

/// The answer to `server/discover`.
#[must_use]
pub fn discover(script: &Script) -> Body {
    let mut result = json!({
        "supportedVersions": versions(Era::Modern),
        "capabilities": capabilities(script),
    });
    if let Some(text) = &script.instructions {
        result["instructions"] = json!(text);
    }
    Body::Result(result)
}

/// Adds what the modern era wants in every result, and in those that a
/// client may cache.
#[must_use]
pub fn modernise(body: Body, method: &str, script: &Script) -> Body {
    let Body::Result(Value::Object(mut result)) = body else {
        return body;
    };
    if !result.contains_key("resultType") {
        result.insert("resultType".to_owned(), json!("complete"));
    }
    let cacheable = method == DISCOVER || method == "resources/read" || method.ends_with("/list");
    if cacheable && result["resultType"] == "complete" {
        result.insert("ttlMs".to_owned(), json!(0));
        result.insert("cacheScope".to_owned(), json!("private"));
    }
    let own = result.entry(META).or_insert_with(|| json!({}));
    if let Some(own) = own.as_object_mut() {
        own.insert(meta::SERVER_INFO.to_owned(), server_info(script));
    }
    Body::Result(Value::Object(result))
}

/// Whether this server knows the method, by its era and its capabilities.
/// Nothing of it changes, so that there is nothing to subscribe to.
#[must_use]
pub fn knows(name: &str, modern: bool, script: &Script) -> bool {
    let era = if modern { Era::Modern } else { Era::Legacy };
    let offered = capabilities(script);
    Method::find(name).is_some_and(|method| {
        let mut path = method.capability.iter();
        name != LISTEN
            && (name != INITIALIZE || script.era != Eras::Modern)
            && Revision::all(era).any(|revision| method.is_in(revision))
            && path
                .try_fold(&offered, |value, key| value.get(key))
                .is_some()
    })
}

/// One page of a list: all of it without a page size. `None` is a cursor that
/// this server never gave.
#[must_use]
pub fn page(items: &[Value], key: &str, params: &Value, size: Option<usize>) -> Option<Value> {
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => cursor
            .as_str()?
            .strip_prefix("page:")?
            .parse::<usize>()
            .ok()
            .filter(|start| *start < items.len().max(1))?,
    };
    let end = size.map_or(items.len(), |size| {
        start.saturating_add(size).min(items.len())
    });
    let mut result = json!({ key: items[start..end] });
    if end < items.len() {
        result["nextCursor"] = json!(format!("page:{end}"));
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::{negotiate, page, versions};
    use jelly_base::mcp::Era;
    use serde_json::{Value, json};

    #[test]
    fn a_known_version_is_taken_and_an_unknown_one_answered_with_the_latest() {
        for version in versions(Era::Legacy) {
            assert_eq!(negotiate(&json!({"protocolVersion": version})), version);
        }
        assert_eq!(negotiate(&json!({"protocolVersion": "1999"})), "2025-11-25");
        assert_eq!(negotiate(&Value::Null), "2025-11-25");
    }

    #[test]
    fn pages_lead_through_the_whole_list_and_foreign_cursors_nowhere() {
        let items: Vec<Value> = (0..5).map(|n| json!(n)).collect();
        let mut seen = Vec::new();
        let mut params = json!({});
        loop {
            let result = page(&items, "tools", &params, Some(2)).unwrap();
            seen.extend(result["tools"].as_array().unwrap().iter().cloned());
            match result.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        assert_eq!(seen, items);
        for bad in ["page:5", "page:-1", "2", ""] {
            let params = json!({"cursor": bad});
            assert_eq!(page(&items, "tools", &params, Some(2)), None, "{bad}");
        }
    }
}
