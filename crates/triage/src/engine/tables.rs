//! Tables of words and patterns: `tables/*.yaml`, as the build script left them.

use regex::{Regex, bytes};
use serde::de::DeserializeOwned;

/// The JSON that the build script made of a file of rules or of a table.
macro_rules! built {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json"))
    };
}
pub(crate) use built;

/// A table out of its JSON.
pub(crate) fn table<T: DeserializeOwned>(json: &str) -> T {
    #[expect(
        clippy::expect_used,
        reason = "the tables are part of the program, and tests read each"
    )]
    serde_json::from_str(json).expect("a table has what its reader wants")
}

/// One expression that matches where any of the patterns does, with the flags.
pub(crate) fn any_of(flags: &str, patterns: &[String]) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the tables are part of the program, and tests compile each pattern"
    )]
    Regex::new(&format!("(?{flags}:{})", patterns.join("|"))).expect("the patterns compile")
}

/// The same for what is asked of many texts: of bytes, which takes a fraction of the time to
/// compile.
pub(super) fn any_bytes_of(patterns: &[String]) -> bytes::Regex {
    bytes_pattern(&patterns.join("|"))
}

/// A pattern of bytes, which knows ASCII alone.
pub(crate) fn bytes_pattern(pattern: &str) -> bytes::Regex {
    #[expect(
        clippy::expect_used,
        reason = "the tables are part of the program, and tests compile each pattern"
    )]
    bytes::RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .expect("the pattern compiles")
}
