//! Text that steers no terminal and hides nothing from who reads it.

use memchr::memchr;
use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` without terminal escape sequences.
#[must_use]
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if memchr(0x1b, text.as_bytes()).is_some() {
        Cow::Owned(anstream::adapter::strip_str(text).to_string())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether nothing of a text is seen once it is safe to print.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    sanitize(text).trim().is_empty()
}

/// `text` made safe to print: no escape sequences, no control characters but
/// line feed and tab. What reorders what is shown, or is not seen at all, is
/// named by its code point, as in `<U+202E>`: who compares two texts by eye
/// must see what tells them apart.
#[must_use]
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let stripped = strip_ansi(text);
    let is_plain = |c: char| !is_steering(c) && !may_hide(c);
    if stripped.chars().all(is_plain) {
        return stripped;
    }
    let mut shown = String::with_capacity(stripped.len() + 8);
    let text = stripped.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        if is_steering(c) {
            continue;
        }
        if hides(before, c, after) {
            // Writing to a String can't fail.
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            before = ' ';
        } else {
            shown.push(c);
            before = c;
        }
    }
    Cow::Owned(shown)
}

/// Whether a character by itself is not seen, or steers a terminal.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control() || may_hide(c)
}

fn is_steering(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// Takes no room, or changes the order in which others are shown.
///
/// Source: Unicode Technical Report 36, and the `Bidi_Control` property.
fn may_hide(c: char) -> bool {
    is_ignorable(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether a character is shown by nothing of its own.
///
/// Source: the `Default_Ignorable_Code_Point` property of Unicode 16,
/// `DerivedCoreProperties.txt`.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Joiners belong to the writing of many languages and to emoji, tags to flags:
/// between letters of ASCII they have no use but to hide.
fn hides(before: char, c: char, after: char) -> bool {
    match c {
        '\u{200c}' | '\u{200d}' => before.is_ascii() || after.is_ascii() || may_hide(after),
        '\u{e0020}'..='\u{e007f}' => before.is_ascii(),
        // They choose between two forms of what stands before: of letters of some
        // writings, of symbols, and of digits on a key.
        '\u{180b}'..='\u{180d}'
        | '\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => before.is_ascii() && after != '\u{20e3}',
        _ => may_hide(c),
    }
}

#[cfg(test)]
mod tests {
    use super::sanitize;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out() {
        assert_eq!(
            sanitize("\u{1b}[31mred\u{1b}[0m\u{7}\r\nnext\tcol"),
            "red\nnext\tcol"
        );
    }

    #[test]
    fn what_is_not_seen_is_named() {
        assert_eq!(sanitize("a\u{202e}b\u{2066}c"), "a<U+202E>b<U+2066>c");
        assert_eq!(sanitize("pass\u{200b}word"), "pass<U+200B>word");
        assert_eq!(sanitize("a\u{200d}b \u{feff}"), "a<U+200D>b <U+FEFF>");
        assert_eq!(sanitize("x\u{e0041}"), "x<U+E0041>");
        assert_eq!(sanitize("x\u{fe0f}y\u{e0100}"), "x<U+FE0F>y<U+E0100>");
        assert_eq!(sanitize("x\u{1d173}\u{180b}"), "x<U+1D173><U+180B>");
    }

    #[test]
    fn what_a_writing_needs_is_left() {
        for text in [
            "نمی\u{200c}خواهم",
            "👩\u{200d}💻",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(sanitize(text), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_harmless_stays_as_it_is(text in any::<String>()) {
            let once = sanitize(&text).into_owned();
            prop_assert_eq!(&*sanitize(&once), &once);
        }
    }
}
