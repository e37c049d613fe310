//! A text that a regular expression matches.
//!
//! Main function: [`text_for`].

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// How deep an expression may be nested.
const MAX_NESTED: u32 = 50;
/// The longest text that is made, in bytes.
const MAX_TEXT: usize = 1000;
/// So many parts of an expression are looked at, each as often as it is
/// repeated.
const MAX_PARTS: usize = 10_000;

/// What is taken of a class of characters, the first row that has one.
const ROWS: [&str; 3] = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "1234567890",
];

/// A short text for a pattern, with `more` rounds of what may be repeated
/// besides those that have to be. What stands around a place (`\b`, `^`) is not
/// looked at: whoever asks holds the text against the pattern. Absent for
/// patterns that look around, or are none.
pub(super) fn text_for(pattern: &str, more: u32) -> Option<String> {
    let tree = ParserBuilder::new()
        .nest_limit(MAX_NESTED)
        .build()
        .parse(pattern)
        .ok()?;
    let mut writer = Writer {
        text: String::new(),
        more,
        run: 0,
        left: MAX_PARTS,
    };
    writer.write(&tree)?;
    Some(writer.text)
}

struct Writer {
    text: String,
    more: u32,
    /// How many characters of classes stand at the end, so that `[A-Z]{3}` is
    /// `ABC`.
    run: usize,
    /// Of [`MAX_PARTS`].
    left: usize,
}

impl Writer {
    fn write(&mut self, tree: &Hir) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if self.text.len() > MAX_TEXT {
            return None;
        }
        match tree.kind() {
            HirKind::Empty | HirKind::Look(_) => Some(()),
            HirKind::Literal(literal) => {
                self.run = 0;
                self.text.push_str(std::str::from_utf8(&literal.0).ok()?);
                Some(())
            }
            HirKind::Class(class) => {
                let c = pick(class, self.run)?;
                self.text.push(c);
                self.run += 1;
                Some(())
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(u32::MAX);
                let many = repetition.min.saturating_add(self.more).min(most);
                for _ in 0..many {
                    self.write(&repetition.sub)?;
                }
                Some(())
            }
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.write(part)),
            HirKind::Alternation(parts) => {
                let (length, run) = (self.text.len(), self.run);
                parts.iter().find_map(|part| {
                    self.text.truncate(length);
                    self.run = run;
                    self.write(part)
                })
            }
        }
    }
}

fn pick(class: &Class, at: usize) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let has = |c: char| {
        class
            .ranges()
            .iter()
            .any(|r| r.start() <= c && c <= r.end())
    };
    let of_row = |row: &&str| {
        let count = row.chars().count();
        let whole = row.chars().cycle().skip(at % count).take(count);
        whole.into_iter().find(|c| has(*c))
    };
    let first = || {
        let printable = ('!'..='~').find(|c| has(*c));
        printable.or_else(|| Some(class.ranges().first()?.start()))
    };
    ROWS.iter().find_map(of_row).or_else(first)
}

#[cfg(test)]
mod tests {
    use super::text_for;

    #[test]
    fn a_text_is_as_its_pattern_says() {
        for (pattern, more, text) in [
            (r"^[A-Z]{3}-\d{4}$", 0, Some("ABC-1234")),
            ("^[a-z0-9]*$", 0, Some("")),
            ("^[a-z0-9]*$", 3, Some("abc")),
            (r"^(https?|ftp):\/\/\w+$", 0, Some("http://a")),
            (r"^v?\d+\.\d+$", 0, Some("1.1")),
            (r"^[^\s]+$", 1, Some("ab")),
            (r"^[\x00-\x1f]$", 0, Some("\0")),
            ("^(?!x)y$", 0, None),
            ("[", 0, None),
            ("a{5000}", 0, None),
            ("((((a?){1000}){1000}){1000})", 0, None),
        ] {
            assert_eq!(text_for(pattern, more).as_deref(), text, "{pattern}");
        }
    }
}
