//! The server over Streamable HTTP: who may ask is judged first.

use super::handler::ServeHandler;
use crate::cli::listening::listen_at;
use crate::cli::refusal::{Refusal, complain};
use crate::cli::settings::World;
use http::header::WWW_AUTHENTICATE;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use jelly_base::model::ExitCode;
use jelly_wire::ListenGuard;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// More connections wait.
const MOST_CONNECTIONS: usize = 64;

/// More sessions of the legacy era are not opened; idle ones end by themselves.
const MOST_SESSIONS: usize = 128;
const SESSION: &str = "mcp-session-id";

/// A larger request is refused.
const LARGEST_REQUEST: usize = 4 << 20;

/// So long a client may take over the headers of a request.
const HEADERS_TAKE: Duration = Duration::from_secs(20);

/// So long it may take over the body.
const BODY_TAKES: Duration = Duration::from_secs(60);

/// Where it is served.
const PATH: &str = "/mcp";

type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;
type McpService = StreamableHttpService<ServeHandler, LocalSessionManager>;

/// Listens until it is interrupted.
pub async fn listen(
    address: SocketAddr,
    token_env: Option<&str>,
    world: &World,
    handler: &ServeHandler,
) -> Result<ExitCode, Refusal> {
    let (guard, listener, bound) = listen_at(address, token_env, world).await?;
    let guard = Arc::new(guard);
    complain(&format!("jelly serve: listening at http://{bound}{PATH}"));
    // Who may ask is judged by the guard, which knows the port and the token.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LARGEST_REQUEST);
    let handler = handler.clone();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = McpService::new(move || Ok(handler.clone()), sessions.clone(), config);
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // Never closed, so there is always a permit in the end.
        let permit = connections.clone().acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: some will be free again.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (guard, service, sessions) = (guard.clone(), service.clone(), sessions.clone());
        tokio::spawn(async move {
            let _permit = permit;
            let answer = service_fn(move |request| {
                let (guard, service, sessions) = (guard.clone(), service.clone(), sessions.clone());
                async move { Ok::<_, Infallible>(answer(request, &guard, &service, &sessions).await) }
            });
            // What breaks a connection is the client's.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_TAKE)
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    guard: &ListenGuard,
    service: &McpService,
    sessions: &LocalSessionManager,
) -> HttpAnswer {
    let headers = request.headers().iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    if let Err(refusal) = guard.check(headers.iter().copied()) {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
        let mut refused = plain(status, &format!("{refusal}\n"));
        if status == StatusCode::UNAUTHORIZED {
            let bearer = http::HeaderValue::from_static("Bearer");
            refused.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        return refused;
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "jelly serve answers at /mcp\n");
    }
    let opens = !request.headers().contains_key(SESSION);
    if opens && sessions.sessions.read().await.len() >= MOST_SESSIONS {
        let why = "jelly serve has no room for more sessions; close some\n";
        return plain(StatusCode::SERVICE_UNAVAILABLE, why);
    }
    let (head, body) = request.into_parts();
    let too_large = || {
        let text = format!("jelly serve takes requests of {LARGEST_REQUEST} bytes at most\n");
        plain(StatusCode::PAYLOAD_TOO_LARGE, &text)
    };
    if body.size_hint().lower() > LARGEST_REQUEST as u64 {
        return too_large();
    }
    // The SDK would wait for the rest of a body for ever.
    let body = match timeout(BODY_TAKES, Limited::new(body, LARGEST_REQUEST).collect()).await {
        Ok(Ok(body)) => Full::new(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(),
        Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the body broke off\n"),
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body took too long\n"),
    };
    service.handle(Request::from_parts(head, body)).await
}

fn plain(status: StatusCode, text: &str) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(text.to_owned())).boxed());
    *answer.status_mut() = status;
    answer
}
