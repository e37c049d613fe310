//! What a text that compares says by the way: a number in a sentence is no operand.

use super::walk::Walk;

const QUOTES: [char; 4] = ['\'', '"', '`', '<'];

impl Walk<'_> {
    /// Whether what stands here, so many bytes, is a part of a quoted sentence, as the
    /// number in `'lock held by 31133' == 'ok'`: words stand before it, and wherever the
    /// same words stand, the same follows them.
    pub(super) fn in_prose(&self, len: usize) -> bool {
        let Some(words) = self.words_before() else {
            return false;
        };
        let here = &self.text[self.at..self.at + len];
        self.text.match_indices(words).all(|(at, _)| {
            let there = &self.text[at + words.len()..];
            there.starts_with(here)
                && !there[here.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    }

    /// Whether this number is one of a quoted sentence, and the only one of its text that
    /// has as many digits: of two, the other may be what it is held against. One of four
    /// digits may be a year, a port or a price, so of those only what is held or owned by
    /// something is told by the way.
    pub(super) fn is_told_by_the_way(&self, n: &str) -> bool {
        const SHORT: usize = 4;
        let numbers = self.text.split(|c: char| !c.is_ascii_digit());
        let mut others = numbers.filter(|other| other.len() >= SHORT && *other != n);
        let by = n.len() > SHORT || self.text[..self.at].ends_with(" by ");
        by && others.next().is_none() && self.in_prose(n.len())
    }

    /// Whether a quoted text begins with what stands here, so many bytes, and goes on, as
    /// a line of a log does with its moment.
    pub(super) fn begins(&self, len: usize) -> bool {
        let goes_on = self.rest()[len..].strip_prefix(' ');
        self.text[..self.at].ends_with(QUOTES)
            && goes_on.is_some_and(|more| !more.starts_with(QUOTES))
    }

    /// The words between the quote that was opened last, or the sign of a line of a
    /// diff, and here.
    fn words_before(&self) -> Option<&str> {
        /// Bytes that are looked at.
        const FAR: usize = 400;
        let before = &self.text[..self.at];
        let before = &before[before.floor_char_boundary(before.len().saturating_sub(FAR))..];
        let at = before.rfind(|c: char| QUOTES.contains(&c) || c == '\n')?;
        let words = match before[at..].strip_prefix('\n') {
            Some(line) => line.trim_start().strip_prefix(['+', '-'])?.trim_start(),
            None => {
                let closes = before[..at].ends_with(|c: char| c.is_alphanumeric());
                Some(&before[at + 1..]).filter(|_| !closes)?
            }
        };
        let begins = words.starts_with(|c: char| c.is_alphanumeric() || c == '[');
        (begins && words.contains(' ')).then_some(words)
    }
}
