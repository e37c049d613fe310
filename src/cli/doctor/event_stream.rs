//! Whether a server can be reached by the transport of old, HTTP with events: a
//! GET opens a stream, whose first event says where messages go.

use jelly_base::model::Finding;
use jelly_base::text::redact::Redactor;
use jelly_setup::doctor::{Config, Place, only_streamable};
use jelly_wire::{Endpoint, PlainHttp, PlainRequest};
use std::time::Duration;
use tokio::time::timeout;

/// It has answered another request already.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is to be said of an entry whose `type` says so, and whose server answers
/// by Streamable HTTP; nothing where such a stream came too, or it is not known
/// what would have come.
pub async fn only_streamable_at(
    endpoint: &Endpoint,
    config: &Config,
    at: Place,
    redactor: &Redactor,
) -> Option<Finding> {
    let http = PlainHttp::new(endpoint, redactor).ok()?;
    let request = PlainRequest {
        method: "GET".to_owned(),
        path: http.own_path(),
        headers: vec![("accept".to_owned(), "text/event-stream".to_owned())],
        ..PlainRequest::default()
    };
    let answer = timeout(PATIENCE, http.send(&request)).await.ok()?.ok()?;
    // Others may pass, or ask for what the client has and jelly has not.
    if !matches!(answer.status, 400 | 404..=406 | 410 | 501) {
        return None;
    }
    let answered = format!("was answered with HTTP {}", answer.status);
    let url = redactor.redact(&endpoint.url);
    Some(only_streamable(config, at, &url, &answered))
}
