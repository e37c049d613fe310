//! What is answered over HTTP, as status, headers and bytes.
//!
//! Main type: [`AnswerBody`].

use crate::routing::{Outflow, OutflowEnd};
use hyper::Response;
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// A quiet stream says so often that it is there.
const QUIET: Duration = Duration::from_secs(15);

/// An answer.
pub type HttpAnswer = Response<AnswerBody>;

/// The body of an answer.
pub enum AnswerBody {
    Whole(Option<Bytes>),
    Events(Box<EventStream>),
}

/// Messages as server-sent events.
pub struct EventStream {
    outflow: Rc<Outflow>,
    quiet: Pin<Box<Sleep>>,
    /// What happens when the client has it all, or has gone.
    _departure: Departure,
}

/// Does something when it is dropped.
pub struct Departure(Option<Box<dyn FnOnce()>>);

impl Departure {
    pub fn new(act: impl FnOnce() + 'static) -> Self {
        Self(Some(Box::new(act)))
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |bytes: Bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        match self.get_mut() {
            Self::Whole(bytes) => bytes.take().map_or(Poll::Ready(None), frame),
            Self::Events(stream) => match stream.outflow.take(context.waker()) {
                Ok(Some(line)) => {
                    stream.quiet.as_mut().reset(Instant::now() + QUIET);
                    frame(event(&line))
                }
                Err(OutflowEnd) => Poll::Ready(None),
                Ok(None) => match stream.quiet.as_mut().poll(context) {
                    Poll::Ready(()) => {
                        stream.quiet.as_mut().reset(Instant::now() + QUIET);
                        frame(Bytes::from_static(b":\n\n"))
                    }
                    Poll::Pending => Poll::Pending,
                },
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// A message as an event. A carriage return, a blank in JSON, would end a line.
fn event(line: &[u8]) -> Bytes {
    const HEAD: &[u8] = b"event: message\ndata: ";
    let mut event = Vec::with_capacity(HEAD.len() + line.len() + 2);
    event.extend_from_slice(HEAD);
    event.extend(line.iter().map(|byte| match byte {
        b'\r' => b' ',
        other => *other,
    }));
    event.extend_from_slice(b"\n\n");
    Bytes::from(event)
}

/// Words for people.
pub fn plain(status: StatusCode, text: &str) -> HttpAnswer {
    with_body(status, "text/plain", Bytes::from(format!("{text}\n")))
}

/// A message.
pub fn message(status: StatusCode, line: Bytes) -> HttpAnswer {
    with_body(status, "application/json", line)
}

fn with_body(status: StatusCode, kind: &'static str, bytes: Bytes) -> HttpAnswer {
    let mut answer = Response::new(AnswerBody::Whole(Some(bytes)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Nothing but a status.
pub fn empty(status: StatusCode) -> HttpAnswer {
    let mut answer = Response::new(AnswerBody::Whole(None));
    *answer.status_mut() = status;
    answer
}

/// An error to a request with this id, as it was written, or to nobody's.
pub fn refusal(status: StatusCode, id: Option<&str>, code: i64, text: &str) -> HttpAnswer {
    error(status, id, &json!({ "code": code, "message": text }))
}

/// The same with an error as it is to be sent.
pub fn error(status: StatusCode, id: Option<&str>, error: &Value) -> HttpAnswer {
    let id = id.unwrap_or("null");
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}");
    message(status, Bytes::from(line))
}

/// A stream of events, and what is done when it is over.
pub fn events(outflow: Rc<Outflow>, departure: Departure) -> HttpAnswer {
    let stream = EventStream {
        outflow,
        quiet: Box::pin(sleep(QUIET)),
        _departure: departure,
    };
    let mut answer = Response::new(AnswerBody::Events(Box::new(stream)));
    let headers = answer.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

/// The method is none that is answered here.
pub fn not_allowed() -> HttpAnswer {
    let mut answer = plain(
        StatusCode::METHOD_NOT_ALLOWED,
        "jelly proxy takes POST, GET and DELETE",
    );
    let allowed = HeaderValue::from_static("POST, GET, DELETE");
    answer.headers_mut().insert(ALLOW, allowed);
    answer
}

/// The guard has refused a request.
pub fn forbidden(status: u16, text: &str) -> HttpAnswer {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    let mut answer = plain(status, text);
    if status == StatusCode::UNAUTHORIZED {
        let bearer = HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(WWW_AUTHENTICATE, bearer);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn a_message_is_one_event_whatever_blanks_it_has() {
        assert_eq!(
            &event(b"{\"a\":1,\r\"b\":2}")[..],
            b"event: message\ndata: {\"a\":1, \"b\":2}\n\n"
        );
    }
}
