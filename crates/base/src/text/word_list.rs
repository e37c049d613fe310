//! Lists of words as they are written on paper.

/// Words with a space between them.
#[derive(Debug, Clone, Copy)]
pub struct WordList(pub &'static str);

impl WordList {
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.split_whitespace()
    }

    #[must_use]
    pub fn has(self, word: &str) -> bool {
        self.words().any(|known| known == word)
    }
}
