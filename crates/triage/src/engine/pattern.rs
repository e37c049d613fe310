//! A rule with its turn, and its patterns, each compiled when a text may first
//! match it.

use super::rule::Rule;
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The turn of the built-in rules.
pub(super) const BUILTIN_TURN: u8 = 1;

/// A rule by when it is asked.
pub(super) struct RankedRule {
    pub(super) rule: Rule,
    /// 0 for rules asked before the built-in ones, 1, or 2 for those after.
    pub(super) turn: u8,
    /// Whether it recognises assertions in reports.
    pub(super) syntax: bool,
}

/// One expression of a rule.
pub(super) struct Pattern {
    /// Its rule, by number.
    pub(super) rule: usize,
    /// Whether a match keeps its rule from applying.
    pub(super) veto: bool,
    pub(super) text: String,
    pub(super) compiled: OnceLock<Option<Regex>>,
}

/// A pattern of a rule of the user's own as it is compiled. The built-in ones are matched byte
/// by byte, for speed, and write letters beyond ASCII so that this is enough; a class of them,
/// or their other case, takes Unicode.
pub(super) fn own_pattern(pattern: &str) -> Cow<'_, str> {
    match pattern.is_ascii() {
        true => Cow::Borrowed(pattern),
        false => Cow::Owned(format!("(?u){pattern}")),
    }
}

/// How every pattern of a rule is compiled.
pub(super) fn builder(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(pattern);
    builder.unicode(false).multi_line(true);
    builder
}

impl Pattern {
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| builder(&self.text).build().ok())
            .as_ref()
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex()
            .is_some_and(|regex| regex.is_match(text.as_bytes()))
    }
}
