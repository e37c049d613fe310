//! What a mock counts, within one life and across several.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counters; a state file holds them as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// Starts of the server, this one included.
    pub starts: u64,
    /// Tool calls.
    pub calls: u64,
    /// Calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// The built-in tool `counter`.
    pub counter: u64,
}

impl State {
    /// The state of a server that starts now, after these.
    #[must_use]
    pub fn next_start(self, persist: bool) -> Self {
        let starts = self.starts.saturating_add(1);
        if persist {
            Self { starts, ..self }
        } else {
            Self {
                starts,
                ..Self::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn starts_are_always_counted_and_calls_only_go_on_if_asked() {
        let before = State {
            starts: 1,
            calls: 5,
            counter: 2,
            ..State::default()
        };
        let fresh = before.clone().next_start(false);
        assert_eq!((fresh.starts, fresh.calls, fresh.counter), (2, 0, 0));
        let kept = before.next_start(true);
        assert_eq!((kept.starts, kept.calls, kept.counter), (2, 5, 2));
    }
}
