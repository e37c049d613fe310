//! Which arguments of tools travel as headers, asked for in between: a client at
//! pipes knows nothing of headers, and may call a tool that it never listed here.
//!
//! Main function: [`headers_have_changed`].

use super::body::{BodyKind, HttpBody, kind_of_body};
use super::headers::Outline;
use super::link::Carrier;
use super::post::Post;
use super::raw_exchange::RawSeen;
use super::raw_http::{RawMessage, RawState};
use super::sse::{SseItem, SseParser};
use crate::MAX_LINE_BYTES;
use jelly_base::mcp::ListKind;
use reqwest::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// What all pages of the list may take.
const TAKES: Duration = Duration::from_secs(30);
/// Pages that are read.
const PAGES: usize = 100;
const ID: &str = "jelly-proxy:headers";

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageEnd {
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Asks for the tools, as the sender of this call would, and whether other
/// arguments travel as headers than was known (2026-07-28, Streamable HTTP,
/// "Client Behavior").
pub(super) async fn headers_have_changed(state: &RawState, call: &Outline) -> bool {
    let before = state.params();
    // What was read by then counts.
    let _ = timeout(TAKES, list(state, call)).await;
    state.params() != before
}

async fn list(state: &RawState, call: &Outline) -> Option<()> {
    let meta = call.param("_meta")?;
    let mut cursor = None;
    for _ in 0..PAGES {
        let mut params = json!({ "_meta": meta });
        // It is the call's alone.
        if let Some(meta) = params["_meta"].as_object_mut() {
            meta.shift_remove("progressToken");
        }
        if let Some(cursor) = cursor {
            params["cursor"] = Value::String(cursor);
        }
        let method = ListKind::Tools.method();
        let question = json!({ "jsonrpc": "2.0", "id": ID, "method": method, "params": params });
        let message = RawMessage::of(question.to_string().as_bytes(), &[]);
        let post = Post {
            link: &state.link,
            carrier: state,
            body: &message.line,
            outline: &message.outline,
            carried: &message.carried,
        };
        let result = result_of(post.response().await.ok()?).await?;
        state.learn(&result);
        let end: PageEnd = serde_json::from_str(&result).unwrap_or_default();
        cursor = Some(end.next_cursor?);
    }
    None
}

/// The result that a response brings, by whichever way.
async fn result_of(response: Response) -> Option<String> {
    if !response.status().is_success() {
        return None;
    }
    let kind = kind_of_body(response.headers());
    let mut body = HttpBody::of(response).ok()?;
    let BodyKind::Events = kind else {
        let mut bytes = Vec::new();
        let is_whole = body.read_while(&mut bytes, |bytes| bytes.len() <= MAX_LINE_BYTES);
        return match is_whole.await {
            Ok(true) => answer(&bytes),
            Ok(false) | Err(_) => None,
        };
    };
    let mut parser = SseParser::new(MAX_LINE_BYTES);
    while let Ok(Some(chunk)) = body.chunk().await {
        let mut found = None;
        parser.push(&chunk, &mut |item| {
            if let SseItem::Event { data, .. } = item {
                found = found.take().or_else(|| answer(data));
            }
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

fn answer(bytes: &[u8]) -> Option<String> {
    let seen: RawSeen<'_> = serde_json::from_slice(bytes).ok()?;
    let answers = seen.answers(Some(&Value::from(ID)));
    let result = seen.result.filter(|_| answers)?;
    Some(result.get().to_owned())
}
