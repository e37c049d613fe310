//! What each era puts into a message, and how a server greets in it.
//!
//! Main type: [`Greeting`]. Pure; must not know how messages travel.

use super::answers::Answers;
use jelly_base::mcp::{Era, Revision, code, meta};
use jelly_base::model::RpcError;
use serde_json::{Map, Value, json};

/// Whether an answer to the probe tells a modern server, although it is an
/// error.
#[must_use]
pub fn is_modern_error(error: &RpcError) -> bool {
    error
        .code
        .is_some_and(|code| code::OF_MODERN_ERA.contains(&code))
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
pub fn initialize_params(version: &Revision, answers: &Answers) -> Value {
    json!({
        "protocolVersion": version.name,
        "capabilities": answers.capabilities(version),
        "clientInfo": client_info(),
    })
}

/// Adds to `params` what every request of this version carries, and the
/// progress token, if one is given. What `params` says itself stays as it is,
/// and params that are no object are sent as they are.
pub fn dress(params: &mut Value, version: &Revision, answers: &Answers, progress: Option<u64>) {
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
    let Value::Object(own) = params
        .entry("_meta")
        .or_insert_with(|| Value::Object(Map::new()))
    else {
        return;
    };
    if let Some(token) = progress {
        own.entry("progressToken").or_insert(token.into());
    }
    if modern {
        own.entry(meta::PROTOCOL_VERSION)
            .or_insert(version.name.into());
        own.entry(meta::CLIENT_INFO).or_insert_with(client_info);
        own.entry(meta::CLIENT_CAPABILITIES)
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
        .and_then(|own| own.get(meta::SERVER_INFO))
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
        Answers, Era, Revision, RpcError, dress, is_modern_error, read_discover, read_initialize,
        supported_by,
    };
    use serde_json::{Value, json};

    #[test]
    fn a_modern_request_carries_what_the_specification_requires() {
        let mut params = Value::Null;
        dress(
            &mut params,
            Revision::newest(Era::Modern),
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
            Revision::newest(Era::Legacy),
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
                Revision::newest(Era::Legacy),
                &Answers::default(),
                None,
            );
            assert_eq!(dressed, params);
        }
        let mut list = json!([1]);
        dress(
            &mut list,
            Revision::newest(Era::Modern),
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
