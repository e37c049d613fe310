//! References in text: the five of XML and those to characters. Nothing else
//! is expanded, whatever a document type definition says.

use jelly_base::text::LazyPattern;
use std::borrow::Cow;

/// What `name` of `&name;` stands for. `None` for entities that XML itself
/// doesn't define: they stay as they are written.
pub(super) fn resolve(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        number => {
            let digits = number.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            // A reference to NUL or to half a surrogate is no XML, but is
            // what some writers make of binary output.
            Some(
                char::from_u32(code)
                    .filter(|c| *c != '\0')
                    .unwrap_or(char::REPLACEMENT_CHARACTER),
            )
        }
    }
}

/// Whether XML 1.0 has no place for a character, not even as a reference.
pub(super) fn is_forbidden(character: char) -> bool {
    matches!(character, '\0'..'\t' | '\u{b}' | '\u{c}' | '\u{e}'..' ' | '\u{fffe}' | '\u{ffff}')
        || character == char::REPLACEMENT_CHARACTER
}

/// Longest reference there is: `#x10FFFF`, with zeros before it.
const LONGEST: usize = 16;

/// Replaces the references of an attribute's value.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let near = &rest.as_bytes()[..rest.len().min(LONGEST + 2)];
        let end = near.iter().position(|byte| *byte == b';');
        match end.and_then(|end| Some((end, resolve(&rest[1..end])?))) {
            Some((end, character)) => {
                out.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A text as its writer meant it: escaped once, and without codes for colours that lost
/// their first character, as Vitest's messages have them.
pub(super) fn as_meant(text: String) -> String {
    static COLOUR: LazyPattern = LazyPattern::new(r"\x1b?\[\d{1,2}(?:;\d{1,3})*m");
    let text = unescape_again(text);
    // Elsewhere they may be what is compared.
    match text.contains("Number of calls: ") && text.contains("[39m") {
        true => COLOUR.replace_all(&text, "").into_owned(),
        false => text,
    }
}

/// Takes back a second escaping, as TestNG's: only where no character shows
/// that the text was meant to hold references.
fn unescape_again(text: String) -> String {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return text;
    }
    let escaped = ["&lt;", "&gt;", "&quot;", "&apos;", "&amp;", "&#"];
    let twice = escaped.iter().any(|reference| text.contains(reference));
    if !twice || text.contains(['<', '>']) {
        return text;
    }
    unescape(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_for_colours_are_left_out() {
        let called = "called: [ 2 ][90m [32m- 2,[90m[39m Number of calls: [1m1[22m [39m";
        assert_eq!(
            as_meant(called.to_owned()),
            "called: [ 2 ] - 2, Number of calls: 1 "
        );
        let compared = "assert '[31mred[39m' == '[32mred[39m'";
        assert_eq!(as_meant(compared.to_owned()), compared);
    }

    #[test]
    fn the_five_entities_and_references_to_characters_are_replaced() {
        assert_eq!(
            unescape("a &lt;b&gt; &amp;&quot;&apos;&#10;&#x41;"),
            "a <b> &\"'\nA"
        );
    }

    #[test]
    fn anything_else_stays_as_it_is_written() {
        let text = "&xxe; & &; &lt &nbsp; &#zz; &#x110000000;";
        assert_eq!(unescape(text), text);
    }

    #[test]
    fn references_to_what_is_no_character_are_replaced() {
        assert_eq!(unescape("&#0;&#xD800;"), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn what_was_escaped_twice_is_read_as_it_was_meant() {
        let again = |text: &str| unescape_again(text.to_owned());
        assert_eq!(again("expected [&lt;1&gt;]"), "expected [<1>]");
        assert_eq!(again("<p>&lt;</p>"), "<p>&lt;</p>");
    }
}
