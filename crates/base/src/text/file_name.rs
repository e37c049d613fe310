//! Names of files that are made of words of others.

/// A name that any file system takes: letters, digits, `.`, `_` and `-`, not
/// empty, not hidden, not long.
#[must_use]
pub fn file_name(name: &str) -> String {
    const MAX: usize = 80;
    let mut safe: String = name
        .chars()
        .take(MAX)
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect();
    if safe.is_empty() || safe.starts_with('.') {
        safe.insert(0, '_');
    }
    safe
}
