//! Connections over HTTP, and who may ask by them.
//!
//! Main function: [`listen`].

use super::answers;
use super::post;
use super::sessions::{ListenSettings, Sessions};
use crate::driver::{ProxyEnd, SharedEngine};
use crate::pass_on::PassOn;
use crate::run::{LAST_WORDS, spans_of};
use crate::settings::ProxySettings;
use hyper::StatusCode;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use jelly_wire::ListenGuard;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{MissedTickBehavior, interval, sleep};

/// More connections wait.
const MOST_CONNECTIONS: usize = 512;
/// So long a client may take over the headers of a request.
const HEADERS_TAKE: Duration = Duration::from_secs(20);
/// How often it is looked for what nobody uses.
const SWEEP: Duration = Duration::from_secs(1);
/// Where messages are taken.
const PATH: &str = "/mcp";

/// Serves clients over HTTP until somebody asks it to end.
///
/// # Errors
/// No thread for stderr can be had.
pub async fn listen(
    (guard, listener): (ListenGuard, TcpListener),
    limits: ListenSettings,
    settings: Rc<ProxySettings>,
    engine: SharedEngine,
    interrupted: impl Future<Output = ()>,
) -> io::Result<ProxyEnd> {
    let (pass_on, passed_on) = PassOn::start()?;
    let (spans, exporter) = spans_of(&settings, &pass_on)?.unzip();
    let sessions = Sessions::new(settings, engine, limits, (pass_on, spans));
    tokio::select! {
        () = accept(Rc::new(guard), listener, &sessions) => {}
        () = sweep(&sessions) => {}
        () = interrupted => {}
    }
    sessions.end_all().await;
    drop(sessions);
    if let Some(exporter) = exporter {
        exporter.finish().await;
    }
    passed_on.wait(LAST_WORDS);
    Ok(ProxyEnd::Interrupted)
}

async fn sweep(sessions: &Sessions) {
    let mut ticks = interval(SWEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        sessions.sweep();
    }
}

async fn accept(guard: Rc<ListenGuard>, listener: TcpListener, sessions: &Rc<Sessions>) {
    let connections = std::sync::Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // Never closed, so there is always a permit in the end.
        let permit = connections.clone().acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: some will be free again.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (guard, sessions) = (Rc::clone(&guard), Rc::clone(sessions));
        tokio::task::spawn_local(async move {
            let _permit = permit;
            serve(stream, guard, sessions).await;
        });
    }
}

async fn serve(stream: TcpStream, guard: Rc<ListenGuard>, sessions: Rc<Sessions>) {
    // Small answers must not wait for more.
    let _ = stream.set_nodelay(true);
    let cut = Rc::new(Notify::new());
    let of_connection = Rc::clone(&cut);
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (guard, sessions) = (Rc::clone(&guard), Rc::clone(&sessions));
        let cut = Rc::clone(&of_connection);
        async move {
            let headers = request.headers().iter();
            let headers: Vec<_> = headers
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
                .collect();
            if let Err(refusal) = guard.check(headers.iter().copied()) {
                let text = refusal.to_string();
                return Ok::<_, Infallible>(answers::forbidden(refusal.status(), &text));
            }
            if request.uri().path() != PATH {
                let text = "jelly proxy answers at /mcp";
                return Ok(answers::plain(StatusCode::NOT_FOUND, text));
            }
            Ok(post::answer(request, &sessions, cut).await)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_TAKE)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        // What breaks a connection is the client's.
        _ = connection => {}
        () = cut.notified() => {}
    }
}
