//! How much a page may hold, measured while it is written.

use maud::Markup;
use std::collections::HashMap;

/// Bytes of what is told in full: a page of this size opens at once on a phone,
/// and takes little of what a CI keeps.
const DETAIL: usize = 800 << 10;

/// Bytes of all lists together. With what stands around them, a page stays
/// below 5 MiB.
const MOST: usize = 4 << 20;

/// What is left for the lists of a page. What has no room in full is told in
/// brief, and what has no room in brief is counted.
#[derive(Debug)]
pub(in crate::report) struct PageRoom {
    detail: usize,
    most: usize,
    used: usize,
}

impl PageRoom {
    /// For one of so many parts that share a page.
    pub(in crate::report) fn share(parts: usize) -> Self {
        let parts = parts.max(1);
        Self {
            detail: DETAIL / parts,
            most: MOST / parts,
            used: 0,
        }
    }

    /// Whether there is room to tell more in full.
    pub(in crate::report) fn is_for_details(&self) -> bool {
        self.used < self.detail
    }

    /// Takes its room for what has to be there; nothing where there is none.
    pub(in crate::report) fn take(&mut self, markup: Markup) -> Option<Markup> {
        let used = self.used + markup.0.len();
        if used > self.most {
            return None;
        }
        self.used = used;
        Some(markup)
    }

    /// The entries of a list, each as long as there is room for it, and how many
    /// are left out.
    pub(in crate::report) fn list(
        &mut self,
        entries: impl Iterator<Item = Markup>,
    ) -> (Vec<Markup>, usize) {
        let mut left_out = 0;
        let shown = entries
            .filter_map(|entry| {
                let entry = self.take(entry);
                left_out += usize::from(entry.is_none());
                entry
            })
            .collect();
        (shown, left_out)
    }
}

/// Blocks that a page holds already, by the place where they stand: failures of
/// one server share its output, and of one cause the advice.
#[derive(Debug, Default)]
pub(in crate::report) struct ToldBlocks(HashMap<String, String>);

impl ToldBlocks {
    /// A shorter text is told again: the reference would be as long.
    const SHORT: usize = 120;

    /// Where a text stands already; if nowhere, it is noted to stand at `id`.
    pub(in crate::report) fn place(&mut self, text: &str, id: &str) -> Option<String> {
        if text.len() < Self::SHORT {
            return None;
        }
        let known = self.0.get(text).cloned();
        if known.is_none() {
            self.0.insert(text.to_owned(), id.to_owned());
        }
        known
    }
}
