//! Names made literal in the languages of patterns that frameworks read.

/// Escaped for the regular expressions of JavaScript, Go, Python and PHP: each
/// character of syntax behind a backslash.
pub(super) fn regex(name: &str) -> String {
    escaped(name, r"\^$.|?*+()[]{}/")
}

/// The same without the slash, which only separates where slashes delimit.
pub(super) fn regex_bare(name: &str) -> String {
    escaped(name, r"\^$.|?*+()[]{}")
}

/// Each of `syntax` behind a backslash.
pub(super) fn escaped(name: &str, syntax: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        if syntax.contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Characters that mean something replaced by one that stands for any: for
/// globs that know no escape.
pub(super) fn loosened(name: &str, syntax: &str, any: char) -> String {
    name.chars()
        .map(|c| if syntax.contains(c) { any } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{regex, regex_bare};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_escaped_name_matches_itself_and_no_other(name in "\\PC{0,30}", other in "\\PC{0,30}") {
            for pattern in [regex(&name), regex_bare(&name)] {
                let compiled = ::regex::Regex::new(&format!("^(?:{pattern})$")).unwrap();
                prop_assert!(compiled.is_match(&name));
                prop_assert_eq!(compiled.is_match(&other), other == name);
            }
        }
    }
}
