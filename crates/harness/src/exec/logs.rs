//! What a server logs by notifications while a step waits for its answer.
//!
//! The main type is [`LogWatch`]. Evidence, as stderr is, and of this step
//! alone.

use jelly_wire::{Attending, Listener, Notice, Session, logged};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The newest lines are kept, so many and so many bytes of each.
const LINES: usize = 20;
const BYTES: usize = 500;

/// Listens from the beginning of a step to its end.
#[derive(Debug)]
pub struct LogWatch {
    heard: HeardLogs,
    /// Ends with this.
    _attending: Attending,
}

#[derive(Debug, Clone, Default)]
struct HeardLogs(Arc<Mutex<Records>>);

#[derive(Debug, Default)]
struct Records {
    lines: VecDeque<String>,
    /// The last that is an error.
    error: Option<String>,
}

impl LogWatch {
    pub fn begin(session: &Session) -> Self {
        let heard = HeardLogs::default();
        Self {
            _attending: session.attend(Box::new(heard.clone())),
            heard,
        }
    }

    /// What was logged so far. Not redacted.
    pub fn lines(&self) -> Vec<String> {
        let records = self.heard.0.lock();
        let records = records.unwrap_or_else(PoisonError::into_inner);
        records.lines.iter().cloned().collect()
    }

    /// The last of them that is an error. Not redacted.
    pub fn error(&self) -> Option<String> {
        let records = self.heard.0.lock();
        records
            .unwrap_or_else(PoisonError::into_inner)
            .error
            .clone()
    }
}

impl Listener for HeardLogs {
    fn hear(&mut self, notice: &Notice) {
        let Some(mut text) = logged(notice) else {
            return;
        };
        text.truncate(text.floor_char_boundary(BYTES));
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_error(notice) {
            records.error = Some(text.clone());
        }
        if records.lines.len() == LINES {
            records.lines.pop_front();
        }
        records.lines.push_back(text);
    }

    fn miss(&mut self) {}
}

/// Whether a record is an error or worse, by the levels of RFC 5424, which MCP takes over.
fn is_error(notice: &Notice) -> bool {
    const LEVELS: [&str; 4] = ["error", "critical", "alert", "emergency"];
    let level = notice.params.get("level").and_then(Value::as_str);
    level.is_some_and(|level| LEVELS.contains(&level))
}

#[cfg(test)]
mod tests {
    use super::{BYTES, HeardLogs, LINES, Records};
    use jelly_wire::{Listener as _, Notice};
    use serde_json::json;

    #[test]
    fn the_newest_records_are_kept_as_text() {
        let mut heard = HeardLogs::default();
        let mut hear = |method: &str, data| {
            let params = json!({"level": "error", "data": data});
            heard.hear(&Notice {
                method: method.to_owned(),
                params,
            });
        };
        for _ in 0..LINES {
            hear("notifications/message", json!("old"));
        }
        hear("notifications/progress", json!("no log"));
        hear("notifications/message", json!({"message": "told", "n": 1}));
        hear("notifications/message", json!({"code": 7}));
        hear("notifications/message", json!("\u{e9}".repeat(BYTES)));
        let lines = heard.0.lock().unwrap();
        let Records { lines, error } = &*lines;
        assert_eq!(lines.len(), LINES);
        assert_eq!(error.as_ref(), lines.back());
        assert_eq!(lines[LINES - 3], "told");
        assert_eq!(lines[LINES - 2], "{\"code\":7}");
        assert!(lines[LINES - 1].len() <= BYTES);
        assert_eq!(lines[0], "old");
    }
}
