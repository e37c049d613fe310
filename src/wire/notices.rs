//! The notifications of one connection, as many as can be kept.
//!
//! Main type: [`Notices`].

use serde_json::Value;
use std::collections::VecDeque;

/// So many are kept, the newest ones.
const KEPT: usize = 1000;
/// Bytes of their messages, all together.
const KEPT_BYTES: usize = 2 * 1024 * 1024;

/// A notification of the server. Not redacted.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub method: String,
    /// Null where there are none.
    pub params: Value,
    /// Bytes of the message.
    bytes: usize,
}

/// What came after some moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heard {
    /// In the order in which they came.
    pub notices: Vec<Notice>,
    /// So many came before these and were not kept.
    pub dropped: u64,
}

/// All that came, counted, and the newest of it.
#[derive(Debug, Default)]
pub(super) struct Notices {
    kept: VecDeque<Notice>,
    bytes: usize,
    /// Ever.
    count: u64,
}

impl Notices {
    pub(super) fn add(&mut self, method: String, params: Value, bytes: usize) {
        self.count += 1;
        self.bytes += bytes;
        self.kept.push_back(Notice {
            method,
            params,
            bytes,
        });
        while self.kept.len() > KEPT || self.bytes > KEPT_BYTES {
            match self.kept.pop_front() {
                Some(oldest) => self.bytes -= oldest.bytes,
                None => return,
            }
        }
    }

    /// How many came so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Those after the first `before`.
    pub(super) fn since(&self, before: u64) -> Heard {
        let wanted = self.count.saturating_sub(before);
        let kept = self.kept.len() as u64;
        let skipped = usize::try_from(kept.saturating_sub(wanted)).unwrap_or(usize::MAX);
        Heard {
            notices: self.kept.iter().skip(skipped).cloned().collect(),
            dropped: wanted.saturating_sub(kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Notices};
    use serde_json::{Value, json};

    #[test]
    fn what_came_since_a_moment_is_told_in_order() {
        let mut notices = Notices::default();
        notices.add("a".into(), Value::Null, 10);
        let before = notices.count();
        notices.add("b".into(), json!(1), 10);
        notices.add("c".into(), json!(2), 10);
        let heard = notices.since(before);
        let methods: Vec<&str> = heard.notices.iter().map(|n| n.method.as_str()).collect();
        assert_eq!((methods, heard.dropped), (vec!["b", "c"], 0));
        assert!(notices.since(notices.count()).notices.is_empty());
    }

    #[test]
    fn a_flood_keeps_its_newest_and_says_how_many_are_gone() {
        let mut notices = Notices::default();
        for n in 0..KEPT as u64 + 5 {
            notices.add("n".into(), n.into(), 10);
        }
        let heard = notices.since(0);
        assert_eq!((heard.notices.len(), heard.dropped), (KEPT, 5));
        assert_eq!(heard.notices[0].params, 5);
        notices.add("huge".into(), Value::Null, 1 << 30);
        assert_eq!(notices.since(0).notices, []);
        assert_eq!(notices.since(notices.count() - 1).dropped, 1);
        notices.add("small".into(), Value::Null, 10);
        assert_eq!(notices.since(0).notices.len(), 1);
    }
}
