//! Whether a shared server speaks the version that a request is in.
//!
//! Main function: [`refuse_version`]. Over HTTP a server must refuse a version
//! that it does not speak with status 400 and code -32022 (2026-07-28, Versioning);
//! one at pipes often looks at no more than the first message, and this face of
//! it is ours.

use super::sessions::ClientSession;
use crate::message::{Line, peek};
use crate::routing::{ModernRequest, PostedRequest};
use jelly_base::mcp::{DISCOVER, Era, Revision, code, meta};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// A server that does not say by then what it speaks is asked itself.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<String>,
}

/// The error for a request in a version that the server does not speak; none
/// where it speaks it, does not tell what it speaks, or where the version is
/// one that is known: then the server is asked as it stands.
pub async fn refuse_version(session: &Rc<ClientSession>, request: &ModernRequest) -> Option<Value> {
    let requested = request.version.as_deref()?;
    if Revision::find(requested).is_some() {
        return None;
    }
    let supported = supported(session).await?;
    if supported.iter().any(|version| version == requested) {
        return None;
    }
    Some(json!({
        "code": code::UNSUPPORTED_VERSION,
        "message": format!("Unsupported protocol version: {requested}"),
        "data": { "supported": supported, "requested": requested },
    }))
}

/// The versions of the modern era that the server says it speaks; none where it
/// does not say.
async fn supported(session: &Rc<ClientSession>) -> Option<Vec<String>> {
    let own = Map::from_iter([
        (
            meta::PROTOCOL_VERSION.to_owned(),
            json!(Revision::newest(Era::Modern).name),
        ),
        (
            meta::CLIENT_INFO.to_owned(),
            json!({ "name": "jelly", "version": env!("CARGO_PKG_VERSION") }),
        ),
        (meta::CLIENT_CAPABILITIES.to_owned(), json!({})),
    ]);
    let question = json!({
        "jsonrpc": "2.0", "id": 0, "method": DISCOVER, "params": { "_meta": own },
    });
    let asked = PostedRequest {
        id: "0".to_owned(),
        token: None,
        logs: false,
        lists_tools: false,
    };
    let nobody = Rc::new(Notify::new());
    let question = question.to_string();
    let (line, outflow) =
        session
            .router
            .open_shared((asked, Vec::new()), question.as_bytes(), nobody)?;
    // Also where the client leaves before the server has said it.
    let _departure = session.departure(&outflow);
    let answered = session.say(line).await && timeout(PATIENCE, outflow.ended()).await.is_ok();
    let versions = answered.then(|| outflow.look_at_last(read));
    versions.flatten().flatten()
}

fn read(line: &[u8]) -> Option<Vec<String>> {
    let Line::One(message) = peek(line) else {
        return None;
    };
    let result: Discovered = serde_json::from_str(message.result()?).ok()?;
    Some(result.supported_versions)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn an_answer_that_names_no_versions_tells_nothing() {
        let wanted = Some(vec!["a".to_owned(), "b".to_owned()]);
        let line = br#"{"id":0,"result":{"supportedVersions":["a","b"],"x":1}}"#;
        assert_eq!(read(line), wanted);
        for line in [
            &br#"{"id":0,"result":{}}"#[..],
            br#"{"id":0,"result":{"supportedVersions":"a"}}"#,
            br#"{"id":0,"error":{"code":-31000,"message":"it is dead"}}"#,
            b"oops",
        ] {
            assert_eq!(read(line), None);
        }
    }
}
