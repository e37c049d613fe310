//! Colours and wrapping.

use anstyle::{AnsiColor, Style};
use jelly_base::text::{plural, sanitize, untold};
use std::fmt::Write as _;
use textwrap::{Options, WordSplitter};

pub(in crate::report) const BOLD: Style = Style::new().bold();
pub(in crate::report) const DIM: Style = Style::new().dimmed();
pub(in crate::report) const RED: Style = AnsiColor::Red.on_default();
pub(in crate::report) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(in crate::report) const GREEN: Style = AnsiColor::Green.on_default();

pub(in crate::report) fn toned(color: bool, style: Style, text: &str) -> String {
    match color {
        true => format!("{style}{text}{style:#}"),
        false => text.to_owned(),
    }
}

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Tone {
    Plain,
    Good,
    Bad,
    Warn,
    Strong,
    Faint,
}

#[derive(Debug)]
pub(in crate::report) struct TerminalPaint {
    color: bool,
    /// `None` never wraps.
    width: Option<usize>,
}

impl TerminalPaint {
    pub(in crate::report) fn new(color: bool, width: Option<u16>) -> Self {
        // A pseudo-terminal may say 0 columns.
        let width = width.map(|columns| usize::from(columns.clamp(60, 200)));
        Self { color, width }
    }

    /// That wraps at just so many columns.
    pub(in crate::report) fn of_width(color: bool, width: usize) -> Self {
        let width = Some(width);
        Self { color, width }
    }

    pub(in crate::report) fn styled(&self, style: Style, text: &str) -> String {
        toned(self.color, style, text)
    }

    pub(in crate::report) fn tone(&self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Good => GREEN,
            Tone::Bad => RED.bold(),
            Tone::Warn => YELLOW,
            Tone::Strong => BOLD,
            Tone::Faint => DIM,
        };
        if style.is_plain() || text.trim().is_empty() {
            text.to_owned()
        } else {
            self.styled(style, text)
        }
    }

    /// `head` in its tone, then `text`, wrapped, its further lines indented by
    /// `indent` columns. Ends with a line feed.
    pub(in crate::report) fn hanging(
        &self,
        head: &str,
        tone: Tone,
        text: &str,
        indent: usize,
    ) -> String {
        let Some(width) = self.width else {
            return [&*self.tone(tone, head), text.trim_end(), "\n"].concat();
        };
        let indent = " ".repeat(indent);
        // Names, paths and messages are copied: they are not cut.
        let options = Options::new(width)
            .initial_indent(head)
            .subsequent_indent(&indent)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation);
        let mut out = String::new();
        for (at, line) in textwrap::wrap(text, options).iter().enumerate() {
            match line.strip_prefix(head) {
                Some(rest) if at == 0 => {
                    out.push_str(&self.tone(tone, head));
                    out.push_str(rest.trim_end());
                }
                Some(_) | None => out.push_str(line.trim_end()),
            }
            out.push('\n');
        }
        out
    }

    /// The changed lines of a unified diff with their surroundings, at most
    /// `max` of them.
    pub(in crate::report) fn diff(&self, diff: &str, indent: &str, max: usize) -> String {
        let clean = sanitize(diff);
        let header = |line: &&str| line.starts_with("--- ") || line.starts_with("+++ ");
        let mut lines: Vec<&str> = clean.lines().filter(|line| !header(line)).collect();
        let left_out = untold(&clean);
        if left_out > 0 {
            lines.pop();
        }
        let mut out = String::new();
        let is_place = |line: &&str| line.starts_with("@@");
        let mut told = 0;
        for line in lines.iter().copied() {
            if is_place(&line) {
                // Between two places, lines are left out.
                if (1..max).contains(&told) {
                    let _ = writeln!(out, "{indent}{}", self.tone(Tone::Faint, "…"));
                }
                continue;
            }
            if told == max {
                break;
            }
            told += 1;
            let tone = match line.chars().next() {
                Some('+') => Tone::Good,
                Some('-') => Tone::Bad,
                Some(_) | None => Tone::Faint,
            };
            // Writing to a String can't fail.
            let _ = writeln!(out, "{indent}{}", self.tone(tone, line));
        }
        let all = lines.iter().filter(|line| !is_place(line)).count();
        let more = all.saturating_sub(max) as u64 + left_out;
        if more > 0 {
            let more = plural(more, "more line");
            let _ = writeln!(out, "{indent}{}", self.tone(Tone::Faint, &more));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{TerminalPaint, Tone};
    use proptest::prelude::*;

    #[test]
    fn a_width_of_nothing_is_not_believed() {
        let paint = TerminalPaint::new(false, Some(0));
        let text = paint.hanging("PASS  ", Tone::Good, &"word ".repeat(20), 6);
        assert!(text.lines().count() <= 3, "{text}");
    }

    #[test]
    fn the_lines_that_are_not_shown_are_counted_whoever_left_them_out() {
        let rows = |word: &str| -> String { (0..50).map(|at| format!("{word} {at}\n")).collect() };
        let paint = TerminalPaint::new(false, None);
        for (kept, shown) in [(1_000, 16), (40, 16), (10, 16)] {
            let hunks = jelly_base::text::hunks(&rows("one"), &rows("two"), kept);
            let text = paint.diff(&hunks, "", shown);
            let (told, last) = (text.lines().count() - 1, text.lines().last().unwrap());
            assert_eq!(last, format!("{} more lines", 100 - told), "{text}");
        }
    }

    #[test]
    fn colour_touches_nothing_but_the_looks() {
        let plain = TerminalPaint::new(false, None).hanging("FAIL  ", Tone::Bad, "a b", 2);
        let colour = TerminalPaint::new(true, None).hanging("FAIL  ", Tone::Bad, "a b", 2);
        assert_ne!(plain, colour);
        assert_eq!(jelly_base::text::strip_ansi(&colour), plain);
    }

    proptest! {
        #[test]
        fn wrapping_loses_no_word(words in proptest::collection::vec("[a-z:#\\[]{1,90}", 0..30)) {
            let text = words.join(" ");
            let wrapped = TerminalPaint::new(false, Some(60)).hanging("HEAD  ", Tone::Plain, &text, 6);
            let letters = |text: &str| -> String {
                text.chars().filter(|c| c.is_ascii_lowercase()).collect()
            };
            prop_assert_eq!(letters(&wrapped), letters(&text));
        }
    }
}
