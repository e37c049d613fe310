//! Signals: the first asks for an orderly end, the second ends at once.

use crate::model::{ExitCode, Signal};
use std::io;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Listens for SIGINT, SIGTERM and SIGHUP (which counts as SIGTERM) from now
/// on. Must be called inside a [`tokio::task::LocalSet`].
///
/// # Errors
/// The system refuses a handler.
pub fn listen() -> io::Result<watch::Receiver<Option<Signal>>> {
    let mut int = signal(SignalKind::interrupt())?;
    let mut term = signal(SignalKind::terminate())?;
    let mut hup = signal(SignalKind::hangup())?;
    let (sender, receiver) = watch::channel(None);
    tokio::task::spawn_local(async move {
        loop {
            let came = tokio::select! {
                Some(()) = int.recv() => Signal::Int,
                Some(()) = term.recv() => Signal::Term,
                Some(()) = hup.recv() => Signal::Term,
                else => return,
            };
            if sender.borrow().is_some() {
                // Whoever says it twice does not want to wait. The servers
                // die with us: the supervisor sees to that.
                crate::process::sweep_orphans(&[]);
                std::process::exit(ExitCode::Interrupted(came).code().into());
            }
            // Without a receiver there is nothing left to stop.
            let _ = sender.send(Some(came));
        }
    });
    Ok(receiver)
}
