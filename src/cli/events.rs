//! Events on their way to the terminal.
//!
//! Main type: [`EventQueue`]. What is said of a step is no reason for the next
//! one to wait, so events are shown while whoever sends them waits for
//! something else, mostly for a server's answer.

use super::out::Out;
use crate::report::TerminalReporter;
use jelly_base::model::Event;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use tokio::sync::Notify;

/// So many events are kept back, at most.
const MOST: usize = 32;

/// Keeps events in order until there is time to show them.
pub struct EventQueue {
    reporter: Rc<RefCell<TerminalReporter<Out>>>,
    waiting: RefCell<VecDeque<Event>>,
    due: Notify,
}

impl EventQueue {
    pub fn new(reporter: Rc<RefCell<TerminalReporter<Out>>>) -> Self {
        Self {
            reporter,
            waiting: RefCell::default(),
            due: Notify::new(),
        }
    }

    pub fn push(&self, event: Event) {
        let mut waiting = self.waiting.borrow_mut();
        waiting.push_back(event);
        let full = waiting.len() >= MOST;
        drop(waiting);
        if full {
            // Somebody has much to say and never waits.
            self.show();
        } else {
            self.due.notify_one();
        }
    }

    /// Shows what is waiting; to be called before anything else is written
    /// where the reporter writes.
    pub fn show(&self) {
        loop {
            // Not held while it is shown.
            let next = self.waiting.borrow_mut().pop_front();
            let Some(event) = next else {
                return;
            };
            self.reporter.borrow_mut().event(&event);
        }
    }

    /// Shows events as long as it is polled.
    pub async fn run(&self) -> Infallible {
        loop {
            self.due.notified().await;
            // A request that was just made goes out first.
            tokio::task::yield_now().await;
            self.show();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EventQueue, MOST};
    use crate::cli::out::Out;
    use crate::report::{TerminalOptions, TerminalReporter};
    use jelly_base::model::Event;
    use std::cell::RefCell;
    use std::rc::Rc;

    fn queue() -> (EventQueue, impl Fn() -> String) {
        let bytes = Rc::new(RefCell::new(Vec::new()));
        let out = Out::Later(bytes.clone());
        let reporter = TerminalReporter::new(out, TerminalOptions::default());
        let shown = move || String::from_utf8_lossy(&bytes.borrow()).into_owned();
        (EventQueue::new(Rc::new(RefCell::new(reporter))), shown)
    }

    fn said(number: usize) -> Event {
        Event::Warning {
            message: format!("no. {number}"),
        }
    }

    #[test]
    fn events_are_shown_in_their_order() {
        let (queue, shown) = queue();
        for number in 0..3 {
            queue.push(said(number));
        }
        assert_eq!(shown(), "");
        queue.show();
        assert_eq!(shown(), "WARN     no. 0\nWARN     no. 1\nWARN     no. 2\n");
    }

    #[test]
    fn somebody_who_never_waits_is_heard_all_the_same() {
        let (queue, shown) = queue();
        for number in 0..MOST {
            queue.push(said(number));
        }
        assert_eq!(shown().lines().count(), MOST);
    }

    #[tokio::test]
    async fn what_was_said_is_shown_as_soon_as_its_sender_waits() {
        let (queue, shown) = queue();
        let sender = async {
            queue.push(said(1));
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            shown()
        };
        tokio::select! {
            biased;
            said = sender => assert_eq!(said, "WARN     no. 1\n"),
            never = queue.run() => match never {},
        }
    }
}
