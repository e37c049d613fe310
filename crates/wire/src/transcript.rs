//! A record of every message, for `--record`.
//!
//! Main type: [`Recorder`]. One JSON object per line, all redacted. A record
//! that can't be written is a warning, and never stops a run.

use super::launch::Reach;
use super::recorded_secrets::RecordedSecrets;
use jelly_base::files::create_named;
use jelly_base::text::redact::{Redactor, mask_json, show_argv, show_text, show_url, show_value};
use jelly_base::text::{Notation, disarmed, is_too_large};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a record: a server that never stops talking must not fill the disk.
const RECORD_BYTES: u64 = 256 * 1024 * 1024;

/// Which way a message went, seen from jelly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// By jelly.
    Sent,
    /// From the server.
    Received,
}

/// A line of `wire.jsonl`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordedLine<'a> {
    /// From 1, over all servers.
    seq: u64,
    /// Name of the server in the plan.
    server: &'a str,
    /// Which of the connections to it: a server that is started again has
    /// another one. From 1, over all servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<u64>,
    /// Milliseconds since the record was begun.
    at_ms: u64,
    /// Which way it went, seen from jelly.
    direction: Direction,
    #[serde(flatten)]
    content: Content,
}

/// What went over the wire, redacted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Content {
    /// JSON, as it was sent.
    Message(Value),
    /// What is no JSON, or holds a secret outside of its texts.
    Text(String),
    /// How the server was started or reached, before its first message.
    Start(RecordedStart),
    /// Why nothing more is recorded: the last line.
    Stopped(String),
}

/// How a server was started or reached, redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecordedStart {
    /// The command and its arguments; empty where there was nothing to start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The folder that it was started in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What was added to its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Without user and password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of the headers that were sent besides the protocol's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

impl RecordedStart {
    fn of(reach: &Reach, redactor: &Redactor) -> Self {
        let shown = |text: &str| redactor.redact(text).into_owned();
        let command = reach.command();
        // What has a name has it on the wire as well.
        let argv = command.map_or_else(Vec::new, |spec| {
            let words: Vec<String> = spec.argv.iter().map(|word| shown(word)).collect();
            show_argv(&words)
        });
        let env = command.map(|spec| spec.env.as_slice()).unwrap_or_default();
        let (url, headers) = match reach {
            Reach::Stdio(_) => (None, Vec::new()),
            Reach::Http(endpoint) => {
                let names = endpoint.headers.iter().map(|(name, _)| name.clone());
                (Some(show_url(&shown(&endpoint.url))), names.collect())
            }
        };
        Self {
            argv,
            cwd: command.map(|spec| shown(&spec.cwd.display().to_string())),
            env: env
                .iter()
                // How many proxies stand before a server is nothing of its own.
                .filter(|(name, _)| name != "JELLY_PROXY_DEPTH")
                .map(|(name, value)| (name.clone(), show_value(name, &shown(value))))
                .collect(),
            url,
            headers,
        }
    }
}

/// Writes `wire.jsonl`; clones write to the same file, with one sequence of
/// numbers over all servers.
#[derive(Debug, Clone)]
pub struct Recorder {
    state: Arc<Mutex<TranscriptState>>,
    /// Of the messages that this clone is given.
    session: Option<u64>,
}

#[derive(Debug)]
struct TranscriptState {
    /// None after the first failure: half a record is not resumed.
    file: Option<File>,
    /// So many bytes more are written.
    left: u64,
    seq: u64,
    /// How many sessions were begun.
    sessions: u64,
    began: Instant,
    /// Of whole lines.
    bytes: u64,
    failure: Option<io::Error>,
    /// Somebody was told of the failure.
    told: bool,
    /// What was found in the messages.
    secrets: RecordedSecrets,
}

/// How each line begins.
const BEGINS: &[u8] = b"{\"seq\":";

/// What a record that is resumed holds.
#[derive(Debug, Default)]
struct Earlier {
    /// Of whole lines.
    bytes: u64,
    seq: u64,
    sessions: u64,
    at_ms: u64,
    /// Nothing is to come any more.
    stopped: bool,
}

/// What of a line tells where the record had got to.
#[derive(Deserialize)]
struct EarlierLine {
    seq: u64,
    #[serde(default)]
    session: Option<u64>,
    at_ms: u64,
    #[serde(rename = "direction")]
    _direction: Direction,
    #[serde(default)]
    stopped: Option<IgnoredAny>,
}

impl Earlier {
    fn read(file: &mut File) -> io::Result<Self> {
        let mut earlier = Self::default();
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = lines
                .by_ref()
                .take(RECORD_BYTES)
                .read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(earlier);
            }
            if !line.ends_with(b"\n") {
                // Its writer was killed over it, be it the first.
                let is_ours = earlier.bytes > 0 || line.starts_with(BEGINS);
                return is_ours.then_some(earlier).ok_or_else(no_record);
            }
            let entry: EarlierLine = serde_json::from_slice(&line).map_err(|_| no_record())?;
            earlier.bytes += u64::try_from(read).unwrap_or(u64::MAX);
            earlier.seq = earlier.seq.max(entry.seq);
            earlier.sessions = earlier.sessions.max(entry.session.unwrap_or_default());
            earlier.at_ms = earlier.at_ms.max(entry.at_ms);
            earlier.stopped = entry.stopped.is_some();
        }
    }
}

fn no_record() -> io::Error {
    io::Error::other("it holds something else than a recording, and stays as it is")
}

impl Recorder {
    /// Creates the file, or empties it.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::of_at_most(path, RECORD_BYTES)
    }

    /// Goes on with the record in the file, or begins one: a client starts its
    /// servers anew each day, and two of its windows start two. Nobody else
    /// writes to it meanwhile.
    ///
    /// # Errors
    /// Another process records to it ([`io::ErrorKind::WouldBlock`]), what is in it
    /// is no record, or it can't be written.
    pub fn resume(path: &Path) -> io::Result<Self> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Self::create(path);
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = "another jelly records to it";
                return Err(io::Error::new(io::ErrorKind::WouldBlock, why));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let earlier = Earlier::read(&mut file)?;
        file.set_len(earlier.bytes)?;
        let now = Instant::now();
        let since = Duration::from_millis(earlier.at_ms);
        let failure = earlier.stopped.then(|| io::Error::other(FULL));
        Ok(Self::of(TranscriptState {
            file: failure.is_none().then_some(file),
            left: RECORD_BYTES.saturating_sub(earlier.bytes),
            // The one that says so is no message.
            seq: earlier.seq - u64::from(earlier.stopped),
            sessions: earlier.sessions,
            began: now.checked_sub(since).unwrap_or(now),
            bytes: earlier.bytes,
            failure,
            told: false,
            secrets: RecordedSecrets::default(),
        }))
    }

    fn of_at_most(path: &Path, bytes: u64) -> io::Result<Self> {
        Ok(Self::of(TranscriptState {
            file: Some(create_named(path)?),
            left: bytes,
            seq: 0,
            sessions: 0,
            began: Instant::now(),
            bytes: 0,
            failure: None,
            told: false,
            secrets: RecordedSecrets::default(),
        }))
    }

    fn of(state: TranscriptState) -> Self {
        Self {
            state: Arc::new(Mutex::new(state)),
            session: None,
        }
    }

    /// For the messages of one connection; how it comes to be is recorded.
    #[must_use]
    pub fn session(&self, server: &str, reach: &Reach, redactor: &Redactor) -> Self {
        let session = {
            let mut state = self.lock();
            state.sessions += 1;
            Self {
                state: Arc::clone(&self.state),
                session: Some(state.sessions),
            }
        };
        let start = RecordedStart::of(reach, redactor);
        if let Ok(masked) = serde_json::to_value(&start) {
            self.lock().secrets.reserve(&masked);
        }
        session.write(server, Direction::Sent, Content::Start(start));
        session
    }

    fn lock(&self) -> MutexGuard<'_, TranscriptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records one line of the wire. A line that is JSON stands under
    /// `message`, any other under `text`.
    pub fn record(&self, server: &str, direction: Direction, line: &[u8], redactor: &Redactor) {
        if self.lock().file.is_some() {
            let content = redacted(line, redactor, &mut |message| {
                self.lock().secrets.mask(message);
            });
            let content = match content {
                Content::Text(text) => Content::Text(self.lock().secrets.mask_text(&text)),
                other => other,
            };
            self.write(server, direction, content);
        }
    }

    fn write(&self, server: &str, direction: Direction, content: Content) {
        let mut state = self.lock();
        let Some(line) = self.line(&state, server, direction, content) else {
            return;
        };
        match state.left.checked_sub(bytes_of(&line)) {
            Some(left) => {
                state.left = left;
                if let Err(error) = state.append(&line) {
                    state.stop(error);
                }
            }
            None => {
                // Who reads it is to know that there was more.
                let why = Content::Stopped(FULL.to_owned());
                let last = self.line(&state, server, direction, why);
                let written = last.map_or(Ok(()), |last| {
                    state.append(&last)?;
                    // It is no message.
                    state.seq -= 1;
                    Ok(())
                });
                state.stop(written.err().unwrap_or_else(|| io::Error::other(FULL)));
            }
        }
    }

    /// The next line, where one is to be written.
    fn line(
        &self,
        state: &TranscriptState,
        server: &str,
        direction: Direction,
        content: Content,
    ) -> Option<String> {
        state.file.as_ref()?;
        let entry = serde_json::to_string(&RecordedLine {
            seq: state.seq + 1,
            server,
            session: self.session,
            at_ms: u64::try_from(state.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            direction,
            content,
        });
        let entry = entry.ok()?;
        Some(format!("{}\n", disarmed(&entry, Notation::Json)))
    }

    /// Why the record is not whole, if it is not.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.lock().warning()
    }

    /// The same, once: for who wants to hear of it when it happens.
    #[must_use]
    pub fn new_warning(&self) -> Option<String> {
        let mut state = self.lock();
        let warning = state.warning().filter(|_| !state.told)?;
        state.told = true;
        Some(warning)
    }
}

/// Why a record has no more.
const FULL: &str = "it is full (256 MiB)";

fn bytes_of(line: &str) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}

impl TranscriptState {
    /// One write per message, so that a killed run leaves whole lines.
    fn append(&mut self, line: &str) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes())?;
            self.bytes += bytes_of(line);
            self.seq += 1;
        }
        Ok(())
    }

    fn stop(&mut self, error: io::Error) {
        if let Some(file) = self.file.take() {
            // What was begun of a line goes; where even that can't be done, who
            // reads it says where it is cut off.
            let _ = file.set_len(self.bytes);
        }
        self.failure = Some(error);
    }

    fn warning(&self) -> Option<String> {
        let error = self.failure.as_ref()?;
        let seq = self.seq;
        Some(format!(
            "the wire record stops after message {seq}: {error}"
        ))
    }
}

/// Takes out of a record what the redactor has learnt since it was written: a
/// server may say a token before it issues it. For when nothing is recorded
/// any more.
///
/// # Errors
/// The record can't be replaced, and may hold a secret.
pub fn redact_record(path: &Path, redactor: &Redactor) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let permissions = fs::metadata(path)?.permissions();
    let mut clean = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    for line in BufReader::new(File::open(path)?).lines() {
        let line = redacted_again(&line?, redactor);
        writeln!(clean, "{}", disarmed(&line, Notation::Json))?;
    }
    let clean = clean.into_inner().map_err(io::IntoInnerError::into_error)?;
    clean.as_file().set_permissions(permissions)?;
    clean.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn redacted_again(line: &str, redactor: &Redactor) -> String {
    let Ok(Value::Object(mut entry)) = serde_json::from_str(line) else {
        return redactor.redact(line).into_owned();
    };
    if let Some(message) = entry.remove("message") {
        let text = message.to_string();
        drop(message);
        let content = redacted(text.as_bytes(), redactor, &mut |message| {
            mask_json(message, &mut |name, _| name.to_owned());
        });
        let content = serde_json::json!(content);
        entry.extend(content.as_object().cloned().unwrap_or_default());
    }
    let mut entry = Value::Object(entry);
    redactor.redact_json(&mut entry);
    entry.to_string()
}

/// What is known to be secret, and what `mask` finds besides, is masked.
fn redacted(line: &[u8], redactor: &Redactor, mask: &mut dyn FnMut(&mut Value)) -> Content {
    if !is_too_large(line)
        && let Ok(mut value) = serde_json::from_slice::<Value>(line)
    {
        redactor.redact_json(&mut value);
        mask(&mut value);
        // A number can be a secret too, and that shows only in the text.
        return match redactor.redact(&value.to_string()) {
            Cow::Borrowed(_) => Content::Message(value),
            Cow::Owned(text) => Content::Text(text),
        };
    }
    let text = String::from_utf8_lossy(line);
    Content::Text(show_text(&redactor.redact(&text)).into_owned())
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
