//! Streams that no request asked for: what a legacy server has to say by
//! itself, and the one stream of the deprecated HTTP+SSE transport.

use super::body::{BodyError, HttpBody};
use super::client::same_origin;
use super::events::{DEFAULT_RETRY, RESUMPTIONS, hear};
use super::facts;
use super::link::{Carrier, Link};
use super::sse::{SseItem, SseParser};
use crate::connection::Shared;
use crate::{HttpEnd, MAX_LINE_BYTES, ReplyOutcome};
use jelly_base::model::HttpFacts;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, Url};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// So long a server may take to send the event that the deprecated transport
/// begins with.
const ENDPOINT_TAKES: Duration = Duration::from_secs(3);

/// A stream of the deprecated transport, open and past its first event.
pub(super) struct Stream {
    pub body: HttpBody,
    pub head: HttpFacts,
    pub parser: SseParser,
}

/// Whether the answer is a stream of events.
pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    response.status().is_success()
        && kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Listens to a legacy server that has something to say by itself, until it
/// has nothing more. One that offers no such stream need not.
pub(super) async fn listen(shared: Arc<Shared>, link: Arc<Link>) {
    let mut parser = SseParser::new(MAX_LINE_BYTES);
    let mut retry = DEFAULT_RETRY;
    let mut in_vain = 0;
    while in_vain <= RESUMPTIONS {
        in_vain += 1;
        let since = parser.last_event_id().map(str::to_owned);
        match link
            .stream(link.endpoint(), since.as_deref(), &*shared)
            .await
        {
            Ok(response) if is_stream(&response) => {
                parser.restart();
                // One that jelly can't unpack is none.
                let Ok(mut body) = HttpBody::of(response) else {
                    break;
                };
                while let Ok(Some(chunk)) = body.chunk().await {
                    in_vain = 0;
                    hear(&shared, &mut parser, &chunk, &mut retry, &mut Vec::new());
                }
            }
            Ok(_) => break,
            // What is wrong shows in the next request.
            Err(_) => {}
        }
        sleep(retry).await;
    }
    shared.peer().hears_answers_alone();
}

/// Opens the stream of the deprecated transport, if the server has it, and
/// reads where messages are to go.
pub(super) async fn open_old(link: &Link, carrier: &dyn Carrier) -> Option<(Stream, Url)> {
    let asked = timeout(ENDPOINT_TAKES, async {
        let response = link.stream(link.endpoint(), None, carrier).await.ok()?;
        if !is_stream(&response) {
            return None;
        }
        let head = link.head(&response);
        let mut body = HttpBody::of(response).ok()?;
        let mut parser = SseParser::new(MAX_LINE_BYTES);
        let mut endpoint = None;
        while endpoint.is_none() {
            let chunk = body.chunk().await.ok()??;
            // What follows the first event in the same chunk can only be
            // noise: nothing was asked yet.
            parser.push(&chunk, &mut |item| {
                if let SseItem::Event { name, data } = item {
                    let text = String::from_utf8_lossy(data).trim().to_owned();
                    endpoint.get_or_insert((name == "endpoint").then_some(text));
                }
            });
        }
        let url = link.endpoint().join(&endpoint??).ok()?;
        if !same_origin(&link.endpoint(), &url) {
            let text = "names an endpoint of another origin for its messages, where none may go";
            carrier.breach(text);
            return None;
        }
        Some((Stream { body, head, parser }, url))
    });
    asked.await.ok()?
}

/// Hears the stream of the deprecated transport, on which all answers come, to
/// its end, which is that of every request.
pub(super) async fn hear_old(shared: Arc<Shared>, link: Arc<Link>, stream: Stream) {
    let Stream {
        mut body,
        head,
        mut parser,
    } = stream;
    let mut retry = DEFAULT_RETRY;
    let error = loop {
        match body.chunk().await {
            Ok(Some(chunk)) => {
                let unread = hear(&shared, &mut parser, &chunk, &mut retry, &mut Vec::new());
                if let Some(limit) = unread {
                    let text = "sent an event that is beyond what jelly reads";
                    shared.peer().pass_over_answer(limit, text);
                }
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let end = old_end(error, head, &link);
    link.end_old_transport(end.clone());
    if let Some(process) = &link.process
        && timeout(Duration::from_secs(1), process.wait())
            .await
            .is_ok()
    {
        // The driver sees the exit too, which says more.
        return;
    }
    let mut peer = shared.peer();
    for id in peer.pending_ids() {
        peer.settle_request(id, ReplyOutcome::Http(Box::new(end.clone())));
    }
}

/// What is said of every request once the stream of the deprecated transport
/// has ended.
pub(super) fn old_end(error: Option<BodyError>, head: HttpFacts, link: &Link) -> HttpEnd {
    let text = "the event stream that all answers come by has ended";
    let mut end = match error {
        Some(BodyError::Lost(error)) => facts::lost(error, Some(head), &link.redactor),
        Some(BodyError::Packed(error)) => facts::ill_packed(head, &error),
        None => facts::useless(head, ""),
    };
    end.message = format!("got no answer: {text}");
    end.facts.error.get_or_insert_with(|| "closed".to_owned());
    end.facts.text = Some(match end.facts.text.take() {
        Some(cause) => format!("{text}: {cause}"),
        None => text.to_owned(),
    });
    end
}
