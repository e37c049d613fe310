//! What tells attempts of one test from rows of a table: their names, and what
//! their failures say.
//!
//! Main functions: [`may_be_rows`], [`without_ports`].

/// Whether several rows of a table may have this name: no method without
/// parameters has such.
pub(super) fn may_be_rows(name: &str) -> bool {
    let name = name.strip_suffix("()").unwrap_or(name);
    !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A text without the numbers of ports, which the system gives out anew for
/// each attempt: four or five digits behind a colon or the word.
pub(super) fn without_ports(said: &str) -> String {
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
