//! Signals: the first asks for an orderly end, the second for one that waits for
//! nothing but the reports. A third does not hurry them: they take little time, and
//! whoever presses Ctrl-C until something happens wants them all the same.

use super::refusal::Refusal;
use jelly_base::model::{ExitCode, Interrupt, Signal};
use jelly_process::LAST_WORDS_TAKE;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

/// A signal came.
static CAME: AtomicBool = AtomicBool::new(false);

/// Whether a signal came that is listened for: for what waits outside of the
/// runtime.
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "only a database is waited for so")
)]
pub fn came() -> bool {
    CAME.load(Ordering::Relaxed)
}

/// Listens for SIGINT, SIGTERM and SIGHUP (which counts as SIGTERM) from now
/// on, in a thread of its own.
///
/// # Errors
/// The system refuses a handler or the thread.
pub fn listen() -> Result<watch::Receiver<Option<Interrupt>>, Refusal> {
    let listening = start_listening();
    listening.map_err(|error| Refusal::fault(&format!("signals can't be listened for: {error}")))
}

fn start_listening() -> io::Result<watch::Receiver<Option<Interrupt>>> {
    let (sender, receiver) = watch::channel(None);
    let (ready, outcome) = mpsc::channel();
    thread::Builder::new()
        .name("signals".into())
        .stack_size(256 * 1024)
        .spawn(move || match open() {
            Ok((runtime, streams)) => {
                // Whoever waits for it has gone only where jelly ends.
                let _ = ready.send(Ok(()));
                runtime.block_on(pass_on(streams, &sender));
            }
            Err(error) => drop(ready.send(Err(error))),
        })?;
    outcome
        .recv()
        .unwrap_or_else(|_| Err(io::Error::other("their thread has ended")))?;
    Ok(receiver)
}

/// In the thread that will wait for them: a runtime must not be dropped within
/// another.
fn open() -> io::Result<(Runtime, Streams)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let streams = {
        let _inside = runtime.enter();
        Streams {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
        }
    };
    Ok((runtime, streams))
}

struct Streams {
    int: Stream,
    term: Stream,
    hup: Stream,
}

impl Streams {
    /// The next one; `None` when there will be no more.
    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            Some(()) = self.int.recv() => Some(Signal::Int),
            Some(()) = self.term.recv() => Some(Signal::Term),
            Some(()) = self.hup.recv() => Some(Signal::Term),
            else => None,
        }
    }
}

async fn pass_on(mut streams: Streams, sender: &watch::Sender<Option<Interrupt>>) {
    let Some(signal) = streams.next().await else {
        return;
    };
    CAME.store(true, Ordering::Relaxed);
    let tell = |insists| {
        sender.send_replace(Some(Interrupt { signal, insists }));
    };
    tell(false);
    if streams.next().await.is_none() {
        return;
    }
    tell(true);
    // Whoever has no time to hear of it by then, since a file is slow to open or a
    // computation long, is ended all the same.
    sleep(LAST_WORDS_TAKE).await;
    // The servers die with us: the supervisor sees to that.
    jelly_process::sweep_orphans(&[]);
    jelly_process::clear_scratch();
    std::process::exit(ExitCode::Interrupted(signal).code().into());
}
