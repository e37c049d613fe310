//! What tells attempts of one test from rows of a table: their names, and what
//! their failures say.
//!
//! Main functions: [`may_be_rows`], [`said_of`].

use super::identity::{hash, join};
use super::open::OpenCase;

/// Whether several rows of a table may have this name: no method without
/// parameters has such.
pub(super) fn may_be_rows(name: &str) -> bool {
    let name = name.strip_suffix("()").unwrap_or(name);
    !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Which case of a suite it is, by its names.
pub(super) fn names_of(case: &OpenCase, suite: u64) -> u64 {
    join(suite, hash(&[&case.classname, &case.name]))
}

/// The same, and what it says of its failures: their messages, or the first
/// lines of their texts.
pub(super) fn said_of(case: &OpenCase, suite: u64) -> u64 {
    let said = case.failures.iter().filter_map(|failure| {
        let text = failure.message.as_deref().or(failure.text.as_deref())?;
        let line = text.lines().next().unwrap_or_default();
        Some(hash(&[&without_ports(line)]))
    });
    said.fold(names_of(case, suite), join)
}

/// A text without the numbers of ports, which the system gives out anew for
/// each attempt: four or five digits behind a colon or the word.
fn without_ports(said: &str) -> String {
    let mut kept = String::with_capacity(said.len());
    let mut rest = said;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit());
        let (number, behind) = from.split_at(end.unwrap_or(from.len()));
        kept.push_str(before);
        let word = kept.trim_end_matches([' ', '=', ':', '"', '\'']);
        let named = word.len() < kept.len()
            && word
                .get(word.len().saturating_sub(4)..)
                .is_some_and(|word| word.eq_ignore_ascii_case("port"));
        let is_port = (4..=5).contains(&number.len()) && (kept.ends_with(':') || named);
        kept.push_str(if is_port { "<port>" } else { number });
        rest = behind;
    }
    kept + rest
}
