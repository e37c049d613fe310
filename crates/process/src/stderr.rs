//! What a process says on stderr: always drained, never kept whole.
//!
//! [`StderrHandle`] gives the head and the tail of it, redacted, to anybody at
//! any time, and what was said since a mark. A server that floods its stderr
//! is never blocked by us and costs a fixed amount of memory.

use super::unix;
use super::{Capture, ExitBoundReader, ExitWatch};
use jelly_base::text::redact::{Redactor, StreamRedactor, open_key, show_text};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

/// How often [`StderrHandle::caught_up`] lets the pump have its turn before it
/// takes the server for one that never stops writing.
const CATCH_UP_TURNS: usize = 64;

/// Bytes of a line, or of a private key, that its log waits for.
const LOGGED_LINE: usize = 64 * 1024;

/// A place in the stream of stderr, to ask later what came after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// What a process said from some moment on, as far as it was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// All of it, where nothing was left out.
    pub before: String,
    /// Bytes between the two.
    pub left_out: u64,
    pub after: String,
}

impl Said {
    /// Of which nothing is missing.
    #[must_use]
    pub fn whole(text: impl Into<String>) -> Self {
        Self {
            before: text.into(),
            ..Self::default()
        }
    }

    /// In one text, with a line where something was left out.
    #[must_use]
    pub fn into_text(self) -> String {
        let Self {
            before: mut text,
            left_out,
            after,
        } = self;
        if left_out == 0 {
            text.push_str(&after);
            return text;
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[… {left_out} bytes left out …]\n"));
        text.push_str(&after);
        text
    }
}

/// The stderr of one process. Cheap to clone; outlives the process.
#[derive(Clone)]
pub struct StderrHandle {
    shared: Arc<Mutex<Shared>>,
    settled: watch::Receiver<bool>,
}

struct Shared {
    ring: Ring,
    /// What comes behind it, as long as it may go on as a secret: the end of a line
    /// of a process that says no more is one, too.
    pending: Vec<u8>,
    /// Bytes as they came, before redaction.
    seen: u64,
    sink_error: Option<String>,
    /// May know more by now than when the bytes came.
    redactor: Redactor,
    /// A second handle on the pipe, to see what is still in it; absent once
    /// the pump has ended.
    pipe: Option<OwnedFd>,
}

impl Shared {
    /// What was kept of the bytes after the mark, and what comes behind them.
    fn said_since(&self, mark: Mark) -> Said {
        let mut said = self.ring.said_since(mark.0);
        let skip = to_index(mark.0.saturating_sub(self.ring.total));
        let pending = self.pending.get(skip..).unwrap_or_default();
        let pending = String::from_utf8_lossy(pending);
        match said.left_out {
            0 => said.before.push_str(&pending),
            _ => said.after.push_str(&pending),
        }
        said
    }
}

impl StderrHandle {
    /// Of a server that is no process of ours: nothing, for ever.
    #[must_use]
    pub fn none() -> Self {
        let shared = Shared {
            ring: Ring::new(0, 0),
            pending: Vec::new(),
            seen: 0,
            sink_error: None,
            redactor: Redactor::none(),
            pipe: None,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
            settled: watch::channel(true).1,
        }
    }

    /// All that was kept: head and tail, redacted, with a line between them
    /// that says how much was left out. Bytes that are no UTF-8 are replaced,
    /// escape sequences are kept.
    #[must_use]
    pub fn tail(&self) -> String {
        self.since(Mark(0))
    }

    /// The same, with the place where something of it was not kept.
    #[must_use]
    pub fn said(&self) -> Said {
        self.said_since(Mark(0))
    }

    /// What was said after the mark, as far as it was kept; a line says where
    /// something was left out.
    #[must_use]
    pub fn since(&self, mark: Mark) -> String {
        let (text, redactor) = {
            let shared = lock(&self.shared);
            (shared.said_since(mark).into_text(), shared.redactor.clone())
        };
        // A secret may have been said before jelly was told it.
        match redactor.redact(&text) {
            Cow::Owned(redacted) => redacted,
            Cow::Borrowed(_) => text,
        }
    }

    /// What was said after the mark, with the place where something of it was
    /// not kept.
    #[must_use]
    pub fn said_since(&self, mark: Mark) -> Said {
        let (said, redactor) = {
            let shared = lock(&self.shared);
            (shared.said_since(mark), shared.redactor.clone())
        };
        let Said {
            before,
            left_out,
            after,
        } = said;
        Said {
            before: redactor.redact(&before).into_owned(),
            left_out,
            after: redactor.redact(&after).into_owned(),
        }
    }

    /// The place up to which stderr was read so far.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let shared = lock(&self.shared);
        Mark(shared.ring.total + shared.pending.len() as u64)
    }

    /// How many bytes the process wrote, as far as they were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        lock(&self.shared).seen
    }

    /// Why the copy to the sink is incomplete, if it is: a warning, not a
    /// failure of the process.
    #[must_use]
    pub fn sink_error(&self) -> Option<String> {
        lock(&self.shared).sink_error.clone()
    }

    /// Waits until nothing more will come: the end of the pipe, or a bounded
    /// time after the exit ([`super::DRAIN_MAX`]) when somebody else holds the
    /// pipe open. Never ends before the process does unless it closes stderr.
    pub async fn settled(&self) {
        // An error means that the pump is gone, and nothing will come either.
        let _ = self.settled.clone().wait_for(|done| *done).await;
    }

    /// Waits until what the process has written up to now was read, without
    /// waiting for more of it. Bounded even when it writes without end.
    ///
    /// For a look at stderr right after an answer on stdout: the two pipes
    /// are read independently of each other.
    pub async fn caught_up(&self) {
        for _ in 0..CATCH_UP_TURNS {
            let behind = lock(&self.shared)
                .pipe
                .as_ref()
                .and_then(unix::bytes_in_pipe)
                .is_some_and(|bytes| bytes > 0);
            if !behind {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Starts to drain a pipe into a ring.
pub(super) fn capture<R>(pipe: R, exit: &ExitWatch, capture: Capture) -> StderrHandle
where
    R: AsyncRead + AsFd + Unpin + Send + 'static,
{
    let shared = Arc::new(Mutex::new(Shared {
        ring: Ring::new(capture.head, capture.tail),
        pending: Vec::new(),
        seen: 0,
        sink_error: None,
        redactor: capture.redactor.clone(),
        pipe: unix::duplicate(&pipe).ok(),
    }));
    let (done, settled) = watch::channel(false);
    let pump = Pump {
        reader: ExitBoundReader::new(pipe, exit),
        shared: Arc::clone(&shared),
        redactor: capture.redactor.stream(),
        sink: capture.sink,
        line: Vec::new(),
        pass_on: capture.pass_on,
        done,
    };
    tokio::spawn(pump.run());
    StderrHandle { shared, settled }
}

struct Pump<R> {
    reader: ExitBoundReader<R>,
    shared: Arc<Mutex<Shared>>,
    redactor: StreamRedactor,
    sink: Option<Box<dyn Write + Send>>,
    /// What the sink was not given yet: what is secret by its name shows only in
    /// a whole line.
    line: Vec<u8>,
    pass_on: Option<Box<dyn Write + Send>>,
    done: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> Pump<R> {
    async fn run(mut self) {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match self.reader.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(n) => {
                    if let Some(pass_on) = &mut self.pass_on {
                        let _ = pass_on.write_all(&buffer[..n]);
                    }
                    let clean = self.redactor.push(&buffer[..n]);
                    self.keep(n, &clean);
                }
            }
        }
        let rest = self.redactor.finish();
        self.keep(0, &rest);
        let rest = std::mem::take(&mut self.line);
        let failed = self.write(&rest);
        self.note(failed);
        lock(&self.shared).pipe = None;
        self.done.send_replace(true);
    }

    fn keep(&mut self, seen: usize, clean: &[u8]) {
        let failed = self.log(clean);
        {
            let mut shared = lock(&self.shared);
            shared.seen += seen as u64;
            shared.ring.push(clean);
            shared.pending = self.redactor.pending();
        }
        self.note(failed);
    }

    fn note(&mut self, failed: Option<io::Error>) {
        if let Some(error) = failed {
            lock(&self.shared).sink_error = Some(error.to_string());
            self.sink = None;
        }
    }

    /// Gives the sink what is whole of these bytes and those before.
    fn log(&mut self, clean: &[u8]) -> Option<io::Error> {
        self.sink.as_ref()?;
        let before = self.line.len();
        self.line.extend_from_slice(clean);
        let is_long = self.line.len() > LOGGED_LINE;
        let whole = match clean.iter().rposition(|byte| *byte == b'\n') {
            // The lines of a key tell nothing one by one.
            Some(_) if !is_long && open_key(&String::from_utf8_lossy(&self.line)).is_some() => {
                return None;
            }
            Some(feed) => before + feed + 1,
            None if is_long => self.line.len(),
            None => return None,
        };
        let rest = self.line.split_off(whole);
        let lines = std::mem::replace(&mut self.line, rest);
        self.write(&lines)
    }

    fn write(&mut self, lines: &[u8]) -> Option<io::Error> {
        let sink = self.sink.as_mut()?;
        let masked = match std::str::from_utf8(lines) {
            Ok(text) => show_text(text),
            // What is no text stays as it is, where nothing in it is secret.
            Err(_) => match String::from_utf8_lossy(lines) {
                text if matches!(show_text(&text), Cow::Borrowed(_)) => {
                    return sink.write_all(lines).and_then(|()| sink.flush()).err();
                }
                text => Cow::Owned(show_text(&text).into_owned()),
            },
        };
        let written = sink.write_all(masked.as_bytes());
        written.and_then(|()| sink.flush()).err()
    }
}

/// The first and the last bytes of a stream, and how many there were.
struct Ring {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    total: u64,
}

impl Ring {
    fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head: Vec::new(),
            head_limit,
            tail: VecDeque::new(),
            tail_limit,
            total: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = (self.head_limit - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let surplus = (self.tail.len() + last.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..surplus);
        self.tail.extend(last);
    }

    /// What was kept of the bytes from `start` on, in one text.
    #[cfg(test)]
    fn since(&self, start: u64) -> String {
        self.said_since(start).into_text()
    }

    /// What was kept of the bytes from `start` on.
    fn said_since(&self, start: u64) -> Said {
        let head_end = self.head.len() as u64;
        let tail_start = self.total - self.tail.len() as u64;
        let from_head = self.head.get(to_index(start)..).unwrap_or_default();
        let skip = to_index(start.saturating_sub(tail_start)).min(self.tail.len());
        let from_tail: Vec<u8> = self.tail.iter().skip(skip).copied().collect();

        let gap = tail_start.saturating_sub(start.max(head_end));
        if gap == 0 {
            let whole = [from_head, &from_tail].concat();
            return Said::whole(String::from_utf8_lossy(&whole));
        }
        let before = until_char_end(from_head);
        let after = from_char_start(&from_tail);
        let gap = gap + (from_head.len() - before.len() + from_tail.len() - after.len()) as u64;
        Said {
            before: String::from_utf8_lossy(before).into_owned(),
            left_out: gap,
            after: String::from_utf8_lossy(after).into_owned(),
        }
    }
}

/// Saturates on machines whose memory could not hold so much anyway.
fn to_index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Without the first bytes of a character whose rest was cut off.
fn until_char_end(bytes: &[u8]) -> &[u8] {
    let unfinished = (1..=bytes.len().min(3)).find(|back| {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x00..=0xBF | 0xF8..=0xFF => 1,
        };
        length > *back
    });
    &bytes[..bytes.len() - unfinished.unwrap_or(0)]
}

/// Without the last bytes of a character whose beginning was cut off.
fn from_char_start(bytes: &[u8]) -> &[u8] {
    let orphans = bytes
        .iter()
        .take(3)
        .take_while(|byte| (0x80..=0xBF).contains(*byte))
        .count();
    &bytes[orphans..]
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // The ring is whole after every push, whoever panicked elsewhere.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use proptest::prelude::*;

    fn filled(head: usize, tail: usize, chunks: &[Vec<u8>]) -> Ring {
        let mut ring = Ring::new(head, tail);
        for chunk in chunks {
            ring.push(chunk);
        }
        ring
    }

    #[test]
    fn a_cut_through_a_character_shows_no_debris() {
        let text = "aäöüäöüz";
        for head in 0..6 {
            for tail in 0..6 {
                let kept = filled(head, tail, &[text.as_bytes().to_vec()]).since(0);
                assert!(!kept.contains('\u{FFFD}'), "{head} {tail}: {kept}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let ring = filled(100, 100, &[b"a\xFFb\xC3".to_vec()]);
        assert_eq!(ring.since(0), "a\u{FFFD}b\u{FFFD}");
    }

    #[test]
    fn a_mark_beyond_the_end_gives_nothing() {
        let ring = filled(4, 4, &[b"abcdefghijkl".to_vec()]);
        assert_eq!(ring.since(12), "");
        assert_eq!(ring.since(u64::MAX), "");
    }

    #[test]
    fn a_mark_in_the_gap_gives_the_tail_and_says_what_is_missing() {
        let ring = filled(4, 4, &[b"abcdefghijkl".to_vec()]);
        assert_eq!(ring.since(0), "abcd\n[… 4 bytes left out …]\nijkl");
        assert_eq!(ring.since(6), "[… 2 bytes left out …]\nijkl");
        assert_eq!(ring.since(8), "ijkl");
        assert_eq!(ring.since(10), "kl");
    }

    proptest! {
        #[test]
        fn memory_is_bounded_and_what_fits_is_kept_whole(
            head in 0_usize..20,
            tail in 0_usize..20,
            chunks in prop::collection::vec("[a-z]{0,15}".prop_map(String::into_bytes), 0..12),
            mark in 0_usize..200,
        ) {
            let all = chunks.concat();
            let ring = filled(head, tail, &chunks);
            prop_assert_eq!(ring.total, all.len() as u64);
            prop_assert!(ring.head.len() <= head && ring.tail.len() <= tail);

            let wanted = String::from_utf8_lossy(&all[mark.min(all.len())..]).into_owned();
            let kept = ring.since(mark as u64);
            let tail_start = all.len() - ring.tail.len();
            if all.len() <= head + tail || mark >= tail_start {
                prop_assert_eq!(kept, wanted);
            } else {
                let last = String::from_utf8_lossy(&all[tail_start..]).into_owned();
                prop_assert!(kept.contains("bytes left out") && kept.ends_with(&last));
            }
        }
    }
}
