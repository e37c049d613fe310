//! The versions of MCP as a table, and what each era puts into a message.
//!
//! Main type: [`Version`]. Pure; must not know how messages travel.

use super::answers::Answers;
use jelly_base::model::{Era, RpcError};
use serde_json::{Map, Value, json};

/// One published version of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Version {
    /// As it stands on the wire.
    pub name: &'static str,
    pub era: Era,
}

/// Every version that jelly speaks, newest first. A new one is a new row.
pub const VERSIONS: &[Version] = &[
    Version {
        name: "2026-07-28",
        era: Era::Modern,
    },
    Version {
        name: "2025-11-25",
        era: Era::Legacy,
    },
    Version {
        name: "2025-06-18",
        era: Era::Legacy,
    },
    Version {
        name: "2025-03-26",
        era: Era::Legacy,
    },
    Version {
        name: "2024-11-05",
        era: Era::Legacy,
    },
];

impl Version {
    /// The version with this name, if jelly speaks it.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        VERSIONS.iter().find(|version| version.name == name)
    }

    /// The newest version of an era.
    #[must_use]
    pub fn newest(era: Era) -> &'static Self {
        let newest = VERSIONS.iter().find(|version| version.era == era);
        // The table holds both eras, so its first row is never needed.
        newest.unwrap_or(&VERSIONS[0])
    }

    /// The newest version of an era that is among `offered`.
    #[must_use]
    pub fn best_of(era: Era, offered: &[String]) -> Option<&'static Self> {
        VERSIONS
            .iter()
            .find(|version| version.era == era && offered.iter().any(|name| name == version.name))
    }

    /// All names that jelly speaks, for a message.
    #[must_use]
    pub fn all_names() -> String {
        let names: Vec<&str> = VERSIONS.iter().map(|version| version.name).collect();
        names.join(", ")
    }
}

/// The keys of `_meta` that the specification reserves (2026-07-28, basic,
/// `_meta`).
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// What the server is to log of a request.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Codes that only a modern server sends: the specification defines them
/// for 2026-07-28 and allows nobody else to use them.
const MODERN_CODES: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// Whether an answer to the probe tells a modern server, although it is an
/// error.
#[must_use]
pub fn is_modern_error(error: &RpcError) -> bool {
    error.code.is_some_and(|code| MODERN_CODES.contains(&code))
}

/// The versions that a refusal names in `data.supported`, in both eras.
#[must_use]
pub fn supported_by(error: &RpcError) -> Vec<String> {
    let listed = error.data.as_ref().and_then(|data| data.get("supported"));
    strings(listed).unwrap_or_default()
}

fn client_info() -> Value {
    json!({ "name": "jelly", "version": env!("CARGO_PKG_VERSION") })
}

/// The params of `initialize`.
#[must_use]
pub fn initialize_params(version: &Version, answers: &Answers) -> Value {
    json!({
        "protocolVersion": version.name,
        "capabilities": answers.capabilities(version),
        "clientInfo": client_info(),
    })
}

/// Adds to `params` what every request of this version carries, and the
/// progress token, if one is given. What `params` says itself stays as it is,
/// and params that are no object are sent as they are.
pub fn dress(params: &mut Value, version: &Version, answers: &Answers, progress: Option<u64>) {
    let modern = version.era == Era::Modern;
    if params.is_null() && (modern || progress.is_some()) {
        *params = Value::Object(Map::new());
    }
    let Value::Object(params) = params else {
        return;
    };
    if !modern && progress.is_none() {
        return;
    }
    let Value::Object(meta) = params
        .entry("_meta")
        .or_insert_with(|| Value::Object(Map::new()))
    else {
        return;
    };
    if let Some(token) = progress {
        meta.entry("progressToken").or_insert(token.into());
    }
    if modern {
        meta.entry(META_VERSION).or_insert(version.name.into());
        meta.entry(META_CLIENT).or_insert_with(client_info);
        meta.entry(META_CAPABILITIES)
            .or_insert_with(|| answers.capabilities(version));
    }
}

/// What a server says of itself when a session is settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Greeting {
    /// Name and version; null where the server does not give them.
    pub server_info: Value,
    /// An object; empty where the server sends none.
    pub capabilities: Value,
    pub instructions: Option<String>,
}

/// A `DiscoverResult`: the versions it lists, and the rest. None when the
/// value is none, as from a server that answers anything with `{}`.
#[must_use]
pub fn read_discover(result: &Value) -> Option<(Vec<String>, Greeting)> {
    let versions = strings(result.get("supportedVersions"))?;
    let server_info = result
        .get("_meta")
        .and_then(|meta| meta.get(META_SERVER))
        .or_else(|| result.get("serverInfo"));
    Some((versions, greeting(result, server_info)))
}

/// An `InitializeResult`: the version it names, and the rest. An error is the
/// breach, in a fragment.
pub fn read_initialize(result: &Value) -> Result<(String, Greeting), String> {
    let version = match result.get("protocolVersion") {
        Some(Value::String(version)) => version.clone(),
        Some(other) => {
            return Err(format!(
                "answered `initialize` with the protocolVersion {other}, which is not a string"
            ));
        }
        None => return Err("answered `initialize` without a protocolVersion".to_owned()),
    };
    Ok((version, greeting(result, result.get("serverInfo"))))
}

fn greeting(result: &Value, server_info: Option<&Value>) -> Greeting {
    Greeting {
        server_info: server_info.cloned().unwrap_or(Value::Null),
        capabilities: match result.get("capabilities") {
            Some(Value::Object(object)) => Value::Object(object.clone()),
            Some(_) | None => Value::Object(Map::new()),
        },
        instructions: result
            .get("instructions")
            .and_then(Value::as_str)
            .map(str::to_owned),
    }
}

fn strings(value: Option<&Value>) -> Option<Vec<String>> {
    value?
        .as_array()?
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Answers, VERSIONS, Version, dress, is_modern_error, read_discover, read_initialize,
        supported_by,
    };
    use jelly_base::model::{Era, REVISIONS, RpcError};
    use serde_json::{Value, json};

    #[test]
    fn the_versions_are_the_revisions_that_a_plan_may_name() {
        let versions: Vec<_> = VERSIONS.iter().map(|v| (v.name, v.era)).collect();
        assert_eq!(versions, REVISIONS);
    }

    #[test]
    fn the_newest_version_of_each_era_comes_first() {
        assert_eq!(Version::newest(Era::Modern).name, "2026-07-28");
        assert_eq!(Version::newest(Era::Legacy).name, "2025-11-25");
        assert!(Version::find("2024-11-05").is_some());
        assert!(Version::find("1999-01-01").is_none());
    }

    #[test]
    fn a_modern_request_carries_what_the_specification_requires() {
        let mut params = Value::Null;
        dress(
            &mut params,
            Version::newest(Era::Modern),
            &Answers::default(),
            Some(3),
        );
        let meta = &params["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "jelly");
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({})
        );
        assert_eq!(meta["progressToken"], 3);
    }

    #[test]
    fn what_the_plan_wrote_into_meta_stays() {
        let mut params = json!({"_meta": {"progressToken": "mine", "a": 1}});
        dress(
            &mut params,
            Version::newest(Era::Legacy),
            &Answers::default(),
            Some(3),
        );
        assert_eq!(params, json!({"_meta": {"progressToken": "mine", "a": 1}}));
    }

    #[test]
    fn a_legacy_request_and_params_that_are_no_object_are_sent_as_written() {
        for params in [Value::Null, json!([1]), json!({"a": 1})] {
            let mut dressed = params.clone();
            dress(
                &mut dressed,
                Version::newest(Era::Legacy),
                &Answers::default(),
                None,
            );
            assert_eq!(dressed, params);
        }
        let mut list = json!([1]);
        dress(
            &mut list,
            Version::newest(Era::Modern),
            &Answers::default(),
            Some(1),
        );
        assert_eq!(list, json!([1]));
    }

    #[test]
    fn only_the_reserved_codes_tell_a_modern_server() {
        let error = |code| RpcError {
            code,
            message: String::new(),
            data: Some(json!({"supported": ["2026-07-28"]})),
        };
        assert!(is_modern_error(&error(Some(-32022))));
        assert!(is_modern_error(&error(Some(-32021))));
        assert!(!is_modern_error(&error(Some(-32601))));
        assert!(!is_modern_error(&error(None)));
        assert_eq!(supported_by(&error(None)), ["2026-07-28"]);
    }

    #[test]
    fn an_answer_without_versions_is_no_discover_result() {
        assert_eq!(read_discover(&json!({})), None);
        assert_eq!(read_discover(&json!({"supportedVersions": [1]})), None);
        let (versions, greeting) = read_discover(&json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "x"}},
        }))
        .unwrap();
        assert_eq!(versions, ["2026-07-28"]);
        assert_eq!(greeting.server_info, json!({"name": "x"}));
    }

    #[test]
    fn an_initialize_result_needs_a_version() {
        assert!(read_initialize(&Value::Null).is_err());
        assert!(read_initialize(&json!({"protocolVersion": 1})).is_err());
        assert!(read_initialize(&json!({"protocolVersion": "2024-11-05"})).is_ok());
    }
}
