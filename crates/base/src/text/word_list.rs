//! Lists of words as they are written on paper.

use foldhash::quality::RandomState;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Words with a space between them.
#[derive(Debug, Clone, Copy)]
pub struct WordList(pub &'static str);

impl WordList {
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    #[must_use]
    pub fn has(self, word: &str) -> bool {
        self.words().any(|known| known == word)
    }
}

/// The same of what is asked often, as of every name in a text: a set, made when it is
/// first asked.
#[derive(Debug)]
pub struct WordSet {
    words: WordList,
    set: OnceLock<HashSet<&'static str, RandomState>>,
}

impl WordSet {
    #[must_use]
    pub const fn new(words: &'static str) -> Self {
        Self {
            words: WordList(words),
            set: OnceLock::new(),
        }
    }

    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        let made = || self.words.words().collect();
        self.set.get_or_init(made).contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::{WordList, WordSet};

    #[test]
    fn words_are_told_apart_by_spaces_and_ends_of_lines() {
        const LIST: WordList = WordList(
            "one two \
             three",
        );
        static SET: WordSet = WordSet::new(LIST.0);
        assert_eq!(LIST.words().collect::<Vec<_>>(), ["one", "two", "three"]);
        for word in ["one", "three", "thre", "one two", ""] {
            let known = ["one", "three"].contains(&word);
            assert_eq!((LIST.has(word), SET.has(word)), (known, known), "{word}");
        }
    }
}
