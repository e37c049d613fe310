//! How the patterns of rules are compiled.

use regex::bytes::RegexBuilder;

/// Bytes, line by line.
pub(super) fn builder(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(pattern);
    builder.unicode(false).multi_line(true);
    builder
}
