//! A text line by line, forwards and backwards from a place.

/// Lines before the place that are looked at for how deep they stand.
pub(super) const LINES_BACK: usize = 2000;

/// A line with the byte that it begins at.
#[derive(Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
}

impl<'t> Line<'t> {
    pub(super) fn at(text: &'t str, at: usize) -> Self {
        let start = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
        let end = text[at..].find('\n').map_or(text.len(), |feed| at + feed);
        Self {
            start,
            text: text[start..end].trim_end_matches('\r'),
        }
    }

    pub(super) fn end(self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn next(self, text: &'t str) -> Option<Self> {
        let after = text[self.end()..].find('\n')? + self.end() + 1;
        Some(Self::at(text, after))
    }

    pub(super) fn previous(self, text: &'t str) -> Option<Self> {
        let before = self.start.checked_sub(1)?;
        Some(Self::at(text, before))
    }

    pub(super) fn depth(self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    /// Nothing, or a comment.
    pub(super) fn is_empty(self) -> bool {
        let content = self.text.trim_start();
        content.is_empty() || content.starts_with('#')
    }

    /// What stands behind the dashes of a list, and where that begins.
    pub(super) fn item(self) -> (usize, &'t str) {
        let mut at = self.depth();
        while let Some(rest) = self.text[at..].strip_prefix("- ") {
            at += 2 + rest.len() - rest.trim_start_matches(' ').len();
        }
        (at, self.text[at..].trim_end())
    }
}

/// The lines before one that say something, the nearest first.
pub(super) fn lines_before<'t>(text: &'t str, line: Line<'t>) -> impl Iterator<Item = Line<'t>> {
    std::iter::successors(line.previous(text), move |line| line.previous(text))
        .take(LINES_BACK)
        .filter(|line| !line.is_empty())
}
