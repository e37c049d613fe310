//! A client at the standard streams, or a look whether the server can be had.
//!
//! Main functions: [`run`] and [`trial`].

use super::client::Client;
use super::diagnosis::trouble_of;
use super::driver::{Proxy, ProxyEnd, SharedEngine};
use super::pass_on::PassOn;
use super::settings::ProxySettings;
use super::spans::{SpanExporter, SpanTap};
use super::trouble::Trouble;
use jelly_base::model::UpstreamErrorType;
use jelly_harness::exec::{CheckupSettings, examine};
use jelly_triage::engine::Engine;
use jelly_wire::JsonPoster;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// What the end may take until all of stderr is written.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(200);

/// Looks whether the server can be started: what a client would be told, where
/// it can't, and else how many tools it has.
///
/// # Errors
/// What is in the way.
pub async fn trial(settings: &ProxySettings, engine: &Engine) -> Result<usize, Box<Trouble>> {
    let checkup = CheckupSettings {
        startup_timeout: settings.relay.startup_timeout,
        redactor: settings.redactor.clone(),
        starts: Arc::new(Semaphore::new(1)),
    };
    let examined = examine(&settings.name, &settings.reach, &checkup).await;
    match (examined.failure, examined.ready) {
        (_, Some(ready)) => Ok(ready.tools),
        (failure, None) => Err(Box::new(trouble_of(
            engine,
            &failure.unwrap_or_default(),
            UpstreamErrorType::StartupFailed,
        ))),
    }
}

/// Passes messages of the client at the standard streams until it closes its
/// end.
///
/// # Errors
/// Our own streams can't be used.
pub async fn run(
    settings: Rc<ProxySettings>,
    engine: SharedEngine,
    interrupted: impl Future<Output = ()>,
) -> io::Result<ProxyEnd> {
    let (pass_on, passed_on) = PassOn::start()?;
    let (spans, exporter) = spans_of(&settings, &pass_on)?.unzip();
    let proxy = Proxy::new(settings, engine, Client::at_streams()?, (pass_on, spans))?;
    let end = proxy.run(interrupted).await;
    if let Some(exporter) = exporter {
        exporter.finish().await;
    }
    passed_on.wait(LAST_WORDS);
    end
}

/// What notes spans and sends them, where that is wanted.
pub(super) fn spans_of(
    settings: &ProxySettings,
    log: &PassOn,
) -> io::Result<Option<(SpanTap, SpanExporter)>> {
    let Some(url) = &settings.otlp else {
        return Ok(None);
    };
    let poster = JsonPoster::new(url, &settings.redactor).map_err(io::Error::other)?;
    let (name, redactor) = (&settings.name, &settings.redactor);
    Ok(Some(SpanTap::start(poster, name, redactor, log.clone())))
}
