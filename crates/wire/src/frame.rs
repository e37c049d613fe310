//! Bytes of a stream → lines, however the bytes were cut on their way.
//!
//! Main type: [`LineSplitter`]. It must not know what a line means.

use std::io::BufRead;

/// Longest line that is read; a longer one is a [`Frame::TooLong`].
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// How much room there is for one read: what a Linux pipe holds.
const READ_BYTES: usize = 64 * 1024;

/// Room above this is given back once a huge line is done with.
const KEEP_BYTES: usize = 1024 * 1024;

/// What the splitter cut out.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A line without its line feed; a carriage return before it is kept.
    Line(&'a [u8]),
    /// A line passed the limit, given in bytes; what is left of it is
    /// skipped, and said only once.
    TooLong(usize),
}

/// Splits a stream into lines without copying them.
///
/// Memory is bounded by the longest line, and that by the limit. Every byte
/// is looked at once for a line feed, so a line that comes in a thousand
/// pieces costs no more than one that comes whole.
#[derive(Debug)]
pub struct LineSplitter {
    buf: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// Up to where no line feed was found, at or after `start`.
    scanned: usize,
    limit: usize,
    skipping: bool,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::new(MAX_LINE_BYTES)
    }
}

impl LineSplitter {
    /// `limit`: the longest line in bytes, its line feed not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            buf: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            skipping: false,
        }
    }

    /// A buffer to append the next bytes of the stream to, with room for
    /// them. What is in it already must stay.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.buf.reserve(READ_BYTES);
        &mut self.buf
    }

    /// Appends the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    /// The next whole line; none until more bytes came.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        loop {
            let mut rest = &self.buf[self.scanned..];
            // A slice is a reader that can't fail.
            let looked = rest.skip_until(b'\n').unwrap_or(0);
            let end = self.scanned + looked;
            if looked == 0 || self.buf[end - 1] != b'\n' {
                self.scanned = end;
                return self.compact().then_some(Frame::TooLong(self.limit));
            }
            let line = self.start..end - 1;
            self.start = end;
            self.scanned = end;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if line.len() > self.limit {
                return Some(Frame::TooLong(self.limit));
            }
            return Some(Frame::Line(&self.buf[line]));
        }
    }

    /// What stands after the last line feed, once [`next_frame`] has no more.
    ///
    /// [`next_frame`]: Self::next_frame
    #[must_use]
    pub fn unfinished(&self) -> &[u8] {
        if self.skipping {
            return &[];
        }
        &self.buf[self.start..]
    }

    /// At the end of the stream: what stands after the last line feed.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        let line = self.start..self.buf.len();
        self.start = line.end;
        self.scanned = line.end;
        if line.is_empty() || self.skipping {
            return None;
        }
        Some(Frame::Line(&self.buf[line]))
    }

    /// Forgets the lines that were handed out. True when the line at hand
    /// has just passed the limit.
    fn compact(&mut self) -> bool {
        self.buf.drain(..self.start);
        self.start = 0;
        let too_long = !self.skipping && self.buf.len() > self.limit;
        if too_long || self.skipping {
            self.skipping = true;
            self.buf.clear();
        }
        self.scanned = self.buf.len();
        if self.buf.is_empty() && self.buf.capacity() > KEEP_BYTES {
            self.buf = Vec::new();
        }
        too_long
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, LineSplitter};
    use proptest::prelude::*;

    /// All frames of a stream that comes in these pieces; `None` is too long.
    fn frames(limit: usize, pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let own = |frame: Frame<'_>| match frame {
            Frame::Line(line) => Some(line.to_vec()),
            Frame::TooLong(_) => None,
        };
        let mut splitter = LineSplitter::new(limit);
        let mut found = Vec::new();
        for piece in pieces {
            splitter.room().extend_from_slice(piece);
            while let Some(frame) = splitter.next_frame() {
                found.push(own(frame));
            }
        }
        found.extend(splitter.finish().map(own));
        found
    }

    #[test]
    fn a_character_split_over_two_reads_is_whole_again() {
        let text = "größe\n".as_bytes();
        let cut = 3;
        assert_eq!(
            frames(99, &[&text[..cut], &text[cut..]]),
            vec![Some("größe".as_bytes().to_vec())]
        );
    }

    #[test]
    fn what_follows_the_last_line_feed_comes_at_the_end() {
        assert_eq!(
            frames(99, &[b"a\n\nb"]),
            vec![Some(b"a".to_vec()), Some(Vec::new()), Some(b"b".to_vec())]
        );
    }

    #[test]
    fn a_line_over_the_limit_is_said_once_and_the_next_one_is_read() {
        assert_eq!(
            frames(4, &[b"12", b"345", b"678", b"9\nok\n"]),
            vec![None, Some(b"ok".to_vec())]
        );
        assert_eq!(
            frames(4, &[b"1234\n12345\nok\n"]),
            vec![Some(b"1234".to_vec()), None, Some(b"ok".to_vec())]
        );
    }

    #[test]
    fn a_line_over_the_limit_takes_no_memory() {
        let mut splitter = LineSplitter::new(1000);
        for _ in 0..100_000 {
            splitter.push(&[b'x'; 100]);
            while splitter.next_frame().is_some() {}
        }
        assert!(splitter.buf.capacity() < 64 * 1024);
    }

    proptest! {
        #[test]
        fn any_cutting_of_the_same_bytes_gives_the_same_lines(
            bytes in proptest::collection::vec(
                prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..20),
            limit in 1usize..40,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c <= bytes.len()).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            prop_assert_eq!(frames(limit, &pieces), frames(limit, &[&bytes]));
        }

        #[test]
        fn the_lines_are_those_that_split_gives(
            lines in proptest::collection::vec("[a-zäß€]{0,20}", 0..20),
        ) {
            let stream: String = lines.iter().flat_map(|l| [l.as_str(), "\n"]).collect();
            let expected: Vec<_> = lines.iter().map(|l| Some(l.clone().into_bytes())).collect();
            prop_assert_eq!(frames(1000, &[stream.as_bytes()]), expected);
        }
    }
}
