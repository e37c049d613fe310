//! Answers that are to go wrong, as the faults of the mock have it.

use super::pending::Asked;
use super::{Relay, Wish};
use crate::settings::Tap;
use jelly_mock::{Action, Kind, injected};
use tokio::time::Instant;

/// Answers that are held back; beyond that they come at once.
const DELAYED: usize = 1000;

impl<T: Tap> Relay<T> {
    /// The server is to die in place of this answer.
    pub(super) fn dies_instead(asked: &Asked) -> bool {
        let mut faults = asked.faults.iter();
        faults.any(|fault| matches!(fault, Kind::Exit(_) | Kind::Kill(_)))
    }

    /// An answer, with its line feed, as the client would get it, meets faults.
    pub(super) fn inject(&mut self, kinds: &[Kind], line: &[u8], now: Instant) {
        let mut due = now;
        for action in injected(kinds, line) {
            match action {
                Action::Write { bytes, .. } if due > now && self.delayed.len() < DELAYED => {
                    self.delayed.push((due, bytes));
                }
                Action::Write { bytes, .. } => self.to_client.add(&bytes),
                Action::Pause(pause) => due += pause,
                Action::Exit(_) | Action::Kill(_) => self.wishes.push_back(Wish::Kill),
                // Of a process of the mock's own; or nothing that can be seen.
                Action::Hang
                | Action::CloseStdout
                | Action::Stderr(_)
                | Action::StderrFlood(_)
                | Action::Later { .. }
                | Action::Cancel(_)
                | Action::IgnoreSigterm
                | Action::Grandchild(_)
                | Action::Listen(_)
                | Action::Persist(_) => {}
            }
        }
    }

    /// When the next answer that is held back is due.
    pub(super) fn delayed_until(&self) -> Option<Instant> {
        self.delayed.iter().map(|(due, _)| *due).min()
    }

    /// Lets go what was held back long enough.
    pub(super) fn let_go(&mut self, now: Instant) {
        // In the order in which they came.
        let delayed = std::mem::take(&mut self.delayed);
        for (due, bytes) in delayed {
            match due <= now {
                true => self.to_client.add(&bytes),
                false => self.delayed.push((due, bytes)),
            }
        }
    }
}
