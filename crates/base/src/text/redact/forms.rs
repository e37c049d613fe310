//! The forms in which a secret travels.

use super::views::{views, without_unseen};

/// Encoded forms of shorter secrets would match by chance.
const MIN_ENCODED: usize = 4;
/// Lines of a secret with several lines (a PEM key) are secrets themselves
/// from this length on.
pub(super) const MIN_LINE: usize = 8;

/// Blanks of a secret that a line may be broken at; passphrases have few.
const MAX_BLANKS: usize = 8;

/// All forms in which `value` may travel, but for those that are told by
/// [`super::views`].
pub(super) fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<String> = Vec::new();
    if value.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![value];
    let trimmed = value.trim();
    if trimmed != value && !trimmed.is_empty() {
        parts.push(trimmed);
    }
    let seen = without_unseen(value);
    if seen != value && !seen.is_empty() {
        parts.push(&seen);
    }
    parts.extend(
        value
            .lines()
            .map(str::trim)
            .filter(|line| line.len() >= MIN_LINE && *line != value),
    );
    for part in parts {
        forms.push(part.to_owned());
        if part.len() < MIN_ENCODED {
            continue;
        }
        // The case of letters beyond ASCII, which no search ignores.
        if !part.is_ascii() {
            forms.push(part.to_uppercase());
            forms.push(part.to_lowercase());
        }
        // A space within a URL, and a quote within the quotes of a shell.
        forms.push(part.replace(' ', "+"));
        forms.push(part.replace('\'', "'\\''"));
        forms.push(part.replace('\'', "'\"'\"'"));
        for between in ["", ":", " ", "-"] {
            let hex: Vec<String> = part.bytes().map(|b| format!("{b:02x}")).collect();
            let hex = hex.join(between);
            forms.push(hex.to_ascii_uppercase());
            forms.push(hex);
        }
        for alignment in 0..3 {
            let base64 = base64_within(part.as_bytes(), alignment);
            if base64.len() >= MIN_ENCODED {
                forms.push(base64.replace('+', "-").replace('/', "_"));
                forms.push(base64);
            }
        }
    }
    // As it stands where the quotes around its parts were taken away.
    let bare: String = value
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '`' | '\\'))
        .collect();
    if bare != value && bare.len() >= MIN_LINE {
        forms.push(bare);
    }
    // Broken over two lines at one of its blanks, which went with the break.
    for (at, _) in value.match_indices(' ').take(MAX_BLANKS) {
        if value.len() > MIN_LINE {
            forms.push(format!("{}{}", &value[..at], &value[at + 1..]));
        }
    }
    let mut forms: Vec<Vec<u8>> = forms.into_iter().map(String::into_bytes).collect();
    // Where what is around it is read once more, so is what looks like an
    // escape in the secret itself.
    let read = views(value.as_bytes()).into_iter().map(|view| view.bytes);
    forms.extend(read.filter(|read| read.len() >= MIN_LINE));
    forms
}

/// The characters of a Base64 text that are decided by `bytes` alone, when
/// they begin `alignment` bytes after a group of three.
pub(super) fn base64_within(bytes: &[u8], alignment: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |n: usize| (bytes[n / 8] >> (7 - n % 8)) & 1;
    let first = (alignment * 8).div_ceil(6) * 6 - alignment * 8;
    (first..)
        .step_by(6)
        .take_while(|start| start + 6 <= bytes.len() * 8)
        .map(|start| {
            let index = (start..start + 6).fold(0u8, |index, n| index << 1 | bit(n));
            char::from(ALPHABET[usize::from(index)])
        })
        .collect()
}
