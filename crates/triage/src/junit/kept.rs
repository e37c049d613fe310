//! Text of which the head and the tail are kept.

use std::collections::VecDeque;

/// Collects text in pieces, in bounded memory: the first `limit` bytes and
/// the last `limit` bytes, both cut at the borders of characters.
#[derive(Debug, Default)]
pub(super) struct Kept {
    head: String,
    tail: VecDeque<u8>,
    /// Bytes that went through the tail and were dropped.
    dropped: u64,
    limit: usize,
}

impl Kept {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Forgets what was collected, and keeps the memory.
    pub(super) fn restart(&mut self, limit: usize) {
        self.head.clear();
        self.tail.clear();
        self.dropped = 0;
        self.limit = limit;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    pub(super) fn push(&mut self, mut text: &str) {
        if self.tail.is_empty() && self.dropped == 0 {
            let room = self.limit.saturating_sub(self.head.len());
            let cut = text.floor_char_boundary(room);
            self.head.push_str(&text[..cut]);
            text = &text[cut..];
        }
        if text.len() > self.limit {
            let cut = text.ceil_char_boundary(text.len() - self.limit);
            self.dropped += (self.tail.len() + cut) as u64;
            self.tail.clear();
            text = &text[cut..];
        }
        self.tail.extend(text.as_bytes());
        let over = self.tail.len().saturating_sub(self.limit);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// Says that so many bytes are missing in the middle already.
    pub(super) fn missed(&mut self, bytes: i64) {
        if self.dropped > 0 {
            self.dropped = self.dropped.saturating_add_signed(bytes);
        }
    }

    /// The first line that begins so, of what is kept.
    pub(super) fn line(&self, begin: &str) -> Option<String> {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let tail = String::from_utf8_lossy(&tail);
        let mut lines = self.head.lines().chain(tail.lines()).map(str::trim);
        lines
            .find(|line| line.starts_with(begin))
            .map(str::to_owned)
    }

    /// Takes what was kept, with a line between head and tail that says how
    /// much is missing. Line ends are `\n`.
    pub(super) fn take(&mut self) -> String {
        if self.tail.is_empty() && self.dropped == 0 && !self.head.contains('\r') {
            return std::mem::take(&mut self.head);
        }
        let (head, tail) = (&self.head, self.tail.make_contiguous());
        // The ring may begin within a character.
        let start = tail
            .iter()
            .position(|byte| byte & 0xC0 != 0x80)
            .unwrap_or(tail.len());
        let missing = self.dropped + if self.dropped > 0 { start as u64 } else { 0 };
        let tail = String::from_utf8_lossy(&tail[start..]);
        let whole = if missing == 0 {
            format!("{head}{tail}")
        } else {
            format!("{head}\n[… {missing} bytes left out …]\n{tail}")
        };
        if whole.contains('\r') {
            return whole.replace("\r\n", "\n").replace('\r', "\n");
        }
        whole
    }
}

/// `text` without empty lines before it and spaces behind it.
pub(super) fn bare(mut text: String) -> String {
    text.truncate(text.trim_end().len());
    let empty = text.len() - text.trim_start_matches('\n').len();
    text.drain(..empty);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(limit: usize, pieces: &[&str]) -> String {
        let mut kept = Kept::new(limit);
        pieces.iter().for_each(|piece| kept.push(piece));
        kept.take()
    }

    #[test]
    fn text_below_the_limit_is_kept_whole() {
        assert_eq!(kept(4, &["ab", "cd", "efgh"]), "abcdefgh");
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out_and_counted() {
        assert_eq!(
            kept(4, &["abcdef", "ghij", "klmnop"]),
            "abcd\n[… 8 bytes left out …]\nmnop"
        );
    }

    #[test]
    fn no_character_is_cut_in_two() {
        let long = "é".repeat(100);
        let text = kept(5, &[&long, &long]);
        assert!(
            text.starts_with("éé\n[… 392 bytes left out …]\néé"),
            "{text}"
        );
    }

    #[test]
    fn line_ends_of_windows_become_those_of_everybody() {
        assert_eq!(kept(9, &["a\r\nb\rc"]), "a\nb\nc");
    }
}
