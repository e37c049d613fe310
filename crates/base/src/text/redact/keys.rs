//! Private keys between the lines that begin and end their files.

use std::ops::Range;

const BEGIN_KEY: &str = "-----BEGIN ";
const END_KEY: &str = "-----END";
/// What follows the lines of a key of PuTTY.
const END_OF_PUTTY: &str = "Private-MAC";
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
    let last_end = text.rfind(END_OF_PUTTY);
    text.match_indices(LINES).find_map(|(first_line, _)| {
        let counted = first_line + LINES.len();
        let digits = text[counted..].bytes().take(DIGITS);
        let digits = digits.take_while(u8::is_ascii_digit).count();
        // A line may have become a blank, or an escape, on its way.
        let behind = &text[counted + digits..];
        let mut key = behind.trim_start();
        while let Some(rest) = key.strip_prefix("\\n").or_else(|| key.strip_prefix("\\r")) {
            key = rest.trim_start();
        }
        let begin = text.len() - key.len();
        let is_line = key.len() < behind.len();
        let is_whole = behind.starts_with(['\r', '\n']) || last_end >= Some(begin);
        (digits > 0 && is_line && is_whole).then(|| Key {
            first_line,
            begin,
            end: text[begin..].find(END_OF_PUTTY).map(|end| begin + end),
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
    use super::{open_key, private_keys};

    #[test]
    fn a_key_of_putty_is_known_on_lines_and_on_one() {
        let lines = "Private-Lines: 2\nnAbC\nrDeF\nPrivate-MAC: 1";
        for text in [
            lines.to_owned(),
            lines.replace('\n', " "),
            lines.replace('\n', "\\n"),
        ] {
            let keys = private_keys(&text);
            assert_eq!(keys.len(), 1, "{text}");
            assert!(text[keys[0].clone()].starts_with("nAbC"), "{text}");
            assert_eq!(open_key(&text), None, "{text}");
        }
        assert_eq!(open_key("a\nPrivate-Lines: 2\nAbC\n"), Some(2));
        assert!(private_keys("Private-Lines: 2 of them").is_empty());
    }

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
