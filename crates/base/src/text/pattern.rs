//! Regular expressions that are compiled when they are first asked: a `static` costs
//! nothing until then. One that does not compile matches nothing; that all do is held by
//! `tests/architecture`, which compiles each that is written out.

use regex::{CaptureMatches, Captures, Matches, Regex, Replacer, bytes};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Of text.
#[derive(Debug)]
pub struct LazyPattern {
    source: PatternSource,
    compiled: OnceLock<Option<Regex>>,
}

/// Of bytes, for a question that many texts are asked: it compiles in a fraction of the
/// time, since its classes (`\w`, `\s`, `\b`) and its `(?i)` know ASCII alone.
#[derive(Debug)]
pub struct LazyBytePattern {
    source: PatternSource,
    compiled: OnceLock<Option<bytes::Regex>>,
}

#[derive(Debug, Clone, Copy)]
enum PatternSource {
    Written(&'static str),
    /// Put together of what stands elsewhere.
    Made(fn() -> String),
    /// With classes that know ASCII alone.
    Ascii(&'static str),
}

/// A pattern whose classes `\w`, `\d`, `\s` and whose `\b` know ASCII alone: those of Unicode
/// take most of the time in which a pattern compiles, and names that machines give need none.
/// `\W`, `\D`, `\S` and `\B` stay what they are.
#[must_use]
pub fn ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(2 * pattern.len());
    let mut in_class = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let class = match chars.next() {
                    Some('w') => "0-9A-Za-z_",
                    Some('d') => "0-9",
                    Some('s') => r"\t\n\v\f\r\x20",
                    Some('b') if !in_class => {
                        out.push_str(r"(?-u:\b)");
                        continue;
                    }
                    other => {
                        out.push('\\');
                        out.extend(other);
                        continue;
                    }
                };
                match in_class {
                    true => out.push_str(class),
                    false => out.extend(["[", class, "]"]),
                }
            }
            '[' => {
                in_class = true;
                out.push(c);
            }
            ']' => {
                in_class = false;
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

impl LazyPattern {
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self::of(PatternSource::Written(text))
    }

    /// One that is made when it is first asked.
    #[must_use]
    pub const fn made(text: fn() -> String) -> Self {
        Self::of(PatternSource::Made(text))
    }

    /// One whose classes know ASCII alone; see [`ascii_classes`].
    #[must_use]
    pub const fn ascii(text: &'static str) -> Self {
        Self::of(PatternSource::Ascii(text))
    }

    const fn of(source: PatternSource) -> Self {
        let compiled = OnceLock::new();
        Self { source, compiled }
    }

    /// `None` does not compile.
    pub fn get(&self) -> Option<&Regex> {
        let compiled = || Regex::new(&self.source.text()).ok();
        self.compiled.get_or_init(compiled).as_ref()
    }

    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.get().is_some_and(|pattern| pattern.is_match(text))
    }

    pub fn find<'t>(&self, text: &'t str) -> Option<regex::Match<'t>> {
        self.get()?.find(text)
    }

    pub fn find_iter<'r, 't>(
        &'r self,
        text: &'t str,
    ) -> impl Iterator<Item = regex::Match<'t>> + use<'r, 't> {
        let found: Option<Matches<'r, 't>> = self.get().map(|pattern| pattern.find_iter(text));
        found.into_iter().flatten()
    }

    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.get()?.captures(text)
    }

    pub fn captures_iter<'r, 't>(
        &'r self,
        text: &'t str,
    ) -> impl Iterator<Item = Captures<'t>> + use<'r, 't> {
        let found: Option<CaptureMatches<'r, 't>> =
            self.get().map(|pattern| pattern.captures_iter(text));
        found.into_iter().flatten()
    }

    /// The first match alone.
    pub fn replace<'t>(&self, text: &'t str, by: impl Replacer) -> Cow<'t, str> {
        match self.get() {
            Some(pattern) => pattern.replace(text, by),
            None => Cow::Borrowed(text),
        }
    }

    pub fn replace_all<'t>(&self, text: &'t str, by: impl Replacer) -> Cow<'t, str> {
        match self.get() {
            Some(pattern) => pattern.replace_all(text, by),
            None => Cow::Borrowed(text),
        }
    }
}

impl LazyBytePattern {
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self::of(PatternSource::Written(text))
    }

    /// One that is made when it is first asked.
    #[must_use]
    pub const fn made(text: fn() -> String) -> Self {
        Self::of(PatternSource::Made(text))
    }

    const fn of(source: PatternSource) -> Self {
        let compiled = OnceLock::new();
        Self { source, compiled }
    }

    pub fn is_match(&self, text: impl AsRef<[u8]>) -> bool {
        let compiled = || {
            let mut builder = bytes::RegexBuilder::new(&self.source.text());
            builder.unicode(false).build().ok()
        };
        let pattern = self.compiled.get_or_init(compiled).as_ref();
        pattern.is_some_and(|pattern| pattern.is_match(text.as_ref()))
    }
}

impl PatternSource {
    fn text(self) -> Cow<'static, str> {
        match self {
            Self::Written(text) => Cow::Borrowed(text),
            Self::Made(text) => Cow::Owned(text()),
            Self::Ascii(text) => Cow::Owned(ascii_classes(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LazyBytePattern, LazyPattern, ascii_classes};

    #[test]
    fn it_is_asked_like_the_expression_that_it_is() {
        static NUMBER: LazyPattern = LazyPattern::new(r"\d+(\w)");
        assert!(NUMBER.is_match("12m") && !NUMBER.is_match("m"));
        assert_eq!(NUMBER.find("a 12m").unwrap().start(), 2);
        assert_eq!(&NUMBER.captures("12m").unwrap()[1], "m");
        let found = |text| {
            NUMBER
                .find_iter(text)
                .map(|found| found.as_str().to_owned())
        };
        assert_eq!(found("1a 2b").collect::<Vec<_>>(), ["1a", "2b"]);
        assert_eq!(NUMBER.captures_iter("1a 2b").count(), 2);
        assert_eq!(NUMBER.replace("1a 2b", "$1"), "a 2b");
        assert_eq!(NUMBER.replace_all("1a 2b", "$1"), "a b");
    }

    #[test]
    fn one_may_be_made_of_others() {
        static EITHER: LazyPattern = LazyPattern::made(|| ["a", "b"].join("|"));
        static OF_BYTES: LazyBytePattern = LazyBytePattern::made(|| ["a", "b"].join("|"));
        assert!(EITHER.is_match("b") && OF_BYTES.is_match("b"));
        assert!(!EITHER.is_match("c") && !OF_BYTES.is_match("c"));
    }

    #[test]
    fn that_of_bytes_knows_ascii_alone() {
        static LETTERS: LazyBytePattern = LazyBytePattern::new(r"^(?i)\w+e$");
        assert!(LETTERS.is_match("THE") && !LETTERS.is_match("thé"));
        assert!(!LETTERS.is_match("ÄE") && LETTERS.is_match(b"ae"));
    }

    #[test]
    fn classes_of_ascii_stand_for_those_of_unicode() {
        static PLAIN: LazyPattern = LazyPattern::ascii(r"\b[\w.-]+\s\d[^\s]\[\]?");
        assert!(PLAIN.is_match("a.b-c 1x["));
        assert!(!PLAIN.is_match("é 1x[") && !PLAIN.is_match("a \u{661}x["));
        assert_eq!(ascii_classes(r"\\w[\d\]]\b"), r"\\w[0-9\]](?-u:\b)");
    }

    #[test]
    fn one_that_does_not_compile_matches_nothing() {
        static BAD: LazyPattern = LazyPattern::new("(");
        static BAD_BYTES: LazyBytePattern = LazyBytePattern::new("(");
        assert!(BAD.get().is_none() && !BAD.is_match("(") && !BAD_BYTES.is_match("("));
        assert!(BAD.find("(").is_none() && BAD.captures("(").is_none());
        assert_eq!(
            BAD.find_iter("(").count() + BAD.captures_iter("(").count(),
            0
        );
        assert_eq!(BAD.replace_all("(", ""), "(");
        assert_eq!(BAD.replace("(", ""), "(");
    }
}
