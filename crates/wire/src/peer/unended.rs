//! What stands on stdout and has no line end yet.

use serde_json::Value;

/// Of a line, so that it can be read as the message that it is.
const BYTES: usize = 64 * 1024;

/// What stands there after the last line feed, if that is short and some message
/// came before it.
#[derive(Debug, Default)]
pub(super) struct UnendedLine(Vec<u8>);

impl UnendedLine {
    pub(super) fn note(&mut self, line: &[u8], is_kept: bool) {
        self.0.clear();
        if is_kept && line.len() <= BYTES {
            self.0.extend_from_slice(line);
        }
    }

    /// Whether it is the whole answer to the request with this id.
    pub(super) fn answers(&self, id: u64) -> bool {
        let message = serde_json::from_slice::<Value>(&self.0);
        message.is_ok_and(|message| {
            let is_answer = message.get("result").or(message.get("error")).is_some();
            is_answer && message.get("id") == Some(&Value::from(id))
        })
    }
}
