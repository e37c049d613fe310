//! A record of messages, read again.
//!
//! Main type: [`Recording`]. What is bad or cut is said with its line: half a
//! record must not pass for a whole one.

use super::transcript::{Direction, RecordedStart};
use jelly_base::text::{json_type, one_line};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// The longest line, in bytes: a message of the wire, escaped.
const LINE_BYTES: u64 = 400 * 1024 * 1024;

/// All that was recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// In the order in which they began.
    pub sessions: Vec<RecordedSession>,
    /// Why there was more than was recorded, as a sentence about the record.
    pub stopped: Option<String>,
}

/// The messages of one connection to one server.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSession {
    pub server: String,
    /// How the server was started, where that was recorded.
    pub start: Option<RecordedStart>,
    pub messages: Vec<RecordedMessage>,
}

/// A line of the record that was one of the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedMessage {
    /// Its line in the record, from 1.
    pub line: usize,
    pub direction: Direction,
    pub said: RecordedContent,
}

/// What a line of the wire held.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedContent {
    Message(Value),
    /// No JSON, or not after a secret was taken out of it.
    Text(String),
}

/// Why a record can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("read it: {0}")]
    Read(#[from] io::Error),
    #[error("use line {line}{}: {what}", column.map(|c| format!(", column {c}")).unwrap_or_default())]
    Line {
        line: usize,
        column: Option<usize>,
        what: String,
    },
}

impl Recording {
    /// Reads a record.
    ///
    /// # Errors
    /// A line is none of a record, was cut, or is missing.
    pub fn read(mut from: impl BufRead) -> Result<Self, RecordingError> {
        let mut reader = LineReader::default();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = io::Read::take(&mut from, LINE_BYTES).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            let whole = line.ends_with(b"\n");
            reader.line(number, &line).map_err(|(column, what)| {
                let what = match whole {
                    true => what,
                    false => format!("the record is cut off here: {what}"),
                };
                RecordingError::Line {
                    line: number,
                    column,
                    what,
                }
            })?;
        }
        if reader.recording.sessions.is_empty() {
            return Err(RecordingError::Line {
                line: 1,
                column: None,
                what: "there is no message in it".to_owned(),
            });
        }
        Ok(reader.recording)
    }

    /// The names of the servers, each once, in the order of their first
    /// message.
    #[must_use]
    pub fn servers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for session in &self.sessions {
            if !names.contains(&session.server.as_str()) {
                names.push(&session.server);
            }
        }
        names
    }
}

#[derive(Default)]
struct LineReader {
    recording: Recording,
    seq: u64,
    /// Where a session's messages go, by its server and number.
    open: BTreeMap<(String, Option<u64>), usize>,
}

type LineFlaw = (Option<usize>, String);

impl LineReader {
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), LineFlaw> {
        let entry: Value = serde_json::from_slice(line)
            .map_err(|error| (Some(error.column()), not_json(&error)))?;
        let plain = |what: String| (None, what);
        let Value::Object(mut entry) = entry else {
            let found = json_type(&entry);
            return Err(plain(format!("it is {found}, and no object of a record")));
        };
        let seq = entry.get("seq").and_then(Value::as_u64);
        let seq = seq.ok_or_else(|| plain("it has no number `seq`".to_owned()))?;
        if seq != self.seq + 1 {
            return Err(plain(format!(
                "it is message {seq}, and {} is due: lines are missing or out of order",
                self.seq + 1
            )));
        }
        self.seq = seq;
        let server = match entry.remove("server") {
            Some(Value::String(server)) => server,
            Some(_) | None => return Err(plain("it has no text `server`".to_owned())),
        };
        let direction = entry.get("direction").cloned().unwrap_or_default();
        let direction = Direction::deserialize(&direction)
            .map_err(|_| plain("its `direction` is neither `sent` nor `received`".to_owned()))?;
        let session = entry.get("session").and_then(Value::as_u64);
        let key = (server, session);
        if let Some(start) = entry.remove("start") {
            let start = RecordedStart::deserialize(&start)
                .map_err(|error| plain(format!("its `start` is not one: {error}")))?;
            self.begin(key, Some(start));
            return Ok(());
        }
        if let Some(Value::String(why)) = entry.remove("stopped") {
            self.recording.stopped = Some(why);
            return Ok(());
        }
        let said = said(&mut entry)
            .ok_or_else(|| plain("it has neither `message` nor `text` nor `start`".to_owned()))?;
        let at = match self.open.get(&key) {
            Some(at) if !(session.is_none() && self.opens(*at, direction, &said)) => *at,
            Some(_) | None => self.begin(key, None),
        };
        if let Some(session) = self.recording.sessions.get_mut(at) {
            session.messages.push(RecordedMessage {
                line: number,
                direction,
                said,
            });
        }
        Ok(())
    }

    fn begin(&mut self, key: (String, Option<u64>), start: Option<RecordedStart>) -> usize {
        let at = self.recording.sessions.len();
        self.recording.sessions.push(RecordedSession {
            server: key.0.clone(),
            start,
            messages: Vec::new(),
        });
        self.open.insert(key, at);
        at
    }

    /// Whether a message without the number of its session is the first of
    /// another one: requests are numbered anew.
    fn opens(&self, at: usize, direction: Direction, said: &RecordedContent) -> bool {
        let (Direction::Sent, RecordedContent::Message(message)) = (direction, said) else {
            return false;
        };
        let (Some(_), Some(id)) = (message.get("method"), message.get("id")) else {
            return false;
        };
        let messages = self.recording.sessions.get(at).map(|s| &s.messages);
        messages.into_iter().flatten().any(|before| {
            let RecordedContent::Message(message) = &before.said else {
                return false;
            };
            before.direction == Direction::Sent
                && message.get("method").is_some()
                && message.get("id") == Some(id)
        })
    }
}

/// The place is said apart, and is another one than in the line alone.
fn not_json(error: &serde_json::Error) -> String {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    format!("it is not JSON: {what}")
}

fn said(entry: &mut Map<String, Value>) -> Option<RecordedContent> {
    if let Some(message) = entry.remove("message") {
        return Some(RecordedContent::Message(message));
    }
    match entry.remove("text") {
        Some(Value::String(text)) => Some(RecordedContent::Text(text)),
        Some(_) | None => None,
    }
}

impl RecordedContent {
    /// What it was, in a few words.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Message(message) => match message.get("method").and_then(Value::as_str) {
                Some(method) => one_line(method, 80),
                None => "an answer".to_owned(),
            },
            Self::Text(_) => "a line that is no JSON".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, RecordedContent, Recording};

    fn why(text: &str) -> String {
        Recording::read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_bad_or_cut_is_said_with_its_line() {
        let good = r#"{"seq":1,"server":"a","direction":"sent","message":{}}"#;
        for (text, said) in [
            (String::new(), "use line 1: there is no message in it"),
            (
                format!("{good}\n{{\"seq\":2,\"ser"),
                "line 2, column 13: the record is cut off here",
            ),
            (
                format!("{good}\nnoise\n"),
                "line 2, column 2: it is not JSON",
            ),
            (format!("{good}\n[]\n"), "line 2: it is array"),
            (
                format!("{good}\n{good}\n"),
                "line 2: it is message 1, and 2 is due",
            ),
            ("{}\n".to_owned(), "line 1: it has no number `seq`"),
            (r#"{"seq":1}"#.to_owned(), "it has no text `server`"),
            (good.replace("sent", "lost"), "its `direction` is neither"),
            (
                good.replace("message", "massage"),
                "it has neither `message`",
            ),
            (
                good.replace("\"message\":{}", "\"start\":7"),
                "its `start` is not one",
            ),
        ] {
            let why = why(&text);
            assert!(why.contains(said), "{text}: {why}");
        }
    }

    #[test]
    fn sessions_are_told_apart_by_number_or_by_requests_that_begin_anew() {
        let numbered = [
            r#"{"seq":1,"server":"a","session":1,"direction":"sent","start":{"argv":["x"]}}"#,
            r#"{"seq":2,"server":"a","session":2,"direction":"sent","start":{"url":"http://h/"}}"#,
            r#"{"seq":3,"server":"a","session":1,"direction":"sent","message":{"id":1,"method":"m"}}"#,
            r#"{"seq":4,"server":"a","session":2,"direction":"received","text":"junk"}"#,
        ];
        let recording = Recording::read(numbered.join("\n").as_bytes()).unwrap();
        assert_eq!(recording.servers(), ["a"]);
        let [one, two] = recording.sessions.as_slice() else {
            panic!("{recording:?}");
        };
        assert_eq!(one.start.as_ref().unwrap().argv, ["x"]);
        assert_eq!((one.messages[0].line, two.messages[0].line), (3, 4));
        assert_eq!(two.messages[0].direction, Direction::Received);
        assert_eq!(
            two.messages[0].said,
            RecordedContent::Text("junk".to_owned())
        );

        let line = |seq: u64, id: u64| {
            format!(
                r#"{{"seq":{seq},"server":"a","direction":"sent","message":{{"id":{id},"method":"m"}}}}"#
            )
        };
        let older = [line(1, 1), line(2, 2), line(3, 1)].join("\n");
        let recording = Recording::read(older.as_bytes()).unwrap();
        let lengths: Vec<usize> = recording
            .sessions
            .iter()
            .map(|s| s.messages.len())
            .collect();
        assert_eq!(lengths, [2, 1]);
    }
}
