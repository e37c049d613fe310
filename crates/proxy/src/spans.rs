//! A span for each request, sent over OTLP by HTTP with JSON.
//!
//! Main types: [`SpanTap`], which only puts spans into a bounded queue, and
//! [`SpanExporter`], which empties it. Traffic waits for neither: what there is
//! no room for is left out, and counted.

use super::account::{RequestEnd, RequestOutcome};
use super::pass_on::PassOn;
use jelly_base::text::redact::Redactor;
use jelly_wire::JsonPoster;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// Spans that wait to be sent.
const WAITING: usize = 2048;
/// Spans that are sent together.
const BATCH: usize = 256;
/// How long the first of them waits for others.
const GATHER: Duration = Duration::from_millis(500);
/// What a batch may take.
const SENDING: Duration = Duration::from_secs(5);
/// What the last ones may take when all is over.
const LAST_SPANS: Duration = Duration::from_secs(2);

/// Takes note of requests.
#[derive(Debug, Clone)]
pub struct SpanTap {
    spans: Sender<Value>,
    server: String,
    redactor: Redactor,
    left_out: Rc<Cell<u64>>,
    random: SystemRandom,
}

/// Sends what was noted.
#[derive(Debug)]
pub struct SpanExporter(JoinHandle<()>);

/// Where the spans of a base address go: as it is, if it has a path.
#[must_use]
pub fn traces_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.trim_end_matches('/').contains('/') {
        true => url.to_owned(),
        false => format!("{}/v1/traces", url.trim_end_matches('/')),
    }
}

impl SpanTap {
    /// Starts to send spans of this server, on the runtime's own thread.
    #[must_use]
    pub fn start(
        poster: JsonPoster,
        server: &str,
        redactor: &Redactor,
        log: PassOn,
    ) -> (Self, SpanExporter) {
        let (spans, received) = channel(WAITING);
        let left_out = Rc::new(Cell::new(0));
        let tap = Self {
            spans,
            server: server.to_owned(),
            redactor: redactor.clone(),
            left_out: Rc::clone(&left_out),
            random: SystemRandom::new(),
        };
        let work = export(poster, received, left_out, log);
        (tap, SpanExporter(tokio::task::spawn_local(work)))
    }

    pub fn note(&self, end: &RequestEnd<'_>) {
        let Some(span) = self.span(end) else {
            return;
        };
        if self.spans.try_send(span).is_err() {
            self.left_out.set(self.left_out.get() + 1);
        }
    }

    fn span(&self, end: &RequestEnd<'_>) -> Option<Value> {
        let clean = |text: &str| self.redactor.redact(text).into_owned();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let took = Instant::now().saturating_duration_since(end.since);
        let start = now.checked_sub(took)?;
        let mut ids = [0; 24];
        self.random.fill(&mut ids).ok()?;
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        let method = clean(end.method);
        let tool = end.tool.map(clean);
        let name = match &tool {
            Some(tool) => format!("{method} {tool}"),
            None => method.clone(),
        };
        let root_cause = match end.outcome {
            RequestOutcome::Unavailable { root_cause } => Some(root_cause),
            RequestOutcome::Answered
            | RequestOutcome::ToolError
            | RequestOutcome::Refused
            | RequestOutcome::TimedOut
            | RequestOutcome::Cancelled => None,
        };
        let told = [
            ("rpc.system", Some("jsonrpc".to_owned())),
            ("rpc.method", Some(method)),
            ("mcp.server", Some(clean(&self.server))),
            ("mcp.tool", tool),
            ("jelly.outcome", Some(end.outcome.name().to_owned())),
            ("jelly.root_cause", root_cause.map(str::to_owned)),
            ("jelly.adapter", end.rung.map(|rung| rung.name().to_owned())),
        ];
        let attributes: Vec<Value> = told
            .into_iter()
            .filter_map(|(key, value)| Some(attribute(key, &value?)))
            .collect();
        // 1 is well, 2 is not; what the client gave up is neither.
        let status = match end.outcome {
            RequestOutcome::Answered => 1,
            RequestOutcome::Cancelled => 0,
            RequestOutcome::ToolError
            | RequestOutcome::Refused
            | RequestOutcome::Unavailable { .. }
            | RequestOutcome::TimedOut => 2,
        };
        let mut span = json!({
            "traceId": end.parent.map_or_else(|| hex(&ids[..16]), |parent| parent.trace.clone()),
            "spanId": hex(&ids[16..]),
            "name": name,
            // Of a client.
            "kind": 3,
            "startTimeUnixNano": start.as_nanos().to_string(),
            "endTimeUnixNano": now.as_nanos().to_string(),
            "attributes": attributes,
            "status": { "code": status },
        });
        if let Some(parent) = end.parent {
            span["parentSpanId"] = parent.span.as_str().into();
        }
        Some(span)
    }
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// A document of spans.
fn document(spans: &[Value]) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        attribute("service.name", "jelly proxy"),
        attribute("service.version", version),
    ];
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "jelly", "version": version }, "spans": spans }],
    }] })
    .to_string()
    .into_bytes()
}

async fn export(
    poster: JsonPoster,
    mut received: Receiver<Value>,
    left_out: Rc<Cell<u64>>,
    mut log: PassOn,
) {
    let mut batch = Vec::new();
    let mut complained = false;
    while received.recv_many(&mut batch, BATCH).await > 0 {
        if batch.len() < BATCH && !received.is_closed() {
            let more = async {
                while batch.len() < BATCH && received.recv_many(&mut batch, BATCH).await > 0 {}
            };
            tokio::select! {
                () = more => {}
                () = sleep(GATHER) => {}
            }
        }
        let sent = timeout(SENDING, poster.post(document(&batch))).await;
        let trouble = match sent {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why),
            Err(_) => Some("it took too long".to_owned()),
        };
        // Once: it would be said for each batch.
        if let Some(why) = trouble
            && !std::mem::replace(&mut complained, true)
        {
            let _ = writeln!(
                log,
                "jelly proxy: spans can't be sent to {}: {why}; they are left out",
                poster.shown()
            );
        }
        batch.clear();
    }
    let left_out = left_out.get();
    if left_out > 0 {
        let _ = writeln!(
            log,
            "jelly proxy: {left_out} spans were left out: too many at a time"
        );
    }
}

impl SpanExporter {
    /// Waits for the last spans, yet not for long; every [`SpanTap`] has to be
    /// dropped before.
    pub async fn finish(self) {
        let _ = timeout(LAST_SPANS, self.0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::traces_url;

    #[test]
    fn spans_go_where_collectors_take_them() {
        for (given, wanted) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            ("https://h/v1/traces", "https://h/v1/traces"),
            ("https://h/otlp/traces?k=v", "https://h/otlp/traces?k=v"),
        ] {
            assert_eq!(traces_url(given), wanted);
        }
    }
}
