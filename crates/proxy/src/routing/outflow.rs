//! One stream to a client: messages wait here until the connection takes them.
//!
//! Main type: [`Outflow`].

use hyper::body::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// What waits in all streams of a client together.
#[derive(Default)]
pub struct Waterline {
    bytes: Cell<usize>,
    room: Notify,
}

impl Waterline {
    pub fn is_above(&self, limit: usize) -> bool {
        self.bytes.get() > limit
    }

    /// Waits until something was taken.
    pub async fn sinks(&self) {
        self.room.notified().await;
    }

    fn add(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }

    fn remove(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
        self.room.notify_one();
    }
}

/// See the module. All of it is in one thread.
pub struct Outflow {
    state: RefCell<OutflowState>,
    changed: Notify,
    waterline: Rc<Waterline>,
    /// Answers that are still to come; none of a stream that stays open.
    owed: Cell<usize>,
    /// Ends the connection by which it goes.
    cut: Rc<Notify>,
}

#[derive(Default)]
struct OutflowState {
    queue: VecDeque<Bytes>,
    bytes: usize,
    /// No more comes.
    ended: bool,
    /// The connection has gone.
    gone: bool,
    waker: Option<Waker>,
    /// Since when the connection has not taken what is there.
    waiting_since: Option<Instant>,
}

/// How an answer begins.
pub enum FirstWord {
    /// It is this message and nothing else.
    Whole(Bytes),
    /// There is more, or it takes longer.
    Stream,
}

impl Outflow {
    /// A stream of the connection that `cut` ends, for so many answers.
    pub fn new(owed: usize, waterline: Rc<Waterline>, cut: Rc<Notify>) -> Rc<Self> {
        Rc::new(Self {
            state: RefCell::default(),
            changed: Notify::new(),
            waterline,
            owed: Cell::new(owed),
            cut,
        })
    }

    /// Adds an answer, in one line; after the last one no more comes.
    pub fn answer(&self, line: &[u8]) {
        self.push(line);
        self.settle();
    }

    /// One answer less is to come.
    pub fn settle(&self) {
        self.owed.set(self.owed.get().saturating_sub(1));
        if self.owed.get() == 0 {
            self.end();
        }
    }

    /// Adds a message, in one line.
    pub fn push(&self, line: &[u8]) {
        let mut state = self.state.borrow_mut();
        if state.gone {
            return;
        }
        let line = Bytes::copy_from_slice(line.trim_ascii());
        state.bytes += line.len();
        self.waterline.add(line.len());
        state.queue.push_back(line);
        state.waiting_since.get_or_insert_with(Instant::now);
        self.wake(&mut state);
    }

    /// No more comes.
    pub fn end(&self) {
        let mut state = self.state.borrow_mut();
        state.ended = true;
        self.wake(&mut state);
    }

    fn wake(&self, state: &mut OutflowState) {
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
        self.changed.notify_one();
    }

    /// The connection has gone, with what it did not take.
    pub fn leave(&self) {
        let mut state = self.state.borrow_mut();
        state.gone = true;
        state.queue = VecDeque::new();
        self.waterline.remove(std::mem::take(&mut state.bytes));
        state.waiting_since = None;
    }

    /// Ends the connection at once.
    pub fn cut_off(&self) {
        self.leave();
        self.cut.notify_one();
    }

    pub fn is_gone(&self) -> bool {
        self.state.borrow().gone
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> usize {
        self.state.borrow().bytes
    }

    /// How long the connection has taken nothing, although there is something.
    pub fn stalled_for(&self, now: Instant) -> Duration {
        let since = self.state.borrow().waiting_since;
        since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// The next message; `None` where there is none yet, and an error at the end.
    pub fn take(&self, waker: &Waker) -> Result<Option<Bytes>, OutflowEnd> {
        let mut state = self.state.borrow_mut();
        if let Some(line) = state.queue.pop_front() {
            state.bytes -= line.len();
            self.waterline.remove(line.len());
            state.waiting_since = (!state.queue.is_empty()).then(Instant::now);
            return Ok(Some(line));
        }
        if state.ended {
            return Err(OutflowEnd);
        }
        state.waker = Some(waker.clone());
        Ok(None)
    }

    /// What the answer begins with, waited for so long.
    pub async fn first_word(&self, patience: Duration) -> FirstWord {
        let first = async {
            loop {
                if let Some(first) = self.first() {
                    return first;
                }
                self.changed.notified().await;
            }
        };
        timeout(patience, first).await.unwrap_or(FirstWord::Stream)
    }

    fn first(&self) -> Option<FirstWord> {
        let mut state = self.state.borrow_mut();
        match (state.queue.len(), state.ended) {
            (0, false) => None,
            (1, true) => {
                let line = state.queue.pop_front()?;
                self.waterline.remove(std::mem::take(&mut state.bytes));
                state.waiting_since = None;
                Some(FirstWord::Whole(line))
            }
            _ => Some(FirstWord::Stream),
        }
    }

    /// Waits until no more comes, with all that came.
    pub async fn ended(&self) {
        while !self.state.borrow().ended {
            self.changed.notified().await;
        }
    }

    /// Looks at the last message that waits.
    pub fn look_at_last<T>(&self, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let state = self.state.borrow();
        state.queue.back().map(|line| look(line))
    }
}

/// The end of a stream.
#[derive(Debug)]
pub struct OutflowEnd;
