//! Numbers of orders, invoices and the like: `SO-384712`, `INV-2026-362934`.

use super::walk::Walk;
use super::words::{WordKinds, kinds};

/// Whether a name begins as the number of a document does: `SO-384712`, `INV-2026-362934`.
pub(super) fn begins_document(part: &str) -> bool {
    part.bytes().all(|b| b.is_ascii_uppercase()) && kinds(part).is(WordKinds::DOCUMENT)
}

impl Walk<'_> {
    /// Whether a name is that of a topic with the number of a partition behind it.
    pub(super) fn is_partition(&self, name: &str) -> bool {
        self.rest()[name.len()..].starts_with(" offset ")
    }

    /// Whether no other number of such a document stands in the text, which would be held
    /// against this one.
    pub(super) fn is_only_document(&self, name: &str) -> bool {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[stem.len()..];
        let mut all = self.text.match_indices(stem);
        all.all(|(at, _)| {
            let other = &self.text[at + stem.len()..];
            let digits = other.bytes().take_while(u8::is_ascii_digit).count();
            digits == 0 || &other[..digits] == number
        })
    }
}
