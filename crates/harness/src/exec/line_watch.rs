//! Waits for a line of an output, looking at all of it as it comes: what is kept of an
//! output is its head and its tail, and a line of a talkative process may stand in
//! neither.
//!
//! Main type: [`LineWatch`].

use std::io::{self, Write};
use tokio::sync::watch;

/// Bytes of an unfinished line that are kept; the words may stand across more.
const LINE: usize = 64 * 1024;

/// Takes an output, and says when a line of it has the words in it.
pub struct LineWatch {
    words: Vec<u8>,
    /// The line that has no end yet.
    line: Vec<u8>,
    seen: watch::Sender<bool>,
}

impl LineWatch {
    pub fn new(words: &str, seen: watch::Sender<bool>) -> Self {
        Self {
            words: words.as_bytes().to_vec(),
            line: Vec::new(),
            seen,
        }
    }

    fn holds(&self) -> bool {
        let length = self.words.len();
        length == 0 || self.line.windows(length).any(|part| part == self.words)
    }
}

impl Write for LineWatch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if *self.seen.borrow() {
                break;
            }
            self.line.extend_from_slice(piece);
            if self.holds() {
                self.seen.send_replace(true);
            }
            if piece.ends_with(b"\n") {
                self.line.clear();
            } else if self.line.len() > LINE {
                // Enough for words of which a part has come.
                let surplus = self.line.len() - self.words.len().min(LINE);
                self.line.drain(..surplus);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE, LineWatch};
    use std::io::Write;
    use tokio::sync::watch;

    fn saw(words: &str, pieces: &[&str]) -> bool {
        let (seen, _) = watch::channel(false);
        let mut watched = LineWatch::new(words, seen.clone());
        for piece in pieces {
            watched.write_all(piece.as_bytes()).unwrap();
            assert!(watched.line.len() <= LINE.max(words.len()) + piece.len());
        }
        *seen.borrow()
    }

    #[test]
    fn words_are_seen_in_any_line_and_across_pieces_but_not_across_lines() {
        let long = "x".repeat(3 * LINE);
        for (pieces, is_seen) in [
            (&["a\nnow listening\nb\n"][..], true),
            (&["now lis", "tening"], true),
            (&["now\n", "listening\n"], false),
            (&["now lis", "ten\n"], false),
            (&[&long, "now liste", "ning", &long, "\n"], true),
            (&["now listening\n", &long, "\n", &long], true),
        ] {
            assert_eq!(saw("now listening", pieces), is_seen, "{}", pieces[0].len());
        }
    }
}
