//! An assertion without what it compares, which is no evidence of anything.

use jelly_base::text::{LazyPattern, lines};
use memchr::memmem::Finder;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Stands where a value stood.
pub(in crate::engine) const MASK: &str = "…";
/// Playwright's word for an element that is not there, which is no value.
pub(super) const NO_ELEMENT: &str = "<element(s) not found>";
/// The same of Flutter, behind the name of a finder.
pub(super) const NO_WIDGET: &str = ":<Found 0 widgets with ";

/// `text` with the values that it compares left out: what is quoted or
/// bracketed, what follows a label such as `Expected:`, the lines of a diff,
/// both sides of a comparison.
pub(in crate::engine) fn masked(text: &str) -> String {
    let text = between(text);
    let text = quoted(&text, |_| true);
    let mut kept = String::with_capacity(text.len());
    let mut in_value = false;
    let mut in_diff = false;
    for line in lines(&text) {
        let bare = line.trim_start();
        in_diff |= bare.ends_with("expected - actual") || bare.ends_with("actual - expected");
        if let Some(label) = label(bare) {
            let none = [NO_ELEMENT, NO_WIDGET];
            let none = none.into_iter().find(|none| bare.contains(none));
            in_value = none.is_none();
            kept.push_str(label);
            kept.push_str(none.unwrap_or(MASK));
        } else if starts_section(bare) {
            in_value = false;
            kept.push_str(line);
        } else if in_value || is_diff(bare) || (in_diff && bare.starts_with(['+', '-'])) {
            kept.push_str(MASK);
        } else {
            kept.push_str(&compared(line));
        }
        kept.push('\n');
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// Both values of `expected:<…> but was:<…>` and the like, which may span
/// lines and hold anything.
fn between(text: &str) -> Cow<'_, str> {
    /// What an assertion is written as.
    struct Pair {
        /// No text matches without it.
        needed: Finder<'static>,
        pattern: Regex,
        /// What follows is compared too, all of it.
        to_end: bool,
    }
    static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
        [
            ("<", false, r"(?si)(\bexpect(?:ed|ing)\b[^<>\n]{0,40}<).*(>,? (?:but|and|to)\b[^<>\n]{0,40}<).*(>)"),
            ("<", false, r"(?si)(\bexpected:<).*(>\. Actual:<).*(>)"),
            ("[", false, r"(?si)(\bexpected\b[^\[\]\n]{0,40}\[).*(\] but found \[).*(\])"),
            ("assert ", true, r"(?s)(\bassert )(?:[^\n]*? (?:==|!=|in|not in|is|is not|<|>|<=|>=) )"),
            ("= ", true, r"(?s)\A()[^\n]*( (?:!=|==) )"),
            ("Failed asserting that ", true, r"(?s)(\bFailed asserting that ).*( (?:is|are|contains?|matches|equals|has|starts|ends|does not|do not)\b)"),
        ]
        .into_iter()
        .filter_map(|(needed, to_end, pattern)| {
            Some(Pair {
                needed: Finder::new(needed),
                pattern: Regex::new(pattern).ok()?,
                to_end,
            })
        })
        .collect()
    });
    let mut text = Cow::Borrowed(text);
    for pair in PAIRS.iter() {
        if pair.needed.find(text.as_bytes()).is_none() {
            continue;
        }
        let Some(found) = pair.pattern.captures(&text) else {
            continue;
        };
        let group = |nth| found.get(nth).map_or("", |group| group.as_str());
        let (start, end) = found.get(0).map_or((0, 0), |all| (all.start(), all.end()));
        let end = if pair.to_end { text.len() } else { end };
        let without = format!(
            "{}{}{MASK}{}{MASK}{}{}",
            &text[..start],
            group(1),
            group(2),
            group(3),
            &text[end..]
        );
        text = Cow::Owned(without);
    }
    text
}

/// The text without those values in quotes that `drop` wants dropped. A quote inside of a word is an
/// apostrophe, and one before a word does not close.
pub(super) fn quoted(text: &str, drop: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    loop {
        let (plain, behind) = rest.split_at(plain(rest));
        kept.push_str(plain);
        before = plain.chars().next_back().unwrap_or(before);
        rest = behind;
        let Some(first) = rest.chars().next() else {
            break;
        };
        let close = match first {
            '"' | '\'' | '`' if !before.is_alphanumeric() => Some(first),
            '“' => Some('”'),
            '«' => Some('»'),
            _ => None,
        };
        let inside = &rest[first.len_utf8()..];
        match close.and_then(|close| closing(inside, close)) {
            Some(end) => {
                kept.push(first);
                kept.push_str(match &inside[..end] {
                    value if drop(value) => MASK,
                    value => value,
                });
                before = close.unwrap_or(first);
                kept.push(before);
                rest = &inside[end + before.len_utf8()..];
            }
            None => {
                kept.push(first);
                before = first;
                rest = inside;
            }
        }
    }
    kept
}

/// Bytes of a text before the first that may begin a quote.
fn plain(text: &str) -> usize {
    // `“` and `«` begin with these two, which are never within a character.
    let begins = |byte| matches!(byte, b'"' | b'\'' | b'`' | 0xe2 | 0xc2);
    text.bytes().position(begins).unwrap_or(text.len())
}

/// Longest value looked for behind a quote, in bytes, so that a text full of
/// quotes that nothing closes stays linear.
const LONGEST: usize = 8 * 1024;

fn closing(text: &str, close: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if at > LONGEST {
            return None;
        }
        if !escaped && c == close {
            let next = text[at + c.len_utf8()..].chars().next();
            if next.is_none_or(|next| !next.is_alphanumeric()) {
                return Some(at);
            }
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// A label of a value with its colon, as in `  Expected: `.
fn label(line: &str) -> Option<&str> {
    static LABEL: LazyPattern = LazyPattern::new(
        r"(?xi)^(?:[-+*]\ )?
            (?:<[\w*.\[\]{}|\ ]+>:\s+ | (?:expect(?:ed|ing|ation)?|actual(?:ly)?|received?|but(?:\ was)?|got|wanted|want|was|found|obtained
              |left|right|which\ is|value\ of|passed\ in|diff(?:erence)?|given|lhs|rhs
              |to\ (?:be|equal|contain|match|have|include|start|end)|with\ expansion|evaluates\ to|values?)
            \b[^:\n]{0,40}:(?:\s|$)\s*)",
    );
    LABEL.find(line).map(|found| found.as_str())
}

fn starts_section(line: &str) -> bool {
    const SECTIONS: [&str; 7] = [
        "Call log",
        "Call Log",
        "=== logs",
        "Error: element",
        "Locator:",
        "Timeout:",
        "Selector:",
    ];
    SECTIONS.iter().any(|section| line.starts_with(section))
}

fn is_diff(line: &str) -> bool {
    let mut chars = line.chars();
    matches!(chars.next(), Some('+' | '-' | '?' | '*'))
        && matches!(chars.next(), Some(' ' | '\t') | None)
        && !line.starts_with("- waiting for")
        && !line.starts_with("- Expect ")
        && !line.contains(" resolved to ")
        && !line.starts_with("- locator resolved")
        && !line.starts_with("- unexpected value")
        && !line.starts_with("- element is")
        && !line.contains("intercepts pointer")
}

/// `got x, want y` without its values.
fn compared(line: &str) -> Cow<'_, str> {
    // What a browser's test looked for is no value.
    if line.contains("xpected to find ") {
        return Cow::Borrowed(line);
    }
    static GOT: LazyPattern = LazyPattern::new(
        r"(?i)\b(got|want(?:ed)?|expected|received|but was|but found|instead of|to (?:equal|be|match|contain|include))(:? )[^,;\n]+",
    );
    GOT.replace_all(line, "$1$2…")
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn compared_values_are_left_out() {
        for (text, left) in [
            ("assert 'timed out' == 'x'", "assert ……"),
            (
                "expected:<[timed out\nnow]> but was:<[busy]>",
                "expected:<…> but was:<…>",
            ),
            ("expected [timed out] but found [ok]", "expected …"),
            (
                "Expected: \"timed out\"\nReceived: \"ok\"",
                "Expected: …\nReceived: …",
            ),
            (
                "Expected values to be equal:\n\n+ timed out\n- ok",
                "Expected values to be equal:…\n…\n…\n…",
            ),
            ("timed out != ok", "… != …"),
            (
                "Total() = timed out, want ok",
                "Total() = timed out, want …",
            ),
            ("it isn't \"timed out\" yet", "it isn't \"…\" yet"),
        ] {
            assert_eq!(masked(text), left, "{text}");
        }
    }

    #[test]
    fn what_is_no_value_stays() {
        for text in [
            "Test timeout of 30000ms exceeded.",
            "Expected: …\nReceived: <element(s) not found>\nTimeout: 5000ms",
            "Locator is visible\nCall log:\n  - waiting for locator(…)",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
