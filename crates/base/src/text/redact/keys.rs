//! Private keys between the lines that begin and end their files.

use std::ops::Range;

const BEGIN_KEY: &str = "-----BEGIN ";
const END_KEY: &str = "-----END";
const PRIVATE: [&str; 2] = ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"];

/// What stands between those lines, in order for each form of file.
pub(super) fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for next in [next_key, next_of_putty] {
        let mut from = 0;
        while let Some(key) = next(&text[from..]) {
            let begin = from + key.begin;
            let end = key.end.map_or(text.len(), |end| from + end);
            if !text[begin..end].trim().is_empty() {
                found.push(begin..end);
            }
            from = end;
        }
    }
    found
}

/// Where the first line of a private key begins whose last line is not in this
/// text; for who shows one line after the other.
#[must_use]
pub fn open_key(text: &str) -> Option<usize> {
    let open = |next: fn(&str) -> Option<Key>| {
        let mut from = 0;
        while let Some(key) = next(&text[from..]) {
            match key.end {
                Some(end) => from += end,
                None => return Some(from + key.first_line),
            }
        }
        None
    };
    [open(next_key), open(next_of_putty)]
        .into_iter()
        .flatten()
        .min()
}

/// Places in a text.
struct Key {
    first_line: usize,
    /// Behind the first line.
    begin: usize,
    /// Before the last one, if it is there.
    end: Option<usize>,
}

fn next_of_putty(text: &str) -> Option<Key> {
    const LINES: &str = "Private-Lines: ";
    /// Of the number of lines.
    const DIGITS: usize = 8;
    text.match_indices(LINES).find_map(|(first_line, _)| {
        let counted = first_line + LINES.len();
        let digits = text[counted..].bytes().take(DIGITS);
        let digits = digits.take_while(u8::is_ascii_digit).count();
        // A line may have become a blank, or an escape, on its way.
        let behind = &text[counted + digits..];
        let key = behind.trim_start_matches([' ', '\\', 'r', 'n', '\r', '\n']);
        let begin = text.len() - key.len();
        let is_line = key.len() < behind.len();
        let is_whole = behind.starts_with(['\r', '\n']) || key.contains("Private-MAC");
        (digits > 0 && is_line && is_whole).then(|| Key {
            first_line,
            begin,
            end: text[begin..].find("Private-MAC").map(|end| begin + end),
        })
    })
}

fn next_key(text: &str) -> Option<Key> {
    text.match_indices(BEGIN_KEY).find_map(|(first_line, _)| {
        let named = first_line + BEGIN_KEY.len();
        let begin = named + text[named..].find("-----")? + 5;
        let is_private = PRIVATE
            .iter()
            .any(|kind| text[named..begin].ends_with(kind));
        is_private.then(|| Key {
            first_line,
            begin,
            end: text[begin..].find(END_KEY).map(|end| begin + end),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::open_key;

    #[test]
    fn a_key_without_its_last_line_is_open() {
        const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\nMHQ\n";
        assert_eq!(open_key(&format!("a\n{KEY}")), Some(2));
        let closed = format!("{KEY}-----END EC PRIVATE KEY-----\n");
        assert_eq!(open_key(&closed), None);
        assert_eq!(open_key(&format!("{closed}{KEY}")), Some(closed.len()));
        assert_eq!(open_key("-----BEGIN CERTIFICATE-----\nMHQ\n"), None);
        assert_eq!(open_key("-----BEGIN EC PRIVATE KEY"), None);
    }
}
