//! What a server did beside answering: noise, breaches, signs of life.
//!
//! Main type: [`Observed`]. Bounded, whatever a server does, and redacted.

use super::exchange::Beyond;
use jelly_base::model::OwnLimit;
use jelly_base::text::redact::Redactor;
use std::collections::VecDeque;

/// Lines of noise that are kept.
const NOISE_SAMPLE: usize = 5;
/// Of those after them, the newest that are kept.
const NOISE_TAIL: usize = 15;
/// Bytes of such a line that are kept.
const NOISE_LINE_BYTES: usize = 300;
/// Of the lines that are logged by notifications, the newest that are kept.
const LOGS: usize = 20;
/// Different breaches that are kept.
const BREACHES: usize = 50;
/// Different messages that were not read, of which something is kept.
const UNREAD: usize = 10;
/// Bytes of a breach's text that are kept.
const BREACH_BYTES: usize = 600;

/// What was seen on one connection so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Messages that could be read.
    pub messages: u64,
    /// Lines on stdout that are no message.
    pub noise: u64,
    /// The first of these lines, redacted and cut.
    pub noise_sample: Vec<String>,
    /// The newest ones that are not among the first.
    pub noise_tail: VecDeque<String>,
    /// The begin of a line on stdout that has no end yet. Kept up to the first
    /// message, for servers that ask a person something and wait.
    pub unfinished: String,
    /// The newest lines that were logged by notifications, redacted and cut.
    pub logs: VecDeque<String>,
    /// Breaches of JSON-RPC or MCP, each text once, as fragments that
    /// complete "the server …".
    pub breaches: Vec<String>,
    /// How many there were, repetitions included.
    pub breach_count: u64,
    /// What was not read, for limits of jelly's own, each text once.
    pub unread: Vec<Beyond>,
    /// The first breach for which clients of the official SDKs throw a message
    /// away.
    pub unfit: Option<String>,
    /// The server said that its list of tools is no longer what it was.
    pub tools_changed: bool,
    /// It offers no stream on which it could tell what nobody asked for, or
    /// the one that it had is lost.
    pub mute_unasked: bool,
}

impl Observed {
    pub(super) fn add_noise(&mut self, line: &[u8], redactor: &Redactor) {
        self.noise += 1;
        let is_first = self.noise_sample.len() < NOISE_SAMPLE;
        // Once it talks MCP, only what it says first matters.
        if !is_first && self.messages > 0 {
            return;
        }
        let text = shown(line, redactor);
        if is_first {
            self.noise_sample.push(text);
        } else {
            if self.noise_tail.len() == NOISE_TAIL {
                self.noise_tail.pop_front();
            }
            self.noise_tail.push_back(text);
        }
    }

    pub(super) fn add_log(&mut self, text: &str, redactor: &Redactor) {
        if self.logs.len() == LOGS {
            self.logs.pop_front();
        }
        self.logs.push_back(shown(text.as_bytes(), redactor));
    }

    /// All of the noise that is kept, in its order.
    pub(super) fn all_noise(&self) -> Vec<String> {
        let lines = self.noise_sample.iter().chain(&self.noise_tail);
        let unfinished = Some(&self.unfinished).filter(|line| !line.trim().is_empty());
        lines.chain(unfinished).cloned().collect()
    }

    /// Keeps the begin of a line that goes on, as long as no message came: one that came in
    /// two pieces is no noise.
    pub(super) fn note_unfinished(&mut self, line: &[u8], redactor: &Redactor) {
        if self.messages > 0 || line.is_empty() {
            self.unfinished.clear();
        } else {
            self.unfinished = shown(line, redactor);
        }
    }

    pub(super) fn add_unread(
        &mut self,
        limit: OwnLimit,
        text: &str,
        redactor: &Redactor,
    ) -> Beyond {
        let text = redactor.cut(text, BREACH_BYTES);
        let beyond = Beyond { limit, text };
        if self.unread.len() < UNREAD && !self.unread.contains(&beyond) {
            self.unread.push(beyond.clone());
        }
        beyond
    }

    pub(super) fn note_unfit(&mut self, text: &str, redactor: &Redactor) {
        if self.unfit.is_none() {
            self.unfit = Some(redactor.cut(text, BREACH_BYTES));
        }
    }

    pub(super) fn add_breach(&mut self, text: &str, redactor: &Redactor) -> String {
        let text = redactor.cut(text, BREACH_BYTES);
        self.breach_count += 1;
        if self.breaches.len() < BREACHES && !self.breaches.contains(&text) {
            self.breaches.push(text.clone());
        }
        text
    }
}

fn shown(line: &[u8], redactor: &Redactor) -> String {
    // Room for what was cut off is not needed even for a moment.
    let head = &line[..line.len().min(64 * NOISE_LINE_BYTES)];
    let text = String::from_utf8_lossy(head);
    redactor.cut(text.trim_end(), NOISE_LINE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::Observed;
    use jelly_base::text::redact::Redactor;

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mut observed = Observed::default();
        let redactor = Redactor::new([("K", "swordfish")]);
        for i in 0..10_000 {
            observed.add_noise(format!("line {i} swordfish").as_bytes(), &redactor);
            observed.add_breach(&format!("did {i}"), &redactor);
        }
        observed.add_noise(&vec![b'x'; 1_000_000], &redactor);
        assert_eq!(observed.noise, 10_001);
        assert_eq!(observed.noise_sample.len(), 5);
        assert_eq!(observed.noise_sample[0], "line 0 [secret K]");
        observed.note_unfinished(b"Enter swordfish: ", &redactor);
        let all = observed.all_noise();
        assert_eq!(all.len(), 5 + 15 + 1);
        assert_eq!(all[5], "line 9986 [secret K]");
        assert_eq!(all[20], "Enter [secret K]:");
        observed.messages = 1;
        observed.note_unfinished(b"", &redactor);
        assert_eq!(observed.all_noise().len(), 5 + 15);
        assert_eq!(observed.breach_count, 10_000);
        assert_eq!(observed.breaches.len(), 50);
    }

    #[test]
    fn the_newest_logs_are_kept_without_secrets() {
        let mut observed = Observed::default();
        let redactor = Redactor::new([("K", "swordfish")]);
        for i in 0..100 {
            observed.add_log(&format!("log {i} swordfish"), &redactor);
        }
        assert_eq!(observed.logs.len(), 20);
        assert_eq!(observed.logs[19], "log 99 [secret K]");
    }

    #[test]
    fn a_breach_that_repeats_is_kept_once() {
        let mut observed = Observed::default();
        for _ in 0..3 {
            observed.add_breach("did it", &Redactor::none());
        }
        assert_eq!(observed.breaches, ["did it"]);
        assert_eq!(observed.breach_count, 3);
    }
}
