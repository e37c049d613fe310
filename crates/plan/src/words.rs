//! Lists of words, as tables hold them: one text, with blanks between them.

/// Whether `word` is one of `words`.
pub(super) fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}
