//! Each message of the peer by a request of its own, until the end.
//!
//! Main function: [`connect`].

use super::exchange::Exchange;
use super::headers::Outline;
use super::link::Link;
use super::listen::{self, Stream};
use crate::connection::{Connection, Shared};
use crate::exchange::End;
use crate::peer::Peer;
use jelly_base::model::{Era, Exit};
use jelly_process::ExitWatch;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};

/// After the exit, what the server sent before it is still read.
const DRAIN: Duration = Duration::from_millis(150);
/// How long the end of a session waits for what was sent before it.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// So many answers to the server's requests are under way at a time: a server
/// that asks and asks, and takes no answer, must not cost a socket for each.
const ANSWERS_AT_ONCE: usize = 64;
/// What a waiting answer takes besides its bytes.
const ANSWER_OVERHEAD: usize = 64;
/// The same for its own answer.
const GOODBYE: Duration = Duration::from_secs(2);

/// A connection whose messages travel by HTTP. `exit` is that of the server's
/// process, where it is ours.
pub fn connect(peer: Peer, mut link: Link, exit: Option<ExitWatch>) -> Connection {
    link.process.clone_from(&exit);
    Connection::driven(peer.with_streams(), |shared| {
        let (streams, opened) = unbounded_channel();
        let driver = Driver {
            shared,
            link: Arc::new(link),
            tasks: JoinSet::new(),
            requests: Vec::new(),
            waiting: VecDeque::new(),
            answers: VecDeque::new(),
            unsent: 0,
            answering: 0,
            opening: false,
            streams,
            opened,
        };
        driver.run(exit.unwrap_or_else(ExitWatch::never))
    })
}

struct Driver {
    shared: Arc<Shared>,
    link: Arc<Link>,
    tasks: JoinSet<Done>,
    /// The requests under way, by id.
    requests: Vec<(u64, AbortHandle)>,
    waiting: VecDeque<Vec<u8>>,
    /// Answers to the server's requests, for which there is no room yet, and
    /// how many bytes they take.
    answers: VecDeque<Vec<u8>>,
    unsent: usize,
    /// How many of them are under way.
    answering: usize,
    /// `notifications/initialized` is under way, and nothing may overtake it:
    /// a server may refuse what comes before.
    opening: bool,
    streams: UnboundedSender<Stream>,
    opened: UnboundedReceiver<Stream>,
}

/// What has come to its end.
enum Done {
    Exchange,
    /// An answer to a request of the server's.
    Answer,
    /// The session is open, as far as the server took the word for it.
    Opened {
        taken: bool,
    },
    Listening,
}

impl Driver {
    async fn run(mut self, exit: ExitWatch) {
        loop {
            self.send();
            self.drop_what_was_given_up();
            if self.shared.is_closing() && self.waiting.is_empty() {
                return self.end_session().await;
            }
            let shared = Arc::clone(&self.shared);
            tokio::select! {
                () = shared.wake.notified() => {}
                Some(done) = self.tasks.join_next() => self.after(done.unwrap_or(Done::Exchange)),
                Some(stream) = self.opened.recv() => {
                    let task = listen::hear_old(shared, Arc::clone(&self.link), stream);
                    self.tasks.spawn(async move { task.await; Done::Listening });
                }
                exit = exit.wait() => return self.end_with_process(exit).await,
            }
        }
    }

    /// Sends what the peer has to say.
    fn send(&mut self) {
        let mut bytes = Vec::new();
        let raw = {
            let mut peer = self.shared.peer();
            peer.take_outbox(&mut bytes);
            peer.wrote(bytes.len());
            peer.take_raw()
        };
        // JSON as it is written holds no line feed but the one after it.
        let lines = bytes.split(|byte| *byte == b'\n');
        self.waiting
            .extend(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
        for (id, body) in raw {
            let outline = Outline::of(&body);
            self.start(Some(id), body, outline);
        }
        while !self.opening
            && let Some(body) = self.waiting.pop_front()
        {
            let outline = Outline::of(&body);
            if outline.method.is_none() {
                self.unsent += body.len() + ANSWER_OVERHEAD;
                self.answers.push_back(body);
                continue;
            }
            let id = outline.request_id();
            self.opening = outline.method.as_deref() == Some("notifications/initialized");
            self.start(id, body, outline);
        }
        while !self.opening
            && self.answering < ANSWERS_AT_ONCE
            && let Some(body) = self.answers.pop_front()
        {
            self.unsent -= body.len() + ANSWER_OVERHEAD;
            self.answering += 1;
            let outline = Outline::of(&body);
            self.start(None, body, outline);
        }
        self.shared.peer().note_unsent(self.unsent);
    }

    /// Sends one message; `id` is the request's that waits for an answer.
    fn start(&mut self, id: Option<u64>, body: Vec<u8>, outline: Outline) {
        let opens = id.is_none() && self.opening;
        let answers = id.is_none() && outline.method.is_none();
        let exchange = Exchange {
            shared: Arc::clone(&self.shared),
            link: Arc::clone(&self.link),
            id,
            body,
            outline,
            streams: self.streams.clone(),
        };
        let handle = self.tasks.spawn(async move {
            let taken = exchange.run().await;
            match (opens, answers) {
                (true, _) => Done::Opened { taken },
                (false, true) => Done::Answer,
                (false, false) => Done::Exchange,
            }
        });
        if let Some(id) = id {
            self.requests.push((id, handle));
        }
    }

    fn after(&mut self, done: Done) {
        match done {
            Done::Exchange | Done::Listening => {}
            Done::Answer => self.answering = self.answering.saturating_sub(1),
            Done::Opened { taken } => {
                self.opening = false;
                let legacy = self
                    .shared
                    .peer()
                    .version()
                    .is_some_and(|version| version.era == Era::Legacy);
                if taken && legacy && !self.link.is_old_transport() {
                    let task = listen::listen(Arc::clone(&self.shared), Arc::clone(&self.link));
                    self.tasks.spawn(async move {
                        task.await;
                        Done::Listening
                    });
                }
            }
        }
    }

    /// Nobody waits for them any more: their streams are closed, which for a
    /// modern server is how it is told.
    fn drop_what_was_given_up(&mut self) {
        let peer = self.shared.peer();
        self.requests.retain(|(id, handle)| {
            if peer.gave_up(*id) {
                handle.abort();
            }
            !handle.is_finished() && !peer.gave_up(*id)
        });
    }

    async fn end_with_process(mut self, exit: Exit) {
        if self.link.is_ready() {
            let until = Instant::now() + DRAIN;
            while !self.shared.peer().pending_ids().is_empty()
                && let Ok(Some(_)) = timeout_at(until, self.tasks.join_next()).await
            {}
        }
        self.tasks.abort_all();
        self.shared.peer().finish(End::Exited(exit));
    }

    async fn end_session(mut self) {
        for (_, handle) in &self.requests {
            handle.abort();
        }
        // Whoever listens does so to the end; the others have little to say.
        let until = Instant::now() + LAST_WORDS;
        while self.opening
            && let Ok(Some(done)) = timeout_at(until, self.tasks.join_next()).await
        {
            self.after(done.unwrap_or(Done::Exchange));
        }
        if self.link.has_session() {
            // Whether it is heeded, or even allowed, is the server's to say.
            let _ = timeout(GOODBYE, self.link.delete(&*self.shared).send()).await;
        }
        self.tasks.abort_all();
        let end = End::Closed("was let go by jelly".to_owned());
        self.shared.peer().finish(end);
    }
}
