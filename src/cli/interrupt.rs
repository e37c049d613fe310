//! Signals: the first asks for an orderly end, the second ends at once.

use jelly_base::model::{ExitCode, Signal};
use std::io;
use std::thread;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::sync::watch;

/// Listens for SIGINT, SIGTERM and SIGHUP (which counts as SIGTERM) from now
/// on, in a thread of its own: whoever has no time to hear the first signal,
/// since a file is slow to open or a computation long, is ended by the second
/// all the same.
///
/// # Errors
/// The system refuses a handler or the thread.
pub fn listen() -> io::Result<watch::Receiver<Option<Signal>>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let streams = {
        let _inside = runtime.enter();
        Streams {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
        }
    };
    let (sender, receiver) = watch::channel(None);
    thread::Builder::new()
        .name("signals".into())
        .stack_size(256 * 1024)
        .spawn(move || runtime.block_on(pass_on(streams, &sender)))?;
    Ok(receiver)
}

struct Streams {
    int: Stream,
    term: Stream,
    hup: Stream,
}

async fn pass_on(mut streams: Streams, sender: &watch::Sender<Option<Signal>>) {
    loop {
        let came = tokio::select! {
            Some(()) = streams.int.recv() => Signal::Int,
            Some(()) = streams.term.recv() => Signal::Term,
            Some(()) = streams.hup.recv() => Signal::Term,
            else => return,
        };
        if sender.borrow().is_some() {
            // Whoever says it twice does not want to wait. The servers die
            // with us: the supervisor sees to that.
            jelly_process::sweep_orphans(&[]);
            jelly_process::clear_scratch();
            std::process::exit(ExitCode::Interrupted(came).code().into());
        }
        // Without a receiver there is nothing left to stop.
        let _ = sender.send(Some(came));
    }
}
